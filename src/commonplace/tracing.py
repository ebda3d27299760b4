"""Spans for OpenTelemetry: how long searches, writes, the index, embeddings and the database take, and nothing else.

No span carries memory, queries or answers: a span has a name from a fixed set, and the class of an error.
Unless a server is started with `--traces`, nothing is imported and calls are not wrapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

from .errors import NotInstalled

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
SERVICE_NAME = "commonplace"


class Tracer(Protocol):
    """The part of OpenTelemetry's tracer that is used."""

    def start_as_current_span(
        self, name: str, *, record_exception: bool, set_status_on_exception: bool
    ) -> AbstractContextManager[Any]: ...


_tracer: Tracer | None = None


def use_tracer(tracer: Tracer | None) -> None:
    """Report spans to a tracer from now on; None turns tracing off."""
    global _tracer
    _tracer = tracer


def require_tracing() -> None:
    """Raise NotInstalled unless OpenTelemetry can be used."""
    try:
        import opentelemetry.exporter.otlp.proto.http.trace_exporter
        import opentelemetry.sdk.resources
        import opentelemetry.sdk.trace.export  # noqa: F401
    except ImportError as error:
        raise NotInstalled("OpenTelemetry", "otel") from error


def start_tracing() -> Callable[[], None]:
    """Send spans to the collector that the environment names (`OTEL_EXPORTER_OTLP_ENDPOINT`), and return a function
    that sends the last ones. The tracer is ours alone: other libraries in this process report nothing."""
    require_tracing()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": SERVICE_NAME}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    use_tracer(provider.get_tracer(SERVICE_NAME))
    shut_down: Callable[[], None] = provider.shutdown
    return shut_down


def span(name: str) -> AbstractContextManager[None]:
    """Measure a block, if tracing is on."""
    return _report(_tracer, name) if _tracer else nullcontext()


@contextmanager
def _report(tracer: Tracer, name: str) -> Iterator[None]:
    # The text of an error may repeat what somebody wrote: only its class is reported.
    with tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as current:
        try:
            yield
        except Exception as error:
            current.set_attribute("error.type", type(error).__name__)
            raise


def trace_calls(name: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Measure every call of a function, if tracing is on."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def run(*arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
            if _tracer is None:
                return function(*arguments, **options)
            with _report(_tracer, name):
                return function(*arguments, **options)

        return run

    return decorate
