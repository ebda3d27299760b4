from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from commonplace.formats import daily
from commonplace.formats.scanner import unescape

from ..texts import texts


def test_a_day_starts_with_its_header_and_entries_follow() -> None:
    page = daily.append("", "2026-03-14", "09:26", "woke up")
    page = daily.append(page, "2026-03-14", "10:00", "had tea")
    assert page == "# 2026-03-14\n\n## 09:26\n\nwoke up\n\n## 10:00\n\nhad tea\n\n"


@given(st.lists(texts, max_size=6))
def test_any_entries_keep_one_header_and_as_many_stamps(entries: list[str]) -> None:
    page = ""
    for entry in entries:
        page = daily.append(page, "2026-03-14", "09:26", entry)
        assert page.startswith("# 2026-03-14\n")
    assert len(re.findall(r"^## 09:26$", page, re.MULTILINE)) >= len(entries)
    assert all(entry in unescape(page) for entry in entries)


@given(texts, texts)
def test_an_entry_leaves_what_stands_above_it_untouched(above: str, entry: str) -> None:
    page = daily.append(above, "2026-03-14", "09:26", entry)
    assert page.replace("# 2026-03-14\n\n", "", 1).startswith(above) or page.startswith(above)


def test_front_matter_stays_above_the_header() -> None:
    page = daily.append("---\nmood: fine\n---\nby hand\n", "2026-03-14", "09:26", "x")
    assert page.startswith("---\nmood: fine\n---\n# 2026-03-14\n\nby hand\n")
