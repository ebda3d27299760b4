"""The editor of TOML: an entry goes in and out, and everything else stays; or nothing is done, and the error says so."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given

from commonplace.surfaces.install import toml_edit

from .editors import ENTRY, check, files

TOML = [
    'model = "o3" # fast', "# a comment", "", "[mcp_servers.other]", 'command = "x"', 'args = [\n  "a", # one\n  "b",\n]', "[tui]",
    "[features]\nhooks = true", 'notes = """\n[mcp_servers.commonplace]\ncommand = "no"\n"""', "[[list]]\nname = 1", "[mcp_servers]",
    '[mcp_servers.commonplace]\ncommand = "old"\nargs = [\n  "mcp",\n]\nenabled = true # mine', '["mcp_servers".commonplace.env]\nA = "1"',
    "mcp_servers.x.command = 'y'", "[mcp_servers.commonplace.tools]", "broken", "[[[",
]  # fmt: skip


@given(files(TOML))
def test_toml_has_the_entry_and_all_else_as_before(text: str) -> None:
    check(toml_edit, tomllib.loads, text, ("mcp_servers", "commonplace"))


@pytest.mark.parametrize("text", ['a = 1\n\n[mcp_servers.x]\ncommand = "y" # mine\n', "# only this\n", "[a]\n[b]\n"])
def test_toml_comes_back_to_the_byte_when_the_entry_is_taken_out(text: str) -> None:
    path = ("mcp_servers", "commonplace")
    assert toml_edit.remove(toml_edit.put(text, path, ENTRY), path) == text


def test_a_comment_above_the_next_table_stays_with_it() -> None:
    path = ("mcp_servers", "commonplace")
    text = toml_edit.put("a = 1\n", path, ENTRY) + "\n# about b\n[b]\nc = 1\n"
    assert toml_edit.remove(text, path) == "a = 1\n\n# about b\n[b]\nc = 1\n"
