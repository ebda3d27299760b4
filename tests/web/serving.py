"""A real `commonplace serve` in a process of its own, and a browser that is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")


def browser() -> str | None:
    """The path of a Chromium; None where none is installed."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


@contextmanager
def served(home: Path, *flags: str, state: Path | None = None) -> Iterator[str]:
    """The address of a server over a home, for as long as it is needed. `state`: where it may keep the first token."""
    command = [sys.executable, "-m", "commonplace", "--home", str(home), "serve", "--port", "0", *flags]
    env = {**os.environ, "XDG_STATE_HOME": str(state or home.parent / "state")}
    env = {name: value for name, value in env.items() if not name.startswith("COMMONPLACE_")}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stderr
            yield _address(process.stderr)
        finally:
            process.terminate()
            process.wait(timeout=15)


def _address(said: IO[str]) -> str:
    for line in said:
        if found := re.search(r"http://127\.0\.0\.1:\d+(?=/)", line):
            return found[0]
    raise AssertionError("the server ended before it said where it is")
