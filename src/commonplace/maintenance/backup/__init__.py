"""Backup: a snapshot of all of memory in one file, and back again, byte for byte.

export_to(home, stream)       a tar, or JSON lines; while others write
export_file(home, path)       the same, as a file that exists once it is complete
import_from(home, stream)     either format; nothing is written unless all of it is valid
copy(source, target)          between backends: pages byte for byte, history with its times and authors

A copy that is run again continues: pages that are there already are not copied, and a page that differs there stays,
unless it is to be replaced; history then keeps the earlier text.

An archive is data. A provider that its `commonplace.yaml` names would have passages of the memory it comes to sent to a
server, or a model opened from a folder, so these lines come as comments, unless the user says otherwise.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import BinaryIO, NamedTuple

from ... import directive, settings
from ...errors import (
    CommonplaceError,
    Conflict,
    ConnectionLost,
    InvalidArgument,
    NotFound,
    Refused,
    StorageError,
)
from ...formats.timestamps import format_timestamp
from ...home import Home
from ...index.base import Progress, ignore_progress
from ...settings import FILE, INTERNAL_FOLDERS
from ...storage.authors import KEEP, SUPERSEDE
from ...storage.base import ABSENT, Sentences
from ...storage.bulk import IncomingPage, PageBatch, Snapshot, Spool, SpooledFile, any_covers, is_history_file
from ...storage.files import PRIVATE_FILE_MODE
from ...storage.history import APPROVE, Author, Change, Versions, format_line, kind_of_origin, parse_line, version_of
from ...storage.layout import layout_of
from ...wording import list_some
from .archive import (
    HISTORY_ROOT,
    Format,
    Limits,
    backup_scope,
    open_atomic,
    read_archive,
    remove_leftovers,
    render_settings,
    write_archive,
)
from .archived_settings import Files, leave_out_settings, load_archived, refuse_untrusted_settings

_MAX_NAMES_SHOWN = 5
ORIGIN = "import:archive"
_COPY_ORIGIN = "import:copy"
_MAX_PAGES_NAMED = 10
_MAX_BATCH_PAGES = 50
_MAX_BATCH_BYTES = 8_000_000  # all versions in a batch together
_BY_HAND = Author(tool="")
_KEEP_MODE = 0  # a page that is replaced keeps its access rights


class ExportResult(NamedTuple):
    """`size`: bytes of all files together. `writers_waited_seconds`: how long writers had to wait."""

    files: int
    size: int
    writers_waited_seconds: float
    warnings: tuple[str, ...]


class ImportResult(NamedTuple):
    """Paths, and in `size` the bytes of all files together. After a dry run it says what would be done."""

    added: tuple[str, ...]
    replaced: tuple[str, ...]
    same: tuple[str, ...]
    size: int
    warnings: tuple[str, ...]


def export_to(
    home: Home,
    stream: BinaryIO,
    format: Format = "tar",  # noqa: A002
    *,
    history: bool = False,
    compress: bool = False,
) -> ExportResult:
    """Write all of memory, as of one moment, to a stream."""
    home.storage.check()
    roots = backup_scope(home.layout, home.settings)
    with home.storage.bulk.snapshot(roots, home.layout.base, history=history) as snapshot:
        snapshot = _add_settings(home, snapshot)
        write_archive(snapshot, stream, format, compress=compress)
        size = sum(file.size for file in snapshot.files.values())
        warnings = (*_warn_of_untracked(snapshot.untracked), *snapshot.warnings)
        return ExportResult(len(snapshot.files), size, snapshot.writers_waited_seconds, warnings)


def _add_settings(home: Home, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot of another system's home with settings, since a backup lacks what it is recognised by."""
    if home.settings.layout == "native" or FILE in snapshot.files:
        return snapshot
    file = snapshot.spool.add(PRIVATE_FILE_MODE, 0, [render_settings(home.settings, home.root)])
    return snapshot._replace(files=dict(sorted({**snapshot.files, FILE: file}.items())))


