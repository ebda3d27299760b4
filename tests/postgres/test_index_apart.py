"""The index in PostgreSQL among others: writers one after another, readers on one state, tenants apart, one round trip."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import pytest

from commonplace.errors import LockTimeout, StorageError
from commonplace.index.base import Entry, PassageEmbedding
from commonplace.index.embedding_service import EmbeddingService, embed_batch
from commonplace.index.sqlite import SqliteIndex
from commonplace.model import EVERYTHING, Filters, Passage, Query, Record, Scope, Viewer
from commonplace.search.bm25 import build_batch_query
from commonplace.search.pipeline import run_query
from commonplace.settings import SearchSettings
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.index import PostgresIndex
from commonplace.storage.postgres.migrate import migrate
from commonplace.storage.postgres.url import parse_url

from ..index.tiny import TinyEmbedder, TinyTokens
from .conftest import admin, on
from .test_index import ANN, ANNS, ME, MINE, SHARED, entry, write
from .wire import Wire

pytestmark = pytest.mark.slow


@pytest.fixture
def index(database: Database) -> PostgresIndex:
    return PostgresIndex(database, "home")


def texts(index: PostgresIndex, question: str, viewer: Viewer = ME, **filters: object) -> list[str]:
    query = Query(question, viewer, filters=Filters(**filters))  # type: ignore[arg-type]
    return [hit.text for hit in run_query(index, query, EmbeddingService(SearchSettings(provider="none"))).hits]


def test_what_was_begun_and_not_finished_counts_for_nothing(index: PostgresIndex) -> None:
    write(index, [entry("memory/a.md", "green tea")])
    with pytest.raises(KeyboardInterrupt):
        _interrupt_write(index)
    assert texts(index, "tea") == ["green tea"]
    assert index.size() == (1, 1)
    write(index, [entry("memory/b.md", "black tea")])
    assert sorted(texts(index, "tea")) == ["black tea", "green tea"]


def _interrupt_write(index: PostgresIndex) -> None:
    with index.write_transaction():
        index.apply([entry("memory/b.md", "black tea")], ["memory/a.md"])
        raise KeyboardInterrupt


def test_a_second_writer_of_the_same_index_waits_and_then_gives_up(
    index: PostgresIndex, open_database: Callable[..., Database]
) -> None:
    write(index, [entry("memory/a.md", "green tea")])
    second = PostgresIndex(open_database(), "home")
    with index.write_transaction():
        index.apply([entry("memory/b.md", "black tea")], [])
        with (
            run_beside(second.size),
            pytest.raises(LockTimeout, match="another process writes"),
            second.write_transaction(),
        ):
            pass
    with second.write_transaction():
        assert second.size() == (2, 2)


@contextmanager
def run_beside(look: Callable[[], object]) -> Iterator[None]:
    """Something goes on meanwhile: whoever reads does not wait."""
    assert look() == (1, 1)
    yield


def test_writers_of_other_tenants_and_other_settings_do_not_wait(
    index: PostgresIndex, open_database: Callable[..., Database]
) -> None:
    others = [PostgresIndex(open_database("other"), "home"), PostgresIndex(open_database(), "elsewhere")]
    with index.write_transaction():
        for each in others:
            write(each, [entry("memory/a.md", "green tea")])
    assert [each.size() for each in (index, *others)] == [(0, 0), (1, 1), (1, 1)]


def test_many_writers_at_once_lose_nothing(index: PostgresIndex, open_database: Callable[..., Database]) -> None:
    indexes = [PostgresIndex(open_database(), "home") for _ in range(3)]

    def work(number: int) -> None:
        for turn in range(5):
            write(indexes[number], [entry(f"memory/{number}-{turn}.md", f"tea of {number}", "the same in all")])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert index.size() == (15, 30)
    assert index.corpus_stats(["tea", "sam"], ME).frequency == {"tea": 15, "sam": 15}


def test_a_reader_sees_one_state_whatever_is_written_meanwhile(
    index: PostgresIndex, open_database: Callable[..., Database]
) -> None:
    write(index, [entry("memory/a.md", "green tea")])
    writer = PostgresIndex(open_database(), "home")
    with index.read_transaction():
        assert index.size() == (1, 1)
        write(writer, [entry("memory/b.md", "black tea")])
        assert index.size() == (1, 1)
        assert index.corpus_stats(["tea"], ME).frequency == {"tea": 1}
    assert index.size() == (2, 2)


def test_a_tenant_finds_nothing_of_another_even_when_it_asks_for_all(
    index: PostgresIndex, open_database: Callable[..., Database]
) -> None:
    stranger = PostgresIndex(open_database("stranger"), "home")
    write(index, [entry("memory/a.md", "green tea")])
    embed_batch(index, TinyEmbedder(), 10)
    assert stranger.size() == (0, 0)
    assert texts(stranger, "tea") == []
    assert stranger.spaces() == []
    for table in ("pages", "owners", "frequencies", "passages", "words", "spaces", "vectors"):
        sql = f"SELECT count(*) FROM commonplace.index_{table}"  # no tenant named: the server keeps to it
        assert stranger._tables.query(sql) == [(0,)]
        assert index._tables.query(sql) == [(1,)] or table == "frequencies"
    lookup = "SELECT count(*) FROM commonplace.index_lookup(%(territory)s, ARRAY[%(lexeme)s])"
    values = {"territory": index._tables.own["index_key"], "lexeme": f"'{index._tables.own['mark']}btea'"}
    assert index._tables.query(lookup, values) == [(1,)]
    assert stranger._tables.query(lookup, values) == [(0,)]
    with pytest.raises(StorageError, match="row-level security"), stranger.write_transaction():
        stranger._tables.execute("INSERT INTO commonplace.index_pages VALUES ('acme', 'x', 'x', 1, '', '')")


def test_an_agent_learns_nothing_of_what_others_keep(index: PostgresIndex) -> None:
    write(index, [entry("memory/a.md", "tea in private", scope=ANNS), entry("memory/b.md", "tea for all")])
    assert texts(index, "tea") == ["tea for all"]
    assert sorted(texts(index, "tea", ANN)) == ["tea for all", "tea in private"]
    assert index.corpus_stats(["privat", "tea"], ME).frequency == {"tea": 1}


def test_words_that_a_server_would_stumble_over_are_found(index: PostgresIndex) -> None:
    odd = ["it's a \\ 'quoted' thing", "nul\0and \ud800 tea", "x" * 5000 + " endless", "100 % of %s", "☕ 绿茶"]
    many = " ".join(f"word{number}" for number in range(5000))
    write(index, [entry("memory/a.md", *odd, many)])
    assert texts(index, "quoted")[0].startswith("it's")
    assert texts(index, "tea") == ["nul\ufffdand ? tea"]
    assert texts(index, "x" * 5000)[0].startswith("x")
    assert texts(index, "绿茶") == ["☕ 绿茶"]
    assert "word4999" in texts(index, "word4999")[0]
    write(index, [], ["memory/a.md"])
    assert index._tables.query("SELECT count(*) FROM commonplace.index_frequencies") == [(0,)]
    assert index._tables.query("SELECT count(*) FROM commonplace.index_words") == [(0,)]


def test_records_warnings_and_stamps_are_kept(index: PostgresIndex) -> None:
    record = Record(
        "tea", {"sort": "绿茶"}, "likes", ("a",), "2026-01-01", "2026-01-02", "memory/global/tea.md", SHARED
    )
    first = entry(record.path, "green tea")._replace(record=record, warning=f"{record.path}: odd")
    write(index, [first, entry("memory/b.md", "other")])
    assert index.records("memory/global") == [record]
    assert index.records("memory/glob") == []
    assert index.warnings() == [(record.path, f"{record.path}: odd")]
    write(index, [first._replace(passages=None, stamp=77)])
    assert index.stamps("memory/global") == {record.path: 77}
    assert index.versions() == {record.path: first.version, "memory/b.md": index.versions()["memory/b.md"]}
    write(index, [first._replace(record=None, warning="")])
    assert (index.records("memory"), index.warnings()) == ([], [])


def test_a_text_that_moves_keeps_its_vector_and_a_space_can_be_replaced(index: PostgresIndex) -> None:
    tiny, new = TinyEmbedder(), TinyEmbedder("tiny-2", dims=32)
    write(index, [entry("memory/a.md", "green tea", "black tea")])
    assert embed_batch(index, tiny, 10)
    assert not embed_batch(index, tiny, 10)
    assert index.coverage(tiny.space) == (2, 2, 2)
    write(index, [entry("memory/b.md", "black tea", "green tea")], ["memory/a.md"])
    assert embed_batch(index, tiny, 10)
    assert len(tiny.given) == 2
    assert index.accepts_dimensions(tiny.space, 64)
    assert not index.accepts_dimensions(tiny.space, 32)
    assert index.nearest(tiny.space, new.embed_query("tea"), ME, EVERYTHING, 5) == []
    assert embed_batch(index, new, 10)
    index.promote_space(new.space, tiny.space)
    assert index.spaces() == [tiny.space]
    assert index.accepts_dimensions(tiny.space, 32)
    index.drop_space(tiny.space)
    assert index.spaces() == []
    assert index._tables.query("SELECT count(*) FROM commonplace.index_vectors") == [(0,)]


def test_vectors_of_texts_that_are_gone_do_not_hide_the_others(index: PostgresIndex) -> None:
    tiny = TinyEmbedder()
    write(index, [entry("memory/a.md", *(f"tea {number}" for number in range(300))), entry("memory/b.md", "coffee")])
    while embed_batch(index, tiny, 500):
        pass
    write(index, [], ["memory/a.md"])
    assert len(index.nearest(tiny.space, tiny.embed_query("tea"), ME, EVERYTHING, 5)) == 1
    assert [hit.text for hit in run_query(index, Query("tea or so", ME), serving(tiny)).hits] == []
    index.purge()
    assert index.coverage(tiny.space).vectors == 1


def serving(*embedders: TinyEmbedder) -> EmbeddingService:
    meaning = EmbeddingService(SearchSettings(provider="openai"))
    meaning._opened = embedders  # type: ignore[assignment]
    return meaning


def test_a_question_meets_the_space_that_another_process_put_in_place(
    index: PostgresIndex, open_database: Callable[..., Database]
) -> None:
    tiny = TinyEmbedder()
    write(index, [entry("memory/a.md", "green tea"), entry("memory/b.md", "black coffee")])
    while embed_batch(index, tiny, 10):
        pass
    query_vector = tiny.embed_query("tea")
    before = index.nearest(tiny.space, query_vector, ME, EVERYTHING, 5)
    other = PostgresIndex(open_database(), "home")
    other.drop_space(tiny.space)
    while embed_batch(other, tiny, 10):
        pass
    finder = index.fetch(build_batch_query(Query("tea", ME), [(tiny.space, query_vector)], 60))
    assert finder.nearest(tiny.space, query_vector, ME, EVERYTHING, 60) == before


def test_a_question_by_words_and_meaning_costs_one_round_trip(index: PostgresIndex, url: str) -> None:
    tiny, beside = TinyEmbedder(), TinyEmbedder("tiny-2")
    write(index, [entry(f"memory/{number}.md", f"tea number {number}", "something else") for number in range(50)])
    for each in (tiny, beside):
        while embed_batch(index, each, 500):
            pass
    wire = Wire(url)
    far = PostgresIndex(Database(parse_url(wire.url)._replace(tenant="acme")), "home")
    meaning = serving(tiny, beside)
    query = Query("tea number 7", ME)
    run_query(far, query, meaning)  # the first one opens the connection
    before = wire.round_trips
    hits = run_query(far, query, meaning).hits
    assert wire.round_trips - before == 3  # what either space has not seen yet, and the question
    assert hits == run_query(index, query, meaning).hits
    questions = [(each.space, each.embed_query(query.text)) for each in (tiny, beside)]
    before = wire.round_trips
    far.fetch(build_batch_query(query, questions, 60))
    assert wire.round_trips - before == 1
    wire.close()


def test_tokens_are_asked_for_once_and_go_with_their_text(index: PostgresIndex, url: str) -> None:
    tiny = TinyTokens()
    write(index, [entry("memory/a.md", "green tea in the morning"), entry("memory/b.md", "black coffee")])
    while embed_batch(index, tiny, 10):
        pass
    near = [number for number, _ in index.nearest(tiny.space, tiny.embed_query("tea"), ME, EVERYTHING, 9)]
    by_passage = index.token_vectors(tiny.space, near).by_passage
    assert sorted(len(tokens) for tokens in by_passage.values()) == [2 * 12, 5 * 12]
    wire = Wire(url)
    far = PostgresIndex(Database(parse_url(wire.url)._replace(tenant="acme")), "home")
    query, meaning = Query("tea in the morning", ME), serving(tiny)
    hits = run_query(far, query, meaning).hits
    before = wire.round_trips
    assert run_query(far, query, meaning).hits == hits
    assert wire.round_trips - before == 3  # what the space has not seen yet, the question, and the tokens
    assert run_query(index, query, meaning).hits == hits
    wire.close()
    desk = SqliteIndex(":memory:")
    write(desk, [entry("memory/a.md", "green tea in the morning"), entry("memory/b.md", "black coffee")])
    while embed_batch(desk, tiny, 10):
        pass
    assert [hit._replace(score=0) for hit in run_query(desk, query, meaning).hits] == [
        hit._replace(score=0) for hit in hits
    ]
    write(index, [], ["memory/a.md"])
    index.purge()
    assert [len(tokens) for tokens in index.token_vectors(tiny.space, near).by_passage.values()] == [2 * 12]
    index.drop_space(tiny.space)
    assert index.token_vectors(tiny.space, near) == ({}, {})


def test_what_is_forgotten_while_it_is_read_leaves_neither_vector_nor_tokens(index: PostgresIndex) -> None:
    tiny = TinyTokens()
    write(index, [entry("memory/secret.md", "nobody is to know"), entry("memory/tea.md", "green tea")])
    pending = index.next_pending(tiny.space, 10)
    assert pending
    read = dict(
        zip(pending.texts, zip(*tiny.embed_passages_by_token(list(pending.texts.values())), strict=True), strict=True)
    )
    write(index, [], ["memory/secret.md"])
    index.purge()
    index.add_vectors(tiny.space, pending, {key: PassageEmbedding(*each) for key, each in read.items()})
    assert index._tables.query("SELECT count(*), count(tokens) FROM commonplace.index_vectors") == [(1, 1)]
    assert index.coverage(tiny.space) == (1, 1, 1)


def test_turns_are_neighbours_as_in_a_folder(index: PostgresIndex) -> None:
    desk = SqliteIndex(":memory:")
    turns = [Passage(line, line, f"turn {line}") for line in (1, 2, 3, 5, 6, 30)]
    entries = [
        Entry(f"{kind}/{name}", 1, "v", kind, SHARED, kind, turns)
        for kind, name in (("session", "a.jsonl"), ("memory", "b.md"), ("session", "c.jsonl"))
    ]
    for each in (index, desk):
        write(each, entries)
    every = list(range(1, 19))
    assert index.token_vectors("any", every) == desk.token_vectors("any", every)
    assert len(desk.token_vectors("any", every).neighbours) == 10


def test_a_question_that_finds_the_wire_cut_is_asked_again(index: PostgresIndex, url: str) -> None:
    write(index, [entry("memory/a.md", "green tea")])
    wire = Wire(url)
    far = PostgresIndex(Database(parse_url(wire.url)._replace(tenant="acme")), "home")
    assert texts(far, "tea") == ["green tea"]
    for arrives in (True, False):
        wire.cut(1, arrives=arrives)
        assert texts(far, "tea") == ["green tea"]
        assert wire.was_cut
    wire.close()


@pytest.fixture
def large_and_small(open_database: Callable[..., Database]) -> tuple[PostgresIndex, PostgresIndex, np.ndarray]:
    """Make a tenant with many vectors, of which one agent has a few, and a tenant with a few."""
    rng = np.random.default_rng(7)
    vectors = rng.standard_normal((24_240, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    large, small = PostgresIndex(open_database("large"), "home"), PostgresIndex(open_database("small"), "home")
    for each, first, count in ((large, 0, 24_000), (small, 24_000, 240)):
        scopes = [MINE if number % 100 == 0 else SHARED for number in range(first, first + count)]
        write(each, [_make_entry(first + number, scope) for number, scope in enumerate(scopes)])
        while pending := each.next_pending("synthetic", 5_000):
            result = {key: vectors[int(text.split()[-1])] for key, text in pending.texts.items()}
            each.add_vectors("synthetic", pending, {key: PassageEmbedding(vector) for key, vector in result.items()})
    return large, small, vectors


def _make_entry(number: int, scope: Scope) -> Entry:
    return Entry(f"memory/{number}.md", 1, "v", "page", scope, "memory", [Passage(1, 1, f"number {number}")])


@pytest.mark.thorough
def test_few_vectors_among_many_are_found_as_if_all_were_compared(
    large_and_small: tuple[PostgresIndex, PostgresIndex, np.ndarray],
) -> None:
    large, small, vectors = large_and_small
    assert large.build_ann_index("synthetic")
    assert not small.build_ann_index("synthetic")
    every = np.arange(24_000)
    request = np.random.default_rng(8).standard_normal((30, 64)).astype(np.float32)
    for index, viewer, mine, filters in (
        (large, ME, every, EVERYTHING),
        (large, ME, every[::100], Filters(scopes=("agent",))),
        (small, ME, np.arange(24_000, 24_240), EVERYTHING),
    ):
        right = 0
        for question in request:
            expected = mine[np.argsort(-(vectors[mine] @ question), kind="stable")[:10]]
            near = [number for number, _ in index.nearest("synthetic", question, viewer, filters, 60)]
            texts = {each.number: each.hit.text for each in index.load_candidates(near)}
            right += len({f"number {number}" for number in expected} & {texts[number] for number in near[:10]})
        assert right / 300 >= 0.95


def test_an_owner_who_may_not_do_everything_needs_the_extension_only(server: str, template: str) -> None:
    name = f"commonplace_plain_{secrets.token_hex(6)}"
    for statement in (
        f"CREATE ROLE {name} LOGIN", f"GRANT commonplace_member TO {name}", f"CREATE DATABASE {name} OWNER {name}",
    ):  # fmt: skip
        admin(server, statement)
    database = Database(parse_url(urlunsplit(urlsplit(on(server, name))._replace(netloc=f"{name}@"))))
    try:
        with pytest.raises(StorageError, match="CREATE EXTENSION vector"):
            migrate(database)
        admin(on(server, name), "CREATE EXTENSION vector")
        migrate(database)
        plain = PostgresIndex(database, "home")
        write(plain, [entry("memory/a.md", "green tea")])
        assert texts(plain, "tea") == ["green tea"]
    finally:
        database.close()
        admin(server, f"DROP DATABASE {name} WITH (FORCE)")
        admin(server, f"DROP ROLE {name}")
