"""Two sides changed one text: what both did, where they did not touch the same lines."""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal, NamedTuple

# Lines that every write renews: that theirs is gone says nothing.
_STAMPS = re.compile(r"updated_at: |created_at: |<!-- agentool-memory: at=|\s*$")


def merge(base: str, theirs: str, ours: str) -> str | None:
    """Both changes of a text in one; None where they meet, or touch."""
    if theirs == ours:
        return ours
    from .diff import opcodes  # only who meets a conflict pays for it

    start = base.splitlines(keepends=True)
    sides = (theirs.splitlines(keepends=True), ours.splitlines(keepends=True))
    changes: list[tuple[int, int, list[str]]] = []
    for side in sides:
        found = opcodes(start, side)
        changes += [(one, two, side[three:four]) for what, one, two, three, four in found if what != "equal"]
    changes.sort(key=lambda change: change[:2])
    out: list[str] = []
    at = -1  # the end of the last change: the next one has to leave a line between
    for one, two, lines in changes:
        if one <= at:
            return None
        out += start[max(at, 0) : one] + lines
        at = two
    return _joined(out + start[max(at, 0) :])


def _joined(lines: list[str]) -> str:
    """A line that was the last one of its side, and is not any more, ends as the others do."""
    ended = [line if line.endswith(("\n", "\r")) else f"{line}\n" for line in lines[:-1]]
    return "".join(ended + lines[-1:])


def lost(base: str, theirs: str, ours: str) -> bool:
    """Whether something that stands in theirs, and did not in the base, is not in ours any more."""
    return bool(_added(base, theirs) - Counter(ours.splitlines()))


def left_out(base: str, theirs: str, ours: str) -> bool:
    """Whether nothing that theirs added to the base is in ours: as if it had never been there."""
    added = _added(base, theirs)
    return bool(added) and not added.keys() & set(ours.splitlines())


def _added(base: str, text: str) -> Counter[str]:
    added = Counter(text.splitlines()) - Counter(base.splitlines())
    return Counter({line: count for line, count in added.items() if not _STAMPS.match(line)})


class Part(NamedTuple):
    """A stretch of a merged text. Where both sides changed the same lines it is a conflict, and `text` is empty."""

    kind: Literal["same", "mine", "theirs", "conflict"]
    text: str = ""
    base: str = ""
    theirs: str = ""
    mine: str = ""


def parts(base: str, theirs: str, ours: str) -> list[Part]:
    """Two changes of a text side by side, stretch after stretch, for who is to decide where they meet."""
    start = base.splitlines(keepends=True)
    their_lines, our_lines = theirs.splitlines(keepends=True), ours.splitlines(keepends=True)
    their_map, our_map = _map(start, their_lines), _map(start, our_lines)
    out: list[Part] = []
    at = their_at = our_at = 0
    for here in [*(line for line in range(len(start)) if line in their_map and line in our_map), len(start)]:
        their_here, our_here = their_map.get(here, len(their_lines)), our_map.get(here, len(our_lines))
        if here > at or their_here > their_at or our_here > our_at:
            was, they, we = start[at:here], their_lines[their_at:their_here], our_lines[our_at:our_here]
            out.append(_part("".join(was), "".join(they), "".join(we)))
        if here < len(start):
            out.append(Part("same", start[here]))
        at, their_at, our_at = here + 1, their_here + 1, our_here + 1
    return _together(out)


def _map(start: list[str], side: list[str]) -> dict[int, int]:
    """Which line of a side each line of the start became; those that changed became none."""
    from .diff import blocks

    return {one + step: two + step for one, two, size in blocks(start, side) for step in range(size)}


def _part(base: str, theirs: str, ours: str) -> Part:
    if theirs == ours:
        return Part("same", ours)
    if theirs == base:
        return Part("mine", ours)
    return Part("theirs", theirs) if ours == base else Part("conflict", "", base, theirs, ours)


def _together(found: list[Part]) -> list[Part]:
    out: list[Part] = []
    for part in found:
        if out and part.kind == out[-1].kind == "same":
            out[-1] = Part("same", out[-1].text + part.text)
        elif part != Part("same"):
            out.append(part)
    return out
