"""Several memories behind one page: which one it shows, choosing another, and nothing of one in the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.storage.base import open_tokens
from commonplace.storage.tokens import create_token

from .looking import Look
from .serving import serve
from .test_looking import choose, expect

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("homes")
    for name in ("own", "shelf/garden", "shelf/work"):
        memory = Memory(folder / name)
        memory.call("update_world", {"topic": "tea", "content": f"# Tea\n\nThe tea of {name}. See [[cups]].\n"})
        memory.call("update_world", {"topic": "cups", "content": f"# Cups\n\nThe cups of {name}.\n"})
        memory.close()
    return folder / "shelf"


@pytest.fixture(scope="module")
def site(shelf: Path) -> Iterator[str]:
    with serve(shelf.parent / "own", "--open", "--homes", str(shelf)) as address:
        yield address


def memory_in(look: Look) -> Any:
    return look.page.get_by_role("navigation", name="Views").get_by_label("Memory")


def test_a_memory_is_chosen_and_every_link_a_reload_and_going_back_keep_it(look: Look) -> None:
    page = look.go("#/page/memory/world/tea.md")
    expect(memory_in(look)).to_have_value("")
    expect(page.locator(".prose")).to_contain_text("The tea of own")
    memory_in(look).select_option("garden")
    expect(page).to_have_url(re.compile(r"\?home=garden#/browse$"))
    expect(memory_in(look)).to_have_value("garden")
    page.get_by_role("link", name="tea").first.click()
    expect(page.locator(".prose")).to_contain_text("The tea of shelf/garden")
    page.locator(".prose a").first.click()
    expect(page.locator(".prose")).to_contain_text("The cups of shelf/garden")
    expect(page).to_have_url(re.compile(r"\?home=garden#/page/memory/world/cups\.md$"))
    expect(page).to_have_title(re.compile("garden"))
    page.reload()
    expect(page.locator(".prose")).to_contain_text("The cups of shelf/garden")
    for _ in range(3):
        page.go_back()
    expect(page.locator(".prose")).to_contain_text("The tea of own")
    expect(memory_in(look)).to_have_value("")
    page.go_forward()
    expect(memory_in(look)).to_have_value("garden")
    assert look.errors == []


def test_the_palette_opens_another_memory_and_what_is_written_goes_there_alone(look: Look, shelf: Path) -> None:
    page = look.go("?home=garden#/health")
    page.keyboard.press("Control+k")
    choose(page, "memory work", "Open the memory work")
    expect(page).to_have_url(re.compile(r"\?home=work#/health$"))
    expect(memory_in(look)).to_have_value("work")
    expect(page.locator("dialog[open]")).to_have_count(0)
    look.settle()  # keys are for the page once it is there, and the palette gone
    page.keyboard.press("n")
    page.get_by_label("What should be remembered?").fill("only for work")
    page.get_by_role("button", name="Remember", exact=True).click()
    expect(page.get_by_text("Added to today")).to_be_visible()
    assert [path.parts[-6] for path in shelf.glob("*/agents/main/memory/daily/*.md")] == ["work"]
    assert not list((shelf.parent / "own").glob("agents/main/memory/daily/*.md"))


def test_text_that_is_not_saved_stays_with_its_memory(look: Look) -> None:
    page = look.go("?home=garden#/page/memory/world/tea.md?edit=1")
    page.get_by_label("Source of the page").fill("mine, not saved")
    page.on("dialog", lambda dialog: dialog.accept())
    look.go("?home=work#/page/memory/world/tea.md?edit=1")
    expect(page.get_by_label("Source of the page")).to_have_value(re.compile("The tea of shelf/work"))
    look.go("?home=garden#/page/memory/world/tea.md?edit=1")
    expect(page.get_by_label("Source of the page")).to_have_value("mine, not saved")


def test_two_tabs_hear_only_of_their_own_memory_and_one_that_changes_on_disk_is_shown(look: Look, shelf: Path) -> None:
    page, other = look.go("?home=garden#/page/memory/world/cups.md"), look.tab()
    look.go("?home=work#/page/memory/world/cups.md", other)
    look.settle(other)
    (shelf / "work/memory/world/cups.md").write_text("# Cups\n\nNew cups for work.\n")
    expect(other.locator(".prose")).to_contain_text("New cups for work")
    expect(page.locator(".prose")).to_contain_text("The cups of shelf/garden")


def test_a_name_that_is_no_memory_makes_none_and_offers_those_there_are(look: Look, shelf: Path) -> None:
    look.page.goto(f"{look.site}/?home=gardne#/search")
    expect(look.page.get_by_text("There is no memory gardne here")).to_be_visible()
    look.page.get_by_role("link", name="garden", exact=True).click()
    expect(memory_in(look)).to_have_value("garden")
    assert not (shelf / "gardne").exists()
    assert look.errors == []


def test_a_server_of_one_memory_shows_no_choice(chromium: Any, shelf: Path) -> None:
    with serve(shelf / "garden", "--open") as address, Look.at(chromium, address) as look:
        page = look.go()
        expect(page.get_by_label("Search memory")).to_be_visible()
        expect(page.get_by_label("Memory", exact=True)).to_have_count(0)


def test_commands_say_which_memory_they_mean(look: Look, shelf: Path) -> None:
    page = look.go("?home=garden#/browse/skills")
    expect(page.locator(".command code").first).to_contain_text(f"commonplace --home {shelf / 'garden'} ")
    page = look.go("#/browse/skills")
    expect(page.locator(".command code").first).not_to_contain_text("--home")


def test_a_choice_fits_on_a_phone(chromium: Any, site: str) -> None:
    with Look.at(chromium, site, viewport={"width": 320, "height": 640}) as look:
        page = look.go("?home=garden#/browse")
        look.settle()
        expect(page.locator(".top").get_by_label("Memory")).to_have_value("garden")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_token_of_one_memory_leads_to_it_and_names_no_other(chromium: Any, tmp_path: Path) -> None:
    for name in ("own", "shelf/garden", "shelf/work"):
        Memory(tmp_path / name).call("update_world", {"topic": "tea", "content": f"The tea of {name}."})
    secret = create_token(open_tokens(str(tmp_path / "shelf/work")), datetime.now(UTC), agents=None, role="write")[1]
    flags = ("--homes", str(tmp_path / "shelf"))
    with serve(tmp_path / "own", *flags) as address, Look.at(chromium, address) as look:
        look.page.goto(f"{address}/#/page/memory/world/tea.md")
        look.page.get_by_label("Token", exact=True).fill(secret)
        look.page.get_by_role("button", name="Sign in").click()
        expect(look.page.locator(".prose")).to_contain_text("The tea of shelf/work")
        expect(look.page).to_have_url(re.compile(r"\?home=work#/page/memory/world/tea\.md$"))
        expect(look.page.locator(".rail .who").first).to_contain_text("work")
        assert "garden" not in look.page.content()
        look.page.goto(f"{address}/?home=garden#/browse")
        expect(look.page.get_by_text("There is no memory garden here, or it needs another token.")).to_be_visible()
        look.page.get_by_role("link", name="work").click()
        expect(look.page.locator(".rail .who").first).to_contain_text("work")
        look.page.go_back()
        look.page.go_back()
        expect(look.page.locator(".prose")).to_contain_text("The tea of shelf/work")
        assert look.errors == []
