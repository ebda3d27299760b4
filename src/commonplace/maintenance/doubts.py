"""Doubts: facts that may be outdated, for a person to decide on: replaced, expired, or pinned to a changed file.

Everything is found by the rules of search, among what the agent may see. Answers are stored in pages (`supersede`
and pins), so nothing is asked twice; postponed questions are kept beside the index, and losing those is harmless. A
pin binds lines of a page, or a whole page, to a file of the repository that contains the memory.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, timedelta
from itertools import islice
from typing import Any, Literal, NamedTuple, get_args

from ..errors import CommonplaceError, InvalidArgument, InvalidChoice, NotAvailable, NotFound, OtherAgentsPage, Refused
from ..facts.links import add_answer, hash_words, remove_answers
from ..facts.statements import Statement, find_lines, split_statements
from ..formats import frontmatter
from ..formats.blocks import add_annotation, find_annotatable_lines, find_annotated_lines, is_annotation_line
from ..formats.json_text import parse_object
from ..formats.passages import split_transcript
from ..formats.records import find_value_line
from ..formats.timestamps import format_timestamp, parse_timestamp
from ..framing import quote_line
from ..home import Home
from ..index.base import Index
from ..index.handle import IndexView
from ..index.recalls import name_agent_file
from ..model import Citation, Hit, Page, parse_citation
from ..schema import BOOLEAN, TEXT, check
from ..search.pins import Pin, PinCheck, find_pins, find_placed_pins, parse_target, read_pinned
from ..search.replacements import Replacement
from ..search.shown_lines import ShownText, find_replaced_lines, list_statements
from ..search.validity import describe_validity, find_validity, may_say_validity
from ..storage.authors import SUPERSEDE, may_answer
from ..storage.files import read_own_state, write_file
from ..storage.history import current_origin
from ..wording import count_words
from .timeline import read_cited_page

Kind = Literal["replaced", "over", "stale"]
Answer = Literal["new", "old", "both", "later"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
LATER_DAYS = 7
_MAX_PAGES = 400  # the newest ones
_MAX_PAGE_CHARACTERS = 50_000  # of each, so that a long page does not hide the others
_MAX_STATEMENTS = 4_000  # on all of them, roughly; each is compared with several others
_MAX_REPLACED = 500  # listed at once; the rest is listed once these are decided
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
    at: str  # its day or time; empty if unknown
    author: str


class Doubt(NamedTuple):
    """A fact that may be outdated, why, and how it can be answered. `id` stays the same while both sides do."""

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
    """Return the facts of the newest pages that may be outdated, without postponed ones."""
    texts = [*_read_texts(home)]
    hidden = _read_postponed(home)
    doubts = [*_find_replaced(home, texts), *_find_over(home, texts), *_find_stale(home, texts)]
    return [doubt for doubt in dict.fromkeys(doubts) if doubt.id not in hidden]


def answer_doubt(home: Home, name: str, answer: str) -> Doubt:
    """Store a person's answer to a doubt: `new` or `old` is true, `both` are, or it is asked again `later`."""
    if answer not in ANSWERS:
        raise InvalidChoice("answer", ANSWERS, answer)
    doubt = next((each for each in list_doubts(home) if each.id == name), None)
    if doubt is None:
        raise NotFound(f"there is no open question {name}: `commonplace review` lists them")
    if answer not in doubt.answers:
        raise InvalidArgument(f"{name} can be answered with {' or '.join(doubt.answers)}")
    if answer == "later":
        _postpone(home, doubt)
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
    return f"{count_words(len(doubts), 'fact')} to decide on: {', '.join(parts)}." if doubts else ""


def _read_texts(home: Home) -> Iterator[ShownText]:
    """Yield the texts of the newest pages that may state facts: no sessions, skills, rules and activity logs."""
    left = _MAX_STATEMENTS
    for path, _ in home.visibility.list_pages()[:_MAX_PAGES]:
        place = home.layout.place(path)
        if not place or place.kind not in ("page", "record") or left <= 0:
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
    today = home.today().toordinal()

    def find(index: Index) -> Iterator[Replacement]:
        for start in range(0, len(texts), _PAGES_AT_ONCE):
            batch = texts[start : start + _PAGES_AT_ONCE]
            for each in find_replaced_lines(index, viewer, batch, home.authors.find_of_hits, today).values():
                yield from each

    def answer(view: IndexView) -> list[Replacement]:
        doubtful = (each for each in find(view.index) if each.link.kind not in ("confirmed", "done"))
        return [*islice(doubtful, _MAX_REPLACED)]

    for each in home.index.query(answer):
        name = f"{hash_words(each.older.statement.words)}{hash_words(each.newer.statement.words)}"
        older = each.older.statement._replace(first_line=0, last_line=0)
        sides = (_make_side(home, each.older.hit, older), _make_side(home, each.newer.hit, each.newer.statement))
        yield Doubt(name, "replaced", each.link.reason, *sides)


