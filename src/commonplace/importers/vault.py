"""Folders of Markdown: Obsidian, basic-memory, or any other. Pages keep their bytes, relative paths and times."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

from ..errors import InvalidArgument
from ..formats import frontmatter
from ..storage.names import topic_name
from .source import Source
from .values import Destination, Item, PageItem, Skipped

_MAX_PAGES_PEEKED = 50  # to recognise a format by front matter
_RESERVED_FOLDERS = frozenset({"world", "global", "channels"})  # they have a meaning in a home
_SKIP_REASONS = {
    ".canvas": "is an Obsidian canvas: a drawing, not text",
    ".base": "is an Obsidian base: a view, not text",
    ".excalidraw": "is a drawing, not text",
}


def is_obsidian(source: Source) -> bool:
    return source.has_folder(".obsidian")


def is_basic_memory(source: Source) -> bool:
    """Return whether any of the first pages has a `permalink` in its front matter."""
    folders = ["", *(name[:-1] for name in source.list_names() if name.endswith("/"))]
    pages = [
        f"{folder}/{name}" if folder else name
        for folder in folders[:_MAX_PAGES_PEEKED]
        for name in source.list_names(folder)
        if name.endswith(".md")
    ]
    return any(b"\npermalink:" in _read_front_matter(source, path) for path in pages[:_MAX_PAGES_PEEKED])


def _read_front_matter(source: Source, path: str) -> bytes:
    text = source.peek(path).decode("utf-8", "replace")
    return frontmatter.split(text)[0].encode()


def read(source: Source, into: Destination) -> Iterator[Item]:
    try:
        name = topic_name(source.name)
    except InvalidArgument:
        name = "notes"
    name = f"{name}-notes" if name in _RESERVED_FOLDERS else name
    fallback_name = f"{name}-{hashlib.blake2b(source.location.encode(), digest_size=3).hexdigest()}"
    for path in source.list_files():
        ending = os.path.splitext(path)[1].lower()
        if ending != ".md":
            yield Skipped(path, _SKIP_REASONS.get(ending, "is an attachment: only Markdown is imported"))
            continue
        data = source.read_file(path)
        if data is None:
            continue
        page = path[:-3] + ".md"  # search does not look at .MD
        yield PageItem(
            f"{source.location}/{path}",
            into.shared_page(f"{name}/{page}"),
            data,
            source.modified(path),
            into.shared_page(f"{fallback_name}/{page}"),
        )
