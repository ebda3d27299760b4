"""forget, from the command line: shown first, done with --yes."""

from __future__ import annotations

from pathlib import Path

import pytest

from .shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    shell.ok("init")
    shell.ok("write", "gate", "xylophone", "quartz")
    return shell


def test_it_is_shown_first_and_removed_with_yes(shell: Shell) -> None:
    shown = shell.ok("forget", "--key", "gate")
    assert "add --yes" in shown
    assert shell.ok("read", "gate") == "xylophone quartz\n"
    assert "Forgotten." in shell.ok("forget", "--key", "gate", "--yes")
    assert shell.run("read", "gate").returncode == 3
    assert shell.ok("forget", "--key", "gate") == "Nothing was found.\n"
    home = shell.folder / ".commonplace"
    assert [path for path in home.rglob("*") if path.is_file() and b"xylophone" in path.read_bytes()] == []


def test_the_reply_for_programs_says_where_it_was(shell: Shell) -> None:
    reply = shell.json("--json", "forget", "--key", "gate")
    assert {trace["kind"] for trace in reply["would_remove"]} >= {"page", "history"}
    assert "removed" in shell.json("--json", "forget", "--key", "gate", "--yes")


def test_it_must_be_said_what(shell: Shell) -> None:
    done = shell.run("forget", "--yes")
    assert (done.returncode, "say what to forget" in done.stderr) == (2, True)
