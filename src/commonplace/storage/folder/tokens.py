"""Tokens and audit log of a memory in a folder: files in `.access`, which are neither pages nor part of a backup."""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from ...errors import CommonplaceError, NotFound, StorageError
from ..base import ACCESS_FOLDER, LOCKS_FOLDER
from ..file_locks import lock
from ..files import (
    APPEND_FLAGS,
    NO_FOLLOW,
    PRIVATE_FILE_MODE,
    PRIVATE_FOLDER_MODE,
    READ_FLAGS,
    SECOND_NANOSECONDS,
    FileStamp,
    open_own_folder,
    read_bytes,
    stamp_file,
    storage_errors,
    write_all,
    write_file,
)
from ..tokens import ROLES, Call, Token

TOKENS_FILE = f"{ACCESS_FOLDER}/tokens.json"
LOG_FILE = f"{ACCESS_FOLDER}/audit.jsonl"
MAX_LOG_BYTES = 10_000_000  # a larger log is rotated
ROTATED_LOGS = 4  # earlier logs that are kept


class FolderTokens:
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
            with self._open_folder() as dir_fd:
                info = os.stat(self._name(TOKENS_FILE, dir_fd), dir_fd=dir_fd, follow_symlinks=False)
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
        with self._open_folder() as dir_fd:
            name = self._name(TOKENS_FILE, dir_fd)
            with suppress(FileNotFoundError, AttributeError):  # the new file gets the mode of the old one
                handle = os.open(name, READ_FLAGS | NO_FOLLOW, dir_fd=dir_fd)
                try:
                    os.fchmod(handle, PRIVATE_FILE_MODE)
                finally:
                    os.close(handle)
            write_file(name, f"{text}\n".encode(), dir_fd=dir_fd)

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
        with self._open_folder() as dir_fd:
            # O_APPEND keeps concurrent lines whole, so no lock is needed.
            return os.open(self._name(LOG_FILE, dir_fd), APPEND_FLAGS, PRIVATE_FILE_MODE, dir_fd=dir_fd)

    def _rotate_log(self) -> None:
        """Rename the log and begin a new one, unless another process is doing so."""
        with lock(self._locks, "page", LOG_FILE, timeout=0.0), self._open_folder() as dir_fd:
            names = [self._name(_log_file(number), dir_fd) for number in range(ROTATED_LOGS + 1)]
            if os.stat(names[0], dir_fd=dir_fd, follow_symlinks=False).st_size <= self._max_log_bytes:
                return
            for number in range(ROTATED_LOGS, 0, -1):
                with suppress(FileNotFoundError):
                    os.replace(names[number - 1], names[number], src_dir_fd=dir_fd, dst_dir_fd=dir_fd)

    def recent_calls(self, last: int) -> list[Call]:
        lines: deque[bytes] = deque(maxlen=max(1, last))
        for number in range(ROTATED_LOGS, -1, -1):
            with storage_errors(LOG_FILE):
                lines.extend((self._read_file(_log_file(number)) or b"").splitlines())
        return [call for line in lines if (call := _parse_call(line))]

    def _read_file(self, path: str) -> bytes | None:
        try:
            with self._open_folder() as dir_fd:
                return read_bytes(self._name(path, dir_fd), path, dir_fd=dir_fd)
        except FileNotFoundError:
            return None

    def _open_folder(self) -> AbstractContextManager[int | None]:
        return open_own_folder(self._folder)

    @property
    def _folder(self) -> str:
        return os.path.join(self._root, ACCESS_FOLDER)

    def _name(self, path: str, dir_fd: int | None) -> str:
        return os.path.join(self._root, path) if dir_fd is None else os.path.basename(path)

    def close(self) -> None:
        """Do nothing: nothing is open between calls."""


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
