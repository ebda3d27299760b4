"""Which records and skills hold any of some words, literally: how the registry searches, as its contract has it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import InvalidArgument
from ..index.tokenizer import query_words
from ..model import Json, Record, Skill


def words_of(query: str) -> list[str]:
    """The words asked for; underscores and hyphens are spaces. Scripts without spaces are asked for in pairs, too."""
    plain = re.sub(r"[_\-\s]+", " ", query).strip()
    if not plain:
        raise InvalidArgument("Query must not be empty")
    pairs = (word for word in query_words(plain) if not word.isascii())
    return [*dict.fromkeys([*plain.casefold().split(" "), *pairs])]


def best_records(records: Iterable[Record], words: list[str]) -> list[Record]:
    return _ranked(records, words, lambda r: (r.key, _as_text(r.value), r.category, " ".join(r.tags)))


def best_skills(skills: Iterable[Skill], words: list[str]) -> list[Skill]:
    return _ranked(skills, words, lambda s: (s.name, s.description, s.instructions, _as_text(s.data)))


def _ranked(things: Iterable[Any], words: list[str], fields_of: Any) -> list[Any]:
    """What holds any of the words, literally; more of them first, and those in the name before the others."""
    scored = []
    for thing in things:
        name, *rest = (field.casefold() for field in fields_of(thing))
        text = "\n".join(rest)
        score = sum((word == name) + 2 * (word in name) + (word in text) for word in words)
        found = sum(word in name or word in text for word in words)
        if found:
            scored.append((-found, -score, name, thing))
    return [thing for *_, thing in sorted(scored, key=lambda each: each[:3])]


def _as_text(value: Json) -> str:
    """A value as text to look in: what it says, and how it says it."""
    return value if isinstance(value, str) else "\n".join([json.dumps(value, ensure_ascii=False), *_said(value)])


def _said(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        yield from (text for item in value.values() for text in _said(item))
    elif isinstance(value, list):
        yield from (text for item in value for text in _said(item))
