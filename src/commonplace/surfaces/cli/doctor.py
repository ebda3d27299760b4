"""The doctor command: check a memory and repair what can be repaired."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import click

from ...maintenance.doctor import CHECKS, Finding, Report, examine
from ...storage.backends import backend_of
from .common import agent_name, global_options, home_path, print_reply, print_text

_MAX_SHOWN = 20  # findings of one kind; --json lists all


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Repair what needs no guessing; history keeps the pages as they were.")
@global_options
def doctor_command(fix: bool) -> None:
    """Check this memory, of all agents, and say what to do about each problem. Nothing is changed without --fix. The
    exit status is 1 if a problem remains."""
    home = home_path()
    backend_of(home).check_address(home)  # only this: outdated tables of a database are a finding
    report = examine(home, agent_name(), fix=fix)
    reply = {"findings": [_as_json(finding) for finding in report.findings], "checked": report.checked}
    print_reply(reply, partial(_print_report, report, fix=fix))
    if not report.is_well:
        sys.exit(1)


def _as_json(finding: Finding) -> dict[str, Any]:
    row: dict[str, Any] = {"check": finding.check, "path": finding.path}
    if finding.line:
        row["line"] = finding.line
    row |= {"what": finding.what, "advice": finding.advice, "fixable": finding.fixable, "fixed": finding.fixed}
    return {name: _replace_surrogates(value) for name, value in row.items()}


def _replace_surrogates(value: Any) -> Any:
    """Escape the lone surrogates that file names may contain: they cannot be encoded."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _print_report(report: Report, *, fix: bool) -> None:
    for name, check in CHECKS.items():
        findings = [finding for finding in report.findings if finding.check == name]
        if findings:
            print_text(f"{check.title} ({len(findings)})", bold=True)
            for finding in findings[:_MAX_SHOWN]:
                _print_finding(finding)
            if len(findings) > _MAX_SHOWN:
                print_text(f"  … and {len(findings) - _MAX_SHOWN} more: --json lists all")
            print_text("")
    print_text(_summarize(report, fix=fix), bold=True)


def _print_finding(finding: Finding) -> None:
    where = f"{finding.path}:{finding.line}" if finding.line else finding.path
    print_text(f"  {_escape(where)}: {_escape(finding.what)}")
    done = "mended: " if finding.fixed else ""
    print_text(f"    → {done}{_escape(finding.advice)}", fg="green" if finding.fixed else "yellow")


def _escape(text: str) -> str:
    """Keep a finding on one line: a file name may contain a line break."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _summarize(report: Report, *, fix: bool) -> str:
    pages = _count(report.checked.get("pages", 0), "page")
    agents = _count(report.checked.get("agents", 0), "agent")
    checked = f"{pages} of {agents} looked at"
    if not report.findings:
        return f"All is well: {checked}, nothing found."
    fixed = sum(finding.fixed for finding in report.findings)
    fixable = sum(finding.fixable and not finding.fixed for finding in report.findings)
    counts = {
        "mended": fixed,
        "for you to decide": len(report.findings) - fixed - fixable,
        "that could not be mended" if fix else "that --fix mends": fixable,
    }
    parts = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    rewritten = any(finding.fixed and finding.check.startswith("duplicate") for finding in report.findings)
    undo = " What was taken out of memory is in history: `commonplace undo` takes it back." if rewritten else ""
    return f"{len(report.findings)} found: {parts}; {checked}.{undo}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
