"""WHAT HAPPENED, AND HOW DO I GET BACK? The history of a home, as far as an agent may see it: who changed what, what a
page was at a time, and changes taken back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta

from ..errors import InvalidArgument, NotFound, PageNotFound
from ..formats import blocks
from ..formats.timestamps import format_timestamp, parse_timestamp
from ..home import Home
from ..storage.base import Retention
from ..storage.deltas import Change, as_text
from ..storage.names import file_name
from ..storage.undo import Undone, as_of
from ..storage.undo import restore as put_back
from ..storage.undo import undo as take_back

_AGO = re.compile(r"(\d+)\s*(minute|min|m|hour|h|day|d|week|w)s?(?: ago)?")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def changes(home: Home, what: str = "", *, agent: str = "", since: str = "", everyone: bool = False) -> list[Change]:
    """The changes of a page, of a key, or of everything; those of one agent, since a time. Oldest first."""
    look(home)
    found = (
        _changes_of(home, what, everyone=everyone)
        if what
        else _seen(home, home.storage.history.changes(), everyone=everyone)
    )
    start = moment(home, since) if since else ""
    return [change for change in found if (not agent or change.agent == agent) and (not start or change.at >= start)]


def change(home: Home, name: str, *, everyone: bool = False) -> Change:
    """A change by its id, or the beginning of it."""
    if everyone:
        return home.storage.history.change(name)
    with suppress(NotFound):
        found = home.storage.history.change(name)
        if may_see(home, found.path):
            return found
    # What begins alike and is not this agent's neither is found nor stands in the way.
    mine = [each for each in _seen(home, home.storage.history.changes(), everyone=False) if each.id.startswith(name)]
    if len(mine) == 1:
        return mine[0]
    if mine:
        raise NotFound(f"{name} is the beginning of {len(mine)} changes: give more of it")
    raise NotFound(f"there is no change {name}: `commonplace log` lists them")


def look(home: Home) -> None:
    """See what was changed by hand since anybody looked."""
    home.storage.check()
    home.index.invalidate()
    home.index.query(lambda _: None)


def is_change(name: str) -> bool:
    """Whether something has the look of an id."""
    return re.fullmatch(r"[0-9a-f]{4,16}", name) is not None


def sides(home: Home, what: Change) -> tuple[str, str]:
    """A page before and after a change, as text."""
    return as_text(home.storage.history.read_version(what.path, what.before)), as_text(
        home.storage.history.read_version(what.path, what.version)
    )


def page_as_of(home: Home, path: str, when: str, *, everyone: bool = False) -> str:
    """What a page said at a time; PageNotFound when it was not there then."""
    data = as_of(home.storage.history, _known(home, path, everyone=everyone), moment(home, when, last=True))
    if data is None:
        raise PageNotFound(f"{path} (at {when})")
    return as_text(data)


def together(home: Home, some: Sequence[Change]) -> list[Change]:
    """These changes, with all that the same calls changed on other pages: a note and its line in the log of the day."""
    calls, names = {change.call for change in some if change.call}, {change.id for change in some}
    return [change for change in home.storage.history.changes() if change.call in calls or change.id in names]


def undo(home: Home, some: Sequence[Change]) -> list[Undone]:
    """Take changes back, each page on its own."""
    names = ", ".join(change.id for change in some[:3]) + (f" and {len(some) - 3} more" if len(some) > 3 else "")
    with home.writer.session("undo", why=f"takes back {names}"):
        return take_back(home.storage.pages, home.storage.history, some)


def restore(home: Home, path: str, when: str, *, everyone: bool = False) -> bool:
    """Let a page be what it was at a time, or after a change; False when it is that already."""
    path = _known(home, path, everyone=everyone)
    if is_change(when):
        found = change(home, when, everyone=everyone)
        if found.path != path:
            raise InvalidArgument(f"{when} is a change of {found.path}, not of {path}")
        data = home.storage.history.read_version(path, found.version)
    else:
        data = as_of(home.storage.history, path, moment(home, when, last=True))
    with home.writer.session("restore", why=f"as of {when}"):
        return put_back(home.storage.pages, path, data)


def collect(home: Home, days: int | None = None, megabytes: int | None = None) -> tuple[int, int]:
    """Let go of history that is older or more than is to be kept: how many versions, and how many bytes that freed."""
    kept = home.settings.history
    before = home.storage.history.size()
    size = kept.megabytes if megabytes is None else megabytes
    gone = home.storage.history.prune(Retention(kept.days if days is None else days, size * 1_000_000))
    return gone, before - home.storage.history.size()


def moment(home: Home, text: str, *, last: bool = False) -> str:
    """A time as people write it, as a stamp. A day is its beginning, or its end: what was at the end of it counts."""
    text = text.strip()
    if ago := _AGO.fullmatch(text.lower()):
        return format_timestamp(home.clock() - timedelta(**{_UNITS[ago[2][0]]: int(ago[1])}))
    if text.lower() == "now":
        return format_timestamp(home.clock())
    if re.match(r"\d{4}-\d\d?-\d\d?[T ]", text):
        return format_timestamp(_exact(home, text))
    since, until = (home.filters(**{name: text}) for name in ("since", "until"))
    day = date.fromordinal((until.until if last else since.since) or 1)
    return format_timestamp(datetime.combine(day, time.max if last else time.min, home.zone))


def _exact(home: Home, text: str) -> datetime:
    found = parse_timestamp(text)
    if found is None:
        raise InvalidArgument(f"{text!r} is not a time: use one like 2026-03-14T09:30, 2026-03-14 or `2 hours ago`")
    has_zone = re.search(r"(?:Z|[+-]\d\d:?\d\d)$", text)
    return found if has_zone else found.replace(tzinfo=home.zone)


def _seen(home: Home, some: Sequence[Change], *, everyone: bool) -> list[Change]:
    return [change for change in some if everyone or may_see(home, change.path)]


def _changes_of(home: Home, what: str, *, everyone: bool) -> list[Change]:
    """Of a page by its path, or of what is kept under a name: records, skills, topics, and notes on their pages.

    What this agent may not see is not known, as if it were not there.
    """
    found = _seen(home, home.storage.history.changes(what.removeprefix("./")), everyone=everyone)
    if found:
        return found
    named = (path for path in home.storage.history.paths() if _is_named(home, path, what))
    every = [change for path in named for change in home.storage.history.changes(path)]
    every = [*_seen(home, every, everyone=everyone), *_of_note(home, what)]
    if not every:
        raise NotFound(f"history knows no page and no key {what!r}: `commonplace log` lists what it knows")
    return sorted(every, key=lambda change: change.at)


def _is_named(home: Home, path: str, name: str) -> bool:
    place = home.layout.place(path)
    if place is None or not (place.kind in ("record", "skill") or place.scope.kind == "world"):
        return False
    return place.name in (name, file_name(name))


def _of_note(home: Home, key: str) -> Iterator[Change]:
    """The changes of pages of notes that changed the note of a key."""
    tree = home.layout.notes_tree(home.agent)
    for path in home.storage.history.paths():
        if path.startswith(f"{tree}/") or path == home.layout.curated_page(home.agent):
            before: list[str] = []
            for change, data in home.storage.history.versions(path):
                now = [block.content for block in blocks.find(as_text(data), key)]
                if now != before:
                    yield change
                before = now


def _known(home: Home, path: str, *, everyone: bool) -> str:
    path = path.removeprefix("./")
    look(home)
    if not home.storage.history.changes(path) or not (everyone or may_see(home, path)):
        raise NotFound(f"history knows no page {path}: `commonplace log` lists what it knows")
    return path


def may_see(home: Home, path: str) -> bool:
    """Whether an agent may know what became of a page."""
    place = home.layout.place(path)  # a session is its agent's, be it searched or not
    return home.visibility.may_see(place) if place else home.visibility.may_know(path)


def local(home: Home, at: str) -> str:
    """A stamp in the home's own time, as people read it."""
    found = parse_timestamp(at)
    return f"{(found or datetime.now(UTC)).astimezone(home.zone):%Y-%m-%d %H:%M:%S}"
