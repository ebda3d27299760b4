"""WHAT DO PEOPLE HAVE ALREADY? Memory that other systems kept, brought into a home, or opened where it is.

`KINDS` is a table of what is known: how it is recognised, and who reads it. A reader turns a source into values and
writes nothing; the engine puts them into the home.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import NamedTuple

from ..errors import InvalidArgument, StorageError
from ..home import Home
from ..maintenance.backup.scope import extent, holds
from . import chatgpt, claude, claude_code, databases, homes, knowledge_graph, mem0, vault
from .engine import Brought, bring
from .plan import Progress
from .source import Folder, Limits, Single, Source, is_within, open_source
from .values import Into, Item, Missed

__all__ = ["KINDS", "Brought", "Kind", "Limits", "Missed", "import_source", "kind_of", "open_in_place"]


class Kind(NamedTuple):
    """Something people have. `is_it` looks at little; `layout`: by which it opens in place."""

    name: str
    what: str
    is_it: Callable[[Source], bool]
    read: Callable[[Source, Into], Iterator[Item]]
    layout: str = ""


# In the order they are tried: what is told by a name or a first byte before what is told by a look inside.
KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "sqlite",
            "a SQLite database of working notes, or of records and skills",
            databases.recognise,
            databases.read,
        ),
        Kind("chatgpt", "ChatGPT's export", chatgpt.recognise, chatgpt.read),
        Kind("claude", "Claude's export", claude.recognise, claude.read),
        Kind("mcp-memory", "the MCP memory server's file", knowledge_graph.recognise, knowledge_graph.read),
        Kind("mem0", "memories of mem0 as JSON", mem0.recognise, mem0.read),
        Kind("obsidian", "an Obsidian vault", vault.is_obsidian, vault.read),
        Kind("claude-code", "Claude Code's notes and transcripts", claude_code.recognise, claude_code.read),
        Kind("agentool", "a home of agentool", homes.is_agentool, homes.agentool, "agentool"),
        Kind("duragent", "a home of duragent", homes.is_duragent, homes.duragent, "duragent"),
        Kind("openclaw", "a home of OpenClaw", homes.is_openclaw, homes.openclaw, "openclaw"),
        Kind("basic-memory", "a project of basic-memory", vault.is_basic_memory, vault.read),
        Kind("markdown", "a folder of Markdown", lambda _: False, vault.read),
    )
}


def kind_of(source: Source) -> Kind:
    """What a source is, by looking at it."""
    for kind in KINDS.values():
        if kind.is_it(source):
            return kind
    if source.has(".history") or source.has(".index"):
        raise StorageError(
            f"{source.place} looks like a memory of our own: run `commonplace --home {source.place} export FILE`, and "
            "import that file"
        )
    known = "; ".join(f"{kind.name} ({kind.what})" for kind in KINDS.values())
    raise StorageError(
        f"{source.whole} is neither a tar nor JSON lines that `commonplace export` made, nor anything else that is "
        f"known: say what it is with --from, one of {known}"
    )


def import_source(
    home: Home,
    place: str,
    kind: str = "",
    *,
    said_agent: bool = False,
    dry_run: bool = False,
    again: bool = False,
    limits: Limits | None = None,
    progress: Progress = lambda what, done, total: None,
) -> tuple[Kind, Brought]:
    """Bring what stands at a place into a home; what it is, it is asked itself where `kind` does not say.

    `said_agent`: somebody said whose memory it becomes, so that what another agent had becomes theirs, too.
    """
    with open_source(place, limits or Limits()) as source:
        _keep_apart(source, home)
        chosen = _chosen(kind) if kind else kind_of(source)
        into = Into(home.layout, home.agent, said_agent)
        found = _all(source, chosen, into)
        with closing(found):
            done = bring(home, found, chosen.name, source.whole, dry_run=dry_run, again=again, progress=progress)
        return chosen, done


def _keep_apart(source: Source, home: Home) -> None:
    """Keep a home out of what is brought into it: it would grow with every import, and show to all what is one's."""
    if isinstance(source, Single) or not isinstance(source, Folder) or not home.storage.folder:
        return
    mine = os.path.realpath(home.root)
    if is_within(mine, source.place) and mine != source.place:
        source.apart = mine
        below = os.path.relpath(mine, source.place).replace(os.sep, "/")
        if not any(part.startswith(".") for part in below.split("/")):
            source.missed.append(Missed(below, "is the memory that all this is brought into, and is left out"))
    elif is_within(source.place, mine):
        below = os.path.relpath(source.place, mine).replace(os.sep, "/")
        if below == "." or holds(extent(home, history=True), f"{below}/page.md"):
            raise InvalidArgument(
                f"{source.place} is part of the memory that it would be brought into: name a folder outside of {mine}, "
                "or another memory with --home"
            )


def _all(source: Source, kind: Kind, into: Into) -> Generator[Item, None, None]:
    """What a reader understood, and what it could not read. StorageError when there is nothing at all."""
    empty = True
    for item in kind.read(source, into):
        empty = False
        yield item
    if empty and not source.missed:
        raise StorageError(f"nothing was found in {source.whole} that {kind.what} would have: look at what it is")
    yield from source.missed


def open_in_place(place: str, kind: str = "", *, dry_run: bool = False) -> tuple[Kind, str, bool]:
    """Let a home of another system open where it is: what it is, the folder to name as home, whether that is new."""
    with open_source(place, Limits()) as source:
        chosen = _chosen(kind) if kind else kind_of(source)
        if not chosen.layout:
            able = ", ".join(each.name for each in KINDS.values() if each.layout)
            raise InvalidArgument(f"{chosen.what} can not be opened in place: {able} can; import it without --in-place")
        return chosen, *homes.in_place(source, chosen.layout, dry_run=dry_run)


def _chosen(name: str) -> Kind:
    if name not in KINDS:
        raise InvalidArgument(f"--from {name!r} is not known: use one of {', '.join(KINDS)}")
    return KINDS[name]
