"""What a model is asked at the start of a session, and whether its context can answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from .household import HOUSEHOLD
from .memories import STORIES
from .questions import ask_all


def test_there_are_sixty_questions() -> None:
    assert [len(story.questions) for story in STORIES] == [20, 20, 20]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the memories are, which the first test builds."""
    return tmp_path_factory.mktemp("stories")


@pytest.mark.parametrize(
    ("budget", "with_query", "least"), [(2000, True, 54), (700, True, 40), (2000, False, 54), (700, False, 40)]
)
def test_the_context_holds_what_answers_them(folder: Path, budget: int, with_query: bool, least: int) -> None:
    answers = ask_all(folder, budget, with_query=with_query)
    assert all(tokens <= budget for answered in answers for tokens in answered.tokens)
    assert sum(len(answered.found) for answered in answers) >= least, [answered.missed for answered in answers]


@pytest.mark.parametrize(("budget", "with_query", "least"), [(2000, False, 18), (700, True, 16), (700, False, 14)])
def test_so_does_the_context_of_a_memory_of_another_kind(
    folder: Path, budget: int, with_query: bool, least: int
) -> None:
    (answered,) = ask_all(folder, budget, with_query=with_query, stories=[HOUSEHOLD])
    assert len(answered.found) >= least, answered.missed
