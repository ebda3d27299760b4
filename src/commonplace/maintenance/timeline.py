"""The history that an agent may see: who changed what, blame, a page as of a time, undo, restore."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import NamedTuple

from ..errors import CommonplaceError, Conflict, InvalidArgument, NotFound, NotText, PageNotFound
from ..facts.statements import split_statements
from ..facts.versions import judge
from ..formats import blocks
from ..formats.timestamps import format_timestamp, parse_timestamp
from ..formats.transcripts import render_lines
from ..home import Home
from ..model import Page
from ..search.filters import parse_time
from ..storage.authors import Bounds, LineOrigin, blame, list_lines, split_lines
from ..storage.base import ABSENT, HistoryStore, Retention
from ..storage.history import Change, as_text, find_new_path, require_one, version_of
from ..storage.merge import diff_lines, merge
from ..storage.names import file_name
from ..wording import format_command, list_some

_UNDO_ADVICE = "undo the later changes first, or use `commonplace restore` to put back the page as of a time"
_BLAME_BOUNDS = Bounds(versions=5000, size=100_000_000)


class UndoResult(NamedTuple):
    """The outcome for one page. `problem`: why it was left as it is."""

    path: str
    changes: tuple[Change, ...]
    problem: str = ""


def list_changes(
    home: Home, what: str = "", *, agent: str = "", since: str = "", everyone: bool = False
) -> list[Change]:
    """Return the changes of a page, of a key, or of everything, oldest first; by one agent, or since a time, if given.

    With `everyone`, pages that this agent may not see are included.
    """
    record_outside_edits(home)
    if what:
        changes = _list_changes_of(home, what, everyone=everyone)
    else:
        changes = _only_visible(home, home.storage.history.changes(), everyone=everyone)
    start = parse_moment(home, since) if since else ""
    return [change for change in changes if (not agent or change.agent == agent) and (not start or change.at >= start)]


def leave_out_activity(home: Home, changes: Sequence[Change]) -> list[Change]:
    """Return changes without those of activity logs, whose lines only name the tool that made the change before."""
    return [change for change in changes if not home.layout.is_activity_log(change.path)]


def find_change(home: Home, name: str, *, everyone: bool = False) -> Change:
    """Return a change by its id or a unique prefix of it."""
    if everyone:
        return home.storage.history.change(name)
    with suppress(NotFound):
        match = home.storage.history.change(name)
        if may_see(home, match.path):
            return match
    # Changes of others with the same prefix must neither be found nor make it ambiguous.
    visible = _only_visible(home, home.storage.history.changes(), everyone=False)
    return require_one(name, [change for change in visible if change.id.startswith(name)])


def record_outside_edits(home: Home) -> None:
    """Record in history what other programs changed: catching up with the index does that."""
    home.storage.check()
    home.index.invalidate()
    home.index.query(lambda _: None)


def looks_like_change_id(name: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{4,16}", name) is not None


def read_both_sides(home: Home, change: Change) -> tuple[str, str]:
    """Return a page before and after a change, as text for people."""
    history = home.storage.history
    before = as_text(history.read_version(change.path, change.before))
    after = as_text(history.read_version(change.path, change.version))
    return readable_text(home, change.path, before), readable_text(home, change.path, after)


def readable_text(home: Home, path: str, text: str) -> str:
    """Return the text of a page for people: of a session, what was said in it, without secrets."""
    place = home.layout.place(path)
    if place is None or place.kind != "session":
        return text
    return "\n".join(render_lines(text.split("\n")))


def read_page_as_of(home: Home, path: str, when: str, *, everyone: bool = False) -> str:
    """Return a page as it was at a time, as text for people; PageNotFound when it did not exist then."""
    path = require_history(home, path, everyone=everyone)
    data = read_as_of(home.storage.history, path, parse_moment(home, when, last=True))
    if data is None:
        raise PageNotFound(f"{path} (at {when})")
    return readable_text(home, path, as_text(data))


def read_cited_page(home: Home, path: str, as_of: str) -> Page:
    """Return a page that is cited, text or not: as it is now, or at the end of the day of an `as of` citation."""
    moment = parse_moment(home, as_of, last=True) if as_of else ""
    data = read_as_of(home.storage.history, path, moment) if moment else home.storage.read_bytes(path)
    if data is None:
        when = f" as of {as_of}" if as_of else ""
        raise NotFound(f"there is no page {path}{when}", advice="cite a line as `commonplace search` prints it")
    return Page(path, as_text(data), version_of(data))


def read_as_of(history: HistoryStore, path: str, moment: str) -> bytes | None:
    """Return what a page was at a moment; None when it was absent."""
    changes = history.changes(path)
    before = [change for change in changes if change.at <= moment]
    if before:
        return history.read_version(path, before[-1].version)
    if changes and changes[0].tool:  # history begins with its creation by a tool
        return history.read_version(path, changes[0].before)
    command = format_command("log", path)
    raise NotFound(f"history does not know what {path} was at {moment}: `{command}` shows what there is")


def include_same_calls(home: Home, changes: Sequence[Change]) -> list[Change]:
    """Return changes with everything the same calls changed on other pages: a note and its line in the activity log."""
    calls = {change.call for change in changes if change.call}
    names = {change.id for change in changes}
    return [change for change in home.storage.history.changes() if change.call in calls or change.id in names]


def undo(home: Home, changes: Sequence[Change]) -> list[UndoResult]:
    """Undo changes, page by page. A change that cannot be undone does not stop the others.

    An undo is a change like any other, and can be undone.
    """
    by_page: dict[str, list[Change]] = {}
    for change in changes:
        by_page.setdefault(change.path, []).append(change)
    names = list_some([change.id for change in changes], 3)
    with home.writer.call("undo", why=f"undoes {names}"):
        return [_undo_page(home, path, changes) for path, changes in by_page.items()]


def _undo_page(home: Home, path: str, changes: list[Change]) -> UndoResult:
    every = home.storage.history.changes(path)
    now = path if every[-1] in changes else _find_current_path(home, path)
    try:
        for before, after in reversed(_find_runs(changes, every)):
            _undo_run(home, path, now, before, after)
    except CommonplaceError as error:
        return UndoResult(now, tuple(changes), str(error))
    return UndoResult(now, tuple(changes))


def _find_current_path(home: Home, path: str) -> str:
    """Return where a page is now, if other programs renamed it within what the agent may see."""
    seen = {path}
    changes = home.storage.history.changes(path)
    while changes and (new := find_new_path(changes[-1])) and new not in seen and may_see(home, new):
        path = new
        seen.add(path)
        changes = home.storage.history.changes(path)
    return path


def _find_runs(changes: list[Change], every: list[Change]) -> list[tuple[str, str]]:
    """Return the versions before and after each run of changes; a run has no other changes in between."""
    ids = {change.id for change in changes}
    runs: list[tuple[str, str]] = []
    continues = False
    for change in every:
        if change.id not in ids:
            continues = False
            continue
        before = runs.pop()[0] if continues else change.before
        runs.append((before, change.version))
        continues = True
    return runs


def _undo_run(home: Home, path: str, now: str, before: str, after: str) -> None:
    """Take a page back from the version after some changes to the one before, or merge that into later changes.

    The versions are those of `path`; `now` is where the page is.
    """
    old = home.storage.history.read_version(path, before)
    new = home.storage.history.read_version(path, after)
    try:
        current = home.storage.pages.read(now).version
    except NotFound:
        current = ABSENT
    if current == after:
        _write_version(home, now, old)
    elif current == ABSENT or new is None:
        raise Conflict(f"{now} is {'gone' if current == ABSENT else 'back'}: {_UNDO_ADVICE}")
    else:
        _merge_back(home, now, "" if old is None else _decode_version(old, path), _decode_version(new, path))


def _merge_back(home: Home, path: str, old: str, new: str) -> None:
    """Merge the undo into a page that others changed since. A daily page that becomes empty is removed."""

    def change(text: str) -> str:
        merged = merge(new, text, old)
        if merged is None:
            merged = _remove_addition(text, old, new)
        if merged is None:
            raise Conflict(f"{path} has changed since in the same place: {_UNDO_ADVICE}")
        return merged

    current = home.storage.pages.read(path)
    if blocks.is_empty(change(current.text)):
        home.writer.remove(path, if_version=current.version)
    else:
        home.writer.edit(path, change)


def _remove_addition(text: str, old: str, new: str) -> str | None:
    """Return a page without what a change appended, such as an entry of a day; None if it appended nothing, or that has
    changed since. Later additions touch it, so a merge cannot tell them apart. The heading of a day stays, although it
    came with the first entry."""
    old = blocks.add_heading_of(old, new)
    if not new.startswith(old) or not new.endswith("\n"):
        return None
    if not old:
        return text.removeprefix(new) if text.startswith(new) else None
    if not old.endswith("\n"):
        return None
    added = f"\n{new.removeprefix(old).removeprefix(chr(10))}"  # whole lines, without an empty one before them
    return text.replace(added, "\n") if text.count(added) == 1 else None


def _write_version(home: Home, path: str, data: bytes | None) -> bool:
    """Write a page as it was; return False when it is that already."""
    text = None if data is None else _decode_version(data, path)
    try:
        current = home.storage.pages.read(path)
    except NotFound:
        if text is None:
            return False
        home.writer.write(path, text, if_version=ABSENT)
        return True
    if text is None:
        home.writer.remove(path, if_version=current.version)
    elif text != current.text:
        home.writer.write(path, text, if_version=current.version)
    return text != current.text


def _decode_version(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise NotText(f"that version of {path} is not UTF-8 text: it cannot be put back as a page") from error


def restore(home: Home, path: str, when: str, *, everyone: bool = False) -> bool:
    """Write a page as it was at a time, or after a change; False if it is that already."""
    path = require_history(home, path, everyone=everyone)
    if looks_like_change_id(when):
        change = find_change(home, when, everyone=everyone)
        if change.path != path:
            raise InvalidArgument(f"{when} is a change of {change.path}, not of {path}")
        data = home.storage.history.read_version(path, change.version)
    else:
        data = read_as_of(home.storage.history, path, parse_moment(home, when, last=True))
    with home.writer.call("restore", why=f"as of {when}"):
        return _write_version(home, path, data)


def prune_history(home: Home, days: int | None, megabytes: int | None) -> tuple[int, int]:
    """Drop versions beyond the limits given, else those of the settings; return how many, and the bytes freed."""
    limits = home.settings.history
    if days is None:
        days = limits.days
    if megabytes is None:
        megabytes = limits.megabytes
    before = home.storage.history.size()
    dropped = home.storage.history.prune(Retention(days, megabytes * 1_000_000))
    return dropped, before - home.storage.history.size()


def parse_moment(home: Home, text: str, *, last: bool = False) -> str:
    """Return a time as people write it as a timestamp. A day means its beginning; with `last`, its end."""
    text = text.strip()
    if not text:
        raise InvalidArgument("the time is blank: name one like 2026-03-14T09:30, yesterday or `2 hours ago`")
    moment = parse_time(text, home.clock().astimezone(home.zone))
    if moment:
        return format_timestamp(moment)
    try:
        since, until = (home.parse_filters(**{name: text}) for name in ("since", "until"))
    except InvalidArgument as error:
        advice = "use one like 2026-03-14, 2026-03-14T09:30, yesterday, `2 hours ago` or `10 seconds ago`"
        raise InvalidArgument(f"{text!r} is not a date or a time", advice=advice) from error
    day = date.fromordinal((until.until if last else since.since) or 1)
    return format_timestamp(datetime.combine(day, time.max if last else time.min, home.zone))


def _only_visible(home: Home, changes: Sequence[Change], *, everyone: bool) -> list[Change]:
    return [change for change in changes if everyone or may_see(home, change.path)]


def _list_changes_of(home: Home, what: str, *, everyone: bool) -> list[Change]:
    """Return the changes of a page by its path, or of everything with a name: records, skills, topics and notes.

    Pages that this agent may not see are treated as if they did not exist.
    """
    changes = _only_visible(home, home.storage.history.changes(what.removeprefix("./")), everyone=everyone)
    if changes:
        return changes
    paths = (path for path in home.storage.history.paths() if _is_named(home, path, what))
    every = [change for path in paths for change in home.storage.history.changes(path)]
    every = [*_only_visible(home, every, everyone=everyone), *_list_changes_of_note(home, what)]
    if not every:
        raise NotFound(f"history has no page and no key {what!r}: `commonplace log` lists all changes")
    return sorted(every, key=lambda change: change.at)


def _is_named(home: Home, path: str, name: str) -> bool:
    place = home.layout.place(path)
    if place is None or not (place.kind in ("record", "skill") or place.scope.kind == "world"):
        return False
    return place.name in (name, file_name(name))


def _list_changes_of_note(home: Home, key: str) -> Iterator[Change]:
    """Yield the changes of daily pages and the curated page that changed the note of a key."""
    tree = home.layout.notes_tree(home.agent)
    for path in home.storage.history.paths():
        if path.startswith(f"{tree}/") or path == home.layout.curated_page(home.agent):
            before: list[str] = []
            for change, data in home.storage.history.versions(path):
                now = [block.content for block in blocks.find(as_text(data), key)]
                if now != before:
                    yield change
                before = now


def require_history(home: Home, path: str, *, everyone: bool) -> str:
    """Return the path of a page whose history the agent may see; NotFound for any other."""
    path = path.removeprefix("./")
    record_outside_edits(home)
    if not home.storage.history.changes(path) or not (everyone or may_see(home, path)):
        raise NotFound(f"history has no page {path}: `commonplace log` lists all changes")
    return path


def may_see(home: Home, path: str) -> bool:
    """Return whether the agent may see the history of a page."""
    place = home.layout.place(path)  # a session is its agent's, whether or not it is searched
    return home.visibility.may_see(place) if place else home.visibility.may_know(path)


def format_local_time(home: Home, at: str) -> str:
    """Return a timestamp in the home's own time zone, as people read it."""
    moment = parse_timestamp(at) or datetime.now(UTC)
    return f"{moment.astimezone(home.zone):%Y-%m-%d %H:%M:%S}"


