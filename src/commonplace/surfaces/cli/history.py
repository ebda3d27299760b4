"""The commands that look back: log, diff, undo, restore, gc. (`show --as-of` is with `show`.)"""

from __future__ import annotations

from contextlib import suppress

import click

from ...errors import Conflict, NotFound
from ...home import Home
from ...maintenance import timeline
from ...storage.deltas import Change
from ...storage.undo import Undone
from .common import answer, open_memory, options, say, shared, table, warn

everyone = click.option("--everyone", is_flag=True, help="Other agents' own pages too.")


@click.command("log")
@click.argument("what", required=False, metavar="[PATH|KEY]")
@click.option("--by", metavar="AGENT", help="Only what this agent did.")
@click.option("--since", metavar="TIME", help="Only since then: 2026-03-14, `2 hours ago`, yesterday.")
@click.option("-n", "--limit", default=20, show_default=True, help="How many of the latest.")
@everyone
@shared
def log_command(what: str | None, by: str | None, since: str | None, limit: int, everyone: bool) -> None:
    """Show who changed what, and when: everything, a page, or what is kept under a key. The latest come first."""
    home = open_memory().home
    found = timeline.changes(home, what or "", agent=by or "", since=since or "", everyone=everyone)
    shown = found[::-1][: max(1, limit)]
    rows = [[change.id, timeline.local(home, change.at), change.by, _what(change), change.why] for change in shown]
    answer(
        {"changes": [change._asdict() for change in shown], "total": len(found)},
        lambda: table(["change", "when", "by", "page", "why"], rows) if rows else say("No changes."),
    )


def _what(change: Change) -> str:
    done = "removed " if not change.version else "" if change.before else "new: "
    return done + change.path


@click.command("diff")
@click.argument("what", metavar="CHANGE|PATH|KEY")
@click.option("--since", metavar="TIME", help="All that changed on a page since then, instead of its last change.")
@everyone
@shared
def diff_command(what: str, since: str | None, everyone: bool) -> None:
    """Show what a change did; the last change of a page or a key; or all that changed on a page since a time."""
    home = open_memory().home
    path, before, after, title = _compared(home, what, since, everyone=everyone)
    lines = _difference(before, after, path, title)
    answer({"path": path, "before": before, "after": after, "diff": "\n".join(lines)}, lambda: _show(lines))


def _compared(home: Home, what: str, since: str | None, *, everyone: bool) -> tuple[str, str, str, tuple[str, str]]:
    if since:
        path = timeline.changes(home, what, everyone=everyone)[-1].path
        now = home.text(path)[0]
        return path, timeline.page_as_of(home, path, since, everyone=everyone), now, (since, "now")
    change = _one(home, what, everyone=everyone)
    return change.path, *timeline.sides(home, change), ("before", f"{change.id}, {change.by}")


def _one(home: Home, what: str, *, everyone: bool) -> Change:
    """A change by its id; of a page or key, the last one."""
    if timeline.is_change(what):
        timeline.look(home)
        with suppress(NotFound):  # a key may look like an id
            return timeline.change(home, what, everyone=everyone)
    found = timeline.changes(home, what, everyone=everyone)
    if not found:
        raise NotFound(f"history knows no page and no key {what!r}: `commonplace log` lists what it knows")
    return found[-1]


def _difference(before: str, after: str, path: str, title: tuple[str, str]) -> list[str]:
    from difflib import unified_diff

    old, new = (f"{path} ({each})" for each in title)
    return list(unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm=""))


def _show(lines: list[str]) -> None:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in lines:
        say(line, **({"fg": colours[line[0]]} if line[:1] in colours else {}))
    if not lines:
        say("No difference.")


@click.command("undo")
@click.argument("changes", nargs=-1, metavar="[CHANGE]...")
@click.option("--since", metavar="TIME", help="Everything the agent of --agent did since then.")
@click.option("--dry-run", is_flag=True, help="Only say what would be taken back.")
@everyone
@shared
def undo_command(changes: tuple[str, ...], since: str | None, dry_run: bool, everyone: bool) -> None:
    """Take back a CHANGE of `commonplace log`, with all that the same call changed; the last one, when none is named;
    or, with --agent and --since, everything an agent did. It is a change itself: undo it to have it back."""
    home = open_memory().home
    chosen = timeline.together(home, _chosen(home, changes, since, everyone=everyone))
    if dry_run:
        rows = [[each.id, each.by, _what(each)] for each in chosen]
        answer({"would_undo": [each._asdict() for each in chosen]}, lambda: table(["change", "by", "page"], rows))
        return
    _report(timeline.undo(home, chosen))


def _chosen(home: Home, names: tuple[str, ...], since: str | None, *, everyone: bool) -> list[Change]:
    if names and since:
        raise click.UsageError("give either changes or --since")
    if names:
        timeline.look(home)
        return [timeline.change(home, name, everyone=everyone) for name in names]
    if since and not options().get("agent"):
        raise click.UsageError("say whose changes: --agent NAME")
    found = timeline.changes(
        home, agent=home.agent if since else "", since=since or "", everyone=everyone or bool(since)
    )
    if not found:
        raise NotFound("there is nothing to take back: `commonplace log` shows what history knows")
    # The default directive comes by itself when a home is first opened: nobody means that by the last change.
    return found if since else ([each for each in found if each.tool != "init"] or found)[-1:]


def _report(done: list[Undone]) -> None:
    reply = [{"path": e.path, "changes": [c.id for c in e.changes], "problem": e.problem} for e in done]

    def human() -> None:
        for each in done:
            if each.problem:
                warn(each.problem)
            else:
                say(f"Took back {len(each.changes)} change{'s' * (len(each.changes) > 1)} of {each.path}.")

    answer({"undone": reply}, human)
    problems = [each.problem for each in done if each.problem]
    if problems:
        raise Conflict(f"{len(problems)} of {len(done)} pages stay as they are: {problems[0]}")


@click.command("restore")
@click.argument("path")
@click.option("--as-of", "when", required=True, metavar="TIME|CHANGE", help="A time, or a change of `commonplace log`.")
@everyone
@shared
def restore_command(path: str, when: str, everyone: bool) -> None:
    """Let a page be what it was at a time, or after a change. `commonplace undo` takes that back."""
    home = open_memory().home
    changed = timeline.restore(home, path, when, everyone=everyone)
    is_there = bool(home.storage.history.changes(path.removeprefix("./"))[-1].version)
    said = f"{path} is as of {when} again{'' if is_there else ': it was not there, and was removed'}."
    said = said if changed else f"{path} is that already."
    answer({"path": path, "changed": changed}, lambda: say(said))


@click.command("gc")
@click.option("--days", type=click.IntRange(0), help="Keep history of so many days (default: history.days, 365).")
@click.option("--megabytes", type=click.IntRange(0), help="Keep so much of it (default: history.megabytes, 1000).")
@shared
def gc_command(days: int | None, megabytes: int | None) -> None:
    """Let go of old history. The last version of every page stays."""
    gone, freed = timeline.collect(open_memory().home, days, megabytes)
    answer({"versions": gone, "bytes": freed}, lambda: say(f"Let go of {gone} versions ({freed / 1e6:.1f} MB)."))
