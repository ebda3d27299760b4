"""A shell in an empty folder, and one with a memory in use."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from commonplace.trust import record_made

from .shell import Shell

Commands = tuple[tuple[str, ...], ...]
ShellAfter = Callable[..., Shell]
HOME = ".commonplace"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture(scope="session")
def first_homes() -> dict[tuple[date, Commands], Path]:
    """The memories that commands have made, to be copied."""
    return {}


@pytest.fixture
def shell_after(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, first_homes: dict[tuple[date, Commands], Path]
) -> ShellAfter:
    """Makes a shell with the memory that `init` and some commands leave. They run once a day; every test gets a copy."""

    def make(*commands: tuple[str, ...]) -> Shell:
        key = (datetime.now(UTC).date(), commands)
        if key not in first_homes:
            first = Shell(tmp_path_factory.mktemp("first"))
            for command in (("init",), *commands):
                first.ok(*command)
            first_homes[key] = first.folder / HOME
        derived = shutil.ignore_patterns(".index", ".locks")
        home = shutil.copytree(first_homes[key], tmp_path / HOME, ignore=derived)
        record_made(str(home))
        return Shell(tmp_path)

    return make


@pytest.fixture
def used_shell(shell_after: ShellAfter) -> Shell:
    return shell_after(
        ("remember", "I", "prefer", "tea"),
        ("write", "editor", "vim", "--tag", "tools"),
        ("world", "people", "Ann lives in Oslo"),
    )
