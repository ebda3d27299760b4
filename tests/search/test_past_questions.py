"""Which questions are about what was before something, in ten languages, and which only name a time limit."""

from __future__ import annotations

import pytest

from commonplace.search.past_questions import asks_about_past, asks_what_was_before


@pytest.mark.parametrize(
    "question",
    [
        "where did Tom live before Bristol?",
        "can you tell me where Tom lived before he moved to Bristol?",
        "what was the deadline before it moved to 26 November?",
        "and before?",
        "Wo wohnte Tom vor Bristol?",
        "Wo hat Tom gewohnt, bevor er nach Bristol zog?",
        "¿dónde vivía Tom antes de Bristol?",
        "où habitait Tom avant Bristol ?",
        "onde o Tom morava antes de Bristol?",
        "где жил Том до Бристоля?",
        "где Том жил перед Бристолем?",
        "ब्रिस्टल से पहले टॉम कहाँ रहता था?",
        "أين كان يعيش توم قبل بريستول؟",
        "汤姆搬到布里斯托之前住在哪里？",
        "トムはブリストルの前はどこに住んでいた？",
        "トムは引っ越す前にどこに住んでいましたか？",
    ],
)
def test_a_question_about_what_was_before_something(question: str) -> None:
    assert asks_what_was_before(question)
    assert asks_about_past(question)


@pytest.mark.parametrize(
    "question",
    [
        "what must be done before Friday?",
        "what is due before Friday?",
        "which tasks have to be finished before the release?",
        "what is planned before Friday?",
        "who speaks before Ann?",
        "Was muss vor Freitag erledigt werden?",
        "Was steht vor dem Haus?",
        "¿qué hay que hacer antes del viernes?",
        "¿qué reuniones hay antes del viernes?",
        "que faut-il faire avant vendredi ?",
        "o que precisamos fazer antes de sexta?",
        "что нужно сделать до пятницы?",
        "शुक्रवार से पहले क्या करना चाहिए?",
        "ما الذي يجب فعله قبل الجمعة؟",
        "周五之前必须做什么？",
        "金曜日の前に何をすべき？",
        "where does Tom live?",
    ],
)
def test_a_time_limit_is_no_question_about_the_past(question: str) -> None:
    assert not asks_about_past(question)
