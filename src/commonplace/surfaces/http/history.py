"""History: changes newest first, one change with its diff, undo and restore; and changes as they happen.

The latter are server-sent events about pages that the caller's agent may see, whoever changes them. An event's id
counts the events of this agent only: it does not reveal how much others write.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ...errors import CommonplaceError, InvalidArgument, NotFound
from ...maintenance import timeline
from ...maintenance.doubts import supersede
from ...maintenance.feed import compare_sentences
from ...memory import Memory
from ...schema import BOOLEAN, INTEGER, TEXT, array, closed_object, integer, object_of, one_of
from ...server.notifications import ChangeFeed, NumberedChange
from ...settings import FILE as SETTINGS_FILE
from ...storage.base import ABSENT
from ...storage.history import Change
from ...storage.merge import diff_lines
from ...wording import count_words
from .dispatch import Dispatcher
from .endpoints import (
    MAX_PATH_CHARACTERS,
    MOMENT,
    PAGE,
    PAGE_PATH,
    ApiRequest,
    Endpoint,
    Parameter,
    Problem,
    ResponseSpec,
)
from .pages import is_session, refuse_session, require_writable, resolve_page

DEFAULT_LIMIT = 100
CONTEXT_LINES = 3  # shown before and after a change
MAX_COMPARED_LINES = 100_000  # per side
Hunks = list[dict[str, str]]
MEDIA_TYPE = "text/event-stream"
HEARTBEAT_SECONDS = 15.0  # a quiet stream then sends a comment
TOKEN_CHECK_SECONDS = 2.0
MAX_NUMBER_DIGITS = 18
_RETRY = "retry: 2000\n\n"
_RESET = "event: reset\ndata: {}\n\n"
_HEARTBEAT = ": still here\n\n"


def supersede_statement(request: ApiRequest) -> dict[str, Any]:
    body = request.body
    answered = supersede(request.home, body["old"], body["new"], reject=body.get("reject", False))
    return answered._asdict()


def list_changes(request: ApiRequest) -> dict[str, Any]:
    parameters = request.parameters
    try:
        changes = timeline.list_changes(
            request.home,
            parameters.get("what", ""),
            agent=parameters.get("agent", ""),
            since=parameters.get("since", ""),
        )
    except NotFound:  # a page without history has no changes
        changes = []
    if parameters.get("sentences") and not parameters.get("what"):
        changes = timeline.leave_out_activity(request.home, changes)
    newest = [change for change in reversed(changes) if _may_see_file(request, change.path)]
    if "before" in parameters:
        ids = [change.id for change in newest]
        if parameters["before"] not in ids:
            raise NotFound(f"there is no change {parameters['before']} in this list: begin from the top")
        newest = newest[ids.index(parameters["before"]) + 1 :]
    limit = parameters.get("limit", DEFAULT_LIMIT)
    rows = [_describe_change(change) for change in newest[:limit]]
    if parameters.get("sentences"):
        compared = compare_sentences(request.home, newest[:limit])
        rows = [{**row, "sentences": each._asdict()} for row, each in zip(rows, compared, strict=True)]
    return {"changes": rows, "more": len(newest) > limit}


def _may_see_file(request: ApiRequest, path: str) -> bool:
    """Return whether the caller may see the history of a file: settings are for administrators of all agents."""
    if path != SETTINGS_FILE and not path.endswith("/agent.yaml"):
        return True
    return request.grant.agents is None and request.grant.role == "admin"


def _find_change(request: ApiRequest, name: str) -> Change:
    change = timeline.find_change(request.home, name)
    if not _may_see_file(request, change.path):
        raise NotFound(f"there is no change {name}: `commonplace log` lists them")
    return change


def _describe_change(change: Change) -> dict[str, Any]:
    names = ("id", "at", "path", "by", "tool", "agent", "session", "call", "version")
    return {name: getattr(change, name) for name in names} | {"reason": change.why, "kind": _change_kind(change)}


def _change_kind(change: Change) -> str:
    if change.version == ABSENT:
        return "removed"
    if change.version == change.before:
        return "approved"
    return "created" if change.before == ABSENT else "changed"


def get_change(request: ApiRequest) -> dict[str, Any]:
    change = _find_change(request, request.parameters["id"])
    before, after = timeline.read_both_sides(request.home, change)
    return {**_describe_change(change), "hunks": compute_hunks(before, after), "before": before, "after": after}


def compute_hunks(before: str, after: str) -> Hunks:
    """Return the removed and added lines with some around them; `skip` says how many are left out between."""
    old = before.splitlines()
    new = after.splitlines()
    if max(len(old), len(new)) > MAX_COMPARED_LINES:
        return [{"op": "skip", "text": f"{len(old)} lines before, {len(new)} after: too many to compare"}]
    operations = diff_lines(old, new)
    hunks: Hunks = []
    for number, (tag, old_start, old_end, new_start, new_end) in enumerate(operations):
        if tag != "equal":
            hunks += [{"op": "remove", "text": line} for line in old[old_start:old_end]]
            hunks += [{"op": "add", "text": line} for line in new[new_start:new_end]]
        elif len(operations) > 1:
            after_change = CONTEXT_LINES if number > 0 else 0
            before_change = CONTEXT_LINES if number < len(operations) - 1 else 0
            hunks += _context_lines(old[old_start:old_end], after_change, before_change)
    return hunks


def _context_lines(lines: list[str], after_change: int, before_change: int) -> Hunks:
    """Return unchanged lines: some after the change before them, some before the next, and how many are between."""
    skipped = len(lines) - after_change - before_change
    if skipped <= 0:
        return [{"op": "same", "text": line} for line in lines]
    return [
        *({"op": "same", "text": line} for line in lines[:after_change]),
        {"op": "skip", "text": count_words(skipped, "line")},
        *({"op": "same", "text": line} for line in lines[len(lines) - before_change :]),
    ]


def get_blame(request: ApiRequest) -> dict[str, Any]:
    path = request.parameters["path"]
    resolve_page(request.home, path)
    rows: list[dict[str, Any]] = []
    for line in timeline.blame_page(request.home, path):
        if rows and rows[-1]["change"] == line.change:
            rows[-1]["to"] = line.number
        else:
            fields = {"author": line.author, "at": line.at, "change": line.change, "reason": line.why}
            rows.append({"from": line.number, "to": line.number, **fields})
    return {"path": path, "lines": rows}


def undo_changes(request: ApiRequest) -> dict[str, Any]:
    """Undo changes and all that the same calls changed, as far as the caller may see them."""
    home = request.home
    timeline.record_outside_edits(home)
    requested = [_find_change(request, name) for name in dict.fromkeys(request.body["changes"])]
    for change in requested:
        refuse_session(home, change.path)
    selected = [
        change
        for change in timeline.include_same_calls(home, requested)
        if timeline.may_see(home, change.path) and _may_see_file(request, change.path)
    ]
    sessions = {change.path for change in selected if is_session(home, change.path)}
    results = timeline.undo(home, [change for change in selected if change.path not in sessions])
    rows = [_describe_undo(page.path, page.changes, page.problem) for page in results]
    for path in sorted(sessions):
        changes = [change for change in selected if change.path == path]
        rows.append(_describe_undo(path, changes, f"{path} is a session: transcripts are not changed"))
    return {"undone": rows}


def _describe_undo(path: str, changes: Sequence[Change], problem: str) -> dict[str, Any]:
    return {"path": path, "changes": [change.id for change in changes], "done": not problem, "problem": problem}


def restore_page(request: ApiRequest) -> dict[str, Any]:
    home = request.home
    path = request.body["path"]
    try:
        require_writable(home, path)
        changed = timeline.restore(home, path, request.body["when"])
    except InvalidArgument as error:  # the request is valid, but this page has no such version
        raise NotFound(str(error)) from error
    try:
        version = home.storage.pages.read(path).version
    except CommonplaceError:
        version = ABSENT
    return {"path": path, "changed": changed, "version": version}


_CHANGE = object_of(
    {
        "id": TEXT,
        "at": TEXT,
        "path": TEXT,
        "by": TEXT,
        "tool": TEXT,
        "agent": TEXT,
        "session": TEXT,
        "reason": TEXT,
        "call": TEXT,
        "kind": one_of("created", "changed", "removed", "approved"),
        "version": TEXT,
    },
    sentences=object_of({"added": array(TEXT), "removed": array(TEXT), "more": INTEGER}),
)
_HUNKS = array(object_of({"op": one_of("same", "add", "remove", "skip"), "text": TEXT}))
_ID = {"type": "string", "pattern": "^[0-9a-f]{4,16}$"}
_UNDO = closed_object({"changes": {**array(_ID), "minItems": 1, "maxItems": 500, "description": "Ids."}})
_WHEN = {"description": "A change's id, a day or a time.", "anyOf": [_ID, *MOMENT["anyOf"]]}
_RESTORE = closed_object({"path": PAGE, "when": _WHEN})
_UNDONE = object_of({"path": TEXT, "changes": array(TEXT), "done": BOOLEAN, "problem": TEXT})
_LIST = [
    Parameter(
        "what",
        {"type": "string", "minLength": 1, "maxLength": MAX_PATH_CHARACTERS},
        "A page, or a key; default: everything.",
    ),
    Parameter("since", MOMENT, "Only from then on."),
    Parameter("agent", {"type": "string", "minLength": 1, "maxLength": 500}, "Only what this agent changed."),
    Parameter("limit", integer(1, 1000), "How many at most; default: 100."),
    Parameter("before", _ID, "Continue after this change."),
    Parameter(
        "sentences",
        BOOLEAN,
        "Include the sentences that changed; the activity log is left out unless `what` names it.",
    ),
]
_BLAME = object_of({"from": INTEGER, "to": INTEGER, "author": TEXT, "at": TEXT, "change": TEXT, "reason": TEXT})
_ONE = object_of({**_CHANGE["properties"], "hunks": _HUNKS, "before": TEXT, "after": TEXT})
_CITATION = {
    "type": "string",
    "description": "Lines of a page, as search cites them: memory/world/people.md#L3, or …#L3-L5.",
    "maxLength": MAX_PATH_CHARACTERS,
    "pattern": r"^[^\x00\r\n]+#L[0-9]{1,9}(-L?[0-9]{1,9})?"
    r"(@[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?)?$",
}
_SUPERSEDE = closed_object({"old": _CITATION, "new": _CITATION}, reject=BOOLEAN)


class Position(NamedTuple):
    """How far a client has read a feed. `has_gap`: changes before it may have been missed."""

    run: str
    number: int
    has_gap: bool = False


async def stream_changes(dispatcher: Dispatcher, request: Request, api_request: ApiRequest) -> Response:
    feeds = dispatcher.service.feeds
    if feeds.is_full:
        raise Problem(503, "too many clients are listening: try again later", {"Retry-After": "30"})
    feed = await feeds.start(api_request.memory)
    events = _stream_events(dispatcher, request, api_request.memory, feed)
    return StreamingResponse(events, media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})


async def _stream_events(
    dispatcher: Dispatcher, request: Request, memory: Memory, feed: ChangeFeed
) -> AsyncIterator[str]:
    """Send what a returning client missed, or a reset if that is no longer known; then every change."""
    feeds = dispatcher.service.feeds
    feeds.readers += 1
    try:
        position = _find_position(feed, request.headers.get("last-event-id", ""))
        yield _RETRY + (_RESET if position.has_gap else _format_ready(position))
        sent_at = time.monotonic()
        while not feed.is_closed and await dispatcher.is_still_allowed(request):
            position, events = _read_events(feed, position)
            if not events and time.monotonic() - sent_at >= HEARTBEAT_SECONDS:
                events = _HEARTBEAT
            if events:
                sent_at = time.monotonic()
                yield events
            await feed.wait(TOKEN_CHECK_SECONDS)
            feed = feeds.get(memory)  # starts another watcher if the last one ended
    finally:
        feeds.readers -= 1


def _find_position(feed: ChangeFeed, last_event: str) -> Position:
    """Return where a stream begins, by the id of the last event that the client has."""
    run, _, number = last_event.partition("-")
    is_number = number.isdecimal() and len(number) <= MAX_NUMBER_DIGITS
    if run == feed.run and is_number and int(number) <= feed.last:
        return Position(run, int(number), has_gap=not feed.reaches(int(number)))
    return Position(feed.run, feed.last, has_gap=bool(last_event))


def _read_events(feed: ChangeFeed, position: Position) -> tuple[Position, str]:
    """Return the events after a position, and the position after them."""
    events = ""
    if feed.run != position.run or not feed.reaches(position.number):
        position = Position(feed.run, feed.last)
        events = _RESET
    for change in feed.read_after(position.number):
        position = position._replace(number=change.number)
        events += _format_change(position.run, change)
    return position, events


def _format_ready(position: Position) -> str:
    """Return an event with the current position, so that a client can resume from it before anything changes."""
    return f"event: ready\nid: {position.run}-{position.number}\ndata: {{}}\n\n"


def _format_change(run: str, change: NumberedChange) -> str:
    data = json.dumps({"path": change.path, "kind": change.kind}, ensure_ascii=False)
    return f"event: change\nid: {run}-{change.number}\ndata: {data}\n\n"


ENDPOINTS = [
    Endpoint(
        "GET /v1/history",
        list_changes,
        "Who changed what, newest first.",
        parameters=_LIST,
        tag="history",
        responses={200: ResponseSpec("Some changes.", object_of({"changes": array(_CHANGE), "more": BOOLEAN}))},
        problems=[404],
    ),
    Endpoint(
        "GET /v1/history/{id}",
        get_change,
        "One change, with what it did.",
        tag="history",
        parameters=[Parameter("id", _ID, "The id of a change.", "path", required=True)],
        responses={200: ResponseSpec("A change.", _ONE)},
        problems=[404],
    ),
    Endpoint(
        "GET /v1/blame/{path}",
        get_blame,
        "Who wrote the lines of a page, from its first to its last. The author is empty if history does not know.",
        tag="history",
        parameters=[PAGE_PATH],
        responses={200: ResponseSpec("Authors.", object_of({"path": TEXT, "lines": array(_BLAME)}))},
        problems=[404],
    ),
    Endpoint(
        "POST /v1/undo",
        undo_changes,
        "Undo changes, with all that the same calls changed.",
        tag="history",
        body=_UNDO,
        needs="write",
        responses={200: ResponseSpec("What was done, page by page.", object_of({"undone": array(_UNDONE)}))},
        problems=[404, 409],
    ),
    Endpoint(
        "POST /v1/supersede",
        supersede_statement,
        "Say that the statement at `new` replaces that at `old`; with `reject`, that it does not.",
        tag="history",
        body=_SUPERSEDE,
        needs="write",
        responses={
            200: ResponseSpec(
                "Both statements, and the page that has it.", object_of(dict.fromkeys(("old", "new", "path"), TEXT))
            )
        },
        problems=[404, 409, 412, 422],
    ),
    Endpoint(
        "POST /v1/restore",
        restore_page,
        "Restore a page as it was at a time.",
        tag="history",
        body=_RESTORE,
        needs="write",
        responses={
            200: ResponseSpec("Whether it changed.", object_of({"path": TEXT, "changed": BOOLEAN, "version": TEXT}))
        },
        problems=[404, 409, 412, 422],
    ),
    Endpoint(
        "GET /v1/changes",
        None,
        "Changes as they happen: `change` with {path, kind}; `reset` when some were missed.",
        parameters=[Parameter("Last-Event-ID", TEXT, "The last event that was received.", "header")],
        responses={200: ResponseSpec("Server-sent events, until the token ends.", TEXT, MEDIA_TYPE)},
        respond=stream_changes,
        tag="history",
    ),
]
