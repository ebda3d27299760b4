"""Who may look: the page that `commonplace web` opens, a token that is pasted, a second tab, and nobody else."""

from __future__ import annotations

import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.storage.base import open_tokens
from commonplace.storage.tokens import create_token

from .looking import Look
from .serving import make_opener, read_opened, serve
from .test_looking import expect

pytestmark = pytest.mark.slow


@pytest.fixture
def opener(tmp_path: Path) -> Path:
    return make_opener(tmp_path)


@pytest.fixture
def home(demo: Path, tmp_path: Path) -> Path:
    """Of one test: one with tokens is open to nobody."""
    return Path(shutil.copytree(demo, tmp_path / "home"))


def test_the_page_that_web_opens_is_signed_in_and_its_address_keeps_no_code(
    home: Path, chromium: Any, opener: Path
) -> None:
    with serve(home, command="web", opener=f"{opener} %s") as address, Look.at(chromium, address) as look:
        link = read_opened(opener)
        code = link.partition("#code=")[2]
        assert len(code) > 20
        look.page.goto(link)
        expect(look.page.get_by_role("searchbox", name="Search memory")).to_be_visible()
        assert "code" not in look.page.url
        assert not any(code in url for url in look.asked if url != link)
        second = look.tab()  # another tab asks this one, and is let in
        second.goto(f"{address}/#/browse")
        expect(second.get_by_role("heading", name="Browse")).to_be_visible()
    with serve(home, command="serve") as address, Look.at(chromium, address) as look:
        look.page.goto(f"{address}/#code={code}")
        expect(look.page.get_by_role("heading", name="Sign in to your memory")).to_be_visible()


def test_a_tab_that_answers_late_still_lets_another_in(home: Path, chromium: Any, opener: Path) -> None:
    with serve(home, command="web", opener=f"{opener} %s") as address, Look.at(chromium, address) as look:
        look.page.goto(read_opened(opener))
        expect(look.page.get_by_role("searchbox", name="Search memory")).to_be_visible()
        look.page.evaluate("setTimeout(() => { const end = Date.now() + 3000; while (Date.now() < end); })")
        second = look.tab()
        second.goto(f"{address}/#/browse")
        expect(second.get_by_role("heading", name="Browse")).to_be_visible()


def test_after_signing_in_a_person_can_keep_what_was_learned(home: Path, chromium: Any, opener: Path) -> None:
    Memory(home).call("remember", {"content": "Ada keeps bees. They are calm."})
    Memory(home).call("remember", {"content": "Grace moved to Hull."})
    with serve(home, command="web", opener=f"{opener} %s") as address, Look.at(chromium, address) as look:
        look.page.goto(read_opened(opener))
        look.page.get_by_label("Only unchecked").check()
        row = look.page.locator(".fact").filter(has_text="Grace moved to Hull.")
        row.get_by_role("button", name="Keep").click()
        expect(row).to_have_count(0)
        look.page.get_by_label("Only unchecked").uncheck()
        expect(row.locator(".kept")).to_be_visible()
        line = look.page.locator(".fact").filter(has_text="Ada keeps bees").first
        expect(line).to_contain_text("The whole line: Ada keeps bees. They are calm.")


def test_a_code_is_good_once(home: Path, chromium: Any, opener: Path) -> None:
    with serve(home, command="web", opener=f"{opener} %s") as address, Look.at(chromium, address) as look:
        link = read_opened(opener)
        look.page.goto(link)
        expect(look.page.get_by_role("searchbox", name="Search memory")).to_be_visible()
        with Look.at(chromium, address) as other:
            other.page.goto(link)
            expect(other.page.get_by_text("this code was used")).to_be_visible()
            assert "code" not in other.page.url


def test_a_token_lets_in_and_a_wrong_one_says_what_to_do(home: Path, chromium: Any) -> None:
    _, secret = create_token(open_tokens(str(home)), datetime.now(UTC), agents=None, role="read", note="a browser")
    with serve(home) as address, Look.at(chromium, address) as look:
        look.page.goto(f"{address}/#/page/memory/world/storage.md")
        look.page.get_by_label("Token", exact=True).fill("cpl_wrong")
        look.page.get_by_role("button", name="Sign in").click()
        expect(look.page.get_by_text("This token is not valid")).to_be_visible()
        look.page.get_by_label("Token", exact=True).fill(secret)
        look.page.get_by_role("button", name="Sign in").click()
        expect(look.page.get_by_role("heading", name="Storage", level=1)).to_be_visible()
        expect(look.page.get_by_role("link", name="Edit")).to_have_count(0)  # a token that only reads
        look.page.reload()
        expect(look.page.get_by_role("heading", name="Storage", level=1)).to_be_visible()
        assert not any(secret in url for url in look.asked)
        assert look.errors == []


@pytest.mark.parametrize("width", [320, pytest.param(390, marks=pytest.mark.thorough)])
def test_signing_in_fits_on_a_phone(home: Path, chromium: Any, width: int) -> None:
    create_token(open_tokens(str(home)), datetime.now(UTC), agents=None, role="read")
    with serve(home) as address, Look.at(chromium, address, viewport={"width": width, "height": 640}) as look:
        look.page.goto(address)
        expect(look.page.get_by_role("button", name="Sign in")).to_be_visible()
        assert look.page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_first_start_keeps_its_token_where_only_the_owner_reads(home: Path, tmp_path: Path, chromium: Any) -> None:
    with serve(home) as address, Look.at(chromium, address) as look:
        look.page.goto(address)  # who is answered comes after the token
        paths = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
        assert [stat.S_IMODE(path.stat().st_mode) for path in paths] == [0o600]
        look.page.get_by_label("Token", exact=True).fill(paths[0].read_text().strip())
        look.page.get_by_role("button", name="Sign in").click()
        expect(look.page.get_by_role("searchbox", name="Search memory")).to_be_visible()
