"""How many examples a property test draws: the same few in every run, many new ones in `./dev explore`."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture.providers import Constants, HypothesisProvider

EXPLORES = "COMMONPLACE_EXPLORE" in os.environ
EXPLORE_FACTOR = 25
if not EXPLORES:
    # Else some examples are constants of whatever modules are imported by then, which depends on the tests before.
    HypothesisProvider._local_constants = Constants()

settings.register_profile(
    "commonplace",
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=not EXPLORES,
    database=None,
)


def examples(number: int, **options: Any) -> settings:
    """Settings for a test that draws this many examples, and many more where tests explore."""
    return settings(max_examples=number * (EXPLORE_FACTOR if EXPLORES else 1), **options)


settings.load_profile("commonplace")
if EXPLORES:
    settings.register_profile("explore", settings.get_profile("commonplace"), max_examples=25 * EXPLORE_FACTOR)
    settings.load_profile("explore")
