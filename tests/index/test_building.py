"""Much to index: one process does it while the others answer; one that dies leaves what it did; nobody waits for a slow
embedder."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.index.base import ignore_progress
from commonplace.testing import FrozenClock

from ..embedding.server import Handler, Server, running, serve
from ..programs import Program, run_program
from ..providers import offer_server
from ..waiting import LONG_SECONDS

BUSY = "another process is indexing many pages: the answer may miss some until it is done"


def put(home: Path, name: str, text: str) -> None:
    (home / "memory").mkdir(parents=True, exist_ok=True)
    (home / f"memory/{name}.md").write_text(f"{text}\n")


def put_many(home: Path, name: str, count: int) -> None:
    for number in range(count):
        put(home, f"{name}{number:04}", f"Parcel {name}{number:04} went to harbour {number % 7}.")


def ask(memory: Memory, query: str) -> dict[str, Any]:
    return memory.call("memory_search", {"query": query})


def find_paths(memory: Memory, query: str) -> list[str]:
    return [hit.path for hit in memory.search(query)]


HOLDER = """
import sys
from commonplace.home import Home
from commonplace.storage.file_locks import lock
home = Home(sys.argv[1])
with lock(f"{sys.argv[1]}/.index", "area", f"the index {home.index.scope.fingerprint}", timeout=0):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def a_builder(home: Path) -> Iterator[Program]:
    """Another process that says it is indexing many pages, until the end of the block."""
    with Program(HOLDER, str(home)) as holder:
        assert holder.stdout.readline() == "held\n"
        yield holder
        assert holder.poll() is None
    assert holder.returncode == 0


def test_while_another_process_indexes_much_a_search_answers_from_what_is_there(memory: Memory, home: Path) -> None:
    put(home, "old", "The ladder leans in the shed.")
    assert "stale" not in ask(memory, "ladder")
    put_many(home, "new", 501)
    with a_builder(home):
        for asking in (memory, Memory(home, clock=memory.home.clock)):
            reply = ask(asking, "ladder in the shed")
            assert (reply["stale"], reply["warning"]) == (True, BUSY)
            assert reply["results"][0]["path"] == "memory/old.md"
            assert ask(asking, "new0500")["results"] == []
            assert asking.status()["index_up_to_date"] is False
    reply = ask(memory, "new0500")
    assert "stale" not in reply
    assert "warning" not in reply
    assert reply["results"][0]["path"] == "memory/new0500.md"
    assert find_paths(memory, "new0000")[0] == "memory/new0000.md"
    assert (memory.status()["pages"], memory.status()["index_up_to_date"]) == (502, True)


def test_a_few_changes_wait_for_nobody(memory: Memory, home: Path) -> None:
    with a_builder(home):
        put_many(home, "few", 3)
        reply = ask(memory, "few0002")
        assert "stale" not in reply
        assert reply["results"][0]["path"] == "memory/few0002.md"
        memory.call("remember", {"content": "a rowing boat"})
        assert find_paths(memory, "rowing boat")


def test_memory_is_written_and_read_by_name_while_another_process_indexes_much(memory: Memory, home: Path) -> None:
    put_many(home, "new", 501)
    with a_builder(home):
        assert memory.call("memory_write", {"key": "boat", "content": "a rowing boat"})["success"]
        assert memory.call("memory_read", {"key": "boat"})["data"]["content"] == "a rowing boat"
        assert find_paths(memory, "rowing boat")


BUILDER = """
import sys
from commonplace.home import Home
def tell(what, done, total):
    print(what, done, total, flush=True)
    if done >= 800:  # far enough: whoever wanted to end this has had the time for it
        sys.stdin.read()
Home(sys.argv[1]).build_index(tell)
"""


def read_index(memory: Memory) -> list[Any]:
    """Everything the index says of the pages, however it came to know it."""
    index = memory.home.index._open()
    rows: list[Any] = index._rows("SELECT path, first, last, text, hash FROM passages ORDER BY path, first")
    rows += index._rows("SELECT path, version, warning FROM pages ORDER BY path")
    rows += index._rows("SELECT scope, who, passages, length FROM owners ORDER BY scope, who")
    rows += index._rows("SELECT word, sum(passages) FROM frequencies GROUP BY word ORDER BY word")
    return rows + [index.coverage(space) for space in index.spaces()]


