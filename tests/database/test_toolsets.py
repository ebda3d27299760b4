"""The tests of tools, context and search, run again on a memory in PostgreSQL: it can not be told from one in a folder."""

from __future__ import annotations

import importlib
import inspect
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from commonplace import Memory
from commonplace.database import Database
from commonplace.testing import FrozenClock

from .conftest import admin, on
from .places import Homes, Place

pytestmark = pytest.mark.slow
AGAIN = (
    "tools.test_notes", "tools.test_working", "tools.test_journal", "tools.test_retrieval", "tools.test_registry",
    "tools.test_shared_names", "tools.test_answers", "tools.test_catalog", "tools.test_guard", "tools.test_model",
    "tools.test_shapes_called", "context.test_context", "search.test_filters", "search.test_meaning",
    "search.test_reread", "search.test_words", "search.test_dates",
)  # fmt: skip
settings.register_profile("few", settings.get_profile("house"), max_examples=8)  # each makes a home of its own
ON_A_HOME = {"home", "memory", "full", "whole", "sample", "replies", "tmp_path_factory"}
A_FILE = "works on files: a folder or a link in a page's place, times of files, files of the index"
A_SERVER = "asks for a `server` of embeddings, a name that stands for PostgreSQL here"
WEIGHTS = "needs weights of a model that are made beside it"
NULL = "the index in PostgreSQL takes no null character in a name or a filter"
UNREAD = "a page that is not text is only read, and told of, where it holds what is looked for"
LEFT_OUT = {
    "test_a_note_stays_written_when_the_log_can_not_be": A_FILE,
    "test_an_edit_of_the_same_size_and_time_is_seen": A_FILE,
    "test_a_deleted_or_damaged_index_is_rebuilt_from_the_pages": A_FILE,
    "test_an_index_that_can_not_be_kept_on_disk_is_kept_in_memory": A_FILE,
    "test_only_what_search_may_return_can_be_read": A_FILE,
    "test_others_write_while_a_question_waits_for_a_slow_server": A_SERVER,
    "test_a_server_that_fails_at_the_question_leaves_it_to_words": A_SERVER,
    "test_a_search_does_not_wait_for_a_failing_server_as_long_as_indexing_would": A_SERVER,
    "test_with_its_weights_the_answer_is_read_to_the_top": WEIGHTS,
    "test_what_is_not_read_again_never_comes_before_what_is": WEIGHTS,
    "test_no_note_escapes_its_section": NULL,
    "test_no_filter_shows_more_than_there_is_without_it": NULL,
    "test_one_unreadable_page_is_named_and_disables_no_other": UNREAD,
}


class Factory:
    """What pytest gives for temporary folders: here it gives homes."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self.folders, self.homes = folders, Homes("")
        self.opened: list[Database] = []  # by the test that runs

    def getbasetemp(self) -> Any:
        return self.folders.getbasetemp()

    def mktemp(self, name: str) -> Spot:
        """A test that asks again and again has left the homes before."""
        for database in self.opened:
            database.close()
        return Spot(self.homes)


class Spot:
    """A temporary folder that is a home, or has one in it."""

    def __init__(self, homes: Homes) -> None:
        self._homes, self._home = homes, homes.new()

    def __fspath__(self) -> str:
        return self._home.__fspath__()

    def __truediv__(self, name: str) -> Place:
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
    name = f"commonplace_toolsets_{secrets.token_hex(6)}"
    admin(server, f"CREATE DATABASE {name} TEMPLATE {template}")
    tmp_path_factory.homes = homes = Homes(on(server, name))
    with pytest.MonkeyPatch.context() as patch:
        opened = _remembered(patch)
        yield homes
        for database in opened:
            database.close()
    admin(server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture(autouse=True)
def closed_again(homes: Homes, tmp_path_factory: Factory) -> Iterator[None]:
    """Tests in folders close no memory: here connections would be left."""
    settings.load_profile("few")
    with pytest.MonkeyPatch.context() as patch:
        tmp_path_factory.opened = _remembered(patch)
        yield
        for database in tmp_path_factory.opened:
            database.close()
        tmp_path_factory.opened = []
    settings.load_profile("house")


def _remembered(patch: pytest.MonkeyPatch) -> list[Database]:
    opened: list[Database] = []
    begin = Database.__init__

    def begun(self: Database, *given: Any) -> None:
        begin(self, *given)
        opened.append(self)

    patch.setattr(Database, "__init__", begun)
    return opened


@pytest.fixture
def home(homes: Homes) -> Place:
    return homes.new()


@pytest.fixture
def memory(home: Place, clock: FrozenClock) -> Memory:
    return Memory(home, clock=clock)


def _collect() -> None:
    for name in AGAIN:
        module = importlib.import_module(f"tests.{name}")
        own = {each: value for each, value in vars(module).items() if _is_of(module.__name__, value)}
        for each, value in own.items():
            if each not in globals() and each != "server" and (_is_fixture(value) or _is_on_a_home(each, value)):
                globals()[each] = value


def _is_of(module: str, value: object) -> bool:
    return getattr(value, "__module__", None) == module


def _is_fixture(value: object) -> bool:
    return type(value).__name__ == "FixtureFunctionDefinition"


def _is_on_a_home(name: str, value: Any) -> bool:
    if not name.startswith("test_") or name in LEFT_OUT:
        return False
    return bool(ON_A_HOME & {*inspect.signature(value).parameters})


_collect()


def test_what_is_left_out_is_a_test_of_a_folder() -> None:
    """A reason does not outlive its test."""
    every = {each for name in AGAIN for each in vars(importlib.import_module(f"tests.{name}"))}
    assert LEFT_OUT.keys() <= every
