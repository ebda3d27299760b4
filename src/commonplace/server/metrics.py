"""Metrics for Prometheus: requests by operation and outcome, and their durations; and a request log in JSON.

Operations have names from a fixed set (endpoints and tools). Nothing here contains memory, queries or answers.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
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


class Counts:
    """Requests by operation and outcome, and how long they took, since a server began to serve."""

    def __init__(self, started_at: float) -> None:
        self.started_at = started_at
        self._requests: Counter[tuple[str, str]] = Counter()  # by operation and outcome
        self._durations: Counter[tuple[str, int]] = Counter()  # by operation, and the bucket that they fall into
        self._seconds: defaultdict[str, float] = defaultdict(float)  # total duration by operation

    def add(self, request: Request) -> None:
        self._requests[request.operation, request.outcome] += 1
        self._durations[request.operation, bisect_left(BUCKET_SECONDS, request.seconds)] += 1
        self._seconds[request.operation] += request.seconds

    def add_all(self, other: Counts) -> None:
        self.started_at = min(self.started_at, other.started_at)
        self._requests.update(other._requests)
        self._durations.update(other._durations)
        for operation, seconds in other._seconds.items():
            self._seconds[operation] += seconds

    def to_json(self) -> dict[str, Any]:
        return {
            "started_at": self.started_at,
            "requests": [[*names, count] for names, count in self._requests.items()],
            "durations": [[*bucket, count] for bucket, count in self._durations.items()],
            "seconds": {**self._seconds},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Counts:
        counts = cls(data["started_at"])
        counts._requests.update({(operation, outcome): count for operation, outcome, count in data["requests"]})
        counts._durations.update({(operation, bucket): count for operation, bucket, count in data["durations"]})
        counts._seconds.update(data["seconds"])
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
        for operation in sorted(self._seconds):
            yield from self._histogram_lines(operation)

    def _histogram_lines(self, operation: str) -> Iterator[str]:
        label = f'operation="{_escape(operation)}"'
        count = 0
        for bucket, limit in enumerate((*BUCKET_SECONDS, "+Inf")):
            count += self._durations[operation, bucket]
            yield f'commonplace_request_seconds_bucket{{{label},le="{limit}"}} {count}'
        yield f"commonplace_request_seconds_sum{{{label}}} {self._seconds[operation]:.6f}"
        yield f"commonplace_request_seconds_count{{{label}}} {count}"


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
