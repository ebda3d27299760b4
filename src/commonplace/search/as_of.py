"""Search as of an earlier day: the memory at the end of that day, from history.

Unchanged pages come from the present index. Changed pages are read from history as they were, and
indexed in memory, so the cost depends on how much changed. `IndexAsOf` combines both. Sessions only
grow: their turns are searched up to that day.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from operator import neg
from typing import TYPE_CHECKING

from ..errors import CommonplaceError, NotFound, PageNotFound
from ..formats.timestamps import parse_day, parse_timestamp
from ..index.base import (
    Candidate,
    ChoosePassages,
    CorpusStats,
    Entry,
    SearchIndex,
    TokenVectors,
    sort_newest_first,
)
from ..index.embedding_service import ActiveEmbedders, embed_batch
from ..index.sqlite import SqliteIndex
from ..index.statements import StoredStatements
from ..index.sync import UNREADABLE_PAGE_ERRORS, IndexScope, find_skill_pages, read_entry
from ..model import EVERYTHING, Filters, Page, PastPages, Viewer
from ..storage.base import HistoryStore, Pages, Storage
from ..storage.conflicts import decode_text
from ..storage.history import PastPage
from ..storage.layout import Place
from .validity import note_days

if TYPE_CHECKING:
    from ..embedding.base import Vectors

_MAX_SLOWLY_EMBEDDED = 256  # passages that a search waits for if the embedder is slow


@dataclass(frozen=True)
class Overlay:
    """An index of the pages that have changed since a day, as they were at its end.

    `undetermined_pages`: the number of pages whose state on that day history does not know.
    """

    index: SqliteIndex
    past: PastPages
    undetermined_pages: int

    @property
    def warnings(self) -> tuple[str, ...]:
        count = self.undetermined_pages
        if not count:
            return ()
        pages = "1 page was" if count == 1 else f"{count} pages were"
        day = date.fromordinal(self.past.day)
        return (f"history does not know what {pages} on {day}: only what is dated up to then is searched there",)


class Overlays:
    """The overlays of one home: the last one is reused as long as nothing was changed or forgotten since."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lock = threading.Lock()
        self._last: tuple[tuple[object, ...], Overlay] | None = None

    def open(self, scope: IndexScope, viewer: Viewer, day: int, moment: str) -> Overlay:
        """Return the overlay of a moment of a day, for what a viewer may see."""
        past = self._storage.history.past_pages(moment)
        key = (day, scope, viewer, past)
        with self._lock:
            if self._last is None or self._last[0] != key:
                self._last = (key, _build_overlay(self._storage, scope, viewer, day, past))
            return self._last[1]


class _PagesThen:
    """Pages as they were at a moment, as far as the index reads them.

    If history does not know a page's state then, its first later version is read.
    """

    def __init__(self, pages: Pages, history: HistoryStore, past: Mapping[str, PastPage]) -> None:
        self._pages = pages
        self._history = history
        self._past = past
        self._lost: set[str] = set()  # pages whose version is not in history any more

    def read(self, path: str) -> Page:
        past = self._past.get(path)
        if past is None:
            return self._pages.read(path)
        if past.version is None:
            return self._read_version(path, past.later)
        try:
            return self._read_version(path, past.version)
        except PageNotFound:
            raise
        except NotFound:
            self._lost.add(path)
            return self._read_version(path, past.later)

    def _read_version(self, path: str, version: str) -> Page:
        data = self._history.read_version(path, version)
        if data is None:
            raise PageNotFound(path)
        return Page(path, decode_text(data, path), version)

    def is_undetermined(self, path: str) -> bool:
        """Return whether history does not know the page as of then."""
        past = self._past.get(path)
        return path in self._lost or (past is not None and past.version is None)

    def modified_at(self, path: str) -> float:
        past = self._past.get(path)
        written_at = parse_timestamp(past.at) if past and past.at else None
        return written_at.timestamp() if written_at else self._pages.modified_at(path)

    def has_page(self, path: str) -> bool:
        try:
            self.read(path)
        except CommonplaceError:
            return False
        return True


