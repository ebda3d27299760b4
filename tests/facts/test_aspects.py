"""A change of one side of something leaves what is said of its other sides as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from .diaries import Diary, last_lines

OTHER_SIDES = [
    ("Dentist for Max on 10 March", "Max switched from swimming to judo, Thursdays at 17:00."),
    ("Dentist for Max on 10 March", "Max moved up to class 4b."),
    ("Marta leads the backend team.", "Marta is on parental leave."),
    ("Marta is on the backend team.", "Marta is on parental leave until September."),
    ("Jana ist im Vertrieb.", "Jana ist in Elternzeit."),
    ("Max was born on 3 May 2015.", "Swimming for Max is cancelled."),
    ("Max was born on 3 May 2015.", "Max stopped swimming."),
    ("Max wurde am 3. Mai 2015 geboren.", "Schwimmen für Max fällt aus."),
    ("Max is allergic to nuts.", "Max quit football."),
    ("Max likes football.", "Max's football training moved to Thursday at 17:00."),
    ("Marta lives in Lisbon.", "Marta was promoted to head of engineering."),
    ("Marta works at Initech.", "Marta handed the billing service over to Ewa."),
    ("Osprey is hosted on Hetzner.", "Osprey upgraded to Python 3.12."),
    ("Osprey runs on Python 3.11.", "Osprey moved to AWS."),
    ("Osprey is hosted on Hetzner.", "Osprey was renamed Falcon."),
    ("The beta is on 13 March.", "The beta now has 60 testers."),
    ("Tom's sister lives in Rome.", "Tom got married, his wife lives in Rome now."),
    ("Tom lives in Milan.", "Tom got married, his wife lives in Rome now."),
    ("Max mag Fußball.", "Max hat mit dem Schwimmen aufgehört."),
    ("A Max le gusta el fútbol.", "Max dejó la natación."),
    ("Max aime le foot.", "La piscine de Max est annulée."),
    ("У Макса аллергия на орехи.", "Плавание у Макса отменили."),
    ("小明对坚果过敏。", "小明不游泳了。"),
    ("マックスはナッツアレルギーです。", "マックスは水泳をやめました。"),
    ("鈴木さんは営業チームを担当しています。", "鈴木さんは京都に引っ越しました。"),
    ("王芳在华为工作。", "王芳搬到北京了。"),
    ("Jana wohnt in Köln.", "Jana hat gekündigt."),
    ("Max hat am 3. Mai Geburtstag.", "Max hat am 17. März wieder einen Zahnarzttermin."),
    ("Lena is allergic to dogs.", "Lena's allergy test: she is not allergic to cats after all."),
]
SAME_SIDE = [
    ("Max has swimming on Tuesdays at 16:00.", "Max switched from swimming to judo."),
    ("Swimming for Max on Tuesdays at 16:00.", "Swimming for Max is cancelled."),
    ("Max goes swimming on Tuesdays.", "Max stopped swimming."),
    ("Sara leads the rota.", "Dimitri took over the rota from Sara, she's on parental leave."),
    ("Max hat dienstags Schwimmen.", "Max hat mit dem Schwimmen aufgehört."),
    ("Max tiene natación los martes.", "La natación de Max se cancela."),
    ("O Max tem natação às terças.", "O Max parou a natação."),
    ("Jana arbeitet bei Bosch.", "Jana hat gekündigt."),
    ("Das Auto steht in der Werkstatt.", "Das Auto ist repariert."),
    ("El coche está en el taller.", "El coche ya está arreglado."),
    ("Osprey runs on Python 3.11.", "Osprey upgraded to Python 3.12."),
    ("Osprey is hosted on Hetzner.", "Osprey moved to AWS."),
    ("Marta owns the billing service.", "Marta handed the billing service over to Ewa."),
    ("Lena is allergic to cats.", "Lena's allergy test: she is not allergic to cats after all."),
    ("Beta on 13 March", "Beta slipped by a week, new date 20 March"),
    ("Beta slipped by a week, new date 20 March", "The beta is cancelled; we go straight to launch"),
    ("Der Zoobesuch ist am 12. Mai.", "Der Zoobesuch fällt aus."),
    ("La excursión a la playa es el 5 de junio.", "La excursión a la playa se cancela."),
    ("test_login fails on CI", "Fixed test_login"),
    ("Parking permit valid until 30 June.", "Parking permit extended until 31 July."),
    ("Now on branch feature-login", "On branch bugfix-cart now."),
    ("Switched from Redux to Zustand for state management.", "Went back to Redux."),
    ("Von Jira zu Linear gewechselt.", "Wir sind zurück zu Jira."),
]


@pytest.mark.parametrize(("older", "newer"), OTHER_SIDES)
def test_what_is_said_of_another_side_still_holds(home: Path, older: str, newer: str) -> None:
    assert not Diary(home).replaces(older, newer)


@pytest.mark.parametrize(("older", "newer"), SAME_SIDE)
def test_what_is_said_of_the_same_side_is_replaced(home: Path, older: str, newer: str) -> None:
    assert Diary(home).replaces(older, newer)


def test_the_last_of_three_branches_is_the_current_one(home: Path) -> None:
    diary = Diary(home)
    diary.note("Now on branch feature-login")
    diary.note("Now on branch feature-search")
    assert diary.note("Now on branch bugfix-cart") == ["Now on branch feature-search", "Now on branch feature-login"]
    first, *others = diary.search("which branch am I on?")
    assert first.text.endswith("bugfix-cart")
    assert all(hit.superseded_by and hit.superseded_by.text.endswith("bugfix-cart") for hit in others)


def test_a_value_that_comes_back_is_current_and_its_first_note_is_not_revived(home: Path) -> None:
    diary = Diary(home)
    for text in ("The retention is 30 days.", "The retention is 60 days now.", "The retention is 30 days again."):
        diary.note(text)
    hits = diary.search("What is the retention?")
    assert last_lines(hits)[0] == "The retention is 30 days again."
    assert [hit.superseded_by is None for hit in hits] == [True, False, False]


def test_what_went_back_is_above_everything_that_it_replaces_in_turn(home: Path) -> None:
    diary = Diary(home)
    diary.note("We use Redux for state management.")
    diary.note("Switched from Redux to Zustand for state management.")
    diary.note("Went back to Redux.")
    hits = diary.search("What do we use for state management?")
    assert last_lines(hits)[0] == "Went back to Redux."
    assert all(hit.superseded_by for hit in hits[1:])


def test_a_note_that_names_a_page_replaces_a_line_of_it(home: Path) -> None:
    diary = Diary(home)
    diary.memory.call("update_world", {"topic": "Osprey", "content": "Python version: 3.11\n\nPostgres version: 15"})
    assert diary.note("Falcon upgraded to Python 3.12.") == []
    assert diary.note("Osprey upgraded to Python 3.12.") == ["Python version: 3.11"]


def test_a_preference_that_is_kept_as_a_record_is_taken_back_by_a_note(home: Path) -> None:
    diary = Diary(home)
    diary.memory.call("write_memory", {"key": "answer-style", "content": "Prefers short answers."})
    diary.memory.call("write_memory", {"key": "language", "content": "Prefers answers in German."})
    assert diary.note("I no longer want short answers.") == ["Prefers short answers."]


def test_a_question_until_when_asks_for_what_is_true_now(home: Path) -> None:
    diary = Diary(home)
    diary.note("Parking permit valid until 30 June.")
    diary.note("Parking permit extended until 31 July.")
    assert "31 July" in diary.search("Until when is the parking permit valid?")[0].text
