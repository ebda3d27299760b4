"""The journal toolset: recall what is known, remember what happens, reflect on it, keep facts all agents share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from ..errors import CommonplaceError, MissingArgument, NotAvailable
from ..formats import daily
from ..framing import quote_line
from ..framing.recall import RecallPage, name_read_call, render_recall
from ..framing.skeleton import Kind
from ..home import Home
from ..schema import AtLeast
from ..storage.names import require_new_key, topic_name
from ..storage.readings import read_lines
from ..storage.records import read_text
from .define import Answer, Maybe, Reply, Tool, toolset, with_warning
from .rewriting import rewrite_page

NO_MEMORIES = "No memories found"
JournalReply = Annotated[Reply, Answer(success=bool, content=str)]


def recall(
    home: Home, days: Annotated[int, "How many days to read, today included; 0 for none of them.", AtLeast(0)] = 3
) -> JournalReply:
    """Read your memory at the start of a conversation: what is known about the world, your curated memory, your days.

    Pages that are too long are listed with their size and the call that reads them. A backslash before a line
    that looks like a heading of this reply is not part of the page.
    """
    warnings: list[str] = []
    listed = _list_rewritten_pages(home)  # before they are read: a page that somebody creates meanwhile is not there
    pages = [*_world_pages(home, warnings), *_curated_pages(home, warnings)]
    latest = [*_latest_days(home, days, warnings)]
    hint = "" if latest or not days else _name_newest_day(home, days)
    read_call = partial(name_read_call, has_search=home.search_settings.enabled)
    recalled = render_recall([*pages, *latest], home.settings.recall.max_characters, read_call, hint)
    home.note_listed(listed)
    for page, line_count in recalled.shown:
        home.note_given(page.path, read_lines(page.text, last=line_count))
    home.record_recall(recalled.paths)
    return with_warning({"success": True, "content": recalled.text or NO_MEMORIES}, *warnings)


def remember(home: Home, content: Annotated[str, "What happened or what you learned."]) -> JournalReply:
    """Add an entry, stamped with the time, to today's page, during a conversation, whenever you learn something."""
    if not content.strip():
        raise MissingArgument("content")
    now = home.now()
    path = home.layout.day_page(home.agent, now.date())
    home.writer.edit(path, lambda text: daily.add_entry(text, now, content))
    return {"success": True, "content": f"Remembered in {path} at {now:%H:%M}."}


def reflect(
    home: Home, content: Annotated[str, "Your whole curated memory, as it should read from now on."]
) -> Annotated[Reply, Answer(success=bool, content=str, kept=Maybe([str]))]:
    """Rewrite your curated memory, at the end of a conversation.

    It replaces the whole page: recall it first, and keep what still matters. What others changed since
    then stays; where your text replaced lines of theirs, `conflict` has them. Notes with a key stay as well (`kept`).
    """
    path = home.layout.curated_page(home.agent)
    outcome = rewrite_page(home, path, content, "curated")
    notes = ", ".join(map(quote_line, outcome.get("kept", ())))
    also = f" Notes that it leaves out are still there: {notes}." if notes else ""
    return {"success": True, "content": f"Rewrote {path}.{also}", **outcome}


def update_world(
    home: Home,
    topic: Annotated[str, "What the page is about: people, systems, a project."],
    content: Annotated[str, "Everything known about it; it replaces the page."],
) -> JournalReply:
    """Rewrite the page of a topic that all agents share.

    Recall it first. What others changed since then stays; where your text replaced lines of theirs, `conflict` has
    them.
    """
    path = home.find_topic_page(topic)
    require_new_key("topic", topic)
    done = "Rewrote" if home.storage.exists(path) else "Created"
    outcome = rewrite_page(home, path, content, "world")
    return {"success": True, "content": f"{done} the world topic {topic_name(topic)} in {path}.", **outcome}


def _list_rewritten_pages(home: Home) -> list[str]:
    """Return the pages there are of those that `reflect` and `update_world` rewrite."""
    curated = home.layout.curated_page(home.agent)
    topics = home.storage.pages.list(home.layout.world)
    return [*topics, curated] if home.storage.exists(curated) else topics


def _world_pages(home: Home, warnings: list[str]) -> Iterator[RecallPage]:
    topics = [(home.layout.topic_of(path), path) for path in home.storage.pages.list(home.layout.world)]
    if not topics and (link := home.describe_link(home.layout.world)):
        warnings.append(link)
    for topic, path in sorted(topics):
        yield from _read_page(home, "world", topic, path, warnings)


def _curated_pages(home: Home, warnings: list[str]) -> Iterator[RecallPage]:
    yield from _read_page(home, "curated", "", home.layout.curated_page(home.agent), warnings)


def _latest_days(home: Home, days: int, warnings: list[str]) -> Iterator[RecallPage]:
    """Yield the pages of today and the days before it, newest first."""
    dated = _dated_pages(home)
    if not dated and (link := home.describe_link(home.layout.days_folder(home.agent))):
        warnings.append(link)
    today = home.today()
    earliest = today - timedelta(days=min(days, today.toordinal()) - 1)
    for day, path in dated:
        if days and earliest.isoformat() <= day <= today.isoformat():
            yield from _read_page(home, "day", day, path, warnings)


def _dated_pages(home: Home) -> list[tuple[str, str]]:
    """Return the daily pages with their days, newest first."""
    paths = home.storage.pages.list(home.layout.days_folder(home.agent), deep=True)
    return sorted(((day, path) for path in paths if (day := home.layout.day_of(home.agent, path))), reverse=True)


def _name_newest_day(home: Home, days: int) -> str:
    """Return a sentence that names the newest day there is; empty when there is none."""
    newest = next((dated for dated in _dated_pages(home) if read_text(home.storage.pages, dated[1])[0].strip()), None)
    if newest is None:
        return ""
    span = "today" if days == 1 else f"in the last {days} days"
    call = name_read_call(newest[1], 1, has_search=home.search_settings.enabled)
    return f"Nothing was remembered {span}; the newest day is {newest[0]}: {call}."


def _read_page(home: Home, kind: Kind, name: str, path: str, warnings: list[str]) -> Iterator[RecallPage]:
    text, problem = read_text(home.storage.pages, path)
    warnings += problem
    if text.strip():
        yield RecallPage(kind, name, path, text)


def _check_has_memory(home: Home) -> NotAvailable | None:
    """Return why the agent has no journal, or None."""
    if home.has_memory:
        return None
    file = home.layout.agent_file(home.agent)
    return NotAvailable(f"the agent {home.agent} has no memory: add a memory section under spec in {file}")


def _refuse(error: CommonplaceError, _tool: str, _given: Mapping[str, Any]) -> Reply:
    return {"success": False, "error": str(error)}


TOOLSET = toolset(
    "journal",
    [
        Tool(recall, reads_only=True),
        Tool(remember),
        Tool(reflect, destructive=True, idempotent=True),
        Tool(update_world, destructive=True, idempotent=True),
    ],
    _refuse,
    _check_has_memory,
)
