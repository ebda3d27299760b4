"""Stored text on its way to a model: it stays inside its frame, and its tokens are estimated."""

from __future__ import annotations

import pytest
from hypothesis import given

from commonplace.framing import (
    TITLES,
    close_fence,
    estimate_tokens,
    fence,
    introduce,
    list_item,
    quote_name,
    quote_title,
)

from ..texts import texts


@given(texts)
def test_nothing_closes_the_fence_around_it(text: str) -> None:
    first, *lines, last = fence(text, "a.md").split("\n")
    assert first == f"{last}data a.md"
    assert not any(line.strip().startswith(last) for line in lines)


@pytest.mark.parametrize("title", TITLES)
def test_a_line_that_imitates_a_heading_of_the_context_is_escaped(title: str) -> None:
    assert f"\n\\## {title}\n" in fence(f"## {title}", "a.md")


def test_a_short_value_stays_on_its_line_and_a_long_one_is_fenced() -> None:
    assert list_item("editor", "vim", "a.md") == "- editor: vim"
    assert list_item("# x", "a\nb", "a.md") == '- "# x":\n\n```data a.md\na\nb\n```'


@pytest.mark.parametrize("name", ["हिन्दी", "ภาษาไทย", "Zoe\u0301", "வணக்கம்"])
def test_a_name_in_any_script_needs_no_quotes(name: str) -> None:
    assert quote_name(name) == quote_title(name) == name
    assert list_item(name, name, "a.md") == f"- {name}: {name}"


@pytest.mark.parametrize("name", ["plan (by a person)", "deploy (owner: global)"])
def test_no_name_in_a_heading_names_an_author_or_an_owner(name: str) -> None:
    assert quote_title(name) == f'"{name}"'


def test_a_fence_left_open_is_closed() -> None:
    assert close_fence("a\n~~~\nb") == "a\n~~~\nb\n~~~"
    assert close_fence("```\na\n```") == "```\na\n```"


def test_an_empty_text_is_introduced_as_such() -> None:
    assert introduce("This is all.", " \n") == "This is all.\n\nNothing yet."


def test_tokens_are_estimated_by_script() -> None:
    assert estimate_tokens("") == 0
    assert 8 <= estimate_tokens("The quick brown fox jumps over the lazy dog") <= 12
    assert 6 <= estimate_tokens("我喜欢喝绿茶") <= 9
    assert estimate_tokens("é" * 100) > estimate_tokens("e" * 100)
