"""All tools by name: look up, check, call.

A call never raises for what a caller can do wrong: it answers in the error form of the toolset that was asked. A whole
reply of a model in the action protocol is run here, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from ..errors import CommonplaceError, InvalidArgument, UnknownTool
from ..formats.json_text import replace_surrogates
from ..home import Home
from ..secrets import redact
from .define import Reply, Tool, Toolset, decode_json_text, with_warning

# The first that has a tool of some name keeps the plain name: `memory_search` alone is retrieval's.
TOOLSETS = ("retrieval", "notes", "working", "journal", "registry")
# What an agent is given by default: enough for everything, and no two tools for one thing.
EVERYDAY = ("journal", "retrieval", "working")
_FENCED_JSON = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?```\s*", re.DOTALL)


class Outcome(NamedTuple):
    """What a call answered, and the error behind the answer, if there was one."""

    reply: Reply
    error: CommonplaceError | None = None


class Offer(NamedTuple):
    """A tool under the name it is offered by, beside others."""

    name: str
    toolset: Toolset
    tool: Tool
    note: str = ""

    @property
    def description(self) -> str:
        return f"{self.tool.description}\n\n({self.note})" if self.note else self.tool.description


@cache
def load(name: str) -> Toolset:
    """Return a toolset by its name; UnknownTool if there is none of that name."""
    if name not in TOOLSETS:
        raise UnknownTool(f"Unknown toolset: {name}. There are {', '.join(TOOLSETS)}")
    from importlib import import_module

    toolset: Toolset = import_module(f"{__package__}.{name}").TOOLSET
    return toolset


def call(
    home: Home,
    tool: str,
    arguments: Any = None,
    toolset: str | Sequence[str] | None = None,
    *,
    why: str = "",
    session: str = "",
) -> Outcome:
    """Run a tool by the name under which some toolsets, or all, offer it.

    `why`, and the `session` that calls if it is not the handle's own, go into history.
    """
    owner: Toolset | None = None
    given: Mapping[str, Any] = {}
    try:
        owner, name = _find_tool(tool, toolset)
        given = _parse_arguments(arguments)
        home.storage.check()
        problem = owner.unavailable(home)
        if problem:
            raise problem
        if name not in owner.tools:
            raise UnknownTool(f"Unknown tool: {tool}. The {owner.name} toolset has {', '.join(owner.tools)}")
        chosen = owner.tools[name]
        given = decode_json_text(chosen.parameters, given)
        with home.writer.call(name, session=session, why=redact(why)) as context:
            if not chosen.reads_only:
                given = home.writer.screen(given)
            reply = _invoke(home, chosen, given)
        return Outcome(_with_conflicts(with_warning(reply, *context.warnings), context.conflicts))
    except CommonplaceError as error:
        reply = owner.refuse(error, tool, given) if owner else _refuse_without_toolset(error)
        return Outcome(_replace_surrogates_in(reply), error)


def _with_conflicts(reply: Reply, conflicts: Sequence[str]) -> Reply:
    """Return the reply with what was lost in conflicts: sentences, beside lines that can be put back as warnings."""
    if "conflict" in reply:
        return with_warning(reply, *conflicts)
    return {**reply, "conflict": "; ".join(conflicts)} if conflicts else reply


def only_reads(tool: str, toolset: str | Sequence[str] | None = None) -> bool:
    """Return whether a call of this name writes nothing, also because there is no such tool."""
    try:
        owner, name = _find_tool(tool, toolset)
    except UnknownTool:
        return True
    return name not in owner.tools or owner.tools[name].reads_only


def _invoke(home: Home, tool: Tool, arguments: Mapping[str, Any]) -> Reply:
    reply = tool.invoke(home, arguments)
    takes = tool.parameter_names(arguments)
    unknown = [name for name, value in arguments.items() if name not in takes and value is not None]
    if not unknown:
        return reply
    sentence = f"ignored what this does not take: {', '.join(unknown)} (it takes {', '.join(takes)})"
    return with_warning(reply, replace_surrogates(sentence))


def _find_tool(tool: str, toolset: str | Sequence[str] | None) -> tuple[Toolset, str]:
    """Return the toolset and the plain name of a tool, by the names under which toolsets are offered together."""
    if not isinstance(tool, str):
        raise UnknownTool("the name of a tool is text")
    chosen = _toolset_names(toolset)
    for name in chosen:  # one after the other: a toolset that is not needed is not loaded
        if tool in load(name).tools:
            return load(name), tool
    for name in chosen:
        plain = tool.removeprefix(f"{name}_")
        if plain != tool and plain in load(name).tools:
            return load(name), plain
    if len(chosen) == 1:
        return load(chosen[0]), tool
    raise UnknownTool(f"Unknown tool: {tool}. There are {', '.join(offer.name for offer in offers(chosen))}")


def _toolset_names(toolset: str | Sequence[str] | None) -> Sequence[str]:
    if toolset is None:
        return TOOLSETS
    chosen = [toolset] if isinstance(toolset, str) else toolset
    if not isinstance(chosen, (list, tuple)) or not all(isinstance(name, str) for name in chosen) or not chosen:
        raise UnknownTool(f"a toolset is one of {', '.join(TOOLSETS)}, or a list of them")
    return chosen


def _parse_arguments(given: Any) -> Mapping[str, Any]:
    """Return the arguments as an object; some models send them as JSON text."""
    if given is None:
        return {}
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise InvalidArgument(f"the arguments are not JSON: {error}") from error
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InvalidArgument("the arguments must be a JSON object")
    return given


def _replace_surrogates_in(reply: Any) -> Any:
    """Make a refusal valid UTF-8, whatever it repeats of the arguments."""
    if isinstance(reply, dict):
        return {name: _replace_surrogates_in(value) for name, value in reply.items()}
    return replace_surrogates(reply) if isinstance(reply, str) else reply


def _refuse_without_toolset(error: CommonplaceError) -> Reply:
    """Refuse when it is not known which toolset was meant: readable as any of their forms."""
    return {"success": False, "status": "error", "error": str(error)}


def offers(toolsets: Sequence[str] = TOOLSETS, home: Home | None = None) -> list[Offer]:
    """Return the tools of some toolsets, as they are served together, without those switched off in a home."""
    found: list[Offer] = []
    taken: dict[str, str] = {}
    for name in dict.fromkeys(toolsets):
        owner = load(name)
        if home and owner.unavailable(home):
            continue
        for plain, tool in owner.tools.items():
            found.append(_offer(plain, owner, tool, taken.get(plain)))
            taken.setdefault(plain, name)
    return found


def _offer(plain: str, owner: Toolset, tool: Tool, keeper: str | None) -> Offer:
    if keeper is None:
        return Offer(plain, owner, tool)
    return Offer(f"{owner.name}_{plain}", owner, tool, f"{plain} of {owner.name}; the plain name is {keeper}'s here")


def run_actions(home: Home, reply: Any) -> Reply:
    """Run every action of a model's reply in order, each with its own result; a failed one does not stop the rest."""
    parsed, problem = _parse_reply(reply)
    if problem:
        return {"success": False, "error": problem, "results": []}
    actions = parsed.get("actions", [])
    if actions is None:
        actions = []
    if not isinstance(actions, list):
        return {"success": False, "error": "actions must be a list", "results": []}
    results = [_run_action(home, action) for action in actions]
    return {
        "success": True,
        "results": results,
        "final_answer": parsed.get("final_answer", ""),
        "continue": bool(parsed.get("continue", False)),
    }


def _parse_reply(reply: Any) -> tuple[Mapping[str, Any], str]:
    """Return the reply as an object, and what is wrong with it."""
    if isinstance(reply, (str, bytes)):
        text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
        fenced = _FENCED_JSON.fullmatch(text)
        try:
            reply = json.loads(fenced[1] if fenced else text)
        except (ValueError, RecursionError) as error:
            return {}, f"the reply is not JSON: {error}"
    if not isinstance(reply, Mapping):
        return {}, "the reply must be a JSON object with reasoning, actions, final_answer and continue"
    return reply, ""


def _run_action(home: Home, action: Any) -> Reply:
    if not isinstance(action, Mapping):
        return {"success": False, "error": "an action must be a JSON object"}
    if action.get("type", "tool_call") != "tool_call":
        return {"success": False, "error": f"Unknown action type: {action['type']}. Use tool_call"}
    tool = action.get("tool")
    if not isinstance(tool, str):
        return {"success": False, "error": "Missing required parameter: tool"}
    why = action.get("reasoning")
    return call(home, tool, action.get("arguments"), why=replace_surrogates(why) if isinstance(why, str) else "").reply
