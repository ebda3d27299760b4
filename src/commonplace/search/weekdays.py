"""Weekdays in questions: `what is on Saturday?` asks for the coming one, `what did we do on Saturday?` for the last.

A question in the present or the future is about the coming day of that name, and about what is so every week; one in
the past is about the last such day, which `date_readers.py` reads. Only the verb tells the two apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache
from typing import Literal, NamedTuple

from ..formats.timestamps import MONTHS
from ..patterns import lazy_pattern
from .date_phrases import (
    CHINESE_WEEKDAYS,
    JAPANESE_WEEKDAYS,
    KOREAN_WEEKDAYS,
    NOT_OF,
    VOCABULARIES,
    WEEKDAYS,
    WORD_END,
    WORD_START,
    fold_phrase,
)
from .date_ranges import find_direction
from .date_readers import any_of, choose_languages
from .date_spans import Span, number_words

Tense = Literal["past", "coming", ""]
_LANGUAGES = ("german", "french", "spanish", "portuguese", "italian", "russian", "hindi", "arabic")
_NOT_COUNTED = "(?<![一二三四五六七八九十两兩几幾])"  # 一周一次 is once a week
_SPACED_WORD = lazy_pattern(r"[^\W\d_\u3040-\uffff]+")
_THIS = lazy_pattern(r"\b(?:this|diese)")
_AROUND = 14  # characters before and after a weekday, in which `last` may be said of it
_LAST = lazy_pattern(
    r"\b(?:last|past|previous|earlier|letzte[nmrs]?|vergangene[nmrs]?|vorige[nmrs]?|derniere?|passee?|pasad[oa]|passad[oa]"
    r"|ultim[oa]|scors[oa])\b|прошл|पिछल|बीते|الماضي|上(?:个|個)?(?:周|週|星期|礼拜|禮拜)|先週|지난"
)
# How a weekday `{}` is named in a question. `next` and `this` tell which one without a verb.
_PHRASES = {
    "english": r"(?:on |for )?(?P<{next}>(?:this )?(?:next|coming)|this)? ?{day}"
    r"(?: (?:morning|afternoon|evening|night))?(?!['’]s)",
    "german": r"(?:am |an |für |fur |den )?(?P<{next}>diese[nmr]|nachste[nmr]|kommende[nmr])? ?{day}"
    r"(?: ?(?:morgen|fruh|vormittag|mittag|nachmittag|abend|nacht))?",
    "french": r"(?:le |pour |ce |de )?{day}(?P<{next}> prochain)?(?: (?:matin|soir|midi))?",
    "spanish": r"(?:para )?(?:el |los |este )?(?P<{next}>proximo)? ?{day}(?P<{next}_after> que viene| proximo)?",
    "portuguese": r"(?:para )?(?:na|no|nest[ae]|n?[ao]) (?P<{next}>proxim[ao])? ?{day}(?P<{next}_after> que vem)?"
    r"(?:(?<=feira)|(?<=sabado)|(?<=domingo)|(?<=vem)|(?=\s*(?:[?!.,;]|$)))",
    "italian": r"(?:per |il |questo |questa )?(?P<{next}>prossim[oa])? ?{day}(?P<{next}_after> prossim[oa])?",
    "russian": r"(?:в|во|на) (?P<{next}>следующ\w+|ближайш\w+)? ?(?:эту |этот |это )?{day}",
    "hindi": r"(?:इस )?(?P<{next}>अगले|आने वाले)? ?{day}(?: को)?",
    "arabic": r"(?:في )?(?:هذا )?(?:يوم )?{day}(?P<{next}> القادمة| القادم| المقبلة| المقبل)?",
}
_NEEDS_LEAD = {  # in the languages where a weekday without such a word is more often a name, as in `Black Friday`
    "english": r"(?:on|for|next|this|coming) $",
    "german": r"(?:am|an|den|fur|diese[nmr]|nachste[nmr]|kommende[nmr]) $",
}
_UNSPACED = (
    (
        rf"(?P<next_week>下(?:个|個)?)?(?:这|這|本)?(?:个|個)?{_NOT_COUNTED}(?:周|週|星期|礼拜|禮拜)"
        "(?P<weekday>[一二三四五六日天])",
        CHINESE_WEEKDAYS,
    ),
    (r"(?P<next_week>来週の?)?(?:今週の?)?(?:次の)?(?P<weekday>[月火水木金土日])曜日?の?", JAPANESE_WEEKDAYS),
    (r"(?P<next_week>다음\s?주\s?)?(?:이번\s?주\s?)?(?P<weekday>[월화수목금토일])요일(?:에)?", KOREAN_WEEKDAYS),
)
_ENGLISH_PASTS = (
    "did|didn't|was|wasn't|were|weren't|had|happened|came|went|ate|saw|gave|took|wrote|broke|spoke|chose|drove|knew|flew"
    "|began|drank|ran|rang|fell|forgot|woke|wore|threw|drew|grew|became|got"
)
_ENGLISH_PARTICIPLES = (
    r"(?:\w{2,}(?<!ne)(?<!fe)(?<!spe)ed|been|done|gone|seen|given|taken|written|eaten|bought|brought|paid|said|told|sent"
    "|made|met|left|lost|held|found|kept|sold|spent|built|taught|caught|heard|won|led|thought|felt|slept|read)"
)
_PLANS = r"plans?|planned|scheduled?|agenda|appointments?|due|upcoming|booked|arranged"
# What tells the past and what the present or the future, in lower case with accents. The past is looked for first.
_TENSES: dict[str, tuple[str, str]] = {
    "english": (
        rf"\b(?:{_ENGLISH_PASTS})\b|\b(?:have|has|'ve)\b.*\b(?!planned|scheduled|booked|arranged){_ENGLISH_PARTICIPLES}\b"
        rf"|^(?!.*\b(?:is|are|be|being|gets?|isn't|aren't|do|does|will|{_PLANS})\b).*\b{_ENGLISH_PARTICIPLES}\b",
        r"\b(?:is|isn't|are|aren't|am|do|don't|does|doesn't|will|won't|shall|should|must|can|could|would|may|have|has"
        rf"|{_PLANS})\b|\b(?:what|who|when|where|there|he|she|it)['’]s\b|['’]ll\b"
        r"|\b(?:who|what|which|when|where)(?: \w+)? (?!news\b|this\b)\w+[^s\W]s\b",
    ),
    "german": (
        r"\b(?:war|waren|wurden?|hatten?|gab|ging|gingen|kam|kamen|passiert|geschah|geschehen|machten?|sagten?|rief|traf)\b"
        r"|\b(?:hab|habe|haben|hast|habt|hat|ist|sind|bin)\b.*\b(?!gegen|geben|gehen|geplant|geöffnet|geschlossen|gebucht"
        r"|vorgesehen|angesetzt|vereinbart|verabredet)(?:\w{0,4}ge\w{2,}(?:t|en)|(?:be|ver|ent|er|zer)\w{3,}(?:t|en))\b",
        r"\b(?:ist|sind|bin|hab|habe|haben|hat|wird|werden|gibt|kann|können|soll|sollen|muss|müssen|will|wollen|darf|dürfen"
        r"|steht|geht|kommt)\b|\b\w+en wir\b|\b(?:wer|was|wann|wo|wie|wohin)(?: \w+)? \w+t\b",
    ),
    "french": (
        r"\b(?:était|étaient|avait|avaient|fut)\b|\b(?:ai|as|a|avons|avez|ont)\b.*\b(?:\w+[éiu](?:e?s?)|fait|dit|pris|mis|écrit)"
        r"(?!\w)|\b(?:est|sont|es|sommes|suis)\b.*\b(?:venu|allé|arrivé|parti|passé|resté|rentré|sorti|tombé)e?s?(?!\w)",
        r"\b(?:est|sont|a|ai|avons|ont|va|vont|allons|fait|faisons|doit|devons|peut|vient|viennent|y a)\b"
        r"|\bqui (?:\w+ )?\w+[etd]\b",
    ),
    "spanish": (
        r"\b(?:fue|fueron|fuimos|era|eran|estaba|estuvo|hubo|había|pasó|hicimos|hizo|hice|vino|vinieron|dijo|dijeron|tuvimos)\b"
        r"|\b\w+(?:ó|aron|ieron|aste|iste)\b|\b(?:ha|han|hemos|he)\b.*\b\w+(?:ado|ido|cho|sto)\b",
        r"\b(?:hay|es|son|está|están|tenemos|tengo|tiene|tienen|toca|hacemos|va|vamos|viene|vienen|puede|podemos|debo|debemos)\b"
        r"|\bquién (?:\w+ )?\w+[ae]\b|\bhora \w+",
    ),
    "portuguese": (
        r"\b(?:foi|foram|fomos|era|eram|estava|houve|havia|tinha|aconteceu|fizemos|fez|fiz|veio|vieram|disse)\b"
        r"|\b(?!meu|seu|teu)\w{2,}(?:ou|eu|iu|aram|eram|iram)\b",
        r"\b(?:há|é|são|está|estão|temos|tem|têm|tenho|vai|vamos|vem|vêm|pode|podemos|precisa|fazemos)\b"
        r"|\bquem (?:\w+ )?\w+[ae]\b",
    ),
    "italian": (
        r"\b(?:era|erano|fu|aveva|avevano)\b|\b(?:ha|hanno|abbiamo|ho|è|sono)\b.*\b(?!previst|programmat|prenotat)"
        r"(?:\w{2,}(?:at|ut|it)[oaie]|success[oa]|fatt[oa]|dett[oa]|pres[oa]|vist[oa]|decis[oa]|scritt[oa]|mess[oa])\b",
        r"\b(?:è|c'è|ci sono|sono|abbiamo|ha|ho|hanno|va|vanno|andiamo|viene|fa|facciamo|dobbiamo|deve|può|possiamo)\b"
        r"|\bchi (?:\w+ )?\w+[ae]\b",
    ),
    "russian": (
        r"\b(?!или\b|если\b|дела\b|школ|зал\b|футбол|журнал|отдел)\w*(?:[аеияёу]л[аио]?|шл[аио]|шёл|шел)(?:с[ья])?\b",
        r"\b(?:есть|будет|будем|будут|буду|нужно|надо|можно|у нас|у меня|во сколько|когда|что в|что на)\b"
        r"|\b\w+(?:ет|ит|ют|ят|ут|ем|им)(?:ся)?\b",
    ),
    "hindi": (r"था|थी|थे|हुआ|हुई|हुए|किया|गया|गई|गए|आया|आई|आए|हमने|किसने", r"है|हैं|होगा|होगी|होंगे"),
    "arabic": (
        r"\b(?:كان|كانت|حدث|حصل|جرى|جاء|جاءت|ذهب)\b|\b(?!لدينا|عندنا|علينا)\w{2,}نا\b",
        r"\b(?:هل|متى|ما|لدينا|عندنا|يوجد|سوف|كم)\b|\b(?:ماذا|من) (?:س?[يتن])\w+",
    ),
    "unspaced": (
        r"(?<!为)(?<!為)了(?!解)|[过過](?:什|吗|嗎|[?？]|$)|た(?:か|の|[?？]|$)|でした|ました|だった|[했었았였왔갔]",
        r"[几幾][点點]|什么时候|什麼時候|有什么|有什麼|有没有|有沒有|安排|[谁誰]|[吗嗎]|要|会|會|何時|予定|あり?ます|ある|ですか|ますか"
        r"|있|언제|몇\s?시|하나요|일정",
    ),
}


class Weekday(NamedTuple):
    """A weekday that a question names, where, and when the question is set."""

    start: int
    end: int
    number: int  # from 0 for Monday
    tense: Tense
    in_next_week: bool = False

    def find_coming(self, today: int) -> Span:
        """Return the next such day: tomorrow at the earliest."""
        weekday = date.fromordinal(today).weekday()
        ahead = self.number - weekday + 7 if self.in_next_week else (self.number - weekday) % 7 or 7
        day = min(today + ahead, date.max.toordinal())
        return Span(day, day)


def find_weekdays(folded: str, text: str) -> Iterator[Weekday]:
    """Yield the weekdays that a question names, but not `last Friday` or `since Friday`. `folded`: its text as phrases
    are compared."""
    if not any(map(folded.__contains__, _weekday_hints())) or not _any_weekday().search(folded):
        return
    languages = choose_languages(folded)
    tense: Tense | None = None
    for match, number in _match_weekdays(folded, languages):
        start, end = match.span()
        around = folded[max(0, start - _AROUND) : end + _AROUND]
        if _LAST.search(around) or find_direction(folded[:start], match[0], folded[end:], languages):
            continue
        groups = match.groupdict()
        is_next = any(value for name, value in groups.items() if name.startswith("next"))
        if tense is None:
            tense = read_tense(text, languages)
        is_coming = is_next and (tense != "past" or not _THIS.search(match[0]))
        yield Weekday(start, end, number, "coming" if is_coming else tense, bool(groups.get("next_week")))


def _match_weekdays(folded: str, languages: list[str]) -> Iterator[tuple[re.Match[str], int]]:
    for language in languages:
        if language == "unspaced":
            for pattern, names in _UNSPACED:
                for match in re.finditer(pattern, folded):
                    yield match, names.index(match["weekday"].replace("天", "日"))
        elif language in _PHRASES:
            for match in _phrase(language).finditer(folded):
                lead = match[0][: match.start("weekday") - match.start()]
                if language not in _NEEDS_LEAD or re.search(_NEEDS_LEAD[language], lead):
                    yield match, _names(language)[match["weekday"]]


@cache
def _names(language: str) -> dict[str, int]:
    if language == "english":
        return {name: number for number, name in enumerate(WEEKDAYS)}
    return {name: number - 1 for name, number in number_words(VOCABULARIES[language].weekdays).items()}


@cache
def _phrase(language: str) -> re.Pattern[str]:
    day = f"(?P<weekday>{any_of(_names(language))})"
    phrase = fold_phrase(_PHRASES[language]).replace("?p<", "?P<").replace("{next}", "next").replace("{day}", day)
    return re.compile(f"{WORD_START}{phrase}{WORD_END}{NOT_OF}")


def read_tense(text: str, languages: Iterable[str]) -> Tense:
    """Return whether a question is about the past, or about now and later; empty where its verb does not tell."""
    lowered = _SPACED_WORD.sub(_leave_out_weekday, " ".join(text.lower().replace("’", "'").split()))
    patterns = [_TENSES[language] for language in languages if language in _TENSES]
    if any(re.search(past, lowered) for past, _ in patterns):
        return "past"
    return "coming" if any(re.search(present, lowered) for _, present in patterns) else ""


def _leave_out_weekday(word: re.Match[str]) -> str:
    """Return a word, but nothing of a weekday: `sabato` and `samedi` end as participles do."""
    return "" if _any_weekday().search(fold_phrase(word[0])) else word[0]


@cache
def _weekday_hints() -> tuple[str, ...]:
    """Return what every name of a weekday has, in any form: to compile their patterns takes longer than a search."""
    names = (name for language in ("english", *_LANGUAGES) for name in _names(language))
    return (*names, "сред", "пятниц", "суббот", "воскресен", *"周週曜", "星期", "礼拜", "禮拜", "요일")


@cache
def _any_weekday() -> re.Pattern[str]:
    return re.compile("|".join(pattern.pattern for pattern in _weekday_patterns()))


@cache
def _weekday_patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(map(_make_pattern, range(7)))


def _make_pattern(number: int) -> re.Pattern[str]:
    """Return a pattern for a weekday in any language, also in its plural: `Thursdays`, `donnerstags`, по четвергам."""
    names = [WEEKDAYS[number], *(name for language in _LANGUAGES for name in _names(language) if _is_sure(name))]
    own = [name for name in names if _names_number(name) == number]
    forms = any_of(own).replace(r"\-feira", r"s?\-feira")  # `quintas-feiras`
    word = rf"{WORD_START}(?:{forms})(?:s|en|ам|а|у|и|ы|abends?|nachmittags?|morgens?|vormittags?)?{WORD_END}"
    russian = {2: "|\\bсред(?:ам|ы)\\b", 4: "|\\bпятниц", 5: "|\\bсуббот", 6: "|\\bвоскресен"}.get(number, "")
    chinese = f"{_NOT_COUNTED}(?:周|週|星期|礼拜|禮拜)[{CHINESE_WEEKDAYS[number]}{'天' if number == 6 else ''}]"
    return re.compile(f"{word}{russian}|{chinese}|{JAPANESE_WEEKDAYS[number]}曜|{KOREAN_WEEKDAYS[number]}요일")


def _is_sure(name: str) -> bool:
    """Return whether a name of a weekday means nothing else: in Portuguese, some are numbers."""
    return name not in ("segunda", "terca", "quarta", "quinta", "sexta")


def _names_number(name: str) -> int:
    return next(_names(language)[name] for language in ("english", *_LANGUAGES) if name in _names(language))


def says_weekday(text: str, weekdays: Iterable[int], *, is_coming: bool) -> bool:
    """Return whether a text names one of these weekdays. What happened on such a day says nothing about the coming
    one."""
    folded = fold_phrase(text)
    matches = [match for number in weekdays if (match := _weekday_patterns()[number].search(folded))]
    if not matches or not is_coming or any(match[0].endswith("s") for match in matches):
        return bool(matches)
    return read_tense(text, choose_languages(folded)) != "past"


def words_for(weekdays: Iterable[int], spans: Iterable[Span]) -> str:
    """Return words of texts that name these weekdays, or the days of these spans."""
    words: list[str] = []
    for number in weekdays:
        words.append(WEEKDAYS[number])
        words += (name for language in _LANGUAGES for name, other in _names(language).items() if other == number)
        words += (
            f"星期{CHINESE_WEEKDAYS[number]}",
            f"周{CHINESE_WEEKDAYS[number]}",
            f"{JAPANESE_WEEKDAYS[number]}曜",
            f"{KOREAN_WEEKDAYS[number]}요일",
        )
    for span in spans:
        day = date.fromordinal(span.first)
        months = (MONTHS, *(number_words(VOCABULARIES[language].months) for language in _LANGUAGES))
        words += (name for names in months for name, number in names.items() if number == day.month)
        words += (str(day), str(day.day), f"{day.day}.{day.month}.", f"{day.month}月{day.day}日")
    return " ".join(dict.fromkeys(words))
