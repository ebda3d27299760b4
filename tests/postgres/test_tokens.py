"""Tokens and the log of a home in a database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from commonplace.errors import NotFound, StorageError
from commonplace.storage.base import TokenStore, open_tokens
from commonplace.storage.tokens import Call, verify_token
from commonplace.testing import FrozenClock

from ..storage.token_contract import AccessContract, make_token
from .conftest import admin

pytestmark = pytest.mark.slow


def at(url: str, tenant: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}tenant={tenant}"


@pytest.fixture
def access(url: str) -> Iterator[TokenStore]:
    opened = open_tokens(at(url, "acme"))
    yield opened
    opened.close()


class TestDatabase(AccessContract):
    """The contract, over tables."""


def test_a_tenant_neither_sees_nor_revokes_nor_uses_the_tokens_of_another(
    access: TokenStore, url: str, clock: FrozenClock
) -> None:
    token, secret = make_token(access, clock)
    access.record_call(Call("2026-03-14T00:00:00Z", token.id, "ann", "recall", "", "ok", ""))
    other = open_tokens(at(url, "them"))
    assert other.list_tokens() == other.recent_calls(10) == []
    assert verify_token(other.list_tokens(), secret, clock()) is None
    with pytest.raises(NotFound):
        other.revoke(token.id, "2026-03-14T00:00:00Z")
    assert verify_token(access.list_tokens(), secret, clock()) == token
    other.close()


def test_a_log_that_cannot_be_written_fails_nobody(access: TokenStore, url: str) -> None:
    admin(url, "DROP TABLE commonplace.access_calls")
    access.record_call(Call("2026-03-14T00:00:00Z", "ab12", "ann", "recall", "", "ok", ""))
    with pytest.raises(StorageError, match="run `commonplace db migrate`"):
        access.recent_calls(5)
