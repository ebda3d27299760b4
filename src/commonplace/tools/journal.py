"""The journal toolset: recall what is known, remember what happens, reflect on it, keep facts all agents share.

`reflect` and `update_world` rewrite a whole page, based on what the caller was given of it. What others wrote since
then is merged, so that nothing is lost silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Annotated, NamedTuple

from ..context.replaced import describe_replacements, find_replaced
from ..errors import CommonplaceError, InvalidArgument, NotAvailable, StorageError
from ..formats import blocks
from ..formats.passages import choose_titles, list_titles
from ..framing import quote_line
from ..framing.limits import fit_lines
from ..framing.recall import Kind, Recalled, RecallPage, name_read_call, render_recall, unescape_page
from ..home import Home
from ..model import Block
from ..schema import AtLeast
from ..search.shown_lines import ShownText
from ..storage.history import current_write, version_of
from ..storage.layout import folders_above
from ..storage.merge import MergedText, find_lost_lines, merge_rewrites
from ..storage.names import require_new_key, topic_name
from ..storage.readings import Reading, read_lines
from ..storage.records import read_text
from ..wording import format_command
from .define import Answer, Maybe, Reply, Tool, refuse, toolset, with_warning

NO_MEMORIES = "No memories found"
_MAX_INDEXED_CHARACTERS = 1_000_000  # of pages indexed while a recall waits
JournalReply = Annotated[Reply, Answer(success=bool, content=str)]


def recall(
    home: Home, days: Annotated[int, "How many days to read, today included; 0 for none of them.", AtLeast(0)] = 3
) -> JournalReply:
    """Read your memory at the start of a conversation: what is known about the world, your curated memory, your days.

    Pages that are too long are listed with their size and the call that reads them. A backslash before a line
    that looks like a heading of this reply is not part of the page, nor is `[no longer; now: …]` at the end of one.
    """
    warnings: list[str] = []
    listed = _list_rewritten_pages(home)  # listed before they are read: a page created meanwhile counts as absent
    pages = [*_world_pages(home, warnings), *_curated_pages(home, warnings)]
    latest = [*_latest_days(home, days, warnings)]
    hint = "" if latest or not days else _name_newest_day(home, days)
    read_call = partial(name_read_call, has_search=home.search_settings.enabled)
    render = partial(render_recall, limit=home.settings.recall_characters, read_call=read_call, last_line=hint)
    pages += latest
    recalled = render(pages)
    if marked_pages := _mark_replaced(home, pages, recalled):
        recalled = render(marked_pages)
    home.readings.note_listed(listed)
    for page, spans in recalled.shown:
        for span in spans if page.kind != "day" else ():  # nobody rewrites a day as a whole
            home.readings.note(page.path, read_lines(page.text, first=span.start + 1, last=span.stop))
    home.record_recall(recalled.paths)
    return with_warning({"success": True, "content": recalled.text or NO_MEMORIES}, *warnings)


def remember(home: Home, content: Annotated[str, "What happened or what you learned."]) -> JournalReply:
    """Add a time-stamped entry to today's page. Use it during a conversation, whenever you learn something."""
    _require_content(content)
    now = home.now()
    path = home.writer.edit_day(now.date(), lambda text: blocks.add_entry(text, now, content))
    return {"success": True, "content": f"Remembered in {path} at {now:%H:%M}."}


def reflect(
    home: Home, content: Annotated[str, "Your whole curated memory, as it should read from now on."]
) -> Annotated[Reply, Answer(success=bool, content=str, kept=Maybe([str]))]:
    """Rewrite your curated memory, at the end of a conversation.

    It replaces the whole page: recall it first, and keep what still matters. What others changed since
    then stays; where your text replaced lines of theirs, `conflict` has them. Notes with a key stay as well (`kept`).
    """
    path = home.layout.curated_page(home.agent)
    outcome = _rewrite_page(home, path, content, "curated")
    notes = ", ".join(map(quote_line, outcome.get("kept", ())))
    also = f" Notes that it leaves out are still there: {notes}." if notes else ""
    return {"success": True, "content": f"Rewrote {path}.{also}", **outcome}


def update_world(
    home: Home,
    topic: Annotated[str, "What the page is about: people, systems, a project."],
    content: Annotated[str, "Everything known about it; it replaces the page."],
) -> JournalReply:
    """Rewrite the page of a topic that all agents share.

    Recall it first. What others changed since then stays; where your text replaced lines of theirs, `conflict` has
    them.
    """
    path = home.find_topic_page(topic)
    require_new_key("topic", topic)
    _require_content(content)
    verb = "Rewrote" if home.storage.exists(path) else "Created"
    outcome = _rewrite_page(home, path, content, "world")
    return {"success": True, "content": f"{verb} the world topic {topic_name(topic)} in {path}.", **outcome}


