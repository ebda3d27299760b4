"""Text cut into statements, and the keys by which a statement finds its other versions.

A statement is a sentence, an item of a list, or a line like `label: value`. What the assistant says in a conversation
makes none, since it repeats and suggests. Two statements that may be versions of one fact share a key; whether they
are, `versions.judge` decides. Keys are short hashes, so that a collision only costs a comparison.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import combinations
from typing import NamedTuple, get_args

from ..caching import cache_within
from ..formats.blocks import ANSWER_START, strip_annotations
from ..model import Hit
from ..patterns import lazy_pattern
from .claims import read_claims, split_clauses
from .completions import list_task_stems, may_be_done
from .cues import ChangeCue, Cue, find_cues, has_cue
from .links import NO_ANSWERS, Answers, hash_words, read_answers_by_line
from .relations import EVENT_WORDS, FIRST_PERSON, GENERIC, Relation, find_relation
from .sentences import LIST_ITEM, split_sentences
from .states import WRITER, find_ended, read_states, strip_articles
from .tasks import names_tasks
from .words import (
    PREPOSITIONS,
    content_stems,
    fold,
    function_words,
    is_number,
    is_past_verb,
    is_unspaced,
    read_table,
    remove_spaces,
    split_words,
    stem,
    word_set,
)

NEEDS = word_set("values", "NEEDS")
DONE = word_set("values", "DONE")
SENTIMENT_STEMS = frozenset(map(stem, word_set("values", "SENTIMENTS")))
MAX_STATEMENTS = 60  # of one passage
_MAX_CHARACTERS = 400  # of a statement that says one thing
_MIN_WORDS = 2
_MAX_PAIR_STEMS = 8
_MAX_WORD_KEYS = 16  # in conversation, people come to the point late
_MAX_PAIR_STEMS_OF_CHANGE = 6  # of a statement that says that something changed
_MAX_PAIR_STEMS_OF_PLAIN = 3  # of a statement that does not say that something changed
_MAX_FRAME_STEMS = 10
_MAX_SHORT_STEMS = 5  # of a statement that a single word may identify
_MAX_SHORT_PAIRS = 14  # of characters, in a script without spaces
_MAX_HINT_CHARACTERS = 80  # of a note that implies a change
_MAX_HEAD_KEYS = 6
_SPEAKER = lazy_pattern(r"(?:user|human)(?: \(([^)\n]*)\))?: ")
_LABEL = lazy_pattern(
    r"([^\W\d_][^:：.!?\n]{0,60}?)\s*(?:\([^)]*\)\s*)?(?:[:=](?!\d)|：|\s[–—-]>?\s|→)\s*(\S.*)", re.DOTALL
)
_LABEL_MARKS = (":", "=", "-", "–", "—", "：", "→")  # a text without any of them has no label
_MAX_LABEL_WORDS = 6
_EMPHASIS = lazy_pattern(r"\*\*|__|`|~~")
QUESTION_MARKS = ("?", "？", "؟")
_CORRECTION_LABEL = lazy_pattern(
    r"(?:erratum|correction|update|edit|fyi|btw|sorry|news|ok|okay|decided|perdón|me equivoqué|corrección|decidido|"
    r"korrektur|поправка|ошибся|ошиблась|исправление|تصحيح|訂正|更正|correção|fechado)\s*[:,–—-]\s*"
)
_CLAUSE_END = lazy_pattern(r"[;,.:] (?:but |and |so )?| but | [–—-] ")
_COMPLETED = lazy_pattern(r"\b(?:completed|finished)\b")  # what was to be done
_THIRD_PERSON = word_set("statements", "THIRD_PERSON")
_OTHER_FEELING = lazy_pattern("all about|used to (?:think|find)|no longer (?:need|plan|track)")
_DEPENDENT_STARTS = PREPOSITIONS | word_set("statements", "CONJUNCTIONS")
_SPOTS = ("place", "tool", "spot")  # states that may change each other
_NOT_IN_A_TEXT = ("\0",)
_CHANGES: tuple[Cue, ...] = tuple(cue for cue in get_args(ChangeCue) if cue != "hint")
_OPEN: tuple[Cue, ...] = ("open",)
_CUES: tuple[Cue, ...] = (*_CHANGES, *_OPEN, "addition", "tentative")
CHANGES: frozenset[str] = frozenset(_CHANGES)  # the cues of a statement that may replace one


class _Fields(NamedTuple):
    text: str
    first_line: int
    last_line: int
    words: tuple[str, ...] = ()
    stems: tuple[str, ...] = ()  # of its content
    relation: Relation | None = None
    label: str = ""  # of `label: value`
    speaker: str = ""  # of a turn of a conversation
    taken_back: tuple[str, ...] = ()  # the stems of what the speaker takes back
    is_question: bool = False
    answers: Answers = NO_ANSWERS  # what a person said about links of it
    box: str = ""  # what is in the box before a task: a space, or `x` if it is done


class Statement(_Fields):
    """A statement of a text. Lines are counted from the first line of the text, which is 0.

    It is compared with many others, so what every comparison needs is computed once.
    """

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    @cached_property
    def folded(self) -> str:
        return fold(self.text)

    @cached_property
    def cues(self) -> frozenset[str]:
        """Which kinds of phrases it has."""
        cues = _find_cues(self.text)
        return cues | {"open"} if self.is_question else cues

    @cached_property
    def label_stems(self) -> frozenset[str]:
        return frozenset(content_stems(self.label.split()))

    @property
    def is_event(self) -> bool:
        """Whether it has a word for something that happens once."""
        return not EVENT_WORDS.isdisjoint(self.words)

    @property
    def reports_event(self) -> bool:
        """Whether it reports something that happened once: `I bought a bike`, `booked a table`."""
        first = next((word for word in self.words if word not in FIRST_PERSON), "")
        return is_past_verb(first) or self.is_event

    @property
    def may_replace(self) -> bool:
        """Whether it says that something changed or was decided."""
        return not CHANGES.isdisjoint(_find_cues(self.text))


@cache_within(2_000_000)
def _find_cues(text: str) -> frozenset[str]:
    return find_cues(fold(text), _CUES)


def split_statements(text: str, *, is_turn: bool = False) -> list[Statement]:
    """Return the statements of a passage, which may be a turn of a conversation; none of what the assistant said."""
    split = _split_text(text, is_turn=is_turn)
    statements: list[Statement] = []
    for sentence in split.sentences:
        statements += _parse_sentence(sentence, split.speaker)
        if len(statements) >= MAX_STATEMENTS:
            break
    for line, answers in read_answers_by_line(text[split.start :]).items():
        _attach(statements, line, answers)
    return statements


StoredStatement = tuple[Statement, frozenset[int]]  # with the keys under which it is stored


def find_statements(text: str, wanted: Sequence[Sequence[str]], *, is_turn: bool = False) -> Iterable[StoredStatement]:
    """Return the statements of a passage that contain all texts of at least one of the wanted rows, and perhaps others.
    To look for texts in the sentences takes less time than to parse them all."""
    split = _split_text(text, is_turn=is_turn)
    if ANSWER_START in text or split.has_many:
        return map(_add_stored_keys, read_statements(text, is_turn=is_turn))
    chosen = (sentence for sentence in split.sentences if _has_any(sentence.folded, wanted))
    return (stored for sentence in chosen for stored in _read_stored(sentence, split.speaker))


def _has_any(folded: str, rows: Iterable[Sequence[str]]) -> bool:
    """Return whether a text contains all texts of at least one of these rows."""
    for row in rows:
        for each in row:
            if each not in folded:
                break
        else:
            return True
    return False


def _add_stored_keys(statement: Statement) -> StoredStatement:
    return statement, frozenset(stored_keys(statement))


class _Sentence(NamedTuple):
    text: str
    first_line: int
    last_line: int
    folded: str  # without marks of emphasis; again without spaces, if there may be characters of one word apart
    box: str = ""


class _SplitText(NamedTuple):
    """The sentences of a passage. `start`: where the text begins, after the name of the speaker."""

    speaker: str
    start: int
    sentences: tuple[_Sentence, ...]
    has_many: bool = False  # there may be statements beyond the limit


@cache_within(4_000_000)
def _split_text(text: str, *, is_turn: bool) -> _SplitText:
    """Return the sentences of a passage; cached, as many queries meet it."""
    match = _SPEAKER.match(text) if is_turn else None
    if is_turn and not match:  # the assistant, or a later part of a very long turn
        return _SplitText("", 0, ())
    start = match.end() if match else 0
    stripped = strip_annotations(text[start:])
    sentences = split_sentences(stripped, _MAX_CHARACTERS)
    boxes = _find_boxes(stripped)
    parsed = tuple(
        _Sentence(each, first, last, _fold_sentence(each), boxes.get(first, "")) for each, first, last in sentences
    )
    has_many = len(parsed) + text.count("; ") > MAX_STATEMENTS
    return _SplitText((match[1] or match[0]) if match else "", start, parsed, has_many)


def _find_boxes(text: str) -> dict[int, str]:
    """Return the content of task boxes, by line. In a list of tasks, an item without a box counts as one with an
    empty box."""
    boxes: dict[int, str] = {}
    is_list = False
    for number, line in enumerate(text.split("\n")):
        bullet = LIST_ITEM.match(line)
        if bullet and (bullet[1] or is_list):
            boxes[number] = (bullet[1] or " ").lower()
        elif line.strip() and not bullet:
            is_list = names_tasks(line)
    return boxes


def _fold_sentence(text: str) -> str:
    folded = fold(_plain_text(text))
    return folded if folded.isascii() else f"{folded}\n{remove_spaces(folded)}"


@cache_within(1_000_000)
def _read_sentence(sentence: _Sentence, speaker: str) -> tuple[Statement, ...]:
    """Return the statements of a sentence; cached, as many queries meet it."""
    return tuple(_parse_sentence(sentence, speaker))


@cache_within(2_000_000)
def _read_stored(sentence: _Sentence, speaker: str) -> tuple[StoredStatement, ...]:
    """Return the statements of a sentence with their keys; cached, as many queries meet it."""
    return tuple(map(_add_stored_keys, _read_sentence(sentence, speaker)))


def _parse_sentence(sentence: _Sentence, speaker: str) -> Iterator[Statement]:
    text = sentence.text
    for clause in _split_clauses(text) if "; " in text and not speaker else (text,):
        statement = _parse(clause, sentence, speaker)
        if statement:
            yield statement


def list_sentences(text: str, *, is_turn: bool = False) -> Iterator[str]:
    """Yield the sentences of a passage whose statements are read, without marks of emphasis."""
    return (_plain_text(sentence.text) for sentence in _split_text(text, is_turn=is_turn).sentences)


def find_statement_at(statements: Sequence[Statement], line: int) -> int | None:
    """Return the place of the statement that a comment on a line is about: the last one that begins there or above."""
    return max((place for place, statement in enumerate(statements) if statement.first_line <= line), default=None)


def find_statements_at(statements: Sequence[Statement], line: int) -> list[Statement]:
    """Return all statements of a line; of one without any, the one that a comment there is about."""
    place = find_statement_at(statements, line)
    if place is None:
        return []
    return [each for each in statements if each.first_line <= line <= each.last_line] or [statements[place]]


@cache_within(4_000_000)
def read_statements(text: str, *, is_turn: bool = False) -> tuple[Statement, ...]:
    """Return the statements of a passage; cached, as many queries meet it."""
    return tuple(split_statements(text, is_turn=is_turn))


def _attach(statements: list[Statement], line: int, answers: Answers) -> None:
    place = find_statement_at(statements, line)
    if place is not None:
        statements[place] = statements[place]._replace(answers=statements[place].answers | answers)


def _split_clauses(sentence: str) -> Sequence[str]:
    """Return the clauses of a note that say something of their own: `Tests run with pytest; CI is on CircleCI.`"""
    clauses = sentence.split("; ")
    folded = [fold(clause) for clause in clauses]
    is_whole = all(_find_label(clause) or find_relation(tuple(split_words(clause))) for clause in folded)
    return clauses if is_whole else (sentence,)


def _parse(clause: str, sentence: _Sentence, speaker: str) -> Statement | None:
    plain = _plain_text(clause)
    is_question = plain.endswith(QUESTION_MARKS)
    if is_question and speaker:
        return None
    folded = fold(plain)
    said = folded[match.end() :] if (match := _CORRECTION_LABEL.match(folded)) else folded
    words = tuple(split_words(said))
    if len(words) < (1 if sentence.box else _MIN_WORDS):
        return None
    label = _find_label(said)
    relation = find_relation(words)
    stems = tuple(content_stems(words))
    is_own = bool(speaker) and not FIRST_PERSON.isdisjoint(words)
    taken_back = _read_taken_back(folded) if is_own and _takes_back(folded) else ()
    asks = is_question or "?" in plain or (not plain.isascii() and any(mark in plain for mark in QUESTION_MARKS))
    return Statement(
        plain,
        sentence.first_line,
        sentence.last_line,
        words,
        stems,
        relation,
        label,
        speaker,
        taken_back,
        asks,
        box=sentence.box,
    )


@cache_within(500_000)
def read_main_clauses(statement: Statement) -> tuple[Statement, ...]:
    """Return the clauses of a note as statements, if each says something by itself: none for `in winter, we open at 9`.
    Cached, as a note is compared with many."""
    if statement.label or len(texts := split_clauses(statement.text)) < 2:
        return ()
    clauses = [_read_clause(statement, text) for text in texts]
    if any(each.words[:1] and each.words[0] in _DEPENDENT_STARTS for each in clauses):
        return ()
    return tuple(each for each in clauses if len(each.words) >= _MIN_WORDS)


def _read_clause(statement: Statement, text: str) -> Statement:
    words = tuple(split_words(fold(text)))
    return statement._replace(text=text, words=words, stems=tuple(content_stems(words)), relation=find_relation(words))


def _find_label(text: str) -> str:
    """Return the label of a line like `label: value`, folded; empty for any other."""
    match = _LABEL.match(text) if any(mark in text for mark in _LABEL_MARKS) else None
    if not match or "//" in match[2][:3]:
        return ""
    words = fold(match[1]).split()
    if len(words) > _MAX_LABEL_WORDS or all(word in function_words() for word in words):
        return ""
    return " ".join(words)


def _plain_text(sentence: str) -> str:
    """Return a sentence without marks of emphasis."""
    has_marks = "*" in sentence or "`" in sentence or "_" in sentence
    return _EMPHASIS.sub("", sentence).strip() if has_marks else sentence


def _takes_back(folded: str) -> bool:
    return has_cue(folded, "retraction") or _COMPLETED.search(folded) is not None


def _read_taken_back(folded: str) -> tuple[str, ...]:
    """Return what a speaker takes back: the stems from the first to the last clause that takes something back."""
    clauses = _CLAUSE_END.split(folded)
    marked = [number for number, clause in enumerate(clauses) if has_cue(clause, "retraction")]
    is_whole = not marked or " list" in folded  # of what is to be done
    first = marked[0] if marked else 0
    if first and not _THIRD_PERSON.isdisjoint(split_words(clauses[first])):  # `… of her; I used to like her films`
        first -= 1
    clause = folded if is_whole else " ".join(clauses[first : marked[-1] + 1])
    words = split_words(clause)
    if DONE.isdisjoint(words) and not _OTHER_FEELING.search(clause) and SENTIMENT_STEMS.isdisjoint(map(stem, words)):
        return ()
    stems = dict.fromkeys(content_stems(words))
    return tuple(each for each in stems if each not in GENERIC and each not in SENTIMENT_STEMS)


def query_stems(text: str) -> frozenset[str]:
    """Return what a query is about."""
    return frozenset(content_stems(split_words(fold(text))))


def choose_statements(statements: Sequence[Statement], asked: frozenset[str]) -> list[Statement]:
    """Return the statements that have most stems of a query."""
    return [statements[place] for place in choose_places(statements, asked)]


def choose_places(statements: Sequence[Statement], asked: frozenset[str]) -> list[int]:
    """Return the places of the statements that have most stems of a query."""
    counts = [len(asked.intersection(statement.stems)) for statement in statements]
    best = max(counts, default=0)
    return [place for place, count in enumerate(counts) if count == best]


def choose_from_text(text: str, asked: frozenset[str], *, is_turn: bool = False) -> Sequence[Statement]:
    """Return the statements of a passage that have most stems of a query. Sentences without any are not parsed, unless
    there are no others."""
    split = _split_text(text, is_turn=is_turn)
    if ANSWER_START not in text and not split.has_many and asked.isdisjoint(_changed_stems()):
        rows = [(each,) for each in asked]
        chosen = [sentence for sentence in split.sentences if _has_any(sentence.folded, rows)]
        statements = [each for sentence in chosen for each in _read_sentence(sentence, split.speaker)]
        best = choose_statements(statements, asked)
        if best and not asked.isdisjoint(best[0].stems):
            return best
    return choose_statements(read_statements(text, is_turn=is_turn), asked)


def find_lines(hit: Hit, statement: Statement) -> tuple[int, int]:
    """Return the first and the last line of a statement on its page; a turn of a session is one line there."""
    if hit.source == "session":
        return hit.start, hit.end
    return hit.start + statement.first_line, hit.start + statement.last_line


def shorten_statement(text: str, max_characters: int) -> str:
    """Return a statement in one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= max_characters else f"{line[:max_characters].rstrip()} …"


