"""The index follows: whatever was done to the pages, by tools or by hand, it says what one made from nothing says."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from commonplace import CommonplaceError, Memory
from commonplace.home import Home
from commonplace.index import sync as index_sync
from commonplace.index import vector_spaces as index_spaces
from commonplace.index.base import Index, limit_catch_up
from commonplace.index.embedding_service import embed_batch
from commonplace.index.sqlite import SqliteIndex
from commonplace.index.sync import catch_up
from commonplace.model import EVERYTHING
from commonplace.storage import files
from commonplace.testing import FrozenClock

from ..examples import examples
from .tiny import TinyEmbedder

SETTINGS = "memorySearch:\n  provider: none\n  indexSessions: true\n  extraPaths: [notes]\n"
PAGES = [  # pages that affect each other are in one row
    ["MEMORY.md", "memory/a.md", "memory/sub/a.md"],
    ["memory/world/tea.md", "notes/x.md", "notes/.hidden.md", "elsewhere.md"],
    ["memory/global/general/k.md", "memory/global/work/k.md"],
    ["memory/channels/dev/k.md", "memory/channels/dev~x/k.md"],
    ["skills/brew/SKILL.md", "skills/brew/data.json"],
    ["skills/steep/SKILL.md", "skills/steep/data.json"],
    ["agents/main/memory/MEMORY.md", "agents/main/memory/daily/2026-03-14.md"],
    ["agents/main/memory/working/note.md", "agents/main/memory/working/HANDOFF.md"],
    ["agents/main/sessions/s.jsonl", "agents/other/memory/a.md"],
]
TEXTS = [
    b"",
    b"Green tea.\n",
    b"Black tea\n",  # as long as the one above
    b"# Tea\n\nGreen, two minutes.\n\n## Milk\n\nNone.\n\n## Milk\n\nNone.\n",
    b"# Tea\n\nGreen, two minutes.\n",
    b"---\ntags: [tea, daily]\n---\n\nOolong\n",
    b"---\nkey: Other Key\ncategory: Kitchen\nupdated_at: 2026-02-01T10:00:00Z\n---\n\nOolong\n",
    b"---\nname: brew\ndescription: How tea is made\nowner: ann\n---\n\nBoil the water.\n",
    b"---\ntags: [\n---\n\nbroken\n",
    b"# 2026-03-14\n\n## 09:26\n\nHad tea with Ann.\n\n### editor\n\nvim\n\n"
    b"<!-- agentool-memory: at=2026-03-14T09:27:00.000000Z tags=tools|daily -->\n",
    b'{"water": "soft", "minutes": 2}\n',
    b'{"water": \n',
    b'{"role": "user", "content": "which tea?", "timestamp": "2026-03-01T10:00:00Z"}\n'
    b'{"role": "assistant", "content": "oolong"}\nnot json\n',
    b"\xff\xfe not text\n",
    b"One paragraph about tea.\n\n" * 60,
]
TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("remember", {"content": "oolong at noon"}),
    ("reflect", {"content": "# Tea\n\nLikes it green.\n"}),
    ("update_world", {"topic": "tea", "content": "Tea grows on hills."}),
    ("update_world", {"topic": "tea", "content": "Tea is a plant. " * 5_000}),  # too large to be followed at once
    ("memory_write", {"key": "note", "content": "kettle", "tags": ["tools"]}),
    ("write_session_handoff", {"content": "go on with the tea"}),
    ("MemoryTool", {"op": "setGlobal", "key": "k", "value": "green"}),
    ("MemoryTool", {"op": "setGlobal", "key": "k", "value": {"tea": ["black"]}, "category": "work"}),
    ("MemoryTool", {"op": "deleteGlobal", "key": "k"}),
    ("MemoryTool", {"op": "setChannel", "channelName": "dev", "key": "k", "value": "milk"}),
    ("MemoryTool", {"op": "setChannel", "channelName": "My Channel", "key": "k", "value": "milk"}),
    ("MemoryTool", {"op": "purgeChannel", "channelName": "dev"}),
    ("MemoryTool", {"op": "createSkill", "name": "brew", "description": "Tea", "skill_data": {"water": "soft"}}),
    ("MemoryTool", {"op": "updateSkill", "name": "brew", "newData": {"minutes": 3}}),
    ("MemoryTool", {"op": "deleteSkill", "name": "brew"}),
    ("MemoryTool", {"op": "listGlobal"}),  # looks at one folder alone
    ("memory_search", {"query": "tea"}),
]
TICK = 12_000_000  # nanoseconds: file times move in steps of up to 10 ms
days = st.sampled_from([-4000, -1, 0, 1, 4000])


def steps_over(selection: list[str]) -> st.SearchStrategy[tuple[Any, ...]]:
    """What may happen to a few pages and their folders: on many, hardly anything would happen twice to the same."""
    page, text = st.sampled_from(selection), st.sampled_from(TEXTS)
    parts = [part.split("/") for part in selection]
    folder = st.sampled_from(sorted({"/".join(part[:n]) for part in parts for n in range(1, len(part))}) or ["memory"])
    change = st.one_of(
        st.tuples(st.just("save"), page, text),
        st.tuples(st.just("save_by_rename"), page, text),
        st.tuples(st.just("edit_unseen"), page),
        st.tuples(st.just("set_time"), page, days),
        st.tuples(st.just("delete"), page | folder),
        st.tuples(st.just("move"), page, page),
        st.tuples(st.just("move"), folder, folder | st.just("elsewhere")),
        st.tuples(st.just("move"), st.just("elsewhere"), folder),
        st.tuples(st.just("copy"), folder, folder),
        st.tuples(st.just("make_folder"), page),
        st.tuples(st.just("make_link"), page | folder, page | st.just("elsewhere")),
        st.tuples(st.just("call"), st.sampled_from(TOOLS)),
        st.tuples(st.just("turn_clock"), days),
    )
    look = st.sampled_from([("rest",), ("look",), ("look",), ("look_elsewhere",)])
    rare = st.one_of(
        st.tuples(st.just("crash"), st.integers(1, 60)),
        st.sampled_from([("open_again",), ("build_anew",), ("lose_index",)]),
    )
    return st.one_of(change, change, change, look, look, rare)


def stories(longest: int) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    few = st.lists(st.sampled_from(PAGES), min_size=1, max_size=2, unique_by=str)
    selection = few.map(lambda some: list(chain.from_iterable(some)))
    return selection.flatmap(lambda pages: st.lists(steps_over(pages), min_size=longest // 4, max_size=longest))


class World:
    """A home with two handles, and what can happen to it. What is not possible at the moment just does not happen."""

    def __init__(self, root: Path) -> None:
        self.root, self.clock = root, FrozenClock()
        self.tiny = TinyEmbedder(dims=8)
        root.mkdir()
        (root / "commonplace.yaml").write_text(SETTINGS)
        self.memory, self.other = self._open(), self._open()

    def _open(self) -> Memory:
        return Memory(self.root, clock=self.clock)

    def close(self) -> None:
        self.memory.close()
        self.other.close()

    def do(self, name: str, *arguments: Any) -> None:
        with suppress(OSError, shutil.Error, CommonplaceError):
            getattr(self, name)(*arguments)

    def save(self, path: str, data: bytes) -> None:
        """As an editor does that writes in place."""
        self._place(path).write_bytes(data)

    def save_by_rename(self, path: str, data: bytes) -> None:
        place = self._place(path)
        beside = place.with_name(f".{place.name}.swp")
        beside.write_bytes(data)
        beside.replace(place)

    def edit_unseen(self, path: str) -> None:
        """Another text of the same length, in the same file, and the time set back to what it was."""
        place = self.root / path
        info = place.stat()
        with place.open("r+b") as file:
            file.write(place.read_bytes().swapcase())
        os.utime(place, ns=(info.st_atime_ns, info.st_mtime_ns))

    def set_time(self, path: str, days: int) -> None:
        info = (self.root / path).stat()
        moved = info.st_mtime_ns + days * 86_400 * 10**9
        os.utime(self.root / path, ns=(moved, moved))

    def delete(self, path: str) -> None:
        place = self.root / path
        shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()

    def move(self, old: str, new: str) -> None:
        (self.root / old).rename(self._place(new))

    def copy(self, old: str, new: str) -> None:
        if not f"{new}/".startswith(f"{old}/"):
            # Links as links: one that leads to a folder around it would be followed into itself, again and again.
            shutil.copytree(self.root / old, self.root / new, symlinks=True, dirs_exist_ok=True)

    def make_folder(self, path: str) -> None:
        self.do("delete", path)
        (self.root / path).mkdir(parents=True)

    def make_link(self, path: str, to: str) -> None:
        self.do("delete", path)
        self._place(path).symlink_to(self.root / to)

    def call(self, tool: tuple[str, dict[str, Any]]) -> None:
        self.memory.call(*tool)

    def turn_clock(self, days: int) -> None:
        self.clock.advance(days=days)

    def rest(self) -> None:
        """Until what was written looks as if it will stay: then nothing but its stamp tells of another change."""
        settled = time.time_ns() + TICK
        while time.time_ns() <= settled:
            threading.Event().wait(TICK / 1e9)

    def look(self) -> None:
        catch_up_all(self.memory.home, self.tiny)

    def look_elsewhere(self) -> None:
        catch_up_all(self.other.home, self.tiny)

    def open_again(self) -> None:
        self.other.close()
        self.memory, self.other = self._open(), self.memory

    def crash(self, after: int) -> None:
        """Another process looks, and dies after so many statements."""
        with fork() as child:
            if not child:
                home = Home(str(self.root), clock=self.clock)
                die_after(home.index._open(), after)
                catch_up_all(home, self.tiny)

    def build_anew(self) -> None:
        self.memory.home.build_index(lambda *_: None, anew=True)

    def lose_index(self) -> None:
        shutil.rmtree(self.root / ".index")

    def _place(self, path: str) -> Path:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        return self.root / path


@contextmanager
def fork() -> Iterator[int]:
    """The number of a child; in the child itself 0, and nothing after the block is run there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child touches no thread of ours
        child = os.fork()
    try:
        yield child
    finally:
        if not child:
            os._exit(0)
        os.waitpid(child, 0)


