"""The MCP memory server's file: one page an entity, with links."""

from __future__ import annotations

import json
from pathlib import Path

from commonplace import Memory

from .sources import pages, put, run_import, whys


def graph(place: Path, *events: object) -> Path:
    text = "".join((event if isinstance(event, str) else json.dumps(event)) + "\n" for event in events)
    return put(place.parent, place.name, text)


def entity(name: str, kind: str, *observations: object) -> dict[str, object]:
    return {"type": "entity", "name": name, "entityType": kind, "observations": list(observations)}


def relation(start: str, end: str, kind: str) -> dict[str, object]:
    return {"type": "relation", "from": start, "to": end, "relationType": kind}


def test_an_entity_is_a_page_and_its_relations_are_links(home: Path, tmp_path: Path) -> None:
    source = graph(
        tmp_path / "memory.jsonl",
        entity("Ann Lee", "person", "Likes tea", "Lives in\nBerlin"),
        entity("acme", "company"),
        relation("Ann Lee", "acme", "works_at"),
        relation("acme", "Ann Lee", "employs"),
    )
    done = run_import(home, source)
    assert done.skipped == ()
    files = pages(home)
    ann, acme = sorted(files)[1], "memory/knowledge-graph/acme.md"
    assert sorted(files)[0] == acme
    assert files[ann] == (
        "---\ntype: person\naliases: [Ann Lee]\n---\n\n# Ann Lee\n\n- Likes tea\n- Lives in\n  Berlin\n\n"
        "## Relations\n\n- works_at [[acme]]\n"
    )
    link = ann.rpartition("/")[2].removesuffix(".md")
    assert f"- employs [[{link}|Ann Lee]]" in files[acme]
    assert Memory(home).search("who likes tea?")[0].path == ann


def test_an_entity_or_relation_that_occurs_twice_is_imported_once(home: Path, tmp_path: Path) -> None:
    source = graph(
        tmp_path / "memory.jsonl",
        entity("tea", "drink", "Green"),
        entity("tea", "drink", "Green", "Hot"),
        entity("tea", "plant", "Grows"),
        relation("tea", "pot", "needs"),
        relation("tea", "pot", "needs"),
    )
    run_import(home, source)
    text = pages(home)["memory/knowledge-graph/tea.md"]
    assert text.count("- Green") == text.count("needs [[pot]]") == 1
    assert 'type: "drink / plant"' in text or "type: drink / plant" in text
    assert "memory/knowledge-graph/pot.md" in pages(home)


def test_a_broken_line_costs_only_itself(home: Path, tmp_path: Path) -> None:
    source = graph(
        tmp_path / "memory.jsonl",
        entity("tea", "drink", "Green"),
        '{"type":"entity","name":',
        {"type": "entity", "name": "", "entityType": "x", "observations": []},
        {"type": "relation", "from": "tea", "to": "pot"},
        {"type": "other"},
        entity("pot", "thing", 3, "Round"),
    )
    done = run_import(home, source)
    assert sorted(pages(home)) == ["memory/knowledge-graph/pot.md", "memory/knowledge-graph/tea.md"]
    assert [what.rpartition(" ")[2] for what in whys(done)] == ["3", "4", "5", "6", "2"]


def test_names_cannot_lead_out_nor_break_a_page(home: Path, tmp_path: Path) -> None:
    names = ["../../escape", "a]] [[b|c", "CON", "x\n# y", "日本", "🍵"]
    events = [entity(name, "t", "---\n### x") for name in names] + [relation(name, names[0], "r") for name in names]
    run_import(home, graph(tmp_path / "memory.jsonl", *events))
    files = pages(home)
    assert len(files) == len(names)
    assert all(path.startswith("memory/knowledge-graph/") and path.count("/") == 2 for path in files)
    assert not (tmp_path / "escape.md").exists()


def test_the_answer_of_read_graph_is_understood_too(home: Path, tmp_path: Path) -> None:
    whole = {"entities": [{"name": "tea", "entityType": "drink", "observations": ["Green"]}], "relations": []}
    run_import(home, put(tmp_path, "graph.json", json.dumps(whole, indent=2)))
    assert "- Green" in pages(home)["memory/knowledge-graph/tea.md"]


def test_one_name_in_three_files_is_three_pages(home: Path, tmp_path: Path) -> None:
    files = [graph(tmp_path / f"{output}.jsonl", entity("ann", "person", output)) for output in ("one", "two", "three")]
    run_import(home, files[0])
    run_import(home, files[1])
    ((path, other),) = run_import(home, files[2]).renamed
    assert other == "memory/knowledge-graph/ann.md"
    assert "three" in pages(home)[path]
    assert len(pages(home)) == 3
    graph(files[2], entity("ann", "person", "three", "four"))
    assert run_import(home, files[2]).updated == (path,)
    assert all(run_import(home, file).added == () for file in files)
