"""A memory with something of everything, and the interface over it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace import Memory

from .api import Api, api

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once; each test has a copy."""
    folder = tmp_path_factory.mktemp("http")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        return fill(folder / "home")


@pytest.fixture
def full(home: Path, template: Path) -> Path:
    return Path(shutil.copytree(template, home))


def fill(home: Path) -> Path:
    memory = Memory(home)
    memory.call("remember", {"content": "Ann prefers green tea, see [[people]]."})
    memory.call("update_world", {"topic": "people", "content": "# People\n\nAnn and Bob.\n"})
    memory.call("reflect", {"content": "Ann is the owner of the garden.\n"})
    memory.call("memory_write", {"key": "note", "content": "beds are watered on Monday", "tags": ["garden"]})
    for key, value in (("editor", "vim"), ("shell", "fish")):
        memory.call("MemoryTool", {"op": "setGlobal", "key": key, "value": value, "tags": ["tools"]})
    memory.call("MemoryTool", {"op": "setChannel", "channelName": "dev", "key": "editor", "value": "emacs"})
    Memory(home, "bob").call("remember", {"content": "Bob hides a quokka."})
    sessions = home / "agents/main/sessions"
    sessions.mkdir(parents=True)
    turns = [{"role": "user", "content": f"hello, my key is {KEY}"}, {"role": "assistant", "content": "hi"}]
    (sessions / "s-1.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    return home


@pytest.fixture
def api_client(full: Path) -> Iterator[Api]:
    with api(full) as one:
        yield one
