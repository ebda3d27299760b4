"""A tenant neither sees, counts, changes nor makes out what another one has."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from commonplace.errors import InvalidArgument, NotFound, StorageError
from commonplace.storage.base import Root
from commonplace.storage.postgres.connection import MEMBER_ROLE, Database
from commonplace.storage.postgres.history import PostgresHistory
from commonplace.storage.postgres.pages import PostgresPages
from commonplace.storage.postgres.url import parse_url
from commonplace.testing import FrozenClock

pytestmark = pytest.mark.slow
TABLES = ("tenants", "pages", "history", "locks")


@pytest.fixture
def theirs(open_database: Callable[..., Database], clock: FrozenClock) -> PostgresPages:
    """Pages of another tenant, with something to find."""
    database = open_database("them")
    pages = PostgresPages(database, lambda path, size: None, PostgresHistory(database, clock))
    pages.write("memory/secret.md", "their secret\n")
    pages.write("memory/secret.md", "their second secret\n")
    pages.write("memory/gone.md", "x")
    pages.remove("memory/gone.md")
    return pages


def test_nothing_of_another_tenant_is_found_through_pages_or_history(
    pages: PostgresPages, history: PostgresHistory, theirs: PostgresPages
) -> None:
    change = theirs.history.changes()[0]
    assert pages.list("memory", deep=True) == pages.list_folders("") == []
    assert pages.find_text("", "secret") == ([], [])
    assert pages.changes({}, [Root("memory"), Root("memory/secret.md", is_page=True)]).changed == {}
    assert pages.changed_since(0) == (0, [], [])
    assert (history.changes(), history.paths(), history.size()) == ([], [], 0)
    assert history.head("memory/secret.md") is None
    for act in (
        lambda: history.change(change.id),
        lambda: history.read_version(change.path, change.version),
        lambda: pages.read("memory/secret.md"),
    ):
        with pytest.raises(NotFound):
            act()
    assert history.rewrite(lambda path, versions: []) == 0
    assert len(theirs.history.changes()) == 4


def test_two_tenants_have_pages_of_the_same_name(pages: PostgresPages, theirs: PostgresPages) -> None:
    pages.write("memory/secret.md", "ours", if_version="")
    pages.remove("memory/secret.md")
    assert theirs.read("memory/secret.md").text == "their second secret\n"
    assert pages.changed_since(0).seq == 2
    assert theirs.changed_since(0).seq == 4


@pytest.mark.parametrize("table", TABLES)
def test_a_statement_that_names_no_tenant_reaches_none_but_its_own(
    database: Database, theirs: PostgresPages, table: str
) -> None:
    with database.transaction() as connection:
        assert connection.execute(f"SELECT count(*) FROM commonplace.{table}").fetchone() == (0,)
        assert connection.execute(f"SELECT * FROM commonplace.{table} WHERE tenant = 'them'").fetchall() == []
        assert connection.execute(f"DELETE FROM commonplace.{table}").rowcount == 0
        assert connection.execute(f"UPDATE commonplace.{table} SET tenant = 'acme'").rowcount == 0


def test_a_row_is_not_given_to_another_tenant(database: Database, pages: PostgresPages, theirs: PostgresPages) -> None:
    pages.write("memory/a.md", "ours")
    for statement in (
        "INSERT INTO commonplace.tenants (tenant, seq) VALUES ('them', 99)",
        "UPDATE commonplace.pages SET tenant = 'them'",
        "INSERT INTO commonplace.locks (tenant, name) VALUES ('them', 'x')",
        "INSERT INTO commonplace.pages SELECT 'them', path, data, version, size, seq, written_at FROM commonplace.pages",
    ):
        with pytest.raises(StorageError, match="row-level security"), database.transaction() as connection:
            connection.execute(statement.encode())


def test_whether_another_tenant_has_a_page_is_not_to_be_made_out_from_a_refusal(
    database: Database, theirs: PostgresPages
) -> None:
    """An insert that would meet their row is refused for whose it is, not for being there already."""
    messages = []
    for path in ("memory/secret.md", "memory/nothing.md"):
        with pytest.raises(StorageError) as refused, database.transaction() as connection:
            connection.execute(
                "INSERT INTO commonplace.pages (tenant, path, version, size, seq, written_at)"
                " VALUES ('them', %s, '', 0, 0, now()) ON CONFLICT DO NOTHING",
                (path,),
            )
        messages.append(str(refused.value))
    assert messages[0] == messages[1]


def test_a_transaction_runs_as_a_member_whoever_connects(database: Database) -> None:
    import psycopg

    with database.transaction() as connection:
        assert connection.execute("SELECT current_user").fetchone() == (MEMBER_ROLE,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("DROP TABLE commonplace.pages")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("ALTER TABLE commonplace.pages DISABLE ROW LEVEL SECURITY")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("TRUNCATE commonplace.pages")


def test_a_statement_sent_with_what_binds_it_is_bound_every_time(database: Database) -> None:
    question = "SELECT current_user, current_setting('commonplace.tenant'), %(number)s::int"
    for number in range(30):
        assert database.query(question, {"number": number}) == [(MEMBER_ROLE, "acme", number)]


def test_a_connection_that_goes_from_hand_to_hand_keeps_no_tenant(database: Database) -> None:
    with database.transaction() as connection:
        connection.execute("SELECT 1")
    with database._pools.get("work").connection() as bare:
        assert bare.execute("SELECT coalesce(current_setting('commonplace.tenant', true), '')").fetchone() == ("",)
        assert bare.execute("SELECT current_user = session_user").fetchone() == (True,)


def test_without_a_tenant_the_tables_are_empty_for_a_member(database: Database, theirs: PostgresPages) -> None:
    with database.admin_connection() as connection, connection.transaction():
        connection.execute(f"SET LOCAL ROLE {MEMBER_ROLE}".encode())
        for table in TABLES:
            assert connection.execute(f"SELECT count(*) FROM commonplace.{table}".encode()).fetchone() == (0,)


def test_every_table_with_a_tenant_is_guarded_even_against_its_owner(database: Database) -> None:
    with database.admin_connection() as connection:
        rows = connection.execute(
            "SELECT relname, relrowsecurity AND relforcerowsecurity, EXISTS (SELECT 1 FROM pg_policy WHERE polrelid = c.oid)"
            " FROM pg_class AS c WHERE relnamespace = 'commonplace'::regnamespace AND relkind IN ('r', 'p')"
            " AND EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant')"
        ).fetchall()
    assert {name for name, _, _ in rows} >= set(TABLES)
    assert [name for name, forced, has_policy in rows if not (forced and has_policy)] == []


def test_a_tenant_of_any_name_is_a_tenant(open_database: Callable[..., Database], clock: FrozenClock) -> None:
    for tenant in ("a'b", "日本", 'x" OR 1=1 --', "%", "default"):
        database = open_database(tenant)
        pages = PostgresPages(database, lambda path, size: None, PostgresHistory(database, clock))
        pages.write("memory/a.md", tenant)
        assert pages.read("memory/a.md").text == tenant
        assert pages.changed_since(0).seq == 1


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:///db",
        "postgresql://user:p%40ss#word@one:5432,two:5433/db?target_session_attrs=read-write",
        "postgres://host/db?options=-c%20search_path%3Dx&application_name=a+b",
        "postgresql://?host=/run/postgresql",
    ],
)
def test_a_tenant_in_a_url_leaves_the_rest_of_it_as_it_was(url: str) -> None:
    with_tenant = f"{url}{'&' if '?' in url else '?'}tenant=a%20b"
    assert parse_url(with_tenant) == (url, "a b", "")
    assert parse_url(url) == (url, "default", "")


@pytest.mark.parametrize("wrong", ["tenant=", "tenant=a&tenant=b", f"tenant={'x' * 201}", "tenant=a%00b"])
def test_a_url_names_one_tenant(wrong: str) -> None:
    with pytest.raises(InvalidArgument, match="one tenant"):
        parse_url(f"postgresql://host/db?{wrong}")