def _make_side(home: Home, hit: Hit, statement: Statement) -> Side:
    first, last = find_lines(hit, statement)
    (origin,) = home.authors.find([(hit.path, first, last)])
    return Side(str(Citation(hit.path, first, last)), statement.text, hit.at or origin.at, origin.author)


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


# Postponed doubts.


def _postponed_path(home: Home) -> str:
    """Return where the agent's own list is; empty for a database."""
    folder = home.storage.cache_folder
    return os.path.join(folder, name_agent_file("review", home.agent, ".json")) if folder else ""


def _read_postponed(home: Home) -> dict[str, str]:
    """Return the postponed doubts, each with the moment from which it is shown again."""
    path = _postponed_path(home)
    now = format_timestamp(home.clock())
    later = parse_object(read_own_state(path)) or {}
    return {name: str(until) for name, until in later.items() if str(until) > now}


def _postpone(home: Home, doubt: Doubt) -> None:
    path = _postponed_path(home)
    if not path:
        return  # a database has no such file: it is asked again
    until = format_timestamp(home.clock().astimezone(UTC) + timedelta(days=LATER_DAYS))
    write_file(path, json.dumps(_read_postponed(home) | {doubt.id: until}).encode())


class Answered(NamedTuple):
    """Which statement replaces which, or does not. `path`: the page with the answer."""

    old: str
    new: str
    path: str


class _Cited(NamedTuple):
    """The statements of some lines of a page. Their lines are counted from the page's first, which is 0."""

    page: Page
    statements: tuple[Statement, ...]
    can_hold_answer: bool


def supersede(home: Home, old: str, new: str, *, reject: bool = False) -> Answered:
    """Record that the statement at the citation `new` replaces that at `old`; with `reject`, that it does not.

    The answer is a comment at the end of the newer statement. If that is not on a page of text, a rejection goes to the
    end of the older one.
    """
    check(BOOLEAN, reject, "reject")
    if not may_answer(current_origin()):
        advice = "ask a person, or use a token for all agents"
        raise Refused("a token for single agents cannot say what replaces what", advice=advice)
    older = _find_cited(home, old)
    newer = _find_cited(home, new)
    if {each.words for each in older.statements} & {each.words for each in newer.statements}:
        raise InvalidArgument("both say the same: cite the older statement first, then the one that replaces it")
    holder, other = (newer, older) if newer.can_hold_answer or not reject else (older, newer)
    if not holder.can_hold_answer:
        raise InvalidArgument(
            f"{holder.page.path} is not a page of text, which an answer can be added to: remember the newer statement "
            "first, and cite that"
        )
    names = [hash_words(each.words) for each in other.statements]
    anchor = holder.statements[-1]

    def find_line(text: str) -> int:
        line = _find_line(text, anchor)
        if line is None:
            raise NotFound(f"{holder.page.path} has changed in the meantime: search again, and cite what it says now")
        return line

    def add(text: str) -> str:
        return add_answer(text, find_line(text), names, is_rejection=reject)

    def remove_unless_new(text: str) -> str:
        """Remove an answer that came with the text: history must show that it was given now."""
        return remove_answers(text, find_line(text), names) if add(text) == text else text

    with home.writer.call(SUPERSEDE, why=" ".join(names)):
        if not reject:
            _take_back_opposite(home, older, newer)
        home.writer.edit(holder.page.path, remove_unless_new)
        home.writer.edit(holder.page.path, add)
    return Answered(_quote(older), _quote(newer), holder.page.path)


