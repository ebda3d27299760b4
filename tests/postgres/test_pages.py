"""What is special about pages that are rows: paths, the feed by number, what is told of writes."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import pytest

from commonplace import Memory
from commonplace.errors import OutsideHome, PageNotFound, PathIsFile, PathIsFolder, StaleVersion, StorageError
from commonplace.home import modified_timestamp
from commonplace.model import Page
from commonplace.storage.base import Root, ignore_write
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.history import PostgresHistory
from commonplace.storage.postgres.pages import PostgresPages
from commonplace.storage.postgres.url import parse_url
from commonplace.testing import FrozenClock

from ..waiting import LONG_SECONDS
from .wire import Wire

pytestmark = pytest.mark.slow
ROWS_READ = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = %s"


def rows(database: Database) -> int:
    output = database.run(lambda connection: connection.execute("SELECT count(*) FROM commonplace.pages").fetchone())
    assert output
    return int(output[0])


def test_writes_and_removals_are_reported_with_their_size(database: Database, history: PostgresHistory) -> None:
    messages: list[tuple[str, int]] = []
    pages = PostgresPages(database, lambda path, size: messages.append((path, size)), history)
    pages.write("memory/a.md", "日本")
    pages.write("memory/a.md", "日本")  # as it is already
    pages.edit("memory/none.md", lambda old: old)
    pages.remove("memory/a.md")
    assert messages == [("memory/a.md", 6), ("memory/a.md", 0)]


def test_whoever_follows_by_number_learns_of_each_page_once_and_of_what_is_gone(pages: PostgresPages) -> None:
    assert pages.changed_since(0) == (0, [], [])
    for path in ("memory/a.md", "memory/b.md", "memory/a.md"):
        pages.append(path, "x")
    assert pages.changed_since(0) == (3, ["memory/b.md", "memory/a.md"], [])
    pages.remove("memory/b.md")
    assert pages.changed_since(3) == (4, [], ["memory/b.md"])
    assert pages.changed_since(0) == (4, ["memory/a.md"], ["memory/b.md"])
    pages.write("memory/b.md", "again")
    assert pages.changed_since(4) == (5, ["memory/b.md"], [])
    assert pages.changed_since(5) == (5, [], [])


def test_whoever_follows_while_many_write_misses_nothing(
    pages: PostgresPages, open_database: Callable[..., Database]
) -> None:
    """A number is seen only when all below it are: late commits are not skipped."""
    reader = PostgresPages(open_database(), lambda path, size: None, pages.history)
    writers = [
        threading.Thread(target=lambda n=n: [pages.append(f"memory/{n}-{i}.md", "x") for i in range(15)])  # type: ignore[misc]
        for n in range(6)
    ]
    for writer in writers:
        writer.start()
    seq, seen = 0, set()
    while seq < 6 * 15:
        news = reader.changed_since(seq)
        assert news.seq >= seq
        seen.update(news.changed)
        seq = news.seq
    for writer in writers:
        writer.join()
    assert len(seen) == 6 * 15


def test_a_write_sends_what_needs_no_answer_together(
    url: str, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a second notification: it could come while a page is written, and would open another connection."""
    monkeypatch.setattr("commonplace.storage.postgres.listen._BURST_SECONDS", LONG_SECONDS)
    wire = Wire(url)
    database = Database(parse_url(wire.url)._replace(tenant="acme"))
    pages = PostgresPages(database, ignore_write, PostgresHistory(database, clock))
    for number in range(3):  # from the third run of a statement on, the server knows it
        pages.append("memory/a.md", f"{number}\n")
    before = wire.round_trips, wire.packets
    for _ in range(5):
        pages.append("memory/a.md", "x\n")
    asked, sent = wire.round_trips - before[0], wire.packets - before[1]
    assert asked == 5 * 2  # the page; the page with its history and the commit
    assert sent == asked
    database.close()
    wire.close()


def test_a_page_that_is_looked_at_for_a_change_and_not_made_leaves_no_row(
    database: Database, pages: PostgresPages
) -> None:
    pages.edit("memory/a.md", lambda old: old)
    with pytest.raises(StaleVersion):
        pages.write("memory/a.md", "x", if_version="no such version")
    with pytest.raises(PageNotFound):
        pages.remove("memory/a.md")
    assert rows(database) == 0
    assert pages.changed_since(0).seq == 0


