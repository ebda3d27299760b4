"""A memory with nothing in it, and one with odd things in it, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory

from .looking import Look
from .serving import serve
from .test_looking import VIEWS, expect

pytestmark = pytest.mark.slow
ODD = (
    "# \u202eodd\u202c \u0645\u0631\u062d\u0628\u0627 \U0001f30a\n\n" + "w" * 4000 + "\n\n| " + " | ".join(f"column{n}" for n in range(40)) + " |\n"
    + "|---" * 40 + "|\n| " + " | ".join("value" for _ in range(40)) + " |\n\n" + "".join(f"{'  ' * n}- deep {n}\n" for n in range(12))
    + "\n```\n" + "x" * 3000 + "\n```\n\n\u6771\u4eac\u30bf\u30ef\u30fc\u306e\u9ad8\u3055\n"
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Of one test: a memory that another has written to is not empty any more."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def site(home: Path) -> Iterator[str]:
    with serve(home, "--open") as address:
        yield address


def test_every_view_of_an_empty_memory_says_what_to_do_next(look: Look) -> None:
    for name, route in VIEWS.items():
        look.go(route, anew=False)
        look.settle()
        if name in ("start", "pages", "days", "world", "globals", "channels", "skills", "sessions", "map"):
            expect(look.page.locator(".empty h2")).to_be_visible()
            expect(look.page.locator(".empty .command code").first).to_contain_text("commonplace ")
    assert look.errors == []


def test_where_nothing_was_recalled_nothing_is_said_to_have_answered(look: Look) -> None:
    page = look.go("#/health")
    expect(page.get_by_text("Nothing has been recalled yet")).to_be_visible()
    expect(page.get_by_text("Every page has been recalled")).to_have_count(0)


def test_the_first_note_fills_the_page_by_itself(look: Look, home: Path) -> None:
    page = look.go()
    page.get_by_role("button", name="Add a note to today").click()
    page.get_by_label("What should be remembered?").fill("The first thing")
    page.get_by_role("button", name="Remember", exact=True).click()
    expect(page.get_by_role("heading", name="Latest days")).to_be_visible()
    assert "The first thing" in next((home / "agents/main/memory/daily").iterdir()).read_text()


def test_odd_pages_break_no_view(chromium: Any, site: str, home: Path) -> None:
    (home / "memory").mkdir(exist_ok=True)
    (home / "memory" / "odd.md").write_text(ODD)
    routes = ["#/page/memory/odd.md", "#/search?q=odd+deep+value", "#/browse"]
    with Look.at(chromium, site, viewport={"width": 390, "height": 844}) as look:
        for route in (*routes, "#/page/memory/odd.md?source=1", "#/page/memory/odd.md?edit=1"):
            page = look.go(route, anew=False)
            look.settle()
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, route
            assert look.errors == [], route


def test_words_of_other_scripts_are_marked_where_they_are(look: Look, home: Path) -> None:
    (home / "memory").mkdir(exist_ok=True)
    (home / "memory" / "tower.md").write_text(
        "# \U0001f5fc\n\n\U0001f5fc \u6771\u4eac\u30bf\u30ef\u30fc\u306e\u9ad8\u3055 is 333 metres\n"
    )
    page = look.go("#/search?q=\u6771\u4eac")
    expect(page.locator(".hit", has_text="333 metres").locator("mark").first).to_contain_text("\u6771\u4eac")


def test_a_command_stays_within_its_box_with_its_button_beside_it(look: Look) -> None:
    page = look.go("#/browse/globals")
    page.locator(".empty .command").wait_for()
    look.settle()
    box = page.locator(".empty .command").bounding_box()
    button = page.locator(".empty .command button").bounding_box()
    code = page.locator(".empty .command code").bounding_box()
    assert abs(code["y"] + code["height"] / 2 - button["y"] - button["height"] / 2) < 4
    assert code["x"] + code["width"] <= button["x"]
    assert button["x"] + button["width"] <= box["x"] + box["width"] + 1


def test_a_keyed_note_is_listed_under_its_key(look: Look, home: Path) -> None:
    with Memory(home) as memory:
        memory.call("memory_write", {"key": "pager", "content": "less is more"}, toolset="notes")
    page = look.go("#/browse/notes")
    page.get_by_role("link", name="pager").click()
    expect(page.get_by_text("less is more").first).to_be_visible()
