"""Looks up statements that may be versions of given ones, by the keys that they share.

Most that share a key are not versions. They are rejected by the numbers that the index stores for each statement
(`facts/glances.py`), before their passages are loaded and their statements read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..facts.glances import Glance, OlderGlances, may_be_linked, take_glance
from ..facts.statements import LookupKeys, find_statements, list_required
from ..index.base import Candidate, SearchIndex
from ..index.statements import StoredStatement, StoredStatements
from ..model import EVERYTHING, Filters, Viewer
from .replacements import FoundStatement, order_by_date, subject_numbers

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

    glance: Glance
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
        self._older = OlderGlances(sought.glance for sought, _ in self._places)
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
        glance = stored.take_glance(place)
        may_be_linked_to_any = self._older.may_be_linked(*glance)
        if not may_be_linked_to_any and not self._names:
            return False
        sought = [each for key in shared for each in self._list_sought(key)]
        if may_be_linked_to_any and any(may_be_linked(each.glance, glance) for each in sought):
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
    return _Sought(place.glance or take_glance(place.statement), names)


def may_be_version(older: FoundStatement, newer: FoundStatement) -> bool:
    """Return whether a closer look may find that one statement replaces another."""
    if older.glance is None or newer.glance is None or may_be_linked(older.glance, newer.glance):
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
