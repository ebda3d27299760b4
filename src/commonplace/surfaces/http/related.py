"""What belongs to a page: pages that are about the same, pages that mention it, and the days before and after it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ...errors import CommonplaceError
from ...facts.sentences import find_sentences
from ...formats import frontmatter
from ...formats.html import find_links
from ...home import Home
from ...index.base import Candidate
from ...index.handle import IndexView
from ...index.recalls import without_recalls
from ...index.tokenizer import tokenize_query
from ...model import EVERYTHING, Hit
from ...schema import INTEGER, TEXT, array, object_of, one_of
from ...storage.layout import stem
from .endpoints import PAGE, ApiRequest, Endpoint, Parameter, ResponseSpec
from .page_access import LinkResolver, page_title, read_page, resolve_page

Row = dict[str, Any]
MAX_RELATED = 6
MAX_MENTIONS = 20
MAX_EXCERPT_CHARACTERS = 200
_SEARCHED_CHARACTERS = 600  # of a page, to find others like it
_SEARCHED_HITS = 30
_MENTION_CANDIDATES = 400  # passages with words of a name that are read
_MIN_NAME_CHARACTERS = 3
_MAX_SHORT_WORDS = 3  # of a sentence that says nothing without the one before it
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
    """Return what others may call a page: by its file, by its title, by its first heading."""
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
    """Return a page as a row; an empty one for what is a log or a transcript."""
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
        return view.index.load_candidates(numbers)

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
ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/related/{path}",
        get_related,
        "Pages about the same, pages that link to a page or name it, and of a daily page the days around it.",
        tag="pages",
        parameters=[Parameter("path", PAGE, "The path of a page.", "path", required=True)],
        responses={200: ResponseSpec("What belongs to it.", _RELATED)},
        problems=[404, 422],
    ),
]
