"""What tokens and the log keep to, wherever a home stands. Subclass it and say what `access` is."""

from __future__ import annotations

import threading

import pytest

from commonplace.errors import InvalidArgument, NotFound
from commonplace.formats.timestamps import format_timestamp
from commonplace.storage.base import TokenStore
from commonplace.storage.tokens import Call, Token, create_token, verify_token
from commonplace.testing import FrozenClock


def make_token(access: TokenStore, clock: FrozenClock, **more: object) -> tuple[Token, str]:
    arguments = {"agents": ["ann"], "role": "write"} | more
    return create_token(access, clock(), **arguments)  # type: ignore[arg-type]


class AccessContract:
    def test_a_token_authenticates_its_bearer_and_nobody_else(self, access: TokenStore, clock: FrozenClock) -> None:
        token, secret = make_token(access, clock, note="laptop")
        assert secret.startswith("cpl_")
        assert len(secret) > 40
        assert access.list_tokens() == [token]
        assert verify_token(access.list_tokens(), secret, clock()) == token
        for other in ("", "cpl_", secret[:-1], secret + "x", secret.upper(), token.digest, token.id):
            assert verify_token(access.list_tokens(), other, clock()) is None

    def test_a_token_ends_when_its_time_is_over(self, access: TokenStore, clock: FrozenClock) -> None:
        _, secret = make_token(access, clock, days=2)
        clock.advance(days=1, hours=23)
        assert verify_token(access.list_tokens(), secret, clock())
        clock.advance(hours=1)
        assert verify_token(access.list_tokens(), secret, clock()) is None
        assert access.list_tokens()[0].state(clock()) == "expired"

    def test_a_revoked_token_lets_nobody_in_and_stays_listed(self, access: TokenStore, clock: FrozenClock) -> None:
        (token, secret), (other, remaining) = (
            make_token(access, clock),
            make_token(access, clock, agents=None, role="read"),
        )
        assert access.revoke(token.id, format_timestamp(clock())).state(clock()) == "revoked"
        first = format_timestamp(clock())
        clock.advance(days=1)
        assert access.revoke(token.id, format_timestamp(clock())).revoked_at == first
        assert verify_token(access.list_tokens(), secret, clock()) is None
        assert verify_token(access.list_tokens(), remaining, clock()) == other
        assert len(access.list_tokens()) == 2

    def test_a_token_that_is_not_there_is_not_revoked(self, access: TokenStore, clock: FrozenClock) -> None:
        with pytest.raises(NotFound, match="there is no token ffff: `commonplace token list`"):
            access.revoke("ffff", format_timestamp(clock()))

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ({"agents": []}, "agents is not understood: give at least 1"),
            ({"agents": [" "]}, "not blank"),
            ({"agents": ["half \ud800"]}, "must be Unicode text"),
            ({"role": "owner"}, "must be one of read, write, admin"),
            ({"days": -1}, "must be from 0 to"),
            ({"days": 10**9}, "must be from 0 to"),
            ({"note": "x" * 201}, "at most 200 characters"),
        ],
    )
    def test_a_token_that_means_nothing_is_not_made(
        self, access: TokenStore, clock: FrozenClock, arguments: dict[str, object], sentence: str
    ) -> None:
        with pytest.raises(InvalidArgument, match=sentence):
            make_token(access, clock, **arguments)
        assert access.list_tokens() == []

    def test_tokens_made_at_once_are_all_kept(self, access: TokenStore, clock: FrozenClock) -> None:
        threads = [threading.Thread(target=make_token, args=(access, clock)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({token.id for token in access.list_tokens()}) == 8

    def test_the_log_is_read_back_in_order(self, access: TokenStore, clock: FrozenClock) -> None:
        calls = []
        for number in range(5):
            clock.advance(seconds=1)
            calls.append(Call(format_timestamp(clock()), "ab12", "ann", f"tool-{number}", "s\u2028", "ok", "127.0.0.1"))
            access.record_call(calls[-1])
        assert access.recent_calls(100) == calls
        assert access.recent_calls(2) == calls[-2:]
