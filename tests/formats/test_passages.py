from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.formats import blocks, passages, records
from commonplace.formats.passages import (
    find_common_limit,
    find_inline_tags,
    read_page_tags,
    shorten_page,
    shorten_transcript,
    split_line,
    split_page,
    titles_above,
    words_to_index,
)
from commonplace.model import Record, Skill

from ..costs import count_calls, empty_caches
from ..texts import texts


@given(texts)
def test_a_passage_is_exactly_the_lines_it_names(text: str) -> None:
    lines = text.split("\n")
    for passage in passages.split_page(text):
        assert passage.text == "\n".join(lines[passage.start - 1 : passage.end])


def test_every_line_that_says_something_is_in_a_passage() -> None:
    page = "intro\n\n# One\n\n" + "\n\n".join(f"paragraph {n} " + "word " * 60 for n in range(12)) + "\n## Two\n\nend\n"
    covered = {n for p in passages.split_page(page) for n in range(p.start, p.end + 1)}
    assert {n for n, line in enumerate(page.split("\n"), 1) if line.strip()} <= covered


def test_a_passage_knows_the_headings_above_it() -> None:
    result = passages.split_page("# Garden\n\n## Roses\n\nPrune in March.\n", "notes")
    assert "Garden" in result[-1].hint
    assert "notes" in result[-1].hint


def test_a_block_is_a_passage_with_its_key_and_tags() -> None:
    page = blocks.append("# 2026-03-14\n\n## 09:00\n\nentry\n\n", "editor", "vim", "2026-03-14T09:26:53Z", ["tools"])
    entry, block = passages.split_page(page)
    assert "entry" in entry.text
    assert (block.key, block.tags, block.at) == ("editor", ("tools",), "2026-03-14T09:26:53Z")


def test_a_record_is_found_on_the_lines_of_its_value() -> None:
    page = records.render_record("", "vim\nreally", {"created_at": "x"})
    (passage,) = passages.split_record(page, Record("editor", "vim\nreally", tags=("t",)))
    assert passage.text == "vim\nreally"
    assert page.split("\n")[passage.start - 1] == "vim"
    assert "editor" in passage.hint


_LINES = ["", "text", "- an item says so", "# 2026-03-14", "## 09:00", "## Topic", "### key", "#### deep", "```", "~~~"]
_LINES += [
    "<!-- agentool-memory: at=2026-03-14T09:26:53Z tags=a -->",
    "<!-- agentool-memory: at=x -->\r",
    "<!-- note -->",
]


@given(st.lists(st.sampled_from(_LINES), max_size=40).flatmap(st.permutations))
def test_a_page_that_is_split_piece_by_piece_has_the_same_passages(lines: list[str]) -> None:
    page = "\n".join(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passages, "_HEADINGS_PER_PIECE", 1)
        in_pieces = split_page(page, "notes"), passages.list_titles(page)
        patch.setattr(passages, "_HEADINGS_PER_PIECE", 1_000_000)
        assert in_pieces == (split_page(page, "notes"), passages.list_titles(page))


def test_an_entry_costs_the_same_on_a_long_page() -> None:
    page = "# 2026-03-14\n\n" + "".join(f"## 09:{n % 60:02}\n\nThe {n}. entry of the day.\n\n" for n in range(400))
    empty_caches()
    split_page(page)
    longer = page + "## 10:00\n\nOne more.\n"
    assert count_calls(split_page, longer) < 8 * 400  # to put each passage on its lines
    assert split_page(longer)[-1].text == "## 10:00\n\nOne more."


def test_a_heading_after_a_block_in_a_fence_is_a_heading() -> None:
    footer = "<!-- agentool-memory: at=2026-03-14T09:26:53Z -->"
    page = f"```\n### key\n```\n\nvim\n\n{footer}\n\n# Title\n\ntext\n\n## Topic\n\nmore\n"
    assert [passage.lead for passage in split_page(page)][-2:] == ["Title", "Title Topic"]


@pytest.mark.parametrize("rule", ["---", "***", " - - -", "____________"])
def test_a_line_across_the_page_is_no_passage_by_itself(rule: str) -> None:
    long = "A paragraph that is long enough to stand for itself, said again. " * 40
    result = passages.split_page(f"# Sofa\n\n{long}\n\n{rule}\n\n{long}\n\n{rule}\n")
    assert sum("paragraph" in passage.text for passage in result) == 2
    assert all(passage.text.strip() != rule.strip() for passage in result)


pages = st.lists(
    st.sampled_from(["# a\n", "## 09:30\n", "```\n", "words on a line\n", "\n", "x" * 50, "汉字\n"]), max_size=30
).map("".join)


@given(pages, st.integers(0, 300))
def test_a_shortened_page_keeps_its_lines_and_the_beginning_of_each(text: str, limit: int) -> None:
    remaining, parts = shorten_page(text, limit)
    assert remaining.count("\n") == text.count("\n")
    assert all(line.startswith(short) for line, short in zip(text.split("\n"), remaining.split("\n"), strict=True))
    assert (remaining == text) == (parts == 0 or set(text[len(remaining) :]) <= {"\n"})
    assert len(remaining.replace("\n", "")) <= max(limit, 0) or len(text) <= limit


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


def test_a_long_title_or_description_is_not_repeated_for_every_passage() -> None:
    long = "x" * 100_000 + " last"
    body = "a line of some words\n" * 5_000
    whole = Skill("brew", long, data={"grinder": long})
    result = [
        passages.split_page(f"# {long}\n\n{body}"),
        passages.split_record(records.render_record("", body, {}), Record("k", body, tags=(long,))),
        passages.split_skill(f"---\nname: brew\n---\n{body}", whole),
        passages.split_skill(f"---\nname: brew\ndescription: {long}\n---\n", whole),
    ]
    for parts in result:
        assert len(parts) > 50
        assert sum(len(part.hint) + len(part.lead) + len(part.text) for part in parts) < 1_000_000
        assert any("last" in f"{part.hint}{part.text}" for part in parts)
    assert all(part.hint.startswith("brew") for part in result[2])


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
    paths = {hit.path for hit in memory.search("beds", tags=["garden"])}
    assert paths == {"memory/beds.md", "memory/shed.md"}


def test_a_section_that_is_there_twice_has_the_lines_of_each_place() -> None:
    section = "## Ports\n\nThe gateway listens on 8443.\n\n"
    text = f"# Servers\n\n{section}{section}Intro.\n\n{section}"
    lines = text.split("\n")
    passages = split_page(text)
    assert [part.start for part in passages if "8443" in part.text] == [3, 7, 13]
    assert all("\n".join(lines[part.start - 1 : part.end]) == part.text for part in passages)


def test_a_heading_in_an_entry_of_a_day_is_not_above_the_entries_after_it() -> None:
    page = "# 2026-03-14\n\n## 09:26\n\n# Billing\n\nIt crashed.\n\n## 10:00\n\nBought a plant.\n"
    crash, plant = split_page(page, "2026-03-14")[-2:]
    assert "Billing" in crash.hint
    assert crash.lead == "Billing"
    assert "Billing" not in plant.hint
    assert plant.lead == ""
    assert titles_above(page, 7) == ("Billing",)
    assert titles_above(page, 11) == ()


def test_on_a_page_that_is_no_day_times_are_below_their_heading() -> None:
    page = "# Fair\n\n## 09:30\n\nDoors open.\n\n# Dinner\n\n## 19:00\n\nSoup.\n"
    assert titles_above(page, 5) == ("Fair",)
    assert titles_above(page, 11) == ("Dinner",)


# A hit on a list of people is one person: which lists are cut by item, and which stay whole.


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
