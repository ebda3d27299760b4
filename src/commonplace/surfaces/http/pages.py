"""Pages as resources: listed, read, written and removed by their path, each with its version as ETag."""

from __future__ import annotations

import base64
import re
from html import unescape
from typing import Any, NamedTuple

from ...errors import BrokenFrontMatter, NotFound, PageNotFound, Refused, StaleVersion
from ...formats import frontmatter
from ...formats.html import find_links, render_html
from ...formats.transcripts import render_lines
from ...home import Home
from ...maintenance import timeline
from ...model import Page, Record
from ...schema import BOOLEAN, INTEGER, TEXT, array, closed_object, integer, object_of, one_of, plain_text
from ...storage.author import Author, write_as
from ...storage.base import ABSENT
from ...storage.deltas import as_text
from ...storage.merge import Part, parts
from ...tools.secret_policy import guarded
from .endpoints import JSON, MARKDOWN, MAX_PATH_CHARACTERS, MOMENT, PAGE, Asked, Endpoint, Given, Parameter, Reply
from .page_access import Names, Sight, page_at, record_folders, sight, sight_to_write, size_of, title_of
from .problems import Problem

Row = dict[str, Any]


def listed(home: Home, *, prefix: str = "", kind: str = "", limit: int = 200, after: str = "") -> tuple[list[Row], str]:
    """Pages, the newest first, and where to go on; empty when that was all."""
    since = _read(after)
    rows: list[Row] = []
    last = ("", "")
    for path, at in home.visible_pages():
        if (since and (at, path) >= since) or not path.startswith(prefix):
            continue
        place = home.index.scope.place(path)
        if place is None or (kind and place.kind != kind):
            continue
        if len(rows) == limit:
            return _with_records(home, rows), _as_cursor(*last)
        last = (at, path)
        row = {
            "path": path,
            "kind": place.kind,
            "scope": str(place.scope),
            "title": title_of(home, path, place),
            "at": at,
        }
        size = size_of(home, path)
        rows.append(row if size is None else {**row, "size": size})
    return _with_records(home, rows), ""


def _with_records(home: Home, rows: list[Row]) -> list[Row]:
    """What records say of themselves: their key and tags."""
    if not any(row["kind"] == "record" for row in rows):
        return rows
    known = {record.path: record for folder in record_folders(home) for record in home.records(folder)[0]}
    return [{**row, **_said(known[row["path"]])} if row["path"] in known else row for row in rows]


def _said(record: Record) -> Row:
    return {"key": record.key, "title": record.key, "tags": list(record.tags)}


def _as_cursor(at: str, path: str) -> str:
    return base64.urlsafe_b64encode(f"{at} {path}".encode()).decode().rstrip("=")


def _read(after: str) -> tuple[str, str] | None:
    if not after:
        return None
    try:
        at, _, path = base64.b64decode(after + "=" * (-len(after) % 4), b"-_", validate=True).decode().partition(" ")
    except ValueError as error:
        raise NotFound("after is not what a listing gave as next: list from the start") from error
    return at, path


_LARGEST = 4_000_000  # characters of a page: more than is searched of one


class Saved(NamedTuple):
    version: str
    warning: str = ""
    conflict: str = ""


class Merged(NamedTuple):
    """`text`: what both made of it, with marks where they meet. `current`: the version of theirs."""

    text: str
    conflicts: int
    current: str
    theirs: str
    parts: list[dict[str, Any]]


def save(home: Home, path: str, text: str, version: str, session: str = "") -> Saved:
    """Write a page whole; StaleVersion when it is not as it was read. Secrets are told, taken out or refused as the
    settings say."""
    sight_to_write(home, path)
    if len(text) > _LARGEST:
        raise Refused(f"a page has at most {_LARGEST:,} characters: write two of them")
    given, warning = guarded({"text": text}, home.settings.secrets)
    try:
        with write_as(Author("edit", home.agent, session or home.session)) as told:
            made = home.storage.pages.write(path, given["text"], if_version=version)
    finally:
        home.follow()
    said = [sentence for sentence in (warning, *told.warnings) if sentence]
    return Saved(made, "; ".join(said), "; ".join(told.conflicts))


def delete(home: Home, path: str, version: str, session: str = "") -> None:
    """Remove a page; StaleVersion when it is not as it was read."""
    sight_to_write(home, path)
    try:
        with write_as(Author("remove", home.agent, session or home.session)):
            home.storage.pages.remove(path, if_version=version)
    finally:
        home.follow()


def merged(home: Home, path: str, base: str, text: str) -> Merged:
    """What a text and the page as it is now make together, where both come from one version of it."""
    sight(home, path)
    was = as_text(home.storage.history.read_version(path, base)) if base != ABSENT else ""
    home.storage.pages.record_outside_edits([path])  # what is shown here is what the next merge begins from
    try:
        now = page_at(home, path)
        theirs, current = now.text, now.version
    except PageNotFound:
        theirs, current = "", ABSENT
    found = parts(was, theirs, text)
    conflicts = sum(part.kind == "conflict" for part in found)
    shown = [
        {name: value for name, value in part._asdict().items() if value or name in ("kind", "text")} for part in found
    ]
    return Merged("".join(_marked(part) for part in found), conflicts, current, theirs, shown)