def test_a_page_that_was_removed_is_made_again_as_one_that_never_was(pages: PostgresPages) -> None:
    pages.write("memory/a.md", "one")
    pages.remove("memory/a.md")
    for act in (pages.read, pages.remove, pages.modified_at):
        with pytest.raises(PageNotFound):
            act("memory/a.md")
    assert pages.list("memory") == pages.list_folders("") == []
    pages.edit("memory/a.md", lambda old: old)  # nothing: it stays removed
    assert pages.changed_since(1) == (2, [], ["memory/a.md"])
    pages.write("memory/a.md", "two", if_version="")
    assert pages.read("memory/a.md").text == "two"


def test_paths_that_say_the_same_are_one_page(pages: PostgresPages) -> None:
    pages.write("memory//./a.md", "one")
    assert pages.read("memory/a.md").text == "one"
    pages.append("./memory/a.md", " two")
    assert pages.list("memory") == pages.list("./memory") == ["memory/a.md"]
    page = pages.read("memory/./a.md")
    assert page == Page("memory/./a.md", "one two", page.version)


@pytest.mark.parametrize("path", ["memory/", ".", "memory/.", "a/../b.md", "C:/x.md", "memory/\ud800.md"])
def test_what_is_no_path_of_a_page_is_refused(pages: PostgresPages, path: str) -> None:
    for act in (pages.read, lambda path: pages.append(path, "x"), pages.remove, pages.modified_at):
        with pytest.raises(OutsideHome, match="is not a path inside the home"):
            act(path)
    assert pages.list(path) == pages.list_folders(path) == []


def test_a_path_too_long_for_the_database_is_refused_with_a_sentence(pages: PostgresPages) -> None:
    long = f"memory/{'x' * 1400}.md"
    pages.write(long, "x")
    assert pages.read(long).text == "x"
    with pytest.raises(StorageError, match="give it a shorter name"):
        pages.write(f"memory/{'日' * 600}.md", "x")


def test_hidden_pages_are_read_by_name_and_not_listed(pages: PostgresPages) -> None:
    for path in (".agent/memory/a.md", "memory/.hidden/b.md", "memory/.c.md", ".d.md", "memory/e.md", "memoryx/f.md"):
        pages.write(path, "tea")
    assert pages.read("memory/.hidden/b.md").text == "tea"
    assert pages.list("memory", deep=True) == ["memory/e.md"]
    assert pages.list("", deep=True) == ["memory/e.md", "memoryx/f.md"]
    assert pages.list(".agent/memory") == [".agent/memory/a.md"]
    assert pages.list_folders("") == ["memory", "memoryx"]
    assert pages.list_folders("memory") == []
    assert [path for path, _ in pages.find_text("memory", "tea")[0]] == ["memory/e.md"]
    assert set(pages.changes({}, [Root("memory"), Root(".agent")]).changed) == {"memory/e.md", ".agent/memory/a.md"}


def test_folders_are_found_whatever_sorts_between_their_pages(pages: PostgresPages) -> None:
    names = ["a", "a-b", "a.b", "a0", "A", "ab", "日", "z~x", "ab c"]
    for name in names:
        for path in (f"memory/{name}/1.md", f"memory/{name}/deep/2.md", f"memory/{name}.md"):
            pages.write(path, "tea")
    pages.write("memory/gone/1.md", "tea")
    pages.remove("memory/gone/1.md")
    assert pages.list_folders("memory") == sorted(names)
    assert pages.list_folders("memory/a") == ["deep"]
    assert pages.list_folders("memory/a/deep") == pages.list_folders("nowhere") == pages.list_folders("../x") == []


def test_a_name_in_every_folder_is_looked_for_without_reading_the_other_pages(
    database: Database, pages: PostgresPages
) -> None:
    """As for a record, whose key may be in any category."""
    insert = """INSERT INTO commonplace.pages (tenant, path, data, version, size, seq, written_at)
        SELECT %(tenant)s, format('memory/%%s/%%s.md', folder, number), 'tea', 'v', 3, number, now()
        FROM unnest('{a,b,c}'::text[]) AS folder CROSS JOIN generate_series(1, 400) AS number"""
    with database.transaction() as connection:
        connection.execute(insert, {"tenant": database.tenant})
    with database.transaction() as connection:
        for _ in range(10):  # the server makes another plan after some runs
            assert pages.list_folders_with("memory", ["7.md"]) == ["a", "b", "c"]
        row = connection.execute(ROWS_READ, ("pages",)).fetchone()
    assert row
    assert row[0] <= 10 * 2 * 3  # a page to find the next folder, and the page there


