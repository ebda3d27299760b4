"""import as people run it, of what other systems kept: recognised, told, repeated, taken back."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from ...importers.sources import chatgpt_talk, chatgpt_zip, mem0_file, notes_database, pages, put
from .shell import Shell

HOME = ".commonplace"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    shell.ok("init")
    return shell


@pytest.fixture
def vault(shell: Shell) -> str:
    put(shell.folder / "Vault", ".obsidian/app.json", "{}")
    put(shell.folder / "Vault", "Tea.md", "# Tea\n\nGreen.\n")
    for number in range(7):
        put(shell.folder / "Vault", f"{number}.png", b"x")
    return "Vault"


def test_a_vault_is_imported_found_and_taken_back(shell: Shell, vault: str) -> None:
    dry = shell.ok("import", vault, "--dry-run")
    assert dry.startswith("Would be from an Obsidian vault: 1 page.")
    assert "Tea" not in "".join(pages(shell.folder / HOME))
    output = shell.ok("import", vault)
    assert "1 in memory/vault/" in output
    assert "Not understood, or left out: 7" in output
    assert "… and 2 more: --json lists all" in output
    assert "memory/vault/Tea.md" in shell.ok("search", "green tea")
    assert "nothing new, 1 here already" in shell.ok("import", vault)
    assert "Undid 1 change of memory/vault/Tea.md" in shell.ok("undo")
    assert "memory/vault/Tea.md" not in pages(shell.folder / HOME)


def test_an_import_makes_a_new_memory_and_undo_leaves_nothing_of_it(shell: Shell, vault: str) -> None:
    shell.ok("--home", "new", "import", vault)
    assert [*pages(shell.folder / "new")] == ["memory/vault/Tea.md"]
    shell.ok("--home", "new", "undo")
    assert pages(shell.folder / "new") == {}


def test_everything_about_an_import_is_printed_as_json(shell: Shell, vault: str) -> None:
    reply = shell.json("import", vault, "--json")
    assert reply["kind"] == "obsidian"
    assert reply["added"] == ["memory/vault/Tea.md"]
    assert len(reply["not_understood"]) == 7
    assert reply["not_understood"][0] == {"what": "0.png", "why": "is an attachment: only Markdown is imported"}
    assert (reply["same"], reply["updated"], reply["beside"], reply["kept"]) == (0, [], [], [])


def test_notes_go_to_the_agent_that_is_named_either_way(shell: Shell) -> None:
    notes_database(shell.folder / "a.db", [("editor", "vim", "2025-01-02 03:04:05")])
    shell.ok("import", "a.db", "--as", "scout")
    shell.ok("--agent", "ann", "import", "a.db")
    paths = [path for path in pages(shell.folder / HOME) if path.endswith("editor.md")]
    assert paths == ["agents/ann/memory/working/editor.md", "agents/scout/memory/working/editor.md"]


def test_sessions_say_how_they_are_searched(shell: Shell) -> None:
    chatgpt_zip(shell.folder / "c.zip", [chatgpt_talk()])
    output = shell.ok("import", "c.zip")
    assert f"once {shell.folder}/{HOME}/commonplace.yaml says `memorySearch: {{indexSessions: true}}`" in output
    put(shell.folder / HOME, "commonplace.yaml", "memorySearch:\n  indexSessions: true\n")
    assert "Green." in shell.ok("search", "which tea")


def test_what_was_edited_or_removed_here_is_reported_and_kept(shell: Shell) -> None:
    mem0_file(shell.folder / "m.json", 3)
    shell.ok("import", "m.json")
    put(shell.folder / HOME, "memory/channels/ann/m-0.md", "Mine")
    (shell.folder / HOME / "memory/channels/ann/m-1.md").unlink()
    output = shell.ok("import", "m.json")
    assert "memory/channels/ann/m-0.md: was changed here since it came" in output
    assert "--again brings it" in output
    assert "1 record" in shell.ok("import", "m.json", "--again")
    assert pages(shell.folder / HOME)["memory/channels/ann/m-0.md"] == "Mine"


def test_a_home_opens_in_place(shell: Shell) -> None:
    put(shell.folder / "claw", "MEMORY.md", "# What counts\n")
    put(shell.folder / "claw", "SOUL.md", "Be kind.\n")
    output = shell.ok("import", "claw", "--in-place")
    assert output == f"A home of OpenClaw opens where it is now: commonplace --home {shell.folder}/claw status\n"
    assert (shell.folder / "claw/commonplace.yaml").read_text() == "layout: openclaw\n"
    assert "opens where it is already" in shell.ok("import", "claw", "--in-place")
    assert "What counts" in shell.ok("--home", "claw", "recall")


def test_what_is_not_what_it_was_said_to_be_is_not_called_old(shell: Shell) -> None:
    mem0_file(shell.folder / "m.json", 1)
    output = shell.ok("import", "m.json", "--from", "chatgpt")
    assert output.startswith("From ChatGPT's export: nothing that can be imported.\nNot understood, or left out: 1\n")


def test_folders_beyond_the_first_few_are_counted(shell: Shell) -> None:
    for number in range(7):
        put(shell.folder / "many", f"f{number}/a.md", f"Tea {number}")
    assert "  2 in other folders: --json lists all\n" in shell.ok("import", "many", "--from", "markdown")


def test_a_file_in_the_way_of_the_import_log_is_reported_with_what_to_do(shell: Shell, vault: str) -> None:
    put(shell.folder / HOME, ".imports", "a file")
    done = shell.run("import", vault)
    assert done.returncode == 6
    assert ".imports: a file is where a folder should be: move it away" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["import", HOME], 2, "name a folder outside of"),
        (["import", "junk.txt"], 6, "basic-memory (a project of basic-memory)"),
        (["import", "junk.txt"], 6, "name its kind with --from"),
        (["import", "empty"], 6, "name its kind with --from"),
        (["import", "junk.txt", "--from", "nothing"], 2, "use one of sqlite, chatgpt"),
        (["import", "none", "--from", "mem0"], 3, "there is no file"),
        (["import", "empty", "--from", "mem0"], 2, "name one file"),
        (["import", "empty", "--from", "sqlite"], 2, "name the file that is"),
        (["import", "empty", "--from", "chatgpt"], 6, "nothing was found"),
        (["import", "junk.txt", "--from", "sqlite"], 6, "cannot be read as a database"),
        (["import", "-", "--from", "mem0"], 2, "only an archive comes from standard input"),
        (["import", "m.json", "--overwrite"], 2, "--overwrite is for archives"),
        (["import", "m.json", "--in-place"], 2, "cannot be opened in place"),
        (["import", "m.json", "--from", "archive"], 6, "the archive is cut off"),
    ],
)
def test_errors_say_what_to_do_and_exit_with_their_status(
    shell: Shell,
    arguments: list[str],
    status: int,
    words: str,
) -> None:
    put(shell.folder, "junk.txt", "hello")
    (shell.folder / "empty").mkdir()
    mem0_file(shell.folder / "m.json", 1)
    before = pages(shell.folder / HOME)
    done = shell.run(*arguments)
    assert done.returncode == status, done
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert pages(shell.folder / HOME) == before


def test_on_a_terminal_progress_is_shown(shell: Shell) -> None:
    mem0_file(shell.folder / "m.json", 3)
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "commonplace", "import", "m.json"],
        cwd=shell.folder,
        env={**shell.environment, "TERM": "xterm"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=True,
    )
    assert b"3 records" in done.stdout
    os.close(theirs)
    assert b"writing" in os.read(ours, 1 << 16)
    os.close(ours)


def test_what_cannot_be_indexed_now_is_imported_all_the_same(shell: Shell, vault: str) -> None:
    put(shell.folder / HOME, "commonplace.yaml", "memorySearch:\n  provider: openai\n")
    done = shell.run("import", vault)
    assert (done.returncode, "1 page." in done.stdout) == (0, True), done
    assert pages(shell.folder / HOME)["memory/vault/Tea.md"].startswith("# Tea")


def test_a_plain_folder_of_markdown_is_imported_only_when_named_as_one(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.ok("init")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/tea.md").write_text("Tea is at four.\n")
    done = shell.run("import", "notes")
    assert done.returncode == 6
    assert done.stderr.endswith("add --from markdown\n")
    assert len(done.stderr.split()) < 20
    shell.ok("import", "notes", "--from", "markdown")


@pytest.mark.parametrize(("rules", "output"), [(1, "1 rule is in no prompt"), (2, "2 rules are in no prompt")])
def test_an_import_says_how_many_rules_wait(shell: Shell, rules: int, output: str) -> None:
    for number in range(rules):
        put(shell.folder, f"other/.duragent/directives/rule-{number}.md", f"Rule {number}.")
    put(shell.folder, "other/.duragent/memory/world/tea.md", "Green.")
    done = shell.run("import", "other")
    assert f"{output} until you approve: `commonplace proposals` lists what waits" in done.stderr
