"""The working toolset: an agent's keyed notes, its handoff to the next session, and a scratchpad for the task."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC
from typing import Annotated, Any, Literal

from ..errors import CommonplaceError, InvalidChoice, MissingArgument, ReservedKey, WrongType
from ..formats.structure import escape_unprintable
from ..formats.timestamps import sort_key
from ..framing.limits import fit_rows
from ..home import Home
from ..model import Filters, Json, Record
from ..schema import Clamp
from ..search.words import QueryWords
from ..storage.layout import stem
from ..storage.names import require_new_key
from ..storage.records import read_record, read_text
from .define import Answer, Maybe, Reply, Tool, toolset, with_warning

SESSION_HANDOFF_KEY = "session-handoff"
SCRATCHPAD_KEY = "scratchpad"
ACTIVITY_PREFIX = "activity-log-"

# Weights of a match, as the contract specifies.
_QUERY_IN_KEY_WEIGHT = 6
_QUERY_IN_CONTENT_WEIGHT = 5
_TERM_IN_KEY_WEIGHT = 3
_TERM_IN_CONTENT_WEIGHT = 1

_Score = tuple[int, int]  # the kind of match, then its weight


def search_memory(
    home: Home,
    query: Annotated[str, "What to look for."],
    limit: Annotated[int, "How many at most.", Clamp(1, 50)] = 8,
) -> Annotated[
    Reply,
    Answer(status=str, query=str, match_count=int, matches=[Answer(key=str, content=str, updated_at=str)]),
]:
    """Search your working notes by words and by meaning. A note with exactly that key comes first."""
    text = _require_text("query", query)
    words = QueryWords(text)
    records, warnings = home.list_records(home.layout.working_folder(home.agent))
    scored = [*((_score(text, words, record), record) for record in records), *_find_logs(home, text, words)]
    scored = [each for each in scored if each[0] > (0, 0)]
    scored.sort(key=lambda each: (*each[0], sort_key(each[1].updated_at)), reverse=True)
    hits = [record for _, record in scored[:limit]]
    hits += _find_by_meaning(home, text, limit, records, hits)
    rows = [{"key": record.key, "content": record.text, "updated_at": record.updated_at} for record in hits]
    matches, cut = fit_rows(rows, "content", "search for a key to get that note whole", whole=text)
    reply = {"status": "ok", "query": text, "match_count": len(matches), "matches": matches}
    return with_warning(reply, cut, *warnings)


def write_memory(
    home: Home,
    key: Annotated[str, "The name of the note."],
    content: Annotated[str, "What to note."],
    mode: Annotated[Literal["replace", "append"], "Replace the note, or add to its end."] = "replace",
) -> Annotated[Reply, Answer(status=str, key=str, mode=str, bytes_written=int)]:
    """Write a working note that lasts across tasks, under a key of your choice."""
    key = require_new_key("key", _require_text("key", key))
    content = _require_text("content", content)
    _refuse_reserved(key)
    record = home.working.change(home.working.path(key), key, _text_change(mode, content))
    reply = {"status": "ok", "key": key, "mode": mode, "bytes_written": len(record.value.encode())}
    return with_warning(reply, _log_write(home, key, mode), _warn_of_likeness(key))


def write_session_handoff(
    home: Home, content: Annotated[str, "Where things stand: what was done, what is open, what comes next."]
) -> Annotated[Reply, Answer(status=str, message=str)]:
    """Leave a note for your next session. It replaces the last one and is the first thing you will read."""
    content = _require_text("content", content)
    path = home.layout.handoff_page(home.agent)
    home.working.change(path, SESSION_HANDOFF_KEY, _text_change("replace", content), start_over=True)
    return {"status": "ok", "message": f"Handoff saved in {path}; the next session reads it first."}


def read_handoff(home: Home) -> str:
    """Return the note for the next session; empty when there is none."""
    record = read_record(home.storage.pages, home.layout, home.layout.handoff_page(home.agent))
    return record.text if record else ""


def clear_handoff(home: Home) -> None:
    """Remove the note for the next session. A person may; no tool of an agent does."""
    path = home.layout.handoff_page(home.agent)
    home.working.change(path, SESSION_HANDOFF_KEY, _text_change("replace", ""), start_over=True)


def scratch_note(
    home: Home,
    mode: Annotated[
        Literal["replace", "append", "clear", "read"] | None,
        "What to do with the scratchpad; without it, content is appended, and without content it is read.",
    ] = None,
    content: Annotated[str, "The text, for replace and append."] = "",
) -> Annotated[Reply, Answer(status=str, content=str, empty=Maybe(bool), mode=Maybe(str), message=Maybe(str))]:
    """Use the scratchpad of the task at hand. Clear it when the task is done."""
    path = home.layout.scratch_page(home.agent)
    content = content.strip()
    mode = mode or ("append" if content else "read")
    unused = f"content was not saved: mode '{mode}' takes none. Use append or replace" if content else ""
    if mode == "read":
        stored = read_record(home.storage.pages, home.layout, path)
        text = stored.text if stored else ""
        return with_warning({"status": "ok", "content": text, "empty": not text.strip()}, unused)
    if mode == "clear":
        home.working.change(path, SCRATCHPAD_KEY, _text_change("replace", ""), start_over=True)
        return with_warning({"status": "ok", "mode": mode, "content": "", "message": "Scratchpad cleared."}, unused)
    if not content:
        raise MissingArgument("content")
    record = home.working.change(path, SCRATCHPAD_KEY, _text_change(mode, content))
    return {"status": "ok", "mode": mode, "content": record.value, "message": f"Scratchpad saved in {path}."}


def _require_text(name: str, value: str) -> str:
    trimmed = value.strip()
    if not trimmed:
        raise MissingArgument(name)
    return trimmed


def _text_change(mode: str, content: str) -> Callable[[Json], str]:
    """Return the change that replaces a note by some content, or appends it."""

    def change(old: Json) -> str:
        return _append_line(old, content) if mode == "append" else content

    return change


def _append_line(old: Json, content: str) -> str:
    """Return the note with the content on a new line; a blank note is replaced."""
    before = "" if old is None else Record("", old).text.rstrip()
    return f"{before}\n{content}" if before.strip() else content


def _refuse_reserved(key: str) -> None:
    uses = {SESSION_HANDOFF_KEY: "use write_session_handoff", SCRATCHPAD_KEY: "use scratch_note"}
    if key in uses:
        raise ReservedKey(f"The key '{key}' is reserved: {uses[key]} instead.")
    if re.fullmatch(ACTIVITY_PREFIX + r"\d{4}-\d\d-\d\d", key):
        raise ReservedKey(f"The key '{key}' is reserved: write_memory keeps that log itself; choose another key.")


def _warn_of_likeness(key: str) -> str:
    """Return a warning if a key only looks like that of the handoff or the scratchpad, or an empty string."""
    uses = {"handoff": "write_session_handoff", "sessionhandoff": "write_session_handoff", "scratchpad": "scratch_note"}
    use = uses.get(re.sub(r"[\s_-]", "", key.casefold()))
    return f"{key} is a note like any other: {use} writes the one that you may mean" if use else ""


def _score(query: str, words: QueryWords, record: Record) -> _Score:
    """Return the kind of match, then its weight: the query as the key beats the query in a key, that beats all else."""
    key = words.index(record.key)
    content = words.index(record.text)
    in_key = words.whole in key
    in_content = words.whole in content
    weight = in_key * _QUERY_IN_KEY_WEIGHT + in_content * _QUERY_IN_CONTENT_WEIGHT
    for term in words.terms:
        weight += (term in key) * _TERM_IN_KEY_WEIGHT + (term in content) * _TERM_IN_CONTENT_WEIGHT
    if record.key.casefold() == query.casefold():
        return 3, weight
    return (2 if in_key else int(in_content)), weight


def _find_by_meaning(home: Home, query: str, limit: int, records: list[Record], matches: list[Record]) -> list[Record]:
    """Return further notes by meaning: likely answers that have none of the words, best first."""
    room = limit - len(matches)
    if room <= 0 or not records or not home.search_settings.enabled:
        return []
    folder = home.layout.working_folder(home.agent)
    from ..search.scoring import is_similar

    result = home.search(query, limit, 0.0, filters=Filters(paths=(f"{folder}/**",)))
    if result.mode == "keyword":
        return []
    others = {record.path: record for record in records if record not in matches}
    similar = [row.hit.path for row in result.ranked if is_similar(row)]
    return [others[path] for path in dict.fromkeys(similar) if path in others][:room]


def _log_write(home: Home, key: str, mode: str) -> str:
    """Add the write to the day's activity log and return a warning, if that fails: the note itself is safe already."""
    now = home.clock().astimezone(UTC)
    line = f"- [{now:%H:%M:%S} UTC] write_memory key='{escape_unprintable(key)}' mode='{mode}'\n"

    def add(old: str) -> str:
        text = old or f"Daily activity log for {now:%Y-%m-%d}\n"
        return text + ("" if text.endswith("\n") else "\n") + line

    try:
        home.writer.edit(home.layout.activity_page(home.agent, now.date()), add)
    except CommonplaceError as error:
        return f"the note is saved, but the activity log is not: {error}"
    return ""


