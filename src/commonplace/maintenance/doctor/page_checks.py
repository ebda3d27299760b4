"""Checks of the content of pages: front matter, JSON, dates, sizes, secrets and duplicate keys; and their fixes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta

from ...errors import BrokenFrontMatter, Conflict, NotFound, StorageError
from ...formats import blocks, frontmatter, json_text, transcripts
from ...formats.records import parse_fields, parse_skill
from ...formats.timestamps import parse_timestamp, sort_key
from ...home import Home
from ...model import Record, Skill
from ...storage.base import MAX_PAGE_CHARACTERS
from ...storage.history import version_of
from ...storage.layout import FIXED_NAMES, FIXED_PAGES, stem
from ...storage.names import file_name
from ...storage.records import parse_record
from ...writing import MAX_INDEXED_BYTES
from ..doubts import describe_stale_pins
from .file_checks import Claim, Finding, ScannedPage, Survey, format_everyone_option, restore_command

_CLOCK_TOLERANCE = timedelta(minutes=10)
_FILE_TIME_TOLERANCE_SECONDS = 86400.0
_UNCLOSED_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n[A-Za-z_][\w-]*:[ \t\r\n]")
_DAY_PAGE = re.compile(r"([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})\.md$")
_CONFLICT_MARKERS = tuple(re.compile(line, re.MULTILINE) for line in (r"^<{7} ", r"^={7}\r?$", r"^>{7} "))  # git's
_LOCATION_FIELDS = ("key", "category", "channel", "created_at", "updated_at")
_APPEND_ONLY_KINDS = ("session", "data")  # tools do not rewrite these in part, so their size does not matter
_FIX_BY_HAND = "fix the lines between the two `---` by hand"
_CHANGED_MEANWHILE = "it has changed in the meantime: run doctor again"
_STRAY_BYTES = re.compile("[\udc80-\udcff]+")  # as `surrogateescape` shows them
_MAX_STRAY_BYTES = 2  # in a row: `ß` and `“é`; a word of them is in another alphabet


def check_front_matter(_survey: Survey, page: ScannedPage) -> Iterator[Finding]:
    consequences = {
        "record": "its fields are not read, and tools refuse to change it",
        "skill": "the skill has no description, and tools refuse to change it",
    }
    kind = _kind(page)
    if kind not in consequences:
        return
    if _UNCLOSED_FRONT_MATTER.match(page.text) and not frontmatter.split(page.text)[0]:
        advice = "put a line `---` after the last field; until then its fields are read as a part of its text"
        yield Finding(page.path, "the front matter is opened and never closed", advice, 1)
    if kind == "record" and not page.record.problem:
        return  # text between two horizontal rules is not a record's front matter
    error = _front_matter_error(page.text)
    if error:
        yield Finding(page.path, error.problem, f"{_FIX_BY_HAND}; until then {consequences[kind]}", error.line or 2)


def check_pins(survey: Survey, page: ScannedPage) -> Iterator[Finding]:
    """Find notes that are pinned to a file that changed since, or is gone."""
    if _kind(page) not in ("session", "data"):
        for change in describe_stale_pins(survey.home, page.path, page.text):
            advice = "change the note if it is not true any more, then pin it again: `commonplace pin`"
            yield Finding(page.path, f"is pinned to a file: {change}", advice)


def check_conflict_markers(_survey: Survey, page: ScannedPage) -> Iterator[Finding]:
    """Find conflict markers that a merge left for a person to resolve."""
    first = at = -1
    for marker in _CONFLICT_MARKERS:
        match = marker.search(page.text, at + 1)
        if not match:
            return
        at = match.start()
        first = at if first < 0 else first
    advice = "choose the lines to keep and remove the markers; until then agents read both sides"
    line = page.text.count("\n", 0, first) + 1
    yield Finding(page.path, "holds the markers of a merge conflict", advice, line)


def _front_matter_error(text: str) -> BrokenFrontMatter | None:
    try:
        frontmatter.parse(frontmatter.split(text)[0])
    except BrokenFrontMatter as error:
        return error
    return None


def check_json(_survey: Survey, page: ScannedPage) -> Iterator[Finding]:
    kind = _kind(page)
    if kind == "record":
        record = page.record
        if record.problem and not _front_matter_error(page.text):
            advice = "fix the JSON by hand, or take `type: json` out; until then it is read as text"
            yield Finding(page.path, record.problem, advice)
    elif kind == "data":
        problem = _json_object_problem(page.text)
        if problem:
            yield Finding(page.path, problem, "fix it by hand; until then the skill is read without its data")
    elif kind == "session":
        broken = transcripts.parse_turns(page.text)[1]
        if broken:
            what = f"{len(broken)} {'line is' if len(broken) == 1 else 'lines are'} not JSON, this one first"
            yield Finding(page.path, what, "fix or remove them; until then they are left out of search", broken[0])


def _json_object_problem(text: str) -> str:
    try:
        return "" if isinstance(json_text.parse_json(text), dict) else "does not hold a JSON object"
    except ValueError as error:
        return f"is not JSON ({error})"


def check_size(_survey: Survey, page: ScannedPage) -> Iterator[Finding]:
    length = len(page.text)
    if length > MAX_PAGE_CHARACTERS:
        what = f"has {length} characters: only {MAX_PAGE_CHARACTERS} are searched, of its longest parts the beginning"
        yield Finding(page.path, what, "split it up")
    elif page.size > MAX_INDEXED_BYTES and _kind(page) not in _APPEND_ONLY_KINDS:
        what = f"is large ({page.size // 1000} KB): each write copies all of it, and only the next search indexes it"
        advice = f"split it up if it is written often; {MAX_INDEXED_BYTES // 1000} KB are fine"
        yield Finding(page.path, what, advice)


def check_future_dates(survey: Survey, page: ScannedPage) -> Iterator[Finding]:
    """Find dates in the future: of the file, of the day a page is about, and on the page."""
    yield from _check_file_time(survey, page)
    yield from _check_day(survey, page)
    for stamp, line in _timestamps(survey, page):
        moment = parse_timestamp(stamp)
        if moment and moment > survey.home.clock() + _CLOCK_TOLERANCE and stamp in page.text:
            advice = "correct the date by hand; until then it counts as newer than all that is written"
            line = line or page.text[: page.text.index(stamp)].count("\n") + 1
            yield Finding(page.path, f"is dated {stamp}, which is in the future", advice, line)


def _check_file_time(survey: Survey, page: ScannedPage) -> Iterator[Finding]:
    if page.modified_at > survey.now + _FILE_TIME_TOLERANCE_SECONDS:
        when = datetime.fromtimestamp(page.calendar_time, UTC)
        what = f"the file has a modification time in the future ({when:%Y-%m-%d})"
        advice = (
            "check the clock of this machine; `touch` gives it the present time; until then every search reads it again"
        )
        yield Finding(page.path, what, advice)


def _check_day(survey: Survey, page: ScannedPage) -> Iterator[Finding]:
    """Find the page of a day that has not come yet, in the home's time zone or in UTC."""
    home = survey.home
    name = _DAY_PAGE.search(page.path)
    today = max(home.today(), home.clock().astimezone(UTC).date())
    if not name or "-".join(name.groups()) <= today.isoformat():
        return
    agent = _note_owner(survey, page.path)
    try:
        day = date(*map(int, name.groups()))
    except ValueError:
        return
    if agent and page.path in (home.layout.day_page(agent, day), home.layout.activity_page(agent, day)):
        advice = "rename it to the day it is about; until then it is shown as the latest day"
        yield Finding(page.path, "is the page of a day that has not come yet", advice)


