"""The commands that serve memory to other programs: over standard input and output, and over HTTP."""

from __future__ import annotations

import os
import socket
from typing import Any

import click

from ...errors import InvalidArgument, NotInstalled, StorageError
from ...server.sessions import Serving
from ...storage.backends import display_name, in_database, open_tokens
from ...tools.catalog import EVERYDAY, TOOLSETS
from ..http import LOOPBACK
from .common import home_path, options, placed, refuse_file, shared
from .first_token import first_token

_NAMES = ("agent", "user", "channel", "session")


def _serving_options(command: Any) -> Any:
    for option in (
        click.option("--user", metavar="NAME", help="The user who asks (or COMMONPLACE_USER)."),
        click.option("--channel", metavar="NAME", help="The channel of the conversation (or COMMONPLACE_CHANNEL)."),
        click.option("--homes", metavar="FOLDER", help="A folder of memories; a request names the one it means."),
        click.option(
            "--answers", type=click.Choice(["auto", "structured", "text"]), default="auto",
            help="Where answers stand: in structured content beside a short text, or in the text alone.",
        ),
        click.option("--tools", default=",".join(EVERYDAY), show_default=True, help="Which toolsets, in which order."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command("mcp")
@_serving_options
@shared
def mcp_command(**given: Any) -> None:
    """Serve memory to one client of the Model Context Protocol, over standard input and output.

    A client starts this itself: `commonplace install` tells it how. It ends when the client does.
    """
    serving = _serving(**given)
    try:
        from ..mcp.server import serve_stdio
    except ImportError as error:
        raise NotInstalled("an MCP server", "mcp") from error
    serve_stdio(serving)


def _http_options(command: Any) -> Any:
    for option in (
        click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
        click.option("--port", default=7777, show_default=True, type=click.IntRange(0, 65535), help="0: any free one."),
        click.option("--token", metavar="TEXT", help="A bearer token that allows everything (or COMMONPLACE_TOKEN)."),
        click.option("--open", "is_open", is_flag=True, help="Let every program of this machine in without a token."),
        click.option("--tenants", is_flag=True, help="All tenants of a database: the token says which one is meant."),
        click.option("--read-only", is_flag=True, help="Let nobody change anything."),
        click.option(
            "--allow-host", multiple=True, metavar="NAME", help="Another name this server goes by; repeatable."
        ),
    ):
        command = option(command)
    return command


@click.command("serve")
@_http_options
@_serving_options
@shared
def serve_command(**given: Any) -> None:
    """Serve memory over HTTP: the Model Context Protocol at /mcp, the interface for programs at /v1, a page at /.

    It listens on this machine alone, and refuses requests from pages of other sites. Callers need a token: the first
    start makes one, and says in which file it is.
    """
    _serve(opens=False, **given)


@click.command("web")
@_http_options
@_serving_options
@shared
def web_command(**given: Any) -> None:
    """Look at memory in your browser: serves it, as `commonplace serve` does, and opens the page."""
    _serve(opens=True, **given)


def _serve(
    *, opens: bool, host: str, port: int, token: str | None, is_open: bool, tenants: bool, read_only: bool,
    allow_host: tuple[str, ...], **given: Any,
) -> None:  # fmt: skip
    serving = _serving(**given)
    secret = _secret(token or os.environ.get("COMMONPLACE_TOKEN", ""))
    if tenants:
        serving = _for_tenants(serving, opens=opens or is_open, secret=secret)
    else:
        _refuse_strangers(serving.home, host, secret, is_open=is_open)
    try:
        from ..http.app import run
        from ..http.auth import Rules
        from ..http.sign_in_codes import Keys
    except ImportError as error:
        raise NotInstalled("a server", "web" if opens else "mcp") from error
    names = {*LOOPBACK, host.lower(), *(name.lower() for name in allow_host)}
    listening = _listening(host, port)
    where = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
    click.echo(f"serving {display_name(serving.home)} at {where}/mcp, {where}/v1 and {where}/", err=True)
    if not is_open and not secret and not tenants:
        _tell_of_token(serving.home)
    keys = Keys()
    if opens:
        _open_page(where, keys.code())
    run(serving, Rules(tuple(sorted(names)), secret, is_open, read_only), listening, keys)


def _for_tenants(serving: Serving, *, opens: bool, secret: str) -> Serving:
    """What lets somebody in without saying which tenant they are of does not go together with many."""
    if not in_database(serving.home):
        raise InvalidArgument("--tenants is for a database: name one with --home, as postgresql://user@host/name")
    if opens or secret or serving.homes:
        raise InvalidArgument(
            "with --tenants only tokens of tenants let in (`commonplace token create` makes one): leave out --open, "
            "--token, COMMONPLACE_TOKEN, --homes, and use serve"
        )
    return serving._replace(tenants=True)


def _refuse_strangers(home: str, host: str, secret: str, *, is_open: bool) -> None:
    if host in LOOPBACK or secret or (not is_open and open_tokens(home).list_tokens()):
        return
    raise InvalidArgument(
        f"others can reach {host}: give a --token, or set COMMONPLACE_TOKEN, or run `commonplace token create`, to let "
        "nobody else in"
    )


def _tell_of_token(home: str) -> None:
    """Make a token for a memory that has none, and say where it is kept; never what it is."""
    place = first_token(home)
    if place:
        click.echo(f"the token for it is in {place}, which only you can read", err=True)


def _open_page(where: str, code: str) -> None:
    """In the browser, with a code that is good once: what is seen of it in lists of processes is of no use."""
    import webbrowser
    from threading import Thread

    address = f"{where}/#code={code}"

    def opened() -> None:
        if not webbrowser.open(address):
            click.echo(f"no browser could be opened: open {where}/ and give the token", err=True)

    Thread(target=opened, daemon=True).start()


def _secret(given: str) -> str:
    """A token as a header can carry it; InvalidArgument for one that nobody could send."""
    secret = given.strip()
    if (given and not secret) or not (secret.isascii() and secret.isprintable()):
        raise InvalidArgument("a token is letters, digits and signs of ASCII: headers carry nothing else")
    return secret


def _listening(host: str, port: int) -> socket.socket:
    try:
        made = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else the end of an answer waits for 40 ms
        return made
    except OSError as error:
        raise StorageError(
            f"{host}:{port} can not be listened on ({error.strerror or error}): choose another --port"
        ) from error


def _serving(user: str | None, channel: str | None, homes: str | None, answers: Any, tools: str) -> Serving:
    home = home_path()
    refuse_file(home)
    toolsets = [name.strip() for name in tools.split(",") if name.strip()]
    unknown = [name for name in toolsets if name not in TOOLSETS]
    if unknown or not toolsets:
        raise InvalidArgument(f"--tools takes {', '.join(TOOLSETS)}, with commas between; not {tools!r}")
    if homes and not os.path.isdir(homes):
        raise InvalidArgument(f"there is no folder {homes}: --homes names one that holds memories")
    flags = {"agent": options().get("agent"), "user": user, "channel": channel}
    defaults = {name: os.environ.get(f"COMMONPLACE_{name.upper()}", "") for name in _NAMES}
    return Serving(
        placed(home),
        {name: value for name, value in flags.items() if value},
        {name: value for name, value in defaults.items() if value},
        toolsets,
        os.path.abspath(homes) if homes else "",
        answers,
    )
