"""LangGraph's own store tests, run with our store in place of theirs: fetched, never kept here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.thorough

# What is not run, and why.
NOT_OURS = {
    "tests/test_store.py::test_vector_store_initialization": "looks for tables through store.conn, a SQLite connection",
    "tests/test_store.py::test_nonnull_migrations": "reads the SQL of SqliteStore.MIGRATIONS",
    "tests/test_store.py::test_escape_glob_literal": "calls a function that writes SQL patterns",
    "tests/test_store.py::test_namespace_match_pattern": "calls a function that writes SQL patterns",
    "tests/test_store.py::test_list_namespaces_prefix_uses_indexable_condition": "reads the SQL of a query",
}


class Suite(NamedTuple):
    package: str
    version: str
    files: tuple[str, ...]
    passed: int
    left_out: dict[str, str]

    @property
    def folder(self) -> str:
        return f"{self.package.replace('-', '_')}-{self.version}"


SUITES = [
    Suite("langgraph-checkpoint", "4.3.1", ("test_store.py",), 114, {}),
    Suite(
        "langgraph-checkpoint-sqlite",
        "3.1.2",
        ("test_store.py", "test_async_store.py", "test_ttl.py"),
        148,
        NOT_OURS,
    ),
]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.package)
def test_the_suite_passes_with_our_store(suite: Suite, tmp_path: Path) -> None:
    _unpack(suite, tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", str(tmp_path)]
    command += ["-p", "stand_in_stores", "-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"]
    command += [part for name in ("cacheprovider", "codspeed", "benchmark", "xdist") for part in ("-p", f"no:{name}")]
    command += [part for test in suite.left_out for part in ("--deselect", test)]
    done = subprocess.run(
        [*command, *(f"tests/{file}" for file in suite.files)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert re.search(rf"\b{suite.passed} passed", done.stdout), done.stdout[-300:]
    assert not suite.left_out or f"{len(suite.left_out)} deselected" in done.stdout


def _unpack(suite: Suite, place: Path) -> None:
    """The tests of a package: from a folder that has its source archive, or from where packages come from."""
    response = os.environ.get("COMMONPLACE_FOREIGN_TESTS")
    archive = next(Path(response).rglob(f"{suite.folder}.tar.gz"), None) if response else None
    if archive is None:
        fetch = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", suite.package, "-d", str(place)]
        text = f"{suite.package}=={suite.version}"
        done = subprocess.run([*fetch, text], capture_output=True, text=True, check=False, timeout=300)
        archive = next(place.glob("*.tar.gz"), None)
        if archive is None:
            pytest.skip(f"the source archive of {text} cannot be fetched: {done.stderr[-200:]}")
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            if member.name.startswith(f"{suite.folder}/tests/") and member.isfile():
                member.name = member.name.removeprefix(f"{suite.folder}/")
                tar.extract(member, place, filter="data")
