"""Two sides changed one text: what both did, where they did not touch the same lines."""

from __future__ import annotations

import re
from collections import Counter

# Lines that every write renews: that theirs is gone says nothing.
_STAMPS = re.compile(r"updated_at: |created_at: |<!-- agentool-memory: at=|\s*$")


def merge(base: str, theirs: str, ours: str) -> str | None:
    """Both changes of a text in one; None where they meet, or touch."""
    if theirs == ours:
        return ours
    from difflib import SequenceMatcher  # only who meets a conflict pays for it

    start = base.splitlines(keepends=True)
    sides = (theirs.splitlines(keepends=True), ours.splitlines(keepends=True))
    changes: list[tuple[int, int, list[str]]] = []
    for side in sides:
        opcodes = SequenceMatcher(None, start, side, autojunk=False).get_opcodes()
        changes += [(one, two, side[three:four]) for what, one, two, three, four in opcodes if what != "equal"]
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
