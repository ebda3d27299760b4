"""Two changes of a text, stretch after stretch."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.storage.merge import Part, merge, merge_parts

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=8).map("".join)


def test_each_stretch_says_whose_it_is() -> None:
    found = merge_parts(
        "one\ntwo\nthree\nfour\nfive\n", "ONE\ntwo\nthree\nfour\nfive\n", "one\ntwo\nthree\nfour\nFIVE\n"
    )
    assert found == [Part("theirs", "ONE\n"), Part("same", "two\nthree\nfour\n"), Part("mine", "FIVE\n")]


def test_where_both_changed_the_same_lines_both_stand() -> None:
    assert merge_parts("x\n", "y\n", "z\n") == [Part("conflict", "", "x\n", "y\n", "z\n")]
    assert merge_parts("", "theirs", "mine") == [Part("conflict", "", "", "theirs", "mine")]


@given(LINES, LINES, LINES)
def test_nothing_of_either_side_is_left_out(base: str, theirs: str, ours: str) -> None:
    """Taking theirs or mine at every conflict gives a text that holds the changes of that side."""
    found = merge_parts(base, theirs, ours)
    if ours == base:
        assert "".join(part.text for part in found) == theirs
    if theirs == base:
        assert "".join(part.text for part in found) == ours
    together = merge(base, theirs, ours)
    if together is not None and not any(part.kind == "conflict" for part in found):
        assert sorted("".join(part.text for part in found)) == sorted(together)
