"""What a backup costs: seconds and size to export and to import a home, and for how long writers are held.

Run: ./dev backup [--pages N]. Beside each figure is what the bare work takes: reading all files, or writing them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from commonplace.formats import records
from commonplace.home import Home
from commonplace.maintenance.backup import export_file, import_from

AT = "2026-03-14T09:26:53.000000Z"
NAMES = ("b.tar", "b.tar.gz", "b.jsonl", "b.jsonl.gz")
WRITER = """
import sys
from commonplace import Memory
m = Memory(sys.argv[1])
print("ready", flush=True)
n = 0
while True:
    m.call("write_memory", {"key": f"live-{n % 50}", "content": f"{n}"})
    n += 1
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=10_000, help="pages in the home")
    count = options.parse_args().pages
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        fill(home, count)
        size = sum(path.stat().st_size for path in home.rglob("*.md"))
        print(f"\n{count:,} pages, {size / 1e6:.1f} MB\n")
        print(f"{'':24}{'seconds':>9}{'MB':>9}{'held, ms':>10}")
        print(f"{'(reading the files)':24}{timed(lambda: [p.read_bytes() for p in home.rglob('*.md')]):9.2f}")
        for name in NAMES:
            out(home, Path(folder) / name)
        for name in NAMES[1::2]:
            back(Path(folder) / name, Path(folder) / f"new-{name}")
        print(f"{'(writing them safely)':24}{timed(lambda: write_safely(home, Path(folder) / 'bare')):9.2f}")
        live(home, Path(folder))


def fill(home: Path, count: int) -> None:
    """Records of about a kilobyte over a hundred folders, as the tools would have written them; no two alike."""
    chance = Random(1)
    words = ["".join(chance.choices("aeinorst", k=chance.randint(2, 9))) for _ in range(5000)]
    for number in range(count):
        text = " ".join(chance.choices(words, k=140))
        page = home / f"memory/channels/c{number % 100}/key-{number}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(records.render_record("", f"{number}: {text}", {"created_at": AT, "updated_at": AT}))


def out(home: Path, target: Path) -> None:
    started = time.perf_counter()
    done = export_file(Home(str(home)), str(target))
    taken = time.perf_counter() - started
    print(f"{'export ' + target.name:24}{taken:9.2f}{target.stat().st_size / 1e6:9.2f}{done.held * 1000:10.0f}")


def back(archive: Path, new: Path) -> None:
    with archive.open("rb") as file:
        print(f"{'import ' + archive.name:24}{timed(lambda: import_from(Home(str(new)), file)):9.2f}")


def live(home: Path, folder: Path) -> None:
    """Exports while two processes write as fast as they can."""
    command = [sys.executable, "-c", WRITER, str(home)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    for writer in writers:
        assert writer.stdout
        writer.stdout.readline()
    try:
        held = [export_file(Home(str(home)), str(folder / f"live-{n}.tar")).held * 1000 for n in range(5)]
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    print(f"\nTwo writers meanwhile, five exports: held {min(held):.0f} to {max(held):.0f} ms")


def write_safely(home: Path, new: Path) -> None:
    """The least that a safe write is: a file, fsync, rename, fsync of the folder."""
    for page in home.rglob("*.md"):
        place = new / page.relative_to(home)
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.with_suffix(".tmp")
        with beside.open("wb") as file:
            file.write(page.read_bytes())
            os.fsync(file.fileno())
        beside.rename(place)
        handle = os.open(place.parent, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


def timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
