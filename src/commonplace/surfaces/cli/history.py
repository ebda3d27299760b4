"""The commands for history: log, blame, diff, undo, restore, supersede, forget, gc. (`show --as-of` is in `view`.)"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ...errors import Conflict, NotFound
from ...framing import quote_line
from ...home import Home
from ...maintenance import timeline
from ...maintenance.feed import NO_SENTENCES, SentenceChange, compare_sentences, summarise_change
from ...maintenance.timeline import UndoResult
from ...storage.history import Change
from ...storage.records import read_text
from ...wording import count_words
from .common import (
    TextCommand,
    everyone_option,
    get_options,
    global_options,
    note,
    open_memory,
    print_reply,
    print_rows,
    print_table,
    print_text,
    warn,
)

if TYPE_CHECKING:
    from ...maintenance.forget import ForgetReport, Selection, Trace
    from ...maintenance.timeline import BlameLine

_SETUP_TOOLS = frozenset({"init", "install"})  # run by a person in the name of an agent, before its work
_MAX_UNDONE = 3  # changes of a page that undo describes
_MAX_DESCRIBED = 60  # changes of all pages that it describes


@click.command("log")
@click.argument("what", required=False, metavar="[PATH|KEY]")
@click.option("--by", metavar="AGENT", help="Only changes by this agent.")
@click.option("--since", metavar="TIME", help="Only since then: 2026-03-14, `2 hours ago`, yesterday.")
@click.option("-n", "--limit", default=20, show_default=True, help="How many of the latest.")
@everyone_option
@global_options
def log_command(what: str | None, by: str | None, since: str | None, limit: int, everyone: bool) -> None:
    """Show who changed what, and when: everywhere, on a page, or under a key. The latest come first."""
    home = open_memory().home
    changes = timeline.list_changes(home, what or "", agent=by or "", since=since or "", everyone=everyone)
    changes = changes if what else timeline.leave_out_activity(home, changes)
    rows = _describe_changes(home, changes[::-1][: max(1, limit)], everyone=everyone)
    reply = {"changes": [row.as_json() for row in rows], "total": len(changes)}
    print_reply(reply, partial(_print_changes, rows) if rows else "No changes.")


class _ChangeRow(NamedTuple):
    """A change, when it was in the home's time zone, and the sentences that it changed."""

    change: Change
    when: str
    sentences: SentenceChange

    @property
    def page(self) -> str:
        if not self.change.version:
            return f"removed {self.change.path}"
        return self.change.path if self.change.before else f"new: {self.change.path}"

    @property
    def text(self) -> str:
        return summarise_change(self.sentences)

    def as_json(self) -> dict[str, Any]:
        return {**self.change._asdict(), "sentences": self.sentences._asdict()}


def _describe_changes(home: Home, changes: Sequence[Change], *, everyone: bool) -> list[_ChangeRow]:
    """Return changes with what they say, as far as the agent may read it: one call may change pages of many agents."""
    readable = [change for change in changes if everyone or timeline.may_see(home, change.path)]
    sentences = {change.id: each for change, each in zip(readable, compare_sentences(home, readable), strict=True)}
    return [
        _ChangeRow(change, timeline.format_local_time(home, change.at), sentences.get(change.id, NO_SENTENCES))
        for change in changes
    ]


def _print_changes(rows: Sequence[_ChangeRow]) -> None:
    """Print changes as paragraphs on a terminal, and as tab-separated fields elsewhere."""
    if not sys.stdout.isatty():
        print_table([], [[row.change.id, row.when, row.change.by, row.page, row.change.why, row.text] for row in rows])
        return
    for row in rows:
        title = "  ".join(filter(None, (row.change.id, row.when, row.change.by, row.change.why)))
        print_text(quote_line(title), fg="yellow")
        for line in filter(None, (row.page, row.text)):
            print_text(f"  {quote_line(line)}")


@click.command("blame")
@click.argument("page", metavar="PAGE")
@everyone_option
@global_options
def blame_command(page: str, everyone: bool) -> None:
    """Show who wrote each line of PAGE, when, and what it said before. A line older than its history has no author."""
    from ...maintenance.timeline import blame_page

    home = open_memory().home
    lines = blame_page(home, page, everyone=everyone, with_earlier=True)
    reply = {"path": page.removeprefix("./"), "lines": [line._asdict() for line in lines]}
    rows = [_blame_row(home, line) for line in lines]
    print_rows(reply, ["change", "when", "by", "line", "text"], rows, "The page is empty.")


