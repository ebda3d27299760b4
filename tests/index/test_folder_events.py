from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.index import folder_events
from commonplace.testing import FrozenClock

from ..waiting import LONG_SECONDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells through inotify")
LISTED: list[str] = []


@pytest.fixture(autouse=True)
def listing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes every folder that this thread lists: others may still run for a test before.

    An audit hook could not be removed, and would slow down all other tests.
    """
    scan = os.scandir
    thread = threading.get_ident()

    def note_listing(folder: Any = ".") -> Any:
        if threading.get_ident() == thread:
            LISTED.append(str(folder))
        return scan(folder)

    monkeypatch.setattr(os, "scandir", note_listing)
    monkeypatch.setattr(os, "supports_fd", {*os.supports_fd, note_listing})


@pytest.fixture
def quiet(home: Path, clock: FrozenClock) -> Iterator[Memory]:
    """A memory that was searched until it no longer looks at its pages."""
    world = home / "memory/world"
    world.mkdir(parents=True)
    (world / "fruit.md").write_text("# Fruit\n\nThe papaya is ripe.\n")
    (world / "tea.md").write_text("# Tea\n\nThe oolong is brewed.\n")
    (home / "commonplace.yaml").write_text("memorySearch: {provider: none}\n")
    with Memory(home, clock=clock) as memory:
        search_until_quiet(memory)
        yield memory


def search_until_quiet(memory: Memory) -> None:
    """Search until no folder is listed. A page of this very moment is read again: another write could look the same."""
    deadline = time.monotonic() + LONG_SECONDS
    while time.monotonic() < deadline:
        LISTED.clear()
        assert paths(memory, "papaya") == ["memory/world/fruit.md"]
        if not LISTED:
            return
    raise AssertionError("every search lists folders")


def paths(memory: Memory, query: str) -> list[str]:
    return [hit.path for hit in memory.search(query)]


def test_a_search_after_which_nothing_changed_lists_no_folder(quiet: Memory) -> None:
    LISTED.clear()
    assert paths(quiet, "papaya")
    assert paths(quiet, "oolong")
    assert LISTED == []


def write_in_place(home: Path) -> None:
    with (home / "memory/world/fruit.md").open("r+") as file:
        file.write("# Zebra")


def append(home: Path) -> None:
    with (home / "memory/world/tea.md").open("a") as file:
        file.write("\nA zebra drinks it.\n")


def replace(home: Path) -> None:
    (home / "memory/world/new").write_text("# Zebra\n\nIt has stripes.\n")
    (home / "memory/world/new").rename(home / "memory/world/fruit.md")


def write_in_new_folders(home: Path) -> None:
    (home / "memory/world/animals/striped").mkdir(parents=True)
    (home / "memory/world/animals/striped/zebra.md").write_text("# Zebra\n\nIt has stripes.\n")


def move_a_folder_in(home: Path) -> None:
    elsewhere = home.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "zebra.md").write_text("# Zebra\n\nIt has stripes.\n")
    elsewhere.rename(home / "memory/world/animals")


def replace_the_home(home: Path) -> None:
    home.rename(home.parent / "before")
    shutil.copytree(home.parent / "before", home)
    (home / "memory/world/zebra.md").write_text("# Zebra\n\nIt has stripes.\n")


@pytest.mark.parametrize(
    "edit",
    [write_in_place, append, replace, write_in_new_folders, move_a_folder_in, replace_the_home],
)
def test_the_next_search_finds_an_edit_by_hand(quiet: Memory, home: Path, edit: Callable[[Path], None]) -> None:
    edit(home)
    assert paths(quiet, "zebra")


def test_a_search_after_an_edit_looks_at_no_other_page(quiet: Memory, home: Path) -> None:
    append(home)
    LISTED.clear()
    assert paths(quiet, "zebra") == ["memory/world/tea.md"]
    assert LISTED == []


def test_a_search_after_a_write_of_its_own_or_of_another_process_lists_no_folder(
    quiet: Memory, home: Path, clock: FrozenClock
) -> None:
    quiet.call("update_world", {"topic": "tea", "content": "A zebra drinks it."})
    with Memory(home, "bob", clock=clock) as other:
        other.call("update_world", {"topic": "fruit", "content": "An okapi eats it."})
        LISTED.clear()
        assert paths(quiet, "zebra") == ["memory/world/tea.md"]
        assert paths(quiet, "okapi") == ["memory/world/fruit.md"]
    assert LISTED == []


def test_what_is_written_in_a_folder_that_was_new_is_found_as_well(quiet: Memory, home: Path) -> None:
    write_in_new_folders(home)
    search_until_quiet(quiet)
    assert paths(quiet, "zebra")
    (home / "memory/world/animals/striped/okapi.md").write_text("# Okapi\n\nIt has stripes.\n")
    assert paths(quiet, "okapi")


def test_the_next_search_no_longer_finds_a_page_that_was_removed(quiet: Memory, home: Path) -> None:
    (home / "memory/world/fruit.md").unlink()
    assert paths(quiet, "papaya") == []


def test_a_write_of_another_memory_is_found(quiet: Memory, home: Path, clock: FrozenClock) -> None:
    with Memory(home, clock=clock) as other:
        other.call("update_world", {"topic": "animals", "content": "A zebra has stripes."})
    assert paths(quiet, "zebra")


def test_memories_of_one_process_each_hear_of_an_edit(quiet: Memory, home: Path, clock: FrozenClock) -> None:
    with Memory(home, clock=clock) as other:
        search_until_quiet(other)
        append(home)
        assert paths(quiet, "zebra")
        assert paths(other, "zebra")
    write_in_place(home)
    assert "memory/world/fruit.md" in paths(quiet, "zebra")


def test_a_fork_hears_of_an_edit_and_its_parent_as_well(quiet: Memory, home: Path) -> None:
    append(home)
    child = os.fork()
    if not child:
        os._exit(0 if paths(quiet, "zebra") else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert paths(quiet, "zebra")


def test_where_the_system_has_no_watches_left_every_search_sweeps(
    home: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_events, "_MAX_FOLDERS", 0)
    (home / "memory/world").mkdir(parents=True)
    (home / "memory/world/fruit.md").write_text("# Fruit\n\nThe papaya is ripe.\n")
    with Memory(home, clock=clock) as memory:
        for _ in range(4):
            LISTED.clear()
            assert paths(memory, "papaya")
            assert LISTED
        write_in_place(home)
        assert paths(memory, "zebra")
