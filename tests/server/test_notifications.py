"""Notifications of changed pages: numbered feeds that clients resume, and watchers that last as long as a listener."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.index.watcher import PageChanges
from commonplace.server import notifications
from commonplace.server.notifications import ChangeFeed, ChangeFeeds, HomeWatchers

from ..waiting import LONG_SECONDS


def test_a_feed_numbers_changes_and_resumes_after_any_that_it_remembers(memory: Memory) -> None:
    feed = ChangeFeed(memory)
    feed.add(PageChanges(("memory/a.md", "memory/b.md"), ("memory/c.md",)))
    assert [tuple(change) for change in feed.read_after(1)] == [
        (2, "memory/b.md", "changed"),
        (3, "memory/c.md", "removed"),
    ]
    assert feed.reaches(0)
    assert list(feed.read_after(3)) == []


def test_a_feed_knows_what_it_has_forgotten(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "FEED_CHANGES", 2)
    feed = ChangeFeed(memory)
    feed.add(PageChanges(("memory/a.md", "memory/b.md", "memory/c.md"), ()))
    assert not feed.reaches(0)
    assert feed.reaches(1)


def test_a_feed_that_may_have_missed_changes_begins_a_new_run(memory: Memory) -> None:
    feed = ChangeFeed(memory)
    feed.add(PageChanges(("memory/a.md",), ()))
    before = feed.run
    feed.restart()
    assert feed.run != before
    assert not feed.reaches(0)
    assert feed.reaches(1)


@pytest.mark.asyncio
async def test_a_reader_wakes_for_a_change_and_for_the_end(memory: Memory) -> None:
    feed = ChangeFeed(memory)
    for wake in (lambda: feed.add(PageChanges(("memory/a.md",), ())), feed.close):
        task = asyncio.create_task(feed.wait(2 * LONG_SECONDS))
        await asyncio.sleep(0)
        wake()
        await asyncio.wait_for(task, LONG_SECONDS)
    assert feed.is_closed


@pytest.mark.asyncio
async def test_a_change_in_a_watched_home_reaches_its_feed(memory: Memory, home: Path) -> None:
    watchers = HomeWatchers()
    feeds = ChangeFeeds(watchers)
    feed = await feeds.start(memory)
    assert not watchers.watch(memory), "it is watched already"
    (home / "memory").mkdir(parents=True, exist_ok=True)
    (home / "memory/new.md").write_text("new\n")
    async with asyncio.timeout(LONG_SECONDS):
        while not list(feed.read_after(0)):
            await feed.wait(2 * LONG_SECONDS)
    assert {change.path for change in feed.read_after(0)} == {"memory/new.md"}
    watchers.close()
    assert feed.is_closed


@pytest.mark.asyncio
async def test_a_feed_that_nobody_waited_for_begins_a_new_run_once_its_home_is_watched(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "WATCH_START_TIMEOUT_SECONDS", 0)
    watchers = HomeWatchers()
    feed = await ChangeFeeds(watchers).start(memory)
    run = feed.run
    async with asyncio.timeout(LONG_SECONDS):
        while feed.run == run:
            await feed.wait(2 * LONG_SECONDS)
    watchers.close()


@pytest.mark.asyncio
async def test_the_numbers_of_a_feed_do_not_count_what_others_write(
    home: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "FEED_CHANGES", 2)
    watchers = HomeWatchers()
    feeds = ChangeFeeds(watchers)
    mine = await feeds.start(memory)
    theirs = await feeds.start(Memory(home, "bob"))
    assert mine.run != theirs.run
    hidden = tuple(f"agents/bob/memory/daily/2026-03-{day:02}.md" for day in range(1, 10))
    await feeds.notify(memory.home.root, PageChanges(("memory/a.md",), ()), frozenset())
    await feeds.notify(memory.home.root, PageChanges(hidden, ()), frozenset())
    await feeds.notify(memory.home.root, PageChanges(("memory/b.md",), hidden[:1]), frozenset())
    assert [(change.number, change.path) for change in mine.read_after(0)] == [(1, "memory/a.md"), (2, "memory/b.md")]
    assert mine.reaches(0), "what others write pushes nothing out"
    assert theirs.last == 12
    watchers.close()


@pytest.mark.asyncio
async def test_feeds_are_dropped_when_too_many_agents_have_listened(
    home: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "MAX_FEEDS", 1)
    watchers = HomeWatchers()
    feeds = ChangeFeeds(watchers)
    before = await feeds.start(memory)
    await feeds.start(Memory(home, "bob"))
    assert feeds.get(memory).run != before.run, "whoever read it has to read everything again"
    watchers.close()
