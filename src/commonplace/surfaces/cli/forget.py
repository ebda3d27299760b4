"""forget: remove something everywhere, for good. Nothing is removed before it was said what would be."""

from __future__ import annotations

from typing import Any

import click

from ...maintenance.forget import Found, Trace, Wanted
from ...maintenance.forget import find as find_traces
from ...maintenance.forget import forget as remove_traces
from .common import answer, open_memory, say, shared, table


@click.command("forget")
@click.option("--key", default="", help="A note, a record or a skill of this name.")
@click.option("--page", default="", metavar="PATH", help="A page, a folder of pages, or a pattern.")
@click.option("--tag", default="", help="Notes and records with this label.")
@click.option("--scope", default="", help="Everything of a scope: world, global, channel:dev, agent:main, skill.")
@click.option("--session", default="", metavar="NAME", help="The transcript of a session, and its mark in history.")
@click.option("--source", default="", help="Everything from a source: memory, session, extra.")
@click.option("--everyone", is_flag=True, help="Other agents' own pages too.")
@click.option("--yes", is_flag=True, help="Do it. Without this, only what would be removed is shown.")
@shared
def forget_command(everyone: bool, yes: bool, **wanted: str) -> None:
    """Remove something from pages, history and index, so that no file of the memory holds it any more.

    What is named must all be true: --tag draft --scope channel:dev. Copies elsewhere (backups, git) are not reached.
    """
    home = open_memory().home
    act = remove_traces if yes else find_traces
    found = act(home, Wanted(**wanted), everyone=everyone)
    reply = {"removed" if yes else "would_remove": _rows(found.traces), "mentions": _rows(found.mentions)}
    answer(reply, lambda: _tell(found, yes=yes))


def _rows(traces: tuple[Trace, ...]) -> list[dict[str, Any]]:
    return [trace._asdict() for trace in traces]


def _tell(found: Found, *, yes: bool) -> None:
    if not found.traces:
        say("Nothing of it was found.")
    else:
        table(["where", "path", "what"], [list(trace) for trace in found.traces])
        say(
            "\nForgotten."
            if yes
            else "\nNothing was removed yet: add --yes to forget it for good. It can not be undone."
        )
    if found.mentions:
        say("\nThese pages say some of the same, and stay:")
        table(["", "path", "what"], [list(trace) for trace in found.mentions])
