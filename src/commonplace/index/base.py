"""What an index is: `Index`, the protocol that every engine implements, its values, and rows of a database.

An index holds the words and vectors of passages and the fields of records, read from the pages. Deleting it loses
nothing. `sync.py` is its only writer.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from ..facts.statements import fact_keys, hash_key
from ..formats.passages import NEIGHBOUR_TURNS, embedding_text
from ..formats.timestamps import parse_day
from ..model import EVERYTHING, Filters, Hit, Passage, Record, Scope, Source, Viewer
from .statements import PassageFacts, StoredStatements, list_keys, read_facts, unpack_statements
from .terms import check_terms

if TYPE_CHECKING:
    from ..embedding.base import Vectors


NoteDays = Callable[[str, int | None, bool], str]  # takes a text, its day, and whether it is a turn of a session
UNKNOWN_DAYS = "?"  # the days are not noted: they have to be read in the text
VALIDITY_MARK = "v"  # it may say until when it is valid
UNREAD = f"{UNKNOWN_DAYS} {VALIDITY_MARK}"


def note_no_days(_text: str, _day: int | None, _is_turn: bool) -> str:  # noqa: FBT001 - as `NoteDays` says
    return UNREAD


class Entry(NamedTuple):
    """A page to be stored in the index. `passages` is None when only the stamp is new."""

    path: str
    stamp: int
    version: str
    kind: str
    scope: Scope
    source: Source
    passages: Sequence[Passage] | None
    record: Record | None = None
    warning: str = ""
    note_days: NoteDays = note_no_days


ChoosePassages = Callable[[Mapping[int, frozenset[int]]], Sequence[int]]  # given the keys that each may have


BM25_K1 = 0.8  # how fast repeats of a word stop counting
BM25_B = 0.55  # how much the length of a passage counts
SHARED_LETTERS = 2  # a misspelled word begins with the same letters
CONTEXT_WEIGHT = 0.5  # a word in the text around a passage, relative to one in it


MAX_PASSAGES_PER_FACT_KEY = 20  # only the newest count; a fact with more versions has one among them


def weighted_length(inside: int, around: int) -> int:
    """Return the length of a passage for BM25, in words."""
    return round(inside + CONTEXT_WEIGHT * around)


class Candidate(NamedTuple):
    """A passage that may answer, with the indexed words in it and around it, packed as in `terms.py`."""

    number: int
    hit: Hit
    kind: str
    terms: bytes
    length: int
    day: int | None
    days: str = UNREAD  # the days its text names, encoded by `search/validity.py`
    fact_keys: frozenset[int] = frozenset()  # the looked-up keys that it may have


class CorpusStats(NamedTuple):
    """How many passages there are, how long they are, and in how many of them each word occurs."""

    passages: int
    average_length: float
    frequency: Mapping[str, int]


class PendingBatch(NamedTuple):
    """The next passages that a vector space has not seen yet."""

    after: int
    upto: int
    texts: Mapping[tuple[int, bytes], str]  # texts without a vector, by owner and content hash
    space: int = 0  # the id of the space, which may be dropped and created again meanwhile


class PassageEmbedding(NamedTuple):
    """The embedding of a text. `tokens`: packed token vectors, for MaxSim."""

    vector: Vectors
    tokens: bytes = b""


class TokenVectors(NamedTuple):
    """Packed token vectors by passage, and the neighbouring turns of each turn of a session."""

    by_passage: dict[int, bytes]
    neighbours: dict[int, list[int]]


class Coverage(NamedTuple):
    """The progress of a vector space: passages seen, passages in all, and vectors."""

    seen: int
    passages: int
    vectors: int

    @property
    def behind(self) -> int:
        return self.passages - self.seen

    @property
    def whole(self) -> bool:
        return self.behind <= 0


State = Literal["ok", "missing", "damaged", "busy", "unused"]


class IndexInspection(NamedTuple):
    """The state of an index and, if it is ok, the stamps, versions and warnings it has by page.

    `seq`: the sequence number it is up to, where pages have one. `lag_is_normal`: it may be behind the pages without
    anything being wrong, since the next search catches up.
    """

    location: str
    state: State
    problem: str = ""
    stamps: Mapping[str, int] = {}
    versions: Mapping[str, str] = {}
    warnings: Mapping[str, str] = {}
    seq: int = 0
    lag_is_normal: bool = False


Progress = Callable[[str, int, int], None]  # called with the name of a step, how many are done, and of how many


@contextmanager
def report_progress_to(progress: Progress) -> Iterator[None]:
    """Report to `progress` how far the index is, while a query within this block waits for it."""
    token = _listener.set(progress)
    try:
        yield
    finally:
        _listener.reset(token)


def report_progress(step: str, done: int, total: int) -> None:
    """Report to whoever called `report_progress_to`, if there is anything to do."""
    if total:
        _listener.get()(step, done, total)


def has_progress_listener() -> bool:
    return _listener.get() is not ignore_progress


def ignore_progress(_step: str, _done: int, _total: int) -> None:
    """Report to nobody."""


_listener: ContextVar[Progress] = ContextVar("listener", default=ignore_progress)


@contextmanager
def limit_catch_up(seconds: float) -> Iterator[None]:
    """Limit how long queries within this block wait for the index to catch up. The rest is left to the next query, and
    the answer comes from what is indexed."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_to_catch_up() -> float:
    """Return how long the index may still catch up; infinite without a limit."""
    return _deadline.get() - time.monotonic()


