"""The notes toolset: keyed blocks in daily pages and in the summary page. Keys are unique over an agent's memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

from ..errors import (
    CommonplaceError,
    InvalidArgument,
    InvalidChoice,
    InvalidKey,
    KeyExists,
    KeyNotFound,
    NullCharacter,
    find_similar,
)
from ..formats import blocks
from ..formats.timestamps import format_timestamp, sort_key
from ..framing.limits import LIST_CHARACTERS, fit_rows
from ..home import Home
from ..model import Block
from ..schema import Clamp
from ..storage.names import is_blank, require_key, require_new_key, require_valid_name
from ..storage.records import read_text
from .define import Answer, Reply, Tool, toolset, with_warning

Key = Annotated[str, "The name of the memory: one line, unique, case-sensitive."]
Content = Annotated[str, "What to store, as Markdown."]
Tags = Annotated[list[str] | None, "Labels to find it by."]
_NOTE = Answer(key=str, content=str, tags=[str], file=str, kind=str)


class StoredBlock(NamedTuple):
    """A block, and the page it is on."""

    path: str
    kind: Literal["summary", "daily"]
    block: Block

    @property
    def rank(self) -> tuple[bool, float, str, int]:
        """Greatest for the canonical block: the summary page comes before daily pages, then the newest wins."""
        return self.kind == "summary", sort_key(self.block.at), self.path, self.block.start


def memory_write(
    home: Home,
    key: Key,
    content: Content,
    target: Annotated[
        Literal["daily", "summary"], "`daily`: today's page; `summary`: the curated page that lasts."
    ] = "daily",
    tags: Tags = None,
) -> Annotated[Reply, Answer(success=bool, data=Answer(key=str, target=str, path=str))]:
    """Store a new memory under a key that is not in use yet.

    Fails with MEMORY_KEY_EXISTS if the key is in use: memory_read shows it, memory_update changes it.
    """
    key = require_new_key("key", _check_key(key))
    labels = _drop_blank_tags(tags)
    path = home.layout.curated_page(home.agent)
    with home.storage.pages.lock(home.layout.notes_lock(home.agent)):
        duplicates, warnings = _find_blocks(home, key)
        if duplicates:
            where = home.layout.notes_path(home.agent, duplicates[0].path)
            raise KeyExists(f"{key!r} exists already, in {where}", advice="use memory_update to change it")
        at = format_timestamp(home.clock())

        def add(text: str) -> str:
            return blocks.append(text, key, content, at, labels)

        if target == "summary":
            home.writer.edit(path, add)
        else:
            path = home.writer.edit_day(home.today(), add)
    return _success({"key": key, "target": target, "path": home.layout.notes_path(home.agent, path)}, warnings)


def memory_update(
    home: Home, key: Key, content: Content, tags: Tags = None
) -> Annotated[Reply, Answer(success=bool, data=Answer(key=str, path=str, kind=str))]:
    """Replace the content and tags of an existing memory. Without tags, it has none afterwards.

    Fails with MEMORY_KEY_NOT_FOUND if there is no such key: use memory_write for a new one.
    """
    key = _check_key(key)
    labels = _drop_blank_tags(tags)
    with home.storage.pages.lock(home.layout.notes_lock(home.agent)):
        note, warnings = _find_canonical(home, key)
        at = format_timestamp(home.clock())

        def replace(text: str) -> str:
            same = [StoredBlock(note.path, note.kind, block) for block in blocks.find(text, key)]
            newest = max(same, key=lambda each: each.rank, default=None)
            return blocks.append(blocks.remove(text, newest.block) if newest else text, key, content, at, labels)

        home.writer.edit(note.path, replace)
    return _success({"key": key, "path": home.layout.notes_path(home.agent, note.path), "kind": note.kind}, warnings)


def memory_read(
    home: Home, key: Key
) -> Annotated[Reply, Answer(success=bool, data=_NOTE | Answer(created_at=str, updated_at=str))]:
    """Read one memory by its exact key. The summary page comes first, then the days, newest first."""
    note, warnings = _find_canonical(home, _check_key(key))
    read_text(home.storage.pages, note.path)  # it is the base of a later merge
    at = note.block.at
    return _success({**_note_row(home, note), "created_at": at, "updated_at": at}, warnings)


def memory_search(
    home: Home,
    query: Annotated[str, "Text to look for in keys and contents, in any case; may be empty to list by tags."],
    tags: Annotated[list[str] | None, "Only memories that have all of these tags."] = None,
    limit: Annotated[int, "How many at most.", Clamp(1, 100)] = 10,
) -> Annotated[Reply, Answer(success=bool, data=Answer(results=[_NOTE | Answer(at=str)]))]:
    """Find memories by text in their key or content. Those of the summary page come first, then the newest days."""
    labels = set(_drop_blank_tags(tags))
    needle = query.casefold()
    notes, warnings = _read_all_blocks(home)
    matches = [
        note
        for note in notes
        if labels <= set(note.block.tags)
        and (needle in note.block.key.casefold() or needle in note.block.content.casefold())
    ]
    matches.sort(key=lambda note: note.rank, reverse=True)
    rows = [{**_note_row(home, note), "at": note.block.at} for note in matches[:limit]]
    results, cut = fit_rows(rows, "content", "memory_read reads one whole", whole=query, limit=LIST_CHARACTERS)
    return _success({"results": results}, [cut, *warnings])


def _note_row(home: Home, note: StoredBlock) -> dict[str, Any]:
    return {
        "key": note.block.key,
        "content": note.block.content,
        "tags": list(note.block.tags),
        "file": home.layout.notes_path(home.agent, note.path),
        "kind": note.kind,
    }


def _check_key(key: str) -> str:
    trimmed = key.strip()
    if is_blank(trimmed):
        raise InvalidKey("the key is blank: give a name of one line")
    require_key("key", trimmed)
    if "\0" in trimmed:
        raise InvalidKey(f"the key {trimmed!a} has a null character in it: take it out")
    return trimmed


def _drop_blank_tags(tags: list[str] | None) -> list[str]:
    """Return the tags as they were given, without blank ones."""
    labels = [tag for tag in tags or [] if not is_blank(tag)]
    require_valid_name("tag", *labels)
    return labels


def _find_canonical(home: Home, key: str) -> tuple[StoredBlock, list[str]]:
    notes, warnings = _find_blocks(home, key)
    if not notes:
        advice = "use memory_search to find the right key, or memory_write to store it"
        raise KeyNotFound(f"there is no note {key!r}{_suggest_key(home, key)}", advice=advice)
    return notes[0], warnings


def _suggest_key(home: Home, key: str) -> str:
    """Return the end of a sentence that names the most similar key in use; empty if none is similar."""
    similar = find_similar(key, (note.block.key for note in _read_all_blocks(home)[0]))
    return f" (did you mean {similar!r}?)" if similar else ""


def _find_blocks(home: Home, key: str) -> tuple[list[StoredBlock], list[str]]:
    """Return the blocks of a key, the canonical one first. Pages that do not contain the key are not parsed."""
    summary = home.layout.curated_page(home.agent)
    holding, warnings = home.storage.pages.find_text(home.layout.notes_tree(home.agent), key)
    texts = dict(holding)
    if not summary.startswith(home.layout.notes_tree(home.agent) + "/"):
        texts[summary], problem = read_text(home.storage.pages, summary)
        warnings += problem
    notes: list[StoredBlock] = []
    for path in _note_pages(home, [*texts], summary):
        notes += (_stored_block(path, summary, block) for block in blocks.find(texts.get(path, ""), key))
    return sorted(notes, key=lambda note: note.rank, reverse=True), warnings


def _read_all_blocks(home: Home) -> tuple[list[StoredBlock], list[str]]:
    summary = home.layout.curated_page(home.agent)
    notes: list[StoredBlock] = []
    warnings: list[str] = []
    for path in _note_pages(home, home.storage.pages.list(home.layout.notes_tree(home.agent), deep=True), summary):
        text, problem = read_text(home.storage.pages, path)
        warnings += problem
        notes += (_stored_block(path, summary, block) for block in blocks.parse(text))
    return notes, warnings


def _note_pages(home: Home, paths: list[str], summary: str) -> list[str]:
    """Return the pages that may have blocks, and the summary page, which some layouts keep elsewhere."""
    return [*dict.fromkeys([*home.layout.notes_pages(home.agent, paths), summary])]


def _stored_block(path: str, summary: str, block: Block) -> StoredBlock:
    return StoredBlock(path, "summary" if path == summary else "daily", block)


def _success(data: dict[str, Any], warnings: list[str]) -> Reply:
    return with_warning({"success": True, "data": data}, *warnings)


_CODES: dict[type[CommonplaceError], str] = {
    InvalidKey: "MEMORY_INVALID_KEY",
    KeyExists: "MEMORY_KEY_EXISTS",
    KeyNotFound: "MEMORY_KEY_NOT_FOUND",
}


def _refuse(error: CommonplaceError, _tool: str, _arguments: Mapping[str, Any]) -> Reply:
    code = _CODES.get(type(error), "INVALID_PATH" if isinstance(error, InvalidArgument) else "MEMORY_STORAGE_ERROR")
    if isinstance(error, InvalidChoice) and error.field == "target":
        code = "MEMORY_INVALID_TARGET"
    if isinstance(error, NullCharacter) and error.field == "key":
        code = "MEMORY_INVALID_KEY"
    return {"success": False, "error": {"code": code, "message": str(error)}}


TOOLSET = toolset(
    "notes",
    [
        Tool(memory_write),
        Tool(memory_update, destructive=True),
        Tool(memory_read, reads_only=True),
        Tool(memory_search, reads_only=True),
    ],
    _refuse,
)
