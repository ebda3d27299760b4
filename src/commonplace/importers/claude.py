"""Claude's export: conversations, memories of them, and projects with their documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..formats.structure import escape_unprintable
from ..formats.transcripts import ROLES, text_parts
from ..storage.names import file_name
from .chatgpt import has_conversations_with, read_conversations, read_export_part
from .source import Source
from .values import (
    Destination,
    ImportedTurn,
    Item,
    PageItem,
    SessionItem,
    Skipped,
    join_spoken,
    read_text,
    read_timestamp,
)


def recognise(source: Source) -> bool:
    return has_conversations_with(source, b'"chat_messages"')


def read(source: Source, into: Destination) -> Iterator[Item]:
    for number, conversation in read_conversations(source, "chat_messages"):
        name = read_text(conversation.get("uuid"))
        title = read_text(conversation.get("name"))
        messages = conversation.get("chat_messages")
        if not name or not isinstance(messages, list):
            yield Skipped(title or f"conversation {number}", "has no id or no messages that are understood")
            continue
        turns = tuple(turn for message in messages for turn in _read_turn(message))
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


def _read_turn(message: Any) -> Iterator[ImportedTurn]:
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
