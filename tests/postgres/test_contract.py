"""The contract of pages, kept by rows of PostgreSQL."""

from __future__ import annotations

import pytest

from commonplace.storage.base import Pages
from commonplace.storage.postgres.pages import PostgresPages
from commonplace.testing import PagesContract

pytestmark = pytest.mark.slow


class TestPostgresPages(PagesContract):
    @pytest.fixture(autouse=True)
    def _given(self, pages: PostgresPages) -> None:
        self._pages = pages

    def make_pages(self) -> Pages:
        return self._pages
