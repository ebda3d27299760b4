"""What only says that something is asked takes no part in a search."""

from __future__ import annotations

import pytest

from commonplace import Memory
from commonplace.search.requests import strip_request

QUESTIONS = {
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


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_request_is_left_out_in_every_language(question: str) -> None:
    assert strip_request(question) == QUESTIONS[question]


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
