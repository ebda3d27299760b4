"""What watching costs and how soon it sees: an edit by hand, an idle minute, a burst of pages.

Run: ./dev watch [--pages 10000] [--burst 5000] [--minute 60]. The CPU figures are of `commonplace watch` in a
process of its own, with events and, for comparison, without `watchfiles`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from commonplace import Memory
from commonplace.index.base import ignore_progress
from commonplace.index.watcher import PageChanges, watch_in_background

BLOCKED = """
class Blocked:
    def find_spec(self, name, *_):
        if name == "watchfiles":
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Blocked())
"""
COMMAND = """
import sys
{before}
sys.argv = ["commonplace", "--home", {home!r}, "watch"]
from commonplace.surfaces.cli import main
main()
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=10_000)
    options.add_argument("--burst", type=int, default=5_000)
    options.add_argument("--minute", type=float, default=60)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        fill(home, "old", given.pages)
        with Memory(home) as memory:
            memory.home.build_index(ignore_progress)
            print(f"{given.pages} pages")
            edits(memory, home)
            burst(memory, home, given.burst)
        for name, before in (("with events", ""), ("without watchfiles", BLOCKED)):
            cpu = idle(home, before, given.minute)
            print(f"idle, {name}: {cpu:.2f} s of CPU in {given.minute:.0f} s ({cpu / given.minute:.2%})")


def fill(home: Path, name: str, count: int) -> None:
    for number in range(count):
        page = home / f"memory/{name}{number % 100}/p{number}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"# Page {name} {number}\n\nParcel {name}{number} went to harbour {number % 7}.\n")


class Looks:
    """The real embedder of a memory, and how often it was asked to catch up."""

    def __init__(self, memory: Memory) -> None:
        self._meaning = memory.home.embedding
        self.count = 0

    def acquire(self, index: object) -> object:
        self.count += 1
        return self._meaning.acquire(index)  # type: ignore[arg-type]


def edits(memory: Memory, home: Path) -> None:
    """Seconds from the save of a page to the search that finds it, while searches rely on the watcher."""
    memory.search("parcel")
    took = []
    with watch_in_background(memory.home.index, lambda seen: None, memory.home.embedding) as how:
        for number in range(20):
            (home / "memory/edited.md").write_text(f"The heron{number} stands in the pond.\n")
            saved = time.monotonic()
            while not any(f"heron{number} " in hit.text for hit in memory.search(f"heron{number}", 3)):
                time.sleep(0.005)
            took.append(time.monotonic() - saved)
    print(
        f"an edit is found after {statistics.median(took):.2f} s (median of 20), {max(took):.2f} s at the most; {how}"
    )


def burst(memory: Memory, home: Path, count: int) -> None:
    looks = Looks(memory)
    told = set[str]()
    done = threading.Event()

    def tell(seen: PageChanges) -> None:
        told.update(seen.changed)
        if len(told) == count:
            done.set()

    with watch_in_background(memory.home.index, tell, looks):  # type: ignore[arg-type]
        before = looks.count
        started = time.monotonic()
        fill(home, "new", count)
        written = time.monotonic() - started
        done.wait()
        whole = time.monotonic() - started
        print(f"{count} pages written in {written:.1f} s are found after {whole:.1f} s, {looks.count - before} updates")


def idle(home: Path, before: str, seconds: float) -> float:
    """CPU of the command while nothing changes."""
    with watched(home, before) as number:
        start = cpu_of(number)
        time.sleep(seconds)
        return cpu_of(number) - start


@contextmanager
def watched(home: Path, before: str) -> Iterator[int]:
    code = COMMAND.format(before=before, home=str(home))
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        process.stderr.readline()
        try:
            yield process.pid
        finally:
            process.terminate()


def cpu_of(number: int) -> float:
    fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
