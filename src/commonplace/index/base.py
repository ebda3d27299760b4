"""WHAT CAN WE LOSE AND REBUILD? The index: words and meaning of passages and fields of records, read off the pages.

Deleting it loses nothing. `sync.py` is its only writer. `Index` is the seam for other engines.
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
    """A page as the index keeps it. `passages` None: the page reads as before, only its stamp is new."""

    path: str
    stamp: int
    version: str
    kind: str
    scope: Scope
    source: Source
    passages: Sequence[Passage] | None
    record: Record | None = None
    warning: str = ""


BM25_K1 = 0.8  # how little a word counts that stands beside a passage as well as in it
CONTEXT_WEIGHT = 0.5  # what a word beside a passage counts, against one in it


def weighted_length(inside: int, around: int) -> int:
    return round(inside + CONTEXT_WEIGHT * around)


class Candidate(NamedTuple):
    """A passage that may answer, with all the words in it and around it, as they are looked up."""

    number: int
    hit: Hit
    kind: str
    words: str  # each with a space on either side: a word is counted as " word "
    around: str
    length: int
    day: int | None


class CorpusStats(NamedTuple):
    """How many passages there are, how long they are, and in how many of them words stand."""

    passages: int
    average_length: float
    frequency: Mapping[str, int]


class PendingBatch(NamedTuple):
    """Passages a space has not looked at yet: the first few, and the number to go on from."""

    after: int
    upto: int
    texts: Mapping[tuple[int, bytes], str]  # what to embed, by owner and content; what has a vector is left out
    space: int = 0  # which space of that name has those vectors: it may be dropped and made anew meanwhile


class PassageEmbedding(NamedTuple):
    """What a space keeps of a text. `tokens`: where it can be asked token by token."""

    vector: Vectors
    tokens: bytes = b""


class TokenVectors(NamedTuple):
    """By passage; what a space keeps no tokens of is left out. `beside`: the turns right before and after a turn."""

    kept: dict[int, bytes]
    beside: dict[int, list[int]]


class Coverage(NamedTuple):
    """How much of a memory a space has looked at."""

    seen: int
    passages: int
    vectors: int

    @property
    def behind(self) -> int:
        return self.passages - self.seen

    @property
    def whole(self) -> bool:
        return self.behind <= 0


Progress = Callable[[str, int, int], None]  # what, how much of it is done, and of how much


@contextmanager
def report_progress_to(progress: Progress) -> Iterator[None]:
    """Within this block, a question that waits for the index to catch up says how far it is."""
    token = _asker.set(progress)
    try:
        yield
    finally:
        _asker.reset(token)


def report_progress(what: str, done: int, total: int) -> None:
    """Tell whoever waits; about nothing to do, nothing is said."""
    if total:
        _asker.get()(what, done, total)


def has_progress_listener() -> bool:
    return _asker.get() is not ignore_progress


def ignore_progress(_: str, __: int, ___: int) -> None:
    """For those who wait without watching."""


_asker: ContextVar[Progress] = ContextVar("asker", default=ignore_progress)


class BatchQuery(NamedTuple):
    """A whole question, for an index that answers it at once: see `search/words.py` for how words are weighed."""

    words: tuple[str, ...]
    faint: frozenset[str]  # those that only count beside others
    faintness: float  # what one of them weighs against another word
    background: int  # passages of other text that the memory is imagined to stand among
    most: int  # passages that the words looked up stand in, taken together
    questions: tuple[tuple[str, Vectors], ...]  # by space
    viewer: Viewer
    filters: Filters
    limit: int


NEIGHBOUR_TURNS, NEIGHBOUR_LINES = 2, 6  # turns on either side that stand beside one, and lines within which they do


def find_neighbour_turns(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[int]]:
    """The nearest turns on either side, of rows that name a turn, another, and how many lines further that stands."""
    sides: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    for number, other, further in rows:
        sides.setdefault((number, further > 0), []).append((abs(further), other))
    found: dict[int, list[int]] = {}
    for (number, _), some in sides.items():
        found.setdefault(number, []).extend([other for _, other in sorted(some)[:NEIGHBOUR_TURNS]])
    return found


class Retriever(Protocol):
    """What finding candidates asks of an index."""

    def corpus_stats(self, words: Sequence[str], viewer: Viewer) -> CorpusStats:
        """What weighing words needs to know, of what the viewer may see."""
        ...

    def match_terms(self, weights: Mapping[str, float], viewer: Viewer, filters: Filters, limit: int) -> list[int]:
        """Passages the viewer may see that hold any of the words, the most promising first."""
        ...

    def nearest(
        self, space: str, question: Vectors, viewer: Viewer, filters: Filters, limit: int
    ) -> list[tuple[int, float]]:
        """Passages the viewer may see whose meaning is nearest to a question's, and the cosine."""
        ...

    def cosines(self, space: str, question: Vectors, numbers: Sequence[int]) -> dict[int, float]:
        """The cosine of single passages; those without a vector are left out."""
        ...

    def token_vectors(self, space: str, numbers: Sequence[int]) -> TokenVectors:
        """The tokens of single passages, as a space keeps them, and of the turns beside those that are turns."""
        ...

    def similarity_stats(self, space: str) -> tuple[float, float] | None:
        """The mean and the standard deviation of the cosine between passages; None while there are too few."""
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
        """The stamp of every page the index knows, below a folder or at all."""
        ...

    def write_transaction(self) -> AbstractContextManager[None]:
        """Keep every other writer of the index out, in every process; all that is applied counts, or nothing."""
        ...

    def read_transaction(self) -> AbstractContextManager[None]:
        """See one state of the index, whatever others write meanwhile."""
        ...

    def versions(self, paths: Iterable[str] | None = None) -> dict[str, str]:
        """The version of every page the index knows, or of these."""
        ...

    def apply(self, entries: Iterable[Entry], removed: Iterable[str]) -> None:
        """Make the index say what these pages say, within `writing`."""
        ...

    def preceding_text(self, number: int) -> str:
        """The text that stands before a passage on its page; empty at the start."""
        ...

    def next_pending(self, space: str, limit: int) -> PendingBatch | None:
        """What a space should look at next, or None when it has seen everything."""
        ...

    def add_vectors(
        self, space: str, pending: PendingBatch, embedded: Mapping[tuple[int, bytes], PassageEmbedding]
    ) -> None:
        """Keep what was embedded of `pending`; what is not among it has no vector."""
        ...

    def accepts_dimensions(self, space: str, dims: int) -> bool:
        """Whether vectors of so many numbers can be compared with those of a space."""
        ...

    def coverage(self, space: str) -> Coverage: ...

    def spaces(self) -> list[str]: ...

    def drop_space(self, space: str) -> None: ...

    def promote_space(self, new: str, space: str) -> None:
        """Let a space that was built beside another take its place."""
        ...

    def records(self, prefix: str) -> list[Record]:
        """The records whose pages are below a prefix, by path."""
        ...

    def size(self) -> tuple[int, int]:
        """How many pages and how many passages are known."""
        ...

    def warnings(self) -> list[tuple[str, str]]:
        """What is wrong with pages: a path, and a sentence that names it."""
        ...
