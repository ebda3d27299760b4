"""Notices of what a write replaces or contradicts, so that the agent can act in the same turn.

A value is replaced by the next one under the same key, a line by the line that takes its place, and a fact by its newer
version elsewhere (`facts/versions.py`), among what the writer may see. Nothing is deleted by this.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from ..caching import cache_within
from ..facts.links import NO_ANSWERS, Answers, Link
from ..facts.page_subjects import are_of_other_objects, judge_below_headings, read_subject
from ..facts.prefilter import Sketch, make_sketch, may_be_linked
from ..facts.statements import (
    CHANGES,
    LookupKeys,
    Statement,
    find_lines,
    hash_key,
    lookup_keys,
    read_statements,
    shorten_statement,
    split_statements,
    stored_keys,
)
from ..facts.versions import judge
from ..formats import blocks, frontmatter
from ..formats.passages import PlacedTitles, choose_titles, list_titles
from ..formats.records import find_value_line, parse_record
from ..framing import quote_line
from ..home import Home
from ..index.base import MAX_PASSAGES_PER_FACT_KEY, Candidate, Index
from ..index.statements import StoredStatement, StoredStatements, read_facts, unpack_statements
from ..model import EVERYTHING, Block, Citation, Hit, Record, Viewer
from ..search.bm25 import weigh_terms
from ..search.moments import holds_by
from ..search.replacements import FoundStatement, Other, choose_likely, is_same_place, subject_of
from ..storage.history import PageEdit
from ..storage.layout import FIXED_PAGES, Layout, Place
from ..storage.merge import diff_lines
from ..wording import format_command
from .define import Reply

_MAX_NOTICES = 3  # per kind and reply
_MAX_TEXT_CHARACTERS = 200  # quoted of a replaced text
_MAX_COMPARED_CHARACTERS = 64_000  # larger pages are not compared line by line
_MAX_ADDED_CHARACTERS = 8_000  # statements of a larger edit are not compared with the rest of memory
_MAX_STATEMENTS = 12
_MAX_CANDIDATES = MAX_PASSAGES_PER_FACT_KEY  # all versions of a fact that a key leads to, and hardly anything else
_MAX_WORD_CANDIDATES = 10
_MAX_COMPARISONS = 100  # of one new statement with older ones
_MAX_LOOKUP_WORDS = 6
_MIN_SHARED_WORDS = 0.5  # of the words, if one line replaces another
_MAX_SUCCESSORS = 20  # new lines about one subject that a replaced line is compared with
_WORD = re.compile(r"\w+")
_PREDICATE = re.compile(r"[:=→]|\b(?:is|are|was|were|has|have)\b", re.IGNORECASE)
_ARTICLES = ("a", "an", "the", "our", "my")


class Notice(NamedTuple):
    """A text that a write replaces or contradicts, where it is (or was), and why."""

    citation: str
    text: str
    kind: str
    reason: str
    advice: str = ""  # what to do if the rule is wrong here

    def as_reply(self) -> Reply:
        fields = {
            "citation": quote_line(self.citation),
            "text": quote_line(shorten_statement(self.text, _MAX_TEXT_CHARACTERS)),
            "kind": self.kind,
            "reason": quote_line(self.reason),
        }
        return {**fields, "advice": quote_line(self.advice)} if self.advice else fields


class Comparison:
    """The comparison of a call's edits with what is stored elsewhere."""

    def __init__(self, home: Home, edits: Sequence[PageEdit]) -> None:
        self.edits = edits
        self._home = home
        self._placed = [_PlacedEdit(edit, place) for edit in edits if (place := home.layout.place(edit.path))]
        self._written = [each for edit in self._placed for each in _new_statements(edit)]
        self._keyed = [key for edit in self._placed for key in _new_keys(edit)]
        self._viewer = home.visibility.viewer()
        self._answer: Callable[[], list[Candidate]] | None = None

    @cached_property
    def _keys(self) -> list[int]:
        """Return the keys under which what the edits replace is stored."""
        keys = dict.fromkeys(key for each in self._written for key in each.keys)
        return [*(keys | dict.fromkeys(hash_key(value.key) for value in self._keyed))]

    def look_ahead(self) -> bool:
        """Ask the index while the edits are written, for `describe` to use; return whether there is anything to ask."""
        if self._keys and self._home.search_settings.enabled:
            self._answer = self._home.index.look_ahead(self._keys, self._viewer, _MAX_CANDIDATES)
        return self._answer is not None

    def describe(self) -> Reply:
        """Return the fields of a reply; none if nothing was replaced or contradicted."""
        replaced = [notice for edit in self._placed for notice in _find_replaced(edit)]
        contradicted: list[Notice] = []
        if self._keys and self._home.search_settings.enabled:
            related = self._home.index.peek(self._find_related)
            replaced += _find_older(self._home, related, self._written) if related else []
            contradicted += _find_other_values(self._home.layout, related.by_key, self._keyed) if related else []
        fields = {"supersedes": replaced, "contradicts": contradicted}
        return {name: _fit(notices) for name, notices in fields.items() if notices}

    def _find_related(self, index: Index) -> _Related:
        """Return the passages to compare with the new text."""
        written = self._written
        with index.read_transaction():
            find = self._answer or partial(index.find_by_fact_keys, self._keys, self._viewer, _MAX_CANDIDATES)
            by_key = find()
            by_words = _find_by_words(index, self._viewer, written, {candidate.number for candidate in by_key})
            stored = index.load_statements([candidate.number for candidate in (*by_key, *by_words)])
        older = [
            each
            for candidate in (*by_key, *by_words)
            for each in _list_older(candidate, stored.get(candidate.number), written)
        ]
        return _Related(by_key, older)


