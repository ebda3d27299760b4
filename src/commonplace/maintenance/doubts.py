"""Doubts: facts that may not hold, for a person to decide on: replaced by a newer one, over, or their file changed.

Everything is found by the rules of search, among what the agent may see. Answers are kept in pages (`supersede.py`,
`pins.py`); only what is to be asked later is kept beside the index, and losing that loses nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, timedelta
from itertools import islice
from typing import Any, Literal, NamedTuple, get_args

from ..errors import CommonplaceError, InvalidArgument, InvalidChoice, NotFound
from ..facts.links import hash_words
from ..facts.statements import find_lines
from ..facts.versions import CONFIRMED, DONE_TASK
from ..formats.records import find_value_line
from ..formats.timestamps import format_timestamp, parse_timestamp
from ..home import Home
from ..index.base import Index
from ..index.handle import IndexView
from ..index.recalls import name_agent_file
from ..model import Citation, Hit
from ..search.pins import PinCheck, find_placed_pins
from ..search.replacements import Place, Replacement
from ..search.shown_lines import ShownText, find_replaced_lines, list_statements
from ..search.validity import describe_validity, find_validity, may_say_validity
from ..storage.authors import Provenance
from ..storage.files import write_file
from .pins import pin_page
from .supersede import supersede

Kind = Literal["replaced", "over", "stale"]
Answer = Literal["new", "old", "both", "later"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
LATER_DAYS = 7
_MAX_PAGES = 400  # the newest, which are looked at
_MAX_PAGE_CHARACTERS = 50_000  # of one of them, so that a long page does not hide the others
_MAX_STATEMENTS = 4_000  # of all of them, about; each is compared with several others
_MAX_REPLACED = 500  # that are listed: whoever decides on them sees the rest afterwards
_PAGES_AT_ONCE = 40
_STATEMENT_END = re.compile(r"[.!?;]\s|[。！？]|\S\n")
_WORDS: dict[Kind, tuple[str, str]] = {
    "replaced": ("has a newer version", "have a newer version"),
    "over": ("is over", "are over"),
    "stale": ("has a file that changed", "have files that changed"),
}
_ANSWERS_OF: dict[Kind, tuple[Answer, ...]] = {"replaced": ANSWERS, "over": ("later",), "stale": ("old", "later")}


class Side(NamedTuple):
    """A statement that is in doubt, or the one that it is compared with."""

    citation: str
    text: str
    at: str  # its day or time; empty where nothing tells
    author: str


class Doubt(NamedTuple):
    """A fact that may not hold, why, and how it can be answered. `id` stays the same while both sides do."""

    id: str
    kind: Kind
    reason: str
    older: Side
    newer: Side | None = None
    target: str = ""  # the file of a pin

    @property
    def answers(self) -> tuple[Answer, ...]:
        return _ANSWERS_OF[self.kind]


def list_doubts(home: Home) -> list[Doubt]:
    """Return the facts of the newest pages that may not hold, without those that are to be asked later."""
    texts = [*_read_texts(home)]
    hidden = _read_later(home)
    doubts = [*_find_replaced(home, texts), *_find_over(home, texts), *_find_stale(home, texts)]
    return [doubt for doubt in dict.fromkeys(doubts) if doubt.id not in hidden]


def answer_doubt(home: Home, name: str, answer: str) -> Doubt:
    """Keep what a person says of a doubt: `new` or `old` holds, `both` do, or it is asked again `later`."""
    if answer not in ANSWERS:
        raise InvalidChoice("answer", ANSWERS, answer)
    doubt = next((each for each in list_doubts(home) if each.id == name), None)
    if doubt is None:
        raise NotFound(f"there is no open question {name}: `commonplace review` lists them")
    if answer not in doubt.answers:
        raise InvalidArgument(f"{name} can be answered with {' or '.join(doubt.answers)}")
    if answer == "later":
        _keep_later(home, doubt)
    elif doubt.kind == "stale":
        pin_page(home, doubt.older.citation, doubt.target)
    elif doubt.newer:
        sides = (doubt.newer, doubt.older) if answer == "old" else (doubt.older, doubt.newer)
        supersede(home, sides[0].citation, sides[1].citation, reject=answer == "both")
    return doubt


def describe_doubt(doubt: Doubt) -> dict[str, Any]:
    """Return a doubt as JSON."""
    newer = doubt.newer._asdict() if doubt.newer else None
    row = {"id": doubt.id, "kind": doubt.kind, "reason": doubt.reason, "older": doubt.older._asdict(), "newer": newer}
    return {**row, "answers": [*doubt.answers]}


def summarize_doubts(doubts: Sequence[Doubt]) -> str:
    """Return how many facts are in doubt, in words: `2 facts to decide on: 1 has a newer version, 1 is over.`"""
    kinds = [doubt.kind for doubt in doubts]
    parts: list[str] = []
    for kind, (one, many) in _WORDS.items():
        if kind in kinds:
            parts.append(f"{kinds.count(kind)} {one if kinds.count(kind) == 1 else many}")
    facts = "1 fact" if len(doubts) == 1 else f"{len(doubts)} facts"
    return f"{facts} to decide on: {', '.join(parts)}." if doubts else ""


def _read_texts(home: Home) -> Iterator[ShownText]:
    """Yield the texts of the newest pages that may state facts: no sessions, skills and rules."""
    left = _MAX_STATEMENTS
    for path, _ in home.visibility.list_pages()[:_MAX_PAGES]:
        place = home.layout.place(path)
        if not place or place.kind not in ("page", "record", "activity") or left <= 0:
            continue
        with suppress(CommonplaceError):
            text = home.storage.pages.read(path).text[:_MAX_PAGE_CHARACTERS]
            left -= 1 + len(_STATEMENT_END.findall(text))
            first = find_value_line(text) if place.kind == "record" else 1
            yield ShownText(path, first, "\n".join(text.split("\n")[first - 1 :]))


def _find_replaced(home: Home, texts: Sequence[ShownText]) -> Iterator[Doubt]:
    if not home.search_settings.enabled:
        return
    viewer = home.visibility.viewer()

    def find_origins(hits: Sequence[Hit]) -> Sequence[Provenance]:
        return home.authors.find([(hit.path, hit.start, hit.end) for hit in hits])

    def find(index: Index) -> Iterator[Replacement]:
        for start in range(0, len(texts), _PAGES_AT_ONCE):
            some = texts[start : start + _PAGES_AT_ONCE]
            for each in find_replaced_lines(index, viewer, some, find_origins).values():
                yield from each

    def answer(view: IndexView) -> list[Replacement]:
        doubtful = (each for each in find(view.index) if each.link.kind not in (CONFIRMED, DONE_TASK))
        return [*islice(doubtful, _MAX_REPLACED)]

    for each in home.index.query(answer):
        name = f"{hash_words(each.older.statement.words)}{hash_words(each.newer.statement.words)}"
        older = each.older._replace(statement=each.older.statement._replace(first_line=0, last_line=0))
        yield Doubt(name, "replaced", each.link.reason, _make_side(home, older), _make_side(home, each.newer))


def _make_side(home: Home, place: Place) -> Side:
    hit = place.hit
    first, last = find_lines(hit, place.statement)
    (origin,) = home.authors.find([(hit.path, first, last)])
    return Side(str(Citation(hit.path, first, last)), place.statement.text, hit.at or origin.at, origin.author)


def _find_over(home: Home, texts: Sequence[ShownText]) -> Iterator[Doubt]:
    today = home.today().toordinal()
    for text in texts:
        if not may_say_validity(text.text):
            continue
        for first, last, statement, _ in list_statements(text.text):
            if not may_say_validity(statement.text):
                continue
            side = _cite(home, text, first, last, statement.text)
            moment = parse_timestamp(side.at)
            validity = find_validity(
                statement.text, text.day or (moment.astimezone(home.zone).toordinal() if moment else None)
            )
            if validity.is_over(today):
                reason = describe_validity("", validity.valid_until, "over")
                yield Doubt(f"{'0' * 8}{hash_words(statement.words)}", "over", reason, side)


def _cite(home: Home, text: ShownText, first: int, last: int, words: str) -> Side:
    span = (text.path, text.first + first, text.first + last)
    (origin,) = home.authors.find([span])
    at = str(date.fromordinal(text.day)) if text.day else origin.at
    return Side(str(Citation(*span)), words, at, origin.author)


def _find_stale(home: Home, texts: Sequence[ShownText]) -> Iterator[Doubt]:
    repository = home.repository
    if repository is None:
        return
    for text in texts:
        lines = text.text.split("\n")
        check = PinCheck(repository)
        for line, pin in find_placed_pins(text.text, check.folder_of(text.path)):
            change = check.describe_change(pin) if pin.fingerprint else ""
            if change:
                words = lines[line].partition(" <!--")[0].strip() if line is not None else text.path
                side = _cite(home, text, line or 0, line or 0, words)
                name = hash_words((text.path, words, pin.target))
                yield Doubt(f"{'f' * 8}{name}", "stale", change, side, target=pin.target)


# What is asked later.


def _later_path(home: Home) -> str:
    """Return where the agent's own list is; empty for a database."""
    folder = home.storage.cache_folder
    return os.path.join(folder, name_agent_file("review", home.agent, ".json")) if folder else ""


def _read_later(home: Home) -> dict[str, str]:
    """Return the doubts that are hidden, each with the moment until which it is."""
    path = _later_path(home)
    now = format_timestamp(home.clock())
    with suppress(OSError, ValueError, AttributeError), open(path, encoding="utf-8") as file:
        return {str(name): str(until) for name, until in json.load(file).items() if str(until) > now}
    return {}


def _keep_later(home: Home, doubt: Doubt) -> None:
    path = _later_path(home)
    if not path:
        return  # in a database: it is asked again
    until = format_timestamp(home.clock().astimezone(UTC) + timedelta(days=LATER_DAYS))
    write_file(path, json.dumps(_read_later(home) | {doubt.id: until}).encode())
