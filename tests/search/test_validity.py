"""Until when and from when on a note holds, in twelve languages; and what a search makes of it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.search.validity import (
    describe_validity,
    find_line_fields,
    find_validity,
    may_be_limited,
    note_days,
    read_fields,
)
from commonplace.testing import FrozenClock

from ..examples import examples

TUESDAY = date(2026, 5, 5).toordinal()  # when all of these were written


def days(text: str, day: int | None = TUESDAY) -> str:
    """The first and the last day on which a text holds, in brief."""
    validity = find_validity(text, day)
    return f"{validity.valid_from[5:]}..{validity.valid_until[5:]}"


LANGUAGES = {
    "english": {
        "The office is closed until Friday.": "..05-08",
        "Valid till 3 June.": "..06-03",
        "The freeze lasts through May 20, 2026.": "..05-20",
        "It is closed until the end of the month.": "..05-31",
        "Ann is away until tomorrow": "..05-06",
        "The old code works until 2026-07-01": "..07-01",
        "From 1 June the door code is 42.": "06-01..",
        "As of Monday Bob owns it": "05-11..",
        "Starting next week standup is at nine": "05-11..",
        "For the next two weeks Ann is away": "..05-19",
        "The pool is closed from 1 June to 5 June": "06-01..06-05",
    },
    "german": {
        "Das Büro ist bis Freitag geschlossen.": "..05-08",
        "gilt bis zum 12.5.": "..05-12",
        "bis Ende Mai zu": "..05-31",
        "Ab 1. Juni gilt der neue Preis": "06-01..",
        "ab nächster Woche um neun": "05-11..",
        "In den nächsten zwei Wochen ist Ann weg": "..05-19",
    },
    "spanish": {
        "La oficina está cerrada hasta el viernes": "..05-08",
        "vale hasta el 12 de mayo": "..05-12",
        "hasta fin de mes": "..05-31",
        "A partir del 1 de junio, el código es 42": "06-01..",
        "durante las próximas dos semanas": "..05-19",
    },
    "french": {
        "Le bureau est fermé jusqu'à vendredi": "..05-08",
        "jusqu'au 12 mai": "..05-12",
        "jusqu'à la fin du mois": "..05-31",
        "à partir du 1er juin": "06-01..",
        "à partir de lundi": "05-11..",
        "pendant les deux prochaines semaines": "..05-19",
    },
    "portuguese": {
        "Fechado até sexta-feira": "..05-08",
        "até 12 de maio": "..05-12",
        "até o fim do mês": "..05-31",
        "a partir de 1 de junho": "06-01..",
        "nas próximas duas semanas": "..05-19",
    },
    "italian": {
        "Chiuso fino a venerdì": "..05-08",
        "fino al 12 maggio": "..05-12",
        "fino alla fine del mese": "..05-31",
        "a partire dal 1 giugno": "06-01..",
        "per le prossime due settimane": "..05-19",
    },
    "russian": {
        "Офис закрыт до пятницы": "..05-08",
        "до 12 мая": "..05-12",
        "до конца месяца": "..05-31",
        "с 1 июня новый код": "06-01..",
        "начиная с понедельника": "05-11..",
        "в течение следующих двух недель": "..05-19",
    },
    "hindi": {
        "दफ़्तर शुक्रवार तक बंद है": "..05-08",
        "12 मई तक": "..05-12",
        "1 जून से नया कोड": "06-01..",
        "अगले दो हफ्तों के लिए": "..05-19",
    },
    "arabic": {
        "المكتب مغلق حتى الجمعة": "..05-08",
        "حتى 12 مايو": "..05-12",
        "حتى نهاية الشهر": "..05-31",
        "ابتداء من 1 يونيو": "06-01..",
    },
    "chinese": {
        "办公室关门到周五": "..05-08",
        "有效期至2026年5月12日": "..05-12",
        "到月底": "..05-31",
        "从6月1日起": "06-01..",
        "接下来两周安不在": "..05-19",
    },
    "japanese": {
        "オフィスは金曜日まで閉まっています": "..05-08",
        "5月12日まで": "..05-12",
        "今月末まで": "..05-31",
        "6月1日から": "06-01..",
        "今後2週間": "..05-19",
    },
    "korean": {
        "사무실은 금요일까지 닫습니다": "..05-08",
        "5월 12일까지": "..05-12",
        "이번 달 말까지": "..05-31",
        "6월 1일부터": "06-01..",
        "앞으로 2주": "..05-19",
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_index_notes_every_text_that_says_until_when_it_holds(language: str) -> None:
    for text in LANGUAGES[language]:
        assert may_be_limited(note_days(f"Something else. {text}", TUESDAY, False))
        assert may_be_limited(note_days(f"user: {text}", TUESDAY, True))
    assert not may_be_limited(note_days("Ann likes tea, and Bob has a cat named Mia.", TUESDAY, False))


@pytest.mark.parametrize("language", LANGUAGES)
def test_days_ahead_are_understood_as_seen_from_the_day_of_the_note(language: str) -> None:
    assert {text: days(text) for text in LANGUAGES[language]} == LANGUAGES[language]


@pytest.mark.parametrize(
    "text",
    [
        "worked until late",
        "until then it was fine",
        "until I told him",
        "until 2 pm",
        "she slept until noon",
        "We waited until Friday.",
        "I was ill until Friday.",
        "Open Monday till Friday",
        "open from Monday to Friday",
        "von Montag bis Freitag geöffnet",
        "de lunes a viernes",
        "с понедельника по пятницу",
        "从周一到周五",
        "月曜日から金曜日まで",
        "월요일부터 금요일까지",
        "金曜日までに提出",
        "the letter from 3 May",
        "Meeting notes from Monday",
        "I learned a lot from March",
        "getting through this week",
        "We were in Kyoto, 1 May to 7 May",
        "Wir haben bis spät gearbeitet",
        "pages 3 - 5 may help",
        "Rota: Ann until Monday each week",
        "Until Friday's deploy is a habit, ask Ann.",
        "The shop is always open until Friday",
        "Every week the gate is shut until Tuesday",
        "Jede Woche bis Freitag geschlossen",
        "Cerrado hasta el viernes cada semana",
        "Каждую неделю закрыто до пятницы",
        "每周到周五关门",
        "发布推迟到6月22日。",
        "会议改到6月22日",
        "We moved the launch from 5 June to 19 June because of the audit.",
        "Release date changed from 2026-06-05 to 2026-06-19.",
    ],
)
def test_what_only_looks_like_it_says_nothing(text: str) -> None:
    assert days(text) == ".."


def test_what_recurs_in_one_sentence_says_nothing_of_another() -> None:
    assert days("Standup is every week. The office is closed until Friday.") == "..05-08"
    assert days("Immer noch geschlossen bis Freitag") == "..05-08"


def test_without_a_day_only_full_dates_are_understood() -> None:
    assert days("closed until Friday", None) == ".."
    assert days("closed until 3 May", None) == ".."
    assert days("closed until 3 May 2027", None) == "..05-03"


def test_fields_say_it_in_front_matter_in_a_line_and_in_a_comment() -> None:
    assert read_fields("---\nvalid_until: 2026-05-12\n---\n").valid_until == "2026-05-12"
    assert read_fields("---\nnote: it is valid_until: then\n---\n") == (None, None)
    for text in ("a\nvalid_until: 12 May 2026", "a <!-- valid_until: 2026-05-12 -->", "a\n\nvalid_until: 2026-05-12"):
        assert find_line_fields(text)[0].valid_until == "2026-05-12", text
    assert find_line_fields("a\nvalid_from: 2026-06-01")[0].valid_from == "2026-06-01"
    assert find_line_fields("it is valid_until: then") == {}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\n\nvalid_until: 1970-01-01\n\nb", {0}),
        ("a\nb\nvalid_until: 1970-01-01\nc", {1}),
        ("- a\n- b\n  valid_until: 1970-01-01\n- c", {1}),
        ("a\nb <!-- valid_until: 1970-01-01 -->\nc", {1}),
        ("# A\n\nb\n\n```\nvalid_until: 1970-01-01\n```\n\nc", set()),
        ("a\n~~~ yaml\n\nvalid_until: 1970-01-01\n\nb", set()),
        ("- a\n- valid_until: 1970-01-01\n- c", set()),
        ("valid_until: 1970-01-01\na", set()),
    ],
)
def test_a_field_is_about_the_line_above_and_in_code_about_nothing(text: str, lines: set[int]) -> None:
    assert {*find_line_fields(text)} == lines


def test_validity_is_described_in_words() -> None:
    assert describe_validity("", "2026-05-12", "over") == "until 12 May 2026: over"
    assert describe_validity("", "2026-05-12", "") == "until 12 May 2026"
    assert describe_validity("2026-06-01", "2026-06-05", "ahead") == "from 1 June 2026 until 5 June 2026: not yet"
    assert describe_validity("", "", "") == ""


pieces = st.sampled_from(["until ", "bis ", "from ", "for the next ", "Friday", "31 February", "9999-12-31", "999 years", "до ", "到", "月", "99", "next year ", "{", "\0", "\ud800", "٣"])  # fmt: skip


@examples(60)
@given(st.lists(pieces, max_size=8).map("".join), st.one_of(st.none(), st.integers(1, date.max.toordinal())))
def test_any_text_on_any_day_is_read(text: str, day: int | None) -> None:
    for validity in (find_validity(text, day), read_fields(text), *find_line_fields(text).values()):
        assert all(each is None or 1 <= each <= date.max.toordinal() for each in validity)


@pytest.mark.parametrize("text", ["closed until tomorrow", "closed until Friday", "closed until next Friday"])
def test_days_after_the_last_one_of_the_calendar_are_not_known(text: str) -> None:
    assert find_validity(text, date.max.toordinal()).valid_until == ""


def test_long_texts_are_read_in_no_time() -> None:
    assert days("until " * 20_000) == ".."
    assert days("from 1 to 2 to 3 " * 5_000) == ".."


@pytest.fixture
def memory(home: Path, clock: FrozenClock) -> Memory:
    clock.now = datetime(2026, 5, 5, 9, tzinfo=UTC)
    return Memory(home, clock=clock)


def test_what_is_over_is_marked_and_ranked_down(memory: Memory, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "The office is closed until Friday."})
    (hit,) = memory.search("is the office closed?")
    assert (hit.valid_until, hit.validity) == ("2026-05-08", "")
    clock.advance(days=7)
    memory.call("remember", {"content": "The office closed its kitchen."})
    first, second = memory.search("is the office closed?")
    assert "kitchen" in first.text
    assert (second.valid_until, second.validity) == ("2026-05-08", "over")
    assert second.score < hit.score
    row = memory.call("memory_search", {"query": "is the office closed?"})["results"][1]
    assert (row["valid_until"], row["validity"]) == ("2026-05-08", "over")
    (then,) = memory.search("is the office closed?", as_of="2026-05-06")
    assert then.validity == ""


def test_what_is_still_ahead_is_marked(memory: Memory, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "From 1 June the door code is 42."})
    (hit,) = memory.search("door code")
    assert (hit.valid_from, hit.validity) == ("2026-06-01", "ahead")
    clock.advance(days=40)
    (hit,) = memory.search("door code")
    assert (hit.valid_from, hit.validity) == ("2026-06-01", "")


def test_a_page_says_in_its_front_matter_until_when_it_holds(memory: Memory, clock: FrozenClock) -> None:
    memory.call("update_world", {"topic": "price", "content": "---\nvalid_until: 2026-05-12\n---\nTea costs 4.\n"})
    memory.call("memory_write", {"key": "gate", "content": "The gate is open.\n\n<!-- valid_until: 2026-05-12 -->"})
    clock.advance(days=30)
    assert memory.search("what does tea cost")[0].validity == "over"
    assert memory.search("is the gate open")[0].validity == "over"


def test_days_of_a_page_without_dates_are_seen_from_when_its_lines_were_written(
    memory: Memory, clock: FrozenClock
) -> None:
    memory.call("update_world", {"topic": "lift", "content": "The lift is broken until Friday."})
    clock.advance(days=20)
    assert memory.search("is the lift broken")[0].valid_until == "2026-05-08"


def test_only_the_sentence_that_is_asked_for_counts(memory: Memory, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "The office is closed until Friday. The garage has forty places."})
    clock.advance(days=30)
    assert memory.search("how many places has the garage")[0].validity == ""
    assert memory.search("is the office closed")[0].validity == "over"


def test_a_question_about_the_past_ranks_nothing_down(memory: Memory, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "The office is closed until Friday."})
    (before,) = memory.search("when was the office closed?")
    clock.advance(days=30)
    (after,) = memory.search("when was the office closed?")
    assert (after.score, after.validity) == (before.score, "over")


def test_tomorrow_in_a_note_is_found_by_the_day_that_it_means(memory: Memory, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "Dentist tomorrow at nine."})
    memory.call("remember", {"content": "Bought bread."})
    clock.advance(days=9)
    memory.call("remember", {"content": "Painted the fence."})
    for query in ("what is on 6 May?", "dentist on 6 May", "what happened on 2026-05-06?"):
        assert ["Dentist" in hit.text for hit in memory.search(query)] == [True], query
    row = memory.call("memory_search", {"query": "dentist"})["results"][0]
    assert row["days"] == [{"words": "tomorrow", "day": "2026-05-06"}]
    assert "2026-05-06" not in row["text"]


def test_the_context_marks_entries_that_are_over(memory: Memory, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "The office is closed until Friday."})
    assert "over" not in memory.context().text
    clock.advance(days=7)
    assert "[until 8 May 2026: over] The office is closed until Friday." in memory.context().text


def test_a_comment_at_the_end_of_a_line_is_about_that_line(memory: Memory, clock: FrozenClock) -> None:
    content = "- The pool is open <!-- valid_until: 2026-05-07 -->\n- The gym is open\n"
    memory.call("update_world", {"topic": "sports", "content": content})
    clock.advance(days=9)
    assert memory.search("is the pool open?")[0].validity == "over"
    assert memory.search("is the gym open?")[0].validity == ""


def test_a_field_in_the_middle_of_a_note_or_in_code_does_not_end_the_note(memory: Memory, clock: FrozenClock) -> None:
    content = (
        "The pool is open all day.\n\nThe sauna is free.\nvalid_until: 1970-01-01\n\n"
        "The gym is on floor two.\n\n```yaml\nvalid_until: 1970-01-01\n```\n"
    )
    memory.call("update_world", {"topic": "sports", "content": content})
    assert memory.search("is the pool open all day?")[0].validity == ""
    assert memory.search("on which floor is the gym?")[0].validity == ""
    assert memory.search("is the sauna free?")[0].validity == "over"
    memory.call("remember", {"content": content})
    text = memory.context().text
    assert "[until 1 January 1970: over] The sauna is free." in text
    assert text.count("over]") == text.count("over] The sauna is free.")