def _fit(notices: Iterable[Notice]) -> list[Reply]:
    """Return the first few notices, without duplicates."""
    by_text = {(notice.text, notice.citation.partition("#")[0]): notice for notice in reversed([*notices])}
    return [notice.as_reply() for notice in [*by_text.values()][::-1][:_MAX_NOTICES]]


class _PlacedEdit:
    """An edit with its page's place, and the keyed notes before and after, parsed once."""

    def __init__(self, edit: PageEdit, place: Place) -> None:
        self.path, self.before, self.after = edit
        self.place = place

    @property
    def is_in_channel(self) -> bool:
        return self.place.scope.kind == "channel"

    @cached_property
    def new_end(self) -> str | None:
        """Return the text added at the end of the page; None if anything else was changed."""
        return self.after[len(self.before) :] if self.after.startswith(self.before) else None

    @cached_property
    def old_notes(self) -> list[Block]:
        return blocks.parse(self.before)

    @cached_property
    def new_notes(self) -> list[Block]:
        return blocks.parse(self.after)


class _Written(NamedTuple):
    """A statement that was just written, and where it is."""

    path: str
    line: int
    statement: Statement
    keys: LookupKeys  # older versions of it are stored under these
    sketch: Sketch
    is_in_channel: bool = False
    heading: str = ""
    passage: str = ""  # all that was written with it


class _KeyedValue(NamedTuple):
    """A value that was just stored under a key."""

    path: str
    key: str
    text: str
    is_in_channel: bool = False


def _new_statements(edit: _PlacedEdit) -> list[_Written]:
    """Return the statements that an edit adds to a page of text; none if the edit is very large."""
    if edit.place.kind not in ("page", "record"):
        return []
    if edit.before and edit.new_end is not None:
        added = edit.new_end
    else:
        known = set(edit.before.split("\n"))
        added = "\n".join("" if line in known else line for line in frontmatter.split(edit.after)[1].split("\n"))
    if len(added) > _MAX_ADDED_CHARACTERS:
        return []
    first = edit.after.count("\n") - added.count("\n") + 1
    statements = [each._replace(answers=NO_ANSWERS) for each in split_statements(added)[:_MAX_STATEMENTS]]
    titles = list_titles(edit.after) if statements else ()
    placed = (_place_statement(edit, first + each.first_line, each, titles) for each in statements)
    return [each._replace(passage=added) for each in placed]


