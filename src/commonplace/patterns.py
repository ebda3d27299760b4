"""Regular expressions that are compiled at their first use.

There are hundreds of them, for many languages, and a command needs few. Compiling all at import would take a
third of a command's time.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split")


class LazyPattern:
    """Stands for a compiled pattern. After the first use, its methods are those of the pattern."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = self.compile()
        for method in _METHODS:
            self.__dict__[method] = getattr(compiled, method)
        return getattr(compiled, name)

    def compile(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when it is first used."""
    return cast("re.Pattern[str]", LazyPattern(source, flags))
