"""The table of backends: which one an address names, and how it is opened.

A home is a path, or a URL whose scheme names a backend. A new backend is one folder here with a module `backend`, and
one line in `BACKENDS`. Backends are imported when they are first needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from ..model import Clock
from .base import OnWrite, Storage, TokenStore

_FOLDER = "commonplace.storage.folder.backend"
BACKENDS = {
    "postgresql": "commonplace.storage.postgres.backend",
    "postgres": "commonplace.storage.postgres.backend",
}


class Backend(Protocol):
    """What a backend offers before a storage of it is open. A module `backend` has one as `BACKEND`."""

    def open_storage(self, address: str, clock: Clock, on_write: OnWrite) -> Storage: ...

    def open_tokens(self, address: str) -> TokenStore:
        """Open the access tokens alone, without the pages."""
        ...

    def display_name(self, address: str) -> str:
        """Return the address as it may be shown, without a password."""
        ...


def backend_of(address: str) -> Backend:
    backend: Backend = import_module(BACKENDS.get(_scheme(address), _FOLDER)).BACKEND
    return backend


def open_storage(address: str, clock: Clock, on_write: OnWrite) -> Storage:
    return backend_of(address).open_storage(address, clock, on_write)


def open_tokens(address: str) -> TokenStore:
    return backend_of(address).open_tokens(address)


def display_name(address: str) -> str:
    return backend_of(address).display_name(address)


def in_database(address: str) -> bool:
    return _scheme(address) in BACKENDS


def _scheme(address: str) -> str:
    scheme, separator, _ = address.partition("://")
    return scheme if separator else ""
