"""What a process keeps of passages is never older than the index."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.caching import list_caches
from commonplace.index.base import Entry
from commonplace.index.sqlite import SqliteIndex
from commonplace.model import EVERYTHING, Passage, Scope, Viewer

ME = Viewer("main")
PATH = "memory/ports.md"


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "words.sqlite")


def put(index: SqliteIndex, version: str, *texts: str, start: int = 1) -> None:
    """Replace the only page: a passage on each line, from `start` on."""
    passages = [Passage(line, line, text) for line, text in enumerate(texts, start)]
    index.apply([Entry(PATH, 1, version, "page", Scope("shared", ""), "memory", passages)], [])


def store(index: SqliteIndex, version: str, *texts: str, start: int = 1) -> None:
    with index.write_transaction():
        put(index, version, *texts, start=start)


def load(index: SqliteIndex, numbers: Sequence[int] = range(1, 99)) -> list[tuple[int, str]]:
    return [(each.hit.start, each.hit.text) for each in index.load_candidates(numbers)]


def match(index: SqliteIndex, word: str) -> list[str]:
    numbers = [*index.match_terms({word: 1.0}, ME, EVERYTHING, 9)]
    return [text for _, text in load(index, numbers)]


def test_a_passage_that_moved_is_at_its_new_lines_whoever_moved_it(file: str) -> None:
    index, other = SqliteIndex(file), SqliteIndex(file)
    store(index, "a", "the gateway listens on 8443", "the cache on 6379")
    assert load(index) == load(other) == [(1, "the gateway listens on 8443"), (2, "the cache on 6379")]
    for version, writer, start in (("b", index, 5), ("c", other, 7)):
        store(writer, version, "the gateway listens on 8443", "the cache on 6379", start=start)
        places = [(start, "the gateway listens on 8443"), (start + 1, "the cache on 6379")]
        assert load(index) == load(other) == places
    index.close()
    other.close()


def test_a_passage_that_another_process_removed_is_gone(file: str) -> None:
    index, other = SqliteIndex(file), SqliteIndex(file)
    store(index, "a", "the gateway listens on 8443", "the cache on 6379")
    assert match(index, "gateway") == ["the gateway listens on 8443"]
    numbers = [*index.match_terms({"gateway": 1.0}, ME, EVERYTHING, 9)]
    store(other, "b", "the cache on 6379")
    assert load(index, numbers) == []
    assert match(index, "gateway") == []
    assert index.corpus_stats(["gateway", "6379"], ME).frequency == {"6379": 1}
    index.close()
    other.close()


def test_a_number_that_a_failed_write_gave_free_belongs_to_the_next_passage(file: str) -> None:
    index = SqliteIndex(file)
    with suppress(ZeroDivisionError), index.write_transaction():
        put(index, "a", "a passage with quite a few words about a gateway")
        assert match(index, "gateway") == ["a passage with quite a few words about a gateway"]
        assert [*index.load_statements([1])] == [1]
        raise ZeroDivisionError
    assert load(index) == []
    store(index, "b", "gateway")
    assert load(index, [1]) == [(1, "gateway")]
    assert match(index, "gateway") == ["gateway"]
    assert [each.lines for each in index.load_statements([1]).values()] == [
        each.lines for each in SqliteIndex(file).load_statements([1]).values()
    ]
    index.close()


def test_passages_come_in_the_order_of_their_numbers_each_once(file: str) -> None:
    index = SqliteIndex(file)
    store(index, "a", "one", "two", "three", "four")
    assert load(index, [3, 1]) == [(1, "one"), (3, "three")]
    assert load(index, [4, 2, 3, 3, 1]) == [(1, "one"), (2, "two"), (3, "three"), (4, "four")]
    index.close()


def test_a_page_that_is_edited_by_hand_is_cited_by_its_lines(tmp_path: Path) -> None:
    page = tmp_path / "memory" / "ports.md"
    page.parent.mkdir(parents=True)
    note = "## Gateway\n\nThe gateway listens on 8443.\n"
    with Memory(tmp_path, "main") as memory:
        for text in (note, f"## Cache\n\nThe cache listens on 6379.\n\n{note}"):
            page.write_text(text)
            hit = memory.search("which port does the gateway listen on?")[0]
            assert "8443" in "".join(page.read_text().splitlines()[hit.start - 1 : hit.end])


def test_indexes_share_bytes_but_no_passages(tmp_path: Path) -> None:
    before = [cache.name for cache in list_caches()]
    indexes = [SqliteIndex(str(tmp_path / f"{name}.sqlite")) for name in ("one", "two")]
    for index, text in zip(indexes, ("the gateway of Ada", "the gateway of Bob"), strict=True):
        store(index, "a", text)
        assert load(index, [1]) == [(1, text)]
    assert [load(index, [1]) for index in indexes] == [[(1, "the gateway of Ada")], [(1, "the gateway of Bob")]]
    assert [cache.name for cache in list_caches()] == before
    for index in indexes:
        index.close()


def test_an_index_in_the_place_of_a_removed_one_has_its_own_passages(file: str) -> None:
    for text in ("the gateway of Ada", "the gateway of Bob"):
        with suppress(FileNotFoundError):
            Path(file).unlink()
        index = SqliteIndex(file)
        store(index, "a", text)
        assert load(index, [1]) == [(1, text)]
        index.close()


def test_agents_of_a_memory_share_what_was_read_of_its_passages_and_pages(tmp_path: Path) -> None:
    with Memory(tmp_path, "ann") as ann, Memory(tmp_path, "bob") as bob:
        ann.call("update_world", {"topic": "ports", "content": "The gateway listens on 8443."})
        question = "which port does the gateway listen on?"
        hits = ann.search(question)
        before = {cache.name: len(cache) for cache in list_caches()}
        assert [hit.text for hit in bob.search(question)] == [hit.text for hit in hits] != []
        after = {cache.name: len(cache) for cache in list_caches()}
        for name in ("passages", "statements of passages", "authors of pages"):
            assert after[name] == before[name] > 0
