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
def tenant_shell(shell: Shell, url: str) -> Shell:
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


def test_every_days_commands_work_and_no_password_is_seen(tenant_shell: Shell) -> None:
    every = [
        ["status"], ["search", "tea"], ["search", "tea", "--keyword"], ["recall"], ["read", "editor"], ["list"],
        ["list", "--notes"], ["context"], ["index"], ["index", "rebuild"], ["tools"], ["world", "people", "Ann"],
        ["handoff", "Go on tomorrow."], ["log"], ["log", "editor"], ["diff", "editor"], ["undo"], ["gc"], ["db", "status"],
        ["forget", "--key", "editor"], ["forget", "--key", "editor", "--yes"], ["init"], ["install", "codex", "--print"],
    ]  # fmt: skip
    for command in every:
        done = tenant_shell.run(*command)
        assert done.returncode == 0, (command, done.stderr)
        assert PASSWORD not in done.stdout + done.stderr, command
    assert not (tenant_shell.folder / "postgresql:").exists()
    assert {each.name for each in tenant_shell.folder.iterdir()} <= {"user"}


def test_history_is_gone_through_by_ids(tenant_shell: Shell) -> None:
    tenant_shell.ok("reflect", "Curated once.")
    tenant_shell.ok("reflect", "Curated twice.")
    last, first = (each["id"] for each in json.loads(tenant_shell.ok("log", "--json"))["changes"][:2])
    path = json.loads(tenant_shell.ok("log", "--json"))["changes"][0]["path"]
    assert "+Curated twice." in tenant_shell.ok("diff", last)
    tenant_shell.ok("restore", path, "--as-of", first)
    assert "Curated once." in tenant_shell.ok("show", path)
    tenant_shell.ok("undo", json.loads(tenant_shell.ok("log", "--json"))["changes"][0]["id"])
    assert "Curated twice." in tenant_shell.ok("show", path)


def test_archives_imports_and_doctor_work_as_on_a_folder(tenant_shell: Shell) -> None:
    tenant_shell.ok("remember", "Ann drinks rooibos.")
    (tenant_shell.folder / "notes").mkdir()
    (tenant_shell.folder / "notes/a.md").write_text("# Pots\n")
    assert "1 page" in tenant_shell.ok("import", "notes", "--from", "markdown")
    assert "nothing new" in tenant_shell.ok("import", "notes", "--from", "markdown")
    tenant_shell.ok("export", "x.tar.gz", "--history")
    tenant_shell.ok("--home", str(tenant_shell.folder / "copy"), "import", "x.tar.gz")
    assert "rooibos" in tenant_shell.ok("--home", str(tenant_shell.folder / "copy"), "search", "--keyword", "rooibos")
    tenant_shell.ok("undo")
    assert "memory/notes/a.md" not in tenant_shell.ok("list")
    assert "1 added" in tenant_shell.ok("import", "x.tar.gz")
    assert "memory/notes/a.md" in tenant_shell.ok("list")
    assert "No problems found" in tenant_shell.ok("doctor", "--fix")


def test_a_session_starts_with_what_is_known_and_is_kept(tenant_shell: Shell) -> None:
    tenant_shell.ok("reflect", "Ann prefers tea.")
    assert "Ann prefers tea" in tenant_shell.ok("hook", "session-start", stdin="{}")
    folder = tenant_shell.folder / "said.jsonl"
    folder.write_text(json.dumps({"role": "user", "content": "what about the harbour"}) + "\n")
    tenant_shell.ok("hook", "session-end", stdin=json.dumps({"transcript_path": str(folder), "session_id": "s-1"}))
    assert "s-1.jsonl" in tenant_shell.ok("forget", "--session", "s-1")


def test_tenants_are_memories_of_their_own(tenant_shell: Shell, url: str) -> None:
    other = of_tenant(url, "other")
    tenant_shell.ok("init", other)
    assert "Nothing found." in tenant_shell.ok("--home", other, "search", "tea")
    assert tenant_shell.run("--home", other, "forget", "--scope", "agent:main", "--yes").returncode == 3
    assert "tea" in tenant_shell.ok("search", "tea")


def test_questions_are_measured_on_a_database(tenant_shell: Shell) -> None:
    hit = json.loads(tenant_shell.ok("search", "tea", "--json"))["results"][0]["citation"]
    (tenant_shell.folder / "questions.jsonl").write_text(
        json.dumps({"question": "who likes tea", "evidence": [hit]}) + "\n"
    )
    assert json.loads(tenant_shell.ok("eval", "questions.jsonl", "--json"))["questions"] == 1


def test_a_watcher_reports_what_another_machine_writes(tenant_shell: Shell) -> None:
    watching = subprocess.Popen(
        [sys.executable, "-m", "commonplace", "watch", "--json"],
        cwd=tenant_shell.folder, env=tenant_shell.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert watching.stdout
        assert watching.stderr
        assert PASSWORD not in watching.stderr.readline()
        tenant_shell.ok("world", "places", "Oslo")
        assert json.loads(watching.stdout.readline())["path"].endswith("places.md")
    finally:
        watching.terminate()
        watching.communicate()


def test_a_server_of_memory_serves_a_database(tenant_shell: Shell) -> None:
    pytest.importorskip("mcp")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    request = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_search", "arguments": {"query": "tea"}}},
    ]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-m", "commonplace", "mcp"],
        cwd=tenant_shell.folder, env=tenant_shell.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as serving:  # fmt: skip
        assert serving.stdin
        assert serving.stdout
        serving.stdin.write("".join(json.dumps(each) + "\n" for each in request))
        serving.stdin.flush()
        answers = [serving.stdout.readline(), serving.stdout.readline()]
        serving.stdin.close()
    assert "Ann prefers tea" in answers[1]
    assert PASSWORD not in "".join(answers)
