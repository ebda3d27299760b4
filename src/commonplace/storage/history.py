"""What others ask of a history, whoever keeps it; and what is the same however it is kept: how much of it stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol

from .author import Signature
from .deltas import Change, Line, line_of

SLOTS = 256  # files of a history in a folder
Versions = list[tuple[Change, bytes | None]]
Choose = Callable[[str, Versions], Iterable[tuple[Change, bytes | None]]]


class Head(NamedTuple):
    """The last known version of a page, who made it, and on how many lines it stands."""

    version: str
    depth: int
    by: Signature
    at: str


class Bounds(NamedTuple):
    """How much history is kept: for so many days, and so many bytes in all. The last version of a page always is."""

    days: int = 365
    size: int = 1 << 30

    @property
    def slot(self) -> int:
        """Bytes of one file of a history in a folder: half of it goes when they are used up."""
        return max(1 << 18, self.size // SLOTS)


class Past(Protocol):
    """Earlier versions of every page: what it said, who changed it, when and why."""

    def noticed(self, path: str, data: bytes | None, saved: float | None = None) -> Change | None:
        """Keep what stands there, if it is not what was last known: a hand was at it."""
        ...

    def changed(self, path: str, old: bytes | None, new: bytes | None, by: Signature) -> Change:
        """Keep what a page became."""
        ...

    def head(self, path: str) -> Head | None: ...

    def changes(self, path: str | None = None) -> list[Change]:
        """All changes, of one page or of every page, oldest first."""
        ...

    def sizes(self) -> list[tuple[Change, int]]:
        """The same of every page, each with the bytes it had then; -1 when it was not there, or nobody can tell."""
        ...

    def change(self, name: str) -> Change:
        """A change by its id, or the beginning of it; NotFound when that is none, or several."""
        ...

    def content(self, path: str, version: str) -> bytes | None:
        """What a page was; None when it was not there. NotFound when history does not hold it any more."""
        ...

    def versions(self, path: str) -> Versions:
        """Every version of a page that can be made out, oldest first."""
        ...

    def each(self) -> Iterator[tuple[str, Versions]]:
        """Every page that has a history, in no order, with its versions: quicker than asking for one after another."""
        ...

    def paths(self) -> list[str]:
        """The pages that have a history, sorted."""
        ...

    def size(self) -> int:
        """The bytes it takes."""
        ...

    def collect(self, bounds: Bounds) -> int:
        """Let go of what is older, or more, than is to be kept; how many versions went."""
        ...

    def rewrite(self, choose: Choose) -> int:
        """Keep of every page only what `choose` leaves of its versions; how many went."""
        ...


def again(kept: Iterable[tuple[Change, bytes | None]]) -> list[Line]:
    """Versions as lines once more: some that they stood on may be gone."""
    out: list[Line] = []
    last: bytes | None = None
    for change, data in kept:
        before = out[-1].change.version if out else change.before
        line = line_of(change._replace(before=before), last, data, out[-1].depth if out else -1)
        out.append(line)
        last = data
    return out


def since(moment: str) -> Choose:
    """What is younger, and the last version of every page that is there."""

    def choose(_path: str, versions: Versions) -> Versions:
        young = [each for each in versions if each[0].at >= moment]
        return young or [each for each in versions[-1:] if each[1] is not None]

    return choose


def fitting(sizes: Iterable[tuple[str, int]], most: int) -> str:
    """The moment from which on everything fits into so many bytes."""
    moment = ""
    for at, size in sorted(sizes, reverse=True):
        most -= size
        if most < 0:
            return moment or at
        moment = at
    return ""
