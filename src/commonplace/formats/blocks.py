"""The parts of pages: keyed blocks, entries of a day, and annotations of a line.

A block is a `### key` heading, the content, and a footer with the time and the tags. It runs from the last `###`
heading above the footer to the footer, whatever is between them. A block written by hand has no footer and ends at the
next heading of level 1 to 3. A daily page is a `# YYYY-MM-DD` heading, then `## HH:MM` entries, each appended whole;
what the two headings look like is defined in `structure`.

Annotations are comments that say something about a line, such as what it replaces, or its pin to a file:

    The launch is on 26 November. <!-- commonplace: supersedes 3f9a01c2 -->

One is at the end of its line, so that every other line keeps its number; earlier versions put it on a line of its own,
below. Other programs do not show it, and here it is neither content nor words to search for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from ..model import Block
from ..patterns import lazy_pattern
from . import frontmatter
from .structure import (
    BLOCK_LEVEL,
    DAY_FORMAT,
    DAY_LEVEL,
    ENTRY_FORMAT,
    ENTRY_LEVEL,
    ENTRY_PATTERN,
    FOOTER_START,
    LineCounter,
    Mark,
    escape,
    find_marks,
    find_segment,
    leaves_fence_open,
    unescape,
)

CONFIRMATION = "supersedes"
REJECTION = "not-supersedes"
Answer = tuple[str, str]  # `supersedes` or `not-supersedes`, and the hash of the statement that it is about
ANSWER_START = "<!-- commonplace: "
ANSWER_PATTERN = rf"{ANSWER_START}(?P<kind>{CONFIRMATION}|{REJECTION})(?P<names>(?: [0-9a-f]{{8}})+) -->"
_ANSWER = lazy_pattern(ANSWER_PATTERN)
_OWN = r"<!-- (?:commonplace: (?:not-)?supersedes(?: [0-9a-f]{8})+|pinned: \S{1,300}(?: [0-9a-f]{16})?) -->"
_VALIDITY = r"<!--[ \t]*valid_(?:from|until):[^>\n]{1,60}-->"
_SPACE = r"(?<![ \t])[ \t]*"  # matched from its start, or a text of only spaces would take quadratic time
_OWN_ANNOTATION = lazy_pattern(rf"{_SPACE}{_OWN}")
_ANNOTATION = lazy_pattern(rf"{_SPACE}(?:{_OWN}|{_VALIDITY})")
_ANNOTATION_LINE = lazy_pattern(rf"(?:\s*{_OWN})+\s*")
_NO_TEXT = lazy_pattern(r"\s*(?:#{1,6}(?:\s|$)|<!--|\||={3,}\s*$|[-*_]{3,}\s*$|$)")


def strip_annotations(text: str) -> str:
    """Return a text without its annotations. Lines keep their numbers: one that was only an annotation is empty."""
    return _ANNOTATION.sub("", text) if "<!--" in text else text


def strip_own_annotations(text: str) -> str:
    """Return a text without the annotations that programs make; a person's remarks on a line are part of the text."""
    return _OWN_ANNOTATION.sub("", text) if "<!--" in text else text


def find_answers(text: str) -> Iterator[Answer]:
    """Yield the answers in a text's comments about other statements."""
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


_FOOTER = lazy_pattern(rf"{FOOTER_START} at=(\S*)(?: tags=(.*?))? -->\s*")


def parse(text: str) -> list[Block]:
    """Return all blocks of a page, in order."""
    if "#" * BLOCK_LEVEL not in text:
        return []
    page_blocks: list[Block] = []
    lines = LineCounter(text)
    for heading, footer, stop in _spans(find_marks(text), len(text)):
        if heading.title:
            page_blocks.append(_block(text, heading, footer, stop, lines))
    return page_blocks


def find(text: str, key: str) -> list[Block]:
    """Return the blocks of one key. Only the parts of the page that could hold one are parsed."""
    if key not in text:
        return []
    matches: list[Block] = []
    lines = LineCounter(text)
    searched = 0
    # The pattern starts with literal text, which the regular expression engine searches for fastest.
    line = re.compile(rf"\n###(?=[ \t])[^\S\n]*{re.escape(key)}[^\S\n]*(?=\n|\Z)")
    for match in line.finditer("\n" + text.removeprefix("\ufeff")):
        if match.start() < searched:
            continue
        start, searched = find_segment(text, match.start())
        for heading, footer, stop in _spans(find_marks(text[start:searched]), searched - start):
            if heading.title == key:
                matches.append(_block(text, *_shift(heading, footer, stop, start), lines))
    return matches


