"""Claude's export: conversations, what it remembers of them, and projects with their documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..formats.structure import escape_unprintable
from ..storage.names import file_name
from .conversations import conversations, is_of, others
from .source import Source
from .transcripts import ROLES, text_of
from .values import Into, Item, Missed, Said, Session, Text, moment, plain


def recognise(source: Source) -> bool:
    return is_of(source, b'"chat_messages"')


def read(source: Source, into: Into) -> Iterator[Item]:
    for number, talk in conversations(source, "chat_messages"):
        name, title = plain(talk.get("uuid")), plain(talk.get("name"))
        messages = talk.get("chat_messages")
        if not name or not isinstance(messages, list):
            yield Missed(title or f"conversation {number}", "has no id or no messages that are understood")
            continue
        said = tuple(turn for message in messages for turn in _said(message))
        if not said:
            yield Missed(title or name, "is a conversation in which nothing was said")
            continue
        yield Session(f"conversation {name}", into.agent, "claude", name, said, title, moment(talk.get("created_at")))
    names: dict[str, str] = {}
    for project in others(source, "projects", "uuid"):
        yield from _project(project, into, names)
    for memory in others(source, "memories", "conversations_memory"):
        yield from _memories(memory, into, names)


def _said(message: Any) -> Iterator[Said]:
    if not isinstance(message, dict):
        return
    role = ROLES.get(plain(message.get("sender")))
    text = text_of(message.get("content")) or plain(message.get("text")).strip()
    if role and text:
        yield Said(role, text, moment(message.get("created_at")))


def _project(project: dict[str, Any], into: Into, names: dict[str, str]) -> Iterator[Item]:
    """A page for what it is, and one for each of its documents."""
    key, name = plain(project.get("uuid")), plain(project.get("name")).strip()
    if not key or not name:
        yield Missed("a project", "has no id or no name")
        return
    folder = file_name(name) if file_name(name) not in names.values() else file_name(f"{name} {key}")
    names[key] = folder
    description, instructions = (plain(project.get(part)).strip() for part in ("description", "prompt_template"))
    parts = [
        f"# {escape_unprintable(name)}",
        description,
        *([f"## Instructions\n\n{instructions}"] if instructions else []),
    ]
    text = "\n\n".join(part for part in parts if part) + "\n"
    if description or instructions:
        yield _page(f"project {key}", into, f"projects/{folder}/about.md", text)
    documents = project.get("docs")
    for number, document in enumerate(documents if isinstance(documents, list) else [], start=1):
        said = plain(document.get("content")) if isinstance(document, dict) else ""
        if not said.strip():
            yield Missed(f"{name}, document {number}", "has no text")
            continue
        title = plain(document.get("filename")) or f"document {number}"
        path = f"projects/{folder}/{file_name(title.removesuffix('.md'))}.md"
        yield _page(f"document {plain(document.get('uuid')) or f'{key} {number}'}", into, path, said)


def _memories(memory: dict[str, Any], into: Into, names: dict[str, str]) -> Iterator[Item]:
    whole = plain(memory.get("conversations_memory")).strip()
    if whole:
        owner = plain(memory.get("account_uuid"))
        yield _page(f"memory {owner}", into, "memory.md", f"{whole}\n")
    of_projects = memory.get("project_memories")
    for key, text in (of_projects if isinstance(of_projects, dict) else {}).items():
        if plain(text).strip():
            folder = names.get(key) or file_name(key)
            yield _page(f"memory of {key}", into, f"projects/{folder}/memory.md", f"{plain(text).strip()}\n")


def _page(name: str, into: Into, path: str, text: str) -> Text:
    return Text(name, into.own(f"claude/{path}"), text.encode(), 0, into.own(f"claude/imported/{path}"))
