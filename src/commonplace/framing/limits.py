"""Size limits of replies: what does not fit is cut or left out, and the reply says so."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .frames import quote_line
from .hidden import show_hidden

MAX_REPLY_CHARACTERS = 24_000
ROWS_CHARACTERS = 22_000  # of the rows of a reply; the rest is for what is around them
# Of a reply that lists what was asked for by name, or as many hits as were asked for.
LIST_CHARACTERS = 10_000_000
RECORDS_CHARACTERS = 400_000  # of a reply that lists all records or skills there are: some thousands
_MIN_SHARE_CHARACTERS = 400  # less of a row is not worth showing
_MIN_ROOM_LEFT = 4  # a row that cannot be cut takes at most this fraction (1/4) of what is left
_MAX_NAMES = 10
_MAX_NAME_CHARACTERS = 60

Row = dict[str, Any]


class FittedRows(NamedTuple):
    """The rows of a reply that fit, and a sentence on those that were cut or left out."""

    rows: list[Any]
    warning: str = ""


def fit_rows(
    rows: Sequence[Row],
    text_field: str,
    advice: str,
    *,
    name_field: str = "key",
    whole: str | None = None,
    limit: int = ROWS_CHARACTERS,
) -> FittedRows:
    """Return rows, best first, that together stay within the limit of a reply, in characters.

    A long text in `text_field` is cut, so that more rows fit. The row whose name is `whole` is never cut. `advice`
    says how to read what is missing.
    """
    sizes = {id(row): _size(row) for row in rows}
    if sum(sizes.values()) <= limit:
        return FittedRows([*rows])
    exempt = {id(row) for row in rows if whole is not None and row.get(name_field) == whole}
    room = max(0, limit - sum(sizes[row] for row in exempt))
    share = max(_MIN_SHARE_CHARACTERS, _find_share([size for row, size in sizes.items() if row not in exempt], room))
    fitted: list[Row] = []
    missing: list[Row] = []
    for row in rows:
        shortened = row if id(row) in exempt or sizes[id(row)] <= share else _cut_row(row, text_field, share)
        if shortened is None and sizes[id(row)] <= room / _MIN_ROOM_LEFT:
            shortened = row  # it cannot be cut, and leaves enough for others
        cost = 0 if id(row) in exempt else _size(shortened)
        if shortened is None or cost > room:
            missing.append(row)
            continue
        room -= cost
        fitted.append(shortened)
    cut = [row for row in fitted if id(row) not in sizes]
    most = MAX_REPLY_CHARACTERS if limit == ROWS_CHARACTERS else limit
    return FittedRows(fitted, _describe(_names(cut, name_field), _names(missing, name_field), advice, most))


def _names(rows: list[Row], field: str) -> list[str]:
    return [str(row.get(field) or row.get("name") or "?") for row in rows]


def fit_page(text: str, name_call: Callable[[int], str], limit: int = MAX_REPLY_CHARACTERS) -> str:
    """Return a page within the limit of a reply, cut between two lines; `name_call` names what reads on from a line."""
    if len(text) <= limit:
        return text
    lines = text.split("\n")
    room = limit - len(_describe_cut(limit, len(text), name_call(len(lines))))
    count = 0
    while count < len(lines) and len(lines[count]) < room:
        room -= len(lines[count]) + 1
        count += 1
    start = "\n".join(lines[:count]) if count else text[:room]
    return start + _describe_cut(len(start), len(text), name_call(count + 1))


def _describe_cut(size: int, total: int, call: str) -> str:
    return f"\n\n(The first {size:,} of {total:,} characters. To read on: {call})\n"


def fit_names(names: Sequence[str], advice: str) -> FittedRows:
    """Return as many names as stay within the limit of a reply."""
    room = LIST_CHARACTERS
    for number, name in enumerate(names):
        room -= _size(name) + 2
        if room < 0:
            return FittedRows([*names[:number]], f"{len(names) - number:,} of {len(names):,} are left out: {advice}")
    return FittedRows([*names])


def fit_lines(text: str, advice: str) -> tuple[str, str]:
    """Return as many whole lines of a text as stay within the limit of a reply, and a sentence on the rest."""
    visible = show_hidden(text)
    if len(visible) <= ROWS_CHARACTERS:
        return visible, ""
    lines = visible.split("\n")
    count = len(lines)
    while count > 1 and sum(len(line) + 1 for line in lines[:count]) > ROWS_CHARACTERS:
        count -= 1
    rest = f"{len(lines) - count:,} more lines are left out" if count < len(lines) else "its one line is cut"
    return "\n".join(lines[:count])[:ROWS_CHARACTERS], f"{rest}: {advice}"


def _size(row: Any) -> int:
    return len(json.dumps(row, ensure_ascii=False))


def _find_share(sizes: list[int], room: int) -> int:
    """Return the most characters a row may have so that all together fit: small rows leave theirs to large ones."""
    left = room
    for number, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - number)
        if size > share:
            return share
        left -= size
    return room


def _cut_row(row: Row, text_field: str, share: int) -> Row | None:
    """Return a row with the start of its text, so that it has at most `share` characters; None where it has none."""
    text = row.get(text_field)
    if not isinstance(text, str):
        return None
    count = len(text)
    while count > 0:
        shorter = {**row, text_field: text[:count]}
        excess = _size(shorter) - share
        if excess <= 0:
            return shorter
        count = count - excess if excess < count else count // 2
    return None


def _describe(cut: list[str], left_out: list[str], advice: str, most: int) -> str:
    sentences = []
    if cut:
        sentences.append(f"only the start is shown of {_join_names(cut)}")
    if left_out:
        sentences.append(f"{len(left_out):,} more are left out: {_join_names(left_out)}")
    return f"{'; '.join(sentences)} (a reply has at most {most:,} characters): {advice}"


def _join_names(names: list[str]) -> str:
    quoted = [quote_line(name)[:_MAX_NAME_CHARACTERS] for name in names[:_MAX_NAMES]]
    more = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(quoted) + more
