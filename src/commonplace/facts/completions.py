"""Tasks that are done: whether a newer statement says that the task of an older one is finished.

It has to name everything that the task names, and to say that it is done: by a checked box, by a word such as `done`,
or by the past of the task's verb (`book the hotel`, then `Booked the hotel`). When in doubt, the task stays open.

Regular past forms are made by rule, irregular ones are in a list. Forms are listed by language, but the language need
not be detected: forms of one language hardly ever fit words of another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from ..caching import cache_within
from ..patterns import lazy_pattern
from .tasks import find_task_text, has_obligation, has_open_task, says_done
from .words import (
    content_stems,
    fold,
    function_words,
    is_number,
    list_phrases,
    read_table,
    split_words,
    strip_accents,
    word_set,
)

_MAX_DONE_WORDS = 30  # of a statement that may close a task
_MAX_KEYS = 8
_MIN_UNSPACED_CHARACTERS = 2
_MARKERS = list_phrases("tasks", "MARKERS")
_UNSPACED_MARKERS = (
    "了|已|完成|搞定|[办辦]好|完[毕畢]|完了|[済终終]|(?:した|ました|った|んだ|いた)(?:[よねぞ]?[。!！]?$)"
)
_ENDS = "complete|resolved|closed|listo|lista|hecho|pronto|pronta|ok|fait|klaar|af|√|✓|✔|✅|☑"  # at either end of it
_UNSPACED_NOT_DONE = "没|未|不|别|差点|如果|明天|将|ない|なかった|ません|まだ|もし|明日|たい|못|않|아직|안 "
_DROPPED = list_phrases("tasks", "DROPPED")
_UNSPACED_DROPPED = "不打算|不.{1,10}了|取消|放弃|しないこと|やめ|中止|見送"
_FOR_NOW = word_set("tasks", "FOR_NOW")
_UNTIL = frozenset(("until", "till", "bis"))
_KEPT_VERBS = word_set("tasks", "KEPT_VERBS")
_PRODUCING = word_set("tasks", "PRODUCING")
_SAYS_LITTLE = word_set("tasks", "SAYS_LITTLE")
_DEADLINES = word_set("tasks", "DEADLINES")
_VERB_LAST = frozenset(("bis", "vor", "voor", "tegen"))  # German and Dutch
_BREAK = lazy_pattern(r"[,;:.!()–—]+(?=\s|$)|\s-+\s|[，。、；：！（）]")
_UNSPACED_RUN = lazy_pattern("[\u3400-\u4dbf\u4e00-\u9fff]+|[\u30a1-\u30ff]+")
_KOREAN = lazy_pattern("^[\uac00-\ud7a3]+$")
_KOREAN_PARTICLE = lazy_pattern("(?<=..)(?:을|를|이|가|은|는|에|도|의)$")
_KOREAN_VERB = lazy_pattern("(?<=..)(?:하기|하다|해야|해|할|했.*|하였.*|됐.*|되었.*|됨|함)$")
_CLOCK_OR_DATE = lazy_pattern(r"\d{1,2}[:.]\d\d|\d{4}-\d\d(?:-\d\d)?|\d{1,2}/\d{1,2}(?:/\d{2,4})?")
_DAY_OF_MONTH = lazy_pattern(r"(?:0?[1-9]|[12]\d|3[01])(?P<ending>st|nd|rd|th|e|º)?")
_MIN_ROOT_CHARACTERS = 2
_ENDINGS = (  # the ending of the infinitive, and those of the past and of the participle that take its place
    ("ar", "ado ada ados adas é ó amos aron aste ei ou aram"),  # Spanish, Portuguese
    ("er", "ido ida idos idas í ió imos ieron eu emos eram é ée és ées"),  # and French
    ("ir", "ido ida idos idas í ió imos ieron iu iram i ie is ies"),
    ("re", "u ue us ues"),
    ("are", "ato ata ati ate ai ò ammo arono"),  # Italian
    ("ere", "uto uta uti ute ei é emmo erono"),
    ("ire", "ito ita iti ite ii ì immo irono"),
    ("ать", "ал ала али ало ан ана ано аны"),  # Russian
    ("ять", "ял яла яли яло ян яна яно яны"),
    ("ить", "ил ила или ило ен ена ено ены ён"),
    ("еть", "ел ела ели ело"),
    ("нуть", "нул нула нули нуто нут нута"),
    ("ти", "л ла ли ло"),
)
_SEPARABLE = (
    "ab an auf aus bei ein fest frei her hin los mit nach um vor weg weiter zu zurück zusammen af op in uit door"
)
_INSEPARABLE = ("be", "ver", "er", "ent", "zer", "miss", "ge", "über", "unter", "wider", "her", "ont")
_DOUBLED = lazy_pattern("([^aeiouy][aeiouy])([bdgklmnprtvz])$")
_LONG_VOWEL = lazy_pattern("(?<![aeiou])([aeou])([bcdfgklmnprstvz])$")  # written once in an open syllable of Dutch
_IRREGULAR = read_table("past_forms", "IRREGULAR")


class _Phrase(NamedTuple):
    """The words of a statement in clauses, the dates among them, and the runs of a script without spaces."""

    clauses: tuple[tuple[str, ...], ...]
    runs: tuple[str, ...]
    dates: frozenset[str]
    has_deadline: bool

    @property
    def words(self) -> Iterator[str]:
        return (word for clause in self.clauses for word in clause if _says_much(word))


class _Done(NamedTuple):
    """A statement that may say that something is done. `is_marked`: by a word or a checked box, whatever it is."""

    phrase: _Phrase
    is_marked: bool


@cache_within(500_000)
def is_task(text: str, box: str) -> bool:
    """Return whether a statement, with what is in the box before it, says what is still to be done; cached, as it is
    compared with many others."""
    if box == "x":
        return False
    folded = strip_accents(fold(text))
    return not says_done(folded) if box else has_open_task(folded)


@cache_within(500_000)
def may_be_done(text: str, box: str) -> bool:
    """Return whether a statement is a task, or something its writer has to do; cached, as it is compared with many."""
    return is_task(text, box) or (box != "x" and has_obligation(strip_accents(fold(text))))


def completes(older: str, older_box: str, newer: str, newer_box: str) -> bool:
    """Return whether a newer statement says that the task of an older one is done."""
    if newer_box == " " or not may_be_done(older, older_box) or not tells_done(newer, newer_box):
        return False
    return _is_about(_read_task(older), _read_done(newer, newer_box))


def tells_done(text: str, box: str) -> bool:
    """Return whether a statement says that something is done."""
    return _read_done(text, box) is not None


def leaves_open(older: str, older_box: str, newer: str) -> bool:
    """Return whether a newer statement says that the task of an older one is not done: without a word like `not`, it
    would say that it is done."""
    if not may_be_done(older, older_box) or not _is_denied(fold(newer)):
        return False
    return _is_about(_read_task(older), _Done(_read_phrase(fold(newer)), is_marked=True))


def drops(older: str, older_box: str, newer: str) -> bool:
    """Return whether a newer statement says that the task of an older one will not be done any more."""
    if not may_be_done(older, older_box) or not _says_dropped(fold(newer)):
        return False
    return _is_about(_read_task(older), _Done(_read_phrase(fold(newer)), is_marked=True))


@cache_within(250_000)
def _says_dropped(folded: str) -> bool:
    """Return whether a statement says that something will never be done; cached, as it is compared with many."""
    words = split_words(folded)
    if len(words) > _MAX_DONE_WORDS or any(mark in folded for mark in "?？؟") or not _FOR_NOW.isdisjoint(words):
        return False
    return _find_dropped().search(folded) is not None


def _is_about(task: _Phrase, done: _Done | None) -> bool:
    """Return whether a statement says that a task is done."""
    if not done or not _have_one_date(task, done.phrase):
        return False
    if task.runs:
        return done.is_marked and _has_runs(done.phrase.runs, task.runs)
    words = [*dict.fromkeys(task.words)]
    clauses = [_single_out(done, clause) for clause in done.phrase.clauses] if len(words) > 1 else []
    return _has_words(done, words) or any(_has_words(each, words) for each in clauses)


def _single_out(done: _Done, clause: tuple[str, ...]) -> _Done:
    """Return one clause of a statement on its own, since a mark may belong to another clause."""
    return _Done(done.phrase._replace(clauses=(clause,)), is_marked=False)


def list_task_stems(text: str, box: str) -> list[str]:
    """Return the stems by which tasks are matched with statements that say that they are done; empty for other
    statements."""
    if may_be_done(text, box):
        phrase = _read_task(text)
    elif done := _read_done(text, box):
        phrase = done.phrase
    elif _says_dropped(fold(text)):
        phrase = _read_phrase(fold(text))
    else:
        return []
    words = [_strip_korean(word) for clause in phrase.clauses for word in clause if _says_much(word)]
    return [*dict.fromkeys(content_stems(words))][:_MAX_KEYS]


@cache_within(500_000)
def _read_task(text: str) -> _Phrase:
    phrase = _read_phrase(find_task_text(text))
    return phrase._replace(clauses=tuple(map(_strip_deadline, phrase.clauses)))


def _strip_deadline(clause: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a task without those that say until when: `rotate the key before the launch`. Where the verb
    comes last, it stays: `den Schlüssel vor dem Start tauschen`."""
    for at, word in enumerate(clause):
        if word in _DEADLINES and any(map(_says_much, clause[:at])):
            return clause[:at] + clause[-1:] if word in _VERB_LAST else clause[:at]
    return clause


