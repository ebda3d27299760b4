"""What ann keeps, who asks, and what bob keeps. Nothing that bob keeps may change an answer to ann."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from commonplace import Memory
from commonplace.adapters.anthropic import MemoryTool
from commonplace.adapters.langgraph import CommonplaceStore
from commonplace.maintenance import timeline
from commonplace.testing import FrozenClock

SETTINGS = "memorySearch:\n  indexSessions: true\n"
DAY = "agents/ann/memory/daily/2026-03-14.md"
SESSION = "agents/ann/sessions/talk.jsonl"
WORLD = "memory/world/garden.md"
NOTE = "agents/ann/memory/working/plan.md"
THEIRS = (
    "agents/bob/memory/daily/2026-03-14.md",
    "agents/bob/memory/working/plan.md",
    "agents/bob/memory/loose.md",
    "agents/bob/sessions/talk.jsonl",
    "agents/bob/directives/own.md",
)
EARLIER_DAY = "agents/ann/memory/daily/2026-03-10.md"
LATER_DAY = "agents/ann/memory/daily/2026-03-11.md"
OLD_FACT = "The launch is on 12 November."
NEW_FACT = "The launch is on 26 November."
NOBODYS = ("agents/carl/memory/working/plan.md", "memory/world/nothing.md", "agents/ann/memory/nothing.md")
_OLD = 1_700_000_000  # when leftovers of killed writers were written, in seconds since the epoch


class OwnMemory(NamedTuple):
    """A memory, and the ids of the changes that ann may see, oldest first."""

    home: str
    changes: tuple[str, ...]


def keep_own(home: str, clock: FrozenClock) -> OwnMemory:
    """What ann has, and what is everybody's."""
    with Memory(home, "ann", clock=clock) as memory:
        pages = memory.home.storage.pages
        pages.write("commonplace.yaml", SETTINGS)
        pages.write(EARLIER_DAY, f"# 2026-03-10\n\n## 09:00\n\n{OLD_FACT}\n\n## 09:05\n\nTODO: order the blue tiles.\n")
        memory.call("remember", {"content": "The beds were watered; see [[plan]] and [[garden]]."})
        pages.write(LATER_DAY, f"# 2026-03-11\n\n## 09:00\n\n{NEW_FACT}\n")
        memory.call("reflect", {"content": "Ann owns the garden and the blue kettle.\n"})
        memory.call("memory_write", {"key": "kettle", "content": "the kettle is blue", "tags": ["kitchen"]})
        memory.call("write_memory", {"key": "plan", "content": "buy seeds in March"})
        memory.call("write_session_handoff", {"content": "go on with the seeds"})
        memory.call("scratch_note", {"mode": "replace", "content": "seeds, kettle"})
        memory.call("update_world", {"topic": "garden", "content": "# Garden\n\nThe garden has four beds.\n"})
        for op in (
            {"op": "setGlobal", "key": "editor", "value": "vim", "category": "preferences", "tags": ["tools"]},
            {"op": "setChannel", "channelName": "dev", "key": "plan", "value": "ship", "category": "preferences"},
            {"op": "createSkill", "name": "watering", "description": "waters the beds", "owner": "ulla"},
        ):
            assert memory.call("MemoryTool", op)["success"]
        pages.write(SESSION, json.dumps({"role": "user", "content": "where is the blue kettle?"}) + "\n")
        pages.write("agents/ann/directives/own.md", "Speak of seeds first.\n")
        pages.write("memory/loose.md", "A loose page about seeds and the kettle.\n")
        pages.write("memory/broken.md", "A page\n")
        for number in range(70):
            pages.write(f"agents/ann/memory/bed-{number:02}.md", f"Bed {number} holds plant{number} and water.\n")
        changes = tuple(change.id for change in timeline.list_changes(memory.home))
    store = CommonplaceStore(home, "ann", clock=clock)
    store.put(("things",), "one", {"text": "a rake for the garden"})
    store.close()
    tool = MemoryTool(home, agent="ann", clock=clock)
    tool.call({"command": "create", "path": "/memories/mine.md", "file_text": "the rake"})
    tool.close()
    return OwnMemory(home, changes)


