"""Words of a query are found in a text by the rules of the tokenizer, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.index.tokenizer import detect_language, find_highlights, split_runs, stem, to_utf16


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Ann prefers green Teas, never coffee.", "does Ann like tea?", ["Ann", "Teas"]),
        ("Running, RAN, runs", "run", ["Running", "runs"]),
        ("Cafés and café", "cafe", ["Cafés", "café"]),
        ("東京都に住んでいます", "東京", ["東京"]),
        ("서울에서 왔어요", "서울", ["서울"]),
        ("green tea", "of the", []),
        ("the of", "the", ["the"]),
        ("nothing here", "quokka", []),
    ],
)
def test_words_are_marked_as_they_are_found(text: str, query: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in find_highlights(text, query)] == marked


def test_marks_can_be_counted_as_browsers_count() -> None:
    text = "💥💥 tea 💥 tea"
    spans = to_utf16(text, find_highlights(text, "tea"))
    units = text.encode("utf-16-le")
    assert [units[2 * start : 2 * end].decode("utf-16-le") for start, end in spans] == ["tea", "tea"]


@given(st.text(max_size=60), st.text(max_size=20))
def test_marks_lie_within_the_text_in_order_and_apart(text: str, query: str) -> None:
    at = -1
    for start, end in find_highlights(text, query):
        assert at < start < end <= len(text)
        at = end


# Inflections of a word are found by one another, in every language that has rules.


# A note, and a question with another inflection of one of its words and no other word in common.
INFLECTIONS = {
    "german": ("Der Bericht ist in den Ordnern der Abteilung.", "Wo ist der Ordner?"),
    "french": ("Les factures sont dans les tiroirs du bureau.", "Où est le tiroir ?"),
    "spanish": ("Las llaves están en los cajones de la cocina.", "¿Dónde está el cajón?"),
    "italian": ("I documenti sono nelle cartelle del progetto.", "Dove è la cartella?"),
    "portuguese": ("As chaves estão nas gavetas da cozinha.", "Onde está a gaveta?"),
    "dutch": ("De sleutels liggen in de laden van het bureau.", "Waar is de sleutel?"),
    "polish": ("Klucze są w szufladach przy oknie.", "Gdzie jest klucz?"),
    "turkish": ("Anahtarlar ve belgeler bu dolapta, bir kutuda.", "Anahtar nerede?"),
    "indonesian": ("Kunci itu ada di dalam laci dan pembayaran sudah selesai.", "Kapan bayaran itu?"),
    "russian": ("Ключи лежат в ящиках стола.", "Где ящик?"),
    "greek": ("Τα κλειδιά είναι στα συρτάρια της κουζίνας.", "Πού είναι το συρτάρι;"),
    "arabic": ("يعمل المهندسون على الجسر الجديد.", "أين مهندس؟"),
    "hindi": ("चाबियाँ दराजों में रखी हैं।", "दराज कहाँ है?"),
    "persian": ("کلیدها در کشوهای میز هستند.", "کشو کجا است؟"),
}


@pytest.mark.parametrize("language", INFLECTIONS)
def test_a_question_finds_another_inflection_of_its_word(memory: Memory, language: str) -> None:
    note, question = INFLECTIONS[language]
    memory.call("update_world", {"topic": "answer", "content": note})
    memory.call("update_world", {"topic": "other", "content": "12345 67890"})
    assert [hit.path for hit in memory.search(question, mode="keyword")][:1] == ["memory/world/answer.md"]


@pytest.mark.parametrize(
    "language", [name for name in INFLECTIONS if INFLECTIONS[name][0].isascii() or name in "french"]
)
def test_function_words_tell_the_language(language: str) -> None:
    assert detect_language(run for run, _ in split_runs(INFLECTIONS[language][0])) == language


@pytest.mark.parametrize("text", ["", "Kubernetes", "deploy on Friday", "the die is cast", "con man", "x = y + 1"])
def test_english_is_assumed_where_nothing_tells(text: str) -> None:
    assert detect_language(run for run, _ in split_runs(text)) == "english"


def test_a_word_alone_finds_a_note_in_another_language_as_it_is_written(memory: Memory) -> None:
    memory.call("update_world", {"topic": "trabajo", "content": "El trabajo en Madrid es para los meses de verano."})
    assert memory.search("trabajo", mode="keyword")
    assert memory.search("Madrid verano", mode="keyword")


def test_english_words_are_found_in_a_note_of_another_language(memory: Memory) -> None:
    memory.call("update_world", {"topic": "infra", "content": "Wir haben die Deployments auf den Freitag gelegt."})
    assert memory.search("when are deployments?", mode="keyword")


def test_a_stem_is_never_empty() -> None:
    for word in ("ال", "و", "и", "के", "a", "1"):
        assert stem(word)


@pytest.mark.parametrize("language", ["english", "french", "german"])
def test_what_is_too_long_for_a_word_is_left_alone(language: str) -> None:
    assert stem("é" + "ing" * 1000, language) == "é" + "ing" * 1000
    assert stem("ing" * 1000, language) == "ing" * 1000
