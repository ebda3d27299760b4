"""Recall before a prompt by a process that runs anyway: a Unix socket beside the index, for the user alone.

A command that clients run before each prompt would load the model and its libraries every time. Where a watcher or a
server has a memory open, the command asks it instead; if anything goes wrong, it searches by itself.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from .. import __version__

if TYPE_CHECKING:
    from ..home import Home

FILE = "prompts.sock"
_MAX_PATH_BYTES = 100  # of a Unix socket, on every system
_ANSWER_TIMEOUT_SECONDS = 2.0
_MAX_REQUEST_BYTES = 2_000_000
_OWNER_ONLY = 0o600


def ask_running(folder: str, request: dict[str, Any]) -> dict[str, Any] | None:
    """Return the answer of the process that serves a memory, by the folder of its index; None if there is none."""
    if not folder or not _is_ours(os.path.join(folder, FILE)):
        return None
    try:
        with short_address(folder) as address, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_ANSWER_TIMEOUT_SECONDS)
            connection.connect(address)
            connection.sendall(json.dumps({**request, "version": __version__}).encode() + b"\n")
            answer = json.loads(_read_line(connection))
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) and isinstance(answer.get("text"), str) else None


class PromptSocket:
    """Answers prompts for the agent of a home, one after the other, in a thread."""

    def __init__(self, home: Home, find_home: Callable[[], Home] | None = None) -> None:
        """`find_home`: returns the home with the settings it has now, where a process outlives them."""
        self._home = home
        self._find_home = find_home
        self._folder = home.storage.cache_folder
        self._path = os.path.join(self._folder, FILE)
        self._listener: socket.socket | None = None
        self._inode = 0

    def start(self) -> bool:
        """Listen from now on; return False if another process does already, or if it is not possible here."""
        if not hasattr(socket, "AF_UNIX") or not os.path.isdir(self._folder):
            return False
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with short_address(self._folder) as address:
                if _answers(address):
                    listener.close()
                    return False
                with suppress(FileNotFoundError):
                    os.unlink(self._path)  # of a process that was killed
                listener.bind(address)
            os.chmod(self._path, _OWNER_ONLY)
            listener.listen(8)
            self._inode = os.lstat(self._path).st_ino
        except OSError:
            listener.close()
            return False
        self._listener = listener
        threading.Thread(target=self._run, args=(listener,), name="prompts", daemon=True).start()
        return True

    def close(self) -> None:
        if self._listener is None:
            return
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # ends the wait for the next prompt
        self._listener.close()
        self._listener = None
        with suppress(OSError):
            if os.lstat(self._path).st_ino == self._inode:  # and not that of a process that came after
                os.unlink(self._path)

    def _run(self, listener: socket.socket) -> None:
        while self._listener is not None:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, suppress(Exception):  # whoever asked then searches by itself
                connection.settimeout(_ANSWER_TIMEOUT_SECONDS)
                request = json.loads(_read_line(connection))
                connection.sendall(json.dumps(self._answer(request)).encode() + b"\n")

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        from ..context.prompt_recall import recall_for

        if request["version"] != __version__ or request["agent"] != self._home.agent:
            return {}
        home = self._find_home() if self._find_home else self._home
        conversation = home.open_conversation(request["session"])
        if conversation.needs_context:
            return {}
        recall = recall_for(home, request["prompt"], request["budget"], conversation, session=request["session"])
        return {"text": recall.text, "warnings": recall.receipt["warnings"]}


@contextmanager
def short_address(folder: str) -> Iterator[str]:
    """Yield the address of the socket in a folder: a path that is too long for one goes through an open folder."""
    path = os.path.join(folder, FILE)
    if len(os.fsencode(path)) <= _MAX_PATH_BYTES:
        yield path
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{handle}/{FILE}"
    finally:
        os.close(handle)


def _is_ours(path: str) -> bool:
    """Return whether there is a socket that this user made: what another one answers must not reach a prompt."""
    try:
        return hasattr(socket, "AF_UNIX") and os.lstat(path).st_uid == os.getuid()
    except OSError:
        return False


def _answers(address: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_ANSWER_TIMEOUT_SECONDS)
        try:
            connection.connect(address)
        except OSError:
            return False
        return True


def _read_line(connection: socket.socket) -> bytes:
    data = bytearray()
    while not data.endswith(b"\n") and len(data) < _MAX_REQUEST_BYTES:
        part = connection.recv(1 << 16)
        if not part:
            break
        data += part
    return bytes(data)
