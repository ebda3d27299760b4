"""The pictures of docs/web.md: `python -m tests.web.pictures [FOLDER]`, over a memory that is made for them."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from commonplace import Memory
from commonplace.testing import FrozenClock

from .demo import make
from .looking import Look
from .serving import browser, make_opener, read_opened, serve

WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
SEARCHES = 20
USUAL_MILLISECONDS = 30
PILOT = "# Pilot\n\nThe pilot answers on channel 12.\n\nShe sails at six.\n\nThe boat is blue.\n"
# Name, address, whether on a phone, whether dark.
PICTURES = [
    ("learned", "#/search", False, False),
    ("search", "#/search?q=when+is+release+3+of+the+forecast+due", False, False),
    ("days", "#/browse/days", False, False),
    ("globals", "#/browse/globals", False, True),
    ("page", "#/page/memory/world/storage.md", False, False),
    ("context", "#/context?query=storm+surge&budget=700", False, False),
    ("health", "#/health", False, True),
    ("map", "#/map", False, False),
    ("map-dark", "#/map?node=memory/world/forecast.md", False, True),
    ("search-phone-dark", "#/search?q=storm+surge+warning", True, True),
    ("page-phone", "#/page/memory/world/gauges.md", True, False),
    ("context-phone", "#/context?query=storm+surge&budget=700", True, False),
]


def take(folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as result, sync_playwright() as playwright:
        home = make(Path(result) / "home")
        _change_plans(home)
        chromium = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
        opener = make_opener(Path(result))
        with serve(home, command="web", opener=f"{opener} %s") as site:
            camera = Camera(chromium, site, _sign_in(chromium, site, read_opened(opener)))
            for name, route, on_phone, dark in PICTURES:
                camera.take(folder / f"{name}.png", route, PHONE if on_phone else WIDE, dark=dark)
            note = home / "memory" / "world" / "pilot.md"
            camera.take(folder / "merge.png", "#/search", WIDE, act=lambda page: _two_write(page, site, note))
            camera.take(folder / "palette.png", "#/browse", WIDE, dark=True, act=_palette)
        chromium.close()


def _change_plans(home: Path) -> None:
    """Remember the date of a release, and a month later another one."""
    clock = FrozenClock(datetime.now(UTC) - timedelta(days=31, hours=3))
    with Memory(home, clock=clock) as memory:
        memory.call("remember", {"content": "Release 3 of the forecast is due on 12 March."})
        clock.advance(days=30)
        memory.call("remember", {"content": "Release 3 of the forecast is due on 26 March."})


def _sign_in(chromium: Any, site: str, link: str) -> str:
    """Return the key of a person who signed in. The search loads the model, which no picture waits for then."""
    with Look.at(chromium, site) as look:
        look.page.goto(link)
        look.page.wait_for_selector("main h1", state="attached")
        look.go("#/search?q=warm", anew=False)
        look.settle()
        return str(look.page.evaluate('sessionStorage.getItem("commonplace-key")'))


class Camera(NamedTuple):
    """Takes pictures of a site as its owner sees it."""

    chromium: Any
    site: str
    key: str

    def take(
        self, file: Path, route: str, size: Any, *, dark: bool = False, act: Callable[[Any], None] | None = None
    ) -> None:
        scheme = "dark" if dark else "light"
        with Look.at(self.chromium, self.site, viewport=size, color_scheme=scheme, reduced_motion="reduce") as look:
            look.context.add_init_script(f'sessionStorage.setItem("commonplace-key", {json.dumps(self.key)})')
            _show(look, route, act)
            look.page.screenshot(path=file)
        _lighter(file)


def _show(look: Look, route: str, act: Callable[[Any], None] | None) -> None:
    page = look.go(route)
    for _ in range(SEARCHES if "?q=" in route else 0):  # on a busy machine, until one is as quick as most are
        look.settle()
        took = re.search(r"in (\d+) ms", page.locator(".said").first.inner_text())
        if took and int(took[1]) <= USUAL_MILLISECONDS:
            break
        page = look.go(route)
    if act:
        act(page)
    if route.startswith("#/map"):
        page.locator("canvas[data-settled=yes]").wait_for()
    look.settle()


def _lighter(file: Path) -> None:
    """Reduce the colours if Pillow is installed: the file has a third of the size and looks the same."""
    with suppress(ImportError):
        from PIL import Image

        with Image.open(file) as picture:
            picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
                file, optimize=True
            )


def _two_write(page: Any, site: str, note: Path) -> None:
    note.write_text(PILOT)
    page.goto(f"{site}/#/page/memory/world/pilot.md?edit=1")
    page.get_by_label("Source of the page").fill(PILOT.replace("channel 12", "channel 14").replace("blue", "red"))
    note.write_text(PILOT.replace("channel 12", "channel 9").replace("at six", "at seven"))
    page.keyboard.press("Control+s")
    page.get_by_role("group", name="What to keep in place 1").get_by_role("button", name="Mine").click()


def _palette(page: Any) -> None:
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Pages, views").fill("stor")


if __name__ == "__main__":
    take(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/web"))
