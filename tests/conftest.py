"""What the tests share: a home of their own, a clock that stands still, and texts that try to break structure."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from commonplace import Memory
from commonplace.testing import FrozenClock

settings.register_profile(
    "house", deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("house")


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def memory(home: Path, clock: FrozenClock) -> Memory:
    return Memory(home, clock=clock)