def _timestamps(survey: Survey, page: ScannedPage) -> Iterator[tuple[str, int]]:
    """Yield the timestamps of a page, with their line if it is known."""
    kind = _kind(page)
    if kind == "record":
        record = page.record
        yield from ((stamp, 0) for stamp in dict.fromkeys((record.created_at, record.updated_at)))
    elif kind == "skill" and page.place:
        skill = parse_skill(page.text, Skill(page.place.name, "", path=page.path))
        yield from ((stamp, 0) for stamp in dict.fromkeys((skill.created_at, skill.updated_at)))
    elif _notes_agent(survey, page):
        yield from ((block.at, block.first_line) for block in blocks.parse(page.text) if block.at)


def check_secrets(_survey: Survey, page: ScannedPage) -> Iterator[Finding]:
    """Find secrets, the first of each kind. A problem names the kind, never the secret."""
    from ...secrets import find

    text = page.text[:MAX_PAGE_CHARACTERS]
    for secret in {secret.rule: secret for secret in reversed(find(text))}.values():
        what = f"contains what looks like a secret ({secret.rule})"
        advice = (
            f"take it out and keep it in a password manager; {_secret_advice(secret.rule)}, if others may have read it"
            "; `commonplace forget` removes a note or a page from history, too"
        )
        yield Finding(page.path, what, advice, text.count("\n", 0, secret.start) + 1)


