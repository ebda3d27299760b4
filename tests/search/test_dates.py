"""Days that questions and pages name: read in several languages, never wrong enough to raise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.formats.timestamps import MONTHS, parse_day
from commonplace.index.base import UNREAD
from commonplace.search.dates import (
    Span,
    asks_about_now,
    asks_about_past,
    asks_what_was_before,
    date_proximity,
    find_phrases,
    names_days_within,
    note_named_days,
    parse_span,
    read_dates,
    strip_request,
)
from commonplace.search.pipeline import SearchResult
from commonplace.testing import FrozenClock

SATURDAY = date(2026, 3, 14)
MONDAY, SUNDAY = date(2026, 3, 9), date(2026, 3, 15)
NEW_YEAR, LEAP_DAY, LATE_MARCH = date(2026, 1, 1), date(2024, 2, 29), date(2026, 3, 31)


def days(text: str, today: date = SATURDAY) -> tuple[str, str] | None:
    span = parse_span(text, today.toordinal())
    return (str(date.fromordinal(span.first)), str(date.fromordinal(span.last))) if span else None


def one(day: str) -> tuple[str, str]:
    return day, day


TEXTS_WITH_DAYS = (
    "We met yesterday, and again on 3 March 2026.",
    "See you next week, or on May 5.",
    "In 2025 it rained; on 2026-03-10 it did not.",
    "Wir treffen uns am 21.10. oder morgen.",
    "昨天下雨，2026年3月10日没有。三月见。",
    "Nothing of the kind, may be.",
)


@pytest.mark.parametrize("text", TEXTS_WITH_DAYS)
@pytest.mark.parametrize("day", [None, date(2026, 3, 11), date(2024, 2, 29)])
def test_what_the_index_notes_of_a_text_tells_as_much_of_its_days_as_the_text(text: str, day: date | None) -> None:
    written = day.toordinal() if day else None
    noted = note_named_days(text, written)
    for first, last in (("2026-03-10", "2026-03-10"), ("2026-03-01", "2026-03-31"), ("2025-01-01", "2025-12-31")):
        span = Span(date.fromisoformat(first).toordinal(), date.fromisoformat(last).toordinal())
        for today in (date(2026, 3, 14).toordinal(), date(2025, 11, 2).toordinal()):
            names, read = (names_days_within(text, written, known, today, (span,)) for known in (noted, UNREAD))
            assert names == read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what is on the day after tomorrow?", one("2026-03-16")),
        ("on 21/10/2025", one("2025-10-21")),
        ("on 10/21/2025", one("2025-10-21")),
        ("on 5/6/2025", None),
        ("was war am 21.10. los?", one("2025-10-21")),
        ("was geschah im Jahr 2023?", ("2023-01-01", "2023-12-31")),
        ("qui a gagné en 2023 ?", ("2023-01-01", "2023-12-31")),
        ("¿qué pasó en 2023?", ("2023-01-01", "2023-12-31")),
        ("o que houve em 2023?", ("2023-01-01", "2023-12-31")),
        ("cosa è successo nel 2023?", ("2023-01-01", "2023-12-31")),
        ("что было в 2023 году?", ("2023-01-01", "2023-12-31")),
        ("2023 में क्या हुआ", ("2023-01-01", "2023-12-31")),
        ("ماذا حدث في عام 2023", ("2023-01-01", "2023-12-31")),
        ("mês passado", ("2026-02-01", "2026-02-28")),
        ("neste mês", ("2026-03-01", "2026-03-31")),
        ("mês que vem", ("2026-04-01", "2026-04-30")),
        ("segunda passada", one("2026-03-09")),
        ("o que houve na sexta?", one("2026-03-13")),
        ("na sexta reunião", None),
        ("ieri sera", one("2026-03-13")),
        ("questa mattina", one("2026-03-14")),
        ("lo scorso venerdì", one("2026-03-13")),
        ("मई 2025 में", ("2025-05-01", "2025-05-31")),
        ("ماذا سنفعل غدًا", one("2026-03-15")),
        ("الجمعة الماضية", one("2026-03-13")),
        ("后天有什么安排", one("2026-03-16")),
        ("今后天气如何", None),
        ("明後日の予定", one("2026-03-16")),
        ("モデル：あさって", one("2026-03-16")),
        ("十月二十一日", one("2025-10-21")),
        ("二〇二五年十月三十日", one("2025-10-30")),
        ("三月十日", one("2026-03-10")),
        ("先週の金曜日", one("2026-03-06")),
        ("지난주 금요일", one("2026-03-06")),
    ],
)
def test_more_ways_to_name_days(text: str, expected: tuple[str, str] | None) -> None:
    assert days(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what did I do yesterday?", one("2026-03-13")),
        ("what happened the day before yesterday", one("2026-03-12")),
        ("what is on today", one("2026-03-14")),
        ("Who called this morning?", one("2026-03-14")),
        ("three days ago", ("2026-03-11", "2026-03-11")),
        ("two weeks ago", ("2026-02-25", "2026-03-03")),
        ("last week", ("2026-03-02", "2026-03-08")),
        ("this week", ("2026-03-09", "2026-03-15")),
        ("last month", ("2026-02-01", "2026-02-28")),
        ("this month", ("2026-03-01", "2026-03-31")),
        ("last year", ("2025-01-01", "2025-12-31")),
        ("last weekend", ("2026-03-07", "2026-03-08")),
        ("on Monday", one("2026-03-09")),
        ("last Saturday", one("2026-03-07")),
        ("in March", ("2026-03-01", "2026-03-31")),
        ("in April", ("2025-04-01", "2025-04-30")),
        ("in February 2024", ("2024-02-01", "2024-02-29")),
        ("in 2023", ("2023-01-01", "2023-12-31")),
        ("on 8 May 2023", one("2023-05-08")),
        ("on May 8th, 2023", one("2023-05-08")),
        ("on the 8th of May", one("2025-05-08")),
        ("on March 3", one("2026-03-03")),
        ("2023-05-08", one("2023-05-08")),
        ("Sept 2025 in review: in Sept 2025", ("2025-09-01", "2025-09-30")),
        ("昨天我做了什么", one("2026-03-13")),
        ("前天谁来过", one("2026-03-12")),
        ("今天有什么安排", one("2026-03-14")),
        ("上周的会议", ("2026-03-02", "2026-03-08")),
        ("上个星期", ("2026-03-02", "2026-03-08")),
        ("这周", ("2026-03-09", "2026-03-15")),
        ("上个月", ("2026-02-01", "2026-02-28")),
        ("去年", ("2025-01-01", "2025-12-31")),
        ("三天前", one("2026-03-11")),
        ("两周前", ("2026-02-25", "2026-03-03")),
        ("2023年5月8日", one("2023-05-08")),
        ("2023年5月", ("2023-05-01", "2023-05-31")),
        ("5月8号", one("2025-05-08")),
        ("三月的旅行 in March", ("2026-03-01", "2026-03-31")),
        ("昨日の会議", one("2026-03-13")),
        ("一昨日", one("2026-03-12")),
        ("先週の話", ("2026-03-02", "2026-03-08")),
        ("先月", ("2026-02-01", "2026-02-28")),
        ("今週", ("2026-03-09", "2026-03-15")),
        ("昨年", ("2025-01-01", "2025-12-31")),
        ("어제 뭐 했지", one("2026-03-13")),
        ("지난주 회의", ("2026-03-02", "2026-03-08")),
        ("지난 달", ("2026-02-01", "2026-02-28")),
        ("이번 주", ("2026-03-09", "2026-03-15")),
        ("작년", ("2025-01-01", "2025-12-31")),
    ],
)
def test_a_question_names_days(text: str, expected: tuple[str, str]) -> None:
    assert days(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("三月", ("2026-03-01", "2026-03-31")),
        ("十二月的计划", ("2025-12-01", "2025-12-31")),
        ("2023년 5월 8일", one("2023-05-08")),
        ("今年", ("2026-01-01", "2026-12-31")),
        ("올해", ("2026-01-01", "2026-12-31")),
        ("그저께", one("2026-03-12")),
        ("3日前", one("2026-03-11")),
        ("二週間前", ("2026-02-25", "2026-03-03")),
        ("上礼拜", ("2026-03-02", "2026-03-08")),
        ("上週", ("2026-03-02", "2026-03-08")),
        ("這個月", ("2026-03-01", "2026-03-31")),
        ("3일 전", one("2026-03-11")),
    ],
)
def test_a_question_names_days_in_other_common_ways(text: str, expected: tuple[str, str]) -> None:
    assert days(text) == expected


LAST_WEEK = ("2026-03-02", "2026-03-08")
OCTOBER_21 = one("2025-10-21")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("¿qué decidimos la semana pasada?", LAST_WEEK),
        ("o que decidimos na semana passada?", LAST_WEEK),
        ("qu'avons-nous décidé la semaine dernière ?", LAST_WEEK),
        ("was haben wir letzte Woche entschieden?", LAST_WEEK),
        ("cosa abbiamo deciso la settimana scorsa?", LAST_WEEK),
        ("что мы решили на прошлой неделе?", LAST_WEEK),
        ("पिछले हफ्ते हमने क्या तय किया?", LAST_WEEK),
        ("ماذا قررنا الأسبوع الماضي؟", LAST_WEEK),
        ("上周我们决定了什么?", LAST_WEEK),
        ("先週何を決めましたか", LAST_WEEK),
        ("지난주에 무엇을 결정했나요", LAST_WEEK),
        ("গত সপ্তাহে আমরা কী সিদ্ধান্ত নিয়েছি?", LAST_WEEK),
        ("پچھلے ہفتے ہم نے کیا فیصلہ کیا؟", LAST_WEEK),
        ("apa yang kita putuskan minggu lalu?", LAST_WEEK),
        ("আজ", one("2026-03-14")),
        ("آج ہم نے کیا کیا؟", one("2026-03-14")),
        ("hari ini", one("2026-03-14")),
        ("গতকাল", one("2026-03-13")),
        ("کل", one("2026-03-13")),
        ("apa yang terjadi kemarin?", one("2026-03-13")),
        ("২১ অক্টোবর", OCTOBER_21),
        ("21 اکتوبر کو", OCTOBER_21),
        ("tanggal 21 Oktober", OCTOBER_21),
        ("তিন দিন আগে", one("2026-03-11")),
        ("تین دن پہلے", one("2026-03-11")),
        ("tiga hari yang lalu", one("2026-03-11")),
        ("১ মার্চ থেকে", ("2026-03-01", "2026-03-14")),
        ("hoy", one("2026-03-14")),
        ("hoje", one("2026-03-14")),
        ("aujourd’hui", one("2026-03-14")),
        ("heute", one("2026-03-14")),
        ("oggi", one("2026-03-14")),
        ("сегодня", one("2026-03-14")),
        ("आज", one("2026-03-14")),
        ("اليوم", one("2026-03-14")),
        ("ayer", one("2026-03-13")),
        ("ontem", one("2026-03-13")),
        ("hier", one("2026-03-13")),
        ("gestern", one("2026-03-13")),
        ("ieri", one("2026-03-13")),
        ("вчера", one("2026-03-13")),
        ("कल", one("2026-03-13")),
        ("أمس", one("2026-03-13")),
        ("anteayer", one("2026-03-12")),
        ("anteontem", one("2026-03-12")),
        ("avant-hier", one("2026-03-12")),
        ("vorgestern", one("2026-03-12")),
        ("позавчера", one("2026-03-12")),
        ("परसों", one("2026-03-12")),
        ("أول أمس", one("2026-03-12")),
        ("hace dos días", one("2026-03-12")),
        ("há 2 dias", one("2026-03-12")),
        ("il y a deux jours", one("2026-03-12")),
        ("vor zwei Tagen", one("2026-03-12")),
        ("due giorni fa", one("2026-03-12")),
        ("два дня назад", one("2026-03-12")),
        ("दो दिन पहले", one("2026-03-12")),
        ("قبل يومين", one("2026-03-12")),
        ("قبل ٣ أيام", one("2026-03-11")),
        ("el 21 de octubre", OCTOBER_21),
        ("21 de outubro", OCTOBER_21),
        ("le 21 octobre", OCTOBER_21),
        ("am 21. Oktober", OCTOBER_21),
        ("il 21 ottobre", OCTOBER_21),
        ("21 октября", OCTOBER_21),
        ("21 अक्टूबर को", OCTOBER_21),
        ("في 21 أكتوبر", OCTOBER_21),
        ("10月21日", OCTOBER_21),
        ("on 21 October", OCTOBER_21),
        ("21.10.2025", OCTOBER_21),
        ("este mes", ("2026-03-01", "2026-03-31")),
        ("ce mois", ("2026-03-01", "2026-03-31")),
        ("diesen Monat", ("2026-03-01", "2026-03-31")),
        ("в этом месяце", ("2026-03-01", "2026-03-31")),
        ("इस महीने", ("2026-03-01", "2026-03-31")),
        ("هذا الشهر", ("2026-03-01", "2026-03-31")),
        ("l'année dernière", ("2025-01-01", "2025-12-31")),
        ("im Februar", ("2026-02-01", "2026-02-28")),
        ("en février 2024", ("2024-02-01", "2024-02-29")),
        ("в феврале", ("2026-02-01", "2026-02-28")),
        ("am Montag", one("2026-03-09")),
        ("lundi dernier", one("2026-03-09")),
        ("в понедельник", one("2026-03-09")),
        ("上周五", one("2026-03-06")),
        ("tomorrow", one("2026-03-15")),
        ("next week", ("2026-03-16", "2026-03-22")),
        ("the last three days", ("2026-03-11", "2026-03-14")),
        ("May 5 was fine", one("2025-05-05")),
    ],
)
def test_days_are_named_in_the_languages_that_most_people_use(text: str, expected: tuple[str, str]) -> None:
    assert days(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "may I come in", "march on", "all 5 may come", "the second one", "what does Friday's bakery sell",
        "the quiz on Friday's terms", "the last Wednesday of every month", "the last week of every month",
        "what do we do every week on Monday", "standup on Mondays", "what is the song Yesterday about",
        "who reads USA Today", "who is in charge as of today", "the last step", "this is it", "in order to", "v1.2.3",
        "目前天气怎么样", "日本月饼", "早上周老师", "was ist hier los", "guten Morgen", "por la mañana", "कला क्या है",
        "le lundi", "un an", "la mesa", "mes amis", "die letzte Antwort",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_date_is_not_one(text: str) -> None:
    assert days(text) is None
    assert read_dates(text, SATURDAY.toordinal()).rest == text


@pytest.mark.parametrize(
    ("text", "rest", "is_asking"),
    [
        ("what did we decide last week?", "what did we decide?", True),
        ("what happened today", "what happened", False),
        ("yesterday", "", False),
        ("what did we do two days ago", "what did we do", False),
        ("上周我们决定了什么", "我们决定了什么", True),
        ("昨天发生了什么", "发生了什么", False),
        ("was ist gestern passiert?", "was ist passiert?", False),
        ("last week and this week: who called?", "and: who called?", True),
        ("which release went out on 21 October?", "which release went out?", True),
        ("what did the boat cost in March?", "what did the boat cost?", True),
        ("21 October", "21 October", False),
        ("what happened on 21 October?", "what happened?", False),
        ("the budget in 2024", "the budget in 2024", True),
        ("what changed since March?", "what changed?", True),
    ],
)
def test_a_phrase_that_names_days_is_taken_out_of_the_words(text: str, rest: str, is_asking: bool) -> None:
    dates = read_dates(text, SATURDAY.toordinal())
    assert (dates.rest, dates.has_content) == (rest, is_asking)
    assert dates.spans


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did we decide before March?", None, "2026-02-28"),
        ("what did we decide since February?", "2026-02-01", "2026-03-14"),
        ("what did we decide after 3 February?", "2026-02-04", "2026-03-14"),
        ("what did we decide until 3 February 2026?", None, "2026-02-03"),
        ("what did we decide since last week?", "2026-03-02", "2026-03-14"),
        ("what did we decide before yesterday?", None, "2026-03-12"),
        ("decisions since 2026-02-03", "2026-02-03", "2026-03-14"),
        ("was haben wir seit Februar beschlossen?", "2026-02-01", "2026-03-14"),
        ("Rechnungen vor dem 3. Februar", None, "2026-02-02"),
        ("Rechnungen bis zum 3. Februar", None, "2026-02-03"),
        ("les factures depuis février", "2026-02-01", "2026-03-14"),
        ("les ventes jusqu'en février", None, "2026-02-28"),
        ("facturas antes del 3 de febrero", None, "2026-02-02"),
        ("ventas después de enero", "2026-02-01", "2026-03-14"),
        ("vendas depois de janeiro", "2026-02-01", "2026-03-14"),
        ("faturas até 3 de fevereiro", None, "2026-02-03"),
        ("fatture prima del 3 febbraio", None, "2026-02-02"),
        ("vendite da gennaio", "2026-01-01", "2026-03-14"),
        ("что мы решили с февраля о лодке?", "2026-02-01", "2026-03-14"),
        ("счета до 3 февраля", None, "2026-02-02"),
        ("फरवरी से पहले की बिक्री", None, "2026-01-31"),
        ("3 फरवरी के बाद की बिक्री", "2026-02-04", "2026-03-14"),
        ("ماذا قررنا منذ يناير بشأن القارب؟", "2026-01-01", "2026-03-14"),
        ("الفواتير قبل 3 فبراير", None, "2026-02-02"),
        ("二月以前关于船的决定", None, "2026-01-31"),
        ("上周以来的决定", "2026-03-02", "2026-03-14"),
        ("2月3日以降の船の決定", "2026-02-03", "2026-03-14"),
        ("2월 3일까지 청구서", None, "2026-02-03"),
    ],
)
def test_a_range_without_an_end_is_named_in_many_languages(text: str, first: str | None, last: str) -> None:
    dates = read_dates(text, SATURDAY.toordinal())
    assert [str(span) for span in dates.spans] == [f"{first} to {last}" if first else f"up to {last}"]
    assert dates.selects_first


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what did we agree on after yesterday's meeting?", one("2026-03-13")),
        ("vor 3 Tagen", one("2026-03-11")),
        ("the day before yesterday", one("2026-03-12")),
        ("昨天起床", one("2026-03-13")),
        ("depois de amanhã", one("2026-03-16")),
        ("antes de ayer", one("2026-03-12")),
    ],
)
def test_what_only_looks_like_a_range_is_a_day(text: str, expected: tuple[str, str]) -> None:
    assert days(text) == expected


def test_in_a_long_text_a_date_is_an_aside() -> None:
    text = "Today is fine, but " + "let us talk about the plan for the garden " * 4
    dates = read_dates(text, SATURDAY.toordinal())
    assert dates.rest == text
    assert not dates.selects_first


@pytest.mark.parametrize(
    ("text", "today", "expected"),
    [
        ("last week", MONDAY, ("2026-03-02", "2026-03-08")),
        ("last week", SUNDAY, ("2026-03-02", "2026-03-08")),
        ("this week", SUNDAY, ("2026-03-09", "2026-03-15")),
        ("last weekend", MONDAY, ("2026-03-07", "2026-03-08")),
        ("last weekend", SUNDAY, ("2026-03-07", "2026-03-08")),
        ("on Monday", MONDAY, one("2026-03-02")),
        ("on Sunday", SUNDAY, one("2026-03-08")),
        ("上周", MONDAY, ("2026-03-02", "2026-03-08")),
        ("yesterday", NEW_YEAR, one("2025-12-31")),
        ("last month", NEW_YEAR, ("2025-12-01", "2025-12-31")),
        ("last year", NEW_YEAR, ("2025-01-01", "2025-12-31")),
        ("last week", NEW_YEAR, ("2025-12-22", "2025-12-28")),
        ("this week", NEW_YEAR, ("2025-12-29", "2026-01-04")),
        ("in December", NEW_YEAR, ("2025-12-01", "2025-12-31")),
        ("in January", NEW_YEAR, ("2026-01-01", "2026-01-31")),
        ("去年", NEW_YEAR, ("2025-01-01", "2025-12-31")),
        ("上个月", NEW_YEAR, ("2025-12-01", "2025-12-31")),
        ("yesterday", LEAP_DAY, one("2024-02-28")),
        ("this month", LEAP_DAY, ("2024-02-01", "2024-02-29")),
        ("last year", LEAP_DAY, ("2023-01-01", "2023-12-31")),
        ("in February", LEAP_DAY, ("2024-02-01", "2024-02-29")),
        ("last month", LATE_MARCH, ("2026-02-01", "2026-02-28")),
        ("先月", LATE_MARCH, ("2026-02-01", "2026-02-28")),
        ("지난달", LATE_MARCH, ("2026-02-01", "2026-02-28")),
    ],
)
def test_weeks_months_and_years_end_where_they_end(text: str, today: date, expected: tuple[str, str]) -> None:
    assert days(text, today) == expected


@pytest.mark.parametrize(
    "text", ["green tea", "the weak mayor", "marching on", "a week", "year", "", "13月", "月", "0 AD"]
)
def test_a_question_that_names_no_day_has_none(text: str) -> None:
    assert days(text) is None


def test_a_day_that_does_not_exist_is_its_month_or_none() -> None:
    assert days("on 31 February") in (None, ("2026-02-01", "2026-02-28"))
    assert days("2月31日") in (None, ("2026-02-01", "2026-02-28"))
    assert days("on 31 February 2024") in (None, ("2024-02-01", "2024-02-29"))
    assert days("on 29 February", date(2025, 6, 1)) == one("2024-02-29")


def test_without_a_today_only_full_dates_name_a_day() -> None:
    assert parse_span("yesterday", 0) is None
    assert parse_span("8 May 2023", 0) == Span(*[date(2023, 5, 8).toordinal()] * 2)


PHRASES = [
    "letzte woche", "il y a deux ans", "hace 999 años", "на прошлой неделе", "पिछले साल", "قبل سنتين", "tomorrow", "next year", "ＭＡＹ ５",
    "yesterday", "day before yesterday", "today", "999 years ago", "999 days ago", "0 days ago", "last week",
    "last weekend", "last month", "last year", "this year", "this month", "on sunday", "in march", "in march 9999",
    "in march 0000", "in march 0001", "9999年12月", "0000年0月0日", "99月99日", "31 february 0000", "in 2099", "上周", "上个月",
    "去年", "三年前", "999年前", "٣ days ago", "９９９ years ago", "in december 9999", "12月31日", "1 january 0001",
]  # fmt: skip
anything = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from([*PHRASES, *MONTHS, "on", "ago", "last", "年", "月", "日", "2026", "31"]), max_size=5).map(
        " ".join
    ),
    st.from_regex(r"\d{1,4}[-/.年]\d{1,2}[-/.月]\d{1,2}", fullmatch=True),
    st.from_regex(r"\d{1,2}(st|nd|rd|th)? (?i:may|august|april) \d{4}", fullmatch=True),
)


@given(anything, st.integers(1, date.max.toordinal()))
@example("last year", 1)
@example("last month", 1)
@example("yesterday", 1)
@example("last weekend", 1)
@example("this week", date.max.toordinal())
@example("this month", date.max.toordinal())
@example("in december 9999", date.max.toordinal())
@example("8 auguſt 2023", 700_000)
@example("8 aprıl 2023", 700_000)
@example("on augu\u017ft 3", 700_000)
def test_no_text_and_no_day_is_too_odd_to_be_asked_about(text: str, today: int) -> None:
    asks_about_now(text)
    span = parse_span(text, today)
    assert span is None or span.first <= span.last
    for phrase in find_phrases(text, today):
        assert 0 <= phrase.start < phrase.end <= len(text)
    read_dates(text, today).describe()


@pytest.mark.parametrize("today", [1, 2, 31, 366, date.max.toordinal(), date.max.toordinal() - 31])
@pytest.mark.parametrize("text", PHRASES)
def test_the_first_and_the_last_days_of_the_calendar_are_days_like_others(text: str, today: int) -> None:
    span = parse_span(text, today)
    assert span is None or 1 <= span.first <= span.last <= date.max.toordinal()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-14T09:26:53.000000Z", "2026-03-14"),
        ("2026-03-14", "2026-03-14"),
        ("2026/3/4", "2026-03-04"),
        ("2026年3月14日", "2026-03-14"),
        ("1:56 pm on 8 May, 2023", "2023-05-08"),
        ("8th of May 2023", "2023-05-08"),
        ("May 8, 2023", "2023-05-08"),
        ("MAY 8 2023", "2023-05-08"),
        ("1683504000", "2023-05-08"),
        ("1683504000.25", "2023-05-08"),
        ("1683504000000", "2023-05-08"),
        ("1683504000\n", "2023-05-08"),
        ("999999999", "2001-09-09"),
        ("2024-02-29", "2024-02-29"),
        ("9999-12-31", "9999-12-31"),
        ("0001-01-01", "0001-01-01"),
    ],
)
def test_a_moment_falls_on_a_day(text: str, expected: str) -> None:
    day = parse_day(text)
    assert day is not None
    assert str(date.fromordinal(day)) == expected


@pytest.mark.parametrize(
    "text",
    ["", "soon", "2026-02-30", "31 February 2024", "0000-01-01", "2026-13-01", "12", "12345678901", "1" * 5_000, "99 May 2023"],
)  # fmt: skip
def test_what_names_no_moment_falls_on_no_day(text: str) -> None:
    assert parse_day(text) is None


digits = st.text("0123456789٣९９", max_size=400)


@given(
    st.one_of(anything, digits, st.tuples(digits, digits).map(".".join), st.floats().map(str), st.integers().map(str))
)
@example("8 auguſt 2023")
@example("auguſt 8, 2023")
@example("8 aprİl 2023")
@example("9" * 13)
@example("9" * 10 + "." + "9" * 4000)
@example("٩٩٩٩٩٩٩٩٩٩")
def test_no_text_is_too_odd_to_look_for_a_day_in(text: str) -> None:
    day = parse_day(text)
    assert day is None or 1 <= day <= date.max.toordinal()


@given(st.integers(1, 700_000), st.integers(0, 400), st.integers(1, 800_000))
def test_nearness_is_a_share_that_fades_after_the_days_asked_about(first: int, length: int, day: int) -> None:
    span = Span(first, first + length)
    near = date_proximity(span, day)
    assert 0 <= near <= 1
    assert near == 1 if first <= day <= first + length else near < 1
    assert (
        date_proximity(span, span.last + 1)
        > date_proximity(span, span.last + 5)
        > date_proximity(span, span.last + 400)
        == 0
    )


def on(memory: Memory, clock: FrozenClock, day: date, text: str) -> None:
    clock.now = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    memory.call("remember", {"content": text})


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who did I have lunch with yesterday?", "2026-03-13"),
        ("Who did I have lunch with last week?", "2026-03-05"),
        ("Who did I have lunch with in February?", "2026-02-10"),
        ("Who did I have lunch with on 8 May 2023?", "2023-05-08"),
        ("who did I have lunch with now, lately?", "2026-03-13"),
        ("lunch 昨天", "2026-03-13"),
        ("lunch 上周", "2026-03-05"),
        ("lunch 2月", "2026-02-10"),
        ("lunch 先月", "2026-02-10"),
        ("lunch 어제", "2026-03-13"),
    ],
)
def test_of_notes_that_say_the_same_the_one_of_the_day_asked_about_comes_first(
    home: Path, question: str, expected: str
) -> None:
    clock = FrozenClock()
    with Memory(home, clock=clock) as memory:
        for text in ("2023-05-08", "2026-02-10", "2026-03-05", "2026-03-13"):
            on(memory, clock, date.fromisoformat(text), "Lunch with Ann by the river.")
        clock.now = datetime(2026, 3, 14, 9, tzinfo=UTC)
        assert memory.search(question)[0].at.startswith(expected)


def test_a_question_about_now_prefers_the_newer(home: Path) -> None:
    clock = FrozenClock()
    with Memory(home, clock=clock) as memory:
        for text, city in (("2024-01-05", "Rome"), ("2026-02-05", "Oslo"), ("2025-01-05", "Bern")):
            on(memory, clock, date.fromisoformat(text), f"I live in {city}.")
        clock.now = datetime(2026, 3, 14, 9, tzinfo=UTC)
        for question in ("where do I live now", "where do I currently live", "I live in 现在"):
            assert "Oslo" in memory.search(question)[0].text


DIARY = {
    "2026-02-10": "Decided to paint the fence.",
    "2026-03-02": "Decided to move the standup.",
    "2026-03-04": "Bob is on holiday.",
    "2026-03-13": "The dentist called.",
    "2026-03-14": "Tested the new dashboard.",
    "2025-10-21": "Release 2.4 went out.",
    "2025-10-22": "Release 2.5 went out at once.",
}


@pytest.fixture(params=["hybrid", "keyword"])
def diary(request: pytest.FixtureRequest, home: Path) -> Iterator[Callable[..., SearchResult]]:
    """Search in a diary of several months, on a Saturday."""
    clock = FrozenClock()
    with Memory(home, clock=clock) as memory:
        for text, entry in DIARY.items():
            on(memory, clock, date.fromisoformat(text), entry)
        memory.call("update_world", {"topic": "pub", "content": "Pub quiz on the last Wednesday of every month."})
        memory.call("update_world", {"topic": "fair", "content": "The book fair is on 21 January."})
        clock.now = datetime(2026, 3, 14, 18, tzinfo=UTC)

        def search(question: str, limit: int = 10) -> SearchResult:
            return memory.home.search(question, limit, mode=request.param)

        yield search


def texts(result: SearchResult) -> list[str]:
    return [hit.text.split("\n")[-1] for hit in result.hits]


@pytest.mark.parametrize("question", ["what did we decide last week?", "decided last week", "上周 decided"])
def test_what_is_of_the_days_asked_about_comes_first(diary: Callable[..., SearchResult], question: str) -> None:
    hit_texts = texts(diary(question))
    assert hit_texts[0] == "Decided to move the standup."
    assert hit_texts[1] == "Bob is on holiday."
    assert "Pub quiz on the last Wednesday of every month." not in hit_texts[:2]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what happened today", ["Tested the new dashboard."]),
        ("was ist heute passiert?", ["Tested the new dashboard."]),
        ("今天发生了什么", ["Tested the new dashboard."]),
        ("what did we do yesterday", ["The dentist called."]),
        ("que s'est-il passé la semaine dernière ?", ["Bob is on holiday.", "Decided to move the standup."]),
        ("last week", ["Bob is on holiday.", "Decided to move the standup."]),
    ],
)
def test_a_question_about_days_alone_lists_them_newest_first(
    diary: Callable[..., SearchResult], question: str, expected: list[str]
) -> None:
    result = diary(question)
    assert texts(result) == expected
    assert all(hit.score >= 0.5 for hit in result.hits)


def test_a_date_selects_by_the_day_of_an_entry_or_by_a_date_in_the_text(diary: Callable[..., SearchResult]) -> None:
    assert texts(diary("which release went out on 21 October?"))[0] == "Release 2.4 went out."
    assert texts(diary("which release went out on 22 October 2025?"))[0] == "Release 2.5 went out at once."
    assert texts(diary("what is on 21 January?"))[0] == "The book fair is on 21 January."


def test_days_of_which_nothing_is_known_are_reported_and_the_rest_is_searched(
    diary: Callable[..., SearchResult],
) -> None:
    for question in ("what did we decide three weeks ago?", "what did we decide in April?"):
        result = diary(question)
        assert "Decided" in texts(result)[0]
        assert any(warning.startswith("nothing is dated") for warning in result.warnings)
    assert diary("what did we decide last week?").warnings == ()


def test_a_name_that_looks_like_a_date_is_searched_as_words(diary: Callable[..., SearchResult]) -> None:
    result = diary("when is the quiz on the last Wednesday of every month?")
    assert texts(result)[0] == "Pub quiz on the last Wednesday of every month."
    assert result.warnings == ()
    assert result.dates.spans == ()


def test_an_entry_that_names_the_day_asked_about_counts_as_of_that_day(home: Path) -> None:
    clock = FrozenClock()
    with Memory(home, clock=clock) as memory:
        on(memory, clock, date(2026, 3, 10), "The heating was repaired yesterday.")
        on(memory, clock, date(2026, 2, 10), "The heating was repaired yesterday.")
        clock.now = datetime(2026, 3, 14, 9, tzinfo=UTC)
        assert memory.search("when was the heating repaired on 9 March?")[0].at.startswith("2026-03-10")
        assert memory.search("was the heating repaired on 9 February?")[0].at.startswith("2026-02-10")


def test_filters_narrow_the_days_that_a_query_names(diary: Callable[..., SearchResult], home: Path) -> None:
    with Memory(home, clock=FrozenClock()) as memory:
        assert [hit.at[:10] for hit in memory.search("last week", since="2026-03-04")] == ["2026-03-04"]


@pytest.mark.parametrize(
    ("question", "months"),
    [("what did we decide about the boat before February?", {12, 1}), ("the boat since February?", {2, 3})],
)
def test_a_range_without_an_end_selects_what_is_dated_within_it(home: Path, question: str, months: set[int]) -> None:
    clock = FrozenClock()
    with Memory(home, clock=clock) as memory:
        for day in (date(2025, 12, 3), date(2026, 1, 5), date(2026, 2, 7), date(2026, 3, 1)):
            on(memory, clock, day, f"Decided on the boat: paint number {day.month}.")
        clock.now = datetime(2026, 3, 14, 12, tzinfo=UTC)
        hits = memory.search(question, limit=4)
    assert {int(hit.at[5:7]) for hit in hits[:2]} == months


def test_years_of_which_nothing_is_dated_are_looked_for_in_texts(home: Path) -> None:
    clock = FrozenClock()
    with Memory(home, clock=clock) as memory:
        for first, last, coach in ((2001, 2003, "Ann Ruiz"), (2004, 2008, "Bo Lind"), (2009, 2011, "Cem Acar")):
            on(memory, clock, date(2026, 1, 5), f"Head coach of the club: {coach}, autumn {first} to spring {last}.")
        clock.now = datetime(2026, 3, 14, 12, tzinfo=UTC)
        hits = memory.search("who was head coach of the club from Jul 2004 to May 2008?", mode="keyword")
    assert "Bo Lind" in hits[0].text


def test_a_deadline_in_a_text_is_of_the_day_it_names(home: Path) -> None:
    clock = FrozenClock()
    with Memory(home, clock=clock) as memory:
        on(memory, clock, date(2026, 1, 5), "Clube Naval: the trial lasts until 10 March.")
        on(memory, clock, date(2026, 1, 6), "The trial of the new crane went well.")
        clock.now = datetime(2026, 3, 14, 12, tzinfo=UTC)
        hits = memory.search("which trial ends on 10 March?", limit=2)
    assert "Clube Naval" in hits[0].text


@pytest.mark.parametrize(
    ("question", "first", "last", "rest"),
    [
        ("what happened from 3 May to 5 May?", "2026-05-03", "2026-05-05", "what happened?"),
        ("deploys between 2026-05-03 and 2026-05-05", "2026-05-03", "2026-05-05", "deploys"),
        ("what did we do between 1 and 15 May?", "2026-05-01", "2026-05-15", "what did we do?"),
        ("May 3-5 decisions", "2026-05-03", "2026-05-05", "decisions"),
        ("decisions 3 May – 5 May", "2026-05-03", "2026-05-05", "decisions"),
        ("what changed since 3 May until 5 May", "2026-05-03", "2026-05-05", "what changed"),
        ("decisions between yesterday and today", "2026-06-10", "2026-06-11", "decisions"),
        ("who paid from 20 December to 5 January?", "2025-12-20", "2026-01-05", "who paid?"),
        (
            "was haben wir zwischen dem 1. und dem 15. Mai beschlossen?",
            "2026-05-01",
            "2026-05-15",
            "was haben wir beschlossen?",
        ),
        ("qué hicimos entre el 3 y el 5 de mayo?", "2026-05-03", "2026-05-05", "qué hicimos?"),
        ("qu'avons-nous décidé du 3 au 5 mai ?", "2026-05-03", "2026-05-05", "qu'avons-nous décidé?"),
        ("что мы делали с 3 по 5 мая", "2026-05-03", "2026-05-05", "что мы делали"),
        ("5月3日到5日做了什么？", "2026-05-03", "2026-05-05", "做了什么？"),
    ],
)
def test_the_two_ends_of_a_range_are_one_span(question: str, first: str, last: str, rest: str) -> None:
    dates = read_dates(question, date(2026, 6, 11).toordinal())
    assert [str(span) for span in dates.spans] == [f"{first} to {last}"]
    assert dates.rest == rest


@pytest.mark.parametrize("question", ["decisions on 3 May and 5 May", "3 May or 5 May?", "on 3 May, on 5 May"])
def test_two_days_are_no_range(question: str) -> None:
    dates = read_dates(question, date(2026, 6, 11).toordinal())
    assert [str(span) for span in dates.spans] == ["2026-05-03", "2026-05-05"]


@pytest.mark.parametrize("text", ["31 June", "on 31 June 2026", "32 May", "30. Februar", "31 de junio"])
def test_a_day_that_does_not_exist_is_not_its_month(text: str) -> None:
    assert parse_span(text, date(2026, 6, 11).toordinal()) is None


def test_what_happened_on_a_day_within_a_range_is_found(home: Path) -> None:
    clock = FrozenClock()
    with Memory(home, clock=clock) as memory:
        for day in range(1, 9):
            on(memory, clock, date(2026, 3, day), f"Deployed build {day}00 of the ferry app.")
        clock.now = datetime(2026, 3, 14, 12, tzinfo=UTC)
        hits = memory.search("which builds were deployed from 3 March to 5 March?", limit=3)
    assert {hit.at[:10] for hit in hits} == {"2026-03-03", "2026-03-04", "2026-03-05"}


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


REQUESTS = {
    "Tell me about Priya": "Priya",
    "What do you know about the rent?": "the rent?",
    "Do you remember where the spare key is?": "where the spare key is?",
    "Can you tell me when the launch is?": "when the launch is?",
    "is there anything about taxes": "taxes",
    "Was weißt du über Priya?": "Priya?",
    "Erzähl mir alles über das Fest": "das Fest",
    "Que sais-tu de Paul ?": "Paul ?",
    "¿Qué sabes de Ana?": "Ana?",
    "O que você sabe sobre a Ana?": "a Ana?",
    "Dimmi tutto su Anna": "Anna",
    "Расскажи мне о Маше": "Маше",
    "أخبرني عن سارة": "سارة",
    "मुझे प्रिया के बारे में बताओ": "प्रिया",
    "告诉我关于发布的事": "发布的事",
    "关于发布你知道什么？": "发布",
    "プリヤについて教えてください": "プリヤ",
    "프리야에 대해 알려줘": "프리야",
}


@pytest.mark.parametrize("question", REQUESTS)
def test_a_request_is_left_out_in_every_language(question: str) -> None:
    assert strip_request(question) == REQUESTS[question]


@pytest.mark.parametrize(
    "question", ["tell me more", "who is Priya?", "what did we decide?", "¿?", "the tell-tale heart", "शादी कब है?"]
)
def test_a_question_without_a_request_stays_as_it_is(question: str) -> None:
    assert strip_request(question) == question


@pytest.mark.parametrize(
    "request_words", ["What do you know about {}?", "tell me about {}", "{}について教えてください"]
)
def test_a_request_for_something_finds_it_as_well_as_its_name_alone(memory: Memory, request_words: str) -> None:
    for name, fact in (("Priya", "leads the checkout team"), ("Tom", "feeds the cat"), ("Ute", "has the spare key")):
        memory.call("remember", {"content": f"{name} {fact}."})
    (named,) = memory.search("Priya", limit=1)
    (asked,) = memory.search(request_words.format("Priya"), limit=1)
    assert "checkout" in asked.text
    assert asked.score == pytest.approx(named.score, abs=0.02)
