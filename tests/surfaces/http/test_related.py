"""What belongs together: links and names that mention a page, pages about the same, the days around one, the map."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.surfaces.http.related import build_link_graph
from commonplace.testing import FrozenClock

from ...costs import count_calls
from .api import api

HERON = "memory/world/blue-heron.md"


@pytest.fixture
def related(home: Path) -> Any:
    """A function that returns what belongs to a page of a memory of five days."""
    clock = FrozenClock(datetime(2026, 3, 2, 9, tzinfo=UTC))
    memory = Memory(home, clock=clock)
    memory.call("update_world", {"topic": "blue-heron", "content": "# Blue Heron\n\nA service that counts birds.\n"})
    memory.call("update_world", {"topic": "birds", "content": "# Birds\n\nA program counts birds at dawn.\n"})
    for text in (
        "Nothing new.",
        "See [[blue-heron]] first. Then rest.",
        "Grace owns blue heron now.",
        "Heron blue paint.",
    ):
        clock.now += timedelta(days=1)
        memory.call("remember", {"content": text})
    Memory(home, "bob", clock=clock).call("remember", {"content": "Bob sells Blue Heron."})

    def ask(path: str) -> dict[str, Any]:
        with api(home) as client:
            answer: dict[str, Any] = client.get(f"related/{path}")
            return answer

    return ask


def test_a_page_is_mentioned_by_links_and_by_its_name(related: Any) -> None:
    mentions = [(row["title"], row["why"], row["text"]) for row in related(HERON)["mentions"]]
    assert mentions == [
        ("2026-03-05", "name", "Grace owns blue heron now."),
        ("2026-03-04", "link", "See [[blue-heron]] first."),
    ]


def test_what_is_about_the_same_is_related_and_another_agents_is_not(related: Any) -> None:
    neighbours = related(HERON)
    assert neighbours["related"][0]["path"] == "memory/world/birds.md"
    assert HERON not in [row["path"] for row in neighbours["related"]]
    assert "bob" not in str(neighbours)


def test_a_day_has_its_neighbours(related: Any) -> None:
    daily = "agents/main/memory/daily"
    middle = related(f"{daily}/2026-03-04.md")
    assert (middle["previous"]["title"], middle["next"]["title"]) == ("2026-03-03", "2026-03-05")
    assert related(f"{daily}/2026-03-03.md")["previous"] is None
    assert related(f"{daily}/2026-03-06.md")["next"] is None
    assert related(HERON)["next"] is None


def test_a_tag_that_many_have_becomes_a_node(memory: Memory) -> None:
    for number in range(52):
        memory.call(
            "MemoryTool", {"op": "setGlobal", "key": f"k{number}", "value": "v", "tags": ["all", f"pair{number // 2}"]}
        )
    graph = build_link_graph(memory.home)
    crowd = [node for node in graph.nodes if node.kind == "tag"]
    assert [(node.id, node.label, node.size) for node in crowd] == [("tag:all", "all", 52)]
    assert sum(edge.label == "all" for edge in graph.edges) == 52
    assert sum(edge.label.startswith("pair") for edge in graph.edges) == 26


def test_only_so_many_pages_are_drawn_and_it_says_how_many_are_not(memory: Memory, home: Path) -> None:
    for number in range(12):
        memory.call("update_world", {"topic": f"t{number}", "content": "[[t0]]"})
    graph = build_link_graph(memory.home, 10)
    assert (len(graph.nodes), graph.left_out) == (10, 2)
    assert all(
        edge.a in {node.id for node in graph.nodes} and edge.b in {node.id for node in graph.nodes}
        for edge in graph.edges
    )


def test_links_are_drawn_once_and_never_to_oneself(memory: Memory) -> None:
    memory.call("update_world", {"topic": "a", "content": "[[a]] [[b]] [b](b.md) [[b]]"})
    memory.call("update_world", {"topic": "b", "content": "[[A]]"})
    graph = build_link_graph(memory.home)
    assert {(edge.a, edge.b) for edge in graph.edges} <= {
        ("memory/world/a.md", "memory/world/b.md"), ("memory/world/b.md", "memory/world/a.md")
    }  # fmt: skip
    assert graph.edges


def test_a_page_of_notes_hangs_by_its_links_and_by_its_tags(memory: Memory, home: Path) -> None:
    memory.call("memory_write", {"key": "beds", "content": "see [[people]]", "tags": ["garden"]})
    memory.call("MemoryTool", {"op": "setGlobal", "key": "hose", "value": "green", "tags": ["garden"]})
    memory.call("update_world", {"topic": "people", "content": "Ann"})
    (home / "memory/odd.md").write_bytes(b"\xff [[people]]")
    graph = build_link_graph(memory.home)
    (notes,) = {edge.a for edge in graph.edges if edge.why == "link"}
    assert {(edge.why, edge.label, notes in edge) for edge in graph.edges} == {
        ("link", "people", True), ("tag", "garden", True)
    }  # fmt: skip
    assert {node.id: node.size for node in graph.nodes}[notes] == 2


def test_a_name_that_many_pages_mention_is_a_hub(memory: Memory) -> None:
    memory.call("update_world", {"topic": "blue-heron", "content": "# Blue Heron\n\nCounts birds.\n"})
    for number in range(4):
        text = f"We asked Grace about Blue Heron {number} times."
        memory.call("update_world", {"topic": f"t{number}", "content": text})
    graph = build_link_graph(memory.home)
    hubs = {node.id: (node.kind, node.size) for node in graph.nodes if node.hub}
    assert hubs == {"name:Grace": ("name", 4), "memory/world/blue-heron.md": ("page", 5)}
    names = {(edge.a, edge.b) for edge in graph.edges if edge.why == "name"}
    assert ("name:Grace", "memory/world/t0.md") in names
    assert ("memory/world/blue-heron.md", "memory/world/t0.md") in names


def test_hubs_have_room_where_there_are_more_pages_than_nodes(memory: Memory) -> None:
    for number in range(45):
        memory.call("update_world", {"topic": f"t{number}", "content": "We asked Grace."})
    graph = build_link_graph(memory.home, 40)
    assert [node.label for node in graph.nodes if node.hub] == ["Grace"]
    assert len(graph.nodes) <= 40
    assert graph.left_out == 7


def test_a_huge_page_costs_a_map_no_more_than_its_beginning(memory: Memory) -> None:
    pages = memory.home.storage.pages
    costs = []
    for length in (200_000, 800_000):
        pages.write("memory/huge.md", "Ordinary words. " * (length // 16))
        build_link_graph(memory.home)
        costs.append(count_calls(build_link_graph, memory.home))
    assert costs[1] < 1.5 * costs[0]
