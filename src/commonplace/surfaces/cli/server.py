"""The commands that serve memory (mcp, serve, web), and the tokens that let callers in (token).

The web page opens in the user's browser, signed in by a one-time code. Everybody on a machine can read the arguments of
every process, so the browser is given a file that only its user can read, with the code in it. The file is removed once
the code is of no use any more.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from html import escape
from pathlib import Path
from threading import Thread, Timer
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from ...errors import CommonplaceError, InvalidArgument, NotInstalled, StorageError
from ...formats.timestamps import format_timestamp
from ...home import Home, utc_now
from ...server.auth import ServerOptions
from ...server.workers import MAX_WORKERS
from ...storage.base import TokenStore, backend_of, display_name
from ...storage.layout import stem
from ...storage.names import file_name
from ...storage.tokens import ROLES, Role, Token, create_token, describe_token, hash_secret
from ...toolsets import EVERYDAY
from ...tracing import require_tracing
from ...trust import open_trusted_tokens
from ...user_config import state_folder
from ..http import LOOPBACK
from .common import (
    absolute_home,
    agent_name,
    get_options,
    global_options,
    home_exists,
    home_path,
    is_found_home,
    parse_toolsets,
    print_aside,
    print_reply,
    print_rows,
    print_text,
    require_usable_home,
    warn,
    warn_untrusted,
)

if TYPE_CHECKING:
    from ..http.auth import SignInKeys

_ALL_CALLS = 1_000_000  # more entries than the audit log ever has
_PORTS_TO_TRY = 20  # `web` tries the next ones if a port is in use
_LOCAL_ADDRESSES = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # of this machine, by the one that means all of them
_FIRST_START_NOTE = "first start"
_IDENTITY = ("agent", "user", "channel", "session")
_SERVICE_OPTIONS = ("requests_per_minute", "writes_per_day", "bytes_per_day", "logs_requests", "traces")


def _add_serving_options(command: Any) -> Any:
    options = (
        click.option("--user", metavar="NAME", help="The user of the conversation (or COMMONPLACE_USER)."),
        click.option("--channel", metavar="NAME", help="The channel of the conversation (or COMMONPLACE_CHANNEL)."),
        click.option("--homes", metavar="FOLDER", help="A folder of memories; each request names one."),
        click.option(
            "--answers",
            type=click.Choice(["auto", "structured", "text", "short"]),
            default="auto",
            show_default=True,
            help="How to answer: as text, with structured content beside it if the client knows it (auto) or always "
            "(structured), as text alone, or as structured content with a short text.",
        ),
        click.option("--tools", default=",".join(EVERYDAY), show_default=True, help="Which toolsets, in which order."),
    )
    return _add_options(command, options)


def _add_options(command: Any, options: Sequence[Any]) -> Any:
    """Add options to a command, whose help then lists them in this order."""
    for option in reversed(options):
        command = option(command)
    return command


@click.command("mcp")
@_add_serving_options
@global_options
def mcp_command(**arguments: Any) -> None:
    """Serve memory to one client of the Model Context Protocol, over standard input and output.

    The client starts this itself: `commonplace install` sets that up. It ends with the client.
    """
    options = _make_server_options(**arguments)
    try:
        from ..mcp.server import serve_stdio
    except ImportError as error:
        raise NotInstalled("an MCP server", "mcp") from error
    serve_stdio(options)


def _limit_option(flag: str, name: str, help_text: str) -> Callable[[Any], Any]:
    return click.option(flag, name, default=0, show_default=True, type=click.IntRange(0), metavar="N", help=help_text)


def _add_http_options(command: Any) -> Any:
    options = (
        click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
        click.option(
            "--port",
            default=7777,
            show_default=True,
            type=click.IntRange(0, 65535),
            help="The port to listen on; 0: any free one.",
        ),
        click.option("--token", metavar="TEXT", help="A bearer token that allows everything (or COMMONPLACE_TOKEN)."),
        click.option("--open", "is_open", is_flag=True, help="Let any program on this machine in without a token."),
        click.option("--tenants", is_flag=True, help="Serve all tenants of a database: the token names the tenant."),
        click.option("--read-only", is_flag=True, help="Refuse every change."),
        click.option("--allow-host", multiple=True, metavar="NAME", help="Another host name to serve; repeatable."),
        click.option(
            "--trust-proxy",
            multiple=True,
            metavar="ADDRESS",
            help="A proxy whose X-Forwarded-For is trusted, for the audit log; repeatable.",
        ),
        click.option("--tls-cert", metavar="FILE", help="Serve HTTPS with this certificate, in PEM, with its chain."),
        click.option("--tls-key", metavar="FILE", help="The private key of --tls-cert, in PEM."),
        _limit_option("--rate-limit", "requests_per_minute", "Let each token make N requests a minute; 0: no limit."),
        _limit_option("--write-quota", "writes_per_day", "Let each token write N times a day; 0: no limit."),
        _limit_option("--byte-quota", "bytes_per_day", "Let each token add N bytes a day; 0: no limit."),
        click.option(
            "--workers",
            default=1,
            show_default=True,
            type=click.IntRange(1, MAX_WORKERS),
            metavar="N",
            help="Serve with N processes, for more than one core.",
        ),
        click.option(
            "--traces",
            is_flag=True,
            help="Send spans to the OpenTelemetry collector that OTEL_EXPORTER_OTLP_ENDPOINT names.",
        ),
        click.option("--log", "logs_requests", is_flag=True, help="Log each request to standard error, as JSON."),
    )
    return _add_options(command, options)


@click.command("serve")
@_add_http_options
@_add_serving_options
@global_options
def serve_command(**arguments: Any) -> None:
    """Serve memory over HTTP: the Model Context Protocol at /mcp, the API for programs at /v1, a web page at /.

    It listens on this machine only, and refuses requests from other web sites. Callers need a token: the first start
    makes one and says which file it is in.
    """
    _serve(*_read_options(arguments), opens_browser=False)


@click.command("web")
@_add_http_options
@_add_serving_options
@global_options
def web_command(**arguments: Any) -> None:
    """Serve memory as `commonplace serve` does, and open its web page in your browser."""
    _serve(*_read_options(arguments), opens_browser=True)


class _HttpOptions(NamedTuple):
    """Where a server listens, and whom it lets in: the options of `serve` and `web` that are not about memory."""

    host: str
    port: int
    token: str | None
    is_open: bool
    tenants: bool
    read_only: bool
    allow_host: tuple[str, ...]
    trust_proxy: tuple[str, ...]
    tls_cert: str | None
    tls_key: str | None
    workers: int

    @property
    def names(self) -> tuple[str, ...]:
        """Return the host names under which the server accepts requests."""
        return tuple(sorted({*LOOPBACK, self.host.lower(), *(name.lower() for name in self.allow_host)}))

    def make_url(self, port: int) -> str:
        """Return a URL that one can open: `0.0.0.0` and `::` are for listening only."""
        local = _LOCAL_ADDRESSES.get(self.host)
        name = (*self.allow_host, local)[0] if local else self.host
        host = f"[{name}]" if ":" in name else name
        return f"{'https' if self.tls_cert else 'http'}://{host}:{port}"


def _read_options(arguments: dict[str, Any]) -> tuple[_HttpOptions, ServerOptions]:
    """Return the options of a command in two parts: how it serves, and what."""
    http = _HttpOptions(**{name: arguments.pop(name) for name in _HttpOptions._fields})
    service = {name: arguments.pop(name) for name in _SERVICE_OPTIONS}
    return http, _make_server_options(**arguments)._replace(**service)


def _serve(http: _HttpOptions, options: ServerOptions, *, opens_browser: bool) -> None:
    _check_certificate(http.tls_cert, http.tls_key)
    _check_proxies(http.trust_proxy)
    secret = _check_token(http.token or os.environ.get("COMMONPLACE_TOKEN", ""))
    if http.tenants:
        options = _serve_tenants(options, is_open=opens_browser or http.is_open, secret=secret)
    else:
        _require_token_if_public(options.home, http.host, secret, is_open=http.is_open)
    try:
        from ..application import Certificate, serve_http
        from ..http.auth import AccessRules, SignInKeys
    except ImportError as error:
        raise NotInstalled("a server with a web page", "web") from error
    if options.traces:
        require_tracing()
    metrics_token = _check_token(os.environ.get("COMMONPLACE_METRICS_TOKEN", ""))
    find_listener = listen_nearby if opens_browser and _is_left_out("port") else listen
    listener = find_listener(http.host, http.port)
    needs_token = not http.is_open and not secret and not http.tenants
    token_file = first_token_file(options.home) if needs_token else ""
    url = http.make_url(listener.getsockname()[1])
    place = display_name(options.home)
    print_aside(f"serving {place} at {url}/ (web page), {url}/mcp and {url}/v1; Ctrl-C stops it")
    if token_file:  # the token itself is never printed
        print_aside(f"the token for it is in {token_file}, which only you can read")
    if http.host not in LOOPBACK and not http.tls_cert:
        warn("connections are not encrypted: add --tls-cert and --tls-key, or put a proxy with HTTPS in front")
    keys = SignInKeys()
    rules = AccessRules(http.names, secret, http.is_open, http.read_only, metrics_token)
    certificate = Certificate(http.tls_cert, http.tls_key) if http.tls_cert and http.tls_key else None
    with open_browser(url, keys) if opens_browser else nullcontext():
        serve_http(options, rules, listener, keys, http.trust_proxy, certificate, http.workers)


def _serve_tenants(options: ServerOptions, *, is_open: bool, secret: str) -> ServerOptions:
    """Serve all tenants of a database; refuse options that would let somebody in without naming a tenant."""
    if not backend_of(options.home).has_tenants:
        raise InvalidArgument("--tenants is for a database: name one with --home, as postgresql://user@host/name")
    if is_open or secret or options.homes:
        raise InvalidArgument(
            "with --tenants only tenants' tokens are accepted (see `commonplace token create`): leave out --open,  "
            "--token, COMMONPLACE_TOKEN, --homes, and use serve"
        )
    return options._replace(tenants=True)


def _require_token_if_public(home: str, host: str, secret: str, *, is_open: bool) -> None:
    if (
        host in LOOPBACK
        or secret
        or (not is_open and open_trusted_tokens(home, is_found=is_found_home()).list_tokens())
    ):
        return
    raise InvalidArgument(
        f"others can reach {host}: give a --token, or set COMMONPLACE_TOKEN, or run `commonplace token create`, to let "
        "nobody else in"
    )


def _check_certificate(file: str | None, key_file: str | None) -> None:
    """Raise InvalidArgument unless both files of a certificate are given and fit, or none."""
    if not file and not key_file:
        return
    if not (file and key_file):
        raise InvalidArgument("HTTPS needs both: --tls-cert FILE and --tls-key FILE")
    import ssl

    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(file, key_file)
    except OSError as error:  # ssl errors are among them
        raise InvalidArgument(f"--tls-cert {file} with --tls-key {key_file} cannot be used: {error}") from error


def _check_proxies(addresses: tuple[str, ...]) -> None:
    """Raise InvalidArgument for anything but an IP address or network: everybody would be trusted, or nobody."""
    from ipaddress import ip_network

    for address in addresses:
        try:
            ip_network(address)
        except ValueError as error:
            raise InvalidArgument(f"--trust-proxy takes an address like 127.0.0.1 or 10.0.0.0/8: {error}") from error


def _check_token(token: str) -> str:
    """Return the token without white space around it; InvalidArgument if a header cannot carry it."""
    secret = token.strip()
    if (token and not secret) or not (secret.isascii() and secret.isprintable()):
        raise InvalidArgument("a token can contain only ASCII letters, digits and punctuation: it is sent in a header")
    return secret


def listen(host: str, port: int) -> socket.socket:
    """Listen on a port; StorageError if that is not possible."""
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # or the end of a response waits 40 ms
        return listener
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise StorageError(f"port {port} is in use", advice="choose another with --port") from error
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error
        raise StorageError(
            f"cannot listen on {host}:{port} ({reason})", advice="choose another --host or --port"
        ) from error


def _is_left_out(option: str) -> bool:
    """Return whether the user left out an option of the running command."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.DEFAULT


