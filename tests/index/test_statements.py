"""Statements as an index stores them are those that their text has."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.facts.prefilter import hash_stems, make_sketch
from commonplace.facts.statements import (
    choose_from_text,
    fact_keys,
    lookup_keys,
    query_stems,
    split_statements,
    stored_keys,
)
from commonplace.index import sqlite
from commonplace.index.statements import choose_stored, list_keys, read_facts, read_stored, unpack_statements
from commonplace.storage.postgres import index as postgres

from ..facts.test_statements import NOTES

ANSWERED = "The launch is on 26 November. <!-- commonplace: supersedes 3f9a01c2 -->"
TASKS = "## To do\n\n- [ ] call Ann\n- [x] book the flight to Porto\n\nThe rent is paid."
TURNS = ("user (Ann): I used to like tea, but not any more. I live in Porto.", "assistant: The port is 8080.")
# How the texts above are read by the program whose indexes in a folder and in PostgreSQL have these schema versions.
RULES = (25, 19, 3250561913)


def check_same(text: str, query: str, *, is_turn: bool = False) -> None:
    statements = split_statements(text, is_turn=is_turn)
    keys, packed = read_facts(text, is_turn=is_turn)
    assert keys == fact_keys(text, is_turn=is_turn)
    if packed is None:
        return
    stored = unpack_statements(*packed)
    assert list_keys(stored) == keys
    assert [read_stored(stored, place) for place in stored.places] == statements
    assert [[*stored.list_stored_keys(place)] for place in stored.places] == [
        [*dict.fromkeys(stored_keys(each))] for each in statements
    ]
    assert [*map(stored.read_sketch, stored.places)] == [*map(make_sketch, statements)]
    stems = query_stems(query)
    places = choose_stored(stored, frozenset(hash_stems(stems)))
    selection = [(each, [*lookup_keys(each)]) for each in choose_from_text(text, stems, is_turn=is_turn)]
    assert [(read_stored(stored, place), [*stored.list_lookup_keys(place)]) for place in places] == selection


@pytest.mark.parametrize("text", [*NOTES, TASKS])
@pytest.mark.parametrize("question", NOTES)
def test_notes_in_any_language_are_stored_as_they_are_read(text: str, question: str) -> None:
    check_same(text, question)


@pytest.mark.parametrize("text", TURNS)
def test_turns_are_stored_as_they_are_read(text: str) -> None:
    check_same(text, "tea in Porto", is_turn=True)


@given(st.text(max_size=300), st.text(max_size=30))
def test_any_text_is_stored_as_it_is_read(text: str, asked: str) -> None:
    check_same(text, asked)
    check_same(f"user: {text}", asked, is_turn=True)


def test_what_a_person_answered_is_read_in_the_text() -> None:
    assert read_facts(ANSWERED).stored is None


def test_a_word_of_one_letter_many_times_is_a_word() -> None:
    check_same("eeee is the port of the eeee", "eeee")


@pytest.mark.parametrize("row", [(b"", "[]"), (b"abc", "[]"), (None, "[]"), (b"\0\0\0\0", None), (b"\1\0\0\0", "[]")])
def test_damaged_rows_are_noticed(row: tuple[object, object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        unpack_statements(*row)


def test_other_rules_have_another_index() -> None:
    """Indexes keep statements as they were read: whoever changes how, raises `SCHEMA_VERSION` in `index/sqlite.py` and
    in `storage/postgres/index.py`, and writes both here, with the number that this test names."""
    read = [read_facts(text) for text in (*NOTES, ANSWERED)]
    read += [read_facts(text, is_turn=True) for text in TURNS]
    assert (sqlite.SCHEMA_VERSION, postgres.SCHEMA_VERSION, zlib.crc32(repr(read).encode())) == RULES


def test_what_is_stored_follows_an_edit_by_hand(home: Path) -> None:
    page = home / "memory/world/team.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    with Memory(home) as memory:
        for text in ("Anna lives in Porto.", "Anna lives in Lisbon now."):
            page.write_text(f"{text}\n")
            assert memory.search("Where does Anna live?")
            assert stored_texts(home) == [text]
        page.unlink()
        assert not memory.search("Where does Anna live?")
        assert stored_texts(home) == []


def stored_texts(home: Path) -> list[str]:
    (file,) = (home / ".index").glob("words-*.sqlite")
    with closing(sqlite3.connect(file)) as db:
        rows = db.execute("SELECT keys, parsed FROM statements").fetchall()
    stored = [unpack_statements(*row) for row in rows]
    return [read_stored(some, place).text for some in stored for place in some.places]
