"""Meaning in the index: embedded once, kept wherever a text is moved to, whole after any interruption."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.errors import IndexClosed, Unavailable
from commonplace.home import Home
from commonplace.index.embedding_service import embed_batch
from commonplace.index.sqlite import SqliteIndex
from commonplace.index.sync import catch_up
from commonplace.model import EVERYTHING, Filters, Viewer
from commonplace.search.scoring import UNKNOWN_Z_SCORE
from commonplace.testing import FrozenClock

from ..embedding.server import Handler, Server, bag, running, serve
from ..examples import examples
from ..programs import Program
from ..providers import offer_server
from ..waiting import LONG_SECONDS
from .tiny import TinyEmbedder

ME = Viewer("main")


class Desk:
    """Pages in a folder, and an index over them that an embedder follows."""

    def __init__(self, root: Path, name: str = "words.sqlite") -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root, self._home = root, Home(str(root))
        self.file = root / name
        self.index = SqliteIndex(str(self.file))

    def put(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def follow(self) -> None:
        assert catch_up(self.index, self._home.storage.pages, self._home.index.scope) == []

    def embed(self, embedder: TinyEmbedder) -> list[str]:
        """Catch up with everything; the texts that had to be embedded for it."""
        self.follow()
        before = len(embedder.given)
        while embed_batch(self.index, embedder, embedder.batch_size):
            pass
        return embedder.given[before:]

    def nearest(self, embedder: TinyEmbedder, text: str, limit: int = 5, viewer: Viewer = ME) -> list[str]:
        neighbours = self.index.nearest(embedder.space, embedder.embed_query(text), viewer, EVERYTHING, limit)
        by_number = {each.number: each.hit for each in self.index.load_candidates([number for number, _ in neighbours])}
        return [by_number[number].path for number, _ in neighbours][:limit]  # there may be a few more than asked for

    def with_vectors(self, embedder: TinyEmbedder) -> set[tuple[Any, ...]]:
        """Every passage as it is kept, and how like a question it is."""
        rows = self.index._rows("SELECT id, path, first, last, text, hash FROM passages")
        likely = self.index.cosines(embedder.space, embedder.embed_query("tea milk sugar"), [row[0] for row in rows])
        return {(*row[1:], round(likely[row[0]], 5) if row[0] in likely else None) for row in rows}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "home")
    yield desk
    desk.index.close()


@pytest.fixture
def tiny() -> TinyEmbedder:
    return TinyEmbedder()


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as server:
        yield server


def use(home: Path, server: Server, model: str = "m") -> None:
    home.mkdir(exist_ok=True)
    offer_server("openai", server.url, "NO_SUCH_KEY")
    (home / "commonplace.yaml").write_text(f"memorySearch:\n  provider: openai\n  model: {model}\n")


def wait_until_built(memory: Memory) -> list[tuple[int, int]]:
    """Wait until everything is embedded; how it went on."""
    steps: list[tuple[int, int]] = []
    home = memory.home
    home.index.query(lambda view: home.embedding.build(view.index, lambda _, seen, total: steps.append((seen, total))))
    return steps


GARDEN = "# Garden\n\n## Roses\n\nPrune them in March.\n\n## Beans\n\nSow in May.\n\n## Apples\n\nPick in October.\n"


def section(page: str, title: str) -> str:
    start = page.index(f"## {title}")
    end = page.find("## ", start + 3)
    return page[start : end if end > 0 else len(page)].rstrip("\n") + "\n\n"


def without(page: str, title: str) -> str:
    return page.rstrip("\n").replace(section(page, title).rstrip("\n"), "").strip("\n") + "\n"


def test_an_edit_embeds_only_what_changed(desk: Desk, tiny: TinyEmbedder) -> None:
    desk.put("memory/a.md", GARDEN)
    desk.put("memory/b.md", "# Tea\n\nGreen, two minutes.\n")
    assert len(desk.embed(tiny)) == 5
    desk.put("memory/a.md", GARDEN.replace("in May", "in April"))
    (again,) = desk.embed(tiny)
    assert "Sow in April." in again
    assert desk.embed(tiny) == []


def test_an_edit_in_public_asks_the_server_only_for_what_changed(
    home: Path, clock: FrozenClock, server: Server
) -> None:
    use(home, server)
    (home / "memory").mkdir()
    (home / "memory/a.md").write_text(GARDEN)
    with Memory(home, clock=clock) as memory:
        assert memory.home.search("when are roses pruned").provider == "openai"
        assert sum(len(seen.texts) for seen in server.seen) == 5  # four sections, and the question
        server.seen.clear()
        (home / "memory/a.md").write_text(GARDEN.replace("in May", "in April"))
        assert memory.search("sow beans in April")[0].text.endswith("Sow in April.")
        texts = [text for seen in server.seen for text in seen.texts]
        assert [text for text in texts if "Roses" in text or "Apples" in text] == []
        assert len(texts) == 2


def test_a_section_that_is_moved_within_its_page_is_not_embedded_again(desk: Desk, tiny: TinyEmbedder) -> None:
    desk.put("memory/a.md", GARDEN)
    desk.embed(tiny)
    desk.put("memory/a.md", without(GARDEN, "Roses") + "\n" + section(GARDEN, "Roses"))
    assert desk.embed(tiny) == []
    assert desk.nearest(tiny, "Prune them in March", 1) == ["memory/a.md"]


def test_a_section_that_is_moved_to_another_page_is_not_embedded_again(desk: Desk, tiny: TinyEmbedder) -> None:
    page = GARDEN.removeprefix("# Garden\n\n")
    desk.put("memory/a.md", page)
    desk.put("memory/b.md", "## Plums\n\nStone them.\n")
    desk.embed(tiny)
    desk.put("memory/a.md", without(page, "Beans"))
    desk.put("memory/b.md", "## Plums\n\nStone them.\n\n" + section(page, "Beans"))
    assert desk.embed(tiny) == []
    assert desk.nearest(tiny, "beans sow in may", 1) == ["memory/b.md"]
    (desk.root / "memory/b.md").rename(desk.root / "memory/c.md")
    assert desk.embed(tiny) == []
    assert desk.nearest(tiny, "beans sow in may", 1) == ["memory/c.md"]


def test_a_section_that_leaves_one_page_before_it_is_on_another_is_not_embedded_again(
    desk: Desk, tiny: TinyEmbedder
) -> None:
    page = GARDEN.removeprefix("# Garden\n\n")
    desk.put("memory/a.md", page)
    desk.embed(tiny)
    desk.put("memory/a.md", without(page, "Beans"))
    assert desk.embed(tiny) == []
    desk.put("memory/b.md", section(page, "Beans"))
    assert desk.embed(tiny) == []
    assert desk.nearest(tiny, "beans sow in may", 1) == ["memory/b.md"]


def test_the_same_text_of_two_agents_is_found_by_each_as_its_own(desk: Desk, tiny: TinyEmbedder) -> None:
    for agent in ("main", "other"):
        desk.put(f"agents/{agent}/memory/secret.md", "the code is heron\n")
    assert desk.embed(tiny) == ["the code is heron"]
    for agent in ("main", "other"):
        assert desk.nearest(tiny, "the code", viewer=Viewer(agent)) == [f"agents/{agent}/memory/secret.md"]
    (desk.root / "agents/main/memory/secret.md").unlink()
    desk.embed(tiny)
    assert desk.nearest(tiny, "the code") == []
    assert desk.nearest(tiny, "the code", viewer=Viewer("other")) == ["agents/other/memory/secret.md"]


def test_a_text_that_says_nothing_to_the_embedder_has_no_vector_and_is_not_asked_for_again(
    desk: Desk, tiny: TinyEmbedder
) -> None:
    desk.put("memory/a.md", "!!!\n")
    assert desk.embed(tiny) == ["!!!"]
    assert desk.embed(tiny) == []
    assert desk.index.coverage(tiny.space) == (1, 1, 0)
    desk.put("memory/b.md", "tea\n")
    assert desk.embed(tiny) == ["tea"]
    assert desk.nearest(tiny, "tea") == ["memory/b.md"]


class Interrupted(TinyEmbedder):
    def embed_passages(self, texts: Any, **_: object) -> Any:
        if len(self.given) >= 20:
            raise KeyboardInterrupt
        return super().embed_passages(texts)


def many(desk: Desk, count: int = 50) -> None:
    for number in range(count):
        desk.put(f"memory/n{number:03}.md", f"note {number} about tea {number % 7} and milk {number % 5}\n")


def test_a_build_that_is_interrupted_goes_on_where_it_was(desk: Desk, tiny: TinyEmbedder) -> None:
    many(desk)
    with pytest.raises(KeyboardInterrupt):
        desk.embed(Interrupted(batch=10))
    assert desk.index.coverage(tiny.space) == (20, 50, 20)
    assert not desk.index.coverage(tiny.space).whole
    desk.index.close()
    desk.index = SqliteIndex(str(desk.file))
    assert len(desk.embed(tiny)) == 30
    assert desk.index.coverage(tiny.space).whole
    assert desk.nearest(tiny, "note 3 about tea 3 and milk 3", 1) == ["memory/n003.md"]


def test_a_build_tells_how_far_it_is(home: Path, clock: FrozenClock) -> None:
    with Memory(home, clock=clock) as memory:
        for number in range(3):
            memory.call("update_world", {"topic": f"t{number}", "content": f"fact {number}"})
        assert wait_until_built(memory) == [(3, 3)]
        assert wait_until_built(memory) == []


BUILDER = """
import sys
from pathlib import Path
from tests.index.test_vector_spaces import Desk
from tests.index.tiny import TinyEmbedder
desk = Desk(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print(len(desk.embed(TinyEmbedder(batch=7))))
"""


def test_two_processes_that_build_at_once_end_with_what_one_alone_builds(
    tmp_path: Path, desk: Desk, tiny: TinyEmbedder
) -> None:
    many(desk, 120)
    desk.follow()
    builders = [Program(BUILDER, str(desk.root)) for _ in range(2)]
    for builder in builders:
        assert builder.stdout.readline() == "ready\n"
    done = [int(builder.communicate("go\n")[0]) for builder in builders]
    assert [builder.returncode for builder in builders] == [0, 0]
    assert sum(done) >= 120
    assert desk.embed(tiny) == []
    assert desk.index.coverage(tiny.space) == (120, 120, 120)
    assert desk.with_vectors(tiny) == rebuilt(desk, tiny)


def rebuilt(desk: Desk, tiny: TinyEmbedder) -> set[tuple[Any, ...]]:
    """What an index says that was made from nothing."""
    fresh = Desk(desk.root, "fresh.sqlite")
    try:
        fresh.embed(tiny)
        return fresh.with_vectors(tiny)
    finally:
        fresh.index.close()
        for file in desk.root.glob("fresh*"):
            file.unlink()


def test_a_process_sees_what_another_embedded(desk: Desk, tiny: TinyEmbedder) -> None:
    desk.put("memory/a.md", "green tea\n")
    desk.embed(tiny)
    other = Desk(desk.root)
    assert other.nearest(tiny, "green tea") == ["memory/a.md"]
    desk.put("memory/b.md", "black coffee\n")
    desk.embed(tiny)
    assert other.nearest(tiny, "black coffee", 1) == ["memory/b.md"]
    other.index.close()


def test_a_space_that_another_process_dropped_and_rebuilt_is_seen_as_it_is_now(desk: Desk, tiny: TinyEmbedder) -> None:
    desk.put("memory/a.md", "green tea\n")
    desk.put("memory/b.md", "black coffee\n")
    desk.embed(tiny)
    other = Desk(desk.root)
    assert other.nearest(tiny, "black coffee", 1) == ["memory/b.md"]
    desk.index.drop_space(tiny.space)
    desk.put("memory/a.md", "a red bicycle\n")
    desk.embed(tiny)
    assert desk.nearest(tiny, "a red bicycle", 1) == ["memory/a.md"]
    for text, path in (("black coffee", "memory/b.md"), ("a red bicycle", "memory/a.md")):
        assert other.nearest(tiny, text, 1) == [path]
    other.index.close()


def test_a_space_that_is_rebuilt_answers_all_the_while_and_afterwards(
    home: Path, clock: FrozenClock, server: Server
) -> None:
    use(home, server)
    (home / "memory").mkdir()
    (home / "memory/a.md").write_text(GARDEN)

    def answers(memory: Memory) -> tuple[Any, ...]:
        results = memory.home.search("sow the beans")
        return (
            results.mode,
            results.fallback,
            results.reasons,
            [(row.hit.text, row.factors.dense) for row in results.ranked],
        )

    with Memory(home, clock=clock) as memory, Memory(home, clock=clock) as other:
        before = answers(memory)
        assert answers(other) == before
        server.seen.clear()
        seen: list[tuple[Any, ...]] = []
        memory.home.build_index(lambda *_: seen.append(answers(other)), anew=True)
        assert seen
        assert {*map(str, [*seen, answers(memory), answers(other)])} == {str(before)}
        assert sum(len(each.texts) for each in server.seen) >= 4
        (home / "memory/b.md").write_text("Green tea, two minutes.\n")
        for each in (memory, other):
            assert each.home.search("green tea").hits[0].path == "memory/b.md"
    with Memory(home, clock=clock) as reopened:
        hits = reopened.home.search("sow the beans")
        assert (hits.mode, hits.warnings) == ("hybrid", ())
    assert len(list((home / ".index").glob("*.vectors"))) == 1


def test_compaction_keeps_every_answer(desk: Desk, tiny: TinyEmbedder) -> None:
    many(desk)
    desk.embed(tiny)
    for number in range(0, 50, 2):
        (desk.root / f"memory/n{number:03}.md").unlink()
    desk.embed(tiny)
    before = desk.with_vectors(tiny), desk.nearest(tiny, "tea 3 milk 3", 10)
    assert desk.index.coverage(tiny.space).vectors == 50
    other = Desk(desk.root)
    assert other.nearest(tiny, "tea 3 milk 3", 10) == before[1]
    with desk.index.write_transaction():
        desk.index.compact(tiny.space)
    assert desk.index.coverage(tiny.space).vectors == 25
    assert (desk.with_vectors(tiny), desk.nearest(tiny, "tea 3 milk 3", 10)) == before
    assert other.nearest(tiny, "tea 3 milk 3", 10) == before[1]
    assert len(list(desk.root.glob("*.vectors"))) == 1
    desk.put("memory/n001.md", "something new\n")
    assert desk.embed(tiny) == ["something new"]
    assert desk.nearest(tiny, "something new", 1) == ["memory/n001.md"]
    assert other.nearest(tiny, "something new", 1) == ["memory/n001.md"]
    other.index.close()


def test_a_compaction_that_does_not_count_changes_nothing(desk: Desk, tiny: TinyEmbedder) -> None:
    many(desk, 10)
    desk.embed(tiny)
    before = desk.with_vectors(tiny)
    with suppress(ZeroDivisionError), desk.index.write_transaction():
        desk.index.compact(tiny.space)
        raise ZeroDivisionError
    assert desk.with_vectors(tiny) == before
    desk.put("memory/more.md", "one more\n")
    desk.embed(tiny)
    assert desk.nearest(tiny, "one more", 1) == ["memory/more.md"]


def test_a_space_is_compacted_when_most_of_its_rows_are_unused(
    desk: Desk, tiny: TinyEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.index.vector_spaces._UNUSED_ROWS", 10)
    for number in range(40):
        desk.put("memory/a.md", f"tea, cup {number}\n")
        desk.embed(tiny)
    assert desk.index.coverage(tiny.space).vectors < 20
    assert desk.nearest(tiny, "tea, cup 39") == ["memory/a.md"]


def test_texts_that_are_gone_do_not_hide_those_that_exist(desk: Desk, tiny: TinyEmbedder) -> None:
    """A page that is written over and over leaves its old vectors behind: all of them nearer than the answer."""
    desk.put("memory/answer.md", "green tea at noon\n")
    for number in range(40):
        desk.put("memory/draft.md", f"green tea {number}\n")
        desk.embed(tiny)
    desk.put("memory/draft.md", "black coffee\n")
    desk.embed(tiny)
    assert desk.nearest(tiny, "green tea", 1) == ["memory/answer.md"]


def test_copies_of_a_text_do_not_hide_another(desk: Desk, tiny: TinyEmbedder) -> None:
    for number in range(80):
        desk.put(f"memory/copy{number}.md", "green tea\n")
    desk.put("memory/other.md", "green tea at noon\n")
    desk.embed(tiny)
    for filters in (EVERYTHING, Filters(scopes=("shared",))):
        neighbours = desk.index.nearest(tiny.space, tiny.embed_query("green tea"), ME, filters, 60)
        paths = {each.hit.path for each in desk.index.load_candidates([number for number, _ in neighbours])}
        assert "memory/other.md" in paths


def test_a_space_that_is_dropped_is_gone_with_its_file(desk: Desk, tiny: TinyEmbedder) -> None:
    other = TinyEmbedder("tiny-2", 32)
    many(desk, 5)
    desk.embed(tiny)
    desk.embed(other)
    assert (desk.index.spaces(), len(list(desk.root.glob("*.vectors")))) == (["tiny-1", "tiny-2"], 2)
    desk.index.drop_space(tiny.space)
    assert (desk.index.spaces(), len(list(desk.root.glob("*.vectors")))) == (["tiny-2"], 1)
    assert desk.nearest(tiny, "tea") == []
    assert len(desk.nearest(other, "tea")) == 5
    desk.index.drop_space("never-was")
    assert len(desk.embed(tiny)) == 5


def test_vectors_of_another_length_are_not_compared(desk: Desk, tiny: TinyEmbedder) -> None:
    many(desk, 5)
    desk.embed(tiny)
    with suppress(Unavailable):
        assert desk.nearest(TinyEmbedder(tiny.space, 32), "tea") == []


def waiting(release: threading.Event) -> Callable[[Handler], None]:
    def script(handler: Handler) -> None:
        release.wait(LONG_SECONDS)
        serve(handler)

    return script


def test_the_old_provider_serves_until_the_new_one_has_seen_everything(
    home: Path, clock: FrozenClock, server: Server
) -> None:
    with Memory(home, clock=clock) as memory:
        for number in range(30):
            memory.call("update_world", {"topic": f"t{number}", "content": f"fact {number} of many"})
        assert memory.home.search("fact 3").provider == "static"
    use(home, server)
    release = threading.Event()
    server.otherwise = waiting(release)
    with Memory(home, clock=clock) as changed:
        meanwhile = changed.home.search("fact 3")
        release.set()
        assert (meanwhile.provider, meanwhile.mode, meanwhile.fallback) == (
            "static",
            "hybrid",
            False,
        )
        assert meanwhile.hits[0].path == "memory/world/t3.md"
        assert any("0 of 30" in warning for warning in meanwhile.warnings)
        wait_until_built(changed)
        after = changed.home.search("fact 3")
        assert (after.provider, after.model, after.warnings) == ("openai", "m", ())
        assert after.hits[0].path == "memory/world/t3.md"


def test_another_model_of_a_provider_leaves_the_first_serving_until_it_is_whole(
    home: Path, clock: FrozenClock, server: Server
) -> None:
    use(home, server, "first")
    for number in range(30):
        (home / "memory").mkdir(exist_ok=True)
        (home / f"memory/t{number}.md").write_text(f"fact {number} of many\n")
    with Memory(home, clock=clock) as memory:
        wait_until_built(memory)
        assert memory.home.search("fact 3").model == "first"
    use(home, server, "second")
    release = threading.Event()
    server.otherwise = waiting(release)
    with Memory(home, clock=clock) as changed:
        meanwhile = changed.home.search("fact 3")
        release.set()
        assert meanwhile.mode == "hybrid"
        assert meanwhile.hits[0].path == "memory/t3.md"
        wait_until_built(changed)
        assert changed.home.search("fact 3").model == "second"


def shorter(handler: Handler) -> None:
    rows = [bag(text, 16) for text in handler.texts]
    handler.answer({"data": [{"index": index, "embedding": row} for index, row in enumerate(rows)]})


@pytest.mark.parametrize("edited", [False, True])
def test_a_server_whose_model_was_replaced_behind_its_name_stops_no_search(
    home: Path, clock: FrozenClock, server: Server, edited: bool
) -> None:
    use(home, server)
    (home / "memory").mkdir()
    (home / "memory/a.md").write_text(GARDEN)
    with Memory(home, clock=clock) as memory:
        assert memory.home.search("prune roses").mode == "hybrid"
    server.otherwise = shorter
    if edited:
        (home / "memory/b.md").write_text("Green tea, two minutes.\n")
    with Memory(home, clock=clock) as again:
        for _ in range(2):
            hits = again.home.search("prune roses")
            assert hits.hits[0].text.endswith("Prune them in March.")
        assert hits.fallback == bool(hits.warnings)
        if hits.mode == "hybrid":
            assert all(row.factors.dense != UNKNOWN_Z_SCORE for row in hits.ranked)


def test_an_embedder_that_stops_half_way_leaves_what_it_did(desk: Desk, tiny: TinyEmbedder) -> None:
    class Failing(TinyEmbedder):
        def embed_passages(self, texts: Any, **_: object) -> Any:
            if self.given:
                raise Unavailable("the server is gone")
            return super().embed_passages(texts)

    many(desk, 20)
    with pytest.raises(Unavailable):
        desk.embed(Failing(batch=8))
    assert desk.index.coverage(tiny.space).seen == 8
    assert len(desk.embed(tiny)) == 12


titles = st.sampled_from(["Tea", "Milk", "Sugar", "Lemon"])
bodies = st.sampled_from(["hot tea", "cold milk", "brown sugar", "tea with milk", "!!!", "x" * 950])
sections = st.lists(st.tuples(titles, bodies), max_size=4)
pages = st.sampled_from(["memory/a.md", "memory/b.md", "memory/world/c.md", "agents/main/memory/d.md"])
steps: st.SearchStrategy[tuple[str, str, Any]] = st.one_of(
    st.tuples(st.just("write"), pages, sections),
    st.tuples(st.just("remove"), pages, st.just([])),
    st.tuples(st.just("move"), pages, pages),
    st.tuples(st.just("compact"), pages, st.just([])),
)


def act(desk: Desk, tiny: TinyEmbedder, step: tuple[str, str, Any]) -> None:
    what, path, more = step
    page = desk.root / path
    if what == "write":
        desk.put(path, "\n".join(f"## {title}\n\n{body}\n" for title, body in more))
    elif what == "remove":
        page.unlink(missing_ok=True)
    elif what == "move" and page.exists():
        (desk.root / more).parent.mkdir(parents=True, exist_ok=True)
        page.replace(desk.root / more)
    elif what == "compact" and tiny.space in desk.index.spaces():
        with desk.index.write_transaction():
            desk.index.compact(tiny.space)


@examples(15)
@given(st.lists(st.tuples(steps, st.booleans()), min_size=1, max_size=8))
def test_an_index_that_followed_is_one_made_from_nothing(sequence: list[tuple[Any, bool]]) -> None:
    root, tiny = Path(tempfile.mkdtemp()), TinyEmbedder(batch=3)
    desk = Desk(root / "home")
    try:
        for step, looked_at in sequence:
            act(desk, tiny, step)
            if looked_at:
                desk.embed(tiny)
        desk.embed(tiny)
        assert desk.with_vectors(tiny) == rebuilt(desk, tiny), json.dumps(sequence)
    finally:
        desk.index.close()
        shutil.rmtree(root)


def test_an_index_that_another_thread_closed_says_so(desk: Desk) -> None:
    desk.put("memory/tea.md", "green tea\n")
    desk.follow()
    pending = desk.index.next_pending("tiny", 10)
    assert pending is not None
    desk.index.close()
    with pytest.raises(IndexClosed):
        desk.index.next_pending("tiny", 10)
    with pytest.raises(IndexClosed):
        desk.index.add_vectors("tiny", pending, {})


def test_similarity_and_coverage_count_what_a_viewer_may_see(tmp_path: Path) -> None:
    """Whatever others keep, and however far an embedder is with it."""
    alone, shared, tiny = Desk(tmp_path / "alone"), Desk(tmp_path / "shared"), TinyEmbedder()
    for number in range(200):
        shared.put(f"agents/bob/memory/{number:03}.md", f"the same thing about parcels, number {number}")
    shared.embed(tiny)
    for desk in (alone, shared):
        for number in range(70):
            desk.put(f"agents/main/memory/{number:03}.md", f"word{number} and thing{number * 7}")
        desk.embed(tiny)
    stats = alone.index.similarity_stats(tiny.space, ME)
    assert stats is not None
    assert shared.index.similarity_stats(tiny.space, ME) == stats
    for number in range(200, 300):
        shared.put(f"agents/bob/memory/{number:03}.md", f"something else, number {number}")
    for desk in (alone, shared):
        desk.put("agents/main/memory/new.md", "what is new")
        desk.follow()
        assert desk.index.coverage(tiny.space, ME)[:2] == (70, 71)
        assert embed_batch(desk.index, tiny, 16, viewer=ME)
        assert desk.index.coverage(tiny.space, ME)[:2] == (71, 71)
        assert not embed_batch(desk.index, tiny, 16, viewer=ME)
    assert shared.index.coverage(tiny.space).behind == 101
    shared.embed(tiny)
    assert tiny.given.count(next(text for text in tiny.given if "what is new" in text)) == 2, "once in each index"
    assert shared.index.coverage(tiny.space).whole
