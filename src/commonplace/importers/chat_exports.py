"""Conversations and memories of chat programs: exports of ChatGPT and of Claude, and what Claude Code keeps.

Claude's export has projects with their documents, too; Claude Code has notes on each project (`memory/`) and
transcripts. A conversation of ChatGPT is a tree of messages; the branch to `current_node` is the one last shown.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..formats.structure import escape_unprintable
from ..formats.transcripts import CLIENT_STARTS, ROLES, SESSION_ID, is_internal, text_parts
from ..storage.names import file_name, topic_name
from .source import PEEK_BYTES, JsonObjects, Source, parse_json_lines, parse_json_list, single_file_name
from .values import (
    CLAUDE_CODE,
    Destination,
    ImportedTurn,
    Item,
    PageItem,
    SessionItem,
    Skipped,
    join_spoken,
    read_text,
    read_timestamp,
    read_turn,
)

_CONVERSATION_FILES = re.compile(r"conversations(?:[-_]\d+)?\.json")
_TEXT_TYPES = ("text", "multimodal_text")
_MEMORY_TYPE = "model_editable_context"  # messages in which ChatGPT is given its own memories


def is_chatgpt(source: Source) -> bool:
    return has_conversations_with(source, b'"mapping"')


def read_chatgpt(source: Source, into: Destination) -> Iterator[Item]:
    latest_memory = ("", "")
    for number, conversation in read_conversations(source, "mapping"):
        name = read_text(conversation.get("conversation_id")) or read_text(conversation.get("id"))
        title = read_text(conversation.get("title"))
        nodes = conversation.get("mapping")
        if not name or not isinstance(nodes, dict):
            yield Skipped(title or f"conversation {number}", "has no id or no messages that are understood")
            continue
        messages = _current_branch(nodes, read_text(conversation.get("current_node")))
        turns = tuple(turn for message in messages for turn in _read_turn(message))
        latest_memory = max(latest_memory, *(_read_memory(message) for message in messages), ("", ""))
        if not turns:
            yield Skipped(title or name, "is a conversation in which nothing was said")
            continue
        at = read_timestamp(conversation.get("create_time"))
        yield SessionItem(f"conversation {name}", into.agent, "chatgpt", name, turns, title, at)
    yield from _memory_page(source, into, latest_memory[1])


def _current_branch(nodes: dict[str, Any], current: str) -> list[dict[str, Any]]:
    """Return the messages from the first to the current one; other branches were replaced by edits."""
    name = current if current in nodes else _latest_node(nodes)
    messages: list[dict[str, Any]] = []
    seen: set[str] = set()
    while name in nodes and name not in seen and isinstance(nodes[name], dict):
        seen.add(name)
        message = nodes[name].get("message")
        messages += [message] if isinstance(message, dict) else []
        name = read_text(nodes[name].get("parent"))
    return messages[::-1]


def _latest_node(nodes: dict[str, Any]) -> str:
    """Return the newest message, for conversations that do not say which one is current."""

    def created(name: str) -> float:
        message = nodes[name].get("message") if isinstance(nodes[name], dict) else None
        time = message.get("create_time") if isinstance(message, dict) else None
        return float(time) if isinstance(time, (int, float)) else -1.0

    return max(nodes, key=created, default="")


def _read_turn(message: dict[str, Any]) -> Iterator[ImportedTurn]:
    """Yield the turn of a message, unless it is hidden or to or from a tool."""
    author, content, metadata = (_object(message.get(name)) for name in ("author", "content", "metadata"))
    role = ROLES.get(read_text(author.get("role")))
    recipient = message.get("recipient")
    if not role or recipient not in (None, "all") or metadata.get("is_visually_hidden_from_conversation"):
        return
    if content.get("content_type", "text") not in _TEXT_TYPES:
        return
    parts = content.get("parts")
    text = "\n".join(_part_texts(parts if isinstance(parts, list) else [content.get("text")])).strip()
    if text:
        yield ImportedTurn(role, text, read_timestamp(message.get("create_time")), read_text(author.get("name")))


def _part_texts(parts: list[Any]) -> Iterator[str]:
    """Yield the texts of a message. A part that is an object has one if it was spoken; an image has none."""
    for part in parts:
        yield read_text(part.get("text")) if isinstance(part, dict) else read_text(part)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _read_memory(message: dict[str, Any]) -> tuple[str, str]:
    """Return the time of a message and the memories that ChatGPT was given in it; both empty if there are none."""
    content = _object(message.get("content"))
    if content.get("content_type") != _MEMORY_TYPE:
        return "", ""
    return read_timestamp(message.get("create_time")), read_text(content.get("model_set_context")).strip()


def _memory_page(source: Source, into: Destination, latest_memory: str) -> Iterator[Item]:
    entries = (_entry_text(entry) for entry in read_export_part(source, "memories", "content"))
    text = "\n".join(f"- {entry}" for entry in entries if entry) or latest_memory
    if text:
        path = into.agent_page("chatgpt/memories.md")
        fallback_path = into.agent_page("chatgpt/memories-imported.md")
        yield PageItem("memories", path, f"# What ChatGPT remembered\n\n{text}\n".encode(), 0, fallback_path)


def _entry_text(entry: dict[str, Any]) -> str:
    return read_text(entry.get("content") or entry.get("memory") or entry.get("text")).strip()


def has_conversations_with(source: Source, field: bytes) -> bool:
    """Return whether the first file of conversations mentions a field near its beginning."""
    return any(field in source.peek(path) for path in _conversation_files(source)[:1])


def read_conversations(source: Source, field: str) -> JsonObjects:
    """Yield the conversations of an export, numbered within their file."""
    for path in _conversation_files(source):
        data = source.read_file(path)
        if data is not None:
            yield from parse_json_list(data, path, source.skipped, field, ("conversations",))


def _conversation_files(source: Source) -> list[str]:
    """Large exports have several files; a file that was unpacked and renamed is a source of its own."""
    names = [name for name in source.list_names() if _CONVERSATION_FILES.fullmatch(name)]
    single = single_file_name(source)
    return names or ([single] if single.endswith(".json") else [])


def read_export_part(source: Source, name: str, field: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of another file of an export, or of a folder of such files; nothing if it has neither."""
    names = source.list_names()
    paths: list[str] = []
    if f"{name}.json" in names:
        paths = [f"{name}.json"]
    elif f"{name}/" in names:
        paths = source.list_files(name)
    for path in paths:
        data = source.read_file(path) if path.endswith(".json") else None
        if data is not None:
            data = data.removeprefix(codecs.BOM_UTF8)
            as_list = b"[" + data + b"]" if data.lstrip()[:1] == b"{" else data
            for _, part in parse_json_list(as_list, path, source.skipped, field):
                yield part


