"""A tab that remembers what went wrong in it and whom it asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ..waiting import LONG_SECONDS

TIMEOUT_MILLISECONDS = 1000 * LONG_SECONDS
# Counts what a tab is waiting for. The stream of changes is never done.
_COUNTING = """
window.underway = 0;
const plain = window.fetch;
window.fetch = (...given) => {
  const asked = plain(...given);
  if (String(given[0]?.url ?? given[0]).includes("/v1/changes")) return asked;
  window.underway += 1;
  asked.then((answer) => answer.clone().text()).catch(() => {}).then(() => (window.underway -= 1));
  return asked;
};
"""
_CALM = """(patience) => new Promise((done, fail) => {
  const until = performance.now() + patience;
  let calm = 0;
  const look = () => {
    const moves = document.getAnimations().some((each) => each.playState === "running");
    calm = window.underway || moves || document.querySelector(".busy") ? 0 : calm + 1;
    if (calm > 3) done();
    else if (performance.now() > until) fail(new Error("the page does not come to rest"));
    else requestAnimationFrame(look);
  };
  look();
})"""


class Look:
    """`page` is playwright's. `errors` are those of scripts and of the policy; `asked` every address that was asked."""

    def __init__(self, site: str, context: Any) -> None:
        self.site, self.context = site, context
        self.errors: list[str] = []
        self.asked: list[str] = []
        context.set_default_timeout(TIMEOUT_MILLISECONDS)
        context.add_init_script(_COUNTING)
        self.page = self.tab()

    @classmethod
    @contextmanager
    def at(cls, chromium: Any, site: str, **options: Any) -> Iterator[Look]:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        try:
            yield cls(site, context)
        finally:
            context.close()

    def tab(self) -> Any:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda output: output.type == "error" and self._note_error(output.text))
        page.on("request", lambda request: self.asked.append(request.url))
        return page

    def _note_error(self, text: str) -> None:
        if "the server responded with a status of" not in text:  # a refusal is shown on the page, and no error in it
            self.errors.append(text)

    def go(self, route: str = "", page: Any = None, *, anew: bool = True) -> Any:
        """Open a view as an address that somebody kept, and wait until it says something. Not `anew`: from another view
        of the page that is open, as by a link."""
        page = page or self.page
        if anew:
            page.goto("about:blank")
        page.goto(f"{self.site}/{route}")
        return self.wait_for_view(page)

    @staticmethod
    def wait_for_view(page: Any) -> Any:
        """Wait until a view is there and takes keys: it listens for them only after it was painted."""
        page.wait_for_selector("main h1", state="attached")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        return page

    def settle(self, page: Any = None) -> Any:
        """Wait until a tab has all it asked for, shows it, and nothing in it moves."""
        page = page or self.page
        page.evaluate(_CALM, TIMEOUT_MILLISECONDS)
        return page

    def find_serious(self, page: Any) -> list[str]:
        """What axe finds wrong with a page that keeps people out, in light colours, and in dark ones of the colours alone.

        axe brings a script of its own, which the policy of the page rightly keeps out: the tab has to let it in.
        """
        axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
        found = []
        for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast", "link-in-text-block"]})):
            page.emulate_media(color_scheme=scheme)
            self.settle(page)
            answer = axe.Axe().run(page, options={"resultTypes": ["violations"], **options}).response
            assert answer["passes"], "axe looked at nothing"
            found += [
                f"{scheme}, {each['id']}: {each['nodes'][0]['html'][:200]}"
                for each in answer["violations"]
                if each["impact"] in ("serious", "critical")
            ]
        return found

    @property
    def elsewhere(self) -> list[str]:
        """What was asked of others than our own server."""
        return [url for url in self.asked if not url.startswith((self.site, "about:", "data:", "blob:"))]