class BlameLine(NamedTuple):
    """A line of a page. Its author, time and change are empty if history does not know them."""

    number: int
    text: str
    author: str
    at: str
    change: str
    session: str
    why: str
    was: str = ""  # the earlier version of the same fact that the line replaced


def blame_page(home: Home, path: str, *, everyone: bool = False, with_earlier: bool = False) -> list[BlameLine]:
    """Return the lines of a page as it is now; PageNotFound when it was removed. Sessions come without secrets.

    `with_earlier`: also what a line said before, which takes reading earlier versions.
    """
    path = require_history(home, path, everyone=everyone)
    history = list_lines(home.storage.history, path, _BLAME_BOUNDS.versions)
    if not history or history[-1].change.version == ABSENT:
        raise PageNotFound(path)
    place = home.layout.place(path)
    is_session = place is not None and place.kind == "session"
    lines = split_lines(as_text(home.storage.history.read_version(path, history[-1].change.version)))
    texts = render_lines(lines) if is_session else lines
    origins = blame(history, _BLAME_BOUNDS)
    changes = [origin.change for origin in origins]
    has_earlier = with_earlier and not is_session
    earlier = _find_earlier_lines(home.storage.history, path, lines, changes) if has_earlier else {}
    numbered = enumerate(zip(texts, origins, strict=True), start=1)
    return [_make_line(number, text, origin, earlier.get(number, "")) for number, (text, origin) in numbered]