def _require_content(content: str) -> None:
    if not content.strip():
        raise InvalidArgument("content is empty", advice="give the text to store")


def _list_rewritten_pages(home: Home) -> list[str]:
    """Return the existing pages that `reflect` and `update_world` rewrite."""
    curated = home.layout.curated_page(home.agent)
    topics = home.storage.pages.list(home.layout.world)
    return [*topics, curated] if home.storage.exists(curated) else topics


def _world_pages(home: Home, warnings: list[str]) -> Iterator[RecallPage]:
    topics = [(home.layout.topic_of(path), path) for path in home.storage.pages.list(home.layout.world)]
    if not topics and (link := _describe_link(home, home.layout.world)):
        warnings.append(link)
    for topic, path in sorted(topics):
        yield from _read_page(home, "world", topic, path, warnings)


def _describe_link(home: Home, folder: str) -> str:
    """Return a warning if a folder is a link, or is behind one, so that nothing in it is read; else ""."""
    for path in (folder, *folders_above(folder)):
        entry = home.storage.tree.entry(path)
        if entry and entry.kind == "link":
            return f"{path} is a link, and links are not followed: put the folder itself in its place"
    return ""


def _curated_pages(home: Home, warnings: list[str]) -> Iterator[RecallPage]:
    yield from _read_page(home, "curated", "", home.layout.curated_page(home.agent), warnings)


def _latest_days(home: Home, days: int, warnings: list[str]) -> Iterator[RecallPage]:
    """Yield the pages of today and the days before it, newest first."""
    dated = _dated_pages(home)
    if not dated and (link := _describe_link(home, home.layout.days_folder(home.agent))):
        warnings.append(link)
    today = home.today()
    earliest = today - timedelta(days=min(days, today.toordinal()) - 1)
    for day, path in dated:
        if days and earliest.isoformat() <= day <= today.isoformat():
            yield from _read_page(home, "day", day, path, warnings)


def _dated_pages(home: Home) -> list[tuple[str, str]]:
    """Return the daily pages with their days, newest first."""
    paths = home.storage.pages.list(home.layout.days_folder(home.agent), deep=True)
    return sorted(((day, path) for path in paths if (day := home.layout.day_of(home.agent, path))), reverse=True)


def _name_newest_day(home: Home, days: int) -> str:
    """Return a sentence that names the newest day there is; empty when there is none."""
    newest = next((dated for dated in _dated_pages(home) if read_text(home.storage.pages, dated[1])[0].strip()), None)
    if newest is None:
        return ""
    span = "today" if days == 1 else f"in the last {days} days"
    call = name_read_call(newest[1], 1, has_search=home.search_settings.enabled)
    return f"Nothing was remembered {span}; the newest day is {newest[0]}: {call}."


def _read_page(home: Home, kind: Kind, name: str, path: str, warnings: list[str]) -> Iterator[RecallPage]:
    text, problem = read_text(home.storage.pages, path)
    warnings += problem
    if text.strip():
        yield RecallPage(kind, name, path, text)


def _mark_replaced(home: Home, pages: Sequence[RecallPage], recalled: Recalled) -> list[RecallPage]:
    """Return the pages with marks on the lines that something newer replaced. Only shown lines are examined, and the
    index of a large memory is used without catching up.
    """
    lines = [*_list_shown(recalled)]
    catches_up = sum(len(page.text) for page in pages) <= _MAX_INDEXED_CHARACTERS
    texts = [text for _, text in lines]
    newer = find_replaced(home, home.visibility.viewer(), texts, catches_up=catches_up)
    marks: dict[RecallPage, tuple[tuple[int, str], ...]] = {}
    for number, replacements in newer.items():
        page, text = lines[number]
        words: dict[int, list[str]] = {}
        for each, remark in describe_replacements(text, replacements):
            words.setdefault(text.first - 1 + each.older.statement.last_line, []).append(quote_line(remark))
        marks[page] = (*marks.get(page, ()), *((line, "; ".join(remarks)) for line, remarks in words.items()))
    return [page._replace(marks=marks.get(page, ())) for page in pages] if marks else []


def _list_shown(recalled: Recalled) -> Iterator[tuple[RecallPage, ShownText]]:
    """Yield the lines that are shown of each page, with the headings above them."""
    for page, spans in recalled.shown:
        lines = page.text.split("\n")
        last = max((span.start for span in spans), default=0)
        titles = list_titles("\n".join(lines[: last + 2]))  # an underline makes the line above it a heading
        for span in spans:
            heading = " ".join(choose_titles(titles, span.start + 1))
            yield page, ShownText(page.path, span.start + 1, "\n".join(lines[span.start : span.stop]), heading)


