"""The sentences of a text: where each ends, on which lines of a page it is, and the page with one replaced or removed.

A full stop does not end a sentence after `Dr.`, `Hauptstr.`, `z. B.`, `Avda.`, `ул.` and other abbreviations. A
sentence of a page is found by its words, so it may have moved since it was read. Leftovers are removed with it: the
mark of a list, the heading of an entry or of a note that has no other text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..formats import frontmatter
from ..formats.blocks import strip_annotations
from ..formats.structure import ENTRY_HEADING_PATTERN, FOOTER_START
from ..patterns import lazy_pattern
from .words import fold, word_set

_WRAPPED_CHARACTERS = 60  # a line of at least this length continues in the next one, unless it ends a sentence
_SKIPPED_LINE = lazy_pattern(r"\s*(?:#{1,6}\s|\\?(?:assistant|user|system): |<!--|```|~~~|\||[-*_]{3,}\s*$|$)")
LIST_ITEM = lazy_pattern(r"\s*(?:[-*+•>]|\d{1,3}[.)])\s+(?:\[([ xX])\]\s+)?")
_GERMAN_MONTHS = "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
_SENTENCE_END = lazy_pattern(rf"(?<=[.!?])(?<!\b[A-Z]\.)\s+(?=[^a-z\s])(?!(?:{_GERMAN_MONTHS})\b)|(?<=[。！？；।؟])")
_TITLES = word_set("sentences", "TITLES")
_ABBREVIATIONS = word_set("sentences", "ABBREVIATIONS")
_BEFORE_NUMBER = word_set("sentences", "BEFORE_NUMBER")
_MAX_ENDING_CHARACTERS = 60  # of each part, so that a text of many abbreviations stays cheap
_STREET = "str"  # at the end of a word: `Hauptstr. 5`
_LAST_WORD = lazy_pattern(r"([^\s(\"]+)\.$")
_ORDINAL = lazy_pattern(
    r"(?:^|\s)(?:die|der|das|dem|den|im|zum|zur|vom|ins|beim|ab|bis|seit) \d{1,2}\.$", re.IGNORECASE
)
_SPACED_LETTERS = lazy_pattern(r"(?:^|\s)(?:z|d|u|i|s|p|o|т)\.$")  # `z. B.`, `d. h.`, `p. ej.`
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


def split_sentences(text: str, max_characters: int | None = None) -> Iterator[tuple[str, int, int]]:
    """Yield the sentences of a text with their first and last lines, except those that are too long."""
    for part, first, last in _join_wrapped(text):
        if not _SENTENCE_END.search(part):
            if max_characters is None or len(part) <= max_characters:
                yield part, first, last
            continue
        for sentence in split_at_ends(part, _SENTENCE_END):
            if sentence and (max_characters is None or len(sentence) <= max_characters):
                yield sentence, first, last


def split_at_ends(text: str, ends: re.Pattern[str]) -> Iterator[str]:
    """Split a text at the ends of sentences, but not after an abbreviation."""
    start = 0
    for end in ends.finditer(text):
        before = text[max(start, end.start() - _MAX_ENDING_CHARACTERS) : end.start()]
        if not _is_abbreviation(before, text[end.end() : end.end() + 1]):
            yield text[start : end.start()]
            start = end.end()
    yield text[start:]


def _is_abbreviation(before: str, after: str) -> bool:
    """Return whether the full stop at the end of a text belongs to its last word, by that and by what comes after."""
    match = _LAST_WORD.search(before)
    if not match:
        return False
    word = fold(match[1])
    if (word in _TITLES and match[1][0].isupper()) or word in _ABBREVIATIONS or _SPACED_LETTERS.search(before):
        return True
    if after.isdigit():
        return word in _BEFORE_NUMBER or word.endswith(_STREET)
    return after.isupper() and _ORDINAL.search(before) is not None


def _join_wrapped(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the lines of a text without marks of lists; those of one wrapped sentence are joined."""
    pending = ""
    first = 0
    number = -1
    is_fenced = False
    for number, line in enumerate(text.split("\n")):
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
        is_skipped = is_fenced or _SKIPPED_LINE.match(line) is not None
        bullet = None if is_skipped else LIST_ITEM.match(line)
        goes_on = len(pending) >= _WRAPPED_CHARACTERS and pending[-1] not in ".!?:;。！？"
        if pending and not is_skipped and not bullet and goes_on:
            pending = f"{pending} {line.strip()}"
            continue
        if pending:
            yield pending, first, number - 1
        pending = "" if is_skipped else line[bullet.end() if bullet else 0 :].strip()
        first = number
    if pending:
        yield pending, first, number


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
