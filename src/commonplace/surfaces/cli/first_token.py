"""The first start of a server: a memory that has no token gets one, in a file that only its user can read."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ...errors import StorageError
from ...home import utc_now
from ...storage.backends import in_database, open_tokens
from ...storage.layout import stem
from ...storage.names import file_name
from ...storage.tokens import create, digest_of

_NOTE = "first start"


def first_token(home: str, environment: Mapping[str, str] = os.environ) -> str:
    """The file with the token that the first start made, now or before; empty where others made the tokens."""
    place = _place(home, environment)
    access = open_tokens(home)
    try:
        if tokens := access.list_tokens():
            return place if any(token.note == _NOTE for token in tokens) and os.path.exists(place) else ""
        if not in_database(home):
            os.makedirs(home, exist_ok=True)
        _, secret = create(access, utc_now(), agents=None, role="admin", note=_NOTE)
    finally:
        access.close()
    try:
        _keep(place, secret)
    except OSError as error:
        raise StorageError(
            f"the token can not be kept in {place} ({error.strerror}): set XDG_STATE_HOME to another folder, "
            "or make one with `commonplace token create --all-agents --role admin`"
        ) from error
    return place


def _place(home: str, environment: Mapping[str, str]) -> str:
    state = environment.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    name = file_name(os.path.basename(os.path.dirname(home) if home.endswith(".commonplace") else home) or "memory")
    return os.path.join(state, "commonplace", f"{stem(name)[:40]}-{digest_of(home)[:8]}.token")


def _keep(place: str, secret: str) -> None:
    os.makedirs(os.path.dirname(place), 0o700, exist_ok=True)
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        os.chmod(place, 0o600)  # one that was there before may be open to others
        os.write(handle, f"{secret}\n".encode())
    finally:
        os.close(handle)
