"""The command that measures: eval."""

from __future__ import annotations

import sys
from typing import Any

import click

from ...maintenance.evaluate import Report, measure
from ...maintenance.evaluate.metrics import Comparison, Estimate
from ...settings import PROVIDERS
from .common import answer, open_home, say, shared, table, warn

_MAIN = "fraction@10"  # the figure that is shown for each conversation


@click.command("eval")
@click.argument("file")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Ask only so many questions, spread over the file.")
@click.option("--provider", type=click.Choice(PROVIDERS), help="Search by this embedder, in this run only.")
@shared
def eval_command(file: str, limit: int | None, provider: str | None) -> None:
    """Measure how well search finds, and words alone beside it, on the questions of FILE.

    FILE holds one JSON object a line, {"question": "...", "evidence": ["memory/page.md#L3-L5"]}, asked of this memory;
    or conversations in LoCoMo's form, which are asked of a memory made for them. Nothing of this memory is changed.
    """
    home = open_home()
    try:
        report = measure(home, file, limit, provider, _progress if sys.stderr.isatty() else None)
    finally:
        home.close()
        _progress("", 0, 0)
    for warning in report.warnings:
        warn(warning)
    answer(_as_json(report), lambda: _show(report))


def _progress(what: str, done: int, total: int) -> None:
    """One line that is written over, for those who wait at a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{what} {done} of {total}" if what else "\r\x1b[K", nl=False, err=True)


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "questions": report.questions,
        "provider": report.provider,
        "model": report.model,
        "fallback": report.fallback,
        "baseline": "words alone",
        "figures": _figures(report.figures),
        "groups": {
            name: {"questions": count, "figures": _figures(compared)}
            for name, (count, compared) in report.groups.items()
        },
        "worse": report.worse,
        "worse_in": report.worse_in,
        "verdict": report.verdict,
        "missing": list(report.missing),
        "warnings": list(report.warnings),
    }


def _figures(compared: Comparison) -> dict[str, Any]:
    return {
        name: {kind: estimate._asdict() for kind, estimate in each._asdict().items()} for name, each in compared.items()
    }


def _show(report: Report) -> None:
    by = "words alone" if report.provider == "none" else f"{report.provider} ({report.model})"
    say(f"{report.questions} questions: search by {by}, words alone, the difference; in brackets, 95 % intervals\n")
    table(["", "search", "words alone", "difference"], [[name, *_cells(each)] for name, each in report.figures.items()])
    if report.groups:
        say(f"\n{_MAIN} of each\n")
        rows = [[name, str(count), *_cells(each[_MAIN])] for name, (count, each) in report.groups.items()]
        table(["", "questions", "search", "words alone", "difference"], rows)
    say(f"\n{report.verdict}", bold=bool(report.worse))


def _cells(compared: tuple[Estimate, Estimate, Estimate]) -> list[str]:
    search, words, difference = compared
    return [_cell(search, ".3f"), _cell(words, ".3f"), _cell(difference, "+.3f")]


def _cell(estimate: Estimate, form: str) -> str:
    return f"{estimate.value:{form}} [{estimate.low:{form}}, {estimate.high:{form}}]"
