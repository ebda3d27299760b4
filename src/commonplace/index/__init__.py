"""WHAT CAN WE LOSE AND REBUILD? The index: words of passages and fields of records, read off the pages.

Deleting it loses nothing. `sync.py` is its only writer. `Index` is the seam for other engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from ..model import Hit, Passage, Record, Scope, Source, Viewer


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


AROUND = 0.5  # what a word beside a passage counts, against one in it


def weighed_length(inside: int, around: int) -> int:
    return round(inside + AROUND * around)


class Candidate(NamedTuple):
    """A passage that holds some of the words asked for, and all the words in it and around it."""

    hit: Hit
    kind: str
    words: Sequence[str]
    around: Sequence[str] = ()


class Corpus(NamedTuple):
    """What weighing words needs to know of all passages."""

    passages: int
    average_length: float
    frequency: Mapping[str, int]


class Index(Protocol):
    def stamps(self, below: str | None = None) -> dict[str, int]:
        """The stamp of every page the index knows, below a folder or at all."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Keep every other writer of the index out, in every process; all that is applied counts, or nothing."""
        ...

    def versions(self, paths: Iterable[str]) -> dict[str, str]: ...

    def apply(self, entries: Iterable[Entry], removed: Iterable[str]) -> None:
        """Make the index say what these pages say, within `writing`."""
        ...

    def words(self, words: Sequence[str], viewer: Viewer, limit: int) -> list[Candidate]:
        """Passages the viewer may see that hold any of the words, the most promising first."""
        ...

    def corpus(self, words: Sequence[str]) -> Corpus: ...

    def records(self, prefix: str) -> list[Record]:
        """The records whose pages are below a prefix, by path."""
        ...

    def size(self) -> tuple[int, int]:
        """How many pages and how many passages are known."""
        ...

    def warnings(self) -> list[str]:
        """What is wrong with pages: each sentence names its page."""
        ...
