"""Who has a role after whom, and what somebody has a new one of."""

from __future__ import annotations

from pathlib import Path

import pytest

from .diaries import Diary

SUCCESSIONS = [
    ("Tomek is the designer.", "Ewa is the new designer."),
    ("Tomek is the designer.", "The new designer is Ewa."),
    ("Tomek is the designer.", "Tomek left the project."),
    ("Marta leads the backend team.", "Marta left the company."),
    ("Christina owns the billing service.", "Christina left the company."),
    ("Ruth is our tax adviser.", "Ruth retired."),
    ("Liam is a developer.", "Liam was promoted to CTO."),
    ("Anna is the CTO.", "Liam was promoted to CTO."),
    ("Marta is our release captain.", "Marta handed the release captain role to Jonas."),
    ("Ruth's phone number is 0151 2345.", "Ruth has a new phone number: 0160 9876"),
    ("Max's teacher is Ms Kern.", "Max has a new teacher, Mr Brandt."),
    ("Frau Kern ist die Klassenlehrerin von Max.", "Herr Brandt ist der neue Klassenlehrer."),
    ("Ana es la directora.", "Luis es el nuevo director."),
    ("Claire est la directrice.", "Le nouveau directeur est Paul."),
    ("O João é o treinador.", "A Rita é a nova treinadora."),
    ("Paola è la nostra commercialista.", "Marco è il nuovo commercialista."),
    ("Анна — наш дизайнер.", "Игорь — новый дизайнер."),
    ("张伟是设计师。", "王芳是新的设计师。"),
    ("担任は鈴木さんです。", "新しい担任は高橋さんです。"),
]
TWO_ROLES = [
    ("Tomek is a designer.", "Ewa is a new designer."),
    ("Tomek is the designer.", "Ewa is the new tester."),
    ("Tomek is the designer of Osprey.", "Ewa is the new designer of Falcon."),
    ("Tomek lives in Gdansk.", "Tomek left the project."),
    ("Tomek is the father of Ola.", "Tomek left the project."),
    ("Liam is a father of two.", "Liam was promoted to CTO."),
    ("Anna is a developer.", "Liam was promoted to developer."),
    ("Ruth's address is Basler Weg 5.", "Ruth has a new phone number: 0160 9876"),
    ("Ruth's office phone number is 0151 2345.", "Ruth has a new phone number: 0160 9876"),
    ("Frau Kern ist die Klassensprecherin.", "Herr Brandt ist der neue Klassenlehrer."),
    ("Frau Kern ist die Klassenlehrerin von Lena.", "Herr Brandt ist der neue Klassenlehrer von Max."),
]


@pytest.mark.parametrize(("older", "newer"), SUCCESSIONS)
def test_whoever_gets_a_role_replaces_the_one_before(home: Path, older: str, newer: str) -> None:
    assert Diary(home).replaces(older, newer)


@pytest.mark.parametrize(("older", "newer"), TWO_ROLES)
def test_another_role_replaces_nobody(home: Path, older: str, newer: str) -> None:
    assert not Diary(home).replaces(older, newer)
