"""What one agent stores, who else may see it, and every surface through which they could: for the scope matrix.

Everything stored holds two words of its own: one to ask by (`wonder…`), and one that only who sees it learns (`hush…`).
"""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from typing import Any, NamedTuple

from click.testing import CliRunner

from commonplace import Memory
from commonplace.adapters.anthropic import MemoryTool
from commonplace.adapters.langgraph import CommonplaceStore
from commonplace.errors import CommonplaceError
from commonplace.home import utc_now
from commonplace.maintenance import timeline
from commonplace.maintenance.backup import export_to
from commonplace.storage.base import open_tokens
from commonplace.storage.records import read_text
from commonplace.storage.tokens import create_token
from commonplace.surfaces.cli import cli
from commonplace.testing import FrozenClock
from commonplace.toolsets import EVERYDAY

from .surfaces.http.api import Api
from .surfaces.web import Web, web
from .waiting import LONG_SECONDS

OWNER, USER, CHANNEL = "ann", "ulla", "dev"
_LATER = "2999-01-01"
SETTINGS = "memorySearch:\n  indexSessions: true\n"
PRIVATE = (
    "curated", "day", "note", "working", "handoff", "scratch", "activity", "session", "item", "file", "oddfile",
    "directive",
)  # fmt: skip
SHARED = ("global", "world", "page", "channel", "skill")
KINDS = (*PRIVATE, *SHARED)


def ask(kind: str) -> str:
    return f"wonder{kind}"


def secret(kind: str) -> str:
    return f"hush{kind}"


def says(kind: str) -> str:
    return f"The {ask(kind)} is {secret(kind)}."


class Someone(NamedTuple):
    """A viewer: an agent that talks to a user in a channel, in the owner's home or in another."""

    agent: str = OWNER
    user: str = USER
    channel: str = CHANNEL
    is_tenant: bool = True

    @property
    def is_in_another_conversation(self) -> bool:
        return self.is_tenant and (self.user, self.channel) != (USER, CHANNEL)

    def may_see(self, kind: str, *, in_conversation: bool = False) -> bool:
        if not self.is_tenant or (kind in PRIVATE and self.agent != OWNER):
            return False
        if in_conversation:
            return {"channel": self.channel == CHANNEL, "skill": self.user == USER}.get(kind, True)
        return True


PEOPLE = {
    "the owner": Someone(),
    "another agent": Someone(agent="bob"),
    "another user": Someone(user="otto"),
    "another channel": Someone(channel="ops"),
    "another agent, user and channel": Someone("bob", "otto", "ops"),
    "one whose name is nearly the owner's": Someone(agent="Ann"),
    "one whose name is a path": Someone(agent="../ann"),
    "another tenant": Someone(is_tenant=False),
}


class View(NamedTuple):
    """A home as one viewer finds it. `paths` and `changes` are the owner's: a viewer may try any name.

    The server has a token for this agent alone. It starts with the first request, since few surfaces need it.
    """

    home: str
    who: Someone
    clock: FrozenClock
    paths: tuple[str, ...]
    changes: tuple[str, ...]
    start_server: Callable[[], Web]

    @property
    def server(self) -> Web:
        return self.start_server()

    @contextmanager
    def memory(self) -> Iterator[Memory]:
        with Memory(self.home, self.who.agent, clock=self.clock) as memory:
            yield memory


def prepare(home: str, clock: FrozenClock) -> None:
    """Make a home with settings in which every agent has something."""
    with Memory(home, clock=clock) as memory:
        memory.home.storage.pages.write("commonplace.yaml", SETTINGS)
        memory.call("update_world", {"topic": "weather", "content": "It rains in Oslo, often, and nobody minds."})
    with Memory(home, "bob", clock=clock) as memory:
        memory.call("remember", {"content": "Bob went to Oslo, in the rain."})
        memory.call("write_memory", {"key": "plan", "content": "buy an umbrella"})


def store_private(home: str, clock: FrozenClock) -> None:
    with Memory(home, OWNER, clock=clock) as memory:
        memory.call("reflect", {"content": says("curated")})
        memory.call("remember", {"content": says("day")})
        memory.call("memory_write", {"key": ask("note"), "content": says("note"), "tags": ["tagged"]})
        memory.call("write_memory", {"key": ask("working"), "content": says("working")})
        memory.call("write_memory", {"key": f"{ask('activity')} {secret('activity')}", "content": "x"})
        memory.call("write_session_handoff", {"content": says("handoff")})
        memory.call("scratch_note", {"mode": "replace", "content": says("scratch")})
        pages = memory.home.storage.pages
        pages.write("agents/ann/sessions/talk.jsonl", json.dumps({"role": "user", "content": says("session")}) + "\n")
        pages.write("agents/ann/directives/own.md", says("directive"))
    store = CommonplaceStore(home, OWNER, clock=clock)
    store.put(("things", ask("item")), "one", {"text": says("item")})
    store.close()
    tool = MemoryTool(home, agent=OWNER)
    for name, kind in (("file.md", "file"), ("odd.bin", "oddfile")):
        tool.call({"command": "create", "path": f"/memories/{name}", "file_text": says(kind)})
    tool.close()


