"""Regular expressions that are compiled at their first use.

There are hundreds of them, for many languages, and a command needs few. Compiling all at import would take a
third of a command's time.
"""

from __future__ import annotations

import re
from typing import Any, cast

# Characters that nobody sees, as the inside of a character class: format controls, fillers, variation selectors, tags.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
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
