"""The command that watches: the index follows the pages at once, and every change is a line."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import suppress
from threading import Event

import click

from ...formats.timestamps import stamp
from ...home import Home
from ...index.watcher import How, Seen
from .common import open_memory, options, say, shared


@click.command("watch")
@shared
def watch_command() -> None:
    """Keep the search index up to date and show which pages change, one a line, until you stop it with Ctrl-C.

    With --json every line is an object with `at`, `change` (changed or removed) and `path`. Needs `watchfiles` (pip
    install 'commonplace[watch]') to see changes at once; without it, it looks every second.
    """
    home = open_memory().home
    with suppress(ValueError):  # only the main thread of a program is told of signals
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    meaning = home.meaning if home.search_settings.enabled else None
    try:
        home.index.watch(Event(), lambda seen: _tell(home, seen), meaning, lambda how: _say_how(home, how))
    except KeyboardInterrupt:  # as it is meant to end
        return


def _tell(home: Home, seen: Seen) -> None:
    """The changes of pages this agent may see."""
    for change, paths in (("changed", seen.changed), ("removed", seen.removed)):
        for path in paths:
            place = home.index.territory.place(path)
            if place and home.may_see(place):
                say(_line(home, change, path))
    sys.stdout.flush()


def _line(home: Home, change: str, path: str) -> str:
    if options().get("json"):
        return json.dumps({"at": stamp(home.clock()), "change": change, "path": path}, ensure_ascii=False)
    between = "  " if sys.stdout.isatty() else "\t"
    return between.join((f"{home.now():%H:%M:%S}", change, path))


def _say_how(home: Home, how: How) -> None:
    """How the pages are watched, for people; what nobody can be told is no reason to fail."""
    by = "" if how.events else f" by looking every second: {how.reason}"
    with suppress(OSError):
        click.echo(f"watching {home.root}{by}", err=True)