def _blame_row(home: Home, line: BlameLine) -> list[str]:
    when = timeline.format_local_time(home, line.at) if line.at else ""
    text = " ".join(line.text.split("\n"))
    wording = f"{text} (was: {line.was})" if line.was else text
    return [line.change, when, line.author or "?", str(line.number), wording]


class _Comparison(NamedTuple):
    """Two versions of a page and a title for each."""

    path: str
    before: str
    after: str
    before_title: str
    after_title: str


@click.command("diff")
@click.argument("what", metavar="CHANGE|PATH|KEY")
@click.option("--since", metavar="TIME", help="All that changed on a page since then, instead of its last change.")
@everyone_option
@global_options
def diff_command(what: str, since: str | None, everyone: bool) -> None:
    """Show what a change did; the last change of a page or a key; or all that changed on a page since a time."""
    compared = _compare(open_memory().home, what, since, everyone=everyone)
    lines = _diff_lines(compared)
    reply = {
        "path": compared.path,
        "before": compared.before,
        "after": compared.after,
        "diff": "\n".join(lines),
    }
    print_reply(reply, partial(_print_diff, lines))


def _compare(home: Home, what: str, since: str | None, *, everyone: bool) -> _Comparison:
    if since:
        path = timeline.list_changes(home, what, everyone=everyone)[-1].path
        now = timeline.readable_text(home, path, read_text(home.storage.pages, path)[0])
        before = ""  # the page was created since
        timeline.parse_moment(home, since)
        with suppress(NotFound):
            before = timeline.read_page_as_of(home, path, since, everyone=everyone)
        return _Comparison(path, before, now, since, "now")
    change = _find_change(home, what, everyone=everyone)
    before, after = timeline.read_both_sides(home, change)
    return _Comparison(change.path, before, after, "before", f"{change.id}, {change.by}")


def _find_change(home: Home, what: str, *, everyone: bool) -> Change:
    """Return the change with this id, or the last change of this page or key."""
    if timeline.looks_like_change_id(what):
        timeline.record_outside_edits(home)
        with suppress(NotFound):  # a key may look like an id
            return timeline.find_change(home, what, everyone=everyone)
    changes = timeline.list_changes(home, what, everyone=everyone)
    if not changes:
        raise NotFound(f"history has no page and no key {what!r}: `commonplace log` lists all changes")
    return changes[-1]


def _diff_lines(compared: _Comparison) -> list[str]:
    from difflib import unified_diff

    return list(
        unified_diff(
            compared.before.splitlines(),
            compared.after.splitlines(),
            f"{compared.path} ({compared.before_title})",
            f"{compared.path} ({compared.after_title})",
            lineterm="",
        )
    )


def _print_diff(lines: list[str]) -> None:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in lines:
        print_text(line, **({"fg": colours[line[0]]} if line[:1] in colours else {}))
    if not lines:
        print_text("No difference.")


@click.command("undo")
@click.argument("changes", nargs=-1, metavar="[CHANGE]...")
@click.option("--since", metavar="TIME", help="Everything the agent of --agent did since then.")
@click.option("--dry-run", is_flag=True, help="Only show what would be undone.")
@everyone_option
@global_options
def undo_command(changes: tuple[str, ...], since: str | None, dry_run: bool, everyone: bool) -> None:
    """Undo a CHANGE of `commonplace log`, with all that the same call changed; without CHANGE, the last one; with
    --agent and --since, everything an agent did. Undo is itself a change, and can be undone."""
    home = open_memory().home
    selected = timeline.include_same_calls(home, _choose_changes(home, changes, since, everyone=everyone))
    if dry_run:
        rows = _describe_changes(home, selected, everyone=everyone)
        print_reply({"would_undo": [row.as_json() for row in rows]}, partial(_print_changes, rows))
        return
    _report_undo(home, timeline.undo(home, selected), everyone=everyone)


