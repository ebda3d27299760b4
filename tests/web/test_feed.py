"""The feed in a real browser: what was learned, sentence by sentence, with keep, fix and forget."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory

from .looking import Look
from .serving import serve
from .test_looking import expect

pytestmark = pytest.mark.slow
LEARNED = ("Ada keeps bees on the roof. They are calm.", "The lift is out of order.", "Grace moved to Hull.")


@pytest.fixture
def memory(demo: Path, tmp_path: Path) -> Path:
    """Of one test: the feed begins with what was written last."""
    home = Path(shutil.copytree(demo, tmp_path / "home"))
    for text in LEARNED:
        Memory(home).call("remember", {"content": text})
    return home


@pytest.fixture
def feed_site(memory: Path) -> Iterator[str]:
    with serve(memory, "--open") as address:
        yield address


@pytest.fixture
def page(chromium: Any, feed_site: str) -> Iterator[Any]:
    with Look.at(chromium, feed_site) as look:
        yield look.go()
        assert look.errors == []


def fact(page: Any, words: str) -> Any:
    return page.locator(".fact").filter(has_text=words)


def pages_with(memory: Path, words: str) -> int:
    return sum(words in path.read_text() for path in (memory / "agents").rglob("*.md"))


def test_the_page_begins_with_what_was_learned_and_says_by_whom(page: Any) -> None:
    first = page.locator(".entry").first
    expect(first).to_contain_text("Grace moved to Hull.")
    expect(first).to_contain_text("by main (remember)")
    expect(page.locator(".feed h3").first).to_have_text("Today")
    first.get_by_role("link").click()
    expect(page.locator(".prose .found").first).to_contain_text("Grace moved to Hull.")


def test_a_sentence_is_forgotten_and_brought_back(page: Any, memory: Path) -> None:
    fact(page, "The lift is").get_by_role("button", name="Forget").click()
    expect(fact(page, "The lift is")).to_have_count(0)
    assert pages_with(memory, "The lift is") == 0
    page.get_by_role("button", name="Undo").click()
    expect(fact(page, "The lift is")).to_have_count(1)
    assert pages_with(memory, "The lift is") == 1


def test_a_sentence_is_fixed_in_place(page: Any, memory: Path) -> None:
    fact(page, "Ada keeps bees").get_by_role("button", name="Fix").click()
    field = page.get_by_label("What it should say")
    expect(field).to_have_value("Ada keeps bees on the roof.")
    field.fill("Ada keeps hens on the roof.")
    field.press("Enter")
    expect(fact(page, "Ada keeps hens on the roof.")).to_have_count(1)
    expect(fact(page, "They are calm.")).to_have_count(1)
    assert pages_with(memory, "Ada keeps hens on the roof. They are calm.") == 1
    page.get_by_role("button", name="Undo").click()
    expect(fact(page, "Ada keeps bees on the roof.")).to_have_count(1)


def test_nothing_is_kept_by_whoever_did_not_sign_in(page: Any) -> None:
    row = fact(page, "Grace moved to Hull.")
    expect(row.get_by_role("button", name="Fix")).to_be_visible()
    expect(row.get_by_role("button", name="Keep")).to_have_count(0)


def test_sentences_are_walked_fixed_and_forgotten_by_keys(page: Any) -> None:
    expect(page.locator(".fact").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".fact").first).to_be_focused()
    page.keyboard.press("j")
    second = page.locator(".fact").nth(1)
    expect(second).to_be_focused()
    words = second.inner_text()
    page.keyboard.press("e")
    expect(page.get_by_label("What it should say")).to_be_focused()
    page.keyboard.press("Escape")
    expect(second).to_be_focused()
    page.keyboard.press("x")
    expect(page.locator(".fact").filter(has_text=words)).to_have_count(0)
    expect(page.locator(".fact").nth(1)).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".fact").filter(has_text=words)).to_have_count(1)


def test_new_sentences_appear_and_older_ones_follow(page: Any, memory: Path) -> None:
    expect(page.locator(".fact").first).to_be_visible()
    assert page.locator(".fact").count() <= 30
    page.get_by_role("button", name="Show older").click()
    expect(page.locator(".fact").nth(31)).to_be_visible()
    Memory(memory).call("remember", {"content": "A heron nests on the crane."})
    expect(page.locator(".fact").first).to_have_text("A heron nests on the crane.")
    expect(page.locator(".fact").nth(31)).to_be_visible()


def test_whoever_may_only_read_has_no_buttons(chromium: Any, memory: Path) -> None:
    with serve(memory, "--open", "--read-only") as address, Look.at(chromium, address) as look:
        page = look.go()
        expect(page.locator(".fact").first).to_be_visible()
        expect(page.locator(".fact button")).to_have_count(0)
