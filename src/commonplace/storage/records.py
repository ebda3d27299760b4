"""Keyed records: one small page each, so that a write costs the same among ten and among a hundred thousand.

A `Shelf` is one folder of records (a channel, an agent's working notes). Globals stand one folder a category; a key
is one record over all of them. Where a page's name is not the key's own, the page says the key in its front matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from ..errors import BrokenFrontMatter, CommonplaceError, NotFound, PageNotFound
from ..formats import records as page_of
from ..formats.timestamps import format_timestamp, sort_key
from ..model import Clock, Json, Record, Scope
from .base import Pages
from .layout import Layout, Place, stem
from .names import file_name, is_code, is_plain, refuse_null, uncoded

Modified = Callable[[], float]


def read_text(pages: Pages, path: str) -> tuple[str, list[str]]:
    """Return a page's text and warnings, and mark it as read; a missing page is empty."""
    try:
        page = pages.read(path)
    except PageNotFound:
        return "", []
    except CommonplaceError as error:
        return "", [f"skipped: {error}"]
    pages.mark_read(page)
    return page.text, []


def read_record(pages: Pages, layout: Layout, path: str) -> Record | None:
    """Return the record on a page and mark the page as read; None where there is none."""
    place = layout.place(path)
    if place is None:
        return None
    try:
        page = pages.read(path)
    except PageNotFound:
        return None
    pages.mark_read(page)
    return parse(page.text, path, place, lambda: pages.modified_at(path))


def record_at(pages: Pages, path: str, place: Place) -> Record:
    """The record on a page; what the page leaves out is told by its place and the time it was written."""
    text = pages.read(path).text
    return parse(text, path, place, lambda: pages.modified_at(path))


def parse(text: str, path: str, place: Place, modified: Modified) -> Record:
    """The record that a page is. Its name on disk decides the key; what it claims inside only decodes that name."""
    record = page_of.parse_record(text, Record(place.name, "", category=place.category, path=path, scope=place.scope))
    record = record._replace(key=uncoded(place.name, record.key))
    if not (record.created_at and record.updated_at):
        when = format_timestamp(datetime.fromtimestamp(modified(), UTC))
        record = record._replace(created_at=record.created_at or when, updated_at=record.updated_at or when)
    if place.scope.kind == "global":
        record = record._replace(category=uncoded(place.category, record.category))
    if place.scope.kind == "channel":
        record = record._replace(scope=Scope("channel", channel_name(text, place.scope.name)))
    return record


def channel_name(text: str, folder: str) -> str:
    """The channel a record belongs to: its folder's name, or, where that is a code, the name it is the code of."""
    if is_plain(folder):
        return folder
    try:
        return uncoded(folder, page_of.parse_fields(text).get("channel"))
    except BrokenFrontMatter:
        return folder


class Shelf(NamedTuple):
    """The records of one folder."""

    pages: Pages
    layout: Layout
    folder: str
    clock: Clock
    fields: tuple[tuple[str, str], ...] = ()  # what every page here says beside its own fields
    taken: frozenset[str] = frozenset()  # lower-case file names here that are not keys

    def path(self, key: str) -> str:
        """The page of a key: ours, or, where that is not there, the one a person gave exactly this name."""
        ours, *theirs = self._pages_of(key)
        return ours if not theirs or self._stands(ours) else theirs[0]

    def _pages_of(self, key: str) -> list[str]:
        ours, theirs = f"{self.folder}/{file_name(key, self.taken)}.md", f"{self.folder}/{key}.md"
        if ours == theirs or is_code(key) or key.lower() in self.taken:  # what stands under a code is another key's
            return [ours]
        return [ours, theirs] if self._stands(theirs) else [ours]

    def _stands(self, path: str) -> bool:
        try:
            self.pages.modified_at(path)
        except CommonplaceError:
            return False
        return path in self.pages.list(self.folder)  # a file system that ignores case must not mix up two keys

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
    ) -> Record:
        """Write what `value_after` makes of the standing value (None: there is none), with nobody in between."""
        for what, name in (("key", key), ("category", category), *self.fields):
            refuse_null(what, name)
        refuse_null("tag", *tags)
        now = format_timestamp(self.clock())
        place = self.layout.place(path)
        named = Record(place.name if place else "", None, path=path, created_at=created_at or now)
        new = named

        def rewrite(old: str) -> str:
            nonlocal new
            old = old or base
            standing = page_of.parse_record(old, named) if old else named
            new = Record(key, value_after(standing.value), category or "general", tags, standing.created_at, now, path)
            fields = self._front_matter(named.key, new)
            try:
                return page_of.render_record(old, new.value, fields, start_over=start_over)
            except BrokenFrontMatter as error:
                raise BrokenFrontMatter(f"{path}: {error}") from error

        self.pages.edit(path, rewrite)
        return new

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
        """Remove the record, also where a person's page of the name stands beside ours."""
        found = False
        for path in self._pages_of(key):
            with suppress(PageNotFound):
                self.pages.remove(path)
                found = True
        return found

    def keys(self) -> list[str]:
        """All keys, sorted. Only pages whose name had to be encoded are opened."""
        return sorted({key for path in self.pages.list(self.folder) for key in self._key_of(path)})

    def _key_of(self, path: str) -> Iterator[str]:
        name = stem(path)
        if is_plain(name):
            yield name
            return
        place = self.layout.place(path)
        try:
            yield record_at(self.pages, path, place).key if place else name
        except CommonplaceError:  # it is there, even if it can not be read
            yield name


