"""The command that carries a memory elsewhere: export. (What brings one in is in `importing`.)"""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from typing import Any

import click

from ...errors import InvalidArgument, NotFound, StorageError
from ...home import Home
from ...maintenance.backup import FORMATS, Exported, Format, export_file, export_to
from ...storage.backends import in_database
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
    if not in_database(home) and not os.path.isdir(home):
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


def _tell(done: Exported) -> None:
    for warning in done.warnings:
        warn(warning)
