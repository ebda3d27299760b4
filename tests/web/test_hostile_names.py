"""Whatever has a name can have one that looks like a part of the page: it is shown as text, in every view."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.storage.history import Author, write_as

from .looking import Look
from .serving import serve

pytestmark = pytest.mark.slow
EVIL = "<img src=x onerror=window.ran=1>"
TURNED = "\u202egnp.exe\u200b"  # read from the right, and a width of nothing
ROUTES = (
    "#/search", "#/search?q=onerror", "#/browse", "#/browse/days", "#/browse/world", "#/browse/globals", "#/browse/channels",
    "#/browse/skills", "#/browse/sessions", "#/map", "#/history", "#/health", "#/context?query=onerror", "#/context/text",
    "#/page/memory/odd.md", "#/page/memory/odd.md?history=1", "#/page/memory/odd.md?edit=1",
)  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key, a tag, a channel, a skill, a topic, an agent, a tool, a reason, front matter and a session, all hostile."""
    folder = tmp_path_factory.mktemp("hostile") / "home"
    with Memory(folder) as memory:
        registry: list[dict[str, Any]] = [
            {"op": "setGlobal", "key": EVIL + TURNED, "value": EVIL, "tags": [EVIL]},
            {"op": "setChannel", "channelName": EVIL, "key": EVIL, "value": EVIL},
            {"op": "createSkill", "name": EVIL, "description": EVIL, "owner": EVIL},
        ]
        for arguments in registry:
            memory.call("MemoryTool", arguments)
        memory.call(
            "update_world", {"topic": EVIL, "content": f"# {'H' * 5000}\n\n{TURNED} [[javascript:window.ran=1]]\n"}
        )
        memory.call("remember", {"content": EVIL + TURNED})
        with write_as(Author(EVIL, EVIL, EVIL, EVIL)):
            memory.home.storage.pages.write(
                "memory/odd.md", f"---\ntitle: '{EVIL}'\n---\n[x](data:text/html,{EVIL}) [[a|{EVIL}]]\n"
            )
    with Memory(folder, EVIL) as memory:
        memory.call("remember", {"content": EVIL})
    sessions = folder / "agents/main/sessions"
    sessions.mkdir(parents=True)
    (sessions / f"{EVIL}.jsonl").write_text(json.dumps({"role": EVIL, "name": EVIL, "content": EVIL}) + "\n")
    return folder


@pytest.fixture(scope="module")
def site(home: Path) -> Iterator[str]:
    with serve(home, "--open") as address:
        yield address


def test_a_hostile_name_is_text_in_every_view_and_breaks_none(chromium: Any, site: str) -> None:
    with Look.at(chromium, site, viewport={"width": 390, "height": 844}) as look:
        for route in ROUTES:
            page = look.go(route, anew=False)
            look.settle()
            assert page.evaluate("window.ran") is None, route
            assert page.evaluate("document.querySelectorAll('img, main script').length") == 0, route
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, route
        assert look.elsewhere == []
        assert look.errors == []