def store_shared(home: str, clock: FrozenClock) -> None:
    with Memory(home, OWNER, clock=clock) as memory:
        registry = {
            "setGlobal": {"key": ask("global"), "value": says("global"), "category": "user_info"},
            "setChannel": {
                "channelName": CHANNEL, "key": ask("channel"), "value": says("channel"), "category": "preferences",
            },
            "createSkill": {"name": ask("skill"), "description": says("skill"), "owner": USER},
        }  # fmt: skip
        for op, arguments in registry.items():
            assert memory.call("MemoryTool", {"op": op, **arguments})["success"]
        memory.call("update_world", {"topic": ask("world"), "content": says("world")})
        memory.home.storage.pages.write(f"memory/{ask('page')}.md", says("page"))


def what_there_is(home: str, clock: FrozenClock) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths and the changes of what the owner stored."""
    with Memory(home, OWNER, clock=clock) as memory:
        result = [each for each in timeline.list_changes(memory.home, everyone=True) if each.agent != "bob"]
        remaining = [each for each in result if not each.path.endswith("yaml")]
        return tuple(sorted({each.path for each in remaining})), tuple(each.id for each in remaining)


def _to_text(answers: Iterator[Any] | list[Any]) -> str:
    """Answers as text, without the question that some of them repeat."""
    return re.sub(r"\"query\": \"[^\"]*\"", "", json.dumps([*answers], ensure_ascii=False, default=str))


def _without_names(view: View, text: str) -> str:
    """Answers without the paths and ids that were asked for: a refusal repeats them."""
    for path in view.paths:
        text = text.replace(path, "PATH")
    return re.sub(r"\b[0-9a-f]{4}([0-9a-f]{6})?\b", "ID", text)


def _attempt(run: Callable[[], Any]) -> str:
    try:
        return str(run())
    except CommonplaceError as error:
        return f"{type(error).__name__}: {error}"


def read_search(view: View) -> str:
    with view.memory() as memory:
        return _to_text([memory.call("memory_search", {"query": ask(kind), "maxResults": 50}) for kind in KINDS])


def read_filters(view: View) -> str:
    some: list[dict[str, Any]] = [
        {"scope": "agent"}, {"scope": "agent:ann"}, {"path": "agents/ann"}, {"path": "**/*"}, {"source": "session"},
        {"tags": ["tagged"]}, {"since": "2020-01-01"}, {"channel": CHANNEL}, {"scope": "skill:ulla"},
    ]  # fmt: skip
    with view.memory() as memory:
        arguments = [{"query": ask(kind), "maxResults": 50, **each} for kind in KINDS for each in some]
        hits = [memory.search(ask(kind), agent=OWNER) for kind in KINDS]
        return _to_text([*(memory.call("memory_search", each) for each in arguments), *hits])


def read_pages(view: View) -> str:
    with view.memory() as memory:
        return _to_text([memory.call("memory_get", {"path": path}).get("text") or "none" for path in view.paths])


def read_notes(view: View) -> str:
    with view.memory() as memory:
        result = [memory.call("memory_search", {"query": "", "limit": 100}, "notes")]
        result += [memory.call("memory_search", {"query": ask(kind)}, "notes") for kind in KINDS]
        read = memory.call("memory_read", {"key": ask("note")})
        return _to_text([*result, read.get("data")])


def read_working(view: View) -> str:
    with view.memory() as memory:
        result = [memory.call("search_memory", {"query": ask(kind), "limit": 50}) for kind in KINDS]
        return _to_text([*result, memory.call("scratch_note", {"mode": "read"})])


def read_recall(view: View) -> str:
    with view.memory() as memory:
        return _to_text([memory.call("recall", {"days": 30})])


def read_registry(view: View) -> str:
    request: list[dict[str, Any]] = [
        {"op": "listGlobal"}, {"op": "listSkills"}, {"op": "getSkill", "name": ask("skill")}, {"op": "listChannels"},
        {"op": "listChannelKeys", "channelName": CHANNEL}, {"op": "getGlobal", "key": ask("global")},
        {"op": "getChannel", "channelName": CHANNEL, "key": ask("channel")},
        *({"op": op, "query": ask(kind)} for kind in KINDS for op in ("search", "searchGlobal")),
    ]  # fmt: skip
    with view.memory() as memory:
        return _to_text([memory.call("MemoryTool", each) for each in request])


def read_skills(view: View) -> str:
    with view.memory() as memory:
        return _to_text([memory.call("MemoryTool", {"op": "listSkillsForUser", "username": view.who.user})])


def contexts(view: View) -> str:
    with view.memory() as memory:
        result = [memory.context(user=view.who.user, channel=view.who.channel, query=ask(kind)) for kind in KINDS]
        return _to_text([[each.text, each.receipt] for each in result])


def read_log(view: View) -> str:
    with view.memory() as memory:
        changes = timeline.list_changes(memory.home)
        return _to_text([[each.path, timeline.read_both_sides(memory.home, each)] for each in changes])


def read_history(view: View) -> str:
    """Each page and change of the owner's, by its name."""
    with view.memory() as memory:
        home = memory.home
        answers = [_attempt(lambda path=path: timeline.read_page_as_of(home, path, "now")) for path in view.paths]
        answers += [_attempt(lambda path=path: len(timeline.list_changes(home, path))) for path in view.paths]
        answers += [_attempt(lambda kind=kind: len(timeline.list_changes(home, ask(kind)))) for kind in KINDS]
        for name in view.changes:
            answers.append(_attempt(lambda name=name: timeline.read_both_sides(home, timeline.find_change(home, name))))
            answers.append(
                _attempt(lambda name=name: timeline.read_both_sides(home, timeline.find_change(home, name[:4])))
            )
        return _without_names(view, _to_text(answers))


