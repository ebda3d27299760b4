"""A label that collects things gets another one with each line, and replaces none."""

from __future__ import annotations

import pytest

from commonplace.facts.statements import split_statements
from commonplace.facts.versions import judge

BOTH = [
    # What is to be done with things.
    ("Books to read: Middlemarch", "Books to read: Solaris"),
    ("Places to visit: Kyoto", "Places to visit: Lisbon"),
    ("Zu lesen: Der Zauberberg", "Zu lesen: Die Blechtrommel"),
    ("À lire: Germinal", "À lire: La Peste"),
    ("Libros por leer: Rayuela", "Libros por leer: Pedro Páramo"),
    ("Книги к прочтению: Идиот", "Книги к прочтению: Обломов"),
    ("待读：三体", "待读：活着"),
    # Plurals.
    ("Known flaky tests: test_login", "Known flaky tests: test_search"),
    ("Gift ideas for mum: a scarf", "Gift ideas for mum: concert tickets"),
    ("Gift ideas for mum: a scarf", "Gift ideas for mum: noise-cancelling headphones"),
    ("Geschenkideen für Oma: Schal", "Geschenkideen für Oma: Teekanne"),
    ("Alergias: polen", "Alergias: látex"),
    # Of which one has several.
    ("Allergy: penicillin", "Allergy: latex"),
    ("Allergie: Pollen", "Allergie: Nüsse"),
    ("Аллергия: пенициллин", "Аллергия: орехи"),
    ("アレルギー：そば", "アレルギー：えび"),
    ("Dependency: numpy 2.1", "Dependency: pandas 2.2"),
    # What happened at another time.
    ("Prod incident: search was down for 5 minutes.", "Prod incident: search was down for 30 minutes."),
    ("Behoben: Anmeldung in Safari, 2 Tests.", "Behoben: leerer Warenkorb, 4 Tests."),
    # Something else on another day.
    ("Gym: legs on Tuesday.", "Gym: back and biceps on Friday."),
]
REPLACED = [
    ("Meeting room: Elbe", "Meeting room: Danube"),
    ("editor: vim", "editor: VS Code"),
    ("Release date: 3 May", "Release date: 5 June"),
    ("Office hours: Monday 9-12", "Office hours: Tuesday 9-12"),
    ("Number of tests: 412", "Number of tests: 430"),
    ("Dependency: numpy 2.1", "Dependency: numpy 2.2"),
    ("Backup reviewers: Ann, Ben", "Backup reviewers: Ann, Cleo"),
    ("Gym: FitPoint", "Gym: Studio Nord"),
    ("Mietpreis: 900 EUR", "Mietpreis: 950 EUR"),
]


@pytest.mark.parametrize(("older", "newer"), BOTH)
def test_a_label_that_collects_things_replaces_nothing(older: str, newer: str) -> None:
    assert judge(split_statements(older)[0], split_statements(newer)[0]) is None


@pytest.mark.parametrize(("older", "newer"), REPLACED)
def test_a_label_with_one_value_at_a_time_replaces_it(older: str, newer: str) -> None:
    assert judge(split_statements(older)[0], split_statements(newer)[0])


@pytest.mark.parametrize(
    ("older", "newer"), [("Deadline: 12 November", "Deadline: 26 November"), ("Status: blocked", "Status: done")]
)
def test_a_short_label_replaces_its_value_on_the_same_page(older: str, newer: str) -> None:
    assert judge(split_statements(older)[0], split_statements(newer)[0], is_same_place=True)
