"""Forms: rows of words that sentences are compared with, as regular expressions over words with spaces between them.

In a row, a capital letter is a slot for any words; slashes are between words of which one is there, an underscore joins
words, and a question mark follows what may be missing: `S moved/relocated back? to V`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from .words import fold

Tag = TypeVar("Tag")


class Form(NamedTuple, Generic[Tag]):
    """A form, what it says by its tag, and words of which every text with it has one."""

    tag: Tag
    pattern: str
    triggers: frozenset[str]


def compile_forms(
    table: Iterable[tuple[Tag, str]],
    slots: Mapping[str, str],
    last_slots: Mapping[str, str],
    *,
    longest_first: bool,
    is_whole: bool,
) -> list[Form[Tag]]:
    """Return the forms of a table of tags, each with one row a line.

    `last_slots`: patterns of slots at the end of a row, where they differ. `longest_first`: of words of which one is
    there, the longest that fits is taken (`la nostra`, then `la`), and not the first. `is_whole`: the form is all of a
    text, and not only how it begins.
    """
    end = r"\Z" if is_whole else r"(?!\S)"
    rows = [(tag, row.split()) for tag, text in table for row in text.split("\n") if row.strip()]
    return [
        Form(tag, _translate(row, slots, last_slots, longest_first=longest_first) + end, _choose_triggers(row, slots))
        for tag, row in rows
    ]


def _translate(
    row: Sequence[str], slots: Mapping[str, str], last_slots: Mapping[str, str], *, longest_first: bool
) -> str:
    pattern = ""
    for at, part in enumerate(row):
        is_last = at + 1 == len(row)
        space = "" if is_last else " "
        if part in slots:
            pattern += (last_slots.get(part, slots[part]) if is_last else slots[part]) + space
        else:
            words = _join_choices(part, longest_first=longest_first)
            pattern += f"(?:(?:{words}){space})?" if part.endswith("?") else f"(?:{words}){space}"
    return pattern


def _join_choices(part: str, *, longest_first: bool) -> str:
    choices = part.removesuffix("?").split("/")
    if longest_first:
        choices.sort(key=len, reverse=True)
    return "|".join(re.escape(fold(each).replace("_", " ")) for each in choices)


def _choose_triggers(row: Sequence[str], slots: Mapping[str, str]) -> frozenset[str]:
    """Return the words of the part of a form that is never missing and has the longest words."""
    needed = [_list_words(part) for part in row if part not in slots and not part.endswith("?")]
    longest = max(needed, key=_count_shortest)
    return frozenset(longest)


def _list_words(part: str) -> list[str]:
    return [max(each.split("_"), key=len) for each in fold(part).split("/")]


def _count_shortest(words: list[str]) -> int:
    return min(map(len, words))