def read_stores(view: View) -> str:
    """Through the store of LangGraph and the memory tool of Claude."""
    store = CommonplaceStore(view.home, view.who.agent, clock=view.clock)
    result = [store.search((), query=ask("item"), limit=50), store.list_namespaces(), store.search((), limit=50)]
    result.append(store.get(("things", ask("item")), "one"))
    store.close()
    return _to_text(result + _view_files(view))


def _view_files(view: View) -> list[Any]:
    """Return the files that Claude's memory tool shows."""
    result: list[Any] = []
    tool = MemoryTool(view.home, agent=view.who.agent)
    for path in ("", "/file.md", "/odd.bin", "/../../../ann/claude/memories/file.md"):
        with suppress(Exception):  # refusals of the SDK's own
            result.append(tool.call({"command": "view", "path": f"/memories{path}"}))
    tool.close()
    return result


def _run(view: View, *arguments: str) -> str:
    done = CliRunner().invoke(cli, ["--home", view.home, "--agent", view.who.agent, *arguments])
    return done.output + (str(done.exception) if done.exception else "")


def run_commands(view: View) -> str:
    answer = [
        _run(view, *each)
        for each in (("list",), ("list", "--notes"), ("log", "-n", "1000"), ("recall",), ("handoff",), ("scratch",))
    ]
    answer += [_run(view, "show", path) for path in view.paths]
    answer += [_run(view, "search", "--keyword", ask(kind)) for kind in KINDS]
    answer += [_run(view, "diff", name) for name in view.changes]
    answer += [_run(view, "undo", "--dry-run", name) for name in view.changes]
    answer.append(_run(view, "undo", "--dry-run", "--since", "2020-01-01"))
    return _without_names(view, "\n".join(answer))


def read_export(view: View) -> str:
    """A person's, for a whole home."""
    with view.memory() as memory:
        stream = io.BytesIO()
        export_to(memory.home, stream, "jsonl", history=False)
        return stream.getvalue().decode()


def over_mcp(view: View) -> str:
    """By a token for this agent alone: tools, pages and completion."""
    server, result = view.server, []
    for kind in KINDS:
        result.append(server.call("memory_search", query=ask(kind), maxResults=50).get("structuredContent"))
    result.append(server.ask("resources/list"))
    for path in view.paths:
        read = server.ask("resources/read", uri=f"commonplace://page/{path}")
        result.append(read.get("contents", [{}])[0].get("text"))
    complete = {"ref": {"type": "ref/resource", "uri": "commonplace://page/{+path}"}}
    for first in ("", "agents/", "wonder"):
        result.append(server.ask("completion/complete", **complete, argument={"name": "path", "value": first}))
    result += [server.call(tool).get("structuredContent") for tool in ("recall", "scratch_note")]
    return _to_text(result)


