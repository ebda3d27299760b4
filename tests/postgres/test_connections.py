"""Connections: shared by the handles of a process, not carried over a fork, given up when they lead to the wrong server;
and what is said when there are none."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.errors import ConnectionLost, InvalidArgument, StorageError
from commonplace.storage.postgres import connection as connections
from commonplace.storage.postgres.connection import Database, connection_options
from commonplace.storage.postgres.pages import PostgresPages
from commonplace.storage.postgres.url import parse_url, replica_address, with_tenant

from ..waiting import LONG_SECONDS, wait_until
from .conftest import admin
from .writer import pages_at

pytestmark = pytest.mark.slow


def count_connections(url: str) -> int:
    """How many connections to the database there are, beside the one that asks."""
    import psycopg

    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchone()
    return row[0] if row else -1


def test_handles_of_a_process_share_their_connections_and_the_last_one_closes_them(
    url: str, open_database: Callable[..., Database]
) -> None:
    many = [open_database(f"tenant {number}") for number in range(12)]
    for each in many:
        assert each.query("SELECT current_setting('commonplace.tenant')", {}) == [(each.tenant,)]
    assert count_connections(url) == 1
    for each in many[1:]:
        each.close()
    assert many[0].query("SELECT 1", {}) == [(1,)]
    many[0].close()
    many[0].close()
    wait_until(lambda: count_connections(url) == 0, "the server notices a moment later")
    assert many[0].query("SELECT 2", {}) == [(2,)], "one that was closed opens again by itself"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("how", ["exit", "end"])
def test_a_handle_used_by_a_child_process_opens_connections_of_its_own(url: str, how: str) -> None:
    """In a process of its own: pytest's has threads."""
    script = f"""
import os, sys
from commonplace import Memory
memory = Memory({url!r})
database = memory.home.storage.database
who = lambda: database.query("SELECT pg_backend_pid()", {{}})[0][0]
is_connected = lambda pid: database.query("SELECT 1 FROM pg_stat_activity WHERE pid = %(pid)s", {{"pid": pid}})
memory.call("remember", {{"content": "by the parent"}})
before = who()
child = os.fork()
if not child:
    memory.call("remember", {{"content": "by the child"}})
    assert memory.search("child"), "found by the child"
    assert who() != before
    os._exit(0) if {how == "exit"} else sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert is_connected(before), "the parent's stands"
assert any("by the child" in hit.text for hit in memory.search("child"))
memory.call("remember", {{"content": "by the parent again"}})
with database.transaction() as connection:
    if not (child := os.fork()):
        memory.call("remember", {{"content": "while the parent is in the middle of something"}})
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert connection.execute("SELECT count(*) FROM commonplace.pages").fetchone()[0] > 0
memory.close()
print("done")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=LONG_SECONDS)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_a_server_that_takes_no_writes_is_left_and_another_connection_tried(url: str, database: Database) -> None:
    name = parse_url(url).url.partition("?")[0].rpartition("/")[2]
    admin(url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    tries: list[int] = []

    def work(connection: Any) -> None:
        tries.append(connection.info.backend_pid)
        if len(tries) == 2:
            admin_url = url + ("&" if "?" in url else "?") + "options=-c%20default_transaction_read_only%3Doff"
            admin(admin_url, f"ALTER DATABASE {name} RESET default_transaction_read_only")
        connection.execute("INSERT INTO commonplace.locks VALUES ('acme', 'x')")

    database.run(work)
    assert 3 <= len(tries) == len({*tries}), "each on a connection of its own"


def test_a_url_of_several_hosts_looks_for_the_one_that_takes_writes() -> None:
    assert connection_options("postgresql://one,two/db")["target_session_attrs"] == "read-write"
    assert "target_session_attrs" not in connection_options("postgresql://one,two/db?target_session_attrs=any")
    assert "target_session_attrs" not in connection_options("postgresql://one/db")


@pytest.mark.parametrize(
    ("output", "host", "port"),
    [
        ("replica", "replica", "5433"),
        ("replica:6000", "replica", "6000"),
        ("one:1,two:2", "one,two", "1,2"),
        ("/run/replica", "/run/replica", "5433"),
        ("[::1]:7", "::1", "7"),
        ("[::1]", "::1", "5433"),
        ("postgresql://reader@replica/other", "replica", None),
    ],
)
def test_replicas_are_named_by_host_or_by_a_url(output: str, host: str, port: str | None) -> None:
    from urllib.parse import quote

    from psycopg.conninfo import conninfo_to_dict

    home = f"postgresql://ann@primary:5433/db?target_session_attrs=read-write&tenant=a&search={quote(output, safe='')}"
    assert parse_url(home).search == output
    result = replica_address(parse_url(home))
    parts = conninfo_to_dict(result.url)
    assert (parts["host"], parts.get("port"), result.tenant) == (host, port, "a")
    assert parts["target_session_attrs"] == "any"
    assert parse_url(with_tenant(home, "b c&d")) == parse_url(home)._replace(tenant="b c&d")


@pytest.mark.parametrize("wrong", ["search=", "search=a&search=b", "search=a%00", "search=a:b", "search=:5"])
def test_a_url_names_its_replicas_once(wrong: str) -> None:
    with pytest.raises(InvalidArgument, match="search"):
        replica_address(parse_url(f"postgresql://host/db?{wrong}"))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def test_a_server_that_does_not_run_is_reported_with_what_to_do() -> None:
    with socket.socket() as silent:  # nobody else can listen there meanwhile
        silent.bind(("127.0.0.1", 0))
        url = f"postgresql://x@127.0.0.1:{silent.getsockname()[1]}/db"
        with pytest.raises(StorageError, match=r"refused.*check that it runs, and that the URL names"):
            Memory(url)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda url: url.replace("commonplace_test_", "nothing_"), r"does not exist.*make it: createdb, then"),
        (lambda url: url.replace("postgres:", "nobody:"), r"does not exist.*CREATE ROLE"),
    ],
)
def test_a_database_that_cannot_be_reached_says_at_once_what_to_do(
    url: str, change: Callable[[str], str], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "POOL_TIMEOUT_SECONDS", LONG_SECONDS)
    began = time.monotonic()
    with pytest.raises(StorageError, match=what):
        Memory(change(url))
    assert time.monotonic() - began < LONG_SECONDS


def test_a_pool_without_a_free_connection_says_so(
    url: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import ExitStack

    with ExitStack() as stack:
        for _ in range(connections.MAX_CONNECTIONS):
            stack.enter_context(database.lock_transaction())
        for pool in database._pools.all():  # a slow machine may take its time for the eight, not for the ninth
            monkeypatch.setattr(pool, "timeout", 0.2)
        with (
            pytest.raises(StorageError, match="all 8 connections of this process") as caught,
            database.lock_transaction(),
        ):
            raise AssertionError("a ninth")
        assert not isinstance(caught.value, ConnectionLost)


def test_a_statement_that_takes_too_long_is_ended_by_the_server(database: Database, pages: PostgresPages) -> None:
    with pytest.raises(StorageError, match="took too long"), database.transaction(timeout_ms=100) as connection:
        connection.execute(f"SELECT pg_sleep({LONG_SECONDS})".encode())
    assert database.query("SELECT current_setting('statement_timeout')", {}) == [("15s",)]
    with database.transaction() as connection:
        assert connection.execute("SHOW statement_timeout").fetchone() == ("15s",)
    with database.lock_transaction() as connection:
        assert connection.execute("SHOW statement_timeout").fetchone() == ("15s",)


def test_a_wire_that_falls_silent_counts_as_cut(url: str) -> None:
    arguments = connection_options(url)
    longest = arguments["keepalives_idle"] + arguments["keepalives_interval"] * arguments["keepalives_count"]
    assert longest <= 30
    assert arguments["tcp_user_timeout"] <= 30_000
    assert "keepalives_idle" not in connection_options("postgresql://host/db?keepalives_idle=600")


def test_a_memory_of_a_newer_program_says_what_to_do(url: str) -> None:
    admin(url, "INSERT INTO commonplace.migrations (number, name) VALUES (9000, 'later')")
    with pytest.raises(StorageError, match=r"newer commonplace \(it has 9000_later\): update this one"):
        Memory(url)


def test_a_memory_without_tables_says_what_to_do(url: str) -> None:
    admin(url, "DROP SCHEMA commonplace CASCADE")
    with pytest.raises(StorageError, match="has no tables yet: run `commonplace db init"):
        Memory(url)


def test_a_handle_can_be_made_and_asked_by_many_threads(url: str) -> None:
    import threading

    database, pages = pages_at(url)
    threads = [threading.Thread(target=pages.append, args=("memory/a.md", f"{number}\n")) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pages.read("memory/a.md").text.splitlines()) == 20
    database.close()


def test_no_file_is_made_for_a_memory_in_a_database(url: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"from commonplace import Memory\nwith Memory({url!r}) as m:\n"
         "    m.call('remember', {'content': 'x'}); m.search('x'); m.context(query='x')"],
        cwd=tmp_path, capture_output=True, text=True, timeout=LONG_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [*tmp_path.iterdir()] == []
