"""Patterns of the phrases that name days, in eighteen languages; `date_spans.py` says which days each names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ..formats.timestamps import MONTHS
from ..patterns import lazy_pattern
from .date_phrases import (
    ARABIC_DUALS,
    CHINESE_WEEKDAYS,
    JAPANESE_WEEKDAYS,
    KOREAN_WEEKDAYS,
    LISTS,
    NOT_OF,
    WEEKDAYS,
    WORD_CHARACTERS,
    WORD_END,
    WORD_START,
    fold_phrase,
    lead_pattern,
    read_field,
    read_recent,
    read_vocabulary,
    trail_pattern,
    vocabularies,
)
from .date_spans import (
    CHINESE_NUMBERS,
    DAYS_IN_A_UNIT,
    FEW,
    Read,
    number_characters,
    number_words,
    read_ago_of,
    read_chinese_day,
    read_day,
    read_day_and_number,
    read_day_of_month,
    read_early,
    read_few_until_today,
    read_half_a_year_ago,
    read_last_night,
    read_month_of,
    read_numeric,
    read_since_weekday_of,
    read_slashes,
    read_two_ago,
    read_unit,
    read_until_today_of,
    read_weekday_of,
    read_weekday_of_last_week,
    read_weekend,
    read_year,
)
from .words import guess_languages

_SHORT_MONTH_CHARACTERS = 3  # `mai`, `mar` and `set` are ordinary words in many languages
_ENGLISH_NUMBERS = "a/an/one two/couple/couple_of/a_couple/a_couple_of three four five six seven eight nine ten"
_UNSPACED_FEW = "几/幾/数/數/몇"
# Every English way to name a day contains one of these; a text without any of them names none.
_HINTS = (
    *"0123456789",
    "day",
    "ago",
    "night",
    "week",
    "month",
    "year",
    "morning",
    "noon",
    "evening",
    "tomorrow",
    "hour",
    "quarter",
    *MONTHS,
)

_WORDS = lazy_pattern(f"[{WORD_CHARACTERS}]+")
_LETTERS = lazy_pattern(r"[^\W\d_]+")
_FIGURES = lazy_pattern("[0-9][-/.][0-9]")  # in every date in figures
_YEAR = r"(?P<year>[0-9]{4})"
_PLAIN_YEAR = r"(?P<year>(?:19|20)[0-9]{2})"
_DAY = r"(?P<day>[0-9]{1,2})"


class Reader(NamedTuple):
    """A pattern of phrases, and which days a match of it names.

    `hints`: a text without any of them cannot match, which is a cheap test; without hints, every text is tried.
    In English they are whole words.
    """

    pattern: re.Pattern[str]
    read: Read
    is_relative: bool
    hints: frozenset[str]


_RawReader = tuple[str, Read, bool, str]  # with its hints, separated by spaces


def choose_languages(folded: str) -> list[str]:
    """Return the languages that a text may be in: compiling the patterns of all would take longer than a search."""
    chosen: list[str] = []
    if _has_any(folded, _HINTS):
        chosen.append("english")
    if not folded.isascii() and max(folded) >= "\u3040":
        chosen.append("unspaced")
    words = frozenset(_LETTERS.findall(folded))
    languages = guess_languages(words)
    for language, vocabulary in vocabularies().items():
        if vocabulary.script:
            is_likely = not folded.isascii() and _compile_once(f"[{vocabulary.script}]").search(folded) is not None
        else:
            is_known = not languages or language in languages or not words.isdisjoint(_own_words(language))
            has_year = language in languages and _has_year(folded)
            is_likely = has_year or (is_known and _has_any(folded, _latin_hints(language)))
        if is_likely:
            chosen.append(language)
    return chosen


def _has_any(folded: str, hints: Iterable[str]) -> bool:
    return any(map(folded.__contains__, hints))


@cache
def _latin_hints(language: str) -> tuple[str, ...]:
    return tuple(fold_phrase(read_vocabulary(language).hints).split())


@cache
def _own_words(language: str) -> frozenset[str]:
    """Return words of one language alone, and its months."""
    months = number_words(read_vocabulary(language).months)
    long_months = (month for month in months if len(month) > _SHORT_MONTH_CHARACTERS)
    return frozenset((*fold_phrase(LISTS.read_text(language, "OWN_WORDS", default="")).split(), *long_months))


def _has_year(folded: str) -> bool:
    return _compile_once(_PLAIN_YEAR).search(folded) is not None


def choose_readers(languages: Iterable[str], folded: str) -> Iterator[Reader]:
    """Yield the readers of these languages that may find something in a text."""
    for language in languages:
        if language == "english":
            words = frozenset(_WORDS.findall(folded))
            if _FIGURES.search(folded):
                yield from _figure_readers()
            yield from (reader for reader in _english_readers() if not reader.hints.isdisjoint(words))
            if _has_year(folded):
                yield _english_year_reader()
        elif language == "unspaced":
            yield from (reader for reader in _unspaced_readers() if _has_any(folded, reader.hints))
        else:
            yield from _vocabulary_readers(language)


@cache
def _compile_once(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _figure_readers() -> tuple[Reader, ...]:
    """Return the patterns of dates in figures."""
    raw: tuple[_RawReader, ...] = (
        (rf"(?<![0-9]){_YEAR}[-/.](?P<number>[0-9]{{1,2}})[-/.]{_DAY}(?![0-9])", read_numeric, False, ""),
        (rf"(?<![0-9.]){_DAY}\.(?P<number>[0-9]{{1,2}})\.{_YEAR}(?![0-9])", read_numeric, False, ""),
        (rf"(?<![0-9/]){_DAY}/(?P<number>[0-9]{{1,2}})/{_YEAR}(?![0-9/])", read_slashes, False, ""),
        (
            rf"{WORD_START}(?:am|vom|zum|seit dem|bis zum|ab dem) {_DAY}\.(?P<number>[0-9]{{1,2}})\.(?![0-9])",
            read_day_and_number,
            False,
            "",
        ),
    )
    return _compile(raw)


@cache
def _english_readers() -> tuple[Reader, ...]:
    """Return the patterns of English. A month is always a whole word."""
    numbers = _add_few(number_words(_ENGLISH_NUMBERS), read_recent("english").few)
    amount = f"(?P<amount>[0-9]{{1,3}}|{any_of(numbers)})"
    units = "(?:(?P<hour>hour)|(?P<day>day)|(?P<week>week)|(?P<month>month)|(?P<year>year))s?"
    unit = "(?:(?P<week>week)|(?P<month>month)|(?P<quarter>quarter)|(?P<year>year))(?:'s)?"
    month = f"(?P<month>{any_of(MONTHS)})"
    months = " ".join(MONTHS)
    units_named = "day week month quarter year"
    ordinal = "(?P<ordinal>st|nd|rd|th)?"
    of_year = rf"(?:,? {_YEAR})?"
    lead = "(?:(?P<lead>on|by|since|from|before|after|until|till|up to)(?: the)? )?"
    weekdays = {name: number for number, name in enumerate(WEEKDAYS)}
    read_month = read_month_of(MONTHS)
    parts = {
        "unit": unit,
        "units": units,
        "plural": _join_units(read_recent("english").plurals or ()),
        "amount": amount,
        "weekday": f"(?P<weekday>{'|'.join(WEEKDAYS)})",
    }
    hints = f"{units_named} weekend hour hours days weeks months quarters years fortnight {' '.join(WEEKDAYS)}"
    raw: tuple[_RawReader, ...] = (
        *_recent_readers("english", parts, numbers, weekdays, hints),
        (rf"{WORD_START}(?:the )?day before yesterday(?:'s)?{WORD_END}", read_day(-2), True, "yesterday"),
        (
            rf"{WORD_START}yesterday(?:'s)?(?: (?:morning|afternoon|evening))?{WORD_END}",
            read_day(-1),
            True,
            "yesterday",
        ),
        (
            rf"{WORD_START}(?<!as of )(?<!until )(?<!till )(?:earlier )?today(?:'s)?{WORD_END}"
            rf"|{WORD_START}this (?:morning|afternoon|evening){WORD_END}|{WORD_START}tonight{WORD_END}",
            read_day(0),
            True,
            "today tonight morning afternoon evening",
        ),
        (rf"{WORD_START}(?:the )?night before last{WORD_END}", read_day(-2), True, "night"),
        (rf"{WORD_START}last night{WORD_END}", read_last_night, True, "night"),
        (rf"{WORD_START}(?:the )?day after tomorrow{WORD_END}", read_day(2), True, "tomorrow"),
        (rf"{WORD_START}tomorrow{WORD_END}", read_day(1), True, "tomorrow"),
        (rf"{WORD_START}(?<!half ){amount} {units} ago{WORD_END}", read_ago_of(numbers), True, "ago"),
        (rf"{WORD_START}(?P<amount>the other )(?P<day>day){WORD_END}", read_ago_of({"the other ": FEW}), True, "day"),
        (
            rf"{WORD_START}(?:the )?(?:last|previous|past) {unit}{WORD_END}{NOT_OF}",
            read_unit(-1),
            True,
            units_named,
        ),
        (rf"{WORD_START}this {unit}{WORD_END}", read_unit(0), True, units_named),
        (rf"{WORD_START}next {unit}{WORD_END}", read_unit(1), True, "next"),
        (
            rf"{WORD_START}(?<!the )(?:last|on|this past) (?P<weekday>{'|'.join(WEEKDAYS)}){WORD_END}(?!['’]s){NOT_OF}",
            read_weekday_of(weekdays),
            True,
            " ".join(WEEKDAYS),
        ),
        (rf"{WORD_START}{lead}{_DAY}{ordinal}(?: of)? {month}{of_year}{WORD_END}", read_month, False, months),
        (rf"{WORD_START}{lead}{month} {_DAY}{ordinal}{of_year}{WORD_END}", read_month, False, months),
        (
            rf"{WORD_START}(?P<lead>in|during|of|last|since|before|after|until|till|up to|early|late|mid)"
            rf"(?: (?:early|late|mid))? {month}{of_year}{WORD_END}",
            read_month,
            False,
            months,
        ),
        (rf"{WORD_START}{month} {_YEAR}{WORD_END}", read_month, False, months),
        (
            rf"{WORD_START}on the {_DAY}(?:st|nd|rd|th)(?=\s*(?:[?!.,;]|$))",
            read_day_of_month,
            True,
            "1st 2nd 3rd 21st 22nd 23rd 31st " + " ".join(f"{day}th" for day in range(4, 31)),
        ),
    )
    return _compile(raw)


@cache
def _english_year_reader() -> Reader:
    pattern = rf"{WORD_START}(?:in|during) {_PLAIN_YEAR}{WORD_END}"
    return Reader(re.compile(pattern), read_year, is_relative=False, hints=frozenset())


@cache
def _unspaced_readers() -> tuple[Reader, ...]:
    """Return the patterns of Chinese, Japanese and Korean."""
    number = any_of(number_words(CHINESE_NUMBERS))
    weeks = "(?:周|週|星期|礼拜|禮拜)"
    unit = "(?:(?P<week>周|週|星期|礼拜|禮拜|주)|(?P<month>月|달)|(?P<quarter>季度|四半期|분기))"
    chinese_weekdays = number_characters(CHINESE_WEEKDAYS)
    japanese_weekdays = number_characters(JAPANESE_WEEKDAYS)
    korean_weekdays = number_characters(KOREAN_WEEKDAYS)
    raw: tuple[_RawReader, ...] = (
        (r"大前天|さきおととい|그끄저께", read_day(-3), True, "大前天 さきおととい 그끄저께"),
        (r"大[后後]天|しあさって|글피", read_day(3), True, "大 しあさって 글피"),
        (r"(?<![之以目从])前天|一昨日|おととい|그저께|그제", read_day(-2), True, "前天 一昨日 おととい 그저께 그제"),
        (r"昨天|昨日|きのう|昨晚|昨夜|어제", read_day(-1), True, "昨 きのう 어제"),
        (r"今天|今日|本日|今早|今晚|今朝|今夜|きょう|오늘", read_day(0), True, "今 本日 きょう 오늘"),
        (r"(?<![以今然之最往先])[后後]天|明後日|あさって|모레", read_day(2), True, "天 明後日 あさって 모레"),
        (r"明天|明日|あした|내일", read_day(1), True, "明 あした 내일"),
        (r"上上(?:个|個)?(?:周|週)末|先々週末|지지난\s?주말", read_weekend(1), True, "末 주말"),
        (r"上(?:个|個)?(?:周|週)末|先週末|지난\s?주말", read_weekend(0), True, "末 주말"),
        (r"半年(?:之|以)?前|반년\s?전", read_half_a_year_ago, True, "半年 반년"),
        *_unspaced_recent_readers(unit, weeks),
        (
            rf"(?<![早晚马馬以])上(?:个|個)?{weeks}(?P<weekday>[一二三四五六日天])",
            read_weekday_of_last_week(chinese_weekdays),
            True,
            "上",
        ),
        (r"先週の?(?P<weekday>[月火水木金土日])曜日?", read_weekday_of_last_week(japanese_weekdays), True, "先週"),
        (r"지난\s?주\s?(?P<weekday>[월화수목금토일])요일", read_weekday_of_last_week(korean_weekdays), True, "요일"),
        (rf"(?:(?<![早晚马馬以])上(?:个|個)?|先|지난)\s?{unit}", read_unit(-1), True, "上 先 지난"),
        (r"(?P<year>去年|昨年|작년|지난해)", read_unit(-1), True, "去年 昨年 작년 지난해"),
        (r"(?P<year>今年|올해)", read_unit(0), True, "今年 올해"),
        (rf"(?:这个?|這個?|(?<!日)本|今|이번)\s?{unit}", read_unit(0), True, "这 這 本 今 이번"),
        (rf"(?:下(?:个|個)?|来|來|다음)\s?{unit}", read_unit(1), True, "下 来 來 다음"),
        (
            rf"(?:(?P<year>[〇零一二三四五六七八九]{{4}})年)?(?P<month>{number})月(?P<day>[一二三]?十?[一二三四五六七八九]?)(?<=[一-十])[日号號]",
            read_chinese_day,
            False,
            "月",
        ),
        (
            rf"(?:(?P<year>[0-9]{{4}})[年년]\s?)?(?P<month>[0-9]{{1,2}}|{number})[月월](?:\s?{_DAY}[日号號일])?",
            read_month_of(number_words(CHINESE_NUMBERS)),
            False,
            "月 월",
        ),
        (r"(?P<year>(?:19|20)[0-9]{2})[年년]", read_year, False, "年 년"),
    )
    return _compile(raw)


def _unspaced_recent_readers(unit: str, weeks: str) -> tuple[_RawReader, ...]:
    """Return the patterns of days shortly before today in Chinese, Japanese and Korean."""
    numbers = _add_few(number_words(CHINESE_NUMBERS), _UNSPACED_FEW)
    amount = f"(?P<amount>[0-9]{{1,3}}|{any_of(numbers)})"
    counted = (
        f"(?:(?P<hour>(?:个|個)?小时|(?:个|個)?小時|時間)|(?P<day>天|日)|(?P<week>週間|(?:个|個)?{weeks})"
        "|(?P<month>个月|個月|か月|ヶ月|カ月)|(?P<year>年))"
    )
    korean = "(?:(?P<hour>시간)|(?P<day>일)|(?P<week>주일?)|(?P<month>개월|달)|(?P<year>년))"
    return (
        (rf"{amount}{counted}(?:之|以)?前", read_ago_of(numbers), True, "前"),
        (rf"(?P<amount>[0-9]{{1,3}}|몇)\s?{korean}\s?전", read_ago_of(numbers), True, "전"),
        (r"(?P<amount>)(?P<day>며칠\s?전|前几天|前幾天|先日(?!本))", read_ago_of({"": FEW}), True, "며칠 前 先日"),
        (
            rf"(?:自从?|自從|从|從)?{weeks}(?P<weekday>[一二三四五六日天])(?:以来|以來|至今|到现在|到現在)",
            read_since_weekday_of(number_characters(CHINESE_WEEKDAYS)),
            True,
            "来 來 至今 现在 現在",
        ),
        (
            r"(?P<weekday>[月火水木金土日])曜日?以[来降]",
            read_since_weekday_of(number_characters(JAPANESE_WEEKDAYS)),
            True,
            "曜",
        ),
        (
            r"(?P<weekday>[월화수목금토일])요일\s?(?:이후|이래)",
            read_since_weekday_of(number_characters(KOREAN_WEEKDAYS)),
            True,
            "요일",
        ),
        (
            rf"(?:最近|过去|過去|近|(?:这|這)(?!一天)|ここ|この)(?:的|の)?{amount}{counted}(?:间|間|内|以来|以來|来|來)?",
            read_until_today_of(numbers),
            True,
            "最近 过去 過去 近 这 這 ここ この",
        ),
        (
            rf"(?:지난|최근)\s?(?P<amount>[0-9]{{1,3}}|몇)\s?{korean}(?:\s?동안|간)?",
            read_until_today_of(numbers),
            True,
            "지난 최근",
        ),
        (r"(?:지난|최근)\s?(?P<day>며칠)(?:\s?동안|간)?", read_few_until_today, True, "며칠"),
        (
            rf"(?:这个?|這個?|本|今|이번)\s?{unit}(?:早些时候|早些時候|の?初め|初|\s?초)",
            read_early,
            True,
            "早些 初 초",
        ),
        (rf"(?:(?<![早晚马馬以])上上(?:个|個)?|先々|先先|지지난)\s?{unit}", read_unit(-2), True, "上上 先 지지난"),
        (r"(?<![0-9〇零一二三四五六七八九十])前(?P<year>年)", read_unit(-2), True, "前年"),
        (r"(?P<year>一昨年|おととし|재작년)", read_unit(-2), True, "一昨年 おととし 재작년"),
    )


@cache
def _vocabulary_readers(language: str) -> tuple[Reader, ...]:
    words = read_vocabulary(language)
    recent = read_recent(language)
    numbers = _add_few(number_words(words.numbers), recent.few)
    months = number_words(words.months)
    weekdays = {name: number - 1 for name, number in number_words(words.weekdays).items()}
    units = _join_units(words.units)
    unit = _join_units(("", words.week, words.month, words.year))
    last_week = words.last.replace("{unit}", f"(?:{words.week})").replace(" | ", "|")
    parts = {
        "unit": unit,
        "any_unit": f"(?:{fold_phrase('|'.join((words.week, words.month, words.year)))})",
        "units": units.replace("(?:", f"(?:(?P<hour>{fold_phrase(recent.hours)})|", 1),
        "plural": _join_units(recent.plurals or words.units),
        "last_week": f"(?:{fold_phrase(last_week)})",
        "amount": f"(?P<amount>[0-9]{{1,3}}|{any_of(numbers)})",
        "weekday": f"(?P<weekday>{any_of(weekdays)})",
        "month": f"(?P<month>{any_of(months)})",
        "day": _DAY,
        "year": _PLAIN_YEAR,
    }
    of_year = rf"(?:,? (?:de |del |di |года? )?{_YEAR})?"
    raw: list[_RawReader] = []

    def add(templates: str, read: Read, *, is_relative: bool, tail: str = "") -> None:
        raw.extend(_fill_templates(templates, parts, read, is_relative=is_relative, tail=tail))

    raw += _recent_readers(language, parts, numbers, weekdays)
    for offset in sorted(words.days, key=abs, reverse=True):
        add(words.days[offset], read_day(offset), is_relative=True)
    if language == "arabic":
        for name, dual in ARABIC_DUALS.items():
            raw.append(
                (
                    f"{WORD_START}(?:قبل|منذ) (?P<{name}>{fold_phrase(dual)}){WORD_END}",
                    read_two_ago,
                    True,
                    "",
                )
            )
    add(words.ago, read_ago_of(numbers), is_relative=True)
    for templates, offset in ((words.last, -1), (words.this, 0), (words.next, 1)):
        add(templates, read_unit(offset), is_relative=True)
    add(words.weekday, read_weekday_of(weekdays), is_relative=True)
    add(words.day_of_month, read_month_of(months), is_relative=False, tail=of_year)
    if leads := lead_pattern(language):
        raw.append(
            (f"{WORD_START}(?P<lead>{leads}) {parts['month']}{of_year}{WORD_END}", read_month_of(months), False, "")
        )
    if trails := trail_pattern(language):
        raw.append(
            (f"{WORD_START}{parts['month']}{of_year} (?P<trail>{trails}){WORD_END}", read_month_of(months), False, "")
        )
    add(words.in_month, read_month_of(months), is_relative=False, tail=of_year)
    raw.append((f"{WORD_START}{parts['month']}(?: de| del| di)? {_YEAR}{WORD_END}", read_month_of(months), False, ""))
    add(read_field(language, "IN_YEAR"), read_year, is_relative=False)
    return _compile(raw)


def _recent_readers(
    language: str, parts: Mapping[str, str], numbers: dict[str, int], weekdays: dict[str, int], hints: str = ""
) -> Iterator[_RawReader]:
    """Yield the patterns of days shortly before today."""
    recent = read_recent(language)
    read_amount = read_until_today_of(numbers)
    kinds: list[tuple[str, Read]] = [
        (recent.weekend_before_last, read_weekend(1)),
        (recent.last_weekend, read_weekend(0)),
        (recent.weekday_of_last_week, read_weekday_of_last_week(weekdays)),
        (recent.since_weekday, read_since_weekday_of(weekdays)),
        (recent.before_last, read_unit(-2)),
        (recent.early, read_early),
        (recent.half_a_year_ago, read_half_a_year_ago),
    ]
    if recent.two_weeks:
        ago = "(?:an? |one )?{units} ago" if language == "english" else read_vocabulary(language).ago
        parts = {**parts, "two_weeks": f"(?P<week>{recent.two_weeks})"}
        kinds.append((ago.replace("{amount} ", "").replace("{units}", "{two_weeks}"), read_two_ago))
    for template in recent.up_to_now.split(" | "):
        has_amount = "{plural}" not in template or "{amount}" in template
        kinds.append((template, read_amount if has_amount else read_few_until_today))
    for templates, read in kinds:
        for raw in _fill_templates(templates, parts, read, is_relative=True):
            yield raw[0], raw[1], raw[2], hints


def _fill_templates(
    templates: str, parts: Mapping[str, str], read: Read, *, is_relative: bool, tail: str = ""
) -> Iterator[_RawReader]:
    for template in templates.split(" | "):
        pattern = re.sub(r"\{(\w+)\}", lambda part: parts.get(part[1], part[0]), fold_phrase(template))
        yield f"{WORD_START}{pattern}{tail}{WORD_END}{NOT_OF}", read, is_relative, ""


def _join_units(forms: Sequence[str]) -> str:
    """Return a pattern of days, weeks, months and years, each with a group of its name; those without forms are left
    out."""
    names = zip(DAYS_IN_A_UNIT, forms, strict=False)
    return f"(?:{'|'.join(f'(?P<{name}>{fold_phrase(form)})' for name, form in names if form)})"


def _add_few(numbers: dict[str, int], few: str) -> dict[str, int]:
    return {**numbers, **{fold_phrase(word).replace("_", " "): FEW for word in few.split("/")}}


def any_of(words: Iterable[str]) -> str:
    """Return a pattern for any of these words, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _compile(raw: Iterable[_RawReader]) -> tuple[Reader, ...]:
    return tuple(
        Reader(lazy_pattern(pattern), read, is_relative, frozenset(hints.split()))
        for pattern, read, is_relative, hints in raw
    )
