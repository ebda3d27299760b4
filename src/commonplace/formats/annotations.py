"""Annotations: comments that say something about a line of a page, such as what it replaces, or its pin to a file.

    The launch is on 26 November. <!-- commonplace: supersedes 3f9a01c2 -->

One is at the end of its line, so that every other line keeps its number; earlier versions put it on a line of its own,
below. Other programs do not show it, and here it is neither content nor words to search for.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..patterns import lazy_pattern

CONFIRMATION = "supersedes"
REJECTION = "not-supersedes"
Answer = tuple[str, str]  # one of both, and the name of the statement that it is about
ANSWER_START = "<!-- commonplace: "
ANSWER_PATTERN = rf"{ANSWER_START}(?P<kind>{CONFIRMATION}|{REJECTION})(?P<names>(?: [0-9a-f]{{8}})+) -->"
_ANSWER = lazy_pattern(ANSWER_PATTERN)
_OWN = r"<!-- (?:commonplace: (?:not-)?supersedes(?: [0-9a-f]{8})+|pinned: \S{1,300}(?: [0-9a-f]{16})?) -->"
_VALIDITY = r"<!--[ \t]*valid_(?:from|until):[^>\n]{1,60}-->"
_SPACE = r"(?<![ \t])[ \t]*"  # from its start: a text may have nothing but spaces
_OWN_ANNOTATION = lazy_pattern(rf"{_SPACE}{_OWN}")
_ANNOTATION = lazy_pattern(rf"{_SPACE}(?:{_OWN}|{_VALIDITY})")
_ANNOTATION_LINE = lazy_pattern(rf"(?:\s*{_OWN})+\s*")
_NO_TEXT = lazy_pattern(r"\s*(?:#{1,6}(?:\s|$)|<!--|\||={3,}\s*$|[-*_]{3,}\s*$|$)")


def strip_annotations(text: str) -> str:
    """Return a text without its annotations. Lines keep their numbers: one that was only an annotation is empty."""
    return _ANNOTATION.sub("", text) if "<!--" in text else text


def strip_own_annotations(text: str) -> str:
    """Return a text without the annotations that programs make; what a person says of a line is a part of it."""
    return _OWN_ANNOTATION.sub("", text) if "<!--" in text else text


def find_answers(text: str) -> Iterator[Answer]:
    """Yield what comments in a text say of other statements."""
    for match in _ANSWER.finditer(text) if ANSWER_START in text else ():
        yield from ((match["kind"], name) for name in match["names"].split())


def is_annotation_line(line: str) -> bool:
    """Return whether a line has nothing but annotations that programs make: they are about the line above."""
    return "<!--" in line and _ANNOTATION_LINE.fullmatch(line) is not None


def find_annotated_lines(text: str) -> list[tuple[int | None, str]]:
    """Return the lines that have annotations, each with the number, from 0, of the line that they are about; None where
    they are about the whole page: on a line of their own after an empty one."""
    annotated: list[tuple[int | None, str]] = []
    about: int | None = None
    for number, line in enumerate(text.split("\n")):
        if is_annotation_line(line):
            annotated.append((about, line))
            continue
        about = number if line.strip() else None
        if _OWN_ANNOTATION.search(line):
            annotated.append((number, line))
    return annotated


def add_annotation(line: str, comment: str) -> str:
    """Return a line with a comment at its end."""
    text = line.removesuffix("\r")
    return f"{text} {comment}{line[len(text) :]}"


def find_annotatable_lines(text: str) -> list[int]:
    """Return the lines, counted from 0, that can have an annotation: no headings, tables, comments or code."""
    lines: list[int] = []
    is_fenced = False
    for number, line in enumerate(text.split("\n")):
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
        elif not is_fenced and not _NO_TEXT.match(line):
            lines.append(number)
    return lines
