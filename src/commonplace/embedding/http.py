"""HTTP for remote embedders: JSON requests with timeouts, retries and a size limit.

The key goes to the configured host alone, and into no message. The standard library is enough: httpx would replace only
the connection pool here, and would make `openai` and `ollama` need an extra.
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

_MAX_RESPONSE_BYTES = 64 * 2**20
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
TRANSIENT_STATUSES = frozenset({429, 500, 502, 503, 504})
_MAX_REDIRECTS = 3
_FIRST_PAUSE_SECONDS = 0.5
_MAX_PAUSE_SECONDS = 60.0


class RetryPolicy(NamedTuple):
    """How long one request may take."""

    tries: int
    seconds: float  # for all tries and the pauses between them
    timeout: float  # for one try


SEARCHING = RetryPolicy(tries=2, seconds=12, timeout=10)  # somebody waits; words can answer instead
INDEXING = RetryPolicy(tries=6, seconds=120, timeout=60)


class Clock(NamedTuple):
    """Where time comes from, so that tests need not wait."""

    sleep: Callable[[float], None] = time.sleep
    elapsed: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time


CLOCK = Clock()


class Failure(Exception):
    """A request that failed: the status (0 when no response came), and why."""

    def __init__(self, status: int, reason: str, *, transient: bool = False, refused: bool = False) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.transient = transient  # another try may succeed
        self.refused = refused  # nothing listens there


class _Answer(NamedTuple):
    status: int
    data: bytes
    location: str
    retry_after: str


class Endpoint:
    """A server that takes and gives JSON. Safe for threads: each takes an idle connection or opens one."""

    def __init__(self, url: str, key: str = "", clock: Clock = CLOCK) -> None:
        self._idle: list[HTTPConnection] = []
        self._process = os.getpid()
        try:
            self._origin, self._path, self._query = _parts(url)
        except ValueError as error:
            raise Unavailable(f"memorySearch.baseUrl {error}") from None
        self.url = _redact_url(url)
        self._site = "{}://{}".format(*urlsplit(url))
        self._key = key
        self._clock = clock
        self._resume_at = float("-inf")  # until then the server asked for no requests, from any thread
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "commonplace"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def post(self, path: str, body: object, policy: RetryPolicy) -> Any:
        """Post JSON and return the JSON of the response. Raises `Failure`."""
        target = self._path + path + self._query
        payload = json.dumps(body).encode()
        deadline = self._time_in(policy.seconds)
        failure = Failure(429, "it asked to be left alone for a while", transient=True)
        for attempt in range(policy.tries):
            pause = self._pause(attempt)
            if self._time_in(pause) >= deadline:
                break
            if pause > 0:
                self._clock.sleep(pause)
            try:
                return self._try(target, payload, min(deadline, self._time_in(policy.timeout)))
            except Failure as met:
                if not met.transient:
                    raise
                failure = met
        raise failure

    def close(self) -> None:
        """Close the idle connections. The endpoint can still be used."""
        with suppress(IndexError):  # another thread may take the last one
            while True:
                self._idle.pop().close()

    def __del__(self) -> None:
        self.close()

    def _time_in(self, seconds: float) -> float:
        return self._clock.elapsed() + seconds

    def _pause(self, attempt: int) -> float:
        """Seconds to wait before a try: what the server asked for, and longer each time."""
        asked_for = self._resume_at - self._clock.elapsed()
        # Spread over half the pause, so that many clients do not come back at once.
        own = _FIRST_PAUSE_SECONDS * 2 ** (attempt - 1) * random.uniform(0.5, 1) if attempt else 0.0
        return min(max(asked_for, own), _MAX_PAUSE_SECONDS)

    def _try(self, target: str, payload: bytes, deadline: float) -> Any:
        try:
            answer = self._follow(target, payload, deadline)
        except (OSError, HTTPException, UnicodeError) as error:
            raise self._connection_failure(error) from error
        if answer.status == 200:
            return _json(answer.data)
        raise self._status_failure(answer)

    def _follow(self, target: str, payload: bytes, deadline: float) -> _Answer:
        """The answer, after redirects on the same host: the key and the texts go to no other."""
        for _ in range(_MAX_REDIRECTS):
            answer = self._send(target, payload, deadline)
            if answer.status not in REDIRECT_STATUSES or not answer.location:
                return answer
            try:
                place = urljoin(self._site + target, answer.location)
                origin, path, query = _parts(place)
            except ValueError:
                raise Failure(answer.status, "it redirects to no web address") from None
            if origin != self._origin:
                raise Failure(answer.status, f"it redirects to {self._clean(_redact_url(place))}")
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
        connection.timeout = self._time_left(deadline)
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
            if len(data) > _MAX_RESPONSE_BYTES:
                raise Failure(response.status, f"its response is over {_MAX_RESPONSE_BYTES >> 20} MiB")
            if not piece:
                break
            self._time_left(deadline)  # a server that drips never meets the timeout of the socket
        if len(data) < (length or 0):
            raise IncompleteRead(b"")
        return bytes(data)

    def _time_left(self, deadline: float) -> float:
        left = deadline - self._clock.elapsed()
        if left <= 0:
            raise TimeoutError
        return left

    def _connection_failure(self, error: Exception) -> Failure:
        match error:
            case TimeoutError():
                return Failure(0, "no answer in time", transient=True)
            case ssl.SSLCertVerificationError():
                todo = "SSL_CERT_FILE can name the certificates to trust"
                return Failure(0, f"its certificate is not trusted, {error.verify_message}; {todo}")
            case ConnectionRefusedError():
                return Failure(0, "connection refused", transient=True, refused=True)
            case socket.gaierror():
                return Failure(0, "no host of that name", transient=True)
            case IncompleteRead():
                return Failure(0, "its answer broke off", transient=True)
        return Failure(0, f"the connection broke: {self._clean(str(error) or type(error).__name__)}", transient=True)

    def _status_failure(self, answer: _Answer) -> Failure:
        message, code = _parse_error(answer.data)
        reason = f"{answer.status} {responses.get(answer.status, '')}".rstrip()
        # An account without money is answered like one that asks too often, but waiting does not fill it.
        transient = answer.status in TRANSIENT_STATUSES and code != "insufficient_quota"
        if transient and (seconds := _parse_retry_after(answer.retry_after, self._clock.now())):
            self._resume_at = max(self._resume_at, self._time_in(min(seconds, _MAX_PAUSE_SECONDS)))
        return Failure(answer.status, f"{reason}: {self._clean(message)}" if message else reason, transient=transient)

    def _clean(self, text: str) -> str:
        """Text from elsewhere as part of a sentence: one short line, without the key."""
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


def _redact_url(url: str) -> str:
    """A URL without what may be secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def _parse_retry_after(retry_after: str, now: float) -> float:
    """The seconds that a `Retry-After` asks for, as a number or a date; 0 when it is neither, or past."""
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


def _parse_error(data: bytes) -> tuple[str, str]:
    """Message and code of an error response: {"error": {"message", "code"}}, {"error": "..."} or {"detail": "..."}."""
    with suppress(ValueError, RecursionError):
        answer = json.loads(data)
        error = answer.get("error") or answer.get("detail") or answer if isinstance(answer, dict) else ""
        if isinstance(error, dict):
            return str(error.get("message") or ""), str(error.get("code") or error.get("type") or "")
        return str(error), ""
    return "", ""
