"""Rules that wait for a person: listed, approved or rejected by somebody who may speak for all agents."""

from __future__ import annotations

from typing import Any

from ...errors import Refused
from ...instructions import approve, describe_proposal, list_proposals, reject
from ...maintenance.trust_review import describe_untrusted, trust_home
from ...schema import BOOLEAN, TEXT, array, closed_object, object_of, one_of
from .endpoints import PAGE, ApiRequest, Endpoint, ResponseSpec


def get_proposals(request: ApiRequest) -> dict[str, Any]:
    _require_owner(request)
    home = request.home
    return {
        "proposals": [describe_proposal(rule) for rule in list_proposals(home)],
        "trusted": home.trust.is_own,
        "left_out": describe_untrusted(home),
    }


def trust_memory(request: ApiRequest) -> dict[str, Any]:
    """Let everything count that a found memory brings, as it is now."""
    _require_owner(request)
    approved = trust_home(request.home)
    return {
        "settings": bool(approved.settings_file),
        "rules": sorted(approved.rules),
        "tokens": [token.id for token in approved.tokens],
    }


def decide_proposal(request: ApiRequest) -> dict[str, Any]:
    _require_owner(request)
    path = request.body["path"]
    decide = approve if request.body["decision"] == "approve" else reject
    decide(request.home, path)
    return {"path": path, "decision": request.body["decision"]}


def _require_owner(request: ApiRequest) -> None:
    if request.grant.agents is not None:
        raise Refused("rules bind all agents, and this token is for some of them: use one for all of them")


_PROPOSAL = object_of({"path": TEXT, "text": TEXT, "in_force": TEXT, "by": TEXT, "at": TEXT})
_DECISION = closed_object({"path": PAGE, "decision": one_of("approve", "reject")})
_LIST = object_of({"proposals": array(_PROPOSAL), "trusted": BOOLEAN, "left_out": TEXT})
_APPROVED = object_of({"settings": BOOLEAN, "rules": array(TEXT), "tokens": array(TEXT)})
ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/proposals",
        get_proposals,
        "The rules that wait for approval, with what is in force meanwhile.",
        needs="admin",
        responses={200: ResponseSpec("Every proposal, and what else a found memory goes without.", _LIST)},
        tag="access",
    ),
    Endpoint(
        "POST",
        "/v1/proposals",
        decide_proposal,
        "Approve a rule as it is, or put back what was in force before.",
        needs="admin",
        body=_DECISION,
        responses={200: ResponseSpec("What was decided.", object_of({"path": TEXT, "decision": TEXT}))},
        problems=[404],
        tag="access",
    ),
    Endpoint(
        "POST",
        "/v1/trust",
        trust_memory,
        "Trust a memory that was found: its rules, its provider and its tokens count as they are now.",
        needs="admin",
        responses={200: ResponseSpec("What was approved.", _APPROVED)},
        tag="access",
    ),
]
