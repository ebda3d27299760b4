"""What hangs together: pages that link to each other, and records that share a key or tags, as a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ...errors import CommonplaceError
from ...formats import blocks
from ...formats.html import find_links
from ...home import Home
from ...model import Record
from .page_access import index_link_names, page_title, record_folders, resolve_link

MOST = 2000  # nodes
_MOST_EDGES = 10_000
_CROWD = 50  # pages with one tag, from which on the tag is a node of its own and not a line between each two
_LINKED, _TAGGED = "[", "tags="  # what a page holds that links, and one whose notes have tags


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
    records = [record for folder in record_folders(home) for record in home.records(folder)[0] if record.path in known]
    linked, noted = _said(home, known)
    edges = [*linked, *_same_key(records)]
    tags = _tags(records, noted)
    crowds = sorted(tag for tag, paths in tags.items() if len(paths) > _CROWD)[: max(0, most - len(chosen))]
    edges += _same_tag(tags, frozenset(crowds))
    edges = list({(*sorted(edge[:2]), edge.why, edge.label): edge for edge in edges}.values())[:_MOST_EDGES]
    degrees = Counter(end for edge in edges for end in edge[:2])
    return Web([*_nodes(home, chosen, degrees), *_crowds(crowds, degrees)], edges, len(pages) - len(chosen))


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


def _said(home: Home, known: set[str]) -> tuple[list[Edge], dict[str, dict[str, None]]]:
    """What pages say themselves: where they link to, and which tags the notes on them have. Each is read once."""
    names, linked = index_link_names(known), list[Edge]()
    noted: dict[str, dict[str, None]] = {}
    for path, text in _texts(home, known):
        for link in find_links(text, path) if _LINKED in text else ():
            target = resolve_link(names, link.target) if link.is_wiki else link.target
            if target in known and target != path:
                linked.append(Edge(path, target, "link", link.text[:100]))
        for block in blocks.parse(text) if _TAGGED in text else ():
            for tag in block.tags:
                noted.setdefault(tag, {})[path] = None
    return linked, noted


def _texts(home: Home, known: set[str]) -> Iterator[tuple[str, str]]:
    """The pages with text of their own. Of files only these are read; a database is asked for many at once, and gives
    those that hold a link or a tag."""
    folders = _folders(home)
    paths = [path for folder in folders for path in sorted(known) if path.startswith(f"{folder}/")]
    if not home.storage.is_remote:
        yield from ((path, _text(home, path)) for path in paths)
    else:
        asked = ((folder, text) for folder in folders for text in (_LINKED, _TAGGED))
        found = {path: text for each in asked for path, text in home.storage.pages.find_text(*each)[0] if path in known}
        yield from ((path, found[path]) for path in paths if path in found)
    curated = home.layout.shared_curated
    if curated in known and curated not in paths:
        yield curated, _text(home, curated)


def _text(home: Home, path: str) -> str:
    try:
        return home.storage.pages.read(path).text
    except CommonplaceError:  # doctor says what is wrong with it
        return ""


def _same_key(records: Iterable[Record]) -> Iterator[Edge]:
    by_key: dict[str, list[str]] = {}
    for record in records:
        by_key.setdefault(record.key, []).append(record.path)
    for key, paths in by_key.items():
        yield from (Edge(paths[0], other, "key", key) for other in paths[1:])


def _tags(records: Iterable[Record], noted: dict[str, dict[str, None]]) -> dict[str, list[str]]:
    """The pages of each tag that more than one has: records, then pages of notes."""
    found: dict[str, dict[str, None]] = {}
    for record in records:
        for tag in record.tags:
            found.setdefault(tag, {})[record.path] = None
    for tag, paths in noted.items():
        found.setdefault(tag, {}).update(paths)
    return {tag: [*paths] for tag, paths in found.items() if len(paths) > 1}


def _same_tag(tags: dict[str, list[str]], crowds: frozenset[str]) -> Iterator[Edge]:
    for tag, paths in tags.items():
        if tag in crowds:
            yield from (Edge(_tag_id(tag), path, "tag", tag) for path in paths)
        elif len(paths) <= _CROWD:
            yield from (Edge(one, other, "tag", tag) for at, one in enumerate(paths) for other in paths[at + 1 :])


def _tag_id(tag: str) -> str:
    return f"tag:{tag}"


def _nodes(home: Home, paths: list[str], degrees: Counter[str]) -> Iterator[Node]:
    for path in paths:
        if place := home.index.scope.place(path):
            yield Node(path, page_title(home, path, place), place.kind, str(place.scope), degrees[path])


def _crowds(tags: list[str], degrees: Counter[str]) -> Iterator[Node]:
    return (Node(_tag_id(tag), tag, "tag", "", degrees[_tag_id(tag)]) for tag in tags)


def as_json(found: Web) -> dict[str, Any]:
    return {
        "nodes": [node._asdict() for node in found.nodes],
        "edges": [edge._asdict() for edge in found.edges],
        "left_out": found.left_out,
    }
