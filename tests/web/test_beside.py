"""What is beside and behind a page in a real browser: mentions, related pages, previews, days, and what was said when."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory

from .looking import Look
from .serving import serve
from .test_looking import expect

pytestmark = pytest.mark.slow


def test_a_page_says_where_it_is_mentioned_and_what_is_related(look: Look) -> None:
    page = look.go("#/page/memory/world/alarms.md")
    beside = page.get_by_role("complementary", name="What belongs to it")
    expect(beside.get_by_role("heading", name="Mentioned in")).to_be_visible()
    beside.get_by_role("link", name="gauges").first.click()
    expect(page.get_by_role("heading", name="Gauges", level=1)).to_be_visible()
    assert look.errors == []


def test_sentences_beside_a_page_are_shown_without_signs_of_markdown(look: Look) -> None:
    page = look.go("#/page/memory/world/storage.md")
    beside = page.get_by_role("complementary", name="What belongs to it")
    expect(beside).to_contain_text("Next: storage, rule one.")
    assert not re.search(r"\[\[|\*\*", beside.inner_text())


def test_a_link_shows_its_page_to_the_pointer_and_to_the_keyboard(look: Look) -> None:
    page = look.go("#/page/memory/world/storage.md")
    preview = page.get_by_role("tooltip")
    link = page.locator(".prose").get_by_role("link", name="gauges")
    link.hover()
    expect(preview).to_contain_text("Three of them: north, south, pilot.")
    preview.hover()
    expect(preview).to_be_visible()
    page.keyboard.press("Escape")
    expect(preview).to_have_count(0)
    page.locator(".prose").get_by_role("link", name="forecast").focus()
    expect(preview).to_contain_text("Harmonic tides plus wind")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Forecast", level=1)).to_be_visible()
    expect(preview).to_have_count(0)
    assert look.errors == []


def test_days_are_walked_by_links_and_by_keys(look: Look) -> None:
    page = look.go("#/browse/days")
    page.locator(".day summary").nth(1).click()
    page.get_by_role("link", name="Open the page").click()
    around = page.get_by_role("navigation", name="Days around it")
    expect(around).to_be_visible()
    title = page.get_by_role("heading", level=1)
    second = title.inner_text()
    around.get_by_role("link").first.click()
    expect(title).not_to_have_text(second)
    expect(around.get_by_role("link").nth(1)).to_be_visible()
    page.locator("main").focus()
    page.keyboard.press("]")
    expect(title).to_have_text(second)
    assert look.errors == []


def test_history_shows_what_was_said(look: Look) -> None:
    page = look.go("#/page/memory/world/alarms.md?history=1")
    latest = page.locator(".change").first
    expect(latest).to_contain_text("its alarm went to a mailbox for nine days")
    expect(page.locator(".change").last).to_contain_text("Every alarm has a person, never a mailbox.")
    page = look.go("#/history")
    expect(page.locator(".change-words p").first).to_be_visible()


def first_choice(page: Any, typed: str) -> Any:
    page.get_by_role("combobox", name="Pages, views").fill(typed)
    return page.locator("#palette-list [role=option]").first


def test_the_palette_puts_exact_names_first(look: Look) -> None:
    page = look.go("#/health")
    page.keyboard.press("Control+k")
    for typed, path in (("team", "memory/world/team.md"), ("datum", "datum.md"), ("on call", "on_call.md")):
        expect(first_choice(page, typed)).to_contain_text(path)
    expect(first_choice(page, "history")).to_contain_text("Go to")


def test_what_is_unlikely_is_folded_away(look: Look) -> None:
    page = look.go("#/search?q=who answers on channel 12")
    expect(page.locator(".hit").first).to_contain_text("channel 12")
    folded = page.locator(".hit").count()
    assert folded <= 5
    page.get_by_role("button", name=re.compile("Show .* less likely")).click()
    expect(page.locator(".hit").nth(folded)).to_be_visible()
    page = look.go("#/search?q=zebra football stadium")
    expect(page.get_by_text("Nothing fits well. These come nearest:")).to_be_visible()
    expect(page.locator(".hit")).to_have_count(5)


def test_the_latest_of_many_earlier_versions_are_shown_and_the_rest_on_demand(chromium: Any, tmp_path: Path) -> None:
    with Memory(tmp_path / "home") as memory:
        for day in (3, 9, 14, 21, 27):
            memory.call("remember", {"content": f"The launch of Kestrel is on {day} March."})
    with serve(tmp_path / "home", "--open") as address, Look.at(chromium, address) as look:
        hit = look.go("#/search?q=when+is+the+launch+of+Kestrel").locator(".hit").first
        expect(hit).to_contain_text("27 March")
        expect(hit.locator(".was").filter(visible=True)).to_have_count(2)
        hit.get_by_text("2 earlier versions").click()
        expect(hit.locator(".was").filter(visible=True)).to_have_count(4)
        assert look.errors == []
