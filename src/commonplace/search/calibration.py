"""Calibration: cosines as z-scores of their space, odds as the probability that a hit is right.

The probability depends on

- how far the odds of a hit exceed the background (the odds of the thirtieth hit, or an estimate of them) and those of
  the best other hit;
- its share of BM25 and of adjacent words, the rest of its page, and its length, since a long passage has many words
  by chance;
- the words of the query that the memory lacks, which weigh the most: the more there are, the more similarity counts;
- the size of the memory: a large one errs more.

A short note of a small memory has another curve if it lacks a name, a number, an identifier or the day of the query, or
has another word in its place: by its words alone, a note on the mobile app would match a question about the web app. A
note without a value of the kind that is asked for, such as a day, is hardly ever right. Nor is a hit that answers
another question: about somebody else, or when a shop closes instead of when it opens.

The curves are fitted by `./dev calibrate` on many sets at once, including questions that the memory cannot answer, so
that a threshold means the same for every language and length of question: at 0.5, half of the hits are right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from .coverage import COVERED, Coverage


class NoteScale(NamedTuple):
    """The logistic curve for a short note of a small memory that lacks an exact word of the query: its offset and
    slopes.

    `log_slope` is for the logarithm of the odds, `lexical` for the share of BM25, `has_exact` for having a name,
    number or identifier of the query, `nearness` for how near the note comes to the words that it lacks.
    """

    offset: float
    log_slope: float
    lead: float
    lexical: float
    has_exact: float
    nearness: float


class Scale(NamedTuple):
    """Mean and deviation of the cosine between a query and unrelated passages; the logistic curve that turns the
    evidence for a hit into a probability: its offset, and the slope of each part of the evidence. `slope` is for
    the odds, `log_slope` for their logarithm: beyond some point, higher odds add little."""

    mean: float
    deviation: float
    slope: float
    offset: float
    log_slope: float = 0.0
    lead: float = 0.0
    lexical: float = 0.0
    phrase: float = 0.0
    unknown: float = 0.0
    similarity: float = 0.0
    size: float = 0.0
    support: float = 0.0
    length: float = 0.0
    date: float = 0.0
    without_maxsim: float = 0.0  # slope for a query whose words are not compared, so that its hits have lower odds
    kind: float = 0.0  # slope for a value of the kind that is asked for, in a note
    notes: NoteScale | None = None  # for short notes in a small memory, if it was fitted


class Match(NamedTuple):
    """How a hit fits: its odds above the background, and the factors that count beyond their part in them."""

    odds: float
    lexical: float = 0.0
    phrase: float = 0.0
    z_score: float = 0.0
    support: float = 0.0
    characters: int = 0
    date: float = 0.0
    size: int = 0  # in bytes: a Chinese character carries as much as three letters
    coverage: Coverage | None = None  # of the words of the query, if it was measured


class Asked(NamedTuple):
    """How a query fits the whole memory: the share of its words, by weight, that the memory lacks, the number of
    passages searched, the number of content words, and whether these were compared with those of the best hits."""

    unknown: float = 0.0
    passages: int = 1
    words: int = 0
    has_maxsim: bool = True


class Evidence(NamedTuple):
    """The evidence for a hit."""

    odds: float  # above the background
    lead: float  # above the best other hit, or below it
    lexical: float  # its share of BM25
    phrase: float = 0.0  # the share of the query's word pairs that are adjacent in the hit
    unknown: float = 0.0  # the share of the query that the memory lacks
    similarity: float = 0.0  # the z-score, times the share of words that the memory lacks
    size: float = 0.0  # the logarithm of the number of passages, above a hundred
    support: float = 0.0  # the best passages of the same page
    length: float = 0.0  # the logarithm of its number of characters
    date: float = 0.0  # how close it is to the days that the query names
    without_maxsim: float = 0.0  # 1 if the words of the query were not compared with those of the hits
    note: float = 0.0  # the degree to which the hit is a short note of a small memory, from 0 to 1
    coverage: Coverage = COVERED


class MaxSimScale(NamedTuple):
    """Mean and deviation of MaxSim between unrelated texts: one in forty exceeds twice the deviation."""

    mean: float
    deviation: float


MAXSIM = MaxSimScale(0.172, 0.01125)
KEYWORD = Scale(
    0.0,
    1.0,
    0.0,
    1.136,
    log_slope=1.238,
    lead=0.567,
    lexical=-0.616,
    phrase=2.018,
    unknown=-2.575,
    size=-0.348,
    support=0.075,
    length=-0.314,
    date=1.021,
    notes=NoteScale(-2.554, -1.096, 0.774, -0.812, has_exact=-0.157, nearness=0.191),
)
# A query asks only for days or for open tasks: all of them are right.
SELECTION = Scale(0.0, 1.0, 0.3, -3.9)
CROSS_ENCODER = Scale(0.0, 1.0, 0.23, -3.69)
CROSS_ENCODER_AFTER_MAXSIM = Scale(0.0, 1.0, 0.171, -3.84)
_SPACES = {
    "commonplace-static": Scale(
        0.05,
        0.115,
        0.0,
        1.036,
        log_slope=1.119,
        lead=0.412,
        lexical=-3.018,
        phrase=1.057,
        unknown=-2.142,
        similarity=0.282,
        size=-0.477,
        support=0.298,
        length=-0.356,
        date=0.924,
        without_maxsim=1.0,
        kind=1.65,
        notes=NoteScale(2.189, -0.892, 0.608, -1.954, has_exact=-0.319, nearness=2.075),
    ),
    "local-answerai-colbert": Scale(0.83, 0.03, 0.16, -3.4),
    "local-bge-small-en": Scale(0.38, 0.064, 0.37, -4.28),
    "local-bge-small-zh": Scale(0.30, 0.08, 0.37, -4.28),
}
_UNKNOWN_SPACE = Scale(0.30, 0.10, 0.36, -4.13)
_MIN_DEVIATION = 0.01
_BACKGROUND_RANK = 30  # the hit whose odds are the background
_UNRELATED_ODDS = -2.0  # of a passage that has nothing to do with the query
_MAX_LOGIT = 30.0
_MAX_LEAD = 6.0  # a larger lead makes a hit no more certain
_MAX_NOTE_LEAD = 2.0  # the same for a note: in a small memory, whatever has a name leads by far
_MIN_NOTE_LOGIT = -4.0  # one in fifty: the curve was fitted on a few hundred notes
_LACKING_KIND_LOGIT = -2.2  # one in ten: for notes without a value of the kind that is asked for
_MAX_LAG = 8.0
_MIN_NEARNESS = 0.03  # of words to a text; below it, nothing in the text resembles them
NOTE_BYTES = (150, 660)  # up to the first, a note is short; from the second on, it is a page
_NOTE_PASSAGES = (600, 1_500)  # the same for a small memory
_NOTE_QUERY_WORDS = (5, 9)  # and for a short query: of a long one, some words are always missing
_MIN_PASSAGES = 100  # below it, the size of a memory means nothing


def scale_for(space: str, measure: Callable[[], tuple[float, float] | None] | None = None) -> Scale:
    """Return the scale of a vector space: fitted for a known model; for another, from the similarity stats that
    `measure` returns."""
    known = next((scale for name, scale in _SPACES.items() if space.startswith(name)), None)
    if known:
        return known
    stats = measure() if measure else None
    if stats is None:
        return _UNKNOWN_SPACE
    mean, deviation = stats
    return _UNKNOWN_SPACE._replace(mean=mean, deviation=max(deviation, _MIN_DEVIATION))


def background_odds(odds: Sequence[float]) -> float:
    """Return the odds that a hit has to exceed, given those of all hits, best first."""
    if not odds:
        return _UNRELATED_ODDS
    rank = min(len(odds), _BACKGROUND_RANK)
    return _UNRELATED_ODDS + (odds[rank - 1] - _UNRELATED_ODDS) * rank / _BACKGROUND_RANK


def weigh_evidence(matches: Iterable[Match], odds: Iterable[float], query: Asked) -> Iterator[Evidence]:
    """Yield the evidence for each hit of a query, given the odds of all of them."""
    best = sorted(odds, reverse=True)[:2]
    second = best[1] if len(best) > 1 else 0.0
    size = math.log(max(_MIN_PASSAGES, query.passages))
    for match in matches:
        yield Evidence(
            match.odds,
            _clip_lead(match.odds - (second if match.odds == best[0] else best[0])),
            match.lexical,
            match.phrase,
            query.unknown,
            query.unknown * match.z_score,
            size,
            match.support,
            math.log1p(match.characters),
            match.date,
            float(not query.has_maxsim),
            _share_of_note(match, query) if match.coverage else 0.0,
            match.coverage or COVERED,
        )


def are_notes(passages: int, words: int = 0) -> bool:
    """Return whether a memory is so small, and a query so short, that what a note lacks matters more than what it
    has."""
    return passages < _NOTE_PASSAGES[1] and words < _NOTE_QUERY_WORDS[1]


def _share_of_note(match: Match, query: Asked) -> float:
    return _fade(match.size, NOTE_BYTES) * _fade(query.passages, _NOTE_PASSAGES) * _fade(query.words, _NOTE_QUERY_WORDS)


def _fade(value: int, limits: tuple[int, int]) -> float:
    """Return 1 up to the first limit, 0 from the second one on, and in between a value on a logarithmic scale."""
    low, high = map(math.log, limits)
    return max(0.0, min(1.0, (high - math.log(max(1, value))) / (high - low)))


def _clip_lead(lead: float) -> float:
    return max(-_MAX_LAG, min(_MAX_LEAD, lead))


def calibrate(evidence: Evidence, scale: Scale) -> float:
    """Return the probability that a hit with this evidence is right."""
    logit = _page_logit(evidence, scale)
    if evidence.coverage.has_kind:
        logit += evidence.note * scale.kind
    if evidence.coverage.is_doubtful and scale.notes:
        logit += evidence.note * min(0.0, _note_logit(evidence, scale.notes) - logit)
    if evidence.coverage.has_kind is False:
        logit += evidence.note * min(0.0, _LACKING_KIND_LOGIT - logit)
    if evidence.coverage.answers_another:
        logit = min(logit, _LACKING_KIND_LOGIT)
    return round(1 / (1 + math.exp(-max(-_MAX_LOGIT, min(_MAX_LOGIT, logit)))), 4)


def _page_logit(evidence: Evidence, scale: Scale) -> float:
    return (
        scale.offset
        + scale.slope * evidence.odds
        + scale.log_slope * math.log1p(max(0.0, evidence.odds))
        + scale.lead * evidence.lead
        + scale.lexical * evidence.lexical
        + scale.phrase * evidence.phrase
        + scale.unknown * evidence.unknown
        + scale.similarity * evidence.similarity
        + scale.size * evidence.size
        + scale.support * evidence.support
        + scale.length * evidence.length
        + scale.date * evidence.date
        + scale.without_maxsim * evidence.without_maxsim
    )


def _note_logit(evidence: Evidence, scale: NoteScale) -> float:
    logit = sum(slope * part for slope, part in zip(scale, note_parts(evidence).values(), strict=True))
    return max(_MIN_NOTE_LOGIT, logit)


def note_parts(evidence: Evidence) -> dict[str, float]:
    """Return the inputs of the curve for notes, in the order of `NoteScale`."""
    coverage = evidence.coverage
    return {
        "offset": 1.0,
        "log_slope": math.log1p(max(0.0, evidence.odds)),
        "lead": min(_MAX_NOTE_LEAD, evidence.lead),
        "lexical": evidence.lexical,
        "has_exact": float(coverage.has_exact),
        "nearness": math.log(max(_MIN_NEARNESS, coverage.nearness)),
    }
