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
def asked(home: str) -> Iterator[Api]:
    with Memory(home) as memory:
        memory.call("remember", {"content": "Ann prefers green tea, see [[people]]."})
        memory.call("update_world", {"topic": "people", "content": "# People\n\nAnn and Bob.\n"})
        memory.call("MemoryTool", {"op": "setGlobal", "key": "editor", "value": "vim", "tags": ["tools"]})
    with TestClient(build_application(ServerOptions(home), AccessRules()), base_url="http://localhost") as client:
        yield Api(client)


def test_everything_is_read_there_as_in_a_folder(asked: Api) -> None:
    assert asked.get("status")["pages"] >= 3
    assert asked.get("search", q="teas")["results"][0]["marks"]
    assert asked.get("context", query="tea")["receipt"]["tokens"] > 0
    assert PAGE in {row["path"] for row in asked.get("pages")["pages"]}
    assert asked.get("outline")["topics"] == [{"name": "people", "path": PAGE, "value": "Ann and Bob."}]
    assert [edge["why"] for edge in asked.get("map")["edges"]] == ["link"]
    assert asked.get("history", what=PAGE)["changes"]
    found: dict[str, Any] = asked.get("health")
    assert found["sizes"]["pages"] >= 3
    assert found["sizes"]["index_bytes"] is None
    assert found["recalled"] == {"most": [], "never": [], "since": ""}
    assert asked.get(f"pages/{PAGE}")["links"] == []


def test_quotas_hold_there_too(home: str) -> None:
    options = ServerOptions(home, writes_per_day=1)
    with TestClient(build_application(options, AccessRules()), base_url="http://localhost") as client:
        notes = [Api(client).send("POST", "tools/remember", json={"content": text}) for text in ("One.", "Two.")]
    assert [(note.status_code, note.json().get("code")) for note in notes] == [(200, None), (429, "QUOTA_EXCEEDED")]


def test_pages_are_written_there_under_the_same_condition(asked: Api) -> None:
    read = asked.tag(PAGE)
    assert asked.put(PAGE, "theirs\n", If_Match=read).status_code == 200
    late = asked.put(PAGE, "mine\n", If_Match=read)
    assert (late.status_code, late.json()["current"]) == (412, asked.tag(PAGE).strip('"'))
    assert asked.put("memory/new.md", "new\n", If_None_Match="*").status_code == 201
    assert (
        asked.send("DELETE", "pages/memory/new.md", headers={"If-Match": asked.tag("memory/new.md")}).status_code == 204
    )
    change = asked.get("history", what=PAGE)["changes"][0]["id"]
    assert asked.post("undo", changes=[change])["undone"][0]["done"] is True
    assert asked.send("GET", f"pages/{PAGE}").text.startswith("# People")
    assert asked.post("tools/remember", content="x")["success"] is True


def test_nothing_is_a_page_and_a_folder_at_once_there_either(asked: Api) -> None:
    for wanted in (f"{PAGE}/y.md", "memory/world.md"):
        asked.put("memory/world.md/deep.md", "here first\n", If_None_Match="*")
        refused = asked.put(wanted, "x", If_None_Match="*")
        assert (refused.status_code, refused.json()["title"]) == (409, "In the way")
        assert "use another name" in refused.json()["detail"]
        assert asked.send("GET", f"pages/{wanted}").status_code == 404