def fact_keys(text: str, *, is_turn: bool = False) -> list[int]:
    """Return the keys under which a passage is stored, each once."""
    statements = split_statements(text, is_turn=is_turn)
    return list(dict.fromkeys(key for statement in statements for key in stored_keys(statement)))


def stored_keys(statement: Statement) -> Iterator[int]:
    """Yield the keys of a statement: those of its frame, and of what it is about: more if it changes something."""
    yield from map(_hash, _frame_keys(statement))
    for name in statement.answers.confirmed:
        yield _hash(("c", name))
    if statement.speaker:
        yield from map(_hash, _word_keys(statement.taken_back))
    elif statement.may_replace:
        yield from map(_hash, _state_keys(statement.text))
        yield from map(_hash, _word_keys(statement.stems))
        yield from map(_hash, _topic_keys(statement.stems, _MAX_PAIR_STEMS_OF_CHANGE))
    else:
        yield from map(_hash, _topic_keys(statement.stems, _MAX_PAIR_STEMS_OF_PLAIN))
        yield from map(_hash, _word_keys(_find_heads(statement.text)))
        yield from map(_hash, _state_keys(statement.text))
    if not statement.speaker:
        yield from (_hash(("z", word)) for word in find_ended(statement.text)[:1])
    yield from map(_hash, _task_keys(statement))


