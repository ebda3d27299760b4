"""A browser that is driven, and servers over a small memory with a bit of everything."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .demo import make
from .looking import Look
from .serving import browser, serve


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once; who writes takes a copy."""
    return make(tmp_path_factory.mktemp("demo") / "home", days=25)


@pytest.fixture(scope="module")
def home(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For the tests of one file, which write to pages that no other test reads, or undo what they wrote."""
    return Path(shutil.copytree(demo, tmp_path_factory.mktemp("web") / "home"))


@pytest.fixture(scope="module")
def site(home: Path) -> Iterator[str]:
    with serve(home, "--open") as address:
        yield address


@pytest.fixture(scope="package")  # it runs an event loop in this thread, which tests of other folders need for theirs
def chromium() -> Iterator[Any]:
    executable = browser()
    if executable is None:
        pytest.skip("no Chromium is installed: apt install chromium-headless-shell")
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright drives the browser: pip install playwright"
    )
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def look(chromium: Any, site: str) -> Iterator[Look]:
    with Look.at(chromium, site) as result:
        yield result
