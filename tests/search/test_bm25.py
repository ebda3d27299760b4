from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy  # noqa: F401  counting depends on whether it is loaded
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import InvalidArgument, Memory
from commonplace.errors import NotAvailable
from commonplace.index.base import CONTEXT_WEIGHT, Candidate
from commonplace.index.terms import list_lexemes, pack_terms, words_of
from commonplace.index.tokenizer import fold_accents, stem, tokenize_passage, tokenize_query
from commonplace.model import Hit, Scope
from commonplace.search.bm25 import QueryTerms, Term, bm25_scores
from commonplace.testing import FrozenClock

# The numbers of the last two end alike.
WORDS = ["tea", "te", "ea", "a", "green", "teas", "7b", "绿", "绿茶", "heron438", "falcon106"]
SOME = st.lists(st.sampled_from(WORDS), max_size=12)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dogs", "dog"),
        ("berries", "berry"),
        ("walked", "walking"),
        ("planning", "plans"),
        ("liked", "likes"),
        ("Ann's", "Ann"),
        ("CAFÉ", "cafe"),
        ("Straße", "STRASSE"),
        ("ﬁnd", "find"),
        ("１２", "12"),
    ],
)
def test_words_that_mean_the_same_are_one_word(one: str, other: str) -> None:
    assert tokenize_passage(one, "") == tokenize_passage(other, "")


@pytest.mark.parametrize("word", ["bus", "glass", "this", "red", "ring", "is", "日本", "naïve", "x86"])
def test_words_that_only_look_inflected_stay(word: str) -> None:
    assert stem(word) == word


def test_scripts_without_spaces_are_indexed_by_characters_and_pairs() -> None:
    assert tokenize_passage("绿茶好", "").body == ["绿", "茶", "好", "绿茶", "茶好"]
    assert [word.forms for word in tokenize_query("绿茶好")] == [("绿茶",), ("茶好",)]
    assert [word.forms for word in tokenize_query("茶")] == [("茶",)]


def test_a_question_asks_each_word_once() -> None:
    assert [word.forms for word in tokenize_query("tea, Tea and teas")] == [("tea",), ("and",)]


def test_folding_keeps_what_differs_apart() -> None:
    assert fold_accents("か") != fold_accents("カ")
    assert fold_accents("o") != fold_accents("0")


def test_a_passage_with_every_word_scores_well_and_with_half_of_them_less(memory: Memory) -> None:
    for topic, text in {"a": "zebra lion", "b": "zebra wolf", "c": "horse wolf"}.items():
        memory.call("update_world", {"topic": topic, "content": text})
    scores = {hit.path: hit.score for hit in memory.search("zebra lion")}
    assert scores["memory/world/a.md"] > 0.9
    assert 0.0 < scores["memory/world/b.md"] < scores["memory/world/a.md"] - 0.1
    assert scores.get("memory/world/c.md", 0.0) < 0.1


