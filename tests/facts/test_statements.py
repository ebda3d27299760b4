"""Text cut into statements."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.facts.statements import MAX_STATEMENTS, fact_keys, split_statements


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
