"""The editor of YAML: an entry goes in and out, and everything else stays; or nothing is done, and the error says so."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given

from commonplace.surfaces.install import yaml_edit

from .editors import ENTRY, check, files

YAML = [
    "GOOSE_MODEL: x # fast", "# a comment", "", "extensions:", "  developer:\n    type: builtin", "  # about it", "  memory: {enabled: true}",
    "  commonplace:\n    cmd: old\n    # mine\n    mine: [1, 2]", "other:\n  commonplace:\n    a: 1", "extensions: {}", "text: |\n  commonplace:\n    no",
    "extensions: {a: 1}", "list:\n- 1\n- 2", "'extensions':", "\tbroken", "a: [1",
]  # fmt: skip


@given(files(YAML))
def test_yaml_has_the_entry_and_all_else_as_before(text: str) -> None:
    check(yaml_edit, yaml.safe_load, text, ("extensions", "commonplace"))


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nextensions:\n    # mine\n    x:\n        b: 1\n\nc: 2\n",
        "extensions:\n  x: {}\n",
        "extensions: {x: {a: 1}} # mine\nc: 2\n",
    ],
)
def test_yaml_comes_back_to_the_byte_when_the_entry_is_taken_out(text: str) -> None:
    path = ("extensions", "commonplace")
    assert yaml_edit.remove(yaml_edit.put(text, path, ENTRY), path) == text
