from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.testing import FrozenClock

from ..texts import LINES, texts

IMITATIONS = ("---", "# 2026", "## 09:30", "```", "~~~", "   ```", "<!--", "\\", "\ufeff")
PLAIN_LINES = [line for line in LINES if not line.startswith(IMITATIONS) and line != "````"]


def content(reply: dict[str, Any]) -> str:
    assert reply["success"] is True, reply
    return str(reply["content"])


def test_an_empty_memory_says_so(memory: Memory) -> None:
    assert memory.call("recall") == {"success": True, "content": "No memories found"}


def test_recall_joins_world_memory_and_days(memory: Memory, clock: FrozenClock) -> None:
    memory.call("update_world", {"topic": "systems", "content": "db1 is down\n"})
    memory.call("update_world", {"topic": "People", "content": "Ann"})
    memory.call("reflect", {"content": "# Me\n\nI like tea."})
    memory.call("remember", {"content": "first day"})
    clock.advance(days=1)
    memory.call("remember", {"content": "second day"})
    assert content(memory.call("recall")) == (
        "# World Knowledge\n\n## people\n\nAnn\n\n## systems\n\ndb1 is down\n"
        "\n---\n\n# Your Memory\n\n# Me\n\nI like tea.\n"
        "\n---\n\n# Recent Experiences\n\n# 2026-03-15\n\n## 09:26\n\nsecond day\n"
        "\n# 2026-03-14\n\n## 09:26\n\nfirst day\n"
    )


def test_days_are_calendar_days_and_zero_leaves_them_out(memory: Memory, clock: FrozenClock) -> None:
    for number in range(5):
        memory.call("remember", {"content": f"day {number}"})
        clock.advance(days=2)
    clock.advance(days=-2)
    assert [f"day {n}" in content(memory.call("recall")) for n in range(5)] == [False, False, False, True, True]
    assert "day 3" not in content(memory.call("recall", {"days": 2}))
    assert all(f"day {n}" in content(memory.call("recall", {"days": 10**9})) for n in range(5))
    assert content(memory.call("recall", {"days": 0})) == "No memories found"


def test_where_the_latest_days_are_empty_the_newest_day_is_named(memory: Memory, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "long ago"})
    clock.advance(days=40)
    assert content(memory.call("recall")) == (
        "# Recent Experiences\n\nNothing was remembered in the last 3 days; the newest day is 2026-03-14: "
        'memory_get {"path": "agents/main/memory/daily/2026-03-14.md"}.\n'
    )


@pytest.mark.parametrize("days", [-1, 1.5, "3", True, [1]])
def test_days_that_are_negative_or_no_whole_number_are_errors(memory: Memory, days: Any) -> None:
    reply = memory.call("recall", {"days": days})
    assert reply["success"] is False
    assert "days" in reply["error"]


plain_texts = st.lists(st.sampled_from(PLAIN_LINES), min_size=1).map("\n".join).filter(str.strip)


@given(st.lists(plain_texts, min_size=1, max_size=3))
def test_an_entry_that_imitates_nothing_comes_back_from_recall_exactly(
    tmp_path_factory: pytest.TempPathFactory, entries: list[str]
) -> None:
    memory = Memory(tmp_path_factory.mktemp("home"), clock=FrozenClock())
    for entry in entries:
        assert memory.call("remember", {"content": entry})["success"]
    recalled = content(memory.call("recall"))
    assert all(entry.strip("\n") in recalled for entry in entries)


@given(texts)
def test_what_is_reflected_is_the_page_and_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    home = tmp_path_factory.mktemp("home")
    memory = Memory(home, clock=FrozenClock())
    memory.call("reflect", {"content": text})
    assert (home / "agents/main/memory/MEMORY.md").read_bytes().decode() == text


@pytest.mark.parametrize(("tool", "arguments"), [("remember", {}), ("remember", {"content": " "}), ("reflect", {}), ("update_world", {"topic": "x"}), ("update_world", {"content": "x"}), ("remember", {"content": 3})])  # fmt: skip
def test_missing_arguments_are_errors(memory: Memory, tool: str, arguments: dict[str, Any]) -> None:
    reply = memory.call(tool, arguments)
    assert reply["success"] is False
    assert isinstance(reply["error"], str)


