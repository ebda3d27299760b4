"""How the cost of each operation grows with the memory: CPU time at 100 and at 100,000 records, as a ratio.

Run: ./dev bench [--large N]. Ratios are what counts; the machine is measured in the same run by doing the bare work
(writing a file safely, scanning a folder, starting an interpreter) beside ours.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

from commonplace import Memory
from commonplace.formats import blocks, records

AT = "2026-03-14T09:26:53.000000Z"
ROUNDS = 60


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--large", type=int, default=100_000, help="records in the large home")
    large = options.parse_args().large
    with tempfile.TemporaryDirectory() as folder:
        small_home = Path(folder) / "small"
        large_home = Path(folder) / "large"
        fill(small_home, 100)
        fill(large_home, large)
        keyed(small_home, large_home, large)
    with tempfile.TemporaryDirectory() as folder:
        notes(Path(folder))
        sweep(Path(folder))
        command_line(Path(folder))


def fill(home: Path, count: int) -> None:
    """Records as the tools would have written them: globals, a channel and working notes."""
    for folder in ("memory/global/general", "memory/channels/ops", "agents/main/memory/working"):
        (home / folder).mkdir(parents=True)
        for number in range(count):
            page = records.render_record("", f"value number {number}", {"created_at": AT, "updated_at": AT})
            (home / folder / f"key-{number}.md").write_text(page)


def operations(memory: Memory, name: str) -> dict[str, Callable[[int], object]]:
    def op(**arguments: object) -> Callable[[int], object]:
        return lambda n: memory.call("MemoryTool", {**arguments, "key": f"{name}-{n}"})

    return {
        "setGlobal, new key": op(op="setGlobal", value="v"),
        "setGlobal, known key": op(op="setGlobal", value="w"),
        "getGlobal": op(op="getGlobal"),
        "deleteGlobal": op(op="deleteGlobal"),
        "setChannel, new key": op(op="setChannel", channelName="ops", value="v"),
        "getChannel": op(op="getChannel", channelName="ops"),
        "deleteChannel": op(op="deleteChannel", channelName="ops"),
        "write_memory": lambda n: memory.call("write_memory", {"key": f"{name}-{n}", "content": "v"}),
        "scratch_note": lambda n: memory.call("scratch_note", {"mode": "replace", "content": f"{n}"}),
    }


def keyed(small: Path, large: Path, count: int) -> None:
    print(f"\nKeyed operations, CPU ms each ({ROUNDS} rounds, small and large in turns)\n")
    print(f"{'operation':24}{'100':>9}{count:>12,}{'ratio':>9}")
    homes = [operations(Memory(home), "bench") for home in (small, large)]
    for name in homes[0]:
        taken = [0.0, 0.0]
        for number in range(ROUNDS):
            for which, run in enumerate((homes[0][name], homes[1][name])):
                taken[which] += cpu(lambda run=run, number=number: run(number))  # type: ignore[misc]
        few, many = (seconds / ROUNDS * 1000 for seconds in taken)
        print(f"{name:24}{few:9.3f}{many:12.3f}{many / few:9.2f}")
    print(f"{'(a safe write alone)':24}{safe_write(small):9.3f}")


def notes(folder: Path) -> None:
    """Notes stand in the pages of days, as their contract says: their cost follows the pages looked through."""
    print("\nNotes by key, CPU ms each\n")
    print(f"{'operation':24}{'100 in 10':>12}{'10,000 in 365':>15}")
    homes = [days_of_notes(folder / f"notes-{count}", count, pages) for count, pages in ((100, 10), (10_000, 365))]
    memories = [Memory(home) for home in homes]
    for tool, key, more in (
        ("memory_read", "key", {}),
        ("memory_write", "new", {"content": "v"}),
        ("memory_update", "key", {"content": "w"}),
    ):
        few, many = (note_cost(memory, tool, key, more) for memory in memories)
        print(f"{tool:24}{few:12.2f}{many:15.2f}")


def note_cost(memory: Memory, tool: str, key: str, more: dict[str, str]) -> float:
    calls = (lambda n=n: memory.call(tool, {"key": f"{key}-{n}", **more}) for n in range(20))
    return sum(map(cpu, calls)) / 20 * 1000


def days_of_notes(home: Path, count: int, pages: int) -> Path:
    days = home / "agents/main/memory/daily"
    days.mkdir(parents=True)
    for day in range(pages):
        text = "".join(blocks.render(f"key-{n}", f"content of {n}", AT) for n in range(day, count, pages))
        (days / f"{date(2025, 1, 1) + timedelta(day)}.md").write_text(text)
    return home


def safe_write(home: Path) -> float:
    """What the file system itself takes: temporary file, fsync, rename, fsync of the folder."""

    def write(number: int) -> None:
        with open(home / ".bare", "wb") as file:
            file.write(b"value")
            os.fsync(file.fileno())
        os.replace(home / ".bare", home / f"bare-{number}")
        folder = os.open(home, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    return sum(cpu(lambda n=n: write(n)) for n in range(ROUNDS)) / ROUNDS * 1000  # type: ignore[misc]


def sweep(folder: Path) -> None:
    home = folder / "sweep"
    pages = home / "memory/global/general"
    pages.mkdir(parents=True)
    for number in range(10_000):
        (pages / f"key-{number}.md").write_text(f"value {number}\n")
    memory = Memory(home)
    first = cpu(memory.status)
    past_the_clock_tick(pages)
    memory.status()
    index = memory.home.index
    known = dict(memory.home.storage.pages.changes({}, index.scope.roots()).changed)
    ours = min(cpu(lambda: memory.home.storage.pages.changes(known, index.scope.roots())) for _ in range(9))
    bare = min(cpu(lambda: [entry.stat() for entry in os.scandir(pages)]) for _ in range(9))
    print("\n10,000 pages, CPU ms\n")
    print(f"{'stat sweep':24}{ours * 1000:9.1f}{'':12}{ours / bare:9.2f} x a bare scandir and stat")
    print(f"{'first index':24}{first * 1000:9.0f}")


def past_the_clock_tick(folder: Path) -> None:
    """Wait until pages written before now can be told from pages written after."""
    newest = max(entry.stat().st_mtime for entry in os.scandir(folder))
    while time.time() - newest < 0.1:
        pass


def command_line(folder: Path) -> None:
    print("\n`commonplace call memory_read` with 10,000 notes, CPU ms over a bare interpreter\n")
    bare = command([sys.executable, "-I", "-c", "pass"])
    for name, pages in (("in one page", 1), ("over 365 days", 365)):
        home = days_of_notes(folder / name.replace(" ", "-"), 10_000, pages)
        call = ["--home", str(home), "call", "memory_read", json.dumps({"key": "key-5"})]
        taken = command([sys.executable, "-I", "-m", "commonplace", *call])
        print(f"{name:24}{(taken - bare) * 1000:9.1f}")
    print(f"{'(bare interpreter)':24}{bare * 1000:9.1f}")


def command(arguments: list[str]) -> float:
    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(arguments, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(once() for _ in range(9))


def cpu(run: Callable[[], object]) -> float:
    started = time.process_time()
    run()
    return time.process_time() - started


if __name__ == "__main__":
    main()
