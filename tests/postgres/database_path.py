"""A home in a database that tests handle as if it were a folder: what they write by hand is another machine's write."""

from __future__ import annotations

import fnmatch
import io
import posixpath
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from commonplace.errors import PageNotFound
from commonplace.storage.files import PRIVATE_FILE_MODE
from commonplace.storage.history import format_line
from commonplace.storage.postgres.bulk import MICROSECONDS, read_history_files
from commonplace.storage.postgres.pages import PostgresPages

from .writer import pages_at


class DatabasePath:
    """A page or a folder of a home, with as much of `pathlib.Path` as tests ask for."""

    def __init__(self, url: str, pages: PostgresPages, path: str = "", around: Around | None = None) -> None:
        self._url, self._pages, self.path, self.around = url, pages, path, around

    def __fspath__(self) -> str:
        assert not self.path, f"{self.path} is a row of a database: no file system knows it"
        return self._url

    def __str__(self) -> str:
        return f"{self._url}/{self.path}" if self._url and self.path else self._url or self.path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DatabasePath) and str(self) == str(other)

    def __lt__(self, other: DatabasePath) -> bool:
        return self.path < other.path

    def __hash__(self) -> int:
        return hash(str(self))

    def __truediv__(self, name: str | DatabasePath) -> DatabasePath:
        below = name.path if isinstance(name, DatabasePath) else name
        return DatabasePath(self._url, self._pages, posixpath.join(self.path, below), self.around)

    @property
    def name(self) -> str:
        return posixpath.basename(self.path)

    @property
    def suffix(self) -> str:
        return posixpath.splitext(self.path)[1]

    @property
    def parent(self) -> Any:
        if not self.path and self.around:
            return self.around
        return DatabasePath(self._url, self._pages, posixpath.dirname(self.path), self.around)

    def relative_to(self, other: DatabasePath) -> DatabasePath:
        return DatabasePath("", self._pages, posixpath.relpath(self.path, other.path or "."))

    def as_posix(self) -> str:
        return self.path

    def mkdir(self, mode: int = 0o777, *, parents: bool = False, exist_ok: bool = False) -> None:
        """A folder is there when a page is in it."""

    def chmod(self, mode: int) -> None:
        """Who may read what, the database says."""

    def read_text(self, encoding: str = "utf-8") -> str:
        try:
            return self._pages.read(self.path).text
        except PageNotFound as error:
            raise FileNotFoundError(self.path) from error

    def read_bytes(self) -> bytes:
        data = self._pages.read_bytes(self.path)
        if data is None:
            raise FileNotFoundError(self.path)
        return data

    def write_text(self, text: str, encoding: str = "utf-8", newline: str | None = None) -> None:
        self._pages.write(self.path, text)

    def write_bytes(self, data: bytes) -> None:
        self._pages.change_bytes(self.path, lambda old: data)  # also what is not text

    def written_at(self, nanoseconds: int) -> None:
        """Give a page another time."""
        when = "timestamptz 'epoch' + %s * interval '1 microsecond'"
        with self._pages._database.transaction() as connection:
            connection.execute(
                f"UPDATE commonplace.pages SET written_at = {when} WHERE path = %s", (nanoseconds // 1000, self.path)
            )

    def files(self, *, history: bool) -> dict[str, tuple[bytes, int, int]]:
        """Every page of a home as a file, with its rights and its time; and history as a folder keeps it."""
        database, result = self._pages._database, {}
        with database.transaction() as connection:
            question = f"SELECT path, data, {MICROSECONDS} FROM commonplace.pages WHERE data IS NOT NULL ORDER BY path"
            for path, data, modified in connection.execute(question):
                result[path] = data, PRIVATE_FILE_MODE, modified * 1000
            for path, lines in read_history_files(connection, database.tenant) if history else ():
                result[path] = b"".join(map(format_line, lines)), PRIVATE_FILE_MODE, 0
        return result

    def stat(self) -> SimpleNamespace:
        _, mode, modified = self.files(history=False)[self.path]
        return SimpleNamespace(st_mode=mode, st_mtime_ns=modified, st_mtime=modified / 1e9)

    def symlink_to(self, target: str) -> None:
        """A database has no links: nothing is there."""

    def rename(self, new: DatabasePath) -> None:
        new.write_text(self.read_text())
        self.unlink()

    def unlink(self) -> None:
        self._pages.remove(self.path)

    def exists(self) -> bool:
        return self.path in self._below("") or bool(self._below(self.path))

    def is_dir(self) -> bool:
        """A folder of which nothing is asked but that it is there, is."""
        return not self.is_file()

    def is_file(self) -> bool:
        return self.path in self._below("")

    @contextmanager
    def open(self, mode: str = "r", encoding: str = "utf-8") -> Iterator[io.StringIO]:
        """To add to it."""
        assert mode == "a"
        added = io.StringIO()
        yield added
        self._pages.append(self.path, added.getvalue())

    def rglob(self, pattern: str) -> list[DatabasePath]:
        paths = {path for path in self._below(self.path) if fnmatch.fnmatch(posixpath.basename(path), pattern)}
        return [DatabasePath(self._url, self._pages, path) for path in sorted(paths)]

    def glob(self, pattern: str) -> list[DatabasePath]:
        result = [self]
        for part in pattern.split("/"):
            result = [below for each in result for below in each.iterdir() if fnmatch.fnmatch(below.name, part)]
        return result

    def iterdir(self) -> list[DatabasePath]:
        below = len(self.path) + 1 if self.path else 0
        names = {path[below:].partition("/")[0] for path in self._below(self.path)}
        return [self / name for name in sorted(names)]

    def _below(self, folder: str) -> list[str]:
        every = self.files(history=False)
        return [path for path in every if not folder or path.startswith(f"{folder}/")]


class Around:
    """What a home lies in: other homes beside it, by their names."""

    def __init__(self, homes: Homes) -> None:
        self._homes, self._named = homes, dict[str, DatabasePath]()

    def __truediv__(self, name: str) -> DatabasePath:
        if name not in self._named:
            self._named[name] = self._homes.new(self)
        return self._named[name]

    def rglob(self, pattern: str) -> list[DatabasePath]:
        return [path for home in self._named.values() for path in home.rglob(pattern)]


class Homes:
    """New homes in one database, each a tenant of its own."""

    def __init__(self, url: str) -> None:
        self._url = url

    def new(self, around: Around | None = None) -> DatabasePath:
        url = f"{self._url}{'&' if '?' in self._url else '?'}tenant={secrets.token_hex(6)}"
        return DatabasePath(url, pages_at(url)[1], "", around)

    def one(self) -> DatabasePath:
        """A home with a name, which has others beside it."""
        return Around(self) / "home"