@cache_within(500_000)
def _read_done(text: str, box: str) -> _Done | None:
    folded = fold(text)
    if box == "x":
        return _Done(_read_phrase(folded), is_marked=True)
    words = split_words(folded)
    if len(words) > _MAX_DONE_WORDS or any(mark in text for mark in "?？؟") or _is_denied(folded):
        return None
    is_marked = _find_marker().search(folded) is not None
    if not is_marked and not any(map(may_be_past, words)):
        return None
    return None if may_be_done(text, box) else _Done(_read_phrase(folded), is_marked)


def _is_denied(folded: str) -> bool:
    words = split_words(folded)
    pairs = zip(words, [*words[1:], ""], strict=True)
    others = [word for word, after in pairs if not (word in _UNTIL and is_number(after))]  # `renewed until 2028`
    return not _not_done().isdisjoint(others) or _find_unspaced_denial().search(folded) is not None


def _read_phrase(folded: str) -> _Phrase:
    runs = tuple(_UNSPACED_RUN.findall(folded))
    clauses = tuple(tuple(split_words(clause)) for clause in _BREAK.split(folded) if clause)
    words = [word for clause in clauses for word in clause]
    dates = frozenset(_find_dates(words))
    has_deadline = any(before in _DEADLINES for before, _ in pairwise(words)) and bool(dates)
    rest = tuple(tuple(word for word in clause if word not in dates) for clause in clauses)
    return _Phrase(rest, runs, dates, has_deadline)


