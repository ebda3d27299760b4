"""The command that looks whether a memory is well, run as people run it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .shell import Shell

SAME = "### editor\n\nvim\n\n<!-- agentool-memory: at=2020-01-01T00:00:00.000000Z tags=tools -->\n\n"
CHECKS = {"unread", "duplicate-notes", "index"}


@pytest.fixture
def used_shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)  # no copy: its index would be behind
    shell.ok("init")
    shell.ok("remember", "tea")
    shell.ok("write", "editor", "vim", "--tag", "tools")
    return shell


def put(shell: Shell, path: str, text: str) -> Path:
    page = shell.folder / ".commonplace" / path
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text)
    return page


def test_a_memory_that_is_well_says_so_and_leaves_with_0(used_shell: Shell) -> None:
    assert used_shell.ok("doctor") == "No problems found in 1 page of 1 agent.\n"
    reply = used_shell.json("doctor", "--json")
    assert reply["findings"] == []
    assert {*reply["checked"]} == {"agents", "folders", "files", "pages", "checks"}
    used_shell.ok("index")
    assert used_shell.ok("doctor", "--fix").startswith("No problems found")


def test_what_is_found_is_grouped_with_advice_and_a_summary_and_the_status_is_1(used_shell: Shell) -> None:
    put(used_shell, "README.md", "hello")
    put(used_shell, "agents/main/memory/daily/2020-01-01.md", SAME)
    done = used_shell.run("doctor")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "Notes stored twice (1)"
    assert lines[1].startswith("  agents/main/memory/daily/2020-01-01.md:1: the note 'editor' is stored twice: ")
    assert lines[2] == "    → --fix removes this one"
    assert "Pages that are never read (1)" in lines
    assert lines[-1] == "3 problems in 2 pages of 1 agent: 1 for you to decide, 2 that --fix repairs."


def test_findings_as_json_say_what_where_and_what_next(used_shell: Shell) -> None:
    put(used_shell, "README.md", "hello")
    put(used_shell, "agents/main/memory/daily/2020-01-01.md", SAME)
    done = used_shell.run("doctor", "--json")
    assert done.returncode == 1
    findings = {each["check"]: each for each in json.loads(done.stdout)["findings"]}
    assert {*findings} == CHECKS
    assert {*findings["unread"]} == {"check", "path", "what", "advice", "fixable", "fixed"}
    assert findings["duplicate-notes"]["line"] == 1
    assert [findings[check]["fixable"] for check in sorted(CHECKS)] == [True, True, False]


def test_what_is_mended_can_be_taken_back(used_shell: Shell) -> None:
    page = put(used_shell, "agents/main/memory/daily/2020-01-01.md", SAME)
    done = used_shell.run("doctor", "--fix")
    assert done.returncode == 0
    assert "    → fixed: removed; `commonplace undo " in done.stdout
    assert done.stdout.endswith("is in history: `commonplace undo` brings it back.\n")
    assert page.read_text() == ""
    change = done.stdout.split("`commonplace undo ")[1].split("`")[0]
    used_shell.ok("undo", change)
    assert page.read_text() == SAME
    used_shell.ok("doctor", "--fix")
    used_shell.ok("undo")
    assert page.read_text() == SAME


def test_what_needs_a_person_keeps_the_status_at_1(used_shell: Shell) -> None:
    put(used_shell, "README.md", "hello")
    assert used_shell.run("doctor", "--fix").returncode == 1
    done = used_shell.run("doctor", "--fix", "--json")
    assert done.returncode == 1
    assert [each["fixed"] for each in json.loads(done.stdout)["findings"]] == [False]


def test_a_memory_that_is_not_there_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    for arguments in (["doctor"], ["doctor", "--fix"], ["doctor", "--home", "none"]):
        done = shell.run(*arguments)
        assert done.returncode == 3
        assert "there is no memory at" in done.stderr
    (tmp_path / "file").write_text("x")
    assert shell.run("doctor", "--home", "file").returncode == 6
    assert os.listdir(tmp_path) == ["file"]


def test_settings_that_cannot_be_read_are_a_finding_and_no_error(used_shell: Shell) -> None:
    put(used_shell, "commonplace.yaml", "layuot: native\n")
    done = used_shell.run("doctor")
    assert done.returncode == 1
    assert "  commonplace.yaml:1: unknown key 'layuot'" in done.stdout
    assert used_shell.run("doctor", "--agent", "other", "--json").returncode == 1


def test_people_are_shown_the_first_of_many_and_a_finding_is_always_one_line(used_shell: Shell) -> None:
    for number in range(30):
        put(used_shell, f"lost{number:02}\n.md", "x")
    output = used_shell.run("doctor").stdout
    assert "  lost00\\n.md: is in a place where" in output
    assert "  … and 10 more: --json lists all" in output
    assert len(json.loads(used_shell.run("doctor", "--json").stdout)["findings"]) == 30


def test_names_that_are_no_text_can_be_reported(used_shell: Shell) -> None:
    name = os.path.join(os.fsencode(used_shell.folder), b".commonplace/memory\xff")
    os.mkdir(name)
    assert "memory\\udcff: has a name that is not UTF-8" in used_shell.run("doctor").stdout
    assert json.loads(used_shell.run("doctor", "--json").stdout)["findings"][0]["path"] == "memory\\udcff"


def test_secrets_are_never_printed(used_shell: Shell) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    put(used_shell, "memory/a.md", f"token: {secret}")
    for arguments in (["doctor"], ["doctor", "--json"], ["doctor", "--fix"]):
        done = used_shell.run(*arguments)
        assert "GitHub token" in done.stdout
        assert secret not in done.stdout + done.stderr
