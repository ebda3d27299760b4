"""The map of memory as a graph: names that many pages mention are its hubs; pages that link to each other, and records
that share a key or tags, are tied."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...errors import CommonplaceError
from ...facts.names import Name, find_names
from ...formats import blocks
from ...formats.html import find_links
from ...home import Home
from ...model import Record
from ...schema import BOOLEAN, INTEGER, TEXT, array, integer, object_of, one_of
from .endpoints import ApiRequest, Endpoint, Parameter, ResponseSpec
from .page_access import index_link_names, page_title, record_folders, resolve_wikilink

MAX_NODES = 2000
MAX_EDGES = 10_000
MAX_TAG_PAGES = 6  # a tag on more pages becomes a node, instead of an edge between each two of them
MAX_HUBS = 60
HUB_RESERVE = 20  # one node in twenty is left to hubs and tags, where there are more pages than nodes
MIN_HUB_PAGES = 3  # that mention a name
MAX_HUBS_OF_PAGE = 3  # to which a page is drawn, the rarest first: a page that names everybody is nobody's
MAX_LABEL_CHARACTERS = 100
_LINK_MARKER = "["  # a page without it has no links
_TAG_MARKER = "tags="  # a page without it has no notes with tags
PathsByTag = dict[str, dict[str, None]]  # paths in order, each once


class GraphNode(NamedTuple):
    """`size`: how many edges end here; of a hub, how many pages mention it."""

    id: str
    label: str
    kind: str
    scope: str
    size: int
    is_hub: bool = False


class GraphEdge(NamedTuple):
    """`why`: link, name, tag or key."""

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
        "nodes": [_describe_node(node) for node in graph.nodes],
        "edges": [edge._asdict() for edge in graph.edges],
        "left_out": graph.left_out,
    }


def _describe_node(node: GraphNode) -> dict[str, Any]:
    fields = node._asdict()
    return {**fields, "hub": fields.pop("is_hub")}


def build_link_graph(home: Home, max_nodes: int = MAX_NODES) -> LinkGraph:
    pages = [path for path, _ in home.visibility.list_pages() if path.endswith(".md")]
    reserve = max_nodes // HUB_RESERVE if len(pages) > max_nodes else 0
    newest = pages[: max_nodes - reserve]
    known = set(newest)
    records = [
        record for folder in record_folders(home) for record in home.list_records(folder)[0] if record.path in known
    ]
    texts = dict(_read_texts(home, known))
    links, note_tags = _read_pages(known, texts)
    tags = _collect_tags(records, note_tags)
    tag_nodes = sorted(tag for tag, paths in tags.items() if len(paths) > MAX_TAG_PAGES)
    hubs = _find_hubs(home, {**{record.path: record.text for record in records}, **texts})
    room = max(0, max_nodes - len(newest))
    hubs = [hub for hub in hubs if hub.id in known] + [hub for hub in hubs if hub.id not in known][:room]
    tag_nodes = tag_nodes[: max(0, room - sum(hub.id not in known for hub in hubs))]
    every_edge = [*links, *_name_edges(hubs), *_key_edges(records), *_tag_edges(tags, frozenset(tag_nodes))]
    edges = _unique_edges(every_edge)[:MAX_EDGES]
    degrees = Counter(end for edge in edges for end in (edge.a, edge.b))
    nodes = [*_page_nodes(home, newest, degrees, hubs), *_hub_nodes(hubs, known), *_tag_nodes(tag_nodes, degrees)]
    return LinkGraph(nodes, edges, len(pages) - len(newest))


class _Hub(NamedTuple):
    """A name that many pages mention. `id`: that of the page of this name, where there is one."""

    id: str
    name: Name


def _find_hubs(home: Home, texts: Mapping[str, str]) -> list[_Hub]:
    topics = {home.layout.topic_of(path): path for path in texts if path.startswith(f"{home.layout.world}/")}
    by_name = {_fold_name(topic): path for topic, path in topics.items()}
    own = f"{home.layout.agent_folder(home.agent)}/"
    page_texts = {path: text for path, text in texts.items() if "/activity/" not in path or not path.startswith(own)}
    names = find_names(page_texts, topics, min_texts=MIN_HUB_PAGES, limit=MAX_HUBS)
    return [_Hub(by_name.get(_fold_name(name.text), f"name:{name.text}"), name) for name in names]


def _fold_name(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


def _name_edges(hubs: list[_Hub]) -> Iterator[GraphEdge]:
    """Yield an edge from each page to the rarest of the names that it mentions."""
    by_page: dict[str, list[_Hub]] = {}
    for hub in reversed(hubs):  # the rarest first
        for path in hub.name.keys:
            if path != hub.id:
                by_page.setdefault(path, []).append(hub)
    for path, mentioned in by_page.items():
        yield from (GraphEdge(hub.id, path, "name", hub.name.text) for hub in mentioned[:MAX_HUBS_OF_PAGE])


def _hub_nodes(hubs: list[_Hub], known: set[str]) -> Iterator[GraphNode]:
    for hub in hubs:
        if hub.id not in known:
            yield GraphNode(hub.id, hub.name.text, hub.name.kind, "", len(hub.name.keys), is_hub=True)


def _read_pages(known: set[str], texts: Mapping[str, str]) -> tuple[list[GraphEdge], PathsByTag]:
    """Return the links between pages, and the tags of the notes on them."""
    names = index_link_names(known)
    edges: list[GraphEdge] = []
    tags: PathsByTag = {}
    for path, text in texts.items():
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


def _page_nodes(home: Home, paths: list[str], degrees: Counter[str], hubs: list[_Hub]) -> Iterator[GraphNode]:
    mentions = {hub.id: len(hub.name.keys) for hub in hubs}
    for path in paths:
        if place := home.index.scope.place(path):
            size = mentions.get(path, degrees[path])
            title = page_title(home, path, place)
            yield GraphNode(path, title, place.kind, str(place.scope), size, is_hub=path in mentions)


def _tag_nodes(tags: list[str], degrees: Counter[str]) -> Iterator[GraphNode]:
    return (GraphNode(_tag_id(tag), tag, "tag", "", degrees[_tag_id(tag)]) for tag in tags)


_MAP = object_of(
    {
        "nodes": array(
            object_of({"id": TEXT, "label": TEXT, "kind": TEXT, "scope": TEXT, "size": INTEGER, "hub": BOOLEAN})
        ),
        "edges": array(object_of({"a": TEXT, "b": TEXT, "why": one_of("link", "name", "tag", "key"), "label": TEXT})),
        "left_out": INTEGER,
    }
)
ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/map",
        get_map,
        "Which pages are related: by names that many mention, links, keys and tags.",
        parameters=[Parameter("limit", integer(1, MAX_NODES), "How many pages at most.")],
        responses={200: ResponseSpec("A graph.", _MAP)},
    ),
]
