"""What readers understood, put into a home: many new files at once, nothing over anything else, and no item twice.

All is read and compared before anything is written. What stands here and is not what an earlier import wrote is never
replaced: an item that meets it goes beside it, or is told. An import that was interrupted is run again and goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ..errors import HoldsSecret, InvalidArgument, Refused, StorageError
from ..home import Home
from ..maintenance.backup.scope import oddity
from ..maintenance.backup.spool import Item as Spooled
from ..maintenance.backup.spool import Spool
from ..storage.base import ABSENT
from ..storage.deltas import version_of
from ..storage.postgres.backend import PostgresStorage
from ..storage.skills import PAGE as SKILL
from .folder import OnDisk
from .placement import File, Sort, farther, files_of, other_pages
from .plan import Plan, Progress, Step, Target
from .values import Item, Missed

_PRIVATE = 0o600
_NO_BYTES = Spooled(0, 0, 0, 0)


class Brought(NamedTuple):
    """What an import did, or, when it was a dry run, would do. Paths; `beside`: where it went, and what was there."""

    added: tuple[str, ...]
    updated: tuple[str, ...]
    same: tuple[str, ...]
    beside: tuple[tuple[str, str], ...]
    kept: tuple[Missed, ...]
    missed: tuple[Missed, ...]
    sorts: tuple[tuple[Sort, int], ...]
    warnings: tuple[str, ...]


def bring(
    home: Home,
    items: Iterable[Item],
    kind: str,
    source: str,
    *,
    dry_run: bool = False,
    again: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> Brought:
    """Put items into a home. `again`: also those that were removed here since they came."""
    home.check()
    target = _target(home, kind)
    with Spool() as spool:
        plan = Plan()
        compare = _Compare(home, target, spool, plan, source, again=again)
        for count, item in enumerate(items, start=1):
            compare.add(item)
            progress("reading", count, count)
        told: list[str] = []
        if not dry_run:
            told = target.write(plan, spool, source, progress)
    told += [f"{_first(paths)}: {sentence}" for sentence, paths in plan.warnings.items()]
    return Brought(
        tuple(plan.new),
        tuple(plan.updates),
        tuple(plan.same),
        tuple((path, step.file.path) for path, step in plan.new.items() if path != step.file.path),
        tuple(plan.kept),
        tuple(plan.missed),
        tuple(sorted(Counter(step.file.sort for step in plan.new.values()).items())),
        tuple(told),
    )


def _target(home: Home, kind: str) -> Target:
    if isinstance(home.storage, PostgresStorage):
        from .postgres import InRows

        return InRows(home, home.storage, kind)
    return OnDisk(home, kind)


def _first(paths: list[str]) -> str:
    return paths[0] + (f" and {len(paths) - 1} more" if paths[1:] else "")


class _Compare:
    """Compares files with what stands here, one after the other."""

    def __init__(self, home: Home, target: Target, spool: Spool, plan: Plan, source: str, *, again: bool) -> None:
        self.home, self.target, self.spool, self.plan, self.again = home, target, spool, plan, again
        self.receipts, self._source = target.receipts, source
        self._categories = home.storage.pages.list_folders(home.layout.globals)
        self._pages = set(home.storage.pages.list(home.layout.globals, deep=True))
        self._others: set[str] = set()  # folders of skills that are not those of the source

    def add(self, item: Item) -> None:
        if isinstance(item, Missed):
            self.plan.missed.append(item)
            return
        try:
            for file in files_of(self.home, item):
                self._add_file(file)
        except HoldsSecret as error:
            self._miss(item.id, f"{error.problem}. {error.advice}")
        except (InvalidArgument, Refused, StorageError) as error:
            self._miss(item.id, str(error))

    def _miss(self, what: str, why: str) -> None:
        self.plan.missed.append(Missed(what.removeprefix(self._source).lstrip("/ ") or what, why))

    def _add_file(self, file: File) -> None:
        version = version_of(file.data)
        if file.path.startswith(tuple(self._others)):
            return
        for path in self._places(file):
            if reason := oddity(path):
                self._miss(file.id, reason)
                return
            if self._settled(file, path, version):
                return
        self.plan.kept.append(Missed(file.path, "something else stands here already, and stays"))
        if file.sort == "skill" and file.path.endswith(f"/{SKILL}"):
            self._others.add(file.path.removesuffix(SKILL))

    def _places(self, file: File) -> list[str]:
        """Where it may go, in order. What went beside once belongs there."""
        if not file.beside:
            return [file.path]
        places = [file.path, file.beside, farther(file)]
        went = [place for place in places if self.receipts.version(file.id, place)]
        return went[:1] if went and went[0] != file.path else places

    def _settled(self, file: File, path: str, version: str) -> bool:
        """Whether it is decided what becomes of a file at a path; False when something else stands there."""
        other = self.plan.has(path)
        if other:
            return other.version == version
        known = self.receipts.version(file.id, path)
        step = Step(file, path, version, _NO_BYTES, self.target.version(path))
        if step.standing == ABSENT:
            self._absent(step, known)
        elif step.standing == version:
            self.plan.same[path] = step._replace(file=file._replace(data=b""))
        elif not known:
            return False
        elif step.standing == known:
            self.plan.updates[path] = self._with_bytes(step)
        else:
            changed = "was changed here since it came" + ("" if version == known else ", and at its source, too")
            self.plan.kept.append(Missed(path, f"{changed}: stays as it is here"))
        return True

    def _absent(self, step: Step, known: str) -> None:
        if known and not self.again and not self._was_undone(step.path):
            self.plan.kept.append(Missed(step.path, "was removed here since it came: stays away (--again brings it)"))
            return
        elsewhere = self._elsewhere(step.file)
        if elsewhere:
            what = "session" if step.file.sort == "session" else "key"
            self.plan.kept.append(Missed(step.path, f"{elsewhere} has this {what} already, and stays"))
            return
        self.plan.new[step.path] = self._with_bytes(step)
        if step.path.startswith(f"{self.home.layout.globals}/"):
            self._note(step.path)

    def _note(self, path: str) -> None:
        category = path.removeprefix(f"{self.home.layout.globals}/").partition("/")[0]
        self._pages.add(path)
        if category not in self._categories:
            self._categories.append(category)

    def _elsewhere(self, file: File) -> str:
        """The page of the same key, or of the same session, in another place; empty when there is none."""
        if not file.key:
            return ""
        for path in other_pages(self.home.layout, file, self._categories):
            if path in self._pages or (not oddity(path) and self.target.version(path) != ABSENT):
                return path
        return ""

    def _was_undone(self, path: str) -> bool:
        head = self.home.storage.history.head(path)
        return head is not None and head.version == ABSENT and head.by.tool == "undo"

    def _with_bytes(self, step: Step) -> Step:
        """With its bytes put aside, not in memory: there may be many."""
        now, file = int(self.home.clock().timestamp() * 10**6) * 1000, step.file
        modified = file.modified if 0 < file.modified < now else now
        if file.warning:
            self.plan.warnings.setdefault(file.warning, []).append(step.path)
        spooled = self.spool.add(_PRIVATE, modified, [file.data])
        return step._replace(bytes=spooled, file=file._replace(data=b""))
