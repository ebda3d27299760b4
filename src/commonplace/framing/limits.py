"""Size limits: a reply that is too long is cut, and says so.

Data keeps its start; rules keep whole sentences, prohibitions first.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from string import ascii_letters, digits
from typing import Any, NamedTuple

from ..patterns import lazy_pattern
from ..wording import list_some
from .frames import quote_line, show_hidden

# Estimated tokens per character, by the first class that matches. Every model counts differently; against common
# vocabularies this is within a fifth for prose in most languages, and further off for code and rare scripts.
_ASCII_WEIGHTS = ((ascii_letters.encode(), 0.22), (b" \t", 0.03), (digits.encode(), 0.4), (bytes(range(128)), 0.6))
_WEIGHTS = (
    (r"[\u0080-\u052f\u1e00-\u1fff]", 0.5),
    (r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]", 1.0),
)
_OTHER_WEIGHT = 1.3
_NEAR_CHARACTERS = 40  # how far back from the cut to look for the end of a line or sentence; at least a 20th of it
_NEAR_TOKENS = 10.0  # how far back at most, for scripts with many tokens per character
_NEAR_SHARE = 0.05
_MAX_RULES_CHARACTERS = 60_000  # of a page of rules; sentences are chosen from its start
_MAX_EXTRA_SENTENCES = 20
_MAX_SENTENCE_BREAKS = 6  # line breaks within one wrapped sentence
_SENTENCE_END = lazy_pattern(r"[.!?…][\"')\]]*(?=\s)|[。！？]")
_SENTENCES = lazy_pattern(r"(?<=[.!?…])\s+(?=[^a-z\s])|(?<=[.!?…][\"')\]*])\s+(?=[^a-z\s])|(?<=[。！？])(?=\S)")
_FENCE = lazy_pattern(r" {0,3}(?:`{3,}|~{3,})")
_BLOCK_START = lazy_pattern(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+|#{1,6}[ \t]")
_HEADING = lazy_pattern(r"#{1,6}[ \t]")
_PROHIBITION = lazy_pattern(
    r"\b(?:never|not|don['’]?t|mustn['’]?t|cannot|can['’]t|no|without|avoid|stop|forbidden|prohibited|"
    r"nie|niemals|nicht|kein\w*|jamais|pas|nunca|jamás|não|mai|non|nooit|niet|geen|никогда|нельзя|не)\b"
    r"|不要|不得|绝不|禁止|切勿|決して|しないで|절대|금지|لا|कभी",
    re.IGNORECASE,
)

Fits = Callable[[str], bool]
MAX_REPLY_CHARACTERS = 24_000
ROWS_CHARACTERS = 22_000  # limit for the rows of a reply, which leaves room for the rest of it
# For a reply that lists what was asked for by name, or a requested number of hits.
LIST_CHARACTERS = 10_000_000
RECORDS_CHARACTERS = 400_000  # limit for a list of all records or skills: room for thousands
_MIN_SHARE_CHARACTERS = 400  # a shorter rest of a row is not worth showing
_MIN_ROOM_LEFT = 4  # a row that cannot be cut may take 1/4 of the remaining room
_MAX_NAMES = 10
_MAX_NAME_CHARACTERS = 60

Row = dict[str, Any]


def estimate_tokens(text: str) -> int:
    """Return an estimate of the number of tokens of a text."""
    return math.ceil(weigh_tokens(text))


def weigh_tokens(text: str) -> float:
    """Return the estimate before rounding: for two texts joined it is the sum of both."""
    total = 0.0
    ascii_rest = text.encode("ascii", "ignore")
    other_rest = "" if len(ascii_rest) == len(text) else re.sub("[\x00-\x7f]+", "", text)
    for characters, weight in _ASCII_WEIGHTS:
        rest = ascii_rest.translate(None, characters)
        total += (len(ascii_rest) - len(rest)) * weight
        ascii_rest = rest
    for pattern, weight in _WEIGHTS if other_rest else ():
        unlike = re.sub(pattern, "", other_rest)
        total += (len(other_rest) - len(unlike)) * weight
        other_rest = unlike
    return total + len(other_rest) * _OTHER_WEIGHT


def find_most(limit: int, fits: Callable[[int], bool], least: int = 0, *, is_exact: bool = False) -> int:
    """Return by bisection the largest number up to `limit` that fits, or one within a hundredth of it; `least` if none
    does."""
    low = least
    high = limit + 1
    while high - low > (1 if is_exact else max(1, low // 100)):
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


def cut_start(text: str, fits: Fits) -> str:
    """Return a start of a text that `fits`, nearly the longest: to the end of a line, a sentence or a word.

    It has no space at its end, and is empty if not even a few characters fit.
    """

    def start_fits(count: int) -> bool:
        return fits(text[:count])

    start = text[: _find_boundary(text, find_most(len(text), start_fits))].rstrip()
    while start and not fits(start):  # a different cut may need a longer description
        start = text[: _find_boundary(text, len(start) - 1)].rstrip()
    return start


def _find_boundary(text: str, end: int) -> int:
    """Return where to cut at or before an offset."""
    if end >= len(text):
        return len(text)
    near = end - max(_find_reach(text[max(0, end - _NEAR_CHARACTERS) : end]), int(end * _NEAR_SHARE))
    line = text.rfind("\n", max(0, near), end + 1)
    if line > 0:
        return line
    sentences = [match.end() for match in _SENTENCE_END.finditer(text, max(0, near), end)]
    if sentences:
        return sentences[-1]
    words = re.search(r"(?:\s\d+\S?)?\s\S*\Z", text[max(0, near) : end])  # a number belongs to what follows it
    return max(0, near) + words.start() if words else end


def _find_reach(before: str) -> int:
    """Return how many characters the cut may move back."""
    tokens = weigh_tokens(before)
    return _NEAR_CHARACTERS if tokens <= _NEAR_TOKENS else int(_NEAR_CHARACTERS * _NEAR_TOKENS / tokens)


class _Block(NamedTuple):
    """A heading, a paragraph or a list item of some rules: what is before it, its marker, and its sentences."""

    before: str
    marker: str
    sentences: tuple[str, ...]

    @property
    def is_heading(self) -> bool:
        return _HEADING.match(self.marker) is not None


def cut_rules(text: str, fits: Fits) -> tuple[str, int]:
    """Return rules with as many whole sentences as fit, in their order, and how many sentences were left out.

    What forbids something is chosen first: rules that lose it would say the opposite. No sentence is cut.
    """
    if fits(text):
        return text, 0
    blocks = _parse_blocks(text[:_MAX_RULES_CHARACTERS])
    if len(text) > _MAX_RULES_CHARACTERS and blocks:  # it may end in the middle of a sentence
        blocks[-1] = blocks[-1]._replace(sentences=blocks[-1].sentences[:-1])
    order = [(number, at) for number, block in enumerate(blocks) for at in range(len(block.sentences))]
    ranked = [place for place in order if _comes_first(blocks, place)]
    ranked += [place for place in order if not _comes_first(blocks, place)]

    def first_fit(count: int) -> bool:
        return fits(_join_blocks(blocks, {*ranked[:count]}))

    count = find_most(len(ranked), first_fit, is_exact=True)
    places = {*ranked[:count]}
    for place in ranked[count:]:  # shorter sentences after one that does not fit
        if len(places) - count < _MAX_EXTRA_SENTENCES and fits(_join_blocks(blocks, {*places, place})):
            places.add(place)
    return _join_blocks(blocks, places), len(order) - len(places)


def _comes_first(blocks: list[_Block], place: tuple[int, int]) -> bool:
    block = blocks[place[0]]
    return block.is_heading or _PROHIBITION.search(block.sentences[place[1]]) is not None


def _join_blocks(blocks: list[_Block], places: set[tuple[int, int]]) -> str:
    parts: list[str] = []
    pending = ""  # a heading is shown only above something
    for number, in_block in groupby(sorted(places), key=itemgetter(0)):
        block = blocks[number]
        sentences = "".join(block.sentences[at] for _, at in in_block)
        paragraph = f"{block.before}{block.marker}{sentences.lstrip()}"
        if block.is_heading:
            pending = paragraph
        else:
            parts += [pending, paragraph]
            pending = ""
    return "".join(parts).strip("\n")


def _parse_blocks(text: str) -> list[_Block]:
    """Return the blocks of some rules. A code fence is one sentence, whatever is in it."""
    blocks: list[_Block] = []
    lines: list[str] = []
    before = ""
    fence = ""

    def finish() -> None:
        nonlocal before
        if lines:
            blocks.append(_make_block(before, "\n".join(lines)))
            before = "\n"
            lines.clear()

    for line in text.split("\n"):
        opening = _FENCE.match(line)
        if fence:
            lines.append(line)
            if opening and opening[0].strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
                finish()
            continue
        if not line.strip() or _BLOCK_START.match(line) or opening or (lines and _HEADING.match(lines[-1])):
            finish()
        if not line.strip():
            before += "\n"
            continue
        lines.append(line)
        fence = opening[0].strip() if opening else ""
    finish()
    return blocks


def _make_block(before: str, text: str) -> _Block:
    if _FENCE.match(text):
        return _Block(before, "", (text,))
    start = _BLOCK_START.match(text)
    marker = start[0] if start else ""
    body = text.removeprefix(marker)
    return _Block(before, marker, (body,) if _HEADING.match(marker) else tuple(_split_sentences(body)))


def _split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, each with the space before it. Many lines without an end are one rule each."""
    at = 0
    for end in [*(match.start() for match in _SENTENCES.finditer(text)), len(text)]:
        sentence = text[at:end]
        yield from re.split(r"(?=\n)", sentence) if sentence.count("\n") > _MAX_SENTENCE_BREAKS else [sentence]
        at = end


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


def fit_page(text: str, name_call: Callable[[int], str]) -> str:
    """Return a page within the limit of a reply, cut between two lines; `name_call` names what reads on from a line."""
    if len(text) <= MAX_REPLY_CHARACTERS:
        return text
    lines = text.split("\n")
    room = MAX_REPLY_CHARACTERS - len(_describe_cut(MAX_REPLY_CHARACTERS, len(text), name_call(len(lines))))
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
    """Return a row with the start of its text, within `share` characters; None if it has no text to cut."""
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
    """Return a sentence on what was cut and left out; empty if nothing was."""
    if not (cut or left_out):
        return ""
    sentences = []
    if cut:
        sentences.append(f"only the start is shown of {_join_names(cut)}")
    if left_out:
        sentences.append(f"{len(left_out):,} more are left out: {_join_names(left_out)}")
    return f"{'; '.join(sentences)} (a reply has at most {most:,} characters): {advice}"


def _join_names(names: list[str]) -> str:
    return list_some([quote_line(name)[:_MAX_NAME_CHARACTERS] for name in names], _MAX_NAMES)
