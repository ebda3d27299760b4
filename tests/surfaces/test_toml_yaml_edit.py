"""The editors of TOML and YAML: an entry goes in and out, everything else stays; or nothing is done, and that is said."""

from __future__ import annotations

import tomllib
from types import ModuleType
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from commonplace.surfaces.install import toml_edit, yaml_edit
from commonplace.surfaces.install.files import CannotEdit, Unreadable

ENTRY = {"command": '/opt/it\'s "here"/commonplace', "args": ["mcp", "--home", "C:\\home\\ann"]}
TOML = [
    'model = "o3" # fast', "# a comment", "", "[mcp_servers.other]", 'command = "x"', 'args = [\n  "a", # one\n  "b",\n]', "[tui]",
    "[features]\nhooks = true", 'notes = """\n[mcp_servers.commonplace]\ncommand = "no"\n"""', "[[list]]\nname = 1", "[mcp_servers]",
    '[mcp_servers.commonplace]\ncommand = "old"\nargs = [\n  "mcp",\n]\nenabled = true # mine', '["mcp_servers".commonplace.env]\nA = "1"',
    "mcp_servers.x.command = 'y'", "[mcp_servers.commonplace.tools]", "broken", "[[[",
]  # fmt: skip
YAML = [
    "GOOSE_MODEL: x # fast", "# a comment", "", "extensions:", "  developer:\n    type: builtin", "  # about it", "  memory: {enabled: true}",
    "  commonplace:\n    cmd: old\n    # mine\n    mine: [1, 2]", "other:\n  commonplace:\n    a: 1", "extensions: {}", "text: |\n  commonplace:\n    no",
    "extensions: {a: 1}", "list:\n- 1\n- 2", "'extensions':", "\tbroken", "a: [1",
]  # fmt: skip


def files(parts: list[str]) -> st.SearchStrategy[str]:
    ends = st.sampled_from(["\n", "\r\n"])
    chosen = st.lists(st.sampled_from(parts), max_size=7, unique=True)
    return st.builds(
        lambda some, end, last: end.join("\n".join(some).split("\n")) + last, chosen, ends, st.sampled_from(["", "\n"])
    )


def at(document: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def others(document: dict[str, Any], path: tuple[str, str]) -> dict[str, Any]:
    """Everything but one entry; what is empty counts for nothing."""
    holder = document.get(path[0])
    rest = {key: value for key, value in holder.items() if key != path[1]} if isinstance(holder, dict) else holder
    return {key: value for key, value in {**document, path[0]: rest}.items() if value}


def check(editor: ModuleType, read: Any, text: str, path: tuple[str, str]) -> None:
    try:
        before = editor.parse(text)
        made = editor.put(text, path, ENTRY)
    except (Unreadable, CannotEdit) as error:
        assert str(error)  # noqa: PT017
        return
    entry = at(before, path)
    after = read(made)
    assert at(after, path) == {**(entry if isinstance(entry, dict) else {}), **ENTRY}
    assert others(after, path) == others(before, path)
    assert editor.put(made, path, ENTRY) == made
    if entry is None:
        lines = iter(made.splitlines())
        assert all(line in lines for line in text.splitlines() if "{}" not in line)  # in this order
    try:
        without = editor.take(made, path)
    except CannotEdit as error:
        assert "by hand" in str(error)  # noqa: PT017
        return
    assert at(read(without), path) is None
    assert others(read(without) or {}, path) == others(before, path)


@given(files(TOML))
def test_toml_has_the_entry_and_all_else_as_before(text: str) -> None:
    check(toml_edit, tomllib.loads, text, ("mcp_servers", "commonplace"))


@given(files(YAML))
def test_yaml_has_the_entry_and_all_else_as_before(text: str) -> None:
    check(yaml_edit, yaml.safe_load, text, ("extensions", "commonplace"))


@pytest.mark.parametrize("text", ['a = 1\n\n[mcp_servers.x]\ncommand = "y" # mine\n', "# only this\n", "[a]\n[b]\n"])
def test_toml_comes_back_to_the_byte_when_the_entry_is_taken_out(text: str) -> None:
    path = ("mcp_servers", "commonplace")
    assert toml_edit.take(toml_edit.put(text, path, ENTRY), path) == text


@pytest.mark.parametrize(
    "text", ["a: 1\nextensions:\n    # mine\n    x:\n        b: 1\n\nc: 2\n", "extensions:\n  x: {}\n"]
)
def test_yaml_comes_back_to_the_byte_when_the_entry_is_taken_out(text: str) -> None:
    path = ("extensions", "commonplace")
    assert yaml_edit.take(yaml_edit.put(text, path, ENTRY), path) == text


def test_a_comment_above_the_next_table_stays_with_it() -> None:
    path = ("mcp_servers", "commonplace")
    text = toml_edit.put("a = 1\n", path, ENTRY) + "\n# about b\n[b]\nc = 1\n"
    assert toml_edit.take(text, path) == "a = 1\n\n# about b\n[b]\nc = 1\n"