def _place_statement(edit: _PlacedEdit, line: int, statement: Statement, titles: Sequence[PlacedTitles]) -> _Written:
    heading = " ".join(choose_titles(titles, line))
    keys = lookup_keys(statement)
    return _Written(edit.path, line, statement, keys, make_sketch(statement), edit.is_in_channel, heading)


def _new_keys(edit: _PlacedEdit) -> list[_KeyedValue]:
    """Return the values that an edit stores under keys."""
    if len(edit.after) > _MAX_COMPARED_CHARACTERS:
        return []
    if edit.place.kind == "record":
        record = parse_record(edit.after, Record(edit.place.name, "", path=edit.path))
        return [_KeyedValue(edit.path, record.key, record.text, edit.is_in_channel)]
    if edit.place.kind != "page":
        return []
    if edit.new_end and _begins_with_heading(edit.before, edit.new_end):  # no note above goes on in it
        notes = blocks.parse(edit.new_end)
    else:
        known = {note.content for note in edit.old_notes} if edit.new_notes else ()
        notes = [note for note in edit.new_notes if note.content not in known]
    return [_KeyedValue(edit.path, note.key, note.content) for note in notes]


def _begins_with_heading(before: str, appended: str) -> bool:
    return (before.endswith("\n") or appended.startswith("\n")) and appended.lstrip("\n").startswith("#")


class _Older(NamedTuple):
    """A statement that the new text may replace. `keys`: under which it is stored. `newer_keys`: under which its newer
    versions would be."""

    place: FoundStatement
    keys: Collection[int]
    newer_keys: Collection[int]


class _Related(NamedTuple):
    """Passages that may hold an older version of the new text."""

    by_key: list[Candidate]  # the passages that share a key with it
    statements: list[_Older]


def _list_older(candidate: Candidate, stored: StoredStatements | None, written: Sequence[_Written]) -> Iterator[_Older]:
    """Yield the statements of a passage that the new text may replace, chosen by the numbers that are stored of it; all
    of them if a person answered there."""
    number = candidate.number
    hit = candidate.hit
    is_turn = hit.source == "session"
    stored = stored or _read_stored(hit.text, is_turn=is_turn)
    if stored is None:
        for statement in read_statements(hit.text, is_turn=is_turn):
            keys = [*stored_keys(statement)]
            yield _Older(FoundStatement(number, hit, statement), keys, lookup_keys(statement))
        return
    subject = subject_of(hit)
    sketches = [each.sketch for each in written]
    is_named = any(not subject.isdisjoint(each.statement.stems) for each in written)
    for at in stored.places:
        sketch = stored.read_sketch(at)
        if is_named or any(may_be_linked(sketch, newer) for newer in sketches):
            place = FoundStatement(number, hit, StoredStatement(stored, at))
            yield _Older(place, stored.list_stored_keys(at), stored.list_lookup_keys(at))


@cache_within(1_000_000)
def _read_stored(text: str, *, is_turn: bool) -> StoredStatements | None:
    """Return what an index stores of the statements of a passage, for one that has only the text; cached, since the
    next write is mostly compared with the same passages."""
    facts = read_facts(text, is_turn=is_turn)
    return unpack_statements(*facts.stored) if facts.stored else None


def _find_by_words(
    index: Index, viewer: Viewer, written: Sequence[_Written], known: Collection[int]
) -> list[Candidate]:
    """Return the passages with the most words of new statements that announce a change."""
    changes = " ".join(each.statement.text for each in written if not CHANGES.isdisjoint(each.statement.cues))
    terms = weigh_terms(index, changes, viewer, is_stored=True) if changes else None
    lookup = {word: terms.weights[word] for word in terms.lookup[:_MAX_LOOKUP_WORDS]} if terms else {}
    numbers = index.match_terms(lookup, viewer, EVERYTHING, _MAX_WORD_CANDIDATES) if lookup else {}
    return index.load_candidates([number for number in numbers if number not in known])


