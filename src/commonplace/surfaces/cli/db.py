"""The tables of a database: make them, bring them up to date, show how they are. And whether a command can use them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from ...errors import InvalidArgument, StorageError
from ...storage.backends import display_name, in_database
from ...storage.postgres.connection import Database
from ...storage.postgres.hnsw import large_spaces, quicken
from ...storage.postgres.logins import bind_login
from ...storage.postgres.migrate import Status, migrate, migration_status, require_migrated
from ...storage.postgres.url import parse_url, with_tenant
from ...storage.postgres.visibility import EXACT
from .common import answer, home_path, say, shared, table


def require_tables(url: str) -> None:
    """StorageError where a database has no tables, or those of another version; with the command that helps."""
    require_migrated(Database(parse_url(url)), display_name(url))


@click.command("db")
@click.argument("action", type=click.Choice(["init", "migrate", "status", "quicken", "grant"]))
@click.argument("url", required=False)
@click.option("--to", "login", metavar="LOGIN", help="For grant: who is bound to the tenant.")
@click.option("--tenant", metavar="NAME", help="For grant: the tenant, where the URL does not name it.")
@shared
def db_command(action: str, url: str | None, login: str | None, tenant: str | None) -> None:
    """Make the tables of a database (init), bring them up to date (migrate), or show how they are (status).

    quicken: make an index of a tenant's vectors, where there are many; `commonplace index` of the owner does it, too.

    grant: let a login of the database in as one tenant, and keep it to that, whatever SQL it sends; it is made where
    there is none of that name.

    URL is like postgresql://user@host/name, by default what --home or COMMONPLACE_HOME says. Who makes tables owns
    them: others are let in with GRANT commonplace_member TO them. Pages and history are left as they are.
    """
    url = url or home_path()
    if not in_database(url):
        raise InvalidArgument("name a database: commonplace db init postgresql://user@host/name")
    if action == "status":
        _show(url)
        return
    if action == "quicken":
        _quicken(url)
        return
    if action == "grant":
        _grant(url if tenant is None else with_tenant(url, tenant), login)
        return
    database = Database(parse_url(url))
    if action == "migrate" and not migration_status(database).applied:
        raise StorageError(f"{display_name(url)} has no tables yet: run `commonplace db init '{display_name(url)}'`")
    done = [str(step) for step in migrate(database)]
    said = f"Applied to {display_name(url)}: {', '.join(done)}." if done else f"{display_name(url)} is up to date."
    answer({"home": display_name(url), "applied": done}, lambda: say(said))


def _quicken(url: str) -> None:
    """The indexes of vectors that one tenant lacks; it takes minutes for each."""
    require_tables(url)
    database = Database(parse_url(url))
    spaces = large_spaces(database)
    missing = [each for each in spaces if not each.quick]
    if missing and not all(quicken(database, each) for each in missing):
        raise StorageError(
            f"only who owns the tables can do this: run `commonplace db quicken '{display_name(url)}'` as that"
        )
    made = [each.name for each in missing]
    said = f"Made an index of {', '.join(made)}." if made else "There is nothing to do: "
    why = "" if made else "every large space has its index." if spaces else f"no space has more than {EXACT:,} vectors."
    answer({"home": display_name(url), "tenant": database.tenant, "made": made}, lambda: say(said + why))


def _grant(url: str, login: str | None) -> None:
    if not login:
        raise InvalidArgument("say who is let in: commonplace db grant URL --to LOGIN --tenant NAME")
    require_tables(url)
    database = Database(parse_url(url))
    is_new = bind_login(database, login)
    made = f"Made the login {login}: give it a password (psql: \\password {login}). " if is_new else ""
    said = f"{made}{login} is for the tenant {database.tenant}, whatever it sends."
    answer({"login": login, "tenant": database.tenant, "made": is_new}, lambda: say(said))


def _show(url: str) -> None:
    database = Database(parse_url(url))
    now = migration_status(database)
    with database.admin_connection() as connection:
        server = connection.info.server_version
    reply: dict[str, Any] = {
        "home": display_name(url), "tenant": database.tenant, "server": f"{server // 10000}.{server % 10000}",
        "applied": [str(each) for each in now.applied], "pending": [str(each) for each in now.pending],
        "unknown": [str(each) for each in now.unknown], "ready": now.is_ready,
    }  # fmt: skip
    with suppress(StorageError):  # there are no tables, or this user may not read them: the rest is said
        reply["vectors"] = [
            {"space": each.name, "vectors": each.vectors, "index": each.quick} for each in large_spaces(database)
        ]

    def human() -> None:
        rows = [[name, str(reply[name])] for name in ("home", "tenant", "server")]
        rows += [[kind, ", ".join(reply[kind])] for kind in ("applied", "pending", "unknown") if reply[kind]]
        for each in reply.get("vectors", ()):
            index = "with an index" if each["index"] else "without an index: see `commonplace db quicken`"
            rows.append(["vectors", f"{each['vectors']:,} of {each['space']}, {index}"])
        table(["", ""], rows)
        say(_advice(now, display_name(url)))

    answer(reply, human)


def _advice(now: Status, url: str) -> str:
    if now.is_too_new:
        return "A newer commonplace changed these tables: update this one."
    if now.pending:
        return f"Run `commonplace db {'migrate' if now.applied else 'init'} '{url}'`."
    if now.unknown:
        return "A newer commonplace changed these tables, and this one can go on with them."
    return "The tables are up to date."
