"""What replaced statements of hits and of shown texts. A prompt gets only the newer version of a fact, or both
side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..facts.statements import shorten_statement
from ..formats.passages import embedding_text
from ..framing import quote_citation
from ..home import Home
from ..index.base import Index
from ..model import Hit, Viewer
from ..search.dates import QueryDates, asks_about_past
from ..search.replacements import Replacement, describe_successor
from ..search.shown_lines import ShownText, find_replaced_lines, list_statements

_MOST_OF_PASSAGE = 0.6  # if a fact is this share of a passage, the passage says nothing else
_MAX_CHARACTERS = 160  # of a fact that is named beside the one that replaced it


def wants_replaced(query: str, dates: QueryDates) -> bool:
    """Return whether a query is about the past, or about certain days and so about what was said then."""
    return (bool(dates.spans) and dates.selects_first) or asks_about_past(query)


def leave_out_superseded(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits without those that say only what another hit replaced."""
    return [hit for hit in hits if not (says_nothing_else(hit) and any(_holds_newer(other, hit) for other in hits))]


def says_nothing_else(hit: Hit) -> bool:
    """Return whether a hit says little more than what was replaced."""
    if not hit.superseded_by or hit.superseded_by.is_partial:
        return False
    return len(hit.superseded_by.was) >= _MOST_OF_PASSAGE * len(_read_body(hit))


def _read_body(hit: Hit) -> str:
    """Return what a hit says, in one line, without the time of its entry."""
    return " ".join(embedding_text("", hit.text).split())


def _holds_newer(hit: Hit, older: Hit) -> bool:
    newer = older.superseded_by
    return newer is not None and newer.path == hit.path and hit.start <= newer.start <= hit.end


def find_replaced(
    home: Home, viewer: Viewer, texts: Sequence[ShownText], *, only_approved: bool = False, catches_up: bool
) -> dict[int, list[Replacement]]:
    """Return what replaced statements of texts, by the number of the text; nothing if search is off. Without
    `catches_up`, the index is asked as it is."""
    if not texts or not home.search_settings.enabled:
        return {}

    today = home.today().toordinal()
    branch = home.branch

    def find(index: Index) -> dict[int, list[Replacement]]:
        find_origins = home.authors.find_of_hits
        return find_replaced_lines(
            index, viewer, texts, find_origins, today, only_approved=only_approved, branch=branch
        )

    return home.index.query(lambda view: find(view.index)) if catches_up else home.index.peek(find) or {}


def leave_out_replaced_lines(
    home: Home, viewer: Viewer, hits: Sequence[Hit], *, only_approved: bool = False
) -> list[Hit]:
    """Return the hits of a search that was just made without the lines that something replaced, beside those that the
    query asks for."""
    whole = [hit for hit in hits if hit.source != "session" and hit.text.count("\n") == hit.end - hit.start]
    texts = [ShownText(hit.path, hit.start, hit.text, hit.heading) for hit in whole]
    replaced = find_replaced(home, viewer, texts, only_approved=only_approved, catches_up=False)
    shortened = {whole[number]: _drop_lines(whole[number], pairs) for number, pairs in replaced.items()}
    return [shortened.get(hit, hit) for hit in hits]


def _drop_lines(hit: Hit, pairs: Sequence[Replacement]) -> Hit:
    """Return a hit without the lines that say nothing but what was replaced; as it is, if no other is left. What the
    query asks for stays, and is marked, unless it is a task that is done; so does a line that is partly still true."""
    partial = next((pair for pair in pairs if pair.is_partial), None)
    if partial and not hit.superseded_by:
        hit = hit._replace(superseded_by=describe_successor(partial))
    newer = hit.superseded_by
    pairs = [pair for pair in pairs if not (pair.is_partial and newer and newer.was == pair.clause)]
    is_done = newer is not None and newer.kind == "done"
    was = newer.was if newer and not is_done else ""
    replaced = {(pair.older.statement.first_line, pair.older.statement.text) for pair in pairs}
    statements = list_statements(hit.text)
    current = [each for each in statements if (each.first, each.statement.text) not in replaced]
    shown = {line for each in current for line in range(each.first, each.last + 1)}
    old = [each for each in statements if each not in current and each.statement.text != was]
    dropped = {line for each in old for line in range(each.first, each.last + 1)} - shown
    if not current or not dropped:
        return hit
    lines = [line for number, line in enumerate(hit.text.split("\n")) if number not in dropped]
    return hit._replace(text="\n".join(lines), superseded_by=None if is_done else newer)


def describe_replacements(text: ShownText, replacements: Sequence[Replacement]) -> Iterator[tuple[Replacement, str]]:
    """Yield what replaced statements of a text, in words: `no longer; now: …`; with which one, where its line has
    several, or which part."""
    counts = Counter(each.first for each in list_statements(text.text))
    for each in replacements:
        newer = describe_successor(each)
        is_whole = counts[each.older.statement.first_line] == 1 and not each.is_partial
        was = "" if is_whole else f': "{shorten(newer.was)}"'
        now = f'"{shorten(newer.text)}" ({quote_citation(newer.citation)})'
        yield each, f"answered{was}: {now}" if newer.kind == "answer" else f"no longer{was}; now: {now}"


def describe_version(hit: Hit) -> str:
    """Return what replaced a part of a hit, in words: `no longer: …; now: …`, or all of it: `no longer; now: …`. Empty
    where all of it holds."""
    newer = hit.superseded_by
    if not newer:
        return ""
    was = "" if newer.was == _read_body(hit) else f': "{shorten(newer.was)}"'
    return f'no longer{was}; now: "{shorten(newer.text)}" ({quote_citation(newer.citation)})'


def shorten(text: str) -> str:
    """Return a fact as it is named beside the one that replaced it: in one line, cut if it is long."""
    return shorten_statement(text, _MAX_CHARACTERS)
