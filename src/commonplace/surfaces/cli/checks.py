"""The commands that keep a memory in order: doctor finds and repairs problems, eval measures how well search finds,
index brings the index up to date, and watch does so while pages change."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import suppress
from functools import partial
from threading import Event
from typing import Any

import click

from ...errors import CommonplaceError
from ...formats.timestamps import format_timestamp
from ...home import Home
from ...index.watcher import PageChanges, WatchMode
from ...maintenance.doctor import CHECKS, Finding, examine
from ...maintenance.doctor import Report as DoctorReport
from ...maintenance.evaluate import Comparison, Comparisons, Estimate, EvaluationReport, measure
from ...server.prompt_socket import PromptSocket
from ...settings import PROVIDERS
from ...storage.base import backend_of
from ...wording import count_words
from .common import (
    ProgressBar,
    agent_name,
    format_count,
    get_options,
    global_options,
    home_path,
    is_found_home,
    open_home,
    open_memory,
    print_aside,
    print_reply,
    print_some,
    print_table,
    print_text,
    warn,
)

_MAX_SHOWN = 20  # findings of one kind; --json lists all
_GROUP_METRIC = "fraction@10"  # shown for each conversation


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Repair what needs no guessing; history keeps the pages as they were.")
@global_options
def doctor_command(fix: bool) -> None:
    """Check this memory, with the pages of all agents, and say what to do about each problem. Nothing is changed
    without --fix. The exit status is 1 if a problem remains."""
    home = home_path()
    backend_of(home).check_address(home)  # not the tables of a database: outdated ones are a finding
    report = examine(home, agent_name(), fix=fix, is_found=is_found_home())
    doubts = _summarize_doubts()
    reply = {"findings": [_finding_as_json(finding) for finding in report.findings], "checked": report.checked}
    print_reply({**reply, "review": doubts}, partial(_print_findings, report, doubts, fix=fix))
    if not report.is_well:
        sys.exit(1)


def _summarize_doubts() -> str:
    """Return how many facts may be outdated, for this agent; empty if none, or if the memory cannot be opened."""
    from ...maintenance.doubts import list_doubts, summarize_doubts

    with suppress(CommonplaceError):
        home = open_home()
        try:
            return summarize_doubts(list_doubts(home))
        finally:
            home.close()
    return ""


def _finding_as_json(finding: Finding) -> dict[str, Any]:
    row: dict[str, Any] = {"check": finding.check, "path": finding.path}
    if finding.line:
        row["line"] = finding.line
    row |= {"what": finding.what, "advice": finding.advice, "fixable": finding.fixable, "fixed": finding.fixed}
    return {name: _replace_surrogates(value) for name, value in row.items()}


def _replace_surrogates(value: Any) -> Any:
    """Escape the lone surrogates that file names may contain: they cannot be encoded."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _print_findings(report: DoctorReport, doubts: str, *, fix: bool) -> None:
    for name, check in CHECKS.items():
        findings = [finding for finding in report.findings if finding.check == name]
        if findings:
            print_text(f"{check.title} ({len(findings)})", bold=True)
            print_some(findings, _MAX_SHOWN, _print_finding)
            print_text("")
    print_text(_summarize(report, fix=fix), bold=True)
    if doubts:
        print_text(f"{doubts} Decide with: commonplace review")


def _print_finding(finding: Finding) -> None:
    where = f"{finding.path}:{finding.line}" if finding.line else finding.path
    print_text(f"  {_escape(where)}: {_escape(finding.what)}")
    prefix = "fixed: " if finding.fixed else ""
    print_text(f"    → {prefix}{_escape(finding.advice)}", fg="green" if finding.fixed else "yellow")


