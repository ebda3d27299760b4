"""Folders of Markdown: Obsidian, basic-memory, or any other. Every page keeps its bytes, its place and its time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

from ..errors import InvalidArgument
from ..formats import frontmatter
from ..storage.names import topic_name
from .source import Source
from .values import Into, Item, Missed, Text

_LOOKED_AT = 50  # pages of a folder whose front matter is looked at, to see whose it is
_TAKEN = frozenset({"world", "global", "channels"})  # folders that mean something here
_REASONS = {
    ".canvas": "is an Obsidian canvas, which is a drawing and no text",
    ".base": "is an Obsidian base, which is a view and no text",
    ".excalidraw": "is a drawing and no text",
}


def is_obsidian(source: Source) -> bool:
    return source.has(".obsidian")


def is_basic_memory(source: Source) -> bool:
    """Its pages say their `permalink`."""
    folders = ["", *(name[:-1] for name in source.top() if name.endswith("/"))]
    pages = [f"{f}/{n}" if f else n for f in folders[:_LOOKED_AT] for n in source.top(f) if n.endswith(".md")]
    return any(b"\npermalink:" in _head(source, path) for path in pages[:_LOOKED_AT])


def _head(source: Source, path: str) -> bytes:
    text = source.peek(path).decode("utf-8", "replace")
    return frontmatter.split(text)[0].encode()


def read(source: Source, into: Into) -> Iterator[Item]:
    try:
        name = topic_name(source.name)
    except InvalidArgument:
        name = "notes"
    name = f"{name}-notes" if name in _TAKEN else name
    other = f"{name}-{hashlib.blake2b(source.place.encode(), digest_size=3).hexdigest()}"
    for path in source.paths():
        ending = os.path.splitext(path)[1].lower()
        if ending != ".md":
            yield Missed(path, _REASONS.get(ending, "is an attachment: only Markdown is imported"))
            continue
        data = source.take(path)
        if data is None:
            continue
        place = path[:-3] + ".md"  # search knows no .MD
        at = source.modified(path)
        yield Text(f"{source.place}/{path}", into.loose(f"{name}/{place}"), data, at, into.loose(f"{other}/{place}"))
