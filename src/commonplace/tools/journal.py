"""The journal toolset: recall what is known, remember what happens, reflect on it, keep facts all agents share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from .. import framing
from ..errors import CommonplaceError, MissingArgument, NotAvailable
from ..formats import blocks, daily
from ..formats.structure import unescape
from ..home import Home
from ..schema import AtLeast
from ..storage.names import topic_name
from ..storage.records import read_text
from .define import Answer, Reply, Tool, toolset, with_warning

NO_MEMORIES = "No memories found"
JournalReply = Annotated[Reply, Answer(success=bool, content=str)]


def recall(
    home: Home, days: Annotated[int, "How many of the latest daily pages to read; 0 for none of them.", AtLeast(0)] = 3
) -> JournalReply:
    """Read your memory: what is known about the world, your curated memory, and your latest days."""
    warnings: list[str] = []
    parts = [
        *_world_sections(home, warnings),
        *_curated_sections(home, warnings),
        *(_daily_sections(home, days, warnings) if days else ()),
    ]
    return with_warning({"success": True, "content": framing.join_sections(parts) or NO_MEMORIES}, *warnings)


def remember(home: Home, content: Annotated[str, "What happened or what you learned."]) -> JournalReply:
    """Add an entry, stamped with the time, to today's page."""
    if not content.strip():
        raise MissingArgument("content")
    now = home.now()
    path = home.layout.day_page(home.agent, now.date())
    home.writer.edit(path, lambda text: daily.add_entry(text, now, content))
    return {"success": True, "content": f"Remembered in {path} at {now:%H:%M}."}


def reflect(
    home: Home, content: Annotated[str, "Your whole curated memory, as it shall be from now on."]
) -> JournalReply:
    """Rewrite your curated memory. It replaces the whole page: read it first, and keep what still matters."""
    path = home.layout.curated_page(home.agent)
    home.writer.rewrite(path, content)
    return {"success": True, "content": f"Rewrote {path}."}


def update_world(
    home: Home,
    topic: Annotated[str, "What the page is about: people, systems, a project."],
    content: Annotated[str, "Everything known about it; it replaces the page."],
) -> JournalReply:
    """Rewrite the page of a topic that all agents share."""
    name = topic_name(topic)
    path = home.layout.world_page(name)
    home.writer.rewrite(path, content)
    return {"success": True, "content": f"Rewrote the world topic {name} in {path}."}


def _world_sections(home: Home, warnings: list[str]) -> Iterator[str]:
    pages = home.storage.pages.list(home.layout.world)
    topics = [(home.layout.topic_of(path), _read_page(home, path, warnings)) for path in pages]
    known = [framing.add_heading(topic, text, 2) for topic, text in sorted(topics) if text.strip()]
    if known:
        yield framing.add_heading("World Knowledge", framing.join_pages(known), 1)


def _curated_sections(home: Home, warnings: list[str]) -> Iterator[str]:
    text = blocks.unescape_page(_read_page(home, home.layout.curated_page(home.agent), warnings))
    if text.strip():
        yield framing.add_heading("Your Memory", text, 1)


def _daily_sections(home: Home, days: int, warnings: list[str]) -> Iterator[str]:
    paths = home.storage.pages.list(home.layout.days_folder(home.agent), deep=True)
    dated = [(day, path) for path in paths if (day := home.layout.day_of(home.agent, path))]
    latest = sorted(dated, reverse=True)[:days]
    texts = [
        daily.ensure_heading(text, day) for day, path in latest if (text := _read_page(home, path, warnings)).strip()
    ]
    if texts:
        pages = [unescape(text).rstrip("\n") for text in texts]
        yield framing.add_heading("Recent Experiences", framing.join_pages(pages), 1)


def _read_page(home: Home, path: str, warnings: list[str]) -> str:
    text, problem = read_text(home.storage.pages, path)
    warnings += problem
    home.record_recall([path] if text.strip() else [])
    return text


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
