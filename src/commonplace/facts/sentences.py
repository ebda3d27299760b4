"""The sentences of a page with the lines they are on, and a page with one of them replaced or removed.

A sentence is found by its words, so it may have moved since it was read. Leftovers are removed with it:
the mark of a list, the heading of an entry or of a note that has no other text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..formats import frontmatter
from ..formats.blocks import strip_annotations
from ..formats.structure import ENTRY_HEADING_PATTERN, FOOTER_START
from ..patterns import lazy_pattern
from .statements import split_sentences

_COMMENT = lazy_pattern(r"(?<![ \t])[ \t]*<!--(?:(?!<!--).)*?-->", re.DOTALL)
_LINKS_AND_TAGS = lazy_pattern(r"(?:\[\[[^\]\n]*\]\][.,;]?|#[\w-]+|\s)+")  # they belong to the sentence before them
_BETWEEN_WORDS = r"(?:\s|<!--[^\n>]*-->)+"
_WORD = lazy_pattern(r"\w")
_LIST_MARK = lazy_pattern(r"[ \t]*(?:[-*+•>]|\d{1,3}[.)])?[ \t]*(?:\[[ xX]\])?[ \t]*")
_ANNOTATION_LINES = lazy_pattern(rf"(?:\n[ \t]*(?!{FOOTER_START})<!--[^\n]*-->[ \t]*(?=\n|\Z))+")
_EMPTY_ENTRY = lazy_pattern(rf"^{ENTRY_HEADING_PATTERN}[ \t]*\n\s*(?=#{{1,2}} |\Z)", re.MULTILINE)
_EMPTY_NOTE = lazy_pattern(rf"^### [^\n]*\n\s*{FOOTER_START}[^\n]*-->[ \t]*\n*", re.MULTILINE)
_MAX_LINE_CHARACTERS = 20_000  # of lines in which a sentence is changed
_BLANK_LINES = lazy_pattern(r"\n{3,}")


class Sentence(NamedTuple):
    """A sentence as it is on its page, in one line. Its first and last line are counted from 1."""

    text: str
    first: int
    last: int


def find_sentences(text: str, *, is_record: bool = False) -> list[Sentence]:
    """Return the sentences of a page; of a record its whole value."""
    head, body = frontmatter.split(text)
    above = head.count("\n")
    if is_record:
        return _find_value(body, above)
    found: list[Sentence] = []
    for part, first, last in split_sentences(strip_annotations(body)):
        sentence = Sentence(_COMMENT.sub("", part).strip(), above + first + 1, above + last + 1)
        if found and found[-1].last == sentence.last and _LINKS_AND_TAGS.fullmatch(sentence.text):
            found[-1] = found[-1]._replace(text=f"{found[-1].text} {sentence.text}")
        elif _WORD.search(sentence.text):
            found.append(sentence)
    return found


def _find_value(body: str, above: int) -> list[Sentence]:
    value = body.strip()
    if not value:
        return []
    first = above + body[: body.index(value)].count("\n") + 1
    return [Sentence(value, first, first + value.count("\n"))]


def find_span(text: str, sentence: str, line: int, *, is_record: bool = False) -> tuple[int, int] | None:
    """Return the span of a whole sentence in a page, the one nearest to a line if there are several; None if there is
    none, or if its line is too long to look for it."""
    wanted = sentence.split()
    found = [each for each in find_sentences(text, is_record=is_record) if each.text.split() == wanted]
    if not found:
        return None
    nearest = min(found, key=lambda each: abs(each.first - line))
    lines = text.split("\n")
    start = sum(len(each) + 1 for each in lines[: nearest.first - 1])
    end = start + len("\n".join(lines[nearest.first - 1 : nearest.last]))
    if end - start > _MAX_LINE_CHARACTERS:
        return None
    match = re.compile(_BETWEEN_WORDS.join(map(re.escape, wanted))).search(text, start, end)
    return match.span() if match else None


def join_lines(text: str, sentences: Sequence[Sentence]) -> list[str]:
    """Return the full text of the lines of each sentence, which it may share with others. Of lines that are too long
    to change a sentence in them, it is the start."""
    lines = text.split("\n")
    known: dict[tuple[int, int], str] = {}  # a page may have all of its sentences on one line
    for _, first, last in sentences:
        if (first, last) not in known:
            known[first, last] = " ".join(" ".join(lines[first - 1 : last]).split())[: _MAX_LINE_CHARACTERS + 1]
    return [known[first, last] for _, first, last in sentences]


def replace_sentence(text: str, span: tuple[int, int], sentence: str) -> str:
    """Return the page with a span replaced; with an empty text, the sentence and what it leaves empty are removed."""
    start, end = span
    if sentence:
        return f"{text[:start]}{sentence}{text[end:]}"
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last
    rest = _COMMENT.sub("", text[end:last])
    if _LIST_MARK.fullmatch(text[first:start]) and not rest.strip():
        annotations = _ANNOTATION_LINES.match(text, last)
        return _tidy(text[:first], text[annotations.end() if annotations else last :].removeprefix("\n"))
    before = text[:start].rstrip(" \t") if not rest.strip() else text[:start]
    return before + text[end:].lstrip(" \t") if rest.strip() else before + text[end:]


def _tidy(before: str, after: str) -> str:
    """Return two parts of a page joined, without an entry or a note that has become empty between them."""
    if not before:
        return after.lstrip("\n")
    joined = _BLANK_LINES.sub("\n\n", before[-2:] + after[:2])
    text = before[:-2] + joined + after[2:]
    for pattern in (_EMPTY_ENTRY, _EMPTY_NOTE):
        nearest = [match for match in pattern.finditer(text) if match.start() <= len(before) <= match.end() + 2]
        for match in reversed(nearest):
            text = text[: match.start()] + text[match.end() :]
    return text
