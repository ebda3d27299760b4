"""The command that moves a memory between folders and databases: copy."""

from __future__ import annotations

import os
import sys

import click

from ...errors import Conflict, NotFound
from ...home import Home
from ...maintenance.backup.copy import Copied, copy
from ...storage.backends import in_database
from .common import agent_name, answer, placed, refuse_file, say, shared, warn
from .index import Bar

_SHOWN = 20  # pages that people are shown; --json lists all


@click.command("copy")
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option("--overwrite", is_flag=True, help="Replace pages that differ in TARGET; history keeps what they said.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@shared
def copy_command(source: str, target: str, overwrite: bool, dry_run: bool) -> None:
    """Copy a memory from SOURCE to TARGET, each a folder or the URL of a database: all agents' pages byte for byte, and
    history with its times and authors.

    Run it again to go on, or to bring what is new: only what is missing is copied. A page that says something else in
    TARGET is named and stays, and the exit status is 4; with --overwrite it is replaced.
    """
    ends = _home(source, is_there=True), _home(target, is_there=False)
    try:
        with Bar() as bar:
            done = copy(*ends, overwrite=overwrite, dry_run=dry_run, progress=bar.show)
    finally:
        for home in ends:
            home.close()
    for warning in done.warnings:
        warn(warning)
    reply = done._asdict() | {"same": len(done.same), "warnings": list(done.warnings)}
    reply |= {"failed": [{"path": path, "why": why} for path, why in done.failed]}
    reply |= {"source": ends[0].root, "target": ends[1].root, "overwrite": overwrite, "dry_run": dry_run}
    answer(reply, lambda: _show(done, overwrite=overwrite, dry_run=dry_run))
    if not dry_run and (done.failed or (done.differ and not overwrite)):
        sys.exit(Conflict.exit_status)


def _home(named: str, *, is_there: bool) -> Home:
    refuse_file(os.path.expanduser(named))
    place = placed(named)
    if is_there and not in_database(place) and not os.path.isdir(place):
        raise NotFound(f"there is no memory at {place}: name a folder, or a database as postgresql://user@host/name")
    return Home(place, agent_name())


def _show(done: Copied, *, overwrite: bool, dry_run: bool) -> None:
    for path, why in done.failed[:_SHOWN]:
        say(f"not copied: {path}: {why}")
    for path in done.differ[:_SHOWN]:
        say(f"differs: {path}")
    left = max(0, len(done.differ) - _SHOWN) + max(0, len(done.failed) - _SHOWN)
    if left:
        say(f"and {left} more (--json lists all)")
    counts = [f"{len(done.added)} copied", f"{len(done.same)} there already"]
    counts += [f"{len(done.told)} with more of their history"] if done.told else []
    last = "replaced" if overwrite else "differ and stay (--overwrite replaces them)"
    counts += [f"{len(done.differ)} {last}"] if done.differ else []
    counts += [f"{len(done.failed)} could not be copied"] if done.failed else []
    say(f"{'Would be: ' if dry_run else ''}{', '.join(counts)}.")
