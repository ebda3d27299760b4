"""Signing in from the browser: a one-time code in the address is exchanged for a session key.

`commonplace web` opens a private file that leads to an address with the code. A code works once and for a minute.
Codes and keys are kept as hashes, for as long as the server runs.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from threading import Lock

from starlette.requests import Request
from starlette.responses import Response

from ...schema import TEXT, closed_object, object_of, plain_text
from ...storage.tokens import Grant, hash_secret
from . import SESSION_PATH
from .dispatch import Dispatcher, make_response, parse_body
from .endpoints import ApiRequest, Endpoint, Reply, ResponseSpec
from .problems import Problem

KEY_PREFIX = "cpk_"
CODE_LIFETIME_SECONDS = 60.0
MAX_KEYS = 1000


def _do_nothing() -> None:
    """For whoever does not need to know that a code was used."""


class SignInKeys:
    """`on_exchange` is called when a code was used."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._codes: dict[str, float] = {}  # hash of a code -> when it expires
        self._keys: dict[str, str] = {}  # hash of a key -> its name in the audit log
        self._lock = Lock()
        self.on_exchange: Callable[[], None] = _do_nothing

    def create_code(self) -> str:
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._codes[hash_secret(code)] = self._now() + CODE_LIFETIME_SECONDS
        return code

    def exchange(self, code: str) -> str | None:
        """Return a new key for a code; None if the code was used, has expired or never existed."""
        with self._lock:
            expires = self._take_code(hash_secret(code))
            if expires is None or expires < self._now() or len(self._keys) >= MAX_KEYS:
                return None
            key = KEY_PREFIX + secrets.token_urlsafe(32)
            self._keys[hash_secret(key)] = f"page {len(self._keys) + 1}"
        self.on_exchange()
        return key

    def _take_code(self, digest: str) -> float | None:
        match = next((each for each in self._codes if hmac.compare_digest(each, digest)), "")
        return self._codes.pop(match) if match else None

    def find_grant(self, secret: str) -> Grant | None:
        """Return the grant of a key: everything, as for the person who started the server."""
        if not secret.startswith(KEY_PREFIX):
            return None
        digest = hash_secret(secret)
        with self._lock:
            name = next((self._keys[each] for each in self._keys if hmac.compare_digest(each, digest)), "")
        return Grant(name, is_person=True) if name else None


async def create_session(dispatcher: Dispatcher, request: Request, _: ApiRequest | None) -> Response:
    code = (await parse_body(ENDPOINTS[0], request))["code"]
    key = dispatcher.exchange_code(code)
    if key is None:
        raise Problem(
            403, "this code was used, or is older than a minute: run `commonplace web` again, or give a token"
        )
    return make_response(Reply({"key": key}))


ENDPOINTS = [
    Endpoint(
        "POST",
        SESSION_PATH,
        None,
        "A key for a code that `commonplace web` put into the address; good for as long as the server runs.",
        body=closed_object({"code": plain_text("From the address.", min_length=1, max_length=200)}),
        responses={200: ResponseSpec("Send it as Authorization: Bearer.", object_of({"key": TEXT}))},
        respond=create_session,
        is_public=True,
        tag="access",
    ),
]
