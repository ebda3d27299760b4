"""Watching: what changes on disk is found within a moment, a burst costs a few looks, and nothing is missed."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.errors import NotFound
from commonplace.home import Home
from commonplace.index import handle as index_handle
from commonplace.index import sqlite as index_sqlite
from commonplace.index import watcher as index_watch
from commonplace.index.base import Index
from commonplace.index.embedding_service import ActiveEmbedders, EmbeddingService
from commonplace.index.watcher import PageChanges, WatchMode, remote_file_system, watch, watch_in_background
from commonplace.settings import SearchSettings
from commonplace.testing import FrozenClock

from ..waiting import LONG_SECONDS, wait_until

LONG = LONG_SECONDS
ROOT = Path(__file__).parents[2]


def put(home: Path, path: str, text: str) -> Path:
    """Write a page in one step, as most editors do: a look between two steps would report it twice."""
    file = home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.new")
    new.write_text(text)
    return new.replace(file)


class Looks(EmbeddingService):
    """Embeds nothing, counts how often the index is caught up, and lets something happen right after that."""

    def __init__(self) -> None:
        super().__init__(SearchSettings(provider="none"))
        self.count, self.after = 0, list[Callable[[], object]]()

    def acquire(self, index: Index) -> ActiveEmbedders:
        self.count += 1
        if self.after:
            self.after.pop()()
        return super().acquire(index)


class Watched:
    """A home that is watched for the time of a block, and what was told of it."""

    def __init__(self, home: Path) -> None:
        (home / "memory").mkdir(parents=True, exist_ok=True)
        if not (home / "commonplace.yaml").exists():
            put(home, "commonplace.yaml", "memorySearch:\n  provider: none\n")
        self.home, self.memory = home, Memory(home, clock=FrozenClock())
        self.changes: queue.Queue[PageChanges] = queue.Queue()
        self.looks = Looks()
        self.how = WatchMode(events=False)

    @contextmanager
    def __call__(self) -> Iterator[Watched]:
        with watch_in_background(self.memory.home.index, self.changes.put, self.looks) as self.how:
            yield self
        self.memory.close()

    def until(self, path: str, *, removed: bool = False) -> list[str]:
        """Return every path that is reported, up to this one."""
        paths: list[str] = []
        while path not in paths:
            seen = self.changes.get(timeout=LONG)
            paths += seen.removed if removed else seen.changed
        return paths

    def mark(self) -> list[str]:
        """Change one more page, wait until it is reported, and return what was reported before it."""
        put(self.home, "memory/mark.md", f"mark {time.monotonic_ns()}\n")
        return self.until("memory/mark.md")[:-1]

    def search(self, query: str) -> list[str]:
        """The pages that a search finds. One that waited too long on a busy machine says so, and is asked again."""
        reply = {"stale": True}
        while reply.get("stale"):
            reply = self.memory.call("memory_search", {"query": query}, toolset="retrieval")
        return [hit["path"] for hit in reply["results"]]


@pytest.fixture
def watched(home: Path) -> Iterator[Watched]:
    with Watched(home)() as watched:
        assert watched.how == WatchMode(events=True)
        yield watched


def test_the_watcher_reports_an_edit_by_hand_once_search_finds_it(watched: Watched) -> None:
    put(watched.home, "memory/bird.md", "The heron stands in the pond.\n")
    assert watched.until("memory/bird.md") == ["memory/bird.md"]
    assert watched.search("heron") == ["memory/bird.md"]
    put(watched.home, "memory/bird.md", "The kingfisher stands in the pond.\n")
    assert watched.until("memory/bird.md") == ["memory/bird.md"]
    assert (watched.search("heron"), watched.search("kingfisher")) == ([], ["memory/bird.md"])
    (watched.home / "memory/bird.md").unlink()
    assert watched.until("memory/bird.md", removed=True) == ["memory/bird.md"]
    assert watched.search("kingfisher") == []


def test_what_an_editor_saves_under_another_name_and_renames_is_seen_once(watched: Watched) -> None:
    for name in (".bird.md.swp", "bird.md~", "bird.md.tmp"):
        put(watched.home, "memory/bird.md", f"before {name}\n")
        watched.until("memory/bird.md")
        saved = put(watched.home, f"memory/{name}", f"after {name}\n")
        saved.rename(watched.home / "memory/bird.md")
        assert watched.mark() == ["memory/bird.md"]
        assert watched.search(f"after {name}")


def test_a_page_that_comes_and_goes_between_two_looks_is_reported_as_gone(watched: Watched) -> None:
    def come_and_go() -> None:
        put(watched.home, "memory/short.md", "Somebody may read this meanwhile.\n").unlink()

    watched.looks.after.append(come_and_go)
    put(watched.home, "memory/bird.md", "heron\n")
    assert "memory/short.md" in watched.until("memory/short.md", removed=True)


@pytest.mark.parametrize("write", ["in place", "by a tool", "by another process"])
def test_a_change_is_notified_whoever_writes_the_page(watched: Watched, write: str) -> None:
    path = "memory/world/birds.md"
    if write == "in place":
        (watched.home / "memory/world").mkdir()
        (watched.home / path).write_text("heron\n")
    elif write == "by a tool":
        watched.memory.call("update_world", {"topic": "birds", "content": "heron"})
    else:
        code = "import sys; from commonplace import Memory; Memory(sys.argv[1]).call('update_world', {'topic': 'birds', 'content': 'heron'})"
        subprocess.run([sys.executable, "-c", code, str(watched.home)], check=True)
    assert path in watched.until(path)
    wait_until(lambda: watched.search("heron") == [path], "what was written in place is read")


def test_a_folder_that_is_moved_or_deleted_is_seen_with_all_its_pages(watched: Watched) -> None:
    names = [f"memory/trip/deep/p{number}.md" for number in range(5)]
    for name in names:
        put(watched.home, name, "heron\n")
    reported: list[str] = []
    while len(reported) < 5:
        reported += watched.changes.get(timeout=LONG).changed
    assert sorted(reported) == names
    (watched.home / "memory/trip").rename(watched.home / "memory/journey")
    moved = [name.replace("trip", "journey") for name in names]
    assert watched.changes.get(timeout=LONG) == PageChanges(tuple(moved), tuple(names))
    put(watched.home, moved[0], "egret\n")
    assert watched.until(moved[0]) == [moved[0]]
    shutil.rmtree(watched.home / "memory/journey")
    gone: list[str] = []
    while len(gone) < 5:
        gone += watched.changes.get(timeout=LONG).removed
    assert sorted(gone) == moved
    assert watched.search("heron") == []


def test_pages_and_folders_at_the_top_are_watched_though_they_were_not_there(watched: Watched) -> None:
    put(watched.home, "MEMORY.md", "heron\n")
    assert watched.until("MEMORY.md") == ["MEMORY.md"]
    put(watched.home, "MEMORY.md", "egret\n")
    assert watched.until("MEMORY.md") == ["MEMORY.md"]
    put(watched.home, "skills/fish/SKILL.md", "---\ndescription: how herons fish\n---\n")
    watched.until("skills/fish/SKILL.md")
    put(watched.home, "skills/fish/data.json", '{"patience": "long"}')
    watched.until("skills/fish/data.json")
    assert watched.search("patience") == ["skills/fish/SKILL.md"]
    shutil.rmtree(watched.home / "memory")
    put(watched.home, "memory/again.md", "stork\n")
    watched.until("memory/again.md")
    put(watched.home, "memory/again.md", "crane\n")
    assert watched.until("memory/again.md") == ["memory/again.md"]


def test_what_is_no_page_is_not_worth_a_look(watched: Watched) -> None:
    watched.mark()
    before = watched.looks.count
    for path in (".index/x.md", ".locks/y.md", ".history/z.md", "memory/.a.md.tmp", "memory/.git/b.md", "memory/c.txt"):
        put(watched.home, path, "heron\n")
    put(watched.home, "elsewhere/d.md", "heron\n")
    assert watched.mark() == []
    assert watched.looks.count <= before + 2  # the mark's own, and perhaps one for a folder that was new


def test_what_changes_between_the_first_look_and_the_first_event_is_not_missed(home: Path) -> None:
    put(home, "memory/old.md", "old\n")
    watched = Watched(home)
    watched.looks.after.append(lambda: put(home, "memory/between.md", "heron\n"))
    with watched():
        assert watched.until("memory/between.md") == ["memory/between.md"]
        assert watched.search("heron") == ["memory/between.md"]


def test_what_changes_while_a_look_is_taken_is_not_missed(watched: Watched) -> None:
    for number in range(20):
        name = f"memory/during{number}.md"
        watched.looks.after.append(lambda name=name: put(watched.home, name, "heron\n"))  # type: ignore[misc]
        put(watched.home, "memory/before.md", f"before {number}\n")
        watched.until(name)


def in_this_thread(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Fills with every look at the pages that this thread takes itself."""
    looks: list[object] = []
    pages, here = watched.memory.home.storage.pages, threading.get_ident()
    changes = pages.changes

    def count_changes(known: Any, roots: Any) -> Any:
        if threading.get_ident() == here:
            looks.append(roots)
        return changes(known, roots)

    monkeypatch.setattr(pages, "changes", count_changes)
    return looks


