"""Statements that hold on other days: what was measured or done on one of them, or a time by the day of the week.

`Weight 82.4 kg this morning` stays true of that morning, and swimming may be at 5 pm on Mondays and at 4 pm on
Saturdays.
"""

from __future__ import annotations

from ..patterns import lazy_pattern
from .statements import Statement
from .words import fold, is_month_or_day, split_words

_PART_OF_DAY = lazy_pattern(
    r"\b(?:this (?:morning|afternoon|evening)|tonight|last night|heute (?:früh|morgen|mittag|nachmittag|abend|nacht)"
    r"|ce (?:matin|soir|midi)|cet après-midi|esta (?:mañana|tarde|noche|manhã|noite)|stamattina|stasera"
    r"|сегодня (?:утром|днём|вечером)|आज (?:सुबह|शाम))\b|هذا الصباح|صباح اليوم"
    "|今朝|今晩|今早|今晚|今天(?:早上|上午|下午|晚上)"
)
_BRACKETS = lazy_pattern(r"\(([^()]*)\)")
_MONTH = lazy_pattern(
    r"(?<!since )(?<!from )(?<!starting )(?<!seit )(?<!ab )(?<!desde )(?<!depuis )\b(?:this (?:month|quarter|semester)"
    r"|diesen monat|in diesem monat|dieses quartal|ce mois-ci|este mes|este mês|questo mese|в этом месяце)\b"
    "|这个月|本月|今月"
)
_FIXED = lazy_pattern(
    r"(?:corrigée?s?|réparée?s?|résolue?s?|corregid[oa]s?|arreglad[oa]s?|resuelt[oa]s?|corrigid[oa]s?|consertad[oa]s?"
    r"|resolvid[oa]s?|behoben|gefixt|fixed|corrett[oa]|risolt[oa]|исправлен[ао]?|исправил[аи]?|починил[аи]?)\b"
)
_CLOCK = lazy_pattern(
    r"\b\d{1,2}[:h.]\d\d\b|\b\d{1,2} ?(?:am|pm|h|uhr)\b|\b(?:at|um|à|a las?|às|alle|в) \d{1,2}\b|\d{1,2}[点點時时]"
)
# Days of every week.
_WEEKLY = lazy_pattern(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun|week)days|weekends"
    r"|(?:every|each) (?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs"
    r"|(?:le|les|tous les|chaque) (?:lun|mar|mercre|jeu|vendre|same)dis?"
    r"|(?:le|les|tous les) dimanches?|los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)"
    r"|(?:às|aos) (?:segundas|terças|quartas|quintas|sextas|sábados|domingos)"
    r"|по (?:понедельникам|вторникам|средам|четвергам|пятницам|субботам|воскресеньям))\b"
    "|每?周[一二三四五六日末]|毎週?[月火水木金土日]曜"
)


def are_of_other_days(older: Statement, newer: Statement) -> bool:
    """Return whether each of two statements holds on another day, and the newer one does not say that this changed."""
    old = fold(older.text)
    new = fold(newer.text)
    if _PART_OF_DAY.search(old) and _PART_OF_DAY.search(new):
        return True
    if _are_dated(old, new) or (_FIXED.match(old) and _FIXED.match(new)):
        return True
    if "change" in newer.cues:
        return False
    if _MONTH.search(new) and not _MONTH.search(old):
        return True
    return not newer.label and "weak change" not in newer.cues and _give_other_times(old, new)


def _are_dated(old: str, new: str) -> bool:
    """Return whether each has another date in brackets."""
    dates = [_read_date_in_brackets(text) for text in (old, new)]
    return dates[0] != dates[1] and all(any(map(is_month_or_day, words)) for words in dates)


def _read_date_in_brackets(text: str) -> list[str]:
    """Return the words of the last brackets with a number."""
    bracketed = [words for words in _BRACKETS.findall(text) if any(map(str.isdigit, words))]
    return [*split_words(bracketed[-1])] if bracketed else []


def _give_other_times(old: str, new: str) -> bool:
    """Return whether each gives the time of another day of the week."""
    times = [set(_CLOCK.findall(text)) for text in (old, new)]
    days = [set(_WEEKLY.findall(text)) for text in (old, new)]
    return all(times) and all(days) and times[0].isdisjoint(times[1]) and days[0].isdisjoint(days[1])
