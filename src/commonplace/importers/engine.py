"""Write what readers found into a home: new files in bulk, nothing is overwritten, and no item comes twice.

Records and skills are rendered by the code that stores them, so an imported record looks exactly as if a tool had
written it, with the times it had. Secrets are reported, redacted or refused here, as the settings say.

Everything is read and compared before anything is written. A page here is replaced only if it is what an earlier import
wrote; else the item goes beside it, or is reported. An import that was interrupted is run again and goes on.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, cast

from ..errors import CommonplaceError, HoldsSecret, InvalidArgument, PageNotFound, Refused, StaleVersion, StorageError
from ..formats import frontmatter
from ..formats.json_text import replace_surrogates, round_trip
from ..formats.timestamps import format_timestamp, parse_timestamp, to_nanoseconds
from ..home import Home
from ..index.base import Progress, ignore_progress
from ..model import Clock, Page
from ..new_home import write_default_directive
from ..storage.base import ABSENT, Pages, Paths
from ..storage.bulk import IncomingPage, PageBatch, Spool, SpooledFile, path_problem
from ..storage.files import PRIVATE_FILE_MODE
from ..storage.history import version_of
from ..storage.layout import FIXED_NAMES, FIXED_PAGES, Layout
from ..storage.names import MAX_NAME_BYTES, file_name, is_blank
from ..storage.records import SKILL_PAGE, Channels, Globals, RecordFolder, Skills
from ..wording import list_some
from ..writing import screen_secrets
from .values import CLAUDE_CODE, Item, PageItem, RecordItem, SessionItem, SkillItem, Skipped

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
    if is_blank(key):
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
    modified = to_nanoseconds(parse_timestamp(record.updated_at) or home.clock())
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
    modified = to_nanoseconds(parse_timestamp(skill.updated_at) or home.clock())
    skill_page_first = sorted(texts.items(), key=lambda page: not page[0].endswith(SKILL_PAGE))
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
    modified = to_nanoseconds(max(moments, default=parse_timestamp(item.at) or home.clock()))
    day = f"-{item.at[:10]}" if item.at else ""
    path = f"{home.layout.sessions_folder(item.agent)}/{item.source}{day}-{file_name(item.name)}.jsonl"
    # A hook stores sessions of Claude Code under their own ids.
    key = (item.original_id or item.name) if item.source == CLAUDE_CODE else ""
    return File(item.id, "session", path, data, modified, key=key, warning=warning)


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

    def edit_unique(self, path: str, change: Callable[[str], str], _lock: str) -> None:
        self.edit(path, change)

    def modified_at(self, path: str) -> float:
        self.read(path)
        return 0.0

    def list(self, folder: str) -> Paths:
        return [path for path in self.texts if path.startswith(f"{folder}/")]

    def list_folders(self, folder: str) -> Paths:
        above = f"{folder}/"
        rest = (path.removeprefix(above) for path in self.texts if path.startswith(above))
        return sorted({path.partition("/")[0] for path in rest if "/" in path})

    def list_folders_with(self, folder: str, _names: Sequence[str]) -> Paths:
        return self.list_folders(folder)

    @contextmanager
    def lock(self, _name: str) -> Iterator[None]:
        yield


def second_fallback_path(file: File) -> str:
    """Return where a file goes if its fallback path is taken as well: a unique name."""
    stem, dot, suffix = file.fallback_path.rpartition(".")
    return f"{stem}-{hashlib.blake2b(file.id.encode(), digest_size=3).hexdigest()}{dot}{suffix}"


def list_other_pages(layout: Layout, file: File, categories: list[str]) -> list[str]:
    """Return where a record of the same key, or the same session, could be under another path."""
    folder = file.path.rpartition("/")[0]
    if file.kind == "session":
        return [f"{folder}/{file_name(file.key)}.jsonl"]
    is_global = folder.startswith(f"{layout.globals}/")
    folders = [f"{layout.globals}/{name}" for name in categories] if is_global else [folder]
    paths = (f"{folder}/{name}.md" for folder in folders for name in (file_name(file.key), file.key))
    return [path for path in paths if path != file.path]


class ImportReport(NamedTuple):
    """What an import did, or would do if it was a dry run.

    `renamed`: paths used, each with the one that was taken. `left_unchanged`: pages here that differ from the source.
    `skipped`: what was not understood. `counts_by_kind`: how many of the files added are pages, records, sessions …
    """

    added: tuple[str, ...]
    updated: tuple[str, ...]
    same: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    left_unchanged: tuple[Skipped, ...]
    skipped: tuple[Skipped, ...]
    counts_by_kind: tuple[tuple[FileKind, int], ...]
    warnings: tuple[str, ...]


class Step(NamedTuple):
    """A file compared with the present one at its path. `seen`: the present version."""

    file: File
    path: str
    version: str
    seen: str = ABSENT
    spooled: SpooledFile | None = None


class Plan:
    """What an import will do and report."""

    def __init__(self) -> None:
        self.new: dict[str, Step] = {}
        self.updates: dict[str, Step] = {}
        self.same: dict[str, Step] = {}
        self.left_unchanged: list[Skipped] = []
        self.skipped: list[Skipped] = []
        self.warnings: dict[str, list[str]] = {}

    def find(self, path: str) -> Step | None:
        return self.new.get(path) or self.updates.get(path) or self.same.get(path)

    def leave_unchanged(self, path: str, why: str) -> None:
        """Reclassify a planned page as left unchanged."""
        self.left_unchanged.append(Skipped(path, why))
        self.new.pop(path, None)
        self.updates.pop(path, None)


class ImportLog:
    """What earlier imports of one kind wrote, to recognise what a person has changed or removed since.

    An entry is two hashes: a key, of the item and its path, and the version that was written. The pages themselves stay
    byte for byte. If the log is lost, an edited page looks like one that was always here.
    """

    def __init__(self, kind: str, known: dict[str, str]) -> None:
        self._kind = kind
        self._known = known

    def key(self, item: str, path: str) -> str:
        return _hash(self._kind, item, path)

    def version(self, item: str, path: str) -> str:
        """Return the version in which an item was written to a path; empty if it never was."""
        return self._known.get(self.key(item, path), "")


def run_import(
    home: Home,
    items: Iterable[Item],
    kind: str,
    source: str,
    *,
    dry_run: bool = False,
    again: bool = False,
    progress: Progress = ignore_progress,
) -> ImportReport:
    """Put items into a home. `again`: also those that were removed here since they were imported."""
    home.storage.check()
    log = ImportLog(kind, home.storage.bulk.read_import_log())
    with Spool() as spool:
        plan = Plan()
        comparison = _Comparison(home, log, spool, plan, source, again=again)
        for count, item in enumerate(items, start=1):
            comparison.add(item)
            progress("reading", count, count)
        warnings = [] if dry_run else _write(home, plan, log, spool, kind, source, progress)
    warnings += [f"{list_some(paths, 1)}: {sentence}" for sentence, paths in plan.warnings.items()]
    return ImportReport(
        tuple(plan.new),
        tuple(plan.updates),
        tuple(plan.same),
        tuple((path, step.file.path) for path, step in plan.new.items() if path != step.file.path),
        tuple(plan.left_unchanged),
        tuple(plan.skipped),
        tuple(sorted(Counter(step.file.kind for step in plan.new.values()).items())),
        tuple(warnings),
    )


def _hash(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _write(
    home: Home, plan: Plan, log: ImportLog, spool: Spool, kind: str, source: str, progress: Progress
) -> list[str]:
    """Write what was planned; return warnings."""
    _leave_pages_without_text(plan, spool)
    steps = [*plan.new.values(), *plan.updates.values()]
    if not steps and not plan.same:
        return []
    if steps and f"{home.layout.directives}/memory.md" not in plan.new:
        # Written before the import, so that the last change is the import's, which `undo` takes back.
        write_default_directive(home)
    pages = [
        IncomingPage(step.path, step.version, step.seen, step.spooled, import_key=_new_key(log, step)) for step in steps
    ]
    unlogged = {_new_key(log, step): step.version for step in plan.same.values()}
    unlogged.pop("", None)

    def report(done: int) -> None:
        progress("writing", done, len(steps))

    bulk = home.storage.bulk
    with (
        bulk.import_run(_hash(kind, source)) as call,
        home.writer.call(
            "import", why=f"from {kind}", call_id=call, origin=f"import:{kind}", defer_index=True
        ) as writing,
    ):
        batch = PageBatch(pages, spool, import_log=unlogged)
        failures = bulk.put(batch, skip_failed=True, progress=report)
        _refuse_total_failure(failures, pages)
    for path, error in failures.items():
        is_stale = isinstance(error, StaleVersion)
        plan.leave_unchanged(
            path, f"{path} was changed by another program in the meantime: run it again" if is_stale else str(error)
        )
    home.index.invalidate()
    return [*dict.fromkeys(writing.warnings)]


def _new_key(log: ImportLog, step: Step) -> str:
    """Return the key under which to log a step; empty if it is logged already."""
    is_logged = log.version(step.file.id, step.path) == step.version
    return "" if is_logged else log.key(step.file.id, step.path)


def _leave_pages_without_text(plan: Plan, spool: Spool) -> None:
    for path, step in [*plan.updates.items()]:
        try:
            (spool.read(step.spooled) if step.spooled else b"").decode()
        except UnicodeDecodeError:
            plan.leave_unchanged(path, f"{path} is not text, and stays as it is here; its source has changed")


def _refuse_total_failure(failures: dict[str, CommonplaceError], pages: Sequence[IncomingPage]) -> None:
    """Raise the first error if nothing at all could be written, unless others merely wrote first."""
    if failures and len(failures) == len(pages):
        for error in failures.values():
            if not isinstance(error, StaleVersion):
                raise error


class _Comparison:
    """Compares files with what is here, one after the other."""

    def __init__(self, home: Home, log: ImportLog, spool: Spool, plan: Plan, source: str, *, again: bool) -> None:
        self._home = home
        self._log = log
        self._spool = spool
        self._plan = plan
        self._source = source
        self._again = again
        self._version_at = home.storage.bulk.version_lookup()
        self._categories = home.storage.pages.list_folders(home.layout.globals)
        self._global_pages = set(home.storage.pages.list(home.layout.globals, deep=True))
        self._other_skills: set[str] = set()  # folders of skills here that are not those of the source

    def add(self, item: Item) -> None:
        if isinstance(item, Skipped):
            self._plan.skipped.append(item)
            return
        try:
            for file in make_files(self._home, item):
                self._add_file(file)
        except HoldsSecret as error:
            self._skip(item.id, f"{error.problem}. {error.advice}")
        except (InvalidArgument, Refused, StorageError) as error:
            self._skip(item.id, str(error))

    def _skip(self, what: str, why: str) -> None:
        self._plan.skipped.append(Skipped(what.removeprefix(self._source).lstrip("/ ") or what, why))

    def _add_file(self, file: File) -> None:
        file = file._replace(path=self._home.layout.find_page(file.path, lambda: self._topics))
        version = version_of(file.data)
        if file.path.startswith(tuple(self._other_skills)):
            return  # its SKILL.md is listed
        for path in self._candidate_paths(file):
            if problem := path_problem(path):
                self._skip(file.id, problem)
                return
            if self._decide(file, path, version):
                return
        self._plan.left_unchanged.append(Skipped(file.path, "something else is here already, and is kept"))
        if file.kind == "skill" and file.path.endswith(f"/{SKILL_PAGE}"):
            self._other_skills.add(file.path.removesuffix(SKILL_PAGE))

    @cached_property
    def _topics(self) -> list[str]:
        return self._home.storage.pages.list(self._home.layout.world)

    def _candidate_paths(self, file: File) -> list[str]:
        """Return where a file may go, best first. One that went to a fallback path once stays there."""
        if not file.fallback_path:
            return [file.path]
        paths = [file.path, file.fallback_path, second_fallback_path(file)]
        used = [path for path in paths if self._log.version(file.id, path)]
        return used[:1] if used and used[0] != file.path else paths

    def _decide(self, file: File, path: str, version: str) -> bool:
        """Decide what becomes of a file at a path; False if another file has this path."""
        other = self._plan.find(path)
        if other:
            return other.version == version
        imported = self._log.version(file.id, path)
        step = Step(file, path, version, self._version_at(path))
        if step.seen == ABSENT:
            self._decide_absent(step, imported)
        elif step.seen == version:
            self._plan.same[path] = step._replace(file=file._replace(data=b""))
        elif not imported:
            return False
        elif step.seen == imported:
            self._plan.updates[path] = self._spool_step(step)
        else:
            changed = "was changed here since it came" + ("" if version == imported else ", and at its source, too")
            self._plan.left_unchanged.append(Skipped(path, f"{changed}: stays as it is here"))
        return True

    def _decide_absent(self, step: Step, imported: str) -> None:
        if imported and not self._again and not self._was_undone(step.path):
            why = "was removed here since it came: stays away (--again brings it)"
            self._plan.left_unchanged.append(Skipped(step.path, why))
            return
        elsewhere = self._find_elsewhere(step.file)
        if elsewhere:
            what = "session" if step.file.kind == "session" else "key"
            self._plan.left_unchanged.append(Skipped(step.path, f"{elsewhere} has this {what} already, and stays"))
            return
        self._plan.new[step.path] = self._spool_step(step)
        if step.path.startswith(f"{self._home.layout.globals}/"):
            self._note_global(step.path)

    def _note_global(self, path: str) -> None:
        category = path.removeprefix(f"{self._home.layout.globals}/").partition("/")[0]
        self._global_pages.add(path)
        if category not in self._categories:
            self._categories.append(category)

    def _find_elsewhere(self, file: File) -> str:
        """Return another page that has the same key, or the same session; empty if there is none."""
        if not file.key:
            return ""
        for path in list_other_pages(self._home.layout, file, self._categories):
            if path in self._global_pages or (not path_problem(path) and self._version_at(path) != ABSENT):
                return path
        return ""

    def _was_undone(self, path: str) -> bool:
        head = self._home.storage.history.head(path)
        return head is not None and head.version == ABSENT and head.by.tool == "undo"

    def _spool_step(self, step: Step) -> Step:
        """Move the bytes of a step to the spool: there may be too many for memory."""
        now = to_nanoseconds(self._home.clock())
        file = step.file
        modified = file.modified if 0 < file.modified < now else now
        if file.warning:
            self._plan.warnings.setdefault(file.warning, []).append(step.path)
        spooled = self._spool.add(PRIVATE_FILE_MODE, modified, [file.data])
        return step._replace(spooled=spooled, file=file._replace(data=b""))
