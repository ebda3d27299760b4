"""JSON5: what people write in configuration files is read, and everything that JSON writes."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.formats import ParseProblem
from commonplace.formats.json5 import parse_json5

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_what_people_write_is_read() -> None:
    text = """// the agent
    {
      agents: { /* all */ defaults: {workspace: '~/my ws',}, list: [{id: "main"}, {id: 'ops',},], },
      "max": 0x10, half: .5, minus: -3, long: 'one \\
two', quote: "it's \\u00e9\\x41\\n", $x: null, on: true,
    }
    """
    assert parse_json5(text) == {
        "agents": {"defaults": {"workspace": "~/my ws"}, "list": [{"id": "main"}, {"id": "ops"}]},
        "max": 16,
        "half": 0.5,
        "minus": -3,
        "long": "one two",
        "quote": "it's éA\n",
        "$x": None,
        "on": True,
    }
    assert parse_json5(" // nothing\n") is None


@given(JSON)
def test_whatever_json_writes_is_read_the_same(value: object) -> None:
    for indent in (None, 2):
        assert parse_json5(json.dumps(value, indent=indent)) == value
        assert parse_json5(json.dumps(value, indent=indent, ensure_ascii=False)) == value


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("{\n  a: 1\n  b: 2}", 3, "a comma or }"),
        ("{a 1}", 1, "a colon"),
        ("[1, 2", 1, "a comma or ]"),
        ("{a: 'x}", 1, "not closed"),
        ("{a: undefined}", 1, "a value"),
        ("{} {}", 1, "more text"),
        ("[" * 1000, 1, "nested"),
        ("/* x", 1, "a comment is not closed"),
    ],
)
def test_what_is_wrong_has_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(ParseProblem, match=problem) as raised:
        parse_json5(text)
    assert raised.value.line == line


@given(st.text(alphabet="{}[]:,'\"\\/*a1 \n", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ParseProblem):
        parse_json5(text)
