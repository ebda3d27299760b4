"""A backup taken while others write is a state that existed: nothing torn, nothing double, nothing out of order."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.errors import LockTimeout, OutsideHome
from commonplace.home import Home
from commonplace.maintenance.backup import export_file, export_to
from commonplace.maintenance.backup.archive import open_atomic
from commonplace.storage.file_locks import lock, lock_all

from ..access_rights import call_unprivileged
from .places import export, export_home, import_archive, put, tree

# Four writes a turn, always in this order: a note, its line in the log, a global that moves, a line of the day.
WRITER = """
import sys
from commonplace import Memory
home, name = sys.argv[1:]
m = Memory(home, agent=name)
turn = 0
while True:
    assert m.call("write_memory", {"key": f"{name}-{turn}", "content": f"{turn} start " + "x" * 2000 + f" end {turn}"})["status"] == "ok"
    where = {"key": f"g-{name}", "value": turn, "category": f"place-{turn % 3}"}
    assert m.call("MemoryTool", {"op": "setGlobal", **where})["success"]
    assert m.call("remember", {"content": f"turn {turn} of {name}"})["success"]
    if turn == 2:
        print("under way", flush=True)
    turn += 1
"""


def check(home: Path, name: str) -> int:
    """How far a writer was; every trace of it tells the same."""
    agent = home / "agents" / name / "memory"
    notes = sorted(int(path.stem.rpartition("-")[2]) for path in (agent / "working").glob(f"{name}-*.md"))
    for turn in notes:
        text = (agent / f"working/{name}-{turn}.md").read_text()
        assert f"\n{turn} start {'x' * 2000} end {turn}\n" in text
    log, days = ("".join(map(Path.read_text, sorted((agent / kind).glob("*.md")))) for kind in ("activity", "daily"))
    logged = [int(turn) for turn in re.findall(rf"key='{name}-(\d+)'", log)]
    output = [int(turn) for turn in re.findall(rf"^turn (\d+) of {name}$", days, re.MULTILINE)]
    (page,) = (home / "memory/global").glob(f"*/g-{name}.md")
    moved = int(page.read_text().split("\n")[-2])
    assert page.parent.name == f"place-{moved % 3}"
    for turns in (notes, logged, output):
        assert turns == list(range(len(turns)))
    counts = [len(notes), len(logged), moved + 1, len(output)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] - counts[-1] <= 1
    return len(output)


@pytest.mark.slow
def test_every_backup_during_writes_is_a_state_that_existed(home: Path, tmp_path: Path) -> None:
    names = ["ann", "bob", "eve"]
    Memory(home)
    for number in range(60):  # a home that takes a while to read
        put(home, f"memory/loose/{number}.md", f"page {number}\n" * 10_000)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(home), name], stdout=subprocess.PIPE) for name in names
    ]
    try:
        for writer in writers:
            assert writer.stdout
            assert writer.stdout.readline()
        backups = [export_home(home, "tar" if number % 2 else "jsonl", history=number % 3 == 0) for number in range(10)]
        assert [writer.poll() for writer in writers] == [None] * 3
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    before = dict.fromkeys(names, 0)
    for number, backup in enumerate(backups):
        restored = tmp_path / f"restored-{number}"
        import_archive(restored, backup)
        for name in names:
            turns = check(restored, name)
            assert turns >= before[name]
            before[name] = turns
        assert len(list((restored / "memory/loose").iterdir())) == 60
        assert number % 3 or check_history(restored)
    assert all(before.values())


def check_history(home: Path) -> bool:
    """History of the same moment: its last version of every page is the page."""
    history = Home(str(home)).storage.history
    for path in history.paths():
        ((_, last),) = history.versions(path)[-1:]
        assert last == ((home / path).read_bytes() if (home / path).exists() else None), path
    return True


def test_writers_wait_for_a_backup_and_go_on(memory: Memory, home: Path) -> None:
    done = threading.Event()

    def write() -> None:
        assert memory.call("remember", {"content": "after"})["success"]
        done.set()

    with lock_all(str(home / ".locks")):
        thread = threading.Thread(target=write)
        thread.start()
        assert not done.wait(0.1)
    thread.join()
    assert done.is_set()


def test_a_writer_that_does_not_let_go_is_named_and_nothing_stays_held(home: Path, memory: Memory) -> None:
    locks = str(home / ".locks")
    with (
        lock(locks, "page", "memory/a.md"),
        pytest.raises(LockTimeout, match=f"within 0.05 seconds: .* process {os.getpid()}"),
        lock_all(locks, timeout=0.05),
    ):
        pass
    with lock_all(locks, timeout=1):
        pass
    assert memory.call("remember", {"content": "x"})["success"]


def test_all_locks_are_taken_where_few_files_may_be_open(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from commonplace.storage.file_locks import lock_all\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
        "with lock_all(sys.argv[1]): print('held')"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "held\n"


def test_two_backups_at_once_wait_for_each_other(memory: Memory, home: Path) -> None:
    memory.call("remember", {"content": "x"})
    result: list[bytes] = []
    threads = [threading.Thread(target=lambda: result.append(export_home(home))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert result == [result[0]] * 4


def test_a_page_written_while_the_archive_is_written_is_not_in_it_by_half(memory: Memory, home: Path) -> None:
    put(home, "memory/a.md", "before " * 1000)
    put(home, "memory/b.md", "before " * 1000)

    class Stream(io.BytesIO):
        """Somebody writes whenever a piece of the archive is taken."""

        def write(self, data: object) -> int:
            memory.home.storage.pages.write("memory/b.md", "after " * 3000)
            memory.home.storage.pages.write("memory/c.md", "after")
            return super().write(data)  # type: ignore[arg-type]

    out = Stream()
    export_to(memory.home, out)
    new = home.parent / "new"
    import_archive(new, out.getvalue())
    assert sorted(tree(new)) == ["directives/memory.md", "memory/a.md", "memory/b.md"]
    assert (new / "memory/b.md").read_text() == "before " * 1000


def test_a_home_whose_locks_cannot_be_written_is_exported_with_a_warning(memory: Memory, home: Path) -> None:
    put(home, "memory/a.md", "x")
    (home / ".locks").chmod(0o500)
    try:
        _, done = call_unprivileged(lambda: export(home))
    finally:
        (home / ".locks").chmod(0o700)
    assert done.files == 2
    assert "could not be paused" in done.warnings[0]


def test_locks_that_are_a_link_are_not_taken_elsewhere(memory: Memory, home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (home / ".locks").rename(elsewhere)
    (home / ".locks").symlink_to(elsewhere)
    paths = sorted(elsewhere.iterdir())
    for archive in (lambda: export_home(home), lambda: import_archive(home, b'{"format":"commonplace","version":1}\n{"path":"memory/a.md","base64":"/w==","modified":"0"}\n')):  # fmt: skip
        with pytest.raises(OutsideHome):
            archive()
    assert sorted(elsewhere.iterdir()) == paths


HOLDER = """
import sys
from commonplace.maintenance.backup import export_file, export_to
from commonplace.home import Home
from commonplace.storage.file_locks import lock_all
what, home = sys.argv[1:]
def wait():
    print("here", flush=True)
    sys.stdin.read()
