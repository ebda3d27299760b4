"""One way to ask a server for JSON: to wait, to try again what may pass, and to give up. `Endpoint` is all of it.

The key goes to the configured host alone, and into no message.
"""

from __future__ import annotations

import json
import os
import random
import re
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead, responses
from typing import Any, NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from ..errors import Unavailable

_ANSWER_BYTES = 64 * 2**20
MOVED = frozenset({301, 302, 303, 307, 308})
PASSING = frozenset({429, 500, 502, 503, 504})
_REDIRECTS = 3
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0  # seconds


class Patience(NamedTuple):
    """How long one request is worth waiting for."""

    tries: int
    seconds: float  # for all tries and the pauses between them
    timeout: float  # for one try


SEARCHING = Patience(tries=2, seconds=12, timeout=10)  # somebody waits; words can answer instead
INDEXING = Patience(tries=6, seconds=120, timeout=60)


class Clock(NamedTuple):
    """What time is taken from, so that a test need not wait."""

    sleep: Callable[[float], None] = time.sleep
    elapsed: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time


CLOCK = Clock()


class Failure(Exception):
    """A request without an answer: the status (0 when nothing came back), and why."""

    def __init__(self, status: int, reason: str, *, passing: bool = False, refused: bool = False) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason
        self.passing = passing  # whether another try may fare better
        self.refused = refused  # whether nothing listens there


class _Answer(NamedTuple):
    status: int
    data: bytes
    location: str
    retry_after: str


class Endpoint:
    """A server that takes JSON and gives JSON. Safe for threads: each takes an idle connection or opens one."""

    def __init__(self, url: str, key: str = "", clock: Clock = CLOCK) -> None:
        self._idle: list[HTTPConnection] = []
        self._process = os.getpid()
        try:
            self._origin, self._path, self._query = _parts(url)
        except ValueError as error:
            raise Unavailable(f"memorySearch.baseUrl {error}") from None
        self.url = _shown(url)
        self._site = "{}://{}".format(*urlsplit(url))
        self._key, self._clock = key, clock
        self._resume_at = float("-inf")  # until then the server wants no requests, from any thread
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "commonplace"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def post(self, path: str, body: object, patience: Patience) -> Any:
        """The JSON that answers. Raises `Failure` when it will not come, or not in time."""
        target, payload = self._path + path + self._query, json.dumps(body).encode()
        deadline = self._in(patience.seconds)
        failure = Failure(429, "it asked to be left alone for a while", passing=True)
        for attempt in range(patience.tries):
            pause = self._pause(attempt)
            if self._in(pause) >= deadline:
                break
            if pause > 0:
                self._clock.sleep(pause)
            try:
                return self._try(target, payload, min(deadline, self._in(patience.timeout)))
            except Failure as met:
                if not met.passing:
                    raise
                failure = met
        raise failure

    def close(self) -> None:
        """Let go of the idle connections. The endpoint can still be used."""
        with suppress(IndexError):  # another thread may take the last one
            while True:
                self._idle.pop().close()

    def __del__(self) -> None:
        self.close()

    def _in(self, seconds: float) -> float:
        return self._clock.elapsed() + seconds

    def _pause(self, attempt: int) -> float:
        """Seconds to wait before a try: what the server asked for, and longer each time."""
        told = self._resume_at - self._clock.elapsed()
        # Spread over half the pause, so that many clients do not come back at once.
        own = _FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.5, 1) if attempt else 0.0
        return min(max(told, own), _LONGEST_PAUSE)

    def _try(self, target: str, payload: bytes, deadline: float) -> Any:
        try:
            answer = self._follow(target, payload, deadline)
        except (OSError, HTTPException, UnicodeError) as error:
            raise self._broken(error) from error
        if answer.status == 200:
            return _json(answer.data)
        raise self._refusal(answer)

    def _follow(self, target: str, payload: bytes, deadline: float) -> _Answer:
        """The answer, after redirects on the same host: the key and the texts go to no other."""
        for _ in range(_REDIRECTS):
            answer = self._send(target, payload, deadline)
            if answer.status not in MOVED or not answer.location:
                return answer
            try:
                place = urljoin(self._site + target, answer.location)
                origin, path, query = _parts(place)
            except ValueError:
                raise Failure(answer.status, "it redirects to no web address") from None
            if origin != self._origin:
                raise Failure(answer.status, f"it redirects to {self._clean(_shown(place))}")
            target = path + query
        raise Failure(answer.status, "it redirects in a circle")

    def _send(self, target: str, payload: bytes, deadline: float) -> _Answer:
        kept = self._take()
        if kept:
            # A server may have closed a connection that lay idle: that says nothing about the server.
            with suppress(ConnectionError):
                return self._ask(kept, target, payload, deadline)
        return self._ask(self._open(), target, payload, deadline)

    def _take(self) -> HTTPConnection | None:
        if self._process != os.getpid():  # after a fork the parent speaks on these
            self.close()
            self._process = os.getpid()
        with suppress(IndexError):
            return self._idle.pop()
        return None

    def _open(self) -> HTTPConnection:
        scheme, host, port = self._origin
        return (HTTPSConnection if scheme == "https" else HTTPConnection)(host, port)

    def _ask(self, connection: HTTPConnection, target: str, payload: bytes, deadline: float) -> _Answer:
        connection.timeout = self._left(deadline)
        if connection.sock:
            connection.sock.settimeout(connection.timeout)
        whole = False
        try:
            connection.request("POST", target, payload, self._headers)
            with connection.getresponse() as response:
                data = self._read(response, deadline)
                whole = not response.will_close
        finally:
            if whole:
                self._idle.append(connection)
            else:
                connection.close()
        headers = response.headers
        return _Answer(response.status, data, headers.get("Location", ""), headers.get("Retry-After", ""))

    def _read(self, response: HTTPResponse, deadline: float) -> bytes:
        data = bytearray()
        length = response.length  # counted here: `read1` of Python 3.11 does not, and waits for more than there is
        while length is None or len(data) < length:
            piece = response.read1(2**16 if length is None else min(2**16, length - len(data)))
            data += piece
            if len(data) > _ANSWER_BYTES:
                raise Failure(response.status, "its answer does not end")
            if not piece:
                break
            self._left(deadline)  # a server that drips never meets the timeout of the socket
        if len(data) < (length or 0):
            raise IncompleteRead(b"")
        return bytes(data)

    def _left(self, deadline: float) -> float:
        left = deadline - self._clock.elapsed()
        if left <= 0:
            raise TimeoutError
        return left

    def _broken(self, error: Exception) -> Failure:
        match error:
            case TimeoutError():
                return Failure(0, "no answer in time", passing=True)
            case ssl.SSLCertVerificationError():
                todo = "SSL_CERT_FILE can name the certificates to trust"
                return Failure(0, f"its certificate is not trusted, {error.verify_message}; {todo}")
            case ConnectionRefusedError():
                return Failure(0, "connection refused", passing=True, refused=True)
            case socket.gaierror():
                return Failure(0, "no host of that name", passing=True)
            case IncompleteRead():
                return Failure(0, "its answer broke off", passing=True)
        return Failure(0, f"the connection broke: {self._clean(str(error) or type(error).__name__)}", passing=True)

    def _refusal(self, answer: _Answer) -> Failure:
        message, code = _complaint(answer.data)
        reason = f"{answer.status} {responses.get(answer.status, '')}".rstrip()
        # An account without money is answered like one that asks too often, but waiting does not fill it.
        passing = answer.status in PASSING and code != "insufficient_quota"
        if passing and (seconds := _seconds(answer.retry_after, self._clock.now())):
            self._resume_at = max(self._resume_at, self._in(min(seconds, _LONGEST_PAUSE)))
        return Failure(answer.status, f"{reason}: {self._clean(message)}" if message else reason, passing=passing)

    def _clean(self, text: str) -> str:
        """What somebody else wrote, as part of a sentence: one short line, and never the key."""
        line = " ".join(text.split())
        return (line.replace(self._key, "***") if self._key else line)[:200]


