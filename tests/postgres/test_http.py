"""The interface over a memory in a database: what is read and written over HTTP is the same there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from commonplace import Memory
from commonplace.server.auth import ServerOptions
from commonplace.surfaces.application import build_application
from commonplace.surfaces.http.auth import AccessRules

from ..surfaces.http.api import Api

pytestmark = pytest.mark.slow
PAGE = "memory/world/people.md"


@pytest.fixture
def home(url: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}tenant=acme"


@pytest.fixture
def api_client(home: str) -> Iterator[Api]:
    with Memory(home) as memory:
        memory.call("remember", {"content": "Ann prefers green tea, see [[people]]."})
        memory.call("update_world", {"topic": "people", "content": "# People\n\nAnn and Bob.\n"})
        memory.call("MemoryTool", {"op": "setGlobal", "key": "editor", "value": "vim", "tags": ["tools"]})
    with TestClient(build_application(ServerOptions(home), AccessRules()), base_url="http://localhost") as client:
        yield Api(client)


def test_everything_is_read_there_as_in_a_folder(api_client: Api) -> None:
    assert api_client.get("status")["pages"] >= 3
    assert api_client.get("search", q="teas")["results"][0]["marks"]
    assert api_client.get("context", query="tea")["receipt"]["tokens"] > 0
    assert PAGE in {row["path"] for row in api_client.get("pages")["pages"]}
    assert api_client.get("outline")["topics"] == [{"name": "people", "path": PAGE, "value": "Ann and Bob."}]
    assert [edge["why"] for edge in api_client.get("map")["edges"]] == ["link"]
    assert api_client.get("history", what=PAGE)["changes"]
    response: dict[str, Any] = api_client.get("health")
    assert response["sizes"]["pages"] >= 3
    assert response["sizes"]["index_bytes"] is None
    assert response["recalled"] == {"most": [], "never": [], "since": ""}
    assert api_client.get(f"pages/{PAGE}")["links"] == []


def test_quotas_hold_there_too(home: str) -> None:
    options = ServerOptions(home, writes_per_day=1)
    with TestClient(build_application(options, AccessRules()), base_url="http://localhost") as client:
        notes = [Api(client).send("POST", "tools/remember", json={"content": text}) for text in ("One.", "Two.")]
    assert [(note.status_code, note.json().get("code")) for note in notes] == [(200, None), (429, "QUOTA_EXCEEDED")]


def test_pages_are_written_there_under_the_same_condition(api_client: Api) -> None:
    read = api_client.tag(PAGE)
    assert api_client.put(PAGE, "theirs\n", If_Match=read).status_code == 200
    late = api_client.put(PAGE, "mine\n", If_Match=read)
    assert (late.status_code, late.json()["current"]) == (412, api_client.tag(PAGE).strip('"'))
    assert api_client.put("memory/new.md", "new\n", If_None_Match="*").status_code == 201
    assert (
        api_client.send(
            "DELETE", "pages/memory/new.md", headers={"If-Match": api_client.tag("memory/new.md")}
        ).status_code
        == 204
    )
    change = api_client.get("history", what=PAGE)["changes"][0]["id"]
    assert api_client.post("undo", changes=[change])["undone"][0]["done"] is True
    assert api_client.send("GET", f"pages/{PAGE}").text.startswith("# People")
    assert api_client.post("tools/remember", content="x")["success"] is True


def test_nothing_is_a_page_and_a_folder_at_once_there_either(api_client: Api) -> None:
    for expected in (f"{PAGE}/y.md", "memory/world.md"):
        api_client.put("memory/world.md/deep.md", "here first\n", If_None_Match="*")
        refused = api_client.put(expected, "x", If_None_Match="*")
        assert (refused.status_code, refused.json()["title"]) == (409, "In the way")
        assert "use another name" in refused.json()["detail"]
        assert api_client.send("GET", f"pages/{expected}").status_code == 404
