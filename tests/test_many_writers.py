"""Processes and threads on one home: nothing acknowledged is missing, no page is torn."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory

from .programs import Program

WRITER = """
import sys
from commonplace import Memory
home, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
m = Memory(home)
for n in range(count):
    tag = f"{name}-{n}"
    assert m.call("remember", {"content": f"entry {tag} start\\nmiddle\\nend {tag}"})["success"]
    assert m.call("memory_write", {"key": f"note {tag}", "content": tag})["success"]
    assert m.call("write_memory", {"key": "shared", "content": f"line {tag}", "mode": "append"})["status"] == "ok"
    assert m.call("MemoryTool", {"op": "setGlobal", "key": f"k-{tag}", "value": tag})["success"]
    assert m.call("MemoryTool", {"op": "updateSkill", "name": "s", "newData": {f"d-{tag}": 1}, "trainingIncrement": True})["success"]
    print(tag, flush=True)
"""


def start(home: Path, name: str, count: int) -> Program:
    return Program(WRITER, str(home), name, str(count))


def check(home: Path, tags: list[str]) -> None:
    memory = Memory(home)
    day = "".join(path.read_text() for path in (home / "agents/main/memory/daily").glob("*.md"))
    (working,) = [m for m in memory.call("search_memory", {"query": "shared"})["matches"] if m["key"] == "shared"]
    skill = memory.call("MemoryTool", {"op": "getSkill", "name": "s"})
    keys = {row["key"] for row in memory.call("MemoryTool", {"op": "listGlobal"})["results"]}
    for tag in tags:
        assert day.count(f"entry {tag} start\nmiddle\nend {tag}\n") == 1
        assert memory.call("memory_read", {"key": f"note {tag}"})["data"]["content"] == tag
        assert f"line {tag}" in working["content"].split("\n")
        assert f"d-{tag}" in skill["skill_data"]
        assert f"k-{tag}" in keys
    assert skill["training_progress"] >= len(tags)
    assert "\x00" not in day


@pytest.mark.slow
def test_ten_processes_writing_at_once_lose_nothing(home: Path) -> None:
    Memory(home).call("MemoryTool", {"op": "createSkill", "name": "s", "description": "d"})
    writers = [start(home, f"w{number}", 6) for number in range(10)]
    outputs = [writer.communicate()[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 10
    tags = [tag for lines in outputs for tag in lines]
    assert len(tags) == 60
    check(home, tags)


@pytest.mark.slow
def test_killed_writers_lose_nothing_they_reported(home: Path) -> None:
    Memory(home).call("MemoryTool", {"op": "createSkill", "name": "s", "description": "d"})
    reported: list[str] = []
    for round_ in range(6):
        writers = [start(home, f"r{round_}w{number}", 1000) for number in range(3)]
        for number, writer in enumerate(writers):
            reported += [writer.stdout.readline().strip() for _ in range(1 + number)]
            os.kill(writer.pid, signal.SIGKILL)
        for writer in writers:
            rest = writer.communicate()[0].split("\n")
            reported += [line for line in rest[:-1] if line]
    check(home, reported)
    assert Memory(home).call("memory_write", {"key": "after", "content": "all that"})["success"]


def test_threads_sharing_one_handle_lose_nothing(memory: Memory) -> None:
    errors: list[object] = []

    def work(number: int) -> None:
        for turn in range(5):
            reply = memory.call("memory_write", {"key": f"{number}-{turn}", "content": "v"})
            answer = memory.call("memory_search", {"query": f"{number}-{turn}"})
            if not reply["success"] or "error" in answer:
                errors.append((reply, answer))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    rows = memory.call("memory_search", {"query": "", "limit": 100}, toolset="notes")["data"]["results"]
    assert len(rows) == 40


def test_two_handles_see_each_others_writes_at_once(memory: Memory, home: Path) -> None:
    other = Memory(home, clock=memory.home.clock)
    for number in range(5):
        memory.call("MemoryTool", {"op": "setGlobal", "key": f"k{number}", "value": number})
        assert other.call("MemoryTool", {"op": "getGlobal", "key": f"k{number}"})["value"] == number
        assert len(other.call("MemoryTool", {"op": "listGlobal"})["results"]) == number + 1


def test_a_handle_survives_a_fork(memory: Memory) -> None:
    memory.call("remember", {"content": "before the fork"})
    assert memory.search("fork")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover
        memory.call("update_world", {"topic": "child", "content": "fork of the child"})
        os.write(writing, str(len(memory.search("fork"))).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 10) == b"2"
    os.close(reading)
    os.close(writing)
    assert len(memory.search("fork")) == 2


SEEKER = """
import sys
from commonplace import Memory
home, name = sys.argv[1], sys.argv[2]
m = Memory(home)
for n in range(12):
    word = f"mango{name}x{n}"
    assert m.call("remember", {"content": word})["success"]
    reply = m.call("memory_search", {"query": word})
    if not reply["results"] and not reply.get("stale"):
        print("missed", word)
