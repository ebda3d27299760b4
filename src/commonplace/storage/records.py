"""Keyed records and skills: a small page each, so that a write costs the same among ten and a hundred thousand.

A `RecordFolder` is one of them: a channel's, or that of an agent's working notes. Globals have one folder for each
category; a key is one record over all of them. Where a page's name is not the key itself, its front matter has the key.

A skill is a folder with SKILL.md (front matter and instructions) and, when there is data, data.json beside it. Several
names may want one folder (`tree_removal`, `tree-removal`): the first that is created gets it, and the pages say what
their skills are called.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from typing import NamedTuple

from ..errors import BrokenFrontMatter, CommonplaceError, NotFound, PageNotFound, StorageError
from ..formats import json_text as jsontext
from ..formats import records as page_of
from ..formats.timestamps import format_timestamp, sort_key
from ..model import Clock, Json, Record, Scope, Skill
from .base import PageElsewhere, PageReader, Pages, PageWriter
from .layout import Layout, Place, stem
from .names import decode_name, file_name, is_encoded, is_plain, require_valid_name, skill_folders

Modified = Callable[[], float]

SKILL_PAGE = "SKILL.md"
SKILL_DATA = "data.json"
INJECTED = ("agent", "preferences", "user_info")  # categories that are part of every prompt


def page_exists(pages: Pages, path: str) -> bool:
    """Return whether there is a page of exactly this name: a file system that ignores case must not mix up two keys."""
    try:
        pages.modified_at(path)
    except CommonplaceError:
        return False
    return path in pages.list(path.rpartition("/")[0])


def read_text(pages: Pages, path: str) -> tuple[str, list[str]]:
    """Return a page's text and warnings, and mark the page as read; a missing page is empty."""
    try:
        page = pages.read(path)
    except PageNotFound:
        return "", []
    except CommonplaceError as error:
        return "", [f"skipped: {error}"]
    pages.mark_read(page)
    return page.text, []


def read_texts(pages: Pages, paths: Iterable[str]) -> dict[str, str]:
    """Return the texts of pages by path, without those that cannot be read, which doctor reports."""
    every = [*dict.fromkeys(paths)]
    read = pages.page_reader(every)
    texts: dict[str, str] = {}
    for path in every:
        with suppress(CommonplaceError):
            texts[path] = read(path).text
    return texts


def read_record(pages: Pages, layout: Layout, path: str) -> Record | None:
    """Return the record on a page and mark the page as read; None if there is none."""
    place = layout.place(path)
    if place is None:
        return None
    try:
        page = pages.read(path)
    except PageNotFound:
        return None
    pages.mark_read(page)
    return parse_record(page.text, path, place, lambda: pages.modified_at(path))


def record_at(pages: Pages, path: str, place: Place) -> Record:
    """Return the record on a page; its place and file time supply what the page leaves out."""
    text = pages.read(path).text
    return parse_record(text, path, place, lambda: pages.modified_at(path))


def parse_record(text: str, path: str, place: Place, modified: Modified) -> Record:
    """Parse a page as a record. Its name on disk decides the key; what its front matter says only decodes that name."""
    record = page_of.parse_record(text, Record(place.name, "", category=place.category, path=path, scope=place.scope))
    record = record._replace(key=decode_name(place.name, record.key))
    if not (record.created_at and record.updated_at):
        when = format_timestamp(datetime.fromtimestamp(modified(), UTC))
        record = record._replace(created_at=record.created_at or when, updated_at=record.updated_at or when)
    if place.scope.kind == "global":
        record = record._replace(category=decode_name(place.category, record.category))
    if place.scope.kind == "channel":
        record = record._replace(scope=Scope("channel", channel_name(text, place.scope.name)))
    return record


def channel_name(text: str, folder: str) -> str:
    """Return the channel of a record: its folder's name or, if that is encoded, the name it encodes."""
    if is_plain(folder):
        return folder
    try:
        return decode_name(folder, page_of.parse_fields(text).get("channel"))
    except BrokenFrontMatter:
        return folder


def read_key(pages: Pages, layout: Layout, path: str) -> str:
    """Return the key of a record; its name, if the page cannot be read. Only a page whose name is encoded is opened."""
    name = stem(path)
    place = None if is_plain(name) else layout.place(path)
    try:
        return record_at(pages, path, place).key if place else name
    except CommonplaceError:
        return name


