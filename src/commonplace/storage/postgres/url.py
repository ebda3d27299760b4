"""Database URLs: which server, which tenant, and which replicas answer searches."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from ...errors import InvalidArgument, NotInstalled
from ..base import MAX_TENANT_CHARACTERS, is_tenant

DATABASE_SCHEMES = ("postgresql://", "postgres://")
DEFAULT_TENANT = "default"
_OUR_PARAMETERS = ("tenant", "search")
_URL_SYNTAX = "write it like postgresql://user@host/name, and : / ? @ % in a password as %3A %2F %3F %40 %25"


class Address(NamedTuple):
    """A server and a tenant. `tenant` and `search` are our own parameters of the URL, beside those of libpq.

    `search` names replicas that answer searches: hosts (`host` or `host:port`, separated by commas) or a whole URL.
    """

    url: str
    tenant: str = DEFAULT_TENANT
    search: str = ""


def parse_url(home: str) -> Address:
    """Parse `postgresql://user@host/db?tenant=acme`; the tenant defaults to `default`."""
    # By hand, because urllib does not give back every URL that libpq accepts.
    url, _, query = home.partition("?")
    parameters = [each for each in query.split("&") if each]
    tenants = _parameter_values(parameters, "tenant")
    replicas = _parameter_values(parameters, "search")
    if len(tenants) > 1 or not all(is_tenant(tenant) for tenant in tenants):
        raise InvalidArgument(
            f"a database URL names one tenant, of at most {MAX_TENANT_CHARACTERS} characters: ?tenant=NAME"
        )
    if len(replicas) > 1 or "" in replicas or any("\0" in each for each in replicas):
        raise InvalidArgument("a database URL names its replicas once: ?search=HOST, or search=HOST:PORT,HOST:PORT")
    rest = "&".join(each for each in parameters if each.partition("=")[0] not in _OUR_PARAMETERS)
    return Address(f"{url}?{rest}" if rest else url, (tenants or [DEFAULT_TENANT])[0], "".join(replicas))


def _parameter_values(parameters: list[str], name: str) -> list[str]:
    return [unquote(each.removeprefix(f"{name}=")) for each in parameters if each.startswith(f"{name}=")]


def with_tenant(home: str, tenant: str) -> str:
    """Return the URL of the same database for another tenant."""
    if not is_tenant(tenant):
        raise InvalidArgument(f"a tenant is a name of at most {MAX_TENANT_CHARACTERS} characters")
    address = parse_url(home)
    parameters = {"tenant": tenant, "search": address.search}
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in parameters.items() if value)
    return f"{address.url}{'&' if '?' in address.url else '?'}{query}"


def parse_conninfo(url: str) -> dict[str, Any]:
    """Return the parameters of a URL by their libpq names."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        raise NotInstalled("a memory in PostgreSQL", "postgres") from error
    try:
        return dict(conninfo_to_dict(url))
    except ProgrammingError:  # its message may quote the password
        raise InvalidArgument(f"the URL of the database cannot be read: {_suggestion(url) or _URL_SYNTAX}") from None


def _suggestion(url: str) -> str:
    """Name our parameter that the URL misspells, if any. Nothing else of the URL is repeated."""
    from difflib import get_close_matches

    names = (each.partition("=")[0].lower() for each in url.partition("?")[2].split("&"))
    close = [match for name in names for match in get_close_matches(name, _OUR_PARAMETERS, 1, 0.7)]
    return f"it says nearly {close[0]}: write it like ?{close[0]}=NAME" if close else ""


def replica_address(address: Address) -> Address:
    """Return the address of the replicas. Named by host, they take everything else from the primary's URL."""
    if address.search.startswith(DATABASE_SCHEMES):
        options = {"target_session_attrs": "any"} | parse_conninfo(parse_url(address.search).url)
    else:
        options = parse_conninfo(address.url) | {"target_session_attrs": "any"}
        default_port = str(options.get("port") or "")
        replicas = [_parse_host(each.strip(), default_port) for each in address.search.split(",")]
        ports = [port for _, port in replicas]
        options |= {
            "host": ",".join(host for host, _ in replicas),
            "port": ",".join(ports) if any(ports) else None,
            "hostaddr": None,
        }
    from psycopg.conninfo import make_conninfo

    return Address(make_conninfo(**options), address.tenant)


def _parse_host(text: str, default_port: str) -> tuple[str, str]:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]") or text[:1] == "/":  # a socket folder has no port
        host = text
        port = "" if "," in default_port else default_port
    if not host or (port and not port.isdigit()):
        raise InvalidArgument(f"search={text} names no replica: write it like search=HOST or search=HOST:PORT")
    return host.strip("[]"), port
