"""Splits pages into passages (chunks), the unit of search: blocks, entries, list items and paragraphs, by lines.

The `text` of a passage is exactly its lines of the page, so that reading those lines gives the hit back; only a line
that is far too long becomes several passages. What the lines do not say but a search may ask for (the key, the headings
above, the date) goes into `hint`. Of a page that is too large, the longest parts are cut; the lines keep their numbers,
and no part is dropped for the length of another.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import chain, pairwise
from operator import itemgetter
from typing import NamedTuple

from ..caching import cache_within
from ..errors import CommonplaceError
from ..model import Block, Passage, Record, Skill
from ..patterns import lazy_pattern
from . import blocks, frontmatter, records
from .blocks import find_moment, is_annotation_line, is_day_or_time, strip_annotations
from .structure import (
    DAY_HEADING_PATTERN,
    DAY_LEVEL,
    ENTRY_HEADING_PATTERN,
    ENTRY_LEVEL,
    FOOTER_START,
    LineCounter,
    Mark,
    find_lists,
    find_marks,
    is_heading_or_intro,
)
from .timestamps import parse_day
from .transcripts import parse_turns

_RULE = r"\s*(?:[-*_]\s*){3,}$"  # a horizontal line
_FRAME = lazy_pattern(rf"{DAY_HEADING_PATTERN}\s*$|{ENTRY_HEADING_PATTERN}\s*$|{FOOTER_START}|{_RULE}")
_PINNED_FIELD = lazy_pattern(r"(?m)^pinned:[^\n]*\n(?:[ \t-][^\n]*\n)*?(?=[^\s-]|---)")
NEIGHBOUR_TURNS = 2  # indexed with a turn, per side: an answer rarely repeats its question's words
TARGET_CHARS = 900  # aimed at per passage: small enough to point at one thought, large enough to hold it
MAX_PASSAGES = 20_000  # per page; four megabytes of prose have about 4,000
_MAX_LINE_CHARS = 8_000  # of one line within a passage, or of a neighbouring turn
MAX_TURN_CHARS = 1_000_000  # of one turn; the rest is not searched
_DEEPEST_LEVEL = 6  # of headings
_HEADINGS_PER_PIECE = 8  # of a page
_FOOTER_ABOVE_HEADING = lazy_pattern(
    rf"^{FOOTER_START}[^\n]*-->[^\S\n]*\n(?:[^\S\n]*\n)*(?=#{{1,6}}[ \t])", re.MULTILINE
)
_TOP_HEADING = lazy_pattern(r"^##?[ \t]", re.MULTILINE)
_MAX_HINT_CHARS = 2_000  # a hint is repeated in every passage, so a long title would be costly


class Headings(NamedTuple):
    """The headings above a line, outermost first, with the level and the title of each.

    An entry of a day is only below the heading of the day: headings in other entries do not apply to it.
    """

    above: tuple[tuple[int, str], ...] = ()
    day: tuple[tuple[int, str], ...] | None = None  # of a daily page, its heading; else empty

    def push(self, level: int, title: str) -> Headings:
        """Return those below the next heading."""
        day = self.day
        if day is None:
            day = ((level, title),) if level == DAY_LEVEL and is_day_or_time(title) else ()
        outer = day if day and level == ENTRY_LEVEL and is_day_or_time(title) else self.above
        return Headings((*[each for each in outer if each[0] < level], (level, title)), day)


_NO_HEADINGS = Headings()


def split_page(text: str, name: str = "", *, by_item: bool = True) -> list[Passage]:
    """Return the passages of a handwritten, daily or summary page called `name`; with `by_item`, a list of facts has
    one for each of its items."""
    passages: list[Passage] = []
    headings = _NO_HEADINGS
    head = frontmatter.split(text)[0]
    page_tags = read_page_tags(head)
    first = head.count("\n") + 1
    for line, piece in _cut_page(text, len(head)):
        parts, headings = _split_piece(piece, headings, first, name, page_tags, by_item)
        passages += [_move(part, line - 1) for part in parts] if line > 1 else parts
        first = 1
        if len(passages) > MAX_PASSAGES:
            break  # one more than the limit, so that the caller notices
    return passages


def _cut_page(text: str, head: int) -> Iterator[tuple[int, str]]:
    """Yield a page in pieces that can be parsed alone, each with its first line: adding to a page leaves most of
    them as they are. `head`: the length of the front matter.

    After a footer, no fence is open and no block goes on. On a page without any, a heading of the first two levels ends
    every block, and opens nothing that another line could close if there is no fence at all.
    """
    starts: list[int] = []
    if FOOTER_START in text:
        starts = [match.end() for match in _FOOTER_ABOVE_HEADING.finditer(text, head)]
    elif "```" not in text and "~~~" not in text:
        starts = [match.start() for match in _TOP_HEADING.finditer(text, head)]
    line = 1
    for start, end in pairwise(sorted({0, *starts[::_HEADINGS_PER_PIECE], len(text)})):
        yield line, text[start:end]
        line += text.count("\n", start, end)


@cache_within(4_000_000)
def _split_piece(
    text: str,
    headings: Headings,
    line: int,
    name: str,
    page_tags: tuple[str, ...],
    by_item: bool,  # noqa: FBT001  cached by position
) -> tuple[tuple[Passage, ...], Headings]:
    """Return the passages of a piece of a page from a line on, and the headings that the next piece is below."""
    lines = text.split("\n")
    passages: list[Passage] = []
    end = len(lines) + 1
    for first, after, landmark in chain(_landmarks(text), [(end, end, None)]):
        if first > line:
            titles = tuple([title for _, title in headings.above])
            section = "\n".join(lines[line - 1 : first - 1])
            parts = _split_section(section, _continues_line(lines, line), name, titles, page_tags, by_item)
            passages += [_move(part, line - 1) for part in parts]
        if isinstance(landmark, Block):
            notes = _split_block(lines, landmark, name, by_item=by_item)
            passages += [part._replace(tags=_join_tags(part, page_tags)) for part in notes]
        elif landmark:
            headings = headings.push(landmark.level, landmark.title)
        line = after
        if len(passages) > MAX_PASSAGES:
            break
    return tuple(passages), headings


def _move(part: Passage, lines: int) -> Passage:
    """Return a passage that is some lines further down; a page has many, so without the slow `_replace`."""
    return Passage(part.start + lines, part.end + lines, *part[2:])


def _continues_line(lines: list[str], line: int) -> bool:
    return line <= len(lines) and is_annotation_line(lines[line - 1]) and not _is_about_page(lines, line)


@cache_within(2_000_000)
def _split_section(
    text: str,
    continues: bool,  # noqa: FBT001  cached by position
    name: str,
    titles: tuple[str, ...],
    page_tags: tuple[str, ...],
    by_item: bool,  # noqa: FBT001
) -> tuple[Passage, ...]:
    """Return the passages between two headings or blocks, with lines counted from the first; cached, since whoever adds
    to a page leaves the rest of it as it is. `continues`: the first line is an annotation of the line above."""
    hint = " ".join([name, *titles, *page_tags]).strip()[:_MAX_HINT_CHARS]
    lead = " ".join(title for title in titles if not is_day_or_time(title))[:_MAX_HINT_CHARS]
    at = find_moment(name, titles)
    above = "the line above" if continues else ""
    lines = [above, *text.split("\n")]
    split = _split_by_item if by_item else _split_lines
    return tuple(
        Passage(
            part.start - 1,
            part.end - 1,
            part.text,
            f"{hint} {part.hint}".strip(),
            part.around,
            f"{lead} {part.lead}".strip(),
            part.key,
            _join_tags(part, page_tags),
            at,
        )
        for part in split(lines, 2, len(lines))
    )


def _join_tags(part: Passage, page_tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tags of a passage: its block's own, those of the page, and those in its text."""
    if "#" not in part.text and not part.tags:
        return page_tags
    return tuple(dict.fromkeys([*part.tags, *page_tags, *find_inline_tags(part.text)]))


