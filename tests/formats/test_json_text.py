from __future__ import annotations

import json
from typing import Any

import pytest

from commonplace.formats.json_text import (
    MAX_DEPTH_LEVELS,
    is_unicode,
    parse_json,
    parse_object,
    replace_surrogates,
    round_trip,
)


def nest(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize("value", [None, True, 0, -1.5, "", "é", [1, ["[" * 200]], {"a": {"b": []}}])
def test_values_come_back_as_they_are(value: Any) -> None:
    assert round_trip(value) == value


@pytest.mark.parametrize("text", ["", "{", "NaN", "[Infinity]", '"\\ud800"', nest(MAX_DEPTH_LEVELS + 1), nest(100_000)])
def test_what_is_not_strict_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def test_the_deepest_value_allowed_is_read() -> None:
    assert parse_json(nest(MAX_DEPTH_LEVELS)) == json.loads(nest(MAX_DEPTH_LEVELS))


def test_only_an_object_is_an_object() -> None:
    assert parse_object('{"a": 1}') == {"a": 1}
    assert [parse_object(text) for text in ("[1]", "1", "", nest(100_000))] == [None] * 4


def test_lone_surrogates_are_noticed_and_replaced() -> None:
    assert is_unicode("é😀")
    assert not is_unicode("a\ud83d")
    assert replace_surrogates("a\ud83d") == "a\ufffd"
    assert replace_surrogates("😀") == "😀"
