"""A home in a database that tests handle as if it were a folder: what they write by hand is another machine's write."""

from __future__ import annotations

import fnmatch
import io
import posixpath
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from commonplace.errors import PageNotFound
from commonplace.pages.postgres import PostgresPages

from .writer import pages_at


class Place:
    """A page or a folder of a home, with as much of `pathlib.Path` as tests ask for."""

    def __init__(self, url: str, pages: PostgresPages, path: str = "") -> None:
        self._url, self._pages, self.path = url, pages, path

    def __fspath__(self) -> str:
        assert not self.path, f"{self.path} is a row of a database: no file system knows it"
        return self._url

    def __str__(self) -> str:
        return f"{self._url}/{self.path}" if self.path else self._url

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and str(self) == str(other)

    def __lt__(self, other: Place) -> bool:
        return self.path < other.path

    def __hash__(self) -> int:
        return hash(str(self))

    def __truediv__(self, name: str | Place) -> Place:
        below = name.path if isinstance(name, Place) else name
        return Place(self._url, self._pages, posixpath.join(self.path, below))

    @property
    def name(self) -> str:
        return posixpath.basename(self.path)

    @property
    def suffix(self) -> str:
        return posixpath.splitext(self.path)[1]

    @property
    def parent(self) -> Place:
        return Place(self._url, self._pages, posixpath.dirname(self.path))

    def relative_to(self, other: Place) -> Place:
        return Place("", self._pages, posixpath.relpath(self.path, other.path or "."))

    def as_posix(self) -> str:
        return self.path

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """A folder is there when a page is in it."""

    def read_text(self, encoding: str = "utf-8") -> str:
        try:
            return self._pages.read(self.path).text
        except PageNotFound as error:
            raise FileNotFoundError(self.path) from error

    def read_bytes(self) -> bytes:
        return self.read_text().encode()

    def write_text(self, text: str, encoding: str = "utf-8", newline: str | None = None) -> None:
        self._pages.write(self.path, text)

    def write_bytes(self, data: bytes) -> None:
        self._pages._change(self.path, lambda old: data)  # also what is not text

    def symlink_to(self, target: str) -> None:
        """A database has no links: nothing is there."""

    def rename(self, new: Place) -> None:
        new.write_text(self.read_text())
        self.unlink()

    def unlink(self) -> None:
        self._pages.remove(self.path)

    def exists(self) -> bool:
        return self.path in self._below("") or bool(self._below(self.path))

    def is_file(self) -> bool:
        return self.path in self._below("")

    @contextmanager
    def open(self, mode: str = "r", encoding: str = "utf-8") -> Iterator[io.StringIO]:
        """To add to it."""
        assert mode == "a"
        added = io.StringIO()
        yield added
        self._pages.append(self.path, added.getvalue())

    def rglob(self, pattern: str) -> list[Place]:
        found = {path for path in self._below(self.path) if fnmatch.fnmatch(posixpath.basename(path), pattern)}
        return [Place(self._url, self._pages, path) for path in sorted(found)]

    def glob(self, pattern: str) -> list[Place]:
        found = [self]
        for part in pattern.split("/"):
            found = [below for each in found for below in each.iterdir() if fnmatch.fnmatch(below.name, part)]
        return found

    def iterdir(self) -> list[Place]:
        below = len(self.path) + 1 if self.path else 0
        names = {path[below:].partition("/")[0] for path in self._below(self.path)}
        return [self / name for name in sorted(names)]

    def _below(self, folder: str) -> list[str]:
        every = self._pages.changed_since(0).changed
        return [path for path in every if not folder or path.startswith(f"{folder}/")]


class Homes:
    """New homes in one database, each a tenant of its own."""

    def __init__(self, url: str) -> None:
        self._url = url

    def new(self) -> Place:
        url = f"{self._url}{'&' if '?' in self._url else '?'}tenant={secrets.token_hex(6)}"
        return Place(url, pages_at(url)[1])
