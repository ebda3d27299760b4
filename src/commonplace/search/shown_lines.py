"""What replaced the lines of a text that no query found, such as a prompt context.

The rules are those of search (`truth.py`). Statements of dated texts are compared with those of the same days or
later; those of other texts with the passages that have the rarest words in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from ..caching import cache_within
from ..facts.statements import LookupKeys, Statement, lookup_keys, split_statements
from ..formats.passages import choose_titles, list_titles
from ..formats.timestamps import parse_day
from ..index.base import Index
from ..model import Hit, Scope, Viewer
from ..storage.authors import Span
from .moments import FindOrigins
from .replacements import FoundStatement, Replacement, VersionLookup
from .truth import choose_newest, judge_places, keep_approved

_MAX_DATED_CANDIDATES = 200
_MAX_UNDATED_CANDIDATES = 60
_MAX_KEYS = 6_000
_MAX_KNOWN = 16  # cached answers
_NO_SCOPE = Scope("shared")
_known: dict[tuple[object, ...], dict[int, list[Replacement]]] = {}


class ShownText(NamedTuple):
    """Lines of a page as they are shown. `first` and `last`: the numbers of the first and of the last one there; no
    `last` if none are left out between them."""

    path: str
    first: int
    text: str
    heading: str = ""  # the headings above it, if it has none
    last: int = 0

    def locate(self, first: int, last: int) -> Span:
        """Return where some of the lines, counted from 0, are on the page; all of them, if any are left out."""
        whole = self.last - self.first > self.text.count("\n")
        return (self.path, self.first, self.last) if whole else (self.path, self.first + first, self.first + last)

    @property
    def day(self) -> int | None:
        """Return the day that its page is named after."""
        return parse_day(self.path.rpartition("/")[2])


class ShownStatement(NamedTuple):
    """A statement of a shown text, its first and last line there, counted from 0, and the keys of newer versions."""

    first: int
    last: int
    statement: Statement
    keys: LookupKeys


def list_statements(text: str) -> list[ShownStatement]:
    """Return the statements of a text, paragraph by paragraph."""
    statements: list[ShownStatement] = []
    above = 0
    for paragraph in text.split("\n\n"):
        for each, keys in _split_paragraph(paragraph):
            statements.append(ShownStatement(above + each.first_line, above + each.last_line, each, keys))
        above += paragraph.count("\n") + 2
    return statements


@cache_within(2_000_000)
def _split_paragraph(text: str) -> tuple[tuple[Statement, LookupKeys], ...]:
    """Return the statements of a paragraph, with the keys of their newer versions; cached, as it is shown again."""
    return tuple((each, lookup_keys(each)) for each in split_statements(text))


def find_replaced_lines(
    index: Index,
    viewer: Viewer,
    texts: Sequence[ShownText],
    find_origins: FindOrigins,
    today: int,
    *,
    only_approved: bool = False,
    branch: str = "",
) -> dict[int, list[Replacement]]:
    """Return what replaced statements of the texts, by the number of the text; lines are those of the text. With
    `only_approved`, nothing replaces a statement but what a person wrote or approved. `branch`: the git branch on which
    memory is used, if it follows branches.

    The result is cached as long as neither the texts nor the index change.
    """
    state = index.state()  # before anything is read
    asked = (state, viewer, tuple(texts), today, branch)
    known = _known.get(asked) if state is not None and not only_approved else None
    if known is not None:
        return known
    with index.read_transaction():
        pairs = _find_pairs(index, viewer, texts)
        if only_approved:
            pairs = keep_approved(pairs, find_origins)
        replaced: dict[int, list[Replacement]] = {}
        for replacement in choose_newest(pairs, find_origins, today).values():
            replaced.setdefault(-1 - replacement.older.number, []).append(replacement)
    if len(_known) >= _MAX_KNOWN:
        _known.clear()
    if state is not None and not only_approved:  # an approval changes neither a page nor the index
        _known[asked] = replaced
    return replaced


def _find_pairs(index: Index, viewer: Viewer, texts: Sequence[ShownText]) -> list[Replacement]:
    """Return what may replace statements of the texts, whichever of both is newer."""
    places = [place for number, text in enumerate(texts) for place in _make_places(number, text)]
    dated = [place for place in places if texts[-1 - place.number].day]
    undated = [place for place in places if not texts[-1 - place.number].day]
    earliest = min((texts[-1 - place.number].day or 0 for place in dated), default=0)
    pairs = [*_judge_places(index, viewer, dated, _MAX_DATED_CANDIDATES, earliest)]
    pairs += _judge_places(index, viewer, undated, _MAX_UNDATED_CANDIDATES, 0)
    return pairs


def _make_places(number: int, text: ShownText) -> Iterator[FoundStatement]:
    """Yield the statements of a text. Their numbers are negative, so that no passage of the index has them."""
    at = str(date.fromordinal(text.day)) if text.day else ""
    paragraphs = _list_paragraphs(text.text)
    titles = list_titles(text.text)
    for first, last, each, keys in list_statements(text.text):
        lines = (text.first + first, text.first + last)
        heading = " ".join(choose_titles(titles, first + 1)) or text.heading
        hit = Hit(text.path, *lines, each.text, 0.0, _NO_SCOPE, at=at, heading=heading)
        statement = each._replace(first_line=first, last_line=last)
        yield FoundStatement(-1 - number, hit, statement, keys, paragraphs[first])


def _list_paragraphs(text: str) -> list[str]:
    """Return the paragraph of each line of a text."""
    paragraphs: list[str] = []
    for paragraph in text.split("\n\n"):
        paragraphs += [paragraph] * (paragraph.count("\n") + 2)  # with the blank line below
    return paragraphs


def _judge_places(
    index: Index, viewer: Viewer, places: Sequence[FoundStatement], limit: int, earliest: int
) -> Iterator[Replacement]:
    lookup = VersionLookup(index, places)
    found = lookup.find(viewer, limit, max_keys=_MAX_KEYS)
    later = [candidate for candidate in found if candidate.day is None or candidate.day >= earliest]
    yield from judge_places(places, lookup.group(later))