def _warn_of_untracked(names: Sequence[str]) -> Sentences:
    """Return a warning that names files beside the memory that are not backed up, if there are any."""
    if not names:
        return []
    listing = list_some([f"{name!a}" for name in names], _MAX_NAMES_SHOWN)
    return [f"not memory, and left out: {listing} (extraPaths in {FILE} names Markdown that is)"]


def export_file(
    home: Home,
    path: str,
    format: Format | None = None,  # noqa: A002
    *,
    history: bool = False,
    force: bool = False,
) -> ExportResult:
    """Write all of memory to a file that appears only once it is complete. By default, its name decides the format."""
    _refuse_inside(home, path)
    if os.path.isdir(path):
        raise Conflict(f"{path} is a folder: give the name of a file")
    if not force and os.path.lexists(path):
        raise Conflict(f"{path} exists already: give another name, or --force to replace it")
    lower = path.lower()
    by_name: Format = "jsonl" if lower.removesuffix(".gz").endswith(".jsonl") else "tar"
    remove_leftovers(path)
    try:
        with open_atomic(path, replace=force) as file:
            compress = lower.endswith((".gz", ".tgz"))
            return export_to(home, file, format or by_name, history=history, compress=compress)
    except FileExistsError as error:
        raise Conflict(f"{path} was created by another program in the meantime: give another name") from error
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error


def _refuse_inside(home: Home, path: str) -> None:
    """Refuse a file among the pages: it would be part of the next backup."""
    if not home.storage.local_folder:
        return
    folder, name = os.path.split(os.path.abspath(path))
    top = os.path.realpath(home.storage.local_folder)
    file = os.path.join(os.path.realpath(folder), name)
    if not file.startswith(top + os.sep):
        return
    inside = os.path.relpath(file, top).replace(os.sep, "/")
    roots = [*backup_scope(home.layout, home.settings), HISTORY_ROOT]
    if inside.split("/")[0] in INTERNAL_FOLDERS or any_covers(roots, inside):
        raise Refused(f"{path} lies among the pages of this memory: choose a place outside of it")


def import_from(
    home: Home,
    stream: BinaryIO,
    *,
    overwrite: bool = False,
    dry_run: bool = False,
    limits: Limits | None = None,
    take_settings: bool = False,
) -> ImportResult:
    """Import an archive of either format. Raise Conflict and write nothing if a page differs from one here.

    With `overwrite` the archive's pages win, and history keeps what they replaced. With `take_settings` its settings
    and files of agents count as they are, even if they name a provider or shape the prompts of a memory that exists.
    Reopen the home afterwards if the archive may have brought settings.
    """
    home.storage.check()
    with Spool() as spool:
        files: Files = read_archive(stream, spool, limits or Limits())
        left_out: Sentences = []
        if not take_settings:
            files, left_out = leave_out_settings(home, files, spool)
        files = mark_rules_as_imported(home, files, spool)
        plan = compare(home, files, spool)
        warnings = [] if dry_run else carry_out(home, plan, files, spool, overwrite=overwrite)
        size = sum(file.size for file in files.values())
        every = (*left_out, *plan.warnings, *warnings)
        return ImportResult(plan.new, plan.different, plan.same, size, every)


class RestorePlan(NamedTuple):
    """What an import does with each path. `seen`: the versions here; `versions`: those of the archive."""

    new: tuple[str, ...]
    different: tuple[str, ...]
    same: tuple[str, ...]
    warnings: tuple[str, ...]
    seen: dict[str, str]
    versions: dict[str, str]


def mark_rules_as_imported(home: Home, files: Files, spool: Spool) -> Files:
    """Return the files of an archive with a history that says where rules, and what people wrote, came from.

    Nobody here has approved it, whatever the archive says, and nothing in it is from after now.
    """
    marked = {path: _mark_history(home, file, spool) for path, file in files.items() if is_history_file(path)}
    return {**files, **marked}


def _mark_history(home: Home, file: SpooledFile, spool: Spool) -> SpooledFile:
    data = spool.read(file)
    now = format_timestamp(home.clock())
    lines = [_mark_line(home, line, now) for line in data.split(b"\n")]
    new = b"\n".join(lines)
    return file if new == data else spool.add(file.mode, file.modified, [new])


