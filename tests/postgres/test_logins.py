"""A login that is bound to a tenant reaches no rows of another, whatever SQL it sends."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from commonplace import Memory
from commonplace.errors import InvalidArgument, StorageError
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.migrate import bind_login
from commonplace.storage.postgres.url import parse_url, with_tenant

from ..surfaces.mcp.test_process import run
from .conftest import admin

pytestmark = pytest.mark.slow
ESCAPES = (
    "SELECT 1",
    "RESET ROLE",
    "SET ROLE commonplace_member",
    "SET SESSION ROLE NONE",
    "SELECT set_config('commonplace.tenant', 'them', false)",
    "SELECT set_config('commonplace.tenant', 'them', false), set_config('role', 'none', false)",
    "SET row_security = off",
    "SET search_path = pg_temp, commonplace; SELECT set_config('commonplace.tenant', 'them', false)",
)


@pytest.fixture
def bound(url: str) -> Iterator[str]:
    """The URL of a login that is bound to the tenant `ours`, where another tenant has something to find."""
    name = f"bound_{secrets.token_hex(6)}"
    with Memory(with_tenant(url, "them")) as memory:
        memory.call("remember", {"content": "their secret about quokkas"})
        memory.call("memory_write", {"key": "theirs", "content": "v"})
        assert memory.search("quokkas")
    assert bind_login(Database(parse_url(with_tenant(url, "ours"))), name)
    assert not bind_login(Database(parse_url(with_tenant(url, "ours"))), name), "doing it again changes nothing"
    yield url.replace("postgres:", f"{name}:", 1)
    admin(url, f"DROP OWNED BY {name}")
    admin(url, f"DROP ROLE {name}")


def tables(connection: Any) -> list[str]:
    return [
        row[0]
        for row in connection.execute(
            "SELECT relname FROM pg_class AS c WHERE relnamespace = 'commonplace'::regnamespace AND relkind IN ('r', 'p')"
            " AND EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant')"
        ).fetchall()
    ]


def test_a_bound_login_is_its_tenant(bound: str) -> None:
    with Memory(with_tenant(bound, "ours")) as memory:
        memory.call("remember", {"content": "our own wombats"})
        assert memory.call("memory_write", {"key": "k", "content": "v"})["success"]
        assert "wombats" in memory.search("wombats")[0].text
        assert memory.search("quokkas") == [] or all("quokkas" not in hit.text for hit in memory.search("quokkas"))
        assert memory.status()["warnings"] == []


def test_a_login_stays_bound_when_it_is_renamed(bound: str, url: str) -> None:
    import psycopg

    name = urlsplit(bound).username
    renamed = f"Renamed {name}"
    admin(url, f'ALTER ROLE {name} RENAME TO "{renamed}"')
    try:
        under_new_name = bound.replace(f"{name}:", f"{quote(renamed)}:", 1)
        with pytest.raises(StorageError, match="can reach only the tenant ours"):
            Memory(with_tenant(under_new_name, "them"))
        with psycopg.connect(under_new_name, autocommit=True) as connection:
            connection.execute("SELECT set_config('commonplace.tenant', 'them', false)")
            assert connection.execute("SELECT commonplace.current_tenant()").fetchone() == ("ours",)
            assert connection.execute("SELECT tenant FROM commonplace.logins").fetchall() == [("ours",)]
            assert connection.execute("SELECT count(*) FROM commonplace.pages WHERE tenant = 'them'").fetchone() == (0,)
    finally:
        admin(url, f'ALTER ROLE "{renamed}" RENAME TO {name}')


def test_a_bound_login_that_names_another_tenant_learns_which_is_its_own(bound: str) -> None:
    with pytest.raises(StorageError, match=r"can reach only the tenant ours: name that in the URL, as \?tenant=ours"):
        Memory(with_tenant(bound, "them"))


@pytest.mark.parametrize("escape", ESCAPES)
def test_no_sql_of_a_bound_login_reaches_rows_of_another(bound: str, url: str, escape: str) -> None:
    import psycopg

    with psycopg.connect(bound, autocommit=True) as connection:
        names = tables(connection)
        assert len(names) > 12
        for name in names:
            for what in (
                f"SELECT count(*) FROM commonplace.{name} WHERE tenant = 'them'",
                f"WITH gone AS (DELETE FROM commonplace.{name} WHERE tenant = 'them' RETURNING 1) SELECT count(*) FROM gone",
            ):
                connection.execute(escape.encode())
                with suppress(psycopg.errors.InsufficientPrivilege):
                    assert connection.execute(what.encode()).fetchone() == (0,), (name, what)
    with Memory(with_tenant(url, "them")) as theirs:
        assert "quokkas" in theirs.search("quokkas")[0].text, "nothing is gone"


def test_a_bound_login_neither_writes_for_another_nor_looks_its_words_up(bound: str, url: str) -> None:
    import psycopg

    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT territory, tsvector_to_array(words) FROM commonplace.index_words WHERE tenant = 'them'"
        ).fetchall()
    territory, words = rows[0]
    question = "SELECT count(*) FROM commonplace.index_lookup(%s, %s)"
    quoted = [f"'{word}'" for word in words]
    for login, expected in ((url, True), (bound, False)):
        with psycopg.connect(login, autocommit=True) as connection:
            connection.execute("SELECT set_config('commonplace.tenant', 'them', false)")
            row = connection.execute(question, (territory, quoted)).fetchone()
            assert bool(row and row[0]) is expected
    with psycopg.connect(bound, autocommit=True) as connection:
        connection.execute("SELECT set_config('commonplace.tenant', 'them', false)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("INSERT INTO commonplace.locks VALUES ('them', 'x')")


def test_a_bound_login_plants_no_page_whose_path_leads_nowhere(bound: str) -> None:
    import psycopg

    insert = (
        "INSERT INTO commonplace.pages (tenant, path, data, version, size, seq, written_at)"
        " VALUES ('ours', %s, 'x', 'v', 1, 1, now())"
    )
    with psycopg.connect(bound, autocommit=True) as connection:
        for path in ("", "/etc/x.md", "..", "../x.md", "memory/../../x.md", "memory//x.md", "./x.md", "memory/."):
            with pytest.raises(psycopg.errors.CheckViolation):
                connection.execute(insert, (path,))
        connection.execute(insert, ("memory/..x/.a.md",))


def test_a_bound_login_cannot_unbind_itself(bound: str) -> None:
    import psycopg

    with psycopg.connect(bound, autocommit=True) as connection:
        assert connection.execute("SELECT tenant FROM commonplace.logins").fetchall() == [("ours",)]
        for statement in (
            "DELETE FROM commonplace.logins",
            "INSERT INTO commonplace.logins SELECT login, 'them' FROM commonplace.logins",
            "UPDATE commonplace.logins SET tenant = 'them'",
            "ALTER POLICY own_rows ON commonplace.pages USING (true)",
            "ALTER FUNCTION commonplace.current_tenant() RENAME TO x",
            "SET SESSION AUTHORIZATION postgres",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())


def test_a_login_whom_nothing_binds_is_not_bound(url: str) -> None:
    for name in ("postgres", "", "x" * 64):
        with pytest.raises(InvalidArgument):
            bind_login(Database(parse_url(url)), name)


@pytest.mark.parametrize(
    "power", ["CREATEROLE", "REPLICATION", "BYPASSRLS", "IN ROLE pg_read_server_files", "IN ROLE postgres"]
)
def test_a_login_that_could_get_past_the_policies_is_not_bound(url: str, power: str) -> None:
    name = f"mighty_{secrets.token_hex(6)}"
    admin(url, f"CREATE ROLE {name} LOGIN {power}")
    try:
        with pytest.raises(InvalidArgument, match="name another login"):
            bind_login(Database(parse_url(url)), name)
    finally:
        admin(url, f"DROP ROLE {name}")


def test_a_login_is_made_and_bound_from_the_command_line(url: str) -> None:
    name = f"bound_{secrets.token_hex(6)}"
    done = run("db", "grant", url, "--to", name, "--tenant", "ours")
    assert done.stdout == (
        f"Made the login {name}: give it a password (psql: \\password {name}). {name} can reach only the tenant ours, whatever it "
        "sends.\n"
    )
    assert run("db", "grant", with_tenant(url, "ours"), "--to", name).stdout.startswith(
        f"{name} can reach only the tenant ours"
    )
    own = url.replace("postgres:", f"{name}:", 1)
    assert run("--home", with_tenant(own, "ours"), "remember", "our own wombats").returncode == 0
    refused = run("--home", with_tenant(own, "them"), "remember", "x")
    assert (refused.returncode, "can reach only the tenant ours" in refused.stderr) == (6, True)
    assert "may not bind" in run("db", "grant", with_tenant(own, "ours"), "--to", "another").stderr
    assert "name a login" in run("db", "grant", url).stderr
    assert "name another login" in run("db", "grant", url, "--to", "postgres").stderr
    admin(url, f"DROP OWNED BY {name}")
    admin(url, f"DROP ROLE {name}")