def die_after(index: SqliteIndex, statements: int) -> None:
    left = statements

    def count(_: str) -> None:
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    index._db.set_trace_callback(count)


def catch_up_all(home: Home, tiny: TinyEmbedder) -> None:
    """Catch up with words, as every search does, and with meaning."""
    home.index.query(lambda view: embed_all(view.index, tiny))


def embed_all(index: Index, tiny: TinyEmbedder) -> None:
    while embed_batch(index, tiny, 7):
        pass


def describe_index(index: SqliteIndex, tiny: TinyEmbedder) -> dict[str, list[Any]]:
    """Everything an index says that means something, however it came to know it: no numbers of rows, no stamps."""
    index._db.execute("INSERT INTO words(words, rank) VALUES('integrity-check', 1)")  # 1: against the passages, too
    rows = index._rows
    numbered = rows("SELECT id, path, first, last, text FROM passages")
    alike = index.cosines(tiny.space, tiny.embed_query("green tea milk"), [row[0] for row in numbered])
    return {
        "pages": rows("SELECT path, version, warning FROM pages ORDER BY path"),
        "passages": sorted(
            rows(
                "SELECT path, first, last, text, lead, key, tags, at, ifnull(day, 0), kind, scope, who, source,"
                " passages.length, hash, terms"
                " FROM passages JOIN owners ON owners.id = owner JOIN passage_terms ON passage_terms.id = passages.id"
            )
        ),
        "found": [
            sorted(
                rows(
                    "SELECT path, first FROM words JOIN passages ON id = words.rowid WHERE words MATCH owner || ?",
                    [f"b{word}"],
                )
            )
            for word in ("tea", "oolong", "none", "water", "ann", "kitchen")
        ],
        "owners": sorted(rows("SELECT scope, who, passages, length FROM owners WHERE passages OR length")),
        "frequencies": sorted(
            rows("SELECT word, scope, who, frequencies.passages FROM frequencies JOIN owners ON owners.id = owner")
        ),
        "records": rows("SELECT * FROM records ORDER BY path"),
        "vectors": sorted((*row, round(alike[number], 4)) for number, *row in numbered if number in alike),
        "seen": [index.coverage(tiny.space).behind],
    }


