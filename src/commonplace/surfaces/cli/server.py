"""The commands that serve memory: mcp over standard input and output, serve over HTTP, web for a browser."""

from __future__ import annotations

import os
import socket
from typing import Any

import click

from ...errors import InvalidArgument, NotInstalled, StorageError
from ...server.sessions import ServerOptions
from ...storage.backends import backend_of, display_name, open_tokens
from ...tools.catalog import EVERYDAY
from ..http import LOOPBACK
from .common import absolute_home, get_options, global_options, home_path, parse_toolsets, require_usable_home
from .tokens import first_token_file

_IDENTITY = ("agent", "user", "channel", "session")


def _serving_options(command: Any) -> Any:
    for option in (
        click.option("--user", metavar="NAME", help="The user who asks (or COMMONPLACE_USER)."),
        click.option("--channel", metavar="NAME", help="The channel of the conversation (or COMMONPLACE_CHANNEL)."),
        click.option("--homes", metavar="FOLDER", help="A folder of memories; each request names one."),
        click.option(
            "--answers",
            type=click.Choice(["auto", "structured", "text"]),
            default="auto",
            help="How to answer: as structured content with a short text, or as text alone.",
        ),
        click.option("--tools", default=",".join(EVERYDAY), show_default=True, help="Which toolsets, in which order."),
    ):
        command = option(command)
    return command


@click.command("mcp")
@_serving_options
@global_options
def mcp_command(**given: Any) -> None:
    """Serve memory to one client of the Model Context Protocol, over standard input and output.

    The client starts this itself: `commonplace install` sets that up. It ends with the client.
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
        click.option("--open", "is_open", is_flag=True, help="Let any program on this machine in without a token."),
        click.option("--tenants", is_flag=True, help="Serve all tenants of a database: the token names the tenant."),
        click.option("--read-only", is_flag=True, help="Refuse every change."),
        click.option("--allow-host", multiple=True, metavar="NAME", help="Another name of this server; repeatable."),
    ):
        command = option(command)
    return command


@click.command("serve")
@_http_options
@_serving_options
@global_options
def serve_command(**given: Any) -> None:
    """Serve memory over HTTP: the Model Context Protocol at /mcp, the API for programs at /v1, a web page at /.

    It listens on this machine only, and refuses requests from other web sites. Callers need a token: the first start
    makes one and says which file it is in.
    """
    _serve(opens_browser=False, **given)


@click.command("web")
@_http_options
@_serving_options
@global_options
def web_command(**given: Any) -> None:
    """Serve memory as `commonplace serve` does, and open its web page in your browser."""
    _serve(opens_browser=True, **given)


def _serve(
    *,
    opens_browser: bool,
    host: str,
    port: int,
    token: str | None,
    is_open: bool,
    tenants: bool,
    read_only: bool,
    allow_host: tuple[str, ...],
    **given: Any,
) -> None:
    serving = _serving(**given)
    secret = _check_token(token or os.environ.get("COMMONPLACE_TOKEN", ""))
    if tenants:
        serving = _for_tenants(serving, is_open=opens_browser or is_open, secret=secret)
    else:
        _require_token_if_public(serving.home, host, secret, is_open=is_open)
    try:
        from ..application import serve_http
        from ..http.auth import AccessRules
        from ..http.sign_in import SignInKeys
    except ImportError as error:
        raise NotInstalled("a server", "web" if opens_browser else "mcp") from error
    names = {*LOOPBACK, host.lower(), *(name.lower() for name in allow_host)}
    listener = _listen(host, port)
    url = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
    click.echo(f"serving {display_name(serving.home)} at {url}/mcp, {url}/v1 and {url}/", err=True)
    if not is_open and not secret and not tenants:
        _announce_token(serving.home)
    keys = SignInKeys()
    if opens_browser:
        _open_browser(url, keys.create_code())
    serve_http(serving, AccessRules(tuple(sorted(names)), secret, is_open, read_only), listener, keys)


def _for_tenants(serving: ServerOptions, *, is_open: bool, secret: str) -> ServerOptions:
    """Serve all tenants of a database; refuse options that would let somebody in without naming a tenant."""
    if not backend_of(serving.home).has_tenants:
        raise InvalidArgument("--tenants is for a database: name one with --home, as postgresql://user@host/name")
    if is_open or secret or serving.homes:
        raise InvalidArgument(
            "with --tenants only tokens of tenants let in (`commonplace token create` makes one): leave out --open, "
            "--token, COMMONPLACE_TOKEN, --homes, and use serve"
        )
    return serving._replace(tenants=True)


def _require_token_if_public(home: str, host: str, secret: str, *, is_open: bool) -> None:
    if host in LOOPBACK or secret or (not is_open and open_tokens(home).list_tokens()):
        return
    raise InvalidArgument(
        f"others can reach {host}: give a --token, or set COMMONPLACE_TOKEN, or run `commonplace token create`, to let "
        "nobody else in"
    )


def _announce_token(home: str) -> None:
    """Make a token for a memory that has none, and print the file it is in; never the token itself."""
    if file := first_token_file(home):
        click.echo(f"the token for it is in {file}, which only you can read", err=True)


def _open_browser(url: str, code: str) -> None:
    """Open the page with a one-time code: an address seen in a list of processes is of no use later."""
    import webbrowser
    from threading import Thread

    def open_page() -> None:
        if not webbrowser.open(f"{url}/#code={code}"):
            click.echo(f"no browser could be opened: open {url}/ and give the token", err=True)

    Thread(target=open_page, daemon=True).start()


def _check_token(given: str) -> str:
    """Return the token without white space around it; InvalidArgument if a header cannot carry it."""
    secret = given.strip()
    if (given and not secret) or not (secret.isascii() and secret.isprintable()):
        raise InvalidArgument("a token is letters, digits and signs of ASCII: headers carry nothing else")
    return secret


def _listen(host: str, port: int) -> socket.socket:
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else the end of a response waits for 40 ms
        return listener
    except OSError as error:
        raise StorageError(
            f"cannot listen on {host}:{port} ({error.strerror or error}): choose another --port"
        ) from error


def _serving(user: str | None, channel: str | None, homes: str | None, answers: Any, tools: str) -> ServerOptions:
    home = home_path()
    require_usable_home(home)
    if homes and not os.path.isdir(homes):
        raise InvalidArgument(f"there is no folder {homes}: --homes names a folder of memories")
    flags = {"agent": get_options().get("agent"), "user": user, "channel": channel}
    defaults = {name: os.environ.get(f"COMMONPLACE_{name.upper()}", "") for name in _IDENTITY}
    return ServerOptions(
        absolute_home(home),
        {name: value for name, value in flags.items() if value},
        {name: value for name, value in defaults.items() if value},
        parse_toolsets(tools),
        os.path.abspath(homes) if homes else "",
        answers,
    )
