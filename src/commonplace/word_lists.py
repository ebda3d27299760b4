"""Words and phrases by language, in text files beside the code that uses them: `facts/lists/` and `search/lists/`.

    # Words that deny.
    NEGATIONS:
        english: not no never
        german: nicht kein keine

A list has words, or phrases separated by ` | ` or line breaks, which may be patterns. Each line may be for a
language; a long one continues below, indented further. Lines with `#` are comments. See `ARCHITECTURE.md`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from .patterns import lazy_pattern

_LIST = re.compile(r"^(\w+):(.*\n(?:    .*\n)*)", re.MULTILINE)
_PART = re.compile(r"^    (-?[\w']+(?: \w+)*):(.*\n(?:        .*\n)*)", re.MULTILINE)
_MENTION = re.compile(r"\{([A-Z_]+)\}")
_BETWEEN_PHRASES = re.compile(r" \| |\n")
ANYWHERE = "anywhere"  # the part of a list whose phrases need not be whole words: they are in scripts without spaces


class WordLists:
    """The lists of one folder. A file is read when the first of its lists is asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, dict[str, str]] = {}

    def read_text(self, file: str, name: str, *, default: str | None = None) -> str:
        """Return the raw text of a list, without the names of its parts."""
        return _PART.sub(r"\2", self._read(file, name, default))

    def read_table(self, file: str, name: str, *, default: str | None = None) -> dict[str, str]:
        """Return the parts of a list by name, mostly by language."""
        text = self._read(file, name, default)
        return {part: value.strip() for part, value in _PART.findall(text)} or {"": text.strip()}

    def list_phrases(self, file: str, name: str, *, default: str | None = None) -> list[str]:
        """Return the phrases of a list."""
        return split_phrases(self.read_text(file, name, default=default))

    def phrase_pattern(self, file: str, name: str, flags: int = 0) -> re.Pattern[str]:
        """Return a pattern for the phrases of a list as whole words; those of its part `anywhere` need not be."""
        return lazy_pattern(self.join_phrases(file, name), flags)

    def join_phrases(self, file: str, name: str) -> str:
        """Return the source of that pattern."""
        parts = self.read_table(file, name)
        anywhere = split_phrases(parts.pop(ANYWHERE, ""))
        words = [phrase for part in parts.values() for phrase in split_phrases(part)]
        whole = [rf"(?<!\w)(?:{'|'.join(words)})(?!\w)"] if words else []
        return "|".join([*whole, *anywhere])

    def list_names(self, file: str) -> Collection[str]:
        """Return the names of the lists in a file."""
        return self._read_file(file).keys()

    def _read(self, file: str, name: str, default: str | None = None) -> str:
        """Return a list with the lists that it names, such as `{HAVE}`, filled in."""
        lists = self._read_file(file)
        text = lists[name] if default is None else lists.get(name, default)
        return _MENTION.sub(lambda match: " ".join(_PART.sub(r"\2", lists[match[1]]).split()), text)

    def _read_file(self, file: str) -> dict[str, str]:
        lists = self._files.get(file)
        if lists is None:
            text = (self._folder / f"{file}.txt").read_text(encoding="utf-8")
            lists = self._files[file] = dict(_LIST.findall(text))
        return lists


def split_phrases(text: str) -> list[str]:
    """Return the phrases of a text of a list."""
    return [phrase.strip() for phrase in _BETWEEN_PHRASES.split(text) if phrase.strip()]
