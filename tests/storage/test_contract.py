from __future__ import annotations

import tempfile

from commonplace.storage.base import Pages
from commonplace.storage.folder.pages import FolderPages
from commonplace.testing import MemoryPages, PagesContract


class TestFolderPages(PagesContract):
    def make_pages(self) -> Pages:
        return FolderPages(tempfile.mkdtemp(prefix="commonplace-"))


class TestMemoryPages(PagesContract):
    def make_pages(self) -> Pages:
        return MemoryPages()