def _find_older(home: Home, related: _Related, written: Sequence[_Written]) -> list[Notice]:
    """Return the statements elsewhere that a new statement is a newer version of."""
    distinct = [*{(each.statement.words, each.is_in_channel): each for each in reversed(written)}.values()][::-1]
    own = {(each.path, each.statement.words) for each in written}
    today = home.today().toordinal()
    notices: list[Notice] = []
    for each in distinct:
        for place in _choose_older(related.statements, each):
            hit = place.hit
            older = place.statement
            if (hit.path, older.words) in own or _is_of_another_channel(hit, each):  # `own`: written by the same call
                continue
            known = older._replace(answers=_find_given_answers(home, hit, older))
            link = _judge(hit, known, each)
            if link and holds_by(known, each.statement, link, today, today):
                notices.append(_notice(hit, older, link, each))
    return notices


def _choose_older(statements: Sequence[_Older], newer: _Written) -> list[FoundStatement]:
    """Return those statements that share a key with a new one, as a search would find it by them."""
    wanted = frozenset(newer.keys)
    stored = frozenset(stored_keys(newer.statement))
    shared = [wanted.intersection(older.keys) | stored.intersection(older.newer_keys) for older in statements]
    counts = Counter(key for keys in shared for key in keys)
    others = [
        Other(older.place, sum(1 / counts[key] for key in keys))
        for older, keys in zip(statements, shared, strict=True)
        if keys
    ]
    return choose_likely(others, _MAX_COMPARISONS)


def _judge(hit: Hit, older: Statement, newer: _Written) -> Link | None:
    if are_of_other_objects(hit.text, newer.passage):
        return None
    one_page = hit.path == newer.path
    subjects = (subject_of(hit), read_subject(newer.path, newer.heading))
    judge_alone = partial(judge, is_same_place=is_same_place(hit, newer.path, newer.statement))
    return judge_below_headings(older, newer.statement, subjects, judge_alone, one_page=one_page)


def _find_given_answers(home: Home, hit: Hit, statement: Statement) -> Answers:
    """Return the answers that people gave about a stored statement."""
    if statement.answers == NO_ANSWERS:
        return NO_ANSWERS
    (origin,) = home.authors.find_of_hits([hit])
    return statement.answers.keep(origin.answers)


def _notice(hit: Hit, statement: Statement, link: Link, newer: _Written) -> Notice:
    citation = f"{hit.path}#L{find_lines(hit, statement)[0]}"
    command = format_command("supersede", "--not", citation, f"{newer.path}#L{newer.line}")
    return Notice(citation, statement.text, link.kind, link.reason, f"if both are true: {command}")


def _find_other_values(layout: Layout, candidates: Sequence[Candidate], keyed: Sequence[_KeyedValue]) -> list[Notice]:
    """Return other values stored elsewhere under the same key: they disagree and are not replaced."""
    notices: list[Notice] = []
    for value in keyed:
        own_text = " ".join(value.text.split())
        for hit in (candidate.hit for candidate in candidates if candidate.hit.key == value.key):
            if _is_of_another_channel(hit, value):
                continue
            if hit.path != value.path and own_text not in " ".join(hit.text.split()):
                reason = f"{_name_store(layout, hit)} has another value for {value.key}"
                notices.append(Notice(hit.citation, _read_value(hit.text), "same-key", reason))
    return notices


def _name_store(layout: Layout, hit: Hit) -> str:
    """Return in words where a value is stored under a key."""
    if hit.scope.kind == "agent":
        place = layout.place(hit.path)
        return "working memory" if place and place.kind == "record" else "a note"
    return f"{hit.scope.kind} memory"


def _read_value(passage: str) -> str:
    """Return the value in a passage about a key: without the heading and the footer of a note."""
    notes = blocks.parse(passage)
    return notes[0].content if notes else passage


def _is_of_another_channel(hit: Hit, own: _Written | _KeyedValue) -> bool:
    """Return whether one of them is true only in a channel that the other does not belong to."""
    has_channel = own.is_in_channel or hit.scope.kind == "channel"
    return has_channel and posixpath.dirname(hit.path) != posixpath.dirname(own.path)


def _find_replaced(edit: _PlacedEdit) -> Iterator[Notice]:
    """Yield what an edit replaces on its own page."""
    is_overwritten = edit.place.scope.kind == "agent" and edit.place.name in FIXED_PAGES.values()  # handoff, scratchpad
    if edit.new_end is not None or is_overwritten or max(len(edit.before), len(edit.after)) > _MAX_COMPARED_CHARACTERS:
        return
    if edit.place.kind == "record":
        yield from _compare_records(edit)
    elif edit.place.kind == "page":
        yield from _compare_blocks(edit)
        yield from _compare_lines(edit)


