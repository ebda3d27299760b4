"""Citations of lines, as search prints them and people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Hit, Scope
from commonplace.model import Citation, parse_citation


@pytest.mark.parametrize("text", ["a.md#L3-L5", "a.md#L3-5"])
def test_lines_of_a_page_are_cited_with_or_without_the_second_letter(text: str) -> None:
    assert parse_citation(text) == Citation("a.md", 3, 5)


def test_one_line_is_cited_alone() -> None:
    assert parse_citation("memory/a.md#L3") == Citation("memory/a.md", 3, 3)


@pytest.mark.parametrize("text", ["a.md", "a.md#L", "a.md#3", "#L3", "a.md#L3-", "a.md#L1234567890", ""])
def test_other_text_is_no_citation(text: str) -> None:
    assert parse_citation(text) is None


@given(
    st.text(st.characters(exclude_characters="#\n"), min_size=1),
    st.integers(1, 999_999_999),
    st.integers(1, 999_999_999),
)
def test_what_search_prints_is_understood(path: str, start: int, end: int) -> None:
    hit = Hit(path, start, end, "", 1.0, Scope("shared"))
    assert parse_citation(hit.citation) == Citation(path, start, end)
