"""A real HTTP server that speaks the protocols of embeddings, and fails in whatever way a test asks for."""

from __future__ import annotations

import json
import re
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from typing import Any, NamedTuple

from ..waiting import LONG_SECONDS

DIMENSIONS = 32
Script = Callable[["Handler"], None]


def bag(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    row = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()):
        row[zlib.crc32(word.encode()) % dimensions] += 1
    return row


class Seen(NamedTuple):
    path: str
    key: str
    body: Any

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: Server
    texts: list[str]

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen = Seen(self.path, self.headers.get("Authorization", ""), body)
        self.texts = seen.texts
        self.server.seen.append(seen)
        with suppress(IndexError):
            return self.server.script.pop(0)(self)
        return self.server.otherwise(self)

    def answer(self, content: Any, status: int = 200, **headers: str) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingMixIn, HTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[Seen] = []
        self.script: list[Script] = []
        self.otherwise: Script = serve
        self.connections = 0
        self.ending = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client that gave up is what some tests are about
            super().handle_error(request, client_address)


@contextmanager
def running() -> Iterator[Server]:
    server = Server()
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.ending.set()
    server.shutdown()
    server.server_close()
    thread.join()


def serve(handler: Handler) -> None:
    """What a healthy server answers."""
    vectors = [bag(text) for text in handler.texts]
    if handler.path.endswith("/api/embed"):
        handler.answer({"model": "m", "embeddings": vectors})
    else:
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(vectors)]
        handler.answer({"object": "list", "data": data, "model": "m"})


def fail(status: int, message: str = "", code: str = "", **headers: str) -> Script:
    return lambda handler: handler.answer({"error": {"message": message, "code": code}}, status, **headers)


def give(content: Any) -> Script:
    return lambda handler: handler.answer(content)


def data_of(*rows: Any) -> Script:
    return give({"data": [{"index": index, "embedding": row} for index, row in enumerate(rows)]})


def hang(handler: Handler) -> None:
    handler.server.ending.wait(LONG_SECONDS)
    handler.close_connection = True


def hang_up(handler: Handler) -> None:
    handler.close_connection = True


def break_off(handler: Handler) -> None:
    _break_off(handler, "Content-Length", "10000", b'{"data": [')


def break_off_in_chunks(handler: Handler) -> None:
    _break_off(handler, "Transfer-Encoding", "chunked", b'a\r\n{"data": [\r\nff\r\n')


def _break_off(handler: Handler, header: str, value: str, part: bytes) -> None:
    handler.send_response(200)
    handler.send_header(header, value)
    handler.end_headers()
    handler.wfile.write(part)
    handler.close_connection = True