PlacedTitles = tuple[int, tuple[str, ...]]


def titles_above(text: str, line: int) -> tuple[str, ...]:
    """Return the headings above a line of a page, outermost first, without those that are days or times."""
    return choose_titles(list_titles(text), line)


def choose_titles(headings: Sequence[PlacedTitles], line: int) -> tuple[str, ...]:
    """Return the headings above a line, of those that `list_titles` found."""
    at = bisect_right(headings, line, key=itemgetter(0))
    return headings[at - 1][1] if at else ()


def list_titles(text: str) -> tuple[PlacedTitles, ...]:
    """Return the lines from which on other headings are above, with these. On a daily page there are few."""
    placed: list[PlacedTitles] = []
    headings = _NO_HEADINGS
    for line, piece in _cut_page(text, len(frontmatter.split(text)[0])):
        titles, headings = _list_titles_of_piece(piece, headings)
        placed += [(first + line - 1, each) for first, each in titles]
    return tuple(placed)


@cache_within(1_000_000)  # a hit or a write asks for a line or two
def _list_titles_of_piece(text: str, headings: Headings) -> tuple[tuple[PlacedTitles, ...], Headings]:
    count = LineCounter(text)
    placed: list[PlacedTitles] = []
    above = _list_topics(headings)
    for mark in find_marks(text):
        if mark.kind == "heading" and not mark.fenced:
            headings = headings.push(mark.level, mark.title)
            titles = _list_topics(headings)
            if titles != above:
                placed.append((count.line(mark.start), titles))
            above = titles
    return tuple(placed), headings


