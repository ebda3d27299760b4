"""The action protocol: a model's whole reply as one JSON object, with the tool calls it wants made."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..formats.json_text import whole_characters
from ..home import Home
from .catalog import call
from .define import Reply

_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?```\s*", re.DOTALL)


def run(home: Home, reply: Any) -> Reply:
    """Every action in order, each with its own result; a failed one does not stop the rest."""
    parsed, problem = _object(reply)
    if problem:
        return {"success": False, "error": problem, "results": []}
    actions = parsed.get("actions", [])
    if actions is None:
        actions = []
    if not isinstance(actions, list):
        return {"success": False, "error": "actions must be a list", "results": []}
    results = [_act(home, action) for action in actions]
    return {
        "success": True,
        "results": results,
        "final_answer": parsed.get("final_answer", ""),
        "continue": bool(parsed.get("continue", False)),
    }


def _object(reply: Any) -> tuple[Mapping[str, Any], str]:
    if isinstance(reply, (str, bytes)):
        text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
        fenced = _FENCED.fullmatch(text)
        try:
            reply = json.loads(fenced[1] if fenced else text)
        except (ValueError, RecursionError) as error:
            return {}, f"the reply is not JSON: {error}"
    if not isinstance(reply, Mapping):
        return {}, "the reply must be a JSON object with reasoning, actions, final_answer and continue"
    return reply, ""


def _act(home: Home, action: Any) -> Reply:
    if not isinstance(action, Mapping):
        return {"success": False, "error": "an action must be a JSON object"}
    if action.get("type", "tool_call") != "tool_call":
        return {"success": False, "error": f"Unknown action type: {action['type']}. Use tool_call"}
    tool = action.get("tool")
    if not isinstance(tool, str):
        return {"success": False, "error": "Missing required parameter: tool"}
    why = action.get("reasoning")
    return call(home, tool, action.get("arguments"), why=whole_characters(why) if isinstance(why, str) else "").reply
