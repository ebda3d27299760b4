"""What history costs a write: pages written with and without it, in turns, on the same disk.

Run: ./dev history. Printed: the time and the CPU time of a write with history, as a ratio to one without.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from commonplace.home import utc_now
from commonplace.storage.folder.history import FolderHistory
from commonplace.storage.folder.pages import FolderPages

Write = Callable[[FolderPages, int], object]
KINDS: dict[str, Write] = {
    "a new record of 200 bytes": lambda pages, n: pages.write(
        f"memory/global/general/key-{n}.md", f"{n} {'x' * 200}\n"
    ),
    "a record replaced": lambda pages, n: pages.write("memory/global/general/key.md", f"{n} {'x' * 200}\n"),
    "an entry added to a day of 20 kB": lambda pages, n: pages.append("day.md", f"## 09:30\n\nEntry {n}\n\n"),
    "a page of 100 kB rewritten": lambda pages, n: pages.write("page.md", f"{n} " * 15_000),
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--writes", type=int, default=300, help="of each kind, with and without")
    given = options.parse_args()
    print(f"{'':36}{'ms without':>12}{'ms with':>10}{'ratio':>8}{'CPU ratio':>11}")
    for name, write in KINDS.items():
        with tempfile.TemporaryDirectory(dir=".") as folder:
            without, kept = (
                _opened(Path(folder) / "without", history=False),
                _opened(Path(folder) / "with", history=True),
            )
            figures = [[_timed(write, pages, n) for pages in (without, kept)] for n in range(given.writes)]
        wall = [statistics.median(row[side][0] for row in figures) for side in (0, 1)]
        cpu = [statistics.median(row[side][1] for row in figures) for side in (0, 1)]
        print(f"{name:36}{wall[0] * 1e3:12.2f}{wall[1] * 1e3:10.2f}{wall[1] / wall[0]:8.2f}{cpu[1] / cpu[0]:11.2f}")


def _opened(root: Path, *, history: bool) -> FolderPages:
    kept = FolderHistory(str(root / ".history"), str(root / ".locks"), utc_now) if history else None
    pages = FolderPages(str(root), history=kept)
    pages.write("day.md", "An earlier entry.\n" * 1_100)
    return pages


def _timed(write: Write, pages: FolderPages, number: int) -> tuple[float, float]:
    wall = time.perf_counter()
    cpu = time.thread_time()
    write(pages, number)
    return time.perf_counter() - wall, time.thread_time() - cpu


if __name__ == "__main__":
    main()
