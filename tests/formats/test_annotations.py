"""Comments about a line: they move nothing, and are gone for whoever reads the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.formats.blocks import (
    add_annotation,
    find_annotatable_lines,
    find_annotated_lines,
    is_annotation_line,
    strip_annotations,
    strip_own_annotations,
)

from ..examples import examples

COMMENTS = ["<!-- pinned: src/a.py 0123456789abcdef -->", "<!-- commonplace: supersedes 0123abcd -->"]
lines = st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=30).filter(
    lambda line: "<!--" not in line
)


@examples(100)
@given(st.lists(lines, min_size=1, max_size=6), st.sampled_from(COMMENTS), st.data())
def test_what_is_added_is_gone_again_and_every_line_stays(page: list[str], comment: str, data: st.DataObject) -> None:
    text = "\n".join(page)
    able = find_annotatable_lines(text)
    if not able:
        return
    number = data.draw(st.sampled_from(able))
    annotated = [*page]
    annotated[number] = add_annotation(page[number], comment)
    output = strip_own_annotations("\n".join(annotated)).split("\n")
    assert [line.rstrip() for line in output] == [line.rstrip() for line in page]
    assert [about for about, _ in find_annotated_lines("\n".join(annotated))] == [number]


def test_other_comments_stay() -> None:
    for text in ("a <!-- pinned: two words -->", "<!-- commonplace: do this -->", "x <!-- todo -->"):
        assert strip_annotations(text) == text
    assert strip_annotations("a <!-- valid_until: 2026-05-12 -->") == "a"


def test_an_annotation_on_a_line_of_its_own_is_about_the_line_above_or_the_page() -> None:
    first, second = COMMENTS
    assert find_annotated_lines(f"a\n{first}\n{second}\n\nb\n\n{first}") == [(0, first), (0, second), (None, first)]
    assert is_annotation_line(f"  {first} {second}")
    assert not is_annotation_line(f"a {first}")


def test_headings_tables_and_code_have_no_annotations() -> None:
    assert find_annotatable_lines("# A\n\n| a |\n```\ncode\n```\ntext\n---\n- item") == [6, 8]
