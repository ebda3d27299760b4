"""Spans say how long something took, and nothing of what it was about."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory, tracing
from commonplace.errors import CommonplaceError

from .waiting import LONG_SECONDS


class Span:
    def __init__(self, name: str, parent: str, options: dict[str, bool]) -> None:
        self.name = name
        self.parent = parent
        self.options = options
        self.attributes: dict[str, str] = {}

    def set_attribute(self, name: str, value: str) -> None:
        self.attributes[name] = value


class Recorder:
    """Stands in for the tracer of OpenTelemetry."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._open: list[str] = []

    @contextmanager
    def start_as_current_span(self, name: str, **options: bool) -> Iterator[Any]:
        span = Span(name, self._open[-1] if self._open else "", options)
        self.spans.append(span)
        self._open.append(name)
        try:
            yield span
        finally:
            self._open.pop()


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    recorder = Recorder()
    tracing.use_tracer(recorder)
    yield recorder
    tracing.use_tracer(None)


def test_writes_and_searches_have_spans_with_their_steps_in_them(memory: Memory, recorder: Recorder) -> None:
    memory.call("remember", {"content": "Ann prefers green tea."})
    memory.search("tea")
    parents = {(span.name, span.parent) for span in recorder.spans}
    assert {("write", ""), ("search", ""), ("index", "search"), ("embed", "search")} <= parents
    assert {span.name for span in recorder.spans} <= {"write", "index", "search", "embed"}


def test_an_error_leaves_its_class_and_no_text(memory: Memory, recorder: Recorder) -> None:
    with pytest.raises(CommonplaceError):
        memory.search("my secret question", mode="my secret mode")
    (span,) = [span for span in recorder.spans if span.name == "search"]
    assert set(span.attributes) == {"error.type"}
    assert "secret" not in str(span.attributes)
    assert span.options == {"record_exception": False, "set_status_on_exception": False}


def test_nothing_of_opentelemetry_is_loaded_without_traces() -> None:
    code = (
        "import sys, tempfile; from commonplace import Memory; m = Memory(tempfile.mkdtemp());"
        "m.call('remember', {'content': 'x'}); m.search('x');"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_traces_without_the_extra_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with pytest.raises(CommonplaceError, match=r"commonplace\[otel\]"):
        tracing.start_tracing()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_server_without_the_extra_serves_nothing_and_makes_no_token(tmp_path: Path, workers: str) -> None:
    code = (
        "import sys; sys.modules['opentelemetry.sdk.resources'] = None;"
        "from commonplace.surfaces.cli import main; main()"
    )
    arguments = ["--home", str(tmp_path / "home"), "serve", "--port", "0", "--traces", "--workers", workers]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=LONG_SECONDS
    )
    assert "pip install 'commonplace[otel]'" in done.stderr
    assert "serving" not in done.stderr
    assert not (tmp_path / "home").exists()
