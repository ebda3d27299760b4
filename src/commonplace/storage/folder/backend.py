"""The embedded backend: a memory as a folder of files on this machine. Its tokens and its audit log are files in
`.access`, which are neither pages nor part of a backup."""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ... import settings as settings_of
from ...errors import CommonplaceError, InvalidArgument, NotFound, StorageError
from ...foreign import locate
from ...model import Clock
from ..base import (
    ACCESS_FOLDER,
    HISTORY_FOLDER,
    INDEX_FOLDER,
    LOCKS_FOLDER,
    Backend,
    BulkStore,
    HistoryStore,
    OnWrite,
    Pages,
    Retention,
    Storage,
    TokenStore,
)
from ..file_locks import lock
from ..files import (
    APPEND_FLAGS,
    NO_FOLLOW,
    PRIVATE_FILE_MODE,
    PRIVATE_FOLDER_MODE,
    READ_FLAGS,
    SECOND_NANOSECONDS,
    FileStamp,
    OpenEntry,
    make_folders,
    open_own_entry,
    read_bytes,
    read_bytes_or_none,
    stamp_file,
    storage_errors,
    write_all,
    write_file,
)
from ..tokens import ROLES, Call, Token
from .git import ignore_derived_folders, write_git_files
from .history import FolderHistory
from .pages import FolderPages, FolderTranscript
from .tree import FolderTree, RootFolder

if TYPE_CHECKING:
    from ...index.handle import IndexHandle
    from ...index.sync import IndexScope
    from ..base import SetupProblem
    from ..tree import FileTree


TOKENS_FILE = f"{ACCESS_FOLDER}/tokens.json"
LOG_FILE = f"{ACCESS_FOLDER}/audit.jsonl"
MAX_LOG_BYTES = 10_000_000  # a larger log is rotated
ROTATED_LOGS = 4  # earlier logs that are kept


class FolderTokens(TokenStore):
    tenant = ""
    is_immediate = True

    def __init__(self, home: str, max_log_bytes: int = MAX_LOG_BYTES) -> None:
        self._root = os.path.abspath(os.path.expanduser(home))
        self._max_log_bytes = max_log_bytes
        self._locks = os.path.join(self._root, LOCKS_FOLDER)
        self._cached: tuple[FileStamp | None, list[Token]] = (None, [])

    def list_tokens(self) -> list[Token]:
        with storage_errors(TOKENS_FILE):
            stamp = self._stamp_tokens()
            if stamp is not None and stamp == self._cached[0]:
                return [*self._cached[1]]
            data = self._read_file(TOKENS_FILE)
        tokens = _parse_tokens(data) if data is not None else []
        self._cached = (stamp, tokens)
        return [*tokens]

    def _stamp_tokens(self) -> FileStamp | None:
        """Return a stamp of the tokens file; None if it changed so recently that another change could go unnoticed."""
        try:
            with self._open_entry(TOKENS_FILE) as entry:
                info = entry.stat()
        except FileNotFoundError:
            return None
        return stamp_file(info, time.time_ns(), SECOND_NANOSECONDS)

    def add(self, token: Token) -> None:
        with self._lock():
            self._write([*self.list_tokens(), token])

    def revoke(self, name: str, at: str) -> Token:
        with self._lock():
            tokens = {token.id: token for token in self.list_tokens()}
            if name not in tokens:
                raise NotFound(f"there is no token {name}: `commonplace token list` shows them")
            if not tokens[name].revoked_at:
                tokens[name] = tokens[name]._replace(revoked_at=at)
                self._write([*tokens.values()])
            return tokens[name]

    @contextmanager
    def _lock(self) -> Iterator[None]:
        if not os.path.isdir(self._root):
            raise NotFound(f"there is no memory at {self._root} yet: run `commonplace init`")
        with storage_errors(TOKENS_FILE), lock(self._locks, "page", TOKENS_FILE):
            yield

    def _write(self, tokens: list[Token]) -> None:
        text = json.dumps({"tokens": [_format_token(token) for token in tokens]}, ensure_ascii=False, indent=1)
        os.makedirs(self._folder, PRIVATE_FOLDER_MODE, exist_ok=True)
        with self._open_entry(TOKENS_FILE) as entry:
            with suppress(FileNotFoundError, AttributeError):  # the new file gets the mode of the old one
                handle = entry.open(READ_FLAGS | NO_FOLLOW)
                try:
                    os.fchmod(handle, PRIVATE_FILE_MODE)
                finally:
                    os.close(handle)
            write_file(entry.name, f"{text}\n".encode(), dir_fd=entry.dir_fd)

    def record_call(self, call: Call) -> None:
        line = json.dumps(call._asdict(), ensure_ascii=False) + "\n"
        with suppress(CommonplaceError, OSError):
            try:
                handle = self._open_log()
            except FileNotFoundError:
                os.makedirs(self._folder, PRIVATE_FOLDER_MODE, exist_ok=True)
                handle = self._open_log()
            try:
                write_all(handle, line.encode())
                is_full = os.fstat(handle).st_size > self._max_log_bytes
            finally:
                os.close(handle)
            if is_full:
                self._rotate_log()

    def _open_log(self) -> int:
        with self._open_entry(LOG_FILE) as entry:
            return entry.open(APPEND_FLAGS)  # which keeps concurrent lines whole, so no lock is needed

    def _rotate_log(self) -> None:
        """Rename the log and begin a new one, unless another process is doing so."""
        with lock(self._locks, "page", LOG_FILE, timeout=0.0), self._open_entry(LOG_FILE) as entry:
            if entry.stat().st_size <= self._max_log_bytes:
                return
            folder = os.path.dirname(entry.name)
            names = [os.path.join(folder, os.path.basename(_log_file(number))) for number in range(ROTATED_LOGS + 1)]
            for old, new in reversed([*pairwise(names)]):
                with suppress(FileNotFoundError):
                    os.replace(old, new, src_dir_fd=entry.dir_fd, dst_dir_fd=entry.dir_fd)

    def recent_calls(self, last: int) -> list[Call]:
        lines: deque[bytes] = deque(maxlen=max(1, last))
        for number in range(ROTATED_LOGS, -1, -1):
            with storage_errors(LOG_FILE):
                lines.extend((self._read_file(_log_file(number)) or b"").splitlines())
        return [call for line in lines if (call := _parse_call(line))]

    def _read_file(self, path: str) -> bytes | None:
        try:
            with self._open_entry(path) as entry:
                return read_bytes(entry.name, path, dir_fd=entry.dir_fd)
        except FileNotFoundError:
            return None

    def _open_entry(self, path: str) -> AbstractContextManager[OpenEntry]:
        return open_own_entry(os.path.join(self._root, path))

    @property
    def _folder(self) -> str:
        return os.path.join(self._root, ACCESS_FOLDER)