def _marked(part: Part) -> str:
    if part.kind != "conflict":
        return part.text
    mine, theirs = (side if side.endswith("\n") or not side else f"{side}\n" for side in (part.mine, part.theirs))
    return f"<<<<<<< yours\n{mine}=======\n{theirs}>>>>>>> theirs\n"


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
_H1, _MARKUP = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL), re.compile(r"<[^>]*>")
_LONGEST_TITLE = 200  # characters
_TAG = re.compile(r'(W/)?"([^"]*)"')
_CONDITIONS = [
    Parameter("If-Match", TEXT, "The ETag of the page as you read it.", "header"),
    Parameter("If-None-Match", TEXT, "* for a page that is not there yet.", "header"),
]
_KIND = one_of("page", "record", "skill", "activity", "session")


def listing(asked: Asked) -> dict[str, Any]:
    given = asked.given
    rows, after = listed(
        asked.home,
        prefix=given.get("prefix", ""),
        kind=given.get("kind", ""),
        limit=given.get("limit", 200),
        after=given.get("after", ""),
    )
    return {"pages": rows, "next": after or None}


def read(asked: Asked) -> Reply:
    path = asked.given["path"]
    found = sight(asked.home, path)
    if "at" in asked.given:
        return _read_as_of(asked, found)
    page = page_at(asked.home, path)
    tag = {"ETag": f'"{page.version}"', "Vary": "Accept"}
    if _is_among(page.version, asked.headers.get("if-none-match", "")):
        return Reply(b"", 304, tag, MARKDOWN)
    page = page._replace(text=_shown(page.text, found))
    if not _wants_json(asked):
        return Reply(page.text, headers=tag, media=f"{MARKDOWN}; charset=utf-8")
    said = _described(asked, page, found)
    return Reply({**said, "version": page.version, "at": asked.home.written(path) or ""}, headers=tag)


def _read_as_of(asked: Asked, found: Sight) -> Reply:
    when = asked.given["at"]
    text = _shown(timeline.page_as_of(asked.home, found.path, when), found)
    if not _wants_json(asked):
        return Reply(text, headers={"Vary": "Accept"}, media=f"{MARKDOWN}; charset=utf-8")
    return Reply(
        {**_described(asked, Page(found.path, text, ABSENT), found), "as_of": when}, headers={"Vary": "Accept"}
    )


def _shown(text: str, found: Sight) -> str:
    return "\n".join(render_lines(text.split("\n"))) if found.kind == "session" else text


def _wants_json(asked: Asked) -> bool:
    return JSON in asked.headers.get("accept", "").lower()


def _described(asked: Asked, page: Page, found: Sight) -> dict[str, Any]:
    names = Names(asked.home)
    shown = render_html(page.text, page.path, names.find)
    return {
        "path": page.path,
        "text": page.text,
        "kind": found.kind,
        "scope": str(found.scope),
        "title": _heading(shown) or found.title,
        "html": shown,
        "front": _front(page.text),
        "links": _links(page, names),
    }


def _heading(shown: str) -> str:
    """The first large heading of a page as it reads, without the marks of its Markdown."""
    found = _H1.search(shown)
    return unescape(_MARKUP.sub("", found[1])).strip()[:_LONGEST_TITLE] if found else ""


def _front(text: str) -> dict[str, Any]:
    try:
        head, _ = frontmatter.split(text)
        return frontmatter.parse(head) if head else {}
    except BrokenFrontMatter:
        return {}


def _links(page: Page, names: Names) -> list[dict[str, Any]]:
    """Where a page points to, with the page that is meant where there is one."""
    found = [
        (link, names.find(link.target) if link.is_wiki else link.target) for link in find_links(page.text, page.path)
    ]
    return [
        {"target": link.target, "text": link.text, **({"path": path} if path in names.paths else {})}
        for link, path in found
    ]


def write(asked: Asked) -> Reply:
    path = asked.given["path"]
    wanted = _condition(asked)
    if asked.headers.get("if-match", "*").strip() != "*":  # who names a version has read it, and replaces it knowingly
        asked.home.storage.pages.mark_read(Page(path, "", wanted))
    try:
        done = save(asked.home, path, asked.body, wanted, asked.caller.session)
    except StaleVersion as error:
        now = _version(asked, path)
        raise _there_already(path, now) if now and wanted == ABSENT else _stale(path, now) from error
    said = {"path": path, "version": done.version, "created": wanted == ABSENT}
    said |= {name: text for name, text in (("warning", done.warning), ("conflict", done.conflict)) if text}
    return Reply(said, 201 if wanted == ABSENT else 200, {"ETag": f'"{done.version}"'})


def remove(asked: Asked) -> Reply:
    path = asked.given["path"]
    wanted = _condition(asked)
    if wanted == ABSENT:
        raise PageNotFound(path)
    try:
        delete(asked.home, path, wanted, asked.caller.session)
    except StaleVersion as error:
        raise _stale(path, _version(asked, path)) from error
    return Reply(b"", 204, media=MARKDOWN)


