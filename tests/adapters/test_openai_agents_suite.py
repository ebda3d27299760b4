"""The SDK's own tests of sessions, run with ours in place of its SQLite session: fetched, never kept here."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

# Those that use the SQLite session.
FILES = [
    "memory/test_session.py",
    "memory/test_session_limit.py",
    "test_max_turns.py",
    "test_soft_cancel.py",
    "test_tool_failure_boundaries.py",
    "test_native_tool_failure_history.py",
    "test_tool_batch_failure_history.py",
]
FEWEST = 274  # tests that pass with 0.24.0; a later version has more
# These look into SQLite itself: its connections, rows, transactions, or that a closed one says so.
OF_SQLITE = [
    "test_sqlite_session_close_closes_worker_thread_connections",
    "test_sqlite_session_reaps_connections_from_exited_worker_threads",
    "test_sqlite_session_closes_retired_connections_before_the_next_allocation",
    "test_sqlite_session_keeps_connections_of_live_worker_threads",
    "test_sqlite_session_closed_rejects_empty_add_items",
    "test_sqlite_session_pop_item_skips_corrupt_most_recent",
    "test_sqlite_session_pop_item_returns_none_after_dropping_only_corrupt_rows",
    "test_sqlite_session_get_items_limit_skips_corrupt_newest_rows",
    "test_sqlite_session_get_items_session_settings_limit_skips_corrupt_rows",
    "test_sqlite_session_file_lock_is_shared_across_instances",
    "test_sqlite_session_failed_add_items_releases_write_lock",
    "test_sqlite_session_failed_clear_session_rolls_back",
    "test_sqlite_session_failed_pop_item_releases_write_lock",
    "test_sqlite_session_rollback_failure_evicts_connection",
    "test_sqlite_session_close_retries_quarantined_connection",
    "test_sqlite_session_post_commit_cancellation_propagates_after_known_outcome",
]
# Ours under the name of theirs. A database file becomes a home beside it; one in memory a folder of its own.
PLUGIN = """
import tempfile
import agents
import agents.memory
from commonplace import Memory
from commonplace.adapters.openai_agents import CommonplaceSession


class SQLiteSession(CommonplaceSession):
    def __init__(self, session_id, db_path=":memory:", session_settings=None):
        home = tempfile.mkdtemp() if str(db_path) == ":memory:" else f"{db_path}.home"
        super().__init__(session_id, Memory(home), session_settings=session_settings)

    def close(self):
        pass


agents.SQLiteSession = agents.memory.SQLiteSession = SQLiteSession


def pytest_collection_modifyitems(items):
    named = {getattr(item.module, "SQLiteSession", SQLiteSession) for item in items}
    assert named == {SQLiteSession}, "the suite does not use our session"
"""


def test_the_suite_of_the_sdk_passes_with_our_session(tmp_path: Path) -> None:
    run(tmp_path, PLUGIN)


def run(tmp_path: Path, plugin: str) -> None:
    """Run the suite with what a plugin puts in place of the SDK's session."""
    root = _suite(tmp_path)
    (tmp_path / "ours.py").write_text(plugin)
    plugins = ["cacheprovider", "codspeed", "benchmark", "xdist"]
    command = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", str(root), "-p", "ours"]
    command += [part for plugin in plugins for part in ("-p", f"no:{plugin}")]
    command += ["-o", "asyncio_mode=auto", "-k", " and ".join(f"not {name}" for name in OF_SQLITE)]
    done = subprocess.run(
        [*command, *(f"tests/{name}" for name in FILES)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{root}", "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    counted = re.search(r"(\d+) passed", done.stdout)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert counted
    assert int(counted[1]) >= FEWEST


def _suite(tmp_path: Path) -> Path:
    """The source of the installed version, with its tests: from a folder that has it, or fetched."""
    version = importlib.metadata.version("openai-agents")
    folder = os.environ.get("COMMONPLACE_FOREIGN_TESTS")
    if folder:
        path = next(Path(folder).rglob("tests/memory/test_session_limit.py"), None)
        if path:
            return path.parents[2]
    fetch = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", "openai-agents", "-d", str(tmp_path)]
    done = subprocess.run([*fetch, f"openai-agents=={version}"], capture_output=True, text=True, check=False)
    archive = next(tmp_path.glob("openai_agents-*.tar.gz"), None)
    if done.returncode or archive is None:
        pytest.skip("the suite could not be fetched: set COMMONPLACE_FOREIGN_TESTS to a folder that has it")
    with tarfile.open(archive) as tape:
        tape.extractall(tmp_path, filter="data")
    return tmp_path / archive.name.removesuffix(".tar.gz")
