"""Cursors of listings, and the tools that a grant allows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.errors import InvalidArgument
from commonplace.server import service
from commonplace.server.auth import Caller, ServerOptions
from commonplace.server.service import MemoryPool, format_cursor, list_tools, parse_cursor
from commonplace.storage.tokens import Grant


@given(st.from_regex(r"\A[0-9TZ:.-]*\Z"), st.text(st.characters(exclude_categories=("Cs",))))
def test_a_cursor_reads_back_as_the_page_it_was_made_of(at: str, path: str) -> None:
    cursor = format_cursor(at, path)
    assert parse_cursor(cursor) == (at, path)
    assert parse_cursor(cursor + "=" * (-len(cursor) % 4)) == (at, path)


@pytest.mark.parametrize("cursor", ["?", "a", "____"])
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidArgument, match="start from the beginning"):
        parse_cursor(cursor)


def test_a_listing_begins_without_a_cursor() -> None:
    assert parse_cursor(None) is None
    assert parse_cursor("") is None


def test_whoever_only_reads_is_shown_no_tool_that_writes(memory: Memory) -> None:
    names = {tool["name"] for tool in list_tools(Grant(role="read"), ["journal"], memory.home)}
    assert names == {"recall"}
    assert "remember" in {tool["name"] for tool in list_tools(Grant(), ["journal"], memory.home)}


# How long memories stay open on a server, and what those of one home share.


def test_agents_of_one_memory_share_an_index_and_none_closes_it_for_the_others(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MAX_OPEN_MEMORIES", 2)
    pool = MemoryPool(ServerOptions(str(home)))
    ann, bob, cat = (Caller(str(home), name) for name in ("ann", "bob", "cat"))
    pool.open(ann).call("remember", {"content": "Ann likes tea."})
    pool.open(bob).call("remember", {"content": "Bob likes tea."})
    assert pool.open(ann).home.index is pool.open(bob).home.index
    shared = pool.open(bob).home.index
    assert ["Ann likes tea." in hit.text for hit in pool.open(ann).search("tea")] == [True]
    assert ["Bob likes tea." in hit.text for hit in pool.open(bob).search("tea")] == [True]
    assert pool.open(cat).home.index is shared  # and the memory of ann is closed
    assert ["Bob likes tea." in hit.text for hit in pool.open(bob).search("tea")] == [True]
    assert pool.open(cat).search("tea") == []
    assert pool.open(ann).home.index is shared


def test_a_memory_stays_open_until_its_settings_change(home: Path) -> None:
    pool = MemoryPool(ServerOptions(str(home)))
    caller = Caller(str(home))
    assert pool.find_open(caller) is None
    memory = pool.open(caller)
    assert pool.find_open(caller) is memory
    assert pool.open(caller) is memory
    home.mkdir(exist_ok=True)
    (home / "commonplace.yaml").write_text("timezone: Europe/Berlin\n")
    assert pool.find_open(caller) is None
    assert pool.open(caller) is not memory
    pool.close()


def test_the_least_recently_used_memory_is_closed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_OPEN_MEMORIES", 2)
    pool = MemoryPool(ServerOptions(str(home)))
    first, second, third = (Caller(str(home), agent) for agent in ("ann", "bob", "cat"))
    pool.open(first)
    pool.open(second)
    pool.find_open(first)
    pool.open(third)
    assert pool.find_open(first) is not None
    assert pool.find_open(second) is None
    pool.close()
