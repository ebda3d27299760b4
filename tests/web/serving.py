"""A real `commonplace serve` in a process of its own, and a browser that is installed."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..surfaces.cli.forked import RunningCommand

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")


def browser() -> str | None:
    """The path of a Chromium; None where none is installed."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


@contextmanager
def served(home: Path, *flags: str, command: str = "serve", opener: str = "") -> Iterator[str]:
    """The address of a server over a home, for as long as it is needed. `opener`: what `web` opens pages with."""
    arguments = ["--home", str(home), command, "--port", "0", *flags]
    env = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE_")}
    env |= {"XDG_STATE_HOME": str(home.parent / "state")} | ({"BROWSER": opener} if opener else {})
    with RunningCommand(arguments, env) as process:
        try:
            yield _address(process.stderr)
        finally:
            process.send_signal(signal.SIGTERM)


def _address(said: IO[str]) -> str:
    for line in said:
        if found := re.search(r"http://127\.0\.0\.1:\d+(?=/)", line):
            return found[0]
    raise AssertionError("the server ended before it said where it is")
