"""Cuts inside a text: a start that fits, and rules that lose whole sentences, never a prohibition first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.framing import cut_rules, cut_start

from ..texts import texts

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
