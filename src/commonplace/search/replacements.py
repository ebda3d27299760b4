"""Replacements: a statement, its newest version, and whether that replaces all of it.

For a question about what was before something (`where did Tom live before Bristol?`), the version before the one that
it names comes first. The others follow, and all keep their marks.

Statements that may be versions of given ones are looked up by the keys that they share. Most that share a key are not
versions. They are rejected by the numbers that the index stores for each statement (`facts/sketches.py`), before their
passages are loaded and their statements read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ..caching import cache_within
from ..facts.clauses import find_parts
from ..facts.links import Link, LinkKind
from ..facts.page_subjects import read_subject
from ..facts.prefilter import OlderSketches, Sketch, hash_stems, make_sketch, may_be_linked
from ..facts.statements import (
    LookupKeys,
    Statement,
    find_lines,
    find_statements,
    list_required,
    query_stems,
    read_statements,
)
from ..facts.versions import judge
from ..facts.words import fold, split_words
from ..formats.timestamps import parse_day
from ..index.base import Candidate, SearchIndex
from ..index.statements import StoredStatement, StoredStatements
from ..model import EVERYTHING, Filters, Hit, Successor, Viewer
from .scoring import ScoredHit

REPETITION = Link("repetition", "says the same again")
LATER_REPORT = Link("repetition", "reports the same of a later time")  # both are true, and the later one counts now
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
    def sketch(self) -> Sketch | None:
        """Return the numbers of the statement; None if they are not stored."""
        return self._source.read_sketch() if isinstance(self._source, StoredStatement) else None

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


@cache_within(2_000_000)
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


# Looking up statements that may be versions of given ones.

_MAX_KEYS = 400
_MIN_RARITY = 0.15  # of the keys that two statements share: the sum of 1 / (number of statements with that key)
_MAX_COMMON = 6  # statements with less in common that are compared anyway
_MAX_VERSIONS = 100  # statements with the same key that are compared
ByKey = Mapping[int, Sequence[FoundStatement]]


class Other(NamedTuple):
    """A statement that may be a version of another. `rarity`: how few have the keys that it shares with it."""

    statement: FoundStatement
    rarity: float


_Version = tuple[int, list[int]]  # the place of a statement that may be one, and the keys that it shares


class _Sought(NamedTuple):
    """What is known about a statement whose versions are looked up. `names`: hashes of the names of its subject, which
    it does not have itself; a statement that has one is also read without that name."""

    sketch: Sketch
    names: frozenset[int]


class VersionLookup:
    """Looks up statements that may be versions of others."""

    def __init__(self, index: SearchIndex, places: Iterable[FoundStatement]) -> None:
        self._index = index
        self._keys: LookupKeys = {}
        self._places: list[tuple[_Sought, LookupKeys]] = []
        self._sought: dict[int, list[_Sought]] = {}  # by key, of those that were asked for
        self._stored: dict[int, StoredStatements] = {}
        self._versions: dict[int, list[_Version]] = {}  # by passage, of those with stored statements
        for place in places:
            self._keys |= place.keys
            self._places.append((_describe(place), place.keys))
        self._older = OlderSketches(sought.sketch for sought, _ in self._places)
        self._names = frozenset[int]().union(*(sought.names for sought, _ in self._places))

    def find(
        self,
        viewer: Viewer,
        limit: int,
        filters: Filters = EVERYTHING,
        own_keys: Sequence[int] = (),
        max_keys: int = _MAX_KEYS,
    ) -> list[Candidate]:
        """Return the passages with statements that may be versions, and those that are stored under one of
        `own_keys`."""
        keys = [*dict.fromkeys((*own_keys, *self._keys))][:max_keys]

        def choose(found: Mapping[int, frozenset[int]]) -> list[int]:
            self._stored |= self._index.load_statements([*found])
            return [
                number
                for number, shared in found.items()
                if not shared.isdisjoint(own_keys) or self._may_have_versions(number, shared)
            ]

        return self._index.find_by_fact_keys(keys, viewer, limit, filters, choose) if keys else []

    def group(self, candidates: Sequence[Candidate]) -> dict[int, list[FoundStatement]]:
        """Return the statements of passages that may be versions, by the keys that they were looked up by."""
        if not self._keys:
            return {}
        missing = [candidate.number for candidate in candidates if candidate.number not in self._stored]
        self._stored |= self._index.load_statements(missing)
        by_key: dict[int, list[FoundStatement]] = {}
        for candidate in candidates:
            for place, shared in self._find_shared(candidate):
                for key in shared:
                    by_key.setdefault(key, []).append(place)
        return {key: keep_latest(alike, _MAX_VERSIONS) for key, alike in by_key.items()}

    def _may_have_versions(self, number: int, shared: frozenset[int]) -> bool:
        stored = self._stored.get(number)
        return stored is None or bool(self._find_versions(number, stored, shared))

    def _find_shared(self, candidate: Candidate) -> Iterator[tuple[FoundStatement, Iterable[int]]]:
        """Yield the statements of a passage that may be versions, each with the keys that it shares."""
        number = candidate.number
        hit = candidate.hit
        stored = self._stored.get(number)
        if stored:
            for place, shared in self._find_versions(number, stored, candidate.fact_keys):
                yield FoundStatement(number, hit, StoredStatement(stored, place)), shared
            return
        wanted = candidate.fact_keys.intersection(self._keys)
        if wanted:
            required = [list_required(self._keys[key]) for key in wanted]
            for statement, keys in find_statements(hit.text, required, is_turn=hit.source == "session"):
                yield FoundStatement(number, hit, statement), wanted & keys

    def _find_versions(self, number: int, stored: StoredStatements, keys: frozenset[int]) -> list[_Version]:
        """Return the places of stored statements that may be versions, each with the keys that it shares. The keys of a
        passage are the same in one lookup."""
        versions = self._versions.get(number)
        if versions is None:
            versions = [each for each in stored.find_places(keys) if self._is_version(stored, *each)]
            self._versions[number] = versions
        return versions

    def _is_version(self, stored: StoredStatements, place: int, shared: Sequence[int]) -> bool:
        """Return whether a statement may be a version of one that was asked for. Most are no version of any, whatever
        keys they share: that takes less time to tell than to look at each."""
        sketch = stored.read_sketch(place)
        may_be_linked_to_any = self._older.may_be_linked(*sketch)
        if not may_be_linked_to_any and not self._names:
            return False
        sought = [each for key in shared for each in self._list_sought(key)]
        if may_be_linked_to_any and any(may_be_linked(each.sketch, sketch) for each in sought):
            return True
        stems = stored.list_stems(place) if self._names else ()
        return any(not each.names.isdisjoint(stems) for each in sought)

    def _list_sought(self, key: int) -> list[_Sought]:
        sought = self._sought.get(key)
        if sought is None:
            sought = self._sought[key] = [sought for sought, keys in self._places if key in keys]
        return sought


def _describe(place: FoundStatement) -> _Sought:
    subject = subject_numbers(place.hit)
    names = subject.difference(place.list_stems()) if subject else subject
    return _Sought(place.sketch or make_sketch(place.statement), names)


def may_be_version(older: FoundStatement, newer: FoundStatement) -> bool:
    """Return whether a closer look may find that one statement replaces another."""
    if older.sketch is None or newer.sketch is None or may_be_linked(older.sketch, newer.sketch):
        return True
    subject = subject_numbers(older.hit)
    return bool(subject) and not subject.isdisjoint(newer.list_stems())


def find_others(place: FoundStatement, by_key: ByKey) -> list[Other]:
    """Return the statements of other passages that share a key with one, and may be versions of it."""
    rarity: dict[int, float] = {}
    alike: dict[int, FoundStatement] = {}  # each once: most share several keys, and a page may repeat itself
    for found in filter(None, map(by_key.get, place.keys)):
        share = 1 / len(found)
        for number, other in zip(map(id, found), found, strict=True):
            rarity[number] = rarity.get(number, 0.0) + share
            alike[number] = other
    return [
        Other(other, rarity[number])
        for number, other in alike.items()
        if other.number != place.number
        and place.hit.scope.shares_facts_with(other.hit.scope)
        and may_be_version(place, other)
    ]


def choose_likely(others: Iterable[Other], limit: int) -> list[FoundStatement]:
    """Return the statements that share something rare. Of the rest, which share only what many notes have
    (`was repaired`), the latest: those of a fact with many versions are among them."""
    likely: list[FoundStatement] = []
    rest: list[FoundStatement] = []
    for other in others:
        (likely if other.rarity >= _MIN_RARITY else rest).append(other.statement)
    return keep_latest([*likely, *keep_latest(rest, _MAX_COMMON)], limit)


def keep_latest(places: list[FoundStatement], limit: int) -> list[FoundStatement]:
    """Return the latest of many statements: a page may repeat one sentence with a thousand values."""
    return places if len(places) <= limit else sorted(places, key=order_by_date)[-limit:]
