"""Runs the program as people do: with its arguments, its streams, its exit status, and on a real terminal."""

from __future__ import annotations

import gc
import json
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

import pytest

from commonplace.surfaces.cli import main

from .forked import run_command, run_with_streams


class Shell:
    """Runs commands in a folder of its own, with nothing of the caller's environment that matters.

    Commands run in the process of the test. `hook`, which ends its process when it takes too long, has one of its own.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        values = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE")}
        self.environment = {**values, "HOME": str(folder / "user"), "LC_ALL": "C"}

    def run(self, *arguments: str, stdin: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        run = run_command if "hook" in arguments else run_here
        return run(arguments, self.folder, {**self.environment, **environment}, stdin)

    def ok(self, *arguments: str, stdin: str | None = None, **environment: str) -> str:
        done = self.run(*arguments, stdin=stdin, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.ok(*arguments))


def run_here(
    arguments: tuple[str, ...], folder: Path, environment: Mapping[str, str], stdin: str | None
) -> subprocess.CompletedProcess[str]:
    """Run `commonplace` with these arguments in this process, and return what it printed and its exit status."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write((stdin or "").encode())
        files[0].seek(0)
        for name, file in zip(("stdin", "stdout", "stderr"), files, strict=True):
            mode = "r" if name == "stdin" else "w"
            stream = stack.enter_context(open(file.fileno(), mode, encoding="utf-8", closefd=False))
            patch.setattr(sys, name, stream)
        patch.chdir(folder)
        for name in {*os.environ} - {*environment}:
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["commonplace", *arguments])
        patch.setattr(gc, "freeze", _freeze_nothing)  # this process goes on
        status = _run_main()
        sys.stdout.flush()
        sys.stderr.flush()
        printed = [_read_whole(file) for file in files[1:]]
    return subprocess.CompletedProcess(arguments, status, *printed)


def _freeze_nothing() -> None:
    """Leave to the garbage collector what a command leaves behind."""


def _run_main() -> int:
    """Run the program and return its exit status. What it sets for a process that soon ends is set back."""
    threshold = gc.get_threshold()
    try:
        main()
    except SystemExit as outcome:
        return outcome.code if isinstance(outcome.code, int) else int(bool(outcome.code))
    finally:
        gc.set_threshold(*threshold)
    return 0


def _read_whole(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def on_a_terminal(shell: Shell, command: str, **more: str) -> str:
    environment = {**shell.environment, "TERM": "xterm", "COLUMNS": "200", **more}
    return run_on_terminal(command.split(), shell.folder, environment)[0]


def run_on_terminal(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> tuple[str, int]:
    """Run `commonplace` in a process and on a terminal of its own; return what is shown there, and its exit status."""
    main, other = pty.openpty()
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(read_terminal, main)
        try:
            status = run_with_streams(arguments, folder, environment, [os.ttyname(other)] * 3)
        finally:
            os.close(other)
        text = future.result()
    os.close(main)
    return text, status


def read_terminal(handle: int) -> str:
    """Return what is shown on a terminal until nobody has it open any more."""
    data = b""
    with suppress(OSError):  # the other side is closed
        while chunk := os.read(handle, 65536):
            data += chunk
    return data.decode()
