"""The tests of tools, context and search, run again on a memory in PostgreSQL: it cannot be told from one in a folder."""

from __future__ import annotations

import pytest

from .rerun import NEEDS_FILES, all_names, collect_tests

pytestmark = pytest.mark.slow
MODULES = (
    "tools.test_notes", "tools.test_working", "tools.test_journal", "tools.test_rewriting", "tools.test_retrieval", "tools.test_registry",
    "tools.test_catalog", "tools.test_define", "test_writing", "tools.test_model",
    "tools.test_strict_schemas", "context.test_context", "search.test_filters", "search.test_dense",
    "search.test_rerank_cross_encoder", "search.test_bm25", "search.test_dates", "framing.test_version_marks", "maintenance.test_timeline",
)  # fmt: skip
ON_A_HOME = {"home", "home_handle", "memory", "full", "whole", "sample", "replies", "tmp_path_factory", "address"}
A_SERVER = "asks for a `server` of embeddings, a name that stands for PostgreSQL here"
WEIGHTS = "needs weights of a model that are made beside it"
NULL = "the index in PostgreSQL takes no null character in a filter"
OUTSIDE = "no program writes a row but this one: there is no author `outside`, and none renames a page"
UNREAD = "a page that is not text is only read, and told of, where it holds what is looked for"
LEFT_OUT = {
    "test_a_note_stays_written_when_the_log_cannot_be": NEEDS_FILES,
    "test_an_edit_of_the_same_size_and_time_is_seen": NEEDS_FILES,
    "test_a_deleted_or_damaged_index_is_rebuilt_from_the_pages": NEEDS_FILES,
    "test_an_index_that_cannot_be_kept_on_disk_is_kept_in_memory": NEEDS_FILES,
    "test_only_what_search_may_return_can_be_read": NEEDS_FILES,
    "test_folders_that_are_links_are_named_where_they_would_be_read": NEEDS_FILES,
    "test_others_write_while_a_question_waits_for_a_slow_server": A_SERVER,
    "test_a_server_that_fails_at_the_question_leaves_it_to_words": A_SERVER,
    "test_a_search_does_not_wait_for_a_failing_server_as_long_as_indexing_would": A_SERVER,
    "test_with_its_weights_the_answer_is_read_to_the_top": WEIGHTS,
    "test_what_is_not_read_again_never_comes_before_what_is": WEIGHTS,
    "test_weights_that_are_not_what_they_should_be_are_refused_by_name": WEIGHTS,
    "test_no_filter_shows_more_than_there_is_without_it": NULL,
    "test_a_search_may_keep_to_one_author": OUTSIDE,
    "test_every_line_names_who_wrote_it_an_agent_an_import_a_person_or_another_program": OUTSIDE,
    "test_a_page_that_is_renamed_by_hand_keeps_its_authors_and_is_renamed_back_as_one": OUTSIDE,
    "test_a_change_is_undone_where_the_page_is_after_it_was_renamed_by_hand": OUTSIDE,
    "test_lines_that_did_not_change_keep_their_authors_though_the_page_was_renamed_and_edited": OUTSIDE,
    "test_a_rename_that_may_be_of_either_of_two_pages_is_none": OUTSIDE,
    "test_a_new_page_with_few_of_the_lines_of_one_that_is_gone_is_no_rename": OUTSIDE,
    "test_a_copy_by_hand_is_no_rename": OUTSIDE,
    "test_one_unreadable_page_is_named_and_disables_no_other": UNREAD,
}
globals().update(collect_tests(MODULES, ON_A_HOME, LEFT_OUT))


def test_what_is_left_out_is_a_test_of_a_folder() -> None:
    """A reason does not outlive its test."""
    assert LEFT_OUT.keys() <= all_names(MODULES)
