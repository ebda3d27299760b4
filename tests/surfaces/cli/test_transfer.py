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
def test_a_memory_moves_by_a_file_of_any_name(used: Shell, name: str) -> None:
    assert f"are in {name}" in used.ok("export", name)
    (used.folder / name).rename(used.folder / "nameless")
    dry = used.ok("--home", "new", "import", "nameless", "--dry-run")
    assert dry.startswith("Would be: ")
    assert not (used.folder / "new").exists()
    assert used.ok("--home", "new", "import", "nameless") == dry.removeprefix("Would be: ")
    assert pages(used.folder / "new") == pages(used.folder / HOME)
    assert "tea" in used.ok("--home", "new", "search", "tea")
    assert used.ok("--home", "new", "import", "nameless").startswith("0 added, ")


def test_a_memory_moves_through_a_pipe(used: Shell) -> None:
    for arguments in (["export"], ["export", "-"], ["export", "-", "--format", "jsonl"], ["export", "/dev/stdout"]):
        sent = run_bytes(used, *arguments)
        assert (sent.returncode, sent.stderr) == (0, b"")
        came = run_bytes(used, "--home", "new", "import", "-", stdin=sent.stdout)
        assert came.returncode == 0, came.stderr
        assert pages(used.folder / "new") == pages(used.folder / HOME)
    used.ok("export", "b.tar")
    assert run_bytes(used, "export").stdout == (used.folder / "b.tar").read_bytes()


def test_a_pipe_that_is_cut_is_no_success(used: Shell) -> None:
    (used.folder / HOME / "memory/large.md").write_text("x" * 1_000_000)
    command = f"{sys.executable} -m commonplace export | head -c 1 >{os.devnull}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=used.folder, env=used.environment, capture_output=True, check=False
    )
    assert done.returncode == 6
    assert b"not whole" in done.stderr


def test_answers_in_json(used: Shell) -> None:
    made = used.json("export", "b.tar", "--json")
    assert made["file"] == str(used.folder / "b.tar")
    assert made["files"] == len(pages(used.folder / HOME))
    assert used.json("--home", "new", "import", "b.tar", "--json") == {
        "added": made["files"],
        "replaced": [],
        "same": 0,
        "dry_run": False,
        "size": made["size"],
        "warnings": [],
    }


def test_pages_in_the_way_are_named_and_replaced_when_that_is_wanted(used: Shell) -> None:
    used.ok("export", "b.tar")
    used.ok("world", "people", "Ann moved to Bergen", "--json")
    done = used.run("import", "b.tar")
    assert done.returncode == 4
    assert "memory/world/people.md differs" in done.stderr
    assert "--overwrite" in done.stderr
    assert "differs: memory/world/people.md" in used.ok("import", "b.tar", "--dry-run")
    assert used.json("import", "b.tar", "--dry-run", "--json")["replaced"] == ["memory/world/people.md"]
    assert used.ok("world", "people").strip() == "Ann moved to Bergen"
    assert "1 replaced" in used.ok("import", "b.tar", "--overwrite")
    assert used.ok("world", "people").strip() == "Ann lives in Oslo"


def test_history_goes_along_when_asked(used: Shell) -> None:
    used.ok("export", "plain.jsonl")
    used.ok("export", "whole.jsonl", "--history")
    assert ".history/" not in (used.folder / "plain.jsonl").read_text()
    assert '"path":".history/' in (used.folder / "whole.jsonl").read_text()


def test_looking_writes_nothing_into_the_home(used: Shell) -> None:
    (used.folder / HOME / "directives/memory.md").unlink()
    before = tree(used.folder / HOME, history=True)
    used.ok("export", "b.tar")
    assert tree(used.folder / HOME, history=True) == before


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
        (["import", "there.tar"], 6, "neither a tar nor JSON lines"),
        (["import", "there.tar", "--max-size", "0"], 2, "max-size"),
        (["--home", "there.tar", "import", "there.tar"], 6, "is a file"),
        (["import"], 2, "FILE"),
    ],
)
def test_errors_say_what_to_do_and_exit_with_their_status(
    used: Shell,
    arguments: list[str],
    status: int,
    words: str,
) -> None:
    (used.folder / "there.tar").write_text("x")
    (used.folder / "folder").mkdir()
    before = tree(used.folder)
    done = used.run(*arguments)
    assert done.returncode == status, done
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert tree(used.folder) == before


def test_a_limit_can_be_raised_and_lowered(used: Shell) -> None:
    (used.folder / HOME / "memory/large.md").write_text("x" * 2_000_000)
    used.ok("export", "b.tgz")
    done = used.run("--home", "new", "import", "b.tgz", "--max-size", "0.001")
    assert (done.returncode, "--max-size" in done.stderr) == (5, True)
    assert not (used.folder / "new").exists()
    used.ok("--home", "new", "import", "b.tgz", "--max-size", "0.01")


def test_force_replaces_the_file(used: Shell) -> None:
    (used.folder / "b.jsonl.gz").write_text("x")
    used.ok("export", "b.jsonl.gz", "--force")
    first = gzip.decompress((used.folder / "b.jsonl.gz").read_bytes()).split(b"\n")[0]
    assert json.loads(first)["format"] == "commonplace"


def test_a_terminal_is_not_sent_an_archive(used: Shell) -> None:
    import pty

    outer, inner = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "commonplace", "export"],
        cwd=used.folder,
        env=used.environment,
        stdout=inner,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(inner)
    os.close(outer)
    assert done.returncode == 2
    assert b"backup.tar.gz" in done.stderr
