"""HOW DO I TAKE IT WITH ME? All of memory in one file, as it was at one moment, and back, byte for byte.

export_to(home, stream)       a tar, or JSON lines; while others write
export_file(home, path)       the same, as a file that is there once it is whole
import_from(home, stream)     either of them; nothing is written unless all of it is good
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import BinaryIO, NamedTuple

from ...errors import Conflict, Refused, StorageError
from ...home import Home
from ...settings import INTERNAL_FOLDERS
from ...storage.files import open_atomic, remove_leftovers
from ...storage.postgres.backend import PostgresStorage
from .reader import Limits, receive
from .restore import carry_out, plan
from .scope import extent, holds
from .snapshot import Snapshot, one_moment
from .spool import Spool
from .writer import FORMATS, Format, write

__all__ = ["FORMATS", "Exported", "Format", "Imported", "Limits", "export_file", "export_to", "import_from"]


class Exported(NamedTuple):
    """`size`: bytes of all files together. `held`: for how many seconds writers had to wait."""

    files: int
    size: int
    held: float
    warnings: tuple[str, ...]


class Imported(NamedTuple):
    """Paths, except for `size`, the bytes of all files together. Nothing of it is done when it was a dry run."""

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
) -> Exported:
    """Write all of memory, as it was at one moment, to a stream."""
    home.check()
    with _moment(home, history=history) as taken:
        write(taken, stream, format, compress=compress)
        size = sum(item.size for item in taken.items.values())
        return Exported(len(taken.items), size, taken.held, taken.warnings)


def export_file(
    home: Home,
    path: str,
    format: Format | None = None,  # noqa: A002
    *,
    history: bool = False,
    force: bool = False,
) -> Exported:
    """Write all of memory to a file, which is there when it is whole. Its name says what is not said otherwise."""
    if home.storage.folder:
        _refuse_inside(home, path)
    if os.path.isdir(path):
        raise Conflict(f"{path} is a folder: give the name of a file")
    if not force and os.path.lexists(path):
        raise Conflict(f"{path} exists already: give another name, or --force to replace it")
    plain = path.lower().removesuffix(".gz")
    chosen: Format = format or ("jsonl" if plain.endswith(".jsonl") else "tar")
    remove_leftovers(path)
    try:
        with open_atomic(path, replace=force) as file:
            return export_to(home, file, chosen, history=history, compress=path.lower().endswith((".gz", ".tgz")))
    except FileExistsError as error:
        raise Conflict(f"{path} was made by somebody else meanwhile: give another name") from error
    except OSError as error:
        raise StorageError(f"{path} can not be written: {error.strerror or error}") from error


def _moment(home: Home, *, history: bool) -> AbstractContextManager[Snapshot]:
    if isinstance(home.storage, PostgresStorage):
        from . import snapshot_postgres as rows

        return rows.one_moment(home, home.storage, history=history)
    return one_moment(home, history=history)


def _refuse_inside(home: Home, path: str) -> None:
    """A backup among the pages would be part of the next one."""
    folder, name = os.path.split(os.path.abspath(path))
    top, place = os.path.realpath(home.root), os.path.join(os.path.realpath(folder), name)
    if not place.startswith(top + os.sep):
        return
    inside = os.path.relpath(place, top).replace(os.sep, "/")
    if inside.split("/")[0] in INTERNAL_FOLDERS or holds(extent(home, history=True), inside):
        raise Refused(f"{path} lies among the pages of this memory: choose a place outside of it")


def import_from(
    home: Home, stream: BinaryIO, *, overwrite: bool = False, dry_run: bool = False, limits: Limits | None = None
) -> Imported:
    """Put an archive of either format into a home. Conflict, and nothing written, when a page differs from one here.

    With `overwrite` the archive's pages win, and history keeps what stood there. Open the home anew afterwards when the
    archive may have brought settings.
    """
    home.check()
    with Spool() as spool:
        items = receive(stream, spool, limits or Limits())
        steps = plan(home, items, spool)
        told = [] if dry_run else carry_out(home, steps, items, spool, overwrite=overwrite)
        size = sum(item.size for item in items.values())
        return Imported(steps.new, steps.different, steps.same, size, (*steps.warnings, *told))
