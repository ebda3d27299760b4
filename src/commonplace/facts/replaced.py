"""What a note names as replaced: `Replaced flake8 with ruff`, `statt Jenkins`, `вместо Jira`, `从钉钉换到飞书`.

If it is the value of an older note, that note is replaced, even if nothing else is shared. If the older note does not
have it, the newer one is about something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from .claims import find_topics
from .words import fold, split_words

_OLD = r"(?P<old>\S+(?: \S+){0,2}?)"
_ARTICLE = (
    r"(?:(?:the|our|my|using|a|an|der|die|das|den|dem|le|la|les|l'|el|los|las|o|os|as|do|da|de|d'|del|du|des|من|عن) )?"
)
_CHANGED = r"(?:switch|mov|migrat|chang|transition|convert|port|upgrad|went|go)"
# Each with texts of which every note has one that matches.
_SPACED = (
    (("replac",), rf"\breplac(?:ed|ing|es|e) {_ARTICLE}{_OLD} (?:with|by)\b"),
    (("from ",), rf"\b{_CHANGED}\w* (?:\S+ ){{0,4}}?from {_ARTICLE}{_OLD} (?:over )?(?:to|into)\b"),
    (
        ("instead of", "rather than", "in place of"),
        rf"\b(?:instead of|rather than|in place of) {_ARTICLE}{_OLD}(?=[.,;!]|$)",
    ),
    (("swap",), rf"\bswap(?:ped|s)? (?:out )?{_ARTICLE}{_OLD} (?:for|with)\b"),
    (
        ("is now", "becam", "become", "is called", "renamed"),
        rf"^(?:the |our )?(?:\w+ ){{0,2}}?{_OLD} (?:is now|became|becomes|is called|(?:was|got|has been) renamed)\b",
    ),
    (("turned off",), rf"\bturned off {_ARTICLE}{_OLD}(?=[.,;!]|$)"),
    (
        ("not ", "nicht ", "pas ", "não ", "не ", "ليس "),
        rf"\b(?:not|nicht|pas|não|не|ليس) {_ARTICLE}{_OLD}(?=[.,;!]|$)",
    ),
    (("durch ", "gegen "), rf"\b{_OLD} (?:\w+ )?(?:durch|gegen) \S+ (?:ersetzt|getauscht|ausgetauscht)\b"),
    (("ersetz", "tausch"), rf"\b(?:ersetz\w+|tausch\w+) {_ARTICLE}{_OLD} (?:durch|gegen)\b"),
    (("statt ", "anstelle ", "anstatt "), rf"\b(?:statt|anstelle von|anstatt) {_ARTICLE}{_OLD}(?=[.,;!]|$)"),
    (
        ("von ",),
        rf"\bvon {_ARTICLE}{_OLD} (?:zu|auf|nach) \S+ (?:gewechselt|umgestiegen|umgestellt|migriert|umgezogen)",
    ),
    (("remplac",), rf"\bremplac\w+ {_ARTICLE}{_OLD} par\b"),
    (
        (
            "au lieu",
            "plutôt",
            "à la place",
        ),
        rf"\b(?:au lieu (?:de |du |d')|plutôt que |à la place (?:de |du |d')){_ARTICLE}{_OLD}(?=[.,;!]|$)",
    ),
    (
        ("passé", "migré", "changé", "basculé"),
        rf"\b(?:passés?|migrés?|changés?|basculés?) de {_ARTICLE}{_OLD} (?:à|vers|au)\b",
    ),
    (
        ("por ", "pelo", "pela"),
        rf"\b(?:reemplaz|sustitu|cambi|troc|substitu)\w+ {_ARTICLE}{_OLD} (?:por|pelo|pela|por el|por la)\b",
    ),
    (
        ("en vez", "en lugar", "em vez", "no lugar", "ao invés"),
        rf"\b(?:en vez de|en lugar de|em vez d[eoa]|no lugar d[eoa]|ao invés d[eoa]) {_ARTICLE}{_OLD}(?=[.,;!]|$)",
    ),
    ((" de ",), rf"\b(?:pas|mig|cambi|mud|troc)\w+ de {_ARTICLE}{_OLD} (?:a|para|al)\b"),
    (("замен",), rf"\bзамен\w+ {_OLD} на\b"),
    (("вместо",), rf"\bвместо {_OLD}(?=[.,;!]| |$)"),
    (("переш", "перев", "переех", "мигрир"), rf"\b(?:переш|перев|переех|мигрир)\w+ с {_OLD} на\b"),
    (("की जगह", "के बजाय"), rf"{_OLD} (?:की जगह|के बजाय)"),
    (("بدل", "عوضا"), rf"\b(?:بدلا|بدلاً|بدل|عوضا) (?:من |عن )?{_OLD}(?=[.,;!]|$)"),
    (
        ("نقلنا", "انتقلنا", "تحولنا", "غيرنا"),
        rf"\b(?:نقلنا|انتقلنا|تحولنا|غيرنا) (?:\S+ ){{0,3}}?من {_OLD} (?:إلى|الى)",
    ),
    (("استبدل",), rf"\bاستبدل\w* {_OLD} ب"),
)
_UNSPACED = (
    r"(?:把|将)?(?P<old>[^，。,把将]{1,12}?)(?:换成|改成|替换为|替换成|换为)",
    r"从(?P<old>[^，。,]{1,12}?)(?:换|改|迁|搬|转|切)[^，。,]{0,3}到",
    r"不是(?P<old>[^，。,]{1,12}?)[，,]?\s*而?是",
    r"(?:代替|取代|而不是)(?P<old>[^，。,]{1,12})",
    r"(?P<old>[^、。はがを]{1,14})から.{1,14}(?:に|へ)(?:変更|移行|切り替え|乗り換え|移し|変え)",
    r"(?P<old>[^、。はがを]{1,14})(?:の代わり|ではなく|じゃなく)",
)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _choose_patterns(folded: str) -> Iterator[re.Pattern[str]]:
    """Yield the patterns that may match: most notes have none of the words that they ask for."""
    for parts, pattern in _SPACED:
        if any(part in folded for part in parts):
            yield _compile(pattern)
    if not folded.isascii():
        yield from map(_compile, _UNSPACED)


@lru_cache(maxsize=4096)
def find_replaced(text: str) -> frozenset[str]:
    """Return the topics of what a note names as replaced; empty if it names nothing."""
    folded = fold(text)
    for pattern in _choose_patterns(folded):
        if (match := pattern.search(folded)) and (topics := find_topics(split_words(match["old"]))):
            return topics
    return frozenset()
