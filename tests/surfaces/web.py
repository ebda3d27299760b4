"""The HTTP surface within the test's own process: requests of the protocol as any program would send them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.testclient import TestClient

from commonplace.server.auth import ServerOptions
from commonplace.surfaces.application import build_application
from commonplace.surfaces.http.auth import AccessRules

ERA = "2026-07-28"
_numbers = count(1)


class Web:
    """What a program asks that has a token, or none. `who`: agent, home, user, channel, session."""

    def __init__(self, client: TestClient, token: str = "", **who: str) -> None:
        self.client, self.token, self.who = client, token, who

    def as_(self, token: str | None = None, **who: str) -> Web:
        return Web(self.client, self.token if token is None else token, **{**self.who, **who})

    def headers(self, method: str, name: str = "") -> dict[str, str]:
        headers = {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "Mcp-Method": method, "MCP-Protocol-Version": ERA,
        }  # fmt: skip
        headers |= {"Mcp-Name": name} if name else {}
        headers |= {f"Commonplace-{key}": quote(value) for key, value in self.who.items()}
        return headers | ({"Authorization": f"Bearer {self.token}"} if self.token else {})

    def post(self, method: str, **params: Any) -> Any:
        """The response itself."""
        meta = {"io.modelcontextprotocol/protocolVersion": ERA, "io.modelcontextprotocol/clientCapabilities": {}}
        meta |= params.pop("_meta", {})
        request = {"jsonrpc": "2.0", "id": next(_numbers), "method": method, "params": {**params, "_meta": meta}}
        name = quote(str(params.get("name") or params.get("uri") or ""), safe="/:?=&+{},~@!$'()*;%#[]")
        return self.client.post("/mcp", content=json.dumps(request), headers=self.headers(method, name))

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """What was answered: the result, or {"error": …}."""
        answer = self.post(method, **params)
        text = answer.text
        if "text/event-stream" in answer.headers.get("content-type", ""):
            text = next(line[5:] for line in reversed(text.splitlines()) if line.startswith("data:"))
        data: dict[str, Any] = json.loads(text)
        return data.get("result") or {"error": data.get("error") or data}

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", name=tool, arguments=arguments)


@contextmanager
def web(home: Path | str, rules: AccessRules = AccessRules(), **serving: Any) -> Iterator[Web]:  # noqa: B008
    app = build_application(ServerOptions(str(home), **serving), rules)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield Web(client)
