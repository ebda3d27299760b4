from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from commonplace import InvalidArgument
from commonplace.errors import (
    InvalidChoice,
    MalformedArgument,
    MissingArgument,
    NullCharacter,
    OutOfRange,
    UnknownArgument,
    WrongType,
)
from commonplace.schema import (
    ANY_JSON,
    BOOLEAN,
    INTEGER,
    NUMBER,
    TEXT,
    AtLeast,
    Clamp,
    array,
    check,
    closed_object,
    from_type,
    integer,
    object_of,
    one_of,
    plain_text,
)

from .examples import examples


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, TEXT),
        (int | None, INTEGER),
        (list[str], array(TEXT)),
        (list[str] | str | None, {"type": ["array", "string"], "items": TEXT}),
        (dict[str, Any], {"type": "object"}),
        (Literal["a", "b"], one_of("a", "b")),
        (Annotated[int, "How many.", Clamp(1, 9)], {**integer(1, 9), "description": "How many."}),
        (Annotated[int, AtLeast(0)], {"type": "integer", "minimum": 0}),
        (Any, ANY_JSON),
    ],
)
def test_a_type_becomes_a_schema(hint: Any, schema: dict[str, Any]) -> None:
    assert from_type(hint) == schema


@pytest.mark.parametrize(
    ("schema", "value", "error", "sentence"),
    [
        (TEXT, 5, WrongType, "x must be a string, not a whole number"),
        (TEXT, None, WrongType, "x must be a string, not null"),
        (TEXT, "\ud800", WrongType, "x must be Unicode text"),
        (INTEGER, 1.5, WrongType, "x must be a whole number, not 1.5"),
        (INTEGER, True, WrongType, "x must be a whole number, not true or false"),
        (NUMBER, float("nan"), WrongType, "x must be a number, not nan"),
        (integer(1, 9), 10, OutOfRange, "x must be from 1 to 9, not 10"),
        ({"type": "integer", "minimum": 1}, 0, OutOfRange, "x must be 1 or more, not 0"),
        (one_of("a", "b"), "c", InvalidChoice, "x must be one of a, b, not 'c'"),
        (array(TEXT), ["a", 5], WrongType, r"x\[1\] must be a string"),
        (array(TEXT), date(2026, 3, 14), WrongType, "x must be a list, not an object"),
        (plain_text("A name.", max_length=3), "long", MalformedArgument, "x is not understood: use at most 3"),
        (plain_text("A name.", min_length=1), "", MalformedArgument, "it must not be empty"),
        (TEXT, "a\0b", NullCharacter, "x .* has a null character in it: take it out"),
        ({"type": "string", "format": "date"}, "2026-02-30", MalformedArgument, "a day like 2026-03-14"),
        (object_of({"a": TEXT}), {}, MissingArgument, "Missing required parameter: a"),
        (closed_object({"a": TEXT}), {"a": "", "b": 1}, UnknownArgument, "'b' is not known here: it takes a"),
        ({"type": "object"}, {"a": {1}}, WrongType, "x must be a JSON value"),
        ({"anyOf": [TEXT, BOOLEAN], "description": "Say it."}, 5, MalformedArgument, "x is not understood: Say it."),
    ],
)
def test_a_value_that_does_not_fit_names_its_field(
    schema: dict[str, Any], value: Any, error: type[InvalidArgument], sentence: str
) -> None:
    with pytest.raises(error, match=sentence) as caught:
        check(schema, value, "x")
    assert getattr(caught.value, "field", "") in ("x", "x[1]", "a", "b")


def test_a_value_comes_back_as_the_schema_has_it() -> None:
    assert repr(check(INTEGER, 3.0, "x")) == "3"
    assert check(array(INTEGER), (1, 2.0), "x") == [1, 2]
    assert check({"type": "object"}, {"a": (1,)}, "x") == {"a": [1]}


def test_a_long_value_is_not_repeated_whole() -> None:
    with pytest.raises(InvalidChoice) as caught:
        check(one_of("a"), "b" * 10_000, "x")
    assert len(str(caught.value)) < 200


SCHEMAS: list[dict[str, Any]] = [
    TEXT,
    INTEGER,
    NUMBER,
    BOOLEAN,
    ANY_JSON,
    integer(0, 5),
    one_of("a", "b"),
    array(TEXT),
    {**array(INTEGER), "minItems": 1, "maxItems": 2},
    object_of({"a": TEXT}, b=INTEGER),
    closed_object({"a": BOOLEAN}, b=array(NUMBER)),
    {"type": ["string", "array"], "items": TEXT},
    {"type": ["integer", "null"]},
    {"anyOf": [INTEGER, one_of("a")]},
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 7) | st.sampled_from([0.5, 2.0]) | st.text("abc", max_size=2),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from("abc"), inside, max_size=3),
    max_leaves=5,
)


@examples(300)
@given(schema=st.sampled_from(SCHEMAS), value=VALUES)
def test_the_same_values_fit_as_any_reader_of_json_schema_says(schema: dict[str, Any], value: Any) -> None:
    try:
        check(schema, value, "x")
    except InvalidArgument:
        fits = False
    else:
        fits = True
    assert fits == Draft202012Validator(schema).is_valid(value)
