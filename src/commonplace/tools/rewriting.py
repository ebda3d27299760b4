"""Rewriting a page whole from what the caller was given of it, so that nothing others wrote since is lost silently."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from ..errors import CommonplaceError, StorageError
from ..formats import blocks
from ..framing.limits import fit_lines
from ..framing.skeleton import Kind, unescape_page
from ..home import Home
from ..model import Block
from ..storage.history import current_write, version_of
from ..storage.merge import MergedText, find_lost_lines, merge_rewrites
from ..storage.readings import Reading, read_lines
from .define import Reply, with_warning


class _Rewrite(NamedTuple):
    """What a page becomes: with what others changed, and with the notes that the new text leaves out."""

    text: str
    lost: str = ""  # lines of others that are not in it
    is_merged: bool = False
    kept_notes: tuple[str, ...] = ()  # their keys


def rewrite_page(home: Home, path: str, content: str, kind: Kind) -> Reply:
    """Rewrite a page with what others changed since the caller read it; return what the reply has to say about that.

    `conflict` has the lines of others that are not on the page any more, and `kept` the keys of notes that the new
    text leaves out.
    """
    given = home.find_given(path)
    text = unescape_page(content, _read_quietly(home, path) if given is None else given.text, kind)
    own_version = _find_own_version(home, path) if given is None else ""
    rewrite = _Rewrite(text)

    def merge(current: str) -> str:
        nonlocal rewrite
        is_own = given is not None or version_of(current.encode()) == own_version
        rewrite = _merge(given, current, text, keeps_notes=kind == "curated", is_own=is_own)
        return rewrite.text

    home.writer.rewrite(path, merge)
    home.note_given(path, read_lines(text))
    return _describe(path, rewrite, is_read=given is not None)


def _merge(given: Reading | None, current: str, text: str, *, keeps_notes: bool, is_own: bool) -> _Rewrite:
    """Merge a new text into a page. One that the caller was not given is replaced, and so is its own."""
    notes = _find_left_out_notes(current, text) if keeps_notes else []
    rest = _remove_notes(current, notes)
    base = None if given is None else _remove_notes(given.text, notes)
    if base is None:
        lost = "" if is_own else find_lost_lines(rest.split("\n"), text.split("\n"))
        merged = MergedText(text, lost)
    elif base.rstrip("\n") == rest.rstrip("\n"):
        merged = MergedText(text, "")
    else:
        merged = merge_rewrites(base, rest, text)
    is_merged = merged.text.rstrip("\n") != text.rstrip("\n")
    return _Rewrite(_append_notes(merged.text, notes), merged.lost, is_merged, tuple(note.key for note in notes))


def _find_left_out_notes(page: str, text: str) -> list[Block]:
    """Return the notes with a footer whose keys a new text does not have."""
    keys = {block.key for block in blocks.parse(text)}
    return [block for block in blocks.parse(page) if block.at and block.key not in keys]


def _remove_notes(text: str, notes: list[Block]) -> str:
    keys = {note.key for note in notes}
    for block in reversed(blocks.parse(text) if keys else []):
        if block.at and block.key in keys:
            text = blocks.remove(text, block)
    return text


def _append_notes(text: str, notes: list[Block]) -> str:
    for note in notes:
        text = f"{text.rstrip(chr(10))}\n\n" if text.strip("\n") else ""
        text = blocks.append(text, note.key, note.content, note.at, note.tags)
    return text


def _read_quietly(home: Home, path: str) -> str:
    """Return the text of a page; empty where it cannot be read."""
    try:
        return home.storage.pages.read(path).text
    except CommonplaceError:
        return ""


def _find_own_version(home: Home, path: str) -> str:
    """Return the version of a page that this agent wrote last; empty if somebody else did, or nobody knows."""
    with suppress(OSError, StorageError):
        head = home.storage.history.head(path)
        if head and head.by.agent == current_write().author.agent:
            return head.version
    return ""


def _describe(path: str, rewrite: _Rewrite, *, is_read: bool) -> Reply:
    lost, problem = fit_lines(rewrite.lost, f"`commonplace diff {path}` shows all")
    reply: Reply = {"conflict": lost} if lost else {}
    if rewrite.kept_notes:
        reply["kept"] = [*rewrite.kept_notes]
    sentences = []
    if not is_read and lost:
        sentences.append(f"{path} was written by somebody else, and you had not read it: conflict has its lines")
    elif lost:
        sentences.append(f"{path} had changed since you read it: conflict has lines of others that yours replaced")
    elif rewrite.is_merged:
        sentences.append(f"{path} had changed since you read it: both changes are in it now")
    return with_warning(reply, *sentences, problem)
