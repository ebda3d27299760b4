"""The published description is true: what it allows is taken, what it forbids is refused, answers are as it says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from schemathesis.checks import load_all_checks
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from commonplace.server.auth import ServerOptions
from commonplace.surfaces.application import build_application
from commonplace.surfaces.http.api import build_document
from commonplace.surfaces.http.auth import AccessRules
from commonplace.surfaces.http.dispatch import READ_TIMEOUT_SECONDS

from ...examples import examples

load_all_checks()
TOKEN = "s3cret"
SAMPLE_ONE_IN = 6  # of the cases at the boundaries of a schema; `./dev thorough` takes all
CASES_A_START = 10  # fewer than somebody may guess at tokens with


class Later:
    """The application, which is there once a test has a memory."""

    app: Any = None

    async def __call__(self, *arguments: Any) -> None:
        await self.app(*arguments)


later = Later()
schema = schemathesis.openapi.from_dict(build_document()).exclude(path="/v1/changes")  # a stream that does not end
schema.app = later
schema.config.update(base_url="http://localhost")
OPERATIONS = {each.ok().label: each.ok() for each in schema.get_all_operations()}


@pytest.fixture
def start(full: Path) -> Callable[[], None]:
    """Start the application, also anew: it slows down whoever has guessed at tokens, as every check of one does."""

    def start() -> None:
        later.app = build_application(ServerOptions(str(full)), AccessRules(token=TOKEN))

    start()
    return start


def ask(case: schemathesis.Case) -> None:
    """Send a request, and compare the answer with what the description says of it."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "localhost"}
    answer = case.call(headers=headers, timeout=2 * READ_TIMEOUT_SECONDS)  # the server's own limit comes first
    # A tool has rules that no schema says (a text that is not blank), a page is written and a memory trusted under a
    # condition, and a time has to be before another.
    strict = (
        not case.path.startswith(("/v1/tools/", "/v1/pages/", "/v1/trust"))
        and "since is later than until" not in answer.text
    )
    case.validate_response(answer, excluded_checks=[] if strict else [positive_data_acceptance])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("start")
@pytest.mark.parametrize("label", OPERATIONS)
@examples(2, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_request_finds_the_description_wrong(label: str, data: st.DataObject) -> None:
    mode = data.draw(st.sampled_from(GenerationMode))
    ask(data.draw(OPERATIONS[label].as_strategy(generation_mode=mode)))


# Drawn where they run: drawing them takes as long as asking.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("one_in", [SAMPLE_ONE_IN, pytest.param(1, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("label", OPERATIONS)
def test_no_request_at_a_boundary_finds_the_description_wrong(
    start: Callable[[], None], label: str, one_in: int
) -> None:
    operation = OPERATIONS[label]
    cases = schema.iter_coverage_cases(
        operation, generation_modes=list(GenerationMode), generation_config=schema.config.generation
    )
    for number, case in enumerate(islice(cases, None, None, one_in), start=1):
        ask(case)
        if number % CASES_A_START == 0:
            start()


def test_the_description_is_openapi() -> None:
    document = build_document()
    assert {"GET /v1/search", "PUT /v1/pages/{path}"} <= {
        f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods
    }
    ids = [each["operationId"] for methods in document["paths"].values() for each in methods.values()]
    assert len(ids) == len(set(ids))
    assert [
        path for path, methods in document["paths"].items() for each in methods.values() if each.get("security") == []
    ] == ["/v1/session"]