def listen_nearby(host: str, port: int) -> socket.socket:
    """Listen on a port, or on the next free one if another program has it."""
    for candidate in range(port, port + _PORTS_TO_TRY - 1):
        try:
            return listen(host, candidate)
        except StorageError as error:
            if not isinstance(error.__cause__, OSError) or error.__cause__.errno != errno.EADDRINUSE:
                raise
            print_aside(f"port {candidate} is in use, trying the next one")
    return listen(host, port + _PORTS_TO_TRY - 1)


def _make_server_options(
    user: str | None, channel: str | None, homes: str | None, answers: Any, tools: str
) -> ServerOptions:
    home = home_path()
    require_usable_home(home)
    if homes and not os.path.isdir(homes):
        raise InvalidArgument(f"there is no folder {homes}: --homes names a folder of memories")
    if is_found_home() and home_exists(home):
        with suppress(CommonplaceError), closing(Home(home, agent_name(), is_found=True)) as opened:
            warn_untrusted(opened)
    flags = {"agent": get_options().get("agent"), "user": user, "channel": channel}
    defaults = {name: os.environ.get(f"COMMONPLACE_{name.upper()}", "") for name in _IDENTITY}
    return ServerOptions(
        absolute_home(home),
        {name: value for name, value in flags.items() if value},
        {name: value for name, value in defaults.items() if value},
        parse_toolsets(tools),
        os.path.abspath(homes) if homes else "",
        answers,
        is_found=is_found_home(),
    )


