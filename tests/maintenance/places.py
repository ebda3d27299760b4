"""Homes to carry around, and what is on disk in one, or in the rows of one that stands in a database."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any, NamedTuple

from commonplace.home import Home
from commonplace.maintenance.backup import ExportResult, ImportResult, export_to, import_from
from commonplace.maintenance.backup.archive import Format


class File(NamedTuple):
    data: bytes
    mode: int
    modified: int


def put(home: Any, path: str, data: str | bytes, mode: int = 0o600, modified: int = 1_700_000_000_123_456_789) -> Any:
    place = home / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data.encode() if isinstance(data, str) else data)
    if not isinstance(home, Path):
        place.written_at(modified)
        return place
    place.chmod(mode)
    os.utime(place, ns=(modified, modified))
    return place


def tree(home: Any, *, history: bool = False) -> dict[str, File]:
    """Return every file of a home that must not be lost."""
    if not isinstance(home, Path):
        return {path: File(*file) for path, file in home.files(history=history).items()}
    ours = {".index", ".locks", ".access"} | (set() if history else {".history"})
    result = {}
    for folder, folders, names in os.walk(home):
        folders[:] = [name for name in folders if name not in ours]
        for name in names:
            place = Path(folder) / name
            info = place.stat()
            result[str(place.relative_to(home))] = File(place.read_bytes(), info.st_mode & 0o777, info.st_mtime_ns)
    return result


def export_home(home: Any, format: Format = "tar", *, history: bool = False, compress: bool = False) -> bytes:
    return export(home, format, history=history, compress=compress)[0]


def export(
    home: Any, format: Format = "tar", *, history: bool = False, compress: bool = False
) -> tuple[bytes, ExportResult]:
    out = io.BytesIO()
    done = export_to(Home(str(home)), out, format, history=history, compress=compress)
    return out.getvalue(), done


def import_archive(
    home: Any, archive: bytes, *, overwrite: bool = False, dry_run: bool = False, take_settings: bool = False
) -> ImportResult:
    stream = io.BytesIO(archive)
    return import_from(Home(str(home)), stream, overwrite=overwrite, dry_run=dry_run, take_settings=take_settings)
