"""The retrieval toolset: one search over everything an agent may see, and a safe way to read around the hits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import CommonplaceError, NotAvailable, OtherAgentsPage, PageNotFound, Refused
from ..formats.timestamps import parse_day
from ..formats.transcripts import render_lines
from ..framing import quote_line, show_hidden
from ..framing.limits import LIST_CHARACTERS, fit_rows
from ..home import Home, modified_timestamp
from ..instructions import waits_for_approval, warn_of_waiting
from ..model import Hit, Page, Predecessor, Successor, parse_citation
from ..schema import AtLeast
from ..search.marks import find_headings
from ..storage.base import ABSENT
from ..storage.readings import Reading, read_lines
from ..wording import count_words
from .define import Answer, Maybe, Reply, Tool, toolset, with_warning

if TYPE_CHECKING:
    from ..search.pipeline import SearchResult

_SUCCESSOR = Answer(
    citation=str,
    path=str,
    from_=int,
    to=int,
    text=str,
    kind=str,
    reason=str,
    was=str,
    at=Maybe(str),
    author=Maybe(str),
    partial=Maybe(bool),
)
_PREDECESSOR = Answer(citation=str, path=str, from_=int, to=int, text=str, at=Maybe(str))
HIT = Answer(
    path=str,
    from_=int,
    to=int,
    text=str,
    score=float,
    source=str,
    citation=str,
    scope=str,
    key=Maybe(str),
    tags=Maybe([str]),
    at=Maybe(str),
    author=Maybe(str),
    superseded_by=Maybe(_SUCCESSOR),
    supersedes=Maybe([_PREDECESSOR]),
    as_of=Maybe(str),
    valid_from=Maybe(str),
    valid_until=Maybe(str),
    validity=Maybe(str),
    stale=Maybe(str),
    days=Maybe([Answer(words=str, day=str)]),
)
SEARCH_FIELDS = ("verdict", "provider", "model", "fallback", "mode")  # of a SearchResult, in every answer
SEARCH_ANSWER = Answer(results=[HIT], verdict=str, provider=str, model=str, fallback=bool, mode=str)
# Limits of a read without a number of lines.
_MAX_LINES = 120
_MAX_CHARACTERS = 12_000


def memory_search(
    home: Home,
    query: Annotated[str, "What you want to know, as a question or as key words, in any language."],
    maxResults: Annotated[int | None, "How many at most; more than 100 count as 100.", AtLeast(1)] = None,
    minScore: Annotated[float | None, "Leave out what is less likely than this, from 0 to 1."] = None,
    scope: Annotated[
        str | None, "Only this: shared, world, global, channel, skill, agent, extra; or channel:NAME."
    ] = None,
    channel: Annotated[str | None, "Only the records of this channel."] = None,
    tags: Annotated[list[str] | None, "Only what has all of these tags."] = None,
    since: Annotated[str | None, "Only from this day on: 2026-03-01, 2026-03, yesterday."] = None,
    until: Annotated[str | None, "Only up to this day."] = None,
    source: Annotated[str | None, "Only memory, session or extra."] = None,
    path: Annotated[str | None, "Only pages in this folder, or that match this pattern."] = None,
    author: Annotated[str | None, "Only what this agent wrote; or outside, import, person, token."] = None,
    as_of: Annotated[
        str | None, "Search memory as it was at the end of this day: 2026-03-01, 2026-03, last week."
    ] = None,
) -> Annotated[
    Reply,
    SEARCH_ANSWER | Answer(results=[HIT | Answer(heading=Maybe(str))], stale=Maybe(bool)),
]:
    """Search all memory: curated pages, days, notes, records, skills, shared facts and, where enabled, past sessions.

    Each result names its page and lines; memory_get reads more around them. `verdict` says whether the best is likely
    right: found, weak or nothing. A result with `superseded_by` is no longer true: that is what replaced it.
    `supersedes` is what a result replaced.
    """
    common = {"scope": scope, "channel": channel, "tags": tags, "since": since, "until": until}
    filters = home.parse_filters(**common, source=source, path=path, author=author, as_of=as_of or None)
    result = home.search(query, maxResults, minScore, filters=filters)
    return search_reply(home, result)


def search_reply(home: Home, result: SearchResult) -> Reply:
    """Return what a search found, as the tool answers."""
    rows = [{**hit_row(hit), "text": show_hidden(hit.text)} for hit in result.hits]
    for row, heading in zip(rows, find_headings(home.storage, result.hits), strict=True):
        row |= {"heading": show_hidden(heading)} if heading else {}
    results, cut = fit_rows(rows, "text", "memory_get reads their lines", name_field="citation", limit=LIST_CHARACTERS)
    reply: Reply = {"results": results} | {name: getattr(result, name) for name in SEARCH_FIELDS}
    if result.stale:
        reply["stale"] = True
    return with_warning(reply, cut, *result.warnings, *_warn_of_waiting(home, (hit.path for hit in result.hits)))


def _warn_of_waiting(home: Home, paths: Iterable[str]) -> list[str]:
    return [warn_of_waiting(path) for path in dict.fromkeys(paths) if waits_for_approval(home, path)]


def memory_get(
    home: Home,
    path: Annotated[str, "The page, as a search result names it."],
    from_: Annotated[int, "The first line to read, counted from 1."] = 1,
    lines: Annotated[int | None, "How many lines to read.", AtLeast(1)] = None,
    as_of: Annotated[str | None, "Read the page as it was at the end of this day."] = None,
) -> Annotated[Reply, Answer(path=str, text=str, from_=int, to=int, next=Maybe(int), as_of=Maybe(str))]:
    """Read lines of a page that search may return. Long pages come in parts: `next` is the line to continue from."""
    citation = parse_citation(path)
    if citation:
        path = citation.path
        as_of = as_of or citation.as_of
        if lines is None and from_ == 1:
            from_ = citation.first
            lines = max(1, citation.last - citation.first + 1)
    if as_of:
        return page_lines_then(home, path, from_, lines, as_of)
    return page_lines(home, _read_page(home, path), from_, lines)


def page_lines_then(home: Home, path: str, from_: int, lines: int | None, as_of: str) -> Reply:
    """Return some lines of a page as it was at the end of a day or at a time, as memory_get answers."""
    from ..maintenance.timeline import read_page_as_of

    path = _check_readable(home, path)
    text_lines = read_page_as_of(home, path, as_of).removesuffix("\n").split("\n")
    selected = _select_lines(text_lines, max(1, from_), lines)
    return {"path": path, **selected, "text": show_hidden(selected["text"]), "as_of": as_of}


def page_lines(home: Home, page: Page, from_: int, lines: int | None) -> Reply:
    """Return some lines of a page, as memory_get answers."""
    path = page.path
    text_lines = page.text.removesuffix("\n").split("\n") if page.text else []
    if path.endswith(".jsonl"):  # a turn of many lines is one line of the page
        text_lines = render_lines(text_lines)
    selected = _select_lines(text_lines, max(1, from_), lines)
    home.readings.note(path, read_lines(page.text, page.version, selected["from"], selected["to"]))
    reply: Reply = {"path": path, **selected, "text": show_hidden(selected["text"])}
    return with_warning(reply, *_warn_of_waiting(home, [path]))


def whole_page(home: Home, path: str, session: str = "") -> str:
    """Return the text of a page that search may return, as a model reads it; Refused or PageNotFound for any other."""
    page = _read_page(home, path)
    text = page.text
    home.readings.note(page.path, read_lines(text, page.version), session)
    return show_hidden("\n".join(render_lines(text.split("\n"))) if path.endswith(".jsonl") else text)


def _read_page(home: Home, path: str) -> Page:
    path = home.find_page(_check_readable(home, path))
    try:
        page = home.storage.pages.read(path)
    except PageNotFound:
        home.readings.note(path, Reading(ABSENT))
        raise
    home.storage.pages.mark_read(page)
    return page


def hit_row(hit: Hit) -> dict[str, Any]:
    row: dict[str, Any] = {
        "path": hit.path,
        "from": hit.start,
        "to": hit.end,
        "text": hit.text,
        "score": hit.score,
        "source": hit.source,
        "citation": hit.citation,
        "scope": str(hit.scope),
    }
    optional: dict[str, Any] = {
        "key": hit.key,
        "tags": list(hit.tags),
        "at": hit.at,
        "author": show_hidden(hit.author),
        "as_of": hit.as_of,
        "valid_from": hit.valid_from,
        "valid_until": hit.valid_until,
        "validity": hit.validity,
        "stale": quote_line(hit.stale),
    }
    if hit.at:
        optional["days"] = _named_days(hit)
    if hit.superseded_by:
        optional["superseded_by"] = successor_row(hit.superseded_by)
    optional["supersedes"] = list(map(_predecessor_row, hit.supersedes))
    return row | {name: value for name, value in optional.items() if value}


def _named_days(hit: Hit) -> list[dict[str, str]]:
    """Return the days that words like `tomorrow` refer to in a hit."""
    from ..search.dates import name_relative_days

    days = name_relative_days(hit.text, parse_day(hit.at) or 0)
    return [{"words": show_hidden(words), "day": str(span)} for words, span in days]


def successor_row(successor: Successor) -> dict[str, Any]:
    """Return the newer version of a fact, in the form of a hit; `was` is what it replaced."""
    row: dict[str, Any] = {
        "citation": successor.citation,
        "path": successor.path,
        "from": successor.start,
        "to": successor.end,
        "text": show_hidden(successor.text),
        "kind": successor.kind,
        "reason": show_hidden(successor.reason),
        "was": show_hidden(successor.was),
    }
    optional = {"at": successor.at, "author": show_hidden(successor.author), "partial": successor.is_partial}
    return row | {name: value for name, value in optional.items() if value}


def _predecessor_row(predecessor: Predecessor) -> dict[str, Any]:
    row: dict[str, Any] = {
        "citation": predecessor.citation,
        "path": predecessor.path,
        "from": predecessor.start,
        "to": predecessor.end,
        "text": show_hidden(predecessor.text),
    }
    return {**row, "at": predecessor.at} if predecessor.at else row


def _check_readable(home: Home, path: str) -> str:
    """Return the path, if a search by this agent could return it; raise Refused otherwise."""
    settings = home.search_settings
    clean = path.removeprefix("./")
    place = home.layout.place(clean, settings.extra_paths)
    if place is None:  # the notes toolset names pages from the agent's memory root
        inside = home.layout.notes_page(home.agent, clean)
        place = home.layout.place(inside)
        if place and modified_timestamp(home, inside):
            clean = inside
        else:
            place = None
    if place is None or place.kind == "data":
        raise Refused(
            f"{path} is not a page of memory",
            advice="only Markdown pages and sessions that search returns can be read",
        )
    if not home.visibility.may_see(place):
        raise OtherAgentsPage(f"{path} belongs to another agent")
    if place.kind == "session" and not settings.index_sessions:
        raise Refused(f"{path} is a session, and sessions are not searched: set memorySearch.indexSessions")
    return clean


def _select_lines(lines: list[str], start: int, count: int | None) -> dict[str, Any]:
    if start > len(lines):
        out = {"text": "", "from": start, "to": start - 1}
        return out if not lines else {**out, "warning": f"the page has {count_words(len(lines), 'line')}"}
    if count is not None:
        selected = lines[start - 1 : start - 1 + count]
        return {"text": "\n".join(selected), "from": start, "to": start + len(selected) - 1}
    return _select_up_to_limits(lines, start)


def _select_up_to_limits(lines: list[str], start: int) -> dict[str, Any]:
    selected: list[str] = []
    size = 0
    for line in lines[start - 1 : start - 1 + _MAX_LINES]:
        if selected and size + len(line) > _MAX_CHARACTERS:
            break
        selected.append(line)
        size += len(line) + 1
    end = start + len(selected) - 1
    out: dict[str, Any] = {"text": "\n".join(selected)[:_MAX_CHARACTERS], "from": start, "to": end}
    if len(out["text"]) < len("\n".join(selected)):
        out["warning"] = f"line {end} is cut at {_MAX_CHARACTERS} characters: read it whole with from={end}, lines=1"
    if end < len(lines):
        out["next"] = end + 1
    return out


def _check_search_enabled(home: Home) -> NotAvailable | None:
    """Return why the agent has no search, or None."""
    if home.search_settings.enabled:
        return None
    return NotAvailable(
        f"search is switched off for {home.agent}: set memorySearch.enabled to true in commonplace.yaml"
    )


def _refuse(error: CommonplaceError, tool: str, arguments: Mapping[str, Any]) -> Reply:
    if tool == "memory_get":
        missing = isinstance(error, PageNotFound)
        path = arguments.get("path")
        named = path if isinstance(path, str) else None  # anything else may not fit into a reply
        return {"path": named, "text": "", "error": "not found" if missing else str(error)}
    return {"results": [], "error": str(error)}


TOOLSET = toolset(
    "retrieval",
    [Tool(memory_search, reads_only=True), Tool(memory_get, reads_only=True)],
    _refuse,
    _check_search_enabled,
)
