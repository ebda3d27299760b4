"""What an index is: `Index`, the protocol that every engine implements, and the values it takes and gives.

An index holds the words and vectors of passages and the fields of records, read from the pages. Deleting it loses
nothing. `sync.py` is its only writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from ..model import Filters, Hit, Passage, Record, Scope, Source, Viewer

if TYPE_CHECKING:
    from ..embedding.base import Vectors


class Entry(NamedTuple):
    """A page as the index stores it. `passages` is None when only the stamp is new."""

    path: str
    stamp: int
    version: str
    kind: str
    scope: Scope
    source: Source
    passages: Sequence[Passage] | None
    record: Record | None = None
    warning: str = ""


BM25_K1 = 0.8  # how fast repeats of a word stop counting
CONTEXT_WEIGHT = 0.5  # of a word in the text around a passage, against one in it


def weighted_length(inside: int, around: int) -> int:
    """The length of a passage for BM25, in words."""
    return round(inside + CONTEXT_WEIGHT * around)


class Candidate(NamedTuple):
    """A passage that may answer, with the indexed words in it and around it."""

    number: int
    hit: Hit
    kind: str
    words: str  # each with a space on either side: a word is counted as " word "
    around: str
    length: int
    day: int | None


class CorpusStats(NamedTuple):
    """How many passages there are, how long they are, and in how many of them each word occurs."""

    passages: int
    average_length: float
    frequency: Mapping[str, int]


class PendingBatch(NamedTuple):
    """The next passages that a vector space has not seen yet."""

    after: int
    upto: int
    texts: Mapping[tuple[int, bytes], str]  # what to embed, by owner and content hash, without what has a vector
    space: int = 0  # the id of the space: it may be dropped and made anew meanwhile


class PassageEmbedding(NamedTuple):
    """What a vector space stores for a text. `tokens`: packed token vectors, for MaxSim."""

    vector: Vectors
    tokens: bytes = b""


class TokenVectors(NamedTuple):
    """Packed token vectors by passage, and the neighbouring turns of each turn of a session."""

    by_passage: dict[int, bytes]
    neighbours: dict[int, list[int]]


class Coverage(NamedTuple):
    """How many passages a vector space has seen, of how many, and how many vectors it has."""

    seen: int
    passages: int
    vectors: int

    @property
    def behind(self) -> int:
        return self.passages - self.seen

    @property
    def whole(self) -> bool:
        return self.behind <= 0


Progress = Callable[[str, int, int], None]  # what is done, how many are done, of how many


@contextmanager
def report_progress_to(progress: Progress) -> Iterator[None]:
    """Within this block, a query that waits for the index reports how far it is."""
    token = _listener.set(progress)
    try:
        yield
    finally:
        _listener.reset(token)


def report_progress(what: str, done: int, total: int) -> None:
    """Report to the caller of the query that waits, if there is anything to do."""
    if total:
        _listener.get()(what, done, total)


def has_progress_listener() -> bool:
    return _listener.get() is not ignore_progress


def ignore_progress(_: str, __: int, ___: int) -> None:
    """For callers who do not watch the progress."""


_listener: ContextVar[Progress] = ContextVar("listener", default=ignore_progress)


class BatchQuery(NamedTuple):
    """A whole query, for an index that answers it in one round trip. `search/bm25.py` says how words are weighed."""

    words: tuple[str, ...]
    function_words: frozenset[str]
    function_word_weight: float
    idf_prior_passages: int
    max_lookup_passages: int
    query_vectors: tuple[tuple[str, Vectors], ...]  # by space
    viewer: Viewer
    filters: Filters
    limit: int


NEIGHBOUR_TURNS = 2  # on either side of a turn
NEIGHBOUR_LINES = 6  # how far away they may be


def find_neighbour_turns(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[int]]:
    """The nearest turns on either side, from rows of (turn, other turn, line offset of the other)."""
    sides: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    for number, other, further in rows:
        sides.setdefault((number, further > 0), []).append((abs(further), other))
    found: dict[int, list[int]] = {}
    for (number, _), some in sides.items():
        found.setdefault(number, []).extend([other for _, other in sorted(some)[:NEIGHBOUR_TURNS]])
    return found


class Retriever(Protocol):
    """The part of an index that finds candidates."""

    def corpus_stats(self, words: Sequence[str], viewer: Viewer) -> CorpusStats:
        """Count words, among what the viewer may see."""
        ...

    def match_terms(self, weights: Mapping[str, float], viewer: Viewer, filters: Filters, limit: int) -> list[int]:
        """The passages with any of these words that the viewer may see, best first."""
        ...

    def nearest(
        self, space: str, question: Vectors, viewer: Viewer, filters: Filters, limit: int
    ) -> list[tuple[int, float]]:
        """The nearest passages that the viewer may see, with their cosines."""
        ...

    def cosines(self, space: str, question: Vectors, numbers: Sequence[int]) -> dict[int, float]:
        """The cosines of single passages; those without a vector are left out."""
        ...

    def token_vectors(self, space: str, numbers: Sequence[int]) -> TokenVectors:
        """The packed token vectors of single passages and of the neighbours of turns."""
        ...

    def similarity_stats(self, space: str) -> tuple[float, float] | None:
        """Mean and standard deviation of the cosine between passages; None while there are too few."""
        ...

    def load_candidates(self, numbers: Sequence[int]) -> list[Candidate]: ...


@runtime_checkable
class SingleQueryIndex(Protocol):
    """An index that can run a whole search in one query, such as one behind a network."""

    def fetch(self, asking: BatchQuery) -> Retriever:
        """Return a finder with everything this search needs already fetched."""
        ...


@runtime_checkable
class HasAnn(Protocol):
    """An index that can build an approximate nearest-neighbour index for a large space."""

    def build_ann_index(self, space: str) -> bool:
        """Return whether the space has one now; False where it is small, or this user may not build one."""
        ...


class Index(Retriever, Protocol):
    def stamps(self, below: str | None = None) -> dict[str, int]:
        """The stamps of all pages in the index, or of those below a folder."""
        ...

    def write_transaction(self) -> AbstractContextManager[None]:
        """Lock out other writers, in every process, and commit everything or nothing."""
        ...

    def read_transaction(self) -> AbstractContextManager[None]:
        """See one state of the index, whatever others write meanwhile."""
        ...

    def versions(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        """The versions of all pages in the index, or of these."""
        ...

    def apply(self, entries: Iterable[Entry], removed: Iterable[str]) -> None:
        """Store these pages and remove those, within a write transaction."""
        ...

    def preceding_text(self, number: int) -> str:
        """The text before a passage on its page; empty for the first."""
        ...

    def next_pending(self, space: str, limit: int) -> PendingBatch | None:
        """The next passages for a space to embed, or None when it has seen everything."""
        ...

    def add_vectors(
        self, space: str, pending: PendingBatch, embedded: Mapping[tuple[int, bytes], PassageEmbedding]
    ) -> None:
        """Store the embeddings of a batch; passages that are not among them get no vector."""
        ...

    def accepts_dimensions(self, space: str, dims: int) -> bool:
        """Whether vectors with so many dimensions can be compared with those of a space."""
        ...

    def coverage(self, space: str) -> Coverage: ...

    def spaces(self) -> list[str]: ...

    def drop_space(self, space: str) -> None: ...

    def promote_space(self, new: str, space: str) -> None:
        """Replace a space by a new one that was built beside it."""
        ...

    def records(self, prefix: str) -> list[Record]:
        """The records whose pages are below a prefix, by path."""
        ...

    def size(self) -> tuple[int, int]:
        """How many pages and passages are in the index."""
        ...

    def warnings(self) -> list[tuple[str, str]]:
        """What is wrong with pages, as pairs of a path and a sentence that names it."""
        ...