@click.group("token")
def token_command() -> None:
    """Manage the tokens that let programs and people into this memory over HTTP. As soon as one exists, every caller
    needs one."""


@token_command.command("create")
@click.option("--for", "agents", multiple=True, metavar="AGENT", help="An agent it may act for; repeatable.")
@click.option("--all-agents", is_flag=True, help="It may act for every agent.")
@click.option("--role", type=click.Choice(ROLES), default="read", show_default=True, help="What it may do.")
@click.option("--days", default=90, show_default=True, type=int, help="Valid for this many days; 0: until revoked.")
@click.option("--note", default="", metavar="TEXT", help="Whose it is, or what it is for.")
@global_options
def create_command(agents: tuple[str, ...], all_agents: bool, role: Role, days: int, note: str) -> None:
    """Create a token and show it, this once: only its hash is stored."""
    if bool(agents) == all_agents:
        raise click.UsageError("name its agents: --for NAME (repeatable), or --all-agents")
    with _open_access() as access:
        token, secret = create_token(
            access, utc_now(), agents=None if all_agents else agents, role=role, days=days, note=note
        )

    def print_token() -> None:
        print_text(secret)
        hint = "It is shown this once; send it as Authorization: Bearer."
        print_aside(f"{token.id}: {describe_token(token)}. {hint}")

    print_reply({"token": secret, **_as_json(token)}, print_token)