class RecordFolder(NamedTuple):
    """The records of one folder."""

    pages: Pages
    writer: PageWriter
    layout: Layout
    folder: str
    clock: Clock
    fields: tuple[tuple[str, str], ...] = ()  # front matter of every page here
    reserved_names: frozenset[str] = frozenset()  # lower-case file names that are not keys

    def path(self, key: str) -> str:
        """Return the page of a key: ours or, if that is absent, the one a person named exactly so."""
        ours, *theirs = self._candidate_paths(key)
        return ours if not theirs or page_exists(self.pages, ours) else theirs[0]

    def _candidate_paths(self, key: str) -> list[str]:
        ours = f"{self.folder}/{file_name(key, self.reserved_names)}.md"
        theirs = f"{self.folder}/{key}.md"
        if (
            ours == theirs or is_encoded(key) or key.lower() in self.reserved_names
        ):  # an encoded name belongs to another key
            return [ours]
        return [ours, theirs] if page_exists(self.pages, theirs) else [ours]

    def get(self, key: str) -> Record | None:
        path = self.path(key)
        place = self.layout.place(path)
        try:
            record = record_at(self.pages, path, place) if place else None
        except PageNotFound:
            return None
        return record if record and record.key == key else None

    def put(self, key: str, value: Json, category: str = "", tags: tuple[str, ...] = ()) -> Record:
        """Write the record; the time it was first written stays."""
        return self.change(self.path(key), key, lambda _: value, category, tags)

    def change(
        self,
        path: str,
        key: str,
        value_after: Callable[[Json], Json],
        category: str = "",
        tags: tuple[str, ...] = (),
        created_at: str = "",
        *,
        base: str = "",
        start_over: bool = False,
        lock: str = "",
    ) -> Record:
        """Write what `value_after` makes of the current value (None: there is none), under the page's lock. If a lock
        is named, raise PageElsewhere if a folder beside this one has the key."""
        for what, name in (("key", key), ("category", category), *self.fields):
            require_valid_name(what, name)
        require_valid_name("tag", *tags)
        now = format_timestamp(self.clock())
        place = self.layout.place(path)
        defaults = Record(place.name if place else "", None, path=path, created_at=created_at)
        new = defaults

        def rewrite(old: str) -> str:
            nonlocal new
            old = old or base
            current = page_of.parse_record(old, defaults) if old else defaults
            created = current.created_at or (self._first_written(path) if old else now)
            new = Record(key, value_after(current.value), category or "general", tags, created, now, path)
            fields = self._front_matter(defaults.key, new)
            try:
                return page_of.render_record(old, new.value, fields, start_over=start_over)
            except BrokenFrontMatter as error:
                raise BrokenFrontMatter(f"{path}: {error}") from error

        if lock:
            self.writer.edit_unique(path, rewrite, lock)
        else:
            self.writer.edit(path, rewrite)
        return new

    def _first_written(self, path: str) -> str:
        """Return when a page was first written, as far as is known of one that does not say so."""
        return format_timestamp(datetime.fromtimestamp(self.pages.modified_at(path), UTC))

    def _front_matter(self, name: str, record: Record) -> dict[str, Json]:
        return {
            **({} if name == record.key else {"key": record.key}),
            "category": None if record.category == "general" else record.category,
            "tags": list(record.tags) or None,
            "created_at": record.created_at,
            "updated_at": record.updated_at,
            **dict(self.fields),
        }

    def delete(self, key: str) -> bool:
        """Remove the record and a person's page of the same name; return whether there was any."""
        existed = False
        for path in self._candidate_paths(key):
            with suppress(PageNotFound):
                self.writer.remove(path)
                existed = True
        return existed

    def keys(self) -> list[str]:
        """Return all keys, sorted."""
        return sorted({read_key(self.pages, self.layout, path) for path in self.pages.list(self.folder)})


class Globals(NamedTuple):
    """Records that all agents share, with a folder for each category."""

    pages: Pages
    writer: PageWriter
    layout: Layout
    clock: Clock

    def get(self, key: str) -> Record | None:
        """Return the record of a key; the newest, should a crash or a person have left two."""
        return max(self._find_all(key), key=lambda record: sort_key(record.updated_at), default=None)

    def put(self, key: str, value: Json, category: str, tags: tuple[str, ...]) -> Record | None:
        """Write the record. One in another category moves, with everything its page says, and is returned as it was."""
        require_valid_name("key", key)
        folder = self._folder_of_category(category)
        if is_plain(key):  # so that its page has the same name in every category
            with suppress(PageElsewhere):
                folder.change(folder.path(key), key, lambda _: value, "", tags, lock=_lock_name(key))
                return None
        with self.pages.lock(_lock_name(key)):
            old = self._find_all(key)
            first = min((record.created_at for record in old), key=sort_key, default="")
            newest = max(old, key=lambda record: sort_key(record.updated_at), default=None)
            base = self.pages.read(newest.path).text if newest else ""
            record = folder.change(folder.path(key), key, lambda _: value, "", tags, first, base=base)
            for other in old:
                if other.path != record.path:
                    self.writer.remove(other.path)
        return newest

    def delete(self, key: str) -> bool:
        with self.pages.lock(_lock_name(key)):
            old = self._find_all(key)
            for record in old:
                self.writer.remove(record.path)
            return bool(old)

    def _find_all(self, key: str) -> list[Record]:
        """Look in every category: there are few folders, and the storage is never stale."""
        names = [f"{name}.md" for name in dict.fromkeys((file_name(key), key))]
        folders = map(self._folder, self.pages.list_folders_with(self.layout.globals, names))
        return [record for folder in folders if (record := folder.get(key))]

    def _folder_of_category(self, category: str) -> RecordFolder:
        name = self.layout.named(self.layout.globals, category)
        folder = self._folder(name)
        return folder if name == category else folder._replace(fields=(("category", category),))

    def _folder(self, name: str) -> RecordFolder:
        return RecordFolder(self.pages, self.writer, self.layout, f"{self.layout.globals}/{name}", self.clock)


