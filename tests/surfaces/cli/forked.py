"""Commands in processes forked off one that has imported them already: real processes at a tenth of the cost."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir, suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import IO, Any, Self

from commonplace.surfaces.cli import COMMANDS

from ...waiting import LONG_SECONDS

PRELOADED = [
    *(f"commonplace.surfaces.cli.{module}" for module in sorted({module for module, _ in COMMANDS.values()})),
    "commonplace.importers",
    "commonplace.maintenance.doctor",
    "commonplace.memory",
    "commonplace.tools.journal",
    "commonplace.tools.notes",
    "commonplace.tools.registry",
    "commonplace.tools.retrieval",
    "commonplace.tools.working",
    "commonplace.embedding.static",
    "commonplace.index.sqlite",
    "commonplace.index.sync",
    "commonplace.search.pipeline",
    "commonplace.surfaces.application",
    "commonplace.context",
    "numpy",
    "yaml",
    "rich.console",
    "tests.postgres.writer",
    "tests.programs",
    "tests.surfaces.cli.warm",
]
ROOT = Path(__file__).parents[3]
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(PRELOADED)


def start_process(target: Callable[..., None], *arguments: Any) -> ForkServerProcess:
    """Start a process that calls a function. What it is forked off starts in the root: tests are imported from there."""
    with chdir(ROOT):
        forkserver.ensure_running()
    process = processes.Process(target=target, args=arguments)
    process.start()
    return process


def run_command(
    arguments: tuple[str, ...], folder: Path, environment: Mapping[str, str], stdin: str | None
) -> subprocess.CompletedProcess[str]:
    """Run `commonplace` with these arguments, and return what it printed and its exit status."""
    with tempfile.TemporaryDirectory() as place:
        streams = [Path(place, name) for name in ("stdin", "stdout", "stderr")]
        if stdin is not None:
            streams[0].write_text(stdin, encoding="utf-8")
        files = [os.devnull if stdin is None else str(streams[0]), str(streams[1]), str(streams[2])]
        status = run_with_streams(arguments, folder, environment, files)
        printed = [path.read_bytes().decode("utf-8") if path.exists() else "" for path in streams[1:]]
        return subprocess.CompletedProcess(arguments, status, *printed)


def run_with_streams(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], files: Sequence[str]
) -> int:
    """Run `commonplace` with these files as its three streams, and return its exit status."""
    process = start_process(_main, tuple(arguments), str(folder), dict(environment), [*files])
    process.join(LONG_SECONDS)
    if process.exitcode is None:
        process.kill()
        raise subprocess.TimeoutExpired([*arguments], LONG_SECONDS)
    return process.exitcode


class ForkedProcess:
    """A process that was forked off. It is used as `subprocess.Popen` is, and closes its streams in the end."""

    def __init__(self, arguments: Sequence[str], process: ForkServerProcess, *streams: IO[str]) -> None:
        self.arguments = [*arguments]
        self._process = process
        self._streams = streams

    @property
    def pid(self) -> int:
        assert self._process.pid
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def wait(self, timeout: float = LONG_SECONDS) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self.arguments, timeout)
        return self._process.exitcode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in self._streams:
            stream.close()
        self.wait()


def open_pipe(connection: Connection, mode: str = "r") -> IO[str]:
    """Return a stream on our end of a pipe."""
    stream: IO[str] = open(os.dup(connection.fileno()), mode, encoding="utf-8")  # noqa: SIM115
    connection.close()
    return stream


class RunningCommand(ForkedProcess):
    """A command that goes on, such as a server; only its errors can be read."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        receiver, sender = processes.Pipe(duplex=False)
        files = [os.devnull, os.devnull]
        process = start_process(_main, tuple(arguments), os.getcwd(), dict(environment), files, sender)
        sender.close()
        self.stderr = open_pipe(receiver)
        super().__init__(arguments, process, self.stderr)


def _main(
    arguments: tuple[str, ...],
    folder: str,
    environment: dict[str, str],
    files: list[str],
    errors: Connection | None = None,
) -> None:
    if errors:
        os.dup2(errors.fileno(), 2)
        errors.close()
    for number, path in enumerate(files):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND if number else os.O_RDONLY
        descriptor = os.open(path, flags, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["commonplace", *arguments]
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    from commonplace.surfaces.cli import main

    main()