def _take_back_opposite(home: Home, older: _Cited, newer: _Cited) -> None:
    """Remove the answer that the older statement replaces the newer one, so that each has one successor."""
    names = {hash_words(each.words) for each in newer.statements}
    for each in older.statements:
        if not names & each.answers.confirmed:
            continue

        def change(text: str, statement: Statement = each) -> str:
            line = _find_line(text, statement)
            return text if line is None else remove_answers(text, line, names)

        home.writer.edit(older.page.path, change)


def _find_cited(home: Home, text: str) -> _Cited:
    """Return the statements at a citation; NotFound or InvalidArgument if there is none."""
    citation = parse_citation(check(TEXT, text, "a citation"))
    if citation is None:
        raise InvalidArgument(f"cite a line as search prints it, such as memory/world/people.md#L3; not {text!r}")
    path = citation.path if citation.as_of else home.find_page(citation.path)
    place = home.layout.place(path)
    if not place or not home.visibility.may_see_page(path):
        raise NotFound(f"there is no page {citation.path} that search may return")
    page = read_cited_page(home, path, citation.as_of) if citation.as_of else home.storage.pages.read(path)
    every = _turn_statements(page.text) if place.kind == "session" else _page_statements(page.text)
    statements = [each for each in every if each.first_line < citation.last and each.last_line >= citation.first - 1]
    if not statements:
        raise InvalidArgument(f"{text} has no statement: cite the line that says it")
    is_text = place.kind in ("page", "activity") and not home.layout.is_instruction(path)
    return _Cited(page, tuple(statements), is_text)


def _page_statements(text: str) -> list[Statement]:
    """Return the statements of a whole page, paragraph by paragraph, with the lines of the page."""
    statements: list[Statement] = []
    first = 0
    for paragraph in text.split("\n\n"):
        for each in split_statements(paragraph):
            statements.append(each._replace(first_line=each.first_line + first, last_line=each.last_line + first))
        first += paragraph.count("\n") + 2
    return statements


def _turn_statements(text: str) -> list[Statement]:
    """Return the statements of the turns of a session; each turn is one line."""
    turns = split_transcript(text)[0]
    return [
        each._replace(first_line=turn.start - 1, last_line=turn.start - 1)
        for turn in turns
        for each in split_statements(turn.text, is_turn=True)
    ]


def _find_line(text: str, statement: Statement) -> int | None:
    """Return the last line of a statement on a page, which may have moved since it was read."""
    lines = [each.last_line for each in _page_statements(text) if each.words == statement.words]
    return min(lines, key=lambda line: abs(line - statement.last_line), default=None)


def _quote(cited: _Cited) -> str:
    """Return the statements of a citation, each on a line of its own."""
    return "\n".join(each.text for each in cited.statements)


_COMMENT = "<!-- pinned: {} -->"
IsMeant = Callable[[int | None], bool]  # takes the line a pin is about, from 0; None is the whole page


class PinnedPlace(NamedTuple):
    """Where a pin was written, or removed, and the pin."""

    path: str
    line: int  # the first that is pinned, counted from 1; 0: the whole page
    pin: Pin


def pin_page(home: Home, place: str, target: str) -> PinnedPlace:
    """Pin a page, or lines of it like `page.md#L3`, to a file or a symbol of it, as they are now.

    A pin of the same lines to the same file is replaced. Raises NotFound if there is no such page, line, file or
    symbol.
    """
    if home.repository is None:
        raise NotAvailable(
            "this memory is not in a git repository: a note can only be pinned to files of the repository it is in"
        )
    pin = parse_target(target)
    pin = pin._replace(fingerprint=home.repository.fingerprint(pin.path, pin.symbol))
    citation = _find_citation(home, place)
    path = citation.path
    takes_comments = _takes_comments(home, path)
    has_lines = takes_comments and citation.first > 0
    lines = _choose_lines(home.storage.pages.read(path).text, citation) if has_lines else []

    def change(text: str) -> str:
        if not has_lines:
            text = _remove_pin(text, pin.target, _is_page)
            return _add_footer(text, pin) if takes_comments else _add_field(text, pin)
        numbers = _choose_lines(text, citation)
        return _add_comments(_remove_pin(text, pin.target, numbers.__contains__), numbers, pin)

    with home.writer.call("pin", why=pin.target):
        home.writer.edit(path, change)
    return PinnedPlace(path, lines[0] + 1 if lines else 0, pin)


