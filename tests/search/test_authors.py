"""Hits name who wrote them, and a search keeps to one author."""

from __future__ import annotations

from pathlib import Path

from commonplace import Memory
from commonplace.storage.history import coming_from

PAGE = "memory/world/tea.md"


def write_by_all(memory: Memory, home: Path) -> None:
    """Notes on tea by an agent, an import, a token, a person and an editor, each on a page of its own."""
    memory.call("remember", {"content": "Tea by the agent."})
    writer = memory.home.writer
    for origin in ("import:obsidian", "token:t1", "person"):
        with coming_from(origin), writer.call("write"):
            writer.write(f"memory/world/{origin.partition(':')[0]}.md", f"Tea by {origin}.\n")
    (home / "memory/world/editor.md").write_text("Tea by hand.\n")


def test_every_hit_names_who_wrote_its_lines(home: Path) -> None:
    with Memory(home, "ann") as memory:
        write_by_all(memory, home)
        authors = {hit.path.rpartition("/")[2]: hit.author for hit in memory.search("tea", mode="keyword")}
        rows = memory.call("memory_search", {"query": "tea"}, "retrieval")["results"]
    day = next(name for name in authors if name.startswith("20"))
    assert authors == {
        day: "ann (remember)",
        "import.md": "import (obsidian)",
        "token.md": "ann (write), token t1",
        "person.md": "a person (write)",
        "editor.md": "outside",
    }
    assert [row["author"] for row in rows if row["path"].endswith("editor.md")] == ["outside"]


def test_the_author_of_a_hit_is_that_of_its_own_lines_and_follows_every_change(home: Path) -> None:
    lines = [f"word{number} fills this line of the page with text" for number in range(200)]
    with Memory(home) as memory:
        memory.call("update_world", {"topic": "tea", "content": "\n".join(lines) + "\n"})
        assert memory.search("word3", 1)[0].author == "main (update_world)"
        page = home / PAGE
        page.write_text(page.read_text() + "\n# Later\n\nOolong by hand.\n")
        assert memory.search("oolong", 1, mode="keyword")[0].author == "outside"
        assert memory.search("word3", 1, mode="keyword")[0].author == "main (update_world)"
        page.write_text(page.read_text().replace("word3 ", "word3 now "))
        assert memory.search("word3", 1, mode="keyword")[0].author == "outside; main (update_world)"


def test_a_search_by_author_looks_beyond_its_limit(home: Path) -> None:
    with Memory(home, "ann") as memory:
        write_by_all(memory, home)
        for author in ("ann", "import", "token", "person", "outside"):
            (hit,) = memory.search("tea", 1, mode="keyword", author=author)
            assert author in hit.author
        assert len(memory.search("tea", 10, mode="keyword", author="ann")) == 2  # the token wrote for ann
        assert memory.search("tea", mode="keyword", author="nobody") == []


def test_a_history_that_is_gone_costs_the_author_and_not_the_hit(home: Path) -> None:
    with Memory(home) as memory:
        memory.call("remember", {"content": "Tea."})
        memory.search("tea")
        for file in (home / ".history").iterdir():
            file.unlink()
        (hit,) = memory.search("tea", mode="keyword")
        assert hit.author == ""


def test_a_page_with_a_long_history_names_its_only_author(home: Path) -> None:
    with Memory(home) as memory:
        for number in range(230):
            memory.home.writer.append(PAGE, f"tea{number} is in this line\n\n")
        assert memory.search("tea1", 1, mode="keyword")[0].author
