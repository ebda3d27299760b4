"""Open tasks: a question about what is left to do finds what is still to be done, in whatever words."""

from __future__ import annotations

import pytest

from commonplace import Memory
from commonplace.facts.tasks import OPEN_TASK
from commonplace.index.tokenizer import tokenize_passage

NOTES = (
    "We decided to use Postgres 16 for billing.",
    "TODO: rotate the API key of the mail provider.",
    "Carla left the team.",
    "- [ ] book the train to Graz",
    "- [x] send the invoice",
    "The todo app is written in Rust.",
    "TODO: call the printer. Done.",
)
OPEN = ("rotate the API key", "book the train")


@pytest.fixture
def tasks(memory: Memory) -> Memory:
    for note in NOTES:
        memory.call("remember", {"content": note})
    return memory


@pytest.mark.parametrize(
    "question",
    [
        "what is left to do?",
        "What's still open?",
        "pending tasks",
        "what do I have to do next?",
        "what should I work on?",
        "what's next?",
        "next steps",
        "any to-dos?",
        "was ist noch zu tun?",
        "welche offenen Aufgaben haben wir?",
        "¿qué queda por hacer?",
        "qu'est-ce qui reste à faire ?",
        "o que falta fazer?",
        "cosa resta da fare?",
        "wat is er nog te doen?",
        "что осталось сделать?",
        "还有什么要做?",
        "残りのタスクは?",
        "할 일이 뭐야?",
        "ماذا تبقى؟",
        "क्या बाकी है?",
    ],
)
def test_a_question_about_open_tasks_finds_all_of_them_first(tasks: Memory, question: str) -> None:
    first, second, *others = tasks.search(question)
    assert all(any(task in hit.text for hit in (first, second)) for task in OPEN)
    assert second.score >= 0.5
    assert all(hit.score < first.score for hit in others)


def test_what_is_done_is_no_open_task(tasks: Memory) -> None:
    texts = [hit.text for hit in tasks.search("what is left to do?") if hit.score >= 0.5]
    assert not any("invoice" in text or "printer" in text for text in texts)


def test_the_newest_task_comes_first(tasks: Memory) -> None:
    assert "book the train" in tasks.search("what is left to do?")[0].text


def test_a_question_may_name_what_the_task_is_about(tasks: Memory) -> None:
    assert "rotate the API key" in tasks.search("what is left to do for the mail provider?")[0].text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("who left the team?", "Carla"),
        ("which language is the todo app in?", "Rust"),
        ("what do we use for billing?", "Postgres"),
    ],
)
def test_a_question_with_such_a_word_still_finds_its_answer(tasks: Memory, question: str, answer: str) -> None:
    assert answer in tasks.search(question)[0].text


def test_where_nothing_is_open_nothing_fits(memory: Memory) -> None:
    memory.call("remember", {"content": "We decided to use Postgres 16 for billing."})
    assert all(hit.score < 0.2 for hit in memory.search("what is left to do?"))


def test_recall_gives_open_tasks_before_a_prompt_that_asks_for_them(tasks: Memory) -> None:
    recalled = str(tasks.recall_for("what is left to do?"))
    assert all(task in recalled for task in OPEN)


@pytest.mark.parametrize(
    "text",
    [
        "todo: buy milk",
        "Open questions: who pays?",
        "**Next steps:** call Ann",
        "Next: call Ann",
        "1. [ ] call Ann",
        "We still need to book a room.",
        "Remind me to water the plants.",
        "Das Angebot muss noch unterschrieben werden.",
        "Pendiente: pagar la factura",
        "Reste à faire : payer la facture",
        "Falta por pagar la factura.",
        "Da fare: chiamare Anna",
        "Осталось оплатить счёт.",
        "待办:买机票",
        "やること: 切符を買う",
        "보고서를 제출해야 한다.",
    ],
)
def test_a_text_with_an_open_task_is_indexed_as_one(text: str) -> None:
    assert OPEN_TASK in tokenize_passage(text, "").body


@pytest.mark.parametrize(
    "text",
    [
        "The shop is open on Sundays.",
        "She left to do her shopping.",
        "Next week we meet in Graz.",
        "- [x] call Ann",
        "✅ TODO: buy milk",
        "Er hat noch zwei Brüder.",
        "The todo list app is popular.",
        "Das Fenster ist offen.",
    ],
)
def test_an_ordinary_text_is_not(text: str) -> None:
    assert OPEN_TASK not in tokenize_passage(text, "").body
