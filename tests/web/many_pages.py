"""How soon each view of the page is usable over a memory of 5,000 pages: `python -m tests.web.many_pages [HOME]`.

Prints, for a fresh server and again for a warm one, the milliseconds until a view shows what it is for, and until it
has everything. Without HOME a memory is made, which takes minutes.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from commonplace import Memory
from commonplace.testing import FrozenClock

from .looking import Look
from .serving import browser, serve

DAYS = 365  # each with fourteen pages of its own
NAMES = [
    f"{first}{last}" for first in ("Ber", "Cal", "Dor", "Eli", "Fen", "Gar") for last in ("ta", "vin", "is", "don")
]
THINGS = [
    "pump",
    "valve",
    "sensor",
    "gateway",
    "invoice",
    "contract",
    "schema",
    "parser",
    "cache",
    "printer",
    "router",
    "battery",
    "antenna",
    "report",
]
PLACES = ["Lisbon", "Hull", "Turku", "Delft", "Bergen", "Porto", "Riga", "Ghent", "Cork", "Brest", "Kiel", "Aarhus"]
SENTENCES = (
    "{who} owns the {thing} in {place} and answers questions about the {other}.",
    "The {thing} of {place} runs on port {number}.",
    "{who} prefers the {thing} without the {other}.",
    "We decided to replace the {thing} in {place} by a {other} in week {number}.",
    "{who} lives in {place}.",
    "{who} moved to {place} and works on the {thing} now.",
    "Until March the {thing} is read by hand every {number} hours.",
    "The {other} depends on the {thing}, version {number}.",
)
# A view, and what it shows first when it is usable.
VIEWS = {
    "learned": ("#/search", ".feed .fact"),
    "search": ("#/search?q=who+owns+the+pump", ".hit"),
    "browse": ("#/browse", "main li a"),
    "days": ("#/browse/days", ".day"),
    "records": ("#/browse/globals", "main table tbody tr"),
    "page": ("#/page/memory/world/topic-3.md", "article.page h1"),
    "history": ("#/history", ".changes li"),
    "context": ("#/context?budget=4000", ".sections .section"),
    "health": ("#/health", ".figures li"),
    "map": ("#/map", "main canvas"),
}


def make_sentence(chance: random.Random) -> str:
    words = {"who": chance.choice(NAMES), "place": chance.choice(PLACES), "number": chance.randrange(2, 900)}
    thing, other = chance.sample(THINGS, 2)
    return chance.choice(SENTENCES).format(thing=thing, other=other, **words)


def make_home(folder: Path) -> Path:
    chance = random.Random(7)
    clock = FrozenClock(datetime(2025, 11, 16, 9, tzinfo=UTC))
    with Memory(folder, clock=clock) as memory:
        for day in range(DAYS):
            memory.call("remember", {"content": f"{make_sentence(chance)} {make_sentence(chance)}"})
            for number in range(9):
                record = {"key": f"record-{day}-{number}", "value": make_sentence(chance), "category": "facts"}
                memory.call("MemoryTool", {"op": "setGlobal", **record})
            for number in range(3):
                text = " ".join(make_sentence(chance) for _ in range(6))
                topic = f"topic-{3 * day + number}"
                memory.call("update_world", {"topic": topic, "content": f"# {topic}\n\n{text}\n"})
            memory.call("write_memory", {"key": f"work-{day}", "content": make_sentence(chance)})
            clock.now += timedelta(days=1)
        memory.search("pump")
    return folder


def measure(look: Look) -> None:
    for name, (route, selector) in VIEWS.items():
        started = time.perf_counter()
        page = look.go(route)
        page.wait_for_selector(selector, state="attached")
        usable = time.perf_counter() - started
        look.settle()
        print(f"{name:10} usable {1000 * usable:6.0f} ms   complete {1000 * (time.perf_counter() - started):6.0f} ms")


def main(home: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium: Any = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
        with serve(home, "--open") as site:
            for state in ("first", "again"):
                print(state)
                with Look.at(chromium, site, reduced_motion="reduce") as look:
                    measure(look)
        chromium.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(make_home(Path(made) / "home"))