def _mark_line(home: Home, text: bytes, now: str) -> bytes:
    line = parse_line(text) if text else None
    if line is None:
        return text
    change = line.change._replace(at=min(line.change.at, now))
    if change.version not in directive.DEFAULT_VERSIONS and _claims_trust(home, change):
        change = change._replace(origin=ORIGIN)
    return text if change == line.change else format_line(line._replace(change=change)).strip(b"\n")


def _claims_trust(home: Home, change: Change) -> bool:
    """Return whether a change is to a rule, or claims that a person made or approved it, which cannot be verified."""
    is_by_person = change.tool in ("", APPROVE, KEEP, SUPERSEDE) or kind_of_origin(change.origin) == "person"
    return is_by_person or home.layout.is_instruction(change.path)


def compare(home: Home, files: Files, spool: Spool) -> RestorePlan:
    """Compare an archive with a home. Refused when it holds files that have no place in one."""
    warnings: Sentences = []
    _check_scope(home, files, spool, warnings)
    look_up = home.storage.bulk.version_lookup()
    seen = {path: look_up(path) for path in files}
    versions = {path: version_of(spool.read(file)) for path, file in files.items()}
    new: list[str] = []
    different: list[str] = []
    same: list[str] = []
    has_own_history = False
    for path, version in versions.items():
        if seen[path] == version or _is_continued(home, path, files[path], spool):
            same.append(path)
        elif seen[path] == ABSENT or is_untouched_directive(home, path, seen[path]):
            new.append(path)
        elif is_history_file(path):
            has_own_history = True
        else:
            different.append(path)
    if has_own_history:
        warnings.append("the home already has a history, which stays; that of the archive is not imported")
        new = [path for path in new if not is_history_file(path)]
        same = [path for path in same if not is_history_file(path)]
    return RestorePlan(tuple(new), tuple(different), tuple(same), tuple(warnings), seen, versions)


def _is_continued(home: Home, path: str, file: SpooledFile, spool: Spool) -> bool:
    """Return whether a history file is here already, with later changes, such as those of this import."""
    here = home.storage.bulk.read(path)[0] if is_history_file(path) else None
    return here is not None and here.startswith(spool.read(file))


def is_untouched_directive(home: Home, path: str, version: str) -> bool:
    """Return whether a page is the default directive of a new home, which nobody has edited yet."""
    return path == f"{home.layout.directives}/memory.md" and version in directive.DEFAULT_VERSIONS


def _check_scope(home: Home, files: Files, spool: Spool, warnings: Sentences) -> None:
    """Refuse files outside of memory, by the settings of the archive if it has some, else by those of the home."""
    archived_settings = spool.read(files[settings.FILE]) if settings.FILE in files else None
    if archived_settings is None or archived_settings == home.storage.read_bytes(settings.FILE):
        roots = backup_scope(home.layout, home.settings)
    else:
        loaded = load_archived(archived_settings)
        for search in {*loaded.searches}:
            if settings.PROVIDERS[search.provider].is_remote or search.base_url:
                where = search.base_url or search.provider
                warnings.append(
                    f"the archive's {settings.FILE} has passages sent to {where}: look at it before you search"
                )
        roots = backup_scope(layout_of(loaded), loaded)
    for path in files:
        if not any_covers((*roots, HISTORY_ROOT), path):
            raise Refused(f"{path!a} is not a place for memory under these settings: nothing was imported")


def carry_out(home: Home, plan: RestorePlan, files: Files, spool: Spool, *, overwrite: bool) -> Sentences:
    """Write what was planned; return warnings."""
    if plan.different and not overwrite:
        raise Conflict(f"{_name_pages(plan.different)}: nothing was imported; --overwrite replaces them")
    pages = [
        IncomingPage(path, plan.versions[path], plan.seen[path], files[path]) for path in (*plan.new, *plan.different)
    ]
    unchanged = {path: files[path] for path in plan.same}
    with home.writer.call("import", origin=ORIGIN, defer_index=True) as writing:
        home.storage.bulk.put(PageBatch(pages, spool, unchanged))
    home.index.invalidate()
    return [*dict.fromkeys(writing.warnings)]


