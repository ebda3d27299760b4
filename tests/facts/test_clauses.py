"""A sentence that says two things has two clauses; one that says one thing of two has one."""

from __future__ import annotations

import pytest

from commonplace.facts.clauses import read_clauses


@pytest.mark.parametrize(
    ("sentence", "clauses"),
    [
        ("Tom lives in Leeds and works from home on Fridays.", ["Tom lives in Leeds", "works from home on Fridays"]),
        ("Anna leads the team but speaks no French.", ["Anna leads the team", "speaks no French"]),
        ("Tom lives in Leeds while Ann lives in York.", ["Tom lives in Leeds", "Ann lives in York"]),
        ("The release is on 12 October, and Ann brings cake.", ["The release is on 12 October", "Ann brings cake"]),
        ("Tom wohnt in Leeds, aber spricht Russisch.", ["Tom wohnt in Leeds", "spricht Russisch"]),
        ("Tom vive en Leeds y trabaja en casa.", ["Tom vive en Leeds", "trabaja en casa"]),
        ("Tom habite à Leeds mais travaille à York.", ["Tom habite à Leeds", "travaille à York"]),
        ("Tom mora em Leeds e trabalha de casa.", ["Tom mora em Leeds", "trabalha de casa"]),
        ("Том живёт в Лидсе и работает из дома.", ["Том живёт в Лидсе", "работает из дома"]),
        ("टॉम लीड्स में रहता है और घर से काम करता है।", ["टॉम लीड्स में रहता है", "घर से काम करता है"]),
        ("يعيش توم في ليدز ويعمل من المنزل.", ["يعيش توم في ليدز", "يعمل من المنزل"]),
        ("汤姆住在利兹，周五在家工作。", ["汤姆住在利兹", "周五在家工作"]),
        ("トムはリーズに住んでいて、金曜日は在宅勤務だ。", ["トムはリーズに住んでいて", "金曜日は在宅勤務だ"]),
    ],
)
def test_a_sentence_is_cut_where_a_clause_with_a_verb_follows(sentence: str, clauses: list[str]) -> None:
    assert [each.text for each in read_clauses(sentence)] == clauses


@pytest.mark.parametrize(
    "sentence",
    [
        "Tom lives in Leeds and Bradford.",
        "Tom lives in Leeds, a city in Yorkshire.",
        "The meeting is on Mondays and Wednesdays at noon.",
        "I like tea and coffee in the morning.",
        "Die Sitzung ist am Montag und Mittwoch um zehn.",
        "A Ana le gustan el té y los libros viejos.",
    ],
)
def test_a_list_is_not_cut(sentence: str) -> None:
    assert len(read_clauses(sentence)) == 1


def test_a_clause_shares_the_subject_of_the_first_one_unless_it_has_its_own() -> None:
    shared = read_clauses("Tom lives in Leeds and works from home.")
    own = read_clauses("Tom lives in Leeds while Ann lives in York.")
    assert [shared[1].sentence, own[1].sentence] == ["Tom works from home", "Ann lives in York"]
