"""WHERE IS THE TRUTH KEPT? Pages: text under a path, read and written whole, with a version that names its bytes.

`Pages` is the seam between the memory and what stores it. The folder of files is in `folder.py`; every other
backend passes the same contract (`commonplace.testing.PagesContract`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from ..model import Page

Paths = list[str]
Sentences = list[str]
Suffix = str | tuple[str, ...]
Troubles = list[tuple[str, str]]  # paths, and what is wrong there: not everybody may know of every path
Texts = list[tuple[str, str]]  # paths, and what stands there

ABSENT = ""  # the version of a page that is not there
UNSURE = -1  # the stamp of a page that may change again without its stamp telling


class Changes(NamedTuple):
    """What differs from what the index knew: new stamps, pages that are gone, and what could not be seen."""

    changed: Mapping[str, int]
    removed: tuple[str, ...]
    warnings: tuple[tuple[str, str], ...] = ()  # paths, and what is wrong there


class Root(NamedTuple):
    """Where pages are looked for: a folder with all below it, or one page."""

    path: str
    suffix: Suffix = ".md"
    pattern: re.Pattern[str] | None = None
    is_page: bool = False


class Pages(Protocol):
    def read(self, path: str) -> Page:
        """The page, or PageNotFound, NotText, OutsideHome, StorageError."""
        ...

    def write(self, path: str, text: str, if_version: str | None = None) -> str:
        """Replace the whole page; the new version. `if_version` other than the current one is StaleVersion."""
        ...

    def edit(self, path: str, change: Callable[[str], str]) -> str:
        """Read, change, write, with nobody in between; a page that is not there is read as empty text."""
        ...

    def append(self, path: str, text: str) -> str:
        """Add text to the end, whole or not at all."""
        ...

    def rewrite(self, path: str, text: str) -> str:
        """Replace the whole page; what others changed elsewhere on it since this handle `saw` it stays."""
        ...

    def saw(self, page: Page) -> None:
        """This version was read by who will write next: what others write after it is not lost unnoticed."""
        ...

    def notice(self, paths: Iterable[str]) -> None:
        """Pages that changed by other hands: history keeps what they are now."""
        ...

    def remove(self, path: str, if_version: str | None = None) -> None:
        """Remove the page, or PageNotFound."""
        ...

    def list(self, folder: str, suffix: Suffix = ".md", *, deep: bool = False) -> Paths:
        """The paths of the pages in a folder, sorted; empty when the folder is not there."""
        ...

    def containing(self, folder: str, text: str) -> tuple[Texts, Sentences]:
        """The pages below a folder that hold a text, by path, and a sentence for each page that could not be read."""
        ...

    def folders(self, folder: str) -> Paths:
        """The names of the folders in a folder, sorted."""
        ...

    def modified(self, path: str) -> float:
        """When the page was last written, in seconds since the epoch."""
        ...

    def changes(self, known: Mapping[str, int], roots: Iterable[Root]) -> Changes:
        """Compare the pages under some roots with the stamps known of them."""
        ...

    def hold(self, name: str) -> AbstractContextManager[None]:
        """Keep other writers off something larger than a page (a key, a folder of pages) for a moment."""
        ...
