"""What a record replaces is asked along with its write: a round trip less, and the write never depends on the answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from commonplace import Memory
from commonplace.storage.postgres.listen import flush_notices

from .conftest import admin
from .test_index_handle import find_texts, follow
from .wire import Wire

pytestmark = pytest.mark.slow


@pytest.fixture
def wire(url: str) -> Iterator[Wire]:
    wire = Wire(url)
    yield wire
    wire.close()


def remember(memory: Memory, key: str, day: int) -> list[str]:
    """Store a launch date, and return what the reply says that it replaces."""
    value = f"The launch date of Osprey is {day} May."
    reply = memory.call("MemoryTool", {"op": "setGlobal", "key": key, "value": value})
    assert reply["success"], reply
    return [notice["text"] for notice in reply.get("supersedes", ())]


def rest(memory: Memory) -> None:
    """Take in what was written, and nothing more until a search."""
    assert find_texts(memory, "launch")
    follow(memory)._next_update_at = float("inf")


def test_what_a_record_replaces_is_found_in_the_round_trips_of_its_write(wire: Wire) -> None:
    with Memory(wire.url) as memory:
        assert remember(memory, "first", 3) == []
        rest(memory)
        assert remember(memory, "second", 4) == ["The launch date of Osprey is 3 May."]
        database = follow(memory)._database
        flush_notices(database)
        before = wire.round_trips
        assert remember(memory, "third", 5) == ["The launch date of Osprey is 3 May."]
        assert wire.round_trips - before <= 3  # the lock; the write with the question; and a notice


def test_a_record_is_written_even_if_it_cannot_be_asked_what_it_replaces(url: str) -> None:
    with Memory(url) as memory:
        remember(memory, "first", 3)
        rest(memory)
        admin(url, "ALTER TABLE commonplace.index_facts RENAME TO gone")
        assert remember(memory, "second", 4) == []
        admin(url, "ALTER TABLE commonplace.gone RENAME TO index_facts")
        assert remember(memory, "third", 5) == ["The launch date of Osprey is 3 May."]
        (path,) = (path for path in memory.home.storage.pages.list("", deep=True) if "second" in path)
        assert len(memory.home.storage.history.changes(path)) == 1


@pytest.mark.parametrize("arrives", [True, False], ids=["the acknowledged is lost", "the message is lost"])
def test_a_record_whose_wire_is_cut_is_written_once_and_says_what_it_replaces(wire: Wire, *, arrives: bool) -> None:
    with Memory(wire.url) as memory:
        remember(memory, "first", 3)
        rest(memory)
        for at in range(1, 80):
            wire.cut(at, arrives=arrives)
            assert remember(memory, f"key-{at}", at + 3) == ["The launch date of Osprey is 3 May."]
            if not wire.was_cut:
                break
        assert 2 < at < 79  # every message of a write was cut once
        pages = [path for path in memory.home.storage.pages.list("", deep=True) if "key-" in path]
        assert [len(memory.home.storage.history.changes(path)) for path in pages] == [1] * at
