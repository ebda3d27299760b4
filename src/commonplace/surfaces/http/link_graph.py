"""The map of memory: pages that link to each other, and records that share a key or tags, as a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ...errors import CommonplaceError
from ...formats import blocks
from ...formats.html import find_links
from ...home import Home
from ...model import Record
from ...schema import INTEGER, TEXT, array, integer, object_of, one_of
from .endpoints import ApiRequest, Endpoint, Parameter, ResponseSpec
from .page_access import index_link_names, page_title, record_folders, resolve_wikilink

MAX_NODES = 2000
MAX_EDGES = 10_000
MAX_TAG_PAGES = 50  # a tag on more pages becomes a node, instead of an edge between each two of them
MAX_LABEL_CHARACTERS = 100
_LINK_MARKER = "["  # a page without it has no links
_TAG_MARKER = "tags="  # a page without it has no notes with tags
PathsByTag = dict[str, dict[str, None]]  # paths in order, each once


class GraphNode(NamedTuple):
    """`size`: how many edges end here."""

    id: str
    label: str
    kind: str
    scope: str
    size: int


class GraphEdge(NamedTuple):
    """`why`: link, tag or key."""

    a: str
    b: str
    why: str
    label: str


class LinkGraph(NamedTuple):
    """`left_out`: how many pages there was no room for; the newest are in."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    left_out: int


def get_map(request: ApiRequest) -> dict[str, Any]:
    graph = build_link_graph(request.home, request.parameters.get("limit", MAX_NODES))
    return {
        "nodes": [node._asdict() for node in graph.nodes],
        "edges": [edge._asdict() for edge in graph.edges],
        "left_out": graph.left_out,
    }


def build_link_graph(home: Home, max_nodes: int = MAX_NODES) -> LinkGraph:
    pages = [path for path, _ in home.visibility.list_pages() if path.endswith(".md")]
    chosen = pages[:max_nodes]
    known = set(chosen)
    records = [
        record for folder in record_folders(home) for record in home.list_records(folder)[0] if record.path in known
    ]
    links, note_tags = _read_pages(home, known)
    tags = _collect_tags(records, note_tags)
    tag_nodes = sorted(tag for tag, paths in tags.items() if len(paths) > MAX_TAG_PAGES)
    tag_nodes = tag_nodes[: max(0, max_nodes - len(chosen))]
    edges = _unique_edges([*links, *_key_edges(records), *_tag_edges(tags, frozenset(tag_nodes))])[:MAX_EDGES]
    degrees = Counter(end for edge in edges for end in (edge.a, edge.b))
    nodes = [*_page_nodes(home, chosen, degrees), *_tag_nodes(tag_nodes, degrees)]
    return LinkGraph(nodes, edges, len(pages) - len(chosen))


def _read_pages(home: Home, known: set[str]) -> tuple[list[GraphEdge], PathsByTag]:
    """Return the links between pages, and the tags of the notes on them. Each page is read once."""
    names = index_link_names(known)
    edges: list[GraphEdge] = []
    tags: PathsByTag = {}
    for path, text in _read_texts(home, known):
        for link in find_links(text, path) if _LINK_MARKER in text else ():
            target = resolve_wikilink(names, link.target) if link.is_wiki else link.target
            if target in known and target != path:
                edges.append(GraphEdge(path, target, "link", link.text[:MAX_LABEL_CHARACTERS]))
        for block in blocks.parse(text) if _TAG_MARKER in text else ():
            for tag in block.tags:
                tags.setdefault(tag, {})[path] = None
    return edges, tags


def _read_texts(home: Home, known: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the pages that may contain links or notes; one that cannot be read is left to doctor."""
    folders = _text_folders(home)
    paths = [path for folder in folders for path in sorted(known) if path.startswith(f"{folder}/")]
    curated = home.layout.shared_curated
    if curated in known and curated not in paths:
        paths.append(curated)
    read = home.storage.page_reader(paths)
    for path in paths:
        try:
            text = read(path).text
        except CommonplaceError:
            continue
        yield path, text


def _text_folders(home: Home) -> tuple[str, ...]:
    """Return the folders of pages with text of their own; none lies within another."""
    layout = home.layout
    folders = dict.fromkeys(
        (
            layout.path(layout.loose),
            layout.skills,
            layout.world,
            layout.agent_folder(home.agent),
            layout.notes_tree(home.agent),
        )
    )
    return tuple(one for one in folders if not any(one != other and one.startswith(f"{other}/") for other in folders))


def _collect_tags(records: Iterable[Record], note_tags: PathsByTag) -> dict[str, list[str]]:
    """Return the pages of each tag that is on more than one: records first, then pages of notes."""
    tags: PathsByTag = {}
    for record in records:
        for tag in record.tags:
            tags.setdefault(tag, {})[record.path] = None
    for tag, paths in note_tags.items():
        tags.setdefault(tag, {}).update(paths)
    return {tag: [*paths] for tag, paths in tags.items() if len(paths) > 1}


def _key_edges(records: Iterable[Record]) -> Iterator[GraphEdge]:
    by_key: dict[str, list[str]] = {}
    for record in records:
        by_key.setdefault(record.key, []).append(record.path)
    for key, paths in by_key.items():
        yield from (GraphEdge(paths[0], other, "key", key) for other in paths[1:])


def _tag_edges(tags: dict[str, list[str]], tag_nodes: frozenset[str]) -> Iterator[GraphEdge]:
    for tag, paths in tags.items():
        if tag in tag_nodes:
            yield from (GraphEdge(_tag_id(tag), path, "tag", tag) for path in paths)
        elif len(paths) <= MAX_TAG_PAGES:
            yield from (GraphEdge(one, other, "tag", tag) for at, one in enumerate(paths) for other in paths[at + 1 :])


def _unique_edges(edges: Iterable[GraphEdge]) -> list[GraphEdge]:
    """Return the edges, each once, whichever way it points; the last of several is kept."""
    return list({(*sorted((edge.a, edge.b)), edge.why, edge.label): edge for edge in edges}.values())


def _tag_id(tag: str) -> str:
    return f"tag:{tag}"


def _page_nodes(home: Home, paths: list[str], degrees: Counter[str]) -> Iterator[GraphNode]:
    for path in paths:
        if place := home.index.scope.place(path):
            yield GraphNode(path, page_title(home, path, place), place.kind, str(place.scope), degrees[path])


def _tag_nodes(tags: list[str], degrees: Counter[str]) -> Iterator[GraphNode]:
    return (GraphNode(_tag_id(tag), tag, "tag", "", degrees[_tag_id(tag)]) for tag in tags)


_MAP = object_of(
    {
        "nodes": array(object_of({"id": TEXT, "label": TEXT, "kind": TEXT, "scope": TEXT, "size": INTEGER})),
        "edges": array(object_of({"a": TEXT, "b": TEXT, "why": one_of("link", "tag", "key"), "label": TEXT})),
        "left_out": INTEGER,
    }
)
ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/map",
        get_map,
        "Which pages are related: by links, keys and tags.",
        parameters=[Parameter("limit", integer(1, MAX_NODES), "How many pages at most.")],
        responses={200: ResponseSpec("A graph.", _MAP)},
    ),
]
