"""The hook command, which clients run around a session and before each prompt. It always ends soon, with status 0.

A client waits for its hooks, and some stop if one fails. Problems are reported on standard error. What a session was
given is remembered by its name (`index/recalls.py`), so that no prompt repeats it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from ...errors import InvalidArgument
from ...formats.timestamps import format_timestamp
from ...home import Home
from ...new_home import write_default_directive
from ...settings import FILE as SETTINGS_FILE
from ...toolsets import EVERYDAY_NAME
from .common import (
    agent_name,
    escape_for,
    find_home,
    get_options,
    global_options,
    home_exists,
    is_found,
    keep_readings,
    named_home,
    parse_toolsets,
    starting_folder,
    warn,
    warn_untrusted,
)

if TYPE_CHECKING:
    from ...index.recalls import Conversation

DEFAULT_BUDGET_TOKENS = 1500  # clients cut the output of a hook at 10,000 characters
PROMPT_BUDGET_TOKENS = 300
_INPUT_TIMEOUT_SECONDS = 2.0
MAX_HOOK_SECONDS = 8.0  # clients wait for ten
_PROMPT_TIMEOUT_SECONDS = 4.0  # somebody waits for the answer
_CATCH_UP_SECONDS = 3.0  # catching up may take; the rest is left to a search and to later hooks
_PROMPT_CATCH_UP_SECONDS = 1.5
_MAX_INPUT_BYTES = 1_000_000
_COMPACTION_EVENTS = ("PreCompact", "PreCompress", "preCompact")  # the names clients use
_INVALID_EVENT = "standard input is not a JSON object of 1 MB at most: nothing was done"


@click.command("hook", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("moment", metavar="session-start|prompt|pre-compact|session-end")
@click.option("--client", default="", metavar="NAME", help="The client that runs the hook: it decides the output form.")
@click.option(
    "--budget",
    default="",
    metavar="N",
    help=f"How many tokens at most: {DEFAULT_BUDGET_TOKENS} for a session, {PROMPT_BUDGET_TOKENS} for a prompt.",
)
@click.option("--tools", default=EVERYDAY_NAME, show_default=True, help="The client's toolsets, in order.")
@global_options
def hook_command(moment: str, client: str, budget: str, tools: str) -> None:
    """For clients: print what a session should start with or what a prompt needs, or store the transcript.

    The client names the session on standard input. `commonplace install` sets this up.
    """
    watchdog = threading.Timer(_PROMPT_TIMEOUT_SECONDS if moment == "prompt" else MAX_HOOK_SECONDS, _exit_now)
    watchdog.daemon = True
    watchdog.start()
    try:
        get_options()["tools"] = parse_toolsets(tools)
        _run(moment, client, int(budget) if budget.isdigit() else None)
    except Exception as error:  # noqa: BLE001  no failure here is worth a client's session
        warn(f"commonplace hook {moment}: {error}")
    finally:
        watchdog.cancel()


def _run(moment: str, client: str, budget: int | None) -> None:
    event = _read_event()
    if moment == "session-end" and event.get("hook_event_name") in _COMPACTION_EVENTS:
        moment = "pre-compact"
    if moment == "session-start":
        _start_session(event, client, DEFAULT_BUDGET_TOKENS if budget is None else budget)
    elif moment == "prompt":
        _recall_for_prompt(event, client, PROMPT_BUDGET_TOKENS if budget is None else budget)
    elif moment == "pre-compact":
        _prepare_compaction(event, client)
    elif moment == "session-end":
        _store_session(_open_home(event), event, client)
    else:
        warn(f"commonplace hook {moment}: there are session-start, prompt, pre-compact and session-end")


def _start_session(event: dict[str, Any], client: str, budget: int) -> None:
    """Print the context. After a compaction or a fresh start, nothing counts as given before."""
    home = _open_home(event)
    if not home_exists(home.root):
        warn(f"there is no memory at {home.root} yet: run `commonplace init`, or remember something")
        return
    write_default_directive(home)
    conversation = _open_conversation(home, event)
    if event.get("source") in ("clear", "compact"):
        now = format_timestamp(home.clock())
        conversation.restart(conversation.compacted_at or now if event["source"] == "compact" else "")
    from ...index.base import limit_catch_up

    with limit_catch_up(_CATCH_UP_SECONDS):
        text = _give_context(home, conversation, budget, event)
    _print(text, client, "session-start")


def _recall_for_prompt(event: dict[str, Any], client: str, budget: int) -> None:
    """Print what memory knows about a prompt, preceded by the context if a compaction dropped it."""
    from ...server.prompt_socket import ask_running

    prompt = event.get("prompt")
    home = _open_home(event, may_warn=False)
    if not isinstance(prompt, str) or not prompt.strip() or not home_exists(home.root):
        return
    conversation = _open_conversation(home, event)
    session = _session_name(event)
    request = {"agent": home.agent, "session": session, "prompt": prompt, "budget": budget}
    may_ask = session and not conversation.needs_context
    answer = ask_running(home.storage.cache_folder, request) if may_ask else None
    if answer is None:
        answer = _recall_here(home, prompt, budget, conversation, event)
    for warning in answer["warnings"]:
        warn(warning)
    _print(answer["text"], client, "prompt")


def _recall_here(
    home: Home, prompt: str, budget: int, conversation: Conversation, event: dict[str, Any]
) -> dict[str, Any]:
    """Recall in this process: no other has the memory open, or the context must be restored first."""
    from ...context.prompt_recall import recall_for
    from ...index.base import limit_catch_up

    with limit_catch_up(_PROMPT_CATCH_UP_SECONDS):
        texts = [_give_context(home, conversation, DEFAULT_BUDGET_TOKENS, event)] if conversation.needs_context else []
        recall = recall_for(home, prompt, budget, conversation, session=_session_name(event))
    return {"text": "\n".join(filter(None, [*texts, recall.text])), "warnings": recall.receipt["warnings"]}


def _prepare_compaction(event: dict[str, Any], client: str) -> None:
    """Store the transcript before the client replaces it by a summary, which drops what was given."""
    home = _open_home(event)
    if home_exists(home.root):
        conversation = _open_conversation(home, event)
        conversation.restart(format_timestamp(home.clock()))
        conversation.save()
    _store_session(home, event, client)


def _store_session(home: Home, event: dict[str, Any], client: str) -> None:
    """Store the transcript. In a memory without settings, the first one turns on search in sessions."""
    from ..install.capture import store_session

    if store_session(home, event, client) and not home.storage.exists(SETTINGS_FILE):
        from ..install.capture import index_sessions

        index_sessions(home, only_if_new=True)


def _give_context(home: Home, conversation: Conversation, budget: int, event: dict[str, Any]) -> str:
    from ...context.assembly import assemble, note_context

    context = assemble(home, budget=budget, session=_session_name(event))
    note_context(home, context)
    for warning in context.receipt["warnings"]:
        warn(warning)
    conversation.give(context.text)
    return context.text


def _open_conversation(home: Home, event: dict[str, Any]) -> Conversation:
    session = _session_name(event)
    keep_readings(home, session)
    return home.open_conversation(session)


def _session_name(event: dict[str, Any]) -> str:
    name = event.get("session_id") or event.get("conversation_id")
    return name if isinstance(name, str) else ""


def _print(text: str, client: str, hook: str) -> None:
    if text:
        output = format_context(text, client, hook)
        sys.stdout.write(escape_for(sys.stdout, output) if sys.stdout.isatty() else output)


def format_context(text: str, client: str, hook: str) -> str:
    """Return the context in the form that a client expects from its hook."""
    from ..install.clients import CLIENTS

    hooks = CLIENTS[client].hooks if client in CLIENTS else None
    if not hooks:
        return text
    if client == "cursor":
        allowed = {"continue": True} if hook == "prompt" else {}
        return json.dumps({**allowed, "additional_context": text}) + "\n"
    inner = {"hookEventName": hooks.event_of(hook), "additionalContext": text}
    return json.dumps({"hookSpecificOutput": inner}) + "\n"


def _open_home(event: dict[str, Any], *, may_warn: bool = True) -> Home:
    """Open the home, looked for from the client's working directory."""
    roots = event.get("workspace_roots")
    start = event.get("cwd") or (roots[0] if isinstance(roots, list) and roots else "")
    if get_options().get("project") or not isinstance(start, str) or not start:
        start = starting_folder()
    explicit = named_home()
    path = os.path.expanduser(explicit or find_home(start))
    toolsets = get_options()["tools"]
    home = Home(path, agent_name(), is_found=not explicit and is_found(path), toolsets=toolsets)
    if may_warn:
        warn_untrusted(home)
    return home


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
