"""What an import is to do: files that were compared with what stands in their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol

from ..maintenance.backup.spool import Item as Spooled
from ..maintenance.backup.spool import Spool
from ..storage.base import ABSENT
from .placement import File
from .receipts import Receipts
from .values import Missed

Progress = Callable[[str, int, int], None]


class Step(NamedTuple):
    """A file that was compared with what stands in its place."""

    file: File
    path: str
    version: str
    bytes: Spooled
    standing: str = ABSENT


class Plan:
    """What is to be done, and what is to be told."""

    def __init__(self) -> None:
        self.new: dict[str, Step] = {}
        self.updates: dict[str, Step] = {}
        self.same: dict[str, Step] = {}
        self.kept: list[Missed] = []
        self.missed: list[Missed] = []
        self.warnings: dict[str, list[str]] = {}

    def has(self, path: str) -> Step | None:
        return self.new.get(path) or self.updates.get(path) or self.same.get(path)

    def keep(self, step: Step, why: str) -> None:
        """What stands there stays after all."""
        self.kept.append(Missed(step.path, why))
        self.new.pop(step.path, None)
        self.updates.pop(step.path, None)


class Target(Protocol):
    """What an import writes to: a folder, or a database."""

    @property
    def receipts(self) -> Receipts: ...

    def version(self, path: str) -> str:
        """The version of what stands at a path. StorageError where no page can."""
        ...

    def write(self, plan: Plan, spool: Spool, source: str, progress: Progress) -> list[str]:
        """Do what was planned; what is to be said about it."""
        ...


def written(steps: Iterable[Step]) -> Iterator[tuple[str, str, str]]:
    return ((step.file.id, step.path, step.version) for step in steps)
