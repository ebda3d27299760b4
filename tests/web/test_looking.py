"""The page in a real browser, over a real server: finding, browsing, the context, keys, small screens, both colours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from .looking import TIMEOUT_MILLISECONDS, Look

pytestmark = pytest.mark.slow
VIEWS = {
    "search": "#/search?q=what+did+we+decide+about+storage",
    "start": "#/search",
    "pages": "#/browse",
    "days": "#/browse/days",
    "world": "#/browse/world",
    "globals": "#/browse/globals",
    "channels": "#/browse/channels",
    "notes": "#/browse/notes",
    "skills": "#/browse/skills",
    "sessions": "#/browse/sessions",
    "page": "#/page/memory/world/storage.md",
    "source": "#/page/memory/world/storage.md?source=1&from=5&to=8",
    "edit": "#/page/memory/world/team.md?edit=1",
    "page-history": "#/page/memory/world/alarms.md?history=1",
    "context": "#/context?query=storm&budget=600",
    "exact": "#/context/text?query=storm",
    "health": "#/health",
    "map": "#/map",
    "history": "#/history",
    "nowhere": "#/nowhere",
    "missing": "#/page/memory/world/never-written.md",
}
OFTEN_SEEN = ("start", "search", "page", "history", "health")
EACH_VIEW = [pytest.param(view, marks=() if view in OFTEN_SEEN else pytest.mark.thorough) for view in VIEWS]


def expect(thing: Any) -> Any:
    from playwright.sync_api import expect as expected

    expected.set_options(timeout=TIMEOUT_MILLISECONDS)
    return expected(thing)


def test_hits_come_while_one_types_with_their_words_marked_and_why(look: Look) -> None:
    page = look.go()
    page.get_by_role("searchbox", name="Search memory").press_sequentially("who calls the pilot at night", delay=15)
    first = page.locator(".hit").first
    expect(first).to_contain_text("Who calls the pilot at night?")
    expect(first.locator("mark").first).to_be_visible()
    expect(page.locator("[role=status]").filter(has_text="hit")).to_contain_text("ms")
    expect(page).to_have_url(re.compile("q=who\\+calls\\+the\\+pilot\\+at\\+night"))
    first.locator(".why summary").click()
    expect(first.locator("dl")).to_contain_text("words of the question")
    assert look.errors == []


def test_filters_are_in_the_address_and_narrow_the_hits(look: Look) -> None:
    page = look.go("#/search?q=storage")
    page.get_by_role("button", name="Filters").click()
    page.get_by_label("Scope").select_option("world")
    expect(page).to_have_url(re.compile("scope=world"))
    expect(page.locator(".hit .chip").first).to_have_text("world")
    page.reload()
    expect(page.get_by_label("Scope")).to_have_value("world")
    expect(page.locator(".hit").filter(has_text="agents/main")).to_have_count(0)
    page.get_by_role("button", name="Clear").click()
    expect(page).not_to_have_url(re.compile("scope="))


def test_what_is_typed_into_a_filter_stays_when_hits_come(look: Look) -> None:
    requests: list[Any] = []
    released: list[bool] = []

    def hold(route: Any) -> None:
        if released:  # the route may be handled later than its request is reported
            route.continue_()
        else:
            requests.append(route)

    look.page.route("**/v1/search*", hold)
    with look.page.expect_request("**/v1/search*"):
        page = look.go("#/search?q=storage")
    page.get_by_role("button", name="Filters").click()
    page.get_by_label("Author").fill("main")
    released.append(True)
    for request in requests:
        request.continue_()
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.get_by_label("Author")).to_have_value("main")
    page.get_by_label("Author").press("Enter")
    expect(page).to_have_url(re.compile("author=main"))


def test_hits_are_walked_and_opened_by_keys_and_the_lines_are_shown(look: Look) -> None:
    page = look.go("#/search?q=never+change+a+reading&source=memory")
    expect(page.locator(".hit").first).to_contain_text("Never change")
    page.keyboard.press("ArrowDown")  # out of the field, where letters are letters
    expect(page.locator(".hit-title").first).to_be_focused()
    page.get_by_role("button", name="less likely").click()
    expect(page.locator(".hit-title").nth(1)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("j")
    expect(page.locator(".hit-title").nth(1)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Storage", level=1)).to_be_visible()
    expect(page.locator(".prose .found").first).to_be_visible()


def test_nothing_found_teaches_what_to_do(look: Look) -> None:
    page = look.go("#/search?q=zzyzx+qwrtpl&scope=skill")
    expect(page.get_by_role("heading", name="Nothing in memory about that")).to_be_visible()
    expect(page.get_by_text("Try fewer filters")).to_be_visible()


def test_keys_go_everywhere_and_help_says_which(look: Look) -> None:
    page = look.go("#/health")
    for key, heading in (("b", "Browse"), ("c", "Context"), ("m", "Map"), ("t", "History"), ("h", "Health")):
        look.settle()  # both keys within two seconds, which a view that still loads may take
        page.locator("main").focus()
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.get_by_label("Single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("/")
    expect(page.get_by_role("heading", name="Health", level=1)).to_be_visible()


def choose(page: Any, typed: str, choice: str) -> None:
    """Type into the palette and take its first choice, once it is the one that is meant."""
    page.get_by_role("combobox", name="Pages, views").fill(typed)
    expect(page.locator("#palette-list [role=option][aria-selected=true]")).to_contain_text(choice)
    page.keyboard.press("Enter")


def test_the_palette_finds_pages_views_actions_and_agents(look: Look) -> None:
    page = look.go("#/health")
    for typed, choice, heading in (("stor", "storage", "Storage"), ("browse glob", "Browse globals", "Browse")):
        page.keyboard.press("Control+k")
        choose(page, typed, choice)
        expect(page.get_by_role("heading", name=heading, level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    choose(page, "look as res", "Look as research")
    expect(page.get_by_label("Look as agent").first).to_have_value("research")
    page.keyboard.press("Control+k")
    choose(page, "add a note", "Add a note to today")
    expect(page.get_by_role("dialog", name="Add a note to today")).to_be_visible()
    assert look.errors == []


def test_what_there_is_can_be_browsed(look: Look) -> None:
    page = look.go("#/browse/days")
    page.locator(".day summary").first.click()
    expect(page.locator(".day-inside .prose").first).to_be_visible()
    page.get_by_role("link", name="Globals").click()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(10)
    page.get_by_role("button", name="Category").click()
    expect(rows.first).to_contain_text("facts")
    page.get_by_role("button", name="Category").click()
    expect(rows.first).to_contain_text("process")
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Category")
    page.get_by_role("link", name="Sessions").click()
    page.get_by_role("link", name="Why did the north gauge").click()
    expect(page.locator(".turn-user").first).to_contain_text("jump by half a metre")
    expect(page.locator(".turn-agent .prose code").first).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="Pages").first.click()
    page.get_by_label("Filter pages").fill("glossary")
    page.get_by_role("link", name="glossary").click()
    expect(page.locator(".prose")).to_contain_text("what wind adds to a tide")


def test_the_folders_above_a_page_lead_to_what_is_in_them(look: Look) -> None:
    page = look.go("#/page/memory/world/storage.md")
    location = page.get_by_role("navigation", name="Location")
    location.get_by_role("link", name="world").click()
    tree = page.get_by_role("region", name="Tree of pages")
    expect(tree.get_by_role("link", name="storage", exact=True)).to_be_visible()
    expect(tree.locator("summary")).to_have_count(0)
    location.get_by_role("link", name="memory").click()
    expect(tree.locator("summary").filter(has_text="world")).to_be_visible()
    location.get_by_role("link", name="Pages").click()
    expect(tree.locator("summary").filter(has_text="memory").first).to_be_visible()


def test_the_context_says_what_goes_in_what_is_cut_and_what_differs(look: Look) -> None:
    page = look.go("#/context?budget=500&query=storm")
    expect(page.locator(".bar-box")).to_contain_text("of 500")
    expect(page.get_by_text("cut: over the budget").first).to_be_visible()
    page.get_by_role("button", name="Pin to compare").click()
    page.get_by_role("spinbutton", name="Budget").fill("3000")
    expect(page).to_have_url(re.compile("budget=3000"))
    page.get_by_role("link", name="Compare").click()
    expect(page.locator(".state-added").first).to_be_visible()
    page.get_by_role("link", name="Exact text").click()
    expect(page.locator(".exact")).to_contain_text("## Curated Memory")
    expect(page.locator(".command code")).to_have_text("commonplace context --budget '3000' --query 'storm'")
    assert look.errors == []


def test_a_link_that_is_clicked_before_the_address_follows_the_form_leads_where_it_says(look: Look) -> None:
    look.page.clock.install()
    page = look.settle(look.go("#/context?budget=500"))
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    page.get_by_role("spinbutton", name="Budget").fill("3000")
    compare = page.get_by_role("link", name="Compare")
    while "3000" not in compare.get_attribute("href"):
        page.clock.run_for(4)  # until the form is read, but not until the next frame, in which effects run
    compare.click()
    page.clock.resume()
    look.settle(page)
    expect(page).to_have_url(re.compile("#/context/compare.*budget=3000"))


@pytest.mark.parametrize(
    ("then", "words"),
    [
        ("2026-11-19T01:00:00", "32 minutes ago"),
        ("2026-11-18T09:00:00", "17 hours ago"),
        ("2026-11-17T22:31:00", "2 days ago"),  # 27 hours before
        ("2026-11-18T01:00:00", "yesterday"),
        ("2026-11-10T23:59:00", "1 week ago"),
        ("2026-10-20T12:00:00", "1 month ago"),
        ("2026-11-21T12:00:00", "in 2 days"),
    ],
)
def test_how_long_ago_something_was_is_said_in_calendar_days(look: Look, then: str, words: str) -> None:
    look.page.clock.install(time="2026-11-19T01:32:00")
    page = look.go("#/history")
    said = page.evaluate("async (then) => (await import('/assets/js/ui.js')).ago(then)", then)
    assert said == words


@contextmanager
def broken_pages(home: Path, *names: str) -> Iterator[None]:
    """Records that cannot be read, for as long as they are needed: others count what this memory has."""
    paths = [home / "memory" / "global" / "facts" / f"{name}.md" for name in names]
    for path in paths:
        path.write_text("---\nkey: [\n---\n\ntext\n")
    try:
        yield
    finally:
        for path in paths:
            path.unlink()


def test_health_says_what_to_do(home: Path, look: Look) -> None:
    with broken_pages(home, "broken"):
        page = look.go("#/health")
        expect(page.locator(".finding").filter(has_text="broken.md").first).to_be_visible()
        expect(page.locator(".growth .curve")).to_be_visible()
        page.get_by_text("As a table").click()
        expect(page.get_by_role("region", name="Growth as a table")).to_be_visible()


def test_what_is_wrong_is_one_line_on_every_view_until_it_is_mended(home: Path, look: Look) -> None:
    with broken_pages(home, "broken-0", "broken-1", "broken-2"):
        page = look.go("#/browse")
        expect(page.locator(".banner")).to_have_count(1)
        expect(page.locator(".banner")).to_contain_text("and 2 more")
    expect(page.locator(".banner")).to_have_count(0)


def test_the_map_is_walked_by_the_list_beside_it(look: Look) -> None:
    page = look.go("#/map")
    page.locator("canvas[data-settled=yes]").wait_for()
    page.get_by_label("Find in the map").fill("forecast")
    page.locator(".map-side .nodes button").first.click()
    expect(page.locator(".map-side h2").first).to_have_text("forecast")
    expect(page.locator(".map-side .card .nodes button").first).to_be_visible()
    page.get_by_role("link", name="Open the page").click()
    expect(page.get_by_role("heading", name="Forecast", level=1)).to_be_visible()
    assert look.errors == []


def test_two_thousand_nodes_stay_usable(chromium: Any, site: str) -> None:
    nodes = [
        {"id": f"memory/n{n}.md", "label": f"node {n}", "kind": "page", "scope": "world", "size": 1}
        for n in range(2000)
    ]
    edges = [
        {"a": nodes[n]["id"], "b": nodes[(n * n + 7) % 2000]["id"], "why": "link", "label": ""} for n in range(2000)
    ]
    edges += [{"a": nodes[n]["id"], "b": nodes[n // 3]["id"], "why": "tag", "label": "t"} for n in range(1, 2000)]
    with Look.at(chromium, site) as look:
        graph = json.dumps({"nodes": nodes, "edges": edges, "left_out": 0})
        look.page.route("**/v1/map**", lambda route: route.fulfill(body=graph, content_type="application/json"))
        page = look.go("#/map")
        page.locator("canvas[data-settled=yes]").wait_for(timeout=TIMEOUT_MILLISECONDS)
        page.locator("canvas").focus()
        for key in ["+", "ArrowLeft", "ArrowUp", "-"] * 8:
            page.keyboard.press(key)
        look.settle()
        assert float(page.locator("canvas").get_attribute("data-frame")) < 60
        assert look.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_until_somebody_chooses(chromium: Any, site: str, scheme: str) -> None:
    with Look.at(chromium, site, color_scheme=scheme) as look:
        page = look.go()

        def brightness() -> float:
            red, green, blue = map(
                int, re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))[:3]
            )
            return (red + green + blue) / 3

        assert (brightness() > 128) == (scheme == "light")
        page.get_by_role("button", name="Theme: system").first.click()
        assert brightness() > 128
        page.get_by_role("button", name="Theme: light").first.click()
        assert brightness() < 128
        page.reload()
        look.wait_for_view(page)
        assert brightness() < 128


def test_the_tab_that_is_shown_is_visible_on_a_phone(chromium: Any, site: str) -> None:
    with Look.at(chromium, site, viewport={"width": 390, "height": 844}) as look:
        page = look.go("#/browse/sessions")
        look.settle()
        expect(page.locator(".tabs [aria-current]")).to_have_text(re.compile("Sessions"))
        expect(page.locator(".tabs [aria-current]")).to_be_in_viewport(ratio=0.9)


@pytest.mark.parametrize("view", EACH_VIEW)
def test_every_view_fits_on_a_phone(chromium: Any, site: str, view: str) -> None:
    with Look.at(chromium, site, viewport={"width": 390, "height": 844}, has_touch=True) as look:
        page = look.go(VIEWS[view])
        look.settle()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.set_viewport_size({"width": 320, "height": 640})  # what four times the size is on a wide screen
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        expect(page.get_by_role("navigation", name="Views")).to_be_in_viewport()
        assert look.errors == []


@pytest.mark.parametrize("view", EACH_VIEW)
def test_axe_finds_nothing_serious_in_either_colours(chromium: Any, site: str, view: str) -> None:
    with Look.at(chromium, site, bypass_csp=True) as look:
        assert look.find_serious(look.go(VIEWS[view])) == []


@pytest.mark.parametrize("opened", ["palette", "help", "note"])
def test_axe_finds_nothing_serious_in_what_opens_over_the_page(chromium: Any, site: str, opened: str) -> None:
    with Look.at(chromium, site, bypass_csp=True) as look:
        page = look.go("#/health")
        page.keyboard.press({"palette": "Control+k", "help": "?", "note": "n"}[opened])
        page.get_by_role("dialog").wait_for()
        assert look.find_serious(page) == []


def test_no_request_leaves_the_machine(look: Look) -> None:
    for route in VIEWS.values():
        look.go(route, anew=False)
        look.settle()
    assert len(look.asked) > 40  # the page is loaded once: about thirty files, and what each view asks for
    assert look.elsewhere == []
    assert look.errors == []


HOSTILE = """# <img src=x onerror=alert(1)>