def _make_line(number: int, text: str, origin: LineOrigin, was: str) -> BlameLine:
    change = origin.change
    if change is None:
        return BlameLine(number, text, "", "", "", "", "")
    return BlameLine(number, text, change.by, change.at, change.id, change.session, change.why, was)


_MAX_CHANGES = 40  # the newest changes of a page, whose lines are compared
_MAX_BLOCK_LINES = 30  # replaced at once; of a page that was rewritten, single lines tell little


def _find_earlier_lines(
    history: HistoryStore, path: str, lines: Sequence[str], changes: Sequence[Change | None]
) -> dict[int, str]:
    """Return what lines of a page said before, by their numbers from 1. `changes`: which one wrote each of them."""
    replaced: dict[int, str] = {}
    newest = sorted({change for change in changes if change and change.before}, key=lambda change: change.at)
    for change in newest[-_MAX_CHANGES:]:
        earlier: dict[str, str] = {}
        with suppress(CommonplaceError):  # a version that history no longer has
            texts = [as_text(history.read_version(path, version)) for version in (change.before, change.version)]
            earlier = dict(_pair_lines(*(text.split("\n") for text in texts)))
        own = [number for number, each in enumerate(changes, start=1) if each == change]
        replaced |= {number: earlier[lines[number - 1]] for number in own if lines[number - 1] in earlier}
    return replaced


def _pair_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the new lines that replaced others, each with the one that it is a version of."""
    for operation, first, last, start, stop in diff_lines(before, after):
        if operation != "replace" or max(last - first, stop - start) > _MAX_BLOCK_LINES:
            continue
        for line in after[start:stop]:
            old = next((each for each in before[first:last] if _is_version(each, line)), "")
            if old:
                yield line, old.strip()


def _is_version(older: str, newer: str) -> bool:
    pairs = ((one, other) for one in split_statements(older) for other in split_statements(newer))
    return any(judge(one, other, is_same_place=True) for one, other in pairs)
