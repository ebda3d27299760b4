"""Commands in processes forked off one that has imported them already: real processes at a tenth of the cost."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from commonplace.surfaces.cli import COMMANDS

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
    "commonplace.context",
    "numpy",
    "yaml",
    "rich.console",
]
TIMEOUT_SECONDS = 300
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(PRELOADED)


def run_command(
    arguments: tuple[str, ...], folder: Path, environment: Mapping[str, str], stdin: str | None
) -> subprocess.CompletedProcess[str]:
    """Run `commonplace` with these arguments, and return what it printed and its exit status."""
    with tempfile.TemporaryDirectory() as place:
        streams = [Path(place, name) for name in ("stdin", "stdout", "stderr")]
        if stdin is not None:
            streams[0].write_text(stdin, encoding="utf-8")
        files = [os.devnull if stdin is None else str(streams[0]), str(streams[1]), str(streams[2])]
        process = _processes.Process(target=_main, args=(arguments, str(folder), dict(environment), files))
        process.start()
        process.join(TIMEOUT_SECONDS)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired([*arguments], TIMEOUT_SECONDS)
        printed = [path.read_bytes().decode("utf-8") if path.exists() else "" for path in streams[1:]]
        return subprocess.CompletedProcess(arguments, process.exitcode, *printed)


def _main(arguments: tuple[str, ...], folder: str, environment: dict[str, str], files: list[str]) -> None:
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