def _name_pages(paths: tuple[str, ...]) -> str:
    more = " (--dry-run lists them)" if len(paths) > _MAX_PAGES_NAMED else ""
    return f"{list_some(paths, _MAX_PAGES_NAMED)}{more} {'differs' if len(paths) == 1 else 'differ'} from what is here"


class CopyResult(NamedTuple):
    """Paths of pages; after a dry run, what would be done.

    `history_completed`: pages that the target had without all of their history. `different`: pages that have another
    text there, and are replaced only on request.
    """

    added: tuple[str, ...]
    history_completed: tuple[str, ...]
    same: tuple[str, ...]
    different: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]


class _CopyPlan:
    """What is to be done with each page. `seen`: the versions that the target has."""

    def __init__(self) -> None:
        self.new: list[str] = []
        self.lacking_history: list[str] = []
        self.same: list[str] = []
        self.different: list[str] = []
        self.seen: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self.warnings: Sentences = []

    def without_failed(self, paths: list[str]) -> tuple[str, ...]:
        return tuple(path for path in paths if path not in self.failed)


def copy(
    source: Home,
    target: Home,
    *,
    overwrite: bool = False,
    dry_run: bool = False,
    progress: Progress = ignore_progress,
) -> CopyResult:
    """Copy all of memory. `overwrite`: pages that differ there are replaced, and history keeps their earlier text."""
    source.storage.check()
    target.storage.check()
    if source.root == target.root:
        raise InvalidArgument(f"{source.root} is both the source and the target: name two memories")
    refuse_untrusted_settings(source)
    needs_settings = source.settings.layout != "native" and source.storage.read_bytes(settings.FILE) is None
    file = render_settings(source.settings, source.root) if needs_settings else b""
    plan = _compare(source, target)
    if settings.FILE in plan.different and not overwrite:
        warning = f"{settings.FILE} differs and stays: what is copied may be where that memory does not look"
        plan.warnings.append(warning)
    if not dry_run:
        if file:
            _write_settings(target, file)
        paths = [*plan.new, *plan.lacking_history, *(plan.different if overwrite else ())]
        _write_pages(source, target, paths, plan, progress)
    return CopyResult(
        plan.without_failed(plan.new),
        plan.without_failed(plan.lacking_history),
        plan.without_failed(plan.same),
        plan.without_failed(plan.different),
        tuple(plan.failed.items()),
        tuple(plan.warnings),
    )


def _write_settings(target: Home, file: bytes) -> None:
    """Write the settings that the copy of another system's home needs, unless the target has some."""
    if target.storage.read_bytes(settings.FILE) is None:
        with Spool() as spool, target.writer.call("copy", defer_index=True):
            spooled = spool.add(PRIVATE_FILE_MODE, 0, [file])
            page = IncomingPage(settings.FILE, version_of(file), ABSENT, spooled)
            target.storage.bulk.put(PageBatch([page], spool))


def _write_pages(source: Home, target: Home, paths: Sequence[str], plan: _CopyPlan, progress: Progress) -> None:
    """Write pages with their history, as one call, and add its failures and warnings to the plan."""
    count = 0
    with target.writer.call("copy", defer_index=True) as write:
        for batch, spool in _read_batches(source, paths, plan):
            failures = target.storage.bulk.put(PageBatch(batch, spool), skip_failed=True)
            plan.failed |= {path: str(error) for path, error in failures.items()}
            count += len(batch)
            progress("copying", count, len(paths))
    target.index.invalidate()
    plan.warnings += dict.fromkeys(write.warnings)


