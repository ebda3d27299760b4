"""What the SQLite index keeps of passages and records, as rows; and rows as values again."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from ..formats.passages import embedding_text
from ..formats.timestamps import parse_day
from ..model import Hit, Passage, Record, Scope
from .base import Candidate, Entry

Row = TypeVar("Row")


def read_rows(read: Callable[[tuple[Any, ...]], Row], rows: list[tuple[Any, ...]]) -> list[Row]:
    """Rows as values. One that makes no sense is damage like any other, and the index is replaced."""
    try:
        return [read(row) for row in rows]
    except (ValueError, TypeError, AttributeError) as error:
        raise sqlite3.DatabaseError(f"a row makes no sense ({error})") from error


def passage_row(entry: Entry, owner: int, passage: Passage, length: int) -> tuple[Any, ...]:
    content = _hash(embedding_text(passage.lead, passage.text))
    return (
        entry.path,
        passage.start,
        passage.end,
        passage.text,
        passage.lead,
        passage.key,
        json.dumps(passage.tags),
        passage.at,
        parse_day(passage.at) if passage.at else None,
        entry.kind,
        owner,
        entry.source,
        length,
        content,
    )


def digest_of(owner: int, entry: Entry, passage: Passage) -> bytes:
    """Names everything the index keeps of a passage but the lines it stands on."""
    return _hash(str(owner), entry.kind, entry.source, *map(str, passage[2:]))


def _hash(*parts: str) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode(errors="surrogatepass"), digest_size=16).digest()


def candidate_of(row: tuple[Any, ...]) -> Candidate:
    number, path, first, last, text, key, tags, at, day, kind, scope, who, source, length, body, around = row
    if not (isinstance(text, str) and isinstance(body, str) and isinstance(around, str)):
        raise TypeError("a passage is text")
    tagged = () if tags == "[]" else tuple(json.loads(tags))
    hit = Hit(path, first, last, text, 0.0, Scope(scope, who), source, key, tagged, at)
    return Candidate(number, hit, kind, f" {body} ", f" {around} ", length, day)


def record_row(record: Record) -> tuple[str, ...]:
    return (
        record.path,
        record.key,
        json.dumps(record.value, ensure_ascii=False),
        record.category,
        json.dumps(record.tags),
        record.created_at,
        record.updated_at,
        record.scope.kind,
        record.scope.name,
    )


def record_of(row: tuple[Any, ...]) -> Record:
    path, key, value, category, tags, created_at, updated_at, scope, who = row
    return Record(
        key,
        json.loads(value),
        category,
        tuple(json.loads(tags)),
        created_at,
        updated_at,
        path,
        Scope(scope, who),
    )