def wait_until_relied_on(watched: Watched) -> None:
    """Wait until searches rely on the watcher."""
    lease = watched.memory.home.index.freshness_lease()
    assert lease

    def is_valid() -> bool:
        watched.mark()
        return lease.is_valid()

    wait_until(is_valid, "searches rely on the watcher")


def test_while_pages_are_watched_a_search_does_not_look_itself(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_handle, "_LEASE_SECONDS", LONG)  # a busy machine has no time for the watcher
    assert watched.search("heron") == []
    wait_until_relied_on(watched)
    looks = in_this_thread(watched, monkeypatch)

    def search_without_a_look() -> bool:
        looks.clear()
        for _ in range(20):
            watched.search("heron")
        return not looks

    wait_until(search_without_a_look, "twenty searches that do not look themselves")
    put(watched.home, "memory/bird.md", "heron\n")
    watched.until("memory/bird.md")
    assert watched.search("heron") == ["memory/bird.md"]


def test_what_a_tool_writes_is_found_at_once_also_while_pages_are_watched(watched: Watched) -> None:
    watched.search("heron")
    long = "A line of a long story.\n\n" * 3_000
    for number in range(10):
        wait_until_relied_on(watched)
        watched.memory.call("update_world", {"topic": f"small{number}", "content": f"heron{number}"})
        assert watched.search(f"heron{number}") == [f"memory/world/small{number}.md"]
        watched.memory.call("update_world", {"topic": f"large{number}", "content": f"{long}egret{number}"})
        assert watched.search(f"egret{number}") == [f"memory/world/large{number}.md"]