def _list_topics(headings: Headings) -> tuple[str, ...]:
    return tuple([title for _, title in headings.above if not is_day_or_time(title)])


def embedding_text(lead: str, text: str) -> str:
    """Return what is embedded for a passage: the headings above it, and its lines without timestamps and footers."""
    has_comment = "<!--" in text
    lines = [line for line in text.split("\n") if not _FRAME.match(line) and not (has_comment and _is_annotation(line))]
    if has_comment:
        lines = [*map(strip_annotations, lines)]
    return "\n".join([lead, *lines] if lead else lines)


def show_passage(text: str) -> str:
    """Return the text of a passage as people read it: without annotations."""
    return strip_annotations(text).rstrip("\n") if "<!--" in text else text


def _landmarks(text: str) -> Iterator[tuple[int, int, Block | Mark]]:
    """Yield the blocks and the headings between them: first line, the line to continue at, and the block or heading."""
    count = LineCounter(text)
    pending = iter(blocks.parse(text))
    block = next(pending, None)
    end = -1
    for mark in find_marks(text):
        if block and mark.start == block.start:
            end = block.end
            yield block.first_line, count.line(end), block
            block = next(pending, None)
        elif mark.start >= end and mark.level and not mark.fenced:
            line = count.line(mark.start)
            yield line, line, mark


def _split_block(lines: list[str], block: Block, name: str, *, by_item: bool) -> Iterator[Passage]:
    """Return the passages of a block. One without a footer is a heading with its text, in which lists are cut."""
    if by_item and not block.at:
        parts = [_add_title(part, block) for part in _split_by_item(lines, block.first_line, block.last_line)]
    else:
        parts = _split_lines(lines, block.first_line, block.last_line)
    hint = f"{name} {' '.join(block.tags)}".strip()
    return (part._replace(key=block.key, tags=block.tags, at=block.at) for part in _add_hint(parts, hint))


def _add_title(part: Passage, block: Block) -> Passage:
    if part.start == block.first_line:  # it has the heading itself
        return part
    return part._replace(hint=f"{block.key} {part.hint}".strip(), lead=f"{block.key} {part.lead}".strip())


def _add_hint(parts: Iterable[Passage], hint: str) -> Iterator[Passage]:
    """Yield passages with a hint before their own: the first with all of it, the others with its start."""
    for number, part in enumerate(parts):
        shared = hint[:_MAX_HINT_CHARS] if number else hint
        yield part._replace(hint=f"{shared} {part.hint}".strip())


def split_record(text: str, record: Record) -> list[Passage]:
    """Return the passages of a record: the lines of its value, also found by key, tags and category. A note of an agent
    that is empty was cleared, and is not found."""
    lines = text.split("\n")
    first = records.find_value_line(text)
    hint = " ".join([record.key, record.category, *record.tags])
    lead = _to_words(record.key)
    is_note = record.scope.kind == "agent"
    parts = _split_lines(lines, first, len(lines)) or ([] if is_note else [Passage(first, first, "")])
    return [
        part._replace(lead=lead, key=record.key, tags=record.tags, at=record.updated_at)
        for part in _add_hint(parts, hint)
    ]


def _to_words(key: str) -> str:
    """Return a key as words: `favourite_editor` as `favourite editor`."""
    return re.sub(r"[-_./]+", " ", key)


