"""Noninterference: whatever bob keeps, ann is answered the same bytes, by every endpoint, tool, resource and command."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from starlette.applications import Starlette

from commonplace import Memory
from commonplace.maintenance import timeline
from commonplace.server.auth import ServerOptions
from commonplace.server.service import MemoryService
from commonplace.surfaces.application import build_application
from commonplace.surfaces.cli import COMMANDS, cli
from commonplace.surfaces.http.api import ENDPOINTS
from commonplace.surfaces.http.auth import AccessRules
from commonplace.surfaces.mcp.resources import PROMPTS, TEMPLATES
from commonplace.surfaces.mcp.server import McpServer
from commonplace.testing import FrozenClock
from commonplace.tools import catalog, schemas

from ..embedding.server import Server, running
from ..providers import offer_server
from .asking import (
    ELSEWHERE,
    OTHER_COMMANDS,
    OTHER_LIBRARY,
    OTHER_METHODS,
    OTHER_ROUTES,
    OTHER_SUBCOMMANDS,
    READ_COMMANDS,
    READ_LIBRARY,
    READ_OPERATIONS,
    READ_TOOLS,
    WRITE_OPERATIONS,
    WRITE_TOOLS,
    Http,
    Replies,
    describe,
    list_mcp_requests,
    read_endpoints,
    read_everything,
    run_commands,
    send,
    serving,
    write_endpoints,
    write_everything,
)
from .keeping import WORLD, OwnMemory, keep_others, keep_own


class Answers(NamedTuple):
    """What ann is answered at first, after bob may have written again, by commands, and when she writes herself.

    Commands come after the rest: they have the system's clock, and health says when pages were recalled.
    """

    first: Replies
    again: Replies
    commands: Replies
    writing: Replies


def ask(template: Path, own_memory: OwnMemory, *, with_others: bool) -> Answers:
    """Ask everything of a copy of the template, at the same place each time: replies name it."""
    clock = FrozenClock()
    shutil.rmtree(own_memory.home, ignore_errors=True)
    shutil.copytree(template, own_memory.home)
    if with_others:
        keep_others(own_memory.home, clock, 1)
    with serving(own_memory.home, clock) as server:
        first = read_everything(own_memory, server, clock)
        if with_others:
            keep_others(own_memory.home, clock, 2)
        again = read_everything(own_memory, server, clock)
        return Answers(first, again, run_commands(own_memory.home), write_everything(own_memory, server))


def answer(top: Path) -> tuple[Answers, Answers]:
    own_memory = keep_own(str(top / "home"), FrozenClock())
    shutil.rmtree(top / "home/.index", ignore_errors=True)
    template = Path(shutil.move(top / "home", top / "template"))
    return ask(template, own_memory, with_others=False), ask(template, own_memory, with_others=True)


def differences(alone: Replies, beside: Replies) -> dict[str, tuple[str, str]]:
    assert alone.keys() == beside.keys()
    return {request: (alone[request], beside[request]) for request in alone if alone[request] != beside[request]}


@pytest.mark.slow
def test_nothing_that_another_agent_keeps_changes_a_reply(tmp_path: Path) -> None:
    """One test: what ann is answered alone, and beside bob, takes long to collect."""
    alone, beside = answer(tmp_path)
    for when in Answers._fields:
        assert differences(getattr(alone, when), getattr(beside, when)) == {}, when
    check_substance(alone, beside)


def check_substance(alone: Answers, beside: Answers) -> None:
    """Most replies are no refusals, and none holds a word that only the other agent wrote."""
    assert [len(replies) > 50 for replies in alone] == [True] * 4
    assert sum("blue kettle" in reply for replies in alone for reply in replies.values()) > 100
    assert sum("no longer" in reply and "26 November" in reply for reply in alone.first.values()) > 5
    assert "12 November" in alone.commands["commonplace --agent ann review"]
    for replies in beside:
        assert not [request for request, reply in replies.items() if "stole the" in reply or "hide the kettle" in reply]


def test_the_ids_of_changes_of_another_are_as_unknown_as_those_that_nobody_has(
    tmp_path: Path, clock: FrozenClock
) -> None:
    """They are random, so that no table of questions has them: whole, and as a beginning that is unique."""
    home = str(tmp_path / "home")
    for agent in ("ann", "bob"):
        with Memory(home, agent, clock=clock) as memory:
            memory.call("remember", {"content": f"{agent} waters the beds."})
    with Memory(home, "bob", clock=clock) as memory:
        changes = [change for change in timeline.list_changes(memory.home) if change.path.startswith("agents/bob/")]
    names = [name for change in changes for name in (change.id, change.id[:8], change.call)]
    assert names
    with serving(home, clock) as server:

        def ask_about(name: str) -> list[str]:
            asked = [("GET", Http(f"history/{name}")), ("GET", Http("history", {"before": name}))]
            asked += [("POST", Http("undo", body={"changes": [name]}))]
            asked += [("POST", Http("restore", body={"path": path, "when": name})) for path in (WORLD, changes[0].path)]
            return [describe(send(server, method, request)).replace(name, "*") for method, request in asked]

        assert [ask_about(name) for name in names] == [ask_about("0" * len(name)) for name in names]


def test_every_endpoint_is_asked() -> None:
    remaining = OwnMemory("", ("0123", "4567", "89ab"))
    known = {**read_endpoints(remaining), **write_endpoints(remaining), **ELSEWHERE}
    assert known.keys() == {endpoint.name for endpoint in ENDPOINTS}


def test_every_parameter_of_an_endpoint_is_used() -> None:
    remaining = OwnMemory("", ("0123", "4567", "89ab"))
    question = {
        name: {key for request in some for key in request.params} for name, some in read_endpoints(remaining).items()
    }
    unused = {
        endpoint.name: names
        for endpoint in ENDPOINTS
        if endpoint.name in question
        and (names := {each.name for each in endpoint.parameters if each.where == "query"} - question[endpoint.name])
    }
    assert unused == {}


def test_every_route_of_a_server_is_known(tmp_path: Path) -> None:
    app: Any = build_application(ServerOptions(str(tmp_path)), AccessRules())
    while not isinstance(app, Starlette):
        app = app._app
    assert {*OTHER_ROUTES} == {getattr(route, "path", None) for route in app.routes}


def test_every_request_of_mcp_is_known(tmp_path: Path) -> None:
    server = McpServer(MemoryService(ServerOptions(str(tmp_path)))).server
    methods = {method for method, _ in list_mcp_requests()}
    assert {*methods, *OTHER_METHODS} == {*server._request_handlers}
    assert not methods & OTHER_METHODS.keys()


def test_every_method_of_the_library_is_known() -> None:
    assert {*READ_LIBRARY, *OTHER_LIBRARY} == {name for name in vars(Memory) if not name.startswith("_")}


def test_every_tool_and_operation_is_called() -> None:
    assert {*READ_TOOLS, *WRITE_TOOLS, "MemoryTool"} == {offer.name for offer in catalog.offers()}
    (registry,) = [tool for tool in schemas.describe("mcp") if tool["name"] == "MemoryTool"]
    assert {*READ_OPERATIONS, *WRITE_OPERATIONS} == {*registry["inputSchema"]["properties"]["op"]["enum"]}


def test_every_prompt_and_resource_is_read() -> None:
    assert [prompt.name for prompt in PROMPTS] == ["recall"]
    assert [template.name for template in TEMPLATES] == ["page", "context", "receipt"]


def test_every_command_is_run_or_left_out_for_a_reason() -> None:
    assert {*READ_COMMANDS, *OTHER_COMMANDS} == {*COMMANDS}
    assert not READ_COMMANDS.keys() & OTHER_COMMANDS.keys()
    context = click.Context(cli)
    groups = {name: group for name in COMMANDS if isinstance(group := cli.get_command(context, name), click.Group)}
    inner = {f"{name} {each}" for name, group in groups.items() for each in group.list_commands(context)}
    assert inner == {*OTHER_SUBCOMMANDS}


@pytest.fixture
def embedding_server() -> Iterator[Server]:
    with running() as server:
        yield server


def test_an_embedder_that_has_much_to_read_of_another_answers_as_if_it_had_not(
    tmp_path: Path, clock: FrozenClock, embedding_server: Server
) -> None:
    offer_server("openai", embedding_server.url, "NO_SUCH_KEY")
    replies = []
    for number in (0, 200):
        shutil.rmtree(tmp_path / "home", ignore_errors=True)
        with Memory(tmp_path / "home", "ann", clock=clock) as memory:
            pages = memory.home.storage.pages
            pages.write("commonplace.yaml", "memorySearch:\n  provider: openai\n  model: m\n")
            for each in range(number):
                pages.write(f"agents/bob/memory/{each:03}.md", f"Pot {each} holds plant{each}.\n")
        with Memory(tmp_path / "home", "ann", clock=clock) as memory:
            memory.call("update_world", {"topic": "garden", "content": "The garden has four beds."})
            replies.append([memory.call("memory_search", {"query": query}) for query in ("four beds", "garden")])
    assert replies[0] == replies[1]
    assert replies[0][0]["provider"] == "openai"
