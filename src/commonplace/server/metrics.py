"""Metrics for Prometheus: requests by operation and outcome, and their durations; and a request log in JSON.

Operations have names from a fixed set (endpoints and tools). Nothing here contains memory, queries or answers.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, NamedTuple, TextIO

from ..formats.timestamps import format_timestamp
from ..model import Clock
from ..storage.tokens import Outcome

BUCKET_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Request(NamedTuple):
    """A completed request. `token` is the name of the token, never its secret."""

    operation: str
    outcome: Outcome
    seconds: float
    token: str = ""
    remote: str = ""


class _Durations:
    """A histogram: how many requests fall into each bucket, and their total duration."""

    def __init__(self, buckets: Sequence[int] = (), total_seconds: float = 0.0) -> None:
        self.buckets = [*buckets] or [0] * (len(BUCKET_SECONDS) + 1)
        self.total_seconds = total_seconds

    def add(self, seconds: float) -> None:
        self.buckets[bisect_left(BUCKET_SECONDS, seconds)] += 1
        self.total_seconds += seconds

    def add_all(self, other: _Durations) -> None:
        self.buckets = [one + two for one, two in zip(self.buckets, other.buckets, strict=True)]
        self.total_seconds += other.total_seconds


class Counts:
    """Requests by operation and outcome, and how long they took, since a server began to serve."""

    def __init__(self, started_at: float) -> None:
        self.started_at = started_at
        self._requests: Counter[tuple[str, str]] = Counter()  # by operation and outcome
        self._durations: dict[str, _Durations] = {}

    def add(self, request: Request) -> None:
        self._requests[request.operation, request.outcome] += 1
        self._durations.setdefault(request.operation, _Durations()).add(request.seconds)

    def add_all(self, other: Counts) -> None:
        self.started_at = min(self.started_at, other.started_at)
        self._requests.update(other._requests)
        for operation, durations in other._durations.items():
            self._durations.setdefault(operation, _Durations()).add_all(durations)

    def to_json(self) -> dict[str, Any]:
        return {
            "started_at": self.started_at,
            "requests": [[*names, count] for names, count in self._requests.items()],
            "durations": [[name, each.buckets, each.total_seconds] for name, each in self._durations.items()],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Counts:
        counts = cls(data["started_at"])
        counts._requests.update({(operation, outcome): count for operation, outcome, count in data["requests"]})
        counts._durations.update({name: _Durations(buckets, total) for name, buckets, total in data["durations"]})
        return counts

    def render(self) -> str:
        """Return everything in Prometheus' text format."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield "# HELP commonplace_start_time_seconds When this server began to serve, in seconds since 1970."
        yield "# TYPE commonplace_start_time_seconds gauge"
        yield f"commonplace_start_time_seconds {self.started_at:.3f}"
        yield "# HELP commonplace_requests_total Requests by operation and outcome."
        yield "# TYPE commonplace_requests_total counter"
        for (operation, outcome), count in sorted(self._requests.items()):
            yield f'commonplace_requests_total{{operation="{_escape(operation)}",outcome="{outcome}"}} {count}'
        yield "# HELP commonplace_request_seconds How long requests took."
        yield "# TYPE commonplace_request_seconds histogram"
        for operation, durations in sorted(self._durations.items()):
            yield from _histogram_lines(_escape(operation), durations)


class Metrics:
    """Counts the requests to one process, for Prometheus. Safe to share between threads."""

    def __init__(self) -> None:
        self._counts = Counts(time.time())
        self._lock = Lock()

    def add(self, request: Request) -> None:
        with self._lock:
            self._counts.add(request)

    def read(self) -> Counts:
        """Return a copy of what was counted so far."""
        counts = Counts(self._counts.started_at)
        with self._lock:
            counts.add_all(self._counts)
        return counts

    def render(self) -> str:
        """Return everything in Prometheus' text format."""
        return self.read().render()


def _histogram_lines(operation: str, durations: _Durations) -> Iterator[str]:
    name = "commonplace_request_seconds"
    count = 0
    for limit, in_bucket in zip((*BUCKET_SECONDS, "+Inf"), durations.buckets, strict=True):
        count += in_bucket
        yield f'{name}_bucket{{operation="{operation}",le="{limit}"}} {count}'
    yield f'{name}_sum{{operation="{operation}"}} {durations.total_seconds:.6f}'
    yield f'{name}_count{{operation="{operation}"}} {count}'


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class RequestLog:
    """Writes one line of JSON for each request."""

    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._stream = stream
        self._clock = clock
        self._lock = Lock()

    def add(self, request: Request) -> None:
        fields = {
            "at": format_timestamp(self._clock()),
            "operation": request.operation,
            "outcome": request.outcome,
            "ms": round(request.seconds * 1000, 1),
            "token": request.token,
            "remote": request.remote,
        }
        with self._lock:
            self._stream.write(json.dumps(fields) + "\n")
            self._stream.flush()
