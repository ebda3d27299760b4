"""Text cut into statements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.facts.statements import (
    MAX_STATEMENTS,
    choose_from_text,
    choose_statements,
    fact_keys,
    find_statements,
    list_required,
    lookup_keys,
    query_stems,
    split_statements,
)


def texts(text: str) -> list[str]:
    return [statement.text for statement in split_statements(text)]


def test_sentences_list_items_and_labels_are_statements() -> None:
    page = "# Plan\n\nThe port is 8080. Anna owns it.\n\n- Deadline: 12 Nov\n- [x] the **host** is `db1`\n"
    assert texts(page) == ["The port is 8080.", "Anna owns it.", "Deadline: 12 Nov", "the host is db1"]


def test_a_wrapped_sentence_is_one_statement_with_both_lines() -> None:
    text = "The billing service of the northern region is owned by the team\nof Anna since March."
    (statement,) = split_statements(text)
    assert statement.text.endswith("the team of Anna since March.")
    assert (statement.first_line, statement.last_line) == (0, 1)


def test_initials_and_abbreviations_end_no_sentence() -> None:
    assert texts("C. S. Forester is a citizen of Egypt. Mr. Lim is my dentist.") == [
        "C. S. Forester is a citizen of Egypt.",
        "Mr. Lim is my dentist.",
    ]


def test_code_what_speakers_ask_and_what_the_assistant_says_make_no_statements() -> None:
    assert texts("```\nthe port is 8080\n```\n") == []
    assert split_statements("user: Is the port 8080?", is_turn=True) == []
    assert split_statements("assistant: The port is 8080.", is_turn=True) == []
    (statement,) = split_statements("user (Ann): The port is 8080.", is_turn=True)
    assert (statement.text, statement.speaker) == ("The port is 8080.", "Ann")


def test_a_question_in_a_note_is_open() -> None:
    (statement,) = split_statements("Which port do we use?")
    assert "open" in statement.cues


@given(st.text(max_size=600))
def test_any_text_has_a_bounded_number_of_statements(text: str) -> None:
    statements = split_statements(text)
    lines = text.count("\n")
    assert len(statements) <= MAX_STATEMENTS
    assert all(0 <= each.first_line <= each.last_line <= lines for each in statements)
    assert fact_keys(text) == fact_keys(text)


def test_clauses_that_say_something_of_their_own_are_statements() -> None:
    texts = [each.text for each in split_statements("Tests run with pytest -q; CI is on CircleCI.")]
    assert texts == ["Tests run with pytest -q", "CI is on CircleCI."]
    whole = "We chose Postgres for billing; the usual reasons."
    assert [each.text for each in split_statements(whole)] == [whole]


NOTES = (
    "The port of the API is 8080. Anna lives in Porto; the office is in Lisbon. We shan't move it.",
    "- Deadline: 12 Nov\n- the **dead**line is 14 Nov now\n- call at 3 o'clock\n",
    "The launch is on 26 November. <!-- commonplace: supersedes 3f9a01c2 -->\nThe e-mail address is a.b@example.org.",
    "我喜欢喝绿茶。 会议 在 北京。明天下午三点在北京开会。",
    "Die Miete wurde angehoben. Der Vertrag läuft bis März. L'école est à Paris.",
    "ฉันอยู่ที่กรุงเทพ. उसका दफ़्तर दिल्ली में है।",
)


@pytest.mark.parametrize("question", NOTES)
@pytest.mark.parametrize("text", NOTES)
def test_what_shares_a_key_is_found_without_parsing_every_sentence(text: str, question: str) -> None:
    keys = {key: parts for statement in split_statements(question) for key, parts in lookup_keys(statement).items()}
    expected = [list_required(parts) for parts in keys.values()]
    result = {statement.text: stored & keys.keys() for statement, stored in find_statements(text, expected)}
    for statement in split_statements(text):
        shared = keys.keys() & fact_keys(statement.text)
        assert result.get(statement.text, frozenset()) >= shared


@given(st.sampled_from(NOTES), st.text(alphabet="aeipoldrtn 8北京", max_size=20))
def test_the_statements_that_a_query_is_about_are_the_same_without_parsing_every_sentence(
    text: str, query: str
) -> None:
    stems = query_stems(f"{query} {text[:12]}")
    assert [*choose_from_text(text, stems)] == choose_statements(split_statements(text), stems)
