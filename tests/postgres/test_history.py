"""Earlier versions of pages that are rows: who, when, what; back to any of them; nothing left when it is forgotten."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from commonplace.errors import Conflict, NotFound
from commonplace.formats.timestamps import format_timestamp
from commonplace.home import Home
from commonplace.maintenance.timeline import read_as_of, restore, undo
from commonplace.storage.base import ABSENT, HistoryStore, Retention
from commonplace.storage.history import Author, Versions, write_as
from commonplace.storage.merge import merge_rewrites
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.history import PostgresHistory
from commonplace.storage.postgres.pages import PostgresPages
from commonplace.storage.postgres.url import with_tenant
from commonplace.testing import FrozenClock

pytestmark = pytest.mark.slow


@pytest.fixture
def home(url: str, clock: FrozenClock) -> Iterator[Home]:
    """The home whose pages the fixture `pages` writes."""
    home = Home(with_tenant(url, "acme"), clock=clock)
    yield home
    home.close()


def texts(history: HistoryStore, path: str) -> list[str | None]:
    return [None if data is None else data.decode() for _, data in history.versions(path)]


def test_every_version_is_kept_with_who_wrote_it(pages: PostgresPages, history: PostgresHistory) -> None:
    with write_as(Author("remember", "main", "s1", "because", "c1")):
        pages.write("memory/a.md", "one\n")
    pages.append("memory/a.md", "two\n")
    pages.remove("memory/a.md")
    first, second, third = history.changes("memory/a.md")
    assert (first.tool, first.agent, first.session, first.why, first.call) == (
        "remember",
        "main",
        "s1",
        "because",
        "c1",
    )
    assert (first.before, first.version, second.version, third.version) == (
        ABSENT, second.before, third.before, ABSENT,
    )  # fmt: skip
    assert texts(history, "memory/a.md") == ["one\n", "one\ntwo\n", None]
    assert history.change(second.id[:9]) == second
    assert [change.id for change in history.changes()] == [first.id, second.id, third.id]
    assert history.paths() == ["memory/a.md"]
    head = history.head("memory/a.md")
    assert head is not None
    assert head.version == ABSENT


def test_a_page_of_many_versions_gives_back_each(pages: PostgresPages, history: PostgresHistory) -> None:
    base = "".join(f"line {number}\n" for number in range(100))
    pages.write("memory/a.md", base)
    for number in range(120):
        pages.append("memory/a.md", f"more {number}\n")
    every = history.changes("memory/a.md")
    assert len(every) == 121
    for number in (0, 1, 50, 51, 52, 119, 120):
        expected = base + "".join(f"more {each}\n" for each in range(number))
        assert history.read_version("memory/a.md", every[number].version) == expected.encode()
    assert history.size() < 121 * 600


def test_a_change_is_taken_back_and_what_others_wrote_since_stays(
    pages: PostgresPages, history: PostgresHistory, home: Home
) -> None:
    pages.write("memory/a.md", "top\n\nmiddle\n\nend\n")
    pages.edit("memory/a.md", lambda old: old.replace("middle", "changed"))
    pages.edit("memory/a.md", lambda old: old + "more\n")
    changed = history.changes("memory/a.md")[1]
    assert [done.problem for done in undo(home, [changed])] == [""]
    assert pages.read("memory/a.md").text == "top\n\nmiddle\n\nend\nmore\n"
    assert len(history.changes("memory/a.md")) == 4


def test_a_removal_is_taken_back(pages: PostgresPages, history: PostgresHistory, home: Home) -> None:
    pages.write("memory/a.md", "one")
    pages.remove("memory/a.md")
    undo(home, history.changes("memory/a.md")[-1:])
    assert pages.read("memory/a.md").text == "one"


def test_a_page_is_what_it_was_at_a_time(
    pages: PostgresPages, history: PostgresHistory, home: Home, clock: FrozenClock
) -> None:
    before = format_timestamp(clock())
    clock.advance(minutes=1)
    pages.write("memory/a.md", "one")
    then = format_timestamp(clock())
    clock.advance(minutes=1)
    pages.write("memory/a.md", "two")
    assert read_as_of(history, "memory/a.md", before) is None
    assert read_as_of(history, "memory/a.md", then) == b"one"
    assert restore(home, "memory/a.md", then)
    assert pages.read("memory/a.md").text == "one"
    assert not restore(home, "memory/a.md", then)
    with pytest.raises(NotFound):
        read_as_of(history, "memory/unknown.md", then)


def test_a_whole_page_is_written_over_what_others_changed_and_both_are_in_it(
    pages: PostgresPages, database: Database, history: PostgresHistory
) -> None:
    other = PostgresPages(database, lambda path, size: None, history)
    base = "top\n\nmiddle\n\nend\n"
    pages.write("memory/a.md", base)
    other.edit("memory/a.md", lambda old: old.replace("top", "their top"))
    with write_as(Author("reflect")):
        pages.rewrite("memory/a.md", lambda old: merge_rewrites(base, old, base.replace("end", "my end")).text)
    assert pages.read("memory/a.md").text == "their top\n\nmiddle\n\nmy end\n"


def test_overwriting_an_unseen_change_is_reported(
    pages: PostgresPages, database: Database, history: PostgresHistory
) -> None:
    other = PostgresPages(database, lambda path, size: None, history)
    pages.write("memory/a.md", "one\n")
    other.write("memory/a.md", "theirs\n")
    with write_as(Author("reflect")) as call:
        pages.write("memory/a.md", "mine\n")
    assert len(call.conflicts) == 1
    assert "some of that is not in it any more" in call.conflicts[0]


def test_an_id_that_fits_several_or_none_is_reported(pages: PostgresPages, history: PostgresHistory) -> None:
    for number in range(3):
        pages.append("memory/a.md", f"{number}\n")
    with pytest.raises(NotFound, match="beginning of 3 changes"):
        history.change("")
    for name in ("zzz", "%", "g~"):
        with pytest.raises(NotFound, match="there is no change"):
            history.change(name)


def test_old_history_goes_and_the_last_version_of_a_page_stays(
    pages: PostgresPages, history: PostgresHistory, clock: FrozenClock
) -> None:
    pages.write("memory/a.md", "one\n")
    pages.append("memory/a.md", "two\n")
    pages.write("memory/gone.md", "x\n")
    pages.remove("memory/gone.md")
    clock.advance(days=30)
    pages.write("memory/b.md", "young\n")
    assert history.prune(Retention(days=7)) == 3
    assert texts(history, "memory/a.md") == ["one\ntwo\n"]
    assert history.paths() == ["memory/a.md", "memory/b.md"]
    pages.append("memory/a.md", "three\n")
    assert texts(history, "memory/a.md") == ["one\ntwo\n", "one\ntwo\nthree\n"]
    assert history.prune(Retention(days=7)) == 1
    assert history.prune(Retention(days=7)) == 0


def test_history_of_more_than_so_many_bytes_keeps_the_youngest(
    pages: PostgresPages, history: PostgresHistory, clock: FrozenClock
) -> None:
    for number in range(20):
        clock.advance(seconds=1)
        pages.write(f"{number}.md", os.urandom(2_000).hex())
        pages.write(f"{number}.md", "short\n")
    history.prune(Retention(size=20_000))
    assert history.size() <= 20_000 + 20 * 500
    assert len(texts(history, "19.md")) == 2
    assert texts(history, "0.md") == ["short\n"]


def test_history_stays_within_its_size_by_itself(database: Database, clock: FrozenClock) -> None:
    history = PostgresHistory(database, clock, Retention(size=100_000))
    pages = PostgresPages(database, lambda path, size: None, history)
    with database.transaction() as connection:  # almost where it looks again
        connection.execute("INSERT INTO commonplace.tenants (tenant, seq) VALUES ('acme', 1960)")
    for number in range(39):
        clock.advance(seconds=1)
        pages.write("memory/a.md", os.urandom(5_000).hex() + str(number))
    assert history.size() > 200_000
    clock.advance(seconds=1)
    pages.write("memory/a.md", "the last\n")
    assert history.size() <= 100_000
    assert texts(history, "memory/a.md")[-1] == "the last\n"


def test_what_is_forgotten_leaves_no_row_and_not_even_its_name(
    pages: PostgresPages, history: PostgresHistory, database: Database
) -> None:
    pages.write("memory/a.md", "stays\n")
    before = pages.changed_since(0).seq
    pages.write("memory/my-secret.md", "x\n")
    pages.remove("memory/my-secret.md")
    assert pages.changed_since(before).removed == ["memory/my-secret.md"]
    history.rewrite(lambda path, versions: [] if "secret" in path else versions)
    with database.transaction() as connection:
        for table in ("pages", "history"):
            assert connection.execute(f"SELECT DISTINCT path FROM commonplace.{table}".encode()).fetchall() == [
                ("memory/a.md",)
            ]
    with pytest.raises(NotFound, match="compare all pages instead"):  # it may have been among what is asked for
        pages.changed_since(before)
    now = pages.changed_since(before + 2).seq
    pages.append("memory/a.md", "more\n")
    assert pages.changed_since(now) == (now + 1, ["memory/a.md"], [])


def test_whoever_forgets_one_page_does_not_wait_for_whoever_writes_another(
    database: Database, pages: PostgresPages, history: PostgresHistory
) -> None:
    for path in ("memory/a.md", "memory/b.md", "memory/b.md", "memory/c.md"):
        pages.append(path, "x")
    assert dict(history.iterate_pages()) == {path: history.versions(path) for path in history.paths()}
    with database.lock_transaction() as another:
        another.execute("SELECT 1 FROM commonplace.pages WHERE path = 'memory/c.md' FOR UPDATE").fetchone()
        another.execute("SELECT 1").fetchone()
        assert history.rewrite(lambda path, versions: versions[-1:] if path == "memory/b.md" else versions) == 1
    assert texts(history, "memory/b.md") == ["xx"]


def test_a_version_that_comes_while_others_are_chosen_is_chosen_too(
    pages: PostgresPages, history: PostgresHistory
) -> None:
    pages.write("memory/a.md", "one")
    pages.write("memory/a.md", "two")
    looks: list[int] = []

    def choose(_path: str, versions: Versions) -> Versions:
        looks.append(len(versions))
        if len(looks) == 1:
            pages.write("memory/a.md", "three")
        return versions[-1:]

    assert history.rewrite(choose) == 2
    assert looks == [2, 3]
    assert texts(history, "memory/a.md") == ["three"]


def test_what_is_kept_of_some_versions_is_still_made_out(pages: PostgresPages, history: PostgresHistory) -> None:
    for number in range(10):
        pages.append("memory/a.md", f"line {number} of a page that is long enough to be kept as differences\n")
    before = texts(history, "memory/a.md")
    assert history.rewrite(lambda path, versions: versions[::2]) == 5
    assert texts(history, "memory/a.md") == before[::2]
    pages.append("memory/a.md", "more\n")
    assert texts(history, "memory/a.md")[-1] == pages.read("memory/a.md").text


def test_a_change_beside_a_write_is_kept_too(pages: PostgresPages, history: PostgresHistory) -> None:
    pages.write("memory/a.md", "one\n")
    history.record_change("memory/a.md", b"one\n", b"two\n", Author("doctor"))
    history.record_change("memory/a.md", b"two\n", b"one\n", Author("doctor"))
    assert texts(history, "memory/a.md") == ["one\n", "two\n", "one\n"]
    assert history.record_outside_edit("memory/a.md", b"anything") is None


def test_a_reason_of_any_letters_is_kept(pages: PostgresPages, history: PostgresHistory) -> None:
    with write_as(Author("remember", why="a\0b \ud800 日本")):
        pages.write("memory/a.md", "one\n")
    assert history.changes()[0].why == "a\ufffdb ? 日本"


def test_a_change_that_cannot_be_undone_is_reported(pages: PostgresPages, history: PostgresHistory, home: Home) -> None:
    pages.write("memory/a.md", "one\n")
    pages.write("memory/a.md", "two\n")
    pages.write("memory/a.md", "three\n")
    (done,) = undo(home, history.changes("memory/a.md")[1:2])
    assert "in the same place" in done.problem
    assert issubclass(Conflict, Exception)
