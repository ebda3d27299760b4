"""Items under a namespace and a key, one small record page each: `<store>/<label>/.../<key>.md`.

The page is the truth: a person may edit, rename, move or remove it. Labels and keys that no file system takes are
encoded, and the page then says `namespace:` and `key:`. How long an item lives and what of it is embedded stand in the
front matter as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import BrokenFrontMatter, CommonplaceError, NotText, PageNotFound, StaleVersion
from ...formats import frontmatter
from ...formats import records as page_of
from ...formats.timestamps import format_timestamp
from ...formats.timestamps import parse_timestamp as moment_of
from ...home import Home
from ...model import Json, Record
from ...storage.layout import stem
from ...storage.names import coded, file_name, is_plain
from ...storage.records import parse

if TYPE_CHECKING:
    from ...index.handle import IndexView

Namespace = tuple[str, ...]
Paths = bool | tuple[str, ...] | None  # what of a value is embedded: None: what the store says, False: nothing
_CODE = re.compile(r".*~[a-z2-7]{16}", re.DOTALL)
_NOTHING = frozenset({"none", "false", "no", "off"})  # how a page says that nothing of it is embedded
_WORTH = 0.01  # of an item's time to live: a read sooner after another does not write the page again


class Terms(NamedTuple):
    """What an item asks for: to be gone after some minutes, and to be embedded by some of its fields."""

    minutes: float | None = None
    expires_at: datetime | None = None
    paths: Paths = None

    def is_over(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at < now


class Stored(NamedTuple):
    """An item, and the page it stands on."""

    namespace: Namespace
    key: str
    value: dict[str, Json]
    created_at: datetime
    updated_at: datetime
    path: str


class Listing(NamedTuple):
    """What the index knows of a folder. `stale`: another process is at work, and pages may be missing."""

    folder: str
    records: list[Record]
    stamps: Mapping[str, int]
    stale: bool
    warnings: tuple[str, ...]


class Items:
    """The items of one agent."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._labels: dict[str, str] = {}  # codes that were understood: what one means never changes

    @property
    def folder(self) -> str:
        return self._home.layout.store_folder(self._home.agent)

    def read(self, namespace: Namespace, key: str) -> tuple[Stored, Terms] | None:
        found = self.on(self.path(namespace, key), namespace)
        return found if found and found[0].key == key else None

    def on(self, path: str, namespace: Namespace | None = None) -> tuple[Stored, Terms] | None:
        """The item on a page; None when there is no such page."""
        try:
            text = self._home.storage.pages.read(path).text
            record = self._record(text, path)
        except PageNotFound:
            return None
        return self.item(record, namespace), terms_of(text)

    def write(self, namespace: Namespace, key: str, value: dict[str, Json], terms: Terms) -> str:
        """Put an item on its page, and give the page's path; the time it was first written stays."""
        path, now = self.path(namespace, key), format_timestamp(self._home.clock())
        is_told = path == "/".join((self.folder, *namespace, f"{key}.md"))

        def rewrite(old: str) -> str:
            fields = {
                "key": None if stem(path) == key else key,
                "namespace": None if is_told else [*namespace],
                "created_at": self._record(old, path).created_at if old else now,
                "updated_at": now,
                **_fields(terms),
            }
            try:
                return page_of.render_record(old, value, fields)
            except BrokenFrontMatter as error:
                raise BrokenFrontMatter(f"{path}: {error}") from error

        self._home.writer.edit(path, rewrite)
        return path

    def remove(self, namespace: Namespace, key: str) -> None:
        while True:  # a person's page of the key may stand behind ours
            found = self.read(namespace, key)
            if not found:
                return
            with suppress(PageNotFound):
                self._home.writer.remove(found[0].path)

    def refresh(self, path: str) -> None:
        """Let an item that was read live its whole time again."""
        now = self._home.clock()

        def rewrite(old: str) -> str:
            terms = terms_of(old)
            later = lasting(terms.minutes, terms.paths, now)
            if not (terms.minutes and terms.expires_at and later.expires_at):
                return old
            if (later.expires_at - terms.expires_at).total_seconds() < abs(terms.minutes) * 60 * _WORTH:
                return old
            head, body = frontmatter.split(old)
            return frontmatter.edit(head, {"expires_at": format_timestamp(later.expires_at)}) + body

        with suppress(
            PageNotFound, BrokenFrontMatter, NotText, ValueError
        ):  # a page that can not be read is left alone
            if rewrite(text := self._home.storage.pages.read(path).text) != text:  # most reads take no lock
                self._home.writer.edit(path, rewrite)

    def expire(self, path: str) -> bool:
        """Remove the page if its time is over, and nobody wrote to it meanwhile."""
        with suppress(PageNotFound, NotText, StaleVersion):
            page = self._home.storage.pages.read(path)
            if terms_of(page.text).is_over(self._home.clock()):
                self._home.writer.remove(path, if_version=page.version)
                return True
        return False

    def below(self, prefix: Namespace, *, only_pages: bool = False) -> Listing:
        """The items of a namespace and those below it, or only their pages, off the index after it caught up there."""
        folder = self.folder_of(prefix)
        self._home.storage.check()

        def ask(view: IndexView) -> Listing:
            records = [] if only_pages else view.index.records(folder)
            return Listing(folder, records, view.index.stamps(folder), view.stale, view.warnings)

        return self._home.index.query(ask, folder)

    def item(self, record: Record, namespace: Namespace | None = None) -> Stored:
        where = self.namespace(record.path) if namespace is None else namespace
        created, updated = (self._moment(text, record.path) for text in (record.created_at, record.updated_at))
        return Stored(where, record.key, as_mapping(record.value), created, updated, record.path)

    def namespace(self, path: str) -> Namespace:
        """The labels that lead to a page. A code that was not met before is explained by the page itself."""
        parts = path.removeprefix(f"{self.folder}/").split("/")[:-1]
        if any(part not in self._labels and _CODE.fullmatch(part) for part in parts):
            with suppress(CommonplaceError):
                self._learn(page_of.parse_fields(self._home.storage.pages.read(path).text).get("namespace"))
        return tuple(self._labels.get(part, part) for part in parts)

    def folder_of(self, namespace: Namespace) -> str:
        """The folder of a namespace: ours, or, where that is not there, one that a person gave exactly this name."""
        folder = self.folder
        self._learn([label for label in namespace if not is_plain(label)])
        for label in namespace:
            name = file_name(label)
            if name != label and not _CODE.fullmatch(label):  # what looks like a code may be another label's
                name = self._home.layout.named(folder, label)
            folder = f"{folder}/{name}"
        return folder

    def path(self, namespace: Namespace, key: str) -> str:
        """The page of a key: ours, or, where that is not there, one that a person gave exactly this name."""
        folder = self.folder_of(namespace)
        ours, theirs = f"{folder}/{file_name(key)}.md", f"{folder}/{key}.md"
        by_hand = ours != theirs and self._stands(theirs, folder) and not self._stands(ours, folder)
        # What is named like a code may be the page of another key.
        found = self.on(theirs, namespace) if by_hand else None
        return theirs if found and found[0].key == key else ours

    def _stands(self, path: str, folder: str) -> bool:
        try:
            self._home.storage.pages.modified_at(path)
        except CommonplaceError:
            return False
        return path in self._home.storage.pages.list(folder)  # a file system that ignores case must not mix up two keys

    def _record(self, text: str, path: str) -> Record:
        place = self._home.layout.place(path)
        if place is None:
            raise PageNotFound(path)
        return parse(text, path, place, lambda: self._home.storage.pages.modified_at(path))

    def _learn(self, labels: Any) -> None:
        for label in [labels] if isinstance(labels, str) else labels or ():
            if isinstance(label, str) and not is_plain(label):
                self._labels[coded(label)] = label

    def _moment(self, text: str, path: str) -> datetime:
        """When, as the page says; a page that says nothing one can read was written when its file was."""
        if found := moment_of(text):
            return found.astimezone(UTC)
        with suppress(CommonplaceError, OverflowError, ValueError):
            return datetime.fromtimestamp(self._home.storage.pages.modified_at(path), UTC)
        return self._home.clock().astimezone(UTC)


