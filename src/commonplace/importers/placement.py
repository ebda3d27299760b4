"""Where each thing goes, and as what bytes: made by the rooms that keep records and skills, on pages in memory.

So a record that came from elsewhere is written exactly as the tools write one, with the times it had there. Keys and
passwords are told, taken out or refused here, as the settings say.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, Literal, NamedTuple, cast

from ..errors import CommonplaceError, InvalidArgument, PageNotFound
from ..formats import frontmatter
from ..formats.json_text import replace_surrogates, round_trip
from ..formats.timestamps import format_timestamp, parse_timestamp
from ..home import Home
from ..model import Clock, Page
from ..storage.base import Pages, Paths
from ..storage.deltas import version_of
from ..storage.layout import FIXED_NAMES, FIXED_PAGES, Layout
from ..storage.names import file_name
from ..storage.records import Channels, Globals, Shelf
from ..storage.skills import PAGE, Skills
from ..tools.secret_policy import guarded
from .values import CLAUDE_CODE, Keyed, Session, Taught, Text

Sort = Literal["page", "record", "skill", "session"]
_TIMES = re.compile(r"""^\s*(?:created_at|updated_at):[ ]*["']?([^"'\n]+?)["']?[ ]*$""", re.MULTILINE)
_LONGEST_NAME = 255  # bytes of a name that file systems take


class File(NamedTuple):
    """A file to be. `key`: of the record or session it is, which no other may have; `warning`: of a secret in it."""

    id: str
    sort: Sort
    path: str
    data: bytes
    modified: int
    beside: str = ""
    key: str = ""
    warning: str = ""


def files_of(home: Home, item: Text | Keyed | Taught | Session) -> list[File]:
    """An item as files; HoldsSecret or InvalidArgument when it is none that may be written."""
    if isinstance(item, Text):
        made = [_text(home, item)]
    elif isinstance(item, Keyed):
        made = [_record(home, item)]
    elif isinstance(item, Taught):
        made = _skill(home, item)
    else:
        made = [_session(home, item)]
    for file in made:
        if any(len(part.encode()) > _LONGEST_NAME for part in file.path.split("/")):
            raise InvalidArgument("has a name that is too long for a file")
    return made


def _text(home: Home, item: Text) -> File:
    try:
        given, warning = guarded({"content": item.data.decode()}, home.settings.secrets)
        data = given["content"].encode()
    except UnicodeDecodeError:
        if not item.path.startswith(f"{home.layout.skills}/"):
            raise InvalidArgument("is not UTF-8 text") from None
        data, warning = item.data, ""
    sort: Sort = "skill" if item.path.startswith(f"{home.layout.skills}/") else "page"
    return File(item.id, sort, item.path, data, item.modified, item.beside, warning=warning)


def _record(home: Home, item: Keyed) -> File:
    record = item.record
    key = clean(record.key)
    if not key.strip():
        raise InvalidArgument("has no key")
    said = {"key": key, "value": checked_value(record.value), "fields": dict(item.fields)}
    given, warning = guarded(said, home.settings.secrets)
    category = clean(record.category)
    value, tags = given["value"], tuple(clean(tag) for tag in record.tags)

    def put(pages: Pages, clock: Clock) -> None:
        layout, scope = home.layout, item.scope
        if scope.kind == "global":
            Globals(pages, layout, clock).put(key, value, category, tags)
        elif scope.kind == "channel":
            Channels(pages, layout, clock).shelf(clean(scope.name)).put(key, value, category, tags)
        else:
            shelf = Shelf(pages, layout, layout.working_folder(scope.name), clock, taken=FIXED_NAMES)
            shelf.change(_working_page(shelf, key), key, lambda _: value, category, tags)

    def draft(created: str, updated: str) -> dict[str, str]:
        path, text = _drafted(put, created, updated, home.clock).popitem()
        head, body = frontmatter.split(text)
        return {path: frontmatter.edit(head, given["fields"]) + body if item.fields else text}

    path, text = _in_its_time(home, draft, record.created_at, record.updated_at).popitem()
    when = parse_timestamp(record.updated_at) or home.clock()
    return File(item.id, "record", path, text.encode(), _nanoseconds(when), key=key, warning=warning)


def _working_page(shelf: Shelf, key: str) -> str:
    """The page of a working note; the handoff and the scratchpad have one of their own."""
    fixed = {name: page for page, name in FIXED_PAGES.items()}
    return f"{shelf.folder}/{fixed[key]}.md" if key in fixed else shelf.path(key)


def checked_value(value: Any) -> Any:
    """A value as JSON can hold it."""
    if value is None:
        raise InvalidArgument("has no value")
    if isinstance(value, str):
        return clean(value)
    try:
        return round_trip(value)
    except (ValueError, TypeError) as error:
        raise InvalidArgument(f"has a value that JSON can not hold ({error})") from error


def clean(text: str) -> str:
    """Text that a page can hold."""
    return replace_surrogates(text).replace("\0", "�")


def _skill(home: Home, item: Taught) -> list[File]:
    skill = item.skill
    said = {"description": skill.description, "instructions": skill.instructions, "data": checked_value(skill.data)}
    given, warning = guarded(said, home.settings.secrets)

    def put(pages: Pages, clock: Clock) -> None:
        skills = Skills(pages, home.layout, clock)
        if skills.get(clean(skill.name)):
            skills.update(clean(skill.name), lambda old: old._replace(training_progress=skill.training_progress))
        else:
            description, instructions = clean(given["description"]), clean(given["instructions"])
            skills.create(clean(skill.name), description, given["data"], clean(skill.owner), instructions)

    def draft(created: str, updated: str) -> dict[str, str]:
        return _drafted(put, created, updated, home.clock)

    texts = _in_its_time(home, draft, skill.created_at, skill.updated_at)
    when = _nanoseconds(parse_timestamp(skill.updated_at) or home.clock())
    pages = sorted(texts.items(), key=lambda each: not each[0].endswith(PAGE))  # first what makes it a skill
    return [File(item.id, "skill", path, text.encode(), when, warning=warning) for path, text in pages]


def _session(home: Home, item: Session) -> File:
    """JSON lines: what it is, then a line a turn."""
    given, warning = guarded({"title": item.title, "turns": [turn.text for turn in item.turns]}, home.settings.secrets)
    about = {"type": "session", "source": item.source, "id": item.name, "title": given["title"], "created_at": item.at}
    lines: list[dict[str, Any]] = [about]
    for turn, text in zip(item.turns, given["turns"], strict=True):
        lines.append({"role": turn.role, "name": turn.name, "timestamp": turn.at, "content": text})
    shown = (json.dumps({n: v for n, v in line.items() if v}, ensure_ascii=False) for line in lines)
    data = replace_surrogates("".join(f"{line}\n" for line in shown)).encode()
    moments = [found for turn in item.turns if (found := parse_timestamp(turn.at))]
    when = _nanoseconds(max(moments, default=parse_timestamp(item.at) or home.clock()))
    day = f"-{item.at[:10]}" if item.at else ""
    name = file_name(item.name)
    folder = f"{home.layout.agent_folder(item.agent)}/sessions"
    # A hook keeps sessions of Claude Code under their own names.
    kept = (item.known_as or item.name) if item.source == CLAUDE_CODE else ""
    path = f"{folder}/{item.source}{day}-{name}.jsonl"
    return File(item.id, "session", path, data, when, key=kept, warning=warning)


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 10**6) * 1000


def _in_its_time(home: Home, draft: Callable[[str, str], dict[str, str]], created: str, updated: str) -> dict[str, str]:
    """Pages as they are written; of what came without a time, with the times it has here, so that it stays the same."""
    texts = draft(created, updated)
    if parse_timestamp(created) or parse_timestamp(updated):
        return texts
    for path in texts:
        with suppress(CommonplaceError):
            standing = home.storage.pages.read(path).text
            times = _TIMES.findall(frontmatter.split(standing)[0])
            if len(times) == 2:
                same = draft(*times)
                return same if same.get(path) == standing else draft(times[0], format_timestamp(home.clock()))
    return texts


def _drafted(put: Callable[[Pages, Clock], None], created: str, updated: str, clock: Clock) -> dict[str, str]:
    """The pages that something makes when it is written at one time and once more at another."""
    drafts = _Drafts()
    last = parse_timestamp(updated) or parse_timestamp(created) or clock()
    for when in (parse_timestamp(created) or last, last):
        put(cast("Pages", drafts), lambda when=when: when)  # type: ignore[misc]
    return drafts.texts


class _Drafts:
    """Pages in memory, as far as records and skills use them."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def read(self, path: str) -> Page:
        if path not in self.texts:
            raise PageNotFound(path)
        return Page(path, self.texts[path], version_of(self.texts[path].encode()))

    def write(self, path: str, text: str) -> None:
        self.texts[path] = text

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        self.texts[path] = change(self.texts.get(path, ""))

    def modified(self, path: str) -> float:
        self.read(path)
        return 0.0

    def list(self, folder: str) -> Paths:
        return [path for path in self.texts if path.startswith(f"{folder}/")]

    def folders(self, folder: str) -> Paths:
        above = f"{folder}/"
        rest = (path.removeprefix(above) for path in self.texts if path.startswith(above))
        return sorted({path.partition("/")[0] for path in rest if "/" in path})

    @contextmanager
    def hold(self, _name: str) -> Iterator[None]:
        yield


def farther(file: File) -> str:
    """Where a file goes when something stands beside as well: a name that no other item has."""
    stem, dot, ending = file.beside.rpartition(".")
    return f"{stem}-{hashlib.blake2b(file.id.encode(), digest_size=3).hexdigest()}{dot}{ending}"


def other_pages(layout: Layout, file: File, folders: list[str]) -> list[str]:
    """Where a record of the same key would be, had a person or another category named it; or the same session."""
    above, _, _ = file.path.rpartition("/")
    if file.sort == "session":
        return [f"{above}/{file_name(file.key)}.jsonl"]
    inside = [f"{layout.globals}/{name}" for name in folders] if above.startswith(f"{layout.globals}/") else [above]
    names = (file_name(file.key), file.key)
    places = (f"{folder}/{name}.md" for folder in inside for name in names)
    return [place for place in places if place != file.path]