def from_nothing(home: Home, tiny: TinyEmbedder) -> dict[str, list[Any]]:
    index = SqliteIndex(":memory:")
    try:
        catch_up(index, home.storage.pages, home.index.scope)
        embed_all(index, tiny)
        return describe_index(index, tiny)
    finally:
        index.close()


def check(steps: list[tuple[Any, ...]]) -> None:
    """After these steps both handles say what an index says that is made from nothing."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder, "home"))
        try:
            for step in steps:
                world.do(*step)
            for memory in (world.memory, world.other):
                catch_up_all(memory.home, world.tiny)
                assert describe_index(memory.home.index._open(), world.tiny) == from_nothing(memory.home, world.tiny)
                view = memory.home.index.query(lambda view: view)
                assert not view.stale
        finally:
            world.close()


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few pages are a lot, and a moment is long, so that few steps go a long way."""
    monkeypatch.setattr(files, "TICK_NANOSECONDS", TICK)
    monkeypatch.setattr(index_sync, "_BATCH_PAGES", 3)
    monkeypatch.setattr(index_sync, "_MANY_PAGES", 6)
    monkeypatch.setattr(index_spaces, "_UNUSED_ROWS", 5)


RECORD, SKILL, DATA = "memory/global/general/k.md", "skills/brew/SKILL.md", "skills/brew/data.json"
CUNNING = [  # what chance rarely comes upon: what was looked at has settled, and then one thing changes that hardly shows
    [("save", "memory/a.md", TEXTS[1]), ("rest",), ("look",), ("edit_unseen", "memory/a.md"), ("rest",)],
    [("save", RECORD, TEXTS[1]), ("rest",), ("look",), ("set_time", RECORD, -4000)],
    [("save", RECORD, TEXTS[5]), ("rest",), ("look",), ("move", "memory/global/general", "memory/global/work")],
    [("save", SKILL, TEXTS[7]), ("save", DATA, TEXTS[10]), ("rest",), ("look",), ("save", DATA, TEXTS[11])],
    [("save", SKILL, TEXTS[7]), ("save", DATA, TEXTS[10]), ("rest",), ("look",), ("delete", DATA)],
    [("save", SKILL, TEXTS[7]), ("rest",), ("look",), ("make_link", DATA, "memory/a.md")],
    [("save", SKILL, TEXTS[7]), ("rest",), ("look",), ("make_folder", DATA)],
    [("save", "memory/a.md", TEXTS[13]), ("rest",), ("look",), ("save", "memory/a.md", TEXTS[1])],
    [("save", "memory/a.md", TEXTS[1]), ("rest",), ("look",), ("make_folder", "memory/a.md"), ("look",)],
    [
        ("save", "memory/a.md", b"# A\n\nfirst\n\n# B\n\nsecond\n"),
        ("look",),
        ("save", "memory/a.md", b"# B\n\nsecond\n"),
    ],
    *([("save", "memory/a.md", TEXTS[3]), ("save", SKILL, TEXTS[7]), ("crash", after)] for after in range(5, 50, 5)),
]


