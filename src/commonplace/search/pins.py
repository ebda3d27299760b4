"""Pins: notes that are bound to files of the repository that a memory lies in, and whether these changed since.

A pin names a file, or a symbol in it, and has a hash of what it was: `<!-- pinned: src/auth.py::login 3f9a… -->` at the
end of the pinned line, or as the last line of a page that is pinned as a whole; or `pinned:` in front matter. A link to
a file (`[auth](../src/auth.py)`) is a pin without a hash. Only the hash of a file is kept. Whoever can write a
note can write a pin, so its result is shown only to the owner of the memory (`Home.repository`).
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from ..caching import ByteCache
from ..errors import CommonplaceError, InvalidArgument, NotAvailable, NotFound, Refused
from ..formats import frontmatter
from ..formats.blocks import find_annotated_lines
from ..git_branches import find_repository_root, is_repository
from ..patterns import lazy_pattern
from ..storage.base import ACCESS_FOLDER, HISTORY_FOLDER
from ..storage.files import CAN_OPEN_FOLDERS, NO_FOLLOW, READ_FLAGS, open_folder_below

_HASH_DIGITS = 16
_MAX_FILE_BYTES = 4_000_000  # of a file that are compared
_MAX_SYMBOL_FILE_BYTES = 1_000_000  # of a file in which symbols are looked for
_MAX_PINS = 20  # of one passage that are looked at
_MAX_CHECK_PINS = 400  # of all passages of one search
_MAX_CHECK_BYTES = 8_000_000  # that are read and looked through for one search
_HASH_CACHE_BYTES = 1_000_000
_MEMORY_ENTRIES = ("commonplace.yaml", HISTORY_FOLDER, ACCESS_FOLDER)  # a folder with one of them is a memory
_COMMENT = lazy_pattern(r"<!-- pinned: (?P<target>\S{1,300})(?: (?P<hash>[0-9a-f]{16}))? -->")
_ITEM = lazy_pattern(r"(?P<target>\S{1,300})(?: (?P<hash>[0-9a-f]{16}))?")
_LINK = lazy_pattern(r"\]\((?P<target>[^()\s]+)\)")
_DEFINITION = (
    r"^(?P<indent>[ \t]*)(?:[\w@]+[ \t]+)*?"
    r"(?:def|class|function|fn|func|interface|struct|enum|type|const|let|var|trait|module|sub|val)[ \t]+{0}\b"
    r"|^(?P<other>[ \t]*){0}[ \t]*(?:[=:(]|\bfunction\b)"
)


class Pin(NamedTuple):
    """A file of the repository by its path there, perhaps a symbol in it, and the hash that it had; empty: a link."""

    path: str
    symbol: str = ""
    fingerprint: str = ""

    @property
    def target(self) -> str:
        return f"{self.path}::{self.symbol}" if self.symbol else self.path

    def __str__(self) -> str:
        return f"{self.target} {self.fingerprint}".rstrip()


class PlacedPin(NamedTuple):
    """A pin, and the line of a text, counted from 0, that it is about; None: the whole page."""

    line: int | None
    pin: Pin


class FileKey(NamedTuple):
    """Metadata that shows whether a file changed, without reading it."""

    inode: int
    size: int
    modified_ns: int


class Repository:
    """The git repository whose files can be pinned. Links are never followed, nothing outside it is read, and
    nothing of a memory: neither of this one, nor of another that is in it."""

    def __init__(self, root: str, home: str) -> None:
        """Open a folder; `home` is the place of the memory in it."""
        self.root = root
        self._home = home
        # By path and symbol; an empty hash: no such symbol.
        self._known: ByteCache[tuple[str, str], tuple[FileKey, str]] = ByteCache("hashes of pins", _HASH_CACHE_BYTES)

    def folder_of(self, page: str) -> str:
        """Return the folder of a page, from the root: links on it are relative to that."""
        return posixpath.join(self._home, posixpath.dirname(page))

    def fingerprint(self, path: str, symbol: str = "") -> str:
        """Return the hash of a file, or of the lines of a symbol; NotFound if there is no such file or symbol,
        Refused if it belongs to a memory."""
        return PinCheck(self).fingerprint(path, symbol)

    def find_known(self, path: str, symbol: str, key: FileKey) -> str | None:
        """Return a hash that was made of the file as it is; empty if it had no such symbol, None if it is not known."""
        known = self._known.get((path, symbol))
        return known[1] if known and known[0] == key else None

    def note_known(self, path: str, symbol: str, key: FileKey, digest: str) -> None:
        self._known.put((path, symbol), (key, digest))

    def open_file(self, path: str) -> int:
        """Open a file one folder at a time."""
        *folders, name = path.split("/")
        if not CAN_OPEN_FOLDERS:
            return self._open_by_path(path)
        own = os.stat(os.path.join(self.root, self._home))
        try:
            handle = open_folder_below(self.root, folders, inspect=partial(_refuse_memory, own=own, path=path))
            try:
                return os.open(name, READ_FLAGS | NO_FOLLOW, dir_fd=handle)
            finally:
                os.close(handle)
        except PermissionError:
            raise
        except OSError as error:
            raise NotFound(f"there is no file {path} in {self.root}") from error

    def _open_by_path(self, path: str) -> int:
        """Open a file where folders cannot be opened, on Windows."""
        whole = os.path.normpath(os.path.join(self.root, path))
        if os.path.realpath(whole) != whole:
            raise NotFound(f"{path} lies behind a link")
        own = os.stat(os.path.join(self.root, self._home))
        folder = os.path.dirname(whole)
        while len(folder) >= len(self.root):
            if os.path.isdir(folder):
                _refuse_memory(folder, own, path)
            folder = os.path.dirname(folder)
        try:
            return os.open(whole, READ_FLAGS)
        except FileNotFoundError as error:
            raise NotFound(f"there is no file {path} in {self.root}") from error


def _refuse_memory(folder: int | str, own: os.stat_result, path: str) -> None:
    """Raise Refused for a folder, by its handle or its path, that is a memory: pins must not reveal pages."""
    is_own = os.path.samestat(os.stat(folder), own)
    if is_own or any(_has_entry(folder, name) for name in _MEMORY_ENTRIES):
        raise Refused(f"{path} belongs to a memory: notes are pinned to files of the repository outside of it")


def _has_entry(folder: int | str, name: str) -> bool:
    try:
        if isinstance(folder, str):
            os.lstat(os.path.join(folder, name))
        else:
            os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


class PinCheck:
    """Checks pinned files for one search or one page: each file is read once, up to a limit in all.

    What is beyond the limit counts as unchanged."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._keys: dict[str, FileKey | NotFound | Refused] = {}
        self._contents: dict[str, bytes] = {}
        self._lines: dict[str, list[str]] = {}
        self._bytes_left = _MAX_CHECK_BYTES
        self._pins_left = _MAX_CHECK_PINS

    def folder_of(self, page: str) -> str:
        return self._repository.folder_of(page)

    def describe_change(self, pin: Pin) -> str:
        """Return what happened to a pinned file since: `src/auth.py changed since`; empty if nothing did."""
        self._pins_left -= 1
        if self._pins_left < 0:
            return ""
        try:
            now = self.fingerprint(pin.path, pin.symbol)
        except NotFound:
            return f"{pin.target} no longer exists"
        except (InvalidArgument, NotAvailable, Refused, OSError):
            return ""
        return f"{pin.target} changed since" if pin.fingerprint and now != pin.fingerprint else ""

    def fingerprint(self, path: str, symbol: str = "") -> str:
        """Return the hash of a file, or of the lines of a symbol; NotFound if there is no such file or symbol."""
        key = self._find_key(path)
        digest = self._repository.find_known(path, symbol, key)
        if digest is None:
            data = self._read(path)
            digest = self._hash_symbol(path, symbol, data) if symbol else _hash(data)
            self._repository.note_known(path, symbol, self._find_key(path), digest)
        if not digest:
            raise NotFound(f"{path} has no {symbol}")
        return digest

    def _find_key(self, path: str) -> FileKey:
        if path not in self._keys:
            try:
                handle = self._repository.open_file(path)
                try:
                    self._keys[path] = _make_key(os.fstat(handle), path)
                finally:
                    os.close(handle)
            except (NotFound, Refused) as error:
                self._keys[path] = error
        key = self._keys[path]
        if not isinstance(key, FileKey):
            raise key
        return key

    def _read(self, path: str) -> bytes:
        """Return the start of a file, and remember which state of the file that is."""
        if path not in self._contents:
            self._spend(min(self._find_key(path).size, _MAX_FILE_BYTES))
            with os.fdopen(self._repository.open_file(path), "rb") as file:
                self._keys[path] = _make_key(os.fstat(file.fileno()), path)
                self._contents[path] = file.read(_MAX_FILE_BYTES)
        return self._contents[path]

    def _hash_symbol(self, path: str, symbol: str, data: bytes) -> str:
        """Return the hash of a definition; empty if there is none."""
        if len(data) > _MAX_SYMBOL_FILE_BYTES:
            raise InvalidArgument(f"{path} is too large to find {symbol} in it: pin the whole file")
        if path not in self._lines:
            self._lines[path] = data.decode("utf-8", "replace").splitlines()
        name = symbol.rpartition(".")[2]
        if name.encode() not in data:
            return ""
        self._spend(len(data))
        definition = _find_symbol(self._lines[path], name)
        return _hash(definition.encode()) if definition else ""

    def _spend(self, count: int) -> None:
        if count > self._bytes_left:
            raise NotAvailable("there are too many pinned files to check them all at once")
        self._bytes_left -= count


