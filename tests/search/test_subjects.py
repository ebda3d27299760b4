"""A note that answers another question: about somebody else, about the opposite, or without what is asked for."""

from __future__ import annotations

import pytest

from commonplace import Memory

NOTES = (
    "Sam's birthday is on 24 November; the team orders a cake, no nuts (Tom is allergic). Lunch is at noon.",
    "Postgres was upgraded to 16 on pg-main-1; staging is still on 15. The queue is on mq-2, which listens on port 5672.",
    "Priya leads the rewrite, Tom does the migration scripts. The team sits in Leeds; the office closes at 19:00.",
    "Bruno started on Monday in the data team. Ines is his mentor and sits in room 204. Yusuf bought a flat in Split.",
    "Oma Inge hat am 12. April Geburtstag, wir backen einen Kuchen. Opa Karl verträgt keine Nüsse.",
    "El cumpleaños de Lucía es el 9 de mayo. Mateo es alérgico a los cacahuetes. El tren sale a las 21:10.",
    "La pharmacie ferme à 19h30. Sophie y travaille depuis mars. Le serveur nas-04 est dans le placard du couloir.",
    "The library closes at 18 on weekdays, hours are 9 to 13 on Saturday. Wifi in the cabin: network PineCabin, Moonlight77.",
)
MODES = ("hybrid", "keyword")


@pytest.fixture
def notes(memory: Memory) -> Memory:
    for note in NOTES:
        memory.call("remember", {"content": note})
    return memory


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "question",
    [
        "when is Tom's birthday?",
        "what is Sam allergic to?",
        "wann hat Opa Karl Geburtstag?",
        "was verträgt Oma Inge nicht?",
        "¿cuándo es el cumpleaños de Mateo?",
        "which port does pg-main-1 listen on?",
    ],
)
def test_what_a_note_says_of_somebody_else_does_not_answer(notes: Memory, question: str, mode: str) -> None:
    assert notes.home.search(question, mode=mode).verdict != "found"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "question",
    [
        "what is the password of pg-main-1?",
        "quel est le mot de passe de nas-04 ?",
        "where does Priya live?",
        "when is Bruno's birthday?",
        "what is the licence plate of Yusuf's car?",
    ],
)
def test_what_is_asked_for_by_its_word_has_to_be_there(notes: Memory, question: str, mode: str) -> None:
    assert notes.home.search(question, mode=mode).verdict != "found"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "question",
    ["what time does the office open?", "à quelle heure ouvre la pharmacie ?", "¿a qué hora llega el tren?"],
)
def test_the_opposite_does_not_answer(notes: Memory, question: str, mode: str) -> None:
    assert notes.home.search(question, mode=mode).verdict != "found"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "question",
    [
        "when is Sam's birthday?",
        "what is Tom allergic to?",
        "which port does mq-2 listen on?",
        "who is Bruno's mentor?",
        "where does Yusuf live?",
        "when does the office close?",
        "when does the library open on Saturday?",
        "what is the wifi password in the cabin?",
        "wann hat Oma Inge Geburtstag?",
        "¿a qué es alérgico Mateo?",
        "¿a qué hora sale el tren?",
        "à quelle heure ferme la pharmacie ?",
    ],
)
def test_an_answer_in_the_same_note_keeps_its_score(notes: Memory, question: str, mode: str) -> None:
    assert notes.home.search(question, mode=mode).verdict == "found"


def test_a_heading_says_whom_a_note_is_about(memory: Memory) -> None:
    memory.call(
        "update_world", {"topic": "tom", "content": "# Tom\n\nAnn's cake for the birthday: 3 May, at the lake."}
    )
    assert memory.home.search("when is Tom's birthday?").verdict == "found"