class Globals:
    """Records that all agents share, one folder a category."""

    def __init__(self, pages: Pages, layout: Layout, clock: Clock) -> None:
        self.pages, self.layout, self.clock = pages, layout, clock

    def get(self, key: str) -> Record | None:
        """The record of a key; the newest, should a crash or a person have left two."""
        return max(self._all(key), key=lambda record: sort_key(record.updated_at), default=None)

    def put(self, key: str, value: Json, category: str, tags: tuple[str, ...]) -> None:
        """Write the record; one that stands in another category moves, with all that its page says."""
        refuse_null("key", key)
        with self.pages.lock(f"global {key}"):
            old = self._all(key)
            shelf = self._shelf(category)
            first = min((record.created_at for record in old), key=sort_key, default="")
            newest = max(old, key=lambda record: sort_key(record.updated_at), default=None)
            base = self.pages.read(newest.path).text if newest else ""
            record = shelf.change(shelf.path(key), key, lambda _: value, "", tags, first, base=base)
            for other in old:
                if other.path != record.path:
                    self.pages.remove(other.path)

    def delete(self, key: str) -> bool:
        with self.pages.lock(f"global {key}"):
            old = self._all(key)
            for record in old:
                self.pages.remove(record.path)
            return bool(old)

    def _all(self, key: str) -> list[Record]:
        """Looked up under every category: the folders are few, and the file system's answer is never stale."""
        shelves = (self._shelf_of(folder) for folder in self.pages.list_folders(self.layout.globals))
        return [record for shelf in shelves if (record := shelf.get(key))]

    def _shelf(self, category: str) -> Shelf:
        folder = self.layout.named(self.layout.globals, category)
        shelf = self._shelf_of(folder)
        return shelf if folder == category else shelf._replace(fields=(("category", category),))

    def _shelf_of(self, folder: str) -> Shelf:
        return Shelf(self.pages, self.layout, f"{self.layout.globals}/{folder}", self.clock)


class Channels:
    """Records of one conversation each, one folder a channel."""

    def __init__(self, pages: Pages, layout: Layout, clock: Clock) -> None:
        self.pages, self.layout, self.clock = pages, layout, clock

    def shelf(self, channel: str) -> Shelf:
        folder = self.layout.channel_folder(channel)
        fields = () if folder.endswith(f"/{channel}") else (("channel", channel),)
        return Shelf(self.pages, self.layout, folder, self.clock, fields)

    def exists(self, channel: str) -> bool:
        return bool(self.pages.list(self.layout.channel_folder(channel)))

    def names(self) -> tuple[list[str], list[str]]:
        """The channels that hold records, sorted, and what kept a name from being read."""
        problems: list[str] = []
        folders = self.pages.list_folders(self.layout.channels)
        return sorted({name for folder in folders for name in self._name(folder, problems)}), problems

    def _name(self, folder: str, problems: list[str]) -> Iterator[str]:
        """The channel of a folder: its name, or, where that is a code, what any of its pages says it codes."""
        paths = self.pages.list(f"{self.layout.channels}/{folder}")
        claimed = (self._claimed(path, folder, problems) for path in paths if not is_plain(folder))
        if paths:
            yield next((name for name in claimed if name != folder), folder)

    def _claimed(self, path: str, folder: str, problems: list[str]) -> str:
        try:
            return channel_name(self.pages.read(path).text, folder)
        except CommonplaceError as error:
            problems.append(str(error))
            return folder

    def purge(self, channel: str) -> int:
        """Remove every record of a channel; how many there were."""
        paths = self.pages.list(self.layout.channel_folder(channel))
        if not paths:
            raise NotFound("Not found")
        for path in paths:
            try:
                self.pages.remove(path)
            except PageNotFound:  # somebody else was faster
                continue
        return len(paths)
