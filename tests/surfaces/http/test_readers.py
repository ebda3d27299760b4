"""A caller who may only read is told of no tool that writes: in the context, in prompts and in MCP's instructions."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.storage.base import open_tokens
from commonplace.storage.tokens import Role, create_token
from commonplace.toolsets import EVERYDAY, name_tools

from ..web import Web, web

WRITERS = [tool.name for tool in name_tools(EVERYDAY) if not tool.reads_only]
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def initialize(caller: Web) -> str:
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT}
    headers = {**caller.headers("initialize"), "MCP-Protocol-Version": "2025-11-25"}
    answer = caller.client.post("/mcp", content=json.dumps(request), headers=headers).text
    line = next(line for line in answer.splitlines() if line.startswith("data: {"))
    return str(json.loads(line.removeprefix("data: "))["result"]["instructions"])


def texts(caller: Web) -> dict[str, str]:
    headers = {"Authorization": f"Bearer {caller.token}"}
    read: Any = caller.ask("resources/read", uri="commonplace://context")
    prompt: Any = caller.ask("prompts/get", name="recall")
    return {
        "context": caller.client.get("/v1/context", headers=headers).json()["text"],
        "resource": read["contents"][0]["text"],
        "prompt": prompt["messages"][0]["content"]["text"],
        "discover": str(caller.ask("server/discover")["instructions"]),
        "initialize": initialize(caller),
    }


@pytest.mark.parametrize("role", ["read", "write"])
def test_a_token_sees_the_tools_that_it_may_call(home: Path, role: Role) -> None:
    Memory(home)
    _, secret = create_token(open_tokens(str(home)), datetime.now(UTC), agents=None, role=role)
    with web(home) as served:
        for where, text in texts(served.as_(secret)).items():
            names = [name for name in WRITERS if name in text.replace("`", " ").split() or f"`{name}`" in text]
            assert bool(names) == (role == "write"), (where, names)
            assert "memory_search" in text, where
