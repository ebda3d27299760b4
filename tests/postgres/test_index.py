"""The index in PostgreSQL: it says of the same pages what the one in SQLite says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.facts.statements import fact_keys
from commonplace.index.base import MAX_PASSAGES_PER_FACT_KEY, Entry, Index
from commonplace.index.embedding_service import EmbeddingService, embed_batch
from commonplace.index.sqlite import SqliteIndex
from commonplace.model import EVERYTHING, Filters, Passage, PastPages, Query, Scope, Viewer
from commonplace.search.bm25 import weigh_terms
from commonplace.search.pipeline import run_query
from commonplace.search.validity import note_days
from commonplace.settings import SearchSettings
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.index import PostgresIndex

from ..examples import examples
from ..index.tiny import TinyEmbedder

pytestmark = pytest.mark.slow
ME, ANN = Viewer("main"), Viewer("ann", extra=("docs/*.md",))
SHARED, MINE, ANNS = Scope("shared", ""), Scope("agent", "main"), Scope("agent", "ann")
SAMPLE = Path(__file__).parent.parent / "search" / "sample.json"
ROWS_READ = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = %s"
CHINESE = [
    "我喜欢喝绿茶，不喜欢咖啡。",
    "明天下午三点在北京开会。",
    "東京の天気は晴れです。",
    "서울에서 회의가 있습니다.",
]


def entry(path: str, *texts: str, scope: Scope = SHARED, **more: object) -> Entry:
    passages = [Passage(2 * n + 1, 2 * n + 1, text) for n, text in enumerate(texts)]
    return Entry(path, 1, f"v{hash(texts)}", "page", scope, "memory", passages, **more)  # type: ignore[arg-type]


def write(index: Index, entries: Sequence[Entry], removed: Sequence[str] = ()) -> None:
    with index.write_transaction():
        index.apply(entries, removed)


@pytest.fixture
def index(database: Database) -> PostgresIndex:
    return PostgresIndex(database, "home")


@pytest.fixture
def other() -> Iterator[SqliteIndex]:
    index = SqliteIndex(":memory:")
    yield index
    index.close()


def corpus_of(sample: Path = SAMPLE) -> tuple[list[Entry], list[str]]:
    """A small real memory, English and Chinese, of three owners."""
    data = json.loads(sample.read_text())
    texts = [note["text"] for note in data["notes"]]
    entries = [
        entry(f"memory/{number:03}.md", *texts[number : number + 3], scope=(SHARED, MINE, ANNS)[number % 3])
        for number in range(0, len(texts), 2)
    ]
    entries += [entry(f"memory/zh/{number}.md", text) for number, text in enumerate(CHINESE)]
    questions: list[str] = [each["text"] for each in data["questions"]]
    return entries, [*questions, "绿茶", "北京 开会", "天気", "회의 서울", "the"]


def test_both_indexes_find_the_same_in_the_same_order(index: PostgresIndex, other: SqliteIndex) -> None:
    entries, questions = corpus_of()
    for each in (index, other):
        write(each, entries)
    meaning = EmbeddingService(SearchSettings())
    for question in questions:
        for viewer in (ME, ANN, Viewer("nobody", one_conversation=True)):
            query = Query(question, viewer)
            mine, theirs = weigh_terms(index, question, viewer), weigh_terms(other, question, viewer)
            assert mine == theirs
            lookup = {word: mine.weights[word] for word in mine.lookup}
            if lookup:
                matches = [each.match_terms(lookup, viewer, EVERYTHING, 60) for each in (index, other)]
                assert list(matches[0]) == list(matches[1])
                assert matches[0] == pytest.approx(matches[1])
            ours, expected = run_query(index, query, meaning), run_query(other, query, meaning)
            result, target = [hit[:3] for hit in ours.hits], [hit[:3] for hit in expected.hits]
            assert len({*result} & {*target}) >= len(target) - 1, question  # the last ones are nearly equally unlikely
            by_words = EmbeddingService(SearchSettings(provider="none"))
            assert run_query(index, query, by_words) == run_query(other, query, by_words)
            for hit, other_hit in zip(ours.hits, expected.hits, strict=False):
                # SQLite's vectors are rounded to bytes, and of a word like "the" the tenth hit is as likely as the fifth
                assert hit.score == pytest.approx(other_hit.score, abs=0.04)


def test_both_indexes_say_by_which_keys_of_facts_a_passage_was_found(index: PostgresIndex, other: SqliteIndex) -> None:
    texts = ("The port is 8080.", "The port is 9090 now. Anna lives in Porto.", "Nothing of either.")
    keys = [key for text in texts for key in fact_keys(text)]
    for each in (index, other):
        write(each, [entry("a.md", *texts)])
    result = [
        {candidate.hit.text: candidate.fact_keys for candidate in each.find_by_fact_keys(keys, ME, 10)}
        for each in (index, other)
    ]
    assert result[0] == result[1]
    assert result[0] == {text: frozenset(fact_keys(text)) for text in texts[:2]}


def test_both_indexes_store_the_same_statements_and_forget_them(index: PostgresIndex, other: SqliteIndex) -> None:
    answered = "The port is 8080.\n\n<!-- commonplace: confirmed 1 -->"
    texts = ("The port is 9090 now. Anna lives in Porto.", 'The tea (☕) is "green".', answered)
    for each in (index, other):
        write(each, [entry("a.md", *texts), entry("b.md", r"Nothing \ of 'either'.")])
    assert index.load_statements(range(1, 9)) == other.load_statements(range(1, 9)) != {}
    for each in (index, other):
        write(each, [entry("b.md", "Something else.")], ["a.md"])
    keys = [key for text in (*texts, "Nothing of either.") for key in fact_keys(text)]
    assert index.find_by_fact_keys(keys, ME, 10) == []
    counted = index._tables.query(
        "SELECT id FROM commonplace.index_statements UNION SELECT id FROM commonplace.index_facts"
    )
    assert counted == [(5,)]


def test_of_the_passages_with_a_key_only_the_newest_are_read(database: Database, index: PostgresIndex) -> None:
    write(index, [entry(f"{number}.md", f"The port is {number}.") for number in range(300)])
    keys = fact_keys("The port is 8080.")
    with database.transaction() as connection:
        for _ in range(10):  # the server makes another plan after some runs
            candidates = index.find_by_fact_keys(keys, ME, 10)
        row = connection.execute(ROWS_READ, ("index_facts",)).fetchone()
    assert [candidate.hit.path for candidate in candidates] == [f"{number}.md" for number in range(299, 289, -1)]
    assert row
    assert row[0] <= 10 * len(keys) * MAX_PASSAGES_PER_FACT_KEY


def test_both_indexes_know_the_same_words_like_a_misspelled_one(index: PostgresIndex, other: SqliteIndex) -> None:
    notes = entry("memory/a.md", "The restaurant rests.", "A coffee, and more coffee.")
    hidden = entry("memory/b.md", "The restorer is private.", scope=ANNS)
    for each in (index, other):
        write(each, [notes, hidden])
    for word in ("restaur", "coffe", "r%", "re_t", "\\"):
        assert index.words_like(word, ME) == other.words_like(word, ME)
    assert index.words_like("coffe", ME) == {"coffe": 2 - 1}
    assert "restor" not in index.words_like("restaur", ME)


_WORDS = st.sampled_from(
    ["tea", "green", "the", "Berlin", "walks", "walking", "绿茶", "北京", "é", "x86", "a" * 150, "☕"]
)
_TEXT = st.lists(_WORDS, min_size=1, max_size=8).map(" ".join)
_SPOKEN = st.builds("{}{}".format, st.sampled_from(["", "", "user: ", "User: ", "assistant: "]), _TEXT)
_SCOPE = st.sampled_from([SHARED, MINE, ANNS, Scope("channel", "dev"), Scope("extra", "docs/*.md\nx")])
_PASSAGE = st.builds(
    Passage, st.integers(1, 9), st.integers(10, 20), _SPOKEN, hint=_TEXT, around=_TEXT,
    key=st.sampled_from(["", "tea"]), tags=st.sampled_from([(), ("a",), ("a", "b\0")]),
    lead=st.just(""), at=st.sampled_from(["", "2026-01-02"]),
)  # fmt: skip
_ENTRY = st.builds(
    Entry, st.sampled_from([f"memory/{n}.md" for n in "abcde"]), st.integers(1, 9), st.text("ab", min_size=1),
    st.just("page"), _SCOPE, st.sampled_from(["memory", "session"]), st.lists(_PASSAGE, max_size=4),
    st.none(), st.sampled_from(["", "odd"]), st.just(note_days),
)  # fmt: skip
_STEPS = st.lists(
    st.tuples(
        st.lists(_ENTRY, max_size=4, unique_by=lambda each: each.path),
        st.lists(st.sampled_from(["memory/a.md", "memory/b.md"]), max_size=1),
    ).map(lambda step: (step[0], [path for path in step[1] if path not in {each.path for each in step[0]}])),
    min_size=1,
    max_size=3,
)
_PATHS = st.lists(st.sampled_from([f"memory/{n}.md" for n in "abcde"])).map(tuple)
_FILTERS = st.builds(
    Filters, until=st.none(), channel=st.just(""), scopes=st.sampled_from([(), ("agent",), ("channel:dev", "shared")]), tags=st.sampled_from([(), ("a",)]),
    since=st.sampled_from([None, 1]), source=st.sampled_from(["", "session"]),
    paths=st.sampled_from([(), ("memory/*.md",), ("**/b.md", "m?mory/[a].md")]), agent=st.sampled_from(["", "main"]),
    past=st.none() | st.builds(PastPages, st.integers(1, date.max.toordinal()), _PATHS, _PATHS),
)  # fmt: skip
_VIEWER = st.builds(
    Viewer, st.sampled_from(["main", "ann"]), extra=st.sampled_from([(), ("docs/*.md",), ("x",)]),
    one_conversation=st.booleans(), channel=st.sampled_from([None, "dev"]), user=st.sampled_from([None, "bob"]),
)  # fmt: skip


@given(steps=_STEPS, question=_TEXT, viewer=_VIEWER, filters=st.one_of(st.just(EVERYTHING), _FILTERS))
@examples(20)
def test_whatever_is_written_both_indexes_say_the_same(
    database: Database, steps: list[tuple[list[Entry], list[str]]], question: str, viewer: Viewer, filters: Filters
) -> None:
    index, other = PostgresIndex(database, "home"), SqliteIndex(":memory:")
    write(index, [], list(index.stamps()))
    tiny, numbers = TinyEmbedder(), dict[int, int]()
    for entries, removed in steps:
        for each in (index, other):
            write(each, entries, removed)
            while embed_batch(each, tiny, 3):
                pass
    assert index.stamps() == other.stamps()
    assert index.stamps("memory/a.md") == other.stamps("memory/a.md")
    assert index.versions(["memory/a.md", "memory/zzz.md"]) == other.versions(["memory/a.md", "memory/zzz.md"])
    assert index.size() == other.size()
    mine, theirs = weigh_terms(index, question, viewer), weigh_terms(other, question, viewer)
    assert mine == theirs
    numbers = match_numbers(index, other)
    lookup = {word: mine.weights[word] for word in mine.lookup}
    if lookup:
        expected = list(other.match_terms(lookup, viewer, filters, 5))
        assert [numbers[number] for number in index.match_terms(lookup, viewer, filters, 5)] == expected
    query_vector = tiny.embed_query(question)
    near = {numbers[n]: c for n, c in index.nearest(tiny.space, query_vector, viewer, filters, 50)}
    assert near == pytest.approx(dict(other.nearest(tiny.space, query_vector, viewer, filters, 50)), abs=0.02)
    for number, theirs_number in numbers.items():
        assert index.preceding_text(number) == other.preceding_text(theirs_number)
        assert [*index.find_questions([number]).values()] == [*other.find_questions([theirs_number]).values()]
    assert index.coverage(tiny.space)[:2] == other.coverage(tiny.space)[:2]
    query = Query(question, viewer, filters=filters)
    meaning = EmbeddingService(SearchSettings(provider="none"))
    assert [hit[:4] for hit in run_query(index, query, meaning).hits] == [
        hit[:4] for hit in run_query(other, query, meaning).hits
    ]
    other.close()


def match_numbers(index: PostgresIndex, other: SqliteIndex) -> dict[int, int]:
    """Which passage of one is which of the other: both number them in the order they came."""
    mine = [each[0] for each in index._tables.query("SELECT id FROM commonplace.index_passages ORDER BY id")]
    return dict(zip(mine, [row[0] for row in other._rows("SELECT id FROM passages ORDER BY id")], strict=True))
