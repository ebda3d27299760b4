"""Failed sign-ins are limited by address, and nobody else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.server.rate_limits import (
    FAILURES_PER_MINUTE,
    LOOKUPS_PER_MINUTE,
    MAX_BUCKETS,
    Bucket,
    LocalBuckets,
    SignInLimiter,
)
from commonplace.server.workers import SIGN_INS_FILE, TOKENS_FILE, SharedBuckets, open_worker_state


def stand_still() -> float:
    return 100.0


def guess_too_often(limiter: SignInLimiter, address: str) -> None:
    for number in range(FAILURES_PER_MINUTE):
        assert not limiter.seconds_to_wait(address, f"guess {number}")
        limiter.count_failure(address, f"guess {number}")


def test_an_address_that_guesses_waits_and_may_try_again_later() -> None:
    now = 100.0
    limiter = SignInLimiter(now=lambda: now)
    guess_too_often(limiter, "10.0.0.1")
    assert limiter.seconds_to_wait("10.0.0.1", "another") == pytest.approx(60 / FAILURES_PER_MINUTE)
    assert not limiter.seconds_to_wait("10.0.0.2", "another")
    assert not limiter.seconds_to_wait("10.0.0.1", "")
    now += 1.5
    assert not limiter.seconds_to_wait("10.0.0.1", "another")


def test_a_secret_that_let_somebody_in_is_always_checked() -> None:
    limiter = SignInLimiter(now=stand_still)
    limiter.count_success("10.0.0.1", "good")
    guess_too_often(limiter, "10.0.0.1")
    assert limiter.seconds_to_wait("10.0.0.1", "bad")
    assert not limiter.seconds_to_wait("10.0.0.1", "good")


def test_a_short_secret_that_somebody_else_uses_is_no_easier_to_guess() -> None:
    limiter = SignInLimiter(now=stand_still)
    limiter.count_success("10.0.0.1", "hunter2")
    limiter.count_success("10.0.0.1", "x" * 43)
    guess_too_often(limiter, "10.0.0.2")
    assert limiter.seconds_to_wait("10.0.0.2", "hunter2")
    assert not limiter.seconds_to_wait("10.0.0.2", "x" * 43, is_costly=True)


def test_a_secret_that_nobody_guesses_is_checked_and_a_database_is_asked_about_some() -> None:
    now = 100.0
    limiter = SignInLimiter(now=lambda: now)
    guess_too_often(limiter, "10.0.0.1")
    assert not limiter.seconds_to_wait("10.0.0.1", "x" * 43)
    request = [limiter.seconds_to_wait("10.0.0.1", f"{number:043}", is_costly=True) for number in range(100)]
    assert sum(not seconds for seconds in request) == LOOKUPS_PER_MINUTE
    assert not limiter.seconds_to_wait("10.0.0.2", "x" * 43, is_costly=True)
    now += 60 / LOOKUPS_PER_MINUTE + 0.1
    for number in range(FAILURES_PER_MINUTE):
        limiter.count_failure("10.0.0.1", f"guess {number}")
    assert limiter.seconds_to_wait("10.0.0.1", "short")
    assert not limiter.seconds_to_wait("10.0.0.1", "x" * 43, is_costly=True)


def test_requests_without_a_secret_guess_at_nothing() -> None:
    limiter = SignInLimiter(now=stand_still)
    for _ in range(2 * FAILURES_PER_MINUTE):
        limiter.count_failure("10.0.0.1", "")
    assert not limiter.seconds_to_wait("10.0.0.1", "first")


def test_guesses_at_the_same_time_are_all_counted_up_to_a_minute() -> None:
    now = 100.0
    limiter = SignInLimiter(now=lambda: now)
    for number in range(10 * FAILURES_PER_MINUTE):
        limiter.count_failure("10.0.0.1", f"guess {number}")
    assert 60 < limiter.seconds_to_wait("10.0.0.1", "another") < 62


@pytest.mark.parametrize(
    ("one", "other", "are_same"),
    [
        ("2001:db8::1", "2001:db8:0:0:ffff::7", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
        ("10.0.0.1", "10.0.0.2", False),
    ],
)
def test_whoever_has_a_whole_network_of_ipv6_counts_as_one(one: str, other: str, are_same: bool) -> None:
    limiter = SignInLimiter(now=stand_still)
    guess_too_often(limiter, one)
    assert bool(limiter.seconds_to_wait(other, "another")) is are_same


def test_workers_count_guesses_together_and_know_each_others_secrets() -> None:
    with open_worker_state() as folder:
        one = SignInLimiter(SharedBuckets(folder, SIGN_INS_FILE), stand_still)
        other = SignInLimiter(SharedBuckets(folder, SIGN_INS_FILE), stand_still)
        other.count_success("10.0.0.1", "good")
        guess_too_often(one, "10.0.0.1")
        assert other.seconds_to_wait("10.0.0.1", "bad")
        assert not one.seconds_to_wait("10.0.0.1", "good")
        assert SharedBuckets(folder, TOKENS_FILE).get("address 10.0.0.1") is None
    assert not Path(folder).exists()


def test_however_many_addresses_guess_memory_is_bounded() -> None:
    buckets = LocalBuckets()
    for number in range(MAX_BUCKETS + 10):
        buckets.put(str(number), Bucket(0.0, 0.0))
    assert buckets.get("0") is None
    assert buckets.get(str(MAX_BUCKETS)) == Bucket(0.0, 0.0)
