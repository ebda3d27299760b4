"""The contract of every storage, over files and over memory."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from commonplace.storage.base import Pages, Storage, ignore_write, open_storage
from commonplace.storage.folder.pages import FolderPages
from commonplace.testing import PagesContract, StorageContract

NUMBERS = itertools.count()


class TestFolderStorage(StorageContract):
    @pytest.fixture(autouse=True)
    def _set_folder(self, tmp_path: Path) -> None:
        self._folder = tmp_path / "home"

    def make_storage(self) -> Storage:
        return open_storage(str(self._folder), self.clock, ignore_write)


class TestFolderPagesWithoutHistory(PagesContract):
    @pytest.fixture(autouse=True)
    def _set_folder(self, tmp_path: Path) -> None:
        self._folder = tmp_path / "home"

    def make_pages(self) -> Pages:
        return FolderPages(str(self._folder))


class TestMemoryStorage(StorageContract):
    def make_storage(self) -> Storage:
        return open_storage(f"memory://contract-{next(NUMBERS)}", self.clock, ignore_write)
