"""Forms: patterns for clauses, written as rows of words and compiled into regular expressions.

In a row, a capital letter is a placeholder for any words. Slashes separate alternatives, an underscore joins words, and
a word that ends with a question mark is optional: `S moved/relocated back? to V`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from .words import compile_pattern, fold

Tag = TypeVar("Tag")


class Form(NamedTuple, Generic[Tag]):
    """A form. `tag`: its meaning."""

    tag: Tag
    pattern: str


FormIndex = dict[str, list[Form[Tag]]]  # by words: every text with a form has one of the words it is found under


def index_forms(
    table: Iterable[tuple[Tag, str]], placeholders: Mapping[str, str], last_placeholders: Mapping[str, str]
) -> FormIndex[Tag]:
    """Return the forms of a table, which has a tag and lines with one row each.

    `last_placeholders`: patterns of placeholders at the end of a row, if they are others there.
    """
    index: FormIndex[Tag] = {}
    for tag, text in table:
        for row in map(str.split, filter(str.strip, text.split("\n"))):
            form = Form(tag, _translate(row, placeholders, last_placeholders))
            for word in _choose_triggers(row, placeholders):
                index.setdefault(word, []).append(form)
    return index


def match_forms(index: FormIndex[Tag], words: Sequence[str]) -> Iterator[tuple[Tag, re.Match[str]]]:
    """Yield the forms with which the words of a clause begin."""
    joined = " ".join(words)
    for form in {form: None for word in words for form in index.get(word, ())}:
        if match := compile_pattern(form.pattern).match(joined):
            yield form.tag, match


def _translate(row: Sequence[str], placeholders: Mapping[str, str], last_placeholders: Mapping[str, str]) -> str:
    pattern = ""
    for at, part in enumerate(row):
        is_last = at + 1 == len(row)
        space = "" if is_last else " "
        if part in placeholders:
            pattern += (last_placeholders.get(part, placeholders[part]) if is_last else placeholders[part]) + space
        else:
            words = _join_choices(part)
            pattern += f"(?:(?:{words}){space})?" if part.endswith("?") else f"(?:{words}){space}"
    return rf"{pattern}(?!\S)"


def _join_choices(part: str) -> str:
    """Return the pattern of alternatives, the longest first: `la nostra`, then `la`."""
    choices = sorted(part.removesuffix("?").split("/"), key=len, reverse=True)
    return "|".join(re.escape(fold(each).replace("_", " ")) for each in choices)


def _choose_triggers(row: Sequence[str], placeholders: Mapping[str, str]) -> frozenset[str]:
    """Return the words of that required part of a form whose words are the longest."""
    needed = [_list_words(part) for part in row if part not in placeholders and not part.endswith("?")]
    longest = max(needed, key=_count_shortest)
    return frozenset(longest)


def _list_words(part: str) -> list[str]:
    return [max(each.split("_"), key=len) for each in fold(part).split("/")]


def _count_shortest(words: list[str]) -> int:
    return min(map(len, words))
