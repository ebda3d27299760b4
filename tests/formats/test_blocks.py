from __future__ import annotations

import re
from datetime import datetime

from hypothesis import example, given
from hypothesis import strategies as st

from commonplace.formats import blocks
from commonplace.formats.blocks import (
    add_annotation,
    find_annotatable_lines,
    find_annotated_lines,
    is_annotation_line,
    strip_annotations,
    strip_own_annotations,
)

from ..examples import examples
from ..texts import keys, tags, texts

AT = "2026-03-14T09:26:53.000000Z"
MORNING = datetime(2026, 3, 14, 9, 26)


def test_a_block_is_written_exactly_as_the_contract_says() -> None:
    assert blocks.render("editor", "vim  \n\n", AT, ["a", "b"]) == (
        "### editor\n\nvim\n\n<!-- agentool-memory: at=2026-03-14T09:26:53.000000Z tags=a|b -->\n\n"
    )
    assert blocks.render("k", "", AT) == f"### k\n\n\n\n<!-- agentool-memory: at={AT} -->\n\n"


def test_a_file_without_a_final_newline_gets_one_before_a_block() -> None:
    assert blocks.append("by hand", "k", "v", AT).startswith("by hand\n### k\n")
    assert blocks.append("by hand\n", "k", "v", AT).startswith("by hand\n### k\n")


@given(keys, texts, tags)
@example("k", "### x\n```\n### y\n", [])
@example("k", "```\nnever closed", ["a|b", "-->", " x", "%7C"])
def test_any_content_comes_back_exactly(key: str, content: str, labels: list[str]) -> None:
    (block,) = blocks.parse(blocks.append("", key, content, AT, labels))
    assert (block.key, block.content, list(block.tags), block.at) == (key, content.rstrip(), labels, AT)


@given(st.lists(st.tuples(keys, texts), max_size=6, unique_by=lambda pair: pair[0]), st.data())
def test_removing_one_block_leaves_its_neighbours_untouched(pairs: list[tuple[str, str]], data: st.DataObject) -> None:
    text = ""
    for key, content in pairs:
        text = blocks.append(text, key, content, AT)
    assert [(b.key, b.content) for b in blocks.parse(text)] == [(k, c.rstrip()) for k, c in pairs]
    if pairs:
        gone = data.draw(st.sampled_from(blocks.parse(text)))
        rest = blocks.parse(blocks.remove(text, gone))
        assert [(b.key, b.content) for b in rest] == [(k, c.rstrip()) for k, c in pairs if k != gone.key]


@given(st.lists(st.tuples(st.booleans(), keys, texts), max_size=6, unique_by=lambda each: each[1]))
def test_blocks_and_entries_share_a_page_without_mixing(written: list[tuple[bool, str, str]]) -> None:
    text = ""
    for as_block, key, content in written:
        text = blocks.append(text, key, content, AT) if as_block else blocks.add_entry(text, MORNING, content)
    assert [(b.key, b.content) for b in blocks.parse(text)] == [
        (k, c.rstrip()) for is_block, k, c in written if is_block
    ]


@given(st.lists(st.tuples(keys, texts), max_size=5), keys)
def test_looking_up_one_key_equals_reading_the_whole_page(pairs: list[tuple[str, str]], other: str) -> None:
    text = "by hand\n\n### h\n\nbody\n"
    for key, content in pairs:
        text = blocks.append(text, key, content, AT)
    for key in {*(key for key, _ in pairs), other, "h"}:
        assert blocks.find(text, key) == [block for block in blocks.parse(text) if block.key == key]


@given(texts, keys, texts)
def test_a_block_below_any_hand_written_text_is_found(by_hand: str, key: str, content: str) -> None:
    text = blocks.append(by_hand, key, content, AT)
    assert text.startswith(by_hand)
    assert (key, content.rstrip()) in [(block.key, block.content) for block in blocks.parse(text)]


def test_updating_a_block_a_hundred_times_leaves_no_stray_lines() -> None:
    text = blocks.append(blocks.append("# 2026-03-14\n\n", "a", "one", AT), "b", "two", AT)
    size = len(text)
    for _ in range(100):
        text = blocks.append(blocks.remove(text, blocks.find(text, "a")[0]), "a", "one", AT)
    assert len(text) == size
    assert "\n\n\n" not in text


def test_blocks_written_by_hand_count_and_end_at_the_next_heading() -> None:
    page = "intro\n\n### first\nbody\n\n#### part of it\nmore\n\n### second\n\nbody two\n## over\nnot mine\n"
    first, second = blocks.parse(page)
    assert (first.key, first.content, first.at, first.tags) == ("first", "body\n\n#### part of it\nmore", "", ())
    assert (second.key, second.content) == ("second", "body two")


def test_a_block_with_a_footer_ends_at_the_footer_whatever_is_between() -> None:
    page = f"### k\n\none\n\n## two\n\nthree\n\n<!-- agentool-memory: at={AT} tags=x -->\n\nafter\n"
    (block,) = blocks.parse(page)
    assert (block.content, block.tags) == ("one\n\n## two\n\nthree", ("x",))


def test_a_heading_inside_code_starts_no_block() -> None:
    page = "### k\n\n```md\n### not a key\n# nor this\n```\n\nend\n"
    (block,) = blocks.parse(page)
    assert block.key == "k"
    assert block.content.endswith("end")


def test_pages_with_windows_line_ends_are_read() -> None:
    page = f"### k\r\n\r\none\r\ntwo\r\n\r\n<!-- agentool-memory: at={AT} tags=a -->\r\n\r\n### h\r\n\r\nhand\r\n"
    first, second = blocks.parse(page)
    assert (first.key, first.content, first.tags) == ("k", "one\r\ntwo", ("a",))
    assert (second.key, second.content) == ("h", "hand")


def test_a_fence_left_open_by_hand_hides_no_block_written_later() -> None:
    page = "notes\n```\nforgot to close\n"
    page = blocks.append(page, "a", "```\ncode\n```", AT)
    page = blocks.append(page, "b", "text", AT)
    assert [(b.key, b.content) for b in blocks.parse(page)] == [("a", "```\ncode\n```"), ("b", "text")]


def test_ordinary_markdown_is_stored_as_it_was_given() -> None:
    content = "# Title\n\n## Part\n\n```bash\n# install\n### really\n```\n\n#### detail\n- [ ] do"
    assert content in blocks.append("", "k", content, AT)


def test_line_numbers_name_the_lines_of_the_block() -> None:
    page = blocks.append(blocks.append("# day\n\n", "a", "one", AT), "b", "two\nthree", AT)
    lines = page.split("\n")
    for block in blocks.parse(page):
        text = lines[block.first_line - 1 : block.last_line]
        assert re.fullmatch(r"### [ab]", text[0])
        assert text[-1] == block.content.split("\n")[-1]


# Comments about a line: they move no line, and no reader of the text sees them.


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
