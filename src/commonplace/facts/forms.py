"""Forms: patterns for clauses, written as rows of words and compiled into regular expressions.

In a row, a capital letter is a slot for any words. Slashes separate alternatives, an underscore joins words, and a word
that ends with a question mark is optional: `S moved/relocated back? to V`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from .words import fold

Tag = TypeVar("Tag")


class Form(NamedTuple, Generic[Tag]):
    """A form. `tag`: its meaning. `triggers`: every text with this form has one of these words."""

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
    """Return the forms of a table, which has a tag and lines with one row each.

    `last_slots`: patterns of slots at the end of a row, if they are others there. `longest_first`: between slashes, the
    longest words are tried first (`la nostra`, then `la`), and not in their order. `is_whole`: a form fits a whole
    text, and not just its beginning.
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
    """Return the words of the required part of a form that has the longest words."""
    needed = [_list_words(part) for part in row if part not in slots and not part.endswith("?")]
    longest = max(needed, key=_count_shortest)
    return frozenset(longest)


def _list_words(part: str) -> list[str]:
    return [max(each.split("_"), key=len) for each in fold(part).split("/")]


def _count_shortest(words: list[str]) -> int:
    return min(map(len, words))
