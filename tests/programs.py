"""Programs of the tests in processes forked off one that has imported what they need: real processes at a low cost.

What is about the start of a process, its modules or its memory still takes `subprocess`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from multiprocessing.connection import Connection
from typing import Any

from .surfaces.cli.forked import ForkedProcess, open_pipe, processes, start_process
from .waiting import LONG_SECONDS


class Program(ForkedProcess):
    """Python code that runs with arguments in a process of its own."""

    def __init__(self, code: str, *arguments: str) -> None:
        pipes = [processes.Pipe(duplex=False) for _ in range(3)]
        theirs = [pipe[bool(number)] for number, pipe in enumerate(pipes)]
        ours = [pipe[not number] for number, pipe in enumerate(pipes)]
        process = start_process(_run, code, [*arguments], os.getcwd(), dict(os.environ), theirs)
        for connection in theirs:
            connection.close()
        self.stdin, self.stdout, self.stderr = (
            open_pipe(connection, "r" if number else "w") for number, connection in enumerate(ours)
        )
        super().__init__(arguments, process, self.stdin, self.stdout, self.stderr)

    def communicate(self, text: str = "", timeout: float = LONG_SECONDS) -> tuple[str, str]:
        """Write to the program, and return what it printed, and what it printed as errors, until its end."""
        with self:
            self.stdin.write(text)
            self.stdin.close()
            output = self.stdout.read(), self.stderr.read()
            self.wait(timeout)
        return output


def run_program(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    program = Program(code, *arguments)
    outputs = program.communicate()
    return subprocess.CompletedProcess(program.arguments, program.wait(), *outputs)


def _run(code: str, arguments: list[str], folder: str, environment: dict[str, str], streams: list[Connection]) -> None:
    for number, connection in enumerate(streams):
        os.dup2(connection.fileno(), number)
        connection.close()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c", *arguments]
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, "<program>", "exec"), names)
