"""The last conversations, from their transcripts, so that what was said is known next time even if no tool stored it.

Like days, they come newest first, each with its last turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from heapq import nlargest
from typing import NamedTuple

from ..errors import CommonplaceError
from ..formats.blocks import is_day_or_time
from ..formats.timestamps import parse_timestamp
from ..formats.transcripts import parse_turns
from ..framing import Title
from ..home import Home
from ..storage.names import file_name
from ..storage.records import read_record, read_text
from .budget import ContextRequest, Section
from .days import DayItem, Entry, list_days, name_day
from .items import CHARACTERS_PER_TOKEN

TITLE: Title = "Recent Sessions"
_MAX_SESSIONS = 10
_MAX_READ_LINES = 400  # of a transcript, from its end
_PLAIN_TOKENS = 1000  # what they may take if there is no budget
_PLAIN_SESSIONS = 3


class Session(NamedTuple):
    """A conversation: the moments of its first and of its last turn that are read, and these turns."""

    path: str
    began: datetime | None
    ended: datetime | None
    turns: tuple[Entry, ...]
    earlier_lines: int


def recent_sessions(home: Home, request: ContextRequest) -> Section | None:
    """Return the last conversations of this agent, where its sessions are searched.

    What was said since the agent last wrote something down is as important as a day; other conversations get the room
    that is left. In a channel, where others read along, none is shown.
    """
    warnings: list[str] = []
    limit = _PLAIN_TOKENS if request.limit is None else request.limit
    sessions = [*_read_newest(home, list_sessions(home, request), limit * CHARACTERS_PER_TOKEN, warnings)]
    sessions.sort(key=_sort_key, reverse=True)
    items = [_make_item(home, session, rank) for rank, session in enumerate(sessions)]
    if not items and not warnings:
        return None
    is_unwritten = bool(sessions) and _is_unwritten(home, sessions[0])
    return Section(
        TITLE,
        60 if is_unwritten else 45,
        items if request.limit else items[:_PLAIN_SESSIONS],
        floor_tokens=80 if is_unwritten else 0,
        most_tokens=_PLAIN_TOKENS if request.limit is None else float("inf"),
        weight=5 if is_unwritten else 0,
        sharing="in order",
        grows_last=not is_unwritten,
        warnings=tuple(warnings),
    )


def list_sessions(home: Home, request: ContextRequest) -> list[str]:
    """Return the pages of this agent's conversations, without the current one, if they are searched."""
    if not home.search_settings.index_sessions or request.only_approved or request.channel is not None:
        return []
    folder = home.layout.sessions_folder(home.agent)
    own = f"{file_name(request.session)}.jsonl" if request.session else ""
    paths = home.storage.pages.list(folder, ".jsonl")
    return [path for path in paths if not (own and path.endswith(own))]


def _read_newest(home: Home, paths: list[str], most: int, warnings: list[str]) -> Iterator[Session]:
    """Yield the conversations that were last written to."""
    times = home.storage.modified_times(paths)
    for path in nlargest(_MAX_SESSIONS, sorted(times), key=times.__getitem__):
        text, problems = read_text(home.storage.pages, path)
        warnings += problems
        if session := _parse(path, text, most):
            yield _correct_future(session, datetime.fromtimestamp(times[path], UTC), home.now())


def _parse(path: str, text: str, most: int) -> Session | None:
    """Return the last turns of a transcript; None if nobody said anything in it."""
    lines = text.rstrip("\n").split("\n")
    earlier = max(0, len(lines) - _MAX_READ_LINES)
    turns, _ = parse_turns("\n".join(lines[earlier:]))
    if not turns:
        return None
    moments = [moment for turn in turns if (moment := parse_timestamp(turn.at))]
    entries = (Entry(turn.text[:most], earlier + turn.line, earlier + turn.line, len(turn.text)) for turn in turns)
    return Session(path, min(moments, default=None), max(moments, default=None), tuple(entries), earlier)


def _correct_future(session: Session, written: datetime, now: datetime) -> Session:
    """Return a conversation with the time of its transcript in place of one that is still to come: it would be the
    newest of all until then."""
    began, ended = (written if moment and moment > now else moment for moment in (session.began, session.ended))
    return session._replace(began=began, ended=ended)


def _sort_key(session: Session) -> tuple[float, str]:
    return session.ended.timestamp() if session.ended else 0.0, session.path


def _make_item(home: Home, session: Session, rank: int) -> DayItem:
    ended = session.ended.astimezone(home.zone) if session.ended else None
    title = f"{name_day(ended.date().isoformat(), home.today())}, {ended:%H:%M}" if ended else "undated"
    return DayItem(session.path, title, session.turns, session.earlier_lines, rank=(rank, ""))


def _is_unwritten(home: Home, session: Session) -> bool:
    """Return whether the agent has stored nothing since a conversation began: neither an entry of a day nor a
    handoff."""
    if not session.began:
        return False
    written = [*_find_last_entry(home), *_find_handoff(home)]
    return all(moment < session.began for moment in written)


def _find_last_entry(home: Home) -> Iterator[datetime]:
    """Yield when the newest entry of a day was made, to the minute."""
    for day, path in list_days(home):
        text, _ = read_text(home.storage.pages, path)
        times = [line.removeprefix("## ") for line in text.split("\n") if line.startswith("## ")]
        last = next((time for time in reversed(times) if is_day_or_time(time)), "")
        moment = parse_timestamp(f"{day}T{last}") or parse_timestamp(day)
        if moment:
            yield moment.replace(tzinfo=home.zone)
        return


def _find_handoff(home: Home) -> Iterator[datetime]:
    try:
        record = read_record(home.storage.pages, home.layout, home.layout.handoff_page(home.agent))
    except CommonplaceError:
        return
    moment = parse_timestamp(record.updated_at) if record and record.text.strip() else None
    if moment:
        yield moment
