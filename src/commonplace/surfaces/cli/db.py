"""The db command, for the tables of a PostgreSQL database: create, migrate, show, index vectors, grant access."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import click

from ...errors import InvalidArgument, StorageError
from ...storage.base import backend_of, display_name
from ...storage.postgres.connection import Database
from ...storage.postgres.index_tables import EXACT_SEARCH_LIMIT
from ...storage.postgres.migrate import Status, bind_login, migrate, migration_status, require_migrated
from ...storage.postgres.url import parse_url, with_tenant
from ...storage.postgres.vectors import build_hnsw_index, large_spaces
from ...wording import format_command
from .common import global_options, home_path, print_reply, print_table, print_text


@click.command("db")
@click.argument("action", type=click.Choice(["init", "migrate", "status", "quicken", "grant"]))
@click.argument("url", required=False)
@click.option("--to", "login", metavar="LOGIN", help="For grant: the login to bind to the tenant.")
@click.option("--tenant", metavar="NAME", help="For grant: the tenant, if the URL does not name it.")
@global_options
def db_command(action: str, url: str | None, login: str | None, tenant: str | None) -> None:
    """Create the tables of a database (init), bring them up to date (migrate), or show their state (status).

    quicken: build an index of a tenant's vectors if there are many; `commonplace index`, run by the owner of the
    tables, does it too.

    grant: bind a login of the database to one tenant, whatever SQL it sends; the login is created if it does not exist.

    URL is like postgresql://user@host/name; the default is --home or COMMONPLACE_HOME. Whoever creates the tables owns
    them; let others in with GRANT commonplace_member TO them. Pages and history are never changed.
    """
    url = url or home_path()
    if not backend_of(url).has_tenants:
        raise InvalidArgument(f"name a database: commonplace db {action} postgresql://user@host/name")
    if action == "status":
        _show_status(url)
    elif action == "quicken":
        _build_vector_indexes(url)
    elif action == "grant":
        _grant(url if tenant is None else with_tenant(url, tenant), login)
    else:
        _migrate(url, is_first=action == "init")


def _migrate(url: str, *, is_first: bool) -> None:
    database = Database(parse_url(url))
    name = display_name(url)
    if not is_first and not migration_status(database).applied:
        raise StorageError(f"{name} has no tables yet: run `{format_command('db', 'init', name)}`")
    applied = [str(step) for step in migrate(database)]
    sentence = f"Applied to {name}: {', '.join(applied)}." if applied else f"{name} is up to date."
    print_reply({"home": name, "applied": applied}, sentence)


def _build_vector_indexes(url: str) -> None:
    """Build the vector indexes that a tenant lacks; each takes minutes."""
    database = Database(parse_url(url))
    require_migrated(database, display_name(url))
    spaces = large_spaces(database)
    missing = [space for space in spaces if not space.has_hnsw]
    if missing and not all(build_hnsw_index(database, space) for space in missing):
        command = format_command("db", "quicken", display_name(url))
        raise StorageError(f"only the owner of the tables can do this: run `{command}` as that user")
    names = [space.name for space in missing]
    if names:
        sentence = f"Made an index of {', '.join(names)}."
    elif spaces:
        sentence = "There is nothing to do: every large vector space has its index."
    else:
        sentence = f"There is nothing to do: no vector space has more than {EXACT_SEARCH_LIMIT:,} vectors."
    print_reply({"home": display_name(url), "tenant": database.tenant, "made": names}, sentence)


def _grant(url: str, login: str | None) -> None:
    if not login:
        raise InvalidArgument("name a login: commonplace db grant URL --to LOGIN --tenant NAME")
    database = Database(parse_url(url))
    require_migrated(database, display_name(url))
    is_new = bind_login(database, login)
    created = f"Made the login {login}: give it a password (psql: \\password {login}). " if is_new else ""
    sentence = f"{created}{login} can reach only the tenant {database.tenant}, whatever it sends."
    print_reply({"login": login, "tenant": database.tenant, "made": is_new}, sentence)


def _show_status(url: str) -> None:
    database = Database(parse_url(url))
    now = migration_status(database)
    with database.admin_connection() as connection:
        version = connection.info.server_version
    reply: dict[str, Any] = {
        "home": display_name(url),
        "tenant": database.tenant,
        "server": f"{version // 10000}.{version % 10000}",
        "applied": [str(step) for step in now.applied],
        "pending": [str(step) for step in now.pending],
        "unknown": [str(step) for step in now.unknown],
        "ready": now.is_ready,
    }
    with suppress(StorageError):  # there are no tables, or this user may not read them
        reply["vectors"] = [
            {"space": space.name, "vectors": space.vectors, "index": space.has_hnsw} for space in large_spaces(database)
        ]
    print_reply(reply, partial(_print_status, reply, _advise(now, display_name(url))))


def _print_status(reply: dict[str, Any], advice: str) -> None:
    rows = [[name, str(reply[name])] for name in ("home", "tenant", "server")]
    rows += [[kind, ", ".join(reply[kind])] for kind in ("applied", "pending", "unknown") if reply[kind]]
    for space in reply.get("vectors", ()):
        index = "with an index" if space["index"] else "without an index: see `commonplace db quicken`"
        rows.append(["vectors", f"{space['vectors']:,} of {space['space']}, {index}"])
    print_table(["", ""], rows)
    print_text(advice)


def _advise(now: Status, url: str) -> str:
    if now.is_too_new:
        return "A newer commonplace changed these tables: update this one."
    if now.pending:
        return f"Run `{format_command('db', 'migrate' if now.applied else 'init', url)}`."
    if now.unknown:
        return "A newer commonplace changed these tables; this one can still use them."
    return "The tables are up to date."