def test_roots_are_pages_endings_and_patterns(pages: PostgresPages) -> None:
    for path in ("MEMORY.md", "docs/a.md", "docs/b.txt", "docs/c.jsonl", "docs/deep/d.md", "docs_x/e.md"):
        pages.write(path, "x")
    assert pages.list("docs", (".md", ".txt")) == ["docs/a.md", "docs/b.txt"]
    result = pages.changes({}, [Root("docs", (".txt", ".jsonl")), Root("MEMORY.md", is_page=True)])
    assert set(result.changed) == {"docs/b.txt", "docs/c.jsonl", "MEMORY.md"}
    by_pattern = Root("docs", (".md", ".txt"), re.compile(r"docs/[^/]*"))
    first = pages.changes({}, [by_pattern])
    assert set(first.changed) == {"docs/a.md", "docs/b.txt"}
    assert pages.changes(first.changed, [by_pattern]) == ({}, (), ())
    pages.append("docs/a.md", "y")
    pages.remove("docs/b.txt")
    second = pages.changes(first.changed, [by_pattern])
    assert (set(second.changed), second.removed) == ({"docs/a.md"}, ("docs/b.txt",))


def test_letters_that_mean_something_to_a_database_mean_nothing_in_a_path(pages: PostgresPages) -> None:
    for path in (
        "memory/%.md",
        "memory/a_b.md",
        "memory/a'b.md",
        "mem%/x.md",
        "memory/日本.md",
        "memory/\U0010ffff.md",
    ):
        pages.write(path, path)
        assert pages.read(path).text == path
    assert pages.list("mem%") == ["mem%/x.md"]
    assert len(pages.list("memory")) == 5
    assert pages.find_text("", "%")[0] == [("mem%/x.md", "mem%/x.md"), ("memory/%.md", "memory/%.md")]


def test_a_page_of_megabytes_is_kept(pages: PostgresPages) -> None:
    text = "".join(f"line {number}\n" for number in range(300_000))
    pages.write("memory/a.md", text)
    pages.append("memory/a.md", "end\n")
    assert pages.read("memory/a.md").text == text + "end\n"
    assert pages.history.size() < 2_000_000


def test_when_a_page_was_written_is_known(pages: PostgresPages) -> None:
    import time

    pages.write("memory/a.md", "x")
    assert abs(pages.modified_at("memory/a.md") - time.time()) < 60


def test_a_handle_that_was_closed_opens_again(database: Database, pages: PostgresPages) -> None:
    pages.write("memory/a.md", "x")
    database.close()
    assert pages.read("memory/a.md").text == "x"


def test_a_write_within_a_transaction_of_the_same_thread_is_a_part_of_it(
    database: Database, pages: PostgresPages
) -> None:
    def write_and_fail() -> None:
        with database.transaction():
            pages.write("memory/a.md", "x")
            assert pages.read("memory/a.md").text == "x"
            raise KeyError("no")

    with pytest.raises(KeyError):
        write_and_fail()
    assert pages.list("memory") == []
    assert rows(database) == 0


def test_nothing_is_a_page_and_a_folder_at_once(database: Database, pages: PostgresPages) -> None:
    pages.write("memory/a.md", "x")
    pages.write("memory/b/c/d.md", "x")
    for path, other in (("memory/a.md/b.md", "memory/a.md"), ("memory/b", "memory/b/c/d.md"), ("memory/b/c", "d.md")):
        error = PathIsFile if path.startswith(other) else PathIsFolder
        with pytest.raises(error, match=rf"cannot be a page beside the page .*{other}: use another name"):
            pages.write(path, "y")
    assert rows(database) == 2
    pages.write("memory/a.md0", "a neighbour")
    pages.write("memory/a", "and one whose name goes on")
    pages.remove("memory/a.md")
    pages.write("memory/a.md/b.md", "what was removed is in nobody's way")


def test_the_pages_an_agent_may_see_come_with_the_time_they_were_written(url: str) -> None:
    with Memory(url) as memory:
        home = memory.home
        for path in ("memory/a.md", "memory/b.md", "memory/gone.md", "agents/other/memory/c.md"):
            home.storage.pages.write(path, "x")
        home.storage.pages.remove("memory/gone.md")
        with Database(parse_url(url)).transaction() as connection:
            connection.execute("UPDATE commonplace.pages SET written_at = '2031-05-07Z' WHERE path = 'memory/a.md'")
        assert [path for path, _ in home.visibility.list_pages()] == ["memory/a.md", "memory/b.md"]
        assert home.visibility.list_pages()[0] == ("memory/a.md", "2031-05-07T00:00:00.000000Z")
        assert modified_timestamp(home, "memory/a.md") == "2031-05-07T00:00:00.000000Z"
