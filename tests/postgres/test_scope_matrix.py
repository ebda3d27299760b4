"""The scope matrix over a database: the same people, the same surfaces, and tenants in place of homes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from commonplace.testing import FrozenClock

from ..test_scope_matrix import Homes, check, fill, pairs
from .conftest import empty_database

pytestmark = pytest.mark.slow


def of(url: str, tenant: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}tenant={tenant}"


@pytest.fixture(scope="module")
def shared_url(server: str, template: str) -> Iterator[str]:
    """One database for all tests here: each has tenants of its own."""
    with empty_database(server, template) as url:
        yield url


@pytest.fixture(scope="module")
def homes(shared_url: str) -> Homes:
    return fill(of(shared_url, "acme"), of(shared_url, "them"), FrozenClock())


@pytest.mark.parametrize(("surface", "person"), pairs())
def test_what_is_shared_is_seen_and_what_is_not_is_not(homes: Homes, person: str, surface: str) -> None:
    check(homes, person, surface)
