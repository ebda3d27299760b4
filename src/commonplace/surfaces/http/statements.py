"""The feed of what memory learned, sentence by sentence; and keep, fix and forget for one of them."""

from __future__ import annotations

from typing import Any

from ...errors import InvalidArgument, NotFound
from ...formats.html import render_html
from ...maintenance import feed
from ...schema import BOOLEAN, INTEGER, TEXT, array, closed_object, integer, object_of, one_of, plain_text
from ...server.service import format_cursor, parse_cursor
from .endpoints import PAGE, ApiRequest, Endpoint, Parameter, ResponseSpec
from .page_access import LinkResolver, page_title, require_writable
from .problems import Problem

DEFAULT_LIMIT = 40
MAX_SENTENCE_CHARACTERS = 20_000


def list_statements(request: ApiRequest) -> dict[str, Any]:
    parameters = request.parameters
    limit = parameters.get("limit", DEFAULT_LIMIT)
    learned = feed.list_learned(
        request.home,
        limit + 1,
        _parse_position(parameters.get("after", "")),
        only_unapproved=parameters.get("unapproved", False),
    )
    links = LinkResolver(request.home)
    rows = [_describe(request, each, links) for each in learned[:limit]]
    return {"statements": rows, "next": _format_position(learned[limit - 1].position) if len(learned) > limit else None}


def _describe(request: ApiRequest, learned: feed.Learned, links: LinkResolver) -> dict[str, Any]:
    sentence = learned.sentence
    path = learned.position.path
    place = learned.place
    text = sentence.text[:MAX_SENTENCE_CHARACTERS]
    is_writable = place.scope.kind != "extra" and len(learned.lines) <= MAX_SENTENCE_CHARACTERS
    return {
        "path": path,
        "from": sentence.first,
        "to": sentence.last,
        "text": text,
        "lines": learned.lines[:MAX_SENTENCE_CHARACTERS],
        "html": render_html(text, path, links.resolve),
        "title": page_title(request.home, path, place),
        "kind": place.kind,
        "scope": str(place.scope),
        "at": learned.position.at,
        "author": learned.author,
        "approved": learned.is_approved,
        "writable": is_writable,
        "keepable": is_writable and request.grant.is_person,
    }


def _format_position(position: feed.Position) -> str:
    return format_cursor(position.at, f"{position.number} {position.path}")


def _parse_position(cursor: str) -> feed.Position | None:
    try:
        place = parse_cursor(cursor)
        if place is None:
            return None
        number, _, path = place[1].partition(" ")
        return feed.Position(place[0], path, int(number))
    except (InvalidArgument, ValueError) as error:  # well-formed, but no listing gave it
        raise NotFound("after: this is not where a list ended: begin from the top") from error


def decide_statement(request: ApiRequest) -> dict[str, Any]:
    body = request.body
    require_writable(request.home, body["path"])
    statement = (request.home, body["path"], body["sentence"], body["line"])
    session = request.caller.session
    if body["decision"] == "keep":
        if not request.grant.is_person:
            raise Problem(403, "only a person who signed in to the web page keeps what was learned")
        outcome = feed.keep_sentence(*statement, session=session)
    elif body["decision"] == "fix":
        outcome = feed.fix_sentence(*statement, body.get("text", ""), session=session)
    else:
        outcome = feed.forget_sentence(*statement, session=session)
    return {**outcome._asdict(), "decision": body["decision"]}


_DECISION = one_of("keep", "fix", "forget")
_STATEMENT = object_of(
    {
        "path": TEXT,
        "from": INTEGER,
        "to": INTEGER,
        "text": TEXT,
        "lines": {"type": "string", "description": "All that its lines say, comments as well: what `keep` approves."},
        "html": TEXT,
        "title": TEXT,
        "kind": TEXT,
        "scope": TEXT,
        "at": TEXT,
        "author": TEXT,
        "approved": BOOLEAN,
        "writable": BOOLEAN,
        "keepable": BOOLEAN,
    }
)
_DECIDE = closed_object(
    {
        "path": PAGE,
        "line": integer(1, 10**9),
        "sentence": plain_text(
            "The sentence as it was read; to keep it, its `lines`.", min_length=1, max_length=MAX_SENTENCE_CHARACTERS
        ),
        "decision": _DECISION,
    },
    text=plain_text("What it should say, to fix it.", max_length=MAX_SENTENCE_CHARACTERS),
)
ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/statements",
        list_statements,
        "What memory learned, sentence by sentence, newest first.",
        parameters=[
            Parameter("limit", integer(1, 200), f"How many at most; default: {DEFAULT_LIMIT}."),
            Parameter("after", {"type": "string", "maxLength": 4000}, "What the list before gave as `next`."),
            Parameter("unapproved", BOOLEAN, "Only what no person wrote or kept."),
        ],
        tag="history",
        responses={
            200: ResponseSpec(
                "Some sentences.", object_of({"statements": array(_STATEMENT), "next": {"type": ["string", "null"]}})
            )
        },
        problems=[404],
    ),
    Endpoint(
        "POST",
        "/v1/statements",
        decide_statement,
        "Keep a sentence as it is, fix it, or remove it from its page. POST /v1/undo takes the last two back.",
        tag="history",
        body=_DECIDE,
        needs="write",
        responses={
            200: ResponseSpec(
                "The change that did it.",
                object_of({"path": TEXT, "change": TEXT, "warning": TEXT, "decision": _DECISION}),
            )
        },
        problems=[403, 404, 409, 412, 422],
    ),
]
