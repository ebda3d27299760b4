"""What `recall` looks like, and the escape that keeps stored text from imitating it.

Pages stay plain text there, without a frame. Only a line that a reader could take for a part of the skeleton gets a
backslash: a title or a `---` of ours, the heading of a day or topic, an underline that makes the line above it a
heading, and code fences and HTML that are left open, which would draw in what follows. `unescape_page` reverses this
exactly, so that a page rewritten from what was recalled stays as it was.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from ..formats.structure import find_fenced_lines
from .hidden import escape_hidden, unescape_hidden

WORLD_TITLE = "World Knowledge"
CURATED_TITLE = "Your Memory"
DAYS_TITLE = "Recent Experiences"
LEFT_OUT_TITLE = "Left Out"
SEPARATOR = "---"
Kind = Literal["world", "curated", "day"]

# Whatever any reader ends a line with. The capturing group keeps the breaks in the result of `split`.
_LINE_BREAK = re.compile(r"(\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029])")
_SPACE = r"[ \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]"
_TITLE = "|".join(
    title.replace(" ", rf"{_SPACE}+") for title in (WORLD_TITLE, CURATED_TITLE, DAYS_TITLE, LEFT_OUT_TITLE)
)


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\\*{_SPACE}*(?:{pattern})", re.IGNORECASE)


class _Imitation(NamedTuple):
    """A kind of line that imitates the skeleton, whatever backslashes are before it already."""

    pattern: re.Pattern[str]
    kinds: tuple[Kind, ...] = ("world", "curated", "day")
    is_always_removed: bool = False  # from a page that is rewritten, even if it has no such line now


_HEADINGS = _Imitation(
    _compile(rf"#{{1,6}}{_SPACE}*(?:{_TITLE})\b|#{_SPACE}*\d{{4}}-\d\d-\d\d\b|(?:-{_SPACE}*){{3,}}\Z"),
    is_always_removed=True,
)
_TOPIC = _Imitation(_compile(rf"##(?={_SPACE}|\Z)"), ("world",))
_ENTRY = _Imitation(_compile(rf"##{_SPACE}*\d\d:\d\d\b"), ("day",))
_UNDERLINE = _Imitation(_compile(rf"(?:=+|-+){_SPACE}*\Z"))
_FENCE = _Imitation(_compile(r"`{3,}|~{3,}"))
_HTML = _Imitation(_compile(r"<(?:!|\?|(?:script|pre|style|textarea)\b)"))
_IMITATIONS = (_HEADINGS, _TOPIC, _ENTRY, _UNDERLINE, _FENCE, _HTML)
# What ends a block of HTML, by how it starts.
_HTML_ENDS = (
    ("<!--", re.compile("-->")),
    ("<?", re.compile(r"\?>")),
    ("<![cdata[", re.compile("]]>")),
    ("<!", re.compile(">")),
    ("<", re.compile("</(?:script|pre|style|textarea)>", re.IGNORECASE)),
)


def is_title(name: str) -> bool:
    """Tell whether a name would read like a title of `recall` in a heading."""
    return re.match(rf"\W*(?:{_TITLE})\b", name, re.IGNORECASE) is not None


def escape_page(text: str, kind: Kind) -> str:
    """Return the text of a page as `recall` shows it."""
    parts = _LINE_BREAK.split(escape_hidden(text))
    lines = parts[::2]
    for number, _ in _find_imitations(lines, kind):
        parts[2 * number] = f"\\{lines[number]}"
    return "".join(parts)


def unescape_page(text: str, page: str, kind: Kind) -> str:
    """Return text for a page that was rewritten from what `escape_page` made of it, as the page it means.

    `page` is the page as it stands: an escape of a kind that it does not need now was not put there by `recall`, and
    stays. Only titles, `---` and days are always taken for escaped, since a whole page may come from another one.
    """
    seen = {imitation for _, imitation in _find_imitations(_LINE_BREAK.split(escape_hidden(page))[::2], kind)}
    patterns = [each.pattern for each in _IMITATIONS if each in seen or each.is_always_removed]
    parts = _LINE_BREAK.split(text)
    for number in range(0, len(parts), 2):
        line = parts[number]
        if line.startswith("\\") and any(pattern.match(line) for pattern in patterns):
            parts[number] = line[1:]
    unescaped = "".join(parts)
    return unescape_hidden(unescaped) if escape_hidden(page) != page else unescaped


def _find_imitations(lines: list[str], kind: Kind) -> list[tuple[int, _Imitation]]:
    """Return the numbers of the lines that need a backslash, and why."""
    classes = [_classify(line, kind) for line in lines]
    fenced = find_fenced_lines(lines) if _FENCE in classes else [False] * len(lines)
    html_ends = _find_html_ends(lines) if _HTML in classes else {}
    found = []
    for number, imitation in enumerate(classes):
        line = lines[number]
        if imitation is None or (fenced[number] and imitation in (_UNDERLINE, _FENCE, _HTML) and line[0] != "\\"):
            continue
        is_underline = number > 0 and lines[number - 1].strip()
        if line[0] == "\\" or _is_harmful(imitation, line, number, is_underline=bool(is_underline), ends=html_ends):
            found.append((number, imitation))
    return found


def _classify(line: str, kind: Kind) -> _Imitation | None:
    return next((each for each in _IMITATIONS if kind in each.kinds and each.pattern.match(line)), None)


def _is_harmful(imitation: _Imitation, line: str, number: int, *, is_underline: bool, ends: dict[str, int]) -> bool:
    """Tell whether a line outside of code, without a backslash, imitates the skeleton where it is."""
    if imitation is _UNDERLINE:
        return is_underline
    if imitation is not _HTML:
        return True
    start = line.strip().lower()
    opening, end = next(each for each in _HTML_ENDS if start.startswith(each[0]))
    return ends.get(opening, -1) <= number and end.search(start, len(opening)) is None


def _find_html_ends(lines: list[str]) -> dict[str, int]:
    """Return the last line that could end a block of HTML, by how the block starts."""
    return {opening: number for opening, end in _HTML_ENDS for number, line in enumerate(lines) if end.search(line)}
