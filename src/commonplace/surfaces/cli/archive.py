"""The commands that carry a memory elsewhere and back: export and import."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, BinaryIO

import click

from ...archive import FORMATS, Exported, Format, Imported, Limits, export_file, export_to, import_from
from ...errors import InvalidArgument, NotFound, StorageError
from ...home import Home
from .common import answer, home_path, open_home, refuse_file, say, shared, warn

_HERE = "-"


@click.command("export")
@click.argument("file", required=False)
@click.option("--format", type=click.Choice([*FORMATS]), help="What to write (default: what FILE ends in, else tar).")
@click.option("--history", is_flag=True, help="With the earlier versions of all pages.")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@shared
def export_command(file: str | None, format: Format | None, history: bool, force: bool) -> None:  # noqa: A002
    """Write all of memory into FILE: every agent's pages, skills, sessions and settings, as of one moment.

    A FILE that ends in .gz or .tgz is compressed. With -, or on a pipe, it goes to standard output.
    """
    home = _standing_home()
    if file is None and sys.stdout.isatty():
        raise InvalidArgument("give the name of a file, like backup.tar.gz, or send the output somewhere")
    if file in (None, _HERE) or _is_channel(str(file)):
        _tell(_streamed(home, str(file or _HERE), format or "tar", history))
        return
    done = export_file(home, str(file), format, history=history, force=force)
    reply: dict[str, Any] = done._asdict() | {"file": os.path.abspath(str(file)), "warnings": list(done.warnings)}
    _tell(done)
    answer(reply, lambda: say(f"{done.files} files, {done.size:,} bytes, are in {file}."))


def _standing_home() -> Home:
    """The home that is meant, which is only read."""
    home = home_path()
    refuse_file(home)
    if not os.path.isdir(home):
        raise NotFound(f"there is no memory at {home}: name another one with --home")
    return open_home()


def _is_channel(file: str) -> bool:
    """Whether a name is a pipe or a device: bytes go through it, and it can not be replaced."""
    return os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file)


def _streamed(home: Home, file: str, format: Format, history: bool) -> Exported:  # noqa: A002
    try:
        with nullcontext(sys.stdout.buffer) if file == _HERE else open(file, "wb") as stream:
            done = export_to(home, stream, format, history=history)
            stream.flush()
            return done
    except BrokenPipeError as error:
        raise StorageError("whoever reads the archive stopped before its end: it is not whole") from error


def _tell(done: Exported | Imported) -> None:
    for warning in done.warnings:
        warn(warning)


@click.command("import")
@click.argument("file")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--overwrite", is_flag=True, help="Replace pages that differ; history keeps what they said.")
@click.option("--max-size", type=click.FloatRange(0, min_open=True), metavar="GB", help="What it may unpack to.")
@shared
def import_command(file: str, dry_run: bool, overwrite: bool, max_size: float | None) -> None:
    """Bring FILE, which export made, into this memory; - means standard input.

    New pages are added. If one differs from what stands here, nothing is written, unless with --overwrite.
    """
    refuse_file(home_path())
    size = None if max_size is None else int(max_size * (1 << 30))
    limits = Limits() if size is None else Limits(size, size)
    with _opened(file) as stream:
        done = import_from(open_home(), stream, overwrite=overwrite, dry_run=dry_run, limits=limits)
    _tell(done)
    reply = {"added": len(done.added), "replaced": list(done.replaced), "same": len(done.same), "dry_run": dry_run}
    answer(reply | {"size": done.size, "warnings": list(done.warnings)}, lambda: _show(done, dry_run, overwrite))


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


def _show(done: Imported, dry_run: bool, overwrite: bool) -> None:
    for path in done.replaced:
        say(f"differs: {path}")
    last = f"{len(done.replaced)} {'replaced' if overwrite else 'in the way (--overwrite replaces them)'}"
    counts = [f"{len(done.added)} added", f"{len(done.same)} here already", *([last] if done.replaced else [])]
    say(f"{'Would be: ' if dry_run else ''}{', '.join(counts)}.")
