"""Who wrote what is in a context: the receipt says it, and a context may keep to what people wrote or approved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.instructions import approve
from commonplace.storage.history import coming_from


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with Memory(home) as memory:
        memory.call("reflect", {"content": "Tea, says the agent."})
        (home / "memory/world").mkdir(parents=True, exist_ok=True)
        (home / "memory/world/tea.md").write_text("Tea, says the editor.\n")
        (home / "MEMORY.md").write_text("Coffee, says a person.\n")
        yield memory


def parts(receipt: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [part for section in receipt["sections"] for part in section[name]]


def test_the_receipt_names_author_and_date_of_every_source(memory: Memory) -> None:
    sources = {part["source"].partition("#")[0]: part for part in parts(memory.context(query="tea").receipt, "sources")}
    own = sources[memory.home.layout.curated_page("main")]
    assert own["author"] == "main (reflect)"
    assert own["at"].startswith("20")
    assert sources["memory/world/tea.md"]["author"] == "outside"


def test_a_context_of_what_is_approved_leaves_out_what_agents_and_imports_wrote(memory: Memory) -> None:
    with coming_from("import:obsidian"), memory.home.writer.call("import"):
        memory.home.writer.write("memory/world/black.md", "Tea, says the import.\n")
    context = memory.context(query="tea", only_approved=True)
    assert "says the editor" in context.text
    assert "says a person" in context.text
    assert "says the agent" not in context.text
    assert "says the import" not in context.text
    cut = [part["source"].partition("#")[0] for part in parts(context.receipt, "cut") if "person" in part["reason"]]
    assert {memory.home.layout.curated_page("main"), "memory/world/black.md"} <= {*cut}
    assert "## Directives" in context.text


def test_one_line_by_an_agent_takes_its_page_out_until_a_person_rewrites_it(memory: Memory, home: Path) -> None:
    page = "MEMORY.md"
    memory.home.writer.append(page, "Water, says the agent.\n")
    assert "says a person" not in memory.context(only_approved=True).text
    (home / page).write_text("Coffee, says a person.\n")
    assert "says a person" in memory.context(only_approved=True).text


def test_a_directive_that_a_person_wrote_into_a_file_counts_at_once(memory: Memory, home: Path) -> None:
    (home / "directives/tea.md").write_text("Serve tea.\n")
    assert "Serve tea." in memory.context(only_approved=True).text


def test_a_directive_counts_once_it_is_approved(memory: Memory) -> None:
    path = "directives/tea.md"
    with coming_from("import:obsidian"), memory.home.writer.call("import"):
        memory.home.writer.write(path, "Serve tea.\n")
    assert "Serve tea." not in memory.context(only_approved=True).text
    approve(memory.home, path)
    assert "Serve tea." in memory.context(only_approved=True).text
    with coming_from("agent-token:t1"), memory.home.writer.call("write"):
        memory.home.writer.write(path, "Serve tea.\nServe no tea.\n")
    assert "Serve tea." in memory.context().text  # the version that was approved
    assert "Serve no tea." not in memory.context(only_approved=True).text


def test_days_and_the_map_keep_to_what_a_person_wrote(memory: Memory, home: Path) -> None:
    memory.call("remember", {"content": "Tea at four, says the agent."})
    (page,) = (home / "agents/main/memory/daily").glob("*.md")
    page.write_text(page.read_text() + "## 17:00\n\nScones at five, says a person.\n")
    memory.call("update_world", {"topic": "kettle", "content": "Descale it, says the agent."})
    memory.call("MemoryTool", {"op": "setGlobal", "key": "cups", "value": 6, "category": "kitchen"})
    memory.call("MemoryTool", {"op": "setChannel", "channelName": "bakery", "key": "flour", "value": "rye"})
    (home / "memory/global/kitchen/spoons.md").write_text("12\n")
    everything = memory.context(budget=2000)
    context = memory.context(budget=2000, only_approved=True)
    for words in ("says the agent", "kettle", "cups", "bakery"):
        assert words in everything.text
        assert words not in context.text
    for words in ("Scones at five, says a person.", "- tea: ", "- kitchen: spoons"):
        assert words in context.text
    days = next(section for section in context.receipt["sections"] if section["title"] == "Recent Days")
    assert "person" in days["cut"][0]["reason"]


def test_what_a_person_wrote_on_a_very_long_day_is_shown(memory: Memory, home: Path) -> None:
    memory.call("remember", {"content": "Logs, says the agent. " * 6000})
    (page,) = (home / "agents/main/memory/daily").glob("*.md")
    page.write_text(page.read_text() + "## 12:00\n\nScones at noon, says a person.\n\n")
    memory.call("remember", {"content": "More logs, says the agent. " * 6000})
    page.write_text(page.read_text() + "## 17:00\n\nScones at five, says a person.\n")
    for budget in (None, 900):
        text = memory.context(budget=budget, only_approved=True).text
        assert "Scones at noon, says a person." in text
        assert "Scones at five, says a person." in text
        assert "says the agent" not in text
    (hit,) = memory.search("scones at five", limit=1)
    assert hit.author == "outside"


def test_notes_of_agents_take_no_place_from_those_of_a_person(memory: Memory, home: Path) -> None:
    folder = home / "agents/main/memory/working"
    folder.mkdir(parents=True)
    (folder / "kettle.md").write_text("Descale it, says a person.\n")
    memory.context(only_approved=True)
    for number in range(70):
        memory.call("write_memory", {"key": f"note-{number}", "content": "Says the agent."})
    context = memory.context(only_approved=True)
    assert "Descale it, says a person." in context.text
    assert "Says the agent." not in context.text


def test_pages_of_agents_take_no_place_in_the_map_from_those_of_a_person(memory: Memory, home: Path) -> None:
    for number in range(200):
        memory.call("update_world", {"topic": f"a-{number:03}", "content": "Says the agent."})
    assert "- tea: " in memory.context(budget=400, only_approved=True).text