def _shift(heading: Mark, footer: Mark | None, stop: int, by: int) -> tuple[Mark, Mark | None, int]:
    """Return the same span `by` characters further on."""

    def move(mark: Mark) -> Mark:
        return Mark(mark.start + by, mark.end + by, mark.line, mark.level, mark.fenced)

    return move(heading), move(footer) if footer else None, stop + by


def _spans(page_marks: Sequence[Mark], length: int) -> Iterable[tuple[Mark, Mark | None, int]]:
    """Yield each block's heading, its footer if it has one, and where it ends."""
    segment: list[Mark] = []
    for mark in page_marks:
        if mark.kind == "heading":
            segment.append(mark)
            continue
        owner = _find_owner(segment)
        if owner:
            yield from _handwritten_spans(segment[: segment.index(owner)], owner.start)
            yield owner, mark, mark.end
        segment = []
    yield from _handwritten_spans(segment, length)


def _find_owner(segment: Sequence[Mark]) -> Mark | None:
    """Return the heading a footer belongs to; one inside a fence only if there is no other."""
    thirds = [mark for mark in segment if mark.level == BLOCK_LEVEL]
    return next((mark for mark in reversed(thirds) if not mark.fenced), thirds[-1] if thirds else None)


def _handwritten_spans(segment: Sequence[Mark], stop: int) -> Iterable[tuple[Mark, None, int]]:
    tops = [mark for mark in segment if mark.level <= BLOCK_LEVEL and not mark.fenced]
    for position, mark in enumerate(tops):
        if mark.level == BLOCK_LEVEL:
            yield mark, None, tops[position + 1].start if position + 1 < len(tops) else stop


def _block(text: str, heading: Mark, footer: Mark | None, stop: int, lines: LineCounter) -> Block:
    body_end = footer.start if footer else stop
    body = text[heading.end + 1 : body_end]
    content = _strip_frame(body) if footer else body.strip("\r\n").rstrip()
    at, tags = _parse_footer(footer.line) if footer else ("", ())
    first_line = lines.line(heading.start)
    return Block(
        key=heading.title,
        content=unescape(content),
        tags=tags,
        at=at,
        start=heading.start,
        end=_skip_blank_line(text, footer.end) if footer else stop,
        first_line=first_line,
        last_line=first_line + text[heading.start : body_end].rstrip().count("\n"),
    )


def _strip_frame(body: str) -> str:
    """Return the content between the empty line after the heading and the one before the footer."""
    for newline in ("\r\n", "\n"):
        if body.startswith(newline):
            return body[len(newline) :].rstrip()
    return body.rstrip()


def _skip_blank_line(text: str, end_of_line: int) -> int:
    """Return the offset after this line and the empty line that follows it, if one does."""
    at = end_of_line + 1
    if text.startswith("\n", at):
        return at + 1
    return at + 2 if text.startswith("\r\n", at) else min(at, len(text))


def _parse_footer(line: str) -> tuple[str, tuple[str, ...]]:
    """Return the time and the tags of a footer; both empty if it is not one of ours."""
    match = _FOOTER.fullmatch(line)
    if not match:
        return "", ()
    return match[1], tuple(_decode_tag(tag) for tag in (match[2] or "").split("|") if tag)


def render(key: str, content: str, at: str, tags: Iterable[str] = (), *, open_fence_above: bool = False) -> str:
    """Return a block as it is stored, with the empty line after it."""
    body = escape(content.rstrip(), open_fence_above=open_fence_above)
    encoded = "|".join(_encode_tag(tag) for tag in tags)
    footer = f"{FOOTER_START} at={at}{' tags=' + encoded if encoded else ''} -->"
    return f"{'#' * BLOCK_LEVEL} {key}\n\n{body}\n\n{footer}\n\n"


