"""The index is never in the way: locked, damaged, read-only or of another version, memory is read, written and found."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from commonplace import Memory
from commonplace.index import sqlite as index_sqlite
from commonplace.index.sqlite import SCHEMA_VERSION
from commonplace.testing import FrozenClock

from ..access_rights import call_unprivileged
from ..waiting import wait_until

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("remember", {"content": "kiwi of the day"}),
    ("recall", {}),
    ("reflect", {"content": "likes kiwi"}),
    ("update_world", {"topic": "fruit", "content": "Kiwi is green."}),
    ("memory_write", {"key": "fresh", "content": "kiwi"}),
    ("memory_read", {"key": "fresh"}),
    ("MemoryTool", {"op": "setGlobal", "key": "k3", "value": "kiwi"}),
    ("MemoryTool", {"op": "getGlobal", "key": "k3"}),
    ("MemoryTool", {"op": "listGlobal"}),
    ("MemoryTool", {"op": "deleteGlobal", "key": "k4"}),
]
WORDS = ["papaya", "kiwi"]


def make_index(home: Path) -> Path:
    """A home whose index is up to date and closed; the file of that index."""
    with Memory(home, clock=FrozenClock()) as memory:
        for number in range(12):
            memory.call("MemoryTool", {"op": "setGlobal", "key": f"k{number}", "value": f"papaya {number}"})
        assert memory.search("papaya")
    (file,) = (home / ".index").glob("words-*.sqlite")
    return file


def do_everything(memory: Memory) -> list[dict[str, Any]]:
    """Read and write in every way, then search: what was there and what was just written. The searches' replies."""
    for tool, arguments in CALLS:
        reply = memory.call(tool, arguments)
        assert "error" not in reply, reply
        assert reply.get("success", True), reply
    assert memory.call("MemoryTool", {"op": "getGlobal", "key": "k3"})["value"] == "kiwi"
    assert "kiwi of the day" in memory.call("recall")["content"]
    assert "likes kiwi" in str(memory.context(query="kiwi"))
    assert memory.status()["pages"]
    return [memory.call("memory_search", {"query": word}) for word in WORDS]


def finds_everything(memory: Memory) -> bool:
    return all(reply["results"] and "stale" not in reply for reply in do_everything(memory))


@contextmanager
def bm25_score(file: Path, how: str) -> Iterator[None]:
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute(f"BEGIN {how}")
        yield
        db.execute("ROLLBACK")


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_sqlite, "_LOCK_TIMEOUT_SECONDS", 0.05)


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize("how", ["IMMEDIATE", "EXCLUSIVE"])
@pytest.mark.parametrize("opened", [True, False], ids=["open before", "opened meanwhile"])
def test_while_another_process_holds_the_index_memory_works_and_a_search_says_what_it_may_miss(
    home: Path, clock: FrozenClock, how: str, opened: bool
) -> None:
    file = make_index(home)
    with Memory(home, clock=clock) as memory:
        if opened:
            memory.search("papaya")
        with bm25_score(file, how):
            for reply in do_everything(memory):
                assert reply["results"] or reply["stale"]
                assert "stale" in reply or "warning" in reply
                assert "index" in reply["warning"]
        memory.home.index._retry_at = 0.0  # as if the pause were over
        for word in WORDS:
            reply = memory.call("memory_search", {"query": word})
            assert reply["results"]
            assert reply.keys().isdisjoint({"stale", "warning"})


@pytest.mark.usefixtures("_impatient")
def test_a_search_while_the_index_is_behind_says_so_and_names_the_reason(home: Path, clock: FrozenClock) -> None:
    file = make_index(home)
    with Memory(home, clock=clock) as memory:
        memory.search("papaya")
        with bm25_score(file, "IMMEDIATE"):
            (home / "memory/new.md").write_text("A lychee.\n")
            reply = memory.call("memory_search", {"query": "lychee"})
            assert (reply["results"], reply["stale"]) == ([], True)
            assert "the index is behind the pages (database is locked)" in reply["warning"]
            assert memory.status()["index_up_to_date"] is False
            receipt = memory.context(query="lychee").receipt
            assert any("behind" in warning for warning in receipt["warnings"])
        reply = memory.call("memory_search", {"query": "lychee"})
        assert reply["results"]
        assert reply.keys().isdisjoint({"stale", "warning"})