def _condition(asked: Asked) -> str:
    """The version that the page has to have; a problem where the request does not say, or where it has another."""
    match, none = asked.headers.get("if-match"), asked.headers.get("if-none-match")
    if (match is None) == (none is None):
        raise Problem(
            428, 'say which version you mean: If-Match: "VERSION" as you read it, or If-None-Match: * for a new page'
        )
    path = asked.given["path"]
    now = _version(asked, path)
    if none is not None:
        if none.strip() != "*":
            raise Problem(400, "If-None-Match is * when a page is written: it must not be there yet")
        if now != ABSENT:
            raise _there_already(path, now)
        return ABSENT
    if now == ABSENT or (not (match or "").strip() == "*" and not _is_among(now, match or "", strong=True)):
        raise _stale(path, now)
    return now


def _version(asked: Asked, path: str) -> str:
    sight(asked.home, path)
    try:
        return page_at(asked.home, path).version
    except PageNotFound:
        return ABSENT


def _stale(path: str, now: str) -> Problem:
    if now:
        return _faster(path, now, f"{path} is not as you read it: read it again, or POST /v1/merge, then write")
    return _faster(path, now, f"{path} is not there any more: read it again, then write")


def _there_already(path: str, now: str) -> Problem:
    return _faster(path, now, f"{path} is there already: choose another path, or read it and write with If-Match")


def _faster(path: str, now: str, said: str) -> Problem:
    return Problem(412, said, {"ETag": f'"{now}"'} if now else None, current=now, path=path, code=StaleVersion.code)


def _is_among(version: str, header: str, *, strong: bool = False) -> bool:
    """Whether a list of ETags has a version. A weak one is good enough to read by, not to write by."""
    if header.strip() == "*":
        return True
    return any(tag == version and not (weak and strong) for weak, tag in _TAG.findall(header))


def merge(asked: Asked) -> dict[str, Any]:
    body = asked.body
    return merged(asked.home, body["path"], body["base"], body["text"])._asdict()


_PART = object_of(
    {"kind": one_of("same", "mine", "theirs", "conflict"), "text": TEXT}, base=TEXT, theirs=TEXT, mine=TEXT
)
_MERGE = closed_object(
    {
        "path": PAGE,
        "base": plain_text("The version that was read and then changed.", max_length=100),
        "text": plain_text("What the page shall say."),
    }
)
_MERGED = object_of({"text": TEXT, "conflicts": INTEGER, "current": TEXT, "theirs": TEXT, "parts": array(_PART)})
_LISTING = [
    Parameter("prefix", {"type": "string", "maxLength": MAX_PATH_CHARACTERS}, "Only paths that begin like this."),
    Parameter("kind", _KIND, "Only pages of this kind."),
    Parameter("limit", integer(1, 1000), "How many at the most; 200 if not said."),
    Parameter("after", {"type": "string", "maxLength": 4000}, "What the listing before gave as `next`."),
]
_AS_MARKDOWN = Given("The page; with Accept: application/json also what it is.", _PAGE, also=(MARKDOWN,))
ENDPOINTS = [
    Endpoint(
        "GET",
        "/v1/pages",
        listing,
        "The pages you may see, newest first.",
        takes=_LISTING,
        tag="pages",
        answers={200: Given("Some pages.", object_of({"pages": array(_LISTED), "next": {"type": ["string", "null"]}}))},
        problems=[404],
    ),
    Endpoint(
        "GET",
        "/v1/pages/{path}",
        read,
        "A page, now or as of a time.",
        tag="pages",
        takes=[
            _PATH,
            Parameter("at", MOMENT, "As it was at a time."),
            _CONDITIONS[1]._replace(description="An ETag: 304 if it still holds."),
        ],
        answers={200: _AS_MARKDOWN, 304: Given("As you know it.", None, headers=("ETag",))},
        problems=[404, 422],
    ),
    Endpoint(
        "PUT",
        "/v1/pages/{path}",
        write,
        "Write a page whole, if it is as you read it.",
        tag="pages",
        takes=[_PATH, *_CONDITIONS],
        body=plain_text("The whole page."),
        body_media=MARKDOWN,
        needs="write",
        answers={200: Given("Written.", _WRITTEN, headers=("ETag",)), 201: Given("Made.", _WRITTEN, headers=("ETag",))},
        problems=[404, 409, 412, 422, 428],
    ),
    Endpoint(
        "DELETE",
        "/v1/pages/{path}",
        remove,
        "Remove a page, if it is as you read it.",
        tag="pages",
        takes=[_PATH, *_CONDITIONS],
        needs="write",
        answers={204: Given("Removed.", None)},
        problems=[404, 412, 428],
    ),
    Endpoint(
        "POST",
        "/v1/merge",
        merge,
        "Your change and theirs in one text, for who was not the first.",
        tag="pages",
        body=_MERGE,
        answers={200: Given("Both, with what meets.", _MERGED)},
        problems=[404, 422],
    ),
]
