"""A memory with a bit of everything, for tests of the page and for its pictures: `python -m tests.web.demo FOLDER`."""

from __future__ import annotations

import json
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from commonplace import Memory
from commonplace.testing import FrozenClock

DAYS = 150
NOTES = [
    "Decided to keep the {gauge} tables in **SQLite** rather than in memory: a restart took {n} minutes. See [[storage]].",
    "{who} found the drift in the {gauge} clock: it counts local time, not UTC. Fixed in [[gauges]].",
    "{who} prefers short answers with the command first, and the reason after it. #preferences",
    "The pilot wants warnings at least *{n} hours* ahead of a storm surge. [[forecast]] says how far we are.",
    "Release 2.{n} is out. Two regressions, both in the importer; rolled back on the {gauge} gauge only.",
    "Talked with the harbour master: the {gauge} basin closes for dredging in week {n}.",
    "Benchmarked the forecast: {n} ms for a week of tides, a little more with wind. [[forecast]] has the table.",
    "{who} asked for an export of last winter's readings as CSV; sent with a note about the missing Tuesday.",
    "The coffee machine on floor {n} takes the small filters. Nobody knows why.",
    "Postmortem of the silent {gauge} gauge: the battery was at {n} %, the alarm went to a mailbox nobody reads. [[alarms]]",
    "Tried a window of {n} hours for smoothing; storms look calmer than they are. Reverted, and wrote down why.",
    "The new intern, Noor, starts with the {gauge} gauge; {who} pairs with her until the end of the month. [[team]]",
    "{who} wrote the runbook for spring tides; the {gauge} gauge is read by hand twice a day until week {n}.",
    "Backup of the {gauge} file took {n} seconds. The nightly window is enough for now. [[storage]]",
]
WORDS = {
    "{who}": ("Ada", "Grace", "Linus", "Noor"),
    "{gauge}": ("north", "south", "pilot"),
    "{n}": tuple(map(str, range(2, 48))),
}
TOPICS = {
    "team": "# Team\n\nAda leads, Grace builds the gauges, Linus keeps the [[storage]], Noor learns all of it.\n\n"
    "| who | where | hours |\n|---|---|---|\n| Ada | Lisbon | 9 to 17 |\n| Grace | Hull | 7 to 15 |\n| Linus | Turku | 10 to 18 |\n",
    "storage": "# Storage\n\nReadings are kept in SQLite, one file a gauge. [[gauges]] write, [[forecast]] reads.\n\n"
    "## Rules\n\n1. Never change a reading: add a correction beside it.\n2. A backup before every release.\n\n"
    "```sh\nsqlite3 north.db 'select count(*) from readings'\n```\n",
    "gauges": "# Gauges\n\nThree of them: **north**, **south**, **pilot**. All count UTC since March.\n\n"
    "- north: sits behind the dredger, noisy in spring\n- south: the reference\n- pilot: on the boat, moves\n\nSee [[storage]] and [[alarms]].\n",
    "forecast": "# Forecast\n\nHarmonic tides plus wind from the last six hours. Surges are told six hours ahead.\n\n"
    "> A forecast nobody reads is a forecast that is wrong.\n\nIt reads what [[gauges]] write and warns through [[alarms]].\n",
    "alarms": "# Alarms\n\nEvery alarm has a person, never a mailbox. [[team]] says who is awake.\n",
    "glossary": "# Glossary\n\n**Surge**: what wind adds to a tide. **Datum**: the level that all levels are counted from.\n",
}
GLOBALS = [
    ("editor", "Ada writes in vim, Grace in VS Code", "preferences", ["people", "tools"]),
    ("datum", "Chart datum is 1.83 m below the mean sea level", "facts", ["tides"]),
    ("release_day", "Releases go out on Tuesdays, never on Fridays", "process", ["release"]),
    ("units", "Metres and UTC everywhere; feet only at the very edge", "process", ["tides", "style"]),
    ("budget_2026", {"servers": 1200, "gauges": 3400, "coffee": 310}, "money", ["planning"]),
    ("answer_style", "Command first, then the reason, in two sentences", "preferences", ["people", "style"]),
    ("on_call", "Grace in odd weeks, Linus in even ones", "process", ["people", "alarms"]),
    ("pilot_contact", "The pilot answers on channel 12, mornings only", "facts", ["people"]),
    ("backup", "Nightly at 02:10, kept for ninety days", "process", ["storage", "release"]),
    ("colour", "Teal for water, amber for warnings", "preferences", ["style"]),
]
CHANNELS = {
    "dev": [
        ("branch", "main is protected; work on topic branches"),
        ("ci", "Two cores, twelve minutes, be patient"),
        ("datum", "The tests count from zero, not from chart datum"),
    ],
    "harbour": [("contact", "Ask for the harbour master before nine"), ("dredging", "North basin closed in week 12")],
    "ops": [("alarms", "Page people, not mailboxes"), ("runbook", "Restart the south gauge first")],
}
SKILLS = [
    (
        "release-notes",
        "How to write release notes that people read",
        "1. Begin with what changed for them.\n2. One line a change.\n3. Say what to do.",
    ),
    (
        "surge-check",
        "Check a surge warning before it goes out",
        "Compare wind of the last six hours with [[forecast]]. Call the pilot when both agree.",
    ),
    (
        "gauge-reset",
        "Reset a gauge without losing readings",
        "Copy the file first. Then hold the button for ten seconds.",
    ),
]
TALK = [
    ("user", "Why did the north gauge jump by half a metre last night?"),
    ("assistant", "It did not: the gauge switched from local time to UTC, so one hour was counted twice.\n\n- the readings are right\n- the *timestamps* of 02:00 to 03:00 are doubled"),
    ("user", "Can you mark them, without changing any reading?"),
    ("assistant", "Done: 60 corrections stand beside them, as the rules of storage ask. The command was\n\n```sh\ntides correct north --from 02:00 --to 03:00\n```"),
    ("user", "Good. Remember that we never change a reading."),
    ("assistant", "Kept in the world topic *storage*."),
]  # fmt: skip

