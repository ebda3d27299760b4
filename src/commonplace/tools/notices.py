"""What a write replaces or contradicts, so that the agent can act in the same turn: `supersedes` and `contradicts`.

A value under the same key is replaced by the next one, and a line of a page by the line that takes its place. Nothing
is deleted by this: history has every earlier version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from ..formats import blocks
from ..formats.records import find_value_line, parse_record
from ..framing import quote_line
from ..home import Home
from ..model import Block, Record
from ..storage.history import PageEdit
from .define import Reply

_MAX_NOTICES = 3  # of each kind in one reply
_MAX_TEXT_CHARACTERS = 200  # of a text that is replaced
_MAX_COMPARED_CHARACTERS = 64_000  # of a page whose lines are compared
_MIN_SHARED_WORDS = 0.5  # of the words of two lines, if one takes the place of the other
_WORD = re.compile(r"\w+")


class Notice(NamedTuple):
    """A text that a write replaces or contradicts, where it is or was, and why."""

    citation: str
    text: str
    kind: str
    reason: str

    def as_reply(self) -> Reply:
        is_long = len(self.text) > _MAX_TEXT_CHARACTERS
        text = f"{self.text[:_MAX_TEXT_CHARACTERS].rstrip()} …" if is_long else self.text
        return {
            "citation": quote_line(self.citation),
            "text": quote_line(text),
            "kind": self.kind,
            "reason": quote_line(self.reason),
        }


def describe_changes(home: Home, edits: Sequence[PageEdit]) -> Reply:
    """Return what a reply says about the edits of a call: nothing where nothing was replaced or contradicted."""
    replaced = [notice for edit in edits for notice in _find_replaced(home, edit)]
    notices = list(dict.fromkeys(replaced))[:_MAX_NOTICES]
    return {"supersedes": [notice.as_reply() for notice in notices]} if notices else {}


def _find_replaced(home: Home, edit: PageEdit) -> Iterator[Notice]:
    """Yield what an edit replaces on its own page."""
    place = home.layout.place(edit.path)
    if not place or not edit.before or max(len(edit.before), len(edit.after)) > _MAX_COMPARED_CHARACTERS:
        return
    if place.kind == "record":
        yield from _compare_records(edit, place.name)
    elif place.kind == "page":
        yield from _compare_blocks(edit)
        yield from _compare_lines(edit)


def _compare_records(edit: PageEdit, name: str) -> Iterator[Notice]:
    old, new = (parse_record(text, Record(name, "", path=edit.path)) for text in (edit.before, edit.after))
    if not old.problem and old.text.strip() and old.text != new.text:
        line = find_value_line(edit.before)
        yield Notice(f"{edit.path}#L{line}", old.text, "same-key", f"the value of {old.key} before")


def _compare_blocks(edit: PageEdit) -> Iterator[Notice]:
    new = {block.key: block for block in blocks.parse(edit.after)}
    for old in blocks.parse(edit.before):
        if old.at and old.key in new and old.content.strip() != new[old.key].content.strip():
            yield Notice(_cite(edit.path, old), old.content, "same-key", f"what {old.key} said before")


def _cite(path: str, block: Block) -> str:
    return f"{path}#L{block.first_line}-L{block.last_line}"


def _compare_lines(edit: PageEdit) -> Iterator[Notice]:
    """Yield the lines outside of keyed notes that others took the place of."""
    before, after = (_lines_without_notes(text) for text in (edit.before, edit.after))
    matcher = SequenceMatcher(None, [line for _, line in before], [line for _, line in after], autojunk=False)
    for operation, first, last, start, stop in matcher.get_opcodes():
        if operation != "replace":
            continue
        new_lines = [line for _, line in after[start:stop]]
        for number, line in before[first:last]:
            if _find_successor(line, new_lines):
                yield Notice(f"{edit.path}#L{number}", line.strip(), "replaced-line", "the line this one replaced")


def _lines_without_notes(text: str) -> list[tuple[int, str]]:
    """Return the lines of a page with their numbers, without blank ones and without those of keyed notes."""
    for block in blocks.parse(text):
        if block.at:
            span = slice(block.start, block.end)
            text = (
                text[: block.start] + "\n".join(" " * len(line) for line in text[span].split("\n")) + text[block.end :]
            )
    return [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _find_successor(line: str, candidates: Iterable[str]) -> str:
    """Return the line that says another thing in much the same words; empty if there is none."""
    words = _words(line)
    for candidate in candidates:
        others = _words(candidate)
        shared = len(words & others) / max(len(words | others), 1)
        if words != others and shared >= _MIN_SHARED_WORDS:
            return candidate
    return ""


def _words(line: str) -> set[str]:
    return set(_WORD.findall(line.casefold()))
