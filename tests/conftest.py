"""What the tests share: a home for each, a clock that stands still, and a fixed set of random examples."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path
from random import Random

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock

from . import examples  # noqa: F401  chooses how many examples property tests draw

# A shell that starts tests in the background lets them ignore Ctrl-C, and the programs they start would too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests start hundreds of programs, which must not be compiled again each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--random", type=int, metavar="SEED", help="run the tests in a random order, the same for the same seed"
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Run one worker more than there are cores: a quarter of the time, tests wait for a browser, a server or a database."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """Keep the garbage collector from what is imported and collected here: it stays to the end, and there is much of it."""
    gc.disable()
    yield
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the slow tests, so that no worker is left with one at the end while the others are done.

    In random order, the tests of a file stay together: what they share is made once for all of them.
    """
    seed: int | None = config.getoption("random")
    if seed is None:
        items.sort(key=_is_quick)
        return
    draw = Random(seed)
    draw.shuffle(items)
    places = {path: draw.random() for path in sorted({item.path for item in items})}
    items.sort(key=lambda item: places[item.path])


def _is_quick(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is None


@pytest.fixture(scope="session", autouse=True)
def configs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[Path]]:
    """Folders for the configurations of all tests: pytest reads through its own whenever it makes one more.

    The first is for what tests share.
    """
    top = tmp_path_factory.mktemp("configs")
    folders = (top / str(number) for number in count())
    with pytest.MonkeyPatch.context() as patch:
        _use_config(next(folders), patch)
        yield folders


@pytest.fixture(autouse=True)
def user_config(configs: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder as the user's configuration: tests neither read nor write the real one."""
    return _use_config(next(configs), monkeypatch)


def _use_config(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Sockets are there, too: the folder of a session of the system is shared with other runs."""
    folder.mkdir()
    patch.setenv("XDG_CONFIG_HOME", str(folder))
    patch.setenv("XDG_STATE_HOME", str(folder / "state"))
    patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    patch.delenv("XDG_RUNTIME_DIR", raising=False)
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
