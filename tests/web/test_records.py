"""Tables of records in a real browser: thousands of rows stay quick, and a value is edited in its row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .looking import Look
from .test_looking import expect

pytestmark = pytest.mark.slow
MANY = 5000


def test_of_thousands_of_rows_those_are_drawn_that_are_scrolled_to(chromium: Any, site: str) -> None:
    records = [
        {"key": f"key{n}", "category": "facts", "tags": ["t"], "value": f"value {n}", "cut": False,
         "updated": "2026-03-02T09:00:00Z", "path": f"memory/global/facts/key{n}.md"}
        for n in range(MANY)
    ]  # fmt: skip
    with Look.at(chromium, site) as look:
        outline = json.dumps(
            {"days": [], "topics": [], "globals": records, "channels": [], "skills": [], "sessions": []}
        )
        look.page.route("**/v1/outline", lambda route: route.fulfill(body=outline, content_type="application/json"))
        page = look.go("#/browse/globals")
        rows = page.locator("tbody tr")
        expect(rows.first).to_contain_text("key0")
        assert rows.count() < 1000
        expect(page.locator("table.records")).to_have_attribute("aria-rowcount", str(MANY + 1))
        before = rows.count()
        page.locator("tbody tr").last.scroll_into_view_if_needed()
        expect(rows.nth(before)).to_be_attached()
        page.get_by_label("Filter Global records").fill("value 4999")
        expect(rows).to_have_count(1)
        assert look.errors == []


def test_a_value_is_edited_in_its_row_and_taken_back(look: Look, home: Path) -> None:
    page = look.go("#/browse/globals")
    file = home / "memory/global/preferences/colour.md"
    before = file.read_text()
    page.get_by_role("button", name="Edit colour").click()
    field = page.get_by_label("Value of colour")
    field.fill("Green for water")
    field.press("Enter")
    expect(page.locator("tbody tr").filter(has_text="Green for water")).to_have_count(1)
    assert "Green for water" in file.read_text()
    assert "style" in file.read_text()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("tbody tr").filter(has_text="Teal for water")).to_have_count(1)
    assert file.read_text() == before
    expect(page.get_by_role("button", name="Edit budget_2026")).to_have_count(0)  # JSON is edited on its page
    assert look.errors == []


def test_a_table_that_is_wider_than_a_phone_says_so_at_its_edge(chromium: Any, site: str) -> None:
    with Look.at(chromium, site, viewport={"width": 390, "height": 844}) as look:
        page = look.go("#/browse/globals")
        table = page.locator("main .scroll").first
        expect(table).to_contain_text("colour")
        assert table.evaluate("it => it.scrollWidth > it.clientWidth")
        attached = table.evaluate("it => getComputedStyle(it).backgroundAttachment")
        assert attached == "local, local, scroll, scroll"  # covers that scroll away, and shadows that stay
        assert look.errors == []
