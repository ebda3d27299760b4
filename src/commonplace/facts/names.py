"""Names in texts: the people, projects and systems that many pages mention, by how they are written.

A name is one or more capitalised words in a row that are also found inside of sentences, and hardly ever in lower case.
What it names is a guess from the words around it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from ..patterns import lazy_pattern
from .words import phrase_pattern, word_set

NameKind = Literal["person", "project", "system", "name"]
MAX_NAME_WORDS = 4
_MIN_LETTERS = 2
_WORD = lazy_pattern(r"[^\W_][\w'’-]*")
# No pattern scans to the end of the text from each possible start, which would take quadratic time.
_WIKILINK = lazy_pattern(r"\[\[[^\[\]\n]*\]\]")  # names as files spell them
_CODE = lazy_pattern(r"```.*?(?:```|\Z)|`[^`\n]*`|<!--.*?(?:-->|\Z)|https?://\S+|^---\n.*?\n---\n", re.DOTALL)
_BREAK = lazy_pattern(r"[.!?:;]\s|\n|[|*#>\]\[()\"“”]")  # ends a name between two words
_NO_NAMES = word_set("names", "NO_NAMES")
_PERSON = lazy_pattern(
    r"\s+(?:prefers|likes|wants|asked|asks|said|says|thinks|told|leads|owns|works|lives|joined|left|wrote|writes|found|fixed|"
    r"covers|pairs|agreed|agrees|decided|suggested|knows|builds|keeps|learns|moved|looks|raised|calls|answers)\b"
)
_PROJECT = phrase_pattern("names", "PROJECT", re.IGNORECASE)
_SYSTEM = phrase_pattern("names", "SYSTEM", re.IGNORECASE)
_NEAR_CHARACTERS = 300  # on each side of a name, on its line
_LOWER_SHARE = 0.2  # of the occurrences of a name, at most, that are in lower case
_PERSON_SHARE = 0.12  # of the mentions of a person that are followed by what people do
_CUE_SHARE = 0.3  # of the sentences about a project or a system that have a word for it


class Name(NamedTuple):
    """A name and the texts that mention it, by the keys they were given under."""

    text: str
    kind: NameKind
    keys: tuple[str, ...]


class _Mention(NamedTuple):
    words: tuple[str, ...]
    starts_sentence: bool
    follows: str  # the text after it
    around: str  # its line, as far as it is near


def find_names(texts: Mapping[str, str], known: Iterable[str] = (), *, min_texts: int, limit: int) -> list[Name]:
    """Return the names that most texts mention, most frequent first. `known`: words that count as names anyway."""
    plain = {key: _WIKILINK.sub(" ", _CODE.sub(" ", text)) for key, text in texts.items()}
    ordinary = _find_ordinary_words(plain.values())
    mentions = {key: list(_find_mentions(text, ordinary)) for key, text in plain.items()}
    inside = Counter(each.words for found in mentions.values() for each in found if not each.starts_sentence)
    known_words = {tuple(_WORD.findall(name)) for name in known}
    longer = _find_longer(inside)
    places: dict[tuple[str, ...], dict[str, list[_Mention]]] = {}
    for key, found in mentions.items():
        for mention in found:
            words = _choose(mention, inside, known_words)
            if words:
                places.setdefault(longer.get(words, words), {}).setdefault(key, []).append(mention)
    common = sorted(places, key=lambda words: (-len(places[words]), words))
    chosen = [words for words in common if len(places[words]) >= min_texts][:limit]
    return [Name(" ".join(words), _guess_kind(places[words]), tuple(places[words])) for words in chosen]


def _find_ordinary_words(texts: Iterable[str]) -> frozenset[str]:
    """Return the words, in lower case, that are not written with a capital letter often enough to be names."""
    counts = Counter(word for text in texts for word in _WORD.findall(text))
    capital = Counter({word.lower(): count for word, count in counts.items() if word[0].isupper()})
    return frozenset(
        word for word, count in counts.items() if word[0].islower() and count > _LOWER_SHARE * capital[word]
    )


def _find_mentions(text: str, ordinary: frozenset[str]) -> Iterator[_Mention]:
    """Yield the runs of capitalised words of a text."""
    run: list[re.Match[str]] = []
    end = 0
    for match in _WORD.finditer(text):
        gap = text[end : match.start()]
        is_name = _may_be_name(match[0], ordinary)
        if run and (not is_name or _BREAK.search(gap) or len(run) == MAX_NAME_WORDS or "," in gap):
            yield _make_mention(text, run)
            run = []
        if is_name:
            run.append(match)
        end = match.end()
    if run:
        yield _make_mention(text, run)


def _may_be_name(word: str, ordinary: frozenset[str]) -> bool:
    if not word[0].isupper() or len(word) < _MIN_LETTERS:
        return False
    return word.lower() not in _NO_NAMES and word.lower() not in ordinary


def _make_mention(text: str, run: list[re.Match[str]]) -> _Mention:
    start = run[0].start()
    end = run[-1].end()
    before = text[max(0, start - 4) : start]
    is_first = not before.strip() or bool(re.search(r"(?:[.!?:]\s+|\n\s*(?:[-*>]\s+)?)$", before))
    words = tuple(match[0].removesuffix("'s").removesuffix("’s") for match in run)
    left = text[max(0, start - _NEAR_CHARACTERS) : start].rpartition("\n")[2]
    right = text[end : end + _NEAR_CHARACTERS].partition("\n")[0]
    return _Mention(words, is_first, text[end : end + 20], f"{left}{text[start:end]}{right}")


def _choose(mention: _Mention, inside: Counter[tuple[str, ...]], known: set[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the words of a mention that are a name: without the first word of a sentence, if that is not part of
    it."""
    for words in (mention.words, mention.words[1:]):
        if words and (inside[words] or words in known):
            return words
    return ()


def _find_longer(inside: Counter[tuple[str, ...]]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the full name of each first name that only one full name begins with."""
    full: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for words in inside:
        if len(words) > 1 and inside[words[:1]]:
            full.setdefault(words[:1], []).append(words)
    return {short: names[0] for short, names in full.items() if len(names) == 1}


def _guess_kind(places: Mapping[str, list[_Mention]]) -> NameKind:
    mentions = [mention for found in places.values() for mention in found]
    people = sum(_PERSON.match(mention.follows) is not None for mention in mentions)
    if people >= _PERSON_SHARE * len(mentions):
        return "person"
    projects = sum(_PROJECT.search(mention.around) is not None for mention in mentions)
    systems = sum(_SYSTEM.search(mention.around) is not None for mention in mentions)
    if max(projects, systems) < _CUE_SHARE * len(mentions):
        return "name"
    return "project" if projects >= systems else "system"
