"""A search as of a day finds what memory held at its end: in the words of then, with what was removed since."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from commonplace import InvalidArgument, Memory
from commonplace.maintenance.forget import Selection, forget
from commonplace.storage.history import coming_from
from commonplace.surfaces.cli import cli
from commonplace.testing import FrozenClock

FEBRUARY = datetime(2026, 2, 1, 9, tzinfo=UTC)
MARCH = datetime(2026, 3, 10, 9, tzinfo=UTC)
BEFORE, BETWEEN, AFTER = "2026-01-15", "2026-02-20", "2026-03-10"


@pytest.fixture(params=["folder", "in memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty memory."""
    return str(tmp_path / "home") if request.param == "folder" else f"memory://{tmp_path}"


@pytest.fixture
def memory(place: str, clock: FrozenClock) -> Memory:
    clock.now = FEBRUARY
    return Memory(place, clock=clock)


def texts(memory: Memory, query: str, as_of: str | None = None, **filters: object) -> list[str]:
    return [hit.text for hit in memory.search(query, as_of=as_of, **filters)]


def test_a_page_is_searched_in_the_words_it_had(memory: Memory, clock: FrozenClock) -> None:
    memory.call("update_world", {"topic": "deploy", "content": "The deploy port is 8080."})
    clock.now = MARCH
    memory.call("update_world", {"topic": "deploy", "content": "The deploy port is 9090."})
    for mode in ("keyword", "hybrid"):
        assert texts(memory, "deploy port", BEFORE, mode=mode) == []
        assert texts(memory, "deploy port", BETWEEN, mode=mode) == ["The deploy port is 8080."]
        assert texts(memory, "deploy port", AFTER, mode=mode) == ["The deploy port is 9090."]
        assert texts(memory, "deploy port", mode=mode) == ["The deploy port is 9090."]


def test_what_was_removed_comes_back_and_what_came_later_is_not_there(memory: Memory, clock: FrozenClock) -> None:
    memory.call("update_world", {"topic": "lair", "content": "The lair is in Zanzibar."})
    clock.now = MARCH
    memory.home.writer.remove("memory/world/lair.md")
    memory.call("update_world", {"topic": "cave", "content": "The cave is in Zanzibar, too."})
    assert texts(memory, "Zanzibar") == ["The cave is in Zanzibar, too."]
    assert texts(memory, "Zanzibar", BETWEEN) == ["The lair is in Zanzibar."]
    assert texts(memory, "Zanzibar", AFTER) == ["The cave is in Zanzibar, too."]
    assert texts(memory, "Zanzibar", BEFORE) == []


def test_notes_records_and_skills_are_those_of_then(memory: Memory, clock: FrozenClock) -> None:
    def write(colour: str) -> None:
        memory.call("memory_write", {"key": "kettle", "content": f"the kettle is {colour}", "tags": [colour]})
        memory.call("MemoryTool", {"op": "setGlobal", "key": "mug", "value": f"the mug is {colour}"})
        memory.call("MemoryTool", {"op": "createSkill", "name": "brew", "description": f"brews {colour} tea"})
        memory.call("MemoryTool", {"op": "updateSkillData", "name": "brew", "data": {"leaf": f"{colour} leaf"}})

    write("green")
    clock.now = MARCH
    write("black")
    then = memory.search("kettle mug tea leaf", limit=50, as_of=BETWEEN)
    assert {hit.key for hit in then} >= {"kettle", "mug", "brew"}
    assert not any("black" in hit.text for hit in then)
    assert [hit.key for hit in memory.search("kettle", tags="green", as_of=BETWEEN)] == ["kettle"]
    assert memory.search("kettle", tags="black", as_of=BETWEEN) == []
    assert [hit.key for hit in memory.search("green leaf", scope="skill", as_of=BETWEEN)] == ["brew"]


def test_a_day_ends_in_the_time_zone_of_the_home(place: str, clock: FrozenClock) -> None:
    clock.now = FEBRUARY
    with Memory(place, clock=clock) as first:
        first.home.storage.pages.write("commonplace.yaml", "timezone: Asia/Tokyo\n")
    clock.now = datetime(2026, 2, 20, 16, tzinfo=UTC)  # the 21st in Tokyo
    with Memory(place, clock=clock) as memory:
        memory.call("update_world", {"topic": "moon", "content": "The moon was full."})
        assert texts(memory, "moon", "2026-02-20") == []
        assert texts(memory, "moon", "2026-02-21") == ["The moon was full."]


