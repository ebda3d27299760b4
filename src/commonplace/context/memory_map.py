"""The map of memory in a prompt context: what else exists, by name, so that a model knows what to ask for.

Topics and channels come with a few words each, records and notes by key, never with their value. Names come from
listings; no more pages are opened than the budget could show words of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice

from ..errors import CommonplaceError
from ..formats import blocks
from ..formats.structure import FOOTER_START
from ..formats.timestamps import sort_key
from ..framing import Title, quote_name
from ..framing import weigh_tokens as weigh
from ..framing.limits import find_most
from ..home import Home
from ..model import Block, Record
from ..search.shown_lines import ShownText
from ..storage.names import is_plain
from ..storage.records import INJECTED, channel_name, read_key, read_text, read_texts, record_at
from . import OVER_BUDGET
from .budget import ContextRequest, Lines, Section, choose_approved, whole_page
from .days import list_days
from .items import CHARACTERS_PER_TOKEN, SEPARATOR_TOKENS, Cut, IsApproved, Part, PlainItem, Source, Span
from .map_names import FEW_WORDS_CHARACTERS, MAX_LINE_CHARACTERS, Group, Named, NameList
from .sessions import list_sessions

TITLE: Title = "Memory Map"
_INTRO = "What else you can look up:"
_NAME_CHARACTERS = 60  # of a name, if not all names fit
_PLAIN_TOKENS = 1200  # for the map, if there is no budget
_PLAIN_CHARACTERS = 800  # of a page that are looked at there, for those that stay on a line
_NAME_TOKENS = 3  # of a short name, with its comma
_WORDS_TOKENS = 12  # of a topic with a few words, at the least
_THIS_CHANNEL = "this channel"
_NO_CATEGORY = Record("", "").category  # of a record without a category
_CHANNEL_KEYS = 8
_MAX_NOTE_DAYS = 100  # whose pages are read for keyed notes
_MAX_NOTES = 400
_NOTES_TOKENS = 20  # requested for the names of notes; they get more if there is room
_NOTES_SHARE = 0.1  # of the tokens above a small budget, also requested for them
_SMALL_BUDGET_TOKENS = 1000
_ROUNDING_TOKENS = 0.001  # sums of fractions may differ in the last digits


@dataclass(frozen=True)
class MapItem(PlainItem):
    """The whole map. To fit, it drops words first, then the ends of long names, then names. With room to spare, it
    shows more of each page."""

    groups: tuple[Group, ...]
    days: tuple[tuple[str, str], ...] = ()  # all that have a page, newest first, each with that page
    sessions: tuple[str, ...] = ()  # the pages of all conversations
    notes_tokens: float = 0.0  # that the names of notes ask for
    rank: tuple[int, str] = (0, "")

    @cached_property
    def cost(self) -> float:
        """Return the tokens that it asks for: for names of notes only a few, since values of others are worth more."""
        others = replace(self, groups=tuple(group for group in self.groups if not group.has_notes))
        return min(self._whole_cost, others._whole_cost + self.notes_tokens)

    @cached_property
    def _whole_cost(self) -> float:
        return weigh(self._render(FEW_WORDS_CHARACTERS).text) + SEPARATOR_TOKENS

    @cached_property
    def _most_names(self) -> int:
        return sum(len(group.collect()) for group in self.groups)

    def spans(self) -> Iterable[Span]:
        return ()

    def keep_approved(self, _: IsApproved) -> MapItem:
        return self

    def texts(self) -> Iterator[ShownText]:
        for group in self.groups:
            yield from (ShownText(each.path, 1, each.text) for each in group.names)

    def with_texts(self, texts: Iterator[str]) -> MapItem:
        groups = tuple(group.with_texts(texts) for group in self.groups)
        return self if groups == self.groups else replace(self, groups=groups)

    def leave_out(self, reason: str) -> Cut:
        return Cut("the map", max(1, int(self.cost)), reason)

    def leave_out_shown(self, lines: Lines) -> MapItem:
        groups = (group.leave_out_shown(lines) for group in self.groups)
        days = () if all(path in lines for _, path in self.days) else self.days
        sessions = () if all(path in lines for path in self.sessions) else self.sessions
        return replace(self, groups=tuple(group for group in groups if group.size), days=days, sessions=sessions)

    @property
    def says_nothing(self) -> bool:
        return not self.groups and len(self.days) < 2 and not self.sessions

    def fit(self, room: float) -> Part | None:
        available = room - SEPARATOR_TOKENS + _ROUNDING_TOKENS
        if available == float("inf"):
            return self._fit_plain()
        if weigh(self._render_names(self._most_names).text) > available:
            return self._fit_names(available)
        longest = max((len(name.text) for group in self.groups for name in group.names), default=0)
        words = 0
        if self._whole_cost <= room + _ROUNDING_TOKENS:
            words = find_most(longest, lambda count: weigh(self._render(count).text) <= available, FEW_WORDS_CHARACTERS)
        more = max(2 * words, 2 * MAX_LINE_CHARACTERS) if words >= FEW_WORDS_CHARACTERS else FEW_WORDS_CHARACTERS
        fits = find_most(self._most_names, lambda count: weigh(self._render(words, count, more).text) <= available)
        return self._render(words, fits, more) if words or fits else self._render_names(self._most_names)

    def _fit_names(self, available: float) -> Part | None:
        """Return as many names as fit: all, without the ends of long ones, or the first ones."""

        def fits(count: int, characters: int) -> bool:
            return weigh(self._shorten(characters)._render_names(count).text) <= available

        longest = max((len(each.name) for group in self.groups for each in group.collect()), default=0)
        characters = find_most(longest, partial(fits, self._most_names), _NAME_CHARACTERS)
        count = find_most(self._most_names, partial(fits, characters=characters))
        return self._shorten(characters)._render_names(count) if count else None

    def _shorten(self, limit: int) -> MapItem:
        return replace(self, groups=tuple(group.shorten(limit) for group in self.groups))

    def _fit_plain(self) -> Part:
        """Return the map without a budget: every name, and as much of each page as fits on one line."""

        def fits(count: int) -> bool:
            return weigh(self._render(count).text) <= _PLAIN_TOKENS

        return self._render(find_most(MAX_LINE_CHARACTERS, fits, FEW_WORDS_CHARACTERS))

    def _render(self, words: int, first: int = 0, more: int = 0) -> Part:
        """Return the map with so many characters of each page, `more` of the `first` of each kind."""
        parts: list[str] = []
        sources: list[Source] = []
        for group in self.groups:
            lines, group_sources = _render_group(group, words, first, more)
            sources += group_sources
            parts.append(f"### {group.label}\n" + "\n".join(lines))
        return self._make_part("\n\n".join([*parts, *self._describe_times(is_brief=False)]), self.groups, sources)

    def _render_names(self, limit: int) -> Part:
        """Return the map in one line for each kind, by names alone: so many, those of the first kinds first."""
        groups: list[Group] = []
        left = limit
        for group in self.groups:
            trimmed = group.trim(left)
            left -= len(trimmed.collect())
            if trimmed.collect() or not group.has_notes:
                groups.append(trimmed)
        return self._make_part(
            "\n".join([*(f"- {group}" for group in groups), *self._describe_times(is_brief=True)]), groups
        )

    def _make_part(self, text: str, groups: Sequence[Group], sources: Sequence[Source] = ()) -> Part:
        names = [each.path for group in groups for each in group.collect()]
        missing = sum(group.size for group in self.groups) - len(names)
        cut = (Cut("the map", 4 * missing, f"{OVER_BUDGET}: {missing} names cut"),) if missing else ()
        paths = {source.path for source in sources}
        return Part(text, "", tuple(sources), cut, tuple(name for name in dict.fromkeys(names) if name not in paths))

    def _describe_times(self, *, is_brief: bool) -> list[str]:
        """Return a line about all days and conversations, including those that the context does not show."""
        count = len(self.sessions)
        if len(self.days) < 2:
            return [f"- Sessions: {count}" if is_brief else f"Sessions: {count}."] if count else []
        first = self.days[-1][0]
        if is_brief:
            return [f"- Days: {len(self.days)} since {first}{f'; sessions: {count}' if count else ''}"]
        more = f", and {count} session{'' if count == 1 else 's'}" if count else ""
        return [f"There are {len(self.days)} days, from {first} to {self.days[0][0]}{more}."]


def _render_group(group: Group, words: int, first: int, more: int) -> tuple[list[str], list[Source]]:
    lines: list[str] = []
    sources: list[Source] = []
    bare: list[Named] = []
    for number, each in enumerate(group.names):
        room = more if number < first else words
        if room:
            line, line_sources = each.show(room)
            lines.append(line)
            sources += line_sources
        else:
            bare.append(each)
    lines += ["- " + ", ".join(quote_name(each.name) for each in bare)] if bare else []
    lines += [f"- {each}" for each in group.lists]
    return [*lines, *([f"- and {group.left} more"] if group.left else [])], sources


def memory_map(home: Home, request: ContextRequest) -> Section | None:
    """Return the map of what this agent may see; of other channels, in a conversation, only the names."""
    room = _PLAIN_TOKENS if request.limit is None else request.limit
    max_characters = (
        _PLAIN_CHARACTERS if request.limit is None else max(MAX_LINE_CHARACTERS, room * CHARACTERS_PER_TOKEN)
    )
    reader = _MapReader(home, room, max_characters, only_approved=request.only_approved)
    groups = [
        reader.read_topics(),
        reader.read_records(request.channel),
        reader.read_channels(request.channel),
        reader.read_notes(),
        reader.read_pages(),
    ]
    filled = tuple(group for group in groups if group.size)
    notes_tokens = _NOTES_TOKENS + max(0, room - _SMALL_BUDGET_TOKENS) * _NOTES_SHARE
    item = MapItem(filled, reader.list_days(), tuple(list_sessions(home, request)), notes_tokens)
    if item.says_nothing:
        return None
    return MapSection(TITLE, 50, (item,), _INTRO, floor_tokens=45, weight=3, is_map=True)


@dataclass(frozen=True)
class MapSection(Section):
    """The section of the map, which can use any room that is left."""

    def leave_out_shown(self, lines: Lines) -> Section:
        items = [item.leave_out_shown(lines) for item in self.items if isinstance(item, MapItem)]
        return replace(self, items=[item for item in items if not item.says_nothing])

    def _fit_items(self, room: float) -> tuple[list[Part], list[Cut]]:
        parts = [part for item in self.items if (part := item.fit(room))]
        return parts, [cut for part in parts for cut in part.cut] or [
            item.leave_out(OVER_BUDGET) for item in self.items if not parts
        ]


def list_working_notes(home: Home) -> tuple[list[Record], tuple[str, ...]]:
    """Return the agent's keyed notes, newest first, without handoff and scratchpad; and warnings."""
    fixed = (home.layout.handoff_page(home.agent), home.layout.scratch_page(home.agent))
    records, warnings = home.list_records(home.layout.working_folder(home.agent))
    notes = [record for record in records if record.path not in fixed and record.text.strip()]
    return sorted(notes, key=lambda record: (-sort_key(record.updated_at), record.key)), warnings