"""


@pytest.mark.slow
def test_what_was_written_is_found_at_once_while_others_write_and_search(home: Path) -> None:
    seekers = [Program(SEEKER, str(home), str(number)) for number in range(6)]
    outputs = [seeker.communicate()[0] for seeker in seekers]
    assert [seeker.returncode for seeker in seekers] == [0] * 6
    assert outputs == [""] * 6
    memory = Memory(home)
    assert all(memory.search(f"mango{name}x{n}") for name in range(6) for n in range(12))


def test_an_earlier_reading_never_replaces_a_later_one(
    memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two indexers of one page: the one that swept first reads last, and reads what stands there then."""
    (home / "memory").mkdir()
    page = home / "memory/a.md"
    page.write_text("giraffe")
    other = Memory(home, clock=memory.home.clock)
    swept = memory.home.storage.pages.changes

    def late(known: Any, roots: Any) -> Any:
        changes = swept(known, roots)
        page.write_text("zebra")
        assert other.search("zebra")
        return changes

    monkeypatch.setattr(memory.home.storage.pages, "changes", late)
    assert memory.search("zebra")
    monkeypatch.undo()
    assert memory.search("zebra")
    assert not any("giraffe" in hit.text for hit in memory.search("giraffe"))


ADDER = """
import sys
from commonplace import Memory
home, agent, name, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
memory = Memory(home, agent)
for number in range(count):
    recalled = memory.call("recall")["content"]
    facts = [line for line in recalled.splitlines() if line.startswith("- ")]
    content = "\\n".join([*facts, f"- {name} {number}"])
    assert memory.call("update_world", {"topic": "facts", "content": content})["success"]
"""
COMMANDS = """
import os, sys
from pathlib import Path
from tests.surfaces.cli.shell import run_here
home, agent, name, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])

def run(*arguments, stdin=None):
    # a process for each command, as a shell has it
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        done = run_here(("--home", home, "--agent", agent, *arguments), Path.cwd(), dict(os.environ), stdin)
        os.write(writing, done.stdout.encode())
        os._exit(done.returncode)
    os.close(writing)
    with open(reading) as stream:
        printed = stream.read()
    assert os.waitpid(child, 0)[1] == 0
    return printed

for number in range(count):
    facts = [line for line in run("recall").splitlines() if line.startswith("- ")]
    run("world", "facts", "-", stdin="\\n".join([*facts, f"- {name} {number}"]))
"""


def add_facts(program: str, home: Path, agents: list[str], count: int) -> list[str]:
    """Let a process for each of the agents add facts to one topic at once; return the lines of the page."""
    adders = [Program(program, str(home), agent, f"p{number}", str(count)) for number, agent in enumerate(agents)]
    outputs = [adder.communicate() for adder in adders]
    assert [adder.returncode for adder in adders] == [0] * len(adders), outputs
    return sorted((home / "memory/world/facts.md").read_text().splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("agents", [["ann", "bob", "cleo"], ["main", "main", "main"]])
def test_three_processes_that_each_add_thirty_lines_to_one_topic_lose_none(home: Path, agents: list[str]) -> None:
    Memory(home).call("remember", {"content": "Begun."})
    lines = add_facts(ADDER, home, agents, 30)
    assert lines == sorted(f"- p{number} {line}" for number in range(3) for line in range(30))


@pytest.mark.slow
def test_commands_of_three_programs_that_add_lines_to_one_topic_lose_none(home: Path) -> None:
    Memory(home).call("remember", {"content": "Begun."})
    lines = add_facts(COMMANDS, home, ["main", "main", "ann"], 4)
    assert lines == sorted(f"- p{number} {line}" for number in range(3) for line in range(4))
