"""The tests of the doctor, run again on a memory in PostgreSQL; and what only a database can have."""

from __future__ import annotations

import importlib

import pytest

from commonplace import Memory
from commonplace.maintenance.doctor import examine
from commonplace.storage.postgres.migrate import known_migrations
from commonplace.testing import FrozenClock

from ..test_bad_input import fill
from .conftest import admin
from .database_path import DatabasePath
from .rerun import NEEDS_FILES, all_names, collect_tests

pytestmark = pytest.mark.slow
MODULES = ("maintenance.test_doctor",)
CHECKED = "what only files can have is among what it finds"
LEFT_OUT = {
    "test_a_home_that_is_not_there_is_reported_and_not_made": NEEDS_FILES,
    "test_a_page_that_is_not_utf_8_or_no_file_is_reported": NEEDS_FILES,
    "test_an_index_that_is_missing_or_behind_is_reported_and_caught_up": NEEDS_FILES,
    "test_dates_in_the_future_are_reported": NEEDS_FILES,
    "test_in_a_folder_of_code_only_the_memory_is_looked_at": CHECKED,
    "test_in_folders_that_extra_paths_name_only_what_they_name_is_looked_at": CHECKED,
    "test_every_check_finds_something_and_changes_nothing_unless_it_is_asked_to": CHECKED,
    "test_what_is_mended_stays_so_and_the_rest_needs_a_person": CHECKED,
    "test_a_page_that_the_disk_refuses_is_reported": NEEDS_FILES,
    "test_a_file_where_history_should_be_is_reported": NEEDS_FILES,
    "test_what_a_rewriting_of_history_left_is_removed_if_history_is_whole": NEEDS_FILES,
    "test_files_open_to_others_are_reported_once_a_folder_and_closed": NEEDS_FILES,
    "test_below_a_closed_folder_nothing_is_open": NEEDS_FILES,
    "test_links_are_reported_wherever_they_lead": NEEDS_FILES,
    "test_an_index_that_says_something_else_and_does_not_know_it_is_rebuilt": NEEDS_FILES,
    "test_a_damaged_index_is_reported_and_rebuilt": NEEDS_FILES,
    "test_an_index_of_another_version_is_removed_when_nobody_uses_it": NEEDS_FILES,
    "test_a_file_time_that_no_calendar_knows_stops_nothing": NEEDS_FILES,
    "test_a_name_that_is_no_text_is_reported": NEEDS_FILES,
    "test_nothing_is_mended_that_history_could_not_give_back": NEEDS_FILES,
    "test_a_temporary_file_that_holds_what_is_kept_elsewhere_is_removed": NEEDS_FILES,
    "test_what_only_a_temporary_file_holds_is_put_into_history_before_it_goes": NEEDS_FILES,
    "test_a_temporary_file_of_something_else_is_left_to_a_person": NEEDS_FILES,
    "test_a_temporary_file_of_a_write_that_may_be_under_way_is_left_alone": NEEDS_FILES,
    "test_a_temporary_file_stays_when_history_cannot_take_it": NEEDS_FILES,
}
globals().update(collect_tests(MODULES, {"home", "sick"}, LEFT_OUT))


def test_what_is_left_out_is_a_test_of_a_folder() -> None:
    """A reason does not outlive its test."""
    assert LEFT_OUT.keys() <= all_names(MODULES)


def test_what_is_wrong_with_pages_is_found_and_mended_as_in_a_folder(home: DatabasePath, clock: FrozenClock) -> None:
    with Memory(home, clock=clock) as memory:
        fill(memory)
    doctors = importlib.import_module("tests.maintenance.test_doctor")
    doctors.put(home, "memory/latin.md", b"caf\xe9")
    doctors.put(home, "memory/Case.md", "one")
    doctors.put(home, "memory/case.md", "two")
    doctors.put(home, "memory/secret.md", "token ghp_" + "a1B2c3D4e5" * 4)
    doctors.put(home, "README.md", "hello")
    doctors.put(home, "memory/large.md", "tea\n" * 20_000)
    doctors.put(home, "agents/other/agent.yaml", "spec:\n  memory:\n    backend: tape\n")
    doctors.put(home, f"{doctors.DAYS}/2026-03-13.md", doctors.note("k", "another", "2026-03-13T00:00:00Z"))
    doctors.put(home, f"{doctors.DAYS}/2026-03-12.md", doctors.note("k", "v", "2026-03-12T00:00:00Z"))
    doctors.put(home, f"{doctors.DAYS}/2027-01-01.md", "# 2027-01-01\n")
    report = examine(str(home), clock=clock)
    assert [(each.check, each.path) for each in report.findings] == [
        ("settings", "agents/other/agent.yaml"),
        ("unreadable", "memory/latin.md"),
        ("duplicate-notes", f"{doctors.DAYS}/2026-03-12.md"),
        ("duplicate-notes", f"{doctors.DAYS}/2026-03-13.md"),
        ("secrets", "memory/secret.md"),
        ("future", f"{doctors.DAYS}/2027-01-01.md"),
        ("oversize", "memory/large.md"),
        ("unread", "README.md"),
        ("names", "memory/case.md"),
    ]
    assert report.checked["agents"] == 2
    mended = [each for each in examine(str(home), clock=clock, fix=True).findings if each.fixed]
    assert [(each.check, each.path) for each in mended] == [
        ("unreadable", "memory/latin.md"),
        ("duplicate-notes", f"{doctors.DAYS}/2026-03-12.md"),
    ]
    assert "commonplace undo" in mended[1].advice


def test_a_missing_index_is_reported_and_made(home: DatabasePath, clock: FrozenClock) -> None:
    (home / "memory/fruit.md").write_text("papaya")
    (finding,) = examine(str(home), clock=clock).findings
    assert (finding.check, finding.what) == ("index", "there is no index")
    (mended,) = examine(str(home), clock=clock, fix=True).findings
    assert mended.fixed
    (home / "memory/tea.md").write_text("green")  # the next search finds it: no harm
    assert examine(str(home), clock=clock).findings == ()


def test_an_index_that_says_something_else_than_the_pages_is_rebuilt(home: DatabasePath, clock: FrozenClock) -> None:
    with Memory(home, clock=clock) as memory:
        fill(memory)
        memory.search("v")
    assert examine(str(home), clock=clock).findings == ()
    with home._pages._database.transaction() as connection:
        connection.execute("UPDATE commonplace.index_pages SET version = 'other' WHERE path LIKE 'memory/world/%'")
    (finding,) = examine(str(home), clock=clock).findings
    assert "differs from 1 page" in finding.what
    (mended,) = examine(str(home), clock=clock, fix=True).findings
    assert mended.fixed
    assert mended.advice == "rebuilt from the pages"
    assert examine(str(home), clock=clock).findings == ()


def test_tables_of_another_version_are_reported_before_anything_else(url: str) -> None:
    last = known_migrations()[-1]
    admin(url, f"DELETE FROM commonplace.migrations WHERE number = {last.number}")
    (finding,) = examine(url).findings
    assert finding.check == "tables"
    assert str(last) in finding.what
    assert "commonplace db migrate" in finding.advice
    admin(url, "INSERT INTO commonplace.migrations (number, name) VALUES (9000, 'later')")
    (finding,) = examine(url, fix=True).findings
    assert "a newer commonplace" in finding.what
    assert not finding.fixed
