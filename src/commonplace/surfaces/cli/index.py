"""The commands that keep the search index up to date: index, and watch, which does so while pages change."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import suppress
from functools import partial
from threading import Event

import click

from ...formats.timestamps import format_timestamp
from ...home import Home
from ...index.watcher import PageChanges, WatchMode
from ...server.prompt_socket import PromptSocket
from .common import (
    ProgressBar,
    format_count,
    get_options,
    global_options,
    open_memory,
    print_reply,
    print_table,
    print_text,
    warn,
)


@click.command("index")
@click.argument("action", type=click.Choice(["update", "status", "rebuild", "fetch"]), default="update")
@global_options
def index_command(action: str) -> None:
    """Bring the search index up to date, and wait until it is complete. Stop it at any time: it resumes from there.

    status: show how complete the index is. rebuild: build it again from the pages; the old index answers until the new
    one is complete. fetch: download the weights of the local models; no other command does.
    """
    home = open_memory().home
    if action == "fetch":
        _fetch_models(home)
        return
    if action != "status":
        with ProgressBar() as bar:
            home.build_index(bar.update, anew=action == "rebuild")
    status = home.index_status()
    for warning in status["warnings"]:
        warn(warning)
    rows = [["provider", status["provider"]]]
    rows += [[name, format_count(status[name], "of all agents")] for name in ("pages", "passages")]
    rows += [[f"  {space['space']}", f"{space['seen']} of {status['passages']} passages"] for space in status["spaces"]]
    print_reply(status, partial(print_table, ["", ""], rows))


def _fetch_models(home: Home) -> None:
    from ...embedding.model_files import fetch_models, models_for

    settings = home.search_settings
    models = models_for(settings.model, rerank=settings.rerank)
    fetch_models(models, partial(click.echo, err=True))
    print_reply({"fetched": [weight.name for weight in models]}, "The weights are there.")


@click.command("watch")
@global_options
def watch_command() -> None:
    """Keep the search index up to date and print each page that changes, until you stop it with Ctrl-C.

    With --json every line is an object with `at`, `change` (changed or removed) and `path`. Changes are seen at once if
    `watchfiles` is installed (pip install 'commonplace[watch]'); without it, pages are checked every second.
    """
    home = open_memory().home
    with suppress(ValueError):  # signal handlers can only be set in the main thread
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    meaning = home.embedding if home.search_settings.enabled else None
    prompts = PromptSocket(home)
    prompts.start()
    try:
        home.index.watch(Event(), partial(_print_changes, home), meaning, partial(_print_method, home))
    except KeyboardInterrupt:
        return
    finally:
        prompts.close()


def _print_changes(home: Home, seen: PageChanges) -> None:
    """Print the changed pages that this agent may see."""
    for change, paths in (("changed", seen.changed), ("removed", seen.removed)):
        for path in paths:
            if home.visibility.may_see_page(path):
                print_text(_format_change(home, change, path))
    sys.stdout.flush()


def _format_change(home: Home, change: str, path: str) -> str:
    if get_options().get("json"):
        return json.dumps({"at": format_timestamp(home.clock()), "change": change, "path": path}, ensure_ascii=False)
    separator = "  " if sys.stdout.isatty() else "\t"
    return separator.join((f"{home.now():%H:%M:%S}", change, path))


def _print_method(home: Home, how: WatchMode) -> None:
    """Say on standard error how the pages are watched. Failing to say it is not an error."""
    method = "" if how.events else f" by looking every second: {how.reason}"
    with suppress(OSError):
        click.echo(f"watching {home.root}{method}", err=True)
