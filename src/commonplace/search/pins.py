"""Pins: notes that are bound to files of the repository that a memory lies in, and whether these changed since.

A pin names a file, or a symbol in it, and has a hash of what it was: `<!-- pinned: src/auth.py::login 3f9a… -->` at the
end of the pinned line, or as the last line of a page that is pinned as a whole; or `pinned:` in front matter. A link to
a file (`[auth](../src/auth.py)`) is a pin without a hash. Of a file nothing is kept but its hash.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..errors import InvalidArgument, NotFound
from ..formats.annotations import find_annotated_lines
from ..storage.files import CAN_OPEN_FOLDERS, NO_FOLLOW, READ_FLAGS, STEP_FLAGS

_HASH_DIGITS = 16
_MAX_FILE_BYTES = 4_000_000
_MAX_PINS = 20  # of one passage that are looked at
_COMMENT = re.compile(r"<!-- pinned: (?P<target>\S{1,300})(?: (?P<hash>[0-9a-f]{16}))? -->")
_ITEM = re.compile(r"(?P<target>\S{1,300})(?: (?P<hash>[0-9a-f]{16}))?")
_LINK = re.compile(r"\]\((?P<target>[^()\s]+)\)")
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


class Repository:
    """The folder whose files can be pinned. Links are followed at no step, and nothing outside of it is read."""

    def __init__(self, root: str, home: str = "") -> None:
        """Open a folder; `home` is where the memory lies in it."""
        self.root = root
        self._home = home
        self._known: dict[str, tuple[tuple[int, int, int], bytes]] = {}  # digests of whole files by their stat

    def folder_of(self, page: str) -> str:
        """Return the folder of a page, from the root: links on it are relative to that."""
        return posixpath.join(self._home, posixpath.dirname(page))

    def describe_change(self, pin: Pin) -> str:
        """Return what happened to a pinned file since: `src/auth.py changed since`; empty where nothing did."""
        try:
            now = self.fingerprint(pin.path, pin.symbol)
        except NotFound:
            return f"{pin.target} is gone"
        except OSError:
            return ""
        return f"{pin.target} changed since" if pin.fingerprint and now != pin.fingerprint else ""

    def fingerprint(self, path: str, symbol: str = "") -> str:
        """Return the hash of a file, or of the lines of a symbol; NotFound where there is no such file or symbol."""
        handle = self._open(path)
        try:
            info = os.fstat(handle)
            if not stat.S_ISREG(info.st_mode):
                raise NotFound(f"{path} is not a file")
            key = (info.st_ino, info.st_size, info.st_mtime_ns)
            known = self._known.get(f"{path}::{symbol}")
            if known and known[0] == key:
                digest = known[1]
            else:
                with os.fdopen(os.dup(handle), "rb") as file:
                    digest = _hash(file.read(_MAX_FILE_BYTES), symbol, path)
                self._known[f"{path}::{symbol}"] = (key, digest)
        finally:
            os.close(handle)
        return digest.hex()

    def _open(self, path: str) -> int:
        """Open a file one folder at a time."""
        *folders, name = path.split("/")
        if not CAN_OPEN_FOLDERS:
            whole = os.path.join(self.root, *folders, name)
            if os.path.realpath(whole) != os.path.normpath(whole):
                raise NotFound(f"{path} lies behind a link")
            return os.open(whole, READ_FLAGS)
        handle = os.open(self.root, STEP_FLAGS)
        try:
            for folder in folders:
                inner = os.open(folder, STEP_FLAGS | NO_FOLLOW, dir_fd=handle)
                os.close(handle)
                handle = inner
            return os.open(name, READ_FLAGS | NO_FOLLOW, dir_fd=handle)
        except (FileNotFoundError, NotADirectoryError, OSError) as error:
            if isinstance(error, PermissionError):
                raise
            raise NotFound(f"there is no file {path} in {self.root}") from error
        finally:
            os.close(handle)


def _hash(data: bytes, symbol: str, path: str) -> bytes:
    if symbol:
        data = _find_symbol(data.decode("utf-8", "replace"), symbol, path).encode()
    return hashlib.blake2b(data, digest_size=_HASH_DIGITS // 2).digest()


def _find_symbol(text: str, symbol: str, path: str) -> str:
    """Return the lines of a definition: its first one and those that are indented deeper, up to a closing bracket."""
    lines = text.splitlines()
    name = symbol.rpartition(".")[2]
    pattern = re.compile(_DEFINITION.format(re.escape(name)))
    for number, line in enumerate(lines):
        if match := pattern.match(line):
            indent = len((match["indent"] or match["other"] or "").expandtabs())
            return "\n".join([line.rstrip(), *_take_body(lines[number + 1 :], indent)]).rstrip()
    raise NotFound(f"{path} has no {symbol}")


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
    """Return the repository that holds a folder, or else the folder that it lies in; None for a memory elsewhere."""
    if not folder:
        return None
    home = os.path.realpath(folder)
    at = home
    while not os.path.lexists(os.path.join(at, ".git")):
        parent = os.path.dirname(at)
        if parent == at:
            return Repository(os.path.dirname(home), os.path.basename(home))
        at = parent
    return Repository(at, os.path.relpath(home, at).replace(os.sep, "/"))


def parse_target(text: str) -> Pin:
    """Return the pin of a file, `src/auth.py` or `src/auth.py::login`; InvalidArgument for a path that leads out, or
    to what is hidden."""
    path, separator, symbol = text.strip().partition("::")
    clean = posixpath.normpath(path.replace(os.sep, "/"))
    is_hidden = any(part.startswith(".") for part in clean.split("/"))  # also `..`: nobody learns of keys by pins
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


def find_placed_pins(text: str, folder: str = "") -> list[PlacedPin]:
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