def _make_key(info: os.stat_result, path: str) -> FileKey:
    if not stat.S_ISREG(info.st_mode):
        raise NotFound(f"{path} is not a file")
    return FileKey(info.st_ino, info.st_size, info.st_mtime_ns)


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=_HASH_DIGITS // 2).hexdigest()


def _find_symbol(lines: Sequence[str], name: str) -> str:
    """Return the lines of a definition: its first one and those that are indented deeper, up to a closing bracket;
    empty if there is none."""
    pattern = re.compile(_DEFINITION.format(re.escape(name)))
    for number, line in enumerate(lines):
        if name in line and (match := pattern.match(line)):
            indent = len((match["indent"] or match["other"] or "").expandtabs())
            return "\n".join([line.rstrip(), *_take_body(islice(lines, number + 1, None), indent)]).rstrip()
    return ""


def _take_body(lines: Iterable[str], indent: int) -> Iterator[str]:
    for line in lines:
        expanded = line.expandtabs()
        depth = len(expanded) - len(expanded.lstrip())
        if line.strip() and depth <= indent:
            if line.strip()[0] in "})]":
                yield line.rstrip()
            return
        yield line.rstrip()


def find_repository(folder: str) -> Repository | None:
    """Return the git repository that a memory is in; None if it is in none, or if the memory itself is a repository.

    A memory called .commonplace may be one and still be in another: the one in the folder above it.
    """
    if not folder:
        return None
    home = os.path.realpath(folder)
    root: str | None = os.path.dirname(home)
    if not is_repository(home):
        root = find_repository_root(os.path.dirname(home))
    elif os.path.basename(home) != ".commonplace" or not is_repository(os.path.dirname(home)):
        root = None
    if root is None:
        return None
    return Repository(root, os.path.relpath(home, root).replace(os.sep, "/"))


