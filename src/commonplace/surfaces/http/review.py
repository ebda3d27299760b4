"""Facts that may not hold, for a person to decide on: listed for whoever may read, answered by whoever may write."""

from __future__ import annotations

from typing import Any

from ...maintenance.doubts import ANSWERS, answer_doubt, describe_doubt, list_doubts
from ...schema import INTEGER, TEXT, array, closed_object, integer, object_of, one_of
from .endpoints import ApiRequest, Endpoint, Parameter, ResponseSpec

_DEFAULT_LIMIT = 50


def get_review(request: ApiRequest) -> dict[str, Any]:
    doubts = list_doubts(request.home)
    limit = request.parameters.get("limit", _DEFAULT_LIMIT)
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
ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/review",
        get_review,
        "Facts that may not hold: replaced by a newer one, over, or pinned to a file that changed.",
        parameters=[Parameter("limit", integer(1, 500), f"How many at most; default: {_DEFAULT_LIMIT}.")],
        responses={200: ResponseSpec("Open questions.", object_of({"open": array(_DOUBT), "count": INTEGER}))},
    ),
    Endpoint(
        "POST",
        "/v1/review",
        post_review,
        "Answer: `new` or `old` holds, `both` do, or ask again `later`, in 7 days.",
        needs="write",
        body=closed_object({"id": _ID, "answer": one_of(*ANSWERS)}),
        responses={200: ResponseSpec("What was answered.", object_of({"id": TEXT, "answer": one_of(*ANSWERS)}))},
        problems=[404, 409, 412, 422],
    ),
]