def test_a_topic_never_leaves_the_world_folder_and_names_its_page(memory: Memory, home: Path) -> None:
    for topic in ("../../escape", "Escape", "ESCAPE!!"):
        assert "memory/world/escape.md" in content(memory.call("update_world", {"topic": topic, "content": topic}))
    assert [path.name for path in (home / "memory/world").iterdir()] == ["escape.md"]
    assert memory.call("update_world", {"topic": "?!", "content": "x"})["success"] is False
    assert memory.call("update_world", {"topic": "con", "content": "x"})["success"] is True


def test_the_world_is_shared_and_everything_else_is_not(memory: Memory, home: Path, clock: FrozenClock) -> None:
    memory.call("update_world", {"topic": "sea", "content": "salty"})
    memory.call("reflect", {"content": "mine"})
    memory.call("remember", {"content": "private"})
    text = content(Memory(home, agent="other", clock=clock).call("recall"))
    assert "salty" in text
    assert "mine" not in text
    assert "private" not in text


def test_the_day_is_the_one_of_the_time_zone(home: Path) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text("timezone: Asia/Tokyo\n")
    memory = Memory(home, clock=FrozenClock(datetime(2026, 3, 14, 20, 0, tzinfo=UTC)))
    memory.call("remember", {"content": "breakfast"})
    assert (home / "agents/main/memory/daily/2026-03-15.md").read_text().startswith("# 2026-03-15\n\n## 05:00\n")
    assert memory.call("memory_write", {"key": "k", "content": "v"})["data"]["path"] == "daily/2026-03-15.md"


def test_an_agent_whose_file_has_no_memory_section_has_no_journal(home: Path, clock: FrozenClock) -> None:
    for agent, text in (
        ("with", "spec:\n  memory: {}\n"),
        ("without", "spec:\n  tools: []\n"),
        ("null", "spec:\n  memory:\n"),
    ):
        (home / f"agents/{agent}").mkdir(parents=True)
        (home / f"agents/{agent}/agent.yaml").write_text(text)
    without = Memory(home, agent="without", clock=clock)
    assert "agent.yaml" in without.call("recall")["error"]
    assert "recall" not in [tool["name"] for tool in without.tools("anthropic")]
    assert without.call("memory_write", {"key": "k", "content": "v"})["success"]
    assert Memory(home, agent="with", clock=clock).call("recall")["success"]
    assert Memory(home, agent="null", clock=clock).call("recall")["success"]


def test_the_default_directive_is_written_when_any_agent_has_memory(home: Path, clock: FrozenClock) -> None:
    (home / "agents/without").mkdir(parents=True)
    (home / "agents/without/agent.yaml").write_text("spec:\n  tools: []\n")
    Memory(home, agent="without", clock=clock)
    assert not (home / "directives/memory.md").exists()
    (home / "agents/with").mkdir(parents=True)
    (home / "agents/with/agent.yaml").write_text("spec:\n  memory: {}\n")
    Memory(home, agent="without", clock=clock)
    assert (home / "directives/memory.md").exists()


def test_a_default_directive_that_a_person_deleted_stays_deleted(home: Path, clock: FrozenClock) -> None:
    Memory(home, clock=clock)
    (home / "directives/memory.md").unlink()
    assert "memory_search" not in str(Memory(home, clock=clock).context())
    assert not (home / "directives/memory.md").exists()


def test_the_default_directive_is_written_once_and_never_overwritten(home: Path, clock: FrozenClock) -> None:
    Memory(home, clock=clock)
    page = home / "directives/memory.md"
    assert "auto_stored" in page.read_text()
    page.write_text("My own words.")
    Memory(home, clock=clock).call("remember", {"content": "x"})
    assert page.read_text() == "My own words."


def test_an_entry_written_below_notes_keeps_one_header(memory: Memory, home: Path) -> None:
    memory.call("memory_write", {"key": "k", "content": "v"})
    memory.call("remember", {"content": "one"})
    memory.call("memory_write", {"key": "l", "content": "w"})
    memory.call("remember", {"content": "two"})
    text = (home / "agents/main/memory/daily/2026-03-14.md").read_text()
    assert text.count("# 2026-03-14\n") == 1
    assert text.startswith("# 2026-03-14\n")
    assert memory.call("memory_read", {"key": "l"})["data"]["content"] == "w"


def test_a_page_that_is_not_text_is_named_and_the_rest_recalled(memory: Memory, home: Path) -> None:
    memory.call("remember", {"content": "fine"})
    (home / "memory/world").mkdir(parents=True)
    (home / "memory/world/bad.md").write_bytes(b"\xff")
    reply = memory.call("recall")
    assert "fine" in content(reply)
    assert "bad.md" in reply["warning"]


