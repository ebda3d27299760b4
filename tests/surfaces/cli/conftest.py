"""A shell in an empty folder, and one with a memory in use."""

from __future__ import annotations

from pathlib import Path

import pytest

from .shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def used(shell: Shell) -> Shell:
    shell.ok("init")
    shell.ok("remember", "I", "prefer", "tea")
    shell.ok("write", "editor", "vim", "--tag", "tools")
    shell.ok("world", "people", "Ann lives in Oslo")
    return shell
