"""The SDK's own tests of its memory tool, run against ours: fetched, never kept here."""

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

SUITE = "tests/lib/tools/memory_tools/test_filesystem.py"
FEWEST = 83  # tests in the suite of 2.8.0; a later one has more
# Ours in place of theirs, and nothing else.
CONFTEST = """
from anthropic.lib.tools import _beta_builtin_memory_tool as theirs
from commonplace.adapters.anthropic import AsyncMemoryTool, MemoryTool

theirs.BetaLocalFilesystemMemoryTool = MemoryTool
theirs.BetaAsyncLocalFilesystemMemoryTool = AsyncMemoryTool
"""


def test_the_suite_of_the_sdk_passes_with_our_tool(tmp_path: Path) -> None:
    run(tmp_path, CONFTEST, FEWEST)


def run(tmp_path: Path, conftest: str, fewest: int, *options: str) -> None:
    """Run the suite with what a conftest puts in place of the SDK's tool."""
    (tmp_path / "test_filesystem.py").write_bytes(_suite(tmp_path))
    (tmp_path / "conftest.py").write_text(conftest)
    plugins = ["cacheprovider", "codspeed", "benchmark", "xdist"]
    command = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path)]
    command += [part for plugin in plugins for part in ("-p", f"no:{plugin}")]
    done = subprocess.run(
        [*command, "-o", "asyncio_mode=auto", *options], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    counted = re.search(r"(\d+) passed", done.stdout)
    assert done.returncode == 0, done.stdout[-4000:]
    assert counted
    assert int(counted[1]) >= fewest


def _suite(tmp_path: Path) -> bytes:
    """The test file of the installed version: from a folder that has it, or from the package's source archive."""
    folder = os.environ.get("COMMONPLACE_FOREIGN_TESTS")
    if folder:
        path = next(Path(folder).rglob("memory_tools/test_filesystem.py"), None)
        if path:
            return path.read_bytes()
    version = importlib.metadata.version("anthropic")
    fetch = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", "anthropic", "-d", str(tmp_path)]
    done = subprocess.run([*fetch, f"anthropic=={version}"], capture_output=True, text=True, check=False, timeout=300)
    archive = next(tmp_path.glob("anthropic-*.tar.gz"), None)
    if archive is None:
        pytest.skip(f"the source archive of anthropic {version} cannot be fetched: {done.stderr[-200:]}")
    with tarfile.open(archive) as tar:
        member = tar.extractfile(f"anthropic-{version}/{SUITE}")
        assert member
        return member.read()
