"""Tokens in the index: kept beside the vector of a text, gone with it, and what a search goes by where they are."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commonplace.index.base import Entry
from commonplace.index.embedding_service import EmbeddingService, embed_batch
from commonplace.index.sqlite import SqliteIndex
from commonplace.model import EVERYTHING, Hit, Passage, Query, Scope, Viewer
from commonplace.search.pipeline import run_query
from commonplace.search.scoring import WEIGHTS
from commonplace.settings import SearchSettings

from ..waiting import LONG_SECONDS
from .test_vector_spaces import Desk
from .tiny import TinyEmbedder, TinyTokens

if TYPE_CHECKING:
    from commonplace.embedding.base import Vectors

ME = Viewer("main")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.index.close()


def serving(*embedders: TinyEmbedder) -> EmbeddingService:
    meaning = EmbeddingService(SearchSettings(provider="openai"))
    meaning._opened = embedders  # type: ignore[assignment]
    return meaning


def numbers(index: SqliteIndex, tiny: TinyEmbedder) -> list[int]:
    return [number for number, _ in index.nearest(tiny.space, tiny.embed_query("tea"), ME, EVERYTHING, 99)]


def test_tokens_are_kept_where_an_embedder_gives_them_and_only_there(desk: Desk) -> None:
    by_token, plain = TinyTokens("tiny-tokens"), TinyEmbedder("tiny-plain")
    desk.put("memory/tea.md", "green tea in the morning\n")
    for each in (by_token, plain):
        desk.embed(each)
    by_passage = desk.index.token_vectors(by_token.space, numbers(desk.index, by_token)).by_passage
    assert [len(tokens) for tokens in by_passage.values()] == [5 * 12]
    assert desk.index.token_vectors(plain.space, numbers(desk.index, plain)) == ({}, {})
    assert desk.index.token_vectors("no-such-space", [1]) == ({}, {})


def test_a_text_that_moves_keeps_its_tokens_and_one_that_goes_loses_them(desk: Desk) -> None:
    tiny = TinyTokens()
    desk.put("memory/one.md", "green tea\n")
    desk.put("memory/two.md", "black coffee\n")
    desk.embed(tiny)
    (desk.root / "memory/one.md").rename(desk.root / "memory/three.md")
    assert desk.embed(tiny) == []
    assert len(desk.index.token_vectors(tiny.space, numbers(desk.index, tiny)).by_passage) == 2
    (desk.root / "memory/two.md").unlink()
    desk.embed(tiny)
    desk.index.purge()
    with closing(sqlite3.connect(desk.file)) as db:
        assert db.execute("SELECT count(*) FROM tokens").fetchone() == (1,)
    desk.index.drop_space(tiny.space)
    with closing(sqlite3.connect(desk.file)) as db:
        assert db.execute("SELECT count(*) FROM tokens").fetchone() == (0,)


def test_what_is_forgotten_while_it_is_read_leaves_neither_vector_nor_tokens(desk: Desk) -> None:
    class Slow(TinyTokens):
        """While it reads, somebody forgets a page."""

        def embed_passages_by_token(self, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
            (desk.root / "memory/secret.md").unlink(missing_ok=True)
            desk.follow()
            desk.index.purge()
            return super().embed_passages_by_token(texts)

    desk.put("memory/secret.md", "nobody is to know\n")
    desk.put("memory/tea.md", "green tea\n")
    desk.embed(Slow())
    with closing(sqlite3.connect(desk.file)) as db:
        assert db.execute("SELECT count(*) FROM tokens").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (1,)
        assert db.execute("SELECT rows FROM spaces").fetchone() == (1,)
    assert desk.nearest(Slow(), "tea") == ["memory/tea.md"]


def test_what_is_nearest_as_a_whole_gives_way_to_what_holds_the_likest_tokens(desk: Desk) -> None:
    tiny = TinyTokens()
    desk.put("memory/list.md", "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi quokka\n")
    desk.put("memory/other.md", "quokka habits\n")
    desk.embed(tiny)
    query = Query("kappa lambda mu quokka", ME)
    by_token = run_query(desk.index, query, serving(tiny))
    assert by_token.hits[0].path == "memory/list.md"
    as_a_whole = run_query(desk.index, query, serving(tiny), WEIGHTS._replace(tokens=0.0))
    one, other = ({row.hit.path: row.factors.dense or 0.0 for row in each.ranked} for each in (by_token, as_a_whole))
    assert one["memory/list.md"] > one["memory/other.md"]
    assert other != one


@pytest.mark.parametrize("damage", ["x'00'", "''", "'text'", "7"])
def test_damaged_tokens_are_damage_like_any_other(desk: Desk, damage: str) -> None:
    tiny = TinyTokens()
    desk.put("memory/tea.md", "green tea\n")
    desk.embed(tiny)
    with closing(sqlite3.connect(desk.file)) as db:
        db.execute(f"UPDATE tokens SET tokens = {damage}")
        db.commit()
    with pytest.raises(sqlite3.DatabaseError, match="tokens of a passage are missing"):
        desk.index.token_vectors(tiny.space, numbers(desk.index, tiny))


def test_a_space_built_beside_another_takes_its_place_with_its_tokens(desk: Desk) -> None:
    tiny = TinyTokens()
    desk.put("memory/tea.md", "green tea\n")
    desk.embed(tiny)
    while embed_batch(desk.index, tiny, 10, f"{tiny.space}-new"):
        pass
    desk.index.promote_space(f"{tiny.space}-new", tiny.space)
    assert len(desk.index.token_vectors(tiny.space, numbers(desk.index, tiny)).by_passage) == 1


def test_all_of_several_slow_embedders_catch_up_after_one_question(desk: Desk) -> None:
    english, chinese = TinyTokens("tiny-english"), TinyEmbedder("tiny-chinese")
    english.is_fast = chinese.is_fast = False
    for number in range(40):
        desk.put(f"memory/{number}.md", f"green tea number {number}\n")
    desk.follow()
    embed_batch(desk.index, english, 20)
    meaning = serving(english, chinese)
    run_query(desk.index, Query("tea", ME), meaning)
    working = meaning._background
    assert working
    working.join()
    second = run_query(desk.index, Query("tea", ME), meaning)
    assert (second.model, second.reasons) == ("tiny-english, tiny-chinese", ())


def test_until_slow_embedders_have_read_everything_an_answer_says_how_far_they_are(desk: Desk) -> None:
    class Waiting(TinyTokens):
        is_fast = False

        def embed_passages_by_token(self, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
            answered.wait(LONG_SECONDS)
            return super().embed_passages_by_token(texts)

    answered = threading.Event()
    for number in range(40):
        desk.put(f"memory/{number}.md", f"green tea number {number}\n")
    desk.follow()
    embed_batch(desk.index, TinyTokens("tiny-english"), 20)
    meaning = serving(Waiting("tiny-english"), Waiting("tiny-chinese"))
    reasons = run_query(desk.index, Query("tea", ME), meaning).reasons
    answered.set()
    assert meaning._background
    meaning._background.join()
    assert "has embedded 10 of 40 passages" in reasons[0]  # half of what one of the two has to read


def test_the_turns_beside_one_are_the_nearest_two_on_either_side_of_its_conversation_alone() -> None:
    index = SqliteIndex(":memory:")
    turns = [Passage(line, line, f"turn {line}") for line in (1, 2, 3, 5, 6, 30)]
    shared = Scope("shared", "")
    with index.write_transaction():
        index.apply([Entry("sessions/a.jsonl", 1, "v", "session", shared, "session", turns[:3])], [])
        index.apply([Entry("sessions/b.jsonl", 1, "v", "session", shared, "session", turns)], [])
        index.apply([Entry("memory/c.md", 1, "v", "page", shared, "memory", turns)], [])
        index.apply([Entry("sessions/a.jsonl", 2, "w", "session", shared, "session", turns[:4])], [])  # it goes on
    places = {each.number: (each.hit.path, each.hit.start) for each in index.load_candidates(range(1, 99))}
    beside = index.token_vectors("any", list(places)).neighbours
    assert all({places[other][0] for other in others} == {places[number][0]} for number, others in beside.items())
    assert {places[number]: sorted(places[other][1] for other in others) for number, others in beside.items()} == {
        ("sessions/a.jsonl", 1): [2, 3],
        ("sessions/a.jsonl", 2): [1, 3, 5],
        ("sessions/a.jsonl", 3): [1, 2, 5],
        ("sessions/a.jsonl", 5): [2, 3],
        ("sessions/b.jsonl", 1): [2, 3],
        ("sessions/b.jsonl", 2): [1, 3, 5],
        ("sessions/b.jsonl", 3): [1, 2, 5, 6],
        ("sessions/b.jsonl", 5): [2, 3, 6],
        ("sessions/b.jsonl", 6): [3, 5],
    }


def test_what_another_agent_said_in_private_is_never_read_with_a_turn_of_ones_own() -> None:
    """Two agents keep a session of one name each, line beside line, and one of them has the rest of every question."""
    tiny, query = TinyTokens(), Query("who sent the parcel to the harbour", ME)

    def hits(*others: str) -> tuple[Hit, ...]:
        index = SqliteIndex(":memory:")
        mine = [Passage(line, line, text) for line, text in ((1, "who sent it"), (3, "the parcel"), (5, "no idea"))]
        ones = [Passage(line, line, text) for line, text in zip((2, 4, 6), others, strict=False)]
        with index.write_transaction():
            for who, turns in (("main", mine), ("ann", ones)):
                path, scope = f"agents/{who}/sessions/s.jsonl", Scope("agent", who)
                index.apply([Entry(path, 1, "v", "session", scope, "session", turns)], [])
        while embed_batch(index, tiny, 10):
            pass
        own = [
            each.number
            for each in index.load_candidates(range(1, 99))
            if each.hit.path == "agents/main/sessions/s.jsonl"
        ]
        assert set(index.token_vectors(tiny.space, own).by_passage) == set(own)
        return run_query(index, query, serving(tiny)).hits

    assert hits() == hits("to the harbour", "Ann sent the parcel to the harbour", "the harbour")
    assert {hit.path for hit in hits("to the harbour")} == {"agents/main/sessions/s.jsonl"}
