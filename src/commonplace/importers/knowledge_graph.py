"""The MCP memory server's file: entities with observations and relations. Each entity becomes a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..formats import frontmatter
from ..formats.structure import escape_unprintable
from ..storage.names import file_name
from .source import Source, parse_json_lines, parse_json_list, require_single_file, single_file_name
from .values import Destination, Item, PageItem, Skipped, read_text

_FOLDER = "knowledge-graph"


class _Entity:
    """Everything the file says about one name."""

    def __init__(self) -> None:
        self.types: dict[str, None] = {}
        self.observations: dict[str, None] = {}
        self.relations: dict[tuple[str, str], None] = {}


def recognise(source: Source) -> bool:
    name = single_file_name(source)
    head = source.peek(name) if name.endswith((".json", ".jsonl")) else b""
    spaceless = head.replace(b" ", b"")
    return (b'"type":"entity"' in spaceless or b'"type":"relation"' in spaceless) or (
        b'"entities":[' in spaceless and (b'"observations":' in spaceless or b'"relations":' in spaceless)
    )


def read(source: Source, into: Destination) -> Iterator[Item]:
    path = require_single_file(source)
    data = source.read_file(path)
    if data is None:
        return
    entities: dict[str, _Entity] = {}
    for where, event in _read_events(data, path, source.skipped):
        if event.get("type") == "entity":
            reason = _add_entity(event, entities)
        elif event.get("type") == "relation":
            reason = _add_relation(event, entities)
        else:
            reason = "is neither an entity nor a relation"
        if reason:
            yield Skipped(where, reason)
    at = source.modified(path)
    for name, entity in entities.items():
        page = into.shared_page(f"{_FOLDER}/{file_name(name)}.md")
        fallback_path = into.shared_page(f"{_FOLDER}/imported/{file_name(name)}.md")
        text = _render_page(name, entity)
        yield PageItem(f"{source.location}/{path} {name}", page, text.encode(), at, fallback_path)


def _read_events(data: bytes, path: str, skipped: list[Skipped]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield entities and relations, from lines as the server stores them, or from one object as it returns them."""
    if b'"entities"' not in data[: 1 << 12]:
        for number, event in parse_json_lines(data, path, skipped):
            yield f"{path}, line {number}", event
        return
    for name, kind, field in (("entities", "entity", "name"), ("relations", "relation", "from")):
        for number, event in parse_json_list(data, f"{path}, {name}", skipped, field, (name,)):
            yield f"{path}, {name} {number}", {**event, "type": kind}


def _add_entity(event: dict[str, Any], entities: dict[str, _Entity]) -> str:
    """Add an entity; return what is wrong with it, if anything."""
    name = read_text(event.get("name"))
    observations = event.get("observations", [])
    if not name.strip() or not isinstance(observations, list):
        return "has no name, or no list of observations"
    entity = entities.setdefault(name, _Entity())
    if kind := read_text(event.get("entityType")).strip():
        entity.types[kind] = None
    entity.observations |= {read_text(each).strip(): None for each in observations if read_text(each).strip()}
    return "" if all(isinstance(each, str) for each in observations) else "has an observation that is no text"


def _add_relation(event: dict[str, Any], entities: dict[str, _Entity]) -> str:
    start, end, kind = (read_text(event.get(name)) for name in ("from", "to", "relationType"))
    if not (start.strip() and end.strip() and kind.strip()):
        return "lacks one of from, to and relationType"
    entities.setdefault(start, _Entity()).relations[kind, end] = None
    entities.setdefault(end, _Entity())
    return ""


def _render_page(name: str, entity: _Entity) -> str:
    head = frontmatter.render({"type": " / ".join(entity.types) or None, "aliases": _aliases(name)})
    parts = [f"# {escape_unprintable(name)}", "\n".join(_render_bullet(text) for text in entity.observations)]
    if entity.relations:
        links = [f"- {escape_unprintable(kind)} {_render_link(end)}" for kind, end in entity.relations]
        parts += ["## Relations", "\n".join(links)]
    text = "\n\n".join(part for part in parts if part) + "\n"
    return f"{head}\n{text}" if head != frontmatter.render({}) else text


def _aliases(name: str) -> list[str]:
    """Return the name as an alias, where the file has another one."""
    return [] if file_name(name) == name else [name]


def _render_bullet(text: str) -> str:
    return "- " + text.replace("\r\n", "\n").replace("\n", "\n  ")


def _render_link(name: str) -> str:
    label = escape_unprintable(name).replace("[", "(").replace("]", ")").replace("|", "/")
    return f"[[{name}]]" if file_name(name) == name else f"[[{file_name(name)}|{label}]]"
