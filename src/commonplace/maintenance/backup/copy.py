"""A memory copied to another place, between folders and databases: pages byte for byte, history with times and authors.

Run again, it goes on: what is there already is not copied, and a page that says something else there stays, unless it
is to be replaced; history then keeps what it said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from ... import directive, settings
from ...errors import CommonplaceError, ConnectionLost, InvalidArgument, NotFound
from ...formats.timestamps import format_timestamp
from ...home import Home
from ...storage.base import ABSENT, Sentences, Versions
from ...storage.deltas import Change, version_of
from .endpoints import Copy, Side, Step, side_of
from .scope import extent, holds

Progress = Callable[[str, int, int], None]
Lives = dict[str, list[str]]  # the versions that history knows, by page
_BATCH, _BYTES = 50, 8_000_000  # pages, and bytes of all their versions, that are put together
_HAND = ("", "", "", "", "")  # who signs a change that nobody signed


class Copied(NamedTuple):
    """Paths. `told`: pages that were there already and got what was missing of their history, or only have one.
    `differ`: they say something else there; replaced where that was asked for. Nothing is done in a dry run."""

    added: tuple[str, ...]
    told: tuple[str, ...]
    same: tuple[str, ...]
    differ: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]


class _Plan(NamedTuple):
    new: list[str]
    told: list[str]
    same: list[str]
    differ: list[str]
    standing: dict[str, str]


def copy(
    source: Home,
    target: Home,
    *,
    overwrite: bool = False,
    dry_run: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> Copied:
    """Copy all of memory. `overwrite`: pages that differ there are replaced, and history keeps what they said."""
    source.check()
    target.check()
    if source.root == target.root:
        raise InvalidArgument(f"{source.root} is both the source and the target: name two memories")
    here, there, warnings = side_of(source), side_of(target), Sentences()
    plan = _compared(here, there, warnings)
    if settings.FILE in plan.differ and not overwrite:
        warnings.append(f"{settings.FILE} differs and stays: what is copied may stand where that memory does not look")
    steps = [*plan.new, *plan.told, *(plan.differ if overwrite else ())]
    failed: dict[str, str] = {}
    if not dry_run:
        count = 0
        for some in _batches(here, steps, plan.standing, failed):
            failed |= there.put(some)
            count += len(some)
            progress("copying", count, len(steps))
        there.done()

    def done(paths: list[str]) -> tuple[str, ...]:
        return tuple(path for path in paths if path not in failed)

    lists = done(plan.new), done(plan.told), done(plan.same), done(plan.differ)
    return Copied(*lists, tuple(failed.items()), tuple(warnings))


def _compared(here: Side, there: Side, warnings: Sentences) -> _Plan:
    pages, roots = here.pages(warnings), extent(here.home, history=False)
    past, known = _lives(here), _lives(there)
    gone = [path for path in past if path not in pages and holds(roots, path)]
    if not pages and not gone:
        raise NotFound(f"there is nothing to copy in {here.home.root}: see that it is the memory you mean")
    standing = there.versions({*pages, *gone})
    plan = _Plan([], [], [], [], standing)
    untouched = f"{there.home.layout.directives}/memory.md", version_of(directive.TEXT.encode())
    for path in sorted({*pages, *gone}, key=lambda path: (path != settings.FILE, path)):
        found, wanted = standing.get(path, ABSENT), pages.get(path, ABSENT)
        if found == wanted:
            lacks = past.get(path, []) != known.get(path, []) and _continues(past.get(path, []), known.get(path, []))
            (plan.told if lacks else plan.same).append(path)
        elif found == ABSENT or (path, found) == untouched:
            plan.new.append(path)
        elif wanted or found in past[path]:  # a page that came from there, and was removed there since; or it differs
            plan.differ.append(path)
    return plan


def _lives(side: Side) -> Lives:
    lives: Lives = {}
    for change in side.home.storage.history.changes():
        lives.setdefault(change.path, []).append(change.version)
    return lives


def _continues(past: list[str], known: list[str]) -> bool:
    return len(past) > len(known) and past[: len(known)] == known


def _batches(here: Side, paths: list[str], standing: dict[str, str], failed: dict[str, str]) -> Iterator[list[Step]]:
    """Pages to be put together: one by one each would wait for the disk. What can not be read has failed."""
    some: list[Step] = []
    size = 0
    for path in paths:
        try:
            page = _taken(here, path)
        except ConnectionLost:
            raise
        except CommonplaceError as error:
            failed[path] = str(error)
            continue
        some.append((page, standing.get(path, ABSENT)))
        size += sum(len(data or b"") for _, data in page.past)
        if len(some) >= _BATCH or size > _BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _taken(side: Side, path: str) -> Copy:
    """A page and its past, which ends with what the page is now, however many write it meanwhile."""
    while True:
        data, modified = side.read(path)
        past = side.home.storage.history.versions(path)
        if (past[-1][0].version if past else ABSENT) == version_of(data):
            return Copy(path, data, modified, past)
        if side.read(path) == (data, modified):  # changed by a hand, which history has not noticed yet
            return Copy(path, data, modified, [*past, _by_hand(side, path, data, modified, past)])


def _by_hand(side: Side, path: str, data: bytes | None, modified: int, past: Versions) -> tuple[Change, bytes | None]:
    at = format_timestamp(datetime.fromtimestamp(modified / 10**9, UTC) if modified > 0 else side.home.clock())
    before = past[-1][0] if past else None
    name = version_of(f"{path} {at} {len(past)}".encode())[:16]
    at = max(at, before.at) if before else at
    return Change(name, at, path, version_of(data), before.version if before else ABSENT, *_HAND), data
