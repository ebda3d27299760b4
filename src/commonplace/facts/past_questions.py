"""Questions about what was: `what was the deadline?`, and those about what was before something, in ten languages.

`Before` asks about the past where the question is in the past (`where did Tom live before Bristol?`) or ends with it.
`What must be done before Friday?` asks about something else.
"""

from __future__ import annotations

import re

from ..caching import cache_within
from ..patterns import lazy_pattern
from .cues import has_cue
from .word_lists import MONTHS_AND_DAYS
from .words import fold, is_number, split_words, word_set

_BEFORE = lazy_pattern(
    r"(?<!\w)(?P<german>bevor|vor|ehe)(?!\w)|(?P<tense>(?<!\w)(?:before|prior to|до|перед|прежде чем)(?!\w)|前に)"
    r"|(?<!\w)(?:antes|avant|पहले|قبل)(?!\w)|之前|以前|前は"
)
_PAST_TENSE = lazy_pattern(
    r"""(?<!\w)(?:
    did | was | were | had | used | (?<!is\ )(?<!are\ )(?<!be\ )(?<!get\ )\w{2,}ed | went | came | got | said
    | \w{2,}(?:ía|ían|aba|aban|ió) | era | eran | fue | fueron | hubo
    | \w{2,}(?:ait|aient) | étai\w* | avai\w*
    | \w{2,}(?:ava|avam|ia|iam|ou) | foi | foram
    | (?!или|если)\w{2,}(?:л|ла|ло|ли|лся|лась|лись)
    | था | थी | थे | थीं
    | كان | كانت | كانوا
    )(?!\w) | ました | でした | だった | ていた | (?:た|だ)か?\s*[?？。]?$""",
    re.VERBOSE,
)
_GERMAN_PAST_TENSE = lazy_pattern(  # `was` is English as well
    r"(?<!\w)(?:war|waren|warst|hatte\w*|wurde\w*|hieß\w*|ge\w{3,}(?:t|en)"
    r"|(?!heute|bitte|mitte|erste|letzte|nächste)\w{3,}te[nst]?)(?!\w)"
)
_DUTY = lazy_pattern(
    r"""(?<!\w)(?:
    must | should | shall | needs? | have\ to | has\ to | ought | due | todo | to\ do
    | muss | müssen | soll | sollen | sollte | sollten | fällig | erledig\w+
    | hay\ que | deb\w+ | ten\w+\ que | tiene\w*\ que | falta\w* | pendiente\w*
    | faut | doi\w+ | dev(?:ons|ez|ra\w*) | à\ faire | reste
    | precis\w+ | dev[eo]\w* | temos\ (?:que|de) | tem\ (?:que|de) | pendente\w*
    | нужно | надо | долж\w+ | сделать | успеть | следует
    | चाहिए | करना | करने
    | يجب | ينبغي | علينا | يلزم
    )(?!\w) | 必须 | 需要 | 应该 | 要做 | 得做 | なければ | べき | 必要""",
    re.VERBOSE,
)
_UNSPACED_DAY = lazy_pattern(
    r"(?:周|星期|礼拜)[一二三四五六日天]|[\d一二三四五六七八九十]+[日号月点時时]|曜日?|今天|明天|下周|今日|明日|来週"
)
_DAYS = word_set(MONTHS_AND_DAYS) | word_set("tomorrow tonight morgen mañana demain amanhã завтра कल غدا")
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
