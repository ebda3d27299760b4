"""Notifications of changed pages: numbered feeds that clients resume, and watchers that last as long as a listener."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.index.watcher import PageChanges
from commonplace.server import notifications
from commonplace.server.notifications import ChangeFeed, ChangeFeeds, HomeWatchers

TIMEOUT_SECONDS = 20.0


def test_a_feed_numbers_changes_and_resumes_after_any_that_it_remembers() -> None:
    feed = ChangeFeed()
    feed.add(PageChanges(("a.md", "b.md"), ("c.md",)))
    assert [tuple(change) for change in feed.read_after(1)] == [(2, "b.md", "changed"), (3, "c.md", "removed")]
    assert feed.reaches(0)
    assert list(feed.read_after(3)) == []


def test_a_feed_knows_what_it_has_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "FEED_CHANGES", 2)
    feed = ChangeFeed()
    feed.add(PageChanges(("a.md", "b.md", "c.md"), ()))
    assert not feed.reaches(0)
    assert feed.reaches(1)


def test_a_feed_that_may_have_missed_changes_begins_a_new_run() -> None:
    feed = ChangeFeed()
    feed.add(PageChanges(("a.md",), ()))
    before = feed.run
    feed.restart()
    assert feed.run != before
    assert not feed.reaches(0)
    assert feed.reaches(1)


@pytest.mark.asyncio
async def test_a_reader_wakes_for_a_change_and_for_the_end() -> None:
    feed = ChangeFeed()
    for wake in (lambda: feed.add(PageChanges(("a.md",), ())), feed.close):
        waiting = asyncio.create_task(feed.wait(TIMEOUT_SECONDS))
        await asyncio.sleep(0)
        wake()
        await asyncio.wait_for(waiting, TIMEOUT_SECONDS / 2)
    assert feed.is_closed


@pytest.mark.asyncio
async def test_a_change_in_a_watched_home_reaches_its_feed(memory: Memory, home: Path) -> None:
    watchers = HomeWatchers()
    feeds = ChangeFeeds(watchers)
    feed = await feeds.start(memory)
    assert not watchers.watch(memory), "it is watched already"
    (home / "memory").mkdir(parents=True, exist_ok=True)
    (home / "memory/new.md").write_text("new\n")
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not list(feed.read_after(0)):
            await feed.wait(TIMEOUT_SECONDS)
    assert {change.path for change in feed.read_after(0)} == {"memory/new.md"}
    watchers.close()
    assert feed.is_closed


def test_no_agent_hears_of_what_it_may_not_see(home: Path) -> None:
    page = "agents/bob/memory/daily/2026-03-14.md"
    assert Memory(home, "bob").home.visibility.may_see_page(page)
    assert not Memory(home, "ann").home.visibility.may_see_page(page)
    assert not Memory(home, "bob").home.visibility.may_see_page("outside.txt")
