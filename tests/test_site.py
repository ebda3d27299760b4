"""The documentation site: it builds without a network, loads nothing from elsewhere, and no link in it is broken."""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from .web.serving import browser

ROOT = Path(__file__).parent.parent


def site_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_of_docs", ROOT / "docs/site.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Links(HTMLParser):
    """What a page links to, what it loads, and the anchors in it."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors.add(values.get("id") or "")
        if tag == "a" and values.get("href"):
            self.targets.append(values["href"] or "")
        if tag in ("script", "img", "iframe", "source"):
            self.loads.append(values.get("src") or "")
        if tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(values.get("href") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("zensical")
    target = tmp_path_factory.mktemp("docs").resolve() / "site"
    site_module().build(target)
    return target


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    return {page: Links(page) for page in site.rglob("*.html")}


def test_every_page_is_in_the_navigation_once() -> None:
    entries = sorted(_pages_of(tomllib.loads((ROOT / "docs/zensical.toml").read_text())["project"]["nav"]))
    pages = sorted(name for name in site_module().files().values() if name.endswith(".md"))
    assert entries == pages


def _pages_of(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from _pages_of(entry)


def test_no_link_inside_the_site_is_broken(site: Path, pages: dict[Path, Links]) -> None:
    broken = [
        f"{page.relative_to(site)}: {target}"
        for page, links in pages.items()
        if page.name != "404.html"  # its links start at the address of the site
        for target in links.targets
        if not _leads_somewhere(page, target, pages)
    ]
    assert broken == []


def _leads_somewhere(page: Path, target: str, pages: dict[Path, Links]) -> bool:
    address = urlsplit(target)
    if address.scheme or target in (".", "./"):
        return True
    path = (page.parent / unquote(address.path)).resolve() if address.path else page
    if path in pages and address.fragment:
        return unquote(address.fragment) in pages[path].anchors
    return path.exists()


def test_the_site_loads_nothing_from_elsewhere(pages: dict[Path, Links]) -> None:
    assert [load for links in pages.values() for load in links.loads if "//" in load] == []


@pytest.mark.slow
def test_search_works_when_the_site_is_opened_from_the_disk(site: Path) -> None:
    program = browser()
    if not program:
        pytest.skip("no Chromium here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = chromium.new_page()
        question: list[str] = []
        page.on("request", lambda request: question.append(request.url))
        page.goto((site / "history.html").as_uri())
        page.keyboard.press("/")
        page.keyboard.type("calibration of scores")
        page.get_by_role("heading", name="Calibration of scores").first.wait_for()
        chromium.close()
    assert [address for address in question if not address.startswith(("file:", "data:", "blob:"))] == []
