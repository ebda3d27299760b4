"""What an import brought, and as what: so that a second one knows what a person changed or removed since.

A line each, of two hashes: what it was and where it went, and the version that was written. Nothing of what it says,
nor of its name. It stands beside the pages, not in them: a page has exactly the bytes it came with. Who deletes it
loses no more than the difference between a page that was edited and one that was here before. (In a database they are
rows: `in_rows`.)
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress

from ..storage.files import APPEND_FLAGS, make_folders, read_bytes_or_none, storage_errors, write_all, write_file

FOLDER = ".imports"


class Receipts:
    """What is known of items of one kind."""

    def __init__(self, kind: str, known: dict[str, str]) -> None:
        self._kind, self._known = kind, known

    def version(self, item: str, path: str) -> str:
        """As what an item was written to a path; empty when it never was."""
        return self._known.get(self._key(item, path), "")

    def fresh(self, written: Iterable[tuple[str, str, str]]) -> dict[str, str]:
        """Of items, the paths they went to and the versions they had: the lines that are not known yet."""
        lines = ((self._key(item, path), version) for item, path, version in written)
        return {key: version for key, version in lines if self._known.get(key) != version}

    def _key(self, item: str, path: str) -> str:
        return _hash(self._kind, item, path)


class FileReceipts(Receipts):
    """Kept in a folder beside the pages."""

    def __init__(self, folder: str, kind: str) -> None:
        self._folder = folder
        with storage_errors(FOLDER):
            super().__init__(kind, dict(_lines(read_bytes_or_none(self._file, FOLDER) or b"")))

    @property
    def _file(self) -> str:
        return os.path.join(self._folder, "receipts")

    def add(self, written: Iterable[tuple[str, str, str]]) -> None:
        """After they are in place, never before."""
        new = self.fresh(written)
        if not new:
            return
        with storage_errors(FOLDER):
            make_folders(self._folder)
            handle = os.open(self._file, APPEND_FLAGS, 0o600)
            try:
                write_all(handle, "".join(f"\n{key} {version}\n" for key, version in new.items()).encode())
            finally:
                os.close(handle)
        self._known |= new

    def begin(self, source: str) -> str:
        """What all changes of one import have in common. One that was interrupted goes on as the same import."""
        path = self._mark(source)
        call = (read_bytes_or_none(path, FOLDER) or b"").decode("ascii", "ignore")
        if not call.isalnum():
            call = os.urandom(5).hex()
            with storage_errors(FOLDER):
                make_folders(self._folder)
                write_file(path, call.encode())
        return call

    def end(self, source: str) -> None:
        with suppress(OSError):
            os.unlink(self._mark(source))

    def _mark(self, source: str) -> str:
        return os.path.join(self._folder, f"unfinished-{_hash(self._kind, source)}")


def _hash(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _lines(data: bytes) -> Iterable[tuple[str, str]]:
    """Those that are whole; a line that was cut off stands between two line breaks and spoils no other."""
    for line in data.decode("ascii", "ignore").split("\n"):
        key, _, version = line.partition(" ")
        if len(key) == len(version) == 32:
            yield key, version
