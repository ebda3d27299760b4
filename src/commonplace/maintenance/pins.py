"""Pinning: binds lines of a page, or a whole page, to a file of the repository that the memory lies in."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ..errors import InvalidArgument, NotAvailable, NotFound, OtherAgentsPage, Refused
from ..formats import frontmatter
from ..formats.annotations import add_annotation, find_annotatable_lines, find_annotated_lines, is_annotation_line
from ..framing import quote_line
from ..home import Home
from ..model import Citation, parse_citation
from ..search.marks import read_pinned
from ..search.pins import Pin, PinCheck, find_pins, parse_target

_COMMENT = "<!-- pinned: {} -->"
IsMeant = Callable[[int | None], bool]  # of the line that a pin is about, counted from 0; None: the whole page


class PinnedPlace(NamedTuple):
    """Where a pin was written, or removed, and the pin."""

    path: str
    line: int  # the first that is pinned, counted from 1; 0: the whole page
    pin: Pin


def pin_page(home: Home, place: str, target: str) -> PinnedPlace:
    """Pin a page, or lines of it like `page.md#L3`, to a file or a symbol of it, as they are now.

    A pin of the same lines to the same file is replaced. Raises NotFound where there is no such page, line, file or
    symbol.
    """
    if home.repository is None:
        raise NotAvailable(
            "this memory is in no git repository: only files of the repository that a memory is in can be pinned"
        )
    pin = parse_target(target)
    pin = pin._replace(fingerprint=home.repository.fingerprint(pin.path, pin.symbol))
    citation = _find_citation(home, place)
    path = citation.path
    takes_comments = _takes_comments(home, path)
    has_lines = takes_comments and citation.first > 0
    lines = _choose_lines(home.storage.pages.read(path).text, citation) if has_lines else []

    def change(text: str) -> str:
        if not has_lines:
            text = _remove_pin(text, pin.target, _is_page)
            return _add_footer(text, pin) if takes_comments else _add_field(text, pin)
        numbers = _choose_lines(text, citation)
        return _add_comments(_remove_pin(text, pin.target, numbers.__contains__), numbers, pin)

    with home.writer.call("pin", why=pin.target):
        home.writer.edit(path, change)
    return PinnedPlace(path, lines[0] + 1 if lines else 0, pin)


def unpin_page(home: Home, place: str, target: str) -> PinnedPlace:
    """Remove the pins of a page, or of lines of it, to a file or a symbol; NotFound where there are none."""
    pin = parse_target(target)
    citation = _find_citation(home, place)
    is_whole = not citation.first or not _takes_comments(home, citation.path)

    def change(text: str) -> str:
        numbers = [] if is_whole else _choose_lines(text, citation)
        return _remove_pin(text, pin.target, lambda about: is_whole or about in numbers)

    text = home.storage.pages.read(citation.path).text
    if change(text) == text:
        raise NotFound(f"{place} is not pinned to {pin.target}")
    with home.writer.call("pin", why=f"no longer {pin.target}"):
        home.writer.edit(citation.path, change)
    return PinnedPlace(citation.path, 0 if is_whole else citation.first, pin)


def describe_stale_pins(home: Home, path: str, text: str) -> list[str]:
    """Return what happened to the files that a page is pinned to: `src/auth.py changed since`."""
    repository = home.repository
    if repository is None:
        return []
    pins = find_pins(text, read_pinned(frontmatter.split(text)[0]), repository.folder_of(path))
    changes = map(PinCheck(repository).describe_change, pins)
    return [quote_line(change) for change in changes if change]


def _find_citation(home: Home, place: str) -> Citation:
    """Return the page and the lines that are pinned; line 0 for a whole page."""
    citation = parse_citation(place) or Citation(place, 0, 0)
    path = citation.path.removeprefix("./")
    where = home.layout.place(path)
    if where is None or where.kind == "session":
        raise Refused(f"{path} is not a page of memory that can be pinned")
    if not home.visibility.may_see(where):
        raise OtherAgentsPage(f"{path} belongs to another agent")
    home.storage.pages.read(path)
    return citation._replace(path=path)


def _takes_comments(home: Home, path: str) -> bool:
    """Return whether lines of a page can have comments: the body of a record is its value, and stays that."""
    place = home.layout.place(path)
    return place is not None and place.kind not in ("record", "skill")


def _choose_lines(text: str, citation: Citation) -> list[int]:
    """Return the cited lines, counted from 0, that can have a comment; under a heading, the first line of text."""
    count = text.count("\n") + 1
    first_body_line = frontmatter.split(text)[0].count("\n")
    able = [line for line in find_annotatable_lines(text) if line >= first_body_line]
    cited = [line for line in able if citation.first - 1 <= line < citation.last]
    if not cited and 0 < citation.first <= count and text.split("\n")[citation.first - 1].strip():
        cited = [line for line in able if line >= citation.first][:1]
    if not cited:
        raise InvalidArgument(f"{citation.path} has no text on line {citation.first}")
    return cited


def _is_page(about: int | None) -> bool:
    return about is None


def _add_comments(text: str, numbers: list[int], pin: Pin) -> str:
    lines = text.split("\n")
    for number in numbers:
        lines[number] = add_annotation(lines[number], _COMMENT.format(pin))
    return "\n".join(lines)


def _add_footer(text: str, pin: Pin) -> str:
    """Return a page that is pinned as a whole: a comment at its end, after an empty line, moves no other line."""
    body = text.rstrip("\n")
    has_footer = any(about is None and line == body.rpartition("\n")[2] for about, line in find_annotated_lines(body))
    return f"{body}{chr(10) if has_footer else chr(10) * 2}{_COMMENT.format(pin)}\n"


def _add_field(text: str, pin: Pin) -> str:
    head, body = frontmatter.split(text)
    return frontmatter.edit(head, {"pinned": [*read_pinned(head), str(pin)]}) + body


def _remove_pin(text: str, target: str, is_meant: IsMeant) -> str:
    """Return a page without its pins to a file or symbol, of the lines that are meant."""
    head, body = frontmatter.split(text)
    pinned = read_pinned(head) if is_meant(None) else []
    others = [item for item in pinned if item.partition(" ")[0] != target]
    if others != pinned:
        head = frontmatter.edit(head, {"pinned": others or None})
    comment = re.compile(rf" ?<!-- pinned: {re.escape(target)}(?: [0-9a-f]{{16}})? -->")
    remaining: list[str] = []
    about: int | None = None
    for number, line in enumerate((head + body).split("\n")):
        if not is_annotation_line(line):
            about = number if line.strip() else None
        rest = comment.sub("", line) if is_meant(about) else line
        if rest.strip() or rest == line:
            remaining.append(rest)
    return _drop_blank_end("\n".join(remaining), text)


def _drop_blank_end(text: str, before: str) -> str:
    """Return a page without the empty line before a comment that was its last line, and is gone."""
    ends = (is_annotation_line(each.rstrip("\n").rpartition("\n")[2]) for each in (text, before))
    return f"{text.rstrip()}\n" if [*ends] == [False, True] else text
