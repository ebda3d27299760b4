from __future__ import annotations

import re
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from commonplace.formats import blocks
from commonplace.formats.structure import unescape

from ..texts import texts

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
