"""Rate limits as token buckets that refill continuously: requests and writes per token, failed sign-ins per address.

Addresses that guess at tokens or sign-in codes have to wait. A secret that was valid before is always checked, so that
callers who share an address with a guesser (behind one proxy, on one machine) are not held up.

Quotas limit how many writes a token may make in a day, and how many bytes it may add; by default there are none.
Writes are counted where they are made (`writing.py`), so every tool and endpoint of every surface counts, whatever the
backend.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from ipaddress import IPv6Address, ip_address
from threading import Lock
from typing import NamedTuple, Protocol

from ..caching import cache_within
from ..errors import QuotaExceeded
from ..storage.tokens import hash_secret
from ..writing import Quota, limit_writes

MAX_BUCKETS = 10_000
FAILURES_PER_MINUTE = 60
LOOKUPS_PER_MINUTE = 30  # database lookups of secrets from an address that guesses
UNGUESSABLE_CHARACTERS = 32  # a secret this long cannot be guessed, so a valid one need not wait
DAY_SECONDS = 86_400.0
_IPV6_HOST_BITS = 64  # a provider usually assigns a /64 to one customer


class Bucket(NamedTuple):
    """How many requests a key (a token, an address) had left at a time."""

    left: float
    at: float


class Buckets(Protocol):
    """Storage of buckets by key. Processes that share them hold the same lock."""

    def lock(self) -> AbstractContextManager[object]: ...

    def get(self, key: str) -> Bucket | None: ...

    def put(self, key: str, bucket: Bucket) -> None: ...


class ServerBuckets(NamedTuple):
    """The bucket storage of each limit of a server; None keeps them in this process."""

    requests: Buckets | None = None
    writes: Buckets | None = None
    added: Buckets | None = None
    sign_ins: Buckets | None = None


class LocalBuckets:
    """The buckets of one process; the least recently used are dropped."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self._lock = Lock()

    def lock(self) -> AbstractContextManager[object]:
        return self._lock

    def get(self, key: str) -> Bucket | None:
        return self._buckets.get(key)

    def put(self, key: str, bucket: Bucket) -> None:
        self._buckets[key] = bucket
        self._buckets.move_to_end(key)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)


class RateLimiter:
    """Limits what each key (such as a token) may do in a period (such as requests per minute): a token bucket that
    holds one period's worth."""

    def __init__(
        self,
        limit: int,
        buckets: Buckets | None = None,
        now: Callable[[], float] = time.monotonic,
        *,
        period_seconds: float = 60.0,
    ) -> None:
        """`limit` 0: none."""
        self._limit = limit
        self._now = now
        self._buckets = buckets or LocalBuckets()
        self._period_seconds = period_seconds

    def seconds_to_wait(self, key: str, amount: float = 1) -> float:
        """Count a request of a key and return 0, or return how long it must wait."""
        if not self._limit:
            return 0.0
        with self._buckets.lock():
            bucket = self._refill(key)
            is_allowed = bucket.left >= amount
            self._buckets.put(key, bucket._replace(left=bucket.left - amount) if is_allowed else bucket)
        return 0.0 if is_allowed else self._seconds_until(bucket, amount)

    def peek(self, key: str) -> float:
        """Return how long to wait until a key has a request left, without counting one."""
        with self._buckets.lock():
            bucket = self._refill(key)
        return 0.0 if bucket.left >= 1 else self._seconds_until(bucket)

    def count(self, key: str) -> None:
        """Count a request that was already made, even if none is left: a key owes at most one period's worth."""
        with self._buckets.lock():
            bucket = self._refill(key)
            self._buckets.put(key, bucket._replace(left=max(bucket.left - 1, -float(self._limit))))

    def _refill(self, key: str) -> Bucket:
        now = self._now()
        bucket = self._buckets.get(key) or Bucket(float(self._limit), now)
        gained = (now - bucket.at) * self._limit / self._period_seconds
        return Bucket(min(self._limit, bucket.left + gained), now)

    def _seconds_until(self, bucket: Bucket, amount: float = 1) -> float:
        return (amount - bucket.left) * self._period_seconds / self._limit