@pytest.mark.parametrize("name", ["my_topic.md", "My Topic.md", "MY-TOPIC.md"])
def test_a_page_under_another_spelling_is_the_page_of_its_topic(memory: Memory, home: Path, name: str) -> None:
    page = home / "memory/world" / name
    page.parent.mkdir(parents=True)
    page.write_text("By hand.\n")
    answer = memory.call("recall")["content"]
    assert "By hand." in answer
    reply = memory.call("update_world", {"topic": "My topic", "content": "By hand.\nBy tool.\n"})
    assert f"memory/world/{name}" in reply["content"]
    assert [each.name for each in page.parent.iterdir()] == [name]
    assert page.read_text() == "By hand.\nBy tool.\n"
    answer = memory.call("memory_get", {"path": "memory/world/my-topic.md"})
    assert (answer["path"], answer["text"]) == (f"memory/world/{name}", "By hand.\nBy tool.")


def test_of_two_spellings_of_a_topic_our_own_is_its_page(memory: Memory, home: Path) -> None:
    (home / "memory/world").mkdir(parents=True)
    for name in ("my_topic", "my-topic"):
        (home / f"memory/world/{name}.md").write_text(f"{name}\n")
    memory.call("update_world", {"topic": "my_topic", "content": "New.\n"})
    assert (home / "memory/world/my-topic.md").read_text() == "New.\n"
    assert memory.call("memory_get", {"path": "memory/world/my_topic.md"})["text"] == "my_topic"


def test_folders_that_are_links_are_named_where_they_would_be_read(memory: Memory, home: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/people.md").write_text("Ann.\n")
    (home / "memory").mkdir(parents=True)
    (home / "memory/world").symlink_to(tmp_path / "elsewhere")
    reply = memory.call("recall")
    assert reply["content"] == "No memories found"
    assert reply["warning"] == (
        "memory/world is a link, and links are not followed: put the folder itself in its place"
    )
    (home / "agents/main/memory").mkdir(parents=True)
    (home / "agents/main/memory/daily").symlink_to(tmp_path / "elsewhere")
    assert "agents/main/memory/daily is a link" in memory.call("recall")["warning"]


def test_a_new_topic_is_created_and_one_that_is_there_rewritten(memory: Memory) -> None:
    new = memory.call("update_world", {"topic": "systems", "content": "db1\n"})
    again = memory.call("update_world", {"topic": "Systems", "content": "db2\n"})
    assert content(new) == "Created the world topic systems in memory/world/systems.md."
    assert content(again) == "Rewrote the world topic systems in memory/world/systems.md."


@pytest.mark.parametrize(("tool", "arguments"), [("remember", {}), ("update_world", {"topic": "systems"})])
@pytest.mark.parametrize("blank", ["", " \n"])
def test_an_empty_content_is_refused_as_empty_and_writes_nothing(
    memory: Memory, home: Path, tool: str, arguments: dict[str, Any], blank: str
) -> None:
    reply = memory.call(tool, {**arguments, "content": blank})
    assert reply == {"success": False, "error": "content is empty: give the text to store"}
    assert not (home / "memory/world/systems.md").exists()
    assert not (home / "agents/main/memory/daily").exists()


def test_the_journal_says_when_to_use_its_tools(memory: Memory) -> None:
    descriptions = {tool["name"]: tool["description"] for tool in memory.tools("mcp", toolsets=["journal"])}
    assert "start of a conversation" in descriptions["recall"]
    assert "during a conversation" in descriptions["remember"]
    assert "end of a conversation" in descriptions["reflect"]


def test_recall_names_what_it_leaves_out_with_its_size_and_how_to_read_it(memory: Memory) -> None:
    memory.call("reflect", {"content": "I am curated."})
    memory.call("remember", {"content": "It happened today."})
    for number in range(5):
        memory.call("update_world", {"topic": f"topic {number}", "content": "a fact\n" * 3000})
    content = memory.call("recall")["content"]
    assert len(content) <= memory.home.settings.recall_characters == 24_000
    assert "I am curated." in content
    assert "It happened today." in content
    for number in range(5):
        assert f'memory_get {{"path": "memory/world/topic-{number}.md"' in content
    assert "21,000 characters" in content
