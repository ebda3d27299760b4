"""Limits for failed sign-ins, by address: whoever guesses at tokens or sign-in codes has to wait.

A secret that let somebody in before is always checked, so that callers who share an address with someone who guesses
(behind one proxy, on one machine) go on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from ..storage.tokens import hash_secret
from .metrics import MAX_BUCKETS, Bucket, Buckets, LocalBuckets, RateLimiter

FAILURES_PER_MINUTE = 60
_IPV6_HOST_BITS = 64  # that one customer of a provider chooses freely


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


@lru_cache(maxsize=1024)
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
