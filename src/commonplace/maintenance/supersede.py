"""Confirm or reject that one statement replaces another: an answer that is kept in the page, and never asked again."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import InvalidArgument, NotFound, Refused
from ..facts.links import add_answer, hash_words, remove_answers
from ..facts.statements import Statement, split_statements
from ..formats.passages import split_transcript
from ..home import Home
from ..model import Page, parse_citation
from ..storage.authors import SUPERSEDE, may_answer
from ..storage.history import as_text, current_origin
from .timeline import parse_moment, read_as_of


class Answered(NamedTuple):
    """What was said to replace what, or not to. `path`: the page on which that is kept."""

    old: str
    new: str
    path: str


class _Cited(NamedTuple):
    """The statements of some lines of a page. Their lines are counted from the page's first, which is 0."""

    page: Page
    statements: tuple[Statement, ...]
    can_hold_answer: bool


def supersede(home: Home, old: str, new: str, *, reject: bool = False) -> Answered:
    """Note that the statement at the citation `new` replaces that at `old`; with `reject`, that it does not.

    The answer is a comment at the end of the newer statement. Where that is not on a page of text, a rejection is put
    at the end of the older one.
    """
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
        """Take away an answer that the text brought with it: history must show that it was given now."""
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
    citation = parse_citation(text)
    if citation is None:
        raise InvalidArgument(f"cite a line as search prints it, such as memory/world/people.md#L3; not {text!r}")
    path = citation.path if citation.as_of else home.find_page(citation.path)
    place = home.layout.place(path)
    if not place or not home.visibility.may_see_page(path):
        raise NotFound(f"there is no page {citation.path} that search may return")
    page = _read_page(home, path, citation.as_of)
    every = _turn_statements(page.text) if place.kind == "session" else _page_statements(page.text)
    statements = [each for each in every if each.first_line < citation.last and each.last_line >= citation.first - 1]
    if not statements:
        raise InvalidArgument(f"{text} has no statement: cite the line that says it")
    is_text = place.kind in ("page", "activity") and not home.layout.is_instruction(path)
    return _Cited(page, tuple(statements), is_text)


def _read_page(home: Home, path: str, as_of: str) -> Page:
    """Return a page as it is, or as it was at the end of a day, where search found it so."""
    if not as_of:
        return home.storage.pages.read(path)
    data = read_as_of(home.storage.history, path, parse_moment(home, as_of, last=True))
    if data is None:
        raise NotFound(f"{path} was not there on {as_of}")
    return Page(path, as_text(data), "")


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
