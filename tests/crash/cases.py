"""One case: a copy of a home, a process that plays a scene on it with one fault, and what it said before it ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from commonplace import Memory, SettingsError
from commonplace.testing import FrozenClock

from .faults import DISK, Operation, Variant
from .scenes import Scene, Step

Reply = dict[str, Any]
Contents = dict[str, bytes]
OPENING = -1  # the step before the first
_LONGEST = 600  # seconds a scene may take, before it counts as hanging
_read, _write = os.read, os.write


class Case(NamedTuple):
    """The n-th operation of a scene goes wrong in some way."""

    scene: Scene
    variant: Variant
    number: int

    def __str__(self) -> str:
        return f"{self.scene.name}, operation {self.number}, {self.variant.name}"


class Outcome(NamedTuple):
    """What the process did: how it ended, the step it was in, what each step answered, and what went wrong, if it did."""

    ended: str  # done, killed, raised or hung
    step: int
    replies: dict[int, Reply]
    struck: str
    problem: str = ""


def moment(step: int) -> FrozenClock:
    """The time of a step: the same in every run, so that pages can be compared byte by byte."""
    return FrozenClock(FrozenClock().now + timedelta(minutes=step))


def prepare(scene: Scene, home: Path) -> None:
    """The home as it stands when the scene begins."""
    if not (scene.before or scene.pages or scene.settings):
        return
    home.mkdir()
    scene.write_pages(home)
    if scene.before:
        with open_memory(home, -len(scene.before)) as memory:
            for step in scene.before:
                reply = memory.call(step.tool, step.arguments)
                assert is_success(reply), (step, reply)


def copy(home: Path, to: Path) -> Path:
    if home.exists():
        shutil.copytree(home, to)
    return to


@contextmanager
def open_memory(home: Path, step: int) -> Iterator[Memory]:
    with Memory(home, clock=moment(step)) as memory:
        yield memory


def is_success(reply: Reply) -> bool:
    return reply.get("success") is True or reply.get("status") == "ok" or (bool(reply) and "error" not in reply)


def play(memory: Memory, number: int, step: Step) -> Reply:
    memory.home.clock = moment(number)
    return memory.call(step.tool, step.arguments)


def contents(home: Path) -> Contents:
    """Every page of a home: all files but those whose name, or whose folder's, begins with a dot."""
    result: Contents = {}
    for folder, folders, files in os.walk(home):
        folders[:] = [name for name in folders if not name.startswith(".")]
        pages = (Path(folder) / name for name in files if not name.startswith("."))
        result.update((str(page.relative_to(home)), page.read_bytes()) for page in pages)
    return result


def operations(scene: Scene, home: Path) -> list[list[Operation]]:
    """What each step does to the files of a home when nothing goes wrong, from opening it. In a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _perform(scene, home, None, 0, writing)
        os._exit(0)
    os.close(writing)
    outcome = _listen(reading)
    os.waitpid(child, 0)
    assert "raised" not in outcome[-1], outcome[-1]
    return [[Operation(*each) for each in line["operations"]] for line in outcome if "operations" in line]


def run(case: Case, home: Path) -> Outcome:
    """Play the scene with the fault, in a process that may die of it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(_LONGEST)
        _perform(case.scene, home, case.variant, case.number, writing)
        os._exit(0)
    os.close(writing)
    outcome = _listen(reading)
    return _outcome(outcome, os.waitpid(child, 0)[1])


def _perform(scene: Scene, home: Path, variant: Variant | None, number: int, writing: int) -> None:
    """In the child: every answer is on its way to the parent before the next call begins."""
    try:
        DISK.watch(str(home), variant, number)
        with (
            suppress(SettingsError),
            open_memory(home, OPENING) as memory,
        ):  # settings that cannot be read are not guessed
            for step, each in enumerate(scene.steps):
                _say(writing, step=step, **_list_operations(variant))
                _say(writing, step=step, reply=play(memory, step, each))
        DISK.leave()
        _say(writing, struck=DISK.struck, **_list_operations(variant))
    except BaseException:  # noqa: BLE001  whatever it was, the parent reports it
        _say(writing, raised=traceback.format_exc(), struck=DISK.struck)
        os._exit(1)


def _list_operations(variant: Variant | None) -> dict[str, Any]:
    """What was done since this was asked, where only that is of interest."""
    return {} if variant else {"operations": [DISK.operations.popleft() for _ in range(len(DISK.operations))]}


def _say(writing: int, **what: Any) -> None:
    line = json.dumps(what).encode() + b"\n"
    while line:
        line = line[_write(writing, line) :]


def _listen(reading: int) -> list[dict[str, Any]]:
    heard = b""
    while some := _read(reading, 1 << 16):
        heard += some
    os.close(reading)
    return [json.loads(line) for line in heard.split(b"\n") if line]


def _outcome(said: list[dict[str, Any]], status: int) -> Outcome:
    replies = {line["step"]: line["reply"] for line in said if "reply" in line}
    step = max((line["step"] for line in said if "step" in line), default=OPENING)
    last = said[-1] if said else {}
    if os.WIFSIGNALED(status):
        killed = os.WTERMSIG(status) == signal.SIGKILL
        return Outcome("killed" if killed else "hung", step, replies, "a signal", f"signal {os.WTERMSIG(status)}")
    outcome = "raised" if "raised" in last else "done"
    return Outcome(outcome, step, replies, last.get("struck", ""), last.get("raised", ""))
