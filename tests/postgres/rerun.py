"""Run the tests that were written for a home in a folder once more on a home in PostgreSQL.

A module `test_rerun_*.py` names the test modules to run again and calls `collect_tests`, which imports their tests and
fixtures. The fixtures here replace those for temporary folders: where such a test asks for a folder it gets a
`DatabasePath`, which has as much of `pathlib.Path` as the tests use but reads and writes pages of a tenant of its own.
Tests that need real files are left out by name, each with a reason.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import settings

from commonplace import Memory
from commonplace.storage.postgres.connection import Database
from commonplace.testing import FrozenClock

from .conftest import empty_database
from .database_path import DatabasePath, Homes

settings.register_profile("few", settings.get_profile("commonplace"), max_examples=8)  # each makes a home of its own
REPLACED_FIXTURES = (
    "home",
    "homes",
    "memory",
    "tmp_path",
    "tmp_path_factory",
    "close_databases",
)  # what stands for others' here
NEEDS_FILES = "works on files: a folder or a link in a page's place, times of files, files of the index"


class Factory:
    """What pytest gives for temporary folders: here it gives homes."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self.folders, self.homes = folders, Homes("")
        self.opened: list[Database] = []  # by the test that runs

    def getbasetemp(self) -> Any:
        return self.folders.getbasetemp()

    def mktemp(self, name: str) -> TemporaryHome:
        """A test that asks again and again has left the homes before."""
        for database in self.opened:
            database.close()
        return TemporaryHome(self.homes)


class TemporaryHome:
    """A temporary folder that is a home, or has one in it."""

    def __init__(self, homes: Homes) -> None:
        self._homes, self._home = homes, homes.new()

    def __fspath__(self) -> str:
        return self._home.__fspath__()

    def __truediv__(self, name: str) -> DatabasePath:
        return self._homes.new() if name == "home" else self._home / name


@pytest.fixture(scope="session")
def tmp_path_factory(tmp_path_factory: pytest.TempPathFactory) -> Factory:
    return Factory(tmp_path_factory)


@pytest.fixture
def tmp_path(tmp_path_factory: Factory) -> Any:
    return tmp_path_factory.folders.mktemp("real", numbered=True)


@pytest.fixture(scope="module", autouse=True)
def homes(server: str, template: str, tmp_path_factory: Factory) -> Iterator[Homes]:
    """One database for all tests: each has a tenant of its own."""
    with empty_database(server, template) as url, pytest.MonkeyPatch.context() as patch:
        tmp_path_factory.homes = homes = Homes(url)
        opened = _track_databases(patch)
        yield homes
        for database in opened:
            database.close()


@pytest.fixture(autouse=True)
def close_databases(homes: Homes, tmp_path_factory: Factory) -> Iterator[None]:
    """Tests in folders close no memory: here connections would be left."""
    profile = settings.get_current_profile_name()
    settings.load_profile("few")
    with pytest.MonkeyPatch.context() as patch:
        tmp_path_factory.opened = _track_databases(patch)
        yield
        for database in tmp_path_factory.opened:
            database.close()
        tmp_path_factory.opened = []
    settings.load_profile(profile)


def _track_databases(patch: pytest.MonkeyPatch) -> list[Database]:
    opened: list[Database] = []
    begin = Database.__init__

    def note_opening(self: Database, *arguments: Any) -> None:
        begin(self, *arguments)
        opened.append(self)

    patch.setattr(Database, "__init__", note_opening)
    return opened


@pytest.fixture
def home(homes: Homes) -> DatabasePath:
    return homes.one()


@pytest.fixture
def memory(home: DatabasePath, clock: FrozenClock) -> Memory:
    return Memory(home, clock=clock)


def collect_tests(names: Iterable[str], on_a_home: set[str], left_out: Iterable[str]) -> dict[str, Any]:
    """The tests and fixtures of some modules that are about a home, and the fixtures they need here, by name."""
    result: dict[str, Any] = {name: globals()[name] for name in REPLACED_FIXTURES}
    for name in names:
        module = importlib.import_module(f"tests.{name}")
        for each, value in vars(module).items():
            if getattr(value, "__module__", None) != module.__name__ or each == "server":
                continue
            is_test = each.startswith("test_") and each not in left_out
            if _is_fixture(value) or (is_test and on_a_home & {*inspect.signature(value).parameters}):
                result.setdefault(each, value)
    return result


def _is_fixture(value: object) -> bool:
    return type(value).__name__ == "FixtureFunctionDefinition"


def all_names(names: Iterable[str]) -> set[str]:
    """Return all names that these test modules define."""
    return {each for name in names for each in vars(importlib.import_module(f"tests.{name}"))}
