"""A replica answers searches: never without what this handle wrote, and never in the way when it is gone."""

# ruff: noqa: F401, F811  the fixture `pair` is taken over by its name

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from commonplace import Memory
from commonplace.index.handle import IndexView
from commonplace.search.pipeline import SearchResult
from commonplace.storage.postgres import connection as connections
from commonplace.storage.postgres import index_handle as handles
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.migrate import migrate
from commonplace.storage.postgres.url import parse_url

from ..waiting import wait_until
from .conftest import admin
from .test_failover import Pair, pair

pytestmark = pytest.mark.slow


@pytest.fixture
def home(pair: Pair) -> str:
    setup = Database(parse_url(pair.url))
    migrate(setup)
    setup.close()
    return f"{pair.url}&tenant=acme&search={pair.replica}"


@pytest.fixture
def memory(home: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """One that waits for a replica that answers, however busy the machine is."""
    monkeypatch.setattr(connections, "REPLICA_POOL_TIMEOUT_SECONDS", connections.POOL_TIMEOUT_SECONDS)
    with Memory(home) as opened:
        opened.call("remember", {"content": "Ann prefers green tea."})
        assert opened.search("green tea")
        yield opened


def at_the_replica(pair: Pair, statement: str) -> None:
    admin(f"postgresql://postgres@/postgres?host={pair.replica}", statement)


def until_in_step(pair: Pair) -> None:
    """Let the replica know all there is: what is committed with `remote_apply` is seen there."""
    url = f"postgresql://postgres@/postgres?host={pair.primary.pgdata}&options=-c%20synchronous_commit%3Dremote_apply"
    admin(url, "CREATE TABLE IF NOT EXISTS public.step ()")
    admin(url, "DROP TABLE public.step")


def who_answers(memory: Memory) -> bool:
    """Whether a question is answered by the replica."""

    def ask(view: IndexView) -> bool:
        rows = view.index._tables.query("SELECT pg_is_in_recovery()")  # type: ignore[attr-defined]
        return bool(rows[0][0])

    return memory.home.index.query(ask)


def search_home(memory: Memory, text: str) -> SearchResult:
    return memory.home.search(text)


def test_searches_go_to_the_replica_and_writes_to_the_database(memory: Memory, pair: Pair) -> None:
    until_in_step(pair)
    assert who_answers(memory)
    answer = search_home(memory, "green tea")
    assert "green tea" in answer.hits[0].text
    assert answer.warnings == ()
    assert memory.call("memory_write", {"key": "k", "content": "v"})["success"]
    assert memory.call("memory_read", {"key": "k"})["success"]


def test_what_was_written_is_found_though_the_replica_is_behind(memory: Memory, pair: Pair) -> None:
    until_in_step(pair)
    at_the_replica(pair, "SELECT pg_wal_replay_pause()")
    for number in range(5):
        memory.call("remember", {"content": f"Bob prefers rooibos number {number}."})
        answer = search_home(memory, f"rooibos number {number}")
        assert f"number {number}" in answer.hits[0].text
        assert answer.warnings == (), "one that is behind is nothing to warn of"
    assert not who_answers(memory)
    memory.call("MemoryTool", {"op": "setGlobal", "key": "name", "value": "Ann", "category": "user_info"})
    assert "Ann" in str(memory.call("MemoryTool", {"op": "getGlobal", "key": "name"}))
    assert search_home(memory, "Ann")  # the index has followed
    at_the_replica(pair, "SELECT pg_wal_replay_resume()")
    until_in_step(pair)
    assert who_answers(memory)
    assert "rooibos" in search_home(memory, "rooibos").hits[0].text


def test_what_another_machine_wrote_is_found_once_the_replica_has_it(memory: Memory, home: str, pair: Pair) -> None:
    with Memory(home.partition("&search=")[0]) as other:
        other.call("remember", {"content": "Eve prefers lemonade."})
        assert other.search("lemonade")  # the index has followed, with its vectors
    until_in_step(pair)
    assert who_answers(memory)
    assert "lemonade" in search_home(memory, "lemonade").hits[0].text


def test_pages_that_nobody_indexed_yet_are_indexed_in_the_database(memory: Memory, home: str, pair: Pair) -> None:
    with Memory(home.partition("&search=")[0]) as other:
        other.home.storage.pages.write("memory/plain.md", "Eve prefers lemonade.\n")
    until_in_step(pair)
    assert "lemonade" in search_home(memory, "lemonade").hits[0].text
    until_in_step(pair)
    assert who_answers(memory)


def test_a_replica_that_is_killed_is_reported_and_not_needed(
    memory: Memory,
    pair: Pair,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    until_in_step(pair)
    assert who_answers(memory)
    admin(pair.primary.get_uri(), "ALTER SYSTEM SET synchronous_standby_names = ''")
    admin(pair.primary.get_uri(), "SELECT pg_reload_conf()")
    pair.stop_the_replica()
    for pool in memory.home.index._replica._pools.all():  # type: ignore[attr-defined]
        monkeypatch.setattr(pool, "timeout", 1.0)
    answer = search_home(memory, "green tea")
    assert "green tea" in answer.hits[0].text
    assert "the replica for searches did not answer" in answer.warnings[0]
    assert answer.stale is False
    memory.call("remember", {"content": "Bob prefers rooibos."})
    assert "rooibos" in search_home(memory, "rooibos").hits[0].text
    pair.start_the_replica()
    monkeypatch.setattr(memory.home.index, "_retry_at", 0.0)  # as if the rest were over
    until_in_step_by(lambda: who_answers(memory), memory, monkeypatch)
    assert search_home(memory, "rooibos").warnings == ()


def until_in_step_by(done: Callable[[], bool], memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handles, "_REPLICA_REST_SECONDS", 0.0)
    for _ in range(300):
        if done():
            return
    raise AssertionError("the replica is not asked again")


def test_a_replica_that_never_was_there_costs_a_warning(home: str) -> None:
    with Memory(f"{home.partition('&search=')[0]}&search=/nowhere") as memory:
        memory.call("remember", {"content": "Ann prefers green tea."})
        answer = search_home(memory, "green tea")
        assert "green tea" in answer.hits[0].text
        assert "/nowhere" in answer.warnings[0]


def test_a_replica_that_takes_over_answers_on(memory: Memory, pair: Pair) -> None:
    until_in_step(pair)
    pair.kill_the_primary()
    pair.promote_the_replica()
    assert "green tea" in search_home(memory, "green tea").hits[0].text
    memory.call("remember", {"content": "Bob prefers rooibos."})
    assert "rooibos" in search_home(memory, "rooibos").hits[0].text
    assert search_home(memory, "rooibos").warnings == ()


def test_what_is_shown_of_a_home_hides_the_password_of_its_replica() -> None:
    from commonplace.storage.base import display_name

    home = "postgresql://ann:geheim@one/db?tenant=a&search=postgresql%3A%2F%2Fann%3Ageheim%40two%2Fdb"
    assert "geheim" not in display_name(home)
    assert "two" in display_name(home)
    assert display_name("postgresql://ann@one/db?search=two:5432") == "postgresql://ann@one/db?search=two:5432"


def test_a_url_that_names_a_replica_first_finds_the_one_that_takes_writes(pair: Pair, home: str) -> None:
    with Memory(f"postgresql://postgres@/postgres?host={pair.replica},{pair.primary.pgdata}") as memory:
        memory.call("remember", {"content": "Ann prefers green tea."})
        assert "green tea" in search_home(memory, "green tea").hits[0].text


def is_writable(connection: Any) -> bool:
    return bool(connection.execute("SHOW default_transaction_read_only").fetchone() == ("off",))


def test_an_open_memory_leaves_a_server_that_became_a_replica(pair: Pair, home: str) -> None:
    """One host goes by the same name, and answers, but takes no writes any more until another is there."""
    import psycopg

    uri = pair.primary.get_uri()
    with Memory(f"postgresql://postgres@/postgres?host={pair.primary.pgdata}") as memory:
        memory.call("remember", {"content": "Ann prefers green tea."})
        admin(uri, "ALTER SYSTEM SET default_transaction_read_only = on")
        admin(uri, "SELECT pg_reload_conf()")
        database = memory.home.storage.database  # type: ignore[attr-defined]
        # a connection meets the new setting only after the server told its process
        wait_until(lambda: not database.run(is_writable), "the server takes no writes")
        tries = 0

        def write(connection: psycopg.Connection[tuple[object, ...]]) -> None:
            nonlocal tries
            tries += 1
            if tries == 3:
                writable = f"{uri}&options=-c%20default_transaction_read_only%3Doff"
                admin(writable, "ALTER SYSTEM RESET default_transaction_read_only")
                admin(writable, "SELECT pg_reload_conf()")
            connection.execute("INSERT INTO commonplace.locks VALUES ('default', 'x')")

        database.run(write)
        assert tries > 3