def _choose_changes(home: Home, names: tuple[str, ...], since: str | None, *, everyone: bool) -> list[Change]:
    if names and since:
        raise click.UsageError("give either changes or --since")
    if names:
        timeline.record_outside_edits(home)
        return [timeline.find_change(home, name, everyone=everyone) for name in names]
    if since and not get_options().get("agent"):
        raise click.UsageError("say whose changes: --agent NAME")
    agent = home.agent if since else ""
    own_changes = timeline.list_changes(home, agent=agent, since=since or "", everyone=everyone or bool(since))
    if since:
        chosen = [change for change in own_changes if change.tool not in _SETUP_TOOLS]
    else:  # the default directive is written when a home is first opened; it is not the `last change` to undo
        chosen = ([change for change in own_changes if change.tool != "init"] or own_changes)[-1:]
    if not chosen:
        raise NotFound("there is nothing to undo: `commonplace log` shows the history")
    return chosen


def _report_undo(home: Home, pages: list[UndoResult], *, everyone: bool) -> None:
    shown = [change for page in pages for change in page.changes[-_MAX_UNDONE:]][:_MAX_DESCRIBED]
    rows = {row.change.id: row for row in _describe_changes(home, shown, everyone=everyone)}
    undone = [
        {
            "path": page.path,
            "changes": [change.id for change in page.changes],
            "details": [rows[change.id].as_json() for change in page.changes if change.id in rows],
            "problem": page.problem,
        }
        for page in pages
    ]

    def print_pages() -> None:
        for page in pages:
            if page.problem:
                warn(page.problem)
            else:
                _print_undo(page, rows)

    print_reply({"undone": undone}, print_pages)
    problems = [page.problem for page in pages if page.problem]
    if problems:
        raise Conflict(f"{len(problems)} of {len(pages)} pages stay as they are: {problems[0]}")


def _print_undo(page: UndoResult, rows: Mapping[str, _ChangeRow]) -> None:
    """Print what was undone on a page: when it was written, by whom, and what it said."""
    described = [rows[change.id] for change in reversed(page.changes) if change.id in rows]
    if all(change.tool == "undo" for change in page.changes):  # the changes that they undid are made again
        print_text(f"Redid the change to {page.path}. To go further back, name a change of `commonplace log`.")
        lines = [summarise_change(row.sentences.reverse()) for row in described]
    else:
        print_text(f"Undid {count_words(len(page.changes), 'change')} of {page.path}.")
        lines = list(map(_describe_undone, described))
    if lines and len(page.changes) > len(lines):
        lines.append(f"and {len(page.changes) - len(lines)} earlier")
    for line in filter(None, lines):
        print_text(f"  {quote_line(line)}")


def _describe_undone(row: _ChangeRow) -> str:
    return "  ".join(filter(None, (row.when, row.change.by, row.text)))


@click.command("restore")
@click.argument("path")
@click.option("--as-of", "when", required=True, metavar="TIME|CHANGE", help="A time, or a change of `commonplace log`.")
@everyone_option
@global_options
def restore_command(path: str, when: str, everyone: bool) -> None:
    """Restore a page as it was at a time, or after a change. `commonplace undo` reverts that."""
    home = open_memory().home
    changed = timeline.restore(home, path, when, everyone=everyone)
    exists = bool(home.storage.history.changes(path.removeprefix("./"))[-1].version)
    if not changed:
        sentence = f"{path} is that already."
    else:
        sentence = f"{path} is as of {when} again{'' if exists else ': it was not there, and was removed'}."
    print_reply({"path": path, "changed": changed}, sentence)


@click.command("supersede")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--not", "reject", is_flag=True, help="Both are true: NEW does not replace OLD.")
@global_options
def supersede_command(old: str, new: str, reject: bool) -> None:
    """Say that the statement at NEW replaces the one at OLD. Cite both as search does: memory/world/people.md#L3.

    Search then puts the newer one first and marks the older. With --not, they are never linked again. The answer is a
    comment on the page; `undo` takes it back.
    """
    from ...maintenance.doubts import supersede

    answered = supersede(open_memory().home, old, new, reject=reject)
    verb = "does not replace" if reject else "replaces"
    new, old = (", ".join(f'"{line}"' for line in text.split("\n")) for text in (answered.new, answered.old))
    print_reply(answered._asdict(), f"{new} {verb} {old} (kept in {answered.path}).")