def unpin_page(home: Home, place: str, target: str) -> PinnedPlace:
    """Remove the pins of a page, or of lines of it, to a file or a symbol; NotFound if there are none."""
    pin = parse_target(target)
    citation = _find_citation(home, place)
    is_whole = not citation.first or not _takes_comments(home, citation.path)

    def change(text: str) -> str:
        numbers = [] if is_whole else _choose_lines(text, citation)
        return _remove_pin(text, pin.target, lambda about: is_whole or about in numbers)

    text = home.storage.pages.read(citation.path).text
    if change(text) == text:
        raise NotFound(f"{place} is not pinned to {pin.target}")
    with home.writer.call("pin", why=f"no longer {pin.target}"):
        home.writer.edit(citation.path, change)
    return PinnedPlace(citation.path, 0 if is_whole else citation.first, pin)


def describe_stale_pins(home: Home, path: str, text: str) -> list[str]:
    """Return what happened to the files that a page is pinned to, such as `src/auth.py changed since`."""
    repository = home.repository
    if repository is None:
        return []
    pins = find_pins(text, read_pinned(frontmatter.split(text)[0]), repository.folder_of(path))
    changes = map(PinCheck(repository).describe_change, pins)
    return [quote_line(change) for change in changes if change]


def _find_citation(home: Home, place: str) -> Citation:
    """Return the page and the lines that are pinned; line 0 for a whole page."""
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
    """Return whether lines of a page can have comments: the body of a record is its value alone."""
    place = home.layout.place(path)
    return place is not None and place.kind not in ("record", "skill")


def _choose_lines(text: str, citation: Citation) -> list[int]:
    """Return the cited lines, counted from 0, that can have a comment; under a heading, the first line of text."""
    count = text.count("\n") + 1
    first_body_line = frontmatter.split(text)[0].count("\n")
    able = [line for line in find_annotatable_lines(text) if line >= first_body_line]
    cited = [line for line in able if citation.first - 1 <= line < citation.last]
    if not cited and 0 < citation.first <= count and text.split("\n")[citation.first - 1].strip():
        cited = [line for line in able if line >= citation.first][:1]
    if not cited:
        raise InvalidArgument(f"{citation.path} has no text on line {citation.first}")
    return cited


def _is_page(about: int | None) -> bool:
    return about is None


def _add_comments(text: str, numbers: list[int], pin: Pin) -> str:
    lines = text.split("\n")
    for number in numbers:
        lines[number] = add_annotation(lines[number], _COMMENT.format(pin))
    return "\n".join(lines)


def _add_footer(text: str, pin: Pin) -> str:
    """Return a page that is pinned as a whole: a comment at its end, after an empty line, moves no other line."""
    body = text.rstrip("\n")
    has_footer = any(about is None and line == body.rpartition("\n")[2] for about, line in find_annotated_lines(body))
    return f"{body}{chr(10) if has_footer else chr(10) * 2}{_COMMENT.format(pin)}\n"


def _add_field(text: str, pin: Pin) -> str:
    head, body = frontmatter.split(text)
    return frontmatter.edit(head, {"pinned": [*read_pinned(head), str(pin)]}) + body


def _remove_pin(text: str, target: str, is_meant: IsMeant) -> str:
    """Return a page without the pins of certain lines to a file or symbol."""
    head, body = frontmatter.split(text)
    pinned = read_pinned(head) if is_meant(None) else []
    others = [item for item in pinned if item.partition(" ")[0] != target]
    if others != pinned:
        head = frontmatter.edit(head, {"pinned": others or None})
    comment = re.compile(rf" ?<!-- pinned: {re.escape(target)}(?: [0-9a-f]{{16}})? -->")
    remaining: list[str] = []
    about: int | None = None
    for number, line in enumerate((head + body).split("\n")):
        if not is_annotation_line(line):
            about = number if line.strip() else None
        rest = comment.sub("", line) if is_meant(about) else line
        if rest.strip() or rest == line:
            remaining.append(rest)
    return _drop_blank_end("\n".join(remaining), text)


def _drop_blank_end(text: str, before: str) -> str:
    """Return a page without the empty line before a removed comment that was its last line."""
    ends = (is_annotation_line(each.rstrip("\n").rpartition("\n")[2]) for each in (text, before))
    return f"{text.rstrip()}\n" if [*ends] == [False, True] else text
