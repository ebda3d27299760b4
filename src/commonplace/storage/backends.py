"""The table of backends: which one an address names, and how it is opened.

A home is a path, or a URL whose scheme names a backend. A new backend is one folder here with a module `backend`, and
one line in `BACKENDS`. Backends are imported when they are first needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple, Protocol

from ..model import Clock
from .base import OnWrite, Storage, TokenStore

_FOLDER = "commonplace.storage.folder.backend"
BACKENDS = {
    "postgresql": "commonplace.storage.postgres.backend",
    "postgres": "commonplace.storage.postgres.backend",
}

MAX_TENANT_CHARACTERS = 200


class SetupProblem(NamedTuple):
    """Something that must be set right before a memory can be opened, and how."""

    location: str
    problem: str
    advice: str


class Backend(Protocol):
    """What a backend offers before a storage of it is open. A module `backend` has one as `BACKEND`."""

    has_tenants: bool  # whether one server of it holds many memories, each with its own tokens

    def open_storage(self, address: str, clock: Clock, on_write: OnWrite) -> Storage: ...

    def open_tokens(self, address: str) -> TokenStore:
        """Open the access tokens alone, without the pages."""
        ...

    def display_name(self, address: str) -> str:
        """Return the address as it may be shown, without a password."""
        ...

    def absolute_address(self, address: str) -> str:
        """Return an address that means the same in any working directory."""
        ...

    def check_address(self, address: str) -> None:
        """Raise an error if the address cannot name a memory. Nothing is opened."""
        ...

    def require_ready(self, address: str) -> None:
        """Raise an error that names the next step if something must be set up before a memory can be opened."""
        ...

    def tenant_address(self, address: str, tenant: str) -> str:
        """Return the address of another tenant's memory on the same server; only where `has_tenants`."""
        ...

    def diagnose(self, address: str) -> list[SetupProblem]:
        """Return what keeps a memory from being opened; NotFound where there is none."""
        ...

    def may_exist(self, address: str) -> bool:
        """Return False if there is certainly no memory at the address."""
        ...

    def create(self, address: str) -> None:
        """Make the place for a new memory. One that exists stays as it is."""
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


def is_tenant(name: str) -> bool:
    """Return whether a text can name a tenant."""
    return 0 < len(name) <= MAX_TENANT_CHARACTERS and "\0" not in name


def _scheme(address: str) -> str:
    scheme, separator, _ = address.partition("://")
    return scheme if separator else ""
