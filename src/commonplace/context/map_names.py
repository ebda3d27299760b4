"""Names on the map of memory: alone, in lists under a label, and in groups. Each can be shortened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

from ..formats import frontmatter
from ..framing import cut_start, estimate_tokens, list_item, quote_name, quote_value
from ..patterns import lazy_pattern
from .budget import Lines
from .items import Source

FEW_WORDS_CHARACTERS = 50  # and at most half of a short page: the map shows what exists, not its content
MAX_LINE_CHARACTERS = 300  # of words that stay on the line of their name
_MAX_START_LINES = 60
_MARKS = lazy_pattern(r"^[ \t]*(?:[-*+>]|\d{1,3}[.)]|\|)?[ \t]*(?:\[[ xX]\][ \t]+)?")
_REMARK = lazy_pattern(r"\[no longer\b")
_NOT_WORDS = lazy_pattern(r"[ \t]*(?:#{1,6}(?:[ \t]|$)|<!--|```|~~~|---|===|\|[-: |]+\|?$)")


@dataclass(frozen=True)
class Named:
    """Something that the map names, with the start of its page or a description."""

    name: str
    path: str
    text: str = ""
    words: str = ""
    line: int = 0  # its first line, if it is only a part of its page
    is_cut: bool = False  # whether the name is only the start of a longer one

    @property
    def quoted(self) -> str:
        return f"{quote_name(self.name)}{' …' if self.is_cut else ''}"

    def shorten(self, limit: int) -> Named:
        """Return it with its name cut to this many characters."""
        return self if len(self.name) <= limit else replace(self, name=self.name[:limit].rstrip(), is_cut=True)

    def is_shown(self, lines: Lines) -> bool:
        """Return whether some of it is in the context anyway."""
        return self.line in lines.get(self.path, ()) if self.line else self.path in lines

    @cached_property
    def lines(self) -> list[tuple[int, str]]:
        """Return the non-empty lines, without list marks, with their numbers on the page."""
        head, body = frontmatter.split(self.text)
        first = head.count("\n") + 1
        lines = enumerate(body.split("\n")[:_MAX_START_LINES], start=first)
        return [(number, _strip_marks(line)) for number, line in lines if _is_words(line)]

    def show(self, limit: int) -> tuple[str, tuple[Source, ...]]:
        """Return an entry of a list with at most so many characters of the page, and the lines that are in it."""
        if self.words:
            return f"- {quote_name(self.name)}: {self.words}", ()
        if limit > MAX_LINE_CHARACTERS and len(self.text.strip()) > MAX_LINE_CHARACTERS:
            return self._show_start(limit)
        text, last = self._take_words(limit if limit > FEW_WORDS_CHARACTERS else min(limit, self._size // 2))
        if not text.strip(" …"):
            return f"- {quote_name(self.name)}", ()
        return f"- {quote_name(self.name)}: {quote_value(text)}", self._sources(last, text)

    @cached_property
    def _size(self) -> int:
        return sum(len(line) for _, line in self.lines)

    def _take_words(self, limit: int) -> tuple[str, int]:
        """Return the start of the page on one line, and the last line that is in it as a whole; 0 if none is."""
        room = min(limit, MAX_LINE_CHARACTERS)
        text = ""
        last = 0
        for number, line in self.lines:
            longer = f"{text}{_joint(text)}{line}"
            if len(longer) > room and _REMARK.match(line):
                return self._take_later_words(number, text, last, room)
            if len(longer) > room:
                start = cut_start(longer, partial(_is_within, limit=room))
                return (f"{start} …", last) if len(start) > len(text) else (f"{text} …", last)
            text = longer
            last = number
        return text, last

    def _take_later_words(self, after: int, text: str, last: int, room: int) -> tuple[str, int]:
        """Return the words so far plus words of a later line without a remark, since part of a remark is useless."""
        later = next((line for number, line in self.lines if number > after and not _REMARK.match(line)), "")
        longer = f"{text}{_joint(text)}{later}"
        return f"{cut_start(longer, partial(_is_within, limit=room))} …", last

    def _show_start(self, limit: int) -> tuple[str, tuple[Source, ...]]:
        text = self.text.strip("\n")
        start = cut_start(text, partial(_is_within, limit=limit)).rstrip()
        is_cut = len(start) < len(text.rstrip())
        line = list_item(self.name, f"{start} […]" if is_cut else start, self.path)
        whole = start.count("\n") + (text[len(start) : len(start) + 1] in ("\n", ""))
        return line, self._sources(whole, start)

    def _sources(self, last: int, text: str) -> tuple[Source, ...]:
        return (Source(self.path, 1, last, estimate_tokens(text)),) if last else ()


def _is_within(text: str, limit: int) -> bool:
    return len(text) <= limit


def _strip_marks(line: str) -> str:
    """Return a line without the mark of its list item, or without the marks at both ends of a row."""
    text = _MARKS.sub("", line).strip()
    return text.rstrip("| \t") if line.lstrip().startswith("|") else text


def _is_words(line: str) -> bool:
    return bool(line.strip()) and not _NOT_WORDS.match(line)


def _joint(text: str) -> str:
    if not text:
        return ""
    return " " if text.endswith((".", "!", "?", ":", ";", ",", "。")) else "; "


@dataclass(frozen=True)
class NameList:
    """Names under a label, such as the keys of a category."""

    label: str
    names: tuple[Named, ...] = ()
    left: int = 0  # how many more there are

    @property
    def size(self) -> int:
        return len(self.names) + self.left

    def trim(self, limit: int) -> NameList:
        """Return it with at most so many names."""
        return replace(self, names=self.names[:limit], left=self.left + len(self.names[limit:]))

    def shorten(self, limit: int) -> NameList:
        """Return it with at most so many characters of each name."""
        return replace(self, names=tuple(each.shorten(limit) for each in self.names))

    def leave_out_shown(self, lines: Lines) -> NameList:
        return replace(self, names=tuple(each for each in self.names if not each.is_shown(lines)))

    def __str__(self) -> str:
        names = ", ".join(each.quoted for each in self.names)
        more = f"{f'{names} and ' if names else ''}{self.left}{' more' if names else ''}" if self.left else names
        return f"{self.label}: {more}"


@dataclass(frozen=True)
class Group(NameList):
    """Names of one kind, and `lists` of names with a line each."""

    lists: tuple[NameList, ...] = ()
    has_notes: bool = False  # whether other sections may show the same things

    @property
    def size(self) -> int:
        return super().size + sum(each.size for each in self.lists)

    def collect(self) -> list[Named]:
        """Return all names, those of its lists as well."""
        return [*self.names, *(name for each in self.lists for name in each.names)]

    def trim(self, limit: int) -> Group:
        names = super().trim(limit)
        left = limit - len(names.names)
        lists: list[NameList] = []
        for each in self.lists:
            lists.append(each.trim(max(0, left)))
            left -= len(lists[-1].names)
        return replace(self, names=names.names, left=names.left, lists=tuple(lists))

    def shorten(self, limit: int) -> Group:
        names = tuple(each.shorten(limit) for each in self.names)
        return replace(self, names=names, lists=tuple(each.shorten(limit) for each in self.lists))

    def with_texts(self, texts: Iterator[str]) -> Group:
        """Return the group with the start of each page's text, taken from `texts` in order."""
        return replace(self, names=tuple(replace(each, text=next(texts)) for each in self.names))

    def leave_out_shown(self, lines: Lines) -> Group:
        """Return the group without the notes that are in the context anyway."""
        if not self.has_notes:
            return self
        lists = (each.leave_out_shown(lines) for each in self.lists)
        return replace(self, lists=tuple(each for each in lists if each.size))

    def __str__(self) -> str:
        lists = "; ".join(str(each) for each in self.lists)
        if self.has_notes:
            return f"{lists[:1].upper()}{lists[1:]}"
        if not self.names and not self.left:
            return f"{self.label}: {lists}"
        return f"{super().__str__()}; {lists}" if lists else super().__str__()
