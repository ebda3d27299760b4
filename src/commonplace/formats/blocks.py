"""Pages of blocks: `### key`, the content, and a footer with the time and the tags.

A block with a footer runs from the last `###` heading above the footer to the footer, whatever else stands between.
A block written by hand has no footer and ends at the next heading of level 3 or higher up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..model import Block
from .scanner import LineCounter, Mark, escape, leaves_fence_open, marks, segment_around, unescape

_FOOTER = re.compile(r"<!-- agentool-memory: at=(\S*)(?: tags=(.*?))? -->\s*")


def read(text: str) -> list[Block]:
    """All blocks of a page in the order they stand."""
    found: list[Block] = []
    lines = LineCounter(text)
    for heading, footer, stop in _spans(marks(text), len(text)):
        if heading.title:
            found.append(_block(text, heading, footer, stop, lines))
    return found


def find(text: str, key: str) -> list[Block]:
    """The blocks of one key: only the stretches of the page that could hold one are read, the rest is skipped over."""
    if key not in text:
        return []
    found: list[Block] = []
    lines, searched = LineCounter(text), 0
    # The literal start of the pattern lets the search run over a page at the speed of memory.
    line = re.compile(rf"\n###(?=[ \t])[^\S\n]*{re.escape(key)}[^\S\n]*(?=\n|\Z)")
    for match in line.finditer("\n" + text.removeprefix("\ufeff")):
        if match.start() < searched:
            continue
        start, searched = segment_around(text, match.start())
        for heading, footer, stop in _spans(marks(text[start:searched]), searched - start):
            if heading.title == key:
                found.append(_block(text, *_shifted(heading, footer, stop, start), lines))
    return found


def _shifted(heading: Mark, footer: Mark | None, stop: int, by: int) -> tuple[Mark, Mark | None, int]:
    def move(mark: Mark) -> Mark:
        return Mark(mark.start + by, mark.end + by, mark.line, mark.level, mark.fenced)

    return move(heading), move(footer) if footer else None, stop + by


def _spans(found: Sequence[Mark], length: int) -> Iterable[tuple[Mark, Mark | None, int]]:
    """Each block's heading, its footer if it has one, and where it stops."""
    segment: list[Mark] = []
    for mark in found:
        if mark.kind == "heading":
            segment.append(mark)
            continue
        owner = _owner(segment)
        if owner:
            yield from _by_hand(segment[: segment.index(owner)], owner.start)
            yield owner, mark, mark.end
        segment = []
    yield from _by_hand(segment, length)


def _owner(segment: Sequence[Mark]) -> Mark | None:
    """The heading a footer belongs to; one inside a fence only when no other is there."""
    thirds = [mark for mark in segment if mark.level == 3]
    return next((mark for mark in reversed(thirds) if not mark.fenced), thirds[-1] if thirds else None)


def _by_hand(segment: Sequence[Mark], stop: int) -> Iterable[tuple[Mark, None, int]]:
    tops = [mark for mark in segment if mark.level <= 3 and not mark.fenced]
    for position, mark in enumerate(tops):
        if mark.level == 3:
            yield mark, None, tops[position + 1].start if position + 1 < len(tops) else stop


def _block(text: str, heading: Mark, footer: Mark | None, stop: int, lines: LineCounter) -> Block:
    body = text[heading.end + 1 : footer.start if footer else stop]
    if footer:
        content, at, tags = _without_frame(body), *_footer_fields(footer.line)
        end = _after_blank(text, footer.end)
    else:
        content, at, tags, end = body.strip("\r\n").rstrip(), "", (), stop
    shown = text[heading.start : footer.start if footer else stop].rstrip()
    first = lines.line(heading.start)
    last = first + shown.count("\n")
    return Block(heading.title, unescape(content), tags, at, heading.start, end, first, last)


def _without_frame(body: str) -> str:
    """What stands between the empty line after the heading and the one before the footer."""
    for newline in ("\r\n", "\n"):
        if body.startswith(newline):
            return body[len(newline) :].rstrip()
    return body.rstrip()


def _after_blank(text: str, end_of_line: int) -> int:
    """The offset after this line and one empty line behind it."""
    at = end_of_line + 1
    if text.startswith("\n", at):
        return at + 1
    return at + 2 if text.startswith("\r\n", at) else min(at, len(text))


def _footer_fields(line: str) -> tuple[str, tuple[str, ...]]:
    found = _FOOTER.fullmatch(line)
    if not found:
        return "", ()
    return found[1], tuple(_decode_tag(tag) for tag in (found[2] or "").split("|") if tag)


def render(key: str, content: str, at: str, tags: Iterable[str] = (), *, open_fence_above: bool = False) -> str:
    """A block exactly as it stands in the page, with the empty line behind it."""
    body = escape(content.rstrip(), open_fence_above=open_fence_above)
    encoded = "|".join(_encode_tag(tag) for tag in tags)
    footer = f"<!-- agentool-memory: at={at}{' tags=' + encoded if encoded else ''} -->"
    return f"### {key}\n\n{body}\n\n{footer}\n\n"


def append(text: str, key: str, content: str, at: str, tags: Iterable[str] = ()) -> str:
    """The page with one more block at its end."""
    if text and not text.endswith("\n"):
        text += "\n"
    return text + render(key, content, at, tags, open_fence_above=leaves_fence_open(text))


def as_meant(text: str) -> str:
    """The page as its writers meant it: what was escaped inside blocks that a tool wrote stands as it was given."""
    out: list[str] = []
    at = 0
    for block in read(text):
        if block.at:
            out += [text[at : block.start], unescape(text[block.start : block.end])]
            at = block.end
    return "".join([*out, text[at:]])


def remove(text: str, block: Block) -> str:
    return text[: block.start] + text[block.end :]


def _encode_tag(tag: str) -> str:
    """A tag in a footer, exact: only what would end the tag, the comment or the line is percent-encoded."""
    out = re.sub(r"%(?=[0-9A-Fa-f]{2})|[|\x00-\x1f\x7f\x85\u2028\u2029]", _percent, tag)
    out = out.replace("-->", "--%3E").replace("--!>", "--!%3E")
    return re.sub(r"^\s|\s$", _percent, out)


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _decode_tag(tag: str) -> str:
    if "%" not in tag:
        return tag
    raw = re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), tag.encode())
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return tag