def keep_others(home: str, clock: FrozenClock, time: int) -> None:
    """What bob has: of every kind, under the names and with the words that ann uses, and some of it broken."""
    with Memory(home, "bob", clock=clock) as memory:
        pages = memory.home.storage.pages
        _keep_facts(memory, time)
        memory.call("remember", {"content": f"Bob stole the blue kettle and the seeds, {time}."})
        memory.call("recall", {})
        memory.call("reflect", {"content": f"Bob owns a garden, too, and a kettle, {time}.\n"})
        memory.call("memory_write", {"key": f"kettle{time}", "content": "the kettle is mine", "tags": ["kitchen"]})
        memory.call("write_memory", {"key": "plan", "content": f"sell the seeds {time}"})
        memory.call("write_session_handoff", {"content": f"hide the kettle {time}"})
        memory.call("scratch_note", {"mode": "append", "content": f"kettle {time}"})
        pages.append("agents/bob/sessions/talk.jsonl", json.dumps({"role": "user", "content": f"kettle {time}"}) + "\n")
        pages.write("agents/bob/directives/own.md", f"Speak of kettles first, {time}.\n")
        pages.write("agents/bob/memory/loose.md", f"Where is the blue kettle? See [[plan]], {time}.\n")
        for number in range(120):
            pages.write(
                f"agents/bob/memory/pot-{time}-{number:03}.md",
                f"Pot {number} holds plant{number}, seeds and a kettla.\n",
            )
        for change in timeline.list_changes(memory.home)[-3:]:
            timeline.undo(memory.home, [change])
        memory.search("the blue kettle")
    _keep_adapters(home, clock, time)
    if os.path.isdir(home):
        _break_files(Path(home), time)


def _keep_facts(memory: Memory, time: int) -> None:
    """The same facts, other versions of them, a task that is done, and what a person said of them."""
    for day, text in (
        (11, OLD_FACT),
        (12, NEW_FACT),
        (13, f"The launch is on 2{time} December."),
        (13, "The blue tiles are ordered."),
    ):
        memory.home.storage.pages.append(f"agents/bob/memory/daily/2026-03-{day}.md", f"## 09:0{time}\n\n{text}\n\n")
    if time == 1:
        folder = "agents/bob/memory/daily"
        memory.supersede(f"{folder}/2026-03-11.md#L3", f"{folder}/2026-03-12.md#L3", reject=True)


def _keep_adapters(home: str, clock: FrozenClock, time: int) -> None:
    store = CommonplaceStore(home, "bob", clock=clock)
    store.put(("things",), f"one{time}", {"text": "another rake"})
    store.close()
    tool = MemoryTool(home, agent="bob")
    tool.call({"command": "create", "path": f"/memories/kettle{time}.md", "file_text": "the kettle"})
    tool.close()


def _break_files(home: Path, time: int) -> None:
    """What doctor, listings and warnings would speak of."""
    folder = home / "agents/bob/memory"
    (folder / f"bytes{time}.md").write_bytes(b"\xff\xfe kettle")
    (folder / f"working/broken{time}.md").write_text("---\nkey: [kettle\n---\nbroken\n")
    (folder / f"working/CASE{time}.md").write_text("---\nkey: plan\n---\nkept twice\n")
    (folder / f"working/case{time}.md").write_text("---\nkey: plan\n---\nkept twice\n")
    (folder / f"2099-01-0{time}.md").write_text("the future\n")
    (folder / f"open{time}.md").write_text("anybody may read it\n")
    (folder / f"open{time}.md").chmod(0o666)
    (folder / f"link{time}.md").symlink_to("/etc/hostname")
    leftover = folder / f".plan.md.{time}abcdef01234.tmp"
    leftover.write_text("half a pl")
    os.utime(leftover, (_OLD, _OLD))
    (home / "agents/bob/sessions/broken.jsonl").write_text("not JSON\n")
    (home / "agents/bob/agent.yaml").write_text("memory: [\n" if time == 2 else "memory: true\n")
    for index in home.glob(".index/words-*.sqlite"):  # it says of earlier pages what they do not say
        with closing(sqlite3.connect(index)) as words, words:
            words.execute("UPDATE pages SET version = 'another' WHERE path LIKE 'agents/bob/memory/pot-1%'")
