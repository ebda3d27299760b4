"""What hangs together: pages that link to each other, and records that share a key or tags, as a graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..home import Home
from ..markdown import blocks
from ..markdown.links import links
from ..model import Record
from .sight import meant, names_of, title_of

MOST = 2000  # nodes
_MOST_EDGES = 10_000
_CROWD = 50  # pages with one tag, from which on the tag is a node of its own and not a line between each two


class Node(NamedTuple):
    id: str
    label: str
    kind: str
    scope: str
    size: int  # how many edges end here


class Edge(NamedTuple):
    a: str
    b: str
    why: str  # link, tag or key
    label: str


class Web(NamedTuple):
    """`left_out`: pages that there was no room for; the newest have it."""

    nodes: list[Node]
    edges: list[Edge]
    left_out: int


def web(home: Home, most: int = MOST) -> Web:
    pages = [path for path, _ in home.visible_pages() if path.endswith(".md")]
    chosen = pages[:most]
    known = set(chosen)
    records = [record for folder in _record_folders(home) for record in home.records(folder)[0] if record.path in known]
    edges = [*_linked(home, chosen), *_same_key(records)]
    tags = _tags(home, records, known)
    crowds = sorted(tag for tag, paths in tags.items() if len(paths) > _CROWD)[: max(0, most - len(chosen))]
    edges += _same_tag(tags, frozenset(crowds))
    edges = list({(*sorted(edge[:2]), edge.why, edge.label): edge for edge in edges}.values())[:_MOST_EDGES]
    return Web([*_nodes(home, chosen, edges), *_crowds(crowds, edges)], edges, len(pages) - len(chosen))


def _record_folders(home: Home) -> tuple[str, ...]:
    layout = home.layout
    return layout.globals, layout.channels, layout.working_folder(home.agent)


def _folders(home: Home) -> tuple[str, ...]:
    """Where pages with text of their own stand; none of them within another."""
    layout = home.layout
    every = dict.fromkeys(
        (
            layout.path(layout.loose),
            layout.skills,
            layout.world,
            layout.agent_folder(home.agent),
            layout.notes_tree(home.agent),
        )
    )
    return tuple(one for one in every if not any(one != other and one.startswith(f"{other}/") for other in every))


def _linked(home: Home, paths: list[str]) -> Iterator[Edge]:
    known, names = set(paths), names_of(paths)
    for path, text in _holding(home, "[", known):
        for link in links(text, path):
            target = meant(names, link.target) if link.is_wiki else link.target
            if target in known and target != path:
                yield Edge(path, target, "link", link.text[:100])


def _holding(home: Home, text: str, known: set[str]) -> Iterator[tuple[str, str]]:
    for folder in _folders(home):
        yield from (each for each in home.pages.containing(folder, text)[0] if each[0] in known)
    curated = home.layout.shared_curated
    if curated in known and text in (said := home.text(curated)[0]):
        yield curated, said


def _same_key(records: Iterable[Record]) -> Iterator[Edge]:
    by_key: dict[str, list[str]] = {}
    for record in records:
        by_key.setdefault(record.key, []).append(record.path)
    for key, paths in by_key.items():
        yield from (Edge(paths[0], other, "key", key) for other in paths[1:])


def _tags(home: Home, records: Iterable[Record], known: set[str]) -> dict[str, list[str]]:
    """The pages of each tag: of records, and of notes on pages of notes."""
    found: dict[str, dict[str, None]] = {}
    for record in records:
        for tag in record.tags:
            found.setdefault(tag, {})[record.path] = None
    for path, text in _holding(home, "tags=", known):
        for tag in (tag for block in blocks.read(text) for tag in block.tags):
            found.setdefault(tag, {})[path] = None
    return {tag: [*paths] for tag, paths in found.items() if len(paths) > 1}


def _same_tag(tags: dict[str, list[str]], crowds: frozenset[str]) -> Iterator[Edge]:
    for tag, paths in tags.items():
        if tag in crowds:
            yield from (Edge(_tag_id(tag), path, "tag", tag) for path in paths)
        elif len(paths) <= _CROWD:
            yield from (Edge(one, other, "tag", tag) for at, one in enumerate(paths) for other in paths[at + 1 :])


def _tag_id(tag: str) -> str:
    return f"tag:{tag}"


def _nodes(home: Home, paths: list[str], edges: list[Edge]) -> Iterator[Node]:
    degree = _degrees(edges)
    for path in paths:
        place = home.index.territory.place(path)
        if place:
            yield Node(path, title_of(home, path, place), place.kind, str(place.scope), degree.get(path, 0))


def _crowds(tags: list[str], edges: list[Edge]) -> Iterator[Node]:
    degree = _degrees(edges)
    return (Node(_tag_id(tag), tag, "tag", "", degree.get(_tag_id(tag), 0)) for tag in tags)


def _degrees(edges: list[Edge]) -> dict[str, int]:
    count: dict[str, int] = {}
    for edge in edges:
        for end in edge[:2]:
            count[end] = count.get(end, 0) + 1
    return count


def as_json(found: Web) -> dict[str, Any]:
    return {
        "nodes": [node._asdict() for node in found.nodes],
        "edges": [edge._asdict() for edge in found.edges],
        "left_out": found.left_out,
    }