class _Rewrite(NamedTuple):
    """The new page, including what others changed and the notes that the new text leaves out."""

    text: str
    lost: str = ""  # other writers' lines that are not in it
    is_merged: bool = False
    kept_notes: tuple[str, ...] = ()  # their keys


def _rewrite_page(home: Home, path: str, content: str, kind: Kind) -> Reply:
    """Rewrite a page, keeping what others changed since the caller read it; return the reply fields about that.

    `conflict` has the lines of others that are not on the page any more, and `kept` the keys of notes that the new
    text leaves out.
    """
    reading = home.readings.find_base(path, content)
    text = unescape_page(content, _read_quietly(home, path) if reading is None else reading.text, kind)
    own_version = _find_own_version(home, path) if reading is None else ""
    rewrite = _Rewrite(text)

    def merge(current: str) -> str:
        nonlocal rewrite
        is_own = reading is not None or version_of(current.encode()) == own_version
        rewrite = _merge_rewrite(reading, current, text, keeps_notes=kind == "curated", is_own=is_own)
        return rewrite.text

    home.writer.rewrite(path, merge)
    home.readings.note_written(path, text)
    return _describe_rewrite(path, rewrite, is_read=reading is not None and bool(reading.text.strip()))


def _merge_rewrite(reading: Reading | None, current: str, text: str, *, keeps_notes: bool, is_own: bool) -> _Rewrite:
    """Merge a new text into a page. If the caller was not given the page, or wrote it last, it is replaced."""
    notes = _find_left_out_notes(current, text) if keeps_notes else []
    rest = _remove_notes(current, notes)
    base = None if reading is None else _remove_notes(reading.text, notes)
    if base is None:
        lost = "" if is_own else find_lost_lines(rest.split("\n"), text.split("\n"))
        merged = MergedText(text, lost)
    elif base.rstrip("\n") == rest.rstrip("\n"):
        merged = MergedText(text, "")
    else:
        merged = merge_rewrites(base, rest, text)
    is_merged = merged.text.rstrip("\n") != text.rstrip("\n")
    return _Rewrite(_append_notes(merged.text, notes), merged.lost, is_merged, tuple(note.key for note in notes))


def _find_left_out_notes(page: str, text: str) -> list[Block]:
    """Return the notes with a footer whose keys a new text does not have."""
    keys = {block.key for block in blocks.parse(text)}
    return [block for block in blocks.parse(page) if block.at and block.key not in keys]


def _remove_notes(text: str, notes: list[Block]) -> str:
    keys = {note.key for note in notes}
    for block in reversed(blocks.parse(text) if keys else []):
        if block.at and block.key in keys:
            text = blocks.remove(text, block)
    return text


def _append_notes(text: str, notes: list[Block]) -> str:
    for note in notes:
        text = f"{text.rstrip(chr(10))}\n\n" if text.strip("\n") else ""
        text = blocks.append(text, note.key, note.content, note.at, note.tags)
    return text


def _read_quietly(home: Home, path: str) -> str:
    """Return the text of a page; empty if it cannot be read."""
    try:
        return home.storage.pages.read(path).text
    except CommonplaceError:
        return ""


def _find_own_version(home: Home, path: str) -> str:
    """Return the current version if this agent wrote it; empty if somebody else did, or it is unknown."""
    with suppress(OSError, StorageError):
        head = home.storage.history.head(path)
        if head and head.by.agent == current_write().author.agent:
            return head.version
    return ""


def _describe_rewrite(path: str, rewrite: _Rewrite, *, is_read: bool) -> Reply:
    lost, problem = fit_lines(rewrite.lost, f"`{format_command('diff', path)}` shows all")
    reply: Reply = {"conflict": lost} if lost else {}
    if rewrite.kept_notes:
        reply["kept"] = [*rewrite.kept_notes]
    change = "had changed since you read it" if is_read else "was written by somebody else, and you had not read it"
    sentences = []
    if lost:
        sentences.append(f"{path} {change}: conflict has lines of others that yours replaced")
    elif rewrite.is_merged:
        sentences.append(f"{path} {change}: both changes are in it now")
    return with_warning(reply, *sentences, problem)


def _check_has_memory(home: Home) -> NotAvailable | None:
    """Return why the agent has no journal, or None."""
    if home.has_memory:
        return None
    file = home.layout.agent_file(home.agent)
    return NotAvailable(f"the agent {home.agent} has no memory: add a memory section under spec in {file}")


TOOLSET = toolset(
    "journal",
    [
        Tool(recall, reads_only=True),
        Tool(remember),
        Tool(reflect, destructive=True, idempotent=True),
        Tool(update_world, destructive=True, idempotent=True),
    ],
    refuse,
    _check_has_memory,
)
