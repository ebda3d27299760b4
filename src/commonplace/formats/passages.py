"""A page cut into passages: whole blocks, entries and paragraphs, each with the lines it stands on.

A passage's `text` is exactly those lines of the page, so that reading the lines gives the hit back. What a reader
of the lines can not see but a searcher may ask for (the key, the headings above, the date) goes into `hint`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date

from ..model import Block, Passage, Record, Skill
from . import blocks, frontmatter, records
from . import transcripts as sessions
from .scanner import LineCounter, Mark, marks
from .timestamps import day_of

_FRAME = re.compile(r"# \d{4}-\d\d-\d\d\s*$|## \d\d:\d\d\s*$|<!-- agentool-memory:|\s*(?:[-*_]\s*){3,}$")
_DAY = re.compile(r"\d{4}[- ]\d\d[- ]\d\d\b")
_TIME = re.compile(r"\d\d:\d\d")
_STAMP = re.compile(rf"{_DAY.pattern}|{_TIME.pattern}")  # says when, not what
BESIDE = 2  # turns on either side that help to find a turn: an answer rarely repeats the words of its question
TARGET = 900  # characters: small enough to point at one thought, large enough to hold it


def of_page(text: str, name: str = "") -> list[Passage]:
    """The passages of a hand-written, daily or summary page. `name` is what the page is called."""
    lines = text.split("\n")
    out: list[Passage] = []
    trail: list[Mark] = []
    here = frontmatter.split(text)[0].count("\n") + 1
    for first, after, what in [*_landmarks(text), (len(lines) + 1, len(lines) + 1, None)]:
        titles = [mark.title for mark in trail]
        hint, at = " ".join([name, *titles]).strip(), _moment(name, titles)
        lead = " ".join(title for title in titles if not _STAMP.fullmatch(title))
        out += (part._replace(hint=hint, lead=lead, at=at) for part in _cut(lines, here, first - 1))
        if isinstance(what, Block):
            out += _of_block(lines, what, name)
        elif what:
            trail = [*(mark for mark in trail if mark.level < what.level), what]
        here = after
    return out


def _moment(name: str, titles: list[str]) -> str:
    """When an entry of a day was written: the day is the page's name or its first heading, the time the last one."""
    day = next((found[0] for title in (name, *titles) if (found := _DAY.match(title))), "")
    day = day.replace(" ", "-")
    return f"{day}T{titles[-1]}" if day and titles and _TIME.fullmatch(titles[-1]) else day


def meant(lead: str, text: str) -> str:
    """A passage as its meaning is read: what stands above it, and its lines without stamps and footers."""
    lines = [line for line in text.split("\n") if not _FRAME.match(line)]
    return "\n".join([lead, *lines] if lead else lines)


def _landmarks(text: str) -> Iterator[tuple[int, int, Block | Mark]]:
    """The keyed blocks and the headings between them: the line each starts on, and the line reading goes on from."""
    count = LineCounter(text)
    pending = iter(blocks.read(text))
    block = next(pending, None)
    end = -1
    for mark in marks(text):
        if mark.start < end or mark.fenced or mark.kind == "footer":
            continue
        if block and mark.start >= block.start:
            end = block.end
            yield block.first_line, count.line(end), block
            block = next(pending, None)
        else:
            yield (line := count.line(mark.start)), line, mark


def _of_block(lines: list[str], block: Block, name: str) -> Iterator[Passage]:
    parts = _cut(lines, block.first_line, block.last_line)
    hint = f"{name} {' '.join(block.tags)}".strip()
    return (part._replace(hint=hint, key=block.key, tags=block.tags, at=block.at) for part in parts)


def of_record(text: str, record: Record) -> list[Passage]:
    """The passages of a keyed record: the value's lines, found by key, tags and category as well."""
    lines = text.split("\n")
    first = records.value_line(text)
    hint = " ".join([record.key, record.category, *record.tags])
    parts = _cut(lines, first, len(lines)) or [Passage(first, first, "")]
    lead, key, tags, at = _spoken(record.key), record.key, record.tags, record.updated_at
    return [part._replace(hint=hint, lead=lead, key=key, tags=tags, at=at) for part in parts]


def _spoken(key: str) -> str:
    """A key as words: `favourite_editor` means what `favourite editor` does."""
    return re.sub(r"[-_./]+", " ", key)


def of_skill(text: str, skill: Skill) -> list[Passage]:
    """The passages of a skill's page, found by its name, description and data as well, even when it says no more."""
    data = json.dumps(skill.data, ensure_ascii=False) if skill.data else ""
    parts = of_page(text) or [Passage(1, text.count("\n") or 1, text.removesuffix("\n"))]
    hint, lead = f"{skill.name} {skill.description} {data}", f"{_spoken(skill.name)} {skill.description}"
    key, at = skill.name, skill.updated_at
    return [part._replace(hint=f"{hint} {part.hint}", lead=lead, key=key, at=at) for part in parts]


def of_session(text: str) -> tuple[list[Passage], list[int]]:
    """One passage a turn, with the turns around it; and the numbers of the lines that are not JSON."""
    found, broken = sessions.turns(text)
    said = [turn.said for turn in found]
    passages = []
    for number, turn in enumerate(found):
        around = said[max(0, number - BESIDE) : number] + said[number + 1 : number + 1 + BESIDE]
        passages.append(
            Passage(turn.line, turn.line, turn.said, turn.at, "\n".join(around), _spoken_day(turn.at), at=turn.at)
        )
    return passages, broken


def _spoken_day(at: str) -> str:
    """A moment as people say it: the digits of a stamp would drown what was said."""
    if not at[:4].isdigit():
        return at  # said already
    day = day_of(at)
    said = date.fromordinal(day) if day else None
    return f"{said.day} {said:%B %Y}" if said else ""


def _cut(lines: list[str], first: int, last: int) -> list[Passage]:
    """Lines first..last as passages that end at an empty line where they can."""
    out: list[Passage] = []
    held: list[int] = []
    size = 0
    for number in range(first, min(last, len(lines)) + 1):
        blank = not lines[number - 1].strip()
        full = size > TARGET if blank else size + len(lines[number - 1]) > 2 * TARGET
        if held and full:
            out.append(_passage(lines, held))
            held, size = [], 0
        if not blank:
            held.append(number)
            size += len(lines[number - 1])
    if held:
        out.append(_passage(lines, held))
    return [passage for passage in out if _says_something(passage)]


def _passage(lines: list[str], held: list[int]) -> Passage:
    return Passage(held[0], held[-1], "\n".join(lines[held[0] - 1 : held[-1]]))


def _says_something(passage: Passage) -> bool:
    """The date over a day, the footer under a block and a line across the page are not worth finding by themselves."""
    return any(line.strip() and not _FRAME.match(line) for line in passage.text.split("\n"))