def as_mapping(value: Json) -> dict[str, Json]:
    """The value of an item. A page that a person wrote may be plain text, or JSON of another kind."""
    return value if isinstance(value, dict) else {"text" if isinstance(value, str) else "value": value}


def lasting(minutes: float | None, paths: Paths, now: datetime) -> Terms:
    """The terms of an item that is put, or read, now. ValueError for a time that is none."""
    if minutes is None:
        return Terms(paths=paths)
    if isinstance(minutes, bool) or not isinstance(minutes, (int, float)) or not isfinite(minutes):
        raise ValueError(f"ttl must be a number of minutes, or None for no end, not {minutes!r}")
    try:
        return Terms(float(minutes), now + timedelta(minutes=minutes), paths)
    except OverflowError as error:
        raise ValueError(f"ttl {minutes!r} is longer than there will be a calendar: use None for no end") from error


def terms_of(text: str) -> Terms:
    """What a page asks for. What it says in no way that can be understood, it does not say."""
    try:
        fields = page_of.parse_fields(text)
    except BrokenFrontMatter:
        return Terms()
    ends = fields.get("expires_at")
    return Terms(
        _number(fields.get("ttl")), moment_of(ends) if isinstance(ends, str) else None, _paths(fields.get("index"))
    )


def _number(text: Any) -> float | None:
    try:
        number = float(text)
    except (ValueError, TypeError):
        return None
    return number if isfinite(number) else None


def _paths(said: Any) -> Paths:
    if isinstance(said, list):
        return tuple(each for each in said if isinstance(each, str))
    if not isinstance(said, str):
        return None
    return False if said.lower() in _NOTHING else (said,)


def _fields(terms: Terms) -> dict[str, Json]:
    index: Json = (
        "none" if terms.paths in (False, ()) else list(terms.paths) if isinstance(terms.paths, tuple) else None
    )
    return {
        "expires_at": format_timestamp(terms.expires_at) if terms.expires_at else None,
        "ttl": None if terms.minutes is None else f"{terms.minutes:.10g}",
        "index": index,
    }
