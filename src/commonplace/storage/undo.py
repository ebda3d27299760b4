"""Undo single changes, or restore a page as it was at a time. Both are changes like any other and can be undone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..errors import CommonplaceError, Conflict, NotFound, NotText
from .base import ABSENT, HistoryStore, Pages
from .history import Change
from .merge import merge


class UndoResult(NamedTuple):
    """The outcome for one page. `problem`: why it was left as it is."""

    path: str
    changes: tuple[Change, ...]
    problem: str = ""


def undo(pages: Pages, history: HistoryStore, changes: Iterable[Change]) -> list[UndoResult]:
    """Undo changes, page by page. One that cannot be undone does not keep the others from it."""
    by_page: dict[str, list[Change]] = {}
    for change in changes:
        by_page.setdefault(change.path, []).append(change)
    return [_undo_page(pages, history, path, of_page) for path, of_page in by_page.items()]


def read_as_of(history: HistoryStore, path: str, moment: str) -> bytes | None:
    """Return what a page was at a moment; None when it was absent."""
    known = history.changes(path)
    before = [change for change in known if change.at <= moment]
    if before:
        return history.read_version(path, before[-1].version)
    if known and known[0].tool:  # the first thing known of it is that a tool made it
        return history.read_version(path, known[0].before)
    raise NotFound(f"history does not know what {path} was at {moment}: `commonplace log {path}` shows what it knows")


def restore(pages: Pages, path: str, data: bytes | None) -> bool:
    """Write a page as it was; return False when it is that already."""
    text = None if data is None else _text(data, path)
    try:
        now = pages.read(path)
    except NotFound:
        if text is None:
            return False
        pages.write(path, text, if_version=ABSENT)
        return True
    if text is None:
        pages.remove(path, if_version=now.version)
    elif text != now.text:
        pages.write(path, text, if_version=now.version)
    return text != now.text


def _undo_page(pages: Pages, history: HistoryStore, path: str, changes: list[Change]) -> UndoResult:
    try:
        for run in reversed(_runs(changes, history.changes(path))):
            _undo_run(pages, history, path, run)
    except CommonplaceError as error:
        return UndoResult(path, tuple(changes), str(error))
    return UndoResult(path, tuple(changes))


def _runs(changes: list[Change], every: list[Change]) -> list[tuple[str, str]]:
    """Return the versions before and after each run of changes; a run has no other changes in between."""
    wanted = {change.id for change in changes}
    runs: list[tuple[str, str]] = []
    joined = False
    for change in every:
        if change.id not in wanted:
            joined = False
            continue
        runs[-1:] = [(runs[-1][0], change.version)] if joined else [*runs[-1:], (change.before, change.version)]
        joined = True
    return runs


def _undo_run(pages: Pages, history: HistoryStore, path: str, run: tuple[str, str]) -> None:
    was, made = (history.read_version(path, version) for version in run)
    try:
        now = pages.read(path)
    except NotFound:
        now = None
    if (ABSENT if now is None else now.version) == run[1]:
        restore(pages, path, was)
    elif now is None or made is None:
        raise Conflict(f"{path} is {'not there any more' if now is None else 'there again'}: {_ADVICE}")
    else:
        _merge_back(pages, path, "" if was is None else _text(was, path), _text(made, path))


def _merge_back(pages: Pages, path: str, was: str, made: str) -> None:
    """Merge the undo into a page that others changed since."""

    def change(text: str) -> str:
        merged = merge(made, text, was)
        if merged is None:
            raise Conflict(f"{path} has changed since in the same place: {_ADVICE}")
        return merged

    pages.edit(path, change)


_ADVICE = "take the later changes back first, or `commonplace restore` the page as it was at a time"


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise NotText(f"that version of {path} is not UTF-8 text: it cannot be put back as a page") from error