def _find_heads(text: str) -> list[str]:
    """Return what a note is about, if its form may imply a change: a new value, a clause before it, or a
    hint."""
    if len(text) > _MAX_HINT_CHARACTERS or not (has_cue(fold(text), "hint") or len(split_clauses(text)) > 1):
        return []
    heads = {each for claim in read_claims(text) for each in claim.heads[0]}
    return sorted(heads)[:_MAX_HEAD_KEYS]


FactKey = tuple[str, ...]  # its kind and, mostly, stems; empty if only its hash is known
LookupKeys = dict[int, FactKey]  # by their hashes


def lookup_keys(statement: Statement) -> LookupKeys:
    """Return the keys under which newer versions of a statement are stored."""
    keys: list[FactKey] = [("c", hash_words(statement.words)), *_frame_keys(statement)]
    if statement.speaker:
        keys += _word_keys(statement.stems) if _may_be_taken_back(statement) else ()
    else:
        keys += _state_keys(statement.text)
        keys += (("z", word) for word in strip_articles(statement.words)[:1])
        keys += _word_keys(statement.stems) if _is_short(statement.stems) else ()
        keys += _topic_keys(statement.stems, _MAX_PAIR_STEMS)
    if statement.is_question or _is_open(statement.text):
        keys += (("l", each) for each in statement.stems)
    if may_be_done(statement.text, statement.box):  # only a task can be done
        keys += _task_keys(statement)
    return {_hash(key): key for key in keys}


