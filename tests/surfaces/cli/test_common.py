"""A database as the home of a command: what needs no server. A password is never shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace.errors import ConnectionLost
from commonplace.maintenance.doctor import examine
from commonplace.storage.base import backend_of, display_name
from commonplace.surfaces.cli.common import absolute_home

from .shell import Shell

NOWHERE = "postgresql://ann:sesame@127.0.0.1:1/memory?tenant=acme"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.mark.parametrize(
    ("url", "seen"),
    [
        ("postgresql://ann:sesame@host:5432/db?tenant=a", "postgresql://ann@host:5432/db?tenant=a"),
        ("postgres://ann:se:sa@me@host/db", "postgres://ann@host/db"),
        ("postgresql://ann:se/sa?me@host/db", "postgresql://ann@host/db"),
        ("postgresql://host:5432/db?user=a@b", "postgresql://host:5432/db?user=a@b"),
        ("postgresql://one:1,two:2/db", "postgresql://one:1,two:2/db"),
        ("postgresql:///db?password=sesame&tenant=a", "postgresql:///db?tenant=a"),
        ("postgresql://h/db?tenant=a&sslpassword=sesame&password=sesame", "postgresql://h/db?tenant=a"),
        ("/a/folder:with@signs", "/a/folder:with@signs"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, seen: str) -> None:
    assert display_name(url) == seen


def test_a_url_is_a_home_as_it_is_and_a_folder_becomes_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute_home(NOWHERE) == NOWHERE
    assert absolute_home("here") == str(tmp_path / "here")
    assert not backend_of("postgresql/folder").has_tenants


@pytest.mark.parametrize(
    "command", [["status"], ["remember", "tea"], ["export", "x.tar"], ["doctor"], ["mcp"], ["log"]]
)
def test_a_server_that_is_away_is_reported_at_once_and_without_the_password(shell: Shell, command: list[str]) -> None:
    done = shell.run(*command, COMMONPLACE_HOME=NOWHERE)
    assert done.returncode == 6
    assert "cannot be reached" in done.stderr
    assert "sesame" not in done.stdout + done.stderr
    assert [*shell.folder.iterdir()] == []


@pytest.mark.parametrize("url", ["postgresql://ann:ses%zzame@host/db", "postgresql://ann:ses/ame@host/db?no"])
def test_a_url_that_cannot_be_read_says_how_to_write_it_and_not_what_it_was(shell: Shell, url: str) -> None:
    done = shell.run("--home", url, "status")
    assert done.returncode == 2
    assert "cannot be read: write it like" in done.stderr
    assert "ses" not in done.stderr


def test_a_misspelled_parameter_of_a_url_is_reported_without_the_password(shell: Shell) -> None:
    done = shell.run("--home", "postgresql://ann:sesame@host/db?tenent=acme", "status")
    assert done.returncode == 2
    assert "cannot be read: it says nearly tenant: write it like ?tenant=NAME" in done.stderr
    assert "sesame" not in done.stderr


def test_a_url_of_another_kind_is_not_taken_for_a_folder(shell: Shell) -> None:
    done = shell.run("--home", "mysql://ann:sesame@host/db", "remember", "tea")
    assert done.returncode == 2
    assert "mysql:// is not a memory" in done.stderr
    assert "sesame" not in done.stderr
    assert [*shell.folder.iterdir()] == []


def test_two_tenants_in_one_url_are_refused(shell: Shell) -> None:
    done = shell.run("--home", "postgresql://h/db?tenant=a&tenant=b", "status")
    assert done.returncode == 2
    assert "names one tenant" in done.stderr


def test_db_wants_a_database(shell: Shell) -> None:
    done = shell.run("db", "init", "folder")
    assert done.returncode == 2
    assert "commonplace db init postgresql://" in done.stderr


def test_a_hook_goes_without_a_database_that_is_away(shell: Shell) -> None:
    done = shell.run("--home", NOWHERE, "hook", "session-start", stdin="{}")
    assert done.returncode == 0
    assert "cannot be reached" in done.stderr
    assert "sesame" not in done.stdout + done.stderr


def test_install_writes_the_url_and_warns_of_a_password_in_it(shell: Shell) -> None:
    done = shell.run("--home", NOWHERE, "install", "cursor", "--file", "mcp.json", "--no-hooks", "--json")
    assert done.returncode == 0, done.stderr
    entry = json.loads((shell.folder / "mcp.json").read_text())["mcpServers"]["commonplace"]
    assert NOWHERE in entry["args"]
    assert "PGPASSWORD" in done.stderr
    assert "~/.pgpass" in done.stderr
    assert "sesame" not in done.stdout + done.stderr
    assert json.loads(done.stdout)["home"] == display_name(NOWHERE)


def test_install_prints_the_url_without_its_password(shell: Shell) -> None:
    done = shell.run("--home", NOWHERE, "install", "claude-code", "--print")
    assert display_name(NOWHERE) in done.stdout
    assert "sesame" not in done.stdout + done.stderr


def test_a_url_without_a_password_installs_without_a_warning(shell: Shell) -> None:
    done = shell.run("--home", display_name(NOWHERE), "install", "cursor", "--file", "mcp.json", "--no-hooks")
    assert done.returncode == 0
    assert "password" not in done.stderr


def test_a_doctor_who_reaches_no_database_says_so() -> None:
    with pytest.raises(ConnectionLost, match="check that it runs") as lost:
        examine(NOWHERE)
    assert "sesame" not in str(lost.value)
