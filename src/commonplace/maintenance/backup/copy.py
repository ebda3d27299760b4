"""Copy a memory between backends: pages byte for byte, history with its times and authors.

Run again, it continues: pages that are there already are not copied, and a page that differs there stays, unless it is
to be replaced; history then keeps the earlier text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from ... import settings
from ...errors import CommonplaceError, ConnectionLost, InvalidArgument, NotFound
from ...formats.timestamps import format_timestamp
from ...home import Home
from ...index.base import Progress, ignore_progress
from ...storage.base import ABSENT, Sentences
from ...storage.bulk import IncomingPage, PageBatch, Spool, any_covers
from ...storage.files import PRIVATE_FILE_MODE
from ...storage.history import Author, Change, Versions, version_of
from . import is_untouched_directive
from .archive import backup_scope, render_settings

_MAX_BATCH_PAGES = 50
_MAX_BATCH_BYTES = 8_000_000  # of all versions together
_BY_HAND = Author(tool="")
_KEEP_MODE = 0  # a page that is replaced keeps its access rights


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
    """Write the settings by which the copy of another system's home opens, unless the target has some."""
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
        elif version or seen in history[path]:  # it differs; or it came from the source, and was removed there since
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
        file = None if data is None else spool.add(_KEEP_MODE, modified, [data])
        return IncomingPage(path, version_of(data), seen, file, history)


def _outside_edit(source: Home, path: str, data: bytes | None, modified: int, history: Versions) -> Change:
    at = format_timestamp(datetime.fromtimestamp(modified / 10**9, UTC) if modified > 0 else source.clock())
    name = version_of(f"{path} {at} {len(history)}".encode())[:16]
    if not history:
        return Change(name, at, path, version_of(data), ABSENT, *_BY_HAND)
    before = history[-1][0]
    return Change(name, max(at, before.at), path, version_of(data), before.version, *_BY_HAND)