def _find_dates(words: list[str]) -> Iterator[str]:
    """Yield the words of dates and times: a month, a day of the week, a number beside one, and a day of the month
    (`before the 20th`)."""
    for at, word in enumerate(words):
        beside = [*words[max(0, at - 1) : at], *words[at + 1 : at + 2]]
        is_part = word.isdigit() and any(map(_is_date_word, beside))
        if is_part or _is_date_word(word) or _CLOCK_OR_DATE.fullmatch(word) or _is_day_of_month(words, at):
            yield word


def _is_day_of_month(words: list[str], at: int) -> bool:
    """Return whether a word is a day of the month: it follows `before`, or in English `on the`."""
    match = _DAY_OF_MONTH.fullmatch(words[at])
    if not match:
        return False
    before = words[max(0, at - 2) : at]
    return not _DEADLINES.isdisjoint(before) or (bool(match["ending"]) and before == ["on", "the"])


def _is_date_word(word: str) -> bool:
    return word.isalpha() and is_number(word)


def _have_one_date(task: _Phrase, done: _Phrase) -> bool:
    """Return whether both may be about the same day: what was done on Monday does not close Tuesday's task."""
    return task.has_deadline or not task.dates or not done.dates or not task.dates.isdisjoint(done.dates)


def _has_words(done: _Done, task: list[str]) -> bool:
    """Return whether a statement has all words of a task, and says that it is done. With another word beside it, a word
    of the task means something else: the rent deposit is not the rent."""
    words = [*done.phrase.words]
    thing = [word for word in task if word not in _PRODUCING]
    if (
        done.is_marked
        and thing
        and all(_is_marker(word) or any(_is_form(each, word) for each in thing) for word in words)
    ):
        task = thing  # `The guide is done`, where the task was to write it
    is_same = not task or (len(task) == 1 and len({word for word in words if not _is_marker(word)}) > 1)
    if is_same or not all(any(_is_form(each, word) for word in words) for each in task):
        return False
    is_past = any(_is_past(each, word) for each in task for word in words)
    return (done.is_marked or is_past) and not _is_qualified(done.phrase, task)