def _find_logs(home: Home, query: str, words: QueryWords) -> list[tuple[_Score, Record]]:
    """Return the activity logs that the query names. What they mention is found in the notes themselves."""
    logs = []
    for path in home.storage.pages.list(home.layout.activity_folder(home.agent)):
        day = stem(path)
        score = _score(query, words, Record(ACTIVITY_PREFIX + day, f"Daily activity log for {day}"))
        if score > (0, 0):
            text = read_text(home.storage.pages, path)[0].rstrip("\n")
            latest = re.findall(r"^- \[(\d\d:\d\d:\d\d) UTC\]", text, re.MULTILINE)[-1:] or ["00:00:00"]
            logs.append((score, Record(ACTIVITY_PREFIX + day, text, updated_at=f"{day}T{latest[0]}.000000Z")))
    return logs


def _refuse(error: CommonplaceError, tool: str, _arguments: Mapping[str, Any]) -> Reply:
    return {"status": "error", "error": _refusal_sentence(error, tool)}


def _refusal_sentence(error: CommonplaceError, tool: str) -> str:
    if isinstance(error, MissingArgument):
        if tool == "scratch_note":
            return "'content' is required for replace/append modes"
        return f"Missing required '{error.field}' parameter"
    if tool == "scratch_note" and isinstance(error, InvalidChoice):
        return f"Unknown mode '{error.got}'. Use replace, append, clear, or read."
    if tool == "scratch_note" and isinstance(error, WrongType) and error.field == "mode":
        return f"Unknown mode '{error.value}'. Use replace, append, clear, or read."
    if tool == "write_memory" and isinstance(error, (InvalidChoice, WrongType)) and error.field == "mode":
        return "Invalid 'mode' parameter. Use 'replace' or 'append'."
    if isinstance(error, WrongType):
        return f"Invalid '{error.field}' parameter: it must be {error.expected}, not {error.got}."
    return str(error)


TOOLSET = toolset(
    "working",
    [
        Tool(search_memory, reads_only=True),
        Tool(write_memory, destructive=True),
        Tool(write_session_handoff, destructive=True, idempotent=True),
        Tool(scratch_note, destructive=True),
    ],
    _refuse,
)
