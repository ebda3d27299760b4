"""`blame`: the lines of a page with their authors, for those who may see the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.errors import NotFound, PageNotFound
from commonplace.home import Home
from commonplace.maintenance.blame import blame_page
from commonplace.storage.history import coming_from
from commonplace.testing import FrozenClock

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
