"""What happened: changes newest first, one with its difference, and the ways back."""

from __future__ import annotations

from typing import Any

from ...errors import CommonplaceError, InvalidArgument, NotFound
from ...maintenance import timeline
from ...schema import BOOLEAN, TEXT, array, closed_object, integer, object_of, one_of
from ...settings import FILE as SETTINGS
from ...storage.base import ABSENT
from ...storage.deltas import Change
from ...storage.diff import opcodes
from .endpoints import MAX_PATH_CHARACTERS, MOMENT, PAGE, Asked, Endpoint, Given, Parameter
from .page_access import require_writable

_AROUND = 3  # lines shown around what changed
_MOST_LINES = 100_000  # of one side: beyond, nobody reads the difference
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
        "kind": one_of("created", "changed", "removed"),
        "version": TEXT,
    }
)
_HUNKS = array(object_of({"op": one_of("same", "add", "remove", "skip"), "text": TEXT}))
_ID = {"type": "string", "pattern": "^[0-9a-f]{4,16}$"}
_UNDO = closed_object({"changes": {**array(_ID), "minItems": 1, "maxItems": 500, "description": "Ids."}})
_WHEN = {"description": "A change's id, a day or a time.", "anyOf": [_ID, *MOMENT["anyOf"]]}
_RESTORE = closed_object({"path": PAGE, "when": _WHEN})
_UNDONE = object_of({"path": TEXT, "changes": array(TEXT), "done": BOOLEAN, "problem": TEXT})


def changes(asked: Asked) -> dict[str, Any]:
    given = asked.given
    try:
        found = timeline.changes(
            asked.home, given.get("what", ""), agent=given.get("agent", ""), since=given.get("since", "")
        )
    except NotFound:  # history knows nothing of it: it has no changes
        found = []
    newest = [each for each in found if _is_for(asked, each.path)][::-1]
    if "before" in given:
        ids = [change.id for change in newest]
        if given["before"] not in ids:
            raise NotFound(f"there is no change {given['before']} in this list: begin from the top")
        newest = newest[ids.index(given["before"]) + 1 :]
    limit = given.get("limit", 100)
    return {"changes": [_row(change) for change in newest[:limit]], "more": len(newest) > limit}


def _is_for(asked: Asked, path: str) -> bool:
    """Settings say where memory is and who reads along: they are for who may do everything, in pages and history."""
    if path != SETTINGS and not path.endswith("/agent.yaml"):
        return True
    return asked.grant.agents is None and asked.grant.role == "admin"


def _named(asked: Asked, name: str) -> Change:
    found = timeline.change(asked.home, name)
    if not _is_for(asked, found.path):
        raise NotFound(f"there is no change {name}: `commonplace log` lists them")
    return found


def _row(change: Change) -> dict[str, Any]:
    kind = "removed" if change.version == ABSENT else "created" if change.before == ABSENT else "changed"
    return {
        "id": change.id,
        "at": change.at,
        "path": change.path,
        "by": change.by,
        "tool": change.tool,
        "agent": change.agent,
        "session": change.session,
        "reason": change.why,
        "call": change.call,
        "kind": kind,
        "version": change.version,
    }


def change(asked: Asked) -> dict[str, Any]:
    found = _named(asked, asked.given["id"])
    before, after = timeline.sides(asked.home, found)
    return {**_row(found), "hunks": hunks(before, after), "before": before, "after": after}


def hunks(before: str, after: str) -> list[dict[str, str]]:
    """The lines that went and came, with some around them; what is left out between says how much it is."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > _MOST_LINES:
        return [{"op": "skip", "text": f"{len(old)} lines before, {len(new)} after: too many to compare"}]
    found = opcodes(old, new)
    out: list[dict[str, str]] = []
    for number, (tag, a, b, c, d) in enumerate(found):
        if tag == "equal":
            around = _AROUND * (number > 0), _AROUND * (number < len(found) - 1)
            out += _same(old[a:b], *around) if len(found) > 1 else []
            continue
        out += [{"op": "remove", "text": line} for line in old[a:b]]
        out += [{"op": "add", "text": line} for line in new[c:d]]
    return out


def _same(lines: list[str], after: int, before: int) -> list[dict[str, str]]:
    """Lines that stayed: some after the change before them, some before the next, and how many are between."""
    if len(lines) <= after + before:
        return [{"op": "same", "text": line} for line in lines]
    out = [{"op": "same", "text": line} for line in lines[:after]]
    _skip(out, len(lines) - after - before)
    return out + [{"op": "same", "text": line} for line in lines[len(lines) - before :]]


def _skip(out: list[dict[str, str]], count: int) -> None:
    if count > 0:
        out.append({"op": "skip", "text": f"{count} line{'s' * (count > 1)}"})


def undo(asked: Asked) -> dict[str, Any]:
    home = asked.home
    timeline.look(home)
    named = [_named(asked, name) for name in dict.fromkeys(asked.body["changes"])]
    every = timeline.together(home, named)
    chosen = [each for each in every if timeline.may_see(home, each.path) and _is_for(asked, each.path)]
    done = timeline.undo(home, chosen)
    rows = [
        {
            "path": each.path,
            "changes": [one.id for one in each.changes],
            "done": not each.problem,
            "problem": each.problem,
        }
        for each in done
    ]
    return {"undone": rows}


def restore(asked: Asked) -> dict[str, Any]:
    path, when = asked.body["path"], asked.body["when"]
    try:
        require_writable(asked.home, path)
        changed = timeline.restore(asked.home, path, when)
    except InvalidArgument as error:  # it is understood, and does not fit this page
        raise NotFound(str(error)) from error
    try:
        version = asked.home.storage.pages.read(path).version
    except CommonplaceError:
        version = ABSENT
    return {"path": path, "changed": changed, "version": version}


_LIST = [
    Parameter(
        "what",
        {"type": "string", "minLength": 1, "maxLength": MAX_PATH_CHARACTERS},
        "A page, or a key; everything, if not said.",
    ),
    Parameter("since", MOMENT, "Only from then on."),
    Parameter("agent", {"type": "string", "minLength": 1, "maxLength": 500}, "Only what this agent changed."),
    Parameter("limit", integer(1, 1000), "How many at the most; 100 if not said."),
    Parameter("before", _ID, "Go on after this change."),
]
_ONE = object_of({**_CHANGE["properties"], "hunks": _HUNKS, "before": TEXT, "after": TEXT})
ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/history",
        changes,
        "Who changed what, newest first.",
        takes=_LIST,
        tag="history",
        answers={200: Given("Some changes.", object_of({"changes": array(_CHANGE), "more": BOOLEAN}))},
        problems=[404],
    ),
    Endpoint(
        "GET",
        "/v1/history/{id}",
        change,
        "One change, with what it did.",
        tag="history",
        takes=[Parameter("id", _ID, "The id of a change.", "path", required=True)],
        answers={200: Given("A change.", _ONE)},
        problems=[404],
    ),
    Endpoint(
        "POST",
        "/v1/undo",
        undo,
        "Take back changes, with all that the same calls changed.",
        tag="history",
        body=_UNDO,
        needs="write",
        answers={200: Given("What was done, page by page.", object_of({"undone": array(_UNDONE)}))},
        problems=[404, 409],
    ),
    Endpoint(
        "POST",
        "/v1/restore",
        restore,
        "Let a page be what it was.",
        tag="history",
        body=_RESTORE,
        needs="write",
        answers={200: Given("Whether it changed.", object_of({"path": TEXT, "changed": BOOLEAN, "version": TEXT}))},
        problems=[404, 409, 412, 422],
    ),
]
