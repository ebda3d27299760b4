"""The index in PostgreSQL follows the pages: one does it for all, nobody who writes waits, no search misses a write."""

from __future__ import annotations

import threading
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from commonplace import Memory
from commonplace.errors import LockTimeout
from commonplace.index.statements import read_facts
from commonplace.model import Viewer
from commonplace.storage.postgres import index_handle as follower
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.index import PostgresIndex
from commonplace.storage.postgres.index_handle import PostgresIndexHandle
from commonplace.storage.postgres.url import parse_url

from .conftest import admin
from .test_index import entry, write
from .wire import Wire

pytestmark = pytest.mark.slow


def follow(memory: Memory) -> PostgresIndexHandle:
    index = memory.home.index
    assert isinstance(index, PostgresIndexHandle)
    return index


def find_texts(memory: Memory, question: str) -> list[str]:
    return [hit.text for hit in memory.home.search(question, 5, 0.0, mode="keyword").hits]


def test_a_write_does_not_wait_for_who_indexes_and_the_next_search_sees_it(url: str) -> None:
    with Memory(url) as memory, Memory(url) as other:
        memory.call("write_memory", {"key": "first", "content": "green tea"})
        assert find_texts(other, "tea")
        index = follow(other)._index
        with index.write_transaction():
            follow(memory)._next_update_at = 0.0
            memory.call("write_memory", {"key": "second", "content": "black tea"})
            status = index.status()
            assert status.written_seq > status.indexed_seq
        assert any("black" in text for text in find_texts(other, "tea"))
        status = index.status()
        assert status.written_seq == status.indexed_seq


def test_a_search_elsewhere_sees_every_write_that_was_acknowledged_before_it(url: str) -> None:
    with Memory(url) as memory, Memory(url) as other:
        for number in range(20):
            memory.call("write_memory", {"key": f"note-{number}", "content": f"marker{number} stands here"})
            assert find_texts(other, f"marker{number}")


def test_the_pages_of_one_index_step_are_read_together(url: str) -> None:
    wire = Wire(url)
    with Memory(url) as beside, Memory(wire.url) as memory:
        assert not find_texts(memory, "tea")
        trips = []
        for count in (1, 2, 3, 4, 40):  # from the fourth step on, the server knows all statements
            for number in range(count):
                beside.home.storage.pages.write(f"memory/world/{count}-{number}.md", "# Tea\n\nGreen tea.\n")
            before = wire.round_trips
            memory.home.index.query(lambda view: view.index.size())
            trips.append(wire.round_trips - before)
    wire.close()
    assert trips[-2] == trips[-1]


def test_who_wrote_the_pages_of_an_answer_is_read_of_all_at_once(url: str) -> None:
    wire = Wire(url)
    with Memory(url) as beside, Memory(wire.url) as memory:
        for name, count in (("tea", 2), ("coffee", 8)):
            for number in range(count):
                beside.call("update_world", {"topic": f"{name} {number}", "content": f"Of {name} there is {number}."})
        trips = []
        for name in ("milk", "tea", "coffee"):
            before = wire.round_trips
            hits = memory.home.search(name, 10, 0.0, mode="keyword").hits
            trips.append(wire.round_trips - before)
    wire.close()
    assert {hit.author for hit in hits} == {"main (update_world)"}
    assert len(hits) == 8
    assert trips[1] == trips[2]


def test_what_one_has_followed_nobody_reads_again(url: str) -> None:
    with Memory(url) as memory:
        memory.call("write_memory", {"key": "a", "content": "green tea"})
        assert memory.search("tea")  # with what it means
        last_written = "SELECT xmin::text FROM commonplace.indexes"
        before = follow(memory)._index._tables.query(last_written)
        with Memory(url) as other:
            assert find_texts(other, "tea")
            assert not other.home.search("tea").stale
        assert follow(memory)._index._tables.query(last_written) == before


def test_writers_that_go_on_and_on_leave_most_of_the_following_to_who_asks(url: str) -> None:
    with Memory(url) as memory:
        memory.call("write_memory", {"key": "a", "content": "green tea"})
        follow(memory)._next_update_at = float("inf")
        memory.call("write_memory", {"key": "b", "content": "black tea"})
        status = follow(memory)._index.status()
        assert status.written_seq > status.indexed_seq
        assert any("black" in text for text in find_texts(memory, "tea"))


def test_the_more_writers_follow_an_index_the_longer_each_of_them_rests(url: str) -> None:
    with Memory(url) as first, Memory(url) as second, Memory(url) as third:
        for number in range(4):
            for memory in (first, second, third):
                follow(memory)._next_update_at = 0.0
                memory.call("write_memory", {"key": f"key-{number}", "content": f"tea number {number}"})
        assert [follow(memory)._updaters for memory in (first, second, third)] == [3.0, 3.0, 3.0]
        for number in range(2):
            follow(first)._next_update_at = 0.0
            first.call("write_memory", {"key": f"alone-{number}", "content": "tea"})
        assert follow(first)._updaters == 1.0


