"""A wire between a program and its database that can be cut at any message, before it arrives or before its answer does.

It can also be slow, so that what a program sends without waiting for an answer arrives after that answer.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

_STARTUP_HEAD = 4  # bytes: the first message of a connection begins with its length
_MESSAGE_HEAD = 5  # every other one with a letter and its length
_READY = b"Z\0\0\0\5"  # how the last message of an answer begins, of which one byte is left
_ASKING = (b"Q", b"S", b"H")  # a simple query; the end of a pipeline; within one, or right after its end


class Wire:
    """Listens on a port of its own. `cut(n)` cuts at the n-th message from now, once.

    `round_trips`: how often the program asked for an answer, however its statements arrived. `packets`: in how many parts
    they did. If it `is_slow`, what
    follows the end of a pipeline arrives when that was answered.
    """

    def __init__(self, url: str, options: str = "", *, is_slow: bool = False) -> None:
        from psycopg.conninfo import conninfo_to_dict

        self._parts = conninfo_to_dict(url)
        self._options = options
        self._is_slow = is_slow
        self._left = 0
        self._arrives = True
        self.was_cut = False
        self.round_trips = 0
        self.packets = 0
        self._server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        host, port = self._server.getsockname()
        user, name = self._parts.get("user"), self._parts.get("dbname")
        return f"postgresql://{user}@{host}:{port}/{name}?sslmode=disable&gssencmode=disable{self._options}"

    def cut(self, at: int, *, arrives: bool) -> None:
        self._left, self._arrives, self.was_cut = at, arrives, False

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                far = self._connect()
                is_answered = threading.Event()
                threading.Thread(target=self._back, args=(far, near, is_answered), daemon=True).start()
                threading.Thread(target=self._forth, args=(near, far, is_answered), daemon=True).start()

    def _connect(self) -> socket.socket:
        host, port = str(self._parts.get("host") or "localhost"), int(self._parts.get("port") or 5432)
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        far = socket.socket(socket.AF_UNIX)
        far.connect(f"{host}/.s.PGSQL.{port}")
        return far

    def _forth(self, near: socket.socket, far: socket.socket, is_answered: threading.Event) -> None:
        unread = b""
        head = _STARTUP_HEAD
        before = b""
        with suppress(OSError):
            while data := near.recv(1 << 16):
                self._left -= 1
                self.packets += 1
                unread += data
                while len(unread) >= head and len(unread) >= (
                    size := head - 4 + int.from_bytes(unread[head - 4 : head])
                ):
                    kind = unread[:1] if head == _MESSAGE_HEAD else b""
                    self.round_trips += kind in _ASKING and before + kind != b"SH"
                    if self._is_slow:
                        if before == b"S":
                            is_answered.wait()
                        is_answered.clear()
                        far.sendall(unread[:size])
                    before = kind
                    unread = unread[size:]
                    head = _MESSAGE_HEAD
                if self._left == 0:
                    self.was_cut = True
                    _end(near)
                    if self._arrives:
                        far.sendall(data)  # the answer finds nobody
                        continue
                    break
                if not self._is_slow:
                    far.sendall(data)
        _end(far)

    def _back(self, far: socket.socket, near: socket.socket, is_answered: threading.Event) -> None:
        with suppress(OSError):
            while data := far.recv(1 << 16):
                near.sendall(data)
                if data[-6:-1] == _READY:
                    is_answered.set()
        is_answered.set()
        _end(near)


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