def _build_overlay(
    storage: Storage, scope: IndexScope, viewer: Viewer, day: int, past: Mapping[str, PastPage]
) -> Overlay:
    every = ((path, scope.place(path)) for path in past)
    places = {path: place for path, place in every if place and place.kind != "session" and _may_see(viewer, place)}
    places |= find_skill_pages(places, scope)
    unchanged = {path for path in places if _is_only_first_seen(past.get(path))}
    pages = _PagesThen(storage.pages, storage.history, past)
    index = SqliteIndex(":memory:")
    with index.write_transaction():
        index.apply(_read_entries(pages, places, unchanged, day), [])
    undetermined = {path for path in places if path in unchanged or pages.is_undetermined(path)}
    changed = tuple(sorted(set(places) - unchanged))
    return Overlay(index, PastPages(day, changed, tuple(sorted(unchanged))), len(undetermined))


def _may_see(viewer: Viewer, place: Place) -> bool:
    """Return whether a viewer may see any page of a place; the index decides on those of channels and skills."""
    scope = place.scope
    if scope.kind == "extra":
        return not {*scope.name.split("\n")}.isdisjoint(viewer.extra)
    return scope.kind != "agent" or viewer.every_agent or scope.name == viewer.agent


def _is_only_first_seen(past: PastPage | None) -> bool:
    """Return whether history has only the present version of a page, and does not know since when it existed."""
    return past is not None and past.version is None and past.later == past.latest


def _read_entries(
    pages: _PagesThen, places: Mapping[str, Place], unchanged: Collection[str], day: int
) -> Iterator[Entry]:
    """Yield the entries of pages that existed, as they were; a page that can no longer be read yields nothing."""
    for path, place in places.items():
        if path in unchanged:
            continue
        with suppress(*UNREADABLE_PAGE_ERRORS):
            page = pages.read(path)
            entry = read_entry(pages, place, page, 0, pages.has_page)._replace(note_days=note_days)
            yield _only_dated(entry, day) if pages.is_undetermined(path) else entry


def _only_dated(entry: Entry, day: int) -> Entry:
    """Return an entry with only those passages that are dated up to a day."""
    dated = [passage for passage in entry.passages or () if 0 < (parse_day(passage.at) or 0) <= day]
    return entry._replace(passages=dated)


def embed_overlay(overlay: Overlay, active: ActiveEmbedders) -> None:
    """Embed the passages of an overlay with the embedders that answer; with a slow one, only if there are few."""
    index = overlay.index
    for embedder in (*active.embedders, *filter(None, [active.secondary])):
        if embedder.is_fast or index.coverage(embedder.space).behind <= _MAX_SLOWLY_EMBEDDED:
            while embed_batch(index, embedder, embedder.batch_size):
                pass


