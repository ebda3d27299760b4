"""A short soak: writers that are killed again and again, and a person who edits. `./dev soak` is the long one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..waiting import LONG_SECONDS

SOAK = Path(__file__).parents[2] / "bench/soak.py"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a writer is a process forked off")
def test_writers_that_are_killed_again_and_again_lose_nothing_they_reported() -> None:
    command = [sys.executable, str(SOAK), "--writes", "600", "--kills", "25"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=5 * LONG_SECONDS)
    assert done.returncode == 0, done.stderr + done.stdout