def _secret_advice(rule: str) -> str:
    from ...secrets.rules import RULES

    return next(each.next_step for each in RULES if each.name == rule)


def _kind(page: ScannedPage) -> str:
    return page.place.kind if page.place else ""


def _note_owner(survey: Survey, path: str) -> str:
    """Return the agent whose daily pages, summary or other notes a page belongs to, or an empty name."""
    above = path
    while above:
        if above in survey.note_owners:
            return survey.note_owners[above]
        above = above.rpartition("/")[0]
    return ""


def _notes_agent(survey: Survey, page: ScannedPage) -> str:
    """Return the agent whose notes are on a page, or an empty name."""
    agent = _note_owner(survey, page.path) if _kind(page) == "page" else ""
    return agent if agent and survey.home.layout.notes_pages(agent, [page.path]) else ""


def collect_claims(survey: Survey, page: ScannedPage) -> None:
    """Note which keys the notes or the record on a page claim, for the checks of duplicates."""
    if _kind(page) == "record":
        survey.records.append(_record_claim(page, page.record))
    agent = _notes_agent(survey, page)
    if not agent:
        return
    is_summary = page.path in survey.note_owners
    for block in blocks.parse(page.text):
        rank = (is_summary, sort_key(block.at), page.path, block.start)
        digest = digest_text(block.content, *block.tags)
        is_by_hand = not block.at
        claim = Claim(agent, block.key, page.path, block.first_line, rank, digest, block.at, is_by_hand)
        survey.notes.append(claim)


