"""The MCP memory server's file: entities, what was observed of them, and how they relate. One page an entity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..formats import frontmatter
from ..formats.structure import escape_unprintable
from ..storage.names import file_name
from .jsonparts import lines, objects
from .source import Source, only_file, the_file
from .values import Into, Item, Missed, Text, plain

_FOLDER = "knowledge-graph"


class _Entity:
    """All that was said of a name."""

    def __init__(self) -> None:
        self.types: dict[str, None] = {}
        self.observations: dict[str, None] = {}
        self.relations: dict[tuple[str, str], None] = {}


def recognise(source: Source) -> bool:
    name = only_file(source)
    head = source.peek(name) if name.endswith((".json", ".jsonl")) else b""
    spaceless = head.replace(b" ", b"")
    return (b'"type":"entity"' in spaceless or b'"type":"relation"' in spaceless) or (
        b'"entities":[' in spaceless and (b'"observations":' in spaceless or b'"relations":' in spaceless)
    )


def read(source: Source, into: Into) -> Iterator[Item]:
    path = the_file(source)
    data = source.take(path)
    if data is None:
        return
    found: dict[str, _Entity] = {}
    for where, event in _events(data, path, source.missed):
        if event.get("type") == "entity":
            reason = _entity(event, found)
        elif event.get("type") == "relation":
            reason = _relation(event, found)
        else:
            reason = "is neither an entity nor a relation"
        if reason:
            yield Missed(where, reason)
    at = source.modified(path)
    for name, entity in found.items():
        page = into.loose(f"{_FOLDER}/{file_name(name)}.md")
        yield Text(f"{source.place}/{path} {name}", page, _page(name, entity).encode(), at, _beside(into, name))


def _beside(into: Into, name: str) -> str:
    return into.loose(f"{_FOLDER}/imported/{file_name(name)}.md")


def _events(data: bytes, path: str, missed: list[Missed]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Lines, as the server writes them; or one object with two lists, as it answers."""
    if b'"entities"' not in data[: 1 << 12]:
        yield from ((f"{path}, line {number}", event) for number, event in lines(data, path, missed))
        return
    for name, sort, has in (("entities", "entity", "name"), ("relations", "relation", "from")):
        for number, event in objects(data, f"{path}, {name}", missed, has, (name,)):
            yield f"{path}, {name} {number}", {**event, "type": sort}


def _entity(event: dict[str, Any], found: dict[str, _Entity]) -> str:
    """Take in an entity; why not, when it is none."""
    name, observations = plain(event.get("name")), event.get("observations", [])
    if not name.strip() or not isinstance(observations, list):
        return "has no name, or no list of observations"
    entity = found.setdefault(name, _Entity())
    if kind := plain(event.get("entityType")).strip():
        entity.types[kind] = None
    entity.observations |= {plain(each).strip(): None for each in observations if plain(each).strip()}
    return "" if all(isinstance(each, str) for each in observations) else "has an observation that is no text"


def _relation(event: dict[str, Any], found: dict[str, _Entity]) -> str:
    start, end, kind = (plain(event.get(name)) for name in ("from", "to", "relationType"))
    if not (start.strip() and end.strip() and kind.strip()):
        return "lacks one of from, to and relationType"
    found.setdefault(start, _Entity()).relations[kind, end] = None
    found.setdefault(end, _Entity())
    return ""


def _page(name: str, entity: _Entity) -> str:
    head = frontmatter.render({"type": " / ".join(entity.types) or None, "aliases": _aliases(name)})
    parts = [f"# {escape_unprintable(name)}", "\n".join(_bullet(text) for text in entity.observations)]
    if entity.relations:
        links = [f"- {escape_unprintable(kind)} {_link(end)}" for kind, end in entity.relations]
        parts += ["## Relations", "\n".join(links)]
    text = "\n\n".join(part for part in parts if part) + "\n"
    return f"{head}\n{text}" if head != frontmatter.render({}) else text


def _aliases(name: str) -> list[str]:
    """The name itself, where the file's is not."""
    return [] if file_name(name) == name else [name]


def _bullet(text: str) -> str:
    return "- " + text.replace("\r\n", "\n").replace("\n", "\n  ")


def _link(name: str) -> str:
    shown = escape_unprintable(name).replace("[", "(").replace("]", ")").replace("|", "/")
    return f"[[{name}]]" if file_name(name) == name else f"[[{file_name(name)}|{shown}]]"
