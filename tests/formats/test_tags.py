"""Tags that people write in pages of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.formats.passages import split_page
from commonplace.formats.tags import find_inline_tags, read_page_tags


@pytest.mark.parametrize(
    ("head", "tags"),
    [
        ("---\ntags: [garden, food]\n---\n", ("garden", "food")),
        ("---\ntags:\n  - garden\n  - '#food'\n---\n", ("garden", "food")),
        ("---\ntitle: x\ntags: garden, food\n---\n", ("garden", "food")),
        ("---\ntags: garden food\n---\n", ("garden", "food")),
        ("---\ntag: garden\n---\n", ("garden",)),
        ("---\ntags: [garden, garden, '']\n---\n", ("garden",)),
        ("---\ntags: [a/b, 日本]\n---\n", ("a/b", "日本")),
        ("---\ntags:\n---\n", ()),
        ("---\ntags: {a: b}\n---\n", ()),
        ("---\ntags: [garden\n---\n", ()),
        ("", ()),
    ],
)
def test_the_tags_of_a_page_are_in_its_front_matter(head: str, tags: tuple[str, ...]) -> None:
    assert read_page_tags(head) == tags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("Painted it #green, #tall/very and (#old).", ("green", "tall/very", "old")),
        ("#first of all\n#first", ("first",)),
        ("Fixed #12 and #12a; see a#b, http://x/#top and \\#no.", ("12a",)),
        ("# Heading\n## Other", ()),
        ("`#code` and\n```\n#more\n```\n#text", ("text",)),
        ("#日本 #ärger-2", ("日本", "ärger-2")),
    ],
)
def test_a_word_with_a_number_sign_is_a_tag(text: str, tags: tuple[str, ...]) -> None:
    assert find_inline_tags(text) == tags


def test_a_tag_of_the_page_is_one_of_every_passage_and_a_tag_in_the_text_is_one_of_its_own() -> None:
    one, two = split_page("---\ntags: [garden]\n---\n# A\n\nRoses. #red\n\n# B\n\nTulips.\n")
    assert (one.tags, two.tags) == (("garden", "red"), ("garden",))
    assert "garden" in two.hint


def test_a_search_for_a_tag_finds_pages_that_people_tagged(memory: Memory, home: Path) -> None:
    (home / "memory").mkdir(parents=True, exist_ok=True)
    (home / "memory/beds.md").write_text("---\ntags: [garden]\n---\n\nWater the beds on Monday.\n")
    (home / "memory/shed.md").write_text("Paint the shed, not the beds. #garden\n")
    (home / "memory/other.md").write_text("The beds of the hotel are soft.\n")
    found = {hit.path for hit in memory.search("beds", tags=["garden"])}
    assert found == {"memory/beds.md", "memory/shed.md"}
