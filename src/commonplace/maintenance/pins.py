"""Pinning: binds lines of a page, or a whole page, to a file of the repository that the memory lies in."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import InvalidArgument, NotAvailable, NotFound, OtherAgentsPage, Refused
from ..formats import frontmatter
from ..formats.citations import Citation, parse_citation
from ..home import Home
from ..search.marks import read_pinned
from ..search.pins import Pin, find_pins, parse_target

_COMMENT = "<!-- pinned: {} -->"


class PinnedPlace(NamedTuple):
    """Where a pin was written, or removed, and the pin."""

    path: str
    line: int  # of the comment, counted from 1; 0: in front matter
    pin: Pin


def pin_page(home: Home, place: str, target: str) -> PinnedPlace:
    """Pin a page, or lines of it like `page.md#L3`, to a file or a symbol of it, as they are now.

    A pin to the same file is replaced. Raises NotFound where there is no such page, line, file or symbol.
    """
    if home.repository is None:
        raise NotAvailable("this memory does not lie in a folder: there are no files to pin notes to")
    pin = parse_target(target)
    pin = pin._replace(fingerprint=home.repository.fingerprint(pin.path, pin.symbol))
    citation = _find_citation(home, place)
    path = citation.path
    line = citation.last if _takes_comments(home, path) else 0

    def change(text: str) -> str:
        text = _remove_pin(text, pin.target)
        return _add_comment(text, line, pin, path) if line else _add_field(text, pin)

    with home.writer.call("pin", why=pin.target):
        home.writer.edit(path, change)
    return PinnedPlace(path, line + 1 if line else 0, pin)


def unpin_page(home: Home, place: str, target: str) -> PinnedPlace:
    """Remove the pins of a page to a file or a symbol; NotFound where it has none."""
    pin = parse_target(target)
    path = _find_citation(home, place).path
    if _remove_pin(home.storage.pages.read(path).text, pin.target) == home.storage.pages.read(path).text:
        raise NotFound(f"{path} is not pinned to {pin.target}")
    with home.writer.call("pin", why=f"no longer {pin.target}"):
        home.writer.edit(path, lambda text: _remove_pin(text, pin.target))
    return PinnedPlace(path, 0, pin)


def describe_stale_pins(home: Home, path: str, text: str) -> list[str]:
    """Return what happened to the files that a page is pinned to: `src/auth.py changed since`."""
    repository = home.repository
    if repository is None:
        return []
    pins = find_pins(text, read_pinned(frontmatter.split(text)[0]), repository.folder_of(path))
    return [*filter(None, map(repository.describe_change, pins))]


def _find_citation(home: Home, place: str) -> Citation:
    """Return the page, and the last line that is pinned; line 0 for a whole page."""
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
    """Return whether a comment may be added between lines: the body of a record is its value, and stays that."""
    place = home.layout.place(path)
    return place is not None and place.kind not in ("record", "skill")


def _add_comment(text: str, line: int, pin: Pin, path: str) -> str:
    lines = text.split("\n")
    if line > len(lines) or not lines[line - 1].strip():
        raise InvalidArgument(f"{path} has no text on line {line}")
    return "\n".join([*lines[:line], _COMMENT.format(pin), *lines[line:]])


def _add_field(text: str, pin: Pin) -> str:
    head, body = frontmatter.split(text)
    return frontmatter.edit(head, {"pinned": [*read_pinned(head), str(pin)]}) + body


def _remove_pin(text: str, target: str) -> str:
    """Return a page without its pins to a file or symbol."""
    head, body = frontmatter.split(text)
    pinned = read_pinned(head)
    others = [item for item in pinned if item.partition(" ")[0] != target]
    if others != pinned:
        head = frontmatter.edit(head, {"pinned": others or None})
    start = _COMMENT.format(target).removesuffix(" -->")
    lines = [line for line in body.split("\n") if not (line == f"{start} -->" or line.startswith(f"{start} "))]
    return head + "\n".join(lines)
