"""Recall before a prompt by a process that is already running, over a Unix socket that only the user can reach.

A command that clients run before each prompt would load the model and its libraries every time. Where a watcher or a
server has a memory open, the command asks it instead; if anything goes wrong, it searches by itself. The socket is not
in the memory: a folder that came from somebody else could contain one of theirs, which would read and answer prompts.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..storage.files import make_folders
from ..user_config import socket_folder

if TYPE_CHECKING:
    from ..home import Home

_MAX_PATH_BYTES = 100  # longest path of a Unix socket that every system accepts
_ANSWER_TIMEOUT_SECONDS = 2.0
_CATCH_UP_SECONDS = 1.5  # how long the index may catch up, as in a command that recalls by itself
_MAX_REQUEST_BYTES = 2_000_000
_OWNER_ONLY = 0o600
_OTHERS = 0o077


def ask_running(folder: str, request: dict[str, Any]) -> dict[str, Any] | None:
    """Return the answer of the process that serves a memory, by the folder of its index; None if there is none."""
    if not folder or not hasattr(socket, "AF_UNIX"):
        return None
    try:
        with open_address(folder) as address, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_ANSWER_TIMEOUT_SECONDS)
            _connect(connection, address)
            connection.sendall(json.dumps({**request, "version": __version__}).encode() + b"\n")
            answer = json.loads(_read_line(connection))
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) and isinstance(answer.get("text"), str) else None


def _connect(connection: socket.socket, address: str) -> None:
    """Connect to a socket of this user; OSError if it belongs to another, or does not exist."""
    info = os.lstat(address)
    if not stat.S_ISSOCK(info.st_mode) or info.st_uid != os.getuid():
        raise PermissionError("not a socket of this user")
    connection.connect(address)
    if hasattr(socket, "SO_PEERCRED"):
        size = struct.calcsize("3i")
        _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        if user != os.getuid():
            raise PermissionError("another user answers")


class PromptSocket:
    """Answers prompts for the agent of a home, one at a time, in a thread."""

    def __init__(self, home: Home, find_home: Callable[[], Home] | None = None) -> None:
        """`find_home`: returns the home with its current settings, which may change while a process runs."""
        self._home = home
        self._find_home = find_home
        self._folder = home.storage.cache_folder
        self._listener: socket.socket | None = None
        self._inode = 0

    def start(self) -> bool:
        """Start to listen; return False if another process does already, or if it is not possible here."""
        if not hasattr(socket, "AF_UNIX") or not os.path.isdir(self._folder):
            return False
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            make_folders(socket_folder())
            with open_address(self._folder) as address:
                if _answers(address):
                    listener.close()
                    return False
                with suppress(FileNotFoundError):
                    os.unlink(address)  # left by a process that was killed
                listener.bind(address)
                os.chmod(address, _OWNER_ONLY)
                self._inode = os.lstat(address).st_ino
            listener.listen(8)
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
        with suppress(OSError), open_address(self._folder) as address:
            if os.lstat(address).st_ino == self._inode:  # not the socket of a later process
                os.unlink(address)

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
        from ..index.base import limit_catch_up

        if request["version"] != __version__ or request["agent"] != self._home.agent:
            return {}
        home = self._find_home() if self._find_home else self._home
        conversation = home.open_conversation(request["session"])
        if conversation.needs_context:
            return {}
        with limit_catch_up(_CATCH_UP_SECONDS):
            recall = recall_for(home, request["prompt"], request["budget"], conversation, session=request["session"])
        return {"text": recall.text, "warnings": recall.receipt["warnings"]}


@contextmanager
def open_address(folder: str) -> Iterator[str]:
    """Yield the address of the socket for a memory, by the folder of its index; OSError if others could create it.

    A path that is too long for a socket is reached through the open folder.
    """
    if os.path.islink(folder):
        raise PermissionError("the index is a link")
    memory, name = os.path.split(os.path.abspath(folder))
    identity = os.path.join(os.path.realpath(memory), name)
    file = hashlib.blake2b(os.fsencode(identity), digest_size=12).hexdigest() + ".sock"
    handle = os.open(socket_folder(), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        info = os.fstat(handle)
        if info.st_uid != os.getuid() or info.st_mode & _OTHERS:
            raise PermissionError("others can write to the folder of sockets")
        path = os.path.join(socket_folder(), file)
        is_short = len(os.fsencode(path)) <= _MAX_PATH_BYTES
        yield path if is_short else f"/proc/self/fd/{handle}/{file}"
    finally:
        os.close(handle)


def _answers(address: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_ANSWER_TIMEOUT_SECONDS)
        try:
            _connect(connection, address)
        except OSError:
            return False
        return True


def _read_line(connection: socket.socket) -> bytes:
    """Return a line; TimeoutError if it does not arrive within the time for an answer."""
    data = bytearray()
    ends_at = time.monotonic() + _ANSWER_TIMEOUT_SECONDS
    while not data.endswith(b"\n") and len(data) < _MAX_REQUEST_BYTES:
        connection.settimeout(max(0.001, ends_at - time.monotonic()))
        part = connection.recv(1 << 16)
        if not part:
            break
        data += part
    return bytes(data)