def split_skill(text: str, skill: Skill) -> list[Passage]:
    """Return the passages of a skill, also found by its name, description and data; at least one."""
    data = json.dumps(skill.data, ensure_ascii=False) if skill.data else ""
    parts = split_page(text, by_item=False) or _split_long(
        Passage(1, text.count("\n") or 1, _without_pins(text.removesuffix("\n")))
    )
    hint = f"{skill.name} {skill.description} {data}"
    lead = f"{_to_words(skill.name)} {skill.description}"[:_MAX_HINT_CHARS]
    return [part._replace(lead=lead, key=skill.name, at=skill.updated_at) for part in _add_hint(parts, hint)]


def _without_pins(head: str) -> str:
    """Return front matter with each `pinned` line emptied."""
    return _PINNED_FIELD.sub(_keep_line_breaks, head) if "\npinned:" in head else head


def _keep_line_breaks(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def split_transcript(text: str) -> tuple[list[Passage], list[int]]:
    """Return one passage per turn, with its neighbours, and the numbers of the lines that are not JSON."""
    turns, broken = parse_turns(text)
    texts = [turn.text[:_MAX_LINE_CHARS] for turn in turns]
    passages = []
    for number, turn in enumerate(turns):
        before = texts[max(0, number - NEIGHBOUR_TURNS) : number]
        after = texts[number + 1 : number + 1 + NEIGHBOUR_TURNS]
        passage = Passage(
            start=turn.line,
            end=turn.line,
            text=turn.text[:MAX_TURN_CHARS],
            hint=turn.at,
            around="\n".join(before + after),
            lead=_day_in_words(turn.at),
            at=turn.at,
        )
        passages += _split_long(passage)
    return passages, broken


def _day_in_words(at: str) -> str:
    """Return the day of a timestamp as people write it: in an embedding, digits would outweigh the text."""
    if not at[:4].isdigit():
        return at  # it is already in words
    ordinal = parse_day(at)
    day = date.fromordinal(ordinal) if ordinal else None
    return f"{day.day} {day:%B %Y}" if day else ""


def _split_by_item(lines: list[str], first: int, last: int) -> list[Passage]:
    """Return lines `first` to `last` as passages; each item of a list of facts is one.

    Headings and lines that only announce a list are found by the hints of its items.
    """
    last = min(last, len(lines))
    passages: list[Passage] = []
    line = first
    for listing in find_lists(lines, first, last):
        if not all(is_heading_or_intro(text) for text in lines[line - 1 : listing.first - 1]):
            passages += _split_lines(lines, line, listing.first - 1)
        for item in listing.items:
            passages += (
                part._replace(hint=listing.context, lead=listing.context) for part in _split_lines(lines, *item)
            )
        line = listing.last + 1
    return [*passages, *_split_lines(lines, line, last)]


def _split_lines(lines: list[str], first: int, last: int) -> list[Passage]:
    """Return lines `first` to `last` as passages that end at an empty line where possible."""
    passages: list[Passage] = []
    pending: list[int] = []
    size = 0
    is_blank = first <= len(lines) and _is_about_page(lines, first)
    for number in range(first, min(last, len(lines)) + 1):
        line = lines[number - 1]
        length = len(line)
        is_blank = not line.strip() or (is_blank and is_annotation_line(line))  # one that is about the whole page
        is_full = size > TARGET_CHARS if is_blank else size + length > 2 * TARGET_CHARS
        if pending and is_full:
            passages.append(_join_lines(lines, pending))
            pending = []
            size = 0
        if not is_blank:
            pending.append(number)
            size += length
    if pending:
        passages.append(_join_lines(lines, pending))
    return [part for passage in passages if _has_content(passage) for part in _split_long(passage)]


def _is_about_page(lines: list[str], number: int) -> bool:
    """Return whether a line is an annotation of the whole page: it follows an empty line, or another of these."""
    while number and is_annotation_line(lines[number - 1]):
        number -= 1
        if not number or not lines[number - 1].strip():
            return True
    return False


def _split_long(passage: Passage) -> list[Passage]:
    """Return a passage that is far too long as several: a long line would cost memory many times its length."""
    if len(passage.text) <= _MAX_LINE_CHARS:
        return [passage]
    return [passage._replace(text=part) for part in split_line(passage.text, 2 * TARGET_CHARS) if part.strip()]


def _join_lines(lines: list[str], numbers: list[int]) -> Passage:
    first = numbers[0]
    last = numbers[-1]
    return Passage(first, last, "\n".join(lines[first - 1 : last]))


def _has_content(passage: Passage) -> bool:
    """Return whether there is more than the heading of a day or entry, a footer, or a horizontal line."""
    return any(line.strip() and not _FRAME.match(line) for line in strip_annotations(passage.text).split("\n"))


def _is_annotation(line: str) -> bool:
    return bool(line.strip()) and not strip_annotations(line).strip()


def words_to_index(passage: Passage) -> str:
    """Return the text of a passage whose words are found: with its hint, without annotations."""
    return f"{passage.hint} {strip_annotations(passage.text)}"


def shorten_page(text: str, max_chars: int) -> tuple[str, int]:
    """Return a page with its longest parts cut so that at most `max_chars` are left, and how many parts were cut.

    A part begins at a heading. What is cut leaves its line breaks behind.
    """
    if len(text) <= max_chars:
        return text, 0
    starts = [mark.start for mark in find_marks(text) if mark.kind == "heading" and not mark.fenced]
    bounds = sorted({0, *starts, len(text)})
    parts = [text[start:end] for start, end in pairwise(bounds)]
    limit = find_common_limit([len(part) for part in parts], max_chars)
    shortened = [part if len(part) <= limit else _cut(part, limit) for part in parts]
    return "".join(shortened), sum(len(part) > limit for part in parts)


def shorten_transcript(text: str, max_chars: int) -> str:
    """Return the first lines of a transcript. A line longer than a turn may be counts as one that is as long."""
    if len(text) <= max_chars:
        return text
    left = max_chars
    end = 0
    while end < len(text) and left > 0:
        after = text.find("\n", end) + 1 or len(text)
        left -= min(after - end, MAX_TURN_CHARS)
        if left >= 0:
            end = after
    return text[:end]


def find_common_limit(lengths: Sequence[int], total: int) -> int:
    """Return the largest length to which all can be cut so that they fit into `total`."""
    left = total
    count = len(lengths)
    for length in sorted(lengths):
        if length * count > left:
            return left // count
        left -= length
        count -= 1
    return max(lengths, default=0)


def split_line(line: str, max_chars: int) -> list[str]:
    """Return the parts of a long line, cut between two words where there is a space."""
    parts: list[str] = []
    start = 0
    while len(line) - start > max_chars:
        space = line.rfind(" ", start + max_chars // 2, start + max_chars)
        end = space + 1 if space > 0 else start + max_chars
        parts.append(line[start:end])
        start = end
    return [*parts, line[start:]]


def _cut(part: str, length: int) -> str:
    return part[:length] + "\n" * part.count("\n", length)


_FIELDS = ("tags", "tag")
_SEPARATORS = lazy_pattern(r"[,\s]+")
_MAX_TAGS = 50
# As in other Markdown tools: after white space or a bracket, with at least one character that is no digit.
_INLINE = lazy_pattern(r"(?<![^\s(])#(?=[\w/-]*[^\W\d])([\w/-]+)")
_CODE = lazy_pattern(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_FENCE = lazy_pattern(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)")


def read_page_tags(head: str) -> tuple[str, ...]:
    """Return the tags of a front matter: a list, or words with commas or spaces between them; with or without `#`.

    A front matter that cannot be parsed has none.
    """
    if not any(f"{name}:" in head for name in _FIELDS):
        return ()
    try:
        fields = frontmatter.parse(head)
    except CommonplaceError:
        return ()
    words: list[str] = []
    for name in _FIELDS:
        value = fields.get(name)
        words += _SEPARATORS.split(value) if isinstance(value, str) else value if isinstance(value, list) else []
    tags = (tag.strip().removeprefix("#") for tag in words if isinstance(tag, str))
    return tuple(dict.fromkeys(tag for tag in tags if tag))[:_MAX_TAGS]


def find_inline_tags(text: str) -> tuple[str, ...]:
    """Return the tags in a text, `#like-this`, outside of code."""
    if "#" not in text:
        return ()
    prose = _CODE.sub(" ", _FENCE.sub("", text))
    return tuple(dict.fromkeys(match[1].rstrip("/-") for match in _INLINE.finditer(prose)))[:_MAX_TAGS]
