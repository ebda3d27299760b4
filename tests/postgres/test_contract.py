"""The contract of every storage, over PostgreSQL."""

from __future__ import annotations

import pytest

from commonplace.storage.base import Storage, ignore_write, open_storage
from commonplace.testing import StorageContract

pytestmark = pytest.mark.slow


class TestPostgresStorage(StorageContract):
    @pytest.fixture(autouse=True)
    def _set_url(self, url: str) -> None:
        self._url = url

    def make_storage(self) -> Storage:
        return open_storage(self._url, self.clock, ignore_write)
