"""The command that brings a memory in: an archive that export made, or what another system kept."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from ...errors import CommonplaceError, InvalidArgument, NotFound, StorageError
from ...home import Home
from ...maintenance.backup import Imported, import_from
from ...maintenance.backup import Limits as ArchiveLimits
from ...settings import FILE
from .common import answer, home_path, open_home, options, refuse_file, say, shared, warn
from .index import Bar

if TYPE_CHECKING:
    from ...importers import Brought, Kind

_HERE = "-"
_ARCHIVE = "archive"
_GZIP = b"\x1f\x8b"
_SHOWN = 5  # of what was not understood; --json lists all
_SORTS = {"page": "page{}", "record": "record{}", "session": "session{}", "skill": "file{} of skills"}


@click.command("import")
@click.argument("source", metavar="FILE|FOLDER")
@click.option("--from", "kind", metavar="KIND", help="What it is, where a look at it does not tell.")
@click.option("--as", "agent", metavar="AGENT", help="Whose memory it becomes; the same as --agent.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--in-place", is_flag=True, help="Copy nothing: let a home of another system open where it is.")
@click.option("--again", is_flag=True, help="Also bring what was removed here since it was imported.")
@click.option("--overwrite", is_flag=True, help="Of an archive: replace pages that differ; history keeps them.")
@click.option("--max-size", type=click.FloatRange(0, min_open=True), metavar="GB", help="What it may unpack to.")
@shared
def import_command(
    source: str,
    kind: str | None,
    agent: str | None,
    dry_run: bool,
    in_place: bool,
    again: bool,
    overwrite: bool,
    max_size: float | None,
) -> None:
    """Bring a FILE that export made into this memory, or what another system kept; - means standard input.

    Known are, by a look at them: Obsidian, basic-memory, OpenClaw, duragent and agentool folders; Claude Code's notes
    and transcripts; the exports of ChatGPT and Claude; memories of mem0 and of the MCP memory server; SQLite databases
    of notes and records. A second import brings only what is new, and replaces nothing that was changed here.

    Of an archive, new pages are added. If one differs from what stands here, nothing is written, unless with
    --overwrite.
    """
    if agent:
        options()["agent"] = agent
    if in_place:
        _open_in_place(source, kind or "", dry_run=dry_run)
        return
    refuse_file(home_path())
    size = None if max_size is None else int(max_size * (1 << 30))
    if kind == _ARCHIVE or (not kind and _is_archive(source)):
        _import_archive(source, size, dry_run=dry_run, overwrite=overwrite)
        return
    if overwrite:
        raise InvalidArgument("--overwrite is for archives: what comes from elsewhere never replaces what stands here")
    _import_other(source, kind or "", size, dry_run=dry_run, again=again)


def _is_archive(source: str) -> bool:
    """Whether it is, or is packed like, what export makes."""
    if source == _HERE or not os.path.lexists(source):
        return True
    if os.path.isdir(source):
        return False
    if not os.path.isfile(source):  # a pipe, of which a look would take the beginning away
        return True
    with _opened(source) as stream:
        head = stream.read(512)
    is_tar = head[257:262] == b"ustar" or head == bytes(512)
    is_lines = head[:1] == b"{" and b'"format"' in head[:200] and b'"commonplace"' in head[:200]
    return not head or head[:2] == _GZIP or is_tar or is_lines


def _import_archive(file: str, size: int | None, *, dry_run: bool, overwrite: bool) -> None:
    limits = ArchiveLimits() if size is None else ArchiveLimits(size, size)
    with _opened(file) as stream:
        done = import_from(open_home(), stream, overwrite=overwrite, dry_run=dry_run, limits=limits)
    for warning in done.warnings:
        warn(warning)
    reply = {"added": len(done.added), "replaced": list(done.replaced), "same": len(done.same), "dry_run": dry_run}
    answer(
        reply | {"size": done.size, "warnings": list(done.warnings)}, lambda: _show_archive(done, dry_run, overwrite)
    )


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == _HERE:
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


def _show_archive(done: Imported, dry_run: bool, overwrite: bool) -> None:
    for path in done.replaced:
        say(f"differs: {path}")
    last = f"{len(done.replaced)} {'replaced' if overwrite else 'in the way (--overwrite replaces them)'}"
    counts = [f"{len(done.added)} added", f"{len(done.same)} here already", *([last] if done.replaced else [])]
    say(f"{'Would be: ' if dry_run else ''}{', '.join(counts)}.")


def _import_other(source: str, kind: str, size: int | None, *, dry_run: bool, again: bool) -> None:
    from ...importers import Limits, import_source

    if source == _HERE:
        raise InvalidArgument(f"only an archive comes from standard input: give the name of a file or folder of {kind}")
    limits = Limits() if size is None else Limits(size, size)
    home = open_home()
    said = bool(options().get("agent"))
    with Bar() as bar:
        known, done = import_source(
            home, source, kind, said_agent=said, dry_run=dry_run, again=again, limits=limits, progress=bar.show
        )
        if not dry_run and (done.added or done.updated):
            _index(home, bar)
    for warning in done.warnings:
        warn(warning)
    reply = {
        "kind": known.name,
        "added": list(done.added),
        "updated": list(done.updated),
        "same": len(done.same),
        "beside": [{"path": path, "because": other} for path, other in done.beside],
        "kept": [{"path": path, "why": why} for path, why in done.kept],
        "not_understood": [{"what": what, "why": why} for what, why in done.missed],
        "dry_run": dry_run,
        "warnings": list(done.warnings),
    }
    answer(reply, lambda: _show(known, done, dry_run, home))


def _index(home: Home, bar: Bar) -> None:
    """Bring the index up to date, once. What came is safe already: what can not be indexed now waits."""
    try:
        home.build_index(bar.show)
    except CommonplaceError as error:
        warn(f"the index is not up to date, the next search brings it there: {error}")


def _show(kind: Kind, done: Brought, dry_run: bool, home: Home) -> None:
    sorts = dict(done.sorts)
    parts = [f"{count} {_SORTS[sort].format('s' * (count != 1))}" for sort, count in sorts.items()]
    parts = parts or ["nothing new" if done.same or done.updated or done.kept else "nothing that was understood"]
    parts += [f"{len(done.updated)} brought up to date"] if done.updated else []
    parts += [f"{len(done.same)} here already"] if done.same else []
    say(f"{'Would be from' if dry_run else 'From'} {kind.what}: {', '.join(parts)}.")
    folders = Counter(_folder(path) for path in done.added).most_common()
    for folder, count in folders[:_SHOWN]:
        say(f"  {count} in {folder}")
    if folders[_SHOWN:]:
        say(f"  {sum(count for _, count in folders[_SHOWN:])} in other folders (--json lists all)")
    _list("Beside what stands here", [f"{path} (not {other})" for path, other in done.beside])
    _list("Left as it is here", [f"{path}: {why}" for path, why in done.kept])
    _list("Not understood, or left out", [f"{what}: {why}" for what, why in done.missed])
    if sorts.get("session") and not home.search_settings.index_sessions:
        file = os.path.join(home.storage.folder, FILE)
        say(f"Sessions are searched once {file} says `memorySearch: {{indexSessions: true}}`.")
    if (done.added or done.updated) and not dry_run:
        say("`commonplace undo` takes all of it back.")


def _folder(path: str) -> str:
    """Where a page went, without what is only its own."""
    parts = path.split("/")[:-1]
    return "/".join(parts[:4]) + "/" if parts else "."


def _list(title: str, sentences: list[str]) -> None:
    if sentences:
        say(f"{title}: {len(sentences)}")
        for sentence in sentences[:_SHOWN]:
            say(f"  {sentence}")
        if sentences[_SHOWN:]:
            say(f"  and {len(sentences) - _SHOWN} more (--json lists all)")


def _open_in_place(source: str, kind: str, *, dry_run: bool) -> None:
    from ...importers import open_in_place

    known, home, made = open_in_place(source, kind, dry_run=dry_run)
    said: dict[str, Any] = {"kind": known.name, "home": home, "created": made, "dry_run": dry_run}
    done = "would open where it is" if dry_run else "opens where it is now"
    done = done if made else "opens where it is already"
    answer(said, lambda: say(f"{known.what[0].upper()}{known.what[1:]} {done}: commonplace --home {home} status"))