def test_another_handle_of_this_process_relies_on_it_and_sees_large_pages_at_once(watched: Watched) -> None:
    with Memory(watched.home, "other", clock=FrozenClock()) as other:
        other.search("heron")
        watched.search("heron")
        wait_until_relied_on(watched)
        text = "A line of a long story.\n\n" * 3_000 + "egret"
        watched.memory.call("update_world", {"topic": "large", "content": text})
        assert [hit.path for hit in other.search("egret")] == ["memory/world/large.md"]


def test_a_handle_finds_at_once_what_it_wrote_before_its_first_search(watched: Watched) -> None:
    watched.search("heron")
    wait_until_relied_on(watched)
    with Memory(watched.home, clock=FrozenClock()) as other:
        text = "A line of a long story.\n\n" * 3_000 + "egret"
        other.call("update_world", {"topic": "large", "content": text})
        assert [hit.path for hit in other.search("egret")] == ["memory/world/large.md"]


def test_nobody_relies_on_a_watcher_of_a_process_that_forked(watched: Watched) -> None:
    watched.search("heron")
    wait_until_relied_on(watched)
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:  # pragma: no cover
        put(watched.home, "memory/child.md", "stork\n")
        os.write(writing, str(watched.search("stork")).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 100) == b"['memory/child.md']"
    os.close(reading)
    os.close(writing)


def test_when_watching_ends_a_search_looks_itself_again(home: Path) -> None:
    watched = Watched(home)
    with watched():
        watched.search("heron")
        wait_until_relied_on(watched)
    for number in range(5):
        put(home, "memory/bird.md", f"heron{number}\n")
        assert watched.search(f"heron{number}") == ["memory/bird.md"]
    assert [thread for thread in threading.enumerate() if thread.name == "watch"] == []
    assert not (home / ".index/watching").exists()


def test_an_index_that_is_removed_is_rebuilt_and_watched_on(watched: Watched) -> None:
    put(watched.home, "memory/bird.md", "heron\n")
    watched.until("memory/bird.md")
    shutil.rmtree(watched.home / ".index")
    assert watched.search("heron") == ["memory/bird.md"]
    put(watched.home, "memory/bird.md", "egret\n")
    watched.until("memory/bird.md")
    assert watched.search("egret") == ["memory/bird.md"]


