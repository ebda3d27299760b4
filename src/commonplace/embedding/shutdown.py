"""A program that ends waits for the models that compute in its threads, a text or so each.

A thread that comes back from a library to an interpreter that is gone would take the whole process down with it.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import Unavailable

_PATIENCE = 30.0  # seconds
_ending = threading.Event()
_computing: dict[threading.Thread, threading.Lock] = {}  # of a thread that a fork left behind, nobody waits for


@contextmanager
def computing() -> Iterator[None]:
    """Around what a library computes in this thread. Nothing is begun any more once the program ends."""
    here, done = threading.current_thread(), threading.Lock()
    with done:
        _computing[here] = done
        try:
            if _ending.is_set():
                raise Unavailable("the program ends")
            yield
        finally:
            del _computing[here]


@atexit.register
def _let_them_finish() -> None:
    _ending.set()
    for thread, done in list(_computing.items()):
        if thread.is_alive() and thread is not threading.current_thread():
            done.acquire(timeout=_PATIENCE)
