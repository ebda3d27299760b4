"""In a small memory, the words of a question that a note lacks say more than those it has."""

from __future__ import annotations

import pytest

from commonplace import Memory
from commonplace.search.coverage import split_question, split_task

NOTES = (
    "Anna's phone number is 0151 2345678.",
    "Paul brings dessert on Saturday.",
    "Carla maintains the mobile app.",
    "Ann prefers vim.",
    "The nightly job failed on 2026-03-02 because the disk was full.",
    "The function `parse_invoice` returns None for credit notes.",
    "Marta coordina el proyecto de la biblioteca.",
    "Der Hausarzt heißt Dr. Petersen.",
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
        "What is Paul's phone number?",
        "Why did the nightly job fail on 2026-04-11?",
        "What does parse_receipt return for credit notes?",
        "Who maintains the web app?",
        "¿Quién coordina el proyecto del museo?",
    ],
)
def test_a_note_on_another_person_day_or_function_does_not_fit(notes: Memory, question: str, mode: str) -> None:
    assert notes.home.search(question, mode=mode).verdict != "found"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "question",
    [
        "What is Anna's phone number?",
        "who maintains the mobile app?",
        "Why did the nightly job fail on 2026-03-02?",
        "What does parse_invoice return for credit notes?",
        "¿Quién coordina el proyecto de la biblioteca?",
        "Wie heißt der Hausarzt?",
        "Anna phone",
    ],
)
def test_a_note_with_every_word_fits(notes: Memory, question: str, mode: str) -> None:
    assert notes.home.search(question, mode=mode).verdict == "found"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("asked", ["什么时候", "什麼時候", "哪天", "何时", "周几", "我们什么时候"])
def test_the_words_that_ask_for_a_time_are_not_missing_from_a_chinese_note(
    memory: Memory, asked: str, mode: str
) -> None:
    for note in ("我们每周四部署到生产环境。", "服务器迁移计划在十月完成。", "小李负责前端设计。"):
        memory.call("remember", {"content": note})

    found = memory.home.search(f"{asked}部署?", mode=mode)

    assert found.verdict == "found"
    assert "每周四部署" in found.hits[0].text


@pytest.mark.parametrize("wish", ["想预约 SEM，要提前多久？", "我想预约 DSC"])
def test_a_chinese_verb_of_one_character_is_not_something_else_that_a_note_lacks(memory: Memory, wish: str) -> None:
    memory.call("update_world", {"topic": "仪器预约", "content": "DSC 周二开放，找陈师傅。SEM 提前五天预约。"})
    memory.call("remember", {"content": "新的真空烘箱放在四楼。"})
    assert memory.home.search(wish).verdict == "found"


@pytest.mark.parametrize("question", ["Which editor does Ann like?", "How can I ring Anna?"])
def test_other_words_for_the_same_fit(notes: Memory, question: str) -> None:
    assert notes.home.search(question).verdict == "found"


def test_names_numbers_and_identifiers_are_exact_and_german_nouns_are_not() -> None:
    words = split_question("Did Paul call parse_invoice in week 32?", "english")
    assert [word.text for word in words if word.is_exact] == ["Paul", "parse", "invoice", "32"]
    assert not any(word.is_exact for word in split_question("Wie heißt der Zahnarzt?", "german"))


def test_what_only_asks_is_no_word_of_a_question() -> None:
    assert [word.text for word in split_question("explain what the gateway does", "english")] == ["gateway"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("note", "question"),
    [
        ("Max is allergic to penicillin.", "is Max allergic to anything?"),
        ("Max is allergic to penicillin.", "is someone allergic to penicillin?"),
        ("Max ist gegen Penicillin allergisch.", "ist Max gegen irgendetwas allergisch?"),
        ("Max es alérgico a la penicilina.", "¿Max es alérgico a algo?"),
        ("Max est allergique à la pénicilline.", "Max est-il allergique à quelque chose ?"),
        ("O Max é alérgico à penicilina.", "O Max é alérgico a algo?"),
        ("Max è allergico alla penicillina.", "Max è allergico a qualcosa?"),
        ("У Макса аллергия на пенициллин.", "У Макса аллергия на что-нибудь?"),
    ],
)
def test_a_word_that_stands_for_the_answer_is_not_lacking(memory: Memory, note: str, question: str, mode: str) -> None:
    memory.call("remember", {"content": note})
    memory.call("remember", {"content": "Ann called."})
    assert memory.home.search(question, mode=mode).verdict == "found"


@pytest.mark.parametrize("mode", MODES)
def test_what_stands_for_the_answer_does_not_stand_for_a_name(memory: Memory, mode: str) -> None:
    memory.call("remember", {"content": "Max is allergic to penicillin."})
    assert memory.home.search("is Zoe allergic to anything?", mode=mode).verdict != "found"


def test_the_number_of_what_to_work_on_is_no_word_of_a_task() -> None:
    for task in ("describe the change of PR 481", "describe the change of parse_invoice", "describe the change #12"):
        assert [word.text for word in split_task(task, "english")] == ["change"]
