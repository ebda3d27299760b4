from __future__ import annotations

from typing import Any

from hypothesis import given

from commonplace.formats import records
from commonplace.model import Record, Skill

from ..texts import json_values, names, texts

NAMED = Record("file-name", "", path="memory/global/general/file-name.md", created_at="c", updated_at="u")


@given(json_values)
def test_any_value_comes_back_with_its_type(value: Any) -> None:
    page = records.render_record("", value, {"created_at": "2026-03-14T09:26:53Z"})
    read = records.parse_record(page, NAMED)
    assert (read.value, type(read.value)) == (value, type(value))
    assert read.warning == ""


@given(names, texts, texts)
def test_any_key_and_any_second_value_survive(key: str, first: str, second: str) -> None:
    page = records.render_record("", first, {"key": key, "tags": ["a"]})
    page = records.render_record(page, second, {"tags": None})
    read = records.parse_record(page, NAMED)
    assert (read.key, read.value, read.tags) == (key, second, ())


def test_a_page_written_by_hand_is_a_record() -> None:
    read = records.parse_record("just text\n", NAMED)
    assert (read.key, read.value, read.category, read.created_at) == ("file-name", "just text", "general", "c")
    read = records.parse_record("---\ntags: red, green\nkey: Other\n---\nvalue\n", NAMED)
    assert (read.key, read.value, read.tags) == ("Other", "value", ("red", "green"))


def test_what_a_person_added_to_the_front_matter_stays() -> None:
    page = "---\n# mine\naliases: [x]\ntags: [old]   # labels\n---\n\nold\n"
    assert records.render_record(page, "new", {"tags": ["fresh"]}) == (
        "---\n# mine\naliases: [x]\ntags: [fresh]   # labels\n---\n\nnew\n"
    )


def test_a_value_that_claims_to_be_json_and_is_not_is_reported() -> None:
    read = records.parse_record("---\ntype: json\n---\n\n{broken\n", NAMED)
    assert read.value == "{broken"
    assert NAMED.path in read.warning


def test_broken_front_matter_is_reported_and_the_value_is_still_there() -> None:
    read = records.parse_record("---\na: [\n---\n\nvalue\n", NAMED)
    assert read.value == "value"
    assert NAMED.path in read.warning


def test_the_value_line_is_where_the_value_starts() -> None:
    page = records.render_record("", "value\nmore", {"created_at": "x"})
    assert page.split("\n")[records.find_value_line(page) - 1] == "value"
    assert records.find_value_line("value\n") == 1


@given(names, texts, texts, names)
def test_any_skill_comes_back_exactly(name: str, description: str, instructions: str, owner: str) -> None:
    skill = Skill(name, description, instructions, owner, training_progress=7, created_at="c", updated_at="u")
    page = records.render_skill("", skill, "folder")
    assert records.parse_skill(page, Skill("folder", "")) == skill
    changed = skill._replace(instructions=description, training_progress=8)
    assert records.parse_skill(records.render_skill(page, changed, "folder"), Skill("folder", "")) == changed


def test_fields_of_an_agent_skill_that_are_not_ours_stay() -> None:
    page = "---\nname: x\ndescription: d\nlicense: MIT\nmetadata:\n  author: me\n---\n\ndo\n"
    written = records.render_skill(page, Skill("x", "new", "do"), "x")
    assert "license: MIT" in written
    assert "  author: me" in written
    assert "description: new" in written
