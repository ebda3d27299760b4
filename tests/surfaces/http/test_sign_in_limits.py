"""Whoever guesses at tokens or codes is answered with 429, at every place that takes one."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from commonplace import Memory
from commonplace.home import utc_now
from commonplace.server.rate_limits import FAILURES_PER_MINUTE
from commonplace.storage.base import open_tokens
from commonplace.storage.tokens import create_token
from commonplace.surfaces.http.auth import AccessRules, SignInKeys

from .api import Api, api

RULES = AccessRules(token="right", metrics_token="scraper")


@pytest.fixture
def memory(home: Path) -> Path:
    Memory(home).call("remember", {"content": "The sea is blue."})
    return home


def stand_still() -> float:
    """The time of a server that refills nothing, however long its requests take."""
    return 100.0


def guess(caller: Api, path: str, secret: str) -> httpx.Response:
    if path == "/v1/session":
        return caller.client.post(path, json={"code": secret})
    return caller.client.get(path, headers={"Authorization": f"Bearer {secret}"})


@pytest.mark.parametrize("path", ["/v1/status", "/v1/homes", "/v1/session", "/metrics", "/mcp", "/v1/unknown"])
def test_whoever_guesses_waits_whatever_is_guessed_at(memory: Path, path: str) -> None:
    with api(memory, RULES, elapsed=stand_still) as caller:
        statuses = {guess(caller, path, f"guess-{number}").status_code for number in range(FAILURES_PER_MINUTE)}
        assert statuses == {403 if path == "/v1/session" else 401}
        refused = guess(caller, path, "another")
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        for right, place in (("right", "/v1/status"), ("right", "/v1/homes"), ("scraper", "/metrics")):
            assert guess(caller, place, right).status_code == 429  # or guessing would go on


def test_whoever_is_in_stays_in_while_others_at_the_address_guess(memory: Path) -> None:
    store = open_tokens(str(memory))
    secret = create_token(store, utc_now(), agents=None, role="read")[1]
    store.close()
    keys = SignInKeys()
    code = keys.create_code()
    with api(memory, RULES, keys, elapsed=stand_still) as caller:
        key = caller.client.post("/v1/session", json={"code": code}).json()["key"]
        valid = [(secret, "/v1/status"), (key, "/v1/status"), ("right", "/v1/homes"), ("scraper", "/metrics")]
        assert [guess(caller, path, each).status_code for each, path in valid] == [200] * 4
        for number in range(FAILURES_PER_MINUTE):
            guess(caller, "/v1/status", f"guess-{number}")
        assert guess(caller, "/v1/status", "another").status_code == 429
        assert [guess(caller, path, each).status_code for each, path in valid] == [200] * 4
        assert caller.client.get("/healthz").status_code == 200


def test_a_valid_token_lets_its_holder_in_for_the_first_time_while_others_at_the_address_guess(memory: Path) -> None:
    store = open_tokens(str(memory))
    secret = create_token(store, utc_now(), agents=None, role="read")[1]
    store.close()
    keys = SignInKeys()
    code = keys.create_code()
    long_tokens = AccessRules(token="right" * 8, metrics_token="scraper" * 8)
    with api(memory, long_tokens, keys, elapsed=stand_still) as caller:
        for number in range(2 * FAILURES_PER_MINUTE):
            last = guess(caller, "/v1/status", f"cpl_{number:043}")
        assert last.status_code == 429  # a wrong one is checked, and its sender waits
        assert int(last.headers["retry-after"]) >= 1
        assert guess(caller, "/v1/session", "c" * 43).status_code == 429
        key = guess(caller, "/v1/session", code).json()["key"]
        valid = [(secret, "/v1/status"), (key, "/v1/status"), (secret, "/v1/homes"), ("right" * 8, "/v1/status")]
        assert [guess(caller, path, each).status_code for each, path in valid] == [200] * 4
        assert guess(caller, "/metrics", "scraper" * 8).status_code == 200


def test_requests_without_a_token_and_any_to_an_open_memory_are_never_limited(memory: Path) -> None:
    with api(memory) as caller:
        statuses = {guess(caller, "/v1/status", f"x{number}").status_code for number in range(FAILURES_PER_MINUTE + 5)}
        assert statuses == {200}
    with api(memory, RULES) as caller:
        statuses = {caller.client.get("/v1/status").status_code for _ in range(FAILURES_PER_MINUTE + 5)}
        assert statuses == {401}
        assert guess(caller, "/v1/status", "right").status_code == 200
