"""What every backend's history shares: which versions are kept, and how kept versions become lines again."""

from __future__ import annotations

from collections.abc import Iterable

from .base import ChooseVersions, Versions
from .deltas import Change, Line, line_of


def rebuild_lines(kept: Iterable[tuple[Change, bytes | None]]) -> list[Line]:
    """Encode versions as lines again, since lines they were deltas of may be gone."""
    out: list[Line] = []
    last: bytes | None = None
    for change, data in kept:
        before = out[-1].change.version if out else change.before
        line = line_of(change._replace(before=before), last, data, out[-1].depth if out else -1)
        out.append(line)
        last = data
    return out


def keep_since(moment: str) -> ChooseVersions:
    """Keep what is newer than a moment, and the latest version of every page that exists."""

    def choose(_path: str, versions: Versions) -> Versions:
        young = [each for each in versions if each[0].at >= moment]
        return young or [each for each in versions[-1:] if each[1] is not None]

    return choose


def oldest_that_fits(sizes: Iterable[tuple[str, int]], limit: int) -> str:
    """Return the moment from which on everything fits into `limit` bytes; empty when all of it does."""
    moment = ""
    for at, size in sorted(sizes, reverse=True):
        limit -= size
        if limit < 0:
            return moment or at
        moment = at
    return ""