class _MapReader:
    """Reads names and starts of pages, up to a number of tokens."""

    def __init__(self, home: Home, room: int, most_characters: int, *, only_approved: bool) -> None:
        self._home = home
        self._pages = home.storage.pages
        self._most_names = room // _NAME_TOKENS + 1
        self._most_texts = room // _WORDS_TOKENS + 1
        self._most_characters = most_characters  # of a page
        self._only_approved = only_approved

    def read_topics(self) -> Group:
        paths = self._choose(self._pages.list(self._home.layout.world))
        names = [Named(self._home.layout.topic_of(path), path) for path in paths]
        return self._group("Topics", self._add_texts(names))

    def read_pages(self) -> Group:
        """Return pages outside the tools' folders, in shared memory and in that of the agent. Of folders
        for whose pages there is no room, only the names."""
        layout = self._home.layout
        names: list[Named] = []
        closed: list[Named] = []
        left = 0
        for root in dict.fromkeys((layout.path(layout.loose), f"{layout.agent_folder(self._home.agent)}/memory")):
            for folder in self._walk_loose(root):
                if len(names) >= self._most_names:
                    closed.append(Named(f"{folder[len(root) + 1 :]}/", folder))
                    continue
                paths = self._choose(self._list_loose(folder, has_days=folder == root))
                room = self._most_names - len(names)
                names += (Named(path[len(root) + 1 :].removesuffix(".md"), path) for path in paths[:room])
                left += len(paths[room:])
        folders = () if self._only_approved else tuple(closed[: self._most_names])
        lists = (NameList("folders", folders),) if folders else ()
        return Group("Pages", tuple(self._add_texts(names)), left, lists)

    def _walk_loose(self, root: str) -> Iterator[str]:
        """Yield a folder and its subfolders, except the tools' own folders."""
        layout = self._home.layout
        agent = self._home.agent
        own = (layout.days_folder(agent), layout.working_folder(agent), layout.activity_folder(agent))
        taken = {layout.world, layout.globals, layout.channels, *own}
        pending = [root]
        while pending:
            folder = pending.pop(0)
            yield folder
            if len(pending) < self._most_names:
                inside = (f"{folder}/{name}" for name in self._pages.list_folders(folder))
                pending += (each for each in inside if each not in taken)

    def _list_loose(self, folder: str, *, has_days: bool) -> list[str]:
        layout = self._home.layout
        curated = (layout.shared_curated, layout.curated_page(self._home.agent))
        paths = [path for path in self._pages.list(folder) if path not in curated]
        return [path for path in paths if not layout.day_of(self._home.agent, path)] if has_days else paths

    def read_records(self, channel: str | None) -> Group:
        """Return the keys of records that are not part of the context, by category."""
        layout = self._home.layout
        lists: list[NameList] = []
        if channel is not None:
            lists += self._list_channel(layout.channel_folder(channel))
        for name in self._pages.list_folders(layout.globals):
            paths = self._choose(self._pages.list(f"{layout.globals}/{name}"))
            if name in INJECTED or not paths:
                continue
            lists.append(NameList(self._read_category(name, paths[0]), tuple(self._read_keys(paths))))
        return Group("Records", lists=tuple(lists))

    def _list_channel(self, folder: str) -> list[NameList]:
        """Return the keys of the current channel, by category: those of none come first."""
        records, _ = self._home.list_records(folder)
        by_path = {record.path: record for record in records if record.category not in INJECTED}
        by_category: dict[str, list[Named]] = {_NO_CATEGORY: []}
        for path in self._choose(by_path):
            by_category.setdefault(by_path[path].category, []).append(Named(by_path[path].key, path))
        return [NameList(_name_category(each), tuple(keys)) for each, keys in by_category.items() if keys]

    def read_notes(self) -> Group:
        """Return the keys of the agent's notes, the newest first."""
        lists = [
            NameList("working notes", tuple(self._read_working_notes())).trim(self._most_names),
            NameList("notes by key", tuple(self._read_blocks())).trim(self._most_names),
        ]
        return Group("Notes", lists=tuple(each for each in lists if each.size), has_notes=True)

    def _read_working_notes(self) -> Iterator[Named]:
        notes, _ = list_working_notes(self._home)
        keys = {record.path: record.key for record in notes}
        return (Named(keys[path], path) for path in self._choose(keys))

    def _read_blocks(self) -> list[Named]:
        """Return the keyed notes of the curated page and of the last days. A heading without a footer is no key here:
        people write such headings for other reasons."""
        pairs: list[tuple[Named, Span]] = []
        days = (path for _, path in islice(list_days(self._home), _MAX_NOTE_DAYS))
        for path in dict.fromkeys([self._home.layout.curated_page(self._home.agent), *days]):
            text, _ = read_text(self._home.storage.pages, path)
            page_blocks = [block for block in blocks.parse(text) if block.at] if FOOTER_START in text else []
            pairs += (
                (_name_block(path, block), (path, block.first_line, block.last_line)) for block in page_blocks[::-1]
            )
            if len(pairs) >= _MAX_NOTES:
                break
        names = (
            choose_approved(self._home, pairs, self._most_names) if self._only_approved else [each for each, _ in pairs]
        )
        return [*{each.name: each for each in reversed(names)}.values()][::-1]

    def read_channels(self, channel: str | None) -> Group:
        """Return the channels: with keys of their records, or in a conversation with the number of these."""
        layout = self._home.layout
        names: list[Named] = []
        folders = self._pages.list_folders(layout.channels)
        current = layout.channel_folder(channel).rpartition("/")[2] if channel is not None else ""
        for folder in folders[: self._most_names]:
            paths = self._choose(self._pages.list(f"{layout.channels}/{folder}"))
            if folder != current and paths:
                names.append(self._name_channel(folder, paths, has_keys=channel is None))
        left = len(folders) - self._most_names
        return Group("Channels", tuple(names), max(0, left) if not self._only_approved else 0)

    def list_days(self) -> tuple[tuple[str, str], ...]:
        """Return the days with a page of each, the newest first."""
        return () if self._only_approved else tuple(dict(list_days(self._home)).items())

    def _name_channel(self, folder: str, paths: Sequence[str], *, has_keys: bool) -> Named:
        name = folder if is_plain(folder) else self._read_channel(folder, paths[0])
        keys = [quote_name(each.name) for each in self._read_keys(paths[:_CHANNEL_KEYS])] if has_keys else []
        count = f"{len(paths)} record{'s' if len(paths) > 1 else ''}"
        more = f" and {len(paths) - len(keys)} more" if len(paths) > len(keys) else ""
        words = ", ".join(keys) + more if keys else count
        return Named(name, paths[0], words=words)

    def _read_channel(self, folder: str, path: str) -> str:
        try:
            return channel_name(self._pages.read(path).text, folder)
        except CommonplaceError:
            return folder

    def _read_category(self, folder: str, path: str) -> str:
        if is_plain(folder):
            return quote_name(folder)
        place = self._home.layout.place(path)
        try:
            return quote_name(record_at(self._pages, path, place).category if place else folder)
        except CommonplaceError:
            return quote_name(folder)

    def _read_keys(self, paths: Iterable[str]) -> Iterator[Named]:
        return (Named(read_key(self._pages, self._home.layout, path), path) for path in paths)

    def _choose(self, paths: Iterable[str]) -> list[str]:
        """Return the paths that may be named: all, or only those that a person wrote or approved entirely."""
        if not self._only_approved:
            return [*paths]
        return choose_approved(self._home, ((path, whole_page(path)) for path in paths), self._most_texts)

    def _group(self, title: str, names: Sequence[Named]) -> Group:
        return Group(title, tuple(names)).trim(self._most_names)

    def _add_texts(self, names: list[Named]) -> list[Named]:
        """Return names with the starts of their pages, as many as there could be room for."""
        first = names[: self._most_texts]
        texts = read_texts(self._home.storage.pages, (each.path for each in first))
        starts = (texts.get(each.path, "")[: self._most_characters] for each in first)
        with_texts = [Named(each.name, each.path, start) for each, start in zip(first, starts, strict=True)]
        return [*with_texts, *names[self._most_texts :]]


def _name_block(path: str, block: Block) -> Named:
    return Named(block.key, path, line=block.first_line)


def _name_category(category: str) -> str:
    """Return how a category of the current channel is named."""
    return _THIS_CHANNEL if category == _NO_CATEGORY else f"{quote_name(category)} here"
