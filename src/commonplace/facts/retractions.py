"""Retractions: what fell through, or what a speaker takes back: `Thornbury Hall fell through`; `I used to like it,
but not any more`.

What is gone may be the value that the older note gives, and not what that note is about: a venue that fell through is
no longer the venue. In conversations, a speaker takes back what they said. In the forms (`forms.py`), `T` is what is
gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from ..caching import cache_within
from ..patterns import lazy_pattern
from .claims import PRONOUNS, find_topics, list_all_verbs, read_first_claim, split_clauses
from .forms import compile_forms
from .links import Link
from .relations import FIRST_PERSON, GENERIC
from .statements import DONE, NEEDS, SENTIMENT_STEMS, Statement
from .words import (
    NEGATIONS,
    compile_pattern,
    content_stems,
    fold,
    function_words,
    has_capitals,
    has_kana_or_kanji,
    is_month_or_day,
    list_capitalised,
    read_list,
    split_words,
    stem,
    word_set,
)

_KINDS_OF_THINGS = frozenset(map(stem, word_set("values", "KINDS_OF_THINGS")))
_NO_FEELING = word_set("values", "NO_FEELING")
_SLOTS = {"T": r"(?P<t>\S+(?: \S+){0,3}?)"}
_AFTER = "for|and|in|on|last|this|yesterday|today|because|since|after|und|y|et|e|и"
_LAST_SLOTS = {"T": rf"(?P<t>\S+(?: \S+){{0,2}}?)(?= (?:{_AFTER})\b|$)"}
_UNSPACED = (
    r"(?P<t>[^，。,、]{1,10}?)(?:已经|已)?(?:卖了|卖掉了?|倒闭了?|关门了?|黄了|泡汤了|没了)",
    r"(?:我们?)?(?:把)?(?:卖了|卖掉了?|退了|弃用了?|不用)(?P<t>[^，。,、了]{1,10})了?",
    r"(?P<t>[ァ-ヶー一-鿿]{1,12})[はがを](?:もう)?(?:売っ|売却|手放|解約|廃止|閉店|閉業|なくな|やめ|止め)",
)
_LEAD = word_set("retractions", "LEAD")
_MIN_SHARE_OF_CLAUSE = 0.5  # of what a speaker takes back
_MAX_OBJECT_DISTANCE = 4  # words from `like` to what is liked
_MAX_NAME_DISTANCE = 9
_USED_TO = "used to"
_CLAUSE_END = lazy_pattern(r"[;,.] | but | though | until ")
_NOT_ANY_MORE = lazy_pattern("any ?more|no longer")
_NEGATIVE = lazy_pattern(
    r"dislik|\bhat(?:e|ed|ing)\b|avoid|can't stand|couldn't stand|never (?:like|enjoy|care)"
    r"|(?:\bnot|n't) (?:\w+ ){0,3}(?:fan|into|keen|care|like|enjoy|love|appreciate|feeling)\b"
)


def find_given_up(older: Statement, newer: Statement) -> Link | None:
    """Return a link if a clause of the newer note says that the value of the older one is gone."""
    given_up = read_given_up(newer.text)
    if not given_up or older.is_question or older.reports_event:
        return None
    if "tentative" in older.cues or not NEGATIONS.isdisjoint(older.words):
        return None
    for gone, is_of_writer in given_up:
        if _is_value(older, gone) and not (is_of_writer and _is_of_another(older, newer)):
            return Link("retraction", "says that it is no more", " ".join(sorted(gone)), has_one_subject=True)
    return None


def _is_of_another(older: Statement, newer: Statement) -> bool:
    """Return whether a note begins with the name of somebody whom the newer one does not mention: `Tom drives a Fiat`
    says nothing of what its writer has sold."""
    name, *rest = older.words
    is_name = older.text[:1].isupper() and name.isalpha() and name not in function_words() and not older.label
    is_subject = bool(rest) and (rest[0] in list_all_verbs() or rest[0].endswith("s"))
    return is_name and is_subject and stem(name) not in newer.stems


def _is_value(older: Statement, gone: frozenset[str]) -> bool:
    """Return whether something is the value of a note, rather than its subject."""
    if not gone <= set(older.stems) or all(map(is_month_or_day, gone)):
        return False
    claims = read_first_claim(older.text)
    is_own = not FIRST_PERSON.isdisjoint(older.words) or _leaves_out_subject(older.text)
    if not is_own and any(claim.is_closed and not gone.isdisjoint(claim.heads[0]) for claim in claims):
        return False
    is_named = any(has_capitals(each, older.text) or not each.isalpha() for each in gone)
    is_whole = any(claim.is_closed and claim.value <= gone for claim in claims)
    return is_named or is_whole or (is_own and older.stems[-1] in gone)


def _leaves_out_subject(text: str) -> bool:
    """Return whether a note in Japanese has no topic: it is about its writer."""
    return has_kana_or_kanji(text) and "を" in text and "は" not in text


@cache_within(500_000)
def read_given_up(text: str) -> tuple[tuple[frozenset[str], bool], ...]:
    """Return the topics of what a note says is gone, by clause, and whether its writer gave it up; cached, as a note is
    compared with many."""
    return tuple(gone for clause in split_clauses(text) for gone in _read_clause(clause))


def _read_clause(clause: str) -> Iterator[tuple[frozenset[str], bool]]:
    folded = fold(clause).rstrip(".!。")
    words = split_words(folded)
    while words and words[0] in _LEAD:
        words = words[1:]
    joined = " ".join(words)
    patterns = {pattern: None for word in words for pattern in _index_patterns().get(word, ())}
    matches = [match for pattern in patterns if (match := compile_pattern(pattern).match(joined))]
    if has_kana_or_kanji(folded):
        matches += [match for pattern in _UNSPACED if (match := compile_pattern(pattern).search(folded))]
    for match in matches:
        thing = split_words(match["t"])
        topics = find_topics(thing)
        if topics and PRONOUNS.isdisjoint(thing) and not topics <= GENERIC:
            yield topics, match.start("t") > 0
            return


@cache
def _index_patterns() -> dict[str, list[str]]:
    """Index the patterns by words: every text that a pattern matches has one of its words."""
    index: dict[str, list[str]] = {}
    for form in compile_forms(
        [("", read_list("retractions", "GONE"))], _SLOTS, _LAST_SLOTS, longest_first=True, is_whole=False
    ):
        for word in form.triggers:
            index.setdefault(word, []).append(form.pattern)
    return index


def judge_taking_back(older: Statement, newer: Statement) -> Link | None:
    """Return a link if a speaker takes back what they said: `I used to like it, but not any more`."""
    about = _find_taken_back(older, newer)
    return Link("retraction", "takes it back", " ".join(sorted(about))) if about else None


def _find_taken_back(older: Statement, newer: Statement) -> set[str]:
    """Return what a speaker said before and takes back; empty if it is something else, or was not said."""
    if not newer.taken_back or older.speaker != newer.speaker or FIRST_PERSON.isdisjoint(older.words):
        return set()
    clause = set(newer.taken_back)
    shared = clause.intersection(older.stems)
    if not shared or not _is_same_feeling(older.text, newer.text, frozenset(shared - _KINDS_OF_THINGS or shared)):
        return set()
    is_done = not NEEDS.isdisjoint(older.words) and not DONE.isdisjoint(newer.words)
    if not is_done and "retraction" not in newer.cues:  # `I finished the book`
        return set()
    names = {stem(word) for word in list_capitalised(older.text)} & shared
    if names & _liked_stems(older.words, _MAX_NAME_DISTANCE):
        return shared
    if len(shared) < _MIN_SHARE_OF_CLAUSE * len(clause) or (shared <= _KINDS_OF_THINGS and shared != clause):
        return set()
    is_whole = len(shared) >= 2 and shared == clause and not SENTIMENT_STEMS.isdisjoint(map(stem, older.words))
    is_clear = is_whole or (len(shared) >= 2 and (is_done or len(names) >= 2)) or (is_done and shared == clause)
    return shared if is_clear or _liked_stems(older.words, _MAX_OBJECT_DISTANCE) & shared else set()


def _is_same_feeling(older: str, newer: str, about: frozenset[str]) -> bool:
    """Return whether the feeling that is taken back, liking or disliking, is the earlier one."""
    taken_back = _read_past_feeling(fold(newer))
    return taken_back is None or taken_back == _is_liked(fold(older), about)


@cache_within(500_000)
def _read_past_feeling(folded: str) -> bool | None:
    """Return whether somebody says that they used to like something (True) or to dislike it (False); None if they do
    not say."""
    _, is_past, rest = folded.partition(_USED_TO)
    if is_past:
        return _NEGATIVE.search(_CLAUSE_END.split(rest)[0]) is None
    return True if _NOT_ANY_MORE.search(folded) and _NEGATIVE.search(folded) else None


@cache_within(500_000)
def _is_liked(folded: str, about: frozenset[str]) -> bool:
    """Return whether somebody says that they like something; `used to like` does not count."""
    before, is_past, rest = folded.partition(_USED_TO)
    if not is_past:
        return _NEGATIVE.search(folded) is None
    clause = _CLAUSE_END.split(rest)[0]
    if about.intersection(content_stems(split_words(clause))):
        return _NEGATIVE.search(clause) is not None
    return _NEGATIVE.search(before + rest.removeprefix(clause)) is None


def _liked_stems(words: Sequence[str], distance: int) -> set[str]:
    """Return the stems shortly after a word that says what somebody likes or dislikes."""
    pairs = enumerate(zip(("", *words), words, strict=False))
    places = [at for at, (before, word) in pairs if stem(word) in SENTIMENT_STEMS and before not in _NO_FEELING]
    return {stem(word) for at in places for word in words[at + 1 : at + 1 + distance]}
