"""A hit on a list of people is one person: which lists are cut by item, and which stay whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.formats.passages import split_page, words_to_index

PEOPLE = [
    "Ana: designer, lives in Porto",
    "Ben: cook, lives in Leeds",
    "Cho: nurse, lives in Busan",
    "Dev: pilot, lives in Pune",
    "Eva: lawyer, lives in Graz",
]


def starts(page: str) -> list[str]:
    """The first line of every passage."""
    return [passage.text.split("\n")[0] for passage in split_page(page, "people")]


@pytest.mark.parametrize("marker", ["- ", "* ", "+ ", "  - ", "1. ", "3) "])
def test_an_item_is_a_passage(marker: str) -> None:
    items = [f"{marker}{each}" for each in PEOPLE]
    page = "# People\n\n" + "\n".join(items) + "\n"
    assert starts(page) == items
    assert {passage.hint for passage in split_page(page)} == {"People"}
    assert {passage.lead for passage in split_page(page)} == {"People"}


def test_blank_lines_between_items_make_no_difference() -> None:
    items = [f"- {each}" for each in PEOPLE]
    assert starts("# People\n\n" + "\n\n".join(items) + "\n") == items


@pytest.mark.parametrize("form", ["**{}**: {}", "**{}:** {}", "**{}** – {}"])
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_a_paragraph_that_begins_with_a_name_in_bold_is_an_item(form: str, between: str) -> None:
    items = [form.format(*each.split(": ")) for each in PEOPLE]
    assert starts("# People\n\n" + between.join(items)) == items


def test_a_row_of_a_table_is_a_passage_that_is_found_by_the_head_of_the_table() -> None:
    rows = ["| " + each.replace(": ", " | ").replace(", ", " | ") + " |" for each in PEOPLE]
    page = "# People\n\n| name | job | where |\n|---|:-:|---|\n" + "\n".join(rows) + "\n\nSome more.\n"
    assert starts(page) == [*rows, "Some more."]
    assert split_page(page)[0].hint == "People name job where"


def test_an_item_has_what_is_nested_in_it() -> None:
    page = "".join(
        f"- {name}\n  - works as a cook\n\n    on weekdays\n  - likes tea\n" for name in ("A", "B", "C", "D")
    )
    passages = split_page(page)
    assert [(passage.start, passage.end) for passage in passages] == [(1, 5), (6, 10), (11, 15), (16, 20)]


def test_a_line_that_announces_a_list_is_its_context() -> None:
    page = "# People\n\nWe met.\n\nOn the team:\n\n" + "\n".join(f"- {each}" for each in PEOPLE)
    first, item, *_ = split_page(page)
    assert first.text.endswith("On the team:")
    assert item.hint == "People On the team:"


@pytest.mark.parametrize(
    "page",
    [
        "# Shopping\n\n- oat milk\n- eggs\n- bread\n- salt\n- rice\n",
        "# To do\n\n" + "".join(f"- [ ] {each}\n" for each in PEOPLE),
        "# Deploy\n\n1. Pull the main branch.\n2. Run all of the tests.\n3. Tag it.\n4. Push the new tag.\n",
        "# Few\n\n" + "".join(f"- {each}\n" for each in PEOPLE[:3]),
        "# Code\n\n```yaml\n" + "".join(f"- {each}\n" for each in PEOPLE) + "```\n",
        "# Kitchen\n\n- - -\n\n* * *\n\nA text of its own.\n",
    ],
    ids=["words", "checklist", "steps", "three", "code", "rules"],
)
def test_what_only_says_something_as_a_whole_stays_whole(page: str) -> None:
    assert len(split_page(page)) == 1


def test_a_keyed_note_stays_whole_and_a_heading_by_hand_does_not() -> None:
    items = "\n".join(f"- {each}" for each in PEOPLE)
    note = f"### team\n\n{items}\n\n<!-- agentool-memory: at=2026-03-14T09:27:00Z -->\n"
    assert len(split_page(note)) == 1
    passages = split_page(f"### team\n\n{items}\n")
    assert len(passages) == len(PEOPLE)
    assert all("team" in passage.hint and passage.key == "team" for passage in passages)


def test_a_search_finds_one_person(memory: Memory) -> None:
    page = "# People\n\n" + "\n".join(f"- {each}" for each in PEOPLE)
    memory.call("update_world", {"topic": "people", "content": page})
    hit = memory.search("who is a pilot?")[0]
    assert (hit.text, hit.start, hit.end) == ("- Dev: pilot, lives in Pune", 6, 6)


ROWS = """
# Head
- an item of words
* an item of words
  - nested it is
\t- tab it is
2. Ann: is tall
  more of it
**Ann**: is tall
| a b | c d |
|---|---|
```
plain words here
The list:
---"""
lines = st.sampled_from(ROWS.split("\n"))


@given(page=st.lists(lines, max_size=30).map("\n".join))
def test_passages_are_lines_of_the_page_in_order_and_every_word_is_found(page: str) -> None:
    page = f"No front matter.\n{page}"
    rows = page.split("\n")
    passages = split_page(page)
    last = 0
    for passage in passages:
        assert passage.text == "\n".join(rows[passage.start - 1 : passage.end])
        assert passage.start > last
        last = passage.end
    matches = re.findall(r"\w+", " ".join(map(words_to_index, passages)))
    assert set(re.findall(r"\w+", page)) <= set(matches)


def test_a_result_says_under_which_headings_its_item_is(memory: Memory) -> None:
    former = "\n".join(f"- {each}" for each in PEOPLE)
    memory.call("update_world", {"topic": "people", "content": f"# People\n\nWe are few.\n\n## Former\n\n{former}\n"})
    (first, *_) = memory.call("memory_search", {"query": "who is a pilot?"})["results"]
    assert (first["text"], first["heading"]) == ("- Dev: pilot, lives in Pune", "People > Former")
    (whole, *_) = memory.call("memory_search", {"query": "We are few"})["results"]
    assert "heading" not in whole
    context = memory.context(query="who is a pilot?", budget=400).text
    assert 'under "People > Former"' in context