@click.command("forget", cls=TextCommand)
@click.argument("what", default="", metavar="[PAGE#LINES|TEXT]")
@click.option("--key", default="", help="A note, a record or a skill of this name.")
@click.option("--page", default="", metavar="PATH", help="A page, lines of it, a folder of pages, or a pattern.")
@click.option("--tag", default="", help="Notes and records with this tag.")
@click.option("--scope", default="", help="Everything in a scope: world, global, channel:dev, agent:main, skill.")
@click.option("--session", default="", metavar="NAME", help="The transcript of a session, and its entries in history.")
@click.option("--source", default="", help="Everything from a source: memory, session, extra.")
@everyone_option
@click.option("--yes", is_flag=True, help="Do it. Without this, only show what would be removed.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed, whatever else is given.")
@global_options
def forget_command(what: str, everyone: bool, yes: bool, dry_run: bool, **options: str) -> None:
    """Remove something from pages, history and index, for good; files and names that still have it are listed.

    Cite lines as search prints them, PAGE#L5 or PAGE#L3-L5; or give the text of a line, to remove it wherever it is.
    Several options narrow the choice: --tag draft --scope channel:dev. Copies elsewhere (backups, git) are not reached.
    """
    from ...maintenance.forget import find_traces, forget

    home = open_memory().home
    yes = yes and not dry_run
    act = forget if yes else find_traces
    report = act(home, _select(home, what, options), everyone=everyone)
    if not report.traces:
        raise NotFound(
            "nothing was found, and nothing was removed",
            advice="`commonplace search` and `commonplace log` print what there is; cite lines as PAGE#L5, name a note "
            "or a record with --key, and add --everyone for pages of other agents",
        )
    reply = {"removed" if yes else "would_remove": _as_rows(report.traces), "mentions": _as_rows(report.mentions)}
    print_reply(reply, partial(_print_traces, report, yes=yes))
    if yes:
        _note_last_change(home)


def _note_last_change(home: Home) -> None:
    """Say what `undo` would take back after something was forgotten for good."""
    with suppress(NotFound):
        rows = _describe_changes(home, _choose_changes(home, (), None, everyone=False), everyone=False)
        last = quote_line("; ".join(map(_describe_undone, rows)))
        note(f"the last change that `commonplace undo` can take back is {last}")


def _select(home: Home, what: str, options: dict[str, str]) -> Selection:
    """Return what to forget: the argument cites lines, names a page, or is the text of a line."""
    from ...maintenance.forget import Selection
    from ...model import parse_citation

    if not what:
        return Selection(**options)
    is_page = parse_citation(what) or (what.endswith((".md", ".jsonl")) and " " not in what)
    if is_page and options["page"]:
        raise click.UsageError("name one page: either as the argument or with --page")
    return Selection(**{**options, "page" if is_page else "text": what})


def _as_rows(traces: tuple[Trace, ...]) -> list[dict[str, Any]]:
    return [trace._asdict() for trace in traces]


def _print_traces(report: ForgetReport, *, yes: bool) -> None:
    print_table(["where", "path", "what"], [list(trace) for trace in report.traces])
    if yes:
        print_text("\nForgotten. It cannot be undone.")
    else:
        print_text("\nNothing was removed yet: add --yes to forget it for good. It cannot be undone.")
    if report.mentions:
        print_text("\nThese contain some of the same, and stay:")
        print_table(["", "path", "what"], [list(trace) for trace in report.mentions])


@click.command("gc")
@click.option("--days", type=click.IntRange(0), help="Keep this many days of history (default: history.days, 365).")
@click.option("--megabytes", type=click.IntRange(0), help="Keep at most this much (default: history.megabytes, 1000).")
@global_options
def gc_command(days: int | None, megabytes: int | None) -> None:
    """Delete old history. The last version of every page stays."""
    versions, freed = timeline.prune_history(open_memory().home, days, megabytes)
    print_reply({"versions": versions, "bytes": freed}, f"Deleted {versions} versions ({freed / 1e6:.1f} MB).")
