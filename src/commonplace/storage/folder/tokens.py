"""Tokens and the log of a home in a folder: two files in `.access`, which are no pages and leave with no archive."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ...errors import CommonplaceError, NotFound, StorageError
from ..base import ACCESS_FOLDER, LOCKS_FOLDER
from ..file_locks import lock
from ..files import read_bytes_or_none, storage_errors, write_all, write_file
from ..tokens import ROLES, Call, Token

FOLDER = ACCESS_FOLDER
TOKENS, LOG = f"{FOLDER}/tokens.json", f"{FOLDER}/audit.jsonl"
_LARGEST = 10_000_000  # bytes of the log, before it makes room for a new one
_KEPT = 4  # earlier logs
_PRIVATE = 0o600


class FolderTokens:
    tenant = ""

    def __init__(self, home: str, largest: int = _LARGEST) -> None:
        self._root, self._largest = os.path.abspath(os.path.expanduser(home)), largest
        self._locks = os.path.join(self._root, LOCKS_FOLDER)

    def list_tokens(self) -> list[Token]:
        with storage_errors(TOKENS):
            data = read_bytes_or_none(self._place(TOKENS), TOKENS)
        if data is None:
            return []
        try:
            return [_token(each) for each in json.loads(data)["tokens"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise StorageError(
                f"{TOKENS} is not as `commonplace token` writes it: mend it, or remove it and make new tokens"
            ) from error

    def add(self, token: Token) -> None:
        with self._alone():
            self._write([*self.list_tokens(), token])

    def revoke(self, name: str, at: str) -> Token:
        with self._alone():
            tokens = {token.id: token for token in self.list_tokens()}
            if name not in tokens:
                raise NotFound(f"there is no token {name}: `commonplace token list` shows them")
            if not tokens[name].revoked_at:
                tokens[name] = tokens[name]._replace(revoked_at=at)
                self._write([*tokens.values()])
            return tokens[name]

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not os.path.isdir(self._root):
            raise NotFound(f"there is no memory at {self._root} yet: run `commonplace init`")
        with storage_errors(TOKENS), lock(self._locks, "page", TOKENS):
            yield

    def _write(self, tokens: list[Token]) -> None:
        text = json.dumps({"tokens": [_row(token) for token in tokens]}, ensure_ascii=False, indent=1)
        place = self._place(TOKENS)
        if os.path.exists(place):
            os.chmod(place, _PRIVATE)  # the new file takes after the old one
        write_file(place, f"{text}\n".encode())

    def record_call(self, call: Call) -> None:
        line = json.dumps(call._asdict(), ensure_ascii=False) + "\n"
        with suppress(CommonplaceError, OSError):
            place = self._place(LOG)
            os.makedirs(os.path.dirname(place), 0o700, exist_ok=True)
            # Whoever writes at the end at the same time comes before or after, never between: no lock is needed.
            handle = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, _PRIVATE)
            try:
                write_all(handle, line.encode())
                full = os.fstat(handle).st_size > self._largest
            finally:
                os.close(handle)
            if full:
                self._turn()

    def _turn(self) -> None:
        """Put the log away and begin another. Who finds somebody at it leaves it to them."""
        with lock(self._locks, "page", LOG, timeout=0.0):
            if os.stat(self._place(LOG)).st_size <= self._largest:
                return
            for number in range(_KEPT, 0, -1):
                with suppress(FileNotFoundError):
                    os.replace(self._log(number - 1), self._log(number))

    def _log(self, number: int) -> str:
        return self._place(LOG if not number else f"{FOLDER}/audit.{number}.jsonl")

    def recent_calls(self, last: int) -> list[Call]:
        lines: deque[bytes] = deque(maxlen=max(1, last))
        for number in range(_KEPT, -1, -1):
            with storage_errors(LOG), suppress(FileNotFoundError), open(self._log(number), "rb") as file:
                lines.extend(file)
        return [call for line in lines if (call := _call(line))]

    def _place(self, path: str) -> str:
        return os.path.join(self._root, path)

    def close(self) -> None:
        """Nothing is kept open."""


def _row(token: Token) -> dict[str, Any]:
    row = token._asdict()
    return {"id": row.pop("id"), "sha256": row.pop("digest"), **row}


def _token(row: dict[str, Any]) -> Token:
    """A row as it was written. What is missing or of another kind is an error: a guess could let somebody in."""
    agents, texts = row["agents"], {name: row[name] for name in Token._fields if name not in ("digest", "agents")}
    if not all(isinstance(text, str) for text in (row["sha256"], *texts.values())) or row["role"] not in ROLES:
        raise ValueError("not a token")
    if agents is not None and not (isinstance(agents, list) and all(isinstance(name, str) for name in agents)):
        raise ValueError("not a list of agents")
    return Token(digest=row["sha256"], agents=None if agents is None else tuple(agents), **texts)


def _call(line: bytes) -> Call | None:
    """A line of the log; None for half a line of a process that was killed."""
    try:
        return Call(**json.loads(line))
    except (ValueError, TypeError):
        return None
