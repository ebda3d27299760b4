"""What readers understood, put into a home: many new files at once, nothing over anything else, and no item twice.

All is read and compared before anything is written. What stands here and is not what an earlier import wrote is never
replaced: an item that meets it goes beside it, or is told. An import that was interrupted is run again and goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ..archive.extent import locks_of, oddity
from ..archive.spool import Item as Spooled
from ..archive.spool import Spool
from ..archive.together import add_all, place_of, stamp
from ..errors import CommonplaceError, InvalidArgument, NotText, Refused, StaleVersion, StorageError
from ..home import Home
from ..pages import ABSENT
from ..pages.files import read_bytes_or_none, storage_errors
from ..pages.locks import lock
from ..pages.sign import Signature, signed
from ..pages.skills import PAGE as SKILL
from ..pages.versions import version_of
from .placing import File, Sort, farther, files_of, other_pages
from .receipts import FOLDER, Receipts
from .values import Item, Missed

Progress = Callable[[str, int, int], None]
_BATCH = 200  # files that go to disk together
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


class _Step(NamedTuple):
    """A file that was compared with what stands in its place."""

    file: File
    path: str
    version: str
    bytes: Spooled
    standing: str = ABSENT


class _Plan:
    """What is to be done, and what is to be told."""

    def __init__(self) -> None:
        self.new: dict[str, _Step] = {}
        self.updates: dict[str, _Step] = {}
        self.same: dict[str, _Step] = {}
        self.kept: list[Missed] = []
        self.missed: list[Missed] = []
        self.warnings: dict[str, list[str]] = {}

    def has(self, path: str) -> _Step | None:
        return self.new.get(path) or self.updates.get(path) or self.same.get(path)


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
    receipts = Receipts(place_of(home, FOLDER), kind)
    with Spool() as spool:
        plan = _Plan()
        compare = _Compare(home, receipts, spool, plan, source, again=again)
        for count, item in enumerate(items, start=1):
            compare.add(item)
            progress("reading", count, count)
        told: list[str] = []
        if not dry_run:
            told = _carry_out(home, plan, receipts, spool, kind, source, progress)
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


def _first(paths: list[str]) -> str:
    return paths[0] + (f" and {len(paths) - 1} more" if paths[1:] else "")


class _Compare:
    """Compares files with what stands here, one after the other."""

    def __init__(self, home: Home, receipts: Receipts, spool: Spool, plan: _Plan, source: str, *, again: bool) -> None:
        self.home, self.receipts, self.spool, self.plan, self.again = home, receipts, spool, plan, again
        self._source = source
        self._categories = home.pages.folders(home.layout.globals)
        self._pages = set(home.pages.list(home.layout.globals, deep=True))
        self._others: set[str] = set()  # folders of skills that are not those of the source

    def add(self, item: Item) -> None:
        if isinstance(item, Missed):
            self.plan.missed.append(item)
            return
        try:
            for file in files_of(self.home, item):
                self._add_file(file)
        except (InvalidArgument, Refused, StorageError) as error:
            self._miss(item.id, str(error).removeprefix("nothing was written: "))

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
        standing = self._standing(path)
        known = self.receipts.version(file.id, path)
        step = _Step(file, path, version, _NO_BYTES, version_of(standing))
        if standing is None:
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

    def _absent(self, step: _Step, known: str) -> None:
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
            if path in self._pages or (not oddity(path) and self._standing(path) is not None):
                return path
        return ""

    def _was_undone(self, path: str) -> bool:
        head = self.home.history.head(path)
        return head is not None and head.version == ABSENT and head.by.tool == "undo"

    def _standing(self, path: str) -> bytes | None:
        with storage_errors(path):
            return read_bytes_or_none(place_of(self.home, path), path)

    def _with_bytes(self, step: _Step) -> _Step:
        """With its bytes put aside, not in memory: there may be many."""
        now, file = int(self.home.clock().timestamp() * 10**6) * 1000, step.file
        modified = file.modified if 0 < file.modified < now else now
        if file.warning:
            self.plan.warnings.setdefault(file.warning, []).append(step.path)
        spooled = self.spool.add(_PRIVATE, modified, [file.data])
        return step._replace(bytes=spooled, file=file._replace(data=b""))


def _carry_out(
    home: Home, plan: _Plan, receipts: Receipts, spool: Spool, kind: str, source: str, progress: Progress
) -> list[str]:
    """Write; what is to be said about it."""
    receipts.add(_written(plan.same.values()))
    if not plan.new and not plan.updates:
        receipts.end(source)
        return []
    if f"{home.layout.directives}/memory.md" not in plan.new:
        home.welcome()  # before, so that the last change is the import's: `undo` takes that back
    call = receipts.begin(source)
    total, done = len(plan.new) + len(plan.updates), 0
    with signed(Signature("import", home.agent, home.session, f"from {kind}", call)) as writing:
        for some in _batches(plan.new.values()):
            failed = _add(home, some, spool)
            for step, error in failed.items():
                plan.kept.append(Missed(step.path, str(error)))
                del plan.new[step.path]
            receipts.add(_written(step for step in some if step not in failed))
            done += len(some)
            progress("writing", done, total)
        for step in [*plan.updates.values()]:
            try:
                _update(home, step, spool)
                receipts.add(_written([step]))
            except CommonplaceError as error:
                plan.kept.append(Missed(step.path, str(error)))
                del plan.updates[step.path]
            done += 1
            progress("writing", done, total)
    receipts.end(source)
    home.index.look_again()
    return [*dict.fromkeys(writing.warnings)]


def _written(steps: Iterable[_Step]) -> Iterator[tuple[str, str, str]]:
    return ((step.file.id, step.path, step.version) for step in steps)


def _batches(steps: Iterable[_Step]) -> Iterator[list[_Step]]:
    rest = iter([*steps])
    while some := [*islice(rest, _BATCH)]:
        yield some


def _add(home: Home, steps: list[_Step], spool: Spool) -> dict[_Step, CommonplaceError]:
    """Put new files on disk together; when that fails, one by one: one that can not be written stops no other."""
    try:
        add_all(home, {step.path: step.bytes for step in steps}, spool, instead={}, told=False)
        return {}
    except CommonplaceError as error:
        failed = {}
        for step in steps:
            problem = _add_one(home, step, spool)
            if problem:
                failed[step] = problem
        if len(failed) == len(steps) and not all(isinstance(each, StaleVersion) for each in failed.values()):
            raise error from None
        return failed


def _add_one(home: Home, step: _Step, spool: Spool) -> CommonplaceError | None:
    """What kept a file from being written; None when it is there, by whoever wrote it."""
    try:
        add_all(home, {step.path: step.bytes}, spool, instead={}, told=False)
    except CommonplaceError as error:
        place = place_of(home, step.path) if isinstance(error, StaleVersion) else ""
        return None if place and read_bytes_or_none(place, step.path) == spool.read(step.bytes) else error
    return None


def _update(home: Home, step: _Step, spool: Spool) -> None:
    """A page that nobody touched since it came, as its source says it now; history keeps what it said."""
    data = spool.read(step.bytes)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise NotText(f"{step.path} is no text, and stays as it is here; its source has another one now") from None
    home.pages.write(step.path, text, if_version=step.standing)
    place = place_of(home, step.path)
    with storage_errors(step.path), lock(locks_of(home), "page", step.path):
        if read_bytes_or_none(place, step.path) == data:
            stamp(place, step.bytes)