class Stream:
    def write(self, data):
        wait()
if what == "writing":
    export_to(Home(home), Stream())
with lock_all(home + "/.locks"):
    wait()
"""


@pytest.mark.parametrize("what", ["holding", "writing"])
def test_a_killed_export_holds_nobody_and_leaves_nothing(memory: Memory, home: Path, what: str) -> None:
    memory.call("remember", {"content": "x"})
    before = sorted(home.parent.rglob("*.md"))
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, what, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout
    assert holder.stdout.readline() == b"here\n"
    os.kill(holder.pid, signal.SIGKILL)
    holder.communicate()
    assert memory.call("remember", {"content": "y"})["success"]
    assert sorted(home.parent.rglob("*.md")) == before


# Writes, syncs and links are the steps of an export. It is killed before the step of a number, or says how many there are.
KILLED_AT_STEP = """
import builtins, io, os, signal, sys
from commonplace.home import Home
from commonplace.maintenance.backup import export_file
step, last = 0, int(sys.argv[3])
def counted(act):
    def take_step(*args, **options):
        global step
        if step == last:
            os.kill(os.getpid(), signal.SIGKILL)
        step += 1
        return act(*args, **options)
    return take_step
class File(io.BufferedWriter):
    write = counted(io.BufferedWriter.write)