def is_claude(source: Source) -> bool:
    return has_conversations_with(source, b'"chat_messages"')


def read_claude(source: Source, into: Destination) -> Iterator[Item]:
    for number, conversation in read_conversations(source, "chat_messages"):
        name = read_text(conversation.get("uuid"))
        title = read_text(conversation.get("name"))
        messages = conversation.get("chat_messages")
        if not name or not isinstance(messages, list):
            yield Skipped(title or f"conversation {number}", "has no id or no messages that are understood")
            continue
        turns = tuple(turn for message in messages for turn in _read_claude_turn(message))
        if not turns:
            yield Skipped(title or name, "is a conversation in which nothing was said")
            continue
        at = read_timestamp(conversation.get("created_at"))
        yield SessionItem(f"conversation {name}", into.agent, "claude", name, turns, title, at)
    folders: dict[str, str] = {}
    for project in read_export_part(source, "projects", "uuid"):
        yield from _read_project(project, into, folders)
    for memory in read_export_part(source, "memories", "conversations_memory"):
        yield from _read_memories(memory, into, folders)


def _read_claude_turn(message: Any) -> Iterator[ImportedTurn]:
    if not isinstance(message, dict):
        return
    role = ROLES.get(read_text(message.get("sender")))
    text = join_spoken(text_parts(message.get("content"))) or read_text(message.get("text")).strip()
    if role and text:
        yield ImportedTurn(role, text, read_timestamp(message.get("created_at")))