def test_facts_are_looked_up_row_by_row_before_the_server_has_statistics(url: str) -> None:
    with Memory(url) as memory:
        for number in range(200):
            memory.home.storage.pages.write(f"memory/{number}.md", f"The value of the meter is {number}.")
        assert find_texts(memory, "meter")
        keys = read_facts("The value of the meter is 7.").keys
        index = follow(memory)._index
        read = """SELECT max(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables
            WHERE relname IN ('index_passages', 'index_statements')"""
        with follow(memory)._database.transaction() as connection:
            found = index.find_by_fact_keys(keys, Viewer("main"), 100)
            rows = connection.execute(read).fetchone()
        assert rows == (len(found),)
        assert len(found) < 50


def test_many_pages_are_followed_in_batches_and_an_interrupted_build_goes_on_where_it_was(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "_BUILD_BATCH_PAGES", 2)
    monkeypatch.setattr(follower, "_UPDATE_BATCH_PAGES", 2)
    with Memory(url) as memory:
        for number in range(7):
            memory.home.storage.pages.write(f"memory/{number}.md", f"tea number {number}")
        index = follow(memory)._index

        def stop(_: str, done: int, __: int) -> None:
            if done >= 4:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            memory.home.build_index(stop)
        assert index.size() == (4, 4)
        seen: list[tuple[int, int]] = []
        memory.home.build_index(lambda what, done, total: seen.append((done, total)))
        assert seen[0] == (2, 3)  # three were left
        assert index.size() == (7, 7)
        for number in range(7, 12):
            memory.home.storage.pages.write(f"memory/{number}.md", f"tea number {number}")
        memory.home.storage.pages.remove("memory/0.md")
        assert len(find_texts(memory, "tea")) == 5
        assert index.size() == (11, 11)


@pytest.fixture
def strict(url: str) -> str:
    """A database in which a transaction that was overtaken fails, as on servers of many machines."""
    name = urlsplit(url).path.removeprefix("/")
    admin(url, f"ALTER DATABASE {name} SET default_transaction_isolation TO 'repeatable read'")
    return url


def test_whoever_is_overtaken_tries_again_and_nothing_is_lost(strict: str) -> None:
    databases = [Database(parse_url(strict)) for _ in range(3)]
    indexes = [PostgresIndex(each, "home") for each in databases]
    write(indexes[0], [entry("memory/first.md", "tea")])
    wrong: list[Exception] = []

    def work(number: int) -> None:
        index = indexes[number]
        for turn in range(5):
            one = entry(f"memory/{number}-{turn}.md", f"tea of {number}")
            try:
                index.write(lambda one=one: index.apply([one], []))  # type: ignore[misc]
            except Exception as error:  # noqa: BLE001  a thread has nobody to raise to
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert indexes[0].size() == (16, 16)
    for each in databases:
        each.close()


def test_memories_that_get_in_each_others_way_find_all_they_wrote(strict: str) -> None:
    def work(number: int) -> None:
        with Memory(strict) as memory:
            for turn in range(5):
                memory.call("write_memory", {"key": f"{number}-{turn}", "content": f"marker{number}x{turn}"})

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Memory(strict) as memory:
        for number in range(3):
            assert all(find_texts(memory, f"marker{number}x{turn}") for turn in range(5))


def test_a_reader_that_does_not_wait_learns_at_once_that_somebody_writes(
    open_database: Callable[..., Database],
) -> None:
    index, second = (PostgresIndex(open_database(), "home") for _ in range(2))
    write(index, [entry("memory/a.md", "tea")])
    with index.write_transaction(), pytest.raises(LockTimeout, match="another process writes"):
        second.write(lambda: None, follower.NO_WAIT)


def test_the_server_looks_at_tables_that_grew_before_it_is_asked(open_database: Callable[..., Database]) -> None:
    index = PostgresIndex(open_database(), "home")
    write(index, [entry(f"memory/{number}.md", *(f"tea {number} {n}" for n in range(10))) for number in range(120)])
    known = "SELECT reltuples::int FROM pg_class WHERE oid = 'commonplace.index_passages'::regclass"
    assert index._tables.query(known) == [(1200,)]
    assert index._tables.query("SELECT settled FROM commonplace.indexes") == [(1200,)]
    text = "SELECT count(*) FROM pg_stats WHERE schemaname = 'commonplace' AND attname IN ('words', 'vector', 'body')"
    assert index._tables.query(text) == [(0,)]
