"""Runs the program as people do: another process, real pipes, real exit codes, a real terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

from .forked import run_command


class Shell:
    """Runs commands in a folder of its own, with nothing of the caller's environment that matters."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE")}
        self.environment = {**kept, "HOME": str(folder / "user"), "LC_ALL": "C"}

    def run(self, *arguments: str, stdin: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        return run_command(arguments, self.folder, {**self.environment, **environment}, stdin)

    def ok(self, *arguments: str, stdin: str | None = None, **environment: str) -> str:
        done = self.run(*arguments, stdin=stdin, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.ok(*arguments))


def on_a_terminal(shell: Shell, command: str, **more: str) -> str:
    main, other = pty.openpty()
    argv = [sys.executable, "-m", "commonplace", *command.split()]
    environment = {**shell.environment, "TERM": "xterm", "COLUMNS": "200", **more}
    with subprocess.Popen(argv, cwd=shell.folder, env=environment, stdin=other, stdout=other, stderr=other) as process:
        os.close(other)
        shown = b""
        while chunk := _read(main):
            shown += chunk
        process.wait()
    os.close(main)
    return shown.decode()


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 65536)
    except OSError:  # the other side is closed
        return b""
