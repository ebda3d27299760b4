"""Embedding models: the protocols they implement, and how a provider is opened. Each provider has a file.

An embedder turns texts into vectors of one space. Nothing heavy is imported before a provider is opened.
"""

from __future__ import annotations

import atexit
import importlib
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from ..errors import Unavailable
from ..settings import PROVIDERS, SearchSettings

if TYPE_CHECKING:
    import numpy

    Vectors = numpy.ndarray[Any, numpy.dtype[numpy.float32]]


def slug(model: str) -> str:
    """Return a model's name in the form it has in file names."""
    return re.sub(r"[^a-z0-9.]+", "-", model.lower()).strip("-.")[:40]


class Embedder(Protocol):
    """Turns texts into vectors. Raises nothing but `Unavailable`, with the reason and the next step."""

    provider: str
    model: str
    space: str  # the name of the vector space, safe in a file name; only vectors of one space can be compared
    is_fast: bool  # fast enough to embed passages while a search waits; others do it in the background
    batch_size: int  # passages to embed at once

    def accepts(self, text: str) -> bool:
        """Return whether this embedder was trained on the script of a text."""
        ...

    def embed_passages(self, texts: Sequence[str], *, interactive: bool = False) -> Vectors:
        """Return one vector of length 1 for each text, as rows; a row of zeros for a text without any known token.

        `interactive`: a search is waiting, so fail soon instead of retrying.
        """
        ...

    def embed_query(self, text: str) -> Vectors:
        """Return one vector of length 1, in the space of the passages."""
        ...


@runtime_checkable
class TokenLevelEmbedder(Protocol):
    """An embedder that also gives a vector for each token: see `late_interaction`."""

    def embed_passages_by_token(self, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
        """Return what `embed_passages` returns, and the packed token vectors of each text: b"" for a blank text."""
        ...

    def embed_query_by_token(self, text: str) -> tuple[Vectors, Vectors]:
        """Return what `embed_query` returns, and the projected vector of each token."""
        ...


class Comparison(NamedTuple):
    """The MaxSim of a query with each text, from 0 to 1; and for each word of the query, how similar the most similar
    word of each text is."""

    maxsim: list[float]
    words: dict[str, Vectors]


@runtime_checkable
class MaxSimEmbedder(Protocol):
    """An embedder whose token vectors come from a table, so that MaxSim needs no stored token vectors."""

    def compare(self, query: str, texts: Sequence[str]) -> Comparison | None:
        """Compare the words of a query with each text; None for an unsuitable query."""
        ...

    def nearness(self, words: str, text: str) -> float:
        """Return the MaxSim of some words, in whatever script, with a text, from 0 to 1."""
        ...


def open_embedders(settings: SearchSettings) -> tuple[Embedder, ...]:
    """Open the configured provider and return its embedders, one for each script; none for `none`.

    Raises `Unavailable`.
    """
    if settings.provider == "none":
        return ()
    provider = PROVIDERS[settings.provider]
    try:
        module = importlib.import_module(f".{provider.module}", __package__)
        embedders: tuple[Embedder, ...] = module.open_embedders(settings)
    except ImportError as error:
        reason = f"{settings.provider} needs {error.name or error}"
        raise Unavailable(f"{reason}: {provider.hint}" if provider.hint else reason) from error
    return embedders


_SHUTDOWN_TIMEOUT_SECONDS = 30.0
_shutting_down = threading.Event()
_running: dict[threading.Thread, threading.Lock] = {}  # each lock is held while its thread is in a library


@contextmanager
def running_inference() -> Iterator[None]:
    """Wrap a call into a model library: the program waits for such calls at exit, and starts no new one.

    A thread that returns from native code after the interpreter has shut down would crash the process.
    """
    here = threading.current_thread()
    done = threading.Lock()
    with done:
        _running[here] = done
        try:
            if _shutting_down.is_set():
                raise Unavailable("the program ends")
            yield
        finally:
            del _running[here]


@atexit.register
def _wait_for_inference() -> None:
    _shutting_down.set()
    for thread, done in list(_running.items()):
        if thread.is_alive() and thread is not threading.current_thread():
            done.acquire(timeout=_SHUTDOWN_TIMEOUT_SECONDS)
