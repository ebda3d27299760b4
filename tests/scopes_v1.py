"""The doors of the HTTP interface, for the scope matrix, each tried with a token for one agent alone; and all doors."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from typing import Any

from commonplace import Memory
from commonplace.storage.records import read_text

from .scopes import CHANNEL, KINDS, OWNER, Door, View, ask
from .scopes import DOORS as OTHERS
from .surfaces.http.api import Api
from .waiting import LONG_SECONDS

_LATER = "2999-01-01"
_READ = tuple(kind for kind in KINDS if kind != "oddfile")
_RECORDS = ("activity", "note", "session", "working", "handoff", "scratch", "global", "channel", "skill")
_LISTED = (*_RECORDS, "curated", "world", "directive")  # of pages, the first line
_SEARCHED = tuple(kind for kind in _READ if kind != "directive")


def _of(view: View) -> Api:
    return Api(view.server.client, view.server.token)


def _got(view: View, path: str, /, **params: Any) -> str:
    """What is answered, or only that it is refused: a refusal repeats what was asked."""
    answer = _of(view).send("GET", path, params=params, headers={"Accept": "application/json"})
    return answer.text if answer.status_code == 200 else str(answer.status_code)


def _post(view: View, path: str, /, **body: Any) -> str:
    answer = _of(view).send("POST", path, json=body)
    message = answer.text if answer.status_code == 200 else str(answer.status_code)
    return re.sub(r"\"query\": ?\"[^\"]*\"", "", message)


def read_search(view: View) -> str:
    some: list[dict[str, str]] = [
        {}, {"scope": "agent"}, {"scope": f"agent:{OWNER}"}, {"agent_filter": OWNER}, {"path": f"agents/{OWNER}"},
        {"source": "session"}, {"tag": "tagged"}, {"channel": CHANNEL}, {"since": "2020-01-01"},
    ]  # fmt: skip
    return "\n".join(_got(view, "search", q=ask(kind), limit=50, **each) for kind in KINDS for each in some)


def contexts(view: View) -> str:
    request = [{}, *({"query": ask(kind)} for kind in KINDS), {"query": ask("day"), "budget": 200}]
    return re.sub(r"\"query\": ?\"[^\"]*\"", "", "\n".join(_got(view, "context", **each) for each in request))


def pages(view: View) -> str:
    """By their names: now, at a time, as a session, and what they would be merged with."""
    answer = [_got(view, f"pages/{path}") for path in view.paths]
    answer += [_got(view, f"pages/{path}", at=_LATER) for path in view.paths]
    answer += [_got(view, f"sessions/{path}") for path in view.paths]
    answer += [_post(view, "merge", path=path, base="", text="x") for path in view.paths]
    return "\n".join(answer)


def looked_around(view: View) -> str:
    """All that lists, draws or counts, and an export, which is for who may see everything."""
    listed = [_got(view, "pages", limit=1000), *(_got(view, "pages", prefix=path) for path in view.paths)]
    paths = ("status", "homes", "outline", "map", "health", "tools", "openapi.json", "export")
    others = [_got(view, path) for path in paths]
    return "\n".join([*listed, *others])


def looked_back(view: View) -> str:
    answer = [_got(view, "history", limit=1000), _got(view, "history", agent=OWNER)]
    answer += [_got(view, "history", what=what) for what in (*view.paths, *map(ask, KINDS))]
    answer += [_got(view, f"history/{name[:some]}") for name in view.changes for some in (4, 16)]
    return "\n".join(answer)


def call_tools(view: View) -> str:
    answer = [_post(view, "tools/memory_search", query=ask(kind), maxResults=50) for kind in KINDS]
    answer += [_post(view, "tools/memory_search?toolset=notes", query=ask(kind)) for kind in KINDS]
    answer += [_post(view, "tools/search_memory", query=ask(kind), limit=50) for kind in KINDS]
    answer += [_post(view, "tools/memory_read", key=ask("note")), _post(view, "tools/recall", days=30)]
    answer += [_post(view, "tools/scratch_note", mode="read"), _post(view, "tools/MemoryTool", op="listGlobal")]
    return "\n".join(answer)


def read_changes(view: View) -> str:
    """The texts of the pages that a stream of changes tells of, while everything there is of the owner's changes."""
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
    """Two ends: what changes before the first one is told by the second, in whichever order news are found."""
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
    """Change pages, those that are there, as their owner does."""
    with Memory(view.home, OWNER, clock=view.clock) as memory:
        for path in paths:
            if new or memory.home.storage.exists(path):
                memory.home.storage.pages.append(path, "\n")


DOORS = {
    **OTHERS,
    "interface, search": Door(read_search, _SEARCHED),
    "interface, context": Door(contexts, (*_SEARCHED, "directive"), in_conversation=True),
    "interface, pages": Door(pages, _READ),
    "interface, lists and figures": Door(looked_around, _LISTED, lists=True),
    "interface, history": Door(looked_back, KINDS),
    "interface, tools": Door(call_tools, _SEARCHED),
    "interface, changes": Door(read_changes, _SEARCHED),
}
