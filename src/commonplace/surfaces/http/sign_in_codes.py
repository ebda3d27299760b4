"""Keys of one run of a server: a page that a person opens gets one for a code that is good once, and for a minute.

A code may be seen by who looks at an address bar or a list of processes; by then it is worth nothing. Kept are hashes.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from threading import Lock

from ...storage.tokens import Grant, digest_of

PREFIX = "cpk_"
_GOOD_FOR = 60.0  # seconds
_MOST = 1000


class Keys:
    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._codes: dict[str, float] = {}  # hash of a code, and until when it is good
        self._keys: dict[str, str] = {}  # hash of a key, and what the log calls it
        self._lock = Lock()

    def code(self) -> str:
        """A new code, to be handed to one page."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._codes[digest_of(code)] = self._now() + _GOOD_FOR
        return code

    def exchange(self, code: str) -> str | None:
        """The key for a code; None for one that was used, is too old, or never was."""
        with self._lock:
            until = self._taken(digest_of(code))
            if until is None or until < self._now() or len(self._keys) >= _MOST:
                return None
            key = PREFIX + secrets.token_urlsafe(32)
            self._keys[digest_of(key)] = f"page {len(self._keys) + 1}"
            return key

    def _taken(self, digest: str) -> float | None:
        match = next((each for each in self._codes if hmac.compare_digest(each, digest)), "")
        return self._codes.pop(match) if match else None

    def grant(self, secret: str) -> Grant | None:
        """What who shows a key may do: everything, as the person who started the server."""
        if not secret.startswith(PREFIX):
            return None
        digest = digest_of(secret)
        with self._lock:
            name = next((self._keys[each] for each in self._keys if hmac.compare_digest(each, digest)), "")
        return Grant(name) if name else None
