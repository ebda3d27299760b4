"""Builds the memories of `memories.py` and counts the questions whose evidence is in the context."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from commonplace import Memory
from commonplace.testing import FrozenClock

from .memories import STORIES, Question, Story


class Answered(NamedTuple):
    """Which questions the contexts of one budget could answer, and how many tokens they took."""

    found: list[Question]
    missed: list[Question]
    tokens: list[int]


def build(story: Story, folder: Path) -> Memory:
    """A memory in which a story was written down, as of the day it is asked."""
    clock = FrozenClock()
    memory = Memory(folder, clock=clock)
    for path, text in story.pages.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    for at, tool, arguments in sorted(story.calls, key=lambda call: call[0]):
        clock.now = datetime.fromisoformat(at).replace(tzinfo=UTC)
        outcome = memory.attempt(tool, arguments)
        assert not outcome.error, (tool, arguments, outcome.error)
    clock.now = datetime.fromisoformat(story.now).replace(tzinfo=UTC)
    return memory


def ask(memory: Memory, story: Story, budget: int, *, with_query: bool) -> Answered:
    """Ask all questions of a story: each as the query of a context of its own, or of one context without a query."""
    answered = Answered([], [], [])
    plain = memory.context(user=story.user, channel=story.channel, budget=budget)
    for question in story.questions:
        context = plain
        if with_query:
            context = memory.context(user=story.user, channel=story.channel, budget=budget, query=question.text)
        answered.tokens.append(context.receipt["tokens"])
        (answered.found if question.evidence in context.text else answered.missed).append(question)
    return answered


def ask_all(
    folder: Path, budget: int, *, with_query: bool, stories: Sequence[Story] = tuple(STORIES)
) -> list[Answered]:
    """Ask every story; its memory is built in the folder at the first time."""
    answers: list[Answered] = []
    for story in stories:
        home = folder / story.user
        with build(story, home) if not home.exists() else _open(story, home) as memory:
            answers.append(ask(memory, story, budget, with_query=with_query))
    return answers


def _open(story: Story, home: Path) -> Memory:
    return Memory(home, clock=FrozenClock(datetime.fromisoformat(story.now).replace(tzinfo=UTC)))
