"""Earlier versions of pages that are rows: who, when, what; back to any of them; nothing left when it is forgotten."""

from __future__ import annotations

import os

import pytest

from commonplace.errors import NotFound
from commonplace.storage.base import HistoryStore, Retention
from commonplace.storage.history import Author, Versions, write_as
from commonplace.storage.merge import merge_rewrites
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.history import PostgresHistory
from commonplace.storage.postgres.pages import PostgresPages
from commonplace.testing import FrozenClock

pytestmark = pytest.mark.slow


def texts(history: HistoryStore, path: str) -> list[str | None]:
    return [None if data is None else data.decode() for _, data in history.versions(path)]


def test_appending_to_a_page_costs_history_only_what_was_added(pages: PostgresPages, history: PostgresHistory) -> None:
    pages.write("memory/a.md", os.urandom(10_000).hex())
    before = history.size()
    for number in range(60):
        pages.append("memory/a.md", f"line {number}\n")
    assert history.size() - before < 60 * 600


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
    assert "some of those changes are no longer in it" in call.conflicts[0]


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