QUESTIONS = [
    "storage",
    "who builds the gauges",
    "storm surge",
    "storage backup",
    "storage rules",
    "surge warning",
    "alarms",
    "gauges",
]


def make(folder: Path, *, days: int = DAYS, now: datetime | None = None) -> Path:
    """Fill a folder, every time with the same pages; only their days differ, which end today."""
    chance = random.Random(7)
    today = now or datetime.now(UTC)
    clock = FrozenClock(today - timedelta(days=days))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / "commonplace.yaml").write_text("memorySearch:\n  indexSessions: true\n")
    memory = Memory(folder, clock=clock)
    _begin(memory)
    for number in range(days):
        clock.now = today - timedelta(days=days - 1 - number, hours=1)
        for _ in range(chance.choice((0, 0, 1, 1, 2, 3, 5)) if number < days - 1 else 3):
            clock.advance(minutes=7)
            memory.call("remember", {"content": _note(chance)})
        if number == days // 3:
            _records(memory)
        if number == days // 2:
            _topics_again(memory)
    _working(memory)
    _sessions(folder, clock.now)
    _research(folder, clock)
    for question in QUESTIONS:
        memory.search(question, limit=3)
    return folder


def _note(chance: random.Random) -> str:
    text = chance.choice(NOTES)
    for slot, words in WORDS.items():
        text = text.replace(slot, chance.choice(words))
    return text


def _begin(memory: Memory) -> None:
    for topic, text in TOPICS.items():
        memory.call("update_world", {"topic": topic, "content": text})
    memory.call("reflect", {"content": "# What I know\n\n- Ada decides, Grace knows the hardware.\n- Answers are short, commands first.\n- Storms come from the west; [[forecast]] is late with them.\n"})  # fmt: skip


def _records(memory: Memory) -> None:
    for key, value, category, tags in GLOBALS:
        memory.call("MemoryTool", {"op": "setGlobal", "key": key, "value": value, "category": category, "tags": tags})
    for channel, records in CHANNELS.items():
        for key, value in records:
            memory.call("MemoryTool", {"op": "setChannel", "channelName": channel, "key": key, "value": value})
    for name, description, instructions in SKILLS:
        memory.call("MemoryTool", {"op": "createSkill", "name": name, "description": description, "initialStructure": {}, "instructions": instructions})  # fmt: skip


def _topics_again(memory: Memory) -> None:
    text = TOPICS["alarms"] + "\nThe silent gauge of spring is why: its alarm went to a mailbox for nine days.\n"
    memory.call("update_world", {"topic": "alarms", "content": text})


def _working(memory: Memory) -> None:
    memory.call("write_memory", {"key": "surge-threshold", "content": "0.4 m until the new wind model is in"})
    memory.call("write_memory", {"key": "open-questions", "content": "- Who calls the pilot at night?\n- Is datum the same on the south pier?"})  # fmt: skip
    memory.call("write_session_handoff", {"content": "The importer is half done: corrections are read, not written yet. Next: [[storage]], rule one."})  # fmt: skip
    memory.call("scratch_note", {"mode": "append", "content": "compare 38 ms and 41 ms again with the fan off"})


def _sessions(folder: Path, now: datetime) -> None:
    sessions = folder / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(("north-gauge", "release-plan")):
        lines = [
            json.dumps({"role": role, "content": text, "timestamp": (now + timedelta(minutes=at)).isoformat()})
            for at, (role, text) in enumerate(TALK[2 * number :])
        ]
        (sessions / f"{now:%Y-%m-%d}-{name}.jsonl").write_text("\n".join(lines) + "\n")


def _research(folder: Path, clock: FrozenClock) -> None:
    """A second agent, so that there is one to change to."""
    other = Memory(folder, "research", clock=clock)
    other.call("remember", {"content": "Read three papers on storm surges; the one from Delft fits our basin. [[forecast]]"})  # fmt: skip
    other.call("reflect", {"content": "# What I know\n\nSurges follow wind by six hours, and pressure by two.\n"})


if __name__ == "__main__":
    print(make(Path(sys.argv[1])))
