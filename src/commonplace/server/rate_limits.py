"""Rate limits, in buckets that refill all the time: of requests by token, and of failed sign-ins by address.

Whoever guesses at tokens or sign-in codes has to wait. A secret that let somebody in before is always checked, so that
callers who share an address with someone who guesses (behind one proxy, on one machine) go on.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from ipaddress import IPv6Address, ip_address
from threading import Lock
from typing import NamedTuple, Protocol

from ..caching import cache_within
from ..storage.tokens import hash_secret

MAX_BUCKETS = 10_000
FAILURES_PER_MINUTE = 60
_IPV6_HOST_BITS = 64  # that one customer of a provider chooses freely


class Bucket(NamedTuple):
    """How many requests a token had left at a time."""

    left: float
    at: float


class Buckets(Protocol):
    """Where the buckets of tokens are. All of them may be shared with others who hold the same lock."""

    def lock(self) -> AbstractContextManager[object]: ...

    def get(self, token: str) -> Bucket | None: ...

    def put(self, token: str, bucket: Bucket) -> None: ...


class LocalBuckets:
    """The buckets of one process; of many, those that were used last."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self._lock = Lock()

    def lock(self) -> AbstractContextManager[object]:
        return self._lock

    def get(self, token: str) -> Bucket | None:
        return self._buckets.get(token)

    def put(self, token: str, bucket: Bucket) -> None:
        self._buckets[token] = bucket
        self._buckets.move_to_end(token)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)


class RateLimiter:
    """Lets each token do so much in a period, such as requests in a minute: a bucket that refills all the time, and
    holds one period."""

    def __init__(
        self,
        limit: int,
        now: Callable[[], float] = time.monotonic,
        buckets: Buckets | None = None,
        period_seconds: float = 60.0,
    ) -> None:
        """`limit` 0: none."""
        self._limit = limit
        self._now = now
        self._buckets = buckets or LocalBuckets()
        self._period_seconds = period_seconds

    def seconds_to_wait(self, token: str, amount: float = 1) -> float:
        """Count a request of a token and return 0, or return how long to wait if it has not enough left."""
        if not self._limit:
            return 0.0
        with self._buckets.lock():
            bucket = self._refill(token)
            is_allowed = bucket.left >= amount
            self._buckets.put(token, bucket._replace(left=bucket.left - amount) if is_allowed else bucket)
        return 0.0 if is_allowed else self._seconds_until(bucket, amount)

    def peek(self, token: str) -> float:
        """Return how long to wait until a token has a request left, without counting one."""
        with self._buckets.lock():
            bucket = self._refill(token)
        return 0.0 if bucket.left >= 1 else self._seconds_until(bucket)

    def count(self, token: str) -> None:
        """Count a request that was made already, even if none is left: a token owes those of one period at most."""
        with self._buckets.lock():
            bucket = self._refill(token)
            self._buckets.put(token, bucket._replace(left=max(bucket.left - 1, -float(self._limit))))

    def _refill(self, token: str) -> Bucket:
        now = self._now()
        bucket = self._buckets.get(token) or Bucket(float(self._limit), now)
        gained = (now - bucket.at) * self._limit / self._period_seconds
        return Bucket(min(self._limit, bucket.left + gained), now)

    def _seconds_until(self, bucket: Bucket, amount: float = 1) -> float:
        return (amount - bucket.left) * self._period_seconds / self._limit


class SignInLimiter:
    """Counts the failed sign-ins of each address, in buckets that the workers of a server may share."""

    def __init__(self, buckets: Buckets | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._buckets = buckets or LocalBuckets()
        self._limiter = RateLimiter(FAILURES_PER_MINUTE, now, self._buckets)
        self._now = now
        self._valid: set[str] = set()  # hashes of secrets that this process knows

    def seconds_to_wait(self, address: str, secret: str) -> float:
        """Return how long an address must wait before a secret from it is checked; 0 if it need not."""
        if not secret or hash_secret(secret) in self._valid:
            return 0.0
        seconds = self._limiter.peek(_name_network(address))
        return seconds if seconds and not self._is_valid_elsewhere(secret) else 0.0

    def count_failure(self, address: str, secret: str) -> None:
        """Count a secret that let nobody in. A request without any guesses at nothing."""
        if secret:
            self._limiter.count(_name_network(address))

    def count_success(self, secret: str) -> None:
        """Remember a secret that let somebody in."""
        digest = hash_secret(secret)
        if digest in self._valid:
            return
        if len(self._valid) >= MAX_BUCKETS:
            self._valid.clear()
        self._valid.add(digest)
        with self._buckets.lock():
            self._buckets.put(_name_secret(digest), Bucket(0.0, self._now()))

    def _is_valid_elsewhere(self, secret: str) -> bool:
        """Return whether a secret let somebody into another worker."""
        with self._buckets.lock():
            return self._buckets.get(_name_secret(hash_secret(secret))) is not None


def _name_secret(digest: str) -> str:
    return f"secret {digest}"


@cache_within(250_000)
def _name_network(address: str) -> str:
    """Return what failures are counted for: an address of IPv4, or the network that an address of IPv6 is in."""
    try:
        ip = ip_address(address)
    except ValueError:  # such as a socket of this machine
        return f"address {address}"
    if not isinstance(ip, IPv6Address):
        return f"address {ip}"
    if ip.ipv4_mapped:
        return f"address {ip.ipv4_mapped}"
    return f"network {int(ip) >> _IPV6_HOST_BITS:x}"
