"""Numbers, lists and commands in messages."""

from __future__ import annotations

import shlex

from commonplace.wording import count_words, format_command, list_some


def test_a_number_comes_with_what_it_counts() -> None:
    assert [count_words(number, "page") for number in (0, 1, 2)] == ["0 pages", "1 page", "2 pages"]


def test_a_long_list_says_how_many_more_there_are() -> None:
    assert list_some(["a", "b"], 2) == "a, b"
    assert list_some(["a", "b", "c", "d"], 2) == "a, b and 2 more"


def test_a_command_with_the_name_of_a_file_runs_nothing_else() -> None:
    assert format_command("diff", "memory/plan.md") == "commonplace diff memory/plan.md"
    name = "a'$(touch x)`id`; b.md"
    assert shlex.split(format_command("show", name)) == ["commonplace", "show", name]
    assert format_command("show", name) == """commonplace show 'a'"'"'$(touch x)`id`; b.md'"""