@pytest.mark.parametrize("steps", CUNNING, ids=lambda steps: " ".join(str(step[0]) for step in steps))
def test_the_index_says_what_one_made_from_nothing_says_when_hardly_anything_shows(steps: list[Any]) -> None:
    check(steps)


@examples(12)
@given(stories(25))
def test_the_index_says_what_one_made_from_nothing_says(steps: list[tuple[Any, ...]]) -> None:
    check(steps)


@pytest.mark.thorough
@pytest.mark.slow
@examples(200, suppress_health_check=list(HealthCheck))
@given(stories(60))
def test_the_index_says_what_one_made_from_nothing_says_after_much(steps: list[tuple[Any, ...]]) -> None:
    check(steps)


def put(home: Path, path: str, text: str) -> Path:
    (home / path).parent.mkdir(parents=True, exist_ok=True)
    (home / path).write_text(text)
    return home / path


def test_a_record_that_names_no_time_is_as_old_as_its_file(memory: Memory, home: Path) -> None:
    page = put(home, "memory/global/general/tea.md", "oolong\n")
    assert memory.search("oolong")
    os.utime(page, (1_000_000_000, 1_000_000_000))
    (hit,) = memory.search("oolong")
    assert hit.at.startswith("2001-09-09")
    (row,) = memory.call("MemoryTool", {"op": "listGlobal"})["results"]
    assert row["updated_at"].startswith("2001-09-09")
    assert memory.search("oolong", until="2001-09-09")


