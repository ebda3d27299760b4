"""A memory in a database, operated from the command line: tables, every day's commands, and what only files have."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from ..surfaces.cli.shell import Shell
from .conftest import admin, on

pytestmark = pytest.mark.slow
PASSWORD = "sesame-4711"


def of_tenant(url: str, tenant: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}tenant={tenant}"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def bare(server: str) -> Iterator[str]:
    """An empty database without tables."""
    name = f"commonplace_bare_{secrets.token_hex(6)}"
    admin(server, f"CREATE DATABASE {name}")
    yield on(server, name)
    admin(server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def used(shell: Shell, url: str) -> Shell:
    """A memory of a tenant, with a password in its URL that must not be seen anywhere."""
    shell.environment["COMMONPLACE_HOME"] = with_password(of_tenant(url, "acme"))
    shell.ok("init")
    shell.ok("remember", "Ann prefers tea in the morning")
    shell.ok("write", "editor", "vim", "--tag", "tools")
    return shell


def with_password(url: str) -> str:
    """The server of the tests asks for none: any will do."""
    user, _, rest = url.partition("@")
    scheme, _, name = user.partition("://")
    return f"{scheme}://{name.partition(':')[0]}:{PASSWORD}@{rest}" if not name.partition(":")[2] else url


def test_tables_are_made_once_and_their_state_is_reported(shell: Shell, bare: str) -> None:
    before = json.loads(shell.ok("db", "status", bare, "--json"))
    assert (before["applied"], before["ready"], before["tenant"]) == ([], False, "default")
    assert before["pending"]
    assert "commonplace db init" in shell.ok("db", "status", bare)
    assert json.loads(shell.ok("db", "init", bare, "--json"))["applied"] == before["pending"]
    assert "is up to date" in shell.ok("db", "init", bare)
    assert "is up to date" in shell.ok("db", "migrate", COMMONPLACE_HOME=bare)
    assert json.loads(shell.ok("--home", bare, "db", "status", "--json"))["ready"]


@pytest.mark.parametrize(
    "command", [["init"], ["status"], ["remember", "x"], ["search", "x"], ["log"], ["mcp"], ["watch"]]
)
def test_a_database_without_tables_is_reported_with_the_command_that_helps(
    shell: Shell, bare: str, command: list[str]
) -> None:
    done = shell.run(*command, COMMONPLACE_HOME=bare)
    assert done.returncode == 6
    assert "has no tables yet: run `commonplace db init" in done.stderr


def test_older_tables_are_reported_with_the_command_that_helps(shell: Shell, bare: str) -> None:
    shell.ok("db", "init", bare)
    last = json.loads(shell.ok("db", "status", bare, "--json"))["applied"][-1]
    _execute(bare, "DELETE FROM commonplace.migrations WHERE number = %s", int(last[:4]))
    done = shell.run("--home", bare, "status")
    assert done.returncode == 6
    assert "has older tables: run `commonplace db migrate" in done.stderr
    assert "commonplace db migrate" in shell.ok("db", "status", bare)


def test_newer_tables_are_left_alone(shell: Shell, bare: str) -> None:
    shell.ok("db", "init", bare)
    _execute(bare, "INSERT INTO commonplace.migrations (number, name) VALUES (%s, 'later')", 9000)
    for command in (["--home", bare, "remember", "x"], ["db", "migrate", bare]):
        done = shell.run(*command)
        assert done.returncode == 6
        assert "newer commonplace (it has 9000_later): update this" in done.stderr
    assert "update this one" in shell.ok("db", "status", bare)


def test_migrate_wants_tables_to_bring_up_to_date(shell: Shell, bare: str) -> None:
    done = shell.run("db", "migrate", bare)
    assert done.returncode == 6
    assert "run `commonplace db init" in done.stderr


def _execute(url: str, statement: str, value: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode(), (value,))


def test_every_days_commands_work_and_no_password_is_seen(used: Shell) -> None:
    every = [
        ["status"], ["search", "tea"], ["search", "tea", "--keyword"], ["recall"], ["read", "editor"], ["list"],
        ["list", "--notes"], ["context"], ["index"], ["index", "rebuild"], ["tools"], ["world", "people", "Ann"],
        ["handoff", "Go on tomorrow."], ["log"], ["log", "editor"], ["diff", "editor"], ["undo"], ["gc"], ["db", "status"],
        ["forget", "--key", "editor"], ["forget", "--key", "editor", "--yes"], ["init"], ["install", "codex", "--print"],
    ]  # fmt: skip
    for command in every:
        done = used.run(*command)
        assert done.returncode == 0, (command, done.stderr)
        assert PASSWORD not in done.stdout + done.stderr, command
    assert not (used.folder / "postgresql:").exists()
    assert {each.name for each in used.folder.iterdir()} <= {"user"}


def test_history_is_gone_through_by_ids(used: Shell) -> None:
    used.ok("reflect", "Curated once.")
    used.ok("reflect", "Curated twice.")
    last, first = (each["id"] for each in json.loads(used.ok("log", "--json"))["changes"][:2])
    path = json.loads(used.ok("log", "--json"))["changes"][0]["path"]
    assert "+Curated twice." in used.ok("diff", last)
    used.ok("restore", path, "--as-of", first)
    assert "Curated once." in used.ok("show", path)
    used.ok("undo", json.loads(used.ok("log", "--json"))["changes"][0]["id"])
    assert "Curated twice." in used.ok("show", path)


def test_archives_imports_and_doctor_work_as_on_a_folder(used: Shell) -> None:
    used.ok("remember", "Ann drinks rooibos.")
    (used.folder / "notes").mkdir()
    (used.folder / "notes/a.md").write_text("# Pots\n")
    assert "1 page" in used.ok("import", "notes", "--from", "markdown")
    assert "nothing new" in used.ok("import", "notes", "--from", "markdown")
    used.ok("export", "x.tar.gz", "--history")
    used.ok("--home", str(used.folder / "copy"), "import", "x.tar.gz")
    assert "rooibos" in used.ok("--home", str(used.folder / "copy"), "search", "--keyword", "rooibos")
    used.ok("undo")
    assert "memory/notes/a.md" not in used.ok("list")
    assert "1 added" in used.ok("import", "x.tar.gz")
    assert "memory/notes/a.md" in used.ok("list")
    assert "No problems found" in used.ok("doctor", "--fix")


def test_a_session_starts_with_what_is_known_and_is_kept(used: Shell) -> None:
    used.ok("reflect", "Ann prefers tea.")
    assert "Ann prefers tea" in used.ok("hook", "session-start", stdin="{}")
    said = used.folder / "said.jsonl"
    said.write_text(json.dumps({"role": "user", "content": "what about the harbour"}) + "\n")
    used.ok("hook", "session-end", stdin=json.dumps({"transcript_path": str(said), "session_id": "s-1"}))
    assert "s-1.jsonl" in used.ok("forget", "--session", "s-1")


def test_tenants_are_memories_of_their_own(used: Shell, url: str) -> None:
    other = of_tenant(url, "other")
    used.ok("init", other)
    assert "Nothing found." in used.ok("--home", other, "search", "tea")
    assert used.run("--home", other, "forget", "--scope", "agent:main", "--yes").returncode == 3
    assert "tea" in used.ok("search", "tea")


def test_questions_are_measured_on_a_database(used: Shell) -> None:
    hit = json.loads(used.ok("search", "tea", "--json"))["results"][0]["citation"]
    (used.folder / "questions.jsonl").write_text(json.dumps({"question": "who likes tea", "evidence": [hit]}) + "\n")
    assert json.loads(used.ok("eval", "questions.jsonl", "--json"))["questions"] == 1


def test_a_watcher_reports_what_another_machine_writes(used: Shell) -> None:
    watching = subprocess.Popen(
        [sys.executable, "-m", "commonplace", "watch", "--json"],
        cwd=used.folder, env=used.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert watching.stdout
        assert watching.stderr
        assert PASSWORD not in watching.stderr.readline()
        used.ok("world", "places", "Oslo")
        assert json.loads(watching.stdout.readline())["path"].endswith("places.md")
    finally:
        watching.terminate()
        watching.communicate()


def test_a_server_of_memory_serves_a_database(used: Shell) -> None:
    pytest.importorskip("mcp")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_search", "arguments": {"query": "tea"}}},
    ]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-m", "commonplace", "mcp"],
        cwd=used.folder, env=used.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as serving:  # fmt: skip
        assert serving.stdin
        assert serving.stdout
        serving.stdin.write("".join(json.dumps(each) + "\n" for each in asked))
        serving.stdin.flush()
        answers = [serving.stdout.readline(), serving.stdout.readline()]
        serving.stdin.close()
    assert "Ann prefers tea" in answers[1]
    assert PASSWORD not in "".join(answers)
