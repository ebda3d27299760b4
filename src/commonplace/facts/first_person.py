"""Where somebody says that they live or work, and that they moved, without naming themselves.

Many languages leave out `I`, and `J'habite à Lyon` and `J'ai déménagé à Nantes` share no word. The verbs do: one says
where somebody lives, the other that this changed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..caching import cache_within
from .words import fold


class _Fact(NamedTuple):
    name: str
    state: re.Pattern[str]
    change: re.Pattern[str]


def _compile(name: str, state: str, change: str) -> _Fact:
    """Return patterns that a clause begins with; Chinese and Japanese have the verb after the place."""
    lead = r"(?:^|[,.;:] )(?:[\w']+: )?(?:now |today |yesterday |jetzt |gestern |ahora |agora |теперь |अब )?"
    patterns = ["".join(part.split()).replace("_", r"\s+") for part in (state, change)]
    return _Fact(name, *(re.compile(f"{lead}(?:{pattern})") for pattern in patterns))


_HOME = _compile(
    "home",
    r"""(?:i|we)_(?:currently_)?live\b|(?:i'm|i_am|we're|we_are)_(?:based|living)\b|(?:ich|wir)_(?:wohnen?|leben?)\b|wohnen?\b
    |j'habite\b|(?:je|nous|on)_(?:vis|vivons|habitons|habite|vit)\b|(?:yo_|nosotros_)?(?:vivo|vivimos)\b|(?:eu_|nós_)?(?:moro|moramos)\b
    |(?:я_|мы_)?(?:живу|живём|живем)\b|(?:أنا_)?(?:أسكن|أعيش|نسكن|نعيش)\b|(?:मैं|हम)_.*(?:रहता|रहती|रहते)|(?:我|我们)(?:现在)?住在
    |(?:私は)?[^は]{1,12}(?:に住んで|在住)""",
    r"""(?:i|we)(?:'ve|_have)?_(?:just_|recently_|finally_)?(?:moved|relocated)_to\b|moved_to\b
    |(?:(?:ich|wir)_)?(?:bin|sind)_(?:\w+_){0,3}nach_\w+_(?:um)?gezogen|(?:ich|wir)_(?:ziehen?|zogen)_nach\b
    |j'ai_déménagé\b|(?:on|nous)_(?:a|avons)_déménagé\b|j'habite_(?:maintenant|désormais)\b
    |(?:yo_)?(?:me|nos)_(?:mudé|mudamos|trasladé|trasladamos)\b|(?:eu_)?(?:me|nos)_mud(?:ei|amos)\b|mudei\b
    |(?:я_|мы_)?переехал[аи]?\b|(?:لقد_)?(?:انتقلت|انتقلنا)_إلى|(?:मैं|हम)_.*(?:शिफ्ट|चला_गया|चली_गई|आ_गया|आ_गई)
    |(?:我|我们)?(?:已经)?搬(?:到|去|来|进)|(?:私は)?[^は]{1,12}に引っ越""",
)
_WORK = _compile(
    "work",
    r"""(?:i|we)_work_(?:at|for)\b|(?:ich)_arbeite_(?:bei|für)\b|je_travaille_(?:chez|à|pour)\b|(?:yo_)?trabajo_(?:en|para)\b
    |(?:eu_)?trabalho_(?:na|no|em|para)\b|(?:я_)?работаю_в\b|(?:أنا_)?أعمل_(?:في|لدى)|मैं_.*(?:काम_करता|काम_करती)
    |我在.{1,10}(?:工作|上班)|(?:私は)?[^は]{1,12}で働いて""",
    r"""(?:i|we)(?:'ve|_have)?_(?:just_|recently_)?(?:joined|started_at|switched_to)\b|i_started_a_new_job_at\b
    |(?:ich_)?(?:bin|habe)_(?:\w+_){0,3}(?:zu|bei)_\w+_(?:gewechselt|angefangen)|ich_arbeite_jetzt\b
    |j'ai_(?:rejoint|commencé_chez)\b|(?:yo_)?empecé_(?:a_trabajar_)?en\b|(?:eu_)?comecei_(?:a_trabalhar_)?(?:na|no|em)\b
    |(?:я_)?(?:устроился|устроилась|перешёл|перешел|перешла)_в\b|(?:بدأت_العمل|انتقلت_للعمل)_(?:في|لدى)
    |我(?:跳槽|换工作|入职)|[^は]{1,12}に転職""",
)
_FACTS = (_HOME, _WORK)


@cache_within(1_000_000)
def find_states(text: str) -> frozenset[str]:
    """Return what a note says of its writer: where they live (`home`), or work."""
    folded = fold(text)
    return frozenset(fact.name for fact in _FACTS if fact.state.search(folded))


@cache_within(1_000_000)
def find_changed_states(text: str) -> frozenset[str]:
    """Return which of these a note says to have changed."""
    folded = fold(text)
    return frozenset(fact.name for fact in _FACTS if fact.change.search(folded))
