"""The scope matrix over a database: the same people, the same doors, and tenants in place of homes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from commonplace.testing import FrozenClock

from ..scopes import PEOPLE, Someone
from ..scopes_v1 import DOORS
from ..test_scope_matrix import Homes, check, compare, filled, private_paths
from .conftest import empty_database

pytestmark = pytest.mark.slow
AGENTS = [name for name, door in DOORS.items() if not door.is_persons]


def of(url: str, tenant: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}tenant={tenant}"


@pytest.fixture(scope="module")
def homes(server: str, template: str) -> Iterator[Homes]:
    """Two tenants of one database."""
    with empty_database(server, template) as url:
        yield filled(of(url, "acme"), of(url, "them"), FrozenClock())


@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("door", DOORS)
def test_what_is_shared_is_seen_and_what_is_not_is_not(homes: Homes, person: str, door: str) -> None:
    check(homes, person, door)


@pytest.mark.parametrize("door", AGENTS)
def test_nothing_private_changes_what_another_agent_is_answered(url: str, clock: FrozenClock, door: str) -> None:
    paths = private_paths(of(url, "twin"), clock)
    before, after = compare(of(url, "acme"), clock, Someone(agent="bob"), paths, door)
    assert after == before