def _read_project(project: dict[str, Any], into: Destination, folders: dict[str, str]) -> Iterator[Item]:
    """Yield a page about the project and one for each document; its folder is added to `folders`."""
    key = read_text(project.get("uuid"))
    name = read_text(project.get("name")).strip()
    if not key or not name:
        yield Skipped("a project", "has no id or no name")
        return
    folder = file_name(name) if file_name(name) not in folders.values() else file_name(f"{name} {key}")
    folders[key] = folder
    description = read_text(project.get("description")).strip()
    instructions = read_text(project.get("prompt_template")).strip()
    parts = [f"# {escape_unprintable(name)}", description, f"## Instructions\n\n{instructions}" if instructions else ""]
    if description or instructions:
        text = "\n\n".join(part for part in parts if part) + "\n"
        yield _page(f"project {key}", into, f"projects/{folder}/about.md", text)
    documents = project.get("docs")
    for number, document in enumerate(documents if isinstance(documents, list) else [], start=1):
        content = read_text(document.get("content")) if isinstance(document, dict) else ""
        if not content.strip():
            yield Skipped(f"{name}, document {number}", "has no text")
            continue
        title = read_text(document.get("filename")) or f"document {number}"
        path = f"projects/{folder}/{file_name(title.removesuffix('.md'))}.md"
        document_id = read_text(document.get("uuid")) or f"{key} {number}"
        yield _page(f"document {document_id}", into, path, content)


def _read_memories(memory: dict[str, Any], into: Destination, folders: dict[str, str]) -> Iterator[Item]:
    text = read_text(memory.get("conversations_memory")).strip()
    if text:
        owner = read_text(memory.get("account_uuid"))
        yield _page(f"memory {owner}", into, "memory.md", f"{text}\n")
    by_project = memory.get("project_memories")
    for key, value in (by_project if isinstance(by_project, dict) else {}).items():
        text = read_text(value).strip()
        if text:
            folder = folders.get(key) or file_name(key)
            yield _page(f"memory of {key}", into, f"projects/{folder}/memory.md", f"{text}\n")


def _page(name: str, into: Destination, path: str, text: str) -> PageItem:
    return PageItem(
        name, into.agent_page(f"claude/{path}"), text.encode(), 0, into.agent_page(f"claude/imported/{path}")
    )


_SUBAGENT_PREFIX = "agent-"  # names of subagents' transcripts begin with this
_RESERVED_FOLDERS = ("daily/", "working/", "activity/")  # they have a meaning in an agent's memory


class _Project(NamedTuple):
    slug: str
    folder: str  # where the transcripts are
    memory: str | None  # the folder of notes; "" is the source itself


def recognise(source: Source) -> bool:
    names = source.list_names()
    if single_file_name(source).endswith(".jsonl"):
        return _is_transcript(source, names[0])
    if "projects/" in names and (source.name == ".claude" or _list_projects_in(source, "projects")):
        return True
    if "/.claude/projects" in source.location.replace("\\", "/"):
        return True
    return bool(_list_projects(source)) and any(_is_transcript(source, path) for path in _sample_transcripts(source))


def _sample_transcripts(source: Source) -> Iterator[str]:
    for project in _list_projects(source)[:20]:
        yield from _list_transcripts(source, project)[:3]


def _is_transcript(source: Source, path: str) -> bool:
    head = source.peek(path)
    first = head[: 1 << 14].rpartition(b"\n")[0] or head
    if b"\n" not in first and len(first) == PEEK_BYTES:  # the first line is longer than what was read
        return first.startswith(b"{") and b'"sessionId"' in first
    ignored: list[Skipped] = []
    return any("sessionId" in event or "leafUuid" in event for _, event in parse_json_lines(first, path, ignored))


def read(source: Source, into: Destination) -> Iterator[Item]:
    projects = _list_projects(source)
    for project in projects:
        if project.memory is not None:
            yield from _read_notes(source, into, project, alone=len(projects) == 1)
        for path in _list_transcripts(source, project):
            yield from _read_session(source, into, path)


