from __future__ import annotations

import re
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from commonplace.formats import blocks
from commonplace.formats.structure import LineCounter, escape, escape_unprintable, find_marks, unescape

from ..texts import texts


@given(texts)
def test_any_text_is_escaped_and_comes_back_exactly(text: str) -> None:
    assert unescape(escape(text)) == text
    assert unescape(escape(text, open_fence_above=True)) == text


def test_headings_of_a_daily_page_and_of_blocks_are_escaped_and_others_are_not() -> None:
    ours = ["# 2026-03-14", "## 09:26", "### key", "<!-- agentool-memory: at= -->", "```"]
    assert [escape(line) for line in ours] == [f"\\{line}" for line in ours]
    assert [escape(line) for line in ("# Garden", "## Roses", "#### deep")] == ["# Garden", "## Roses", "#### deep"]


def test_headings_inside_a_closed_fence_are_marked_and_an_open_fence_does_not_count() -> None:
    assert [(mark.title, mark.fenced) for mark in find_marks("# a\n```\n# b\n```\n# c\n")] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]
    assert [mark.fenced for mark in find_marks("```\n# b\n")] == [False]


def test_a_byte_order_mark_hides_no_heading_behind_it() -> None:
    assert [mark.title for mark in find_marks("\ufeff\n# a\n")] == ["a"]


def test_lines_are_counted_forwards_and_backwards() -> None:
    count = LineCounter("a\nb\nc")
    assert [count.line(offset) for offset in (0, 2, 4, 0)] == [1, 2, 3, 1]


def test_what_cannot_be_printed_is_spelt_out() -> None:
    assert escape_unprintable("a\nb\u2028é") == "a\\nb\\u2028é"


MORNING = datetime(2026, 3, 14, 9, 26)


def test_a_day_starts_with_its_header_and_entries_follow() -> None:
    page = blocks.add_entry("", MORNING, "woke up")
    page = blocks.add_entry(page, MORNING.replace(hour=10, minute=0), "had tea")
    assert page == "# 2026-03-14\n\n## 09:26\n\nwoke up\n\n## 10:00\n\nhad tea\n\n"


@given(st.lists(texts, max_size=6))
def test_any_entries_keep_one_header_and_as_many_stamps(entries: list[str]) -> None:
    page = ""
    for entry in entries:
        page = blocks.add_entry(page, MORNING, entry)
        assert page.startswith("# 2026-03-14\n")
    assert len(re.findall(r"^## 09:26$", page, re.MULTILINE)) >= len(entries)
    assert all(entry in unescape(page) for entry in entries)


@given(texts, texts)
def test_an_entry_leaves_what_is_above_it_untouched(above: str, entry: str) -> None:
    page = blocks.add_entry(above, MORNING, entry)
    assert page.replace("# 2026-03-14\n\n", "", 1).startswith(above) or page.startswith(above)


def test_front_matter_stays_above_the_header() -> None:
    page = blocks.add_entry("---\nmood: fine\n---\nby hand\n", MORNING, "x")
    assert page.startswith("---\nmood: fine\n---\n# 2026-03-14\n\nby hand\n")