@pytest.mark.slow
def test_a_build_that_is_killed_keeps_what_it_did_and_the_next_one_ends_whole(home: Path, clock: FrozenClock) -> None:
    put_many(home, "page", 1200)
    shutil.copytree(home / "memory", home.parent / "other/memory")
    with Program(BUILDER, str(home)) as builder:
        lines = iter(builder.stdout.readline, "")
        done = next(done for _, done, _ in map(str.split, lines) if int(done) > 400)
        builder.kill()
    memory = Memory(home, clock=clock)
    pages, passages = memory.home.index._open().size()
    assert int(done) <= pages <= 800
    assert passages == pages
    steps: list[tuple[str, int, int]] = []
    memory.home.build_index(lambda *step: steps.append(step))
    assert next(step for step in steps if step[0] == "pages")[2] == 1200 - pages
    other = Memory(home.parent / "other", clock=clock)
    other.home.build_index(ignore_progress)
    assert read_index(memory) == read_index(other)
    for question in ("page1199", "parcel page0007 harbour", "a package sent to the port"):
        assert memory.search(question, 20) == other.search(question, 20)


WRITER = """
import sys
from commonplace import Memory
Memory(sys.argv[1]).call("update_world", {"topic": sys.argv[2], "content": sys.argv[3]})
"""


def write_elsewhere(home: Path, topic: str, text: str) -> None:
    assert run_program(WRITER, str(home), topic, text).returncode == 0


@pytest.mark.parametrize("shared", [False, True], ids=["small", "large"])
def test_a_process_that_lives_long_sees_what_another_wrote_at_once(memory: Memory, home: Path, shared: bool) -> None:
    assert find_paths(memory, "heron") == []
    if shared:  # as in a home that is so large that many searches share one look at its files
        memory.home.index._next_sweep_at = float("inf")
    for text in ("The heron stands in the pond.", "The heron flew off to the river."):
        write_elsewhere(home, "birds", text)
        assert [hit.text for hit in memory.search("heron")] == [text]
    assert find_paths(memory, "a wading bird left for running water") == ["memory/world/birds.md"]


def test_a_page_by_hand_is_found_at_once_though_there_was_much_to_index_just_before(memory: Memory, home: Path) -> None:
    for number in range(40):
        put(home, f"story{number}", f"Chapter {number} of the story, in which a parcel is sent.\n\n" * 200)
    assert memory.search("parcel")
    put(home, "bird", "The heron stands in the pond.")
    assert find_paths(memory, "heron") == ["memory/bird.md"]


def test_a_large_page_is_found_at_once_by_who_wrote_it(memory: Memory) -> None:
    assert find_paths(memory, "heron") == []
    memory.home.index._next_sweep_at = float("inf")
    text = "A line of a long story.\n\n" * 3_000 + "The heron stands in the pond."
    memory.call("update_world", {"topic": "birds", "content": text})
    assert find_paths(memory, "heron") == ["memory/world/birds.md"]


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as server:
        yield server


def slow(handler: Handler) -> None:
    """Answers when the test lets it."""
    handler.server.ending.wait(LONG_SECONDS)
    serve(handler)


def slowly_embedded(home: Path, server: Server) -> None:
    home.mkdir()
    offer_server("openai", server.url, "NO_SUCH_KEY")
    settings = "memorySearch:\n  provider: openai\n  model: m\n"
    (home / "commonplace.yaml").write_text(settings)
    put_many(home, "page", 100)
    server.otherwise = slow


def list_passages(server: Server) -> list[str]:
    """Every passage the server was asked for."""
    return [text for seen in server.seen for text in seen.texts if "went to" in text]


def in_the_background(memory: Memory) -> threading.Thread:
    working = memory.home.embedding._background
    assert working is not None
    return working


def test_a_slow_embedder_catches_up_in_the_background_and_then_answers(
    home: Path, clock: FrozenClock, server: Server
) -> None:
    slowly_embedded(home, server)
    with Memory(home, clock=clock) as memory:
        reply = ask(memory, "parcel page0042")
        assert (reply["provider"], reply["mode"], reply["fallback"]) == ("static", "hybrid", False)
        assert reply["results"][0]["path"] == "memory/page0042.md"
        assert "openai has embedded 0 of 100 passages" in reply["warning"]
        assert "`commonplace index` waits for it" in reply["warning"]
        server.ending.set()
        in_the_background(memory).join()
        assert len(list_passages(server)) == 100
        reply = ask(memory, "parcel page0042")
        assert (reply["provider"], reply["model"], reply["mode"]) == ("openai", "m", "hybrid")
        assert "warning" not in reply
        assert reply["results"][0]["path"] == "memory/page0042.md"