@token_command.command("list")
@global_options
def list_command() -> None:
    """List the tokens, including expired and revoked ones."""
    with _open_access() as access:
        tokens = access.list_tokens()
    rows = [
        [token.id, token.state(utc_now()), describe_token(token), token.created_at[:10], token.note] for token in tokens
    ]
    reply = {"tokens": [_as_json(token) for token in tokens]}
    print_rows(reply, ["token", "state", "allows", "made", "note"], rows, "No tokens.")


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
    print_rows({"calls": [call._asdict() for call in calls]}, headers, rows, "No calls.")


@contextmanager
def _open_access() -> Iterator[TokenStore]:
    home = home_path()
    require_usable_home(home)
    access = open_trusted_tokens(home, is_found=is_found_home())
    try:
        yield access
    finally:
        access.close()


def _as_json(token: Token) -> dict[str, Any]:
    """Return the token without its hash, and with its state."""
    fields = {name: value for name, value in token._asdict().items() if name != "digest"}
    return fields | {"state": token.state(utc_now())}


def first_token_file(home: str) -> str:
    """Create a token if the memory has none, and return the private file it is in; empty if others made the tokens."""
    file = _first_token_path(home)
    access = open_trusted_tokens(home, is_found=is_found_home())
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


def _first_token_path(home: str) -> str:
    name = file_name(os.path.basename(os.path.dirname(home) if home.endswith(".commonplace") else home) or "memory")
    return os.path.join(state_folder(), f"{stem(name)[:40]}-{hash_secret(home)[:8]}.token")


def _write_private(path: str, secret: str) -> None:
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        os.chmod(path, 0o600)  # an existing file may be readable by others
        os.write(handle, f"{secret}\n".encode())
    finally:
        os.close(handle)


_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>commonplace</title>
<p><a href="{address}">Open your memory</a>
"""


@contextmanager
def open_browser(url: str, keys: SignInKeys) -> Iterator[None]:
    """Open the web page of the server that runs within this block."""
    from ..http.auth import CODE_LIFETIME_SECONDS

    folder = tempfile.mkdtemp(prefix="commonplace-")  # created with mode 0700

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
    """Call a function before a signal ends this process, which would skip `finally`."""

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
    import webbrowser

    if not webbrowser.open(page.as_uri()):
        print_aside(f"no browser could be opened: open {url}/ and give the token")
