"""A bound login reads, counts, changes and plants no row of another tenant, whatever a statement does while it runs.

Every table with a column `tenant` is attacked: the catalog names them, so a new table is attacked without a new test.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

from commonplace import Memory
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.migrate import bind_login
from commonplace.storage.postgres.url import parse_url, with_tenant

from .conftest import admin, empty_database

pytestmark = pytest.mark.slow

# Changes the tenant setting while the statement runs; 4 is the length of `them`.
SWITCH = "length(set_config('commonplace.tenant', 'them', true))"
READS = {
    "select list": "SELECT tenant, {switch} FROM {table}",
    "where": "SELECT tenant FROM {table} WHERE {switch} = 4",
    "where before and after": "SELECT tenant FROM {table} WHERE tenant = 'ours' OR {switch} = 4",
    "order by": "SELECT tenant FROM {table} ORDER BY {switch}, tenant",
    "limit": "SELECT tenant FROM {table} LIMIT {switch} * 1000",
    "offset": "SELECT tenant FROM {table} OFFSET {switch} - 4",
    "group by": "SELECT min(tenant), max(tenant) FROM {table} GROUP BY {switch}",
    "having": "SELECT tenant FROM {table} GROUP BY tenant HAVING {switch} = 4",
    "aggregate": "SELECT max(tenant), count({switch}), max(tenant) FILTER (WHERE {switch} = 4) FROM {table}",
    "distinct on": "SELECT DISTINCT ON (tenant, {switch}) tenant FROM {table}",
    "window": "SELECT tenant, count({switch}) OVER (PARTITION BY {switch}) FROM {table}",
    "cte": "WITH switched AS MATERIALIZED (SELECT {switch} AS n) SELECT tenant FROM switched, {table}",
    "recursive cte": "WITH RECURSIVE steps(n, tenant) AS (SELECT 0, text '' COLLATE \"C\" UNION ALL SELECT n + {switch}, t.tenant"
    " FROM steps, {table} AS t WHERE n < 8) SELECT tenant FROM steps",
    "lateral": "SELECT seen.tenant FROM (VALUES ('ours'), ('them')) AS names(next_tenant), LATERAL (SELECT"
    " set_config('commonplace.tenant', next_tenant, true) AS x OFFSET 0) AS switched, LATERAL (SELECT tenant, x FROM {table}"
    " OFFSET 0) AS seen",
    "series": "SELECT tenant FROM generate_series(1, {switch}), {table}",
    "lazy series": "SELECT tenant, generate_series(1, {switch}) FROM {table}",
    "join": "SELECT other.tenant FROM {table} AS one JOIN {table} AS other ON {switch} = 4",
    "left join": "SELECT other.tenant FROM {table} AS one LEFT JOIN {table} AS other ON {switch} = 4",
    "union": "SELECT {switch}::text UNION ALL SELECT tenant FROM {table}",
    "exists": "SELECT tenant FROM {table} WHERE EXISTS (SELECT 1 FROM {table} WHERE {switch} = 4)",
    "scalar subquery": "SELECT {switch}, (SELECT max(tenant) FROM {table}) FROM {table}",
    "correlated subquery": "SELECT (SELECT max(b.tenant) FROM {table} AS b WHERE {switch} = length(a.tenant))"
    " FROM {table} AS a",
    "case": "SELECT CASE WHEN {switch} = 4 THEN tenant END FROM {table}",
    "sample": "SELECT tenant FROM {table} TABLESAMPLE BERNOULLI (100) WHERE {switch} = 4",
    "row lock": "SELECT tenant FROM {table} WHERE {switch} = 4 FOR UPDATE SKIP LOCKED",
    "whole row": "SELECT t::text, row_to_json(t)::text FROM {table} AS t WHERE {switch} = 4",
    "json": "SELECT json_agg(t)::text FROM {table} AS t WHERE {switch} = 4",
    "row address": "SELECT tenant FROM {table} WHERE ctid = ANY(ARRAY(SELECT format('(%s,%s)', page, line)::tid"
    " FROM generate_series(0, 3) AS page, generate_series(1, 40) AS line)) AND {switch} = 4",
    "named": "SELECT tenant FROM {table} WHERE tenant = 'them' AND {switch} = 4",
    "range": "SELECT tenant FROM {table} WHERE tenant > 'ours' AND {switch} = 4",
}
WRITES = {
    "delete": "DELETE FROM {table} WHERE {switch} = 4",
    "delete returning": "DELETE FROM {table} RETURNING tenant, {switch}",
    "delete using": "DELETE FROM {table} AS t USING generate_series(1, {switch}) WHERE t.tenant <> ''",
    "delete in cte": "WITH gone AS (DELETE FROM {table} WHERE {switch} = 4 RETURNING tenant) SELECT tenant FROM gone",
    "update": "UPDATE {table} SET tenant = tenant WHERE {switch} = 4",
    "update set": "UPDATE {table} SET tenant = CASE WHEN {switch} = 4 THEN 'them' END",
    "update take": "UPDATE {table} SET tenant = 'ours' WHERE tenant = 'them' AND {switch} = 4",
    "update from": "UPDATE {table} AS t SET tenant = 'them' FROM (SELECT {switch} AS n) AS switched WHERE n = 4",
    "update returning": "UPDATE {table} SET tenant = tenant RETURNING tenant, {switch}",
    "insert": "INSERT INTO {table} ({columns}) SELECT CASE WHEN {switch} = 4 THEN 'them' END, {rest} FROM {table}",
    "insert ours, then theirs": "INSERT INTO {table} ({columns}) SELECT set_config('commonplace.tenant', next_tenant, true),"
    " {rest} FROM (VALUES ('ours'), ('third')) AS names(next_tenant), LATERAL (SELECT * FROM {table} WHERE next_tenant <> '' LIMIT 1)"
    " AS t ON CONFLICT DO NOTHING",
    "insert or nothing": "INSERT INTO {table} ({columns}) SELECT 'them', {rest} FROM {table} WHERE {switch} = 4"
    " ON CONFLICT DO NOTHING",
    "insert returning": "INSERT INTO {table} ({columns}) SELECT 'them', {rest} FROM {table} RETURNING {switch}",
    "values": "INSERT INTO {table} ({columns}) VALUES (CASE WHEN {switch} = 4 THEN 'them' END, {values})",
    "merge delete": "MERGE INTO {table} AS t USING (SELECT {switch} AS n) AS s ON s.n = 4 WHEN MATCHED THEN DELETE",
    "merge update": "MERGE INTO {table} AS t USING (SELECT {switch} AS n) AS s ON s.n = 4 WHEN MATCHED THEN UPDATE"
    " SET tenant = 'them'",
    "merge insert": "MERGE INTO {table} AS t USING (SELECT * FROM {table} WHERE {switch} = 4) AS s ON false"
    " WHEN NOT MATCHED THEN INSERT ({columns}) VALUES ('them', {rest_of_s})",
    "truncate": "TRUNCATE {table}",
    "copy in": "COPY {table} FROM STDIN",
}
SCANS = {
    "sequential": "SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off",
    "index": "SET enable_seqscan = off",
    "parallel": "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
    " SET max_parallel_workers_per_gather = 2; SET enable_indexscan = off; SET enable_bitmapscan = off",
}


class Table(NamedTuple):
    name: str
    columns: tuple[str, ...]  # of those that can be written; `tenant` is the first

    def fill(self, statement: str) -> str:
        rest = self.columns[1:]
        return statement.format(
            table=self.name,
            switch=SWITCH,
            columns=", ".join(self.columns),
            rest=", ".join(rest),
            rest_of_s=", ".join(f"s.{column}" for column in rest),
            values=", ".join(f"(SELECT {column} FROM {self.name} LIMIT 1)" for column in rest),
        )


class Wall(NamedTuple):
    owner_url: str
    login_url: str
    login: str
    tables: tuple[Table, ...]


@pytest.fixture(scope="module")
def wall(server: str, template: str) -> Iterator[Wall]:
    """Two tenants with rows in every table, and a login that is bound to one of them. Tests leave it as it is."""
    import psycopg

    with empty_database(server, template) as url:
        login = f"bound_{secrets.token_hex(6)}"
        with Memory(with_tenant(url, "them")) as memory:
            memory.call("remember", {"content": "their secret about quokkas"})
            memory.call("write_memory", {"key": "theirs", "content": "their record"})
            assert memory.search("quokkas")
        bind_login(Database(parse_url(with_tenant(url, "ours"))), login)
        with psycopg.connect(url) as connection:
            tables = read_tables(connection)
            for table in tables:
                share_rows(connection, table)
        yield Wall(url, url.replace("postgres:", f"{login}:", 1), login, tables)
        admin(url, f"DROP OWNED BY {login}")
        admin(url, f"DROP ROLE {login}")


def read_state(connection: Any, tables: Iterable[Table]) -> dict[str, Any]:
    """Return a digest of all rows that are not of the tenant `ours`, by table."""
    digest = "SELECT count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {} AS t WHERE tenant <> 'ours'"
    return {table.name: connection.execute(digest.format(table.name).encode()).fetchone() for table in tables}


def read_tables(connection: Any) -> tuple[Table, ...]:
    rows = connection.execute(
        "SELECT attrelid::regclass::text, array_agg(attname::text ORDER BY attname <> 'tenant', attnum)"
        " FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid"
        " WHERE relnamespace = 'commonplace'::regnamespace AND relkind IN ('r', 'p') AND attnum > 0"
        " AND NOT attisdropped AND attgenerated = '' GROUP BY attrelid ORDER BY 1"
    ).fetchall()
    return tuple(
        Table(name, tuple(columns)) for name, columns in rows if columns[0] == "tenant" and name != "commonplace.logins"
    )


def share_rows(connection: Any, table: Table) -> None:
    """Give both tenants the same rows, those of `ours` first: a scan meets them before the others."""
    columns = ", ".join(table.columns)
    rest = ", ".join(table.columns[1:])
    if connection.execute(f"SELECT 1 FROM {table.name} LIMIT 1".encode()).fetchone() is None:
        insert_any_row(connection, table)
    connection.execute(f"CREATE TEMP TABLE copied ON COMMIT DROP AS SELECT {columns} FROM {table.name}".encode())
    connection.execute(f"DELETE FROM {table.name}".encode())
    for tenant in ("ours", "them"):
        insert = f"INSERT INTO {table.name} ({columns}) SELECT '{tenant}', {rest} FROM copied"
        connection.execute(insert.encode())
    connection.execute("DROP TABLE copied")


def insert_any_row(connection: Any, table: Table) -> None:
    values = {"tenant": "'them'", "role": "'admin'", "agents": "NULL", "id": "gen_random_uuid()::text"}
    types = dict(
        connection.execute(
            "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0",
            (table.name,),
        ).fetchall()
    )
    by_type = {"text": "'x'", "uuid": "gen_random_uuid()", "bytea": "'x'", "timestamp with time zone": "now()"}
    by_type |= {"tsvector": "'x'", "vector": "'[1,2]'", "double precision": "0", "bigint": "1", "integer": "1"}
    literals = []
    for column in table.columns:
        is_given = column in values and not (column == "id" and types[column] != "text")
        literals.append(values[column] if is_given else by_type[types[column]])
    insert = f"INSERT INTO {table.name} ({', '.join(table.columns)}) SELECT {', '.join(literals)}"
    connection.execute(insert.encode())


def start(connection: Any, tenant: str = "ours") -> None:
    connection.execute("SELECT set_config('commonplace.tenant', %s, true)", (tenant,))


def names_them(rows: list[tuple[Any, ...]]) -> bool:
    return any(isinstance(cell, str) and "them" in cell for row in rows for cell in row)


def fetch(connection: Any, statement: str) -> list[tuple[Any, ...]]:
    cursor = connection.execute(statement.encode())
    return cursor.fetchall() if cursor.description else []


def test_every_table_has_rows_to_attack(wall: Wall) -> None:
    import psycopg

    assert len(wall.tables) >= 16
    with psycopg.connect(wall.owner_url) as connection:
        assert [name for name, (count, _) in read_state(connection, wall.tables).items() if not count] == []


@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize("attack", READS)
def test_no_statement_reads_another_tenant(wall: Wall, attack: str, scan: str) -> None:
    import psycopg

    leaks = []
    with psycopg.connect(wall.login_url, autocommit=True) as connection:
        connection.execute(SCANS[scan].encode())
        for table in wall.tables:
            for tenant in ("ours", "them"):
                with suppress(psycopg.errors.InsufficientPrivilege), connection.transaction():
                    start(connection, tenant)
                    if names_them(fetch(connection, table.fill(READS[attack]))):
                        leaks.append((table.name, tenant))
    assert leaks == []


@pytest.mark.parametrize("scan", ["sequential", "index"])
@pytest.mark.parametrize("attack", WRITES)
def test_no_statement_changes_another_tenant(wall: Wall, attack: str, scan: str) -> None:
    """Who looks afterwards is a superuser who was the login for a while, and takes everything back."""
    import psycopg

    refusals = (psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported)
    with psycopg.connect(wall.owner_url, autocommit=True) as connection:
        before = read_state(connection, wall.tables)
        connection.execute(SCANS[scan].encode())
        for table in wall.tables:
            for tenant in ("them", "ours"):
                with connection.transaction(force_rollback=True):
                    connection.execute(f"SET SESSION AUTHORIZATION {wall.login}".encode())
                    with suppress(*refusals), connection.transaction():
                        start(connection, tenant)
                        assert not names_them(fetch(connection, table.fill(WRITES[attack]))), table.name
                    connection.execute("RESET SESSION AUTHORIZATION")
                    assert read_state(connection, [table]) == {table.name: before[table.name]}, tenant


@pytest.mark.parametrize("attack", ["insert", "insert or nothing", "values", "update set", "merge insert"])
def test_a_refusal_does_not_tell_whether_another_tenant_has_the_row(wall: Wall, attack: str) -> None:
    """Their keys are in every table already: the refusal is about whose they are, not about a duplicate."""
    import psycopg

    with psycopg.connect(wall.login_url, autocommit=True) as connection:
        for table in wall.tables:
            connection.execute("SET commonplace.tenant = 'ours'")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(table.fill(WRITES[attack]).encode())


def test_no_cursor_prepared_statement_view_or_copy_reads_another_tenant(wall: Wall) -> None:
    import psycopg

    with psycopg.connect(wall.login_url, autocommit=True) as connection:
        connection.execute(SCANS["sequential"].encode())
        for number, table in enumerate(wall.tables):
            with connection.transaction():
                start(connection)
                connection.execute(f"DECLARE c CURSOR FOR SELECT tenant FROM {table.name}".encode())
                connection.execute("FETCH 1 FROM c")
                start(connection, "them")
                assert not names_them(fetch(connection, "FETCH ALL FROM c")), table.name
                connection.execute("CLOSE c")
                connection.execute(f"DECLARE c CURSOR FOR SELECT tenant FROM {table.name}".encode())
                assert not names_them(fetch(connection, "FETCH ALL FROM c")), table.name
                connection.execute("CLOSE c")
            connection.execute(f"PREPARE p{number} AS SELECT tenant FROM {table.name} WHERE {SWITCH} = 4".encode())
            connection.execute(
                f"CREATE TEMP VIEW v{number} WITH (security_barrier) AS"
                f" SELECT tenant FROM {table.name} WHERE {SWITCH} = 4".encode()
            )
            for mode in ("force_generic_plan", "force_custom_plan"):
                connection.execute(f"SET plan_cache_mode = {mode}".encode())
                with connection.transaction():
                    start(connection)
                    assert not names_them(fetch(connection, f"EXECUTE p{number}")), table.name
                    start(connection)
                    assert not names_them(fetch(connection, f"SELECT * FROM v{number}")), table.name
            with connection.transaction():
                start(connection)
                copy = f"COPY (SELECT tenant FROM {table.name} WHERE {SWITCH} = 4) TO STDOUT"
                with connection.cursor().copy(copy.encode()) as rows:
                    assert b"them" not in b"".join(bytes(part) for part in rows), table.name


def test_no_function_or_operator_of_the_login_sees_a_row_of_another_tenant(wall: Wall) -> None:
    """A cheap function with side effects is called before dear conditions, but not before the policy."""
    import psycopg

    heard: list[str] = []
    with psycopg.connect(wall.login_url, autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
        connection.execute(SCANS["sequential"].encode())
        connection.execute(
            "CREATE FUNCTION pg_temp.peek(seen text, other text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS"
            f" $$ BEGIN PERFORM {SWITCH}; RAISE NOTICE 'saw %', seen; RETURN true; END $$;"
            "CREATE OPERATOR pg_temp.<<< (FUNCTION = pg_temp.peek, LEFTARG = text, RIGHTARG = text);"
            "CREATE FUNCTION pg_temp.loop(statement text) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS"
            f" $$ DECLARE seen text; BEGIN FOR seen IN EXECUTE statement LOOP PERFORM {SWITCH};"
            " RETURN NEXT seen; END LOOP; END $$"
        )
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("ALTER FUNCTION pg_temp.peek(text, text) LEAKPROOF")
        for table in wall.tables:
            for statement in (
                f"SELECT tenant FROM {table.name} WHERE pg_temp.peek(tenant, '')",
                f"SELECT tenant FROM {table.name} WHERE tenant OPERATOR(pg_temp.<<<) 'x'",
                f"SELECT pg_temp.loop('SELECT tenant FROM {table.name}')",
            ):
                with connection.transaction():
                    start(connection)
                    assert not names_them(fetch(connection, statement)), statement
    assert heard
    assert {*heard} == {"saw ours"}


def test_no_scan_for_another_tenant_is_even_begun(wall: Wall) -> None:
    """`EXPLAIN ANALYZE` counts rows that were met and left out: there are none to count."""
    import psycopg

    explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF)"
    with psycopg.connect(wall.login_url, autocommit=True) as connection:
        for scan in ("SET enable_seqscan = off", "SET enable_indexscan = off", "SET enable_indexonlyscan = off"):
            connection.execute(scan.encode())
            for table in wall.tables:
                with connection.transaction():
                    start(connection, "them")
                    rows = fetch(connection, f"{explain} SELECT 1 FROM {table.name} WHERE tenant = 'them'")
                scans = [line for (line,) in rows if " Scan " in line]
                assert scans
                assert [line for line in scans if "never executed" not in line] == [], table.name


@pytest.mark.parametrize("scan", SCANS)
def test_no_cost_tells_which_login_is_bound_to_which_tenant(wall: Wall, scan: str) -> None:
    import psycopg

    other = f"other_{secrets.token_hex(6)}"
    bind_login(Database(parse_url(with_tenant(wall.owner_url, "them"))), other)
    explain = (
        "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT 1 FROM commonplace.logins WHERE"
    )
    try:
        with psycopg.connect(wall.login_url, autocommit=True) as connection:
            connection.execute(SCANS[scan].encode())
            for condition, right, wrong in (
                ("login = '{}' AND tenant = '{}'", (other, "them"), (other, "nobody")),
                ("login = '{}'", (other,), ("nobody",)),
                ("tenant >= '{}'", ("them",), ("thez",)),
                ("role = (SELECT oid FROM pg_roles WHERE rolname = '{}')", (other,), ("commonplace_member",)),
                ("reverse(login) = reverse('{}')", (other,), ("nobody",)),
            ):
                plans = []
                for names in (right, wrong):
                    rows = fetch(connection, f"{explain} {condition.format(*names)}")
                    plans.append([re.sub(r"'.*?'", "''", line) for (line,) in rows])
                assert plans[0] == plans[1]
    finally:
        admin(wall.owner_url, f"DELETE FROM commonplace.logins WHERE login = '{other}'")
        admin(wall.owner_url, f"REVOKE commonplace_member FROM {other}; DROP ROLE {other}")


def test_other_roles_and_settings_do_not_unbind_a_login(wall: Wall) -> None:
    import psycopg

    question = "SELECT commonplace.current_tenant()"
    for change in (
        "RESET ROLE",
        "SET ROLE commonplace_member",
        "SET SESSION ROLE NONE",
        f"SET SESSION AUTHORIZATION {wall.login}",
        "SET search_path = pg_temp, commonplace",
        "SET transform_null_equals = on",
        "SET DEFAULT_TRANSACTION_ISOLATION = 'serializable'",
        "SET commonplace.tenant = 'them'",
        "CREATE TEMP TABLE logins (login text, tenant text); INSERT INTO logins VALUES (session_user, 'them');"
        " SET search_path = pg_temp",
        "CREATE FUNCTION pg_temp.current_setting(text, boolean) RETURNS text LANGUAGE sql AS $$ SELECT 'them' $$",
    ):
        with psycopg.connect(wall.login_url, autocommit=True) as connection:
            connection.execute(change.encode())
            assert connection.execute(question).fetchone() == ("ours",), change
    with psycopg.connect(wall.login_url, autocommit=True) as connection:
        connection.execute("SET row_security = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT count(*) FROM commonplace.pages")


def test_a_login_with_two_tenants_is_the_one_that_is_set_and_no_third(url: str) -> None:
    import psycopg

    login = f"both_{secrets.token_hex(6)}"
    for tenant in ("ours", "second"):
        bind_login(Database(parse_url(with_tenant(url, tenant))), login)
    try:
        with psycopg.connect(url.replace("postgres:", f"{login}:", 1), autocommit=True) as connection:
            for setting, expected in (("ours", "ours"), ("second", "second"), ("them", None), ("", None)):
                connection.execute("SELECT set_config('commonplace.tenant', %s, false)", (setting,))
                assert connection.execute("SELECT commonplace.current_tenant()").fetchone() == (expected,)
    finally:
        admin(url, f"DROP OWNED BY {login}")
        admin(url, f"DROP ROLE {login}")


def test_a_session_and_its_plans_are_bound_as_soon_as_its_login_is(url: str) -> None:
    import psycopg

    login = f"late_{secrets.token_hex(6)}"
    admin(url, f"CREATE ROLE {login} LOGIN; GRANT commonplace_member TO {login}")
    admin(url, "INSERT INTO commonplace.locks VALUES ('ours', 'a'), ('them', 'a')")
    try:
        with psycopg.connect(url.replace("postgres:", f"{login}:", 1), autocommit=True) as connection:
            connection.execute("SET plan_cache_mode = force_generic_plan; SET commonplace.tenant = 'them'")
            connection.execute("PREPARE p AS SELECT tenant FROM commonplace.locks")
            assert connection.execute("EXECUTE p").fetchall() == [("them",)]
            bind_login(Database(parse_url(with_tenant(url, "ours"))), login)
            assert connection.execute("EXECUTE p").fetchall() == [("ours",)]
    finally:
        admin(url, f"DROP OWNED BY {login}; DROP ROLE {login}")


class Words(NamedTuple):
    territory: str
    ours: str
    theirs: str
    absent: str


@pytest.fixture(scope="module")
def words(wall: Wall) -> Words:
    """A lexeme of ours, one of theirs, and one with their mark that nobody has."""
    import psycopg

    with Memory(with_tenant(wall.login_url, "ours")) as memory:
        memory.call("remember", {"content": "our own wombats"})
        assert memory.search("wombats")
    find = (
        "SELECT territory, lexeme FROM commonplace.index_words, unnest(tsvector_to_array(words)) AS lexeme"
        " WHERE tenant = %s AND lexeme LIKE %s ORDER BY id DESC LIMIT 1"
    )
    with psycopg.connect(wall.owner_url) as connection:
        territory, ours = connection.execute(find, ("ours", "%bwombat%")).fetchone() or ("", "")
        _, theirs = connection.execute(find, ("them", "%bquokka%")).fetchone() or ("", "")
    return Words(territory, ours, theirs, f"{theirs[:11]}zebra")


def test_no_word_of_another_tenant_is_looked_up(wall: Wall, words: Words) -> None:
    import psycopg

    lookup = "commonplace.index_lookup(%(territory)s, ARRAY[quote_literal(%(ours)s), quote_literal(%(theirs)s)])"
    switch_all = f"(SELECT array_agg(l) FROM unnest(ARRAY[quote_literal(%(theirs)s)]) AS l WHERE {SWITCH} = 4)"
    with psycopg.connect(wall.login_url, autocommit=True) as connection:
        for statement in (
            f"SELECT ({lookup}).place, {SWITCH}",
            f"SELECT {SWITCH}, ({lookup}).place",
            f"SELECT place FROM {lookup} WHERE {SWITCH} = 4",
            f"SELECT place FROM generate_series(1, {SWITCH}), LATERAL (SELECT * FROM {lookup}) AS l",
            f"SELECT 1 + place FROM commonplace.index_lookup(%(territory)s, {switch_all})",
        ):
            for tenant in ("ours", "them"):
                with connection.transaction():
                    start(connection, tenant)
                    rows = connection.execute(statement.encode(), words._asdict()).fetchall()
                assert all(2 not in row for row in rows), (statement, tenant)
        with connection.transaction():
            start(connection)
            assert connection.execute(f"SELECT place FROM {lookup}".encode(), words._asdict()).fetchall() == [(1,)]


@pytest.mark.parametrize("form", ["'{}'", "'{}':*", "'{}' | 'x'", "'x' | '{}'", "!'{}'", "'{}':A", "('{}')"])
def test_a_lookup_costs_the_same_whether_another_tenant_has_the_word(wall: Wall, words: Words, form: str) -> None:
    """Buffers that are read on the way would tell as well as the answer."""
    import psycopg

    explain = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM commonplace.index_lookup(%s, ARRAY[%s])"

    def count_buffers(lexeme: str) -> int:
        row = connection.execute(explain, (words.territory, form.format(lexeme))).fetchone()
        plan = row[0][0]["Plan"]  # type: ignore[index]
        assert plan["Actual Rows"] == 0
        return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])

    with psycopg.connect(wall.login_url, autocommit=True) as connection:
        for tenant in ("ours", "them"):
            connection.execute("SELECT set_config('commonplace.tenant', %s, false)", (tenant,))
            counts = [(count_buffers(words.theirs), count_buffers(words.absent)) for _ in range(8)]
            theirs, absent = zip(*counts, strict=True)
            assert min(theirs) == min(absent), "the first calls also read the catalog"


def test_nothing_of_a_login_runs_with_the_rights_of_the_owner(wall: Wall, words: Words) -> None:
    """Types of the session's own schema do not replace the server's in functions that run as the owner."""
    import psycopg

    heard: list[str] = []
    with psycopg.connect(wall.login_url, autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
        connection.execute(
            "CREATE FUNCTION pg_temp.act(tsquery) RETURNS boolean LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE NOTICE 'as %', current_user; RETURN true; END $$;"
            "CREATE DOMAIN pg_temp.tsquery AS pg_catalog.tsquery CHECK (pg_temp.act(VALUE));"
            "CREATE DOMAIN pg_temp.text AS pg_catalog.text; CREATE DOMAIN pg_temp.regclass AS pg_catalog.regclass"
        )
        with connection.transaction():
            start(connection)
            lookup = "SELECT place FROM commonplace.index_lookup(%s, ARRAY[quote_literal(%s)])"
            assert connection.execute(lookup, (words.territory, words.ours)).fetchall() == [(1,)]
            connection.execute("SELECT commonplace.index_settle()")
    assert heard == []


def test_every_table_with_a_tenant_has_the_wall_and_nothing_beside_it(url: str) -> None:
    import psycopg

    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT c.oid::regclass::text, relrowsecurity AND relforcerowsecurity, polname, polcmd::text,"
            " pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid), polroles = ARRAY[relowner]"
            " FROM pg_class AS c LEFT JOIN pg_policy ON polrelid = c.oid"
            " WHERE relnamespace = 'commonplace'::regnamespace AND relkind NOT IN ('i', 'I', 't') AND EXISTS ("
            " SELECT 1 FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant' AND NOT attisdropped)"
        ).fetchall()
        granted = connection.execute(
            "SELECT DISTINCT privilege_type FROM information_schema.role_table_grants"
            " WHERE table_schema = 'commonplace' AND grantee IN ('commonplace_member', 'PUBLIC')"
        ).fetchall()
    wall = "(tenant = ( SELECT commonplace.current_tenant() AS current_tenant))"
    by_number = "(reverse((role)::text) = reverse(((to_regrole(quote_ident((SESSION_USER)::text)))::oid)::text))"
    own_login = f"((reverse(login) = reverse((SESSION_USER)::text)) OR {by_number})"
    assert all(is_forced for _, is_forced, *_ in rows)
    for_others = {(name, *policy[:4]) for name, _, *policy in rows if not policy[-1]}
    assert for_others == {
        *((name, "own_rows", "*", wall, wall) for name, *_ in rows if name != "commonplace.logins"),
        ("commonplace.logins", "own_login", "r", own_login, None),
    }
    for_owner = {(name, policy[0]) for name, _, *policy in rows if policy[-1]}
    assert for_owner == {("commonplace.index_words", "lookup"), ("commonplace.logins", "owner")}
    assert {row[0] for row in granted} == {"SELECT", "INSERT", "UPDATE", "DELETE"}


def test_functions_that_run_as_the_owner_ask_for_the_login_and_fix_their_path(url: str) -> None:
    import psycopg

    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT proname, prosecdef, pg_get_functiondef(pg_proc.oid), coalesce(proconfig, '{}'),"
            " EXISTS (SELECT 1 FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0)"
            " FROM pg_proc WHERE pronamespace = 'commonplace'::regnamespace"
        ).fetchall()
    assert [name for name, *_, is_public in rows if is_public] == []
    assert [row[0] for row in rows if "search_path=pg_catalog, pg_temp" not in row[3]] == []
    assert {name for name, is_definer, *_ in rows if is_definer} == {"index_lookup", "index_settle"}
    reads_setting = {name for name, _, definition, *_ in rows if "current_setting" in definition}
    assert reads_setting == {"current_tenant"}, "for a bound login it is only compared with what the login may be"
    lookup = next(definition for name, _, definition, *_ in rows if name == "index_lookup")
    assert "commonplace.current_tenant()" in lookup


def test_no_statistics_of_the_planner_hold_what_tenants_wrote(url: str) -> None:
    """`EXPLAIN` estimates from samples of all tenants' rows: with texts among them, many estimates spell one out."""
    import psycopg

    with Memory(with_tenant(url, "them")) as memory:
        for number in range(30):
            memory.call("write_memory", {"key": f"key{number}", "content": f"their record {number}"})
        assert memory.search("record")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")
        rows = connection.execute(
            "SELECT DISTINCT attname::text FROM pg_statistic JOIN pg_attribute ON attrelid = starelid AND attnum = staattnum"
            " JOIN pg_class ON pg_class.oid = starelid JOIN pg_type ON pg_type.oid = atttypid"
            " WHERE relnamespace = 'commonplace'::regnamespace AND typcategory <> 'N'"
            " AND relname NOT IN ('migrations', 'migrating', 'logins')"
        ).fetchall()
    assert {row[0] for row in rows} <= {"tenant", "territory"}
