"""Replacements: a statement, its newest version, and whether that replaces all of it.

For a question about what was before something (`where did Tom live before Bristol?`), the version before the one that
it names comes first. The others follow, and all keep their marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from ..caching import cache_within
from ..facts.clauses import find_parts
from ..facts.glances import Glance, hash_stems
from ..facts.links import Link, LinkKind
from ..facts.page_subjects import read_subject
from ..facts.statements import LookupKeys, Statement, find_lines, query_stems, read_statements
from ..facts.versions import judge
from ..facts.words import fold, split_words
from ..formats.timestamps import parse_day
from ..index.statements import StoredStatement
from ..model import Hit, Successor
from .scoring import ScoredHit

REPETITION = Link("repetition", "says the same again")
_WHOLE_KINDS: tuple[LinkKind, ...] = ("confirmed", "done", "repetition")  # of links to all of a statement
_NO_KEYS: LookupKeys = {}
_MAX_SCORE = 0.99  # for a hit that inherits the chances of others
SUPERSEDED_SHARE = 0.8  # of the score of a hit whose fact was replaced

RankedHit = tuple[ScoredHit, Hit]  # what was scored, with the whole passage; and the hit that is shown


class FoundStatement:
    """A statement of a passage. A stored one is parsed only on demand: for most, the stored numbers are enough."""

    def __init__(
        self,
        number: int,
        hit: Hit,
        source: Statement | StoredStatement,
        keys: LookupKeys = _NO_KEYS,
        paragraph: str = "",
    ) -> None:
        """`hit`: with the whole text of the passage. `keys`: under which newer versions are stored. `paragraph`: that
        the statement is in, if the hit has only the statement."""
        self.number = number
        self.hit = hit
        self.keys = keys
        self.text_around = paragraph or hit.text
        self._source = source

    @cached_property
    def statement(self) -> Statement:
        return self._source.read() if isinstance(self._source, StoredStatement) else self._source

    @cached_property
    def glance(self) -> Glance | None:
        """Return the numbers of the statement; None if they are not stored."""
        return self._source.take_glance() if isinstance(self._source, StoredStatement) else None

    @property
    def order(self) -> int:
        """Return the number by which the statements of a passage are in order."""
        return self._source.place if isinstance(self._source, StoredStatement) else self._source.first_line

    def list_stems(self) -> Sequence[int]:
        """Return the hashes of its stems."""
        source = self._source
        return source.list_stems() if isinstance(source, StoredStatement) else hash_stems(source.stems)


StatementId = tuple[int, int, str]  # the passage, the line in it, and the text of a statement


def identify(place: FoundStatement) -> StatementId:
    """Return the identity of a statement."""
    return place.number, place.statement.first_line, place.statement.text


class Replacement(NamedTuple):
    """A statement, its newest version, and why that is one.

    `is_partial`: the statement or its passage also says something that is still true. `keeps_place`: the query is about
    that just as much. `clause`: what was replaced of the statement; empty if all of it was.
    """

    older: FoundStatement
    newer: FoundStatement
    link: Link
    is_partial: bool = False
    keeps_place: bool = False
    clause: str = ""


def is_same_place(older: Hit, path: str, newer: Statement, key: str = "") -> bool:
    """Return whether a short label means the same in two statements: they are on one page or under one key, or the
    newer one names the page of the older: `Version: 3` on the page of Osprey."""
    if older.path == path or (older.key and older.key == key):
        return True
    name = older.path.rpartition("/")[2].removesuffix(".md")
    words = split_words(fold(name.replace("_", "-")))
    return bool(words) and all(map(str.isalpha, words)) and set(words) <= set(newer.words)


def order_by_date(place: FoundStatement) -> tuple[str, str, int, int]:
    """Return the sort key that puts the oldest statement first."""
    return date_of(place.hit), place.hit.path, place.hit.start, place.order


def date_of(hit: Hit) -> str:
    """Return when a passage is from: as it says, or as its page is called."""
    return hit.at or (hit.path.rpartition("/")[2] if parse_day(hit.path) else "")


def subject_of(hit: Hit) -> frozenset[str]:
    """Return the subject of a passage's page and headings; empty for a turn of a session."""
    return frozenset() if hit.source == "session" else read_subject(hit.path, hit.heading)


