"""Two changes of a text become one, stretch after stretch; two rewrites of a page always do, and report what was lost."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.storage.merge import Part, diff_lines, merge, merge_parts, merge_rewrites

from ..costs import count_calls

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=8).map("".join)


def test_each_stretch_says_whose_it_is() -> None:
    parts = merge_parts(
        "one\ntwo\nthree\nfour\nfive\n", "ONE\ntwo\nthree\nfour\nfive\n", "one\ntwo\nthree\nfour\nFIVE\n"
    )
    assert parts == [Part("theirs", "ONE\n"), Part("same", "two\nthree\nfour\n"), Part("mine", "FIVE\n")]


def test_where_both_changed_the_same_lines_both_stay() -> None:
    assert merge_parts("x\n", "y\n", "z\n") == [Part("conflict", "", "x\n", "y\n", "z\n")]
    assert merge_parts("", "theirs", "mine") == [Part("conflict", "", "", "theirs", "mine")]


@given(LINES, LINES, LINES)
def test_nothing_of_either_side_is_left_out(base: str, theirs: str, ours: str) -> None:
    """Taking theirs or mine at every conflict gives a text that holds the changes of that side."""
    parts = merge_parts(base, theirs, ours)
    if ours == base:
        assert "".join(part.text for part in parts) == theirs
    if theirs == base:
        assert "".join(part.text for part in parts) == ours
    together = merge(base, theirs, ours)
    if together is not None and not any(part.kind == "conflict" for part in parts):
        assert sorted("".join(part.text for part in parts)) == sorted(together)


WORDS = ["tea", "Ann likes tea.", "Ann likes green tea.", "- milk", "", "# Ann", "### key", "日本語の行", "x", "y\r"]
PAGES = st.lists(st.sampled_from(WORDS), max_size=9).map("\n".join)
ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=60)


def lines_of(text: str) -> Counter[str]:
    return Counter(line.removesuffix("\r") for line in text.split("\n") if line.strip())


def test_lines_that_both_sides_add_at_one_place_both_stay() -> None:
    assert merge_rewrites("one\n", "one\ntwo\n", "one\nthree\n") == ("one\ntwo\nthree\n", "")
    assert merge_rewrites("one", "one\ntwo", "one\nthree") == ("one\ntwo\nthree", "")
    assert merge_rewrites("", "two\n", "three\n") == ("two\nthree\n", "")


def test_a_line_that_one_side_changed_or_removed_takes_that_change() -> None:
    assert merge_rewrites("a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n") == ("A\nB\nc\n", "")
    assert merge_rewrites("a\nb\nc\n", "b\nc\n", "a\nb\nC\n") == ("b\nC\n", "")
    assert merge_rewrites("a\nb\nc\n", "a\nb\nc\nd\n", "a\nc\n") == ("a\nc\nd\n", "")


def test_of_a_line_that_both_changed_the_later_stays_and_the_earlier_is_reported() -> None:
    assert merge_rewrites("blue\n", "green\n", "red\n") == ("red\n", "green")
    assert merge_rewrites("Port: 1\nHost: a\n", "Port: 2\nHost: b\n", "Port: 3\nHost: a\n") == (
        "Port: 3\nHost: b\n",
        "Port: 2",
    )
    assert merge_rewrites("a\nb\n", "a\nbe\n", "a\n") == ("a\n", "be")


def test_what_a_side_added_beside_a_line_that_both_changed_stays() -> None:
    merged = merge_rewrites("Likes tea.\n", "Likes green tea.\nHas a cat.\n", "Likes black tea.\nMoved.\n")
    assert merged == ("Likes black tea.\nHas a cat.\nMoved.\n", "Likes green tea.")
    merged = merge_rewrites("Likes tea.\n", "Has a cat.\nLikes green tea.\n", "Likes black tea.\n")
    assert merged == ("Has a cat.\nLikes black tea.\n", "Likes green tea.")


def test_a_line_that_both_added_is_there_once() -> None:
    assert merge_rewrites("a\n", "a\nb\nc\n", "a\nb\nd\n") == ("a\nb\nc\nd\n", "")
    assert merge_rewrites("a\n", "a\nb\n", "a\nb\nd\n") == ("a\nb\nd\n", "")
    assert merge_rewrites("- a\n", "- a\n- b\n- c\n", "- a\n- c\n- d\n") == ("- a\n- b\n- c\n- d\n", "")


def test_blocks_that_both_append_stay_whole() -> None:
    one = "### one\n\ntext\n\n<!-- agentool-memory: at=1 -->\n\n"
    two = "### two\n\ntext\n\n<!-- agentool-memory: at=2 -->\n\n"
    assert merge_rewrites("Top.\n\n", f"Top.\n\n{one}", f"Top.\n\n{two}").text.rstrip("\n") == (
        f"Top.\n\n{one}{two}".rstrip("\n")
    )


def test_line_ends_are_no_change_of_a_line() -> None:
    assert merge_rewrites("a\r\nb\r\n", "a\r\nb\r\nc\r\n", "a\nB\n") == ("a\r\nB\nc\r\n", "")


@pytest.mark.parametrize("pages", [PAGES, ANY_TEXT])
def test_no_line_that_a_side_added_is_lost_without_a_word(pages: st.SearchStrategy[str]) -> None:
    @given(pages, pages, pages)
    def check(base: str, earlier: str, later: str) -> None:
        merged = merge_rewrites(base, earlier, later)
        lines = lines_of(merged.text)
        answer = lines_of(merged.lost)
        assert not (lines_of(later) - lines_of(base)).keys() - lines.keys()
        assert not (lines_of(earlier) - lines_of(base)).keys() - lines.keys() - answer.keys()

    check()


@given(PAGES, PAGES)
def test_a_page_that_only_one_side_changed_is_as_that_side_says(base: str, changed: str) -> None:
    assert lines_of(merge_rewrites(base, base, changed).text) == lines_of(changed)
    assert lines_of(merge_rewrites(base, changed, base).text) == lines_of(changed)
    assert merge_rewrites(base, base, changed).lost == merge_rewrites(base, changed, base).lost == ""


@given(PAGES, st.lists(st.text("abc", min_size=1), max_size=3), st.lists(st.text("def", min_size=1), max_size=3))
def test_two_sides_that_only_add_lose_nothing_and_have_no_conflict(base: str, one: list[str], other: list[str]) -> None:
    lines = [*base.split("\n")]
    merged = merge_rewrites(base, "\n".join([*lines, *one]), "\n".join([*other, *lines]))
    assert merged.lost == ""
    assert lines_of(merged.text) == lines_of(base) + Counter(one) + Counter(other)


TEXTS = {
    "mostly blank": [line for n in range(4_000) for line in (f"line {n}\n", "\n")],
    "mostly blank, and very long": [line for n in range(31_000) for line in (f"line {n}\n", "\n")],
    "seven lines again and again": [f"{n % 7}\n" for n in range(19_000)],
    "one line": ["x\n"] * 30_000,
    "all different": [f"{n}\n" for n in range(20_000)],
}


def shuffle_lines(lines: list[str]) -> list[str]:
    mixed = [*lines]
    random.Random(1).shuffle(mixed)
    return mixed


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.thorough if "very long" in name else ()) for name in TEXTS],
)
def test_no_text_takes_long_to_compare_and_what_is_found_makes_the_other(name: str) -> None:
    old = TEXTS[name]
    for new in (
        shuffle_lines(old),
        ["first\n", *old, "last\n"],
        old[5:-5],
        [],
        [f"{n * 5 % 7}\n" for n in range(19_000)],
    ):
        result = [new[c:d] if what != "equal" else old[a:b] for what, a, b, c, d in diff_lines(old, new)]
        assert count_calls(diff_lines, old, new) < 1_000 * len([*old, *new])
        assert [line for some in result for line in some] == new
        assert [line for what, a, b, *_ in diff_lines(old, new) if what != "insert" for line in old[a:b]] == old


def test_two_who_change_the_ends_of_a_large_page_are_merged() -> None:
    base = "".join(TEXTS["mostly blank, and very long"])
    both = merge(base, f"theirs\n{base}", f"{base}ours\n")
    assert both == f"theirs\n{base}ours\n"
    assert [part.kind for part in merge_parts(base, f"theirs\n{base}", f"{base}ours\n")] == ["theirs", "same", "mine"]
