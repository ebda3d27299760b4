"""Which database is meant, whose rows of it, and which servers answer what is searched."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from ...errors import InvalidArgument, NotInstalled
from ...model import DATABASE_SCHEMES

DEFAULT_TENANT = "default"
_OURS = ("tenant", "search")
_SPELLING = "write it like postgresql://user@host/name, and : / ? @ % in a password as %3A %2F %3F %40 %25"


class Address(NamedTuple):
    """A database, and whose rows of it. `tenant` and `search` stand in the URL beside what the server understands.

    `search`: replicas that answer searches, as hosts (`host`, `host:port`, with commas between) or as a whole URL.
    """

    url: str
    tenant: str = DEFAULT_TENANT
    search: str = ""


def address_of(home: str) -> Address:
    """`postgresql://user@host/db?tenant=acme`; without a tenant it is `default`."""
    # By hand: what takes URLs apart and puts them together again does not give back the ones that libpq takes.
    url, _, query = home.partition("?")
    asked = [each for each in query.split("&") if each]
    named = {name: [unquote(each[len(name) + 1 :]) for each in asked if each.startswith(f"{name}=")] for name in _OURS}
    tenants, searched = named["tenant"], named["search"]
    if len(tenants) > 1 or not all(is_tenant(tenant) for tenant in tenants):
        raise InvalidArgument("a database URL names one tenant, of at most 200 characters: ?tenant=NAME")
    if len(searched) > 1 or "" in searched or any("\0" in each for each in searched):
        raise InvalidArgument("a database URL names its replicas once: ?search=HOST, or search=HOST:PORT,HOST:PORT")
    rest = "&".join(each for each in asked if each.partition("=")[0] not in _OURS)
    return Address(f"{url}?{rest}" if rest else url, (tenants or [DEFAULT_TENANT])[0], "".join(searched))


def is_tenant(name: str) -> bool:
    return 0 < len(name) <= 200 and "\0" not in name


def with_tenant(home: str, tenant: str) -> str:
    """The same database for another tenant."""
    if not is_tenant(tenant):
        raise InvalidArgument("a tenant is a name of at most 200 characters")
    address = address_of(home)
    asked = {"tenant": tenant, "search": address.search}
    said = "&".join(f"{name}={quote(value, safe='')}" for name, value in asked.items() if value)
    return f"{address.url}{'&' if '?' in address.url else '?'}{said}"


def parts_of(url: str) -> dict[str, Any]:
    """What a URL says, by the names of libpq."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        raise NotInstalled("a memory in PostgreSQL", "postgres") from error
    try:
        return dict(conninfo_to_dict(url))
    except ProgrammingError:  # what it says may hold the password
        raise InvalidArgument(f"the URL of the database can not be read: {_meant(url) or _SPELLING}") from None


def _meant(url: str) -> str:
    """Ours, where something in a URL is spelled nearly so. Nothing else is repeated."""
    from difflib import get_close_matches

    said = (each.partition("=")[0].lower() for each in url.partition("?")[2].split("&"))
    near = [name for each in said for name in get_close_matches(each, _OURS, 1, 0.7)]
    return f"it says nearly {near[0]}: write it like ?{near[0]}=NAME" if near else ""


def searching(address: Address) -> Address:
    """The replicas of an address. Where they are named by host, everything else is as for the database itself."""
    if address.search.startswith(DATABASE_SCHEMES):
        parts = {"target_session_attrs": "any"} | parts_of(address_of(address.search).url)
    else:
        parts = parts_of(address.url) | {"target_session_attrs": "any"}
        default = str(parts.get("port") or "")
        hosts, ports = zip(*(_host_of(each.strip(), default) for each in address.search.split(",")), strict=True)
        parts |= {"host": ",".join(hosts), "port": ",".join(ports) if any(ports) else None, "hostaddr": None}
    from psycopg.conninfo import make_conninfo

    return Address(make_conninfo(**parts), address.tenant)


def _host_of(said: str, port: str) -> tuple[str, str]:
    host, colon, number = said.rpartition(":")
    if not colon or said.endswith("]") or said[:1] == "/":  # a folder with a socket has no port of its own
        host, number = said, "" if "," in port else port
    if not host or (number and not number.isdigit()):
        raise InvalidArgument(f"search={said} names no replica: write it like search=HOST or search=HOST:PORT")
    return host.strip("[]"), number
