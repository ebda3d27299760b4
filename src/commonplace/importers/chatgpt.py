"""ChatGPT's export: a tree of messages a conversation, of which the path to `current_node` is what was seen last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .conversations import conversations, is_of, others
from .source import Source
from .transcripts import ROLES
from .values import Into, Item, Missed, Said, Session, Text, moment, plain

_TEXTS = ("text", "multimodal_text")
_REMEMBERED = "model_editable_context"  # in which ChatGPT tells itself what it remembers


def recognise(source: Source) -> bool:
    return is_of(source, b'"mapping"')


def read(source: Source, into: Into) -> Iterator[Item]:
    remembered = ("", "")
    for number, talk in conversations(source, "mapping"):
        name = plain(talk.get("conversation_id")) or plain(talk.get("id"))
        title = plain(talk.get("title"))
        nodes = talk.get("mapping")
        if not name or not isinstance(nodes, dict):
            yield Missed(title or f"conversation {number}", "has no id or no messages that are understood")
            continue
        messages = [*_path(nodes, plain(talk.get("current_node")))]
        said = tuple(turn for message in messages for turn in _said(message))
        remembered = max(remembered, *(_remembered(message) for message in messages), ("", ""))
        if not said:
            yield Missed(title or name, "is a conversation in which nothing was said")
            continue
        yield Session(f"conversation {name}", into.agent, "chatgpt", name, said, title, moment(talk.get("create_time")))
    yield from _memories(source, into, remembered[1])


def _path(nodes: dict[str, Any], current: str) -> list[dict[str, Any]]:
    """The messages from the first one to the current one; other branches were written over."""
    at = current if current in nodes else _latest(nodes)
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    while at in nodes and at not in seen and isinstance(nodes[at], dict):
        seen.add(at)
        message = nodes[at].get("message")
        found += [message] if isinstance(message, dict) else []
        at = plain(nodes[at].get("parent"))
    return found[::-1]


def _latest(nodes: dict[str, Any]) -> str:
    """The last message, where the conversation does not tell."""

    def at(name: str) -> float:
        message = nodes[name].get("message") if isinstance(nodes[name], dict) else None
        time = message.get("create_time") if isinstance(message, dict) else None
        return float(time) if isinstance(time, (int, float)) else -1.0

    return max(nodes, key=at, default="")


def _said(message: dict[str, Any]) -> Iterator[Said]:
    """Hidden messages, and those to or from a tool, nobody said to anybody."""
    author, content, about = (_object(message.get(name)) for name in ("author", "content", "metadata"))
    role = ROLES.get(plain(author.get("role")))
    to = message.get("recipient")
    if not role or to not in (None, "all") or about.get("is_visually_hidden_from_conversation"):
        return
    if content.get("content_type", "text") not in _TEXTS:
        return
    parts = content.get("parts")
    text = "\n".join(_texts(parts if isinstance(parts, list) else [content.get("text")])).strip()
    if text:
        yield Said(role, text, moment(message.get("create_time")), plain(author.get("name")))


def _texts(parts: list[Any]) -> Iterator[str]:
    """Of a part that is an object, its text: what was spoken; an image has none."""
    for part in parts:
        yield plain(part.get("text")) if isinstance(part, dict) else plain(part)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _remembered(message: dict[str, Any]) -> tuple[str, str]:
    """What ChatGPT remembered when a message was written, with the time of it."""
    content = _object(message.get("content"))
    if content.get("content_type") != _REMEMBERED:
        return "", ""
    return moment(message.get("create_time")), plain(content.get("model_set_context")).strip()


def _memories(source: Source, into: Into, remembered: str) -> Iterator[Item]:
    listed = [plain(each.get("content") or each.get("memory") or each.get("text")).strip() for each in _listed(source)]
    text = "\n".join(f"- {each}" for each in listed if each) or remembered
    if text:
        page = into.own("chatgpt/memories.md")
        beside = into.own("chatgpt/memories-imported.md")
        yield Text("memories", page, f"# What ChatGPT remembered\n\n{text}\n".encode(), 0, beside)


def _listed(source: Source) -> Iterator[dict[str, Any]]:
    return others(source, "memories", "content")