_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))


class BatchQuery(NamedTuple):
    """A whole query, for an index that answers it in one round trip, with the parameters of `search/bm25.py`."""

    words: tuple[str, ...]
    function_words: frozenset[str]
    factors: tuple[float, ...]  # multiplies each word's weight
    idf_prior_passages: int
    max_lookup_passages: int
    query_vectors: tuple[tuple[str, Vectors], ...]  # one per vector space
    viewer: Viewer
    filters: Filters
    limit: int


NEIGHBOUR_LINES = 6  # how far apart neighbouring turns may be


def find_neighbour_turns(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[int]]:
    """Return the nearest turns on either side of each, given rows of (turn, other turn, line offset of the other)."""
    sides: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    for number, other, offset in rows:
        sides.setdefault((number, offset > 0), []).append((abs(offset), other))
    neighbours: dict[int, list[int]] = {}
    for (number, _), others in sides.items():
        neighbours.setdefault(number, []).extend([other for _, other in sorted(others)[:NEIGHBOUR_TURNS]])
    return neighbours


class Retriever(Protocol):
    """The part of an index that finds candidates."""

    def corpus_stats(self, words: Sequence[str], viewer: Viewer) -> CorpusStats:
        """Return the statistics for these words, over the passages that the viewer may see."""
        ...

    def match_terms(
        self, weights: Mapping[str, float], viewer: Viewer, filters: Filters, limit: int
    ) -> dict[int, float]:
        """Return the passages with any of these words that the viewer may see, best first, with their BM25 by these
        words, without its constant factor."""
        ...

    def nearest(
        self, space: str, query: Vectors, viewer: Viewer, filters: Filters, limit: int
    ) -> list[tuple[int, float]]:
        """Return the nearest passages that the viewer may see, with their cosines."""
        ...

    def cosines(self, space: str, query: Vectors, numbers: Sequence[int]) -> dict[int, float]:
        """Return the cosines of single passages; those without a vector are left out."""
        ...

    def token_vectors(self, space: str, numbers: Sequence[int]) -> TokenVectors:
        """Return the packed token vectors of single passages and of the neighbours of turns."""
        ...

    def similarity_stats(self, space: str, viewer: Viewer) -> tuple[float, float] | None:
        """Return mean and standard deviation of the cosine between passages that the viewer may see; None if there
        are too few."""
        ...

    def words_like(self, word: str, viewer: Viewer) -> dict[str, int]:
        """Return the words of about the same length that begin with the same two letters, with how many passages that
        the viewer may see have each."""
        ...

    def newest(self, viewer: Viewer, filters: Filters, limit: int) -> list[int]:
        """Return the passages with a date that the viewer may see and that pass the filters, newest first."""
        ...

    def load_candidates(self, numbers: Sequence[int]) -> list[Candidate]: ...

    def find_by_fact_keys(
        self,
        keys: Sequence[int],
        viewer: Viewer,
        limit: int,
        filters: Filters = EVERYTHING,
        choose: ChoosePassages | None = None,
    ) -> list[Candidate]:
        """Return the passages with a statement under one of these keys (see `facts/statements.py`) that the viewer may
        see, with these keys: those that share the rarest keys, newest first. Of one key at most
        `MAX_PASSAGES_PER_FACT_KEY` count; where there are more, every passage may have it. Where that saves time, only
        those are loaded that `choose` returns."""
        ...


