"""The folders that other systems' interfaces keep their files in: found, private where they should be, and archived."""

from __future__ import annotations

from pathlib import Path

from commonplace import Memory
from commonplace.storage.layout import LAYOUTS
from commonplace.testing import FrozenClock


def _write(home: Path, path: str, text: str) -> None:
    (home / path).parent.mkdir(parents=True, exist_ok=True)
    (home / path).write_text(text, encoding="utf-8")


def test_any_file_below_memories_is_found_by_every_agent(tmp_path: Path) -> None:
    for name in ("tea.md", "tea.txt", "deep/tea.xml", "tea"):
        _write(tmp_path, f"memories/{name}", f"Ann drinks rooibos. ({name})\n")
    for agent in ("main", "other"):
        paths = {hit.path for hit in Memory(tmp_path, agent).search("rooibos")}
        assert paths == {"memories/tea.md", "memories/tea.txt", "memories/deep/tea.xml", "memories/tea"}


def test_the_memories_and_the_store_of_an_agent_are_its_own(tmp_path: Path) -> None:
    _write(tmp_path, "agents/main/claude/memories/tea.txt", "Ann drinks rooibos.\n")
    _write(tmp_path, "agents/main/store/users/ann/drink.md", "---\ncreated_at: 2026-01-01T00:00:00Z\n---\n\nrooibos\n")
    paths = {hit.path for hit in Memory(tmp_path).search("rooibos")}
    assert paths == {"agents/main/claude/memories/tea.txt", "agents/main/store/users/ann/drink.md"}
    assert Memory(tmp_path, "other").search("rooibos") == []


def test_hidden_files_below_memories_are_no_pages(tmp_path: Path) -> None:
    _write(tmp_path, "memories/.git/config", "rooibos\n")
    _write(tmp_path, "memories/.hidden.md", "rooibos\n")
    assert Memory(tmp_path).search("rooibos") == []


def test_a_store_key_is_never_mistaken_for_a_fixed_page() -> None:
    place = LAYOUTS["native"].place("agents/main/store/a/HANDOFF.md")
    assert place is not None
    assert (place.kind, place.name) == ("record", "HANDOFF")


def test_memories_travel_in_an_archive(tmp_path: Path, clock: FrozenClock) -> None:
    from commonplace.maintenance.backup import export_file, import_from

    _write(tmp_path / "a", "memories/tea.txt", "Ann drinks rooibos.\n")
    export_file(Memory(tmp_path / "a", clock=clock).home, str(tmp_path / "a.tar"))
    with open(tmp_path / "a.tar", "rb") as file:
        import_from(Memory(tmp_path / "b", clock=clock).home, file)
    assert (tmp_path / "b/memories/tea.txt").read_text() == "Ann drinks rooibos.\n"