@pytest.mark.parametrize("path", ["MEMORY.md", "memory/a.md", "skills/brew/SKILL.md"])
@pytest.mark.parametrize("instead", ["folder", "link", "link to itself"])
def test_what_is_no_page_any_more_is_forgotten(home: Path, clock: FrozenClock, path: str, instead: str) -> None:
    page = put(home, path, "oolong\n")
    put(home, "skills/brew/data.json", "{}")
    with Memory(home, clock=clock) as memory:
        assert memory.search("oolong")
        page.unlink()
        if instead == "folder":
            page.mkdir()
        else:
            page.symlink_to(page if "itself" in instead else put(home, "elsewhere.md", "oolong\n"))
        for _ in range(2):
            assert memory.search("oolong") == []
            assert memory.home.index.query(lambda view: view.index.warnings()) == []


def test_what_another_agent_had_once_changes_no_answer(home: Path, clock: FrozenClock) -> None:
    for number in range(30):
        put(home, f"memory/n{number}.md", f"tea number {number}, with {'milk ' * (number % 5)}\n")
    with Memory(home, clock=clock) as memory:

        def find_matches() -> list[int]:
            return memory.home.index.query(
                lambda view: view.index.match_terms(
                    {"tea": 1.0, "milk": 2.0}, memory.home.visibility.viewer(), EVERYTHING, 5
                )
            )

        before = find_matches(), memory.search("tea with milk", 20)
        secret = put(home, "agents/other/memory/secret.md", "tea with milk and honey\n")
        memory.search("tea")
        secret.unlink()
        assert (find_matches(), memory.search("tea with milk", 20)) == before


def test_a_space_that_is_rebuilt_while_another_embeds_misses_no_passage(tmp_path: Path) -> None:
    tiny = TinyEmbedder(dims=8)
    home = Home(str(tmp_path))
    put(tmp_path, "memory/a.md", "green tea\n")
    put(tmp_path, "memory/b.md", "black coffee\n")
    catch_up_all(home, tiny)
    (tmp_path / "memory/a.md").unlink()
    put(tmp_path, "memory/c.md", "green tea\n")
    home.index.query(lambda view: None)
    index = home.index._open()
    pending = index.next_pending(tiny.space, 7)
    assert pending
    assert pending.texts == {}  # the text of a removed page still has a vector
    index.drop_space(tiny.space)
    assert embed_batch(index, tiny, 1)
    index.add_vectors(tiny.space, pending, {})
    embed_all(index, tiny)
    assert describe_index(index, tiny) == from_nothing(home, tiny)


def test_without_time_to_catch_up_a_search_answers_from_what_is_indexed(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Ann drinks green tea."})
    memory.search("tea")
    (home / "memory/world/boats.md").write_text("Tom drinks black tea on his boat.\n")
    with limit_catch_up(0):
        late = memory.home.search("tea")
    assert [hit.path for hit in late.hits] == ["memory/world/tea.md"]
    assert late.stale
    assert "not indexed yet: `commonplace index` waits for everything" in late.warnings[0]
    assert {hit.path for hit in memory.search("tea")} == {"memory/world/tea.md", "memory/world/boats.md"}


def test_a_page_that_needs_more_time_than_there_is_holds_up_no_other(home: Path, memory: Memory) -> None:
    memory.call("update_world", {"topic": "zebra", "content": "Ann drinks green tea."})
    (home / "memory/world/boats.md").write_text("Tom drinks black tea on his boat.\n\n" * 400_000)
    with limit_catch_up(20):
        late = memory.home.search("drinks tea")
    assert [hit.path for hit in late.hits] == ["memory/world/zebra.md"]
    assert late.stale


def test_records_are_read_whatever_time_there_is(memory: Memory, home: Path) -> None:
    memory.call("MemoryTool", {"op": "setGlobal", "key": "name", "value": "Ann", "category": "user_info"})
    page = next((home / "memory/global").rglob("*.md"))
    page.write_text(page.read_text().replace("Ann", "Ann Berg"))
    with limit_catch_up(0):
        assert "Ann Berg" in str(memory.context())