def digest_text(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def digest_record(text: str, record: Record) -> str:
    """Return a digest of the value and of every field except those about its place and time."""
    try:
        fields = parse_fields(text)
    except BrokenFrontMatter:
        return ""
    rest = {name: value for name, value in fields.items() if name not in _LOCATION_FIELDS}
    return digest_text(json.dumps([record.value, rest], sort_keys=True))


def _record_claim(page: ScannedPage, record: Record) -> Claim:
    """Return the claim of a record. Of two pages in a folder, the one that has the name that tools give it counts."""
    folder = page.path.rpartition("/")[0]
    name = stem(page.path)
    reserved = FIXED_NAMES if record.scope.kind == "agent" else frozenset[str]()
    rank = (name in FIXED_PAGES or name == file_name(record.key, reserved),)
    return Claim(folder, record.key, page.path, 0, rank, digest_record(page.text, record), record.updated_at)


def find_duplicate_notes(survey: Survey) -> Iterator[Finding]:
    for hidden, counting in _hidden_claims(survey.notes):
        is_prose = hidden.by_hand and counting.by_hand and hidden.path == counting.path
        if not is_prose:  # two equal headings written by hand on one page are not keys
            fix_data = (hidden.key, hidden.at, hidden.digest, counting.path)
            yield _duplicate("note", hidden, f"{counting.path}#L{counting.line}", counting.digest, fix_data)


def _duplicate(what: str, hidden: Claim, counting: str, digest: str, fix_data: tuple[str, ...]) -> Finding:
    """Return the finding of a claim that does not count, given where the one that counts is, and its digest."""
    is_same = hidden.digest == digest != ""
    problem = f"the {what} {hidden.key!r} is stored twice: {counting} counts, this one is not read"
    by_hand = "put what you want to keep into the one that counts, and remove this one"
    return Finding(
        hidden.path,
        f"{problem}, and says the same" if is_same else problem,
        "--fix removes this one" if is_same else by_hand,
        hidden.line,
        fix_data if is_same else None,
    )


def find_duplicate_records(survey: Survey) -> Iterator[Finding]:
    in_one_folder = list(_hidden_claims(survey.records))
    yield from (_duplicate_record(*pair) for pair in in_one_folder)
    shared = f"{survey.home.layout.globals}/"  # a key is one record over all categories, and the newest counts
    left = {*survey.records} - {hidden for hidden, _ in in_one_folder}
    newest = [
        claim._replace(owner=shared, rank=(sort_key(claim.at),)) for claim in left if claim.path.startswith(shared)
    ]
    yield from (_duplicate_record(*pair) for pair in _hidden_claims(newest))


def _hidden_claims(claims: Iterable[Claim]) -> Iterator[tuple[Claim, Claim]]:
    """Yield each claim that does not count, with the one that does."""
    groups: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        groups.setdefault((claim.owner, claim.key), []).append(claim)
    for group in groups.values():
        if len(group) > 1:
            counting = max(sorted(group), key=lambda claim: claim.rank)
            yield from ((claim, counting) for claim in group if claim is not counting)


def _duplicate_record(hidden: Claim, counting: Claim) -> Finding:
    fix_data = (hidden.key, counting.path, hidden.digest)
    return _duplicate("record", hidden, counting.path, counting.digest, fix_data)


def remove_duplicate_note(home: Home, finding: Finding) -> str:
    key, at, digest, counting = finding.about
    _require_in_history(home, finding.path)

    def remove_copy(text: str) -> str:
        notes = blocks.find(text, key)
        newest = max(notes, key=lambda block: (sort_key(block.at), block.start), default=None)
        others = [block for block in notes if finding.path != counting or block is not newest]
        copies = [block for block in others if block.at == at and digest_text(block.content, *block.tags) == digest]
        if not copies:
            raise Conflict(_CHANGED_MEANWHILE)
        return blocks.remove(text, copies[0])

    home.writer.edit(finding.path, remove_copy)
    return _describe_undo(home, finding.path)


def remove_duplicate_record(home: Home, finding: Finding) -> str:
    key, counting, digest = finding.about
    version = _require_in_history(home, finding.path)
    with home.storage.pages.lock(f"global {key}"):
        if any(_digest_page(home, path) != digest for path in (finding.path, counting)):
            raise Conflict(_CHANGED_MEANWHILE)
        home.writer.remove(finding.path, if_version=version)
    return _describe_undo(home, finding.path)


def _digest_page(home: Home, path: str) -> str:
    place = home.layout.place(path)
    text = home.storage.pages.read(path).text
    return digest_record(text, parse_record(text, path, place, lambda: 0.0)) if place else ""


def read_as_windows_1252(data: bytes) -> str:
    """Return the text of a page in which an older editor left letters such as `é`, or nothing if that is unlikely."""
    text = data.decode(errors="surrogateescape")
    if "\0" in text or any(len(stray) > _MAX_STRAY_BYTES for stray in _STRAY_BYTES.findall(text)):
        return ""
    try:
        return _STRAY_BYTES.sub(lambda stray: stray[0].encode(errors="surrogateescape").decode("cp1252"), text)
    except UnicodeDecodeError:
        return ""


def save_as_utf8(home: Home, finding: Finding) -> str:
    data = home.storage.read_bytes(finding.path) or b""
    _require_in_history(home, finding.path, version_of(data))
    text = read_as_windows_1252(data)

    def replace_bytes(old: str) -> str:
        if not text or old != data.decode(errors="replace"):
            raise Conflict(_CHANGED_MEANWHILE)
        return text

    home.writer.rewrite(finding.path, replace_bytes)
    return "what was not UTF-8 was read as Windows-1252; history has the page as it was"


def _require_in_history(home: Home, path: str, version: str = "") -> str:
    """Return the version of a page once history has it: nothing is changed that could not be undone."""
    version = version or home.storage.pages.read(path).version
    home.storage.pages.record_outside_edits([path])
    try:
        home.storage.history.read_version(path, version)
    except (NotFound, OSError) as error:
        raise StorageError(f"history lacks the current version of {path}, so the fix could not be undone") from error
    return version


def _describe_undo(home: Home, path: str) -> str:
    change = home.storage.history.changes(path)[-1]
    if change.tool == "doctor":
        return f"removed; `commonplace undo {change.id}{format_everyone_option(home, path)}` takes it back"
    return f"removed; {restore_command(home, path, change)} takes it back"
