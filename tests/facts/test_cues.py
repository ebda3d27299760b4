"""Words of change, retraction, open questions and decisions are known in ten languages."""

from __future__ import annotations

import pytest

from commonplace.facts.cues import Cue, find_cue
from commonplace.facts.words import fold


@pytest.mark.parametrize(
    ("cue", "text"),
    [
        ("change", "The gym membership was reduced to 20 euros."),
        ("change", "La reunión se retrasó una hora."),
        ("change", "Le bail est prolongé de deux ans."),
        ("change", "O prazo foi prorrogado."),
        ("change", "Die Miete wurde angehoben."),
        ("change", "Срок сократили до недели."),
        ("change", "काम अब से रमेश को सौंपा"),
        ("change", "اتضح أن السبب مختلف"),
        ("change", "我写错了,是三楼"),
        ("change", "日付を勘違いしていました"),
        ("retraction", "We decided against the boat."),
        ("retraction", "Descartamos la idea del barco."),
        ("retraction", "On renonce au bateau."),
        ("retraction", "Desistimos do barco."),
        ("retraction", "Den Plan haben wir aufgegeben."),
        ("retraction", "Я передумала насчёт лодки."),
        ("retraction", "नाव का प्लान कैंसिल"),
        ("retraction", "تخلينا عن الفكرة"),
        ("retraction", "放弃买船的计划"),
        ("retraction", "船は諦めた"),
        ("open", "Colour of the door: to be decided"),
        ("open", "No sabemos si pintar la puerta."),
        ("open", "On hésite entre deux couleurs."),
        ("open", "Não sabemos a cor da porta."),
        ("open", "Die Farbe ist noch unentschieden."),
        ("open", "Мы сомневаемся насчёт цвета."),
        ("open", "रंग अभी तय करना है"),
        ("open", "لا نعرف اللون"),
        ("open", "颜色还在考虑"),
        ("open", "色は迷っている"),
        ("decision", "We went with blue."),
        ("decision", "Optamos por el azul."),
        ("decision", "On a opté pour le bleu."),
        ("decision", "Optamos pelo azul."),
        ("decision", "Blau wurde ausgewählt."),
        ("decision", "Остановились на синем."),
        ("decision", "नीला पक्का"),
        ("decision", "وافقنا على الأزرق"),
        ("decision", "选择了蓝色"),
        ("decision", "青に確定"),
    ],
)
def test_a_cue_is_found_in_its_language(cue: Cue, text: str) -> None:
    assert find_cue(fold(text), cue)


@pytest.mark.parametrize(
    "text", ["The door is blue.", "La puerta es azul.", "Die Tür ist blau.", "门是蓝色的", "ドアは青い"]
)
def test_a_plain_statement_has_no_cue(text: str) -> None:
    assert not any(find_cue(fold(text), cue) for cue in ("change", "retraction", "open", "decision"))


def test_no_phrase_is_lost_to_the_words_that_are_asked_for_first() -> None:
    texts = [
        "he doesn't work",
        "starting monday",
        "don't know yet",
        "we're not going to make it",
        "open again",
        "40% done",
    ]
    cues: list[Cue] = ["trouble", "hint", "open", "retraction", "resolution", "trouble"]
    assert all(find_cue(text, cue) for text, cue in zip(texts, cues, strict=True))
