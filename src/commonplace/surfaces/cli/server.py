"""The commands that serve memory to other programs: over standard input and output, and over HTTP."""

from __future__ import annotations

import os
import socket
from typing import Any

import click

from ...access import access_of
from ...errors import InvalidArgument, NotInstalled, StorageError
from ...ground import shown
from ...tools.catalog import EVERYDAY, TOOLSETS
from ..http import LOOPBACK
from ..mcp.serving import Serving
from .common import home_path, options, placed, refuse_file, shared

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


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=7777, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free one.")
@click.option("--token", metavar="TEXT", help="A bearer token that allows everything (or COMMONPLACE_TOKEN).")
@click.option("--allow-host", multiple=True, metavar="NAME", help="Another name this server goes by; repeatable.")
@_serving_options
@shared
def serve_command(host: str, port: int, token: str | None, allow_host: tuple[str, ...], **given: Any) -> None:
    """Serve memory over HTTP, to any number of clients: the Model Context Protocol at /mcp.

    It listens on this machine alone, and refuses requests from pages of other sites. On any other address, and where
    the memory has tokens (`commonplace token create`), it wants one.
    """
    serving = _serving(**given)
    secret = _secret(token or os.environ.get("COMMONPLACE_TOKEN", ""))
    if host not in LOOPBACK and not secret and not access_of(serving.home).tokens():
        raise InvalidArgument(
            f"others can reach {host}: give a --token, or set COMMONPLACE_TOKEN, or run `commonplace token create`, to "
            "let nobody else in"
        )
    try:
        from ..http.app import run
        from ..http.guard import Rules
    except ImportError as error:
        raise NotInstalled("a server", "mcp") from error
    names = {*LOOPBACK, host.lower(), *(name.lower() for name in allow_host)}
    listening = _listening(host, port)
    where = f"[{host}]" if ":" in host else host
    click.echo(f"serving {shown(serving.home)} at http://{where}:{listening.getsockname()[1]}/mcp", err=True)
    run(serving, Rules(tuple(sorted(names)), secret, is_open=host in LOOPBACK), listening)


def _secret(given: str) -> str:
    """A token as a header can carry it; InvalidArgument for one that nobody could send."""
    secret = given.strip()
    if (given and not secret) or not (secret.isascii() and secret.isprintable()):
        raise InvalidArgument("a token is letters, digits and signs of ASCII: headers carry nothing else")
    return secret


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
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
