"""Opens the web page in the user's browser, signed in by a one-time code.

Everybody on a machine can read the arguments of every process. The browser is therefore given a file that only its
user can read, and the code is in there. The file is removed once the code is of no use any more.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from threading import Thread, Timer

import click

from ..http.auth import CODE_LIFETIME_SECONDS, SignInKeys

_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>commonplace</title>
<p><a href="{address}">Open your memory</a>
"""


@contextmanager
def open_browser(url: str, keys: SignInKeys) -> Iterator[None]:
    """Open the page of a server at a URL, for as long as the server runs within this block."""
    folder = tempfile.mkdtemp(prefix="commonplace-")  # of mode 0700

    def remove_page() -> None:
        shutil.rmtree(folder, ignore_errors=True)

    keys.on_exchange = remove_page
    expiry = Timer(CODE_LIFETIME_SECONDS, remove_page)
    expiry.daemon = True
    expiry.start()
    _run_before_signals_end(remove_page)
    try:
        page = _write_page(folder, f"{url}/#code={keys.create_code()}")
        Thread(target=_show_page, args=(url, page), daemon=True).start()
        yield
    finally:
        expiry.cancel()
        remove_page()


def _run_before_signals_end(run: Callable[[], None]) -> None:
    """Call a function before a signal ends this process: that runs no `finally`."""

    def end(number: int, _frame: object) -> None:
        run()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end)


def _write_page(folder: str, address: str) -> Path:
    """Write a page that leads to an address, for this user alone, and return its path."""
    path = os.path.join(folder, "open.html")
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(_PAGE.format(address=escape(address)))
    return Path(path)


def _show_page(url: str, page: Path) -> None:
    if not webbrowser.open(page.as_uri()):
        click.echo(f"no browser could be opened: open {url}/ and give the token", err=True)
