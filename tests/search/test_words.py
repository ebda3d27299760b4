"""The words of a query: whole words, inflections and stop words."""

from __future__ import annotations

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.search.words import QueryWords, has_content, is_one_edit_away


def has(query: str, text: str) -> bool:
    words = QueryWords(query)
    return any(term in words.index(text) for term in words.terms)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cars", "my car"),
        ("went", "we go there"),
        ("go", "they went there"),
        ("children", "one child"),
        ("try", "three tries"),
        ("tries", "a try"),
        ("user_name", "the user-name is Ann"),
        ("Ann's", "ann is here"),
        ("café", "the Cafes of Rome"),
        ("ÜBERSICHT", "übersicht"),
        ("%", "100% done"),
        ("🚀", "launch 🚀 today"),
        ("to be or not to be", "it is to be"),
    ],
)
def test_a_text_has_a_word(query: str, text: str) -> None:
    assert has(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("or", "for"),
        ("plan", "planet plane plant"),
        ("car", "care career scar"),
        ("note", "do not"),
        ("new", "the news"),
        ("use", "us"),
        ("test", "latest contest"),
        ("art", "start party"),
        ("what is the drink", "this is the text of the house"),
        ("son birthday", "die Rechnung"),
        ("wo ist die Rechnung", "die Katze ist da"),
        ("%", "*"),
        ("绿茶的味道", "红酒的价格"),
    ],
)
def test_a_piece_of_a_word_or_a_stop_word_is_not_found(query: str, text: str) -> None:
    assert not has(query, text)


def test_a_foreign_stop_word_that_is_an_english_word_counts() -> None:
    assert has("son birthday", "my son is six")
    assert has("die hard", "batteries die")


@pytest.mark.parametrize(
    "text",
    ["what happened", "what did we do", "was ist passiert", "¿qué pasó?", "发生了什么", "что произошло", "", "?"],
)
def test_a_question_about_a_day_alone_has_no_content(text: str) -> None:
    assert not has_content(text)


@pytest.mark.parametrize("text", ["what did we decide", "which release went out", "谁来过会议", "wer hat angerufen"])
def test_a_question_about_something_has_content(text: str) -> None:
    assert has_content(text)


@given(st.text(max_size=40), st.text(max_size=80))
@example("ß", "SS")
@example("\u0301", "a")
@example("ﷺ", "ﷺ")
def test_no_text_is_too_odd_to_look_for_or_to_look_in(query: str, text: str) -> None:
    words = QueryWords(query)
    words.index(text)
    has_content(text)
    assert words.terms
    assert words.whole in words.index(f"{text}\n{query}\n{text}")


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