def in_conversation(view: View) -> str:
    server, result = view.server, []
    for kind in KINDS:
        for name in ("context", "receipt"):
            read = server.ask("resources/read", uri=f"commonplace://{name}?query={ask(kind)}")
            result.append(read["contents"][0]["text"])
        result.append(server.ask("prompts/get", name="recall", arguments={"topic": kind})["messages"])
    return _to_text(result)


def _of(view: View) -> Api:
    return Api(view.server.client, view.server.token)


def _get(view: View, path: str, /, **params: Any) -> str:
    """Return the answer, but of a refusal only the status: its text repeats the request."""
    answer = _of(view).send("GET", path, params=params, headers={"Accept": "application/json"})
    return answer.text if answer.status_code == 200 else str(answer.status_code)


def _post(view: View, path: str, /, **body: Any) -> str:
    answer = _of(view).send("POST", path, json=body)
    message = answer.text if answer.status_code == 200 else str(answer.status_code)
    return re.sub(r"\"query\": ?\"[^\"]*\"", "", message)


def http_search(view: View) -> str:
    some: list[dict[str, str]] = [
        {}, {"scope": "agent"}, {"scope": f"agent:{OWNER}"}, {"agent_filter": OWNER}, {"path": f"agents/{OWNER}"},
        {"source": "session"}, {"tag": "tagged"}, {"channel": CHANNEL}, {"since": "2020-01-01"},
    ]  # fmt: skip
    return "\n".join(_get(view, "search", q=ask(kind), limit=50, **each) for kind in KINDS for each in some)


def http_context(view: View) -> str:
    request = [{}, *({"query": ask(kind)} for kind in KINDS), {"query": ask("day"), "budget": 200}]
    return re.sub(r"\"query\": ?\"[^\"]*\"", "", "\n".join(_get(view, "context", **each) for each in request))


def http_pages(view: View) -> str:
    """Ask for pages by their paths: as they are, as of a time, as sessions, and to merge with."""
    answer = [_get(view, f"pages/{path}") for path in view.paths]
    answer += [_get(view, f"pages/{path}", at=_LATER) for path in view.paths]
    answer += [_get(view, f"sessions/{path}") for path in view.paths]
    answer += [_post(view, "merge", path=path, base="", text="x") for path in view.paths]
    return "\n".join(answer)


def http_lists(view: View) -> str:
    """Ask for lists, the map and figures; and for an export, which only those may have who see everything."""
    listed = [_get(view, "pages", limit=1000), *(_get(view, "pages", prefix=path) for path in view.paths)]
    paths = ("status", "homes", "outline", "map", "health", "tools", "openapi.json", "export")
    others = [_get(view, path) for path in paths]
    return "\n".join([*listed, *others])


def http_history(view: View) -> str:
    answer = [_get(view, "history", limit=1000), _get(view, "history", agent=OWNER)]
    answer += [_get(view, "history", what=what) for what in (*view.paths, *map(ask, KINDS))]
    answer += [_get(view, f"history/{name[:some]}") for name in view.changes for some in (4, 16)]
    return "\n".join(answer)


def http_tools(view: View) -> str:
    answer = [_post(view, "tools/memory_search", query=ask(kind), maxResults=50) for kind in KINDS]
    answer += [_post(view, "tools/memory_search?toolset=notes", query=ask(kind)) for kind in KINDS]
    answer += [_post(view, "tools/search_memory", query=ask(kind), limit=50) for kind in KINDS]
    answer += [_post(view, "tools/memory_read", key=ask("note")), _post(view, "tools/recall", days=30)]
    answer += [_post(view, "tools/scratch_note", mode="read"), _post(view, "tools/MemoryTool", op="listGlobal")]
    return "\n".join(answer)


def http_changes(view: View) -> str:
    """Return the texts of the owner's pages that a stream of changes names while all of them change."""
    client = view.server.client
    assert client.portal
    heard = client.portal.call(_listen, client.app, view)
    with Memory(view.home, OWNER, clock=view.clock) as memory:
        return "\n".join(
            read_text(memory.home.storage.pages, path)[0].strip() for path in sorted(heard) if path in view.paths
        )


async def _listen(app: Any, view: View) -> set[str]:
    answer, left = asyncio.Queue[str](), asyncio.Event()
    headers = {"host": "127.0.0.1", "authorization": f"Bearer {view.server.token}"}
    scope = {
        "type": "http", "method": "GET", "path": "/v1/changes", "raw_path": b"/v1/changes", "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()], "scheme": "http",
        "server": ("127.0.0.1", 80), "client": None, "root_path": "", "http_version": "1.1",
    }  # fmt: skip

    sent = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> dict[str, Any]:
        if output := next(sent, None):
            return output
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        answer.put_nowait(message.get("body", b"").decode())

    stream = asyncio.create_task(app(scope, receive, send))
    try:
        async with asyncio.timeout(LONG_SECONDS):
            return await _read_until_end(answer, view)
    finally:
        left.set()
        await stream