def test_a_hit_says_as_of_when_it_is_cited_and_who_had_written_it(memory: Memory, clock: FrozenClock) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Tea is at four."})
    clock.now = MARCH
    with coming_from("person"), memory.home.writer.call("write"):
        memory.home.writer.write("memory/world/tea.md", "Tea is served.\n\nTea is at five.\n")
    (hit,) = memory.search("when is tea", as_of=BETWEEN)
    assert hit.citation == f"memory/world/tea.md#L1-L1@{BETWEEN}"
    assert hit.author == "main (update_world)"
    assert memory.search("when is tea")[0].citation == "memory/world/tea.md#L1-L3"
    row = memory.call("memory_search", {"query": "tea", "as_of": BETWEEN})["results"][0]
    assert (row["text"], row["as_of"]) == ("Tea is at four.", BETWEEN)
    read = memory.call("memory_get", {"path": row["path"], "as_of": row["as_of"]})
    assert read["text"] == "Tea is at four."
    assert [each.text for each in memory.search("tea", as_of=AFTER, author="person")] != []
    assert memory.search("tea", as_of=BETWEEN, author="person") == []


def test_a_day_is_written_as_in_other_filters_and_anything_else_is_an_error(memory: Memory, clock: FrozenClock) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Tea is at four."})
    clock.now = MARCH
    memory.call("update_world", {"topic": "tea", "content": "Tea is at five."})
    for day in ("2026-02", "last month", datetime(2026, 2, 3, tzinfo=UTC).date()):
        assert [hit.text for hit in memory.search("tea", as_of=day)] == ["Tea is at four."]
    for day in ("2026", "2999-01-01", "today"):  # later than now: as it is
        assert texts(memory, "tea", day) == ["Tea is at five."]
    assert texts(memory, "tea", "0001-01-01") == []
    with pytest.raises(InvalidArgument, match="as_of: 'soon' is not a date"):
        memory.search("tea", as_of="soon")


def test_other_agents_pages_of_then_are_as_hidden_as_those_of_now(place: str, clock: FrozenClock) -> None:
    clock.now = FEBRUARY
    with Memory(place, "ann", clock=clock) as ann, Memory(place, "bob", clock=clock) as bob:
        ann.call("remember", {"content": "The kettle is blue."})
        bob.call("remember", {"content": "The kettle is stolen."})
        clock.now = MARCH
        for memory in (ann, bob):
            path = memory.search("kettle")[0].path
            memory.home.writer.remove(path)
        assert ["blue" in text for text in texts(ann, "kettle", BETWEEN)] == [True]
        assert ["stolen" in text for text in texts(bob, "kettle", BETWEEN)] == [True]
        owner = ann.home.visibility.owner()
        everyone = ann.home.search("kettle", viewer=owner, filters=ann.home.parse_filters(as_of=BETWEEN))
        assert len(everyone.hits) == 2


def test_forgotten_text_is_not_found_as_of_any_day(memory: Memory, clock: FrozenClock) -> None:
    memory.call("memory_write", {"key": "gate", "content": "the gate code is marzipan"})
    clock.now = MARCH
    memory.call("memory_write", {"key": "gate", "content": "the gate has no code"})
    assert len(memory.search("marzipan", as_of=BETWEEN, mode="keyword")) == 1
    forget(memory.home, Selection(key="gate"))
    for day in (BETWEEN, AFTER):
        assert memory.search("marzipan gate", as_of=day, mode="keyword") == []


def test_where_history_does_not_reach_back_the_dates_in_pages_tell(memory: Memory, clock: FrozenClock) -> None:
    clock.now = MARCH
    day = "# 2026-02-{}\n\n## 10:00\n\n{}\n"
    with coming_from("import:archive"), memory.home.writer.call("import"):
        memory.home.writer.write("agents/main/memory/daily/2026-02-03.md", day.format("03", "Bought a kite."))
        memory.home.writer.write("agents/main/memory/daily/2026-02-25.md", day.format("25", "Lost the kite."))
        memory.home.writer.write("memory/world/kite.md", "The kite is red.\n")
    memory.call("remember", {"content": "Found the kite."})
    hits = memory.home.search("kite", filters=memory.home.parse_filters(as_of=BETWEEN))
    assert ["Bought" in hit.text for hit in hits.hits] == [True]
    assert any("history does not know what 3 pages were on 2026-02-20" in warning for warning in hits.warnings)
    clock.advance(hours=1)
    edited = day.format("03", "Bought a box kite.") + "\n## 11:00\n\nFlew it.\n"
    memory.home.writer.write("agents/main/memory/daily/2026-02-03.md", edited)
    assert ["Bought a kite" in text for text in texts(memory, "kite", BETWEEN)] == [True]


