"""Import the memory of other systems, or open it in place.

`KINDS` is the table of known formats: how each is recognised, and which function reads it. A reader turns a source into
values and writes nothing; the engine puts them into the home.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from ..errors import InvalidArgument, StorageError
from ..foreign import find_state_folder
from ..home import Home
from ..index.base import Progress, ignore_progress
from ..maintenance.backup.archive import HISTORY_ROOT, Limits, backup_scope
from ..storage.bulk import any_covers
from ..wording import format_command
from . import chat_exports, databases, homes, knowledge_graph, mem0
from .engine import ImportReport, run_import
from .source import DEFAULT_LIMITS, Folder, SingleFile, Source, is_within, open_source
from .values import Destination, Item, Skipped

__all__ = ["KINDS", "ImportReport", "Kind", "Limits", "Skipped", "import_source", "open_in_place", "recognise"]


class Kind(NamedTuple):
    """A format. `matches` reads only a little of a source; `layout` is the one that opens it in place, if any."""

    name: str
    what: str
    matches: Callable[[Source], bool]
    read: Callable[[Source, Destination], Iterator[Item]]
    layout: str = ""


def _never(_: Source) -> bool:
    return False


# In the order they are tried: cheap tests, by a name or a first byte, before those that read the content.
KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "sqlite",
            "a SQLite database of working notes, or of records and skills",
            databases.recognise,
            databases.read,
        ),
        Kind("chatgpt", "ChatGPT's export", chat_exports.is_chatgpt, chat_exports.read_chatgpt),
        Kind("claude", "Claude's export", chat_exports.is_claude, chat_exports.read_claude),
        Kind("mcp-memory", "the MCP memory server's file", knowledge_graph.recognise, knowledge_graph.read),
        Kind("mem0", "memories of mem0 as JSON", mem0.recognise, mem0.read),
        Kind("obsidian", "an Obsidian vault", homes.is_obsidian, homes.read),
        Kind("claude-code", "Claude Code's notes and transcripts", chat_exports.recognise, chat_exports.read),
        Kind("agentool", "a home of agentool", homes.is_agentool, homes.read_agentool, "agentool"),
        Kind("duragent", "a home of duragent", homes.is_duragent, homes.read_duragent, "duragent"),
        Kind("openclaw", "a home of OpenClaw", homes.is_openclaw, homes.read_openclaw, "openclaw"),
        Kind("basic-memory", "a project of basic-memory", homes.is_basic_memory, homes.read),
        Kind("markdown", "a folder of Markdown", _never, homes.read),
    )
}


def recognise(source: Source) -> Kind:
    """Return the format of a source by looking at it."""
    for kind in KINDS.values():
        if kind.matches(source):
            return kind
    if source.has_folder(".history") or source.has_folder(".index"):
        command = format_command("--home", source.location, "export", "FILE")
        raise StorageError(f"{source.location} looks like a memory of our own: run `{command}`, and import that file")
    if any(name.endswith(".md") for name in source.list_files()):
        raise StorageError(f"{source.full_path} has Markdown, of no system in particular", advice="add --from markdown")
    kinds = "; ".join(f"{kind.name} ({kind.what})" for kind in KINDS.values())
    raise StorageError(
        f"{source.full_path} is neither an archive that `commonplace export` made nor the data of a known system: "
        f"name its kind with --from, one of {kinds}"
    )


def import_source(
    home: Home,
    path: str,
    kind: str = "",
    *,
    agent_was_named: bool = False,
    dry_run: bool = False,
    again: bool = False,
    limits: Limits | None = None,
    progress: Progress = ignore_progress,
) -> tuple[Kind, ImportReport]:
    """Import the data at a path. Its format is detected unless `kind` names it.

    `agent_was_named`: the user named the agent that gets the memory, even of another agent.
    """
    with _open_source(path, kind, limits or DEFAULT_LIMITS) as source:
        _exclude_home(source, home)
        source_kind = _find_kind(kind) if kind else recognise(source)
        items = _read_items(source, source_kind, Destination(home.layout, home.agent, agent_was_named))
        with closing(items):
            report = run_import(
                home, items, source_kind.name, source.full_path, dry_run=dry_run, again=again, progress=progress
            )
        return source_kind, report


@contextmanager
def _open_source(path: str, kind: str, limits: Limits) -> Iterator[Source]:
    """Open a source by its path; of a folder that is not in a known format itself, OpenClaw's state folder in it."""
    with open_source(path, limits) as source:
        inside = find_state_folder(source.location) if kind in ("", "openclaw") else ""
        kinds = [_find_kind(kind)] if kind else KINDS.values()
        if not inside or any(each.matches(source) for each in kinds):
            yield source
            return
    with open_source(inside, limits) as source:
        yield source


def _exclude_home(source: Source, home: Home) -> None:
    """Keep a home from being imported into itself: it would grow with every import, and share what is private."""
    if isinstance(source, SingleFile) or not isinstance(source, Folder) or not home.storage.local_folder:
        return
    own = os.path.realpath(home.storage.local_folder)
    source.home_folder = own
    if is_within(own, source.location) and own != source.location:
        source.excluded_folder = own
        below = os.path.relpath(own, source.location).replace(os.sep, "/")
        if not any(part.startswith(".") for part in below.split("/")):
            source.skipped.append(Skipped(below, "is the target memory itself, and is left out"))
    elif is_within(source.location, own):
        below = os.path.relpath(source.location, own).replace(os.sep, "/")
        roots = [*backup_scope(home.layout, home.settings), HISTORY_ROOT]
        if below == "." or any_covers(roots, f"{below}/page.md"):
            raise InvalidArgument(
                f"{source.location} is part of the target memory: name a folder outside of {own}"
                ", or another memory with --home"
            )


def _read_items(source: Source, kind: Kind, into: Destination) -> Generator[Item, None, None]:
    """Yield what a reader found, and what it skipped. StorageError if there is nothing at all."""
    is_empty = True
    for item in kind.read(source, into):
        is_empty = False
        yield item
    if is_empty and not source.skipped:
        raise StorageError(f"nothing was found in {source.full_path} that {kind.what} would have: check the file")
    yield from dict.fromkeys(source.skipped)


def open_in_place(path: str, kind: str = "", *, dry_run: bool = False) -> tuple[Kind, str, bool]:
    """Let a home of another system open where it is; return its kind, the folder to use as home, and whether new."""
    with _open_source(path, kind, DEFAULT_LIMITS) as source:
        source_kind = _find_kind(kind) if kind else recognise(source)
        if not source_kind.layout:
            able = ", ".join(each.name for each in KINDS.values() if each.layout)
            raise InvalidArgument(
                f"{source_kind.what} cannot be opened in place: {able} can; import it without --in-place"
            )
        return source_kind, *homes.open_in_place(source, source_kind.layout, dry_run=dry_run)


def _find_kind(name: str) -> Kind:
    if name not in KINDS:
        raise InvalidArgument(f"--from {name!r} is not known: use one of {', '.join(KINDS)}")
    return KINDS[name]