def test_an_index_that_is_held_by_another_process_is_caught_up_afterwards(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_sqlite, "_LOCK_TIMEOUT_SECONDS", 0.05)
    with Watched(home)() as watched:
        looked = threading.Event()
        (file,) = (home / ".index").glob("words-*.sqlite")
        with closing(sqlite3.connect(file, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            watched.looks.after.append(looked.set)
            put(home, "memory/bird.md", "heron\n")
            assert looked.wait(LONG)
            reply = watched.memory.call("memory_search", {"query": "heron"})
            assert (reply["results"], reply["stale"]) == ([], True)
            db.execute("ROLLBACK")
        watched.until("memory/bird.md")
        assert watched.search("heron") == ["memory/bird.md"]


def test_a_name_that_is_no_text_stops_nothing(watched: Watched) -> None:
    odd = os.fsencode(watched.home / "memory") + b"/\xff.md"
    try:
        with open(odd, "wb") as file:
            file.write(b"odd\n")
    except OSError:
        pytest.skip("this file system has no such names")
    assert watched.mark() == []
    assert watched.mark() == []


def test_a_home_that_goes_away_and_comes_back_is_watched_on(watched: Watched, tmp_path: Path) -> None:
    put(watched.home, "memory/bird.md", "heron\n")
    watched.until("memory/bird.md")
    watched.home.rename(tmp_path / "away")
    watched.until("memory/bird.md", removed=True)
    (tmp_path / "away").rename(watched.home)
    watched.until("memory/bird.md")
    put(watched.home, "memory/bird.md", "egret\n")
    watched.until("memory/bird.md")
    assert watched.search("egret") == ["memory/bird.md"]


def test_a_home_behind_a_link_is_watched(home: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    home.symlink_to(tmp_path / "real")
    with Watched(home)() as watched:
        assert watched.how.events
        put(tmp_path / "real", "memory/bird.md", "heron\n")
        assert watched.until("memory/bird.md") == ["memory/bird.md"]


def count_looks(watched: Watched, pages: int, write: Callable[[], object]) -> int:
    """How many looks it took until so many pages were reported that were all written during one look: however slow the
    machine is, the watcher meets all of their events at once."""
    watched.mark()
    before = watched.looks.count + 1
    watched.looks.after.append(write)
    put(watched.home, "memory/mark.md", "once more\n")
    reported: set[str] = set()
    while len(reported) < pages:
        reported |= {path for path in watched.changes.get(timeout=LONG).changed if path != "memory/mark.md"}
    assert len(reported) == pages
    return watched.looks.count - before


def test_a_burst_of_pages_costs_a_few_looks(watched: Watched) -> None:
    def write() -> None:
        for number in range(600):
            put(watched.home, f"memory/many/p{number}.md", f"heron {number}\n")

    assert count_looks(watched, 600, write) <= 3
    assert watched.search("heron 599")


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_a_checkout_of_five_thousand_pages_costs_a_handful_of_looks(home: Path) -> None:
    def git(*arguments: str) -> None:
        names = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=empty"]
        subprocess.run(["git", *names, "-C", str(home), *arguments], check=True, capture_output=True)

    put(home, "memory/readme.md", "egret\n")
    put(home, ".gitignore", ".index/\n.locks/\n.history/\n")
    git("init")
    git("add", ".")
    git("commit", "-m", "one page")
    git("checkout", "-b", "many")
    for number in range(5000):
        put(home, f"memory/f{number % 50}/p{number}.md", f"heron {number}\n")
    git("add", ".")
    git("commit", "-m", "many pages")
    git("checkout", "empty")
    with Watched(home)() as watched:
        assert count_looks(watched, 5000, lambda: git("checkout", "many")) <= 4
        assert watched.search("heron 4999")
        git("checkout", "empty")
        gone = 0
        while gone < 5000:
            gone += len(watched.changes.get(timeout=LONG).removed)
        assert watched.search("heron") == []


def test_a_home_that_is_not_there_cannot_be_watched(home: Path) -> None:
    follower = Home(str(home)).index
    with pytest.raises(NotFound, match="there is no memory at"), watch_in_background(follower, lambda seen: None):
        pass
    assert not home.exists()


def test_an_error_of_a_listener_ends_the_watcher(home: Path) -> None:
    (home / "memory").mkdir(parents=True)

    def break_pipe(seen: PageChanges) -> None:
        raise BrokenPipeError(str(seen.changed))

    def write_page(how: WatchMode) -> None:
        put(home, "memory/a.md", "x\n")

    with pytest.raises(BrokenPipeError, match="memory/a"):
        watch(Home(str(home)).index, threading.Event(), break_pipe, Looks(), write_page)
    assert not (home / ".index/watching").exists()


def a_bell_that(rings: Callable[[str], bool]) -> types.ModuleType:
    """A `watchfiles` that tells of some files in the folders it is given, and of nothing below those."""

    def tell(*folders: str, stop_event: Any, **_: object) -> Iterator[set[tuple[int, str]]]:
        known: set[str] = set()
        while not stop_event.is_set():
            there = {entry.path for folder in folders if os.path.isdir(folder) for entry in os.scandir(folder)}
            if new := {path for path in there - known if rings(path)}:
                yield {(1, path) for path in new}
            known = there
            time.sleep(0.01)

    module = types.ModuleType("watchfiles")
    module.watch = tell  # type: ignore[attr-defined]
    return module


def test_where_no_event_comes_it_looks_every_second_and_says_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", a_bell_that(lambda path: False))
    with Watched(home)() as watched:
        assert watched.how == WatchMode(events=False, reason="the file system does not report changes")
        put(home, "memory/bird.md", "heron\n")
        assert watched.search("heron") == ["memory/bird.md"]  # nobody relies on it: a search looks itself
        watched.until("memory/bird.md")
        put(home, "memory/bird.md", "egret\n")
        watched.until("memory/bird.md")


def test_where_events_stay_away_that_should_have_come_they_are_not_believed_any_more(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", a_bell_that(lambda path: "/watching/" in path))
    monkeypatch.setattr(index_watch, "_SAFETY_SWEEP_SECONDS", 0.2)
    hows: queue.Queue[WatchMode] = queue.Queue()
    watched = Watched(home)
    stop = threading.Event()
    arguments = (watched.memory.home.index, stop, watched.changes.put, watched.looks, hows.put)
    thread = threading.Thread(target=watch, args=arguments)
    thread.start()
    try:
        assert hows.get(timeout=LONG) == WatchMode(events=True)
        put(home, "memory/bird.md", "heron\n")
        watched.until("memory/bird.md")
        assert hows.get(timeout=LONG) == WatchMode(False, "pages changed that the file system did not report")
        put(home, "memory/bird.md", "egret\n")
        watched.until("memory/bird.md")
    finally:
        stop.set()
        thread.join()


def test_where_the_index_cannot_be_stored_the_watcher_looks_every_second(home: Path) -> None:
    put(home, ".index", "a file in the way")
    with Watched(home)() as watched:
        assert not watched.how.events
        assert ".index/watching cannot be made" in watched.how.reason
        put(home, "memory/bird.md", "heron\n")
        watched.until("memory/bird.md")


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sda2 /home/local\\040disk ext4 rw 0 0
//box/share /mnt/share cifs rw 0 0
host /mnt/host fuse.sshfs rw 0 0
tmpfs /tmp tmpfs rw 0 0
odd
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/srv/memory", ""),
        ("/home/ann/memory", "nfs4"),
        ("/home/local disk/memory", ""),
        ("/homes/ann", ""),
        ("/mnt/share", "cifs"),
        ("/mnt/host/a/b", "fuse.sshfs"),
        ("/tmp/x", ""),
    ],
)
def test_file_systems_that_others_write_to_unheard_are_known(folder: str, kind: str) -> None:
    assert remote_file_system(folder, MOUNTS) == kind
    assert remote_file_system(folder, "") == ""


BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, *_):
        if name.split(".")[0] == "watchfiles":
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Blocked())
"""


class Command:
    """`commonplace watch` in a process of its own."""

    def __init__(self, home: Path, *options: str, before: str = "") -> None:
        argv = ["commonplace", "--home", str(home), "watch", *options]
        code = f"{before}\nimport sys\nsys.argv = {argv!r}\nfrom commonplace.surfaces.cli import main\nmain()\n"
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([sys.executable, "-c", code], stdout=pipe, stderr=pipe, text=True)
        self._lines: queue.Queue[str] = queue.Queue()
        self._errors: queue.Queue[str] = queue.Queue()
        for stream, lines in ((self._process.stdout, self._lines), (self._process.stderr, self._errors)):
            threading.Thread(target=self._read, args=(stream, lines), daemon=True).start()

    def _read(self, stream: Any, lines: queue.Queue[str]) -> None:
        with stream:
            for line in stream:
                lines.put(line)

    def line(self) -> str:
        return self._lines.get(timeout=LONG).rstrip("\n")

    def error(self) -> str:
        return self._errors.get(timeout=LONG).rstrip("\n")

    def end(self, number: int) -> int:
        self._process.send_signal(number)
        return self._process.wait(LONG)

    def __enter__(self) -> Command:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(LONG)


@pytest.fixture
def own(home: Path) -> Path:
    put(home, "memory/bird.md", "heron\n")
    return home


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_shows_each_change_and_ends_cleanly(own: Path, number: int) -> None:
    with Command(own) as command:
        assert command.error() == f"watching {own}"
        put(own, "memory/bird.md", "egret\n")
        at, change, path = command.line().split("\t")
        assert (len(at), change, path) == (8, "changed", "memory/bird.md")
        put(own, "agents/other/memory/secret.md", "not for main\n")
        (own / "memory/bird.md").unlink()
        assert command.line().split("\t")[1:] == ["removed", "memory/bird.md"]
        assert command.end(number) == 0
        assert not (own / ".index/watching").exists()


def test_the_command_in_json_says_an_object_a_line(own: Path) -> None:
    with Command(own, "--json") as command:
        command.error()
        put(own, "memory/日本.md", "egret\n")
        reply = json.loads(command.line())
        assert reply.pop("at").endswith("Z")
        assert reply == {"change": "changed", "path": "memory/日本.md"}


def test_the_command_works_without_watchfiles_and_says_so(own: Path) -> None:
    with Command(own, before=BLOCKED) as command:
        reason = "watchfiles is not installed: pip install 'commonplace[watch]'"
        assert command.error() == f"watching {own} by looking every second: {reason}"
        put(own, "memory/bird.md", "egret\n")
        assert command.line().split("\t")[1:] == ["changed", "memory/bird.md"]
        assert command.end(signal.SIGTERM) == 0


def test_what_the_command_saw_is_found_by_others_without_a_look(own: Path) -> None:
    with Command(own) as command:
        command.error()
        put(own, "memory/bird.md", "kingfisher\n")
        command.line()
        index = Home(str(own)).index._open()  # as it is, without catching up
        assert index.versions() == Memory(own).home.index.query(lambda view: view.index.versions())
        assert [index.coverage(space).whole for space in index.spaces()] == [True]
        index.close()


def test_the_command_for_a_missing_home_says_what_to_do(home: Path) -> None:
    argv = [sys.executable, "-m", "commonplace", "--home", str(home), "watch"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 3
    assert "there is no memory at" in done.stderr
    assert "commonplace init" in done.stderr
    assert not home.exists()


@pytest.mark.parametrize("layout", ["native", "duragent", "agentool", "openclaw"])
def test_every_layout_is_watched(home: Path, layout: str) -> None:
    put(home, "commonplace.yaml", f"layout: {layout}\nmemorySearch:\n  provider: none\n")
    with Watched(home)() as watched:
        assert watched.how.events
        watched.memory.call("update_world", {"topic": "birds", "content": "heron"})
        (path,) = watched.changes.get(timeout=LONG).changed
        put(home, path, "egret\n")
        assert watched.until(path) == [path]
        watched.memory.call("remember", {"content": "stork"})
        (day,) = watched.changes.get(timeout=LONG).changed
        assert watched.search("stork") == [day]


def test_a_home_that_is_searched_as_a_whole_is_watched_as_a_whole_without_events_of_its_own_files(home: Path) -> None:
    put(home, "commonplace.yaml", "memorySearch:\n  provider: none\n  extraPaths: ['**/*.md']\n")
    with Watched(home)() as watched:
        assert watched.how.events
        put(home, "docs/deep/bird.md", "heron\n")
        watched.until("docs/deep/bird.md")
        put(home, "README.md", "egret\n")
        assert watched.until("README.md") == ["README.md"]
        before = watched.looks.count
        for number in range(5):
            put(home, "docs/deep/bird.md", f"stork {number}\n")
            watched.until("docs/deep/bird.md")
        assert watched.looks.count - before <= 12
