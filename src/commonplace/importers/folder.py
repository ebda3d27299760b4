"""An import into a folder: many new files at once, and one by one where that fails. Killed, it is run again."""

from __future__ import annotations

from ..errors import CommonplaceError, NotText, StaleVersion
from ..home import Home
from ..maintenance.backup.bulk_folder import add_all, batches, place_of, stamp
from ..maintenance.backup.scope import locks_of
from ..maintenance.backup.spool import Spool
from ..storage.author import Author, write_as
from ..storage.deltas import version_of
from ..storage.file_locks import lock
from ..storage.files import read_bytes_or_none, storage_errors
from .plan import Plan, Progress, Step, written
from .receipts import FOLDER, FileReceipts

_BATCH = 200  # files that go to disk together


class OnDisk:
    def __init__(self, home: Home, kind: str) -> None:
        self._home, self._kind = home, kind
        self.receipts = FileReceipts(place_of(home, FOLDER), kind)

    def version(self, path: str) -> str:
        with storage_errors(path):
            return version_of(read_bytes_or_none(place_of(self._home, path), path))

    def write(self, plan: Plan, spool: Spool, source: str, progress: Progress) -> list[str]:
        home, receipts = self._home, self.receipts
        receipts.add(written(plan.same.values()))
        if not plan.new and not plan.updates:
            receipts.end(source)
            return []
        if f"{home.layout.directives}/memory.md" not in plan.new:
            home.welcome()  # before, so that the last change is the import's: `undo` takes that back
        call = receipts.begin(source)
        with write_as(Author("import", home.agent, home.session, f"from {self._kind}", call)) as writing:
            self._write(plan, spool, progress)
        receipts.end(source)
        home.index.invalidate()
        return [*dict.fromkeys(writing.warnings)]

    def _write(self, plan: Plan, spool: Spool, progress: Progress) -> None:
        total, done = len(plan.new) + len(plan.updates), 0
        for some in batches([*plan.new.values()], _BATCH):
            failed = _add(self._home, some, spool)
            for step, error in failed.items():
                plan.keep(step, str(error))
            self.receipts.add(written(step for step in some if step not in failed))
            done += len(some)
            progress("writing", done, total)
        for step in [*plan.updates.values()]:
            try:
                _update(self._home, step, spool)
                self.receipts.add(written([step]))
            except CommonplaceError as error:
                plan.keep(step, str(error))
            done += 1
            progress("writing", done, total)


def _add(home: Home, steps: list[Step], spool: Spool) -> dict[Step, CommonplaceError]:
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


def _add_one(home: Home, step: Step, spool: Spool) -> CommonplaceError | None:
    """What kept a file from being written; None when it is there, by whoever wrote it."""
    try:
        add_all(home, {step.path: step.bytes}, spool, instead={}, told=False)
    except StaleVersion as error:
        try:
            with storage_errors(step.path):
                there = read_bytes_or_none(place_of(home, step.path), step.path)
        except CommonplaceError as problem:  # a folder stands there
            return problem
        return None if there == spool.read(step.bytes) else error
    except CommonplaceError as error:
        return error
    return None


def _update(home: Home, step: Step, spool: Spool) -> None:
    """A page that nobody touched since it came, as its source says it now; history keeps what it said."""
    data = spool.read(step.bytes)
    text = text_of(data, step)
    home.storage.pages.write(step.path, text, if_version=step.standing)
    place = place_of(home, step.path)
    with storage_errors(step.path), lock(locks_of(home), "page", step.path):
        if read_bytes_or_none(place, step.path) == data:
            stamp(place, step.bytes)


def text_of(data: bytes, step: Step) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise NotText(f"{step.path} is no text, and stays as it is here; its source has another one now") from None
