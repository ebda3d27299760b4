"""Who follows a memory is told when it grows, whether notices arrive or not."""

from __future__ import annotations

import queue
from collections.abc import Callable

import pytest

from commonplace.storage.postgres import listen as listening
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.history import PostgresHistory
from commonplace.storage.postgres.listen import channel_name, flush_notices, listen
from commonplace.storage.postgres.pages import PostgresPages
from commonplace.testing import FrozenClock

from ..waiting import LONG_SECONDS

pytestmark = pytest.mark.slow


def test_listeners_are_notified_of_every_write(pages: PostgresPages, open_database: Callable[..., Database]) -> None:
    events: queue.Queue[int] = queue.Queue()
    with listen(open_database(), events.put):
        assert events.get(timeout=LONG_SECONDS) == 0
        pages.write("memory/a.md", "one")
        assert events.get(timeout=LONG_SECONDS) == 1
        pages.remove("memory/a.md")
        assert events.get(timeout=LONG_SECONDS) == 2


def test_the_writes_of_another_tenant_wake_nobody(
    pages: PostgresPages, open_database: Callable[..., Database], clock: FrozenClock
) -> None:
    assert channel_name("a") != channel_name("b")
    events: queue.Queue[int] = queue.Queue()
    other = open_database("another")
    theirs = PostgresPages(other, lambda path, size: None, PostgresHistory(other, clock))
    with listen(open_database(), events.put):
        assert events.get(timeout=LONG_SECONDS) == 0
        for _ in range(5):
            theirs.append("memory/a.md", "x")
        pages.write("memory/a.md", "one")
        assert events.get(timeout=LONG_SECONDS) == 1
    assert events.empty()


def test_a_burst_of_writes_sends_few_notifications_and_always_the_last_one(
    pages: PostgresPages, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_BURST_SECONDS", LONG_SECONDS)  # however long each of the writes takes
    writes = 40
    with database.admin_connection() as connection:
        connection.execute(f"LISTEN {channel_name(database.tenant)}".encode())
        for number in range(writes):
            pages.write("memory/a.md", str(number))
        flush_notices(database)
        seqs = []
        for notice in connection.notifies(timeout=LONG_SECONDS):
            seqs.append(int(notice.payload))
            if seqs[-1] == writes:
                break
    assert seqs == [1, writes]


def test_a_listener_that_was_cut_off_gets_what_came_meanwhile(
    pages: PostgresPages, database: Database, open_database: Callable[..., Database]
) -> None:
    events: queue.Queue[int] = queue.Queue()
    with listen(open_database(), events.put):
        assert events.get(timeout=LONG_SECONDS) == 0
        with database.admin_connection() as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        pages.write("memory/a.md", "one")
        assert events.get(timeout=LONG_SECONDS) == 1
        pages.write("memory/a.md", "two")
        assert events.get(timeout=LONG_SECONDS) == 2


def test_where_no_notice_arrives_it_is_asked(database: Database, open_database: Callable[..., Database]) -> None:
    events: queue.Queue[int] = queue.Queue()
    with listen(open_database(), events.put):
        assert events.get(timeout=LONG_SECONDS) == 0
        with database.transaction() as connection:  # as if its notice had been lost on the way
            connection.execute("INSERT INTO commonplace.tenants (tenant, seq) VALUES ('acme', 7)")
        assert events.get(timeout=LONG_SECONDS) == 7


@pytest.mark.parametrize(
    "payload",
    ["abc", "", "999999999999", "-1", "0", "1e9", "\u0661", "1" * 5000, "null", "{}", "7; DROP", "\n", "x" * 7999],
)
def test_a_forged_notice_neither_kills_mutes_nor_fools_who_listens(
    pages: PostgresPages, url: str, open_database: Callable[..., Database], payload: str
) -> None:
    import psycopg

    events: queue.Queue[int] = queue.Queue()
    with listen(open_database(), events.put), psycopg.connect(url, autocommit=True) as forger:
        assert events.get(timeout=LONG_SECONDS) == 0
        for number in (1, 2, 3):
            forger.execute("SELECT pg_notify(%s, %s)", (channel_name("acme"), payload))
            pages.write("memory/a.md", f"text {number}")
            assert events.get(timeout=LONG_SECONDS) == number
    assert events.empty()


def test_forged_notices_do_not_slow_down_who_gets_no_others(
    url: str, open_database: Callable[..., Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a notice of a write shows that notices arrive: until then it is asked every second."""
    import psycopg

    monkeypatch.setattr(listening, "_SLOW_POLL_SECONDS", 10 * LONG_SECONDS)
    events: queue.Queue[int] = queue.Queue()
    listener = open_database()
    with listen(listener, events.put), psycopg.connect(url, autocommit=True) as forger:
        assert events.get(timeout=LONG_SECONDS) == 0
        for _ in range(200):
            forger.execute("SELECT pg_notify(%s, '999')", (channel_name("acme"),))
        with open_database().transaction() as connection:  # a write whose notice is lost
            connection.execute("INSERT INTO commonplace.tenants (tenant, seq) VALUES ('acme', 1)")
        # One write alone: on a slow machine a forged notice may be read after it, and then seems to be that of the write.
        assert events.get(timeout=LONG_SECONDS) == 1
    assert events.empty()