def append(text: str, key: str, content: str, at: str, tags: Iterable[str] = ()) -> str:
    """Return the page with one more block at its end."""
    if text and not text.endswith("\n"):
        text += "\n"
    return text + render(key, content, at, tags, open_fence_above=leaves_fence_open(text))


def unescape_page(text: str) -> str:
    """Return the page with the content of every block that a tool wrote as it was given, not as it is escaped."""
    out: list[str] = []
    at = 0
    for block in parse(text):
        if block.at:
            out += [text[at : block.start], unescape(text[block.start : block.end])]
            at = block.end
    return "".join([*out, text[at:]])


def remove(text: str, block: Block) -> str:
    """Return the page without one of its blocks."""
    return text[: block.start] + text[block.end :]


def _encode_tag(tag: str) -> str:
    """Return a tag as it is stored: what would end the tag, the comment or the line is percent-encoded."""
    out = re.sub(r"%(?=[0-9A-Fa-f]{2})|[|\x00-\x1f\x7f\x85\u2028\u2029]", _percent_encode, tag)
    out = out.replace("-->", "--%3E").replace("--!>", "--!%3E")
    return re.sub(r"^\s|\s$", _percent_encode, out)


def _percent_encode(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


def _percent_decode(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 16)])


def _decode_tag(tag: str) -> str:
    if "%" not in tag:
        return tag
    data = re.sub(rb"%([0-9A-Fa-f]{2})", _percent_decode, tag.encode())
    try:
        return data.decode()
    except UnicodeDecodeError:
        return tag


_DAY = lazy_pattern(r"\d{4}[- ]\d\d[- ]\d\d\b")  # as a heading has it, or a file name with its dashes as spaces
_TIME = lazy_pattern(ENTRY_PATTERN)
_ENTRY = lazy_pattern(rf"^{'#' * ENTRY_LEVEL}\s+\S", re.MULTILINE)  # an entry written by hand may have any title


def add_entry(text: str, moment: datetime, content: str) -> str:
    """Return the page with one more entry at its end, and with the heading of the day if it had none."""
    text = ensure_heading(text, f"{moment:{DAY_FORMAT}}")
    if not text.endswith("\n"):
        text += "\n"
    if not text.endswith("\n\n"):
        text += "\n"
    body = escape(content, open_fence_above=leaves_fence_open(text))
    return f"{text}{'#' * ENTRY_LEVEL} {moment:{ENTRY_FORMAT}}\n\n{body}\n\n"


def ensure_heading(text: str, day: str) -> str:
    """Return the page under the heading of its day. Front matter, where a person put some, stays on top."""
    if any(mark.level == DAY_LEVEL and mark.title == day and not mark.fenced for mark in find_marks(text)):
        return text
    head, body = frontmatter.split(text)
    return f"{head}{'#' * DAY_LEVEL} {day}\n\n{body}"


def add_heading_of(text: str, page: str) -> str:
    """Return a text under the heading of the day that a page has; as it is, if that page has none."""
    day = next((mark.title for mark in find_marks(page) if _is_heading(mark)), "")
    return ensure_heading(text, day) if day else text


def is_empty(text: str) -> bool:
    """Return whether a page has the heading of a day, and nothing else."""
    marks = find_marks(text)
    return len(marks) == 1 and _is_heading(marks[0]) and text.strip() == marks[0].line.strip()


def _is_heading(mark: Mark) -> bool:
    return mark.level == DAY_LEVEL and not mark.fenced and _DAY.fullmatch(mark.title) is not None


def count_entries(text: str) -> int:
    """Return how many entries a daily page has."""
    return len(_ENTRY.findall(text))


def is_day_or_time(title: str) -> bool:
    """Return whether the title of a heading is only a date or a time."""
    return bool(_DAY.fullmatch(title) or _TIME.fullmatch(title))


def find_moment(page_name: str, titles: Sequence[str]) -> str:
    """Return when an entry was written, or "" if nothing tells.

    The day is the name of the page or the first heading that is a date; the time is the last heading.
    """
    day = next((match[0] for title in (page_name, *titles) if (match := _DAY.match(title))), "")
    day = day.replace(" ", "-")
    return f"{day}T{titles[-1]}" if day and titles and _TIME.fullmatch(titles[-1]) else day
