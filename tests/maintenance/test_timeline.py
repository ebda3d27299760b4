"""Take changes back, and pages back to what they were at a time: what others wrote stays, and it can be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.errors import NotFound, PageNotFound
from commonplace.home import Home
from commonplace.maintenance.timeline import (
    blame_page,
    include_same_calls,
    list_changes,
    read_as_of,
    restore,
    undo,
)
from commonplace.storage.history import Author, Change, coming_from, write_as
from commonplace.testing import FrozenClock


@pytest.fixture
def home_handle(home: Path, clock: FrozenClock) -> Iterator[Home]:
    opened = Home(str(home), clock=clock)
    yield opened
    opened.close()


def last_change(home: Home, path: str = "a.md") -> list[Change]:
    return home.storage.history.changes(path)[-1:]


def text_of(home: Home, path: str = "a.md") -> str:
    return home.storage.pages.read(path).text


def test_a_change_is_taken_back_and_that_again(home_handle: Home) -> None:
    home_handle.writer.write("a.md", "one\n")
    home_handle.writer.write("a.md", "two\n")
    assert undo(home_handle, last_change(home_handle))[0].problem == ""
    assert text_of(home_handle) == "one\n"
    undo(home_handle, last_change(home_handle))
    assert text_of(home_handle) == "two\n"


def test_taking_back_what_made_a_page_removes_it_and_what_removed_it_brings_it_back(home_handle: Home) -> None:
    home_handle.writer.write("a.md", "one\n")
    undo(home_handle, last_change(home_handle))
    assert home_handle.storage.pages.list("") == []
    undo(home_handle, last_change(home_handle))
    assert text_of(home_handle) == "one\n"


def test_only_what_a_change_did_is_taken_back(home_handle: Home) -> None:
    home_handle.writer.write("a.md", "one\ntwo\nthree\nfour\n")
    home_handle.writer.edit("a.md", lambda text: text.replace("one", "ONE"))
    changed = last_change(home_handle)
    home_handle.writer.append("a.md", "five\n")
    undo(home_handle, changed)
    assert text_of(home_handle) == "one\ntwo\nthree\nfour\nfive\n"


def test_a_change_that_others_built_on_is_not_undone_and_the_reply_says_so(home_handle: Home) -> None:
    home_handle.writer.write("a.md", "one\n")
    home_handle.writer.write("a.md", "two\n")
    changed = last_change(home_handle)
    home_handle.writer.write("a.md", "three\n")
    (undone,) = undo(home_handle, changed)
    assert "same place" in undone.problem
    assert text_of(home_handle) == "three\n"


def test_an_entry_of_a_day_is_taken_back_though_others_came_after_it(home_handle: Home, home: Path) -> None:
    memory = Memory(home, clock=home_handle.clock)
    for text in ("Alpha ships on Monday.", "The budget is 5k.", "Carl joined."):
        memory.call("remember", {"content": text})
    entries = [change for change in home_handle.storage.history.changes() if "/daily/" in change.path]
    assert undo(home_handle, entries[1:2])[0].problem == ""
    text = text_of(home_handle, entries[1].path)
    assert [line for line in text.splitlines() if line and line[0] != "#"] == ["Alpha ships on Monday.", "Carl joined."]
    assert text.count("## ") == 2


@pytest.mark.parametrize("before", ["", "---\ntags: [trip]\n---\n", "# 2026-03-14\n\n", "A line by hand.\n"])
def test_the_first_entry_of_a_day_is_taken_back_though_others_came_after_it(
    home_handle: Home, home: Path, before: str
) -> None:
    memory = Memory(home, clock=home_handle.clock)
    path = "agents/main/memory/daily/2026-03-14.md"
    if before:
        home_handle.writer.write(path, before)
    for text in ("Alpha ships on Monday.", "The budget is 5k.", "Carl joined."):
        memory.call("remember", {"content": text})
    whole = text_of(home_handle, path)
    (first,) = [change for change in home_handle.storage.history.changes(path) if change.tool == "remember"][:1]
    assert undo(home_handle, [first])[0].problem == ""
    assert text_of(home_handle, path) == whole.replace("## 09:26\n\nAlpha ships on Monday.\n\n", "")
    assert undo(home_handle, last_change(home_handle, path))[0].problem == ""
    assert text_of(home_handle, path) == whole


def test_a_day_whose_entries_are_all_taken_back_is_gone(home_handle: Home, home: Path) -> None:
    memory = Memory(home, clock=home_handle.clock)
    for text in ("Alpha ships on Monday.", "The budget is 5k."):
        memory.call("remember", {"content": text})
    for entry in home_handle.storage.history.changes("agents/main/memory/daily/2026-03-14.md"):
        assert undo(home_handle, [entry])[0].problem == ""
    assert memory.call("recall")["content"] == "No memories found"


def test_the_first_note_of_a_page_is_taken_back_though_others_came_after_it(home_handle: Home) -> None:
    home_handle.writer.write("a.md", "### one\n\n1\n\n")
    changed = last_change(home_handle)
    home_handle.writer.append("a.md", "### two\n\n2\n\n")
    assert undo(home_handle, changed)[0].problem == ""
    assert text_of(home_handle) == "### two\n\n2\n\n"


def test_an_addition_that_others_changed_since_is_not_taken_back(home_handle: Home) -> None:
    home_handle.writer.write("a.md", "one\n")
    home_handle.writer.append("a.md", "five\n")
    changed = last_change(home_handle)
    home_handle.writer.write("a.md", "one\ntwenty-five\nsix\n")
    (undone,) = undo(home_handle, changed)
    assert "same place" in undone.problem
    assert text_of(home_handle) == "one\ntwenty-five\nsix\n"


def test_all_that_somebody_did_is_taken_back_around_what_others_did(home_handle: Home) -> None:
    pages = home_handle.storage.pages
    with write_as(Author("remember", "good")):
        pages.write("a.md", "".join(f"{number}\n" for number in range(10)))
    with write_as(Author("remember", "bad")):
        pages.edit("a.md", lambda text: text.replace("1\n", "bad 1\n"))
        pages.edit("a.md", lambda text: text.replace("3\n", "bad 3\n"))
    with write_as(Author("remember", "good")):
        pages.edit("a.md", lambda text: text.replace("8\n", "good 8\n"))
    with write_as(Author("remember", "bad")):
        pages.edit("a.md", lambda text: text.replace("5\n", "bad 5\n"))
        pages.write("b.md", "bad page\n")
    changes = home_handle.storage.history.changes()
    undone = undo(home_handle, [change for change in changes if change.agent == "bad"])
    assert [each.problem for each in undone] == ["", ""]
    assert text_of(home_handle) == "".join(f"{number}\n" for number in range(10)).replace("8", "good 8")
    assert pages.list("") == ["a.md"]


def test_a_page_that_is_gone_is_not_changed_and_the_way_out_is_named(home_handle: Home) -> None:
    home_handle.writer.write("a.md", "one\n")
    change = last_change(home_handle)
    home_handle.writer.remove("a.md")
    (undone,) = undo(home_handle, change)
    assert "is gone" in undone.problem
    assert "restore" in undone.problem


def test_a_page_is_read_and_written_as_it_was_at_a_time(home_handle: Home, clock: FrozenClock) -> None:
    home_handle.writer.write("a.md", "morning\n")
    clock.advance(hours=2)
    home_handle.writer.write("a.md", "noon\n")
    history = home_handle.storage.history
    assert read_as_of(history, "a.md", "2026-03-14T10") == b"morning\n"
    assert read_as_of(history, "a.md", "2026-03-14T12") == b"noon\n"
    assert read_as_of(history, "a.md", "2026-03-13") is None
    with pytest.raises(NotFound, match="does not know"):
        read_as_of(history, "b.md", "2026-03-14")
    assert restore(home_handle, "a.md", "2026-03-14T10:00")
    assert not restore(home_handle, "a.md", "2026-03-14T10:00")
    assert restore(home_handle, "a.md", "2026-03-13")
    assert home_handle.storage.pages.list("") == []


def test_an_undo_names_its_author_and_is_searched_at_once(home_handle: Home) -> None:
    home_handle.writer.write("memory/a.md", "Green tea.\n")
    home_handle.writer.write("memory/a.md", "Black coffee.\n")
    undo(home_handle, last_change(home_handle, "memory/a.md"))
    (change,) = last_change(home_handle, "memory/a.md")
    assert (change.tool, change.agent) == ("undo", "main")
    assert change.why.startswith("undoes ")
    assert home_handle.index.query(lambda view: "memory/a.md" in view.index.stamps())


PAGE = "memory/world/tea.md"


def test_every_line_names_who_wrote_it_an_agent_an_import_a_person_or_another_program(
    home: Path, clock: FrozenClock
) -> None:
    with Memory(home, "ann", clock=clock, session="s-1") as memory:
        memory.call("update_world", {"topic": "tea", "content": "Green tea.\n"})
        writer = memory.home.writer
        with coming_from("import:obsidian"), writer.call("import"):
            writer.append(PAGE, "Black tea.\n")
        with coming_from("person"), writer.call("edit"):
            writer.append(PAGE, "White tea.\n")
        page = home / PAGE
        page.write_text(page.read_text() + "Red tea.\n")
        lines = {line.text: line for line in blame_page(memory.home, PAGE)}
    assert lines["Green tea."].author == "ann (update_world)"
    assert lines["Green tea."].session == "s-1"
    assert lines["Black tea."].author == "import (obsidian)"
    assert lines["White tea."].author == "a person (edit)"
    assert lines["Red tea."].author == "outside"
    assert all(line.change and line.at for line in lines.values())


def test_another_agents_page_looks_like_one_that_does_not_exist(home: Path) -> None:
    with Memory(home, "ann") as ann:
        ann.call("reflect", {"content": "Mine."})
        path = ann.home.layout.curated_page("ann")
    with Memory(home, "ben") as ben:
        with pytest.raises(NotFound) as hidden:
            blame_page(ben.home, path)
        with pytest.raises(NotFound) as absent:
            blame_page(ben.home, path.replace("ann", "zoe"))
        assert str(hidden.value).replace("ann", "zoe") == str(absent.value)
        assert [line.text for line in blame_page(ben.home, path, everyone=True)] == ["Mine."]


def test_a_page_that_is_renamed_by_hand_keeps_its_authors_and_is_renamed_back_as_one(home: Path) -> None:
    memory = Memory(home, agent="ann")
    for content in ("Kim leads payments.", "Kim leads payments.\nBo owns search."):
        memory.call("update_world", {"topic": "people", "content": content})
    world = home / "memory/world"
    (world / "people.md").rename(world / "team.md")
    lines = blame_page(memory.home, "memory/world/team.md")
    assert [(line.text, line.author) for line in lines] == [
        ("Kim leads payments.", "ann (update_world)"), ("Bo owns search.", "ann (update_world)")
    ]  # fmt: skip
    assert [hit.author for hit in memory.search("who leads payments?")] == ["ann (update_world)"]
    changes = list_changes(memory.home)[-2:]
    assert {change.why for change in changes} == {
        "renamed from memory/world/people.md", "renamed to memory/world/team.md"
    }  # fmt: skip
    undo(memory.home, include_same_calls(memory.home, changes[-1:]))
    assert [path.name for path in world.iterdir()] == ["people.md"]


def test_a_change_is_undone_where_the_page_is_after_it_was_renamed_by_hand(home: Path) -> None:
    memory = Memory(home)
    memory.call("update_world", {"topic": "people", "content": "Ann: red\nBob: blue"})
    memory.call("recall")
    memory.call("update_world", {"topic": "people", "content": "Ann: red\nBob: green"})
    pages = home / "memory/world"
    for old, new in (("people.md", "team.md"), ("team.md", "crew.md")):
        (pages / old).rename(pages / new)
        list_changes(memory.home)
    changed = [change for change in list_changes(memory.home) if change.tool == "update_world"]
    (done,) = undo(memory.home, changed[-1:])
    assert (done.path, done.problem) == ("memory/world/crew.md", "")
    assert (pages / "crew.md").read_text().split("\n")[:2] == ["Ann: red", "Bob: blue"]
    assert [page.name for page in pages.iterdir()] == ["crew.md"]


def test_lines_that_did_not_change_keep_their_authors_though_the_page_was_renamed_and_edited(home: Path) -> None:
    memory = Memory(home, agent="ann")
    facts = ["Kim leads payments.", "Bo owns search.", "Di runs the shop."]
    memory.call("update_world", {"topic": "people", "content": "\n".join(facts)})
    world = home / "memory/world"
    (world / "people.md").rename(world / "team.md")
    (world / "team.md").write_text("\n".join([facts[0], "Bo owns maps.", facts[2]]) + "\n")
    memory.search("anything")
    assert [(line.text, line.author) for line in blame_page(memory.home, "memory/world/team.md")] == [
        (facts[0], "ann (update_world)"), ("Bo owns maps.", "outside"), (facts[2], "ann (update_world)")
    ]  # fmt: skip
    moved, edited = (change for change in list_changes(memory.home) if change.path.endswith("team.md"))
    assert (moved.why, edited.why) == ("renamed from memory/world/people.md", "")
    undo(memory.home, [edited])
    assert (world / "team.md").read_text().split("\n")[:3] == facts


def test_a_rename_that_may_be_of_either_of_two_pages_is_none(home: Path) -> None:
    memory = Memory(home, agent="ann")
    for topic in ("one", "two"):
        memory.call("update_world", {"topic": topic, "content": f"Tea at five.\nCake at six.\nRest at {topic}."})
    world = home / "memory/world"
    (world / "one.md").unlink()
    (world / "two.md").rename(world / "three.md")
    (world / "three.md").write_text("Tea at five.\nCake at six.\nRest at nine.\n")
    memory.search("anything")
    assert {line.author for line in blame_page(memory.home, "memory/world/three.md")} == {"outside"}


def test_a_new_page_with_few_of_the_lines_of_one_that_is_gone_is_no_rename(home: Path) -> None:
    memory = Memory(home, agent="ann")
    memory.call("update_world", {"topic": "people", "content": "# People\n\nKim leads payments.\nBo owns search."})
    world = home / "memory/world"
    (world / "people.md").rename(world / "plants.md")
    (world / "plants.md").write_text("# People\n\nKim leads payments.\nFern.\nMoss.\n")
    memory.search("anything")
    assert {line.author for line in blame_page(memory.home, "memory/world/plants.md")} == {"outside"}


def test_a_copy_by_hand_is_no_rename(home: Path) -> None:
    memory = Memory(home)
    memory.call("update_world", {"topic": "people", "content": "Kim leads payments."})
    (home / "memory/world/team.md").write_bytes((home / "memory/world/people.md").read_bytes())
    assert [line.author for line in blame_page(memory.home, "memory/world/team.md")] == ["outside"]


def test_a_page_that_was_removed_has_no_lines_to_blame(home: Path) -> None:
    opened = Home(str(home))
    opened.writer.write(PAGE, "tea\n")
    opened.writer.remove(PAGE)
    with pytest.raises(PageNotFound):
        blame_page(opened, PAGE)
    opened.close()


def test_a_transcript_is_shown_as_it_was_said_without_secrets(home: Path) -> None:
    opened = Home(str(home))
    path = "agents/main/sessions/s.jsonl"
    secret = "sk-ant-api03-" + "a1B2" * 20
    opened.writer.write(path, f'{{"role": "user", "content": "the key is {secret}"}}\n')
    (line,) = blame_page(opened, path)
    assert line.text.startswith("user: the key is")
    assert secret not in line.text
    opened.close()
