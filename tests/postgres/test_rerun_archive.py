"""The tests of archives, run again on a memory in PostgreSQL."""

from __future__ import annotations

import pytest

from .rerun import NEEDS_FILES, all_names, collect_tests

pytestmark = pytest.mark.slow
MODULES = ("maintenance.test_round_trip", "maintenance.test_bad_archives")
ON_A_HOME = {"home", "memory"}
NANOSECONDS = "a database keeps times to the microsecond"
HALF = "an import into a database is not done by half"
LEFT_OUT = {
    "test_links_and_odd_files_are_named_and_left_out": NEEDS_FILES,
    "test_a_folder_that_is_a_link_is_not_followed": NEEDS_FILES,
    "test_a_link_in_the_home_is_not_written_through": NEEDS_FILES,
    "test_rights_beyond_reading_and_writing_are_not_given": NEEDS_FILES,
    "test_a_backup_among_the_pages_is_refused": NEEDS_FILES,
    "test_a_page_that_cannot_be_read_is_not_left_out_silently": NEEDS_FILES,
    "test_the_lines_shown_in_the_docs_are_an_archive": NANOSECONDS,
    "test_an_import_that_was_interrupted_is_run_again": HALF,
}
globals().update(collect_tests(MODULES, ON_A_HOME, LEFT_OUT))


def test_what_is_left_out_is_a_test_of_a_folder() -> None:
    """A reason does not outlive its test."""
    assert LEFT_OUT.keys() <= all_names(MODULES)