def _list_projects(source: Source) -> list[_Project]:
    """Return the projects of a source: of ~/.claude, its `projects`, one project, or the memory of one."""
    names = source.list_names()
    if "projects/" in names:
        return _list_projects_in(source, "projects")
    if "MEMORY.md" in names:
        is_memory = source.name == "memory"
        slug = source.location.rstrip("/").split("/")[-2] if is_memory else source.name
        return [_Project(slug, "", "")]
    if any(name.endswith(".jsonl") for name in names) or "MEMORY.md" in source.list_names("memory"):
        return [_Project(source.name, "", "memory" if "memory/" in names else None)]
    return _list_projects_in(source, "")


def _list_projects_in(source: Source, above: str) -> list[_Project]:
    projects = []
    for name in source.list_names(above):
        folder = f"{above}/{name[:-1]}" if above else name[:-1]
        inside = source.list_names(folder) if name.endswith("/") else []
        if "memory/" in inside or any(each.endswith(".jsonl") for each in inside):
            projects.append(_Project(name[:-1], folder, f"{folder}/memory" if "memory/" in inside else None))
    return projects


def _list_transcripts(source: Source, project: _Project) -> list[str]:
    names = [
        name
        for name in source.list_names(project.folder)
        if name.endswith(".jsonl") and not name.startswith(_SUBAGENT_PREFIX)
    ]
    return [f"{project.folder}/{name}" if project.folder else name for name in names]


def _read_notes(source: Source, into: Destination, project: _Project, *, alone: bool) -> Iterator[Item]:
    """Yield the notes of a project. If it is the only one, its MEMORY.md becomes the curated page."""
    slug = topic_name(f"claude-code {project.slug}")
    curated = into.layout.curated_page(into.agent)
    above = f"{project.memory}/" if project.memory else ""
    for path in source.list_files(project.memory or ""):
        name = path.removeprefix(above)
        if not name.endswith(".md"):
            if not name.endswith(".jsonl"):
                yield Skipped(path, "is not Markdown")
            continue
        data = source.read_file(path)
        if data is None:
            continue
        fallback_path = into.agent_page(f"{slug}/{name}")
        page = curated if name == "MEMORY.md" else f"{curated.rpartition('/')[0]}/{name}".lstrip("/")
        if not alone or name.startswith(_RESERVED_FOLDERS):
            page = fallback_path
        at = source.modified(path)
        yield PageItem(f"{source.location}/{path}", page, data, at, fallback_path if page != fallback_path else "")


def _read_session(source: Source, into: Destination, path: str) -> Iterator[Item]:
    data = source.read_file(path)
    if data is None:
        return
    name = path.rpartition("/")[2].removesuffix(".jsonl")
    turns, title = read_turns(data, path, source.skipped)
    if turns:
        at = next((turn.at for turn in turns if turn.at), "")
        if SESSION_ID.fullmatch(name):
            yield SessionItem(f"session {name}", into.agent, CLAUDE_CODE, name, turns, title, at)
        else:
            original_id = _find_session_id(data, path)
            yield SessionItem(f"{source.location}/{path}", into.agent, CLAUDE_CODE, name, turns, title, at, original_id)


def _find_session_id(data: bytes, path: str) -> str:
    """Return the session id that all lines of a transcript agree on, or nothing."""
    ignored: list[Skipped] = []
    ids = {read_text(event.get("sessionId")) for _, event in parse_json_lines(data, path, ignored)} - {""}
    return ids.pop() if len(ids) == 1 else ""


def read_turns(data: bytes, what: str, skipped: list[Skipped]) -> tuple[tuple[ImportedTurn, ...], str]:
    """Return the turns of user and assistant, and the title if there is one.

    Sidechains, meta messages, tool calls and thoughts are left out; a line that occurs twice counts once.
    """
    turns: list[ImportedTurn] = []
    title = ""
    seen: set[str] = set()
    for _, event in parse_json_lines(data, what, skipped):
        title = read_text(event.get("summary")) if event.get("type") == "summary" else title
        name = read_text(event.get("uuid") or event.get("id"))
        if is_internal(event) or (name and name in seen):
            continue
        seen.add(name)
        turns += [turn for turn in read_turn(event) if not turn.text.startswith(CLIENT_STARTS)]
    return tuple(turns), title
