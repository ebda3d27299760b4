"""Noninterference in a database: neither another agent nor another tenant changes what ann is answered."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from commonplace.testing import FrozenClock

from ..noninterference.asking import Replies, read_everything, read_interface, run_commands, serving
from ..noninterference.keeping import OwnMemory, keep_others, keep_own
from ..noninterference.test_noninterference import differences
from .test_scope_matrix import of

pytestmark = pytest.mark.slow
OTHERS = {"another agent": "acme", "another tenant": "them"}


def compare(own_memory: OwnMemory, other: str, ask: Callable[[], Replies]) -> dict[str, tuple[str, str]]:
    """Return the replies that differ before and after bob writes."""
    before = ask()
    keep_others(other, FrozenClock(), 1)
    return differences(before, ask())


# Another agent in a folder is asked about in every run: here, another tenant is.
@pytest.mark.parametrize("who", [pytest.param("another agent", marks=pytest.mark.thorough), "another tenant"])
def test_nothing_that_others_write_changes_a_reply_of_the_interface(url: str, clock: FrozenClock, who: str) -> None:
    own_memory = keep_own(of(url, "acme"), clock)
    with serving(own_memory.home, clock) as server:
        assert compare(own_memory, of(url, OTHERS[who]), lambda: read_interface(own_memory, server)) == {}


@pytest.mark.thorough
@pytest.mark.parametrize("who", OTHERS)
def test_nothing_that_others_write_changes_any_reply(url: str, clock: FrozenClock, who: str) -> None:
    own_memory = keep_own(of(url, "acme"), clock)
    with serving(own_memory.home, clock) as server:

        def ask() -> Replies:
            return {**read_everything(own_memory, server, clock), **run_commands(own_memory.home)}

        ask()  # fills caches
        assert compare(own_memory, of(url, OTHERS[who]), ask) == {}
