"""Path patterns as people write them: `*` within a folder, `**` across folders, `?` for one character."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(256)
def compile_glob(pattern: str) -> re.Pattern[str]:
    out = []
    for piece in re.split(r"(\*\*/|\*\*|\*|\?)", pattern):
        out.append({"**/": "(?:.+/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(piece, re.escape(piece)))
    return re.compile("".join(out))


def fixed_folder(pattern: str) -> str:
    """The folder below which everything that matches must lie."""
    whole = pattern.split("/")
    fixed = next((i for i, part in enumerate(whole) if "*" in part or "?" in part), len(whole) - 1)
    return "/".join(whole[:fixed])
