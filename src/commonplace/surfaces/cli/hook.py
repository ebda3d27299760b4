"""The hook command, which clients run when a session starts and ends. It always ends soon and with status 0.

A client waits for its hooks, and some stop if one fails. Problems are reported on standard error.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from typing import Any

import click

from ...errors import InvalidArgument
from ...home import Home
from .common import (
    agent_name,
    find_home,
    get_options,
    global_options,
    home_exists,
    is_found,
    warn,
    warn_untrusted,
)

DEFAULT_BUDGET_TOKENS = 1500  # clients cut the output of a hook at 10,000 characters
_INPUT_TIMEOUT_SECONDS = 2.0
_HOOK_TIMEOUT_SECONDS = 8.0  # clients wait for ten
_MAX_INPUT_BYTES = 1_000_000
_INVALID_EVENT = "standard input is not a JSON object of 1 MB at most: nothing was done"


@click.command("hook", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("moment", metavar="session-start|session-end")
@click.option("--client", default="", metavar="NAME", help="The client that runs the hook: it decides the output form.")
@click.option(
    "--budget", default=str(DEFAULT_BUDGET_TOKENS), show_default=True, metavar="N", help="How many tokens at most."
)
@global_options
def hook_command(moment: str, client: str, budget: str) -> None:
    """For clients: print what a session should start with, or store its transcript.

    The client names the session on standard input. `commonplace install` sets this up.
    """
    watchdog = threading.Timer(_HOOK_TIMEOUT_SECONDS, _exit_now)
    watchdog.daemon = True
    watchdog.start()
    try:
        _run(moment, client, budget)
    except Exception as error:  # noqa: BLE001  no failure here is worth a client's session
        warn(f"commonplace hook {moment}: {error}")
    finally:
        watchdog.cancel()


def _run(moment: str, client: str, budget: str) -> None:
    event = _read_event()
    if moment == "session-start":
        _start_session(event, client, int(budget) if budget.isdigit() else DEFAULT_BUDGET_TOKENS)
    elif moment == "session-end":
        from ..install.capture import store_session

        store_session(_open_home(event), event, client)
    else:
        warn(f"commonplace hook {moment}: there are session-start and session-end")


def _start_session(event: dict[str, Any], client: str, budget: int) -> None:
    from ...context import assemble

    home = _open_home(event)
    if not home_exists(home.root):
        warn(f"there is no memory at {home.root} yet: run `commonplace init`, or remember something")
        return
    home.write_default_directive()
    context = assemble(home, budget=budget)
    for warning in context.receipt["warnings"]:
        warn(warning)
    if context.text:
        sys.stdout.write(format_context(context.text, client))


def format_context(text: str, client: str) -> str:
    """Return the context in the form that a client expects from its hook."""
    if client in ("claude-code", "codex", "gemini-cli"):
        output: Any = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}
    elif client == "cursor":
        output = {"additional_context": text}
    else:
        return text
    return json.dumps(output) + "\n"


def _open_home(event: dict[str, Any]) -> Home:
    """Open the home, searched for from the folder in which the client works."""
    roots = event.get("workspace_roots")
    start = event.get("cwd") or (roots[0] if isinstance(roots, list) and roots else "")
    if not isinstance(start, str) or not start:
        start = _current_folder()
    named = get_options().get("home") or os.environ.get("COMMONPLACE_HOME")
    path = os.path.expanduser(named or find_home(start, os.environ))
    home = Home(path, agent_name(), is_found=not named and is_found(path))
    warn_untrusted(home)
    return home


def _current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise InvalidArgument("the folder it was started in is gone: name the memory with --home") from error


def _read_event() -> dict[str, Any]:
    """Return the JSON object on standard input; empty if there is no input."""
    data = _read_input()
    if not data.strip():
        return {}
    try:
        event = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(_INVALID_EVENT) from error
    if not isinstance(event, dict):
        raise InvalidArgument(_INVALID_EVENT)
    return event


def _read_input() -> bytes:
    """Read standard input to its end, or what arrives before the timeout: some clients never close it."""
    if sys.stdin.isatty():
        return b""
    parts: list[bytes] = []

    def read() -> None:
        with suppress(OSError):  # it may be closed
            while sum(map(len, parts)) < _MAX_INPUT_BYTES and (part := os.read(0, 1 << 16)):
                parts.append(part)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(_INPUT_TIMEOUT_SECONDS)
    return b"".join(parts)


def _exit_now() -> None:
    """Exit at once. Writes are atomic, so an unfinished one leaves no trace."""
    with suppress(OSError):
        os.write(2, b"commonplace hook: it took too long and was left\n")
    os._exit(0)
