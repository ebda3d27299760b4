"""Weekdays in questions: the verb tells whether the coming one is meant or the last, in ten languages and more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.search.dates import read_dates
from commonplace.testing import FrozenClock

MONDAY = date(2026, 3, 9)
JUDO, SUIT = "Max has judo on Thursdays at 15:30.", "The judo suit costs 40 euros."
PARTY, RENT, LUNCH = "Birthday party of Emil on 14 March.", "Paid the rent.", "Lunch with Tom."


@contextmanager
def remember_on(home: Path, today: int, *entries: tuple[int, str]) -> Iterator[Memory]:
    """Remember texts on these days of March 2026; the memory that is returned is of another one."""
    clock = FrozenClock()
    with Memory(home, clock=clock) as memory:
        for day, text in entries:
            clock.now = datetime(2026, 3, day, 12, tzinfo=UTC)
            memory.call("remember", {"content": text})
        clock.now = datetime(2026, 3, today, 18, tzinfo=UTC)
        yield memory


def ask(memory: Memory, question: str) -> list[tuple[str, float]]:
    return [(hit.text.split("\n")[-1], hit.score) for hit in memory.home.search(question).hits]


@pytest.mark.parametrize(
    ("judo", "suit", "question"),
    [
        (JUDO, SUIT, "what time is judo on Thursday?"),
        (JUDO, SUIT, "wann ist am Donnerstag Judo?"),
        ("Max hat donnerstags um 15:30 Judo.", "Der Judoanzug kostet 40 Euro.", "wann ist am Donnerstag Judo?"),
        (JUDO, SUIT, "à quelle heure est le judo jeudi ?"),
        ("Max a judo tous les jeudis à 15h30.", "Le kimono de judo coûte 40 euros.", "quand est le judo jeudi ?"),
        ("Max tiene judo los jueves a las 15:30.", "El traje de judo cuesta 40 euros.", "¿cuándo es judo el jueves?"),
        ("O Max tem judô às quintas-feiras.", "O quimono de judô custa 40 euros.", "quando é o judô na quinta-feira?"),
        ("Max ha judo il giovedì alle 15:30.", "La tuta da judo costa 40 euro.", "a che ora è judo giovedì?"),
        ("У Макса дзюдо по четвергам в 15:30.", "Кимоно для дзюдо стоит 40 евро.", "во сколько дзюдо в четверг?"),
        ("मैक्स का जूडो हर गुरुवार 15:30 बजे है।", "जूडो की पोशाक 40 यूरो की है।", "गुरुवार को जूडो कब है?"),
        ("الجودو كل يوم خميس، الخميس الساعة 15:30.", "بدلة الجودو بسعر 40 يورو.", "متى الجودو يوم الخميس؟"),
        ("小明每周四15:30上柔道课。", "柔道服要40欧元。", "周四柔道几点?"),
        ("柔道は毎週木曜日の15時半です。", "柔道着は40ユーロです。", "木曜日の柔道は何時ですか?"),
        ("유도는 매주 목요일 15:30입니다.", "유도 도복은 40유로입니다.", "목요일 유도는 몇 시인가요?"),
    ],
)
def test_a_note_about_a_weekday_comes_before_one_that_was_written_on_it(
    home: Path, judo: str, suit: str, question: str
) -> None:
    with remember_on(home, 12, (2, judo), (5, suit)) as memory:
        (text, score), *others = ask(memory, question)
    assert text == judo
    assert score > 0.5
    assert all(other < 0.5 for _, other in others)


def test_who_does_something_on_a_weekday_is_not_asked_of_the_last_one(home: Path) -> None:
    papa = "From now on Papa picks up the kids on Thursdays."
    with remember_on(home, 12, (5, "We pay the piano teacher 30 euros per lesson."), (12, papa)) as memory:
        (text, score), *others = ask(memory, "who picks up the kids on Thursday?")
        garbage = ask(memory, "is garbage collected on Thursday?")
    assert text == papa
    assert score > 0.9
    assert all(other < 0.2 for _, other in [*others, *garbage])


@pytest.mark.parametrize(
    "question",
    [
        "what is on Saturday?",
        "what's planned for Saturday?",
        "do we have anything on Saturday?",
        "next Saturday",
        "this Saturday",
        "was haben wir am Samstag?",
        "was steht nächsten Samstag an?",
        "qu'est-ce qu'il y a samedi ?",
        "¿qué hay el sábado?",
        "o que temos no sábado?",
        "cosa c'è sabato?",
        "что у нас в субботу?",
        "शनिवार को क्या है?",
        "ماذا لدينا يوم السبت؟",
        "周六有什么安排?",
        "土曜日の予定は?",
        "토요일에 뭐가 있나요?",
    ],
)
def test_a_coming_day_is_found_by_its_date_and_by_what_is_so_every_week(home: Path, question: str) -> None:
    garbage = "Garbage is collected on Saturdays."
    zoo = "On Saturday we went to the zoo."
    with remember_on(home, 9, (2, PARTY), (3, garbage), (6, RENT), (7, LUNCH), (7, zoo)) as memory:
        hits = ask(memory, question)
    assert {text for text, _ in hits} == {PARTY, garbage}
    assert all(score > 0.9 for _, score in hits)


def test_where_nothing_is_planned_what_was_done_last_week_is_no_answer(home: Path) -> None:
    with remember_on(home, 9, (6, RENT)) as memory:
        result = memory.home.search("do we have anything on Friday?")
    assert result.verdict == "nothing"
    assert result.warnings == ("nothing is dated on Friday (13 March 2026): the hits are from other days",)


@pytest.mark.parametrize(
    "question",
    [
        "what did we do on Saturday?",
        "what happened on Saturday?",
        "what have we done on Saturday?",
        "last Saturday",
        "on Saturday",
        "was haben wir am Samstag gemacht?",
        "was ist am Samstag passiert?",
        "¿qué hicimos el sábado?",
        "¿qué pasó el sábado?",
        "o que fizemos no sábado?",
        "что мы делали в субботу?",
    ],
)
def test_a_question_about_the_past_is_about_the_last_such_day(home: Path, question: str) -> None:
    with remember_on(home, 9, (2, PARTY), (6, RENT), (7, LUNCH)) as memory:
        hits = ask(memory, question)
    assert [text for text, _ in hits] == [LUNCH]
    assert hits[0][1] > 0.9


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("who came on Sunday?", "2026-03-08"),
        ("who called on Friday?", "2026-03-06"),
        ("who has called on Friday?", "2026-03-06"),
        ("who calls on Friday?", "2026-03-13"),
        ("has Max judo on Friday?", "2026-03-13"),
        ("is the office closed on Monday?", "2026-03-16"),
        ("wer kam am Sonntag?", "2026-03-08"),
        ("wer holt die Kinder am Freitag ab?", "2026-03-13"),
        ("wer hat die Kinder am Freitag abgeholt?", "2026-03-06"),
        ("wird der Müll am Freitag abgeholt?", "2026-03-13"),
        ("下周五有什么安排?", "2026-03-20"),
        ("what did we plan for next Friday?", "2026-03-13"),
    ],
)
def test_the_verb_tells_which_day_is_meant(question: str, day: str) -> None:
    spans = read_dates(question, MONDAY.toordinal()).spans
    assert [str(span) for span in spans] == [day]


@pytest.mark.parametrize(
    "question",
    ["what is Black Friday?", "who is Man Friday?", "what is on the first Monday of the month?", "一周一次是什么?"],
)
def test_a_name_and_a_weekday_of_a_month_name_no_day(question: str) -> None:
    assert read_dates(question, MONDAY.toordinal()).spans == ()


def test_without_a_verb_a_note_about_the_weekday_comes_first(home: Path) -> None:
    with remember_on(home, 12, (2, JUDO), (5, SUIT)) as memory:
        assert [text for text, _ in ask(memory, "judo on Thursday")] == [JUDO, SUIT]


def test_of_what_is_on_a_weekday_the_newer_version_comes_first(home: Path) -> None:
    newer = "Max has judo on Thursdays at 16:00."
    with remember_on(home, 12, (2, JUDO), (10, newer)) as memory:
        hits = memory.home.search("what is on Thursday?").hits
    assert hits[0].text.endswith(newer)
    assert hits[1].superseded_by
