"""As a budget grows step by step: it is never passed, it is used, and what must stand stands at every step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock

from .household import HOUSEHOLD
from .memories import STORIES, Story
from .questions import build

ALL_STORIES = [*STORIES, HOUSEHOLD]
STEP_TOKENS = 60
BUDGETS = range(260, 5001, STEP_TOKENS)
# Every step where budgets are small and much is left out; of the others, some pairs a step apart.
SOME_BUDGETS = [*BUDGETS[:20], *(budget for at in range(24, len(BUDGETS), 10) for budget in BUDGETS[at : at + 2])]
STEPS = pytest.mark.parametrize(
    "budgets",
    [pytest.param(SOME_BUDGETS, id="some"), pytest.param(BUDGETS, id="all", marks=pytest.mark.thorough)],
)
MOST_LOST_TOKENS = 100  # of a section, as the budget grows by one step: others had a longer entry to show
# What each user is called, a preference, and something that is still to be done.
FLOORS = {
    "mira": ("Mira Holt", "Short answers, code first", "CSV export loses the time zone"),
    "tomasz": ("tomasz", "Do not use @everyone", "remind"),
    "prof. adeyemi": ("Prof. Folake Adeyemi", "Colour-blind safe", "The permit must be filed by Friday"),
    "lena": ("Lena Brandt", "No meat on weekdays", "Register Ida for the swimming course"),
}


@STEPS
@pytest.mark.parametrize("story", ALL_STORIES, ids=lambda story: str(story.user))
def test_a_growing_budget_is_used_and_never_passed(tmp_path: Path, story: Story, budgets: Sequence[int]) -> None:
    name, preference, task = FLOORS[story.user]
    with build(story, tmp_path / "home") as memory:
        most = memory.context(user=story.user, channel=story.channel, budget=BUDGETS[-1]).receipt["tokens"]
        before: dict[int, dict[str, int]] = {}
        for budget in budgets:
            made = memory.context(user=story.user, channel=story.channel, budget=budget)
            tokens = made.receipt["tokens"]
            assert tokens <= budget
            assert tokens >= 0.9 * min(budget, most)
            sections = {section["title"]: section["tokens"] for section in made.receipt["sections"]}
            smaller = before.get(budget - STEP_TOKENS, {})
            assert all(sections[title] >= shown - MOST_LOST_TOKENS for title, shown in smaller.items()), budget
            before[budget] = sections
            assert name in made.text
            assert "secrets need explicit permission" in made.text
            assert story.channel is None or f"Current channel: {story.channel}" in made.text
            assert budget < 400 or preference in made.text
            assert budget < 700 or task in made.text


@STEPS
@pytest.mark.parametrize(("channels", "records"), [(30, 8), (6, 40), (120, 2)])
def test_many_channels_are_named_with_as_many_words_as_there_is_room_for(
    memory: Memory, channels: int, records: int, budgets: Sequence[int]
) -> None:
    for channel in range(channels):
        for record in range(records):
            arguments = {"op": "setChannel", "channelName": f"channel-{channel}", "key": f"setting_{record}"}
            assert memory.call("MemoryTool", {**arguments, "value": record})["success"]
    most = memory.context(budget=BUDGETS[-1]).receipt["tokens"]
    for budget in budgets[4:]:
        assert memory.context(budget=budget).receipt["tokens"] >= 0.9 * min(budget, most)


def test_long_keys_lose_their_ends_before_others_go_unnamed(memory: Memory) -> None:
    for number in range(40):
        key = f"key {number} {'of a long name ' * 22}"[:320]
        assert memory.call("MemoryTool", {"op": "setGlobal", "key": key, "value": 1})["success"]
    most = memory.context(budget=BUDGETS[-1]).receipt["tokens"]
    for budget in BUDGETS[2:]:
        assert memory.context(budget=budget).receipt["tokens"] >= 0.9 * min(budget, most)
    at_800 = memory.context(budget=800).text
    assert all(f"key {number} of a long name" in at_800 for number in range(40))


def test_a_preference_for_which_there_is_room_is_never_cut(memory: Memory) -> None:
    for key, category, value in (
        ("name", "user_info", "Nora Lindqvist"),
        ("role", "user_info", "backend developer, two small kids, works 8 to 15"),
        ("answers", "preferences", "short; code first, no explanation unless asked"),
        ("language", "preferences", "English in code and commits, German in chat"),
    ):
        memory.call("MemoryTool", {"op": "setGlobal", "key": key, "value": value, "category": category})
    memory.call("reflect", {"content": "\n".join(f"- Lesson {number} of the shop." for number in range(30))})
    memory.call("write_session_handoff", {"content": "Search: branch feat/pg-search, migration 0117 written, not run."})
    memory.call("scratch_note", {"mode": "replace", "content": "- [ ] release with goreleaser"})
    for number in range(20):
        memory.call("remember", {"content": f"Entry {number} is about unaccent on production."})
    memory.call("write_memory", {"key": "shop refund rounding", "content": "Per line, half up, as agreed on 3 March."})
    memory.call("update_world", {"topic": "shop", "content": "Some facts here. " * 20})
    for budget in range(400, 800, 10):
        sections = memory.context(user="nora", channel="ship", budget=budget).receipt["sections"]
        assert [section["cut"] for section in sections if section["title"] == "Memory Context"] == [[]], budget


def test_no_budget_shows_a_fact_without_the_one_that_replaced_it(memory: Memory, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "The release date is 12 October."})
    for number in range(20):
        clock.advance(hours=9)
        memory.call("remember", {"content": f"Parcel {number} went to harbour {number % 7}, and nobody was told."})
    memory.call("remember", {"content": "The release date is 26 October."})
    for budget in BUDGETS:
        text = memory.context(budget=budget).text
        assert "12 October" not in text or "26 October" in text