def _lock_name(key: str) -> str:
    """Return the lock of a key over all categories."""
    return f"global {key}"


class Channels(NamedTuple):
    """Records of single channels, with a folder for each."""

    pages: Pages
    writer: PageWriter
    layout: Layout
    clock: Clock

    def folder(self, channel: str) -> RecordFolder:
        folder = self.layout.channel_folder(channel)
        fields = () if folder.endswith(f"/{channel}") else (("channel", channel),)
        return RecordFolder(self.pages, self.writer, self.layout, folder, self.clock, fields)

    def exists(self, channel: str) -> bool:
        return bool(self.pages.list(self.layout.channel_folder(channel)))

    def names(self) -> tuple[list[str], list[str]]:
        """Return the channels that hold records, sorted, and warnings about names that could not be read."""
        problems: list[str] = []
        folders = self.pages.list_folders(self.layout.channels)
        return sorted({name for folder in folders for name in self._read_name(folder, problems)}), problems

    def _read_name(self, folder: str, problems: list[str]) -> Iterator[str]:
        """Yield the channel of a folder: its name or, if that is encoded, what any of its pages says."""
        paths = self.pages.list(f"{self.layout.channels}/{folder}")
        names = (self._read_channel(path, folder, problems) for path in paths if not is_plain(folder))
        if paths:
            yield next((name for name in names if name != folder), folder)

    def _read_channel(self, path: str, folder: str, problems: list[str]) -> str:
        try:
            return channel_name(self.pages.read(path).text, folder)
        except CommonplaceError as error:
            problems.append(str(error))
            return folder

    def purge(self, channel: str) -> int:
        """Remove every record of a channel and return how many there were."""
        paths = self.pages.list(self.layout.channel_folder(channel))
        if not paths:
            raise NotFound("Not found")
        for path in paths:
            try:
                self.writer.remove(path)
            except PageNotFound:  # another process removed it first
                continue
        return len(paths)


def skill_at(pages: Pages, path: str, folder: str) -> Skill:
    """Return the skill on a page, with the data beside it."""
    return parse_skill(pages.read(path).text, pages, path, folder)


def parse_skill(text: str, pages: PageReader, path: str, folder: str, *, alone: bool = False) -> Skill:
    """Parse a page as a skill, `alone` without its data. Its folder decides its name, as with records."""
    when = format_timestamp(datetime.fromtimestamp(pages.modified_at(path), UTC))
    skill = page_of.parse_skill(text, Skill(folder, "", created_at=when, updated_at=when, path=path))
    name = skill.name if folder in skill_folders(skill.name) else folder
    data, problem = ({}, "") if alone else _read_data(pages, path.removesuffix(SKILL_PAGE) + SKILL_DATA)
    return skill._replace(name=name, data=data, warning=skill.warning or problem)


def _read_data(pages: PageReader, path: str) -> tuple[dict[str, Json], str]:
    try:
        data = jsontext.parse_json(pages.read(path).text)
    except PageNotFound:
        return {}, ""
    except CommonplaceError as error:
        return {}, str(error)
    except ValueError as error:
        return {}, f"{path} is not JSON ({error})"
    return (data, "") if isinstance(data, dict) else ({}, f"{path} does not hold a JSON object")