def test_while_an_embedder_catches_up_no_search_waits_for_it(home: Path, clock: FrozenClock, server: Server) -> None:
    slowly_embedded(home, server)
    with Memory(home, clock=clock) as memory:
        ask(memory, "parcel page0042")
        memory.call("update_world", {"topic": "late", "content": "The late parcel went to the moon."})
        for query, path in (("parcel page0007", "memory/page0007.md"), ("moon", "memory/world/late.md")):
            reply = ask(memory, query)
            assert (reply["provider"], reply["mode"], reply["fallback"]) == ("static", "hybrid", False)
            assert reply["results"][0]["path"] == path
        server.ending.set()
        in_the_background(memory).join()
        reply = ask(memory, "moon")
        assert (reply["provider"], "warning" in reply) == ("openai", False)
        assert len(list_passages(server)) == len({*list_passages(server)}) == 101


def test_an_embedder_that_breaks_in_the_background_is_reported_by_the_next_search(
    home: Path, clock: FrozenClock, server: Server
) -> None:
    slowly_embedded(home, server)
    server.otherwise = lambda handler: handler.answer({"error": {"message": "no such model"}}, 404)
    with Memory(home, clock=clock) as memory:
        ask(memory, "parcel page0042")
        in_the_background(memory).join()
        reply = ask(memory, "parcel page0042")
        assert (reply["provider"], reply["fallback"]) == ("static", True)
        assert "has no model m" in reply["warning"]
        assert reply["results"][0]["path"] == "memory/page0042.md"


def test_an_embedder_goes_on_in_the_background_after_something_was_forgotten(
    home: Path, clock: FrozenClock, server: Server
) -> None:
    slowly_embedded(home, server)
    with Memory(home, clock=clock) as memory:
        ask(memory, "parcel page0042")
        (home / "memory/page0007.md").unlink()
        memory.home.index.purge()
        server.ending.set()
        in_the_background(memory).join()
        reply = ask(memory, "parcel page0042")
        assert (reply["provider"], reply["fallback"]) == ("static", False)
        assert "so far" in reply["warning"]
        in_the_background(memory).join()
        reply = ask(memory, "parcel page0042")
        assert (reply["provider"], "warning" in reply) == ("openai", False)


def test_an_index_that_another_process_writes_to_is_no_fault_of_the_embedder(
    home: Path, clock: FrozenClock, server: Server
) -> None:
    slowly_embedded(home, server)
    with Memory(home, clock=clock) as memory:
        ask(memory, "parcel page0042")
        (file,) = (home / ".index").glob("*.sqlite")
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            server.ending.set()
            in_the_background(memory).join()
        reply = ask(memory, "parcel page0042")
        assert (reply["provider"], reply["fallback"]) == ("static", False)
        in_the_background(memory).join()
        assert ask(memory, "parcel page0042")["provider"] == "openai"


def test_what_was_embedded_before_a_break_is_not_embedded_again(home: Path, clock: FrozenClock, server: Server) -> None:
    slowly_embedded(home, server)
    server.script = [serve]
    server.otherwise = lambda handler: handler.answer({"error": {"message": "no such model"}}, 404)
    with Memory(home, clock=clock) as memory:
        ask(memory, "parcel page0042")
        in_the_background(memory).join()
    done = len(server.seen[0].texts)
    server.seen.clear()
    server.otherwise = serve
    with Memory(home, clock=clock) as again:
        ask(again, "parcel page0042")
        in_the_background(again).join()
        assert len(list_passages(server)) == 100 - done
        assert ask(again, "parcel page0042")["provider"] == "openai"


def test_the_index_is_there_for_its_owner_alone(memory: Memory, home: Path) -> None:
    put_many(home, "page", 501)
    memory.search("parcel")
    assert {os.stat(file).st_mode & 0o077 for file in (home / ".index").iterdir()} == {0}


def test_words_that_were_indexed_piece_by_piece_are_merged(memory: Memory, home: Path) -> None:
    for name in ("first", "second", "third"):
        put_many(home, name, 40)
        memory.search("parcel")
    (file,) = home.glob(".index/*.sqlite")
    with closing(sqlite3.connect(file)) as index:
        parts = index.execute("SELECT count(DISTINCT segid) FROM words_idx").fetchone()
    assert parts == (1,)
    assert find_paths(memory, "parcel second0007")[0] == "memory/second0007.md"