def parse_target(text: str) -> Pin:
    """Return the pin of a file, `src/auth.py` or `src/auth.py::login`; InvalidArgument for a path that leads out, or
    to what is hidden."""
    path, separator, symbol = text.strip().partition("::")
    clean = posixpath.normpath(path.replace(os.sep, "/"))
    is_hidden = any(part.startswith(".") for part in clean.split("/"))  # also `..`: pins must not reveal key files
    if not path or posixpath.isabs(clean) or is_hidden or re.search(r"[\s\0]|-->", text.strip()):
        raise InvalidArgument(f"{text!r} is not a file of the repository: name it from its root, like src/auth.py")
    if separator and not symbol.strip():
        raise InvalidArgument(f"{text!r} names no symbol after `::`: name one, like {path}::login, or leave out `::`")
    return Pin(clean, symbol.strip())


def find_pins(text: str, fields: Iterable[str] = (), folder: str = "") -> list[Pin]:
    """Return the pins in a text, in the `pinned` of front matter, and its links, which are relative to `folder`."""
    named = [match for item in fields if (match := _ITEM.fullmatch(item))]
    pins = [_make_pin(match["target"], match["hash"] or "") for match in named]
    every = [*filter(None, pins), *(placed.pin for placed in find_placed_pins(text, folder))]
    return list(dict.fromkeys(every))[:_MAX_PINS]


def find_placed_pins(text: str, folder: str) -> list[PlacedPin]:
    """Return the pins in a text with the lines that they are about."""
    pins: list[PlacedPin] = []
    if "<!-- pinned:" in text:
        pins += [PlacedPin(about, pin) for about, line in find_annotated_lines(text) for pin in _read_pins(line)]
    if "](" in text:
        pins += [
            PlacedPin(number, pin)
            for number, line in enumerate(text.split("\n"))
            for target in _LINK.findall(line)
            if _is_local(target) and (pin := _make_pin(posixpath.join(folder, target)))
        ]
    return pins[:_MAX_PINS]


def _read_pins(line: str) -> Iterator[Pin]:
    for match in _COMMENT.finditer(line):
        if pin := _make_pin(match["target"], match["hash"] or ""):
            yield pin


def _make_pin(target: str, fingerprint: str = "") -> Pin | None:
    try:
        return parse_target(target)._replace(fingerprint=fingerprint)
    except InvalidArgument:
        return None


def _is_local(target: str) -> bool:
    """Return whether a link leads to a file that is no page: not to an address, an anchor, or a note."""
    return (
        "." in posixpath.basename(target)
        and not re.match(r"[a-zA-Z][\w+.-]*:|#|/", target)
        and not re.search(r"\.(?:md|jsonl)(?:#.*)?$", target)
    )


def read_pinned(head: str) -> list[str]:
    """Return the files that the front matter of a page names under `pinned`."""
    if "pinned" not in head:
        return []
    try:
        value = frontmatter.parse(head).get("pinned", [])
    except CommonplaceError:
        return []
    return [value] if isinstance(value, str) else [str(item) for item in value] if isinstance(value, list) else []
