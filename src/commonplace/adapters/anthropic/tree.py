"""What Claude's memory tool asks of the place where its files are: a folder of this machine, or pages of a database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, Protocol

ROOT = "/memories"
Kind = Literal["", "file", "folder", "other"]
Listed = tuple[str, bool, int]  # a path below a folder, whether it is a folder, its size


class Spot(NamedTuple):
    """Where a path leads: as it was given, as a page of the home, and as a file, with no link on the way to it.

    `way` is the file as it was given: links and all.
    """

    given: str
    page: str
    place: str
    way: str


class Tree(Protocol):
    def ensure(self) -> None:
        """The folder is there from the start, as Claude expects it to be."""
        ...

    def spot(self, given: str) -> Spot:
        """Where a path leads; OutsideHome when that is not below the folder."""
        ...

    def kind(self, place: str) -> Kind:
        """What stands there; nothing when it is empty."""
        ...

    def blocked(self, spot: Spot) -> str:
        """The name of something on the way to a place that is no folder; empty when there is nothing."""
        ...

    def itself(self, spot: Spot) -> str:
        """What is deleted or renamed: of a link the link, not what it leads to."""
        ...

    def is_folder(self, place: str) -> bool:
        """A link to a folder is none."""
        ...

    def size(self, place: str) -> int: ...

    def listed(self, place: str, levels: int) -> Iterator[Listed]:
        """What is in a folder, by name, each folder before what is in it; without what is hidden or no file."""
        ...

    def remove(self, place: str) -> None: ...

    def remove_all(self, folder: str) -> None: ...

    def move(self, old: str, new: str) -> None:
        """StaleVersion or FileExistsError when something is in the new place."""
        ...
