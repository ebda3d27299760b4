"""Related pages: those related to one page, and the map of memory as a graph.

Related to a page are similar pages, pages that mention it, and the days before and after it. On the map, names that
many pages mention are hubs; pages that link to each other, and records that share a key or tags, are connected.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...errors import CommonplaceError
from ...facts.names import Name, find_names
from ...facts.sentences import find_sentences
from ...formats import blocks, frontmatter
from ...formats.html import find_links
from ...home import Home
from ...index.base import Candidate
from ...index.handle import IndexView
from ...index.recalls import without_recalls
from ...index.tokenizer import tokenize_query
from ...model import EVERYTHING, Hit, Record
from ...schema import BOOLEAN, INTEGER, TEXT, array, integer, object_of, one_of
from ...storage.layout import stem
from ...storage.records import read_texts
from .endpoints import PAGE_PATH, ApiRequest, Endpoint, Parameter, ResponseSpec
from .pages import LinkResolver, index_link_names, page_title, read_page, record_folders, resolve_page, resolve_wikilink

Row = dict[str, Any]
MAX_RELATED = 6
MAX_MENTIONS = 20
MAX_EXCERPT_CHARACTERS = 200
_SEARCHED_CHARACTERS = 600  # of a page, searched for to find similar ones
_SEARCHED_HITS = 30
_MENTION_CANDIDATES = 400  # candidate passages read per name
_MIN_NAME_CHARACTERS = 3
_MAX_SHORT_WORDS = 3  # a sentence this short is shown with the one before it
_KINDS = frozenset({"page", "record", "skill"})
_HEADING = re.compile(r"^#{1,6}\s+(.*)$", re.MULTILINE)


def get_related(request: ApiRequest) -> Row:
    home = request.home
    path = request.parameters["path"]
    resolved = resolve_page(home, path)
    _, body = frontmatter.split(read_page(home, path).text)
    names = _find_names(path, resolved.title, body)
    mentions = _find_mentions(home, path, names)
    mentioning = {row["path"] for row in mentions}
    related = [row for row in _find_similar(home, path, body) if row["path"] not in mentioning]
    return {"related": related[:MAX_RELATED], "mentions": mentions, **_find_neighbour_days(home, path)}


def _find_names(path: str, title: str, body: str) -> list[str]:
    """Return the names of a page: by its file, its title and its first heading."""
    heading = _HEADING.search(body)
    names = dict.fromkeys((stem(path), title, heading[1].strip() if heading and heading[0].startswith("# ") else ""))
    return [name for name in names if len(name) >= _MIN_NAME_CHARACTERS]


def _find_similar(home: Home, path: str, body: str) -> list[Row]:
    """Return the pages that a search for the beginning of this one finds, best first."""
    query = _HEADING.sub("", body).strip()[:_SEARCHED_CHARACTERS]
    if not query:
        return []
    with without_recalls():
        hits = home.search(query, _SEARCHED_HITS).hits
    best: dict[str, Hit] = {}
    for hit in hits:
        if hit.path != path:
            best.setdefault(hit.path, hit)
    rows = (_describe(home, hit, _first_sentence(hit.text)) for hit in best.values())
    return [row for row in rows if row]


def _first_sentence(text: str) -> str:
    return next((sentence.text for sentence in find_sentences(text)), text.strip())


def _describe(home: Home, hit: Hit, excerpt: str) -> Row:
    """Return a page as a row; an empty row for a log or a transcript."""
    place = home.index.scope.place(hit.path)
    if place is None or place.kind not in _KINDS:
        return {}
    return {
        "path": hit.path,
        "title": hit.key or page_title(home, hit.path, place),
        "scope": str(place.scope),
        "from": hit.start,
        "to": hit.end,
        "text": excerpt[:MAX_EXCERPT_CHARACTERS],
    }


def _find_mentions(home: Home, path: str, names: list[str]) -> list[Row]:
    """Return the pages that link to a page or name it, newest first, each once."""
    pattern = _name_pattern(names)
    links = LinkResolver(home)
    rows: dict[str, Row] = {}
    for candidate in _newest_first(_find_candidates(home, names)):
        hit = candidate.hit
        if hit.path == path or hit.path in rows:
            continue
        why = "link" if path in _linked_pages(hit, links) else "name" if pattern.search(hit.text) else ""
        if why and (row := _describe(home, hit, _sentence_with(hit.text, pattern))):
            rows[hit.path] = {**row, "why": why}
            if len(rows) == MAX_MENTIONS:
                break
    return list(rows.values())


def _name_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of names, in which spaces, dashes and underscores are the same."""
    every = "|".join(r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", name))) for name in names)
    return re.compile(rf"(?<!\w)(?:{every or '(?!)'})(?!\w)", re.IGNORECASE)


def _find_candidates(home: Home, names: Iterable[str]) -> list[Candidate]:
    """Return the passages that have words of the names."""
    words = {form: 1.0 for name in names for word in tokenize_query(name) for form in word.forms}
    viewer = home.visibility.viewer()

    def ask(view: IndexView) -> list[Candidate]:
        numbers = view.index.match_terms(words, viewer, EVERYTHING, _MENTION_CANDIDATES)
        return view.index.load_candidates([*numbers])

    return home.index.query(ask) if words else []


def _newest_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    def sort_key(candidate: Candidate) -> tuple[int, str, str]:
        return candidate.day or 0, candidate.hit.at or "", candidate.hit.path

    return sorted(candidates, key=sort_key, reverse=True)


def _linked_pages(hit: Hit, links: LinkResolver) -> Iterator[str]:
    for link in find_links(hit.text, hit.path) if "[" in hit.text else ():
        yield links.resolve(link.target) if link.is_wiki else link.target


def _sentence_with(text: str, pattern: re.Pattern[str]) -> str:
    """Return the first sentence with a name; a short one, such as `See [[it]].`, with the sentence before it."""
    sentences = [sentence.text for sentence in find_sentences(text)]
    at = next((number for number, each in enumerate(sentences) if pattern.search(each)), 0)
    if not sentences:
        return text.strip()
    is_short = at > 0 and len(sentences[at].split()) <= _MAX_SHORT_WORDS
    return f"{sentences[at - 1]} {sentences[at]}" if is_short else sentences[at]


def _find_neighbour_days(home: Home, path: str) -> Row:
    """Return the daily pages before and after a daily page; None for any other page."""
    layout = home.layout
    if not layout.day_of(home.agent, path):
        return {"previous": None, "next": None}
    try:
        paths = home.storage.pages.list(layout.days_folder(home.agent), ".md", deep=True)
    except CommonplaceError:
        paths = []
    days = sorted({*((day, each) for each in paths if (day := layout.day_of(home.agent, each)))})
    at = next((number for number, (_, each) in enumerate(days) if each == path), None)
    around = [None, *({"path": each, "title": day} for day, each in days), None]
    return {"previous": around[at], "next": around[at + 2]} if at is not None else {"previous": None, "next": None}


_FIELDS = {"path": TEXT, "title": TEXT, "scope": TEXT, "from": INTEGER, "to": INTEGER, "text": TEXT}
_DAY = {"anyOf": [object_of({"path": TEXT, "title": TEXT}), {"type": "null"}]}
_RELATED = object_of(
    {
        "related": array(object_of(_FIELDS)),
        "mentions": array(object_of({**_FIELDS, "why": one_of("link", "name")})),
        "previous": _DAY,
        "next": _DAY,
    }
)


MAX_NODES = 2000
MAX_EDGES = 10_000
MAX_TAG_PAGES = 6  # a tag on more pages becomes a node, instead of an edge between each two of them
MAX_HUBS = 60
HUB_RESERVE = 20  # one node in twenty is left to hubs and tags, where there are more pages than nodes
MIN_HUB_PAGES = 3  # a name that fewer pages mention is no hub
MAX_NAMED_CHARACTERS = 100_000  # of a page in which names are looked for
MAX_HUBS_OF_PAGE = 3  # edges from a page to hubs, rarest first: a page that names everybody says little
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
    hub: bool = False


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
        "nodes": [node._asdict() for node in graph.nodes],
        "edges": [edge._asdict() for edge in graph.edges],
        "left_out": graph.left_out,
    }