def subject_numbers(hit: Hit) -> frozenset[int]:
    """Return the hashes of the subject of a passage's page and headings."""
    return frozenset() if hit.source == "session" else _hash_subject(hit.path, hit.heading)


@cache_within(250_000)
def _hash_subject(path: str, heading: str) -> frozenset[int]:
    return frozenset(hash_stems(read_subject(path, heading)))


def either(one: float, two: float) -> float:
    """Return the probability that at least one of two is right."""
    return 1 - (1 - one) * (1 - two)


def inherit(hit: Hit, chance: float) -> Hit:
    """Return a hit with the chance that others are right added to its own."""
    return hit._replace(score=round(min(_MAX_SCORE, either(hit.score, chance)), 4)) if chance else hit


def find_replaced_part(replacement: Replacement, asked: frozenset[str] = frozenset()) -> Replacement:
    """Return a replacement, marked as partial if the newer statement says nothing about another clause of the older
    one."""
    older, newer, link = replacement[:3]
    if link.kind in _WHOLE_KINDS or not older.statement.words or older.statement.label:
        return replacement

    def is_replaced(clause: str) -> bool:
        statements = read_statements(clause)
        same = is_same_place(older.hit, newer.hit.path, newer.statement)
        return any(judge(each, newer.statement, is_same_place=same) is not None for each in statements)

    parts = find_parts(older.statement.text, newer.statement.text, is_replaced)
    if parts is None:
        return replacement
    return replacement._replace(is_partial=True, keeps_place=parts.is_about_held(asked), clause=parts.replaced_clause)


def describe_successor(replacement: Replacement) -> Successor:
    """Describe what replaced a statement, for a hit."""
    hit = replacement.newer.hit
    statement = replacement.newer.statement
    start, end = find_lines(hit, statement)
    link = replacement.link
    was = replacement.clause or replacement.older.statement.text
    return Successor(
        statement.text,
        hit.path,
        start,
        end,
        hit.at,
        kind=link.kind,
        reason=link.reason,
        was=was,
        is_partial=replacement.is_partial,
    )


def put_earlier_first(
    ranked: Sequence[RankedHit], replacements: Iterable[Replacement], asked: frozenset[str]
) -> list[RankedHit]:
    """Return the hits by score. What was before takes over the chances of the versions after it."""
    by_number = {row.number: (row, hit) for row, hit in ranked}
    versions: dict[int, dict[object, FoundStatement]] = {}
    for each in replacements:
        group = versions.setdefault(each.newer.number, {identify(each.newer): each.newer})
        group[identify(each.older)] = each.older
    for group in versions.values():
        _raise_earlier(by_number, sorted(group.values(), key=order_by_date), asked)
    return sorted(by_number.values(), key=lambda each: each[1].score, reverse=True)


def _raise_earlier(by_number: dict[int, RankedHit], places: Sequence[FoundStatement], asked: frozenset[str]) -> None:
    """Raise the hit with the version before the one that is named; if none is named, the one before the last."""
    at = _find_named(places, asked)
    if at == 0 or places[at - 1].number not in by_number:
        return
    row, earlier = by_number[places[at - 1].number]
    for place in places[at:]:
        if place.number in by_number and place.number != row.number:
            other_row, other = by_number[place.number]
            earlier = inherit(earlier, other.score)
            by_number[place.number] = other_row, other._replace(score=round(other.score * SUPERSEDED_SHARE, 4))
    by_number[row.number] = row, earlier


def _find_named(places: Sequence[FoundStatement], asked: frozenset[str]) -> int:
    """Return the version that has most words of a question, apart from words that all versions have."""
    stems = [frozenset(place.statement.stems) or query_stems(place.statement.text) for place in places]
    common = frozenset[str].intersection(*stems)
    counts = [len((asked & each) - common) for each in stems]
    best = max(counts)
    return max(at for at, count in enumerate(counts) if count == best)