def _escape(text: str) -> str:
    """Keep a finding on one line: a file name may contain a line break."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _summarize(report: DoctorReport, *, fix: bool) -> str:
    pages = count_words(report.checked.get("pages", 0), "page")
    agents = count_words(report.checked.get("agents", 0), "agent")
    if not report.findings:
        return f"No problems found in {pages} of {agents}."
    fixed = sum(finding.fixed for finding in report.findings)
    fixable = sum(finding.fixable and not finding.fixed for finding in report.findings)
    counts = {
        "fixed": fixed,
        "for you to decide": len(report.findings) - fixed - fixable,
        "that could not be fixed" if fix else "that --fix repairs": fixable,
    }
    parts = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    rewritten = any(finding.fixed and finding.check.startswith("duplicate") for finding in report.findings)
    undo = " What was removed is in history: `commonplace undo` brings it back." if rewritten else ""
    return f"{count_words(len(report.findings), 'problem')} in {pages} of {agents}: {parts}.{undo}"


@click.command("eval")
@click.argument("file")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Ask only this many questions, spread over the file.")
@click.option("--provider", type=click.Choice([*PROVIDERS]), help="Search with this embedder, in this run only.")
@global_options
def eval_command(file: str, limit: int | None, provider: str | None) -> None:
    """Measure how well search finds the evidence for the questions of FILE, compared with words alone.

    FILE has one JSON object per line, {"question": "...", "evidence": ["memory/page.md#L3-L5"]}, asked of this memory;
    or conversations in LoCoMo's format, each asked of a temporary memory. This memory is not changed.
    """
    home = open_home()
    try:
        with ProgressBar() as bar:
            report = measure(home, file, limit, provider, bar.update)
    finally:
        home.close()
    for warning in report.warnings:
        warn(warning)
    print_reply(_evaluation_as_json(report), partial(_print_evaluation, report))


def _evaluation_as_json(report: EvaluationReport) -> dict[str, Any]:
    groups = {
        name: {"questions": count, "figures": _figures_as_json(figures)}
        for name, (count, figures) in report.groups.items()
    }
    derived = {"worse": report.worse, "worse_in": report.worse_in, "verdict": report.verdict}
    rows = {"baseline": "words alone", "figures": _figures_as_json(report.figures), "groups": groups}
    return {**report._asdict(), **rows, **derived}


def _figures_as_json(figures: Comparisons) -> dict[str, Any]:
    return {
        name: {kind: estimate._asdict() for kind, estimate in comparison._asdict().items()}
        for name, comparison in figures.items()
    }


def _print_evaluation(report: EvaluationReport) -> None:
    by = "words alone" if report.provider == "none" else f"{report.provider} ({report.model})"
    columns = f"search by {by}, words alone, the difference; in brackets, 95 % intervals"
    print_text(f"{report.questions} questions: {columns}\n")
    rows = [[name, *_format_row(comparison)] for name, comparison in report.figures.items()]
    print_table(["", "search", "words alone", "difference"], rows)
    if report.groups:
        print_text(f"\n{_GROUP_METRIC} of each\n")
        rows = [
            [name, str(count), *_format_row(figures[_GROUP_METRIC])] for name, (count, figures) in report.groups.items()
        ]
        print_table(["", "questions", "search", "words alone", "difference"], rows)
    print_text(f"\n{report.verdict}", bold=bool(report.worse))


def _format_row(comparison: Comparison) -> list[str]:
    search, words, difference = comparison
    return [_format_estimate(search, ".3f"), _format_estimate(words, ".3f"), _format_estimate(difference, "+.3f")]


def _format_estimate(estimate: Estimate, form: str) -> str:
    return f"{estimate.value:{form}} [{estimate.low:{form}}, {estimate.high:{form}}]"


@click.command("index")
@click.argument("action", type=click.Choice(["update", "status", "rebuild", "fetch"]), default="update")
@global_options
def index_command(action: str) -> None:
    """Bring the search index up to date, and wait until it is complete. You can stop it: it resumes from there.

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
    every = status["passages_of_all_agents"]
    for name in ("pages", "passages"):
        rows.append([name, format_count(status[name], f"that {home.agent} may see")])
    rows += [[f"{name} of all agents", str(status[f"{name}_of_all_agents"])] for name in ("pages", "passages")]
    rows += [[f"  {space['space']}", f"{space['seen']} of {every} passages"] for space in status["spaces"]]
    print_reply(status, partial(print_table, ["", ""], rows))


def _fetch_models(home: Home) -> None:
    from ...embedding.model_files import fetch_models, models_for

    settings = home.search_settings
    models = models_for(settings.model, rerank=settings.rerank)
    fetch_models(models, print_aside)
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
    """Say on standard error how the pages are watched."""
    method = "" if how.events else f" by looking every second: {how.reason}"
    print_aside(f"watching {home.root}{method}")
