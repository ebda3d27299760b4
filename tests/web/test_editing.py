"""Reading and editing in a real browser: saving, two who write one page, ways back, and nothing typed is ever lost."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from .looking import Look
from .serving import serve
from .test_looking import expect

pytestmark = pytest.mark.slow
SAVED = re.compile("^Saved")
START = "# Title\n\nfirst line\n\nsecond line\n\nthird line\n"


@pytest.fixture
def note(home: Path, request: pytest.FixtureRequest) -> Path:
    """A page of its own for each test."""
    name = re.sub(r"[^a-z]+", "-", request.node.name.lower()).strip("-")
    path = home / "memory" / "world" / f"{name}.md"
    path.write_text(START)
    return path


def route_of(note: Path, end: str = "") -> str:
    return f"#/page/memory/world/{note.name}{end}"


def edit(look: Look, note: Path, text: str) -> Any:
    page = look.go(route_of(note, "?edit=1"))
    page.get_by_label("Source of the page").fill(text)
    return page


def test_a_page_is_edited_with_its_look_beside_it_and_saved(look: Look, note: Path) -> None:
    page = look.go(route_of(note))
    page.locator("main").focus()
    page.keyboard.press("e")
    source = page.get_by_label("Source of the page")
    expect(source).to_have_value(START)
    source.fill(START + "\n**more**\n")
    expect(page.locator(".pane-preview strong")).to_have_text("more")
    page.keyboard.press("Control+s")
    expect(page.get_by_text(SAVED)).to_be_visible()
    expect(page.locator(".page .prose strong")).to_have_text("more")
    assert note.read_text() == START + "\n**more**\n"
    assert look.errors == []


def test_two_who_write_different_lines_are_merged(look: Look, note: Path) -> None:
    page = edit(look, note, START.replace("third line", "third line, mine"))
    note.write_text(START.replace("first line", "first line, theirs"))
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Both sets of changes fit together. Nothing is lost.")).to_be_visible()
    page.get_by_role("button", name="Save the merged text").click()
    expect(page.get_by_text(SAVED)).to_be_visible()
    assert note.read_text() == START.replace("first line", "first line, theirs").replace(
        "third line", "third line, mine"
    )


@pytest.mark.parametrize(
    ("choice", "remaining"), [("Theirs", "theirs\n"), ("Mine", "mine\n"), ("Both", "theirs\nmine\n")]
)
def test_where_two_wrote_the_same_line_one_chooses(look: Look, note: Path, choice: str, remaining: str) -> None:
    page = edit(look, note, START.replace("second line\n", "mine\n").replace("# Title", "# My title"))
    note.write_text(START.replace("second line\n", "theirs\n"))
    page.keyboard.press("Control+s")
    expect(page.get_by_text("conflict in 1 place")).to_be_visible()
    expect(page.get_by_role("button", name="Save the merged text")).to_be_disabled()
    page.get_by_role("group", name="What to keep in place 1").get_by_role("button", name=choice).click()
    page.get_by_role("button", name="Save the merged text").click()
    expect(page.get_by_text(SAVED)).to_be_visible()
    expect(page.get_by_text("no longer in it")).to_have_count(0)  # they chose: there is nothing to warn of
    assert note.read_text() == START.replace("second line\n", remaining).replace("# Title", "# My title")
    assert look.errors == []


def test_whoever_is_beaten_twice_merges_twice(look: Look, note: Path) -> None:
    page = edit(look, note, START.replace("third line", "mine"))
    note.write_text(START.replace("first line", "theirs"))
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Both sets of changes fit together")).to_be_visible()
    note.write_text(START.replace("first line", "theirs again"))
    page.get_by_role("button", name="Save the merged text").click()
    merged = page.get_by_label("Merged text")
    expect(merged).to_have_value(START.replace("first line", "theirs again").replace("third line", "mine"))
    page.get_by_role("button", name="Save the merged text").click()
    expect(page.get_by_text(SAVED)).to_be_visible()
    assert note.read_text() == START.replace("first line", "theirs again").replace("third line", "mine")


def test_a_page_that_went_while_it_was_edited_is_made_again(look: Look, note: Path) -> None:
    page = edit(look, note, START + "mine\n")
    note.unlink()
    expect(page.get_by_text("This page was removed elsewhere")).to_be_visible()
    page.keyboard.press("Control+s")
    page.get_by_role("button", name="Save the merged text").click()
    expect(page.get_by_text(SAVED)).to_be_visible()
    assert note.read_text() == START + "mine\n"


def test_a_page_that_went_while_it_was_read_says_so_and_comes_back(look: Look, note: Path) -> None:
    page = look.go(route_of(note))
    expect(page.get_by_role("link", name="Edit e")).to_be_visible()
    note.unlink()
    expect(page.get_by_role("alert")).to_contain_text("This page has been removed")
    expect(page.get_by_role("link", name="Edit e")).to_have_count(0)
    expect(page.locator(".prose")).to_contain_text("first line")
    note.write_text(START.replace("first", "new"))
    expect(page.locator(".prose")).to_contain_text("new line")
    expect(page.get_by_role("link", name="Edit e")).to_be_visible()


def test_what_changed_before_the_page_could_listen_is_shown_too(look: Look, note: Path) -> None:
    holder: list[Any] = []
    look.page.route("**/v1/changes*", lambda route: holder.append(route))
    page = look.go(route_of(note))
    expect(page.locator(".prose")).to_contain_text("first line")
    note.write_text(START.replace("first", "changed"))
    assert holder
    for route in holder:
        route.continue_()
    expect(page.locator(".prose")).to_contain_text("changed line")


def test_a_page_that_changes_on_disk_is_shown_again_or_announced(look: Look, note: Path) -> None:
    page = look.go(route_of(note))
    expect(page.locator(".prose")).to_contain_text("first line")
    note.write_text(START.replace("first", "changed"))
    expect(page.locator(".prose")).to_contain_text("changed line")
    page.locator("main").focus()
    page.keyboard.press("e")
    page.get_by_label("Source of the page").fill("mine\n")
    note.write_text(START.replace("first", "again changed"))
    expect(page.get_by_text("This page was changed elsewhere while you were editing.")).to_be_visible()
    expect(page.get_by_label("Source of the page")).to_have_value("mine\n")


def test_what_is_typed_and_not_saved_outlives_leaving_and_loading_again(look: Look, note: Path) -> None:
    page = edit(look, note, START + "kept\n")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.get_by_label("Source of the page")).to_have_value(START + "kept\n")
    expect(page.get_by_label("Source of the page")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_text("This page has unsaved text")).to_be_visible()
    page.get_by_role("link", name="Continue editing").click()
    expect(page.get_by_label("Source of the page")).to_have_value(START + "kept\n")
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_label("Source of the page")).to_have_value(START)
    assert note.read_text() == START


def test_a_server_that_is_gone_says_so_and_the_text_stays(home: Path, chromium: Any, note: Path) -> None:
    with serve(home, "--open") as address, Look.at(chromium, address) as look:
        page = edit(look, note, START + "typed\n")
        expect(page.get_by_role("region", name="Preview")).to_contain_text("typed")
        look.context.set_offline(True)
        page.keyboard.press("Control+s")
        expect(page.get_by_text("The server is not responding")).to_be_visible()
        look.context.set_offline(False)
        page.keyboard.press("Control+s")
        expect(page.get_by_text(SAVED)).to_be_visible()
    assert note.read_text() == START + "typed\n"


def test_a_change_is_seen_and_taken_back(look: Look, note: Path) -> None:
    page = edit(look, note, START.replace("second", "other"))
    page.keyboard.press("Control+s")
    expect(page.get_by_text(SAVED)).to_be_visible()
    page.get_by_role("link", name="History").last.click()
    page.locator(".change summary").first.click()
    expect(page.locator(".diff-add").first).to_contain_text("other line")
    expect(page.locator(".diff-remove").first).to_contain_text("second line")
    page.get_by_role("button", name="Undo this change").click()
    expect(page.get_by_text("Undone")).to_be_visible()
    assert note.read_text() == START
    assert look.errors == []


def test_a_page_is_restored_as_of_a_time_after_a_look_at_it(look: Look, note: Path) -> None:
    note.write_text(START.replace("second", "earlier"))
    hour_ago = note.stat().st_mtime - 3600
    os.utime(note, (hour_ago, hour_ago))
    page = edit(look, note, START.replace("second", "later"))
    page.keyboard.press("Control+s")
    expect(page.locator(".page .prose")).to_contain_text("later line")
    then = page.evaluate(
        "(d => new Date(d - d.getTimezoneOffset() * 60000 - 1800000).toISOString().slice(0, 19))(new Date())"
    )
    page.get_by_role("link", name="History").last.click()
    page.get_by_label("As of").evaluate("(field, value) => { field.step = 'any'; field.value = value; field.dispatchEvent(new Event('input', { bubbles: true })); }", then)  # fmt: skip
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("dialog").locator(".diff-add")).to_contain_text("earlier line")
    page.get_by_role("button", name="Restore this text").click()
    expect(page.get_by_text("Restored.")).to_be_visible()
    assert note.read_text() == START.replace("second", "earlier")


def test_a_note_is_added_to_today_and_a_page_is_made_and_removed(home: Path, look: Look) -> None:
    page = look.go("#/health")
    page.locator("main").focus()
    page.keyboard.press("n")
    page.get_by_label("What should be remembered?").fill("A thing from the page")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Added to today")).to_be_visible()
    assert any("A thing from the page" in path.read_text() for path in (home / "agents/main/memory/daily").glob("*.md"))
    page = look.go("#/browse")
    page.get_by_role("button", name="New page").click()
    page.get_by_label("Path", exact=True).fill("memory/world/made-here")
    page.keyboard.press("Enter")
    source = page.get_by_label("Source of the page")
    expect(source).to_have_value("# made here\n\n")
    source.press("Escape")
    page.get_by_role("button", name="Remove this page").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("Removed. You can restore it")).to_be_visible()
    assert not (home / "memory" / "world" / "made-here.md").exists()


def test_where_nothing_may_be_changed_there_is_no_button_to_do_it(home: Path, chromium: Any, note: Path) -> None:
    with serve(home, "--open", "--read-only") as address, Look.at(chromium, address) as look:
        page = look.go(route_of(note, "?edit=1"))
        expect(page.get_by_text("This server is read-only")).to_be_visible()
        expect(page.locator(".prose")).to_contain_text("first line")
        for name in ("Edit", "Add a note", "Remove this page"):
            expect(page.get_by_role("button", name=name)).to_have_count(0)
        expect(page.get_by_role("link", name="Edit e")).to_have_count(0)
        page.locator("main").focus()
        page.keyboard.press("n")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_role("link", name="History").last.click()
        expect(page.get_by_role("button", name="Undo this change")).to_have_count(0)
    assert note.read_text() == START


def test_one_tab_listens_for_all_and_another_goes_on_when_it_closes(look: Look, note: Path) -> None:
    first, second = look.go(route_of(note)), look.go(route_of(note), look.tab())
    expect(second.locator(".prose")).to_contain_text("first line")
    note.write_text(START.replace("first", "changed"))
    for page in (first, second):
        expect(page.locator(".prose")).to_contain_text("changed line")
    assert sum("/v1/changes" in url for url in look.asked) == 1
    with second.expect_request("**/v1/changes"):
        first.close()
    note.write_text(START.replace("first", "again changed"))
    expect(second.locator(".prose")).to_contain_text("again changed line")


def test_two_brackets_offer_the_pages_to_link_to(look: Look, note: Path) -> None:
    page = edit(look, note, START)
    source = page.get_by_label("Source of the page")
    source.press("Control+End")
    source.press_sequentially("See [[fore")
    expect(page.get_by_role("listbox", name="Pages to link to").get_by_role("option").first).to_contain_text("forecast")
    page.keyboard.press("Enter")
    expect(source).to_have_value(f"{START}See [[forecast]]")
    source.press_sequentially(" and [[zz")
    page.keyboard.press("Escape")  # nothing to choose: it leaves the editor, and the text is kept
    expect(page.get_by_text("This page has unsaved text")).to_be_visible()


def test_the_page_says_when_the_server_is_gone_and_when_it_is_back(home: Path, chromium: Any, note: Path) -> None:
    gone = "The server is not responding. What you see may be out of date"
    with ExitStack() as looking:
        with serve(home, "--open") as address:
            look = looking.enter_context(Look.at(chromium, address))
            page = look.go(route_of(note))
            expect(page.locator(".prose")).to_contain_text("first line")
            expect(page.get_by_text(gone)).to_have_count(0)
        expect(page.get_by_text(gone)).to_be_visible()
        note.write_text(START.replace("first", "changed"))
        with serve(home, "--open", "--port", address.rpartition(":")[2]):
            expect(page.get_by_text(gone)).to_have_count(0)
            expect(page.locator(".prose")).to_contain_text("changed line")
