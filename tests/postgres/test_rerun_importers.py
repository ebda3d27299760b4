"""The tests of imports from other systems, run again into a memory in PostgreSQL."""

from __future__ import annotations

import pytest

from .rerun import NEEDS_FILES, all_names, collect_tests

pytestmark = pytest.mark.slow
MODULES = tuple(
    f"importers.test_{name}"
    for name in ("engine", "chat_exports", "databases", "homes", "source", "knowledge_graph", "mem0", "importers")
)
HALF = "an import into a database is not done by half"
IMPORT_LOG = "the import log is rows, not a file"
LEFT_OUT = {
    "test_an_import_that_was_killed_goes_on_where_it_was_and_is_undone_as_one": HALF,
    "test_an_import_killed_at_any_moment_is_completed_by_the_next": HALF,
    "test_the_import_log_is_not_written_through_a_link": NEEDS_FILES,
    "test_a_source_inside_of_the_home_is_read_like_any_other": NEEDS_FILES,
    "test_a_vault_keeps_its_bytes_its_places_and_its_times": "a database keeps times to the microsecond",
    "test_a_folder_that_is_a_link_is_not_written_through": NEEDS_FILES,
    "test_without_the_import_log_nothing_is_lost_and_nothing_overwritten": IMPORT_LOG,
    "test_the_import_log_says_nothing_of_what_was_imported": IMPORT_LOG,
    "test_a_torn_line_of_the_import_log_spoils_no_other": IMPORT_LOG,
}
globals().update(collect_tests(MODULES, {"home"}, LEFT_OUT))


def test_what_is_left_out_is_a_test_of_a_folder() -> None:
    """A reason does not outlive its test."""
    assert LEFT_OUT.keys() <= all_names(MODULES)
