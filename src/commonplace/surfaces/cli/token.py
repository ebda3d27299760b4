"""The commands for those who come over HTTP: make, list and revoke their tokens, and show what they called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from ...formats.timestamps import stamp
from ...home import utc_now
from ...storage.backends import open_tokens
from ...storage.base import TokenStore
from ...storage.tokens import ROLES, Role, Token, create
from .common import answer, home_path, refuse_file, say, shared, table

_EVERY = 1_000_000  # lines of the log: more than it holds


@contextmanager
def _access() -> Iterator[TokenStore]:
    """Of the memory that is meant."""
    home = home_path()
    refuse_file(home)
    access = open_tokens(home)
    try:
        yield access
    finally:
        access.close()


@click.group("token")
def token_command() -> None:
    """Tokens let programs and people into this memory over HTTP, and nobody without one from the first on."""


@token_command.command("create")
@click.option("--for", "agents", multiple=True, metavar="AGENT", help="An agent it may speak for; repeatable.")
@click.option("--all-agents", is_flag=True, help="It may speak for every agent.")
@click.option("--role", type=click.Choice(ROLES), default="read", show_default=True, help="What it may do.")
@click.option("--days", default=90, show_default=True, type=int, help="How long it holds; 0: until it is revoked.")
@click.option("--note", default="", metavar="TEXT", help="Whose it is, or what for.")
@shared
def create_command(agents: tuple[str, ...], all_agents: bool, role: Role, days: int, note: str) -> None:
    """Make a token and show it, this once: only its hash is kept."""
    if bool(agents) == all_agents:
        raise click.UsageError("say for which agents it is: --for NAME, which may be given again, or --all-agents")
    with _access() as access:
        token, secret = create(
            access, utc_now(), agents=None if all_agents else agents, role=role, days=days, note=note
        )

    def human() -> None:
        say(secret)
        click.echo(f"{token.id}: {_told(token)}. It is shown this once; send it as Authorization: Bearer.", err=True)

    answer({"token": secret, **_shown(token)}, human)


def _told(token: Token) -> str:
    whose = "all agents" if token.agents is None else ", ".join(token.agents)
    until = f"until {token.expires_at[:10]}" if token.expires_at else "until it is revoked"
    return f"{token.role}, for {whose}, {until}"


def _shown(token: Token) -> dict[str, Any]:
    """A token as it may be seen: without its hash."""
    return {name: value for name, value in token._asdict().items() if name != "digest"} | {
        "state": token.state(utc_now())
    }


@token_command.command("list")
@shared
def list_command() -> None:
    """List the tokens, those that hold no more as well."""
    with _access() as access:
        tokens = access.list_tokens()
    rows = [[token.id, token.state(utc_now()), _told(token), token.created_at[:10], token.note] for token in tokens]
    answer(
        {"tokens": [_shown(token) for token in tokens]},
        lambda: table(["token", "state", "allows", "made", "note"], rows) if rows else say("No tokens."),
    )


@token_command.command("revoke")
@click.argument("names", nargs=-1, required=True, metavar="TOKEN...")
@shared
def revoke_command(names: tuple[str, ...]) -> None:
    """Let a token of `commonplace token list` open nothing, from the next request on."""
    with _access() as access:
        revoked = [access.revoke(name, stamp(utc_now())) for name in names]
    answer({"revoked": [token.id for token in revoked]}, lambda: say(f"Revoked {', '.join(names)}."))


@token_command.command("audit")
@click.option("-n", "--limit", default=20, show_default=True, help="How many of the latest.")
@click.option("--token", "name", metavar="TOKEN", help="Only what this one was used for.")
@shared
def audit_command(limit: int, name: str | None) -> None:
    """Show who called what, and how it ended. The latest come last."""
    with _access() as access:
        calls = [call for call in access.recent_calls(_EVERY if name else limit) if name in (None, call.token)]
    calls = calls[-max(1, limit) :]
    rows = [
        [call.at[:19], call.token, call.agent, call.tool, call.outcome, call.session, call.remote] for call in calls
    ]
    headers = ["when", "token", "agent", "tool", "outcome", "session", "from"]
    answer({"calls": [call._asdict() for call in calls]}, lambda: table(headers, rows) if rows else say("No calls."))