class IndexAsOf:
    """The present index without the pages that changed since a day, and an overlay of those: one index to the pipeline.

    The passages of the overlay have negative numbers.
    """

    def __init__(self, present: SearchIndex, overlay: Overlay) -> None:
        self._present = present
        self._overlay = overlay.index
        self._past = overlay.past

    def corpus_stats(self, words: Sequence[str], viewer: Viewer) -> CorpusStats:
        now = self._present.corpus_stats(words, viewer)
        then = self._overlay.corpus_stats(words, viewer)
        passages = now.passages + then.passages
        length = now.passages * now.average_length + then.passages * then.average_length
        frequency = Counter(now.frequency)
        frequency.update(then.frequency)
        return CorpusStats(passages, length / passages if passages else 1.0, frequency)

    def words_like(self, word: str, viewer: Viewer) -> dict[str, int]:
        counts = Counter(self._present.words_like(word, viewer))
        counts.update(self._overlay.words_like(word, viewer))
        return dict(counts)

    def match_terms(
        self, weights: Mapping[str, float], viewer: Viewer, filters: Filters, limit: int
    ) -> dict[int, float]:
        now = self._present.match_terms(weights, viewer, self._narrow(filters), limit)
        then = self._overlay.match_terms(weights, viewer, filters, limit)
        return now | {-number: score for number, score in then.items()}

    def nearest(
        self, space: str, query: Vectors, viewer: Viewer, filters: Filters, limit: int
    ) -> list[tuple[int, float]]:
        now = self._present.nearest(space, query, viewer, self._narrow(filters), limit)
        then = self._overlay.nearest(space, query, viewer, filters, limit)
        return [*now, *((-number, cosine) for number, cosine in then)]

    def cosines(self, space: str, query: Vectors, numbers: Sequence[int]) -> dict[int, float]:
        now, then = _split(numbers)
        cosines = self._present.cosines(space, query, now)
        return cosines | {-number: cosine for number, cosine in self._overlay.cosines(space, query, then).items()}

    def token_vectors(self, space: str, numbers: Sequence[int]) -> TokenVectors:
        now, then = _split(numbers)
        present = self._present.token_vectors(space, now)
        past = self._overlay.token_vectors(space, then)
        by_passage = {-number: tokens for number, tokens in past.by_passage.items()}
        neighbours = {-number: [*map(neg, others)] for number, others in past.neighbours.items()}
        return TokenVectors(present.by_passage | by_passage, present.neighbours | neighbours)

    def similarity_stats(self, space: str, viewer: Viewer) -> tuple[float, float] | None:
        return self._present.similarity_stats(space, viewer) or self._overlay.similarity_stats(space, viewer)

    def newest(self, viewer: Viewer, filters: Filters, limit: int) -> list[int]:
        now = self._present.newest(viewer, self._narrow(filters), limit)
        return [*now, *map(neg, self._overlay.newest(viewer, filters, limit))]

    def load_candidates(self, numbers: Sequence[int]) -> list[Candidate]:
        now, then = _split(numbers)
        past = (candidate._replace(number=-candidate.number) for candidate in self._overlay.load_candidates(then))
        return [*self._present.load_candidates(now), *past]

    def load_statements(self, numbers: Sequence[int]) -> dict[int, StoredStatements]:
        now, then = _split(numbers)
        past = {-number: stored for number, stored in self._overlay.load_statements(then).items()}
        return self._present.load_statements(now) | past

    def find_by_fact_keys(
        self,
        keys: Sequence[int],
        viewer: Viewer,
        limit: int,
        filters: Filters = EVERYTHING,
        choose: ChoosePassages | None = None,
    ) -> list[Candidate]:
        now = self._present.find_by_fact_keys(keys, viewer, limit, self._narrow(filters))
        then = self._overlay.find_by_fact_keys(keys, viewer, limit, filters)
        past = (candidate._replace(number=-candidate.number) for candidate in then)
        return sort_newest_first([*now, *past])[:limit]

    def preceding_text(self, number: int) -> str:
        return self._present.preceding_text(number) if number > 0 else self._overlay.preceding_text(-number)

    def find_questions(self, numbers: Sequence[int]) -> dict[int, str]:
        now, then = _split(numbers)
        past = {-number: question for number, question in self._overlay.find_questions(then).items()}
        return self._present.find_questions(now) | past

    @contextmanager
    def read_transaction(self) -> Iterator[None]:
        with self._present.read_transaction(), self._overlay.read_transaction():
            yield

    def _narrow(self, filters: Filters) -> Filters:
        return filters._replace(past=self._past)


def _split(numbers: Sequence[int]) -> tuple[list[int], list[int]]:
    """Split passage numbers into those of the present index and those of the overlay."""
    return [number for number in numbers if number > 0], [-number for number in numbers if number < 0]