def build_link_graph(home: Home, max_nodes: int = MAX_NODES) -> LinkGraph:
    pages = [path for path, _ in home.visibility.list_pages() if path.endswith(".md")]
    reserve = max_nodes // HUB_RESERVE if len(pages) > max_nodes else 0
    newest = pages[: max_nodes - reserve]
    known = set(newest)
    records = [
        record for folder in record_folders(home) for record in home.list_records(folder)[0] if record.path in known
    ]
    texts = read_texts(home.storage.pages, _list_texts(home, known))
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
    page_texts = {
        path: text[:MAX_NAMED_CHARACTERS]
        for path, text in texts.items()
        if "/activity/" not in path or not path.startswith(own)
    }
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
            yield GraphNode(hub.id, hub.name.text, hub.name.kind, "", len(hub.name.keys), hub=True)


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


def _list_texts(home: Home, known: set[str]) -> list[str]:
    """Return the pages that may contain links or notes."""
    paths = [path for folder in _text_folders(home) for path in sorted(known) if path.startswith(f"{folder}/")]
    return [*paths, *known.intersection([home.layout.shared_curated])]


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
    """Return the pages of each tag that is on more than one page: records first, then pages of notes."""
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
            yield GraphNode(path, title, place.kind, str(place.scope), size, hub=path in mentions)


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
        "GET /v1/related/{path}",
        get_related,
        "Pages about the same, pages that link to a page or name it, and of a daily page the days around it.",
        tag="pages",
        parameters=[PAGE_PATH],
        responses={200: ResponseSpec("What belongs to it.", _RELATED)},
        problems=[404, 422],
    ),
    Endpoint(
        "GET /v1/map",
        get_map,
        "Which pages are related: by names that many mention, links, keys and tags.",
        parameters=[Parameter("limit", integer(1, MAX_NODES), "How many pages at most.")],
        responses={200: ResponseSpec("A graph.", _MAP)},
    ),
]