def _compare_records(edit: _PlacedEdit) -> Iterator[Notice]:
    defaults = Record(edit.place.name, "", path=edit.path)
    old, new = (parse_record(text, defaults) for text in (edit.before, edit.after))
    if not old.problem and old.text.strip() and old.text != new.text:
        line = find_value_line(edit.before)
        yield Notice(f"{edit.path}#L{line}", old.text, "same-key", f"the value of {old.key} before")


def _compare_blocks(edit: _PlacedEdit) -> Iterator[Notice]:
    new = {note.key: note for note in edit.new_notes}
    for old in edit.old_notes:
        if old.at and old.key in new and old.content.strip() != new[old.key].content.strip():
            yield Notice(_cite(edit.path, old), old.content, "same-key", f"what {old.key} said before")


def _cite(path: str, block: Block) -> str:
    return str(Citation(path, block.first_line, block.last_line))


def _compare_lines(edit: _PlacedEdit) -> Iterator[Notice]:
    """Yield the lines outside keyed notes that were replaced by others."""
    before = _lines_without_notes(edit.before, edit.old_notes)
    after = _lines_without_notes(edit.after, edit.new_notes)
    old_counts, new_counts = (Counter(_find_subject(line) for _, line in lines) for lines in (before, after))
    comparisons = 0
    for operation, first, last, start, stop in diff_lines([line for _, line in before], [line for _, line in after]):
        if operation != "replace":
            continue
        new_lines = _group_by_subject(line for _, line in after[start:stop])
        for number, line in before[first:last]:
            subject = _find_subject(line)
            successors = new_lines.get(subject, ())
            is_replaced = any(_has_much_in_common(line, each) for each in successors)
            # Of several lines with one label, each may be an item of a list.
            if successors and not is_replaced and old_counts[subject] == new_counts[subject] == 1:
                comparisons += 1
                is_replaced = comparisons <= _MAX_COMPARISONS and _gives_new_value(line, successors[0])
            if is_replaced:
                yield Notice(f"{edit.path}#L{number}", line.strip(), "replaced-line", "the line this one replaced")


def _lines_without_notes(text: str, notes: Iterable[Block]) -> list[tuple[int, str]]:
    """Return the lines of a page with their numbers, without blank ones and without those of keyed notes."""
    for block in notes:
        if block.at:
            span = slice(block.start, block.end)
            text = (
                text[: block.start] + "\n".join(" " * len(line) for line in text[span].split("\n")) + text[block.end :]
            )
    return [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _group_by_subject(lines: Iterable[str]) -> dict[tuple[str, ...], list[str]]:
    """Return lines by the subject of each: of many about the same, the first ones."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for line in lines:
        group = groups.setdefault(_find_subject(line), [])
        if len(group) < _MAX_SUCCESSORS:
            group.append(line)
    return groups


def _has_much_in_common(older: str, newer: str) -> bool:
    """Return whether a line says something different in much the same words."""
    words = _words(older)
    others = _words(newer)
    return words != others and len(words & others) / max(len(words | others), 1) >= _MIN_SHARED_WORDS


def _gives_new_value(older: str, newer: str) -> bool:
    """Return whether a line gives another value under the same label: `port: 8443`, after `port: 8080`."""
    pairs = itertools.product(split_statements(older), split_statements(newer))
    return any(old.label and judge(old, new, is_same_place=True) for old, new in pairs)


def _find_subject(line: str) -> tuple[str, ...]:
    """Return the subject of a line: the words before a colon or a verb, or else the first one."""
    head, separator, _ = _PREDICATE.sub("\n", line, count=1).partition("\n")
    words = [word for word in _WORD.findall(head.casefold()) if word not in _ARTICLES]
    return tuple(words if separator else words[:1])


def _words(line: str) -> set[str]:
    return set(_WORD.findall(line.casefold()))
