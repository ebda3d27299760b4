"""The order of what is done to the files of a home: what a power cut could take away is on the disk before it is said.

A process that dies takes nothing with it, so the cases never show this; the list of operations does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from .faults import Operation


def unsafe(operations: Sequence[Operation], home: str) -> list[str]:
    """Sentences for what one call did to pages, and did not wait for."""
    return [*_renamed_too_early(operations, home), *_never_confirmed(operations, home)]


def _is_page(path: str, home: str) -> bool:
    below = path.removeprefix(home)
    return path.startswith(home) and "/." not in below


def _renamed_too_early(operations: Sequence[Operation], home: str) -> Iterator[str]:
    written: set[str] = set()
    for kind, path, target in operations:
        if kind == "write":
            written.add(path)
        elif kind == "fsync":
            written.discard(path)
        elif kind == "rename" and path in written and _is_page(target, home):
            yield f"{path} took the place of a page before its bytes were on the disk"


def _never_confirmed(operations: Sequence[Operation], home: str) -> Iterator[str]:
    changed: dict[str, str] = {}
    for kind, path, target in operations:
        if kind == "rename":
            changed |= {os.path.dirname(page): page for page in (path, target) if _is_page(page, home)}
        elif kind in ("mkdir", "unlink") and _is_page(path, home):
            changed[os.path.dirname(path)] = path
        elif kind in ("fsync", "rmdir"):  # a removed folder has nothing to keep
            changed.pop(path, None)
    for folder, path in changed.items():
        yield f"the entry of {path} in {folder} was not on the disk when the call was answered"
