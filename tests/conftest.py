"""What the tests share: a home of their own, a clock that stands still, and a fixed set of drawn examples."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock

from . import examples  # noqa: F401  chooses how many examples property tests draw

# A shell that starts tests in the background lets them ignore Ctrl-C, and the programs they start would too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests start hundreds of programs, which must not be compiled anew each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow tests, so that no worker is left with one at the end while the others are done."""
    items.sort(key=_is_quick)


def _is_quick(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is None


@pytest.fixture(scope="session")
def configs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders for the configurations of all tests: pytest reads through its own whenever it makes one more."""
    top = tmp_path_factory.mktemp("configs")
    return (top / str(number) for number in count())


@pytest.fixture(autouse=True)
def user_config(configs: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder as the user's configuration: tests neither read nor write the real one.

    Sockets are there, too: the folder of a session of the system is shared with other runs.
    """
    folder = next(configs)
    folder.mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return folder / "commonplace"


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def memory(home: Path, clock: FrozenClock) -> Iterator[Memory]:
    with Memory(home, clock=clock) as memory:
        yield memory
