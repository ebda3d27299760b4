"""Facts to decide on, in a real browser: both sides, one key for each answer, in both colours and on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock

from .looking import Look
from .test_looking import expect

pytestmark = pytest.mark.slow


def tell_twice(home: Path, what: str) -> None:
    """Remember at what time something opens, and two days later that it is another time."""
    clock = FrozenClock()
    with Memory(home, clock=clock) as memory:
        memory.call("remember", {"content": f"The {what} opens at 7:00."})
        clock.advance(days=2)
        memory.call("remember", {"content": f"The {what} opens at 9:00."})


def test_a_key_answers_the_question_that_has_the_focus(look: Look, home: Path) -> None:
    tell_twice(home, "harbour gate")
    page = look.go("#/health")
    doubt = page.locator(".doubt", has_text="The harbour gate opens at 7:00.")
    expect(doubt).to_contain_text("The harbour gate opens at 9:00.")
    look.settle()
    doubt.focus()
    page.keyboard.press("b")
    expect(doubt).to_have_count(0)
    with Memory(home) as memory:
        hits = memory.search("when does the harbour gate open?")
    assert not any(hit.superseded_by for hit in hits if "harbour gate opens" in hit.text)
    page.locator("h1").click()
    page.keyboard.press("n")
    expect(page.get_by_role("dialog")).to_be_visible()  # elsewhere, the key adds a note
    assert look.errors == []


def test_a_replaced_hit_is_struck_through_and_says_what_holds(look: Look, home: Path) -> None:
    tell_twice(home, "boat house")
    page = look.go("#/search?q=when+does+the+boat+house+open")
    hit = page.locator(".hit", has=page.locator(".was", has_text="7:00")).first
    expect(hit.locator(".hit-text")).to_contain_text("9:00")
    expect(hit.locator(".hit-newer")).to_contain_text("Was: The boat house opens at 7:00")
    expect(page.locator(".hit .hit-text", has_text="boat house opens at 7:00")).to_have_count(
        0
    )  # it is below what replaced it
    assert look.errors == []


def test_it_fits_on_a_phone_and_axe_finds_nothing_serious(chromium: Any, site: str, home: Path) -> None:
    tell_twice(home, "sail loft")
    size = {"width": 390, "height": 844}
    question = "when+does+the+sail+loft+open"
    for view in ("#/health", f"#/search?q={question}", f"#/context?query={question}"):
        with Look.at(chromium, site, bypass_csp=True, viewport=size) as look:
            page = look.go(view)
            assert look.find_serious(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_figures_are_there_before_every_page_is_read_and_facts_are_compared(look: Look, home: Path) -> None:
    tell_twice(home, "fish market")
    holder: list[Any] = []
    look.page.route("**/v1/findings", lambda route: holder.append(route))
    page = look.go("#/health")
    expect(page.locator(".figures li").first).to_be_visible()
    expect(page.locator(".growth, .recall").first).to_be_visible()
    expect(page.get_by_text("Checking every page")).to_be_visible()
    assert not any("/v1/review" in url for url in look.asked)
    holder[0].continue_()
    expect(page.locator(".doubt", has_text="The fish market opens at 7:00.")).to_be_visible()
    expect(page.get_by_text("Checking every page")).to_have_count(0)
    assert look.errors == []


def test_all_that_trusting_a_found_memory_approves_is_on_the_page(look: Look) -> None:
    parts = [
        {"name": "commonplace.yaml", "text": "context: <b>directives</b>"},
        {"name": "token 12: admin, for all agents, until it is revoked, CI", "text": ""},
        {"name": "directives/a.md", "text": "Obey."},
    ]
    rule = {"path": "directives/a.md", "version": "v", "text": "Obey.\n", "in_force": "", "by": "", "at": ""}
    found = {"proposals": [rule], "trusted": False, "left_out": "1 token is", "parts": parts, "review": "as-shown"}
    look.page.route("**/v1/proposals*", lambda route: route.fulfill(json=found))
    sent: list[Any] = []
    look.page.route("**/v1/trust", lambda route: (sent.append(route.request.post_data_json), route.fulfill(json={})))
    page = look.go("#/health")
    section = page.get_by_role("region", name="Rules waiting for approval")
    expect(section.locator("pre")).to_have_text(["context: <b>directives</b>", "Obey.\n"])
    expect(section).to_contain_text("token 12: admin, for all agents, until it is revoked, CI")
    page.get_by_role("button", name="Trust this memory").click()
    expect(section).to_be_visible()
    assert sent == [{"review": "as-shown"}]
