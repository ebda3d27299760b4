"""Searches as of a day, once more on a memory in PostgreSQL."""

from __future__ import annotations

import inspect

import pytest

from ..search import test_as_of as on_files
from ..search.test_as_of import memory  # noqa: F401  a fixture of these tests

pytestmark = pytest.mark.slow


@pytest.fixture
def place(url: str) -> str:
    """The address of an empty memory."""
    return url


def _needs_memory(test: object) -> bool:
    return inspect.isfunction(test) and bool({"memory", "place"} & set(inspect.signature(test).parameters))


globals().update(
    {name: test for name, test in vars(on_files).items() if name.startswith("test_") and _needs_memory(test)}
)
