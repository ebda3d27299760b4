"""A home and what is imported into it: they stay apart, however they lie in each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.errors import InvalidArgument
from commonplace.importers import open_in_place

from .sources import put, run_import, whys


def test_a_folder_that_holds_the_home_is_brought_without_it(tmp_path: Path) -> None:
    home = tmp_path / "notes/memory-of-mine"
    Memory(home).call("remember", {"content": "Only mine."})
    put(tmp_path, "notes/tea.md", "Green.")
    done = run_import(home, tmp_path / "notes", "markdown")
    assert done.added == ("memory/notes/tea.md",)
    assert whys(done) == {"memory-of-mine": "is the target memory itself, and is left out"}
    assert run_import(home, tmp_path / "notes", "markdown").added == ()


@pytest.mark.parametrize("below", ["", "memory", "agents/main", ".history"])
def test_no_part_of_a_home_is_brought_into_itself(home: Path, below: str) -> None:
    Memory(home).call("remember", {"content": "Only mine."})
    put(home, "memory/tea.md", "Green.")
    with pytest.raises(InvalidArgument, match="part of the target memory: name a folder"):
        run_import(home, home / below, "markdown")


def test_a_folder_that_lies_in_a_home_and_is_no_memory_may_come(home: Path) -> None:
    Memory(home).call("remember", {"content": "Only mine."})
    put(home, "inbox/tea.md", "Green.")
    assert run_import(home, home / "inbox", "markdown").added == ("memory/inbox/tea.md",)


def test_a_home_that_opened_in_place_takes_what_lies_around_it(tmp_path: Path) -> None:
    state = tmp_path / ".openclaw"
    put(state, "openclaw.json", "{}")
    put(state, "workspace/memory/Big Projects.md", "The garden.")
    put(state, "agents/main/sessions/a.jsonl", '{"message": {"role": "user", "content": "Hello"}}\n')
    home = Path(open_in_place(str(state))[1])
    assert [path.rpartition("/")[2] for path in run_import(home, state).added] == ["openclaw-a.jsonl"]
    assert run_import(home, state).added == ()
