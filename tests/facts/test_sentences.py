"""Where sentences end, which sentences a page has, and pages from which one is taken or in which one is replaced."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.facts.sentences import find_sentences, find_span, replace_sentence, split_sentences

DAY = "# 2026-03-02\n\n## 09:15\n\nAda leads. Grace builds the gauges.\n\n## 10:00\n\n- Ship on Tuesday\n- Never on Friday\n\n"


def texts(page: str) -> list[str]:
    return [sentence.text for sentence in find_sentences(page)]


def without(page: str, sentence: str, line: int = 1) -> str:
    span = find_span(page, sentence, line)
    assert span
    return replace_sentence(page, span, "")


def test_a_page_has_its_sentences_with_their_lines() -> None:
    result = [(sentence.text, sentence.first) for sentence in find_sentences(DAY)]
    assert result == [
        ("Ada leads.", 5),
        ("Grace builds the gauges.", 5),
        ("Ship on Tuesday", 9),
        ("Never on Friday", 10),
    ]


def test_front_matter_headings_code_and_comments_are_no_sentences() -> None:
    page = "---\ntags: [a]\n---\n\n# Storage\n\nOne file a gauge. <!-- pinned: src/a.py -->\n\n```sh\nls -l\n```\n"
    assert [(each.text, each.first) for each in find_sentences(page)] == [("One file a gauge.", 7)]


def test_links_and_tags_at_the_end_belong_to_the_sentence_before() -> None:
    page = "Nobody reads that mailbox. [[alarms]] #ops\n\n[[team]] knows.\n"
    assert texts(page) == ["Nobody reads that mailbox. [[alarms]] #ops", "[[team]] knows."]
    assert without(page, "Nobody reads that mailbox. [[alarms]] #ops") == "[[team]] knows.\n"


def test_a_record_is_one_sentence() -> None:
    page = "---\ntags: [a]\n---\n\nAda writes in vim. Grace does not.\nNoor neither.\n"
    assert find_sentences(page, is_record=True) == [("Ada writes in vim. Grace does not.\nNoor neither.", 5, 6)]


def test_a_sentence_goes_and_its_neighbour_stays() -> None:
    assert without(DAY, "Ada leads.") == DAY.replace("Ada leads. ", "")
    assert without(DAY, "Grace builds the gauges.") == DAY.replace(" Grace builds the gauges.", "")


def test_an_item_goes_with_its_mark() -> None:
    assert without(DAY, "Ship on Tuesday") == DAY.replace("- Ship on Tuesday\n", "")


def test_an_entry_goes_with_its_last_sentence() -> None:
    page = without(without(DAY, "Ada leads."), "Grace builds the gauges.")
    assert page == "# 2026-03-02\n\n## 10:00\n\n- Ship on Tuesday\n- Never on Friday\n\n"
    assert without(without(page, "Ship on Tuesday"), "Never on Friday") == "# 2026-03-02\n\n"


def test_a_keyed_note_goes_with_its_only_sentence() -> None:
    note = "### editor\nAda writes in vim.\n<!-- agentool-memory: at=2026-03-02T09:00:00Z tags=a -->\n\n"
    assert without(f"# Notes\n\n{note}### shell\nfish\n", "Ada writes in vim.") == "# Notes\n\n### shell\nfish\n"


def test_a_heading_that_a_person_gave_stays() -> None:
    assert without("# Team\n\n## Hours\n\nNine to five.\n", "Nine to five.") == "# Team\n\n## Hours\n\n"


def test_a_wrapped_sentence_is_found_across_its_lines() -> None:
    page = "The pilot wants a warning at least six hours ahead of each storm\nsurge, by phone.\n\nNot by mail.\n"
    sentence = find_sentences(page)[0]
    assert (sentence.first, sentence.last) == (1, 2)
    assert without(page, sentence.text) == "Not by mail.\n"


def test_a_comment_goes_with_the_line_that_it_is_about() -> None:
    page = "Ada leads. <!-- commonplace: supersedes 3f9a01c2 -->\n\nGrace builds.\n"
    assert texts(page) == ["Ada leads.", "Grace builds."]
    assert without(page, "Ada leads.") == "Grace builds.\n"


def test_the_nearest_of_two_equal_sentences_is_meant() -> None:
    page = "Ask Ada.\n\nThen wait.\n\nAsk Ada.\n"
    span = find_span(page, "Ask Ada.", 5)
    assert span
    assert replace_sentence(page, span, "Ask Grace.") == "Ask Ada.\n\nThen wait.\n\nAsk Grace.\n"


def test_front_matter_is_never_touched() -> None:
    page = "---\nkey: Ask Ada.\n---\n\nAsk Ada.\n"
    assert without(page, "Ask Ada.").startswith("---\nkey: Ask Ada.\n---\n")


@pytest.mark.parametrize("missing", ["", "   ", "Nobody said so."])
def test_what_is_not_there_is_not_found(missing: str) -> None:
    assert find_span(DAY, missing, 1) is None


WORDS = st.text(alphabet="abcÄ é.!?-*#>`[]()\n1 ", min_size=0, max_size=120)


@given(WORDS)
def test_every_sentence_can_be_replaced_where_it_is(text: str) -> None:
    for sentence in find_sentences(text):
        span = find_span(text, sentence.text, sentence.first)
        assert span, sentence
        changed = replace_sentence(text, span, "XYZ")
        assert changed == text[: span[0]] + "XYZ" + text[span[1] :]


@given(WORDS, st.integers(min_value=0, max_value=20))
def test_removing_a_sentence_invents_nothing(text: str, number: int) -> None:
    sentences = find_sentences(text)
    if not sentences:
        return
    sentence = sentences[number % len(sentences)]
    span = find_span(text, sentence.text, sentence.first)
    assert span
    left = iter(text)
    assert all(character in left for character in replace_sentence(text, span, ""))  # in order, and nothing new


@pytest.mark.parametrize(
    "sentence",
    [
        "Max wohnt in der Hauptstr. 5 in Ulm.",
        "Die Miete ist 850 Euro inkl. Strom.",
        "Max geht in die 3. Klasse.",
        "Wir nehmen z. B. Ulm.",
        "La cita es con la Sra. López.",
        "Le rendez-vous est avec Mme. Durand.",
        "Живёт на ул. Ленина, д. 5.",
        "The meeting with Dr. Wolf is on Jan. 5.",
        "No. 5 is ours.",
    ],
)
def test_a_sentence_goes_on_after_an_abbreviation(sentence: str) -> None:
    assert [each for each, _, _ in split_sentences(f"{sentence} Ok.")] == [sentence, "Ok."]


@pytest.mark.parametrize("sentence", ["The p95 is 300 ms.", "The limit is 25.", "No.", "We live on Main street."])
def test_a_sentence_ends_after_a_word_or_a_number(sentence: str) -> None:
    assert [each for each, _, _ in split_sentences(f"{sentence} We agreed.")] == [sentence, "We agreed."]
