"""Everything that ann can ask: every endpoint, tool, resource, prompt and reading command, by tables that are checked to
be complete. Replies are compared as bytes; `MASKS` names the little that is random by nature."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx
from anthropic.lib.tools import ToolError
from click.testing import CliRunner

from commonplace import Memory
from commonplace.adapters.anthropic import MemoryTool
from commonplace.adapters.langgraph import CommonplaceStore
from commonplace.errors import CommonplaceError
from commonplace.home import utc_now
from commonplace.storage.base import open_tokens
from commonplace.storage.tokens import create_token
from commonplace.surfaces.cli import cli
from commonplace.testing import FrozenClock
from commonplace.toolsets import TOOLSETS

from ..surfaces.web import Web, web
from .keeping import DAY, NOBODYS, NOTE, SESSION, THEIRS, WORLD, OwnMemory

Replies = dict[str, str]  # what was answered, by what was asked
PAGES = (DAY, NOTE, SESSION, WORLD, "memory/loose.md", *THEIRS, *NOBODYS)
THEIR_WORD = "stole"  # only bob has it
QUERIES = (
    "the blue kettle", "seeds", "plant7 water", "garden plan", THEIR_WORD, "plan", "rake", "when is the launch?", "blue tiles",
    "what is left to do?", "kettlz",
)  # fmt: skip
LATER = "2999-01-01"


class Http(NamedTuple):
    """A request to an endpoint, below /v1."""

    path: str
    params: Mapping[str, Any] = {}
    body: Any = None
    headers: Mapping[str, str] = {}


def _pages(prefix: str, **params: Any) -> list[Http]:
    return [Http(f"{prefix}/{path}", params, headers={"Accept": "application/json"}) for path in PAGES]


def _history(own_memory: OwnMemory) -> list[Http]:
    some = [own_memory.changes[0], own_memory.changes[-1], own_memory.changes[-1][:4], "0123", "ffff"]
    return [Http(f"history/{name}") for name in some]


def read_endpoints(own_memory: OwnMemory) -> dict[str, list[Http]]:
    """Requests that change nothing, by the name of their endpoint."""
    filters = [
        {"limit": 100}, {"keyword": True}, {"scope": "agent"}, {"scope": "agent:bob"}, {"agent_filter": "bob"},
        {"path": "agents/bob"}, {"path": "**/*"}, {"source": "session"}, {"tag": "kitchen"}, {"since": "2020-01-01"},
        {"min_score": 0.5}, {"explain": False}, {"as_of": "2026-03-13"}, {"as_of": "2026-03-14"}, {"author": "bob"},
        {"author": "ann"}, {"channel": "dev"}, {"until": "2999-01-01"},
    ]  # fmt: skip
    whats = ["kettle", "plan", "garden", "kettle1", *PAGES]
    return {
        "GET /v1/openapi.json": [Http("openapi.json")],
        "GET /v1/status": [Http("status")],
        "GET /v1/outline": [Http("outline")],
        "GET /v1/sessions/{path}": _pages("sessions"),
        "POST /v1/render": [Http("render", body={"text": "[[plan]] [[loose]] [[pot-1-001]]", "path": WORLD})],
        "GET /v1/map": [Http("map"), Http("map", {"limit": 3})],
        "GET /v1/search": [
            *(Http("search", {"q": query}) for query in QUERIES),
            *(Http("search", {"q": query, **more}) for query in (QUERIES[0], THEIR_WORD) for more in filters),
        ],
        "GET /v1/context": [
            Http("context"), Http("context", {"budget": 200}), *(Http("context", {"query": query}) for query in QUERIES),
            Http("context", {"only_approved": True, "query": "kettle"}), Http("context", {"user": "bob", "channel": "ops"}),
        ],
        "GET /v1/recall": [
            *(Http("recall", {"prompt": query}) for query in QUERIES),
            Http("recall", {"prompt": "where is the kettle?", "budget": 900, "user": "bob", "channel": "ops"}),
        ],
        "GET /v1/pages": [
            Http("pages"), Http("pages", {"limit": 5}), Http("pages", {"kind": "record"}),
            Http("pages", {"prefix": "agents/bob"}), Http("pages", {"after": "agents/b"}),
        ],
        "GET /v1/pages/{path}": [*_pages("pages"), *_pages("pages", at=LATER)],
        "POST /v1/merge": [Http("merge", body={"path": path, "base": "", "text": "x"}) for path in PAGES],
        "GET /v1/history": [
            Http("history", {"limit": 1000}), Http("history", {"agent": "bob"}), Http("history", {"limit": 2}),
            Http("history", {"limit": 1000, "sentences": True}), Http("history", {"since": "2020-01-01"}),
            Http("history", {"before": own_memory.changes[-1]}),
            *(Http("history", {"what": what}) for what in whats),
        ],
        "GET /v1/history/{id}": _history(own_memory),
        "GET /v1/blame/{path}": _pages("blame"),
        "GET /v1/related/{path}": _pages("related"),
        "GET /v1/statements": [
            Http("statements", {"limit": 200}), Http("statements", {"limit": 2}), Http("statements", {"unapproved": True}),
            Http("statements", {"after": "nothing"}),
        ],
        "GET /v1/export": [Http("export"), Http("export", {"format": "jsonl"})],
        "GET /v1/findings": [Http("findings")],
        "GET /v1/health": [Http("health"), Http("health", {"findings": True}), Http("health", {"findings": False})],
        "GET /v1/tools": [Http("tools"), Http("tools", {"toolset": "notes"})],
        "POST /v1/session": [Http("session", body={"code": "nobody's"})],
        "GET /v1/homes": [Http("homes")],
        "GET /v1/proposals": [Http("proposals")],
        "GET /v1/review": [Http("review"), Http("review", {"limit": 1})],
    }  # fmt: skip


def write_endpoints(own_memory: OwnMemory) -> dict[str, list[tuple[str, Http]]]:
    """Requests that change something of ann's, or try to change something of bob's: the method, and the request."""
    text = {"Content-Type": "text/markdown", "If-None-Match": "*"}
    over = {"Content-Type": "text/markdown", "If-Match": "*"}
    new = "memory/new.md"
    return {
        "PUT /v1/pages/{path}": [
            ("PUT", Http(f"pages/{new}", body="new: the kettle\n", headers=text)),
            *(("PUT", Http(f"pages/{path}", body="over\n", headers=over)) for path in (WORLD, *THEIRS, *NOBODYS)),
        ],
        "DELETE /v1/pages/{path}": [
            ("DELETE", Http(f"pages/{path}", headers={"If-Match": "*"})) for path in (new, *THEIRS, *NOBODYS)
        ],
        "POST /v1/undo": [
            ("POST", Http("undo", body={"changes": [name]}))
            for name in (own_memory.changes[2], own_memory.changes[-1], "0123")
        ],
        "POST /v1/restore": [
            ("POST", Http("restore", body={"path": path, "when": when}))
            for path in (WORLD, SESSION, *THEIRS)
            for when in (LATER, own_memory.changes[0])
        ],
        "POST /v1/supersede": [
            ("POST", Http("supersede", body={"old": f"{path}#L1", "new": f"{WORLD}#L1"}))
            for path in (WORLD, *THEIRS, *NOBODYS)
        ],
        "POST /v1/statements": [
            ("POST", Http("statements", body={"path": path, "line": 1, "sentence": "x", "decision": "forget"}))
            for path in (WORLD, *THEIRS, *NOBODYS)
        ],
        "POST /v1/trust": [("POST", Http("trust", body={"review": "0" * 64}))],
        "POST /v1/review": [
            ("POST", Http("review", body={"id": name, "answer": answer}))
            for name in ("0123456789abcdef", "0" * 16)
            for answer in ("new", "later")
        ],
        "POST /v1/proposals": [
            ("POST", Http("proposals", body={"path": WORLD, "decision": "approve", "version": "0" * 12}))
        ],
    }


# Endpoints that are compared elsewhere, and where.
ELSEWHERE = {
    "GET /v1/changes": "a stream: tests/surfaces/test_application.py compares its ids",
    "POST /v1/tools/{name}": "every tool, by the tables below",
}
# Requests of MCP that are not compared, and why.
OTHER_METHODS = {
    "ping": "says nothing",
    "tools/call": "every tool, by the tables below",
    **dict.fromkeys(
        ("resources/subscribe", "resources/unsubscribe", "subscriptions/listen"),
        "a stream: tests/surfaces/mcp/test_server.py and tests/server/test_notifications.py say who is told of what",
    ),
}
# What a server answers beside /v1, and why it is not compared.
OTHER_ROUTES = {
    "/mcp": "every method",
    **dict.fromkeys(("/healthz", "/readyz"), "says nothing of memory"),
    "/metrics": "for whoever may be every agent: tests/surfaces/http/test_health.py",
    **dict.fromkeys(("/", "/assets/{name:path}"), "files of the package"),
}
# Commands of commands, and of which the first are asked.
OTHER_SUBCOMMANDS = {
    **dict.fromkeys(("token audit", "token create", "token list", "token revoke"), "for the owner of a memory"),
    **dict.fromkeys(("proposals approve", "proposals reject", "proposals show"), "for the owner of a memory"),
}
# Methods of the library that are not asked, and why.
OTHER_LIBRARY = {
    **dict.fromkeys(("call", "attempt", "run"), "every tool, by the tables below"),
    "tools": "as the endpoint",
    **dict.fromkeys(("build_index", "watch", "close"), "answer nothing of a page that others have"),
}
READ_LIBRARY = ("search", "status", "context", "recall_for", "supersede")
READ_TOOLS: dict[str, list[dict[str, Any]]] = {
    "memory_search": [{"query": query, "maxResults": 50} for query in QUERIES],
    "memory_get": [{"path": path} for path in PAGES],
    "memory_read": [{"key": key} for key in ("kettle", "kettle1", "nothing")],
    "notes_memory_search": [{"query": query} for query in ("", *QUERIES)],
    "search_memory": [{"query": query} for query in QUERIES],
    "recall": [{}, {"days": 30}],
    "scratch_note": [{"mode": "read"}],
}
WRITE_TOOLS: dict[str, list[dict[str, Any]]] = {
    "memory_write": [
        {"key": key, "content": "a new note", "tags": ["kitchen"]} for key in ("teapot", "kettle", "kettle1")
    ],
    "memory_update": [{"key": key, "content": "another"} for key in ("kettle", "kettle1", "nothing")],
    "write_memory": [{"key": key, "content": "new"} for key in ("plan", "other")],
    "write_session_handoff": [{"content": "later"}],
    "scratch_note": [{"mode": "append", "content": "more"}, {"mode": "clear"}],
    "remember": [{"content": "It rained on the kettle."}],
    "reflect": [{"content": "Ann owns the garden.\n"}],
    "update_world": [{"topic": "garden", "content": "Five beds.\n"}, {"topic": "weather", "content": "Rain.\n"}],
}
READ_OPERATIONS: dict[str, list[dict[str, Any]]] = {
    "getGlobal": [{"key": "editor"}, {"key": "plan"}],
    "listGlobal": [{}],
    "searchGlobal": [{"query": query} for query in QUERIES],
    "getChannel": [{"channelName": "dev", "key": "plan"}],
    "getChannelByCategory": [{"channelName": "dev", "category": "preferences"}],
    "listChannelKeys": [{"channelName": "dev"}],
    "listChannels": [{}],
    "getSkill": [{"name": "watering"}, {"name": "plan"}],
    "listSkills": [{}],
    "listSkillsForUser": [{"username": "ulla"}, {"username": "bob"}],
    "search": [{"query": query} for query in QUERIES],
}
WRITE_OPERATIONS: dict[str, list[dict[str, Any]]] = {
    "setGlobal": [{"key": "shell", "value": "fish", "category": "preferences"}],
    "deleteGlobal": [{"key": "shell"}, {"key": "plan"}],
    "setChannel": [{"channelName": "ops", "key": "plan", "value": "stop", "category": "preferences"}],
    "deleteChannel": [{"channelName": "ops", "key": "plan"}],
    "purgeChannel": [{"channelName": "dev"}],
    "createSkill": [{"name": "raking", "description": "rakes", "owner": "ulla"}],
    "updateSkill": [{"name": "raking", "newData": {"rake": 1}}],
    "deleteSkill": [{"name": "raking"}],
}
READ_COMMANDS: dict[str, list[list[str]]] = {
    "recall": [[]],
    "search": [[query] for query in QUERIES]
    + [["--keyword", "kettle"], ["--explain", "blue kettle"], ["--as-of", "2026-03-13", "kettle"]],
    "show": [[path] for path in PAGES] + [["--as-of", LATER, path] for path in PAGES],
    "read": [["kettle"], ["kettle1"]],
    "list": [[], ["--notes"], ["--tag", "kitchen"], ["agents"], ["agents/bob"]],
    "world": [[], ["garden"]],
    "handoff": [[]],
    "scratch": [[]],
    "skills": [[], ["watering"], ["--user", "ulla"]],
    "context": [[], ["--explain"], ["--query", "blue kettle"], ["--budget", "300"]],
    "log": [["-n", "1000"], ["--by", "bob"], ["plan"], ["kettle"], *([path] for path in PAGES)],
    "blame": [[path] for path in PAGES],
    "diff": [["plan"], ["kettle"], *([path] for path in PAGES), ["0123"]],
    "undo": [["--dry-run"], ["--dry-run", "0123"], ["--dry-run", "--since", "2020-01-01"]],
    "review": [[]],
    "status": [[]],
    "tools": [[]],
    "call": [["memory_search", '{"query": "blue kettle"}'], ["recall", "{}"]],
    "hook": [["session-start"]],
}
# Commands that are not asked, and why.
OTHER_COMMANDS = {
    **dict.fromkeys(("init", "import", "install", "completion", "db"), "sets something up"),
    **dict.fromkeys(
        ("remember", "write", "reflect", "restore", "supersede", "pin"), "writes, as the tools and endpoints above do"
    ),
    **dict.fromkeys(
        ("doctor", "export", "copy", "index", "gc", "forget"), "for all of a memory, by who may read its files"
    ),
    **dict.fromkeys(("token", "trust", "proposals"), "for the owner of a memory, not for an agent"),
    **dict.fromkeys(("mcp", "serve", "web", "watch"), "runs until it is stopped; what it answers is above"),
    "eval": "says how long questions took",
    "help": "says nothing of memory",
}
COMPLETIONS = [
    (name, first)
    for name in ("path", "channel", "user", "query")
    for first in ("", "agents/", "pl", "pot", "d", "kettle")
]
# What is random for each change by nature, and only replies to writes and the history after them contain.
MASKS = (
    re.compile(r"(?<=\"id\":\")[0-9a-f]{10,16}(?=\")"),  # of a change
    re.compile(r"(?<=\"call\":\")[0-9a-f]{10}(?=\")"),  # of a call
)


def mask(text: str) -> str:
    for pattern in MASKS:
        text = pattern.sub("*", text)
    return text


@contextmanager
def serving(home: str, clock: FrozenClock) -> Iterator[Web]:
    """A server that is asked with a token for ann alone."""
    access = open_tokens(home)
    _, token = create_token(access, utc_now(), agents=["ann"], role="admin")
    access.close()
    defaults = {"user": "ulla", "channel": "dev"}
    with web(home, toolsets=TOOLSETS, defaults=defaults, clock=clock) as server:
        yield server.as_(token)


def read_interface(own_memory: OwnMemory, server: Web) -> Replies:
    """Ask every endpoint and every tool."""
    return {**_read_http(own_memory, server), **_call_tools(server, READ_TOOLS, READ_OPERATIONS)}


def read_everything(own_memory: OwnMemory, server: Web, clock: FrozenClock) -> Replies:
    by_others = {**_read_library(own_memory, clock), **_read_adapters(own_memory, clock)}
    return {**read_interface(own_memory, server), **_read_mcp(server), **by_others}


def write_everything(own_memory: OwnMemory, server: Web) -> Replies:
    replies = _call_tools(server, WRITE_TOOLS, WRITE_OPERATIONS)
    for name, requests in write_endpoints(own_memory).items():
        for number, (method, request) in enumerate(requests):
            replies[f"{name} #{number} {request.path}"] = describe(send(server, method, request))
    return {question: mask(reply) for question, reply in replies.items()}


def _read_http(own_memory: OwnMemory, server: Web) -> Replies:
    replies: Replies = {}
    for name, requests in read_endpoints(own_memory).items():
        method = name.partition(" ")[0]
        for request in requests:
            question = f"{method} {request.path} {dict(request.params)} {request.body or ''}"
            replies[question] = describe(send(server, method, request))
    return replies


def send(server: Web, method: str, request: Http) -> httpx.Response:
    headers = {"Authorization": f"Bearer {server.token}", **request.headers}
    body = {"content": request.body.encode()} if isinstance(request.body, str) else {"json": request.body}
    return server.client.request(
        method, f"/v1/{request.path}", params=dict(request.params), headers=headers, **(body if request.body else {})
    )


def describe(response: httpx.Response) -> str:
    return f"{response.status_code} {sorted(response.headers.items())} {response.text}"


def _call_tools(
    server: Web, tools: Mapping[str, Sequence[dict[str, Any]]], operations: Mapping[str, Sequence[dict[str, Any]]]
) -> Replies:
    """Every call over HTTP, and over MCP what it says of the same."""
    calls = [(name, values) for name, some in tools.items() for values in some]
    calls += [("MemoryTool", {"op": op, **values}) for op, some in operations.items() for values in some]
    replies: Replies = {}
    for name, arguments in calls:
        question = f"{name} {json.dumps(arguments)}"
        replies[f"HTTP: {question}"] = describe(send(server, "POST", Http(f"tools/{name}", body=arguments)))
        replies[f"MCP: {question}"] = json.dumps(server.call(name, **arguments))
    return replies


def list_mcp_requests() -> list[tuple[str, dict[str, Any]]]:
    return [
        ("tools/list", {}), ("resources/list", {}), ("resources/templates/list", {}), ("prompts/list", {}),
        ("server/discover", {}),
        *(("resources/read", {"uri": f"commonplace://page/{path}"}) for path in PAGES),
        *(("resources/read", {"uri": f"commonplace://{name}?query={query}"})
          for name in ("context", "receipt") for query in ("", "kettle")),
        *(("prompts/get", {"name": "recall", "arguments": {"topic": topic}}) for topic in ("", "kettle")),
        *(("completion/complete", {"ref": ref, "argument": {"name": name, "value": first}})
          for ref in ({"type": "ref/resource", "uri": "commonplace://page/{+path}"},
                      {"type": "ref/prompt", "name": "recall"})
          for name, first in COMPLETIONS),
    ]  # fmt: skip


def _read_mcp(server: Web) -> Replies:
    return {
        f"{method} {arguments}": json.dumps(server.ask(method, **arguments))
        for method, arguments in list_mcp_requests()
    }


def _read_library(own_memory: OwnMemory, clock: FrozenClock) -> Replies:
    with Memory(own_memory.home, "ann", clock=clock) as memory:
        replies = {f"search {query}": repr(memory.search(query, limit=50)) for query in QUERIES}
        replies["status"] = repr(memory.status())
        context = memory.context(user="ulla", channel="dev", query="kettle")
        replies["context"] = f"{context.text} {context.receipt}"
        for query in QUERIES:
            recall = memory.recall_for(f"What about {query}?", session=f"a conversation about {query}")
            replies[f"recall_for {query}"] = f"{recall.text} {recall.receipt}"
        for path in (*THEIRS, *NOBODYS):
            try:
                replies[f"supersede {path}"] = repr(memory.supersede(f"{path}#L1-L9", f"{WORLD}#L3"))
            except CommonplaceError as error:
                replies[f"supersede {path}"] = str(error)
        return replies


def _read_adapters(own_memory: OwnMemory, clock: FrozenClock) -> Replies:
    """Through the store of LangGraph and the memory tool of Claude."""
    store = CommonplaceStore(own_memory.home, "ann", clock=clock)
    replies = {
        "store search": repr(store.search((), query="rake", limit=50)),
        "store namespaces": repr(store.list_namespaces()),
        "store get": repr(store.get(("things",), "one")),
    }
    store.close()
    tool = MemoryTool(own_memory.home, agent="ann", clock=clock)
    for path in ("", "/mine.md", "/kettle1.md", "/../../../bob/claude/memories/kettle1.md"):
        try:
            replies[f"view {path}"] = str(tool.call({"command": "view", "path": f"/memories{path}"}))
        except ToolError as error:
            replies[f"view {path}"] = str(error)
    tool.close()
    return replies


def run_commands(home: str) -> Replies:
    replies: Replies = {}
    for name, some in READ_COMMANDS.items():
        for arguments in some:
            for form in ([], ["--json"]):
                argv = ["--home", home, "--agent", "ann", name, *form, *arguments]
                done = CliRunner().invoke(cli, argv, input="{}")
                error = f"{type(done.exception).__name__}: {done.exception}" if done.exception else ""
                replies[f"commonplace {' '.join(argv[2:])}"] = f"{done.exit_code} {done.output} {error}"
    return replies
