"""A real `commonplace serve` in a process of its own, and a browser that is installed."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

from ..surfaces.cli.forked import RunningCommand
from ..waiting import LONG_SECONDS

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")


def browser() -> str | None:
    """The path of a Chromium; None where none is installed."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@contextmanager
def serve(home: Path, *flags: str, command: str = "serve", opener: str = "") -> Iterator[str]:
    """The address of a server over a home, for as long as it is needed. `opener`: what `web` opens pages with."""
    arguments = ["--home", str(home), command, "--port", "0", *flags]
    env = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE_")}
    env |= {"XDG_STATE_HOME": str(home.parent / "state")} | ({"BROWSER": opener} if opener else {})
    with RunningCommand(arguments, env) as process:
        try:
            yield _address(process.stderr)
        finally:
            process.send_signal(signal.SIGTERM)


def make_opener(folder: Path) -> Path:
    """A browser that only says what it was asked to open."""
    os.mkfifo(folder / "opened")
    script = folder / "opener.sh"
    script.write_text(f'#!/bin/sh\nprintf %s "$1" > {folder}/opened\n')
    script.chmod(0o700)
    return script


def read_opened(opener: Path) -> str:
    """The address that the opened file leads to."""
    pipe = os.open(opener.parent / "opened", os.O_RDONLY | os.O_NONBLOCK)
    try:
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        assert poll.poll(LONG_SECONDS * 1000), "nothing was opened"
        page = os.read(pipe, 4096).decode()
    finally:
        os.close(pipe)
    assert "code" not in page, "what is opened stands in the list of processes"
    text = Path(unquote(urlsplit(page).path)).read_text()
    return re.search(r'url=(\S+)"', text)[1]  # type: ignore[index]


def _address(said: IO[str]) -> str:
    for line in said:
        if match := re.search(r"http://127\.0\.0\.1:\d+(?=/)", line):
            return match[0]
    raise AssertionError("the server ended before it said where it is")