def _is_past(task_word: str, word: str) -> bool:
    """Return whether a word is the past of a word of the task, or that word itself, if the task has it in the past: `is
    still to be booked`."""
    return word in list_past_forms(task_word) or (word == task_word and may_be_past(word))


def _is_qualified(done: _Phrase, task: list[str]) -> bool:
    """Return whether a noun of the task is qualified by a word that the task does not have."""

    def is_thing(word: str) -> bool:
        return any(_is_form(each, word) and word not in list_past_forms(each) for each in task)

    def is_other(word: str) -> bool:
        known = not _says_much(word) or _is_marker(word) or is_number(word)
        return not known and not any(_is_form(each, word) for each in task) and not may_be_past(word)

    pairs = [pair for clause in done.clauses for pair in pairwise(clause)]
    return any((is_thing(one) and is_other(two)) or (is_other(one) and is_thing(two)) for one, two in pairs)


def _has_runs(done: tuple[str, ...], task: tuple[str, ...]) -> bool:
    """Return whether a text without spaces contains a task's words, allowing for a particle or another order."""
    characters = "".join(task)
    text = "|".join(done)
    if len(characters) < _MIN_UNSPACED_CHARACTERS or not set(characters) <= set(text):
        return False
    pairs = [one + two for run in task for one, two in pairwise(run)]
    return sum(pair not in text for pair in pairs) <= (1 if len(pairs) > 1 else 0)


def _says_much(word: str) -> bool:
    says_little = word in function_words() or word in _SAYS_LITTLE or word in _DEADLINES
    return word in _KEPT_VERBS or not says_little


@cache_within(250_000)
def _is_form(task_word: str, word: str) -> bool:
    """Return whether a word is a word of a task, inflected or in the past."""
    if task_word == word or word in list_past_forms(task_word):
        return True
    if _KOREAN.match(word):
        return _strip_korean(word) == _strip_korean(task_word)
    if word.isascii() and task_word.isascii():
        return any(one == two for one in _list_bases(task_word) for two in _list_bases(word))
    longest = max(len(word), len(task_word))
    shared = next((at for at, pair in enumerate(zip(word, task_word, strict=False)) if pair[0] != pair[1]), longest)
    return longest > 3 and shared >= max(3, longest - 2)


def _strip_korean(word: str) -> str:
    return _KOREAN_PARTICLE.sub("", _KOREAN_VERB.sub("", word))


def _list_bases(word: str) -> Iterator[str]:
    """Yield a word without an English ending, as it may be written without it."""
    yield word
    for ending, others in (("s", ("",)), ("es", ("",)), ("ies", ("y",)), ("ing", ("", "e"))):
        base = word.removesuffix(ending)
        if base != word and len(base) >= 3 and not word.endswith("ss"):
            yield from (base + other for other in others)
            if ending == "ing" and base[-1] == base[-2]:
                yield base[:-1]


@cache
def _find_marker() -> re.Pattern[str]:
    anywhere = "|".join(_MARKERS)
    return re.compile(
        rf"(?<!\w)(?:{anywhere})(?!\w)|^\W*(?:{_ENDS})\s*[:：–—-]|[:：–—-]\s*(?:{_ENDS})\W*$|[√✓✔✅☑]|{_UNSPACED_MARKERS}"
    )


