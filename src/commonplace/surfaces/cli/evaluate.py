"""The eval command: measure how well search finds."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import click

from ...maintenance.evaluate import Comparison, Comparisons, Estimate, EvaluationReport, measure
from ...settings import PROVIDERS
from .common import global_options, open_home, print_reply, print_table, print_text, warn

_GROUP_METRIC = "fraction@10"  # shown for each conversation


@click.command("eval")
@click.argument("file")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Ask only so many questions, spread over the file.")
@click.option("--provider", type=click.Choice([*PROVIDERS]), help="Search with this embedder, in this run only.")
@global_options
def eval_command(file: str, limit: int | None, provider: str | None) -> None:
    """Measure how well search finds the evidence for the questions of FILE, compared with words alone.

    FILE has one JSON object a line, {"question": "...", "evidence": ["memory/page.md#L3-L5"]}, asked of this memory; or
    conversations in LoCoMo's format, each asked of a temporary memory. This memory is not changed.
    """
    home = open_home()
    try:
        report = measure(home, file, limit, provider, _print_progress if sys.stderr.isatty() else None)
    finally:
        home.close()
        _print_progress("", 0, 0)
    for warning in report.warnings:
        warn(warning)
    print_reply(_as_json(report), partial(_print_report, report))


def _print_progress(what: str, done: int, total: int) -> None:
    """Overwrite one line on a terminal; an empty `what` clears it."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{what} {done} of {total}" if what else "\r\x1b[K", nl=False, err=True)


def _as_json(report: EvaluationReport) -> dict[str, Any]:
    return {
        "questions": report.questions,
        "provider": report.provider,
        "model": report.model,
        "fallback": report.fallback,
        "baseline": "words alone",
        "figures": _figures_as_json(report.figures),
        "groups": {
            name: {"questions": count, "figures": _figures_as_json(figures)}
            for name, (count, figures) in report.groups.items()
        },
        "worse": report.worse,
        "worse_in": report.worse_in,
        "verdict": report.verdict,
        "missing": list(report.missing),
        "warnings": list(report.warnings),
    }


def _figures_as_json(figures: Comparisons) -> dict[str, Any]:
    return {
        name: {kind: estimate._asdict() for kind, estimate in comparison._asdict().items()}
        for name, comparison in figures.items()
    }


def _print_report(report: EvaluationReport) -> None:
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
