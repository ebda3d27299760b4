"""The command that looks whether a memory is well: doctor."""

from __future__ import annotations

import sys
from typing import Any

import click

from ...maintenance.doctor import CHECKS, Finding, Report, examine
from ...storage.backends import in_database
from .common import agent_name, answer, home_path, refuse_file, say, shared

_SHOWN = 20  # findings of one kind that people are shown; programs get all


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Mend what can be mended without guessing; history keeps what pages were.")
@shared
def doctor_command(fix: bool) -> None:
    """Look for what is wrong with this memory, of all agents, and say what to do about it. Nothing is changed without
    --fix. The exit status is 1 when something was found that is not mended."""
    home = home_path()
    if not in_database(home):  # of a database, that its tables are old is one of the findings
        refuse_file(home)
    report = examine(home, agent_name(), fix=fix)
    answer(_as_json(report), lambda: _show(report, fix=fix))
    if not report.is_well:
        sys.exit(1)


def _as_json(report: Report) -> dict[str, Any]:
    return {"findings": [_row(finding) for finding in report.findings], "checked": report.checked}


def _row(finding: Finding) -> dict[str, Any]:
    line = {"line": finding.line} if finding.line else {}
    told = {"what": finding.what, "advice": finding.advice, "fixable": finding.fixable, "fixed": finding.fixed}
    return {
        name: _plain(value) for name, value in {"check": finding.check, "path": finding.path, **line, **told}.items()
    }


def _plain(value: Any) -> Any:
    """Text without the halves of characters that names on disk may hold."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _show(report: Report, *, fix: bool) -> None:
    for check, title in CHECKS.items():
        some = [finding for finding in report.findings if finding.check == check]
        if some:
            say(f"{title} ({len(some)})", bold=True)
            for finding in some[:_SHOWN]:
                _show_one(finding)
            if len(some) > _SHOWN:
                say(f"  … and {len(some) - _SHOWN} more: --json lists all")
            say("")
    say(_summary(report, fix=fix), bold=True)


def _show_one(finding: Finding) -> None:
    where = f"{finding.path}:{finding.line}" if finding.line else finding.path
    say(f"  {_one_line(where)}: {_one_line(finding.what)}")
    done = "mended: " if finding.fixed else ""
    say(f"    → {done}{_one_line(finding.advice)}", fg="green" if finding.fixed else "yellow")


def _one_line(text: str) -> str:
    """A name may hold anything, the end of a line too."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _summary(report: Report, *, fix: bool) -> str:
    checked, found = report.checked, report.findings
    looked = f"{_count(checked.get('pages', 0), 'page')} of {_count(checked.get('agents', 0), 'agent')} looked at"
    if not found:
        return f"All is well: {looked}, nothing found."
    kinds = {"mended": 0, "for you to decide": 0, "that could not be mended" if fix else "that --fix mends": 0}
    done, by_hand, left = kinds
    for finding in found:
        kinds[done if finding.fixed else left if finding.fixable else by_hand] += 1
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    rewritten = any(finding.fixed and finding.check.startswith("duplicate") for finding in found)
    undo = " What was taken out of memory is in history: `commonplace undo` takes it back." if rewritten else ""
    return f"{len(found)} found: {told}; {looked}.{undo}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
