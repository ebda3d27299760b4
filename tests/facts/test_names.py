"""Names that many texts mention, and what they are likely to be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.facts.names import Name, find_names


def names(*texts: str, min_texts: int = 1) -> list[Name]:
    return find_names({str(number): text for number, text in enumerate(texts)}, min_texts=min_texts, limit=50)


def spell_names(*texts: str, min_texts: int = 1) -> set[str]:
    return {name.text for name in names(*texts, min_texts=min_texts)}


def test_capitalised_words_inside_sentences_are_names() -> None:
    assert spell_names("We asked Grace. Then the Blue Harbor team left.") == {"Grace", "Blue Harbor"}


def test_the_first_word_of_a_sentence_is_a_name_only_if_it_is_one_elsewhere() -> None:
    assert spell_names("Decided today. Grace left.", "We miss Grace.") == {"Grace"}
    assert len(names("Grace left.", "We miss Grace.")[0].keys) == 2


def test_words_that_are_also_written_small_are_no_names() -> None:
    assert spell_names("The Release is out.", "a release is late", "no release today") == set()


def test_days_months_code_and_addresses_are_no_names() -> None:
    assert (
        spell_names("Come on Friday in March.", "run `make Docs` at https://Example.org/Path", "```\nlet Foo = 1\n```")
        == set()
    )


def test_a_first_name_is_the_full_name_that_begins_with_it() -> None:
    (ada,) = names("We met Ada Okafor.", "I asked Ada.", "Ada agreed.")
    assert (ada.text, len(ada.keys)) == ("Ada Okafor", 3)


def test_two_full_names_share_no_first_name() -> None:
    assert spell_names("We met Ada Okafor.", "We met Ada Weber.", "I asked Ada.") == {"Ada Okafor", "Ada Weber", "Ada"}


def test_people_projects_and_systems_are_distinguished_by_the_words_around_them() -> None:
    name_texts = names(
        "I think Ada prefers tea.", "And Ada said so.", "The launch of Heron slipped.", "So Heron ships in May.",
        "The outage of Kafka is over.", "Then Kafka lost its connections.", "We like Delft.",
    )  # fmt: skip
    assert {name.text: name.kind for name in name_texts} == {
        "Ada": "person", "Heron": "project", "Kafka": "system", "Delft": "name"
    }  # fmt: skip


def test_only_names_in_enough_texts_count_and_the_most_common_comes_first() -> None:
    texts = ["We asked Grace and Ada.", "We asked Grace.", "We asked Grace.", "We asked Ada.", "We asked Noor."]
    assert [name.text for name in names(*texts, min_texts=2)] == ["Grace", "Ada"]


@given(st.lists(st.text(max_size=200), max_size=5))
def test_any_text_can_be_read(texts: list[str]) -> None:
    for name in names(*texts):
        assert name.keys
        assert name.text
