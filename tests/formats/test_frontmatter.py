from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from commonplace.errors import BrokenFrontMatter
from commonplace.formats import frontmatter

from ..texts import texts

BY_HAND = """---
# my own comment
title: 'Single quoted'   # keep me
aliases:
  - "one"
  - two # two
count: 010
agreed: no
when: 1:30
nested: {a: 1, b: [x, y]}
long: |
  line one

  line two
empty:
---
body
"""

fields = st.dictionaries(
    st.sampled_from(["key", "tags", "category", "created_at", "type", "weird"]),
    st.one_of(texts, st.lists(texts, min_size=1, max_size=3)),
    max_size=4,
)


def oracle(head: str) -> dict[str, Any]:
    """What another YAML library reads, as text."""
    loaded = YAML(typ="safe").load(io.StringIO("\n".join(head.split("\n")[1:-2]))) or {}
    return dict(loaded)


@given(fields)
def test_what_is_rendered_is_parsed_back_exactly(given_fields: dict[str, Any]) -> None:
    assert frontmatter.parse(frontmatter.render(given_fields)) == given_fields


@given(fields)
def test_what_is_rendered_means_the_same_to_another_yaml_library(given_fields: dict[str, Any]) -> None:
    loaded = oracle(frontmatter.render(given_fields))
    assert loaded == given_fields


@given(fields, texts)
def test_the_body_never_leaks_into_the_front_matter(given_fields: dict[str, Any], body: str) -> None:
    head = frontmatter.render(given_fields)
    assert frontmatter.split(head + body) == (head, body)


def test_every_scalar_is_text() -> None:
    read = frontmatter.parse(frontmatter.split(BY_HAND)[0])
    assert (read["count"], read["agreed"], read["when"]) == ("010", "no", "1:30")
    assert read["aliases"] == ["one", "two"]
    assert read["empty"] == ""


def test_an_edit_changes_its_own_characters_and_nothing_else() -> None:
    head, _ = frontmatter.split(BY_HAND)
    edited = frontmatter.edit(head, {"count": "11"})
    assert edited == head.replace("count: 010", 'count: "11"')
    assert frontmatter.edit(head, {"title": "Single quoted"}) == head


@given(
    st.sampled_from(["title", "aliases", "count", "nested", "long", "empty", "new"]),
    st.one_of(texts, st.lists(texts, min_size=1, max_size=3)),
)
def test_an_edited_field_reads_as_set_and_the_others_as_before(name: str, value: Any) -> None:
    head, _ = frontmatter.split(BY_HAND)
    before = frontmatter.parse(head)
    edited = frontmatter.edit(head, {name: value})
    assert frontmatter.parse(edited) == {**before, name: value}
    assert "# my own comment" in edited
    untouched = [line for line in head.split("\n") if line and not line.startswith(("  ", name, "-"))]
    assert [line for line in edited.split("\n") if line in untouched] == untouched


@given(st.sampled_from(["title", "aliases", "count", "nested", "long", "empty", "absent"]))
def test_a_removed_field_is_gone_and_the_others_stay(name: str) -> None:
    head, _ = frontmatter.split(BY_HAND)
    before = frontmatter.parse(head)
    before.pop(name, None)
    assert frontmatter.parse(frontmatter.edit(head, {name: None})) == before


@pytest.mark.parametrize(
    "head",
    [
        "---\r\ntitle: x\r\ntags:\r\n- a\r\n---\r\n",
        "---\n{title: x, tags: [a]}\n---\n",
        "\ufeff---\ntitle: x\n---\n",
        "---\n---\n",
        "---\n# only a comment\n---\n",
        "---\ntitle: x\n...\n",
    ],
)
def test_front_matter_of_any_style_can_be_edited(head: str) -> None:
    before = frontmatter.parse(head)
    edited = frontmatter.edit(head, {"updated_at": "2026-03-14", "tags": ["n e w", "b"]})
    assert frontmatter.parse(edited) == {**before, "updated_at": "2026-03-14", "tags": ["n e w", "b"]}
    again = frontmatter.edit(edited, {"tags": None, "title": None})
    assert frontmatter.parse(again) == {
        k: v for k, v in frontmatter.parse(edited).items() if k not in ("tags", "title")
    }


def test_front_matter_whose_meaning_would_change_is_refused() -> None:
    with pytest.raises(BrokenFrontMatter):
        frontmatter.edit("---\ntitle: &anchor x\nother: *anchor\n---\n", {"title": None})


def test_a_nested_mapping_is_changed_field_by_field() -> None:
    head = "---\nname: x\nmetadata:\n    owner: global # who\n    mine: keep\nafter: y\n---\n"
    edited = frontmatter.edit(head, {"metadata": {"owner": "ann", "count": "2"}})
    assert edited == head.replace("owner: global", "owner: ann").replace("mine: keep\n", 'mine: keep\n    count: "2"\n')


@pytest.mark.parametrize("inner", ["a: [", "a: b: c", "- just\n- a list", "\tx: y", "a: 'open"])
def test_broken_yaml_is_an_error_that_names_the_line(inner: str) -> None:
    with pytest.raises(BrokenFrontMatter, match=r"line [23]"):
        frontmatter.parse(f"---\n{inner}\n---\n")


def test_a_page_without_a_closing_fence_has_no_front_matter() -> None:
    assert frontmatter.split("---\ntitle: x\n") == ("", "---\ntitle: x\n")
    assert frontmatter.split("no\n---\nx\n---\n")[0] == ""
