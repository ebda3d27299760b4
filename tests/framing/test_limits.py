"""Replies have a size limit: long texts are cut, rows that do not fit are left out, and the reply says so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.framing import cut_rules, cut_start
from commonplace.framing.limits import MAX_REPLY_CHARACTERS, fit_names, fit_rows

from ..texts import texts


def size(reply: dict[str, Any]) -> int:
    return len(json.dumps(reply, ensure_ascii=False))


@pytest.fixture
def full(memory: Memory) -> Memory:
    """A memory with notes and records that do not fit into one reply."""
    for number in range(40):
        memory.call("write_memory", {"key": f"note {number}", "content": f"apple {number} " * 300})
    for number in range(40):
        value = f"apple {number} " * 300
        memory.call("MemoryTool", {"op": "setGlobal", "key": f"record_{number}", "value": value})
        memory.call("MemoryTool", {"op": "setChannel", "channelName": "c", "key": f"k{number}", "value": value})
    for number in range(40):
        memory.call("memory_write", {"key": f"block {number}", "content": f"apple {number} " * 300})
    return memory


def test_every_search_by_words_stays_within_the_limit_and_says_what_is_missing(full: Memory) -> None:
    full.call("MemoryTool", {"op": "createSkill", "name": "pie", "description": "d", "instructions": "apple " * 9000})
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("search_memory", {"query": "apple", "limit": 50}, "working"),
        ("MemoryTool", {"op": "search", "query": "apple"}, "registry"),
        ("MemoryTool", {"op": "searchGlobal", "query": "apple"}, "registry"),
    ]
    for tool, arguments, toolset in calls:
        reply = full.call(tool, arguments, toolset=toolset)
        assert size(reply) < MAX_REPLY_CHARACTERS, arguments
        assert "only the start is shown of" in reply["warning"] or "left out" in reply["warning"], arguments


def test_what_is_listed_by_name_or_number_comes_whole(full: Memory) -> None:
    listed = full.call("MemoryTool", {"op": "listGlobal"})
    assert [len(row["value"]) > 2000 for row in listed["results"]] == [True] * 40
    assert "warning" not in listed
    assert len(full.call("memory_search", {"query": "apple", "limit": 100}, toolset="notes")["data"]["results"]) == 40


def test_a_note_whose_key_is_asked_for_comes_whole(full: Memory) -> None:
    text = "apple " * 20_000
    full.call("write_memory", {"key": "note", "content": text})
    reply = full.call("search_memory", {"query": "note"})
    assert reply["matches"][0]["key"] == "note"
    assert reply["matches"][0]["content"] == text.strip()
    full.call("MemoryTool", {"op": "setGlobal", "key": "pie", "value": text})
    for op in ("search", "searchGlobal"):
        reply = full.call("MemoryTool", {"op": op, "query": "pie"})
        assert [record["value"] for record in reply["results"]] == [text]
        assert "warning" not in reply


def test_many_keys_are_listed_as_far_as_they_fit(memory: Memory) -> None:
    names = [f"a rather long name of a key {number}" for number in range(400_000)]
    fitted = fit_names(names, "search finds them")
    assert names[: len(fitted.rows)] == fitted.rows
    assert f"{400_000 - len(fitted.rows):,} of 400,000 are left out" in fitted.warning
    assert fit_names(names[:3], "x") == (names[:3], "")


def test_small_rows_stay_whole_beside_large_ones() -> None:
    rows = [{"key": f"k{n}", "content": "x" * (100_000 if n % 2 else 10)} for n in range(20)]
    fitted = fit_rows(rows, "content", "read them")
    assert [row["key"] for row in fitted.rows] == [row["key"] for row in rows]
    assert all(len(row["content"]) == 10 for row in fitted.rows[::2])
    assert all(1000 < len(row["content"]) < 3000 for row in fitted.rows[1::2])
    assert "only the start is shown of k1, k3" in fitted.warning


def test_a_value_that_cannot_be_cut_is_left_out_and_named() -> None:
    rows = [{"key": "big\nkey", "value": [0] * 50_000}, {"key": "small", "value": 1}]
    fitted = fit_rows(rows, "value", "read it")
    assert fitted.rows == rows[1:]
    assert "1 more are left out: big\\nkey" in fitted.warning


# Cuts inside a text: a start that fits, and rules that lose whole sentences, never a prohibition first.


RULES = """\
Greet the visitor. Ask for the name.

### In the shop
- Offer tea, e.g. green tea, and wait. Never serve it
  cold. Say the price.
- Close the door.

```
never in a fence
```

### At night
- Switch off the lights.
"""


@given(texts, st.integers(0, 200))
def test_a_start_is_a_start_and_fits(text: str, most: int) -> None:
    start = cut_start(text, lambda part: len(part) <= most)
    assert text.startswith(start)
    assert len(start) <= most or start == text


@pytest.mark.parametrize(
    ("text", "most", "start"),
    [
        ("one two three", 9, "one two"),
        ("one\ntwo three four", 12, "one"),
        ("One two. Three four five six.", 20, "One two."),
        ("x" * 50, 20, "x" * 20),
        ("short", 20, "short"),
    ],
)
def test_a_start_ends_with_a_line_a_sentence_or_a_word(text: str, most: int, start: str) -> None:
    assert cut_start(text, lambda part: len(part) <= most) == start


@pytest.mark.parametrize("most", range(0, 300, 15))
def test_rules_lose_whole_sentences_and_prohibitions_last(most: int) -> None:
    rules, count = cut_rules(RULES, lambda part: len(part) <= most)
    assert len(rules) <= most or rules == RULES
    sentences = [
        "Greet the visitor.",
        "Ask for the name.",
        "Say the price.",
        "Close the door.",
        "Switch off the lights.",
    ]
    whole = ["Offer tea, e.g. green tea, and wait.", "Never serve it\n  cold."]
    left = rules
    for sentence in [*sentences, *whole, "### In the shop", "### At night", "```\nnever in a fence\n```", "- "]:
        left = left.replace(sentence, "")
    assert left.strip() == ""
    assert bool(count) == (rules != RULES)
    if most >= 60 and any(sentence in rules for sentence in sentences):
        assert "Never serve it\n  cold." in rules


def test_a_heading_is_shown_only_above_something() -> None:
    rules, _ = cut_rules(RULES, lambda part: len(part) <= 60)
    assert "### At night" not in rules


def test_lines_without_full_stops_are_rules_of_their_own() -> None:
    assert cut_rules("keep it clean\n" * 100, lambda part: len(part) <= 30) == ("keep it clean\nkeep it clean", 98)


@given(texts, st.integers(0, 200))
def test_any_rules_can_be_cut(text: str, most: int) -> None:
    rules, count = cut_rules(text, lambda part: len(part) <= most)
    assert len(rules) <= most
    assert count >= 0
