"""Tokens and the log of a home in a folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.errors import NotFound, StorageError
from commonplace.maintenance.backup import export_file
from commonplace.storage.base import TokenStore
from commonplace.storage.folder.backend import LOG_FILE, TOKENS_FILE, FolderTokens
from commonplace.storage.tokens import Call, verify_token
from commonplace.testing import FrozenClock

from .token_contract import AccessContract, make_token


@pytest.fixture
def access(home: Path) -> TokenStore:
    home.mkdir()
    return FolderTokens(str(home))


class TestFolder(AccessContract):
    """The contract, over files."""


def a_call(tool: str = "recall") -> Call:
    return Call("2026-03-14T00:00:00Z", "ab12", "ann", tool, "", "ok", "")


def test_tokens_that_were_read_before_are_read_again_once_another_process_revokes_one(
    access: TokenStore, home: Path, clock: FrozenClock
) -> None:
    token, secret = make_token(access, clock)
    os.utime(home / TOKENS_FILE, (1e9, 1e9))
    assert access.list_tokens() == access.list_tokens() == [token]
    FolderTokens(str(home)).revoke(token.id, "2026-03-14T00:00:00Z")
    assert verify_token(access.list_tokens(), secret, clock()) is None


def test_the_secret_itself_is_written_nowhere(access: TokenStore, home: Path, clock: FrozenClock) -> None:
    _, secret = make_token(access, clock)
    files = [each for each in home.rglob("*") if each.is_file()]
    assert files
    assert not any(secret[4:].encode() in each.read_bytes() for each in files)


def test_what_is_kept_is_for_its_owner_alone(access: TokenStore, home: Path, clock: FrozenClock) -> None:
    make_token(access, clock)
    os.chmod(home / TOKENS_FILE, 0o644)
    make_token(access, clock)
    access.record_call(a_call())
    for name in (TOKENS_FILE, LOG_FILE):
        assert stat.S_IMODE((home / name).stat().st_mode) == 0o600
    assert stat.S_IMODE((home / ".access").stat().st_mode) == 0o700


def test_neither_is_a_page_nor_leaves_with_an_archive(access: TokenStore, home: Path, clock: FrozenClock) -> None:
    make_token(access, clock)
    access.record_call(a_call())
    memory = Memory(home, clock=clock)
    for path in (TOKENS_FILE, LOG_FILE):
        assert "error" in memory.call("memory_get", {"path": path})
        assert not any(path in page for page, _ in memory.home.visibility.list_pages())
    archive = home.parent / "out.tar"
    export_file(memory.home, str(archive))
    assert b".access" not in archive.read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", '{"tokens": 3}', '{"tokens": [{}]}',
        '{"tokens": [{"id": "a", "sha256": "b", "role": "read", "note": "", "created_at": "", "expires_at": "",'
        ' "revoked_at": ""}]}',
        '{"tokens": [{"id": "a", "sha256": "b", "agents": "ann", "role": "read", "note": "", "created_at": "",'
        ' "expires_at": "", "revoked_at": ""}]}',
        '{"tokens": [{"id": "a", "sha256": "b", "agents": null, "role": "owner", "note": "", "created_at": "",'
        ' "expires_at": "", "revoked_at": ""}]}',
    ],
)  # fmt: skip
def test_a_file_that_says_something_else_lets_nobody_in(access: TokenStore, home: Path, text: str) -> None:
    (home / ".access").mkdir()
    (home / TOKENS_FILE).write_text(text)
    with pytest.raises(StorageError, match="is not in the form that `commonplace token` writes"):
        access.list_tokens()


def test_a_home_that_is_not_there_gets_no_token(tmp_path: Path, clock: FrozenClock) -> None:
    access = FolderTokens(str(tmp_path / "none"))
    with pytest.raises(NotFound, match="run `commonplace init`"):
        make_token(access, clock)
    assert access.list_tokens() == access.recent_calls(5) == []
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_grows_large_makes_room(home: Path) -> None:
    access = FolderTokens(str(home), max_log_bytes=1000)
    for number in range(100):
        access.record_call(a_call(f"tool-{number}"))
    names = sorted(each.name for each in (home / ".access").iterdir())
    assert names == ["audit.1.jsonl", "audit.2.jsonl", "audit.3.jsonl", "audit.4.jsonl", "audit.jsonl"][: len(names)]
    assert sum(each.stat().st_size for each in (home / ".access").iterdir()) < 6000
    tools = [call.tool for call in access.recent_calls(1000)]
    assert tools == [f"tool-{number}" for number in range(100 - len(tools), 100)]


def test_a_log_that_cannot_be_written_fails_nobody(home: Path) -> None:
    access = FolderTokens(str(home))
    (home / ".access").mkdir(parents=True)
    (home / LOG_FILE).mkdir()
    access.record_call(a_call())
    (home / LOG_FILE).rmdir()
    (home / ".access").rmdir()
    (home / ".access").write_text("a file")
    access.record_call(a_call())


def test_half_a_line_of_the_log_is_passed_over(access: TokenStore, home: Path) -> None:
    access.record_call(a_call())
    with (home / LOG_FILE).open("a") as file:
        file.write('{"at": "2026-03-\n')
    access.record_call(a_call("later"))
    assert [call.tool for call in access.recent_calls(10)] == ["recall", "later"]
