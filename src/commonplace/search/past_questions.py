"""Questions about what was: `what was the deadline?`, and those about what was before something, in ten languages.

`Before` asks about the past where the question is in the past (`where did Tom live before Bristol?`) or ends with it.
`What must be done before Friday?` asks about something else.
"""

from __future__ import annotations

import re

from ..caching import cache_within
from ..facts.cues import has_cue
from ..facts.words import fold, is_number, split_words, word_set
from ..patterns import lazy_pattern
from .date_phrases import LISTS

_BEFORE = lazy_pattern(
    r"(?<!\w)(?P<german>bevor|vor|ehe)(?!\w)|(?P<tense>(?<!\w)(?:before|prior to|до|перед|прежде чем)(?!\w)|前に)"
    r"|(?<!\w)(?:antes|avant|पहले|قبل)(?!\w)|之前|以前|前は"
)
_PAST_TENSE = LISTS.phrase_pattern("questions", "PAST_TENSE")
_GERMAN_PAST_TENSE = lazy_pattern(  # `was` is English as well
    r"(?<!\w)(?:war|waren|warst|hatte\w*|wurde\w*|hieß\w*|ge\w{3,}(?:t|en)"
    r"|(?!heute|bitte|mitte|erste|letzte|nächste)\w{3,}te[nst]?)(?!\w)"
)
_DUTY = LISTS.phrase_pattern("questions", "DUTY")
_UNSPACED_DAY = lazy_pattern(
    r"(?:周|星期|礼拜)[一二三四五六日天]|[\d一二三四五六七八九十]+[日号月点時时]|曜日?|今天|明天|下周|今日|明日|来週"
)
_DAYS = word_set("words", "MONTHS_AND_DAYS") | word_set("words", "NEXT_DAYS")
_MAX_DISTANCE = 25  # characters from `before` to a day that it is about
_END = lazy_pattern(r"[\s?？!.。।؟]*\Z")


def asks_about_past(text: str) -> bool:
    """Return whether a question is about what was."""
    return has_cue(fold(text), "past") or asks_what_was_before(text)


@cache_within(100_000)
def asks_what_was_before(text: str) -> bool:
    """Return whether a question is about what was before something else was."""
    folded = fold(text)
    return any(_is_past(folded, match) for match in _BEFORE.finditer(folded))


def _is_past(folded: str, before: re.Match[str]) -> bool:
    if _DUTY.search(folded):
        return False
    if (_GERMAN_PAST_TENSE if before["german"] else _PAST_TENSE).search(folded):
        return True
    is_last = _END.match(folded, before.end()) is not None
    needs_tense = bool(before["tense"] or before["german"])
    return is_last or not (needs_tense or _is_about_day(folded, before))


def _is_about_day(folded: str, before: re.Match[str]) -> bool:
    around = folded[max(0, before.start() - _MAX_DISTANCE) : before.end() + _MAX_DISTANCE]
    words = split_words(around)
    return any(word in _DAYS or is_number(word) for word in words) or _UNSPACED_DAY.search(around) is not None
