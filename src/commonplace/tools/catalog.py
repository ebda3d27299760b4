"""All tools by name: look up, check, call.

A call never raises for a caller's mistake: it answers in the error form of the toolset that was called. The action
protocol, in which a model's whole reply is run, is here, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import CommonplaceError, InvalidArgument, MissingArgument, UnknownOperation, UnknownTool, suggest
from ..formats.json_text import replace_surrogates
from ..home import Home
from ..schema import WORDS, json_type
from ..secrets import redact
from ..storage.history import PageEdit
from ..toolsets import EVERYDAY_NAME, TOOLS, TOOLSETS, ToolName, name_tools, spell_out
from .define import Reply, Tool, Toolset, decode_json_text, with_warning

if TYPE_CHECKING:
    from .notices import Comparison

_EXAMPLE = '{"content": "…"}'  # example of arguments
_FENCED_JSON = re.compile(r"\s*```(?:json)?[ \t\r]*\n(.*?)\n?```\s*", re.DOTALL)


class Outcome(NamedTuple):
    """The answer of a call, and the error behind it, if there was one."""

    reply: Reply
    error: CommonplaceError | None = None


class Offer(NamedTuple):
    """A tool under the name by which it is offered among others."""

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
    _require_known([name])
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
    definition: Tool | None = None
    values: Mapping[str, Any] = {}
    ahead: list[Comparison] = []
    try:
        owner, name = _find_tool(home, tool, toolset)
        values = _parse_arguments(arguments)
        home.storage.check()
        problem = owner.unavailable(home)
        if problem:
            raise problem
        if name not in owner.tools:
            raise UnknownTool(f"Unknown tool: {tool}. The {owner.name} toolset has {', '.join(owner.tools)}")
        definition = owner.tools[name]
        values = decode_json_text(definition.parameters, values)
        with home.writer.call(name, session=session, why=redact(why)) as context:
            if not definition.reads_only:
                values = home.writer.screen(values)
                context.look_ahead = partial(_look_ahead, home, ahead)
            reply = with_warning(definition.invoke(home, values), *_describe_unknown(definition, values))
        reply = _with_conflicts(with_warning(reply, *context.warnings), context.conflicts)
        return Outcome({**reply, **_describe_changes(home, context.edits, ahead)})
    except CommonplaceError as error:
        reply = owner.refuse(error, tool, values) if owner else _refuse_without_toolset(error)
        if definition and isinstance(error, MissingArgument):
            reply = with_warning(reply, *_describe_unknown(definition, values))
        if isinstance(error, UnknownOperation):
            reply = with_warning(reply, error.hint)
        return Outcome(_replace_surrogates_in(reply), error)


def _with_conflicts(reply: Reply, conflicts: Sequence[str]) -> Reply:
    """Return the reply with its conflicts as sentences; as warnings if `conflict` already has lines to put back."""
    if "conflict" in reply:
        return with_warning(reply, *conflicts)
    return {**reply, "conflict": "; ".join(conflicts)} if conflicts else reply


def _look_ahead(home: Home, ahead: list[Comparison], edit: PageEdit) -> bool:
    """Send the question what an edit replaces along with it, if that saves a round trip; return whether it was sent."""
    if not home.index.can_look_ahead:
        return False
    from .notices import Comparison

    with suppress(CommonplaceError, OSError):
        comparison = Comparison(home, [edit])
        ahead[:] = [comparison]
        return comparison.look_ahead()
    return False


def _describe_changes(home: Home, edits: Sequence[PageEdit], ahead: Sequence[Comparison]) -> Reply:
    """Return the notices about what was replaced. Failing to find them never fails the completed write. `ahead`: what
    was compared already, if that is all."""
    if not edits:
        return {}
    from .notices import Comparison

    with suppress(CommonplaceError, OSError):
        matching = (comparison for comparison in ahead if comparison.edits == edits)
        return (next(matching, None) or Comparison(home, edits)).describe()
    return {}


def only_reads(tool: str, toolset: str | Sequence[str] | None = None, home: Home | None = None) -> bool:
    """Return whether a call of this name writes nothing; true if there is no such tool."""
    try:
        owner, name = _find_tool(home, tool, toolset)
    except UnknownTool:
        return True
    return name not in owner.tools or owner.tools[name].reads_only


def _describe_unknown(tool: Tool, arguments: Mapping[str, Any]) -> list[str]:
    """Return a sentence on the arguments that a tool does not take; none if it takes all of them."""
    takes = tool.parameter_names(arguments)
    unknown = [name for name, value in arguments.items() if name not in takes and value is not None]
    if not unknown:
        return []
    meant = "".join(suggest(name, takes) for name in unknown)
    sentence = f"ignored what this does not take: {', '.join(unknown)} ({meant}it takes {', '.join(takes)})"
    return [replace_surrogates(sentence)]


def _find_tool(home: Home | None, tool: str, toolset: str | Sequence[str] | None) -> tuple[Toolset, str]:
    """Return the toolset and the plain name of a tool, by the names under which toolsets are offered together."""
    if not isinstance(tool, str):
        raise UnknownTool("the name of a tool is text")
    names = TOOLSETS if toolset is None else check_toolsets(toolset)
    # Without a list of toolsets a name means the same tool in every home.
    unavailable = home.unavailable_toolsets if home and toolset is not None else ()
    every = name_tools(spell_out(names))  # including those that the everyday selection does not list
    for each in [*name_tools(names, unavailable), *every]:  # a tool that is switched off refuses the call itself
        if tool == each.name:
            return load(each.toolset), each.plain
    for each in every:
        if tool == f"{each.toolset}_{each.plain}":
            return load(each.toolset), each.plain
    if len(names) == 1 and names[0] in TOOLS:
        return load(names[0]), tool
    names_of_tools = [each.name for each in every]
    meant = suggest(tool, names_of_tools).capitalize()
    raise UnknownTool(f"Unknown tool: {tool}. {meant}There are {', '.join(names_of_tools)}")


def check_toolsets(toolset: str | Sequence[str]) -> tuple[str, ...]:
    """Return a list of toolsets, or one, as a tuple; UnknownTool for anything else."""
    names = [toolset] if isinstance(toolset, str) else toolset
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names) or not names:
        raise UnknownTool(f"a toolset is one of {', '.join(TOOLSETS)}, or a list of them")
    _require_known(names)
    return tuple(names)


def _require_known(toolsets: Sequence[str]) -> None:
    """Raise UnknownTool for a name that is neither a toolset nor the everyday selection."""
    for name in toolsets:
        if name not in TOOLS and name != EVERYDAY_NAME:
            raise UnknownTool(f"Unknown toolset: {name}. There are {', '.join(TOOLSETS)}, and {EVERYDAY_NAME}")


def _parse_arguments(arguments: Any) -> Mapping[str, Any]:
    """Return the arguments as an object; some models send them as JSON text."""
    if arguments is None:
        return {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError) as error:
            problem = f"the arguments are not valid JSON ({error})"
            raise InvalidArgument(problem, advice=f"give an object such as {_EXAMPLE}") from error
    if not isinstance(arguments, Mapping) or not all(isinstance(name, str) for name in arguments):
        raise InvalidArgument(f"the arguments must be an object, such as {_EXAMPLE}, not {WORDS[json_type(arguments)]}")
    return arguments


def _replace_surrogates_in(reply: Any) -> Any:
    """Make a refusal valid UTF-8, whatever part of the arguments it repeats."""
    if isinstance(reply, dict):
        return {name: _replace_surrogates_in(value) for name, value in reply.items()}
    return replace_surrogates(reply) if isinstance(reply, str) else reply


def _refuse_without_toolset(error: CommonplaceError) -> Reply:
    """Return a refusal for an unknown toolset, readable in the form of any of them."""
    return {"success": False, "status": "error", "error": str(error)}


def offers(toolsets: Sequence[str] | None = None, home: Home | None = None) -> list[Offer]:
    """Return the tools of some toolsets, as they are served together, without those switched off in a home.

    Without a list, those of all toolsets, under the names that a call without a list knows them by.
    """
    unavailable = home.unavailable_toolsets if home else ()
    if toolsets is None:
        return [_offer(each) for each in name_tools(TOOLSETS) if each.toolset not in unavailable]
    _require_known(toolsets)
    return [_offer(each) for each in name_tools(toolsets, unavailable)]


def _offer(each: ToolName) -> Offer:
    owner = load(each.toolset)
    is_plain = each.name == each.plain
    note = "" if is_plain else f"{each.plain} of {each.toolset}; the plain name is {each.keeper}'s here"
    return Offer(each.name, owner, owner.tools[each.plain], note)


def run_actions(home: Home, reply: Any, toolset: Sequence[str] | None) -> Reply:
    """Run every action of a model's reply in order, each with its own result; a failed one does not stop the rest."""
    parsed, problem = _parse_reply(reply)
    if problem:
        return {"success": False, "error": problem, "results": []}
    actions = parsed.get("actions", [])
    if actions is None:
        actions = []
    if not isinstance(actions, list):
        return {"success": False, "error": "actions must be a list", "results": []}
    results = [_run_action(home, action, toolset) for action in actions]
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


def _run_action(home: Home, action: Any, toolset: Sequence[str] | None) -> Reply:
    if not isinstance(action, Mapping):
        return {"success": False, "error": "an action must be a JSON object"}
    if action.get("type", "tool_call") != "tool_call":
        return {"success": False, "error": f"Unknown action type: {action['type']}. Use tool_call"}
    tool = action.get("tool")
    if not isinstance(tool, str):
        return {"success": False, "error": "Missing required parameter: tool"}
    reasoning = action.get("reasoning")
    why = replace_surrogates(reasoning) if isinstance(reasoning, str) else ""
    return call(home, tool, action.get("arguments"), toolset, why=why).reply
