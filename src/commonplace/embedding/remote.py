"""What remote embedders share: HTTP with timeouts and retries, requests that servers accept, checked responses.

A provider subclasses `RemoteEmbedder`: its address, the shape of requests and responses, and what its errors mean. The
key is sent to the configured host alone and is in no message. The standard library is enough: httpx would replace only
the connection pool, and `openai` and `ollama` would need an extra.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead, responses
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urljoin, urlsplit

import numpy

from ..errors import Unavailable
from ..settings import SearchSettings
from .base import slug

if TYPE_CHECKING:
    from .base import Vectors

    Doubles = numpy.ndarray[Any, numpy.dtype[numpy.float64]]

_MAX_REQUEST_TEXTS = 64
_MAX_REQUEST_CHARACTERS = 100_000
_MAX_TEXT_BYTES = 8_000  # a token has at least one byte, so this fits the usual limit of 8,192 tokens
_CHECK_SETTINGS = "check baseUrl in your config.yaml and memorySearch.model"
_MAX_RESPONSE_BYTES = 64 * 2**20
_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_TRANSIENT_STATUSES = frozenset({429, 500, 502, 503, 504})
_MAX_REDIRECTS = 3
_FIRST_PAUSE_SECONDS = 0.5
_MAX_PAUSE_SECONDS = 60.0


class RetryPolicy(NamedTuple):
    """How often and how long one request is tried."""

    tries: int
    seconds: float  # limit for all tries, pauses included
    timeout: float  # seconds for one try


SEARCHING = RetryPolicy(tries=2, seconds=12, timeout=10)  # a search waits, and keywords can answer it
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


class Unusable(ValueError):
    """A response that cannot be used, and what is wrong with it."""


class RemoteEmbedder:
    """An embedder behind HTTP, which each provider completes. Safe for threads."""

    provider = ""
    path = ""
    default_url = ""
    default_model = ""
    default_key_variable = ""
    is_fast = False
    batch_size = _MAX_REQUEST_TEXTS

    def __init__(
        self,
        settings: SearchSettings,
        *,
        clock: Clock = CLOCK,
        searching: RetryPolicy = SEARCHING,
        indexing: RetryPolicy = INDEXING,
    ) -> None:
        self.model = settings.model or self.default_model
        # The provider's usual key goes to the provider's own host; another host gets only a key that the settings name.
        self.key_variable = settings.api_key_env or ("" if settings.base_url else self.default_key_variable)
        url = settings.base_url.rstrip("/") or self.default_url
        self.space = space_name(self.provider, self.model, url)
        self.has_key = bool(key := _read_key(self.key_variable))
        self.endpoint = Endpoint(url, key, clock)
        self.url = self.endpoint.url
        self._searching = searching
        self._indexing = indexing
        self._dimensions = 0  # known from the first response

    def prefixes(self) -> tuple[str, str]:
        """Return what the model expects before a passage and before a query."""
        return "", ""

    def build_request(self, texts: list[str]) -> dict[str, object]:
        """Return the JSON of a request."""
        return {"model": self.model, "input": texts}

    def parse_rows(self, response: Any, count: int) -> list[Any]:
        """Return the embeddings of a response in the order of the texts.

        A response of another shape may raise any of the errors that looking into it causes: `_request` catches them.
        """
        raise NotImplementedError

    def describe_failure(self, failure: Failure) -> str:
        """Return a sentence that says what failed, and the next step."""
        reason = failure.reason
        if failure.status == 0:
            return f"{self.url} cannot be reached ({reason}): check baseUrl in your config.yaml and the network"
        if failure.status in _REDIRECT_STATUSES:
            return f"{self.url} has moved ({reason}): set baseUrl in your config.yaml to its new address"
        if failure.status in _TRANSIENT_STATUSES:
            return f"{self.url} cannot serve now ({reason}): try again later"
        if failure.status == 200:
            return f"{self.url} gives an answer that cannot be used ({reason}): {_CHECK_SETTINGS}"
        return f"{self.url} refuses the request ({reason}): {_CHECK_SETTINGS}"

    def accepts(self, text: str) -> bool:
        return True

    def embed_passages(self, texts: Sequence[str], *, interactive: bool = False) -> Vectors:
        return self._embed(texts, self.prefixes()[0], self._searching if interactive else self._indexing)

    def embed_query(self, text: str) -> Vectors:
        row: Vectors = self._embed([text], self.prefixes()[1], self._searching)[0]
        return row

    def close(self) -> None:
        self.endpoint.close()

    def _embed(self, texts: Sequence[str], prefix: str, policy: RetryPolicy) -> Vectors:
        # Servers refuse a request with an empty text in it.
        non_blank = [number for number, text in enumerate(texts) if text.strip()]
        inputs = [_truncate(prefix + texts[number]) for number in non_blank]
        parts = [self._request(batch, policy) for batch in _split_into_requests(inputs)]
        if texts and not self._dimensions:
            self._request([f"{prefix}text"], policy)
        vectors = numpy.zeros((len(texts), self._dimensions), numpy.float32)
        if parts:
            vectors[non_blank] = numpy.concatenate(parts)
        return vectors

    def _request(self, texts: list[str], policy: RetryPolicy) -> Vectors:
        try:
            response = self.endpoint.post(self.path, self.build_request(texts), policy)
        except Failure as failure:
            raise Unavailable(self.describe_failure(failure)) from failure
        try:
            vectors = _parse_vectors(self.parse_rows(response, len(texts)), len(texts))
            self._check_dimensions(vectors.shape[1])
        except Unusable as error:
            raise Unavailable(self.describe_failure(Failure(200, str(error)))) from error
        except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError):
            # These errors quote the response, and a server's text does not belong in a message.
            raise Unavailable(self.describe_failure(Failure(200, "not the shape of embeddings"))) from None
        return vectors

    def _check_dimensions(self, dimensions: int) -> None:
        if self._dimensions and dimensions != self._dimensions:
            raise Unusable(f"{dimensions} numbers a text, {self._dimensions} before")
        self._dimensions = dimensions


def space_name(provider: str, model: str, url: str = "") -> str:
    """Return the name of a vector space, safe in a file name. It depends on the URL: two servers may serve different
    models under one name."""
    return f"{provider}-{slug(model)}-{hashlib.sha256(f'{url} {model}'.encode()).hexdigest()[:8]}"


def _read_key(variable: str) -> str:
    key = (os.getenv(variable) or "").strip() if variable else ""
    if not re.fullmatch(r"[!-~]*", key):
        raise Unavailable(f"{variable} does not contain a key: set it to one, without spaces or line breaks")
    return key


def _truncate(text: str) -> str:
    # A lone surrogate cannot be encoded as UTF-8.
    return text.encode("utf-8", "replace")[:_MAX_TEXT_BYTES].decode("utf-8", "ignore")


def _split_into_requests(texts: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == _MAX_REQUEST_TEXTS or size + len(text) > _MAX_REQUEST_CHARACTERS):
            yield batch
            batch = []
            size = 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _parse_vectors(rows: list[Any], count: int) -> Vectors:
    """Parse rows, each a list of numbers or floats in base64, as vectors of length 1."""
    if len(rows) != count:
        raise Unusable(f"{len(rows)} rows for {count} texts")
    parsed = [_parse_row(row) for row in rows]
    if len({row.size for row in parsed}) > 1:
        raise Unusable("rows of different lengths")
    table = numpy.stack(parsed)
    with numpy.errstate(all="ignore"):
        lengths = numpy.linalg.norm(table, axis=1, keepdims=True)
    if not numpy.isfinite(lengths).all():
        raise Unusable("it contains NaN or infinity")
    if not lengths.all():
        raise Unusable("a vector of zeros")
    vectors: Vectors = (table / lengths).astype(numpy.float32)
    return vectors


def _parse_row(row: Any) -> Doubles:
    if isinstance(row, str):
        return numpy.frombuffer(base64.b64decode(row, validate=True), "<f4").astype(numpy.float64)
    values = numpy.array(row, numpy.float64)
    if values.ndim != 1 or not values.size:
        raise Unusable("a row that is not a list of numbers")
    return values


class _Response(NamedTuple):
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
            self._origin, self._path, self._query = _split_url(url)
        except ValueError as error:
            raise Unavailable(f"baseUrl in your config.yaml: {error}") from None
        self.url = _redact_url(url)
        self._site = "{}://{}".format(*urlsplit(url))
        self._key = key
        self._clock = clock
        self._resume_at = float("-inf")  # the server asked for no requests before, from any thread
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "commonplace"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def post(self, path: str, body: object, policy: RetryPolicy) -> Any:
        """Post JSON and return the JSON of the response. Raises `Failure`."""
        target = self._path + path + self._query
        payload = json.dumps(body).encode()
        deadline = self._time_in(policy.seconds)
        failure = Failure(429, "it asked for a pause", transient=True)
        for attempt in range(policy.tries):
            pause = self._pause(attempt)
            if self._time_in(pause) >= deadline:
                break
            if pause > 0:
                self._clock.sleep(pause)
            try:
                return self._try(target, payload, min(deadline, self._time_in(policy.timeout)))
            except Failure as error:
                if not error.transient:
                    raise
                failure = error
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
        """Return the seconds to wait before a try: exponential backoff, or longer where the server asked for it."""
        requested = self._resume_at - self._clock.elapsed()
        # Jitter over half the backoff, so that many clients do not come back at once.
        backoff = _FIRST_PAUSE_SECONDS * 2 ** (attempt - 1) * random.uniform(0.5, 1) if attempt else 0.0
        return min(max(requested, backoff), _MAX_PAUSE_SECONDS)

    def _try(self, target: str, payload: bytes, deadline: float) -> Any:
        try:
            response = self._follow(target, payload, deadline)
        except (OSError, HTTPException, UnicodeError) as error:
            raise self._connection_failure(error) from error
        if response.status == 200:
            return _parse_json(response.data)
        raise self._status_failure(response)

    def _follow(self, target: str, payload: bytes, deadline: float) -> _Response:
        """Send a request and follow redirects on the same host: the key and the texts go to no other."""
        for _ in range(_MAX_REDIRECTS):
            response = self._send(target, payload, deadline)
            if response.status not in _REDIRECT_STATUSES or not response.location:
                return response
            try:
                url = urljoin(self._site + target, response.location)
                origin, path, query = _split_url(url)
            except ValueError:
                raise Failure(response.status, "it redirects to something that is not a web address") from None
            if origin != self._origin:
                raise Failure(response.status, f"it redirects to {self._clean(_redact_url(url))}")
            target = path + query
        raise Failure(response.status, "it redirects in a circle")

    def _send(self, target: str, payload: bytes, deadline: float) -> _Response:
        idle = self._take_idle()
        if idle:
            # A server may close idle connections at any time: that is no failure.
            with suppress(ConnectionError):
                return self._send_on(idle, target, payload, deadline)
        return self._send_on(self._open(), target, payload, deadline)

    def _take_idle(self) -> HTTPConnection | None:
        if self._process != os.getpid():  # after a fork these connections belong to the parent
            self.close()
            self._process = os.getpid()
        with suppress(IndexError):
            return self._idle.pop()
        return None

    def _open(self) -> HTTPConnection:
        scheme, host, port = self._origin
        return (HTTPSConnection if scheme == "https" else HTTPConnection)(host, port)

    def _send_on(self, connection: HTTPConnection, target: str, payload: bytes, deadline: float) -> _Response:
        connection.timeout = self._time_left(deadline)
        if connection.sock:
            connection.sock.settimeout(connection.timeout)
        reusable = False
        try:
            connection.request("POST", target, payload, self._headers)
            with connection.getresponse() as response:
                data = self._read(response, deadline)
                reusable = not response.will_close
        finally:
            if reusable:
                self._idle.append(connection)
            else:
                connection.close()
        headers = response.headers
        return _Response(response.status, data, headers.get("Location", ""), headers.get("Retry-After", ""))

    def _read(self, response: HTTPResponse, deadline: float) -> bytes:
        data = bytearray()
        length = response.length  # `read1` of Python 3.11 does not stop there, and waits for more
        while length is None or len(data) < length:
            piece = response.read1(2**16 if length is None else min(2**16, length - len(data)))
            data += piece
            if len(data) > _MAX_RESPONSE_BYTES:
                raise Failure(response.status, f"its response is over {_MAX_RESPONSE_BYTES >> 20} MiB")
            if not piece:
                break
            self._time_left(deadline)  # the socket's timeout starts again with every piece
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

    def _status_failure(self, response: _Response) -> Failure:
        message, code = _parse_error(response.data)
        reason = f"{response.status} {responses.get(response.status, '')}".rstrip()
        # An exhausted account gets the status of a rate limit, but waiting does not help it.
        transient = response.status in _TRANSIENT_STATUSES and code != "insufficient_quota"
        if transient and (seconds := _parse_retry_after(response.retry_after, self._clock.now())):
            self._resume_at = max(self._resume_at, self._time_in(min(seconds, _MAX_PAUSE_SECONDS)))
        return Failure(response.status, f"{reason}: {self._clean(message)}" if message else reason, transient=transient)

    def _clean(self, text: str) -> str:
        """Return text from a server as one short line for a message, without the key."""
        line = " ".join(text.split())
        return (line.replace(self._key, "***") if self._key else line)[:200]


def _split_url(url: str) -> tuple[tuple[str, str, int], str, str]:
    """Return origin, path and query of a URL; a `ValueError` says what is wrong with it."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", parts.netloc):
        raise ValueError("is not a web address: use one like http://localhost:11434/v1")
    if "@" in parts.netloc:
        raise ValueError("contains a password: put it into the variable that memorySearch.apiKeyEnv names instead")
    path, query = (quote(part, safe="/%:@!$&'()*+,;=~?") for part in (parts.path, parts.query))
    return (parts.scheme, parts.hostname, port), path, f"?{query}" if query else ""


def _redact_url(url: str) -> str:
    """Return a URL without what may be secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def _parse_retry_after(retry_after: str, now: float) -> float:
    """Return the seconds that a `Retry-After` header asks for, as a number or a date; 0 if it is neither, or past."""
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]*)?", retry_after):
        return float(retry_after)
    with suppress(ValueError, TypeError, OverflowError):
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - now)
    return 0.0


def _parse_json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise Failure(200, "what it answers is not JSON") from None


def _parse_error(data: bytes) -> tuple[str, str]:
    """Return message and code of an error response.

    Its shape is {"error": {"message", "code"}}, {"error": "..."} or {"detail": "..."}.
    """
    with suppress(ValueError, RecursionError):
        response = json.loads(data)
        error = response.get("error") or response.get("detail") or response if isinstance(response, dict) else ""
        if isinstance(error, dict):
            return str(error.get("message") or ""), str(error.get("code") or error.get("type") or "")
        return str(error), ""
    return "", ""
