"""The SDKs' own tests of memory tools and sessions, run against ours on a memory in PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..adapters import test_anthropic_suite as anthropic
from ..adapters import test_openai_agents_suite as openai_agents

pytestmark = [pytest.mark.slow, pytest.mark.thorough]  # on files they run each time
TENANTS = """
import hashlib
import itertools

URL = {url!r}
opened = []
fresh = itertools.count()


def tenant(place):
    name = hashlib.blake2b(str(place).encode(), digest_size=8).hexdigest()
    return f"{{URL}}{{'&' if '?' in URL else '?'}}tenant={{name}}"


def pytest_runtest_teardown(item):
    while opened:
        opened.pop().close()

"""
SESSIONS = """
import agents
import agents.memory
from commonplace import Memory
from commonplace.adapters.openai_agents import CommonplaceSession


class SQLiteSession(CommonplaceSession):
    def __init__(self, session_id, db_path=":memory:", session_settings=None):
        memory = Memory(tenant(next(fresh) if str(db_path) == ":memory:" else db_path))
        opened.append(memory)
        super().__init__(session_id, memory, session_settings=session_settings)

    def close(self):
        pass


agents.SQLiteSession = agents.memory.SQLiteSession = SQLiteSession
"""


def test_the_suite_of_openai_agents_passes_with_our_session(url: str, tmp_path: Path) -> None:
    openai_agents.run(tmp_path, TENANTS.format(url=url) + SESSIONS)


# The suite writes and reads files by itself: what it finds in its folder is what the rows say, before and after a call.
TOOLS = """
import pathlib
import shutil
from contextlib import contextmanager
from anthropic.lib.tools import _beta_builtin_memory_tool as theirs
from commonplace.adapters.anthropic import AsyncMemoryTool, AsyncPath, MemoryTool
from commonplace.adapters.anthropic import MemoryFiles

theirs_call = MemoryFiles._call


def below(files):
    return files.home.storage.pages.list(files.folder, "", deep=True)


def pull(files):
    pages, mirror = files.home.storage.pages, files.mirror
    there = {f"{files.folder}/{each.relative_to(mirror).as_posix()}": each for each in mirror.rglob("*") if each.is_file()}
    for path in below(files):
        if path not in there:
            pages.remove(path)
    for path, place in there.items():
        pages.write(path, place.read_bytes().decode())


def push(files):
    shutil.rmtree(files.mirror)
    files.mirror.mkdir()
    for path in below(files):
        place = files.mirror / path.removeprefix(files.folder + "/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(files.home.storage.read_bytes(path))


@contextmanager
def call(self, command):
    pull(self)
    try:
        with theirs_call(self, command):
            yield
    finally:
        push(self)


MemoryFiles._call = call


class Tool(MemoryTool):
    def __init__(self, base_path="./memory", **options):
        super().__init__(tenant(base_path), **options)
        self.base_path = pathlib.Path(base_path)
        self.memory_root = self._files.mirror = self.base_path / "memories"
        self.memory_root.mkdir(parents=True, exist_ok=True)
        opened.append(self)


class AsyncTool(AsyncMemoryTool):
    def __init__(self, base_path="./memory", **options):
        super().__init__(tenant(base_path), **options)
        self.tool.close()
        self.tool = Tool(base_path, **options)
        self.base_path, self.memory_root = AsyncPath(self.tool.base_path), AsyncPath(self.tool.memory_root)


theirs.BetaLocalFilesystemMemoryTool = Tool
theirs.BetaAsyncLocalFilesystemMemoryTool = AsyncTool
"""
OF_FILES = "not symlink and not umask"  # what only files can have
FEWEST = 74


def test_the_suite_of_anthropic_passes_with_our_tool(url: str, tmp_path: Path) -> None:
    anthropic.run(tmp_path, TENANTS.format(url=url) + TOOLS, FEWEST, "-k", OF_FILES)