async def _read_until_end(events: asyncio.Queue[str], view: View) -> set[str]:
    """Return the paths of a stream. Two more pages change at the end, one after the other: once the second is named, so
    is everything before the first, whatever the order."""
    text = ""

    async def until(word: str) -> None:
        nonlocal text
        while word not in text:
            text += await events.get()

    await until("event: ready")
    await asyncio.to_thread(_touch, view, view.paths)
    for end in ("memory/end-1.md", "memory/end-2.md"):
        await asyncio.to_thread(_touch, view, [end], new=True)
        await until(end)
    return {json.loads(data)["path"] for data in re.findall(r"^data: (.*path.*)$", text, re.MULTILINE)}


def _touch(view: View, paths: Iterable[str], *, new: bool = False) -> None:
    """Append to the pages that exist, or to new ones, as their owner."""
    with Memory(view.home, OWNER, clock=view.clock) as memory:
        for path in paths:
            if new or memory.home.storage.exists(path):
                memory.home.storage.pages.append(path, "\n")


class Surface(NamedTuple):
    """`shows`: what of the owner's its owner sees there. `lists`: it shows names, so that these tell nothing either."""

    open: Callable[[View], str]
    shows: tuple[str, ...]
    lists: bool = False
    in_conversation: bool = False
    is_for_people: bool = False


_WORKING = ("working", "handoff", "scratch", "activity")
_READ = tuple(kind for kind in KINDS if kind != "oddfile")
_RECORDS = ("activity", "note", "session", "working", "handoff", "scratch", "global", "channel", "skill")
_LISTED = (*_RECORDS, "curated", "world", "directive")  # of pages, the first line
_SEARCHED = tuple(kind for kind in KINDS if kind not in ("oddfile", "directive"))
_CONTEXT = (*_SEARCHED, "directive")
SURFACES = {
    "memory_search": Surface(read_search, _SEARCHED),
    "memory_search with filters": Surface(read_filters, _SEARCHED),
    "memory_get": Surface(read_pages, _SEARCHED, lists=True),
    "notes": Surface(read_notes, ("note",)),
    "working": Surface(read_working, _WORKING),
    "journal": Surface(read_recall, ("curated", "day", "note", "world"), lists=True),
    "registry": Surface(read_registry, ("global", "channel", "skill")),
    "skills of a user": Surface(read_skills, ("skill",), lists=True, in_conversation=True),
    "context": Surface(contexts, _CONTEXT, in_conversation=True),
    "history": Surface(read_log, KINDS, lists=True),
    "history by name": Surface(read_history, KINDS),
    "adapters": Surface(read_stores, ("item", "file", "oddfile")),
    "commands": Surface(run_commands, KINDS),
    "export": Surface(read_export, KINDS, is_for_people=True),
    "MCP": Surface(over_mcp, _SEARCHED),
    "MCP, context and prompts": Surface(in_conversation, _CONTEXT, in_conversation=True),
    "HTTP, search": Surface(http_search, _SEARCHED),
    "HTTP, context": Surface(http_context, _CONTEXT, in_conversation=True),
    "HTTP, pages": Surface(http_pages, _READ),
    "HTTP, lists and figures": Surface(http_lists, _LISTED, lists=True),
    "HTTP, history": Surface(http_history, KINDS),
    "HTTP, tools": Surface(http_tools, _SEARCHED),
    "HTTP, changes": Surface(http_changes, _SEARCHED),
}


def find_secrets(text: str) -> set[str]:
    return {kind for kind in KINDS if secret(kind) in text}


def find_names(text: str) -> set[str]:
    return {kind for kind in KINDS if ask(kind) in text}


@contextmanager
def viewing(
    home: str, who: Someone, clock: FrozenClock, known: tuple[tuple[str, ...], tuple[str, ...]]
) -> Iterator[View]:
    with ExitStack() as servers:

        @cache
        def start_server() -> Web:
            access = open_tokens(home)
            _, token = create_token(access, utc_now(), agents=[who.agent], role="admin")
            access.close()
            serving = web(home, toolsets=EVERYDAY, defaults={"user": who.user, "channel": who.channel})
            return servers.enter_context(serving).as_(token)

        yield View(home, who, clock, *known, start_server)
