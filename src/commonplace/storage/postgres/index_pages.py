"""What pages say, written into the index in PostgreSQL: a few statements for many pages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...index.base import Entry, weighted_length
from ...index.rows import digest_of, passage_row, record_row
from ...index.tokenizer import tokenize
from ...model import Passage, Scope
from .index_tables import Tables
from .visibility import OWN, WHERE, term, terms_of

_PASSAGE = {
    "path": "text", "first": "integer", "last": "integer", "text": "text", "lead": "text", "key": "text",
    "tags": "text", "at": "text", "day": "integer", "kind": "text", "owner": "integer", "source": "text",
    "length": "integer", "hash": "bytea", "digest": "bytea", "id": "bigint", "tokens": "integer", "body": "text",
    "around": "text",
}  # fmt: skip
_WORDS = {"id": "bigint", "part": "integer", "words": "tsvector"}
_RECORD = dict.fromkeys(
    ("path", "key", "value", "category", "tags", "created_at", "updated_at", "scope", "who"), "text"
)
_PAGE = {"path": "text", "stamp": "bigint", "version": "text", "warning": "text"}
_PART = 2_000  # different words in one row: the server takes a megabyte of them


class _Known(NamedTuple):
    """A passage that the index has of a page."""

    number: int
    first: int
    last: int


def apply(tables: Tables, entries: Iterable[Entry], removed: Iterable[str]) -> None:
    """Within `writing`: make the index say what these pages say, and forget those that were removed."""
    whole, stamps = _newest(entries)
    gone = [path for path in dict.fromkeys(removed) if path not in whole]
    _Change(tables, whole, gone).write()
    tables.send_many(f"UPDATE commonplace.index_pages SET stamp = %(stamp)s WHERE {OWN} AND path = %(path)s", stamps)


def _newest(entries: Iterable[Entry]) -> tuple[dict[str, Entry], list[dict[str, Any]]]:
    """Pages to read in, and those of which only the stamp is new."""
    whole: dict[str, Entry] = {}
    stamps: dict[str, int] = {}
    for entry in entries:
        if entry.passages is not None:
            whole[entry.path] = entry
            stamps.pop(entry.path, None)
        else:
            stamps[entry.path] = entry.stamp
    return whole, [{"path": path, "stamp": stamp} for path, stamp in stamps.items()]


class _Change:
    def __init__(self, tables: Tables, whole: dict[str, Entry], gone: Sequence[str]) -> None:
        self._tables, self._whole, self._gone = tables, whole, gone
        self._counted: Counter[tuple[str, int]] = Counter()  # by how much frequencies change
        self._sizes: dict[int, list[int]] = {}  # by how much owners do: passages, length, tokens
        self._added: list[dict[str, Any]] = []
        self._words: list[dict[str, Any]] = []
        self._moved: list[dict[str, Any]] = []

    def write(self) -> None:
        paths = [*self._whole, *self._gone]
        if not paths:
            return
        known = self._known(paths)
        owners = self._owners({entry.scope for entry in self._whole.values()})
        for path, entry in self._whole.items():
            self._compare(entry, owners[entry.scope], known.get(path, {}))
        self._remove([each.number for rows in known.values() for some in rows.values() for each in some])
        with self._tables.together():
            self._add()
            self._count()
            self._write_pages(paths)

    def _known(self, paths: Sequence[str]) -> dict[str, dict[bytes, list[_Known]]]:
        sql = f"""SELECT path, digest, id, first, last FROM commonplace.index_passages
            WHERE {OWN} AND path = ANY(%(paths)s) ORDER BY id"""
        found: dict[str, dict[bytes, list[_Known]]] = {}
        for path, digest, *rest in self._tables.write(sql, {"paths": paths}):
            found.setdefault(path, {}).setdefault(digest, []).append(_Known(*rest))
        return found

    def _owners(self, scopes: set[Scope]) -> dict[Scope, int]:
        rows = self._tables.write(f"SELECT scope, who, id FROM commonplace.index_owners WHERE {OWN}")
        owners = {Scope(scope, who): number for scope, who, number in rows}
        new = []
        for scope in sorted(scopes - set(owners)):
            self._tables.counters.owners += 1
            owners[scope] = self._tables.counters.owners
            new.append({"scope": scope.kind, "who": scope.name, "id": owners[scope]})
        sql = """INSERT INTO commonplace.index_owners
            VALUES (%(tenant)s, %(territory)s, %(id)s, %(scope)s, %(who)s, 0, 0, 0)"""
        self._tables.send_many(sql, new)
        return owners

    def _compare(self, entry: Entry, owner: int, known: dict[bytes, list[_Known]]) -> None:
        """A passage that reads as before stays, at most on other lines; what is left in `known` is gone."""
        for passage in entry.passages or ():
            digest = digest_of(owner, entry, passage)
            if not (same := known.get(digest)):
                self._new(entry, owner, passage, digest)
                continue
            number, first, last = same.pop(0)
            if (first, last) != (passage.start, passage.end):
                self._moved.append({"id": number, "first": passage.start, "last": passage.end})

    def _new(self, entry: Entry, owner: int, passage: Passage, digest: bytes) -> None:
        counters = self._tables.counters
        counters.passages += 1
        body, around = tokenize(f"{passage.hint} {passage.text}"), tokenize(passage.around)
        length, tokens = weighted_length(len(body), len(around)), len(body) + len(around)
        kept = passage._replace(tags=tuple(map(_kept, passage.tags)))
        row = (*passage_row(entry, owner, kept, length), digest)
        more = (counters.passages, tokens, "  ".join(body), "  ".join(around))  # a space either side, for counting
        self._added.append(dict(zip(_PASSAGE, map(_kept, (*row, *more)), strict=True)))
        self._look_up(counters.passages, body, around)
        self._noted(owner, length, tokens, sorted({*body, *around}), 1)

    def _look_up(self, number: int, body: Iterable[str], around: Iterable[str]) -> None:
        """Let a passage be found by its words, and by where they stand."""
        mark = self._tables.own["mark"]
        both = zip(WHERE, (body, around), strict=True)
        lexemes = [f"'{mark}{where}{term(word)}'" for where, some in both for word in sorted({*some})]
        for part in range(0, len(lexemes), _PART):
            words = " ".join(lexemes[part : part + _PART])
            self._words.append({"id": number, "part": part // _PART, "words": words})

    def _noted(self, owner: int, length: int, tokens: int, different: Sequence[str], by: int) -> None:
        """An owner has one passage more, or less, with these words."""
        for word in terms_of(different):
            self._counted[word, owner] += by
        sizes = self._sizes.setdefault(owner, [0, 0, 0])
        for place, more in enumerate((by, by * length, by * tokens)):
            sizes[place] += more

    def _remove(self, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        sql = f"""DELETE FROM commonplace.index_passages WHERE {OWN} AND id = ANY(%(ids)s)
            RETURNING owner, length, tokens, body, around"""
        for owner, length, tokens, body, around in self._tables.write(sql, {"ids": numbers}):
            self._noted(owner, length, tokens, sorted({*body.split(), *around.split()}), -1)
        self._tables.write(f"DELETE FROM commonplace.index_words WHERE {OWN} AND id = ANY(%(ids)s)", {"ids": numbers})

    def _add(self) -> None:
        tables = self._tables
        sql = f"UPDATE commonplace.index_passages SET first = %(first)s, last = %(last)s WHERE {OWN} AND id = %(id)s"
        tables.send_many(sql, self._moved)
        _insert(tables, "passages", _PASSAGE, self._added)
        _insert(tables, "words", _WORDS, self._words)

    def _count(self) -> None:
        """What each owner's passages say, in how many of them: nobody's words weigh less by what others keep."""
        changed = sorted((word, owner, by) for (word, owner), by in self._counted.items() if by)
        if changed:
            named, owners, by = (list(column) for column in zip(*changed, strict=True))
            values = {"words": named, "owners": owners, "by": by}
            self._tables.send(_FREQUENCIES, values)
            if min(by) < 0:  # a word that nobody says any more is not kept
                self._tables.send(_UNSAID, values)
        names = ("passages", "length", "tokens")
        sizes = [{"id": owner, **dict(zip(names, by, strict=True))} for owner, by in sorted(self._sizes.items())]
        more = ", ".join(f"{name} = {name} + %({name})s" for name in names)
        sql = f"UPDATE commonplace.index_owners SET {more} WHERE {OWN} AND id = %(id)s"
        self._tables.send_many(sql, sizes)

    def _write_pages(self, paths: Sequence[str]) -> None:
        tables = self._tables
        tables.send(f"DELETE FROM commonplace.index_records WHERE {OWN} AND path = ANY(%(p)s)", {"p": paths})
        gone = list(self._gone)
        tables.send(f"DELETE FROM commonplace.index_pages WHERE {OWN} AND path = ANY(%(p)s)", {"p": gone})
        records = [entry.record for entry in self._whole.values() if entry.record]
        by_path = {record.path: dict(zip(_RECORD, map(_kept, record_row(record)), strict=True)) for record in records}
        _insert(tables, "records", _RECORD, list(by_path.values()))
        rows = [
            {"path": entry.path, "stamp": entry.stamp, "version": entry.version, "warning": _kept(entry.warning)}
            for entry in self._whole.values()
        ]
        again = """ON CONFLICT (tenant, territory, path)
            DO UPDATE SET stamp = excluded.stamp, version = excluded.version, warning = excluded.warning"""
        _insert(tables, "pages", _PAGE, rows, again)


def _insert(
    tables: Tables, table: str, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]], again: str = ""
) -> None:
    """Any number of rows in one statement. (COPY is not for tables with row-level security.)"""
    if not rows:
        return
    names, typed = ", ".join(columns), ", ".join(f"{name} {kind}" for name, kind in columns.items())
    sql = f"""INSERT INTO commonplace.index_{table} (tenant, territory, {names})
        SELECT %(tenant)s, %(territory)s, {names} FROM json_to_recordset(%(rows)s::json) AS new({typed}) {again}"""
    tables.send(sql, {"rows": json.dumps(rows, ensure_ascii=False, default=_hexadecimal)})


def _hexadecimal(value: bytes) -> str:
    return f"\\x{value.hex()}"


def _kept(value: Any) -> Any:
    """A text as the server can keep it."""
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return value
    return value.replace("\0", "\ufffd").encode(errors="replace").decode()


_FREQUENCIES = """
    INSERT INTO commonplace.index_frequencies AS known (tenant, territory, word, owner, passages)
    SELECT %(tenant)s, %(territory)s, word, owner, by
    FROM unnest(%(words)s::text[], %(owners)s::int[], %(by)s::bigint[]) AS changed(word, owner, by)
    ON CONFLICT (tenant, territory, word, owner) DO UPDATE SET passages = known.passages + excluded.passages"""
_UNSAID = f"""
    DELETE FROM commonplace.index_frequencies WHERE {OWN} AND passages <= 0 AND (word, owner) IN (
      SELECT * FROM unnest(%(words)s::text[], %(owners)s::int[]))"""