@cache_within(250_000)
def _is_open(text: str) -> bool:
    """Return whether a statement says that something is open; cached, as many queries meet it."""
    return bool(find_cues(fold(text), _OPEN))


def list_required(key: FactKey) -> tuple[str, ...]:
    """Return what every text stored under a key contains; for the key of an answer, something that no text contains.
    For a key that was not read in a text, nothing is known."""
    if not key:
        return ()
    kind, *stems = key
    if kind == "c":
        return _NOT_IN_A_TEXT
    if kind == "h":
        return tuple(stem for stem in stems[1:] if stem not in WRITER)
    return tuple(stem for stem in stems[kind == "r" :] if stem not in _changed_stems())


@cache
def _changed_stems() -> frozenset[str]:
    """Return the stems that a text may have without their letters: `shall` in `shan't`, `mai` in `12 May`."""
    words = (*read_table("words", "CONTRACTIONS"), "12 may")
    return frozenset(stem for word in words for stem in content_stems(split_words(word)))


def _is_short(stems: Sequence[str]) -> bool:
    """Return whether a statement is so short that one word identifies it; a Chinese word has several pairs."""
    is_spaced = not stems or not is_unspaced(stems[0][0])
    return len(stems) <= (_MAX_SHORT_STEMS if is_spaced else _MAX_SHORT_PAIRS)


