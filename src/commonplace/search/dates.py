"""The days that a query names (`last week`, `on 21 October`, 上周, `vorgestern`), and whether it asks about now.

`read_dates` takes such phrases out of a query. What is dated by the days they name comes first; a date written in a
text counts like the date of its page.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from functools import cache, lru_cache
from typing import NamedTuple

from ..formats.timestamps import MONTHS, parse_day
from ..index.tokenizer import fold
from .date_phrases import ARABIC_DUALS, VOCABULARIES
from .words import guess_languages, has_content, has_subject


class Span(NamedTuple):
    """Days, both included, as ordinals."""

    first: int
    last: int

    def contains(self, day: int) -> bool:
        return self.first <= day <= self.last

    def __str__(self) -> str:
        first = date.fromordinal(self.first)
        return f"{first}" if self.first == self.last else f"{first} to {date.fromordinal(self.last)}"

    def describe(self) -> str:
        """Return the days as people write them: `9–15 November 2026`."""
        first = date.fromordinal(self.first)
        last = date.fromordinal(self.last)
        end = f"{last.day} {last:%B} {last.year}"
        if first == last:
            return end
        if (first.year, first.month) == (last.year, last.month):
            return f"{first.day}–{end}"
        return f"{first.day} {first:%B}{'' if first.year == last.year else f' {first.year}'} – {end}"


class DatePhrase(NamedTuple):
    """Where a text names days, and which. `is_relative`: they depend on the day on which it was written."""

    start: int
    end: int
    span: Span
    is_relative: bool


class QueryDates(NamedTuple):
    """The days that a query names, the phrases that name them, and the words that are looked for.

    `is_relative`: the days are named as seen from today (`last week`); such phrases are left out of the words. A date
    like `21 October` stays among them: it is a word of texts, too. In a long text, a date is only an aside.
    """

    spans: tuple[Span, ...] = ()
    phrases: tuple[str, ...] = ()
    is_relative: bool = False
    is_aside: bool = False
    rest: str = ""
    has_content: bool = True  # the rest asks for something, and not only for what happened
    has_subject: bool = True  # the rest says on what, and not only what was agreed or decided

    def includes(self, day: int) -> bool:
        return any(span.contains(day) for span in self.spans)

    @property
    def selects_all(self) -> bool:
        """Return whether all of these days is asked for: they are few, and said as seen from today."""
        is_short = self.is_relative and self._count_days() <= _FEW_DAYS
        return bool(self.spans) and (not self.has_content or is_short)

    @property
    def selects_first(self) -> bool:
        """Return whether what is of these days comes before all else: it is asked for, and the days are few."""
        return self.is_relative or (not self.is_aside and self._count_days() <= _FEW_DAYS)

    @property
    def is_one_day(self) -> bool:
        return len(self.spans) == 1 and self._count_days() == 1

    def _count_days(self) -> int:
        return sum(span.last - span.first + 1 for span in self.spans)

    def describe(self) -> str:
        """Return the phrases and the days they name, as people read them."""
        named = (f'"{phrase}" ({span})' for phrase, span in zip(self.phrases, self.spans, strict=True))
        return ", ".join(named)

    def describe_plainly(self) -> str:
        """Return the phrases and the days within a sentence: `last week (9–15 November)`."""
        named = (f"{phrase} ({span.describe()})" for phrase, span in zip(self.phrases, self.spans, strict=True))
        return " or ".join(named)


NO_DATES = QueryDates()
_FEW_DAYS = 31
_MAX_QUESTION_WORDS = 30  # of a query in which a date is not an aside
_MAX_SCAN_CHARACTERS = 2_000  # of a passage in which dates are looked for
_LATE_DAYS = 10  # after a span, in which it may still be written about
_DAYS_IN_A_UNIT = {"day": 1, "week": 7, "month": 30, "year": 365}
_ENGLISH_NUMBERS = "a/an/one two/couple_of/a_couple_of three/few/a_few four five six seven eight nine ten"
_CHINESE_NUMBERS = "一 二/两/兩 三 四 五 六 七 八 九 十 十一 十二"
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_CHINESE_WEEKDAYS = "一二三四五六日"
_AMBIGUOUS_MONTHS = ("may", "march", "mar")  # words of their own unless they are written as names
_RECURRING = r"\b(?:every|each|usually|always|weekly|jede[nrs]?|chaque|cada|todos|ogni)\b|每|毎"
_NOW = (
    r"(?i)\b(?:now|currently|these days|nowadays|at the moment|latest|newest|recent(?:ly)?|lately)\b"
    r"|现在|目前|最近|最新|現在|지금|최근"
)
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
    *MONTHS,
)
# Arabic letters that are often written without their hamza, the apostrophe, and digits of Arabic, Persian and Hindi.
_PLAIN_CHARACTERS = str.maketrans("أإآ’٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹०१२३४५६७८९", "ااا'" + "0123456789" * 3)
_ODD_CHARACTERS = "[\u0600-\u06ff\u0966-\u096f\u2019]"


def asks_about_now(text: str) -> bool:
    return re.search(_NOW, text) is not None


def parse_span(text: str, today: int) -> Span | None:
    """Return the days that a text names, or None; of several, those of the phrase that is least ambiguous."""
    if (day := parse_day(text.lower())) is not None:
        return Span(day, day)
    return next((phrase.span for phrase in _search_phrases(text, today)), None)


@lru_cache(maxsize=64)
def read_dates(text: str, today: int) -> QueryDates:
    """Return the days that a query names, and the rest of the query."""
    phrases = find_phrases(text, today)
    if not phrases:
        return QueryDates(rest=text)
    parts: list[str] = []
    end = 0
    for phrase in phrases:
        parts.append(text[end : phrase.start])
        end = phrase.end
    rest = re.sub(r"\s+(?=[\s?!.,;:]|$)", "", " ".join([*parts, text[end:]])).strip()
    is_relative = all(phrase.is_relative for phrase in phrases)
    is_question = len(text.split()) <= _MAX_QUESTION_WORDS
    asks = not is_question or has_content(rest)
    return QueryDates(
        tuple(phrase.span for phrase in phrases),
        tuple(text[phrase.start : phrase.end].strip() for phrase in phrases),
        is_relative and is_question,
        not is_question,
        rest if is_question and (is_relative or not asks) else text,
        asks,
        not is_question or has_subject(rest),
    )


def find_phrases(text: str, today: int) -> list[DatePhrase]:
    """Return where a text names days, in the order of the text; `today` is the day on which it was written."""
    return sorted(_search_phrases(text, today))


def names_days_within(text: str, day: int | None, today: int, spans: tuple[Span, ...]) -> bool:
    """Return whether a text names days that are within one of the spans.

    Words like `yesterday` refer to the day of the text; in a text without a date they mean nothing.
    """
    text = text[:_MAX_SCAN_CHARACTERS]
    if not _may_name_days(text, day, spans):
        return False
    for phrase in _search_phrases(text, day or today):
        if phrase.is_relative and day is None:
            continue
        if any(span.contains(phrase.span.first) and span.contains(phrase.span.last) for span in spans):
            return True
    return False


def _may_name_days(text: str, day: int | None, spans: tuple[Span, ...]) -> bool:
    """Return whether a closer look may find days within the spans in a text: most texts have no such word."""
    if day is not None and any(span.first - _LATE_DAYS <= day <= span.last + _LATE_DAYS for span in spans):
        return True  # `yesterday` may be one of them
    return _date_words(spans).search(_fold(text)) is not None


@lru_cache(maxsize=64)
def _date_words(spans: tuple[Span, ...]) -> re.Pattern[str]:
    """Return a pattern of the years and months of spans; a whole year is not named by its months."""
    words: set[str] = set()
    for span in spans:
        first = date.fromordinal(span.first)
        last = date.fromordinal(span.last)
        words |= {str(year) for year in range(first.year, last.year + 1)}
        if span.last - span.first < _DAYS_IN_A_UNIT["month"] + 1:
            words |= {name for month in {first.month, last.month} for name in _month_names(month)}
    return re.compile(_any_of(words))


@cache
def _month_names(month: int) -> tuple[str, ...]:
    others = (_number(vocabulary.months) for vocabulary in VOCABULARIES.values())
    names = (name for months in (MONTHS, *others) for name, number in months.items() if number == month)
    return (*names, f"{month}月", f"{month}월")


def date_proximity(span: Span, day: int) -> float:
    """Return how well the day of a passage fits: 1 within the span, falling to 0 over the days after it."""
    if day < span.first:
        return 0.0
    return max(0.0, 1 - max(0, day - span.last) / _LATE_DAYS)


def _search_phrases(text: str, today: int) -> Iterator[DatePhrase]:
    """Yield the phrases of a text that do not overlap, the least ambiguous first."""
    folded, offsets = _fold_with_offsets(text)
    taken: list[tuple[int, int]] = []
    for pattern, read, is_relative in _choose_readers(folded):
        for match in pattern.finditer(folded):
            start, end = match.span()
            if any(start < other_end and end > other_start for other_start, other_end in taken):
                continue
            original = text[offsets[start] : offsets[end]]
            if not _is_meant(match, original, text[: offsets[start]], folded):
                continue
            if not today and (is_relative or not match.groupdict().get("year")):
                continue
            span = read(match, date.fromordinal(today or 1))
            if span:
                taken.append((start, end))
                yield DatePhrase(offsets[start], offsets[end], span, is_relative)


def _is_meant(match: re.Match[str], original: str, before: str, folded: str) -> bool:
    """Return whether a match names days, and is not a word or a name that only looks like it."""
    groups = match.groupdict()
    if groups.get("weekday") and re.search(_RECURRING, folded):
        return False
    month = groups.get("month")
    if month in _AMBIGUOUS_MONTHS and not (groups.get("lead") or groups.get("year") or groups.get("ordinal")):
        return month not in original  # `May 5`, not `may 5`
    is_title = original[:1].isupper() and original[1:2].islower() and original.isascii() and " " not in original
    return not (is_title and not month and before.strip() and before.strip()[-1] not in ".!?:;\"'(\n-")


def _fold_with_offsets(text: str) -> tuple[str, list[int] | range]:
    """Return a text as it is compared, and where in the text each of its characters comes from."""
    folded = _fold(text)
    if len(folded) == len(text):
        return folded, range(len(text) + 1)
    parts = [_fold(char) for char in text]
    offsets = [place for place, part in enumerate(parts) for _ in part]
    return "".join(parts), [*offsets, len(text)]


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    plain = fold(text)
    return plain.translate(_PLAIN_CHARACTERS) if re.search(_ODD_CHARACTERS, plain) else plain


# What a phrase means.


def _month(year: int, month: int) -> Span | None:
    if not (1 <= month <= 12 and 1 <= year <= 9998):
        return None
    return Span(date(year, month, 1).toordinal(), date(year, month, monthrange(year, month)[1]).toordinal())


def _day_or_month(year: int, month: int, day: str | None) -> Span | None:
    span = _month(year, month)
    if span and day and 1 <= int(day) <= span.last - span.first + 1:
        exact = span.first + int(day) - 1
        return Span(exact, exact)
    return span


def _read_month_of(months: dict[str, int]) -> _Read:
    def read(match: re.Match[str], today: date) -> Span | None:
        """Return a month, or a day of it. Without a year it is the latest month of that name."""
        month = months.get(match["month"]) or int(match["month"])
        year = int(match["year"]) if match["year"] else today.year - (month > today.month)
        return _day_or_month(year, month, match.groupdict().get("day"))

    return read


def _read_numeric(match: re.Match[str], _: date) -> Span | None:
    try:
        day = date(int(match["year"]), int(match["number"]), int(match["day"])).toordinal()
    except ValueError:
        return None
    return Span(day, day)


def _read_ago_of(numbers: dict[str, int]) -> _Read:
    def read(match: re.Match[str], today: date) -> Span:
        amount = _amount(match, numbers)
        days = _DAYS_IN_A_UNIT[_unit_name(match)]
        middle = max(1, today.toordinal() - amount * days)
        return Span(max(1, middle - days // 2), min(date.max.toordinal(), middle + days // 2))

    return read


def _read_two_ago(match: re.Match[str], today: date) -> Span | None:
    return _read_ago_of({"": 2})(match, today)


def _read_until_today_of(numbers: dict[str, int]) -> _Read:
    def read(match: re.Match[str], today: date) -> Span:
        days = _DAYS_IN_A_UNIT[_unit_name(match)] * _amount(match, numbers)
        return Span(max(1, today.toordinal() - days), today.toordinal())

    return read


def _amount(match: re.Match[str], numbers: dict[str, int]) -> int:
    amount = match["amount"]
    return 1 if amount is None else numbers.get(amount) or int(amount)


def _unit_name(match: re.Match[str]) -> str:
    """Return the unit whose group matched."""
    groups = match.groupdict()
    return next(name for name in _DAYS_IN_A_UNIT if groups.get(name))


def _read_unit(offset: int) -> _Read:
    def read(match: re.Match[str], today: date) -> Span | None:
        """Return the calendar week, month or year before the present one, the present one, or the one after."""
        return _calendar_unit(_unit_name(match), today, offset)

    return read


def _calendar_unit(name: str, today: date, offset: int) -> Span | None:
    if name == "week":
        monday = max(1, today.toordinal() - today.weekday() + 7 * offset)
        return Span(monday, monday + 6) if monday + 6 <= date.max.toordinal() else None
    if name == "month":
        months = today.year * 12 + today.month - 1 + offset
        return _month(months // 12, months % 12 + 1)
    return _whole_year(today.year + offset)


def _whole_year(year: int) -> Span | None:
    if not 1 <= year <= 9999:
        return None
    return Span(date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal())


def _read_weekday_of(weekdays: dict[str, int]) -> _Read:
    def read(match: re.Match[str], today: date) -> Span:
        back = (today.weekday() - weekdays[match["weekday"]]) % 7 or 7
        day = max(1, today.toordinal() - back)
        return Span(day, day)

    return read


def _read_weekday_of_last_week(match: re.Match[str], today: date) -> Span:
    monday = today.toordinal() - today.weekday() - 7
    day = max(1, monday + _CHINESE_WEEKDAYS.index(match["weekday"].replace("天", "日")))
    return Span(day, day)


def _read_day(offset: int) -> _Read:
    def read(_: re.Match[str], today: date) -> Span | None:
        day = max(1, today.toordinal() + offset)
        return Span(day, day) if day <= date.max.toordinal() else None

    return read


def _read_last_night(_: re.Match[str], today: date) -> Span:
    return Span(max(1, today.toordinal() - 1), today.toordinal())


def _read_weekend(_: re.Match[str], today: date) -> Span:
    """Return the last Saturday and Sunday that are over."""
    sunday = today.toordinal() - (today.weekday() + 1)
    return Span(max(1, sunday - 1), max(1, sunday))


def _read_year(match: re.Match[str], _: date) -> Span | None:
    return _whole_year(int(match["year"]))


# From vocabularies to patterns.

_Read = Callable[[re.Match[str], date], Span | None]
_Reader = tuple[re.Pattern[str], _Read, bool]
_RawReader = tuple[str, _Read, bool]
_WORD = r"\w\u0900-\u097f\u064b-\u0652"
_START = rf"(?<![{_WORD}])"
_END = rf"(?![{_WORD}])"
_NOT_OF = r"(?! (?:of|des|du|del|de cada|de chaque|von jede|dell|каждого) )"
_YEAR = r"(?P<year>[0-9]{4})"
_DAY = r"(?P<day>[0-9]{1,2})"


def _choose_readers(folded: str) -> Iterator[_Reader]:
    """Yield the patterns of the languages that a text may be in: compiling all of them takes longer than a search."""
    if any(hint in folded for hint in _HINTS):
        yield from _english_readers()
    if not folded.isascii() and any(char >= "\u3040" for char in folded):
        yield from _unspaced_readers()
    languages = guess_languages(re.findall(r"[^\W\d_]+", folded))
    for language, vocabulary in VOCABULARIES.items():
        if vocabulary.script:
            is_likely = not folded.isascii() and re.search(f"[{vocabulary.script}]", folded) is not None
        else:
            is_known = not languages or language in languages
            is_likely = is_known and any(hint in folded for hint in vocabulary.hints.split())
        if is_likely:
            yield from _vocabulary_readers(language)


@cache
def _english_readers() -> tuple[_Reader, ...]:
    """Return the patterns of English, and of dates in figures."""
    numbers = _number(_ENGLISH_NUMBERS)
    amount = f"(?P<amount>[0-9]{{1,3}}|{_any_of(numbers)})"
    units = "(?:(?P<day>day)|(?P<week>week)|(?P<month>month)|(?P<year>year))s?"
    unit = "(?:(?P<week>week)|(?P<month>month)|(?P<year>year))(?:'s)?"
    month = f"(?P<month>{_any_of(MONTHS)})"
    ordinal = "(?P<ordinal>st|nd|rd|th)?"
    of_year = rf"(?:,? {_YEAR})?"
    lead = "(?:(?P<lead>on|by|since|from|before|after|until)(?: the)? )?"
    weekdays = {name: number for number, name in enumerate(_WEEKDAYS)}
    read_month = _read_month_of(MONTHS)
    raw: tuple[_RawReader, ...] = (
        (rf"(?<![0-9]){_YEAR}[-/.](?P<number>[0-9]{{1,2}})[-/.]{_DAY}(?![0-9])", _read_numeric, False),
        (rf"(?<![0-9.]){_DAY}\.(?P<number>[0-9]{{1,2}})\.{_YEAR}(?![0-9])", _read_numeric, False),
        (rf"{_START}(?:the )?day before yesterday(?:'s)?{_END}", _read_day(-2), True),
        (rf"{_START}yesterday(?:'s)?(?: (?:morning|afternoon|evening))?{_END}", _read_day(-1), True),
        (
            rf"{_START}(?<!as of )(?<!until )(?<!till )(?:earlier )?today(?:'s)?{_END}"
            rf"|{_START}this (?:morning|afternoon|evening){_END}|{_START}tonight{_END}",
            _read_day(0),
            True,
        ),
        (rf"{_START}last night{_END}", _read_last_night, True),
        (rf"{_START}tomorrow{_END}", _read_day(1), True),
        (rf"{_START}{amount} {units} ago{_END}", _read_ago_of(numbers), True),
        (
            rf"{_START}(?:in |over |during |within )?(?:the )?(?:last|past) {amount} {units}{_END}",
            _read_until_today_of(numbers),
            True,
        ),
        (rf"{_START}(?:last|over the|at the|this past) weekend{_END}", _read_weekend, True),
        (rf"{_START}(?:the )?(?:last|previous|past) {unit}{_END}{_NOT_OF}", _read_unit(-1), True),
        (rf"{_START}(?:earlier )?this {unit}{_END}", _read_unit(0), True),
        (rf"{_START}next {unit}{_END}", _read_unit(1), True),
        (
            rf"{_START}(?<!the )(?:last|on|this past) (?P<weekday>{'|'.join(_WEEKDAYS)}){_END}(?!['’]s){_NOT_OF}",
            _read_weekday_of(weekdays),
            True,
        ),
        (rf"{_START}{lead}{_DAY}{ordinal}(?: of)? {month}{of_year}{_END}", read_month, False),
        (rf"{_START}{lead}{month} {_DAY}{ordinal}{of_year}{_END}", read_month, False),
        (
            rf"{_START}(?P<lead>in|during|of|last|since|early|late|mid)(?: (?:early|late|mid))? {month}{of_year}{_END}",
            read_month,
            False,
        ),
        (rf"{_START}{month} {_YEAR}{_END}", read_month, False),
        (rf"{_START}(?:in|during) (?P<year>(?:19|20)[0-9]{{2}}){_END}", _read_year, False),
    )
    return _compile(raw)


@cache
def _unspaced_readers() -> tuple[_Reader, ...]:
    """Return the patterns of Chinese, Japanese and Korean."""
    numbers = _number(_CHINESE_NUMBERS)
    number = _any_of(numbers)
    amount = f"(?P<amount>[0-9]{{1,3}}|{number})"
    counted = "(?:(?P<day>天|日)|(?P<week>週間|周|週|星期|礼拜|禮拜)|(?P<month>个月|個月|か月|ヶ月|カ月)|(?P<year>年))"
    korean = "(?:(?P<day>일)|(?P<week>주)|(?P<month>개월|달)|(?P<year>년))"
    unit = "(?:(?P<week>周|週|星期|礼拜|禮拜|주)|(?P<month>月|달))"
    weeks = "(?:周|週|星期|礼拜|禮拜)"
    raw: tuple[_RawReader, ...] = (
        (r"(?<![之以目从])前天|一昨日|おととい|그저께|그제", _read_day(-2), True),
        (r"昨天|昨日|きのう|昨晚|昨夜|어제", _read_day(-1), True),
        (r"今天|今日|本日|今早|今晚|今朝|今夜|きょう|오늘", _read_day(0), True),
        (r"明天|明日|あした|내일", _read_day(1), True),
        (rf"{amount}{counted}(?:之|以)?前", _read_ago_of(numbers), True),
        (rf"(?P<amount>[0-9]{{1,3}})\s?{korean}\s?전", _read_ago_of(numbers), True),
        (r"上(?:个|個)?(?:周|週)末|先週末|지난\s?주말", _read_weekend, True),
        (rf"(?<![早晚马馬以])上(?:个|個)?{weeks}(?P<weekday>[一二三四五六日天])", _read_weekday_of_last_week, True),
        (rf"(?:(?<![早晚马馬以])上(?:个|個)?|先|지난)\s?{unit}", _read_unit(-1), True),
        (r"(?P<year>去年|昨年|작년|지난해)", _read_unit(-1), True),
        (r"(?P<year>今年|올해)", _read_unit(0), True),
        (rf"(?:这个?|這個?|(?<!日)本|今|이번)\s?{unit}", _read_unit(0), True),
        (rf"(?:下(?:个|個)?|来|來|다음)\s?{unit}", _read_unit(1), True),
        (
            rf"(?:(?P<year>[0-9]{{4}})[年년]\s?)?(?P<month>[0-9]{{1,2}}|{number})[月월](?:\s?{_DAY}[日号號일])?",
            _read_month_of(numbers),
            False,
        ),
        (r"(?P<year>(?:19|20)[0-9]{2})[年년]", _read_year, False),
    )
    return _compile(raw)


@cache
def _vocabulary_readers(language: str) -> tuple[_Reader, ...]:
    words = VOCABULARIES[language]
    numbers = _number(words.numbers)
    months = _number(words.months)
    weekdays = {name: number - 1 for name, number in _number(words.weekdays).items()}
    names = ("day", "week", "month", "year")
    units = "|".join(f"(?P<{name}>{_fold(forms)})" for name, forms in zip(names, words.units, strict=True))
    parts = {
        "unit": f"(?:(?P<week>{_fold(words.week)})|(?P<month>{_fold(words.month)})|(?P<year>{_fold(words.year)}))",
        "units": f"(?:{units})",
        "amount": f"(?P<amount>[0-9]{{1,3}}|{_any_of(numbers)})",
        "weekday": f"(?P<weekday>{_any_of(weekdays)})",
        "month": f"(?P<month>{_any_of(months)})",
        "day": _DAY,
    }
    of_year = rf"(?:,? (?:de |del |di |года? )?{_YEAR})?"
    raw: list[_RawReader] = []

    def add(templates: str, read: _Read, *, is_relative: bool, tail: str = "") -> None:
        for template in templates.split(" | "):
            pattern = re.sub(r"\{(\w+)\}", lambda part: parts.get(part[1], part[0]), _fold(template))
            raw.append((f"{_START}{pattern}{tail}{_END}{_NOT_OF}", read, is_relative))

    for offset in sorted(words.days, key=abs, reverse=True):
        add(words.days[offset], _read_day(offset), is_relative=True)
    if language == "arabic":
        for name, dual in ARABIC_DUALS.items():
            raw.append((f"{_START}(?:قبل|منذ) (?P<amount>)(?P<{name}>{_fold(dual)}){_END}", _read_two_ago, True))
    add(words.ago, _read_ago_of(numbers), is_relative=True)
    for templates, offset in ((words.last, -1), (words.this, 0), (words.next, 1)):
        add(templates, _read_unit(offset), is_relative=True)
    add(words.weekday, _read_weekday_of(weekdays), is_relative=True)
    add(words.day_of_month, _read_month_of(months), is_relative=False, tail=of_year)
    add(words.in_month, _read_month_of(months), is_relative=False, tail=of_year)
    return _compile(raw)


def _number(words: str) -> dict[str, int]:
    """Return the numbers of words in a list, from 1; forms of one word are separated by `/`."""
    entries = enumerate(_fold(words).split(), start=1)
    return {form.replace("_", " "): number for number, forms in entries for form in forms.split("/")}


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern for any of these words, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _compile(raw: Iterable[_RawReader]) -> tuple[_Reader, ...]:
    return tuple((re.compile(pattern), read, is_relative) for pattern, read, is_relative in raw)
