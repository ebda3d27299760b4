"""What a write makes of a page's bytes, wherever pages are kept. None: there is no page, or none is to be written."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import NotText, StaleVersion
from .deltas import version_of

Change = Callable[[bytes | None], bytes | None]


def text_of(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 text (byte {error.start})"
        raise NotText(problem, path=path, advice="save it as UTF-8") from error


def whole(path: str, text: str, if_version: str | None) -> Callable[[bytes | None], bytes]:
    """The page becomes a text; StaleVersion when it is not the version it is believed to be."""

    def change(old: bytes | None) -> bytes:
        if if_version is not None and version_of(old) != if_version:
            raise StaleVersion(path)
        return text.encode()

    return change


def edited(path: str, change: Callable[[str], str]) -> Change:
    """The page becomes what is made of its text; one that is not there and shall be empty is not made."""

    def changed(old: bytes | None) -> bytes | None:
        new = change("" if old is None else text_of(old, path)).encode()
        return new if new or old is not None else None

    return changed