def _compare(source: Home, target: Home) -> _CopyPlan:
    plan = _CopyPlan()
    roots = backup_scope(source.layout, source.settings)
    pages, plan.warnings = source.storage.bulk.list_versions(roots)
    history = _versions_by_page(source)
    target_versions = _versions_by_page(target)
    removed = [path for path in history if path not in pages and any_covers(roots, path)]
    if not pages and not removed:
        raise NotFound(f"there is nothing to copy in {source.root}: check that it is the memory you mean")
    look_up = target.storage.bulk.version_lookup()
    settings_first = sorted({*pages, *removed}, key=lambda path: (path != settings.FILE, path))
    for path in settings_first:
        try:
            plan.seen[path] = look_up(path)
        except ConnectionLost:
            raise
        except CommonplaceError as error:
            plan.failed[path] = str(error)
            continue
        seen = plan.seen[path]
        version = pages.get(path, ABSENT)
        if seen == version:
            lacks = _continues(history.get(path, []), target_versions.get(path, []))
            (plan.lacking_history if lacks else plan.same).append(path)
        elif seen == ABSENT or is_untouched_directive(target, path, seen):
            plan.new.append(path)
        elif version or seen in history[path]:  # it differs, or it came from the source and was removed there since
            plan.different.append(path)
    return plan


def _versions_by_page(home: Home) -> dict[str, list[str]]:
    versions: dict[str, list[str]] = {}
    for change in home.storage.history.changes():
        versions.setdefault(change.path, []).append(change.version)
    return versions


def _continues(history: list[str], known: list[str]) -> bool:
    """Return whether a history begins with another one and has more."""
    return len(history) > len(known) and history[: len(known)] == known


def _read_batches(source: Home, paths: Sequence[str], plan: _CopyPlan) -> Iterator[tuple[list[IncomingPage], Spool]]:
    """Yield pages to be written together, since each alone would wait for the disk. Unreadable ones have failed."""
    queue = deque(paths)
    while queue:
        with Spool() as spool:
            batch: list[IncomingPage] = []
            size = 0
            while queue and len(batch) < _MAX_BATCH_PAGES and size <= _MAX_BATCH_BYTES:
                path = queue.popleft()
                try:
                    page = _read_page(source, path, plan.seen[path], spool)
                except ConnectionLost:
                    raise
                except CommonplaceError as error:
                    plan.failed[path] = str(error)
                    continue
                batch.append(page)
                size += sum(len(data or b"") for _, data in page.history or ())
            if batch:
                yield batch, spool


def _read_page(source: Home, path: str, seen: str, spool: Spool) -> IncomingPage:
    """Read a page with its history, which ends with what the page is now, however many write it meanwhile."""
    bulk = source.storage.bulk
    while True:
        data, modified = bulk.read(path)
        history = source.storage.history.versions(path)
        latest = history[-1][0].version if history else ABSENT
        if latest != version_of(data):
            if bulk.read(path) != (data, modified):
                continue
            # Another program changed the page, and history has not recorded that yet.
            history.append((_outside_edit(source, path, data, modified, history), data))
        if not source.trust.is_own:
            history = [(_mark_untrusted(source, change, text), text) for change, text in history]
        file = None if data is None else spool.add(_KEEP_MODE, modified, [data])
        return IncomingPage(path, version_of(data), seen, file, history)


def _mark_untrusted(source: Home, change: Change, data: bytes | None) -> Change:
    """Return a change from a found memory, marked as imported unless the user trusts it."""
    is_trusted = (
        data is None or change.version in directive.DEFAULT_VERSIONS or source.trust.allows_file(change.path, data)
    )
    return change if is_trusted or not _claims_trust(source, change) else change._replace(origin=_COPY_ORIGIN)


def _outside_edit(source: Home, path: str, data: bytes | None, modified: int, history: Versions) -> Change:
    at = format_timestamp(datetime.fromtimestamp(modified / 10**9, UTC) if modified > 0 else source.clock())
    name = version_of(f"{path} {at} {len(history)}".encode())[:16]
    if not history:
        return Change(name, at, path, version_of(data), ABSENT, *_BY_HAND)
    before = history[-1][0]
    return Change(name, max(at, before.at), path, version_of(data), before.version, *_BY_HAND)
