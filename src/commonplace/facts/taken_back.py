"""What a speaker takes back: `I used to like it, but not any more`, after `I like it`."""

from __future__ import annotations

from collections.abc import Sequence

from ..caching import cache_within
from ..patterns import lazy_pattern
from .links import Link
from .relations import FIRST_PERSON
from .statements import Statement
from .value_words import DONE, KINDS_OF_THINGS, NEEDS, NO_FEELING, SENTIMENT_STEMS
from .words import content_stems, fold, list_capitalised, split_words, stem

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


def judge_taking_back(older: Statement, newer: Statement) -> Link | None:
    """Return a link where a speaker takes back what they said: `I used to like it, but not any more`."""
    about = _find_taken_back(older, newer)
    return Link("retraction", "takes it back", " ".join(sorted(about))) if about else None


def _find_taken_back(older: Statement, newer: Statement) -> set[str]:
    """Return what a speaker said before and takes back; empty if it is something else, or was not said."""
    if not newer.taken_back or older.speaker != newer.speaker or FIRST_PERSON.isdisjoint(older.words):
        return set()
    clause = set(newer.taken_back)
    shared = clause.intersection(older.stems)
    if not shared or not _is_same_feeling(older.text, newer.text, frozenset(shared - KINDS_OF_THINGS or shared)):
        return set()
    is_done = not NEEDS.isdisjoint(older.words) and not DONE.isdisjoint(newer.words)
    if not is_done and "retraction" not in newer.cues:  # `I finished the book`
        return set()
    names = {stem(word) for word in list_capitalised(older.text)} & shared
    if names & _liked_stems(older.words, _MAX_NAME_DISTANCE):
        return shared
    if len(shared) < _MIN_SHARE_OF_CLAUSE * len(clause) or (shared <= KINDS_OF_THINGS and shared != clause):
        return set()
    is_whole = len(shared) >= 2 and shared == clause and not SENTIMENT_STEMS.isdisjoint(map(stem, older.words))
    is_clear = is_whole or (len(shared) >= 2 and (is_done or len(names) >= 2)) or (is_done and shared == clause)
    return shared if is_clear or _liked_stems(older.words, _MAX_OBJECT_DISTANCE) & shared else set()


def _is_same_feeling(older: str, newer: str, about: frozenset[str]) -> bool:
    """Return whether what is taken back, liking or disliking, is what was felt before."""
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
    """Return whether somebody says that they like something; what they used to like, they like no more."""
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
    places = [at for at, (before, word) in pairs if stem(word) in SENTIMENT_STEMS and before not in NO_FEELING]
    return {stem(word) for at in places for word in words[at + 1 : at + 1 + distance]}
