"""Decisions for a person: facts that may be outdated, sentences that memory learned, and rules that wait for approval.

Listing the first two takes the role to read, deciding on them the role to write; rules need a token for all agents.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import Any

from ...errors import InvalidArgument, NotFound, Refused
from ...formats.html import render_html
from ...instructions import Rule, approve, describe_proposal, list_proposals, reject
from ...maintenance import feed
from ...maintenance.doubts import ANSWERS, answer_doubt, describe_doubt, list_doubts
from ...maintenance.trust_review import Review, describe_untrusted, hash_review, list_parts, review_home, trust_home
from ...schema import BOOLEAN, INTEGER, TEXT, array, closed_object, integer, object_of, one_of, plain_text
from ...server.service import format_cursor, parse_cursor
from ...storage.history import version_of
from .endpoints import PAGE, ApiRequest, Endpoint, Parameter, Problem, ResponseSpec
from .pages import LinkResolver, page_title, require_writable

_DEFAULT_DOUBTS = 50


def get_review(request: ApiRequest) -> dict[str, Any]:
    doubts = list_doubts(request.home)
    limit = request.parameters.get("limit", _DEFAULT_DOUBTS)
    return {"open": [describe_doubt(doubt) for doubt in doubts[:limit]], "count": len(doubts)}


def post_review(request: ApiRequest) -> dict[str, Any]:
    doubt = answer_doubt(request.home, request.body["id"], request.body["answer"])
    return {"id": doubt.id, "answer": request.body["answer"]}


_ID = {"type": "string", "pattern": "^[0-9a-f]{16}$", "description": "The id of an open question."}
_SIDE = object_of(dict.fromkeys(("citation", "text", "at", "author"), TEXT))
_DOUBT = object_of(
    {
        "id": TEXT,
        "kind": one_of("replaced", "over", "stale"),
        "reason": TEXT,
        "older": _SIDE,
        "newer": {**_SIDE, "type": ["object", "null"]},
        "answers": array(one_of(*ANSWERS)),
    }
)
_DEFAULT_STATEMENTS = 40
MAX_SENTENCE_CHARACTERS = 20_000


def list_statements(request: ApiRequest) -> dict[str, Any]:
    parameters = request.parameters
    limit = parameters.get("limit", _DEFAULT_STATEMENTS)
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
        raise NotFound("after: this is not the end of a list: begin from the top") from error


def decide_statement(request: ApiRequest) -> dict[str, Any]:
    body = request.body
    require_writable(request.home, body["path"])
    statement = (request.home, body["path"], body["sentence"], body["line"])
    session = request.caller.session
    if body["decision"] == "keep":
        if not request.grant.is_person:
            raise Problem(403, "only a person who signed in to the web page can approve what was learned")
        outcome = feed.keep_sentence(*statement, session=session)
    elif body["decision"] == "fix":
        outcome = feed.fix_sentence(*statement, body.get("text", ""), session=session)
    else:
        outcome = feed.forget_sentence(*statement, session=session)
    return {**outcome._asdict(), "decision": body["decision"]}


_STATEMENT_DECISION = one_of("keep", "fix", "forget")
_STATEMENT = object_of(
    {
        "path": TEXT,
        "from": INTEGER,
        "to": INTEGER,
        "text": TEXT,
        "lines": {"type": "string", "description": "The full text of its lines, with comments: what `keep` approves."},
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
_DECIDE_STATEMENT = closed_object(
    {
        "path": PAGE,
        "line": integer(1, 10**9),
        "sentence": plain_text(
            "The sentence as you read it; to keep it, its `lines`.", min_length=1, max_length=MAX_SENTENCE_CHARACTERS
        ),
        "decision": _STATEMENT_DECISION,
    },
    text=plain_text("What it should say, to fix it.", max_length=MAX_SENTENCE_CHARACTERS),
)


def get_proposals(request: ApiRequest) -> dict[str, Any]:
    _require_owner(request)
    home = request.home
    review = review_home(home)
    rules = list_proposals(home)
    return {
        "proposals": [describe_proposal(rule) for rule in rules],
        "trusted": home.trust.is_own,
        "left_out": describe_untrusted(home),
        "parts": [part._asdict() for part in list_parts(review)],
        "review": hash_review(review) if _is_shown(review, rules) else "",
    }


def _is_shown(review: Review, rules: Sequence[Rule]) -> bool:
    """Return whether the rules shown are those that were reviewed, and nobody is changing them."""
    versions = {path: version_of(data) for path, data in review.rules.items()}
    return all(versions.get(rule.path, rule.version) == rule.version for rule in rules)


def trust_memory(request: ApiRequest) -> dict[str, Any]:
    """Approve everything that a found memory brings, as a person read it."""
    _require_owner(request)
    review = review_home(request.home)
    if not hmac.compare_digest(hash_review(review).encode(), request.body["review"].encode()):
        raise Problem(412, "this memory has changed since it was read: look at it again, then decide")
    approved = trust_home(request.home, review)
    return {
        "settings": bool(approved.settings_file),
        "rules": sorted(approved.rules),
        "tokens": [token.id for token in approved.tokens],
    }


def decide_proposal(request: ApiRequest) -> dict[str, Any]:
    _require_owner(request)
    path = request.body["path"]
    decide = approve if request.body["decision"] == "approve" else reject
    decide(request.home, path, request.body["version"])
    return {"path": path, "decision": request.body["decision"]}


def _require_owner(request: ApiRequest) -> None:
    if request.grant.agents is not None:
        raise Refused("rules bind all agents, and this token is only for some: use one for all agents")


_PROPOSAL = object_of({"path": TEXT, "version": TEXT, "text": TEXT, "in_force": TEXT, "by": TEXT, "at": TEXT})
_PROPOSAL_DECISION = closed_object(
    {
        "path": PAGE,
        "decision": one_of("approve", "reject"),
        "version": plain_text("The `version` of the proposal that was read.", min_length=1, max_length=200),
    }
)
_REVIEWED = closed_object({"review": plain_text("As GET /v1/proposals gave it.", min_length=1, max_length=200)})
_PART = object_of({"name": TEXT, "text": TEXT})
_PROPOSALS = object_of(
    {
        "proposals": array(_PROPOSAL),
        "trusted": BOOLEAN,
        "left_out": TEXT,
        "parts": {**array(_PART), "description": "Everything that `POST /v1/trust` approves, in full, as it is shown."},
        "review": TEXT,
    }
)
_APPROVED = object_of({"settings": BOOLEAN, "rules": array(TEXT), "tokens": array(TEXT)})
ENDPOINTS = [
    Endpoint(
        "GET /v1/review",
        get_review,
        "Facts that may be outdated: replaced by a newer one, over, or pinned to a file that changed.",
        parameters=[Parameter("limit", integer(1, 500), f"How many at most; default: {_DEFAULT_DOUBTS}.")],
        responses={200: ResponseSpec("Open questions.", object_of({"open": array(_DOUBT), "count": INTEGER}))},
    ),
    Endpoint(
        "POST /v1/review",
        post_review,
        "Answer: `new` or `old` holds, `both` do, or ask again `later`, in 7 days.",
        needs="write",
        body=closed_object({"id": _ID, "answer": one_of(*ANSWERS)}),
        responses={200: ResponseSpec("What was answered.", object_of({"id": TEXT, "answer": one_of(*ANSWERS)}))},
        problems=[404, 409, 412, 422],
    ),
    Endpoint(
        "GET /v1/statements",
        list_statements,
        "What memory learned, sentence by sentence, newest first.",
        parameters=[
            Parameter("limit", integer(1, 200), f"How many at most; default: {_DEFAULT_STATEMENTS}."),
            Parameter("after", {"type": "string", "maxLength": 4000}, "The `next` of the previous list."),
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
        "POST /v1/statements",
        decide_statement,
        "Keep a sentence as it is, fix it, or remove it from its page. POST /v1/undo takes the last two back.",
        tag="history",
        body=_DECIDE_STATEMENT,
        needs="write",
        responses={
            200: ResponseSpec(
                "The change that did it.",
                object_of({"path": TEXT, "change": TEXT, "warning": TEXT, "decision": _STATEMENT_DECISION}),
            )
        },
        problems=[403, 404, 409, 412, 422],
    ),
    Endpoint(
        "GET /v1/proposals",
        get_proposals,
        "The rules that wait for approval, with what is in force until then.",
        needs="admin",
        responses={200: ResponseSpec("Every proposal, and what else does not count yet.", _PROPOSALS)},
        tag="access",
    ),
    Endpoint(
        "POST /v1/proposals",
        decide_proposal,
        "Approve a rule as it was read, or put back what was in force before.",
        needs="admin",
        body=_PROPOSAL_DECISION,
        responses={200: ResponseSpec("What was decided.", object_of({"path": TEXT, "decision": TEXT}))},
        problems=[404, 412],
        tag="access",
    ),
    Endpoint(
        "POST /v1/trust",
        trust_memory,
        "Trust a memory that was found: its rules, its provider and its tokens count as they were read.",
        needs="admin",
        body=_REVIEWED,
        responses={200: ResponseSpec("What was approved.", _APPROVED)},
        problems=[412],
        tag="access",
    ),
]
