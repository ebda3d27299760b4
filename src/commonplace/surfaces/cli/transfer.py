"""The commands that move a memory: export and import (archives, and data of other systems), and copy."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from ...errors import CommonplaceError, Conflict, InvalidArgument, NotFound, StorageError
from ...home import Home
from ...instructions import list_proposals
from ...maintenance.backup import ExportResult, ImportResult, export_file, export_to, import_from
from ...maintenance.backup.archive import FORMATS, Format, Limits, is_archive
from ...settings import FILE
from ...storage.names import require_agent
from ...wording import format_command
from .common import (
    ProgressBar,
    absolute_home,
    agent_name,
    get_options,
    global_options,
    home_exists,
    home_path,
    is_found_home,
    open_home,
    print_reply,
    print_some,
    print_text,
    record_as_made,
    require_usable_home,
    warn,
)

if TYPE_CHECKING:
    from ...importers import ImportReport, Kind
    from ...maintenance.backup import CopyResult

_STANDARD_STREAM = "-"
_ARCHIVE = "archive"
_MAX_LISTED = 5  # sentences of a kind after an import; --json lists all
_MAX_LISTED_PAGES = 20  # pages after a copy; --json lists all
_NOUNS = {"page": "page{}", "record": "record{}", "session": "session{}", "skill": "file{} of skills"}


@click.command("export")
@click.argument("file", required=False)
@click.option("--format", type=click.Choice([*FORMATS]), help="What to write (default: by the ending of FILE, or tar).")
@click.option("--history", is_flag=True, help="Include the earlier versions of all pages.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@global_options
def export_command(file: str | None, format: Format | None, history: bool, force: bool) -> None:  # noqa: A002
    """Write all of memory into FILE: every agent's pages, skills, sessions and settings, as of one moment.

    A FILE that ends in .gz or .tgz is compressed. With -, or on a pipe, the archive goes to standard output.
    """
    home = _open_source()
    if file is None and sys.stdout.isatty():
        raise InvalidArgument("give the name of a file, like backup.tar.gz, or redirect the output")
    if file is None or file == _STANDARD_STREAM or _is_stream(file):
        _print_warnings(_export_to_stream(home, file or _STANDARD_STREAM, format or "tar", history))
        return
    result = export_file(home, file, format, history=history, force=force)
    _print_warnings(result)
    reply: dict[str, Any] = result._asdict() | {"file": os.path.abspath(file), "warnings": list(result.warnings)}
    print_reply(reply, f"{result.files} files, {result.size:,} bytes, are in {file}.")


def _open_source() -> Home:
    """Open a home that must exist, to read it."""
    home = home_path()
    require_usable_home(home)
    if not home_exists(home):
        raise NotFound(f"there is no memory at {home}: name another one with --home")
    return open_home()


def _is_stream(file: str) -> bool:
    """Return whether a name is a pipe or a device, which cannot be replaced like a file."""
    return os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file)


def _export_to_stream(home: Home, file: str, format: Format, history: bool) -> ExportResult:  # noqa: A002
    try:
        with nullcontext(sys.stdout.buffer) if file == _STANDARD_STREAM else open(file, "wb") as stream:
            result = export_to(home, stream, format, history=history)
            stream.flush()
            return result
    except BrokenPipeError as error:
        raise StorageError("the program that reads the archive stopped before its end: it is incomplete") from error


def _print_warnings(result: ExportResult | ImportResult | ImportReport | CopyResult) -> None:
    for warning in result.warnings:
        warn(warning)


@click.command("import")
@click.argument("source", metavar="FILE|FOLDER")
@click.option("--from", "kind", metavar="KIND", help="What kind of data it is, if that cannot be detected.")
@click.option("--as", "agent", metavar="AGENT", help="The agent that it is imported for; the same as --agent.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--in-place", is_flag=True, help="Copy nothing: let a home of another system open in place.")
@click.option("--again", is_flag=True, help="Also import what was removed here after an earlier import.")
@click.option("--overwrite", is_flag=True, help="For an archive: replace pages that differ; history keeps them.")
@click.option("--settings", "take_settings", is_flag=True, help="For an archive: use its settings as they are.")
@click.option("--max-size", type=click.FloatRange(0, min_open=True), metavar="GB", help="Limit of the unpacked size.")
@global_options
def import_command(
    source: str,
    kind: str | None,
    agent: str | None,
    dry_run: bool,
    in_place: bool,
    again: bool,
    overwrite: bool,
    take_settings: bool,
    max_size: float | None,
) -> None:
    """Import a FILE that export made, or the data of another system, into this memory; - means standard input.

    It detects Obsidian, basic-memory, OpenClaw, duragent and agentool folders; Claude Code's notes and transcripts;
    the exports of ChatGPT and Claude; memories of mem0 and of the MCP memory server; SQLite databases of notes and
    records. A second import adds only what is new, and replaces nothing that was changed here.

    From an archive, new pages are added. If any page differs from the one here, nothing is written, unless --overwrite
    is given.
    """
    if agent is not None:
        get_options()["agent"] = require_agent(agent)
    if in_place:
        _open_in_place(source, kind or "", dry_run=dry_run)
        return
    require_usable_home(home_path())
    max_bytes = None if max_size is None else int(max_size * (1 << 30))
    if kind == _ARCHIVE or (not kind and _is_archive(source)):
        _import_archive(source, max_bytes, dry_run=dry_run, overwrite=overwrite, take_settings=take_settings)
    elif take_settings:
        raise InvalidArgument("--settings is for archives: an import from another system has no settings")
    elif overwrite:
        raise InvalidArgument("--overwrite is for archives: an import from another system never replaces pages")
    else:
        _import_other(source, kind or "", max_bytes, dry_run=dry_run, again=again)
    if not dry_run:
        _warn_of_proposals(open_home())


def _warn_of_proposals(home: Home) -> None:
    """Print how many rules wait for approval, as imported ones do."""
    if count := len(list_proposals(home)):
        rules = "1 rule is" if count == 1 else f"{count} rules are"
        warn(f"{rules} in no prompt until you approve: `commonplace proposals` lists what waits")


def _is_archive(source: str) -> bool:
    """Return whether the source looks like an archive that export made."""
    if source == _STANDARD_STREAM or not os.path.lexists(source):
        return True
    if os.path.isdir(source):
        return False
    if not os.path.isfile(source):  # a pipe: reading its beginning would lose it
        return True
    with _open_file(source) as stream:
        return is_archive(stream.read(512))


def _import_archive(file: str, max_bytes: int | None, *, dry_run: bool, overwrite: bool, take_settings: bool) -> None:
    limits = None if max_bytes is None else Limits(max_bytes, max_bytes)
    with _open_file(file) as stream:
        result = import_from(
            open_home(), stream, overwrite=overwrite, dry_run=dry_run, limits=limits, take_settings=take_settings
        )
    _print_warnings(result)
    reply = {
        "added": len(result.added),
        "replaced": list(result.replaced),
        "same": len(result.same),
        "dry_run": dry_run,
        "size": result.size,
        "warnings": list(result.warnings),
    }
    print_reply(reply, partial(_print_archive_import, result, dry_run, overwrite))


@contextmanager
def _open_file(file: str) -> Iterator[BinaryIO]:
    if file == _STANDARD_STREAM:
        yield sys.stdin.buffer
        return
    try:
        stream = open(file, "rb")  # noqa: SIM115
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {file}") from error
    except OSError as error:
        raise StorageError(f"{file}: {error.strerror}") from error
    with stream:
        yield stream


def _print_archive_import(result: ImportResult, dry_run: bool, overwrite: bool) -> None:
    for path in result.replaced:
        print_text(f"differs: {path}")
    last = f"{len(result.replaced)} {'replaced' if overwrite else 'in the way (--overwrite replaces them)'}"
    counts = [f"{len(result.added)} added", f"{len(result.same)} here already", *([last] if result.replaced else [])]
    print_text(f"{'Would be: ' if dry_run else ''}{', '.join(counts)}.")


def _import_other(source: str, kind: str, max_bytes: int | None, *, dry_run: bool, again: bool) -> None:
    from ...importers import import_source

    if source == _STANDARD_STREAM:
        raise InvalidArgument(f"only an archive comes from standard input: give the name of a file or folder of {kind}")
    home = open_home()
    with ProgressBar() as bar:
        source_kind, report = import_source(
            home,
            source,
            kind,
            agent_was_named=bool(get_options().get("agent")),
            dry_run=dry_run,
            again=again,
            limits=None if max_bytes is None else Limits(max_bytes, max_bytes),
            progress=bar.update,
        )
        if not dry_run and (report.added or report.updated):
            _update_index(home, bar)
    _print_warnings(report)
    reply = {
        "kind": source_kind.name,
        "added": list(report.added),
        "updated": list(report.updated),
        "same": len(report.same),
        "beside": [{"path": path, "because": other} for path, other in report.renamed],
        "kept": [{"path": path, "why": why} for path, why in report.left_unchanged],
        "not_understood": [{"what": what, "why": why} for what, why in report.skipped],
        "dry_run": dry_run,
        "warnings": list(report.warnings),
    }
    print_reply(reply, partial(_print_import, source_kind, report, dry_run, home))


def _update_index(home: Home, bar: ProgressBar) -> None:
    """Index what was imported. The pages are already written, so a failure is only a warning."""
    try:
        home.build_index(bar.update)
    except CommonplaceError as error:
        warn(f"the index is not up to date; the next search updates it: {error}")


def _print_import(kind: Kind, report: ImportReport, dry_run: bool, home: Home) -> None:
    counts = dict(report.counts_by_kind)
    parts = [f"{count} {_NOUNS[kind_of_file].format('s' * (count != 1))}" for kind_of_file, count in counts.items()]
    parts = parts or [
        "nothing new" if report.same or report.updated or report.left_unchanged else "nothing that can be imported"
    ]
    parts += [f"{len(report.updated)} brought up to date"] if report.updated else []
    parts += [f"{len(report.same)} here already"] if report.same else []
    print_text(f"{'Would be from' if dry_run else 'From'} {kind.what}: {', '.join(parts)}.")
    folders = Counter(_folder_of(path) for path in report.added).most_common()
    for folder, count in folders[:_MAX_LISTED]:
        print_text(f"  {count} in {folder}")
    if folders[_MAX_LISTED:]:
        print_text(f"  {sum(count for _, count in folders[_MAX_LISTED:])} in other folders: --json lists all")
    _print_list("Stored beside existing pages", [f"{path} (not {other})" for path, other in report.renamed])
    _print_list("Left as it is here", [f"{path}: {why}" for path, why in report.left_unchanged])
    _print_list("Not understood, or left out", [f"{what}: {why}" for what, why in report.skipped])
    if counts.get("session") and not home.search_settings.index_sessions:
        file = home.storage.display_path(FILE)
        print_text(f"Sessions are searched once {file} says `memorySearch: {{indexSessions: true}}`.")
    if (report.added or report.updated) and not dry_run:
        print_text("`commonplace undo` undoes all of it.")


def _folder_of(path: str) -> str:
    """Return the folder of a page, at most four levels deep."""
    parts = path.split("/")[:-1]
    return "/".join(parts[:4]) + "/" if parts else "."


def _print_list(title: str, sentences: list[str]) -> None:
    if sentences:
        print_text(f"{title}: {len(sentences)}")
        print_some([f"  {sentence}" for sentence in sentences], _MAX_LISTED, print_text)


def _open_in_place(source: str, kind: str, *, dry_run: bool) -> None:
    from ...importers import open_in_place

    source_kind, home, created = open_in_place(source, kind, dry_run=dry_run)
    reply: dict[str, Any] = {"kind": source_kind.name, "home": home, "created": created, "dry_run": dry_run}
    if not created:
        outcome = "opens where it is already"
    elif dry_run:
        outcome = "would open where it is"
    else:
        outcome = "opens where it is now"
    print_reply(
        reply,
        f"{source_kind.what[0].upper()}{source_kind.what[1:]} {outcome}: {format_command('--home', home, 'status')}",
    )


@click.command("copy")
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option("--overwrite", is_flag=True, help="Replace pages that differ in TARGET; history keeps their old text.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@global_options
def copy_command(source: str, target: str, overwrite: bool, dry_run: bool) -> None:
    """Copy a memory from SOURCE to TARGET, each a folder or the URL of a database: all agents' pages byte for byte, and
    their history with times and authors.

    Run it again to resume, or to copy what is new: only what is missing is copied. A page with other text in TARGET is
    listed and left alone, and the exit status is 4; with --overwrite it is replaced.
    """
    from ...maintenance.backup import copy

    source_home = _open_home_at(source, is_source=True)
    is_new = not home_exists(absolute_home(target))
    target_home = _open_home_at(target, is_source=False)
    try:
        with ProgressBar() as bar:
            result = copy(source_home, target_home, overwrite=overwrite, dry_run=dry_run, progress=bar.update)
        if not dry_run and not source_home.trust.is_own:
            _warn_of_proposals(target_home)
        elif not dry_run and is_new and target_home.storage.local_folder:
            record_as_made(target_home.storage.local_folder)
    finally:
        source_home.close()
        target_home.close()
    _print_warnings(result)
    reply = {
        "added": list(result.added),
        "told": list(result.history_completed),
        "same": len(result.same),
        "differ": list(result.different),
        "warnings": list(result.warnings),
        "failed": [{"path": path, "why": why} for path, why in result.failed],
        "source": source_home.root,
        "target": target_home.root,
        "overwrite": overwrite,
        "dry_run": dry_run,
    }
    print_reply(reply, partial(_print_copy, result, overwrite=overwrite, dry_run=dry_run))
    if not dry_run and (result.failed or (result.different and not overwrite)):
        sys.exit(Conflict.exit_status)


def _open_home_at(address: str, *, is_source: bool) -> Home:
    """Open one of the two memories. A source that the user neither made nor trusts stays untrusted: its rules wait."""
    require_usable_home(os.path.expanduser(address))
    home = absolute_home(address)
    if is_source and not home_exists(home):
        raise NotFound(f"there is no memory at {home}: name a folder, or a database as postgresql://user@host/name")
    is_named = not is_found_home() and home == absolute_home(home_path())
    return Home(home, agent_name(), is_found=is_source and not is_named)


def _print_copy(result: CopyResult, *, overwrite: bool, dry_run: bool) -> None:
    print_some([f"not copied: {path}: {why}" for path, why in result.failed], _MAX_LISTED_PAGES, print_text)
    print_some([f"differs: {path}" for path in result.different], _MAX_LISTED_PAGES, print_text)
    counts = [f"{len(result.added)} copied", f"{len(result.same)} there already"]
    if result.history_completed:
        counts.append(f"{len(result.history_completed)} with more of their history")
    if result.different:
        last = "replaced" if overwrite else "differ and stay (--overwrite replaces them)"
        counts.append(f"{len(result.different)} {last}")
    if result.failed:
        counts.append(f"{len(result.failed)} could not be copied")
    print_text(f"{'Would be: ' if dry_run else ''}{', '.join(counts)}.")
