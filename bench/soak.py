"""Many processes write to one home, one of them is killed again and again, and a person edits pages: what is missing?

Run: ./dev soak [--writes N] [--kills N] [--processes N] [--no-shared-editor]. A write counts once its call returned and
its process said so. Exit status 1 if a write that was acknowledged is missing, or a page is torn.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import selectors
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from ledger import MAIN, Found, Ledger, Write, category, check, page

from commonplace import Memory

EDITOR = "editor"
SETTINGS = "memorySearch:\n  provider: none\n"
SHARED_NOTES = 3
Call = tuple[str, dict[str, Any]]


def op(name: str, /, **arguments: Any) -> Call:
    return "MemoryTool", {"op": name, **arguments}


def set_global(write: Write) -> Call:
    return op("setGlobal", key=write.place, value=write.word, category=category(write.word))


CALLS: dict[str, Callable[[Write], Call]] = {
    "remember": lambda w: ("remember", {"content": f"entry {w.word} start\nmiddle\nend {w.word}"}),
    "append": lambda w: ("write_memory", {"key": w.place, "content": f"line {w.word}", "mode": "append"}),
    "skill": lambda w: op("updateSkill", name="s", newData={w.word: 1}, trainingIncrement=True),
    "note": lambda w: ("memory_write", {"key": w.place, "content": w.word}),
    "update": lambda w: ("memory_update", {"key": w.place, "content": w.word}),
    "global": set_global,
    "move": set_global,
    "forget": lambda w: op("deleteGlobal", key=w.place),
    "channel": lambda w: op("setChannel", channelName=f"c{w.place[-1]}", key=w.place, value=w.word),
    "reflect": lambda w: ("reflect", {"content": page(w.word)}),
    "world": lambda w: ("update_world", {"topic": w.place, "content": page(w.word)}),
}
AGAIN = {"update": "note", "move": "global", "forget": "global"}  # what replaces what another kind of write said


def write_for_ever(home: str, name: str, generation: int, report: int) -> None:
    """One writer, until it is killed. It writes for the main agent, and reflects for one of its own."""
    choice = random.Random(f"{name} {generation}")
    shared = Memory(home)
    own = Memory(home, agent=name)
    keys: dict[str, list[str]] = {"note": [], "global": []}
    for number in count():
        write = _next(choice, name, f"{name}g{generation}n{number}", keys)
        tool, arguments = CALLS[write.kind](write)
        as_kept = write._replace(kind=AGAIN.get(write.kind, write.kind))
        _say(report, "begun", *as_kept)
        reply = (own if write.kind == "reflect" else shared).call(tool, arguments)
        if reply.get("success") is True or reply.get("status") == "ok":
            _say(report, "done", *as_kept)
        else:
            _say(report, "refused", f"{tool}: {reply.get('error')}"[:200])
        if write.kind == "remember" and number % 5 == 0:
            found = shared.call("memory_search", {"query": write.word})
            if not found["results"] and not {"stale", "warning", "error"} & {*found}:
                _say(report, "unfound", write.word)


def _next(choice: random.Random, name: str, word: str, keys: dict[str, list[str]]) -> Write:
    """What to write next. Only what this process itself wrote is written anew or forgotten."""
    kind = choice.choice([kind for kind in CALLS if kind not in AGAIN or keys[AGAIN[kind]]])
    if kind in ("note", "global"):
        keys[kind].append(f"k{word}")
    if kind in ("update", "move"):
        return Write(kind, choice.choice(keys[AGAIN[kind]]), word)
    if kind == "forget":
        return Write(kind, keys["global"].pop(choice.randrange(len(keys["global"]))), "")
    topic = choice.choice([f"topic{name}", "shared"])
    places = {"append": f"together{choice.randrange(SHARED_NOTES)}", "world": topic, "reflect": name}
    return Write(kind, places.get(kind, f"k{word}"), word)


def edit_for_ever(home: str, report: int) -> None:
    """A person with two editors, until told to stop: one writes over its file, one puts a new one in its place."""
    choice = random.Random(EDITOR)
    stopped = list[int]()
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    folder = Path(home) / "memory/hand"
    folder.mkdir(parents=True, exist_ok=True)
    together = [f"together{number}" for number in range(SHARED_NOTES)]
    for number in takewhile(lambda _: not stopped, count()):
        word = f"{EDITOR}n{number}"
        own = folder / f"page{choice.randrange(4)}.md"
        if choice.random() < 0.5:
            write = Write("line", choice.choice(together), word)
            _say(report, "begun", *write)
            if _add_a_line(Path(home, MAIN, "working", f"{write.place}.md"), f"hand {word}\n"):
                _say(report, "done", *write)
        else:
            write = Write("hand", own.name, word)
            _say(report, "begun", *write)
            own.write_text(page(word)) if choice.random() < 0.5 else _put_in_place(own, page(word))
            _say(report, "done", *write)
        time.sleep(0.02)


def _put_in_place(file: Path, text: str) -> None:
    beside = file.with_name(f".{file.name}.swp")
    beside.write_text(text)
    os.replace(beside, file)


def _add_a_line(file: Path, line: str) -> bool:
    """As an editor does: read, change, look whether the file is still as it was, put the new one in its place."""
    for _ in range(50):
        try:
            before = file.stat()
            text = file.read_text()
            beside = file.with_name(f".{file.name}.swp")
            beside.write_text(text + line)
            now = file.stat()
        except FileNotFoundError:
            return False
        if (before.st_ino, before.st_mtime_ns, before.st_size) == (now.st_ino, now.st_mtime_ns, now.st_size):
            os.replace(beside, file)
            return True
    return False


def _say(report: int, *what: str) -> None:
    os.write(report, json.dumps(what).encode() + b"\n")  # short enough to arrive whole or not at all


class Crowd:
    """The processes, and what they say."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._heard = selectors.DefaultSelector()
        self._running: dict[str, tuple[int, int]] = {}
        self._generations: Counter[str] = Counter()
        self._unfinished: dict[int, bytes] = {}

    def start(self, name: str, run: Callable[[int, int], None]) -> None:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                run(self._generations[name], writing)
                os._exit(0)
            except BaseException:  # noqa: BLE001  a writer that ends by itself says why
                traceback.print_exc()
                os._exit(1)
        os.close(writing)
        self._generations[name] += 1
        self._running[name] = (child, reading)
        self._unfinished[reading] = b""
        self._heard.register(reading, selectors.EVENT_READ)

    def listen(self, seconds: float) -> None:
        for key, _ in self._heard.select(seconds):
            self._take(key.fd)

    def _take(self, reading: int) -> bool:
        some = os.read(reading, 1 << 16)
        *lines, self._unfinished[reading] = (self._unfinished[reading] + some).split(b"\n")
        for line in lines:
            self._ledger.hear(line)
        return bool(some)

    def end(self, name: str, how: int = signal.SIGKILL) -> None:
        child, reading = self._running.pop(name)
        os.kill(child, how)
        while self._take(reading):
            pass
        if os.waitpid(child, 0)[1] not in (0, signal.SIGKILL):
            self._ledger.ended.append(name)
        self._heard.unregister(reading)
        os.close(reading)

    def names(self) -> list[str]:
        return [*self._running]


