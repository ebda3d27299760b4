"""A scene of calls on a home, with the n-th operation on its files going wrong: nothing that was acknowledged is lost.

Here some of the operations, in a process of its own, since it wraps what touches files; `./dev crash` tries them all.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..waiting import LONG_SECONDS

ROOT = Path(__file__).parents[2]
STRIDE = 149  # operations between two that are tried here
THOROUGH_STRIDE = 29


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a case is a process forked off")
@pytest.mark.parametrize("stride", [STRIDE, pytest.param(THOROUGH_STRIDE, marks=pytest.mark.thorough)])
def test_nothing_acknowledged_is_lost_whichever_operation_goes_wrong(stride: int) -> None:
    command = [sys.executable, "-m", "tests.crash", "--stride", str(stride), "--jobs", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=5 * LONG_SECONDS)
    assert done.returncode == 0, done.stderr + done.stdout