DAMAGES = {
    "empty": lambda data: b"",
    "cut in the middle of a page": lambda data: data[: len(data) // 2 + 7],
    "cut after the first page": lambda data: data[:4096],
    "zeros": lambda data: bytes(len(data)),
    "not a database": lambda data: b"no database at all, not even close to one " * 200,
    "another header": lambda data: b"SQLite format 9\0" + data[16:],
    "every second page": lambda data: b"".join(
        data[at : at + 4096] if at // 4096 % 2 == 0 else b"\xa5" * 4096 for at in range(0, len(data), 4096)
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("opened", [True, False], ids=["open before", "opened afterwards"])
def test_a_damaged_index_stops_no_write_no_read_and_no_search(
    home: Path, clock: FrozenClock, damage: str, opened: bool
) -> None:
    file = make_index(home)
    with Memory(home, clock=clock) as memory:
        if opened:
            memory.search("papaya")
        file.write_bytes(DAMAGES[damage](file.read_bytes()))
        assert finds_everything(memory)
    with Memory(home, clock=clock) as again:
        assert again.search("papaya")
        assert again.search("kiwi")


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM words_data",
        "UPDATE passage_terms SET terms = x'ff00ff'",
        "UPDATE passage_terms SET lexemes = CAST(x'ff00ff' AS TEXT)",
        "DELETE FROM passage_terms",
        "UPDATE vectors SET row = row + 9999",
        "UPDATE vectors SET row = 'x'",
        "UPDATE passages SET length = 'x'",
        "DROP TABLE passages",
        "DROP TABLE vectors",
        "UPDATE statements SET keys = x'ff00ff'",
        "UPDATE statements SET keys = x'00000000'",
        "UPDATE statements SET parsed = '[[1]]'",
        "DROP TABLE statements",
        "ALTER TABLE passages RENAME COLUMN text TO said",
    ],
)
def test_an_index_that_misses_something_stops_no_write_no_read_and_no_search(
    home: Path, clock: FrozenClock, damage: str
) -> None:
    with closing(sqlite3.connect(make_index(home), isolation_level=None)) as db:
        db.execute(damage)
    with Memory(home, clock=clock) as memory:
        assert finds_everything(memory)


def test_a_folder_in_the_place_of_an_indexs_log_stops_nothing(home: Path, clock: FrozenClock) -> None:
    file = make_index(home)
    for beside in (home / ".index").glob("*-wal"):
        beside.unlink()
    (file.parent / f"{file.name}-wal").mkdir()
    with Memory(home, clock=clock) as memory:
        for reply in do_everything(memory):
            assert reply["results"]
            assert "this process keeps its own" in reply["warning"]


PROGRAM = """
import json, sys
import commonplace.index.handle, commonplace.index.sqlite
from pathlib import Path
from commonplace import Memory
from tests.index.test_handle import do_everything
commonplace.index.handle.SCHEMA_VERSION = commonplace.index.sqlite.SCHEMA_VERSION = int(sys.argv[2])
with Memory(sys.argv[1]) as memory:
    if sys.argv[3] == "everything":
        replies = do_everything(memory)
    else:
        replies = [memory.call("memory_search", {"query": word}) for word in sys.argv[3:]]
print(json.dumps(replies))
"""


def run(home: Path, *arguments: str) -> list[dict[str, Any]]:
    """The replies of another process, perhaps of another version of the program."""
    argv = [sys.executable, "-c", PROGRAM, str(home), *arguments]
    done = subprocess.run(argv, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    replies: list[dict[str, Any]] = json.loads(done.stdout)
    return replies


@pytest.mark.parametrize("part", ["file", "folder", "both"])
def test_a_read_only_index_is_left_alone_and_memory_works(home: Path, part: str) -> None:
    file = make_index(home)
    if part != "folder":
        file.chmod(0o400)
    if part != "file":
        file.parent.chmod(0o500)

    def work() -> list[dict[str, Any]]:
        with Memory(home, clock=FrozenClock()) as memory:
            return do_everything(memory)

    try:
        for reply in call_unprivileged(work):
            assert reply["results"]
            assert "this process keeps its own" in reply.get("warning", "") or part == "folder"
    finally:
        file.parent.chmod(0o700)
        file.chmod(0o600)
    with Memory(home, clock=FrozenClock()) as memory:
        assert all(memory.search(word) for word in WORDS)


def test_two_versions_of_the_program_keep_an_index_each_and_see_each_others_writes(
    home: Path, clock: FrozenClock
) -> None:
    ours = make_index(home)
    inode = ours.stat().st_ino
    with Memory(home, clock=clock) as memory:
        assert memory.search("papaya")
        for reply in run(home, str(SCHEMA_VERSION + 1), "everything"):
            assert reply["results"]
            assert reply.keys().isdisjoint({"stale", "warning"})
        names = {file.name.rsplit("-", 1)[0] for file in (home / ".index").glob("words-*.sqlite")}
        assert names == {f"words-{SCHEMA_VERSION}", f"words-{SCHEMA_VERSION + 1}"}
        reply = memory.call("memory_search", {"query": "kiwi"})
        assert reply["results"]
        assert reply.keys().isdisjoint({"stale", "warning"})
        memory.call("update_world", {"topic": "late", "content": "A lychee, late."})
        (reply,) = run(home, str(SCHEMA_VERSION + 1), "lychee")
        assert [hit["path"] for hit in reply["results"]] == ["memory/world/late.md"]
        assert reply.keys().isdisjoint({"stale", "warning"})
    assert ours.stat().st_ino == inode


def test_an_index_of_a_newer_schema_under_our_name_is_replaced(home: Path, clock: FrozenClock) -> None:
    file = make_index(home)
    file.unlink()
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("CREATE TABLE pages(address TEXT, mark BLOB, more TEXT)")
        db.execute("CREATE TABLE entirely(other TEXT)")
    with Memory(home, clock=clock) as memory:
        assert finds_everything(memory)


def test_writes_that_wait_for_the_index_are_taken_in_together(home: Path, clock: FrozenClock) -> None:
    statements: list[str] = []

    def count_transactions(index: Any) -> int:
        index._db.set_trace_callback(statements.append)
        writers = [Thread(target=memory.call, args=("remember", {"content": f"papaya {n}"})) for n in range(6)]
        for writer in writers:
            writer.start()
        wait_until(lambda: len(handle._written) == len(writers), "all writers wait for the index")
        begun.extend(writers)
        return statements.count("BEGIN IMMEDIATE")

    with Memory(home, clock=clock) as memory:
        memory.call("remember", {"content": "mango"})
        handle: Any = memory.home.index
        begun: list[Thread] = []
        before = handle.query(lambda view: count_transactions(view.index))
        for writer in begun:
            writer.join()
        assert (before, statements.count("BEGIN IMMEDIATE")) == (0, 1)
        assert len(memory.search("papaya", limit=10)) == 6
