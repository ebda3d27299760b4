"""Behind a pooler in transaction mode: every transaction may come to another connection of the server."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.errors import ConnectionLost, StaleVersion
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.history import PostgresHistory
from commonplace.storage.postgres.listen import flush_notices, listen
from commonplace.storage.postgres.locks import NamedLocks
from commonplace.storage.postgres.pages import PostgresPages
from commonplace.storage.postgres.url import parse_url
from commonplace.testing import FrozenClock, PagesContract

from ..waiting import LONG_SECONDS, wait_until
from .test_connections import free_port
from .test_many_writers import lines_of, make_counter_pages, start_writer, wait_for_exit
from .wire import Wire
from .writer import pages_at

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("pgbouncer"), reason="pgbouncer is not installed"),
]


@pytest.fixture
def pooled(url: str, tmp_path: Path) -> Iterator[str]:
    """The URL of the database through a pooler that has three connections for everybody."""
    with run_pooler(url, tmp_path, "default_pool_size = 3") as through:
        yield through


@contextmanager
def run_pooler(url: str, folder: Path, *settings: str) -> Iterator[str]:
    """The URL of the database through a pooler with some settings; what it says is in `log`."""
    from psycopg.conninfo import conninfo_to_dict

    parts, port = conninfo_to_dict(url), free_port()
    users = folder / "users.txt"
    users.write_text(f'"{parts["user"]}" ""\n')
    file = folder / "pgbouncer.ini"
    file.write_text(
        f"[databases]\n* = host={parts['host']} port={parts.get('port') or 5432}\n[pgbouncer]\n"
        f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {users}\n"
        "pool_mode = transaction\nmax_client_conn = 200\nserver_round_robin = 1\n" + "\n".join(settings)
    )
    for each in (folder, *folder.parents):  # it does not run as root
        if os.getuid() == 0 and each.stat().st_uid == 0 and each != each.parent:
            each.chmod(each.stat().st_mode | 0o055)
    socket_of = Path(str(parts["host"]))
    owner = socket_of.owner() if socket_of.is_dir() else "nobody"
    as_whom = ["-u", owner] if os.getuid() == 0 else []
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen(["pgbouncer", *as_whom, str(file)], stdout=log, stderr=log)
    through = f"postgresql://{parts['user']}@127.0.0.1:{port}/{parts['dbname']}"
    try:
        _until_it_answers(through)
        yield through
    finally:
        running.terminate()
        running.wait(timeout=LONG_SECONDS)


def _until_it_answers(url: str) -> None:
    import psycopg

    def does_it() -> bool:
        try:
            psycopg.connect(url, connect_timeout=10, prepare_threshold=None).close()
        except psycopg.OperationalError:
            return False
        return True

    wait_until(does_it, "the pooler answers")


class TestContract(PagesContract):
    """The contract of pages, through the pooler."""

    @pytest.fixture(autouse=True)
    def _opened(self, pooled: str, clock: FrozenClock) -> Iterator[None]:
        database = Database(parse_url(pooled))
        self._pages = PostgresPages(database, lambda path, size: None, PostgresHistory(database, clock))
        yield
        database.close()

    def make_pages(self) -> PostgresPages:
        return self._pages


def test_a_memory_is_written_and_searched_by_two_tenants(pooled: str) -> None:
    with Memory(f"{pooled}?tenant=acme") as memory, Memory(f"{pooled}?tenant=them") as other:
        for number in range(12):  # more than a driver waits for before it would prepare a statement
            memory.call("remember", {"content": f"Ann drinks green tea number {number}."})
            assert memory.search(f"tea number {number}")
            assert memory.call("memory_write", {"key": f"k{number}", "content": "v"})
            assert other.search("green tea") == []
        assert memory.status()["index_up_to_date"]
        assert memory.status()["warnings"] == []


def test_statements_are_prepared_on_a_direct_connection_and_never_through_the_pooler(pooled: str, url: str) -> None:
    for address, expected in ((url, True), (pooled, False)):
        database = Database(parse_url(address))
        for _ in range(12):
            with database.transaction() as connection:
                row = connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
        assert row
        assert (row[0] > 0) is expected
        database.close()


def test_more_writers_than_connections_lose_nothing(pooled: str) -> None:
    database, pages = make_counter_pages(pooled)
    told = wait_for_exit([start_writer(pooled, f"w{number}", 3, 8) for number in range(6)])
    assert lines_of(pages) == sorted(told)
    assert len(told) == 48
    database.close()


def test_a_write_a_lock_and_a_read_that_ended_keep_no_connection_of_the_pooler(url: str, tmp_path: Path) -> None:
    """Whatever the client sends after its last Sync arrives when the pooler has long given its connection to others."""
    with run_pooler(url, tmp_path, "default_pool_size = 2", "query_wait_timeout = 60") as through:
        beside_database, beside = pages_at(through)
        wire = Wire(through, is_slow=True)
        database, pages = pages_at(wire.url)
        with pages.lock("area"):
            pages.append("memory/a.md", "one\n")
        with pytest.raises(StaleVersion):
            pages.write("memory/a.md", "two\n", if_version="another")
        assert pages.read("memory/a.md").text == "one\n"
        with beside.lock("area"):  # takes both connections
            beside.append("memory/a.md", "two\n")
        assert pages.read("memory/a.md").text == "one\ntwo\n"
        database.close()
        beside_database.close()
        wire.close()


def test_as_many_holders_of_locks_as_connections_do_not_wait_for_each_other(pooled: str) -> None:
    database, pages = pages_at(pooled)
    everybody = threading.Barrier(3)

    def work(number: int) -> None:
        with pages.lock(f"area {number}"):
            with suppress(threading.BrokenBarrierError):
                everybody.wait(timeout=3)  # passes if all three hold a lock, and no connection is left for the work
            pages.append("memory/a.md", f"{number}\n")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(pages.read("memory/a.md").text.splitlines()) == ["0", "1", "2"]
    database.close()


def test_what_a_pooler_has_no_connection_for_is_tried_again_and_then_refused_with_the_next_step(
    url: str, tmp_path: Path
) -> None:
    import psycopg

    with run_pooler(url, tmp_path, "default_pool_size = 1", "query_wait_timeout = 1") as through:
        database, pages = pages_at(through)
        pages.append("memory/a.md", "one\n")
        flush_notices(database)
        with psycopg.connect(through, prepare_threshold=None) as other:
            other.execute("SELECT 1")  # in a transaction that stays open
            with pytest.raises(ConnectionLost, match=r"pooler has no connection .*query_wait_timeout.*: give it more"):
                pages.version("memory/a.md")
            before = _count_refusals(tmp_path)
            writer = threading.Thread(target=pages.append, args=("memory/a.md", "two\n"))
            writer.start()
            wait_until(lambda: _count_refusals(tmp_path) > before, "the pooler refuses the write")
        writer.join()
        assert pages.read("memory/a.md").text == "one\ntwo\n"
        with pytest.raises(ConnectionLost, match="area takes two"), NamedLocks(database, 1).lock("area"):
            raise AssertionError("held without a connection for the work")
        database.close()


def _count_refusals(folder: Path) -> int:
    return (folder / "log").read_text().count("closing because: query_wait_timeout")


def test_a_follower_learns_of_changes_though_no_notification_arrives(pooled: str, url: str, clock: FrozenClock) -> None:
    database = Database(parse_url(pooled))
    pages = PostgresPages(database, lambda path, size: None, PostgresHistory(database, clock))
    told, heard = threading.Event(), list[int]()

    def hear(seq: int) -> None:
        heard.append(seq)
        if seq >= 2:
            told.set()

    with listen(database, hear):
        pages.write("memory/a.md", "one")
        pages.write("memory/a.md", "two")
        assert told.wait(LONG_SECONDS)
    assert heard == sorted(heard)
    database.close()
