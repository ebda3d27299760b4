"""What clients run when a session starts and ends: hook. Whatever happens, it ends soon and with status 0.

A client waits for its hooks, and some take a failing one as a reason to stop. What went wrong is said on standard
error.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import Any

import click

from ...errors import InvalidArgument
from ...home import Home
from ...storage.backends import in_database
from .common import agent_name, find_home, options, refuse_file, shared, warn

BUDGET = 1500  # tokens: clients cut what a hook says at 10,000 characters
_PATIENCE = 2.0  # seconds to wait for what the client has to say
_LONGEST = 8.0  # seconds, then it leaves: clients wait for ten
_MOST = 1_000_000  # bytes of what the client has to say
_NO_EVENT = "what the client said on standard input is not a JSON object of 1 MB at the most: nothing was done"


@click.command("hook", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("moment", metavar="session-start|session-end")
@click.option("--client", default="", metavar="NAME", help="Whose hook it is: the answer takes the form it wants.")
@click.option("--budget", default=str(BUDGET), show_default=True, metavar="N", help="Tokens at the most.")
@shared
def hook_command(moment: str, client: str, budget: str) -> None:
    """For clients: print what a session should start with, or keep what was said in it.

    The client says on standard input which session it is. `commonplace install` sets this up.
    """
    guard = threading.Timer(_LONGEST, _give_up)
    guard.daemon = True
    guard.start()
    try:
        _run(moment, client, budget)
    except Exception as error:  # noqa: BLE001  nothing that goes wrong here is worth a client's session
        warn(f"commonplace hook {moment}: {error}")
    finally:
        guard.cancel()


def _run(moment: str, client: str, budget: str) -> None:
    event = _event()
    if moment == "session-start":
        _start(event, client, int(budget) if budget.isdigit() else BUDGET)
    elif moment == "session-end":
        _keep(event, client)
    else:
        warn(f"commonplace hook {moment}: there are session-start and session-end")


def _start(event: dict[str, Any], client: str, budget: int) -> None:
    from ...context import assemble

    home = _home(event)
    if home.storage.folder and not os.path.isdir(home.root):
        warn(f"there is no memory at {home.root} yet: run `commonplace init`, or remember something")
        return
    home.welcome()
    made = assemble(home, budget=budget)
    for warning in made.receipt["warnings"]:
        warn(warning)
    if made.text:
        sys.stdout.write(shown(made.text, client))


def shown(text: str, client: str) -> str:
    """The context as a client wants to be told."""
    import json

    if client in ("claude-code", "codex", "gemini-cli"):
        told: Any = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}
    elif client == "cursor":
        told = {"additional_context": text}
    else:
        return text
    return json.dumps(told) + "\n"


def _keep(event: dict[str, Any], client: str) -> None:
    from ..install.capture import keep_session

    keep_session(_home(event), event, client)


def _home(event: dict[str, Any]) -> Home:
    """The home that is meant: as always, but looked for from where the client says it works."""
    roots = event.get("workspace_roots")
    start = event.get("cwd") or (roots[0] if isinstance(roots, list) and roots else "")
    named = options().get("home") or find_home(start if isinstance(start, str) and start else _here(), os.environ)
    named = os.path.expanduser(named)
    if in_database(named):
        refuse_file(named)
    return Home(named, agent_name())


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise InvalidArgument("the folder it was started in is gone: name the memory with --home") from error


def _event() -> dict[str, Any]:
    """What the client says; nothing where it says nothing that can be understood."""
    import json

    said = _said()
    if not said.strip():
        return {}
    try:
        found = json.loads(said)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(_NO_EVENT) from error
    if not isinstance(found, dict):
        raise InvalidArgument(_NO_EVENT)
    return found


def _said() -> bytes:
    """Standard input to its end, or as much as came in a while: nobody says that it ends."""
    if sys.stdin.isatty():
        return b""
    parts: list[bytes] = []

    def read() -> None:
        with suppress(OSError):  # nobody may have opened it
            while sum(map(len, parts)) < _MOST and (part := os.read(0, 1 << 16)):
                parts.append(part)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(_PATIENCE)
    return b"".join(parts)


def _give_up() -> None:
    """Leave, in the middle of whatever it is: a write that is not done never happened."""
    with suppress(OSError):
        os.write(2, b"commonplace hook: it took too long and was left\n")
    os._exit(0)