def soak(home: str, options: argparse.Namespace) -> tuple[Ledger, int]:
    """Write until enough is acknowledged and enough have died; the ledger, and how many did."""
    ledger = Ledger()
    kills = 0
    choice = random.Random(options.seed)
    crowd = Crowd(ledger)
    writers = [f"w{number}" for number in range(options.processes)]

    def start(name: str) -> None:
        crowd.start(name, lambda generation, report: write_for_ever(home, name, generation, report))

    try:
        for name in writers:
            start(name)
        crowd.start(EDITOR, lambda _, report: edit_for_ever(home, report))
        at = time.monotonic()
        while len(ledger.acknowledged) < options.writes or kills < options.kills:
            crowd.listen(max(0.0, at + options.pause - time.monotonic()))
            if time.monotonic() >= at + options.pause:
                name = choice.choice(writers)
                crowd.end(name)
                start(name)
                kills = kills + 1
                at = time.monotonic()
    finally:
        for name in sorted(crowd.names()):  # the editor first: who is killed while writing over a page leaves half
            crowd.end(name, signal.SIGTERM if name == EDITOR else signal.SIGKILL)
    return ledger, kills


def report(options: argparse.Namespace, ledger: Ledger, kills: int, found: Found, seconds: float) -> None:
    refused = [f"{count} times: {sentence}" for sentence, count in ledger.refused.items()]
    for sentence in [*found.missing, *found.torn, *found.displaced, *refused][:20]:
        print(sentence, file=sys.stderr)
    rows = {
        "processes": options.processes + 1,
        "kills": kills,
        "writes acknowledged": len(ledger.acknowledged),
        "writes missing": len(found.missing),
        "pages torn": len(found.torn),
        "writes refused": sum(ledger.refused.values()),
        "saved over by the editor": len(found.overwritten),
        "displaced by a meeting": len(found.displaced),
        "seconds": round(seconds),
    }
    print("\n".join(f"{name:28}{number:9,}" for name, number in rows.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writes", type=int, default=5000, help="go on until so many are acknowledged")
    parser.add_argument("--kills", type=int, default=100, help="and so many processes were killed")
    parser.add_argument("--processes", type=int, default=8, help="writers")
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two kills")
    parser.add_argument("--seed", type=int, default=0, help="chooses who is killed")
    explanation = "what a meeting with the editor displaced counts as missing, too"
    parser.add_argument("--shared-editor", action=argparse.BooleanOptionalAction, default=True, help=explanation)
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        home = os.path.join(folder, "home")
        os.mkdir(home)
        Path(home, "commonplace.yaml").write_text(SETTINGS)
        with Memory(home) as memory:
            memory.call("MemoryTool", {"op": "createSkill", "name": "s", "description": "d"})
        ledger, kills = soak(home, options)
        found = check(home, ledger)
    report(options, ledger, kills, found, time.monotonic() - started)
    sys.exit(bool(found.missing or found.torn or (options.shared_editor and found.displaced)))


if __name__ == "__main__":
    main()
