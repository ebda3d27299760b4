"""The index of a process that has it open twice stays locked: no other process takes its files away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from commonplace import Memory

LOCKS = Path("/proc/locks")


@pytest.mark.skipif(not LOCKS.exists(), reason="this system does not list locks")
def test_a_second_agent_of_a_process_does_not_drop_the_locks_of_the_first(home: Path) -> None:
    first = Memory(home, agent="alice")
    first.call("remember", {"content": "quince"})
    first.search("quince")
    with Memory(home, agent="carol") as second:
        second.search("quince")
        write = "import sys; from commonplace import Memory; Memory(sys.argv[1], agent='bob').call('remember', {'content': 'x'})"
        for _ in range(2):
            subprocess.run([sys.executable, "-c", write, str(home)], check=True)
    deleted = [
        link for link in Path("/proc/self/fd").iterdir() if "(deleted)" in _target(link) and str(home) in _target(link)
    ]
    assert deleted == []
    assert "damaged" not in str(first.call("memory_search", {"query": "quince"}))


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:  # closed meanwhile
        return ""
