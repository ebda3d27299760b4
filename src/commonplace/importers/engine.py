"""Put what readers found into a home: new files in bulk, nothing over anything else, and no item twice.

Everything is read and compared before anything is written. A page here is replaced only if it is what an earlier import
wrote; else the item goes beside it, or is reported. An import that was interrupted is run again and goes on.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from ..errors import CommonplaceError, HoldsSecret, InvalidArgument, Refused, StaleVersion, StorageError
from ..home import Home
from ..index.base import Progress, ignore_progress
from ..storage.base import ABSENT
from ..storage.bulk import IncomingPage, PageBatch, Spool, SpooledFile, path_problem
from ..storage.files import PRIVATE_FILE_MODE
from ..storage.history import version_of
from ..storage.skills import PAGE as SKILL_PAGE
from .placement import File, FileKind, list_other_pages, make_files, second_fallback_path
from .values import Item, Skipped


class ImportReport(NamedTuple):
    """What an import did, or would do if it was a dry run.

    `renamed`: paths used, each with the one that was taken. `left_unchanged`: pages here that differ from the source.
    `skipped`: what was not understood. `counts_by_kind`: how many of the files added are pages, records, sessions …
    """

    added: tuple[str, ...]
    updated: tuple[str, ...]
    same: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    left_unchanged: tuple[Skipped, ...]
    skipped: tuple[Skipped, ...]
    counts_by_kind: tuple[tuple[FileKind, int], ...]
    warnings: tuple[str, ...]


class Step(NamedTuple):
    """A file that was compared with what is at its path. `seen`: the version that is there."""

    file: File
    path: str
    version: str
    seen: str = ABSENT
    spooled: SpooledFile | None = None


class Plan:
    """What an import is to do and to report."""

    def __init__(self) -> None:
        self.new: dict[str, Step] = {}
        self.updates: dict[str, Step] = {}
        self.same: dict[str, Step] = {}
        self.left_unchanged: list[Skipped] = []
        self.skipped: list[Skipped] = []
        self.warnings: dict[str, list[str]] = {}

    def find(self, path: str) -> Step | None:
        return self.new.get(path) or self.updates.get(path) or self.same.get(path)

    def leave_unchanged(self, path: str, why: str) -> None:
        """Leave the page at a path as it is after all."""
        self.left_unchanged.append(Skipped(path, why))
        self.new.pop(path, None)
        self.updates.pop(path, None)


class ImportLog:
    """What earlier imports of one kind wrote, so that what a person changed or removed since then is recognised.

    An entry is two hashes: a key, of the item and its path, and the version that was written. The pages themselves stay
    byte for byte. If the log is lost, an edited page looks like one that was always here.
    """

    def __init__(self, kind: str, known: dict[str, str]) -> None:
        self._kind = kind
        self._known = known

    def key(self, item: str, path: str) -> str:
        return _hash(self._kind, item, path)

    def version(self, item: str, path: str) -> str:
        """Return the version in which an item was written to a path; empty if it never was."""
        return self._known.get(self.key(item, path), "")


def run_import(
    home: Home,
    items: Iterable[Item],
    kind: str,
    source: str,
    *,
    dry_run: bool = False,
    again: bool = False,
    progress: Progress = ignore_progress,
) -> ImportReport:
    """Put items into a home. `again`: also those that were removed here since they were imported."""
    home.storage.check()
    log = ImportLog(kind, home.storage.bulk.read_import_log())
    with Spool() as spool:
        plan = Plan()
        comparison = _Comparison(home, log, spool, plan, source, again=again)
        for count, item in enumerate(items, start=1):
            comparison.add(item)
            progress("reading", count, count)
        warnings = [] if dry_run else _write(home, plan, log, spool, kind, source, progress)
    warnings += [f"{_name_first(paths)}: {sentence}" for sentence, paths in plan.warnings.items()]
    return ImportReport(
        tuple(plan.new),
        tuple(plan.updates),
        tuple(plan.same),
        tuple((path, step.file.path) for path, step in plan.new.items() if path != step.file.path),
        tuple(plan.left_unchanged),
        tuple(plan.skipped),
        tuple(sorted(Counter(step.file.kind for step in plan.new.values()).items())),
        tuple(warnings),
    )


def _name_first(paths: list[str]) -> str:
    return paths[0] + (f" and {len(paths) - 1} more" if paths[1:] else "")


def _hash(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _write(
    home: Home, plan: Plan, log: ImportLog, spool: Spool, kind: str, source: str, progress: Progress
) -> list[str]:
    """Write what was planned; return warnings."""
    _leave_pages_without_text(plan, spool)
    steps = [*plan.new.values(), *plan.updates.values()]
    if not steps and not plan.same:
        return []
    if steps and f"{home.layout.directives}/memory.md" not in plan.new:
        # Before the import, so that the last change is the import's, and `undo` takes that back.
        home.write_default_directive()
    pages = [
        IncomingPage(step.path, step.version, step.seen, step.spooled, import_key=_new_key(log, step)) for step in steps
    ]
    unlogged = {_new_key(log, step): step.version for step in plan.same.values()}
    unlogged.pop("", None)

    def report(done: int) -> None:
        progress("writing", done, len(steps))

    bulk = home.storage.bulk
    with (
        bulk.import_run(_hash(kind, source)) as call,
        home.writer.call(
            "import", why=f"from {kind}", call_id=call, origin=f"import:{kind}", defer_index=True
        ) as writing,
    ):
        batch = PageBatch(pages, spool, import_log=unlogged)
        failures = bulk.put(batch, skip_failed=True, progress=report)
        _refuse_total_failure(failures, pages)
    for path, error in failures.items():
        is_stale = isinstance(error, StaleVersion)
        plan.leave_unchanged(
            path, f"{path} was changed by another program in the meantime: run it again" if is_stale else str(error)
        )
    home.index.invalidate()
    return [*dict.fromkeys(writing.warnings)]


def _new_key(log: ImportLog, step: Step) -> str:
    """Return the key under which to log a step; empty if it is logged already."""
    is_logged = log.version(step.file.id, step.path) == step.version
    return "" if is_logged else log.key(step.file.id, step.path)


def _leave_pages_without_text(plan: Plan, spool: Spool) -> None:
    for path, step in [*plan.updates.items()]:
        try:
            (spool.read(step.spooled) if step.spooled else b"").decode()
        except UnicodeDecodeError:
            plan.leave_unchanged(path, f"{path} is no text, and stays as it is here; its source has another one now")


def _refuse_total_failure(failures: dict[str, CommonplaceError], pages: Sequence[IncomingPage]) -> None:
    """Raise the first error if nothing at all could be written, and not only because others were faster."""
    if failures and len(failures) == len(pages):
        for error in failures.values():
            if not isinstance(error, StaleVersion):
                raise error


class _Comparison:
    """Compares files with what is here, one after the other."""

    def __init__(self, home: Home, log: ImportLog, spool: Spool, plan: Plan, source: str, *, again: bool) -> None:
        self._home = home
        self._log = log
        self._spool = spool
        self._plan = plan
        self._source = source
        self._again = again
        self._version_at = home.storage.bulk.version_lookup()
        self._categories = home.storage.pages.list_folders(home.layout.globals)
        self._global_pages = set(home.storage.pages.list(home.layout.globals, deep=True))
        self._other_skills: set[str] = set()  # folders of skills here that are not those of the source

    def add(self, item: Item) -> None:
        if isinstance(item, Skipped):
            self._plan.skipped.append(item)
            return
        try:
            for file in make_files(self._home, item):
                self._add_file(file)
        except HoldsSecret as error:
            self._skip(item.id, f"{error.problem}. {error.advice}")
        except (InvalidArgument, Refused, StorageError) as error:
            self._skip(item.id, str(error))

    def _skip(self, what: str, why: str) -> None:
        self._plan.skipped.append(Skipped(what.removeprefix(self._source).lstrip("/ ") or what, why))

    def _add_file(self, file: File) -> None:
        file = file._replace(path=self._find_topic(file.path))
        version = version_of(file.data)
        if file.path.startswith(tuple(self._other_skills)):
            return  # its SKILL.md is listed
        for path in self._candidate_paths(file):
            if problem := path_problem(path):
                self._skip(file.id, problem)
                return
            if self._decide(file, path, version):
                return
        self._plan.left_unchanged.append(Skipped(file.path, "something else is here already, and stays"))
        if file.kind == "skill" and file.path.endswith(f"/{SKILL_PAGE}"):
            self._other_skills.add(file.path.removesuffix(SKILL_PAGE))

    def _find_topic(self, path: str) -> str:
        """Return the path of a topic as it is here: its page may be there under another spelling."""
        folder, _, name = path.rpartition("/")
        if folder != self._home.layout.world or path in self._topics or not name.strip("-_. "):
            return path
        return self._home.layout.find_topic_page(name.removesuffix(".md"), self._topics)

    @cached_property
    def _topics(self) -> list[str]:
        return self._home.storage.pages.list(self._home.layout.world)

    def _candidate_paths(self, file: File) -> list[str]:
        """Return where a file may go, best first. One that went to a fallback path once stays there."""
        if not file.fallback_path:
            return [file.path]
        paths = [file.path, file.fallback_path, second_fallback_path(file)]
        used = [path for path in paths if self._log.version(file.id, path)]
        return used[:1] if used and used[0] != file.path else paths

    def _decide(self, file: File, path: str, version: str) -> bool:
        """Decide what becomes of a file at a path; False if another file has this path."""
        other = self._plan.find(path)
        if other:
            return other.version == version
        imported = self._log.version(file.id, path)
        step = Step(file, path, version, self._version_at(path))
        if step.seen == ABSENT:
            self._decide_absent(step, imported)
        elif step.seen == version:
            self._plan.same[path] = step._replace(file=file._replace(data=b""))
        elif not imported:
            return False
        elif step.seen == imported:
            self._plan.updates[path] = self._spool_step(step)
        else:
            changed = "was changed here since it came" + ("" if version == imported else ", and at its source, too")
            self._plan.left_unchanged.append(Skipped(path, f"{changed}: stays as it is here"))
        return True

    def _decide_absent(self, step: Step, imported: str) -> None:
        if imported and not self._again and not self._was_undone(step.path):
            why = "was removed here since it came: stays away (--again brings it)"
            self._plan.left_unchanged.append(Skipped(step.path, why))
            return
        elsewhere = self._find_elsewhere(step.file)
        if elsewhere:
            what = "session" if step.file.kind == "session" else "key"
            self._plan.left_unchanged.append(Skipped(step.path, f"{elsewhere} has this {what} already, and stays"))
            return
        self._plan.new[step.path] = self._spool_step(step)
        if step.path.startswith(f"{self._home.layout.globals}/"):
            self._note_global(step.path)

    def _note_global(self, path: str) -> None:
        category = path.removeprefix(f"{self._home.layout.globals}/").partition("/")[0]
        self._global_pages.add(path)
        if category not in self._categories:
            self._categories.append(category)

    def _find_elsewhere(self, file: File) -> str:
        """Return another page that has the same key, or the same session; empty if there is none."""
        if not file.key:
            return ""
        for path in list_other_pages(self._home.layout, file, self._categories):
            if path in self._global_pages or (not path_problem(path) and self._version_at(path) != ABSENT):
                return path
        return ""

    def _was_undone(self, path: str) -> bool:
        head = self._home.storage.history.head(path)
        return head is not None and head.version == ABSENT and head.by.tool == "undo"

    def _spool_step(self, step: Step) -> Step:
        """Move the bytes of a step to the spool: there may be too many for memory."""
        now = int(self._home.clock().timestamp() * 10**6) * 1000
        file = step.file
        modified = file.modified if 0 < file.modified < now else now
        if file.warning:
            self._plan.warnings.setdefault(file.warning, []).append(step.path)
        spooled = self._spool.add(PRIVATE_FILE_MODE, modified, [file.data])
        return step._replace(spooled=spooled, file=file._replace(data=b""))
