"""Tables that come once, in order, by whoever is first; and what is said when they cannot."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.errors import ConnectionLost, StorageError
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.history import PostgresHistory
from commonplace.storage.postgres.migrate import (
    Migration,
    known_migrations,
    migrate,
    migration_status,
    require_migrated,
)
from commonplace.storage.postgres.pages import PostgresPages
from commonplace.storage.postgres.url import parse_url
from commonplace.testing import FrozenClock

from .conftest import admin, on

pytestmark = pytest.mark.slow


@pytest.fixture
def bare(server: str) -> Iterator[Database]:
    """A database with nothing in it."""
    name = f"commonplace_test_{secrets.token_hex(6)}"
    admin(server, f"CREATE DATABASE {name}")
    database = Database(parse_url(on(server, name)))
    yield database
    database.close()
    admin(server, f"DROP DATABASE {name} WITH (FORCE)")


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [each.number for each in known_migrations()] == list(range(1, len(known_migrations()) + 1))
    assert str(known_migrations()[0]) == "0001_pages"


def test_what_waits_is_applied_once(bare: Database) -> None:
    assert migration_status(bare) == ((), known_migrations(), ())
    assert migrate(bare) == known_migrations()
    assert migration_status(bare) == (known_migrations(), (), ())
    assert migrate(bare) == ()


def test_many_that_migrate_at_once_are_one_that_does(bare: Database) -> None:
    done: list[Migration] = []
    threads = [threading.Thread(target=lambda: done.extend(migrate(bare))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == list(known_migrations())


def test_a_database_of_a_newer_program_is_left_as_it_is(bare: Database) -> None:
    migrate(bare)
    with bare.admin_connection() as connection:
        connection.execute("INSERT INTO commonplace.migrations (number, name) VALUES (9000, 'later')")
    assert migration_status(bare).unknown == ((9000, "later", 9000),)
    with pytest.raises(StorageError, match=r"newer commonplace .*9000_later.*nothing was changed"):
        migrate(bare)


def test_a_program_goes_on_with_newer_tables_that_are_made_for_it_too(bare: Database, clock: FrozenClock) -> None:
    migrate(bare)
    later = "INSERT INTO commonplace.migrations (number, name, since) VALUES (%s, 'later', %s)"
    with bare.admin_connection() as connection:
        connection.execute(later, (9000, known_migrations()[-1].number))
    require_migrated(bare, "the database")
    assert migrate(bare) == ()
    PostgresPages(bare, lambda path, size: None, PostgresHistory(bare, clock)).write("memory/a.md", "x")
    with bare.admin_connection() as connection:
        connection.execute(later, (9001, 9000))
    with pytest.raises(StorageError, match="made by a newer commonplace"):
        require_migrated(Database(bare.address._replace(tenant="another")), "the database")


def test_tables_of_a_program_that_said_nothing_of_older_ones_are_brought_up_to_date(bare: Database) -> None:
    migrate(bare)
    with bare.admin_connection() as connection:
        connection.execute("ALTER TABLE commonplace.migrations DROP COLUMN since")
        assert [str(each) for each in migration_status(bare).applied] == [str(each) for each in known_migrations()]
        assert migration_status(bare).is_ready
        connection.execute("DELETE FROM commonplace.migrations WHERE number > 1")
        connection.execute("DROP TABLE commonplace.index_vectors")
    with pytest.raises(StorageError):  # the others are there: it is the column that is looked at
        migrate(bare)
    with bare.admin_connection() as connection:
        assert connection.execute("SELECT since FROM commonplace.migrations").fetchall() == [(None,)]


def test_a_migration_is_for_its_own_programs_unless_it_says_otherwise(tmp_path: Path) -> None:
    (tmp_path / "0001_one.sql").write_text("-- One.\nSELECT 1;")
    (tmp_path / "0002_two.sql").write_text("-- For programs from 0001 on: a column more.\nSELECT 1;")
    assert known_migrations(str(tmp_path)) == ((1, "one", 1), (2, "two", 1))


def test_a_program_that_knows_no_tokens_goes_on_beside_one_that_does(bare: Database) -> None:
    migrate(bare)
    assert [each.since for each in known_migrations()[5:8]] == [6, 6, 6]
    with bare.admin_connection() as connection:
        connection.execute("SELECT set_config('commonplace.tenant', 'acme', false)")
        connection.execute("INSERT INTO commonplace.index_vectors VALUES ('acme', 'home', 1, 1, 'x', '[1, 2]')")
        assert connection.execute("SELECT tokens FROM commonplace.index_vectors").fetchall() == [(None,)]


def test_a_database_without_tables_asks_to_be_migrated(bare: Database, clock: FrozenClock) -> None:
    pages = PostgresPages(bare, lambda path, size: None, PostgresHistory(bare, clock))
    with pytest.raises(StorageError, match="commonplace db migrate"):
        pages.write("memory/a.md", "x")


@pytest.fixture
def users(server: str, bare: Database) -> Iterator[tuple[Database, Database]]:
    """The bare database as one who owns it and is nothing more, and as one who may only connect."""
    names = [f"commonplace_{name}_{secrets.token_hex(4)}" for name in ("owner", "guest")]
    database = bare.address.url.rpartition("/commonplace_test_")[2].partition("?")[0]
    admin(server, "".join(f"CREATE ROLE {name} LOGIN;" for name in names))
    admin(server, f"ALTER DATABASE commonplace_test_{database} OWNER TO {names[0]}")
    opened = [Database(parse_url(bare.address.url.replace("//postgres", f"//{name}", 1))) for name in names]
    yield opened[0], opened[1]
    for each in opened:
        each.close()
    admin(bare.address.url, f"REASSIGN OWNED BY {names[0]} TO CURRENT_USER; DROP OWNED BY {names[0]}")
    admin(server, f"ALTER DATABASE commonplace_test_{database} OWNER TO CURRENT_USER")
    admin(server, "".join(f"DROP ROLE {name};" for name in names))


def test_an_owner_who_is_no_superuser_migrates_and_writes(
    bare: Database, template: str, users: tuple[Database, Database], clock: FrozenClock
) -> None:
    owner, guest = users
    with pytest.raises(StorageError, match=r"may not create tables \(permission denied .*as the database's owner"):
        migrate(guest)
    with pytest.raises(StorageError, match=r"0001_pages could not be applied .*migrate as a user who may"):
        migrate(owner)  # the role is there, made by somebody else, and not theirs to take
    assert migration_status(owner).pending == known_migrations()
    for needed in (f"GRANT commonplace_member TO {owner_name(owner)}", "CREATE EXTENSION IF NOT EXISTS vector"):
        admin(bare.address.url, needed)
    assert migrate(owner) == known_migrations()
    PostgresPages(owner, lambda path, size: None, PostgresHistory(owner, clock)).write("memory/a.md", "x")
    with owner.admin_connection() as connection:  # theirs are the tables, and without a tenant they see no row
        assert connection.execute("SELECT count(*) FROM commonplace.pages").fetchone() == (0,)
    with pytest.raises(StorageError, match="GRANT commonplace_member TO"):
        PostgresPages(guest, lambda path, size: None, PostgresHistory(guest, clock)).read("memory/a.md")
    with pytest.raises(
        StorageError, match=r"may not use the memory .*`commonplace db grant` .*GRANT commonplace_member"
    ):
        migration_status(guest)


def owner_name(database: Database) -> str:
    return database.address.url.partition("//")[2].partition(":")[0]


def test_a_database_that_keeps_other_letters_is_refused(server: str) -> None:
    name = f"commonplace_test_{secrets.token_hex(6)}"
    admin(server, f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    try:
        with pytest.raises(StorageError, match="UTF-8"):
            migrate(Database(parse_url(on(server, name))))
    finally:
        admin(server, f"DROP DATABASE {name}")


def test_a_server_that_is_not_there_is_reported_with_what_to_do() -> None:
    database = Database(parse_url("postgresql://127.0.0.1:1/none?connect_timeout=1"))
    with pytest.raises(ConnectionLost, match="check that it runs, and that the URL names its host and port"):
        migration_status(database)