@cache
def _find_dropped() -> re.Pattern[str]:
    anywhere = "|".join(_DROPPED)
    return re.compile(rf"(?<!\w)(?:{anywhere})(?!\w)|{_UNSPACED_DROPPED}")


@lru_cache(maxsize=4_096)
def _is_marker(word: str) -> bool:
    """Return whether a word marks something as done, rather than being part of the thing itself."""
    return re.fullmatch("|".join((*_MARKERS, _ENDS)), word) is not None


@cache
def _find_unspaced_denial() -> re.Pattern[str]:
    return re.compile(_UNSPACED_NOT_DONE)


@cache
def _not_done() -> frozenset[str]:
    return word_set("tasks", "NOT_DONE")


@cache_within(250_000)
def list_past_forms(verb: str) -> frozenset[str]:
    """Return the past forms of a word, as if it were a verb as a dictionary lists it."""
    regular = (*_form_english(verb), *_form_by_ending(verb), *_form_germanic(verb), *_form_arabic(verb))
    return _irregular().get(verb, frozenset()).union(regular) - {verb}


@cache
def _irregular() -> dict[str, frozenset[str]]:
    table: dict[str, frozenset[str]] = {}
    for text in _IRREGULAR.values():
        for row in fold(text).split():
            base, _, forms = row.partition("=")
            table[base] = table.get(base, frozenset()) | frozenset(forms.split(","))
    return table


@cache
def _irregular_pasts() -> frozenset[str]:
    return frozenset[str]().union(*_irregular().values())


def may_be_past(word: str) -> bool:
    """Return whether a word looks like the past form of some verb."""
    return word in _irregular_pasts() or _past_pattern().search(word) is not None


@cache
def _past_pattern() -> re.Pattern[str]:
    endings = sorted({each for _, pasts in _ENDINGS for each in pasts.split()})
    return re.compile(
        rf"(?<=\w\w)(?:ed|{'|'.join(endings)})$|ge\w+(?:t|d|en)$|^(?:{'|'.join(_INSEPARABLE)})\w+(?:t|d|en)$"
        r"|iert$|tet?e?n?$|[\u0600-\u06ff](?:ت|نا)$"
    )


def _form_english(verb: str) -> Iterator[str]:
    if not verb.isascii() or len(verb) < _MIN_ROOT_CHARACTERS:
        return
    if verb.endswith("e"):
        yield f"{verb}d"
    elif verb.endswith("y") and verb[-2] not in "aeiou":
        yield f"{verb[:-1]}ied"
    else:
        yield f"{verb}ed"
        if _DOUBLED.search(verb):
            yield f"{verb}{verb[-1]}ed"


def _form_by_ending(verb: str) -> Iterator[str]:
    for ending, pasts in _ENDINGS:
        root = verb.removesuffix(ending)
        if root != verb and len(root) >= _MIN_ROOT_CHARACTERS:
            yield from (root + past for past in pasts.split())


def _form_germanic(verb: str) -> Iterator[str]:
    """Yield the forms of a German or Dutch verb: buchen, gebucht; abholen, abgeholt; betalen, betaald."""
    root = verb.removesuffix("en") if verb.endswith("en") else verb.removesuffix("n")
    if root == verb or len(root) < _MIN_ROOT_CHARACTERS:
        return
    for each in {root, _LONG_VOWEL.sub(r"\1\1\2", root)}:
        yield from (each + ending for ending in ("te", "ten", "ete", "eten", "de", "den"))
        yield from (f"ge{each}{ending}" for ending in ("t", "et", "d", "en"))
        if each.startswith(_INSEPARABLE) or each.endswith("ier"):
            yield from (each + ending for ending in ("t", "et", "d"))
        for prefix in _SEPARABLE.split():
            if each.startswith(prefix) and len(each) > len(prefix) + _MIN_ROOT_CHARACTERS:
                yield from (f"{prefix}ge{each[len(prefix) :]}{ending}" for ending in ("t", "et", "d", "en"))


def _form_arabic(verb: str) -> Iterator[str]:
    if "\u0600" <= verb[:1] <= "\u06ff":
        yield from (f"{verb}ت", f"{verb}نا")