@pytest.mark.parametrize(
    ("query", "message"), [("", "blank"), ("  ", "blank"), (None, "must be a string"), (5, "must be a string")]
)
def test_a_question_that_asks_nothing_is_refused(memory: Memory, query: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        memory.search(query)


@pytest.mark.parametrize("more", [{"limit": "x"}, {"min_score": "high"}, {"limit": [3]}])
def test_limits_that_are_no_numbers_are_refused(memory: Memory, more: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=r"must be a (whole )?number"):
        memory.search("tea", **more)


def test_the_library_searches_within_the_settings(home: Path, clock: FrozenClock) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text(
        "memorySearch:\n  maxResults: 1\nagents:\n  off:\n    memorySearch:\n      enabled: false\n"
    )
    memory = Memory(home, clock=clock)
    for topic in "abc":
        memory.call("update_world", {"topic": topic, "content": "tea"})
    assert len(memory.search("tea")) == 1
    assert len(memory.search("tea", limit=3)) == 3
    with pytest.raises(NotAvailable, match=r"memorySearch\.enabled"):
        Memory(home, agent="off", clock=clock).search("tea")


def test_a_skill_is_found_by_name_description_and_data_also_after_an_edit_by_hand(memory: Memory, home: Path) -> None:
    memory.call(
        "MemoryTool",
        {"op": "createSkill", "name": "brewing", "description": "infusions", "initialStructure": {"animal": "quuxle"}},
    )

    def paths(query: str) -> list[str]:
        return [hit.path for hit in memory.search(query)]

    for query in ("brewing", "infusions", "quuxle"):
        assert paths(query) == ["skills/brewing/SKILL.md"]
    (home / "skills/brewing/data.json").write_text('{"animal": "frobnitz"}')
    assert (paths("quuxle"), paths("frobnitz")) == ([], ["skills/brewing/SKILL.md"])
    (home / "skills/brewing/data.json").unlink()
    assert paths("frobnitz") == []
    assert "error" in memory.call("memory_get", {"path": "skills/brewing/data.json"})


def test_a_turn_is_found_by_what_was_said_around_it_after_the_turn_that_says_it(home: Path, clock: FrozenClock) -> None:
    output = [
        "Hello!",
        "Which animal do you like most?",
        "The okapi, by far.",
        "Why?",
        "It looks unsure.",
        "Fair.",
        "Bye.",
    ]
    (home / "agents/main/sessions").mkdir(parents=True)
    lines = [json.dumps({"role": "user", "content": text}) for text in output]
    (home / "agents/main/sessions/s.jsonl").write_text("\n".join(lines))
    (home / "commonplace.yaml").write_text("memorySearch:\n  indexSessions: true\n")
    hits = Memory(home, clock=clock).search("animal")
    assert hits[0].text == "user: Which animal do you like most?\nuser: The okapi, by far."
    assert (hits[0].start, hits[0].question) == (3, "user: Which animal do you like most?")
    assert {hit.start for hit in hits[:4]} == {1, 2, 3, 4}


@pytest.mark.parametrize("query", ["How often does Bea take her dogs for walks?", "how often are the dogs walked"])
def test_a_question_that_was_asked_before_brings_its_answer(home: Path, clock: FrozenClock, query: str) -> None:
    output = [
        "Did you sleep well?",
        "Yes, very well.",
        "How often do you take the dogs for walks?",
        "Three times a day, even in winter.",
        "We take the dogs to the vet in May.",
        "Walks are good for the back, the doctor said.",
    ]
    (home / "agents/main/sessions").mkdir(parents=True)
    turns = [{"role": "user", "name": ("Ann", "Bea")[at % 2], "content": text} for at, text in enumerate(output)]
    (home / "agents/main/sessions/s.jsonl").write_text("\n".join(map(json.dumps, turns)))
    (home / "commonplace.yaml").write_text("memorySearch:\n  indexSessions: true\n")
    first = Memory(home, clock=clock).search(query)[0]
    assert (first.start, first.end) == (4, 4)
    assert first.question == "user (Ann): How often do you take the dogs for walks?"
    assert first.text.endswith("Three times a day, even in winter.")


def test_a_text_that_is_on_hundreds_of_pages_leaves_room_for_others(home: Path, clock: FrozenClock) -> None:
    """As where every session begins with the same prompt."""
    folder = home / "memory" / "world"
    folder.mkdir(parents=True)
    for number in range(300):
        (folder / f"copy{number}.md").write_text("Zanzibar ferry, Zanzibar ferry: always be helpful about it.\n")
    (folder / "ticket.md").write_text(
        "The harbour office sells tickets for every crossing of the ferry, from six on.\n"
    )
    (home / "commonplace.yaml").write_text("memorySearch: {provider: none}\n")
    hits = Memory(home, clock=clock).search("Zanzibar ferry", limit=20, min_score=0)
    assert "memory/world/ticket.md" in [hit.path for hit in hits]


@given(SOME, SOME, SOME.filter(bool).map(lambda some: list(dict.fromkeys(some))))
def test_what_a_passage_holds_is_counted_word_by_word(inside: list[str], beside: list[str], asked: list[str]) -> None:
    weights = {word: 1.0 + at for at, word in enumerate(asked)}
    pairs = list(pairwise(asked))
    question = QueryTerms(
        weights,
        tuple(Term((word,), weight) for word, weight in weights.items()),
        10.0,
        4.0,
        (),
        (),
        tuple((pair,) for pair in pairs),
        "english",
    )
    passage = Candidate(1, Hit("p", 1, 1, "", 0.0, Scope("shared")), "page", pack_terms(inside, beside), 4, None)
    times = {word: inside.count(word) + CONTEXT_WEIGHT * beside.count(word) for word in asked}
    share = sum(weight * times[word] * 1.8 / (times[word] + 0.8) for word, weight in weights.items()) / 10
    side_by_side = [pair in set(pairwise(inside)) for pair in pairs]
    assert bm25_scores(question, [passage]) == [pytest.approx((share, sum(side_by_side) / max(1, len(pairs))))]


@given(st.lists(st.tuples(SOME, SOME), min_size=1, max_size=6), st.lists(SOME.filter(bool), min_size=1, max_size=5))
def test_words_are_counted_alike_with_numpy_and_without(
    passages: list[tuple[list[str], list[str]]], asked: list[list[str]]
) -> None:
    terms = tuple(Term(tuple(dict.fromkeys(forms)), 1.7 + at) for at, forms in enumerate(asked))
    pairs = tuple(tuple(pairwise(forms)) for forms in asked if len(forms) > 1)
    question = QueryTerms({}, terms, 7.0, 3.0, (), (), pairs, "english")
    hit = Hit("p", 1, 1, "", 0.0, Scope("shared"))
    candidates = [
        Candidate(number, hit, "page", pack_terms(*passage), 1 + number, None)
        for number, passage in enumerate(passages)
    ]
    with_numpy = bm25_scores(question, candidates)
    with patch.dict(sys.modules):
        sys.modules.pop("numpy")
        assert bm25_scores(question, candidates) == with_numpy


def test_the_words_of_a_long_question_are_all_counted() -> None:
    words = [f"word{number}" for number in range(300)]
    hit = Hit("p", 1, 1, "", 0.0, Scope("shared"))
    question = QueryTerms({}, tuple(Term((word,), 1.0) for word in words), 300.0, 300.0, (), (), (), "english")
    assert bm25_scores(question, [Candidate(1, hit, "page", pack_terms(words, []), 300, None)]) == [(1.0, 0.0)]


@given(SOME, SOME)
def test_the_words_that_a_passage_is_looked_up_by_can_be_read_back(inside: list[str], beside: list[str]) -> None:
    assert words_of(" ".join(list_lexemes(12, inside, beside))) == {*inside, *beside}