real = builtins.open
builtins.open = lambda file, mode="r", *rest, **options: (
    File(io.FileIO(file, mode)) if mode == "wb" and isinstance(file, int) else real(file, mode, *rest, **options)
)
os.fsync, os.link = counted(os.fsync), counted(os.link)
export_file(Home(sys.argv[1]), sys.argv[2])
print(step)
"""


@pytest.mark.slow
def test_an_export_killed_at_any_time_leaves_the_whole_file_or_none(home: Path, tmp_path: Path) -> None:
    Memory(home)
    for number in range(40):
        put(home, f"memory/{number}.md", os.urandom(20_000))
    out = tmp_path / "out"
    out.mkdir()
    whole = export_home(home)

    def run(name: str, last: int) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-c", KILLED_AT_STEP, str(home), str(out / name), str(last)]
        return subprocess.run(command, stdout=subprocess.PIPE, check=False)

    steps = int(run("whole.tar", -1).stdout)
    assert steps > 40
    for last in {*range(0, steps, steps // 8), *range(steps - 4, steps)}:
        assert run(f"{last}.tar", last).returncode == -signal.SIGKILL
    assert {path.suffix for path in out.iterdir()} == {".tar"}
    assert {path.read_bytes() == whole for path in out.iterdir()} == {True}
    assert {path.name for path in out.iterdir()} == {"whole.tar", f"{steps - 1}.tar"}, "named by the last step but one"


KILLED_AT_THE_LAST = """
import os, signal, sys
from commonplace.maintenance.backup import export_file
from commonplace.home import Home
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
export_file(Home(sys.argv[1]), sys.argv[2], force=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="where a file that is open cannot be removed")
def test_what_an_export_left_that_was_killed_while_it_replaced_a_file_is_cleared_by_the_next(
    memory: Memory, home: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "b.tar").write_bytes(b"as it was")
    (out / ".other.tar.0123456789ab.tmp").write_bytes(b"of another file")
    done = subprocess.run([sys.executable, "-c", KILLED_AT_THE_LAST, str(home), str(out / "b.tar")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (out / "b.tar").read_bytes() == b"as it was"
    assert len([*out.iterdir()]) == 3
    export_file(memory.home, str(out / "b.tar"), force=True)
    assert sorted(path.name for path in out.iterdir()) == [".other.tar.0123456789ab.tmp", "b.tar"]


@pytest.mark.skipif(os.name != "posix", reason="where a file that is open cannot be removed")
@pytest.mark.parametrize("nameless", [True, False])
def test_what_another_export_is_writing_is_not_cleared(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nameless: bool
) -> None:
    if not nameless:  # a system that knows no files without a name
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    place = tmp_path / "b.tar"
    with open_atomic(str(place), replace=True) as file:
        file.write(b"slowly")
        export_file(memory.home, str(place), force=True)
        assert place.read_bytes() != b"slowly"
    assert place.read_bytes() == b"slowly"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["b.tar"]


@pytest.mark.slow
def test_an_import_killed_at_any_time_is_run_again(home: Path, tmp_path: Path) -> None:
    Memory(home)
    for number in range(200):
        put(home, f"memory/{number % 7}/{number}.md", f"page {number}" if number % 3 else b"\xff", 0o644)
    archive = tmp_path / "b.tar"
    archive.write_bytes(export_home(home))
    new = tmp_path / "new"
    command = [sys.executable, "-m", "commonplace", "--home", str(new), "import", str(archive)]
    killed = 0
    for number in range(12):
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            assert running.wait(0.02 + number * 0.04) == 0
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
            killed += 1
    assert subprocess.run(command, check=False).returncode == 0
    assert {path: file for path, file in tree(new).items() if "/." not in path} == tree(home)
    assert killed
