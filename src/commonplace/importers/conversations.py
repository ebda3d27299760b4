"""What the exports of ChatGPT and of Claude have in common: where conversations.json is, and pages made of the rest."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any

from .jsonparts import Objects, objects
from .source import Source, only_file

_FILES = re.compile(r"conversations(?:[-_]\d+)?\.json")


def files(source: Source) -> list[str]:
    """Large exports come in several files; one that was unpacked and renamed stands alone."""
    found = [name for name in source.top() if _FILES.fullmatch(name)]
    alone = only_file(source)
    return found or ([alone] if alone.endswith(".json") else [])


def is_of(source: Source, field: bytes) -> bool:
    """Whether the conversations of a source have a field, as far as its beginning tells."""
    return any(field in source.peek(path) for path in files(source)[:1])


def conversations(source: Source, field: str) -> Objects:
    for path in files(source):
        data = source.take(path)
        if data is not None:
            yield from objects(data, path, source.missed, field, ("conversations",))


def others(source: Source, name: str, field: str) -> Iterator[dict[str, Any]]:
    """The objects of another file of the export, or of a folder of such files, where there is one."""
    top = source.top()
    paths = [f"{name}.json"] if f"{name}.json" in top else source.paths(name) if f"{name}/" in top else []
    for path in paths:
        data = source.take(path) if path.endswith(".json") else None
        if data is not None:
            data = data.removeprefix(codecs.BOM_UTF8)
            whole = b"[" + data + b"]" if data.lstrip()[:1] == b"{" else data
            yield from (each for _, each in objects(whole, path, source.missed, field))
