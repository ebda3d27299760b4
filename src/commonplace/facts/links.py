"""Links between statements, and a person's answers about them, stored as comments in pages.

A comment is at the end of the newer statement:

    The launch is on 26 November. <!-- commonplace: supersedes 3f9a01c2 -->

Other programs do not show it. It names the older statement by a hash of its words, so it stays valid when either of
them moves to another line or page. Earlier versions put it on a line of its own, below the statement.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from ..formats.blocks import (
    ANSWER_PATTERN,
    ANSWER_START,
    CONFIRMATION,
    REJECTION,
    Answer,
    add_annotation,
    find_annotated_lines,
    is_annotation_line,
)
from ..patterns import lazy_pattern

_COMMENT = lazy_pattern(rf" ?{ANSWER_PATTERN}")


LinkKind = Literal[
    "frame",  # both say the same with another value
    "correction",  # the newer says that something changed
    "retraction",  # the newer takes it back
    "answer",  # to what was open
    "done",  # the task of the older one
    "confirmed",  # by a person
    "same-key",  # both are stored under one key
    "repetition",  # the newer says the same again
]


class Link(NamedTuple):
    """Why the newer of two statements replaces the older. `evidence`: what both have in common."""

    kind: LinkKind
    reason: str
    evidence: str = ""
    has_one_subject: bool = False  # the subjects were already compared


class Answers(NamedTuple):
    """A person's answers about a statement: which older ones it replaces, and which it does not."""

    confirmed: frozenset[str] = frozenset()
    rejected: frozenset[str] = frozenset()

    def __or__(self, other: object) -> Answers:
        others = other if isinstance(other, Answers) else NO_ANSWERS
        return Answers(self.confirmed | others.confirmed, self.rejected | others.rejected)

    def keep(self, given: Collection[Answer]) -> Answers:
        """Return the answers that a person really gave: a comment may also be part of stored text."""
        confirmed = frozenset(name for name in self.confirmed if (CONFIRMATION, name) in given)
        return Answers(confirmed, frozenset(name for name in self.rejected if (REJECTION, name) in given))


NO_ANSWERS = Answers()


def hash_words(words: Sequence[str]) -> str:
    """Return the hash by which a link names a statement."""
    return f"{zlib.crc32(' '.join(words).encode(errors='surrogatepass')):08x}"


def read_answers_by_line(text: str) -> dict[int, Answers]:
    """Return the answers in a text by the line that they are about, counted from 0."""
    answers: dict[int, Answers] = {}
    if ANSWER_START not in text:
        return answers
    for about, line in find_annotated_lines(text):
        if about is not None and (on_line := _read_answers(line)) != NO_ANSWERS:
            answers[about] = answers.get(about, NO_ANSWERS) | on_line
    return answers


def _read_answers(line: str) -> Answers:
    answers = NO_ANSWERS
    for match in _COMMENT.finditer(line):
        names = frozenset(match["names"].split())
        answers |= Answers(names) if match["kind"] == CONFIRMATION else Answers(rejected=names)
    return answers


def add_answer(text: str, line: int, names: Iterable[str], *, is_rejection: bool) -> str:
    """Return a page with an answer about a line, counted from 0. It takes the place of the opposite answer."""
    changed = frozenset(names)
    lines, known = _take_answers(text, line)
    if is_rejection:
        answers = Answers(known.confirmed - changed, known.rejected | changed)
    else:
        answers = Answers(known.confirmed | changed, known.rejected - changed)
    return _put_answers(lines, line, answers)


def remove_answers(text: str, line: int, names: Iterable[str]) -> str:
    """Return a page without these answers about the statement that ends on a line, counted from 0."""
    lines, known = _take_answers(text, line)
    gone = frozenset(names)
    return _put_answers(lines, line, Answers(known.confirmed - gone, known.rejected - gone))


def _take_answers(text: str, line: int) -> tuple[list[str], Answers]:
    """Return the lines of a page without the answers about one of them, and these answers."""
    lines = text.split("\n")
    answers = read_answers_by_line(text).get(line, NO_ANSWERS)
    lines[line] = _COMMENT.sub("", lines[line])
    below = line + 1
    while below < len(lines) and is_annotation_line(lines[below]):
        rest = _COMMENT.sub("", lines[below])
        if rest.strip():
            lines[below] = rest
            below += 1
        else:
            del lines[below]
    return lines, answers


def _put_answers(lines: list[str], line: int, answers: Answers) -> str:
    for kind, names in ((CONFIRMATION, answers.confirmed), (REJECTION, answers.rejected)):
        if names:
            lines[line] = add_annotation(lines[line], f"{ANSWER_START}{kind} {' '.join(sorted(names))} -->")
    return "\n".join(lines)
