"""Runs the console examples of the docs as a person would, on a terminal, and compares what is printed with the page.

    python -m tests.consoles docs/tutorial.md …     writes what is printed today into these pages

Pages show one fixed day, made-up times and change ids: these are compared by their place, scores roughly, everything else
exactly. A command with nothing below it on the page must only succeed; `--all` writes the output of these as well.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from commonplace.home import utc_now
from commonplace.model import Clock

from .surfaces.cli.shell import read_terminal, run_on_terminal

COLUMNS = 100
HOME = "/home/ann"
SHOWN_DAY = "2026-03-14"
SHOWN_WEEKDAY = "Saturday"
SHOWN_TIME = "09:26"
SCORE_TOLERANCE = 0.1  # a new calibration of scores makes no page wrong
HIDDEN_VARIABLES = ("COMMONPLACE_", "XDG_", "OPENAI_", "CLAUDE_")
SKIP = ("pip ", "python3 -m venv ", "createdb ", "psql ")
_BLOCK = re.compile(r"^(`{3,})console\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PROGRESS = "━"  # a bar that is erased once the work is done
_TIME = re.compile(r"\b\d\d:\d\d(:\d\d)?\b")
_SCORE = re.compile(r"(?<=  )[01]\.\d\d\b")
_QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
_SHELL = re.compile(r"[#$`*?~{}\\\n!();<>|&]")
_CHANGE = re.compile(r"\b[0-9a-f]{10}\b")


class Session:
    """A person at a terminal in an empty home folder. Change ids of the page stand for those that were really made."""

    def __init__(self, folder: Path, day: date) -> None:
        """`day`: today, which the page shows as another."""
        self.root = folder.resolve()
        self.day = day
        self.folder = self.root
        self.status = 0
        self.real_ids: dict[str, str] = {}
        programs = self.root / ".programs"
        programs.mkdir()
        for name in ("commonplace", "cpl"):
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m commonplace "$@"\n')
            (programs / name).chmod(0o755)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(HIDDEN_VARIABLES)},
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(self.root),
            "COLUMNS": str(COLUMNS),
            "NO_COLOR": "1",
        }

    def run(self, command: str) -> str:
        """Return what a command prints, with the day, the times and the paths that pages show."""
        if command.startswith(SKIP):
            return ""
        self.status = 0
        if command.startswith("cd "):
            self.folder = (self.folder / command[3:].split("#")[0].strip()).resolve()
            return ""
        output, self.status = self._print(self._as_real(command))
        return self._as_shown(output)

    def learn(self, text: str, printed: str) -> None:
        """Remember which real change each change id on the page stands for, by their order."""
        self.real_ids.update(zip(_CHANGE.findall(text), _CHANGE.findall(printed), strict=False))

    def _as_real(self, text: str) -> str:
        text = text.replace(SHOWN_DAY, self.day.isoformat()).replace(HOME, str(self.root))
        return _CHANGE.sub(lambda change: self.real_ids.get(change[0], change[0]), text)

    def _as_shown(self, text: str) -> str:
        text = text.replace(str(self.root / ".programs"), f"{HOME}/.local/bin").replace(str(self.root), HOME)
        text = text.replace(self.day.isoformat(), SHOWN_DAY).replace(f", {self.day:%A}", f", {SHOWN_WEEKDAY}")
        return _TIME.sub(lambda time: f"{SHOWN_TIME}:53" if time[1] else SHOWN_TIME, text)

    def _print(self, command: str) -> tuple[str, int]:
        words = _split_plain(command)
        if words[:1] == ["commonplace"]:
            text, status = run_on_terminal(words[1:], self.folder, self.environment)
        else:
            text, status = self._print_by_shell(command)
        lines = _ESCAPE.sub("", text).replace("\r", "").split("\n")
        text = "\n".join(line.rstrip() for line in lines if _PROGRESS not in line)
        return text.strip("\n"), status

    def _print_by_shell(self, command: str) -> tuple[str, int]:
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, stdin=theirs, stdout=theirs, stderr=theirs
        ) as process:
            os.close(theirs)
            text = read_terminal(ours)
        os.close(ours)
        return text, process.returncode


def _split_plain(command: str) -> list[str]:
    """Return the words of a command that needs no shell, or none."""
    return [] if _SHELL.search(_QUOTED.sub("", command)) else shlex.split(command)


def steps(block: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a block, each with what the page shows below it."""
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = step.split("\n")
        count = next(number for number, line in enumerate(lines, 1) if not line.endswith("\\"))
        yield "\n".join(lines[:count]), "\n".join(lines[count:]).strip("\n")


Difference = tuple[str, str, str]  # a command, what the page shows, and what came


def compare(page: Path, folder: Path, clock: Clock = utc_now) -> list[Difference]:
    """Run all examples of a page in turn; return those whose output differs. If a day ends meanwhile, run them again."""
    while True:
        day = clock().date()
        with tempfile.TemporaryDirectory(dir=folder) as home:
            wrong = _compare_on(day, page, Path(home))
        if not wrong or clock().date() == day:
            return wrong


def _compare_on(day: date, page: Path, folder: Path) -> list[Difference]:
    session = Session(folder, day)
    wrong = []
    for _, block in _BLOCK.findall(page.read_text()):
        for command, text in steps(block):
            printed = session.run(command)
            session.learn(text, printed)
            if not is_same(printed, text) if text else session.status:
                wrong.append((command, text, printed))
    return wrong


def is_same(printed: str, text: str) -> bool:
    """Return whether two outputs say the same: whatever the change ids are, with scores that are nearly equal."""
    scores = zip(_SCORE.findall(printed), _SCORE.findall(text), strict=False)
    is_near = all(abs(float(one) - float(other)) <= SCORE_TOLERANCE for one, other in scores)
    return is_near and _without_figures(printed) == _without_figures(text)


def _without_figures(text: str) -> str:
    return _SCORE.sub("0.00", _CHANGE.sub("0123456789", text))


def refresh(page: Path, folder: Path, *, show_all: bool) -> None:
    """Write what the examples of a page print today into it, where it shows output, or everywhere."""
    session = Session(folder, utc_now().date())

    def play(block: re.Match[str]) -> str:
        text = ""
        for command, output in steps(block[2]):
            printed = session.run(command)
            session.learn(output, printed)
            if is_same(printed, output):
                printed = output  # with the ids and scores that the page has
            text += f"$ {command}\n" + (f"{printed}\n" if printed and (output or show_all) else "")
        return f"{block[1]}console\n{text}{block[1]}"

    page.write_text(_BLOCK.sub(play, page.read_text()))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        if name != "--all":
            with tempfile.TemporaryDirectory() as home:
                refresh(Path(name), Path(home), show_all="--all" in sys.argv)