class Skills:
    def __init__(
        self, pages: Pages, writer: PageWriter, layout: Layout, clock: Clock, only_folder: str | None = None
    ) -> None:
        """Open the skills of a memory. With `only_folder` a skill is in that folder, whatever its name is."""
        self.only_folder = only_folder
        self.pages = pages
        self.writer = writer
        self.layout = layout
        self.clock = clock

    def get(self, name: str) -> Skill | None:
        skill = self._read_skill(self.find_folder(name))
        return skill if skill and skill.name == name else None

    def all(self) -> list[Skill]:
        """Return every skill, sorted by name; one that cannot be read has a warning."""
        skills = (self._read_skill(folder) for folder in self.pages.list_folders(self.layout.skills))
        return sorted((skill for skill in skills if skill), key=lambda skill: skill.name)

    def visible_to(self, user: str | None) -> list[Skill]:
        return [skill for skill in self.all() if skill.is_visible_to(user)]

    def create(self, name: str, description: str, data: dict[str, Json], owner: str, instructions: str) -> Skill:
        """Create a skill; one that exists only gets the new description."""
        require_valid_name("name", name)
        require_valid_name("owner", owner)
        now = format_timestamp(self.clock())
        fresh = Skill(name, description, instructions, owner, data, created_at=now, updated_at=now)

        def change(old: Skill | None) -> Skill:
            return old._replace(description=description, updated_at=now) if old else fresh

        return self._change(name, change)

    def update(self, name: str, change: Callable[[Skill], Skill]) -> Skill | None:
        """Change a skill and return it; None when it does not exist."""
        now = format_timestamp(self.clock())
        if self.get(name) is None:
            return None
        return self._change(name, lambda old: change(old)._replace(updated_at=now) if old else None)

    def delete(self, name: str) -> bool:
        with self._lock(name):
            folder = self.find_folder(name)
            skill = self._read_skill(folder)
            if skill is None or skill.name != name:
                return False
            self.writer.remove(skill.path)
            with suppress(PageNotFound):
                self.writer.remove(self._data_path(folder))
            return True

    def _change(self, name: str, change: Callable[[Skill | None], Skill | None]) -> Skill:
        with self._lock(name):
            folder = self.find_folder(name)
            skill = self._read_skill(folder)
            old = skill if skill and skill.name == name else None
            new = change(old)
            if new is None:
                raise PageNotFound(self._path(folder))
            if old and old.warning:
                raise StorageError(f"{old.warning}: repair it by hand first")
            self._write(folder, old, new)
            return new

    def _write(self, folder: str, old: Skill | None, new: Skill) -> None:
        """Write the data, then the page that makes it valid; if that fails, restore the data."""
        before = self._write_data(folder, new.data) if old is None or new.data != old.data else None
        try:
            self.writer.edit(self._path(folder), lambda text: page_of.render_skill(text, new, folder))
        except CommonplaceError:
            if before is not None:
                self._restore_data(folder, before)
            raise

    def _write_data(self, folder: str, data: dict[str, Json]) -> str:
        """Write the data over what an earlier skill of that name left, and return the earlier text."""
        path = self._data_path(folder)
        try:
            before = self.pages.read(path).text
        except PageNotFound:
            before = ""
        if data or before:
            self.writer.write(path, json.dumps(data, ensure_ascii=False, indent=2) + "\n")
        return before

    def _restore_data(self, folder: str, before: str) -> None:
        with suppress(CommonplaceError):
            if before:
                self.writer.write(self._data_path(folder), before)
            else:
                self.writer.remove(self._data_path(folder))

    def _lock(self, name: str) -> AbstractContextManager[None]:
        """Return the lock of all names that want the same folder."""
        return self.pages.lock(f"skill {skill_folders(name)[0]}")

    def find_folder(self, name: str) -> str:
        """Return the folder of a skill, or the one it will get: a person's of exactly that name, else ours."""
        if self.only_folder is not None:
            return self.only_folder
        plain, unique = skill_folders(name)
        folders = self.pages.list_folders(self.layout.skills)  # exact names: a file system may ignore case
        if name not in (plain, unique) and name in folders:
            return name
        for folder in dict.fromkeys((plain, unique)):
            skill = self._read_skill(folder) if folder in folders else None
            if skill and (skill.name == name or (skill.warning and folder == unique)):
                return folder
        return unique if any(self._has_page(folder) for folder in folders if folder.casefold() == plain) else plain

    def _has_page(self, folder: str) -> bool:
        return self._read_skill(folder) is not None

    def _path(self, folder: str) -> str:
        return f"{self.layout.skills}/{folder}/{SKILL_PAGE}"

    def _data_path(self, folder: str) -> str:
        return f"{self.layout.skills}/{folder}/{SKILL_DATA}"

    def _read_skill(self, folder: str) -> Skill | None:
        path = self._path(folder)
        try:
            return skill_at(self.pages, path, folder)
        except PageNotFound:
            return None
        except CommonplaceError as error:
            return Skill(folder, "", path=path, warning=str(error))
