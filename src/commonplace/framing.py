"""What memory says stays data: it can not close its frame, and can not pose as a part of the prompt around it.

Text of one line stands inside a line of ours. Longer text stands in a code fence longer than any fence inside it.
A line that poses as one of our own marks gets a backslash even there, for readers that do not see fences.
"""

from __future__ import annotations

import json
import re

TITLES = (
    "Session Handoff", "Directives", "Memory Context", "Available Skills", "Curated Memory", "Working Notes",
    "Scratchpad", "Recalled Memory",
)  # fmt: skip
_POSES = re.compile(
    rf"^(?=[ \t]*(?:#{{1,6}}[ \t]*(?:{'|'.join(TITLES)})\b|Current channel:))", re.MULTILINE | re.IGNORECASE
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_TAME = re.compile(r"[^\W\d][\w .:/@-]*")  # a name that reads as a name
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
_INLINE = 300  # characters that still read well inside a line


def one_line(text: str) -> str:
    """Text that may stand inside a line of ours: its own line breaks are shown as escapes."""
    return _BREAKS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def data(text: str, label: str) -> str:
    """Text in a fence that nothing inside it can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    lines = _other_breaks(text)
    return f"{ticks}data {one_line(label).replace('`', chr(39))}\n{_POSES.sub(lambda _: chr(92), lines)}\n{ticks}"


def _other_breaks(text: str) -> str:
    """Every kind of line break as a plain one, so that no reader sees a line start that we did not look at."""
    return re.sub(r"\r\n|[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]", "\n", text)


def field(name: str, text: str, label: str) -> str:
    """A named value as a list item: in the line when it is short, fenced below it when it is not."""
    shown = name if _TAME.fullmatch(name) else json.dumps(name, ensure_ascii=False)
    if len(text) <= _INLINE and not _BREAKS.search(text):
        return f"- {one_line(shown)}: {text}"
    return f"- {one_line(shown)}:\n\n{data(text, label)}"


def closed(text: str) -> str:
    """Text of ours with a code fence that somebody left open closed: what follows must not be drawn into it."""
    opened = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and not opened and not (mark[1][0] == "`" and "`" in mark[2]):
            opened = mark[1]
        elif mark and opened and mark[1].startswith(opened) and not mark[2].strip():
            opened = ""
    return f"{text}\n{opened}" if opened else text