def test_turns_of_a_session_are_found_up_to_the_day(memory: Memory, clock: FrozenClock) -> None:
    memory.home.storage.pages.write("commonplace.yaml", "memorySearch:\n  indexSessions: true\n")
    turns = [
        {"role": "user", "content": "The kite is red.", "timestamp": "2026-02-03T10:00:00Z"},
        {"role": "user", "content": "The kite is blue.", "timestamp": "2026-03-03T10:00:00Z"},
    ]
    clock.now = MARCH
    with Memory(memory.home.address, clock=clock) as again:
        again.home.storage.pages.write("agents/main/sessions/talk.jsonl", "\n".join(map(json.dumps, turns)) + "\n")
        assert ["red" in text for text in texts(again, "kite", BETWEEN)] == [True]


def test_pages_that_an_editor_changed_or_removed_are_known_as_they_were(home: Path, clock: FrozenClock) -> None:
    clock.now = FEBRUARY
    memory = Memory(home, clock=clock)
    page = home / "memory/world/kite.md"
    memory.call("update_world", {"topic": "kite", "content": "The kite is red."})
    clock.now = MARCH
    page.write_text("The kite is blue.\n")
    assert texts(memory, "kite", BETWEEN) == ["The kite is red."]
    page.unlink()
    assert texts(memory, "kite", BETWEEN) == ["The kite is red."]
    assert texts(memory, "kite") == []


def test_the_command_line_searches_and_shows_what_was_there(home: Path, clock: FrozenClock) -> None:
    clock.now = FEBRUARY
    with Memory(home, clock=clock) as memory:
        memory.call("update_world", {"topic": "kite", "content": "A toy.\n\nThe kite is red."})
        clock.now = MARCH
        memory.call("update_world", {"topic": "kite", "content": "The kite is blue."})

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(cli, ["--home", str(home), *arguments])
        assert result.exit_code == 0, result.output
        return result.output

    output = run("search", "--as-of", BETWEEN, "kite")
    citation = output.split()[0]
    assert citation == f"memory/world/kite.md#L1-L3@{BETWEEN}"
    assert "red" in output
    assert run("show", citation) == "A toy.\n\nThe kite is red.\n"
    assert run("show", f"memory/world/kite.md#L3@{BETWEEN}") == "The kite is red.\n"
    wrong = CliRunner().invoke(cli, ["--home", str(home), "search", "--as-of", "soon", "kite"])
    assert isinstance(wrong.exception, InvalidArgument)


def test_a_fact_is_not_replaced_by_what_came_later(memory: Memory, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "The deploy port is 8080."})
    clock.now = MARCH
    memory.call("remember", {"content": "The deploy port is 9090."})
    newer, older = memory.search("what is the deploy port")
    assert "9090" in newer.text
    assert older.superseded_by
    (then,) = memory.search("what is the deploy port", as_of=BETWEEN)
    assert "8080" in then.text
    assert then.superseded_by is None
    assert [hit.as_of for hit in memory.search("what is the deploy port", as_of=AFTER)] == [AFTER, AFTER]


def test_a_search_as_of_a_moment_finds_what_was_there_then(memory: Memory, clock: FrozenClock) -> None:
    page = {"topic": "tea", "content": "Tea is at four.\n"}
    memory.call("update_world", page)
    clock.advance(hours=3)
    memory.call("update_world", {**page, "content": "Tea is at five.\n"})
    assert texts(memory, "when is tea", "2 hours ago") == ["Tea is at four."]
    (hit,) = memory.search("when is tea", as_of="1 hour ago")
    assert hit.text == "Tea is at four."
    read = memory.call("memory_get", {"path": hit.path, "as_of": hit.as_of})
    assert read["text"] == "Tea is at four."
    assert texts(memory, "when is tea", "now") == ["Tea is at five."]


@pytest.mark.parametrize("when", ["2026-03-01T25:00", "", "  "])
def test_a_time_that_does_not_exist_is_refused(memory: Memory, when: str) -> None:
    with pytest.raises(InvalidArgument, match=r"is not a time|as_of is blank"):
        memory.search("tea", as_of=when)
    result = CliRunner().invoke(cli, ["--home", str(memory.home.root), "search", "tea", "--as-of", when])
    assert result.exit_code, result.output
