"""A disk that is full, from the n-th operation on: a page is there with its history, or it is not there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace import Memory

from .places import export_home, put

ROOT = Path(__file__).parents[2]
FILLING = """
import sys
from pathlib import Path
from commonplace.maintenance.backup import import_from
from commonplace.errors import CommonplaceError
from commonplace.home import Home
from tests.crash.faults import DISK, VARIANTS, install

archive, folder, variant = sys.argv[1], Path(sys.argv[2]), VARIANTS[sys.argv[3]]
install()

def brought(home):
    with open(archive, "rb") as file:
        return import_from(Home(str(home)), file)

def check(home, number):
    history = Home(str(home)).storage.history
    found = [path for path in home.rglob("*") if path.is_file() and "/." not in str(path.relative_to(folder))]
    for page in found:
        versions = history.versions(str(page.relative_to(home)))
        assert versions and versions[-1][1] == page.read_bytes(), (number, page)
    assert not [*home.rglob("*.tmp")], number
    return len(found)

home = folder / "0"
DISK.watch(str(home))
brought(home)
most, some = DISK.count, False
for number in range(1, most + 1):
    home = folder / str(number)
    DISK.watch(str(home), variant, number)
    try:
        brought(home)
    except CommonplaceError:
        pass
    DISK.leave()
    some = some or 0 < check(home, number) < 6
    brought(home)
    assert check(home, number) == 6, number
assert some
print(most)
"""


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["full-disk", "short-ENOSPC"])
def test_an_import_leaves_no_page_without_history(home: Path, tmp_path: Path, variant: str) -> None:
    Memory(home).call("remember", {"content": "x"})
    (home / "directives/memory.md").write_text("Remember less.")
    for number in range(4):
        put(home, f"memory/{number % 2}/{number}.md", f"page {number}")
    archive = tmp_path / "b.tar"
    archive.write_bytes(export_home(home))
    command = [sys.executable, "-c", FILLING, str(archive), str(tmp_path / "homes"), variant]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50
