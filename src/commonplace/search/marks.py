"""What the text of a hit does not say: marks where it may not be true now, and the headings above it.

A marked hit is expired or not yet valid, pinned to a file that changed since, or learned on another git branch. Only
hits that are shown are examined. Hits that are expired, not yet valid, or of another branch are ranked down, and hits
of the current branch up, unless the query is about the past.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..facts.statements import (
    Statement,
    choose_from_text,
    choose_statements,
    find_statements_at,
    list_sentences,
    query_stems,
    read_statements,
)
from ..formats.passages import titles_above
from ..formats.timestamps import parse_day, parse_timestamp
from ..model import Hit, Query
from ..storage.base import Storage
from ..storage.records import read_texts
from .dates import asks_about_past
from .pins import Pin, PinCheck, PlacedPin, Repository, find_pins, find_placed_pins, read_pinned
from .replacements import RankedHit
from .scoring import ScoredHit
from .validity import (
    ALWAYS,
    Validity,
    describe_validity,
    find_line_fields,
    find_validity,
    may_be_limited,
    may_say_validity,
    read_fields,
)

if TYPE_CHECKING:
    from ..storage.authors import Provenance
    from .pipeline import Searchable

_INVALID_SHARE = 0.6  # of the score of a hit that is over, or ahead, or of another branch
_OWN_BRANCH_SHARE = 1.2  # what was learned on the current branch is preferred
FindDay = Callable[[str], int | None]  # the day of a timestamp in the memory's time zone


def mark_hits(
    home: Searchable, ranked: Sequence[RankedHit], origins: Sequence[Provenance], query: Query
) -> list[RankedHit]:
    """Return the hits with their marks: expired or not yet valid, pinned to a file that changed since, or
    learned on another branch."""
    day = query.filters.as_of

    def find_day(at: str) -> int | None:
        moment = parse_timestamp(at)
        return moment.astimezone(home.zone).toordinal() if moment else None

    repository = home.repository if day is None else None
    if repository:
        ranked = mark_stale(ranked, origins, query, repository)
    ranked = [(row, _mark_branch(hit, origin)) for (row, hit), origin in zip(ranked, origins, strict=True)]
    return mark_validity(ranked, origins, query, day or query.today, find_day)


def mark_validity(
    ranked: Sequence[RankedHit], origins: Sequence[Provenance], query: Query, today: int, find_day: FindDay
) -> list[RankedHit]:
    """Return the hits with the days from and until which each is valid; what is not valid today is ranked down."""
    asked = query_stems(query.text)
    marked: list[RankedHit] = []
    for (row, hit), origin in zip(ranked, origins, strict=True):
        validity = _find_validity(row, origin, asked, find_day)
        marked.append((row, _mark(hit, validity, today) if validity != ALWAYS else hit))
    shares = [_find_share(hit, origin) for (_, hit), origin in zip(marked, origins, strict=True)]
    if {*shares} <= {1} or query.filters.as_of is not None or asks_about_past(query.text):
        return marked
    return _rank_by_share(marked, shares)


def _find_validity(row: ScoredHit, origin: Provenance, asked: frozenset[str], find_day: FindDay) -> Validity:
    """Return what a hit says of itself: in its lines, in the front matter of its page, or in the words that were asked
    for. Days are as seen from the day of the entry, or else from when its lines were written."""
    page = read_fields(origin.head)
    if not may_be_limited(row.days):
        return page
    hit = row.hit
    fields = find_line_fields(hit.text)
    if not fields and (page != ALWAYS or not may_say_validity(hit.text)):
        return page
    day = parse_day(hit.at) if hit.at else find_day(origin.at)
    if not fields and not _says_validity(hit, day):
        return page

    def read(statement: Statement) -> Validity:
        numbers = range(statement.first_line, statement.last_line + 1)
        stated = next((fields[number] for number in numbers if number in fields), ALWAYS)
        if stated == page == ALWAYS:
            return find_validity(statement.text, day)
        return Validity(stated.first or page.first, stated.last or page.last)

    spans = map(read, choose_from_text(hit.text, asked, is_turn=hit.source == "session"))
    first = next(spans, page)
    return first if all(span == first for span in spans) else page


def _says_validity(hit: Hit, day: int | None) -> bool:
    """Return whether any sentence of a hit may say until when it holds: this takes less time than reading its
    statements."""
    for sentence in list_sentences(hit.text, is_turn=hit.source == "session"):
        if may_say_validity(sentence) and ("; " in sentence or find_validity(sentence, day) != ALWAYS):
            return True
    return False


def _mark(hit: Hit, validity: Validity, today: int) -> Hit:
    state = "over" if validity.is_over(today) else "ahead" if validity.is_ahead(today) else ""
    return hit._replace(valid_from=validity.valid_from, valid_until=validity.valid_until, validity=state)


def _mark_branch(hit: Hit, origin: Provenance) -> Hit:
    if origin.where != "elsewhere":
        return hit
    return hit._replace(stale="; ".join(filter(None, (hit.stale, describe_branch(origin.branch)))))


def describe_branch(branch: str) -> str:
    return f"learned on the branch {branch}"


def _find_share(hit: Hit, origin: Provenance) -> float:
    """Return the factor for the score of a hit."""
    if hit.validity or origin.where == "elsewhere":
        return _INVALID_SHARE
    return _OWN_BRANCH_SHARE if origin.where == "here" else 1


def _rank_by_share(marked: Sequence[RankedHit], shares: Sequence[float]) -> list[RankedHit]:
    """Change the scores of hits, and sort: what was replaced stays below what replaced it."""
    weighed = [
        (row, hit._replace(score=round(min(1, hit.score * share), 4)))
        for (row, hit), share in zip(marked, shares, strict=True)
    ]
    return sorted(weighed, key=_score_of, reverse=True)


def _score_of(ranked: RankedHit) -> float:
    return ranked[1].score


def describe_marks(hit: Hit) -> str:
    """Return the marks of a hit in words: `until 12 May 2026: over; src/auth.py changed since`."""
    return "; ".join(filter(None, (describe_validity(hit.valid_from, hit.valid_until, hit.validity), hit.stale)))


def mark_stale(
    ranked: Sequence[RankedHit], origins: Sequence[Provenance], query: Query, repository: Repository
) -> list[RankedHit]:
    """Return the hits with what has happened to the files that they are pinned to."""
    asked = query_stems(query.text)
    check = PinCheck(repository)
    pairs = zip(ranked, origins, strict=True)
    return [(row, _mark_stale(hit, row.hit.text, origin, asked, check)) for (row, hit), origin in pairs]


def _mark_stale(hit: Hit, text: str, origin: Provenance, asked: frozenset[str], check: PinCheck) -> Hit:
    pins = find_pins(origin.comments, read_pinned(origin.head))
    if "pinned:" in text or "](" in text:
        pins += _choose_pins(text, find_placed_pins(text, check.folder_of(hit.path)), asked)
    stale = "; ".join(filter(None, map(check.describe_change, dict.fromkeys(pins))))
    return hit._replace(stale=stale) if stale else hit


def _choose_pins(text: str, placed: Sequence[PlacedPin], asked: frozenset[str]) -> list[Pin]:
    """Return the pins of the lines that have most words of the query; of lines that say nothing, those, too."""
    statements = read_statements(text)
    chosen = choose_statements(statements, asked)
    pins: list[Pin] = []
    for line, pin in placed:
        about = [] if line is None else find_statements_at(statements, line)
        if not about or any(each in chosen for each in about):
            pins.append(pin)
    return pins


# Headings above a hit that does not begin with one, such as a list item: they say what the item is about.

_MAX_PAGE_CHARACTERS = 200_000  # of a page in which headings are looked for
_MAX_HEADING_CHARACTERS = 120


def find_headings(storage: Storage, hits: Sequence[Hit]) -> list[str]:
    """Return the headings above each hit, as `People > Former`; empty if the hit has a heading or a key."""
    wanted = [hit for hit in hits if _lacks_heading(hit)]
    texts = read_texts(storage.pages, (hit.path for hit in wanted))
    return [_list_headings(texts.get(hit.path, ""), hit) if hit in wanted else "" for hit in hits]


def _lacks_heading(hit: Hit) -> bool:
    return hit.source == "memory" and not hit.key and not hit.as_of and not hit.text.lstrip().startswith("#")


def _list_headings(text: str, hit: Hit) -> str:
    if len(text) > _MAX_PAGE_CHARACTERS:
        return ""
    return " > ".join(titles_above(text, hit.start))[:_MAX_HEADING_CHARACTERS]