def _parse_tokens(data: bytes) -> list[Token]:
    try:
        return [_parse_token(each) for each in json.loads(data)["tokens"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StorageError(
            f"{TOKENS_FILE} is not in the form that `commonplace token` writes: repair it, or remove it"
        ) from error


def _log_file(number: int) -> str:
    return f"{ACCESS_FOLDER}/audit.{number}.jsonl" if number else LOG_FILE


def _format_token(token: Token) -> dict[str, Any]:
    row = token._asdict()
    return {"id": row.pop("id"), "sha256": row.pop("digest"), **row}


def _parse_token(row: dict[str, Any]) -> Token:
    """Return a stored token; ValueError or KeyError if anything is missing or of another type: nothing is guessed."""
    agents = row["agents"]
    texts = {name: row[name] for name in Token._fields if name not in ("digest", "agents")}
    if not all(isinstance(text, str) for text in (row["sha256"], *texts.values())) or row["role"] not in ROLES:
        raise ValueError("not a token")
    if agents is not None and not (isinstance(agents, list) and all(isinstance(name, str) for name in agents)):
        raise ValueError("not a list of agents")
    return Token(digest=row["sha256"], agents=None if agents is None else tuple(agents), **texts)


def _parse_call(line: bytes) -> Call | None:
    """Return an entry of the log; None for a line that a killed process left incomplete."""
    try:
        return Call(**json.loads(line))
    except (ValueError, TypeError, RecursionError):
        return None


class FolderStorage(Storage):
    settings_check_seconds = 0.0

    def __init__(self, address: str, clock: Clock, on_write: OnWrite) -> None:
        located = locate(os.path.abspath(os.path.expanduser(address)))
        self.local_folder = located.folder
        self.name = self.local_folder
        self.cache_folder = os.path.join(self.local_folder, INDEX_FOLDER)
        self.settings = located.settings
        self._is_layout_guess = located.is_guess
        self.settings_version = self.current_settings_version()
        retention = Retention.of(self.settings.history)
        self._locks = os.path.join(self.local_folder, LOCKS_FOLDER)
        self._clock = clock
        self._top = RootFolder(self.local_folder)
        self._history = FolderHistory(os.path.join(self.local_folder, HISTORY_FOLDER), self._locks, clock, retention)
        self.history: HistoryStore = self._history
        self._on_write = on_write
        self._is_first_write = True
        self.pages: Pages = FolderPages(self.local_folder, self._note_write, self._history)
        self.tokens: TokenStore = FolderTokens(self.local_folder)
        self.tree: FileTree = FolderTree(self.local_folder, self._locks, self.pages, self.history)
        self._ignore_derived_folders()

    def _ignore_derived_folders(self) -> None:
        # A home of another system is usually in a project, and gets no .gitignore of its own from `init`.
        ignore_derived_folders(self.local_folder, always=self.settings.layout != "native")

    def _note_write(self, path: str, size: int) -> None:
        self._on_write(path, size)
        if self._is_first_write:  # it made the derived folders
            self._is_first_write = False
            self._ignore_derived_folders()
            self._write_down_layout()

    def _write_down_layout(self) -> None:
        """Write the layout into the settings, since the pages just written hide what it was guessed from."""
        path = os.path.join(self.local_folder, settings_of.FILE)
        if self._is_layout_guess:
            with suppress(OSError), open(path, "x", encoding="utf-8") as file:
                file.write(f"layout: {self.settings.layout}\n")

    def read_settings_text(self, path: str) -> str | None:
        return settings_of.read_file(os.path.join(self.local_folder, path))

    def current_settings_version(self) -> object:
        return tuple(self._file_version(name) for name in (settings_of.FILE, self.settings.config) if name)

    def _file_version(self, name: str) -> object:
        try:
            info = os.stat(os.path.join(self.local_folder, name))
        except OSError:
            return None
        return info.st_ino, info.st_size, info.st_mtime_ns

    def read_bytes(self, path: str) -> bytes | None:
        with storage_errors(path):
            if path == settings_of.FILE:  # a person may keep it elsewhere and link it here
                return read_bytes_or_none(os.path.join(self.local_folder, path), path)
            return self._top.read_or_none(path)

    def modified_times(self, paths: Iterable[str]) -> dict[str, float]:
        # Listing follows no links, so these paths lie inside and need no second check.
        times: dict[str, float] = {}
        for path in paths:
            with suppress(OSError):
                times[path] = os.lstat(os.path.join(self.local_folder, path)).st_mtime
        return times

    def page_size(self, path: str) -> int | None:
        try:
            return os.lstat(os.path.join(self.local_folder, path)).st_size
        except OSError:
            return None

    def display_path(self, path: str) -> str:
        return os.path.join(self.local_folder, path)

    def has_folder(self, folder: str, name: str) -> bool:
        # A file system that ignores case finds other spellings too: the folder's own listing decides.
        try:
            self.pages.modified_at(f"{folder}/{name}")
            return name in self.pages.list_folders(folder)
        except CommonplaceError:
            return False

    def exists(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.local_folder, path))

    def open_transcript(self, path: str) -> FolderTranscript:
        return FolderTranscript(self.local_folder, self._locks, path)

    def open_index(self, scope: IndexScope) -> IndexHandle:
        from ...index.handle import SqliteIndexHandle

        if os.path.isdir(self.local_folder):
            with suppress(OSError):  # then the index is kept elsewhere, and says so
                make_folders(self.cache_folder)
            self._ignore_derived_folders()
        return SqliteIndexHandle(self.cache_folder, self.pages, scope, self.local_folder)

    @cached_property
    def bulk(self) -> BulkStore:
        from .bulk import FolderBulk

        return FolderBulk(self.local_folder, self._clock, self._history)

    def check(self) -> None:
        if os.path.lexists(self.local_folder) and not os.path.isdir(self.local_folder):
            raise StorageError(f"{self.local_folder} is a file, not a folder: move it away or use another home")


class FolderBackend(Backend):
    def open_storage(self, address: str, clock: Clock, on_write: OnWrite) -> FolderStorage:
        return FolderStorage(address, clock, on_write)

    def open_tokens(self, address: str) -> FolderTokens:
        return FolderTokens(locate(self.absolute_address(address)).folder)

    def absolute_address(self, address: str) -> str:
        return os.path.abspath(os.path.expanduser(address))

    def check_address(self, address: str) -> None:
        scheme, is_url, _ = address.partition("://")
        if is_url and scheme.isalnum():
            raise InvalidArgument(
                f"{scheme}:// is not a memory: name a folder, or a database as postgresql://user@host/name"
            )
        if os.path.lexists(address) and not os.path.isdir(address):
            raise StorageError(f"{address} is a file, not a folder: choose another --home")

    def diagnose(self, address: str) -> list[SetupProblem]:
        folder = self.absolute_address(address)
        if not os.path.isdir(folder):
            raise NotFound(f"there is no memory at {folder}: run `commonplace init`, or say which with --home")
        return []

    def may_exist(self, address: str) -> bool:
        return os.path.isdir(self.absolute_address(address))

    def create(self, address: str) -> None:
        if locate(self.absolute_address(address)).settings.layout == "native":
            write_git_files(address)  # in the home of another system, these files are a person's own


BACKEND = FolderBackend()