<script>window.ran = 1</script>
<img src="https://evil.example/pixel.png" onerror="window.ran = 2">
![pixel](https://evil.example/pixel.png)
[click](javascript:window.ran=3)
<a href="javascript:window.ran=4" onclick="window.ran=5">x</a>
<style>.rail { display: none }</style>
<form action="https://evil.example"><input name="token"></form>
<div id="main" class="rail">forged</div>
[[<img src=x onerror=window.ran=6>]]
```html
<script>window.ran = 7</script>
```
"""


@pytest.fixture
def _hostile_pages(home: Path) -> Iterator[None]:
    """They go with their test: others count what this memory has."""
    page = home / "memory" / "world" / "hostile.md"
    page.write_text(HOSTILE)
    record = home / "memory" / "global" / "facts" / "evil.md"
    record.write_text(
        "---\nkey: <img src=x onerror=window.ran=8>\nvalue: x\ntags: ['<script>window.ran=9</script>']\n---\n\n<svg onload=window.ran=10>\n"
    )
    yield
    page.unlink()
    record.unlink()


@pytest.mark.usefixtures("_hostile_pages")
def test_a_hostile_note_runs_nothing_loads_nothing_and_forges_nothing(look: Look) -> None:
    for route in ("#/page/memory/world/hostile.md", "#/page/memory/world/hostile.md?edit=1", "#/page/memory/world/hostile.md?source=1",
                  "#/search?q=forged+pixel+ran", "#/browse/globals", "#/map", "#/page/memory/world/hostile.md?history=1", "#/health"):  # fmt: skip
        page = look.go(route)
        look.settle()
        assert page.evaluate("window.ran") is None
        assert (
            page.evaluate(
                "document.querySelectorAll('.prose script, .prose img, .prose style, .prose form, .prose svg').length"
            )
            == 0
        )
        assert page.evaluate("document.querySelectorAll('#main').length") == 1
        expect(page.get_by_role("navigation", name="Views")).to_be_visible()
    page = look.go("#/page/memory/world/hostile.md")
    for link in page.locator(".prose a").all():
        assert not (link.get_attribute("href") or "").startswith("javascript:")
    assert look.elsewhere == []
    assert look.errors == []


def test_hits_of_another_agent_are_found_and_opened(look: Look) -> None:
    page = look.go("#/search?q=storm surges&agent_filter=research")
    page.locator(".hit-title").first.click()
    expect(page.get_by_text("the one from Delft fits our basin")).to_be_visible()
    assert look.errors == []


def test_a_score_bar_is_as_long_as_its_number(look: Look) -> None:
    page = look.go("#/search?q=who leads the team")
    page.locator(".why").first.wait_for()
    look.settle()
    for why in page.locator(".why").all():
        score = int(why.locator(".score").inner_text().removesuffix("%"))
        widths = why.evaluate(
            "why => [...why.querySelectorAll('.why-bar > span')].reduce((sum, part) => sum + parseFloat(part.style.width), 0)"
        )
        assert abs(widths - score) <= 1


def test_a_slash_and_escape_leave_the_question_alone(look: Look) -> None:
    page = look.go()
    field = page.locator("#question")
    expect(field).to_be_focused()
    page.keyboard.press("/")
    expect(field).to_have_value("")
    field.fill("and/or")
    page.keyboard.press("Escape")
    expect(field).to_have_value("and/or")
    page.keyboard.press("/")
    expect(field).to_be_focused()
    expect(field).to_have_value("and/or")


def test_the_author_is_shown_on_hits_in_the_history_and_line_by_line(look: Look, home: Path) -> None:
    page = look.go("#/search?q=never+change+a+reading&source=memory")
    expect(page.locator(".hit .author").first).to_have_text("by main (update_world)")
    page.get_by_label("Author").fill("outside")
    page.get_by_label("Author").press("Enter")
    expect(page).to_have_url(re.compile("author=outside"))
    expect(page.locator(".hit .author", has_text="main (update_world)")).to_have_count(0)
    (home / "memory/world/lighthouse.md").write_text("# Lighthouse\n\nWhite, says a person.\n")
    page = look.go("#/page/memory/world/lighthouse.md?source=1")
    page.get_by_label("Who wrote each line").check()
    expect(page.locator(".line-author").first).to_contain_text("outside")
    page = look.go("#/page/memory/world/alarms.md?source=1&authors=1")
    expect(page.locator(".line-author").first).to_contain_text("main (update_world)")
    page = look.go("#/page/memory/world/lighthouse.md?history=1")
    expect(page.locator(".change .author").first).to_have_text("by outside")
    assert look.errors == []
