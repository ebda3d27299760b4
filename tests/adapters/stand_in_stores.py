"""A pytest plugin for LangGraph's own store tests: our store under the names of theirs."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, patch

import langgraph.store.memory
import pytest
from langgraph.store.base import IndexConfig, Op, Result
from langgraph.store.base.batch import AsyncBatchedBaseStore

from commonplace.adapters.langgraph import CommonplaceStore


class InMemoryStore(CommonplaceStore):
    """In place of LangGraph's, which takes no home."""

    def __init__(self, *, index: Any = None) -> None:
        self.folder = tempfile.TemporaryDirectory()
        super().__init__(self.folder.name, index=index)

    def batch(self, ops: Iterable[Op]) -> list[Result]:  # defined here, so that a test can spy on it
        return super().batch(ops)


class SqliteStore(CommonplaceStore):
    """In place of the SQLite store. That one lets a read prolong an item only where `refresh_on_read` is written out;
    TTLConfig says that it is on by default, as it is with us."""

    @classmethod
    @contextmanager
    def from_conn_string(cls, _: str, *, index: Any = None, ttl: Any = None) -> Iterator[SqliteStore]:
        with tempfile.TemporaryDirectory() as home, cls(home, index=index, ttl=_complete_ttl(ttl)) as store:
            yield store

    def setup(self) -> None:
        """There is nothing to set up."""


class AsyncSqliteStore(AsyncBatchedBaseStore):
    """In place of the async SQLite store: LangGraph's own queue of operations, on our store."""

    supports_ttl = True

    def __init__(self, store: CommonplaceStore) -> None:
        super().__init__()
        self.store, self.ttl_config, self.index_config = store, store.ttl_config, store.index_config

    @classmethod
    @asynccontextmanager
    async def from_conn_string(cls, _: str, *, index: Any = None, ttl: Any = None) -> AsyncIterator[AsyncSqliteStore]:
        with (
            tempfile.TemporaryDirectory() as home,
            CommonplaceStore(home, index=index, ttl=_complete_ttl(ttl)) as store,
        ):
            yield cls(store)

    async def setup(self) -> None:
        """There is nothing to set up."""

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self.store.abatch(ops)

    async def sweep_ttl(self) -> int:
        return await asyncio.to_thread(self.store.sweep_ttl)

    async def start_ttl_sweeper(self) -> None:
        self.store.start_ttl_sweeper()

    async def stop_ttl_sweeper(self) -> bool:
        return await asyncio.to_thread(self.store.stop_ttl_sweeper)


def _complete_ttl(ttl: Any) -> Any:
    return ttl and {"refresh_on_read": False, **ttl}


def _module(name: str, **names: Any) -> None:
    module = ModuleType(name)
    vars(module).update(names)
    sys.modules[name] = module


langgraph.store.memory.InMemoryStore = InMemoryStore  # type: ignore[misc, assignment]
_module("langgraph.store.sqlite", SqliteStore=SqliteStore, AsyncSqliteStore=AsyncSqliteStore)
_module("langgraph.store.sqlite.aio", AsyncSqliteStore=AsyncSqliteStore)
_internals = ("NS_MATCH_FUNCTION", "BaseSqliteStore", "_escape_glob_literal", "_namespace_match_pattern")
_module("langgraph.store.sqlite.base", SqliteIndexConfig=IndexConfig, **dict.fromkeys(_internals))
_module("pytest_mock", MockerFixture=SimpleNamespace)


@pytest.fixture
def mocker() -> Iterator[SimpleNamespace]:
    """What these tests use of pytest-mock."""
    patches = []

    def spy(owner: type, name: str) -> Any:
        patches.append(patch.object(owner, name, autospec=True, side_effect=getattr(owner, name)))
        return patches[-1].start()

    yield SimpleNamespace(stub=MagicMock, spy=spy)
    for each in patches:
        each.stop()