def _may_be_taken_back(statement: Statement) -> bool:
    """Return whether a speaker says what they like, or what is to be done."""
    words = statement.words
    is_own = not FIRST_PERSON.isdisjoint(words)
    return is_own and not (NEEDS.isdisjoint(words) and SENTIMENT_STEMS.isdisjoint(map(stem, words)))


def _frame_keys(statement: Statement) -> Iterator[FactKey]:
    if statement.label:
        yield "l", *sorted(content_stems(statement.label.split()))
    relation = statement.relation
    if relation:
        yield "r", relation.kind, *relation.subject
    stems = [each for each in statement.stems if not is_number(each)]
    if len(stems) < len(statement.stems) and stems:
        yield "n", *stems
    is_free = not statement.speaker and not relation and not statement.label and 2 <= len(stems) <= _MAX_FRAME_STEMS
    if is_free:
        yield "f", *stems[:2]
    if is_free or (relation and relation.kind in ("be", "own") and 2 < len(stems) <= _MAX_FRAME_STEMS):
        yield "e", *stems[-2:]


def _task_keys(statement: Statement) -> list[FactKey]:
    """Return a key for each thing of a task, and of a statement that may say that one is done."""
    return [("d", each) for each in list_task_stems(statement.text, statement.box)]


def _state_keys(text: str) -> list[FactKey]:
    """Return a key for each thing and relation whose state a text gives or changes."""
    return [
        ("h", relation, *state.subject[-1:])
        for state in read_states(text)
        for relation in (_SPOTS if state.relation in _SPOTS else (state.relation,))
    ]


def _word_keys(stems: Iterable[str]) -> list[FactKey]:
    """Return a key for each stem that is not in many statements."""
    distinct = [each for each in dict.fromkeys(stems) if each not in GENERIC and not each[0].isdigit()]
    return [("s", each) for each in distinct[:_MAX_WORD_KEYS]]


def _topic_keys(stems: Iterable[str], most: int) -> Iterator[FactKey]:
    """Yield a key for each pair of the longest stems that are not numbers."""
    distinct = sorted({each for each in stems if not each[0].isdigit()})
    for one, other in combinations(sorted(sorted(distinct, key=len, reverse=True)[:most]), 2):
        yield "t", one, other


def hash_key(key: str) -> int:
    """Return the key of everything that is stored under a key: blocks and records."""
    return _hash(("k", key))


def _hash(parts: FactKey) -> int:
    return zlib.crc32("\0".join(parts).encode(errors="surrogatepass"))