def _parts(url: str) -> tuple[tuple[str, str, int], str, str]:
    """Origin, path and query of an address; a `ValueError` says what is wrong with it."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", parts.netloc):
        raise ValueError("is not a web address: use one like http://localhost:11434/v1")
    if "@" in parts.netloc:
        raise ValueError("holds a password: put it into the variable that memorySearch.apiKeyEnv names instead")
    path, query = (quote(part, safe="/%:@!$&'()*+,;=~?") for part in (parts.path, parts.query))
    return (parts.scheme, parts.hostname, port), path, f"?{query}" if query else ""


def _shown(url: str) -> str:
    """An address without what may be secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def _seconds(retry_after: str, now: float) -> float:
    """What a `Retry-After` asks for: seconds or a date. 0 when it is neither, or past."""
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]*)?", retry_after):
        return float(retry_after)
    with suppress(ValueError, TypeError, OverflowError):
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - now)
    return 0.0


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise Failure(200, "what it answers is not JSON") from None


def _complaint(data: bytes) -> tuple[str, str]:
    """Message and code of a refusal: {"error": {"message", "code"}}, {"error": "..."} or {"detail": "..."}."""
    with suppress(ValueError, RecursionError):
        answer = json.loads(data)
        error = answer.get("error") or answer.get("detail") or answer if isinstance(answer, dict) else ""
        if isinstance(error, dict):
            return str(error.get("message") or ""), str(error.get("code") or error.get("type") or "")
        return str(error), ""
    return "", ""
