"""Pages as resources: listed, read, written, removed and merged by their path, each with its version as ETag.

This module also decides which page a path is for an agent, and whether it may be written over HTTP.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from html import unescape
from typing import Any, NamedTuple

from ...errors import (
    BrokenFrontMatter,
    InvalidArgument,
    NotFound,
    PageNotFound,
    PathIsFile,
    PathIsFolder,
    Refused,
    StaleVersion,
)
from ...formats import frontmatter
from ...formats.html import find_links, render_html
from ...home import Home, modified_timestamp
from ...maintenance import timeline
from ...model import Page, Record, Scope
from ...schema import BOOLEAN, INTEGER, TEXT, array, closed_object, integer, object_of, one_of, plain_text
from ...server.service import format_cursor, parse_cursor
from ...storage.base import ABSENT, MAX_PAGE_CHARACTERS
from ...storage.history import EDIT, as_text
from ...storage.layout import Place, stem
from ...storage.merge import Part, merge_parts
from ...storage.names import MAX_NAME_BYTES, MAX_PATH_BYTES
from ...storage.readings import read_lines
from .endpoints import (
    JSON,
    MARKDOWN,
    MAX_PATH_CHARACTERS,
    MOMENT,
    PAGE,
    ApiRequest,
    Endpoint,
    Parameter,
    Problem,
    Reply,
    ResponseSpec,
)


class ResolvedPage(NamedTuple):
    """A page as one agent sees it. `kind` is that of its place, or `directive`."""

    path: str
    kind: str
    scope: Scope
    source: str
    title: str


def resolve_page(home: Home, path: str) -> ResolvedPage:
    """Return the page at a path as this agent sees it; PageNotFound if it cannot be one, Refused if it is another
    agent's.
    """
    if _is_impossible(path):
        raise PageNotFound(path)
    place = home.layout.place(path, home.search_settings.extra_paths)
    if place is None or place.kind == "data":
        scope = _directive_scope(home, path)
        if scope is None:
            raise PageNotFound(path)
        return ResolvedPage(path, "directive", scope, "memory", stem(path))
    if not home.visibility.may_see(place):
        raise Refused(f"{path} belongs to another agent")
    return ResolvedPage(path, place.kind, place.scope, place.source, page_title(home, path, place))


def require_writable(home: Home, path: str) -> ResolvedPage:
    """Return the page at a path, for a write; Refused for sessions and for pages that belong to other programs."""
    page = resolve_page(home, path)
    refuse_session(home, path)
    if page.scope.kind == "extra":
        raise Refused(f"{path} is managed by another program: change it there")
    return page


def refuse_session(home: Home, path: str) -> None:
    """Raise Refused for the path of a session: over HTTP, transcripts are read-only."""
    if is_session(home, path):
        raise Refused(f"{path} is a session: transcripts are read-only")


def is_session(home: Home, path: str) -> bool:
    place = home.layout.place(path)
    return place is not None and place.kind == "session"


def read_page(home: Home, path: str) -> Page:
    """Return the page at a path; PageNotFound also if something that is not a page is there."""
    try:
        return home.storage.pages.read(path)
    except (PathIsFile, PathIsFolder) as error:
        raise PageNotFound(path) from error


def _is_impossible(path: str) -> bool:
    """Return whether no page can have this path: it leaves the home, or no file system accepts it."""
    for part in path.split("/"):
        if part in ("", ".", "..") or len(part.encode("utf-8", "replace")) > MAX_NAME_BYTES:
            return True
    return len(path.encode("utf-8", "replace")) > MAX_PATH_BYTES or not path.isprintable() or "\\" in path


def _directive_scope(home: Home, path: str) -> Scope | None:
    """Return the scope of a directive that this agent follows; None if the path is no such directive."""
    folder, _, name = path.rpartition("/")
    if not name.endswith(".md") or name.startswith("."):
        return None
    if folder == home.layout.directives:
        return Scope("shared")
    if folder == home.layout.agent_directives(home.agent):
        return Scope("agent", home.layout.agent_name(home.agent))
    return None


def page_title(home: Home, path: str, place: Place) -> str:
    """Return the title of a page, by its path alone."""
    if place.kind == "skill":
        return place.name
    if place.kind in ("record", "session"):
        return place.name.removesuffix(".jsonl")
    if place.scope.kind == "world":
        return home.layout.topic_of(path)
    if day := home.layout.day_of(home.agent, path):
        return day
    if path == home.layout.shared_curated:
        return "Shared memory"
    if path == home.layout.curated_page(home.agent):
        return "Curated memory"
    return stem(path)


def list_known_pages(home: Home) -> list[str]:
    """Return the indexed pages this agent may see. Pages that others are writing may be missing."""
    return home.visibility.filter_paths(home.index.query(lambda view: view.index.stamps()))


def index_link_names(paths: Iterable[str]) -> dict[str, str]:
    """Return pages by the names that a wikilink may use: their path, or their file name unless a page closer to the
    home has the same.
    """

    def by_depth(path: str) -> tuple[int, str]:
        return path.count("/"), path

    names: dict[str, str] = {}
    for path in sorted(paths, key=by_depth):
        plain = path.removesuffix(".md").casefold()
        names.setdefault(plain.rpartition("/")[2], path)
        names[plain] = path
    return names


def resolve_wikilink(names: Mapping[str, str], target: str) -> str:
    """Return the page that a wikilink means, or an empty string."""
    return names.get(target.strip().removeprefix("/").removesuffix(".md").casefold(), "")


class LinkResolver:
    """Finds the pages that links mean to one agent. The pages are listed once, for the first link."""

    def __init__(self, home: Home) -> None:
        self._home = home

    @cached_property
    def paths(self) -> frozenset[str]:
        return frozenset(list_known_pages(self._home))

    @cached_property
    def _names(self) -> dict[str, str]:
        return index_link_names(self.paths)

    def resolve(self, target: str) -> str:
        """Return the page that a wikilink means, or an empty string."""
        return resolve_wikilink(self._names, target)


def record_folders(home: Home) -> tuple[str, ...]:
    """Return the folders of the records that this agent may see."""
    layout = home.layout
    return layout.globals, layout.channels, layout.working_folder(home.agent)


Row = dict[str, Any]
DEFAULT_LIST_LIMIT = 200
MAX_LIST_LIMIT = 5000
MAX_TITLE_CHARACTERS = 200
_H1 = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
_MARKUP = re.compile(r"<[^>]*>")
_ETAG = re.compile(r'(W/)?"([^"]*)"')


def list_pages(request: ApiRequest) -> dict[str, Any]:
    parameters = request.parameters
    rows, cursor = _list_rows(
        request.home,
        prefix=parameters.get("prefix", ""),
        kind=parameters.get("kind", ""),
        limit=parameters.get("limit", DEFAULT_LIST_LIMIT),
        after=parameters.get("after", ""),
    )
    return {"pages": rows, "next": cursor or None}


def _list_rows(home: Home, *, prefix: str, kind: str, limit: int, after: str) -> tuple[list[Row], str]:
    """Return the pages an agent may see, newest first, and a cursor; the cursor is empty at the end."""
    try:
        start = parse_cursor(after)
    except InvalidArgument as error:  # well-formed, but no listing gave it
        raise NotFound(f"after: {error}") from error
    rows: list[Row] = []
    for path, at in home.visibility.list_pages():
        if (start and (at, path) >= start) or not path.startswith(prefix):
            continue
        place = home.index.scope.place(path)
        if place is None or (kind and place.kind != kind):
            continue
        if len(rows) == limit:
            return _add_record_fields(home, rows), format_cursor(rows[-1]["at"], rows[-1]["path"])
        title = page_title(home, path, place)
        row: Row = {"path": path, "kind": place.kind, "scope": str(place.scope), "title": title, "at": at}
        size = home.storage.page_size(path)
        if size is not None:
            row["size"] = size
        rows.append(row)
    return _add_record_fields(home, rows), ""


def _add_record_fields(home: Home, rows: list[Row]) -> list[Row]:
    """Return the rows with the key and tags of those that are records."""
    if not any(row["kind"] == "record" for row in rows):
        return rows
    records = {record.path: record for folder in record_folders(home) for record in home.list_records(folder)[0]}
    return [{**row, **_record_fields(records[row["path"]])} if row["path"] in records else row for row in rows]


def _record_fields(record: Record) -> Row:
    return {"key": record.key, "title": record.key, "tags": list(record.tags)}


def get_page(request: ApiRequest) -> Reply:
    path = request.parameters["path"]
    resolved = resolve_page(request.home, path)
    if "at" in request.parameters:
        return _get_page_as_of(request, resolved)
    page = read_page(request.home, path)
    if not request.grant.is_person:  # a person browsing is not part of an agent's conversation
        request.home.readings.note(path, read_lines(page.text, page.version), request.caller.session)
    headers = {"ETag": f'"{page.version}"', "Vary": "Accept"}
    if _matches_etag(page.version, request.headers.get("if-none-match", "")):
        return Reply(b"", 304, headers, MARKDOWN)
    page = page._replace(text=timeline.readable_text(request.home, path, page.text))
    if not _wants_json(request):
        return Reply(page.text, headers=headers, media=f"{MARKDOWN}; charset=utf-8")
    body = _describe_page(request.home, page, resolved)
    return Reply({**body, "version": page.version, "at": modified_timestamp(request.home, path) or ""}, headers=headers)


def _get_page_as_of(request: ApiRequest, resolved: ResolvedPage) -> Reply:
    when = request.parameters["at"]
    text = timeline.read_page_as_of(request.home, resolved.path, when)
    headers = {"Vary": "Accept"}
    if not _wants_json(request):
        return Reply(text, headers=headers, media=f"{MARKDOWN}; charset=utf-8")
    body = _describe_page(request.home, Page(resolved.path, text, ABSENT), resolved)
    return Reply({**body, "as_of": when}, headers=headers)


def _wants_json(request: ApiRequest) -> bool:
    return JSON in request.headers.get("accept", "").lower()


def _describe_page(home: Home, page: Page, resolved: ResolvedPage) -> dict[str, Any]:
    links = LinkResolver(home)
    html = render_html(page.text, page.path, links.resolve)
    return {
        "path": page.path,
        "text": page.text,
        "kind": resolved.kind,
        "scope": str(resolved.scope),
        "title": _find_heading(html) or resolved.title,
        "html": html,
        "front": _parse_front_matter(page.text),
        "links": _list_links(page, links),
    }


def _find_heading(html: str) -> str:
    """Return the text of the first top-level heading, without markup, or an empty string."""
    match = _H1.search(html)
    return unescape(_MARKUP.sub("", match[1])).strip()[:MAX_TITLE_CHARACTERS] if match else ""


def _parse_front_matter(text: str) -> dict[str, Any]:
    try:
        head, _ = frontmatter.split(text)
        return frontmatter.parse(head) if head else {}
    except BrokenFrontMatter:
        return {}


def _list_links(page: Page, resolver: LinkResolver) -> list[dict[str, Any]]:
    """Return the links of a page, with the path of the page that each means, if there is one."""
    rows: list[dict[str, Any]] = []
    for link in find_links(page.text, page.path):
        path = resolver.resolve(link.target) if link.is_wiki else link.target
        row = {"target": link.target, "text": link.text}
        if path in resolver.paths:
            row["path"] = path
        rows.append(row)
    return rows


def put_page(request: ApiRequest) -> Reply:
    path = request.parameters["path"]
    expected = _expected_version(request)
    if request.headers.get("if-match", "*").strip() != "*":  # a caller that names a version has read it
        request.home.storage.pages.mark_read(Page(path, "", expected))
    try:
        saved = save_page(request.home, path, request.body, expected, request.caller.session)
    except StaleVersion as error:
        current = _current_version(request, path)
        raise (
            _make_exists_problem(path, current)
            if current and expected == ABSENT
            else _make_stale_problem(path, current)
        ) from error
    is_new = expected == ABSENT
    body = {"path": path, "created": is_new, **saved}
    return Reply(body, 201 if is_new else 200, {"ETag": f'"{saved["version"]}"'})


def save_page(home: Home, path: str, text: str, version: str, session: str) -> dict[str, str]:
    """Write a page whole, and return its new version; StaleVersion if it is not at this version. Secrets are reported,
    removed or refused as the settings say."""
    require_writable(home, path)
    if len(text) > MAX_PAGE_CHARACTERS:
        raise Refused(f"a page has at most {MAX_PAGE_CHARACTERS:,} characters: split it in two")
    with home.writer.call(EDIT, session=session) as outcome:
        screened = home.writer.screen({"text": text})
        new_version = home.writer.write(path, screened["text"], if_version=version)
    notes = {"warning": "; ".join(outcome.warnings), "conflict": "; ".join(outcome.conflicts)}
    return {"version": new_version} | {name: text for name, text in notes.items() if text}


def delete_page(request: ApiRequest) -> Reply:
    home = request.home
    path = request.parameters["path"]
    expected = _expected_version(request)
    if expected == ABSENT:
        raise PageNotFound(path)
    require_writable(home, path)
    try:
        with home.writer.call("remove", session=request.caller.session):
            home.writer.remove(path, if_version=expected)
    except StaleVersion as error:
        raise _make_stale_problem(path, _current_version(request, path)) from error
    return Reply(b"", 204, media=MARKDOWN)


def _expected_version(request: ApiRequest) -> str:
    """Return the version that the page must have by the request's condition; Problem if there is none, or if the
    page has another."""
    match = request.headers.get("if-match")
    none_match = request.headers.get("if-none-match")
    if (match is None) == (none_match is None):
        raise Problem(428, 'name the version: If-Match: "VERSION" as you read it, or If-None-Match: * for a new page')
    path = request.parameters["path"]
    current = _current_version(request, path)
    if none_match is not None:
        if none_match.strip() != "*":
            raise Problem(400, "If-None-Match must be * when a page is written: the page must not exist yet")
        if current != ABSENT:
            raise _make_exists_problem(path, current)
        return ABSENT
    if current == ABSENT or not _matches_etag(current, match or "", strong=True):
        raise _make_stale_problem(path, current)
    return current


def _current_version(request: ApiRequest, path: str) -> str:
    resolve_page(request.home, path)
    try:
        return read_page(request.home, path).version
    except PageNotFound:
        return ABSENT


def _matches_etag(version: str, header: str, *, strong: bool = False) -> bool:
    """Return whether a list of ETags contains a version. A weak one is enough for a read, not for a write."""
    if header.strip() == "*":
        return True
    return any(tag == version and not (weak and strong) for weak, tag in _ETAG.findall(header))


def _make_stale_problem(path: str, current: str) -> Problem:
    if current:
        detail = f"{path} has changed since you read it: read it again, or POST /v1/merge, then write"
    else:
        detail = f"{path} was removed: read it again, then write"
    return _make_precondition_problem(path, current, detail)


def _make_exists_problem(path: str, current: str) -> Problem:
    detail = f"{path} exists already: choose another path, or read it and write with If-Match"
    return _make_precondition_problem(path, current, detail)


def _make_precondition_problem(path: str, current: str, detail: str) -> Problem:
    headers = {"ETag": f'"{current}"'} if current else None
    return Problem(412, detail, headers, current=current, path=path, code=StaleVersion.code)


def merge_page(request: ApiRequest) -> dict[str, Any]:
    """Merge a text with the page as it is now, where both were made from one version of it."""
    home = request.home
    path = request.body["path"]
    base_version = request.body["base"]
    require_writable(home, path)  # read-only pages cannot be merged into
    base = as_text(home.storage.history.read_version(path, base_version)) if base_version != ABSENT else ""
    home.storage.pages.record_outside_edits([path])  # the text returned here is the base of the next merge
    try:
        page = read_page(home, path)
    except PageNotFound:
        page = Page(path, "", ABSENT)
    merged = merge_parts(base, page.text, request.body["text"])
    return {
        "text": "".join(_mark_conflict(part) for part in merged),
        "conflicts": sum(part.kind == "conflict" for part in merged),
        "current": page.version,  # that of `theirs`
        "theirs": page.text,
        "parts": [_describe_part(part) for part in merged],
    }


def _describe_part(part: Part) -> dict[str, Any]:
    return {name: value for name, value in part._asdict().items() if value or name in ("kind", "text")}


def _mark_conflict(part: Part) -> str:
    if part.kind != "conflict":
        return part.text
    mine = _end_line(part.mine)
    theirs = _end_line(part.theirs)
    return f"<<<<<<< yours\n{mine}=======\n{theirs}>>>>>>> theirs\n"


def _end_line(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"


_PATH = Parameter("path", TEXT, "The path of the page, from the home, as search names it.", "path", required=True)
_LISTED = object_of(
    {"path": TEXT, "kind": TEXT, "scope": TEXT, "title": TEXT, "at": TEXT}, key=TEXT, tags=array(TEXT), size=INTEGER
)
_PAGE = object_of(
    {
        "path": TEXT,
        "text": TEXT,
        "kind": TEXT,
        "scope": TEXT,
        "title": TEXT,
        "html": TEXT,
        "front": {"type": "object"},
        "links": array(object_of({"target": TEXT, "text": TEXT}, path=TEXT)),
    },
    version=TEXT,
    at=TEXT,
    as_of=TEXT,
)
_WRITTEN = object_of({"path": TEXT, "version": TEXT, "created": BOOLEAN}, warning=TEXT, conflict=TEXT)
_KIND = one_of("page", "record", "skill", "activity", "session")
_CONDITIONS = [
    Parameter("If-Match", TEXT, "The ETag of the page as you read it.", "header"),
    Parameter("If-None-Match", TEXT, "* for a page that is not there yet.", "header"),
]
_PART = object_of(
    {"kind": one_of("same", "mine", "theirs", "conflict"), "text": TEXT}, base=TEXT, theirs=TEXT, mine=TEXT
)
_MERGE = closed_object(
    {
        "path": PAGE,
        "base": plain_text("The version that was read and then changed.", max_length=100),
        "text": plain_text("The new text of the page."),
    }
)
_MERGED = object_of({"text": TEXT, "conflicts": INTEGER, "current": TEXT, "theirs": TEXT, "parts": array(_PART)})
_LISTING = [
    Parameter("prefix", {"type": "string", "maxLength": MAX_PATH_CHARACTERS}, "Only paths that begin like this."),
    Parameter("kind", _KIND, "Only pages of this kind."),
    Parameter("limit", integer(1, MAX_LIST_LIMIT), "How many at most; default: 200."),
    Parameter("after", {"type": "string", "maxLength": 4000}, "The `next` of the previous listing."),
]
_AS_MARKDOWN = ResponseSpec(
    "The page; with Accept: application/json also its HTML, links and front matter.", _PAGE, other_media=(MARKDOWN,)
)
ENDPOINTS = [
    Endpoint(
        "GET /v1/pages",
        list_pages,
        "The pages you may see, newest first.",
        parameters=_LISTING,
        tag="pages",
        responses={
            200: ResponseSpec("Some pages.", object_of({"pages": array(_LISTED), "next": {"type": ["string", "null"]}}))
        },
        problems=[404],
    ),
    Endpoint(
        "GET /v1/pages/{path}",
        get_page,
        "A page, now or as of a time.",
        tag="pages",
        waits_for_index=_wants_json,
        parameters=[
            _PATH,
            Parameter("at", MOMENT, "As it was at a time."),
            replace(_CONDITIONS[1], description="An ETag: 304 if the page still has it."),
        ],
        responses={200: _AS_MARKDOWN, 304: ResponseSpec("Not changed.", None, headers=("ETag",))},
        problems=[404, 422],
    ),
    Endpoint(
        "PUT /v1/pages/{path}",
        put_page,
        "Write a whole page, if it has not changed since you read it.",
        tag="pages",
        parameters=[_PATH, *_CONDITIONS],
        body=plain_text("The whole page."),
        body_media=MARKDOWN,
        needs="write",
        responses={
            200: ResponseSpec("Written.", _WRITTEN, headers=("ETag",)),
            201: ResponseSpec("Created.", _WRITTEN, headers=("ETag",)),
        },
        problems=[404, 409, 412, 422, 428],
    ),
    Endpoint(
        "DELETE /v1/pages/{path}",
        delete_page,
        "Remove a page, if it has not changed since you read it.",
        tag="pages",
        parameters=[_PATH, *_CONDITIONS],
        needs="write",
        responses={204: ResponseSpec("Removed.", None)},
        problems=[404, 412, 428],
    ),
    Endpoint(
        "POST /v1/merge",
        merge_page,
        "Merge your change with what others changed in the meantime.",
        tag="pages",
        body=_MERGE,
        responses={200: ResponseSpec("Both changes, with the conflicts between them.", _MERGED)},
        problems=[404, 422],
    ),
]
