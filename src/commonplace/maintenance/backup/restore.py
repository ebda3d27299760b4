"""An archive that was read, put into a home: new pages are added, differing ones replaced only on request.

Everything is compared before anything is written. An import that was interrupted is simply run again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ... import directive, settings
from ...errors import Conflict, NotText, Refused, SettingsError, StorageError
from ...home import Home, layout_of
from ...settings import Settings
from ...storage.base import ABSENT, Root, Sentences
from ...storage.bulk import IncomingPage, PageBatch, Spool, SpooledFile, any_covers, is_history_file
from ...storage.conflicts import decode_text
from ...storage.history import APPROVE, Change, format_line, kind_of_origin, parse_line, version_of
from .archive import HISTORY_ROOT, backup_scope

ORIGIN = "import:archive"
_MAX_PAGES_NAMED = 10
Files = Mapping[str, SpooledFile]


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

    Nobody here has approved it, whatever the archive says.
    """
    marked = {path: _mark_history(home, file, spool) for path, file in files.items() if is_history_file(path)}
    return {**files, **marked}


def _mark_history(home: Home, file: SpooledFile, spool: Spool) -> SpooledFile:
    data = spool.read(file)
    lines = [_mark_line(home, line) for line in data.split(b"\n")]
    new = b"\n".join(lines)
    return file if new == data else spool.add(file.mode, file.modified, [new])


def _mark_line(home: Home, text: bytes) -> bytes:
    line = parse_line(text) if text else None
    if line is None or line.change.version in directive.DEFAULT_VERSIONS or not _claims_trust(home, line.change):
        return text
    return format_line(line._replace(change=line.change._replace(origin=ORIGIN))).strip(b"\n")


def _claims_trust(home: Home, change: Change) -> bool:
    """Return whether a change is of a rule, or says that a person made or approved it: nobody here knows that."""
    is_by_person = not change.tool or change.tool == APPROVE or kind_of_origin(change.origin) == "person"
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
        if seen[path] == version:
            same.append(path)
        elif seen[path] == ABSENT or is_untouched_directive(home, path, seen[path]):
            new.append(path)
        elif is_history_file(path):
            has_own_history = True
        else:
            different.append(path)
    if has_own_history:
        warnings.append("the home has a history of its own, which stays; that of the archive is not imported")
        new = [path for path in new if not is_history_file(path)]
        same = [path for path in same if not is_history_file(path)]
    return RestorePlan(tuple(new), tuple(different), tuple(same), tuple(warnings), seen, versions)


def is_untouched_directive(home: Home, path: str, version: str) -> bool:
    """Whether a page is the default directive of a new home, which nobody has edited yet."""
    return path == f"{home.layout.directives}/memory.md" and version in directive.DEFAULT_VERSIONS


def _check_scope(home: Home, files: Files, spool: Spool, warnings: Sentences) -> None:
    """Refuse files outside of memory, by the settings of the archive if it has some, else by those of the home."""
    archived_settings = spool.read(files[settings.FILE]) if settings.FILE in files else None
    if archived_settings is None or archived_settings == home.storage.read_bytes(settings.FILE):
        roots = backup_scope(home.layout, home.settings)
    else:
        roots = _scope_of_settings(archived_settings, warnings)
    for path in files:
        if not any_covers((*roots, HISTORY_ROOT), path):
            raise Refused(f"{path!a} is no place for memory under these settings: nothing was imported")


def _scope_of_settings(archived_settings: bytes, warnings: Sentences) -> list[Root]:
    try:
        loaded = settings.load("", lambda _: decode_text(archived_settings, settings.FILE))
    except (SettingsError, NotText) as error:
        raise StorageError(f"the archive's {error}: nothing was imported") from error
    _warn_of_providers(loaded, warnings)
    return backup_scope(layout_of(loaded), loaded)


def _warn_of_providers(loaded: Settings, warnings: Sentences) -> None:
    for search in {loaded.search, *dict(loaded.agents).values()}:
        if settings.PROVIDERS[search.provider].is_remote or search.base_url:
            where = search.base_url or search.provider
            warnings.append(f"the archive's {settings.FILE} has passages sent to {where}: look at it before you search")


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
    shown = ", ".join(paths[:_MAX_PAGES_NAMED])
    more = f" and {len(paths) - _MAX_PAGES_NAMED} more (--dry-run lists them)" if paths[_MAX_PAGES_NAMED:] else ""
    return f"{shown}{more} {'differs' if len(paths) == 1 else 'differ'} from what is here"
