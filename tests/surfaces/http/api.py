"""The interface within the test's own process, as a program asks it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from starlette.testclient import TestClient

from commonplace.server.auth import ServerOptions
from commonplace.surfaces.application import build_application
from commonplace.surfaces.http.auth import AccessRules, SignInKeys


class Api:
    """Who asks: a token, or none, and who it says it is."""

    def __init__(self, client: TestClient, token: str = "", **who: str) -> None:
        self.client, self.token, self.who = client, token, who

    def as_(self, token: str | None = None, **who: str) -> Api:
        return Api(self.client, self.token if token is None else token, **{**self.who, **who})

    def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {f"Commonplace-{name}": quote(value) for name, value in self.who.items()}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= more.pop("headers", {})
        return self.client.request(method, f"/v1/{path}", headers=headers, **more)

    def get(self, path: str, /, **params: Any) -> Any:
        """What is answered, when all is well."""
        answer = self.send("GET", path, params=params, headers={"Accept": "application/json"})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, /, **body: Any) -> Any:
        answer = self.send("POST", path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def put(self, path: str, text: str, **conditions: str) -> httpx.Response:
        headers = {"Content-Type": "text/markdown", **{name.replace("_", "-"): tag for name, tag in conditions.items()}}
        return self.send("PUT", f"pages/{path}", content=text.encode(), headers=headers)

    def tag(self, path: str) -> str:
        return self.send("GET", f"pages/{path}").headers["etag"]


@contextmanager
def api(home: Path, rules: AccessRules | None = None, keys: SignInKeys | None = None, **more: Any) -> Iterator[Api]:
    app = build_application(ServerOptions(str(home), **more), rules or AccessRules(), keys)
    with TestClient(app, base_url="http://localhost") as client:
        yield Api(client)
