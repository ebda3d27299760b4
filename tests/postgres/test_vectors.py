"""An index of the vectors of a large space: made by who owns the tables, by the build or by hand."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit, urlunsplit

import pytest

from commonplace import Memory
from commonplace.errors import StorageError
from commonplace.index.embedding_service import embed_batch
from commonplace.model import EVERYTHING, Viewer
from commonplace.storage.postgres import vectors as vectors_module
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.index import PostgresIndex
from commonplace.storage.postgres.url import parse_url
from commonplace.storage.postgres.vectors import build_hnsw_index, large_spaces
from commonplace.surfaces.cli import db

from ..index.tiny import TinyEmbedder
from .conftest import admin
from .test_cli_db import Shell, of_tenant, shell
from .test_index import entry, write

pytestmark = pytest.mark.slow
__all__ = ["shell"]


@pytest.fixture
def large(open_database: Callable[..., Database], monkeypatch: pytest.MonkeyPatch) -> PostgresIndex:
    """A space that is large, as far as anybody knows."""
    monkeypatch.setattr(vectors_module, "EXACT_SEARCH_LIMIT", 20)
    index, tiny = PostgresIndex(open_database(), "home"), TinyEmbedder()
    write(index, [entry(f"memory/{number}.md", f"tea number {number}") for number in range(30)])
    while embed_batch(index, tiny, 100):
        pass
    return index


def indexes(index: PostgresIndex) -> list[tuple[str, bool]]:
    rows = index._tables.query(
        "SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
        " WHERE relname LIKE 'index\\_vectors\\_%%' AND relname <> 'index_vectors_pkey' ORDER BY 1"
    )
    return [(name, valid) for name, valid in rows]


def test_a_large_space_gets_an_index_once(large: PostgresIndex) -> None:
    space = TinyEmbedder().space
    assert [each.has_hnsw for each in large_spaces(large._tables.database)] == [False]
    assert large.build_ann_index(space)
    result = indexes(large)
    assert [valid for _, valid in result] == [True]
    assert large.build_ann_index(space)
    assert indexes(large) == result
    assert not large.build_ann_index("another space")


def test_what_is_written_later_is_in_the_index_and_what_is_removed_is_not(large: PostgresIndex) -> None:
    tiny = TinyEmbedder()
    assert large.build_ann_index(tiny.space)
    result = indexes(large)
    write(large, [entry("memory/later.md", "zebra")])
    while embed_batch(large, tiny, 100):
        pass
    query_vector = tiny.embed_query("zebra")
    near = large.nearest(tiny.space, query_vector, Viewer("main"), EVERYTHING, 1)
    assert [each.hit.path for each in large.load_candidates([number for number, _ in near])] == ["memory/later.md"]
    with large.write_transaction():
        large.apply([], ["memory/later.md"])
    near = large.nearest(tiny.space, query_vector, Viewer("main"), EVERYTHING, 5)
    paths = {each.hit.path for each in large.load_candidates([number for number, _ in near])}
    assert len(paths) == 5
    assert "memory/later.md" not in paths
    assert indexes(large) == result  # nobody built it again


def test_an_index_that_was_not_finished_is_rebuilt(large: PostgresIndex, url: str) -> None:
    large.build_ann_index(TinyEmbedder().space)
    ((name, _),) = indexes(large)
    admin(url, f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'commonplace.{name}'::regclass")
    assert [each.has_hnsw for each in large_spaces(large._tables.database)] == [False]
    assert large.build_ann_index(TinyEmbedder().space)
    assert indexes(large) == [(name, True)]


def test_the_index_of_a_space_that_is_gone_goes_with_the_next(large: PostgresIndex) -> None:
    tiny = TinyEmbedder()
    large.build_ann_index(tiny.space)
    ((before, _),) = indexes(large)
    large.drop_space(tiny.space)
    while embed_batch(large, tiny, 100):
        pass
    large.build_ann_index(tiny.space)
    ((after, valid),) = indexes(large)
    assert valid
    assert after != before


@pytest.fixture
def guest(server: str, url: str) -> Iterator[str]:
    """The same database, for a user who may use it and owns nothing."""
    name = f"commonplace_guest_{secrets.token_hex(6)}"
    admin(server, f"CREATE ROLE {name} LOGIN")
    admin(server, f"GRANT commonplace_member TO {name}")
    yield urlunsplit(urlsplit(url)._replace(netloc=f"{name}@"))
    admin(server, f"DROP ROLE {name}")


def test_a_user_who_may_not_create_tables_learns_so(
    large: PostgresIndex, guest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(parse_url(of_tenant(guest, "acme")))
    assert [build_hnsw_index(database, each) for each in large_spaces(database)] == [False]
    assert not PostgresIndex(database, "home").build_ann_index(TinyEmbedder().space)
    with pytest.raises(StorageError, match="only the owner of the tables"):
        db._build_vector_indexes(of_tenant(guest, "acme"))
    database.close()


def test_a_build_makes_the_index_by_itself(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors_module, "EXACT_SEARCH_LIMIT", 20)
    with Memory(of_tenant(url, "acme")) as memory:
        for number in range(30):
            memory.home.storage.pages.write(f"memory/{number}.md", f"tea number {number} with milk")
        memory.home.build_index(lambda *_: None)
        database = Database(parse_url(of_tenant(url, "acme")))
        assert [each.has_hnsw for each in large_spaces(database)] == [True]
        database.close()


def test_the_command_says_when_there_is_nothing_to_do(shell: Shell, url: str) -> None:
    assert "no vector space has more than 10,000 vectors" in shell.ok("db", "quicken", url)
    assert json.loads(shell.ok("db", "quicken", url, "--json"))["made"] == []
    assert json.loads(shell.ok("db", "status", url, "--json"))["vectors"] == []
    assert shell.run("db", "quicken", "not-a-database").returncode
