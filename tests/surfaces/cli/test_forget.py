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
    output = shell.ok("forget", "--key", "gate")
    assert "add --yes" in output
    assert shell.ok("read", "gate") == "xylophone quartz\n"
    assert "Forgotten." in shell.ok("forget", "--key", "gate", "--yes")
    assert shell.run("read", "gate").returncode == 3
    assert shell.run("forget", "--key", "gate").returncode == 3
    home = shell.folder / ".commonplace"
    assert [path for path in home.rglob("*") if path.is_file() and b"xylophone" in path.read_bytes()] == []


def test_a_dry_run_removes_nothing_whatever_else_is_given(shell: Shell) -> None:
    for options in ([], ["--yes"]):
        assert "Nothing was removed yet" in shell.ok("forget", "--key", "gate", "--dry-run", *options)
    assert shell.ok("read", "gate") == "xylophone quartz\n"


def test_what_undo_would_take_back_is_named_after_forgetting(shell: Shell) -> None:
    shell.ok("remember", "Ann drinks green tea.")
    shell.ok("remember", "The cellar code is magnolia.")
    done = shell.run("forget", "The cellar code is magnolia.", "--yes")
    assert "It cannot be undone." in done.stdout
    assert "the last change that `commonplace undo` can take back is" in done.stderr
    assert done.stderr.rstrip().endswith('main (remember)  "Ann drinks green tea."')


def test_the_reply_for_programs_says_where_it_was(shell: Shell) -> None:
    reply = shell.json("--json", "forget", "--key", "gate")
    assert {trace["kind"] for trace in reply["would_remove"]} >= {"page", "history"}
    assert "removed" in shell.json("--json", "forget", "--key", "gate", "--yes")


def test_forget_needs_to_know_what(shell: Shell) -> None:
    done = shell.run("forget", "--yes")
    assert (done.returncode, "say what to forget" in done.stderr) == (2, True)


def files_with(shell: Shell, text: str) -> list[Path]:
    """Return the files that have a text: words, since digits occur by chance, in hashes, times and process numbers."""
    home = shell.folder / ".commonplace"
    return [path for path in home.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_lines_are_forgotten_by_the_citation_that_search_prints(shell: Shell) -> None:
    shell.ok("remember", "The cellar code is magnolia.")
    shell.ok("remember", "Ann drinks green tea.")
    results = shell.json("--json", "search", "what is the cellar code?")["results"][0]
    assert results["text"].endswith("The cellar code is magnolia.")
    assert "add --yes" in shell.ok("forget", results["citation"])
    assert "Forgotten." in shell.ok("forget", "--page", results["citation"], "--yes")
    assert files_with(shell, "magnolia") == []
    assert "Ann drinks green tea." in shell.ok("recall")


def test_a_text_is_forgotten_wherever_it_is_even_if_only_history_has_it(shell: Shell) -> None:
    shell.ok("world", "house", "The cellar code is magnolia.\n\nThe attic is empty.")
    shell.ok("world", "house", "The attic is empty.")
    assert "history" in shell.ok("forget", "The cellar code is magnolia.")
    shell.ok("forget", "The cellar code is magnolia.", "--yes")
    assert files_with(shell, "magnolia") == []
    assert "The attic is empty." in shell.ok("recall")


def test_what_matches_nothing_is_an_error_that_says_what_to_do(shell: Shell) -> None:
    for arguments in (["--key", "nobody"], ["There is no such sentence."], ["--page", "memory/none.md"]):
        done = shell.run("forget", *arguments, "--yes")
        assert (done.returncode, done.stdout) == (3, "")
        assert "commonplace search" in done.stderr
    assert shell.run("forget", "memory/none.md#L3").returncode == 3


def test_a_few_letters_are_too_little_to_forget_by(shell: Shell) -> None:
    done = shell.run("forget", "tea", "--yes")
    assert (done.returncode, "PAGE#L5" in done.stderr) == (2, True)
