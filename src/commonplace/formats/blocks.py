"""Pages of blocks: a `### key` heading, the content, and a footer with the time and the tags.

A block with a footer runs from the last `###` heading above the footer to the footer, whatever is between them.
A block written by hand has no footer and ends at the next heading of level 1 to 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..model import Block
from ..patterns import lazy_pattern
from .structure import (
    BLOCK_LEVEL,
    FOOTER_START,
    LineCounter,
    Mark,
    escape,
    find_marks,
    find_segment,
    leaves_fence_open,
    unescape,
)

_FOOTER = lazy_pattern(rf"{FOOTER_START} at=(\S*)(?: tags=(.*?))? -->\s*")


def parse(text: str) -> list[Block]:
    """Return all blocks of a page, in order."""
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