@runtime_checkable
class SingleQueryIndex(Protocol):
    """An index that can run a whole search in one query, such as one behind a network."""

    def fetch(self, query: BatchQuery) -> Retriever:
        """Run a search and return a retriever that has everything it needs."""
        ...


class VectorStore(Protocol):
    """The part of an index that embedders fill: vectors of passages, in a space for each model."""

    def next_pending(self, space: str, limit: int, viewer: Viewer | None = None) -> PendingBatch | None:
        """Return the next passages for a space to embed; None when it has seen all. Raises `IndexClosed`.

        With a viewer, return the next of those that the viewer may see, ahead of their turn.
        """
        ...

    def add_vectors(
        self, space: str, pending: PendingBatch, embedded: Mapping[tuple[int, bytes], PassageEmbedding]
    ) -> None:
        """Store the embeddings of a batch; passages that are not among them get no vector. Raises `IndexClosed`."""
        ...

    def accepts_dimensions(self, space: str, dims: int) -> bool:
        """Return whether vectors of this many dimensions can be compared with those of a space."""
        ...

    def coverage(self, space: str, viewer: Viewer | None = None) -> Coverage:
        """Return how far a space is: over all passages, or over those that a viewer may see."""
        ...

    def spaces(self) -> list[str]: ...

    def drop_space(self, space: str) -> None: ...

    def promote_space(self, new: str, space: str) -> None:
        """Replace a space by a new one that was built beside it."""
        ...

    def build_ann_index(self, space: str) -> bool:
        """Build an approximate nearest-neighbour index for a large space. Return whether the space has one now; False
        if it is small, if this user may not build one, or if this engine needs none."""
        ...


