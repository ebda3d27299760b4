"""The text of `recall`: plain pages under titles, within a size limit, and the escapes that keep them plain.

Beyond the limit, the curated page and the newest days come first, then the topics of the world, small ones before large
ones. What does not fit is named with its size and with the call that reads it; a long page is cut between two lines.

Pages stay plain text there, without a frame. Only a line that a reader could take for a part of the reply itself gets
a backslash: a title or a `---` of ours, the heading of a day or topic, an underline that makes the line above it a
heading, a note on what is left out, and code fences and HTML that are left open, which would draw in what follows.
A line whose fact was replaced ends with a mark: ` [no longer; now: "…" (PAGE#L5-L5)]`; text of a page that imitates one
gets a backslash before its bracket. `unescape_page` reverses all this exactly, so that a page rewritten from what was
recalled stays as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Literal, NamedTuple

from ..formats.structure import (
    BLOCK_LEVEL,
    DAY_LEVEL,
    DAY_PATTERN,
    ENTRY_LEVEL,
    ENTRY_PATTERN,
    LineCounter,
    find_fenced_lines,
    find_marks,
    unescape,
)
from ..patterns import lazy_pattern
from ..wording import format_command
from .frames import escape_hidden, quote_line, quote_title, show_hidden, unescape_hidden
from .limits import find_most

WORLD_TITLE = "World Knowledge"
CURATED_TITLE = "Your Memory"
DAYS_TITLE = "Recent Experiences"
LEFT_OUT_TITLE = "Left Out"
SEPARATOR = "---"
Kind = Literal["world", "curated", "day"]
_TITLES: dict[Kind, str] = {"world": WORLD_TITLE, "curated": CURATED_TITLE, "day": DAYS_TITLE}
_JOINT = f"\n{SEPARATOR}\n\n"
_MIN_ROOM_CHARACTERS = 500  # less of a page is not worth showing
_TITLE_CHARACTERS = 30  # upper bound for a section's title and the separator before it
# The curated page, and it together with the days, may take this share of the limit if the rest needs room.
_SHARES: dict[Kind, float] = {"curated": 0.5, "day": 0.8, "world": 1.0}
_LEFT_OUT_SHARE = 0.2
_MIN_ENTRY_CHARACTERS = 100  # less of a long entry is not worth showing
_CAUTION = "Read all of it before you rewrite it."
_NO_MARKS: Mapping[int, str] = {}

# Every kind of line break. The capturing group keeps the breaks in the result of `split`.
_LINE_BREAK = lazy_pattern(r"(\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029])")
_SPACE = r"[ \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]"
_TITLE = "|".join(
    title.replace(" ", rf"{_SPACE}+") for title in (WORLD_TITLE, CURATED_TITLE, DAYS_TITLE, LEFT_OUT_TITLE)
)
_MARK = lazy_pattern(r' \[(?:no longer; now|no longer|answered): "[^\[\]]*#L\d+-L\d+\)\][ \t]*\Z')
_OPENING = rf'\[{_SPACE}*(?:no{_SPACE}+longer(?:{_SPACE}*;{_SPACE}*now)?|answered){_SPACE}*:{_SPACE}*"'  # of imitations
_IMITATION = lazy_pattern(rf"(?<!\\)(\\*)(?={_OPENING})", re.IGNORECASE)
_ESCAPED = lazy_pattern(rf"(?<!\\)\\(?=\\*{_OPENING})", re.IGNORECASE)
_NOTE_WORDS = rf"\([\d,]{{1,20}}{_SPACE}+characters{_SPACE}+in{_SPACE}+(?:lines|all)\b"
_NOTE_START = lazy_pattern(
    rf"(?:^|(?<=[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]))(?=\\*{_SPACE}*{_NOTE_WORDS})", re.IGNORECASE
)
_PARENTHESES = str.maketrans("[]", "()")


class RecallPage(NamedTuple):
    """A page to recall. `name` is its topic or day; the heading names its author.

    `marks`: what replaced its lines, in words, by their numbers from 0.
    """

    kind: Kind
    name: str
    path: str
    text: str
    author: str = ""
    marks: tuple[tuple[int, str], ...] = ()


class Recalled(NamedTuple):
    """The text of a recall, and the pages in it, each with the lines that are shown whole, counted from 0."""

    text: str
    shown: tuple[tuple[RecallPage, tuple[range, ...]], ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(page.path for page, _ in self.shown)


class _Part(NamedTuple):
    page: RecallPage
    text: str  # as it is shown
    spans: tuple[range, ...]  # the lines that are shown whole


ReadCall = Callable[[str, int], str]  # takes a path and a line, returns the call that reads on from there


def render_recall(pages: Sequence[RecallPage], limit: int, read_call: ReadCall, last_line: str = "") -> Recalled:
    """Return the pages under their titles, in their order, in at most `limit` characters.

    `last_line` is shown instead of the days if there are none.
    """
    if sum(len(page.text) for page in pages) <= limit:
        parts = [_show_whole(page) for page in pages]
        text = _join(parts, last_line)
        if len(text) <= limit:
            return Recalled(text, tuple((part.page, part.spans) for part in parts))
    room = limit - len(last_line) - int(limit * _LEFT_OUT_SHARE)
    parts_by_page = _choose_parts(pages, room, read_call)
    left_out = [page for page in _by_priority(pages) if page not in parts_by_page]
    parts = [parts_by_page[page] for page in pages if page in parts_by_page]
    text = _join(parts, last_line)
    text += _list_left_out(left_out, limit, limit - len(text), read_call)
    return Recalled(text, tuple((part.page, part.spans) for part in parts))


def _show_whole(page: RecallPage) -> _Part:
    lines = page.text.split("\n")
    text = "\n".join(_escape_notes(lines) if page.kind == "day" else lines)
    return _Part(page, _render_page(page, text, dict(page.marks)), (range(len(lines)),))


def _by_priority(pages: Iterable[RecallPage]) -> list[RecallPage]:
    """Return pages in the order in which they get room. Days come newest first already."""
    order = ("curated", "day", "world")

    def rank(page: RecallPage) -> tuple[int, int]:
        return order.index(page.kind), len(page.text) if page.kind == "world" else 0

    return sorted(pages, key=rank)


def _choose_parts(pages: Sequence[RecallPage], limit: int, read_call: ReadCall) -> dict[RecallPage, _Part]:
    ordered = _by_priority(pages)
    sizes = {page: _estimate_size(page) for page in ordered}
    size_after = sum(sizes.values())
    titles = len({page.kind for page in pages}) * _TITLE_CHARACTERS
    used = titles
    parts: dict[RecallPage, _Part] = {}
    for page in ordered:
        size_after -= sizes[page]
        room = max(int(limit * _SHARES[page.kind]), limit - size_after) - used
        part = _fit_page(page, min(room, limit - used), read_call)
        if part:
            parts[page] = part
            used += len(part.text) + 1
    return parts


def _estimate_size(page: RecallPage) -> int:
    """Return about how many characters a page takes as a whole: its heading, its text and the lines between them."""
    return len(_render_page(page, "", {})) + len(page.text) + 2


def _fit_page(page: RecallPage, room: int, read_call: ReadCall) -> _Part | None:
    """Return as much of a page as there is room for: the start of it, of a day the newest entries."""
    if len(page.text) <= room and len((whole := _show_whole(page)).text) <= room:
        return whole
    if room < _MIN_ROOM_CHARACTERS:
        return None
    return _fit_day(page, room, read_call) if page.kind == "day" else _fit_start(page, room, read_call)


def _fit_start(page: RecallPage, room: int, read_call: ReadCall) -> _Part | None:
    lines = page.text.split("\n")
    # Rendering makes no line shorter, so no more lines are rendered than could fit.
    sizes = accumulate(len(line) + 1 for line in lines)
    limit = min(len(lines) - 1, sum(1 for _ in takewhile(lambda size: size - 1 <= room, sizes)))
    count = find_most(limit, lambda count: len(_cut_page(page, lines, count, read_call)) <= room, is_exact=True)
    if count:
        return _Part(page, _cut_page(page, lines, count, read_call), (range(count),))
    return _cut_line(page, lines[0], room, read_call)


def _cut_page(page: RecallPage, lines: list[str], count: int, read_call: ReadCall) -> str:
    size = len("\n".join(lines[count:]))
    where = f"lines {count + 1} to {len(lines)}"
    note = f"({size:,} characters in {where} are left out here: {read_call(page.path, count + 1)}. {_CAUTION})"
    start = _render_page(page, "\n".join(lines[:count]), dict(page.marks))
    return f"{_end_line(start)}\n{note}\n"


def _cut_line(page: RecallPage, line: str, room: int, read_call: ReadCall) -> _Part | None:
    """Return the start of the first line, if not even that fits."""
    size = f"{len(page.text):,} characters in all"
    ending = f"\n({size}, of which this is the start of a line: {read_call(page.path, 1)}. {_CAUTION})\n"
    count = room
    while count > 0:
        text = _end_line(_render_page(page, line[:count], {})) + ending
        if len(text) <= room:
            return _Part(page, text, ())
        count -= max(len(text) - room, 1)
    return None


class _Entry(NamedTuple):
    """An entry of a day, by its lines: those before `stop` are shown, and so many characters of the next."""

    first: int
    stop: int
    end: int
    characters: int = 0


def _fit_day(page: RecallPage, room: int, read_call: ReadCall) -> _Part | None:
    """Return the newest entries of a day. One that is long is cut at its end, so that it hides no other."""
    lines = page.text.rstrip("\n").split("\n")
    at = room
    while at >= _MIN_ROOM_CHARACTERS // 2:
        entries = _choose_entries(lines, _find_entries(page.text), at)
        text = _render_entries(page, lines, entries, read_call)
        if entries and len(text) <= room:
            return _Part(page, text, tuple(range(entry.first, entry.stop) for entry in entries))
        at -= max(len(text) - room, 1)
    return None


def _find_entries(text: str) -> list[int]:
    """Return the first lines of the entries and notes of a day, and 0."""
    marks = (mark for mark in find_marks(text) if not mark.fenced and mark.level in (ENTRY_LEVEL, BLOCK_LEVEL))
    count = LineCounter(text)
    return sorted({0, *(count.line(mark.start) - 1 for mark in marks)})


def _choose_entries(lines: Sequence[str], starts: Sequence[int], room: int) -> list[_Entry]:
    """Return the entries to show, in their order: the newest. Long ones get half of the room, and what is left over."""
    rooms: dict[tuple[int, int], int] = {}
    left = room
    cut_count = 0
    for first, end in zip(reversed(starts), [len(lines), *reversed(starts)], strict=False):
        size = len("\n".join(lines[first:end])) + 1
        most = min(left, room // 2)
        if size > most and left < _MIN_ENTRY_CHARACTERS:
            break
        cut_count += size > most
        rooms[first, end] = min(size, most)
        left -= rooms[first, end]
    return [_cut_entry(lines, *span, rooms[span] + left // max(1, cut_count)) for span in reversed(rooms)]


def _cut_entry(lines: Sequence[str], first: int, end: int, room: int) -> _Entry:
    sizes = [0, *accumulate(len(line) + 1 for line in lines[first:end])]
    count = sum(1 for size in sizes[1:] if size <= room)
    rest = room - sizes[count] if first + count < end else 0
    return _Entry(first, first + count, end, rest if rest >= _MIN_ENTRY_CHARACTERS else 0)


def _render_entries(page: RecallPage, lines: list[str], entries: Sequence[_Entry], read_call: ReadCall) -> str:
    """Return a day with these entries, and notes on what is left out above and in them."""
    shown: list[str] = []
    marks: dict[int, str] = {}
    known = dict(page.marks)
    above = 0
    for entry in entries:
        shown += _note_rest(page, lines, above, entry.first, 0, read_call)
        numbers = range(entry.first, entry.stop)
        marks |= {len(shown) + number - entry.first: known[number] for number in numbers if number in known}
        shown += _escape_notes(lines[entry.first : entry.stop])
        if entry.characters:
            shown += _escape_notes([lines[entry.stop][: entry.characters]])
        shown += _note_rest(page, lines, entry.stop, entry.end, entry.characters, read_call)
        above = entry.end
    return _render_page(page, "\n".join(shown), marks)


def _escape_notes(lines: Sequence[str]) -> list[str]:
    """Return lines of a day with a backslash before what reads like a note of ours on what is left out."""
    return [_NOTE_START.sub(r"\\", line) for line in lines]


def _note_rest(
    page: RecallPage, lines: list[str], first: int, end: int, characters: int, read_call: ReadCall
) -> list[str]:
    size = len("\n".join(lines[first:end])) - characters
    if first >= end or not size:
        return []
    where = f"lines {first + 1} to {end}"
    return ["", f"({size:,} characters in {where} are left out here: {read_call(page.path, first + 1)}.)", ""]


def _render_page(page: RecallPage, text: str, marks: Mapping[int, str]) -> str:
    by = f" (by {quote_line(page.author)})" if page.author else ""
    if page.kind == "curated":
        return escape_page(text, "curated", marks)
    if page.kind == "day":
        return f"# {page.name}{by}\n\n{_show_day(text, page.name, marks)}"
    topic = f'"{quote_line(page.name)}"' if is_title(page.name) else quote_title(page.name)
    return f"## {topic}{by}\n\n{escape_page(text, 'world', marks)}"


def _show_day(text: str, day: str, marks: Mapping[int, str]) -> str:
    """Return a daily page without its heading and the footers of notes: entries keep their headings, and what is in
    them imitates none."""

    def show(start: int, end: int) -> str:
        first = text.count("\n", 0, start) if marks else 0
        return escape_page(unescape(text[start:end]), "day", {line - first: words for line, words in marks.items()})

    parts: list[str] = []
    at = 0
    has_heading = False
    for mark in find_marks(text):
        if mark.kind == "footer":
            parts.append(show(at, mark.start).rstrip("\n"))
            at = mark.end
            continue
        is_heading = mark.level == DAY_LEVEL and mark.title == day and not has_heading
        is_entry = mark.level == ENTRY_LEVEL and re.fullmatch(ENTRY_PATTERN, mark.title)
        if mark.fenced or not (is_heading or is_entry):
            continue
        has_heading = has_heading or is_heading
        parts += [show(at, mark.start), "" if is_heading else mark.line]
        at = mark.end
    return "".join([*parts, show(at, len(text))]).strip("\n")


def _join(parts: Sequence[_Part], last_line: str) -> str:
    return _JOINT.join(_render_sections(parts, last_line))


def _render_sections(parts: Sequence[_Part], last_line: str) -> Iterator[str]:
    for kind, title in _TITLES.items():
        texts = [_end_line(part.text) for part in parts if part.page.kind == kind]
        if kind == "day" and not texts and last_line:
            texts = [f"{show_hidden(last_line)}\n"]
        if texts:
            yield f"# {title}\n\n" + "\n".join(texts)


def _list_left_out(pages: Sequence[RecallPage], limit: int, room: int, read_call: ReadCall) -> str:
    """Return the list of pages that did not fit, in at most `room` characters."""
    if not pages:
        return ""
    text = f"{_JOINT}# {LEFT_OUT_TITLE}\n\nMore than {limit:,} characters (recall.maxCharacters). Read on with:\n\n"
    for number, page in enumerate(pages):
        item = f"- {quote_line(page.path)}, {len(page.text):,} characters: {read_call(page.path, 1)}\n"
        rest = pages[number:]
        summary = (
            f"- {len(rest):,} more pages, {sum(len(each.text) for each in rest):,} characters: search finds them\n"
        )
        if len(text) + len(item) + (len(summary) if len(rest) > 1 else 0) > room:
            return text + summary
        text += item
    return text


def _end_line(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def name_read_call(path: str, line: int, *, has_search: bool) -> str:
    """Return the call that reads a page from a line on."""
    if not has_search:
        return quote_line(format_command("show", path))
    start = {"from": line} if line > 1 else {}
    return quote_line(f"memory_get {json.dumps({'path': path, **start}, ensure_ascii=False)}")


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\\*{_SPACE}*(?:{pattern})", re.IGNORECASE)


class _Imitation(NamedTuple):
    """A kind of line that imitates a part of the reply, whatever backslashes are before it already."""

    pattern: re.Pattern[str]
    kinds: tuple[Kind, ...] = ("world", "curated", "day")
    is_always_removed: bool = False  # from a page that is rewritten, even if it has no such line now


_HEADINGS = _Imitation(
    _compile(rf"#{{1,6}}{_SPACE}*(?:{_TITLE})\b|{'#' * DAY_LEVEL}{_SPACE}*{DAY_PATTERN}\b|(?:-{_SPACE}*){{3,}}\Z"),
    is_always_removed=True,
)
_TOPIC = _Imitation(_compile(rf"##(?={_SPACE}|\Z)"), ("world",))
_ENTRY = _Imitation(_compile(rf"{'#' * ENTRY_LEVEL}{_SPACE}*{ENTRY_PATTERN}\b"), ("day",))
_UNDERLINE = _Imitation(_compile(rf"(?:=+|-+){_SPACE}*\Z"))
_FENCE = _Imitation(_compile(r"`{3,}|~{3,}"))
_HTML = _Imitation(_compile(r"<(?:!|\?|(?:script|pre|style|textarea)\b)"))
_NOTE = _Imitation(_compile(_NOTE_WORDS), ("world", "curated"))  # those of days get notes first
_IMITATIONS = (_HEADINGS, _TOPIC, _ENTRY, _UNDERLINE, _FENCE, _HTML, _NOTE)
# What ends a block of HTML, by how it starts.
_HTML_ENDS = (
    ("<!--", re.compile("-->")),
    ("<?", re.compile(r"\?>")),
    ("<![cdata[", re.compile("]]>")),
    ("<!", re.compile(">")),
    ("<", re.compile("</(?:script|pre|style|textarea)>", re.IGNORECASE)),
)


def is_title(name: str) -> bool:
    """Return whether a name would read like a title of `recall` in a heading."""
    return re.match(rf"\W*(?:{_TITLE})\b", name, re.IGNORECASE) is not None


def escape_page(text: str, kind: Kind, marks: Mapping[int, str] = _NO_MARKS) -> str:
    """Return the text of a page as `recall` shows it. `marks`: what replaced its lines, by their numbers from 0."""
    parts = _LINE_BREAK.split(escape_hidden(text))
    lines = parts[::2]
    if imitates_mark(text):
        parts[::2] = map(escape_marks, lines)
    for number, _ in _find_imitations(lines, kind):
        parts[2 * number] = f"\\{parts[2 * number]}"
    if marks:
        _add_marks(parts, marks)
    return "".join(parts)


def _add_marks(parts: list[str], marks: Mapping[int, str]) -> None:
    """Add marks at the ends of lines, which are every second part of a text; not if one would break a code fence."""
    line = 0
    for number in range(0, len(parts), 2):
        is_end = number + 1 == len(parts) or "\n" in parts[number + 1]
        if is_end and line in marks and not _FENCE.pattern.match(parts[number]):
            parts[number] += format_mark(marks[line])
        line += is_end


def unescape_page(text: str, page: str, kind: Kind) -> str:
    """Return text for a page that was rewritten from what `escape_page` made of it, as that page, without marks.

    `page` is the current page: an escape of a kind that it does not need now was not put there by `recall`, and
    stays. Only titles, `---` and days are always taken for escaped, since a whole page may come from another one.
    """
    seen = {imitation for _, imitation in _find_imitations(_LINE_BREAK.split(escape_hidden(page))[::2], kind)}
    patterns = [each.pattern for each in _IMITATIONS if each in seen or each.is_always_removed]
    parts = _LINE_BREAK.split(text)
    has_marks = imitates_mark(escape_hidden(page))
    for number in range(0, len(parts), 2):
        line = strip_mark(parts[number])
        parts[number] = line = unescape_marks(line) if has_marks else line
        if line.startswith("\\") and any(pattern.match(line) for pattern in patterns):
            parts[number] = line[1:]
    unescaped = "".join(parts)
    return unescape_hidden(unescaped) if escape_hidden(page) != page else unescaped


def _find_imitations(lines: list[str], kind: Kind) -> list[tuple[int, _Imitation]]:
    """Return the numbers of the lines that need a backslash, and why."""
    classes = [_classify(line, kind) for line in lines]
    fenced = find_fenced_lines(lines) if _FENCE in classes else [False] * len(lines)
    html_ends = _find_html_ends(lines) if _HTML in classes else {}
    imitations = []
    for number, imitation in enumerate(classes):
        line = lines[number]
        if imitation is None or (fenced[number] and imitation in (_UNDERLINE, _FENCE, _HTML) and line[0] != "\\"):
            continue
        is_underline = number > 0 and lines[number - 1].strip()
        if line[0] == "\\" or _is_harmful(imitation, line, number, is_underline=bool(is_underline), ends=html_ends):
            imitations.append((number, imitation))
    return imitations


def _classify(line: str, kind: Kind) -> _Imitation | None:
    return next((each for each in _IMITATIONS if kind in each.kinds and each.pattern.match(line)), None)


def _is_harmful(imitation: _Imitation, line: str, number: int, *, is_underline: bool, ends: dict[str, int]) -> bool:
    """Return whether a line outside of code, without a backslash, imitates a part of the reply at its place."""
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


def format_mark(words: str) -> str:
    """Return the mark for the end of a line. Nothing in it can end it early."""
    return f" [{words.translate(_PARENTHESES)}]"


def imitates_mark(text: str) -> bool:
    """Return whether a text has anything that reads like a mark, or like its escape."""
    return _IMITATION.search(text) is not None


def escape_marks(line: str) -> str:
    """Return a line with a backslash before all in it that reads like a mark."""
    return _IMITATION.sub(r"\1\\", line) if "[" in line else line


def strip_mark(line: str) -> str:
    """Return a line without the mark at its end."""
    return _MARK.sub("", line) if line.rstrip(" \t").endswith(")]") else line


def unescape_marks(line: str) -> str:
    """Return what `escape_marks` was given."""
    return _ESCAPED.sub("", line) if "\\[" in line else line
