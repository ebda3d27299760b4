"""Sessions of duragent: a log of events each, and a snapshot of what was said before the log was cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..formats.yaml_nodes import YamlProblem, as_text, compose
from .jsonparts import lines
from .source import Source
from .transcripts import said_in
from .values import Into, Item, Missed, Said, Session, moment, plain

_LOGS = ("events.archive.jsonl", "events.jsonl")  # in the order they were written
_SNAPSHOT = "state.yaml"


def sessions(source: Source, into: Into, folder: str, *, all_mine: bool) -> Iterator[Item]:
    """Every session below a folder, to the agent that it names; `all_mine`: to the one who imports."""
    for name in source.top(folder):
        inside = source.top(f"{folder}/{name[:-1]}") if name.endswith("/") else []
        if {*_LOGS, _SNAPSHOT}.isdisjoint(inside):
            continue
        events = [event for log in _LOGS if log in inside for event in _events(source, f"{folder}/{name}{log}")]
        snapshot = _snapshot(source, f"{folder}/{name}{_SNAPSHOT}") if _SNAPSHOT in inside else {}
        turns = _turns(events, snapshot)
        if not turns:
            source.missed.append(Missed(f"{folder}/{name[:-1]}", "is a session in which nothing was said"))
            continue
        named = (plain(each.get("agent")) for each in (snapshot, *events))
        agent = into.agent if all_mine else next(filter(None, named), into.agent)
        at = moment(snapshot.get("created_at")) or next((turn.at for turn in turns if turn.at), "")
        yield Session(f"{source.place}/{folder}/{name[:-1]}", agent, "duragent", name[:-1], turns, at=at)


def _events(source: Source, path: str) -> Iterator[dict[str, Any]]:
    data = source.take(path)
    yield from (event for _, event in lines(data or b"", path, source.missed))


def _turns(events: list[dict[str, Any]], snapshot: dict[str, Any]) -> tuple[Said, ...]:
    """A log that still has its beginning tells all, with times; else the snapshot tells what came before."""
    earlier = snapshot.get("conversation")
    if any(event.get("type") == "session_start" for event in events) or not isinstance(earlier, list):
        return tuple(turn for event in events for turn in said_in(event))
    told = _number(snapshot.get("checkpoint_seq")) or _number(snapshot.get("last_event_seq"))
    later = [event for event in events if _number(event.get("seq")) > told]
    messages = [each for each in earlier if isinstance(each, dict)]
    return tuple(turn for event in (*messages, *later) for turn in said_in(event))


def _number(value: Any) -> int:
    return int(value) if str(value).isdecimal() else 0


def _snapshot(source: Source, path: str) -> dict[str, Any]:
    try:
        node = compose((source.take(path) or b"").decode("utf-8-sig"))
        found = None if node is None else as_text(node)
    except (YamlProblem, UnicodeDecodeError) as error:
        source.missed.append(Missed(path, f"is not YAML that is understood ({error})"))
        return {}
    return found if isinstance(found, dict) else {}
