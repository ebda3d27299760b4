"""What is searched of a page that is too large."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.formats.excerpts import find_common_limit, shorten_page, shorten_transcript, split_line

pages = st.lists(
    st.sampled_from(["# a\n", "## 09:30\n", "```\n", "words on a line\n", "\n", "x" * 50, "汉字\n"]), max_size=30
).map("".join)


@given(pages, st.integers(0, 300))
def test_a_shortened_page_keeps_its_lines_and_the_beginning_of_each(text: str, limit: int) -> None:
    kept, parts = shorten_page(text, limit)
    assert kept.count("\n") == text.count("\n")
    assert all(line.startswith(short) for line, short in zip(text.split("\n"), kept.split("\n"), strict=True))
    assert (kept == text) == (parts == 0 or set(text[len(kept) :]) <= {"\n"})
    assert len(kept.replace("\n", "")) <= max(limit, 0) or len(text) <= limit


def test_only_the_longest_parts_of_a_page_are_cut() -> None:
    text = "# a\nshort\n# b\n" + "x" * 1000 + "\n# c\nlast\n"
    assert shorten_page(text, 200)[1] == 1
    assert shorten_page(text, 200)[0].endswith("x\n# c\nlast\n")


@given(st.lists(st.integers(0, 100)), st.integers(0, 2000))
def test_the_common_limit_is_the_largest_that_fits(lengths: list[int], total: int) -> None:
    limit = find_common_limit(lengths, total)
    assert sum(min(length, limit) for length in lengths) <= total
    if limit < max(lengths, default=0):
        assert sum(min(length, limit + 1) for length in lengths) > total


@given(st.text(alphabet="ab \u4e2d", max_size=200), st.integers(2, 30))
def test_the_parts_of_a_line_are_the_line(line: str, limit: int) -> None:
    parts = split_line(line, limit)
    assert "".join(parts) == line
    assert all(len(part) <= limit for part in parts)


def test_a_huge_turn_does_not_hide_the_turns_after_it() -> None:
    text = "a\n" + "x" * 5_000_000 + "\nb\n"
    assert shorten_transcript(text, 4_000_000) == text
    assert shorten_transcript("a\n" * 10, 7) == "a\n" * 3