class SearchIndex(Retriever, Protocol):
    """What a search reads of an index, after the embedders have caught up."""

    def read_transaction(self) -> AbstractContextManager[None]:
        """Read one state of the index, whatever others write meanwhile."""
        ...

    def load_statements(self, numbers: Sequence[int]) -> dict[int, StoredStatements]:
        """Return the statements of passages; those that have to be read in their text are left out."""
        ...

    def preceding_text(self, number: int) -> str:
        """Return the text before a passage on its page; empty for the first."""
        ...

    def find_questions(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return what the user said last before each of these turns of a session; those with nothing before are left
        out."""
        ...


class Index(SearchIndex, VectorStore, Protocol):
    """An index of pages: what a search reads, the vectors that embedders add, and the pages that are in it."""

    def state(self) -> object:
        """Return a value that changes whenever the index does, by any process; None if finding out costs as much as
        reading the index."""
        ...

    def stamps(self, below: str | None = None) -> dict[str, int]:
        """Return the stamps of all pages in the index, or of those below a folder."""
        ...

    def write_transaction(self) -> AbstractContextManager[None]:
        """Exclude other writers, in every process, and commit everything or nothing."""
        ...

    def versions(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        """Return the versions of all pages in the index, or of these."""
        ...

    def apply(self, entries: Iterable[Entry], removed: Iterable[str]) -> None:
        """Store these pages and remove those, within a write transaction."""
        ...

    def records(self, prefix: str) -> list[Record]:
        """Return the records whose pages are below a prefix, in the order of their paths."""
        ...

    def size(self) -> tuple[int, int]:
        """Return how many pages and passages are in the index."""
        ...

    def warnings(self) -> list[tuple[str, str]]:
        """Return what is wrong with pages, as pairs of a path and a sentence that names it."""
        ...


# Passages and records as rows of a database: the columns that all engines share.


def passage_row(entry: Entry, owner: int, passage: Passage, length: int) -> tuple[Any, ...]:
    content = _hash(embedding_text(passage.lead, passage.text))
    day = parse_day(passage.at) if passage.at else None
    return (
        entry.path,
        passage.start,
        passage.end,
        passage.text,
        passage.lead,
        passage.key,
        json.dumps(passage.tags),
        passage.at,
        day,
        entry.note_days(passage.text, day, entry.source == "session"),
        entry.kind,
        owner,
        entry.source,
        length,
        content,
    )


def digest_of(owner: int, entry: Entry, passage: Passage) -> bytes:
    """Return a hash of everything the index stores of a passage, except its line numbers."""
    _, _, text, hint, around, lead, key, tags, at = passage
    return _hash(str(owner), entry.kind, entry.source, text, hint, around, lead, key, str(tags), at)


def _hash(*parts: str) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode(errors="surrogatepass"), digest_size=16).digest()


def passage_fact_keys(kind: str, key: str, text: str) -> list[int]:
    """Return the keys of the facts of a passage: of its statements and, for a block or a record, of its own key."""
    return add_own_key(kind, key, fact_keys(text, is_turn=kind == "session"))


def read_passage_facts(kind: str, key: str, text: str) -> PassageFacts:
    """Return the keys of the facts of a passage, and its statements as they are stored."""
    keys, stored = read_facts(text, is_turn=kind == "session")
    return PassageFacts(add_own_key(kind, key, keys), stored)


def stored_fact_keys(kind: str, key: str, text: str, stored: StoredStatements | None) -> list[int]:
    """Return the keys under which a passage is stored, given what is stored of its statements."""
    return add_own_key(kind, key, list_keys(stored)) if stored else passage_fact_keys(kind, key, text)


def add_own_key(kind: str, key: str, keys: list[int]) -> list[int]:
    """Return the keys of statements and, for a block or a record, of its own key."""
    return [hash_key(key), *keys] if key and kind != "skill" else keys


PassagesByKey = Mapping[int, Sequence[int]]  # the newest passages of each key of a fact


def choose_by_rarity(by_key: PassagesByKey, limit: int) -> list[int]:
    """Return those passages that share the rarest keys."""
    weights: dict[int, float] = {}
    get_weight = weights.get
    for numbers in by_key.values():
        share = 1 / len(numbers)
        for number in numbers:
            weights[number] = get_weight(number, 0.0) + share
    return sorted(weights, key=weights.__getitem__, reverse=True)[:limit]


def list_fact_keys(numbers: Sequence[int], by_key: PassagesByKey) -> dict[int, frozenset[int]]:
    """Return the keys that passages may have: of a key with many passages, only some are known."""
    frequent = frozenset(key for key, some in by_key.items() if len(some) >= MAX_PASSAGES_PER_FACT_KEY)
    keys: dict[int, list[int]] = {number: [] for number in numbers}
    for key, some in by_key.items():
        for number in some:
            if number in keys:
                keys[number].append(key)
    return {number: frequent.union(own) for number, own in keys.items()}


def sort_newest_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=_newest, reverse=True)


def _newest(candidate: Candidate) -> tuple[int, str, int]:
    return candidate.day or 0, candidate.hit.at, candidate.number


def candidate_of(row: tuple[Any, ...]) -> Candidate:
    number, path, first, last, text, lead, key, tags, at, day, days, kind, scope, who, source, length, terms = row
    if not isinstance(text, str):
        raise TypeError("a passage is text")
    parsed_tags = () if tags == "[]" else tuple(json.loads(tags))
    hit = Hit(path, first, last, text, 0.0, Scope(scope, who), source, key, parsed_tags, at, heading=lead)
    return Candidate(number, hit, kind, check_terms(terms), length, day, days)


def stored_statements_of(row: tuple[Any, ...]) -> tuple[int, StoredStatements]:
    number, keys, parsed = row
    return number, unpack_statements(keys, parsed)


def record_row(record: Record) -> tuple[str, ...]:
    return (
        record.path,
        record.key,
        json.dumps(record.value, ensure_ascii=False),
        record.category,
        json.dumps(record.tags),
        record.created_at,
        record.updated_at,
        record.scope.kind,
        record.scope.name,
    )


def record_of(row: tuple[Any, ...]) -> Record:
    path, key, value, category, tags, created_at, updated_at, scope, who = row
    return Record(
        key,
        json.loads(value),
        category,
        tuple(json.loads(tags)),
        created_at,
        updated_at,
        path,
        Scope(scope, who),
    )
