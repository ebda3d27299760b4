"""What pages say: front matter, JSON, dates, sizes, secrets, and keys that are used twice."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, timedelta

from ...errors import BrokenFrontMatter
from ...formats import blocks, frontmatter
from ...formats import json_text as jsontext
from ...formats import records as skill_page
from ...formats import transcripts as sessions
from ...formats.records import parse_fields
from ...formats.timestamps import parse_timestamp as parse_time
from ...formats.timestamps import sort_key
from ...index.sync import MAX_PAGE_CHARACTERS
from ...model import Record, Skill
from ...storage.layout import FIXED_NAMES, FIXED_PAGES, Place, stem
from ...storage.names import file_name
from ...storage.records import parse as parse_record
from ...writing import MAX_INDEXED_BYTES
from .scan import Claim, Finding, Leaf, Survey

_AHEAD = timedelta(minutes=10)  # clocks differ
_FAR_AHEAD = 86400.0  # seconds
_NEVER_CLOSED = re.compile(r"\ufeff?---[ \t]*\r?\n[A-Za-z_][\w-]*:[ \t\r\n]")
_DAY = re.compile(r"([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})\.md$")
_WHERE_AND_WHEN = ("key", "category", "channel", "created_at", "updated_at")
_ONLY_READ = ("session", "data")  # no tool writes a part of these: their size is no burden
_MEND = "mend the lines between the two `---` by hand"


def _as_kind(found: Survey, leaf: Leaf) -> Iterator[Finding]:
    kind = leaf.place.kind if leaf.place else ""
    if kind in _KINDS and leaf.place:
        yield from _KINDS[kind](found, leaf, leaf.place)


def _record(found: Survey, leaf: Leaf, place: Place) -> Iterator[Finding]:
    record = parse_record(leaf.text, leaf.path, place, lambda: _written(leaf))
    yield from _open_front_matter(leaf)
    if record.warning:
        yield _broken_record(leaf, record)
    for stamp in dict.fromkeys((record.created_at, record.updated_at)):
        yield from _ahead(found, leaf, stamp)
    found.records.append(_record_claim(leaf, record))


def _broken_record(leaf: Leaf, record: Record) -> Finding:
    error = _front_matter_error(leaf.text)
    if error is None:
        advice = "mend the JSON by hand, or take `type: json` out; until then it is read as text"
        return Finding("json", leaf.path, record.problem, advice)
    advice = f"{_MEND}; until then its fields are not read, and tools refuse to change it"
    return Finding("front-matter", leaf.path, error.problem, advice, error.line or 2)


def _front_matter_error(text: str) -> BrokenFrontMatter | None:
    try:
        frontmatter.parse(frontmatter.split(text)[0])
    except BrokenFrontMatter as error:
        return error
    return None


def _skill(found: Survey, leaf: Leaf, place: Place) -> Iterator[Finding]:
    skill = skill_page.parse_skill(leaf.text, Skill(place.name, "", path=leaf.path))
    yield from _open_front_matter(leaf)
    error = _front_matter_error(leaf.text)
    if error:
        advice = f"{_MEND}; until then the skill has no description, and tools refuse to change it"
        yield Finding("front-matter", leaf.path, error.problem, advice, error.line or 2)
    for stamp in dict.fromkeys((skill.created_at, skill.updated_at)):
        yield from _ahead(found, leaf, stamp)


def _open_front_matter(leaf: Leaf) -> Iterator[Finding]:
    if _NEVER_CLOSED.match(leaf.text) and not frontmatter.split(leaf.text)[0]:
        advice = "put a line `---` after the last field; until then its fields are read as a part of its text"
        yield Finding("front-matter", leaf.path, "the front matter is opened and never closed", advice, 1)


def _data(_: Survey, leaf: Leaf, __: Place) -> Iterator[Finding]:
    problem = ""
    try:
        if not isinstance(jsontext.parse_json(leaf.text), dict):
            problem = "does not hold a JSON object"
    except ValueError as error:
        problem = f"is not JSON ({error})"
    if problem:
        yield Finding("json", leaf.path, problem, "mend it by hand; until then the skill is read without its data")


def _session(_: Survey, leaf: Leaf, __: Place) -> Iterator[Finding]:
    broken = sessions.parse_turns(leaf.text)[1]
    if broken:
        what = f"{len(broken)} {'line is' if len(broken) == 1 else 'lines are'} not JSON, this one first"
        yield Finding("json", leaf.path, what, "mend or remove them; until then they are left out of search", broken[0])


_KINDS: dict[str, Callable[[Survey, Leaf, Place], Iterator[Finding]]] = {
    "record": _record,
    "skill": _skill,
    "data": _data,
    "session": _session,
}


def _size(_: Survey, leaf: Leaf) -> Iterator[Finding]:
    length = len(leaf.text)
    if length > MAX_PAGE_CHARACTERS:
        what = f"has {length} characters: only the first {MAX_PAGE_CHARACTERS} are searched"
        yield Finding("oversize", leaf.path, what, "split it up")
    elif leaf.info.st_size > MAX_INDEXED_BYTES and not (leaf.place and leaf.place.kind in _ONLY_READ):
        size = leaf.info.st_size // 1000
        what = f"is large ({size} KB): each write copies all of it, and is found from the next search on"
        yield Finding(
            "oversize",
            leaf.path,
            what,
            f"split it up if it is written often; {MAX_INDEXED_BYTES // 1000} KB are no burden",
        )


def _written(leaf: Leaf) -> float:
    """When, by the file; at the latest in a year that calendars know."""
    return min(max(leaf.info.st_mtime, 0.0), 250_000_000_000.0)


def _file_time(found: Survey, leaf: Leaf) -> Iterator[Finding]:
    if found.home.storage.folder and leaf.info.st_mtime > found.now + _FAR_AHEAD:
        when = datetime.fromtimestamp(_written(leaf), UTC)
        what = f"the file says that it was written in the future ({when:%Y-%m-%d})"
        advice = (
            "check the clock of this machine; `touch` gives it the present time; until then every search reads it again"
        )
        yield Finding("future", leaf.path, what, advice)


def _ahead(found: Survey, leaf: Leaf, stamp: str, line: int = 0) -> Iterator[Finding]:
    """A stamp on the page that is later than now. (Where a page has none, the file's time stands in: see above.)"""
    moment = parse_time(stamp)
    if moment and moment > found.home.clock() + _AHEAD and stamp in leaf.text:
        what = f"is dated {stamp}, which is in the future"
        advice = "correct the date by hand; until then it counts as newer than all that is written"
        yield Finding("future", leaf.path, what, advice, line or leaf.text[: leaf.text.index(stamp)].count("\n") + 1)


def _day(found: Survey, leaf: Leaf) -> Iterator[Finding]:
    """A page of a day that has not come yet, anywhere that a day of this home may be counted by."""
    home, named = found.home, _DAY.search(leaf.path)
    if not named or "-".join(named.groups()) <= max(home.today(), home.clock().astimezone(UTC).date()).isoformat():
        return
    agent = _diarist(found, leaf.path)
    try:
        day = date(*map(int, named.groups()))
    except ValueError:
        return
    if agent and leaf.path in (home.layout.day_page(agent, day), home.layout.activity_page(agent, day)):
        advice = "rename it to the day it is about; until then it is shown as the latest day"
        yield Finding("future", leaf.path, "is the page of a day that has not come yet", advice)


def _secrets(_: Survey, leaf: Leaf) -> Iterator[Finding]:
    """Told by what they are, never by what they say. Of each kind the first."""
    from ...secrets import find

    text = leaf.text[:MAX_PAGE_CHARACTERS]
    for first in {secret.rule: secret for secret in reversed(find(text))}.values():
        advice = f"take it out and keep it in a password manager; {_next_step(first.rule)}, if others may have read it"
        history = "; `commonplace forget` removes a note or a page from history, too"
        what, line = f"holds what looks like a secret ({first.rule})", text.count("\n", 0, first.start) + 1
        yield Finding("secrets", leaf.path, what, advice + history, line)


def _next_step(rule: str) -> str:
    from ...secrets.rules import RULES

    return next(each.next_step for each in RULES if each.name == rule)


def _diarist(found: Survey, path: str) -> str:
    """Whose days, summary or other notes a page belongs to; empty when nobody's."""
    above = path
    while above:
        if above in found.diaries:
            return found.diaries[above]
        above = above.rpartition("/")[0]
    return ""


def _notes(found: Survey, leaf: Leaf) -> Iterator[Finding]:
    agent = _diarist(found, leaf.path) if leaf.place and leaf.place.kind == "page" else ""
    if not agent or not found.home.layout.notes_pages(agent, [leaf.path]):
        return
    is_summary = leaf.path in found.diaries
    for block in blocks.parse(leaf.text):
        if block.at:
            yield from _ahead(found, leaf, block.at, block.first_line)
        rank = (is_summary, sort_key(block.at), leaf.path, block.start)
        digest = digest_of(block.content, *block.tags)
        line, by_hand = block.first_line, not block.at
        found.notes.append(Claim(agent, block.key, leaf.path, line, rank, digest, block.at, by_hand))


def digest_of(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def digest_of_record(text: str, record: Record) -> str:
    """Of the value and of every field but those that tell where and when it is kept."""
    try:
        fields = parse_fields(text)
    except BrokenFrontMatter:
        return ""
    rest = {name: value for name, value in fields.items() if name not in _WHERE_AND_WHEN}
    return digest_of(json.dumps([record.value, rest], sort_keys=True))


def _record_claim(leaf: Leaf, record: Record) -> Claim:
    """Within a folder, the page with the name that tools give it counts."""
    folder, name = leaf.path.rpartition("/")[0], stem(leaf.path)
    taken = FIXED_NAMES if record.scope.kind == "agent" else frozenset[str]()
    rank = (name in FIXED_PAGES or name == file_name(record.key, taken),)
    return Claim(folder, record.key, leaf.path, 0, rank, digest_of_record(leaf.text, record), record.updated_at)


OF_A_PAGE = (_as_kind, _notes, _size, _file_time, _day, _secrets)


def duplicates(found: Survey) -> Iterator[Finding]:
    """Keys that more than one note of an agent, or more than one record, claims."""
    yield from (_note_twice(*pair) for pair in _hidden(found.notes) if not _is_prose(*pair))
    beside = list(_hidden(found.records))
    yield from (_record_twice(*pair) for pair in beside)
    everywhere = f"{found.home.layout.globals}/"  # a key is one record over all categories, and the newest counts
    left = {*found.records} - {hidden for hidden, _ in beside}
    shared = (claim for claim in left if claim.path.startswith(everywhere))
    newest = [claim._replace(whose=everywhere, rank=(sort_key(claim.at),)) for claim in shared]
    yield from (_record_twice(*pair) for pair in _hidden(newest))


def _hidden(claims: Iterable[Claim]) -> Iterator[tuple[Claim, Claim]]:
    """Each that does not count, with the one that does."""
    groups: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        groups.setdefault((claim.whose, claim.key), []).append(claim)
    for group in groups.values():
        if len(group) > 1:
            counts = max(sorted(group), key=lambda claim: claim.rank)
            yield from ((claim, counts) for claim in group if claim is not counts)


def _is_prose(hidden: Claim, counts: Claim) -> bool:
    """Two headings of one page, both by hand: as people write, and not as keys are kept."""
    return hidden.by_hand and counts.by_hand and hidden.path == counts.path


def _note_twice(hidden: Claim, counts: Claim) -> Finding:
    same = hidden.digest == counts.digest
    what = f"the note {hidden.key!r} is kept twice: {counts.path}#L{counts.line} counts, this one is not read"
    what += ", and says the same" if same else ""
    by_hand = "put what you want to keep into the one that counts, and remove this one"
    about = (hidden.key, hidden.at, hidden.digest, counts.path)
    advice = "--fix removes this one" if same else by_hand
    return Finding("duplicate-notes", hidden.path, what, advice, hidden.line, fixable=same, about=about)


def _record_twice(hidden: Claim, counts: Claim) -> Finding:
    same = hidden.digest == counts.digest != ""
    what = f"the record {hidden.key!r} is kept twice: {counts.path} counts, this one is not read"
    what += ", and says the same" if same else ""
    advice = "--fix removes this one" if same else "put what you want to keep into the one that counts, remove this one"
    about = (hidden.key, counts.path, hidden.digest)
    return Finding("duplicate-records", hidden.path, what, advice, fixable=same, about=about)
