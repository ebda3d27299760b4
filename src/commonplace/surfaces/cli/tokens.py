"""The `token` commands: create, list and revoke tokens for HTTP, show the audit log; and the token of a first start."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

from ...errors import StorageError
from ...formats.timestamps import format_timestamp
from ...home import utc_now
from ...storage.backends import open_tokens
from ...storage.base import TokenStore
from ...storage.layout import stem
from ...storage.names import file_name
from ...storage.tokens import ROLES, Role, Token, create_token, hash_secret
from .common import (
    global_options,
    home_exists,
    home_path,
    print_reply,
    print_table,
    print_text,
    require_usable_home,
)

_ALL_CALLS = 1_000_000  # more than the audit log ever has
_FIRST_START_NOTE = "first start"


@click.group("token")
def token_command() -> None:
    """Manage the tokens that let programs and people into this memory over HTTP. Once one exists, all need one."""


@token_command.command("create")
@click.option("--for", "agents", multiple=True, metavar="AGENT", help="An agent it may act for; repeatable.")
@click.option("--all-agents", is_flag=True, help="It may act for every agent.")
@click.option("--role", type=click.Choice(ROLES), default="read", show_default=True, help="What it may do.")
@click.option("--days", default=90, show_default=True, type=int, help="Valid for so many days; 0: until revoked.")
@click.option("--note", default="", metavar="TEXT", help="Whose it is, or what it is for.")
@global_options
def create_command(agents: tuple[str, ...], all_agents: bool, role: Role, days: int, note: str) -> None:
    """Create a token and show it, this once: only its hash is stored."""
    if bool(agents) == all_agents:
        raise click.UsageError("say for which agents it is: --for NAME (repeatable), or --all-agents")
    with _open_access() as access:
        token, secret = create_token(
            access, utc_now(), agents=None if all_agents else agents, role=role, days=days, note=note
        )

    def print_token() -> None:
        print_text(secret)
        hint = "It is shown this once; send it as Authorization: Bearer."
        click.echo(f"{token.id}: {_describe(token)}. {hint}", err=True)

    print_reply({"token": secret, **_as_json(token)}, print_token)


@token_command.command("list")
@global_options
def list_command() -> None:
    """List the tokens, including expired and revoked ones."""
    with _open_access() as access:
        tokens = access.list_tokens()
    rows = [[token.id, token.state(utc_now()), _describe(token), token.created_at[:10], token.note] for token in tokens]
    headers = ["token", "state", "allows", "made", "note"]
    reply = {"tokens": [_as_json(token) for token in tokens]}
    print_reply(reply, partial(print_table, headers, rows) if rows else "No tokens.")


@token_command.command("revoke")
@click.argument("names", nargs=-1, required=True, metavar="TOKEN...")
@global_options
def revoke_command(names: tuple[str, ...]) -> None:
    """Revoke tokens of `commonplace token list`, from the next request on."""
    with _open_access() as access:
        revoked = [access.revoke(name, format_timestamp(utc_now())) for name in names]
    print_reply({"revoked": [token.id for token in revoked]}, f"Revoked {', '.join(names)}.")


@token_command.command("audit")
@click.option("-n", "--limit", default=20, show_default=True, help="How many of the latest.")
@click.option("--token", "name", metavar="TOKEN", help="Only calls with this token.")
@global_options
def audit_command(limit: int, name: str | None) -> None:
    """Show who called what, and with which outcome. The latest come last."""
    with _open_access() as access:
        calls = [call for call in access.recent_calls(_ALL_CALLS if name else limit) if name in (None, call.token)]
    calls = calls[-max(1, limit) :]
    rows = [
        [call.at[:19], call.token, call.agent, call.tool, call.outcome, call.session, call.remote] for call in calls
    ]
    headers = ["when", "token", "agent", "tool", "outcome", "session", "from"]
    reply = {"calls": [call._asdict() for call in calls]}
    print_reply(reply, partial(print_table, headers, rows) if rows else "No calls.")


@contextmanager
def _open_access() -> Iterator[TokenStore]:
    home = home_path()
    require_usable_home(home)
    access = open_tokens(home)
    try:
        yield access
    finally:
        access.close()


def _describe(token: Token) -> str:
    agents = "all agents" if token.agents is None else ", ".join(token.agents)
    until = f"until {token.expires_at[:10]}" if token.expires_at else "until it is revoked"
    return f"{token.role}, for {agents}, {until}"


def _as_json(token: Token) -> dict[str, Any]:
    """Return the token without its hash, and with its state."""
    fields = {name: value for name, value in token._asdict().items() if name != "digest"}
    return fields | {"state": token.state(utc_now())}


def first_token_file(home: str, environment: Mapping[str, str] = os.environ) -> str:
    """Create a token if the memory has none, and return the private file it is in; empty if others made the tokens."""
    file = _first_token_path(home, environment)
    access = open_tokens(home)
    try:
        if tokens := access.list_tokens():
            return file if any(token.note == _FIRST_START_NOTE for token in tokens) and os.path.exists(file) else ""
        if not home_exists(home):
            os.makedirs(home, exist_ok=True)
        _, secret = create_token(access, utc_now(), agents=None, role="admin", note=_FIRST_START_NOTE)
    finally:
        access.close()
    try:
        _write_private(file, secret)
    except OSError as error:
        raise StorageError(
            f"the token cannot be stored in {file} ({error.strerror}): set XDG_STATE_HOME to another folder, "
            "or make one with `commonplace token create --all-agents --role admin`"
        ) from error
    return file


def _first_token_path(home: str, environment: Mapping[str, str]) -> str:
    state = environment.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    name = file_name(os.path.basename(os.path.dirname(home) if home.endswith(".commonplace") else home) or "memory")
    return os.path.join(state, "commonplace", f"{stem(name)[:40]}-{hash_secret(home)[:8]}.token")


def _write_private(path: str, secret: str) -> None:
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        os.chmod(path, 0o600)  # an existing file may be readable by others
        os.write(handle, f"{secret}\n".encode())
    finally:
        os.close(handle)
