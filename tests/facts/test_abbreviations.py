"""A full stop after an abbreviation ends no sentence."""

from __future__ import annotations

import pytest

from commonplace.facts.statements import split_sentences


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
