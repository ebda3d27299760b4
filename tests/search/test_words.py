"""The words of a query: whole words, inflections and stop words."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonplace.search.words import QueryWords, has_content


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
