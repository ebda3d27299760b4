"""The folders that only the program writes: neither they nor their files are followed when they are links."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError, OutsideHome
from commonplace.memory import Memory
from commonplace.storage.file_locks import slot_of
from commonplace.storage.folder.backend import FolderTokens
from commonplace.storage.tokens import Call

CALL = Call(*("$(touch x)" for _ in Call._fields))  # type: ignore[arg-type]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    return tmp_path / "outside"


@pytest.mark.parametrize("name", [".history", ".locks"])
def test_a_folder_of_the_program_that_is_a_link_is_refused(tmp_path: Path, outside: Path, name: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / name).symlink_to(outside)
    with Memory(home) as memory, pytest.raises(OutsideHome, match=f"{name} is a link: put a folder in its place"):
        memory.home.storage.pages.write("memory/a.md", "x")
    assert not list(outside.iterdir())
    assert not (home / "memory/a.md").exists()


def test_a_file_of_history_that_is_a_link_is_refused(tmp_path: Path, outside: Path) -> None:
    home = tmp_path / "home"
    with Memory(home) as memory:
        pages = memory.home.storage.pages
        pages.write("memory/a.md", "one")
        file = home / ".history" / f"{slot_of('memory/a.md')}.jsonl"
        shell = outside / "profile"
        shell.write_text("echo\n")
        file.unlink()
        file.symlink_to(shell)
        with pytest.raises(OutsideHome, match=r"\.history holds a link: put the file itself in its place"):
            pages.write("memory/a.md", "two")
    assert shell.read_text() == "echo\n"


def test_an_audit_log_that_is_a_link_stays_unchanged_and_calls_go_on(tmp_path: Path, outside: Path) -> None:
    shell = outside / "profile"
    shell.write_text("echo\n")
    (tmp_path / "home/.access").mkdir(parents=True)
    log = tmp_path / "home/.access/audit.jsonl"
    log.symlink_to(shell)
    tokens = FolderTokens(str(tmp_path / "home"))
    tokens.record_call(CALL)
    assert shell.read_text() == "echo\n"
    with pytest.raises(OutsideHome, match=r"\.access holds a link"):
        tokens.recent_calls(5)
    log.unlink()
    tokens.record_call(CALL)
    assert tokens.recent_calls(5) == [CALL]


def test_tokens_behind_a_link_open_no_memory(tmp_path: Path, outside: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (outside / "tokens.json").write_text('{"tokens": []}')
    (home / ".access").symlink_to(outside)
    tokens = FolderTokens(str(home))
    with pytest.raises(OutsideHome, match=r"\.access is a link: put a folder in its place"):
        tokens.list_tokens()
    tokens.record_call(CALL)
    assert [file.name for file in outside.iterdir()] == ["tokens.json"]
    (home / ".access").unlink()
    (home / ".access").mkdir()
    (home / ".access/tokens.json").symlink_to(outside / "tokens.json")
    with pytest.raises(CommonplaceError, match=r"\.access holds a link"):
        tokens.list_tokens()


def test_an_index_that_is_a_link_is_not_written(tmp_path: Path, outside: Path) -> None:
    home = tmp_path / "home"
    with Memory(home) as memory:
        memory.home.storage.pages.write("memory/a.md", "papaya")
        (home / ".index").symlink_to(outside)
        memory.search("papaya")
    assert not list(outside.iterdir())
