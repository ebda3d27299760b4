"""The kind of value that a question asks for: a note about the same thing that gives another kind is no answer."""

from __future__ import annotations

import pytest

from commonplace import Memory
from commonplace.search.answer_kinds import read_question

NOTES = (
    "The school trip to the aquarium costs 38 euros per child.",
    "Dentist on Tuesday at 9.",
    "Lottes Fahrrad ist dunkelblau.",
    "Le plombier passe jeudi matin.",
    "La boda de Carmen será en Toledo.",
    "Экскурсия в Суздаль стоит 1500 рублей.",
    "家长会在三楼会议室。",
    "遠足の費用は一人2500円です。",
)


@pytest.fixture
def notes(memory: Memory) -> Memory:
    for key, note in zip("abcdefgh", NOTES, strict=True):
        memory.call("write_memory", {"key": key, "content": note})
    return memory


@pytest.mark.parametrize(
    "question",
    [
        "When is the school trip?",
        "Wie teuer war Lottes Fahrrad?",
        "Combien coûte le plombier ?",
        "¿Cuándo es la boda de Carmen?",
        "Когда экскурсия в Суздаль?",
        "家长会几点开始？",
        "遠足はいつですか？",
    ],
)
def test_a_note_with_another_attribute_scores_low(notes: Memory, question: str) -> None:
    assert notes.search(question)[0].score < 0.3


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("How much is the school trip?", 0),
        ("When is my dentist appointment?", 1),
        ("Welche Farbe hat das Fahrrad von Lotte?", 2),
        ("Quand vient le plombier ?", 3),
        ("¿Dónde es la boda de Carmen?", 4),
        ("Сколько стоит экскурсия в Суздаль?", 5),
        ("家长会在哪里？", 6),
        ("遠足の費用はいくら？", 7),
    ],
)
def test_a_note_with_the_kind_asked_for_is_found(notes: Memory, question: str, note: int) -> None:
    best = notes.search(question)[0]
    assert NOTES[note] in best.text
    assert best.score >= 0.5


def test_nothing_is_recalled_for_an_attribute_that_no_note_gives(notes: Memory) -> None:
    assert str(notes.recall_for("When is the school trip?")) == ""
    assert "38 euros" in str(notes.recall_for("How much is the school trip?"))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How long is the warranty?", "The dishwasher has a two-year warranty."),
        ("When is Ann's birthday?", "Ann's birthday is in May."),
        ("When is Ann's birthday?", "Ann's birthday is the third of May."),
        ("When does the lease end?", "The lease ends in Q3."),
        ("When do you close?", "We close at sundown."),
        ("Quand est le mariage ?", "Le mariage est à la Pentecôte."),
        ("Когда свадьба?", "Свадьба на Троицу."),
        ("Wann ist Elternabend?", "Der Elternabend ist KW 40."),
        ("How much is the ticket?", "Tickets are a tenner."),
        ("How much does Joe earn?", "Joe earns 52k."),
        ("What colour is the car?", "The car is anthracite."),
        ("Where are the scissors?", "Scissors: top drawer."),
        ("Who do I call when the heating fails?", "Heating emergency line: 0800 12345"),
        ("How much does the gym cost?", "The gym is included in my health plan."),
        ("Um wie viel Uhr beginnt der Kurs?", "Der Kurs fängt um sieben an."),
        ("Wie viel kostet die Karte?", "Die Karte kostet hundertzwanzig."),
        ("Où travaille Marc ?", "Marc travaille chez Renault."),
        ("Quanto custa a academia?", "A academia sai por 90 por mês."),
        ("Когда приедет мастер?", "Мастер будет после обеда."),
        ("متى الاجتماع؟", "الاجتماع بالثلاثاء"),
        ("किराया कितना है?", "किराया दस हज़ार रुपये"),
        ("门票多少钱？", "门票成人40，儿童半价"),
        ("傘はどこ？", "傘は玄関"),
        ("몇 시에 만나요?", "세 시에 만나요"),
    ],
)
def test_a_value_in_any_words_is_not_said_to_be_lacking(question: str, text: str) -> None:
    asked = read_question(question)
    assert asked is not None
    assert asked.is_in(text, is_dated=False) is not False


def test_the_day_of_an_entry_tells_when_it_was() -> None:
    was = read_question("When did we clean the boiler?")
    will_be = read_question("When is the boiler cleaned?")
    assert was is not None
    assert will_be is not None
    assert was.is_in("Cleaned the boiler.", is_dated=True) is None
    assert will_be.is_in("Cleaned the boiler.", is_dated=True) is False


@pytest.mark.parametrize("question", ["What happens when the build fails?", "Who is Oskar?", "¿Qué debe llevar Ana?"])
def test_a_question_for_something_else_asks_for_no_kind(question: str) -> None:
    assert read_question(question) is None


def test_either_kind_answers_a_question_for_two() -> None:
    asked = read_question("When and where is the party?")
    assert asked is not None
    assert asked.is_in("The party is in the garden hall.", is_dated=False) is not False


def test_a_question_in_a_language_whose_days_are_not_known_is_answered(notes: Memory) -> None:
    notes.call("remember", {"content": "De zwemles van Tim is om vier uur."})
    assert "zwemles" in notes.search("Wanneer heeft Tim zwemles?")[0].text
