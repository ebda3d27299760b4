"""The feed of what a memory learned, sentence by sentence, newest first, for a person to keep, fix or forget.
Also what a change added and removed, as sentences.

Keeping a sentence approves it. Forgetting one removes it from its page, and history can restore it; `forget.py`
removes things for good.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from ..caching import cache_within
from ..errors import CommonplaceError, Conflict, InvalidArgument
from ..facts.sentences import Sentence, find_sentences, find_span, join_lines, replace_sentence
from ..formats import frontmatter
from ..formats.structure import ENTRY_HEADING_PATTERN
from ..formats.timestamps import parse_timestamp
from ..home import Home
from ..storage.authors import KEEP, describe_lines
from ..storage.base import ABSENT
from ..storage.history import Change, as_text
from ..storage.layout import Place
from ..storage.records import read_texts
from ..wording import count_words
from . import timeline

_BATCH_PAGES = 20
_MAX_CHANGED_SENTENCES = 3  # shown of what a change added, and of what it removed
_MAX_SENTENCE_CHARACTERS = 300
_MAX_SUMMARY_CHARACTERS = 100  # of a sentence in a line about a change
_MAX_COMPARED_CHARACTERS = 200_000  # of a longer change, no sentences are shown
_CACHED_TEXT_BYTES = 100_000_000  # a page may have 20 MB, and each version is usually of two changes
_CACHED_SENTENCE_BYTES = 50_000_000
_KINDS = frozenset({"page", "record"})  # an activity log, a transcript and a skill say what was done, or how to


_TIME_HEADING = re.compile(ENTRY_HEADING_PATTERN)
SortKey = tuple[float, str, int]


class Position(NamedTuple):
    """Where a sentence is in the feed: newest first, then in the order of its page. `number`: that on its page."""

    at: str
    path: str
    number: int

    def sort_key(self) -> SortKey:
        return _age(self.at), self.path, self.number


def _age(at: str) -> float:
    """Return a number that is smaller for a later time; the largest for one that nobody knows."""
    moment = parse_timestamp(at)
    return -moment.timestamp() if moment else math.inf


class Learned(NamedTuple):
    """A sentence of the feed, and the full text of its lines. `is_approved`: a person wrote it, or kept it."""

    sentence: Sentence
    lines: str
    position: Position
    place: Place
    author: str
    is_approved: bool


class SentenceChange(NamedTuple):
    """The first sentences that a change added to a page and removed from it. `more`: how many others there are."""

    added: list[str]
    removed: list[str]
    more: int

    def reverse(self) -> SentenceChange:
        return SentenceChange(self.removed, self.added, self.more)


NO_SENTENCES = SentenceChange([], [], 0)


class Outcome(NamedTuple):
    """What became of a sentence. `change`: the id of the change that can be undone; empty if nothing changed."""

    path: str
    change: str
    warning: str = ""


def list_learned(
    home: Home, limit: int, after: Position | None = None, *, only_unapproved: bool = False
) -> list[Learned]:
    """Return the newest sentences that the agent may see, or those that come after a position."""
    sentences: list[Learned] = []
    for learned in _iterate_newest(home):
        is_before = after is not None and learned.position.sort_key() <= after.sort_key()
        if is_before or (only_unapproved and learned.is_approved):
            continue
        sentences.append(learned)
        if len(sentences) == limit:
            break
    return sentences


def _iterate_newest(home: Home) -> Iterator[Learned]:
    """Yield the sentences of all pages. A page is read only when its latest change is the newest that remains."""
    heap: list[tuple[SortKey, Learned]] = []
    changes = _list_latest_changes(home)
    for start in range(0, len(changes), _BATCH_PAGES):
        batch = changes[start : start + _BATCH_PAGES]
        newest = Position(batch[0].at, batch[0].path, 0).sort_key()
        while heap and heap[0][0] < newest:
            yield heappop(heap)[1]
        for learned in _read_learned(home, _find_places(home, batch)):
            heappush(heap, (learned.position.sort_key(), learned))
    while heap:
        yield heappop(heap)[1]


def _list_latest_changes(home: Home) -> list[Change]:
    """Return the latest change of every existing page, newest first."""
    timeline.record_outside_edits(home)
    latest = {change.path: change for change in home.storage.history.changes()}

    def sort_key(change: Change) -> SortKey:
        return Position(change.at, change.path, 0).sort_key()

    return sorted((change for change in latest.values() if change.version != ABSENT), key=sort_key)


def _find_places(home: Home, changes: Sequence[Change]) -> list[tuple[str, Place]]:
    """Return the pages of the feed that the agent may see, and what they are."""
    places = [(change.path, home.index.scope.place(change.path)) for change in changes]
    return [
        (path, place) for path, place in places if place and place.kind in _KINDS and home.visibility.may_see(place)
    ]


def _read_learned(home: Home, pages: Sequence[tuple[str, Place]]) -> Iterator[Learned]:
    texts = read_texts(home.storage.pages, (path for path, _ in pages))
    rows = [
        (path, place, number, sentence, lines)
        for path, place in pages
        if path in texts
        for number, (sentence, lines) in enumerate(_find_with_lines(home, path, texts[path]))
    ]
    origins = home.authors.find([(path, sentence.first, sentence.last) for path, _, _, sentence, _ in rows])
    for (path, place, number, sentence, lines), origin in zip(rows, origins, strict=True):
        yield Learned(sentence, lines, Position(origin.at, path, number), place, origin.author, origin.is_approved)


def _find_with_lines(home: Home, path: str, text: str) -> Iterator[tuple[Sentence, str]]:
    """Yield the sentences of a page, each with all that its lines say."""
    sentences = find_sentences(text, is_record=_is_record(home, path))
    return zip(sentences, join_lines(text, sentences), strict=True)


def keep_sentence(home: Home, path: str, lines: str, line: int, session: str = "") -> Outcome:
    """Record in history that a person approves lines as they are, given their full text, comments included."""
    page = home.storage.pages.read(path)
    sentence = _find_shown(home, path, page.text, lines, line)
    first = _find_time_above(page.text, sentence.first)
    with home.writer.call(KEEP, session=session, why=describe_lines(first, sentence.last, page.version)):
        home.storage.pages.reaffirm(path)
    change = home.storage.history.changes(path)[-1]
    if change.version != page.version:
        raise _make_conflict(path)
    return Outcome(path, change.id)


def _find_time_above(text: str, line: int) -> int:
    """Return the line right above if it is only a time, which is approved with the line; or the line itself."""
    lines = text.split("\n")
    above = line - 1
    while above > 1 and not lines[above - 1].strip():
        above -= 1
    return above if above > 0 and _TIME_HEADING.fullmatch(lines[above - 1].strip()) else line


def _find_shown(home: Home, path: str, text: str, lines: str, line: int) -> Sentence:
    """Return the sentence nearest to a line whose lines have exactly the text that a person saw."""
    wording = " ".join(lines.split())
    matches = [each for each, lines in _find_with_lines(home, path, text) if lines == wording]
    if not matches:
        raise _make_conflict(path)
    return min(matches, key=lambda each: abs(each.first - line))


def fix_sentence(home: Home, path: str, sentence: str, line: int, text: str, session: str = "") -> Outcome:
    """Replace a sentence by another text."""
    if not text.strip():
        raise InvalidArgument("there is no text: say what is right, or forget the sentence")
    return _replace(home, path, sentence, line, text.strip(), tool="fix", session=session)


def forget_sentence(home: Home, path: str, sentence: str, line: int, session: str = "") -> Outcome:
    """Remove a sentence from its page, and the page with its last one, unless people gave it a heading."""
    return _replace(home, path, sentence, line, "", tool="forget", session=session)


def _replace(home: Home, path: str, sentence: str, line: int, text: str, *, tool: str, session: str) -> Outcome:
    with home.writer.call(tool, session=session) as outcome:
        screened = home.writer.screen({"text": text})["text"]

        def change(current: str) -> str:
            span = find_span(current, sentence, line, is_record=_is_record(home, path))
            if span is None:
                raise _make_conflict(path)
            rest = replace_sentence(current, span, screened)
            if not text and _is_empty(home, path, rest):
                home.writer.require_may_remove(path)
            return rest

        home.writer.edit(path, change)
        if not text and _is_empty(home, path, home.storage.pages.read(path).text):
            home.writer.remove(path)
    return Outcome(path, _latest_change(home, path), "; ".join(outcome.warnings))


def _is_empty(home: Home, path: str, text: str) -> bool:
    """Return whether nothing is left on a page: a record without a value, a day without entries."""
    _, body = frontmatter.split(text)
    day = home.layout.day_of(home.agent, path)
    return body.strip() in ("", f"# {day}" if day else "")


def _latest_change(home: Home, path: str) -> str:
    changes = home.storage.history.changes(path)
    return changes[-1].id if changes else ""


def _is_record(home: Home, path: str) -> bool:
    place = home.layout.place(path)
    return place is not None and place.kind == "record"


def _make_conflict(path: str) -> Conflict:
    return Conflict(f"{path} no longer says that: look at it again")


def compare_sentences(home: Home, changes: Sequence[Change]) -> list[SentenceChange]:
    """Return what each change added and removed, as sentences; nothing if one of its versions is not known."""

    @cache_within(_CACHED_TEXT_BYTES)
    def read(path: str, version: str) -> str | None:
        return _read_version(home, path, version)

    @cache_within(_CACHED_SENTENCE_BYTES)
    def split(path: str, version: str) -> list[str] | None:
        text = read(path, version)
        return None if text is None or len(text) > _MAX_COMPARED_CHARACTERS else _split_sentences(home, path, text)

    def compare(change: Change) -> SentenceChange:
        before, after = (split(change.path, version) for version in (change.before, change.version))
        if before is not None and after is not None:
            return _compare(before, after)
        return _compare_long(home, change.path, read(change.path, change.before), read(change.path, change.version))

    return [compare(each) for each in changes]


def _read_version(home: Home, path: str, version: str) -> str | None:
    """Return the text of a version of a page; None if history has dropped it."""
    try:
        text = as_text(home.storage.history.read_version(path, version)) if version != ABSENT else ""
    except CommonplaceError:
        return None
    return timeline.readable_text(home, path, text)


def _split_sentences(home: Home, path: str, text: str) -> list[str]:
    return [each.text for each in find_sentences(text, is_record=_is_record(home, path))]


def _compare_long(home: Home, path: str, before: str | None, after: str | None) -> SentenceChange:
    """Return what a change of a long page added and removed, by the lines that differ; nothing if they are too long."""
    if before is None or after is None:
        return NO_SENTENCES
    changed = _cut_common_lines(before, after)
    if max(map(len, changed)) > _MAX_COMPARED_CHARACTERS:
        return NO_SENTENCES
    old, new = (_split_sentences(home, path, text) for text in changed)
    return _compare(old, new)


def _cut_common_lines(before: str, after: str) -> tuple[str, str]:
    """Return two texts without the lines with which both begin and those with which both end."""
    texts = [text.split("\n") for text in (before, after)]
    first = _count_common(*texts)
    rest = [lines[first:] for lines in texts]
    last = _count_common(*(lines[::-1] for lines in rest))
    before, after = ("\n".join(lines[: len(lines) - last]) for lines in rest)
    return before, after


def _count_common(lines: list[str], others: list[str]) -> int:
    """Return how many lines are the same at the beginning."""
    pairs = zip(lines, others, strict=False)
    return next((at for at, (line, other) in enumerate(pairs) if line != other), min(len(lines), len(others)))


def _compare(before: list[str], after: list[str]) -> SentenceChange:
    added = _subtract(after, before)
    removed = _subtract(before, after)
    sentences = [each[:_MAX_CHANGED_SENTENCES] for each in (added, removed)]
    more = len(added) + len(removed) - sum(map(len, sentences))
    cut = [[_cut(text, _MAX_SENTENCE_CHARACTERS) for text in each] for each in sentences]
    return SentenceChange(cut[0], cut[1], more)


def summarise_change(change: SentenceChange) -> str:
    """Return in one line the first sentence that a change added and the first that it removed, in quotes, and how many
    others there are; empty if it changed none."""
    added, removed = ([_quote(text) for text in each[:1]] for each in (change.added, change.removed))
    others = change.more + sum(len(each[1:]) for each in (change.added, change.removed))
    more = [f"and {count_words(others, 'more sentence')}"] if others else []
    if added and removed:
        return " ".join([*added, f"(was: {removed[0]})", *more])
    return " ".join([*added, *(f"removed: {text}" for text in removed), *more])


def _quote(text: str) -> str:
    return f'"{_cut(" ".join(text.split()), _MAX_SUMMARY_CHARACTERS)}"'


def _subtract(sentences: list[str], others: list[str]) -> list[str]:
    """Return the sentences that are not among the others, in order; of a repeated one, the later."""
    left = Counter(others)
    rest: list[str] = []
    for sentence in sentences:
        if left[sentence]:
            left[sentence] -= 1
        else:
            rest.append(sentence)
    return rest


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
