"""Links that a person confirmed or rejected, as comments in pages: a line below the newer statement.

    The launch is on 26 November.
    <!-- commonplace: supersedes 3f9a01c2 -->

Other programs show nothing of it. It names the older statement by a hash of its words, so that it holds when either of
them moves to another line or page.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_COMMENT = re.compile(r"\s*<!-- commonplace: (supersedes|not-supersedes)((?: [0-9a-f]{8})+) -->\s*")
_START = "<!-- commonplace: "
_BULLET = re.compile(r"(\s*)(?:[-*+•]|\d{1,3}[.)])\s+")


class Answers(NamedTuple):
    """What a person said about the statement above: which older ones it replaces, and which it does not."""

    confirmed: frozenset[str] = frozenset()
    rejected: frozenset[str] = frozenset()


NO_ANSWERS = Answers()


def hash_words(words: Sequence[str]) -> str:
    """Return the name of a statement in a link."""
    return f"{zlib.crc32(' '.join(words).encode(errors='surrogatepass')):08x}"


def find_answers(text: str) -> dict[int, Answers]:
    """Return the answers in a text by the number of their line, counted from 0."""
    if _START not in text:
        return {}
    found: dict[int, Answers] = {}
    for number, line in enumerate(text.split("\n")):
        match = _COMMENT.fullmatch(line)
        if match:
            names = frozenset(match[2].split())
            found[number] = Answers(names) if match[1] == "supersedes" else Answers(rejected=names)
    return found


def add_answer(text: str, line: int, names: Iterable[str], *, is_rejection: bool) -> str:
    """Return a page with an answer below a line, counted from 0. The opposite answer of before is taken back."""
    lines = text.split("\n")
    names = frozenset(names)
    below = line + 1
    confirmed: frozenset[str] = frozenset()
    rejected: frozenset[str] = frozenset()
    while below < len(lines) and (answers := find_answers(lines[below]).get(0)):
        confirmed |= answers.confirmed
        rejected |= answers.rejected
        del lines[below]
    confirmed, rejected = (
        (confirmed - names, rejected | names) if is_rejection else (confirmed | names, rejected - names)
    )
    indent = _indent_below(lines[line])
    kinds = (("supersedes", confirmed), ("not-supersedes", rejected))
    lines[below:below] = [f"{indent}{_START}{kind} {' '.join(sorted(each))} -->" for kind, each in kinds if each]
    return "\n".join(lines)


def remove_confirmation(text: str, line: int, names: Iterable[str]) -> str:
    """Return a page whose statement that ends on a line, counted from 0, no longer replaces these."""
    lines = text.split("\n")
    taken_back = frozenset(names)
    below = line + 1
    while below < len(lines) and (answers := find_answers(lines[below]).get(0)):
        left = answers.confirmed - taken_back
        if answers.confirmed and not left:
            del lines[below]
            continue
        if left != answers.confirmed:
            indent = lines[below][: len(lines[below]) - len(lines[below].lstrip())]
            lines[below] = f"{indent}{_START}supersedes {' '.join(sorted(left))} -->"
        below += 1
    return "\n".join(lines)


def _indent_below(line: str) -> str:
    """Return the indent of what belongs to a line: an item of a list goes on two columns further."""
    bullet = _BULLET.match(line)
    return f"{bullet[1]}  " if bullet else line[: len(line) - len(line.lstrip())]
