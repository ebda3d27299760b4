"""Which files an imported item becomes. Records and skills are rendered by the code that stores them.

So an imported record looks exactly as if a tool had written it, with the times it had. Secrets are reported, redacted
or refused here, as the settings say.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Any, Literal, NamedTuple, cast

from ..errors import CommonplaceError, InvalidArgument, PageNotFound
from ..formats import frontmatter
from ..formats.json_text import replace_surrogates, round_trip
from ..formats.timestamps import format_timestamp, parse_timestamp
from ..home import Home
from ..model import Clock, Page
from ..storage.base import Pages, Paths
from ..storage.history import version_of
from ..storage.layout import FIXED_NAMES, FIXED_PAGES, Layout
from ..storage.names import MAX_NAME_BYTES, file_name
from ..storage.records import Channels, Globals, RecordFolder
from ..storage.skills import PAGE, Skills
from ..writing import screen_secrets
from .values import CLAUDE_CODE, PageItem, RecordItem, SessionItem, SkillItem

FileKind = Literal["page", "record", "skill", "session"]
_TIMES = re.compile(r"""^[ \t]*(?:created_at|updated_at):[ ]*["']?([^"'\n]+?)["']?[ ]*$""", re.MULTILINE)


class File(NamedTuple):
    """A file to write. `key`: of its record or session, unique in the home; `warning`: about a secret in it."""

    id: str
    kind: FileKind
    path: str
    data: bytes
    modified: int
    fallback_path: str = ""
    key: str = ""
    warning: str = ""


def make_files(home: Home, item: PageItem | RecordItem | SkillItem | SessionItem) -> list[File]:
    """Return an item as files; HoldsSecret or InvalidArgument if it may not or cannot be written."""
    if isinstance(item, PageItem):
        files = [_make_page(home, item)]
    elif isinstance(item, RecordItem):
        files = [_make_record(home, item)]
    elif isinstance(item, SkillItem):
        files = _make_skill(home, item)
    else:
        files = [_make_session(home, item)]
    for file in files:
        if any(len(part.encode()) > MAX_NAME_BYTES for part in file.path.split("/")):
            raise InvalidArgument("has a name that is too long for a file")
    return files


def _make_page(home: Home, item: PageItem) -> File:
    is_skill = item.path.startswith(f"{home.layout.skills}/")
    try:
        screened, warning = screen_secrets({"content": item.data.decode()}, home.settings.secrets)
        data = screened["content"].encode()
    except UnicodeDecodeError:
        if not is_skill:
            raise InvalidArgument("is not UTF-8 text") from None
        data = item.data
        warning = ""
    kind: FileKind = "skill" if is_skill else "page"
    return File(item.id, kind, item.path, data, item.modified, item.fallback_path, warning=warning)


def _make_record(home: Home, item: RecordItem) -> File:
    record = item.record
    key = _clean(record.key)
    if not key.strip():
        raise InvalidArgument("has no key")
    fields = {"key": key, "value": _check_value(record.value), "fields": dict(item.fields)}
    screened, warning = screen_secrets(fields, home.settings.secrets)
    category = _clean(record.category)
    value = screened["value"]
    tags = tuple(_clean(tag) for tag in record.tags)

    def put(pages: Pages, clock: Clock) -> None:
        layout = home.layout
        scope = item.scope
        if scope.kind == "global":
            Globals(pages, pages, layout, clock).put(key, value, category, tags)
        elif scope.kind == "channel":
            Channels(pages, pages, layout, clock).folder(_clean(scope.name)).put(key, value, category, tags)
        else:
            path = layout.working_folder(scope.name)
            folder = RecordFolder(pages, pages, layout, path, clock, reserved_names=FIXED_NAMES)
            folder.change(_working_page(folder, key), key, lambda _: value, category, tags)

    def render(created: str, updated: str) -> dict[str, str]:
        path, text = _render(put, created, updated, home.clock).popitem()
        head, body = frontmatter.split(text)
        return {path: frontmatter.edit(head, screened["fields"]) + body if item.fields else text}

    path, text = _render_with_times(home, render, record.created_at, record.updated_at).popitem()
    modified = _nanoseconds(parse_timestamp(record.updated_at) or home.clock())
    return File(item.id, "record", path, text.encode(), modified, key=key, warning=warning)


def _working_page(working: RecordFolder, key: str) -> str:
    """Return the page of a working note; the handoff and the scratchpad have fixed names."""
    fixed = {name: page for page, name in FIXED_PAGES.items()}
    return f"{working.folder}/{fixed[key]}.md" if key in fixed else working.path(key)


def _check_value(value: Any) -> Any:
    """Return a value as JSON can hold it; InvalidArgument if it cannot."""
    if value is None:
        raise InvalidArgument("has no value")
    if isinstance(value, str):
        return _clean(value)
    try:
        return round_trip(value)
    except (ValueError, TypeError) as error:
        raise InvalidArgument(f"has a value that JSON cannot represent ({error})") from error


def _clean(text: str) -> str:
    """Return text that a page can hold."""
    return replace_surrogates(text).replace("\0", "�")


def _make_skill(home: Home, item: SkillItem) -> list[File]:
    skill = item.skill
    name = _clean(skill.name)
    fields = {
        "description": skill.description,
        "instructions": skill.instructions,
        "data": _check_value(skill.data),
    }
    screened, warning = screen_secrets(fields, home.settings.secrets)
    folder = home.skills.find_folder(name)  # it may be here already, or another skill in the folder it would get

    def put(pages: Pages, clock: Clock) -> None:
        skills = Skills(pages, pages, home.layout, clock, folder)
        if skills.get(name):
            skills.update(name, lambda old: old._replace(training_progress=skill.training_progress))
        else:
            description = _clean(screened["description"])
            skills.create(name, description, screened["data"], _clean(skill.owner), _clean(screened["instructions"]))

    def render(created: str, updated: str) -> dict[str, str]:
        return _render(put, created, updated, home.clock)

    texts = _render_with_times(home, render, skill.created_at, skill.updated_at)
    modified = _nanoseconds(parse_timestamp(skill.updated_at) or home.clock())
    skill_page_first = sorted(texts.items(), key=lambda page: not page[0].endswith(PAGE))
    return [File(item.id, "skill", path, text.encode(), modified, warning=warning) for path, text in skill_page_first]


def _make_session(home: Home, item: SessionItem) -> File:
    """Return a session as JSON lines: first a line about it, then a line a turn."""
    screened, warning = screen_secrets(
        {"title": item.title, "turns": [turn.text for turn in item.turns]}, home.settings.secrets
    )
    about = {
        "type": "session",
        "source": item.source,
        "id": item.name,
        "title": screened["title"],
        "created_at": item.at,
    }
    lines: list[dict[str, Any]] = [about]
    for turn, text in zip(item.turns, screened["turns"], strict=True):
        lines.append({"role": turn.role, "name": turn.name, "timestamp": turn.at, "content": text})
    filled = ({name: value for name, value in line.items() if value} for line in lines)
    data = replace_surrogates("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in filled)).encode()
    moments = [moment for turn in item.turns if (moment := parse_timestamp(turn.at))]
    modified = _nanoseconds(max(moments, default=parse_timestamp(item.at) or home.clock()))
    day = f"-{item.at[:10]}" if item.at else ""
    path = f"{home.layout.agent_folder(item.agent)}/sessions/{item.source}{day}-{file_name(item.name)}.jsonl"
    # A hook stores sessions of Claude Code under their own ids.
    key = (item.original_id or item.name) if item.source == CLAUDE_CODE else ""
    return File(item.id, "session", path, data, modified, key=key, warning=warning)


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 10**6) * 1000


def _render_with_times(
    home: Home, render: Callable[[str, str], dict[str, str]], created: str, updated: str
) -> dict[str, str]:
    """Render pages. An item without times gets those of the page that is here, so that it stays the same page."""
    texts = render(created, updated)
    if parse_timestamp(created) or parse_timestamp(updated):
        return texts
    for path in texts:
        with suppress(CommonplaceError):
            existing = home.storage.pages.read(path).text
            times = _TIMES.findall(frontmatter.split(existing)[0])
            if len(times) == 2:
                same = render(*times)
                return same if same.get(path) == existing else render(times[0], format_timestamp(home.clock()))
    return texts


def _render(put: Callable[[Pages, Clock], None], created: str, updated: str, clock: Clock) -> dict[str, str]:
    """Return the pages that `put` makes when it runs at one time and again at another."""
    pages = _PagesInMemory()
    last = parse_timestamp(updated) or parse_timestamp(created) or clock()
    for moment in (parse_timestamp(created) or last, last):
        put(cast("Pages", pages), partial(_return_moment, moment))
    return pages.texts


def _return_moment(moment: datetime) -> datetime:
    return moment


class _PagesInMemory:
    """Pages in memory, with the methods that records and skills use."""

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

    def modified_at(self, path: str) -> float:
        self.read(path)
        return 0.0

    def list(self, folder: str) -> Paths:
        return [path for path in self.texts if path.startswith(f"{folder}/")]

    def list_folders(self, folder: str) -> Paths:
        above = f"{folder}/"
        rest = (path.removeprefix(above) for path in self.texts if path.startswith(above))
        return sorted({path.partition("/")[0] for path in rest if "/" in path})

    @contextmanager
    def lock(self, _name: str) -> Iterator[None]:
        yield


def second_fallback_path(file: File) -> str:
    """Return where a file goes if its fallback path is taken as well: a name that no other item has."""
    stem, dot, suffix = file.fallback_path.rpartition(".")
    return f"{stem}-{hashlib.blake2b(file.id.encode(), digest_size=3).hexdigest()}{dot}{suffix}"


def list_other_pages(layout: Layout, file: File, categories: list[str]) -> list[str]:
    """Return where a record of the same key could be, in other categories or as a person named it; or the session."""
    folder = file.path.rpartition("/")[0]
    if file.kind == "session":
        return [f"{folder}/{file_name(file.key)}.jsonl"]
    is_global = folder.startswith(f"{layout.globals}/")
    folders = [f"{layout.globals}/{name}" for name in categories] if is_global else [folder]
    paths = (f"{folder}/{name}.md" for folder in folders for name in (file_name(file.key), file.key))
    return [path for path in paths if path != file.path]