class SignInLimiter:
    """Counts the failed sign-ins of each address, in buckets that the workers of a server may share."""

    def __init__(self, buckets: Buckets | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._buckets = buckets or LocalBuckets()
        self._limiter = RateLimiter(FAILURES_PER_MINUTE, self._buckets, now)
        self._lookups = RateLimiter(LOOKUPS_PER_MINUTE, self._buckets, now)
        self._now = now
        self._valid: set[str] = set()  # names of secrets that were valid here

    def seconds_to_wait(self, address: str, secret: str, *, is_costly: bool = False) -> float:
        """Return how long an address must wait before a secret from it is checked; 0 if it need not.

        While an address is guessing, a secret too long to be guessed is still checked. If checking `is_costly`, as in
        a database, only a limited number are.
        """
        network = _name_network(address)
        if not secret or _name_secret(network, secret) in self._valid:
            return 0.0
        seconds = self._limiter.peek(network)
        if not seconds or self._is_valid_elsewhere(network, secret):
            return 0.0
        if len(secret) < UNGUESSABLE_CHARACTERS:
            return seconds
        return self._lookups.seconds_to_wait(f"look-ups {network}") if is_costly else 0.0

    def count_failure(self, address: str, secret: str) -> float:
        """Count an invalid secret, and return how long its address must wait for having guessed too often before; 0 if
        it has not. A request without a secret is not a guess."""
        if not secret:
            return 0.0
        network = _name_network(address)
        seconds = self._limiter.peek(network)
        self._limiter.count(network)
        return seconds

    def count_success(self, address: str, secret: str) -> None:
        """Remember a valid secret."""
        name = _name_secret(_name_network(address), secret)
        if name in self._valid:
            return
        if len(self._valid) >= MAX_BUCKETS:
            self._valid.clear()
        self._valid.add(name)
        with self._buckets.lock():
            self._buckets.put(name, Bucket(0.0, self._now()))

    def _is_valid_elsewhere(self, network: str, secret: str) -> bool:
        """Return whether another worker has seen that a secret is valid."""
        with self._buckets.lock():
            return self._buckets.get(_name_secret(network, secret)) is not None


def _name_secret(network: str, secret: str) -> str:
    """Return the name under which a valid secret is remembered. One that could be guessed is remembered only for its
    network: anybody else who tries it waits like any guesser."""
    return f"secret {hash_secret(secret if len(secret) >= UNGUESSABLE_CHARACTERS else f'{network} {secret}')}"


@cache_within(250_000)
def _name_network(address: str) -> str:
    """Return what failures are counted by: an IPv4 address, or the network of an IPv6 address."""
    try:
        ip = ip_address(address)
    except ValueError:  # such as a socket of this machine
        return f"address {address}"
    if not isinstance(ip, IPv6Address):
        return f"address {ip}"
    if ip.ipv4_mapped:
        return f"address {ip.ipv4_mapped}"
    return f"network {int(ip) >> _IPV6_HOST_BITS:x}"


class Quotas:
    """The quotas of all tokens of a server; 0 is no limit. Workers share them by their `Buckets`."""

    def __init__(
        self,
        writes_per_day: int,
        bytes_per_day: int,
        writes: Buckets | None = None,
        added: Buckets | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._writes = RateLimiter(writes_per_day, writes, now, period_seconds=DAY_SECONDS)
        self._bytes = RateLimiter(bytes_per_day, added, now, period_seconds=DAY_SECONDS)
        self._writes_per_day = writes_per_day
        self._bytes_per_day = bytes_per_day

    def apply(self, token: str) -> AbstractContextManager[None]:
        """Count the writes inside the block as a token's; one that is over its quota raises QuotaExceeded."""
        if not self._writes_per_day and not self._bytes_per_day:
            return nullcontext()
        return limit_writes(Quota(partial(self.count_write, token), partial(self.count_bytes, token)))

    def count_write(self, token: str) -> None:
        if seconds := self._writes.seconds_to_wait(token):
            raise _make_error(f"{self._writes_per_day:,} writes a day", seconds)

    def count_bytes(self, token: str, size: int) -> None:
        if self._bytes_per_day and size > self._bytes_per_day:
            problem = f"it has {size:,} bytes, more than this token may add in a day ({self._bytes_per_day:,})"
            raise QuotaExceeded(problem, advice="write less, or ask whoever runs the server")
        if seconds := self._bytes.seconds_to_wait(token, size):
            raise _make_error(f"{self._bytes_per_day:,} bytes a day", seconds)


def _make_error(quota: str, seconds: float) -> QuotaExceeded:
    wait = max(1, math.ceil(seconds))
    return QuotaExceeded(f"this token has used up its {quota}", retry_seconds=wait, advice=f"wait {wait} s")
