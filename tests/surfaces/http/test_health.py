"""What is known of recalls: counted where memory answers, never in the way of an answer, and gone with the index."""

from __future__ import annotations

from pathlib import Path

from commonplace import Memory
from commonplace.index import recalls as record
from commonplace.maintenance.forget import Selection, forget
from commonplace.surfaces.http.health import count_recalls
from commonplace.testing import FrozenClock

FILES = record.log_files("main")


def most(memory: Memory) -> dict[str, int]:
    return {each["path"]: each["times"] for each in count_recalls(memory.home)["most"]}


def test_pages_that_answer_are_counted_and_others_never_were(memory: Memory, clock: FrozenClock) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.call("update_world", {"topic": "chess", "content": "Bob plays chess."})
    assert count_recalls(memory.home) == {"most": [], "never": [], "since": ""}
    memory.search("tea", limit=1)
    memory.call("memory_search", {"query": "green tea", "maxResults": 1})
    found = count_recalls(memory.home)
    assert most(memory) == {"memory/world/tea.md": 2}
    assert [each["path"] for each in found["never"]] == ["memory/world/chess.md"]
    assert found["since"] <= found["most"][0]["last"]
    assert found["most"][0]["title"] == "tea"


def test_a_recall_and_a_context_count_what_they_show(memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.search("tea")  # from then on there is an index to keep it beside
    memory.call("reflect", {"content": "curated"})
    before = most(memory)
    memory.call("recall", {})
    memory.context()
    assert most(memory)["memory/world/tea.md"] == before["memory/world/tea.md"] + 1
    assert most(memory)["agents/main/memory/MEMORY.md"] == 2


def test_agents_are_counted_apart(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    Memory(home, "bob").search("tea")
    assert most(memory) == {}


def test_what_others_recall_pushes_nothing_out(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.search("tea")
    page = "memory/world/" + 1000 * "x" + ".md"
    for _ in range(5_000):
        record.log_recall(str(home / ".index"), "bob", [page], "2026-03-14T00:00:00.000000Z")
    assert most(memory) == {"memory/world/tea.md": 1}


def test_whoever_only_looks_is_not_counted(memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    with record.without_recalls():
        memory.search("tea")
    assert most(memory) == {}


def test_a_record_that_cannot_be_written_fails_no_answer(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.search("tea")
    for name in FILES:
        (home / ".index" / name).unlink(missing_ok=True)
        (home / ".index" / name).mkdir()
    assert memory.search("tea")
    assert most(memory) == {}


def test_a_link_is_not_written_through(home: Path, memory: Memory, tmp_path: Path) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.search("tea")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("theirs")
    (home / ".index" / FILES[0]).unlink()
    (home / ".index" / FILES[0]).symlink_to(elsewhere)
    assert memory.search("tea")
    assert elsewhere.read_text() == "theirs"


def test_a_line_that_nobody_understands_is_passed_over(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.search("tea")
    with (home / ".index" / FILES[0]).open("ab") as file:
        file.write(b'{"at": "2026", "agent": "main"}\n[]\n\xff\xfe\n{"at": "x", "pa')
    assert most(memory) == {"memory/world/tea.md": 1}


def test_the_record_does_not_grow_without_end(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann prefers green tea."})
    memory.search("tea")
    line = (home / ".index" / FILES[0]).read_bytes()
    folder = str(home / ".index")
    (home / ".index" / FILES[0]).write_bytes(line * (2_000_001 // len(line)))
    for _ in range(3):
        record.log_recall(folder, "main", ["memory/world/tea.md"], "2026-03-14T00:00:00.000000Z")
    assert sum((home / ".index" / name).stat().st_size for name in FILES) < 2 * 2_100_000
    assert (home / ".index" / FILES[1]).exists()


def test_what_is_forgotten_is_not_named_here_any_more(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "wombat", "content": "The wombat sleeps."})
    memory.search("wombat")
    forget(memory.home, Selection(page="memory/world/wombat.md"))
    assert not [path for path in home.rglob("*") if path.is_file() and b"wombat" in path.read_bytes()]
