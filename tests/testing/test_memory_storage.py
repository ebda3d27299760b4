"""A backend kept in memory is enough for everything a memory does."""

from __future__ import annotations

import io
import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.errors import Conflict
from commonplace.home import Home
from commonplace.importers import import_source
from commonplace.maintenance import timeline
from commonplace.maintenance.backup import copy, export_file, export_to, import_from
from commonplace.maintenance.forget import Selection, forget
from commonplace.testing import FrozenClock

from ..waiting import LONG_SECONDS

NUMBERS = itertools.count()


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def memory(clock: FrozenClock) -> Iterator[Memory]:
    memory = Memory(f"memory://test-{next(NUMBERS)}", clock=clock)
    yield memory
    memory.close()


def test_every_toolset_works(memory: Memory) -> None:
    for toolset in ("notes", "working", "journal", "retrieval", "registry"):
        assert memory.tools("mcp", toolsets=[toolset])
    memory.call("remember", {"content": "The editor is Helix"})
    memory.call("memory_write", {"key": "plan", "content": "Paint the fence"})
    assert "Paint the fence" in str(memory.call("memory_read", {"key": "plan"}))
    assert "Helix" in str(memory.call("recall", {}))
    memory.call("update_world", {"topic": "editors", "content": "Helix is modal"})
    assert "directives/memory.md" in str(memory.context().receipt)


def test_search_finds_what_was_written_and_not_what_was_removed(memory: Memory) -> None:
    memory.call("memory_write", {"key": "fence", "content": "Paint the fence green"})
    memory.call("memory_write", {"key": "tea", "content": "Oolong from the hills"})
    assert [hit.key for hit in memory.search("green fence", mode="keyword")] == ["fence"]
    [hit] = memory.search("green fence", mode="keyword")
    memory.home.storage.pages.write(hit.path, "Nothing.\n")
    assert memory.search("green fence", mode="keyword") == []


def test_history_is_shown_and_undone(memory: Memory, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "The gate is open"})
    clock.advance(minutes=1)
    memory.call("remember", {"content": "The gate is shut"})
    changes = timeline.list_changes(memory.home)
    last = [change for change in changes if change.tool == "remember" and change.at == max(c.at for c in changes)]
    assert [done.problem for done in timeline.undo(memory.home, last)] == [""]
    assert "shut" not in str(memory.call("recall", {}))
    assert "open" in str(memory.call("recall", {}))


def test_two_handles_share_one_memory_and_each_keeps_its_agent() -> None:
    name = f"memory://test-{next(NUMBERS)}"
    one = Memory(name, agent="one")
    two = Memory(name, agent="two")
    one.call("memory_write", {"key": "mine", "content": "a private plan"})
    one.call("update_world", {"topic": "town", "content": "The well is dry"})
    assert two.search("private plan", mode="keyword") == []
    assert two.search("well dry", mode="keyword")
    one.close()
    two.close()


def test_a_watcher_hears_of_changes(memory: Memory) -> None:
    stop = threading.Event()
    signal = threading.Event()
    started = threading.Event()
    thread = threading.Thread(
        target=memory.home.index.watch,
        args=(stop, lambda changes: signal.set(), None, lambda mode: started.set()),
    )
    thread.start()
    assert started.wait(LONG_SECONDS)
    memory.call("remember", {"content": "Somebody watches"})
    assert signal.wait(LONG_SECONDS)
    stop.set()
    thread.join()


def test_it_is_exported_and_imported_with_its_history(memory: Memory, clock: FrozenClock) -> None:
    memory.call("memory_write", {"key": "plan", "content": "Paint the fence"})
    memory.call("memory_update", {"key": "plan", "content": "Paint the gate"})
    stream = io.BytesIO()
    export_to(memory.home, stream, history=True)
    name = f"memory://test-{next(NUMBERS)}"
    stream.seek(0)
    assert import_from(Home(name, clock=clock), stream).added
    other = Memory(name, clock=clock)
    assert "Paint the gate" in str(other.call("memory_read", {"key": "plan"}))
    assert {*other.home.storage.history.changes()} == {*memory.home.storage.history.changes()}
    other.call("memory_update", {"key": "plan", "content": "Paint nothing"})
    stream.seek(0)
    with pytest.raises(Conflict, match="--overwrite"):
        import_from(other.home, stream)


def test_it_is_copied_to_a_folder_and_back(memory: Memory, clock: FrozenClock, tmp_path: Path) -> None:
    memory.call("memory_write", {"key": "plan", "content": "Paint the fence"})
    memory.call("memory_delete", {"key": "plan"})
    memory.call("remember", {"content": "The editor is Helix"})
    folder = Memory(tmp_path / "home", clock=clock)
    back = Memory(f"memory://test-{next(NUMBERS)}", clock=clock)
    assert copy(memory.home, folder.home).failed == ()
    assert copy(folder.home, back.home).failed == ()
    assert "Helix" in str(back.call("recall", {}))
    assert back.home.storage.history.paths() == memory.home.storage.history.paths()
    again = copy(folder.home, back.home)
    assert (again.added, again.history_completed, again.different) == ((), (), ())


def test_what_others_kept_is_imported_once(memory: Memory, tmp_path: Path) -> None:
    vault = tmp_path / "Vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "Tea.md").write_text("Green, never black.\n")
    assert import_source(memory.home, str(vault))[1].added == ("memory/vault/Tea.md",)
    assert import_source(memory.home, str(vault))[1].same == ("memory/vault/Tea.md",)


def test_what_is_forgotten_is_in_no_version(memory: Memory, tmp_path: Path) -> None:
    memory.call("memory_write", {"key": "gate", "content": "The code of the gate is magnolia"})
    memory.call("remember", {"content": "The editor is Helix"})
    forget(memory.home, Selection(key="gate"))
    assert not any(
        b"magnolia" in (data or b"") for _, all_of in memory.home.storage.history.iterate_pages() for _, data in all_of
    )
    export_file(memory.home, str(tmp_path / "b.tar"), history=True)
    assert b"magnolia" not in (tmp_path / "b.tar").read_bytes()
