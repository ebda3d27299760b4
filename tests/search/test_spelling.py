"""Misspelled words of a query find what they were meant to be, where no passage has them."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.search.spelling import is_one_edit_away

WORDS = st.text(alphabet=string.ascii_lowercase, min_size=1, max_size=9)
NOTES = (
    "The Kubernetes cluster runs in Frankfurt.",
    "The restaurant opens at six.",
    "Chiara plays the accordion.",
    "Der Schlüssel liegt im Briefkasten.",
)


@pytest.fixture
def notes(memory: Memory) -> Memory:
    for note in NOTES:
        memory.call("remember", {"content": note})
    return memory


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("kubernets cluster", 0),
        ("frankfrut", 0),
        ("resturant", 1),
        ("who plays the acordion?", 2),
        ("Wo ist der Briefkaste", 3),
    ],
)
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_a_misspelled_word_finds_its_note(notes: Memory, query: str, place: int, mode: str) -> None:
    assert NOTES[place] in notes.search(query, mode=mode)[0].text


@pytest.mark.parametrize("query", ["port", "fox", "kubxxnetes", "4433"])
def test_short_and_quite_different_words_and_numbers_are_not_corrected(notes: Memory, query: str) -> None:
    assert notes.search(query, mode="keyword") == []


def test_a_word_that_a_passage_has_is_taken_as_it_is(notes: Memory) -> None:
    notes.call("remember", {"content": "Accordian is a village."})
    assert "village" in notes.search("accordian", mode="keyword")[0].text


@given(WORDS, st.integers(0, 8), st.sampled_from(string.ascii_lowercase))
def test_one_letter_more_less_or_changed_is_one_edit(word: str, place: int, letter: str) -> None:
    place = min(place, len(word) - 1)
    more = word[:place] + letter + word[place:]
    less = word[:place] + word[place + 1 :]
    changed = word[:place] + letter + word[place + 1 :]
    assert is_one_edit_away(word, more)
    assert is_one_edit_away(more, word)
    assert is_one_edit_away(word, less)
    assert is_one_edit_away(word, changed) == (word != changed)


@given(WORDS)
def test_a_word_is_no_edit_of_itself(word: str) -> None:
    assert not is_one_edit_away(word, word)


def test_swapped_neighbours_are_one_edit_and_two_changes_are_not() -> None:
    assert is_one_edit_away("frankfrut", "frankfurt")
    assert not is_one_edit_away("abcd", "badc")
