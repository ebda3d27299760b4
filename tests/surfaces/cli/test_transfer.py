"""export and import as people run them: files, pipes, exit codes."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ...maintenance.places import tree
from .shell import Shell

HOME = ".commonplace"


def run_bytes(shell: Shell, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "commonplace", *arguments],
        cwd=shell.folder,
        env=shell.environment,
        input=stdin,
        capture_output=True,
        check=False,
    )


def pages(folder: Path) -> dict[str, object]:
    return {path: file for path, file in tree(folder).items() if path not in (".gitignore", ".gitattributes")}


@pytest.mark.parametrize("name", ["b.tar", "b.tar.gz", "b.tgz", "b.jsonl", "b.jsonl.gz"])
def test_a_memory_moves_by_a_file_of_any_name(used_shell: Shell, name: str) -> None:
    assert f"are in {name}" in used_shell.ok("export", name)
    (used_shell.folder / name).rename(used_shell.folder / "nameless")
    dry = used_shell.ok("--home", "new", "import", "nameless", "--dry-run")
    assert dry.startswith("Would be: ")
    assert not (used_shell.folder / "new").exists()
    assert used_shell.ok("--home", "new", "import", "nameless") == dry.removeprefix("Would be: ")
    assert pages(used_shell.folder / "new") == pages(used_shell.folder / HOME)
    assert "tea" in used_shell.ok("--home", "new", "search", "tea")
    assert used_shell.ok("--home", "new", "import", "nameless").startswith("0 added, ")


def test_a_memory_moves_through_a_pipe(used_shell: Shell) -> None:
    for arguments in (["export"], ["export", "-"], ["export", "-", "--format", "jsonl"], ["export", "/dev/stdout"]):
        sent = run_bytes(used_shell, *arguments)
        assert (sent.returncode, sent.stderr) == (0, b"")
        came = run_bytes(used_shell, "--home", "new", "import", "-", stdin=sent.stdout)
        assert came.returncode == 0, came.stderr
        assert pages(used_shell.folder / "new") == pages(used_shell.folder / HOME)
    used_shell.ok("export", "b.tar")
    assert run_bytes(used_shell, "export").stdout == (used_shell.folder / "b.tar").read_bytes()


def test_a_pipe_that_is_cut_is_no_success(used_shell: Shell) -> None:
    (used_shell.folder / HOME / "memory/large.md").write_text("x" * 1_000_000)
    command = f"{sys.executable} -m commonplace export | head -c 1 >{os.devnull}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=used_shell.folder, env=used_shell.environment, capture_output=True, check=False
    )
    assert done.returncode == 6
    assert b"is incomplete" in done.stderr


def test_answers_in_json(used_shell: Shell) -> None:
    output = used_shell.json("export", "b.tar", "--json")
    assert output["file"] == str(used_shell.folder / "b.tar")
    assert output["files"] == len(pages(used_shell.folder / HOME))
    assert used_shell.json("--home", "new", "import", "b.tar", "--json") == {
        "added": output["files"],
        "replaced": [],
        "same": 0,
        "dry_run": False,
        "size": output["size"],
        "warnings": [],
    }


def test_pages_in_the_way_are_named_and_replaced_when_that_is_wanted(used_shell: Shell) -> None:
    used_shell.ok("export", "b.tar")
    used_shell.ok("world", "people", "Ann moved to Bergen", "--json")
    done = used_shell.run("import", "b.tar")
    assert done.returncode == 4
    assert "memory/world/people.md differs" in done.stderr
    assert "--overwrite" in done.stderr
    assert "differs: memory/world/people.md" in used_shell.ok("import", "b.tar", "--dry-run")
    assert used_shell.json("import", "b.tar", "--dry-run", "--json")["replaced"] == ["memory/world/people.md"]
    assert used_shell.ok("world", "people").strip() == "Ann moved to Bergen"
    assert "1 replaced" in used_shell.ok("import", "b.tar", "--overwrite")
    assert used_shell.ok("world", "people").strip() == "Ann lives in Oslo"


def test_history_goes_along_when_asked(used_shell: Shell) -> None:
    used_shell.ok("export", "plain.jsonl")
    used_shell.ok("export", "whole.jsonl", "--history")
    assert ".history/" not in (used_shell.folder / "plain.jsonl").read_text()
    assert '"path":".history/' in (used_shell.folder / "whole.jsonl").read_text()


def test_looking_writes_nothing_into_the_home(used_shell: Shell) -> None:
    (used_shell.folder / HOME / "directives/memory.md").unlink()
    before = tree(used_shell.folder / HOME, history=True)
    used_shell.ok("export", "b.tar")
    assert tree(used_shell.folder / HOME, history=True) == before


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["export", "there.tar"], 4, "--force"),
        (["export", "folder"], 4, "is a folder"),
        (["export", "none/b.tar"], 6, "cannot be written"),
        (["export", ".commonplace/memory/b.tar"], 5, "among the pages"),
        (["export", "b.zip", "--format", "zip"], 2, "tar"),
        (["--home", "none", "export", "b.tar"], 3, "no memory"),
        (["--home", "there.tar", "export", "b.tar"], 6, "is a file"),
        (["import", "none.tar"], 3, "no file none.tar"),
        (["import", "folder"], 6, "folder"),
        (["import", "there.tar"], 6, "neither an archive"),
        (["import", "there.tar", "--max-size", "0"], 2, "max-size"),
        (["--home", "there.tar", "import", "there.tar"], 6, "is a file"),
        (["import"], 2, "FILE"),
    ],
)
def test_errors_say_what_to_do_and_exit_with_their_status(
    used_shell: Shell,
    arguments: list[str],
    status: int,
    words: str,
) -> None:
    (used_shell.folder / "there.tar").write_text("x")
    (used_shell.folder / "folder").mkdir()
    before = tree(used_shell.folder)
    done = used_shell.run(*arguments)
    assert done.returncode == status, done
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert tree(used_shell.folder) == before


def test_a_limit_can_be_raised_and_lowered(used_shell: Shell) -> None:
    (used_shell.folder / HOME / "memory/large.md").write_text("x" * 2_000_000)
    used_shell.ok("export", "b.tgz")
    done = used_shell.run("--home", "new", "import", "b.tgz", "--max-size", "0.001")
    assert (done.returncode, "--max-size" in done.stderr) == (5, True)
    assert not (used_shell.folder / "new").exists()
    used_shell.ok("--home", "new", "import", "b.tgz", "--max-size", "0.01")


def test_force_replaces_the_file(used_shell: Shell) -> None:
    (used_shell.folder / "b.jsonl.gz").write_text("x")
    used_shell.ok("export", "b.jsonl.gz", "--force")
    first = gzip.decompress((used_shell.folder / "b.jsonl.gz").read_bytes()).split(b"\n")[0]
    assert json.loads(first)["format"] == "commonplace"


def test_a_terminal_is_not_sent_an_archive(used_shell: Shell) -> None:
    import pty

    outer, inner = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "commonplace", "export"],
        cwd=used_shell.folder,
        env=used_shell.environment,
        stdout=inner,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(inner)
    os.close(outer)
    assert done.returncode == 2
    assert b"backup.tar.gz" in done.stderr
