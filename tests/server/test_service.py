"""Cursors of listings, and the tools that a grant allows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.errors import InvalidArgument
from commonplace.server.service import format_cursor, list_tools, parse_cursor
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
