"""The editor of JSON with comments: it reads what a plain reader reads, changes what it was asked to, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.formats import ParseProblem
from commonplace.surfaces.install import jsonc


def strip_comments(text: str) -> str:
    """A reader of its own: the text as plain JSON, without comments and trailing commas, character by character."""
    out: list[str] = []
    at, quoted = 0, False
    while at < len(text):
        here = text[at]
        if quoted:
            out.append(text[at : at + 2] if here == "\\" else here)
            at += 2 if here == "\\" else 1
            quoted = here != '"'
            continue
        if text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
            continue
        if text.startswith("/*", at):
            at = text.index("*/", at + 2) + 2
            continue
        quoted = here == '"'
        if here in "]}" and "".join(out).rstrip().endswith(","):
            whole = "".join(out).rstrip()[:-1]
            out = [whole]
        out.append(here)
        at += 1
    return "".join(out)


def plain(text: str) -> Any:
    return json.loads(strip_comments(text))


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-99, 10**12)
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False)
)
keys = st.sampled_from(["a", "b", "servers", "commonplace", "//", "/*", 'q"', ""]) | st.text(max_size=4)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=8
)
spaces = st.sampled_from(
    ["", " ", "\n", "  \t", "\n    ", "\r\n  ", ' // note, with } and " in it\n', "/* a\n, { */", "/**/ "]
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """An object as somebody may have written it: comments, odd spaces, trailing commas."""

    def write_value(value: Any) -> str:
        if not isinstance(value, (dict, list)):
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        if isinstance(value, dict):
            parts = [
                f"{json.dumps(key)}{draw(spaces)}:{draw(spaces)}{write_value(each)}" for key, each in value.items()
            ]
        else:
            parts = [write_value(each) for each in value]
        text = ",".join(f"{draw(spaces)}{part}{draw(spaces)}" for part in parts)
        trailing = "," if parts and draw(st.booleans()) else ""
        return f"{opening}{text}{trailing}{draw(spaces)}{closing}"

    return draw(spaces) + write_value(draw(st.dictionaries(keys, values, max_size=4))) + draw(spaces)


def with_value(document: Any, path: tuple[str, ...], value: Any) -> Any:
    key, *rest = path
    result = with_value(document.get(key, {}), tuple(rest), value) if rest else value
    return {**document, key: result}


def leads_through_objects(document: Any, path: tuple[str, ...]) -> bool:
    for key in path:
        if not isinstance(document, dict):
            return False
        if key not in document:
            return True
        document = document[key]
    return True


@given(texts())
def test_it_reads_what_a_plain_reader_reads(text: str) -> None:
    assert jsonc.parse(text) == plain(text)


@given(texts(), st.lists(keys, min_size=1, max_size=3).map(tuple), values)
def test_a_value_that_is_put_in_is_there_and_all_else_is_as_it_was(
    text: str, path: tuple[str, ...], value: Any
) -> None:
    document = plain(text)
    if not leads_through_objects(document, path):
        with pytest.raises(ParseProblem):
            jsonc.put(text, path, value)
        return
    response = jsonc.put(text, path, value)
    assert plain(response) == with_value(document, path, value)
    assert jsonc.put(response, path, value) == response
    if path[0] not in document:
        assert comments(response) == comments(text)


def comments(text: str) -> list[str]:
    """Every comment of a text, in order."""
    result: list[str] = []
    at, quoted = 0, False
    while at < len(text):
        if quoted:
            quoted = text[at] != '"'
            at += 2 if text[at] == "\\" else 1
        elif text.startswith(("//", "/*"), at):
            end = text.find("\n", at) if text[at + 1] == "/" else text.index("*/", at + 2) + 2
            end = len(text) if end < 0 else end
            result.append(text[at:end].rstrip())
            at = end
        else:
            quoted = text[at] == '"'
            at += 1
    return result


@given(texts(), st.lists(keys, min_size=1, max_size=2).map(tuple), values)
def test_what_was_put_in_can_be_taken_out_again(text: str, path: tuple[str, ...], value: Any) -> None:
    document = plain(text)
    holder: Any = document
    for key in path[:-1]:
        holder = holder.get(key) if isinstance(holder, dict) else None
    if not isinstance(holder, dict) or path[-1] in holder:
        return
    result = jsonc.remove(jsonc.put(text, path, value), path)
    assert plain(result) == document
    assert comments(result) == comments(text)
    if holder:  # to the byte, where there was something before it
        assert result == text


@given(texts(), values)
def test_a_value_that_is_replaced_leaves_every_byte_around_it(text: str, value: Any) -> None:
    for member in jsonc.read(text).inside:
        if [each.key for each in jsonc.read(text).inside].count(member.key) == 1:
            response = jsonc.put(text, (member.key,), value)
            assert response.startswith(text[: member.node.start])
            assert response.endswith(text[member.node.end :])


@given(texts())
def test_taking_any_member_out_leaves_the_others(text: str) -> None:
    document = plain(text)
    for key in document:
        result = jsonc.remove(text, (key,))
        assert plain(result) == {name: value for name, value in document.items() if name != key}


@given(texts(), keys, values)
def test_an_element_is_added_to_a_list_and_taken_out(text: str, key: str, element: Any) -> None:
    document = plain(text)
    if not isinstance(document.get(key, []), list):
        with pytest.raises(ParseProblem):
            jsonc.add(text, (key,), element)
        return
    result = jsonc.add(text, (key,), element)
    assert plain(result)[key] == [*document.get(key, []), element]
    again = jsonc.remove(result, (key, len(document.get(key, []))))
    assert plain(again) == {**document, key: document.get(key, [])}


def refusal(text: str) -> ParseProblem | None:
    try:
        jsonc.parse(text)
    except ParseProblem as error:
        return error
    return None


@given(st.text(alphabet='{}[]",:/*\\ \n\tabtruefalsn01-.', max_size=30))
def test_text_that_makes_no_sense_is_refused_with_a_line(text: str) -> None:
    refused = refusal(text)
    if refused:
        assert 1 <= refused.line <= text.count("\n") + 1
        assert refused.problem
        with pytest.raises(ValueError):
            json.loads(text)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, "a comma or } is missing before '\"'"),
        ('{\n  "a" 1\n}', 2, "a colon is missing after 'a'"),
        ("{\n  a: 1\n}", 2, "a key in quotes is missing before 'a'"),
        ('{"a": [1, 2}', 1, "a comma or ] is missing before '}'"),
        ('{"a": nul}', 1, "'nul' is not a value"),
        ('{"a": NaN}', 1, "'NaN' is not a value"),
        ('{"a": "b\n"}', 1, "a string is not closed"),
        ('{"a": 1', 1, "a comma or } is missing before the end"),
        ('{"a": 1} x', 1, "there is more text after the end"),
        ('{"a": 1 /* b }', 1, "a comment is not closed"),
        ("[" * 1000, 1, "it is nested too deeply"),
    ],
)
def test_what_is_wrong_is_reported(text: str, line: int, problem: str) -> None:
    with pytest.raises(ParseProblem) as refused:
        jsonc.parse(text)
    assert (refused.value.line, refused.value.problem) == (line, problem)


def test_indentation_line_ends_and_a_trailing_comma_are_kept() -> None:
    text = '{\r\n\t// mine\r\n\t"a": 1, // why\r\n}\r\n'
    assert jsonc.put(text, ("b",), {"c": [1]}) == (
        '{\r\n\t// mine\r\n\t"a": 1, // why\r\n\t"b": {\r\n\t\t"c": [\r\n\t\t\t1\r\n\t\t]\r\n\t},\r\n}\r\n'
    )


def test_a_file_in_one_line_stays_in_one_line() -> None:
    assert jsonc.put('{"a": 1}', ("b",), {"c": [1, "x"]}) == '{"a": 1, "b": {"c": [1, "x"]}}'


def test_of_a_key_that_occurs_twice_the_last_one_counts() -> None:
    assert jsonc.put('{"a": 1, "a": 2}', ("a",), 3) == '{"a": 1, "a": 3}'
