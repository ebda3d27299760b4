"""Tasks that are done: whether a newer statement says that the task of an older one is finished.

It has to name everything that the task names, and to say that it is done: by a checked box, by a word such as `done`,
or by the past of the task's verb (`book the hotel`, then `Booked the hotel`). When in doubt, the task stays open.

The tables are by language, and need no detection of it: forms of one language hardly ever fit words of another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from ..caching import cache_within
from ..patterns import lazy_pattern
from .past_forms import list_past_forms, may_be_past
from .tasks import find_task_text, has_obligation, has_open_task, says_done
from .words import content_stems, fold, function_words, is_number, split_words, strip_accents, word_set

_MAX_DONE_WORDS = 30  # of a statement that may close a task
_MAX_KEYS = 8
_MIN_UNSPACED_CHARACTERS = 2
_MARKERS = {  # which say so anywhere in a statement
    "english": r"done|finished|completed|dealt with|took care of|taken care of|(?:ticked|checked|crossed) off",
    "german": r"erledigt|abgeschlossen|geschafft|fertig",
    "spanish": r"hech[oa]s?|terminad[oa]s?|completad[oa]s?|acabad[oa]s?|terminé|terminamos|acab(?:é|amos) de",
    "french": r"faite?s?|terminée?s?|finie?s?|réglée?s?|effectuée?s?",
    "portuguese": r"feit[oa]s?|concluíd[oa]s?|terminad[oa]s?|terminei|concluí|acab(?:ei|amos) de",
    "italian": r"fatt[oaie]|finit[oaie]|completat[oaie]|terminat[oaie]|ho finito",
    "dutch": r"gedaan|klaar|afgerond|voltooid",
    "russian": r"сделано|сделал[аи]?|готово|выполнен[оаы]?|выполнил[аи]?|закончил[аи]?|завершил[аи]?|завершен[оаы]?",
    "arabic": r"تم|تمت|أنجزت|أنجزنا|انتهيت|انتهينا|اكتمل\w*",
    "hindi": r"(?:कर|हो) (?:दिया|दी|दिए|लिया|ली|लिए|गया|गयी|गई|गए|चुक\S*)|किया|पूरा हुआ",
    "korean": r"완료\S*|끝\S*|\S*(?:했|하였|됐|되었)\S*|마쳤\S*",
}
_UNSPACED_MARKERS = (
    "了|已|完成|搞定|[办辦]好|完[毕畢]|完了|[済终終]|(?:した|ました|った|んだ|いた)(?:[よねぞ]?[。!！]?$)"
)
_ENDS = "complete|resolved|closed|listo|lista|hecho|pronto|pronta|ok|fait|klaar|af|√|✓|✔|✅|☑"  # at either end of it
_NOT_DONE = {  # it is denied, planned, wished, tried, nearly done, or no more
    "english": """
        not no never without yet almost nearly half partly partially halfway will shall would should could can may
        might must need needs needed if unless when until before after want wants wish hope hopes plan plans planned
        try tries tried trying failed forgot forget refused cancelled canceled going soon tomorrow later next""",
    "german": """
        nicht nie niemals kein keine keinen ohne fast beinahe halb teilweise wird werden werde soll sollte sollten muss
        müssen will wollen kann könnte falls wenn sobald bevor bis versucht vergessen storniert morgen später bald""",
    "spanish": """
        no nunca sin casi medio parcialmente será debe deben debería quiero quiere si cuando antes todavía aún intenté
        olvidé cancelado cancelada cancelé mañana""",
    "french": """
        ne n pas jamais sans presque moitié partiellement sera doit doivent devrait faut veux veut si quand avant encore
        essayé oublié annulé annulée demain""",
    "portuguese": """
        não nunca sem quase metade parcialmente será deve devem deveria quero quer se quando antes ainda tentei esqueci
        cancelado cancelada amanhã""",
    "italian": """
        non mai senza quasi metà parzialmente sarà deve devono dovrebbe bisogna voglio vuole se quando prima ancora
        provato dimenticato annullato annullata domani""",
    "dutch": """
        niet nooit geen zonder bijna half deels zal zullen moet moeten wil kan als wanneer voordat geprobeerd vergeten
        geannuleerd morgen later""",
    "russian": """
        не нет никогда без почти наполовину частично будет будут надо нужно должен должна если когда пока хочу пытался
        забыл забыла отменил отменили отменен завтра""",
    "arabic": "لا لم لن ليس ليست بدون تقريبا سوف يجب إذا عندما قبل حاولت نسيت غدا",
    "hindi": "नहीं मत अभी लगभग आधा अगर जब पहले कल करूँगा करेंगे चाहिए बाकी",
    "korean": "안 못 아직 거의 내일 않았다 않음",
}
_UNSPACED_NOT_DONE = "没|未|不|别|差点|如果|明天|将|ない|なかった|ません|まだ|もし|明日|たい|못|않|아직|안 "
_DROPPED = {  # it will not be done at all
    "english": r"won't|will not|(?:not|never) going to|decided (?:not to|against)|no longer (?:need|want|plan)\w*"
    r"|(?:no|don't) need to|not (?:\S+ ){1,6}after all|cancel(?:l?ed|ling)|dropped|scrapped|ditched|skipp(?:ed|ing)",
    "german": r"doch nicht|doch kein\w*|nicht mehr|entfällt|verzichten|gestrichen|lassen wir|verworfen",
    "spanish": r"ya no|al final no|no (?:vamos|voy) a|descart\w+|cancel\w+",
    "french": r"finalement pas|(?:ne|n') ?\S+ plus|(?:ne )?(?:va|vais|allons) pas|renonc\w+|annul\w+|abandonn\w+",
    "portuguese": r"(?:já )?não (?:vamos|vou)|não (?:\S+ ){1,4}mais|desist\w+|cancel\w+",
    "italian": r"non (?:\S+ ){1,4}più|alla fine non|rinunc\w+|annull\w+",
    "dutch": r"toch niet|toch geen|niet meer|geschrapt",
    "russian": r"больше не|не буд(?:ем|у)|решил[аи]? не|отмен\w+|передумал[аи]?",
    "arabic": r"لن|ألغينا|ألغيت",
    "hindi": r"नहीं कर(?:ेंगे|ूँगा|ूंगा|ूँगी|ूंगी)|रद्द",
    "korean": r"안 하기로|하지 않기로|취소\S*",
}
_UNSPACED_DROPPED = "不打算|不.{1,10}了|取消|放弃|しないこと|やめ|中止|見送"
_FOR_NOW = word_set(
    """
    yet today tonight tomorrow week before until till unless if now noch heute morgen woche bis bevor todavía aún hoy
    semana antes encore aujourd'hui semaine avant ainda hoje ancora oggi nog vandaag ещё еще сегодня пока
    """
)
_UNTIL = frozenset(("until", "till", "bis"))
_KEPT_VERBS = word_set("make made get got go goes going find found say said let")  # function words, but what a task is
_SAYS_LITTLE = word_set(
    """
    todo todos task tasks reminder remind fixme pending still need needs to please asap forget remember our we
    yesterday today tonight morning afternoon evening finally successfully online now just also too
    gestern heute eben endlich online jetzt gerade vorhin nun hoy ayer ya recién hier aujourd'hui déjà enfin
    hoje ontem já finalmente ieri oggi già vandaag gisteren net eindelijk вчера сегодня уже наконец
    करना करनी करने आज امس أمس اليوم 오늘 어제 방금 이미
    have has had been was were is are hat haben wurde wurden ist sind heb hebben is zijn è sono ho abbiamo hanno stato
    stata stati state j ai avons été a ont он она het de een il lo la gli i le un una uno del della l
    """
)
_DEADLINES = word_set("by before until till bis vor antes avant até entro voor tegen до к")
_BREAK = lazy_pattern(r"[,;:.!()–—]+(?=\s|$)|\s-+\s|[，。、；：！（）]")
_UNSPACED_RUN = lazy_pattern("[\u3400-\u4dbf\u4e00-\u9fff]+|[\u30a1-\u30ff]+")
_KOREAN = lazy_pattern("^[\uac00-\ud7a3]+$")
_KOREAN_PARTICLE = lazy_pattern("(?<=..)(?:을|를|이|가|은|는|에|도|의)$")
_KOREAN_VERB = lazy_pattern("(?<=..)(?:하기|하다|해야|해|할|했.*|하였.*|됐.*|되었.*|됨|함)$")
_CLOCK_OR_DATE = lazy_pattern(r"\d{1,2}[:.]\d\d|\d{4}-\d\d(?:-\d\d)?|\d{1,2}/\d{1,2}(?:/\d{2,4})?")


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
    """Return whether a statement is a task, or says what its writer has to do; cached, as it is compared with many."""
    return is_task(text, box) or (box != "x" and has_obligation(strip_accents(fold(text))))


def completes(older: str, older_box: str, newer: str, newer_box: str) -> bool:
    """Return whether a newer statement says that the task of an older one is done."""
    if newer_box == " " or not may_be_done(older, older_box):
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
    return _has_words(done, [*dict.fromkeys(task.words)])


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
    return _read_phrase(find_task_text(text))


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
    """Yield the words of dates and times: a month, a day of the week, and a number beside one."""
    for at, word in enumerate(words):
        beside = [*words[max(0, at - 1) : at], *words[at + 1 : at + 2]]
        is_part = word.isdigit() and any(map(_is_date_word, beside))
        if is_part or _is_date_word(word) or _CLOCK_OR_DATE.fullmatch(word):
            yield word


def _is_date_word(word: str) -> bool:
    return word.isalpha() and is_number(word)


def _have_one_date(task: _Phrase, done: _Phrase) -> bool:
    """Return whether what is done may be the task of that day: not Monday's, if the task is Tuesday's."""
    return task.has_deadline or not task.dates or not done.dates or not task.dates.isdisjoint(done.dates)


def _has_words(done: _Done, task: list[str]) -> bool:
    """Return whether a statement has all words of a task, and says that it is done. With another word beside it, a word
    of the task means something else: the rent deposit is not the rent."""
    words = [*done.phrase.words]
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
    """Return whether a thing of the task has a word beside it that the task does not have."""

    def is_thing(word: str) -> bool:
        return any(_is_form(each, word) and word not in list_past_forms(each) for each in task)

    def is_other(word: str) -> bool:
        known = not _says_much(word) or _is_marker(word) or is_number(word)
        return not known and not any(_is_form(each, word) for each in task) and not may_be_past(word)

    pairs = [pair for clause in done.clauses for pair in pairwise(clause)]
    return any((is_thing(one) and is_other(two)) or (is_other(one) and is_thing(two)) for one, two in pairs)


def _has_runs(done: tuple[str, ...], task: tuple[str, ...]) -> bool:
    """Return whether a text without spaces has what a task is about, but for a particle within it or another order."""
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
    anywhere = "|".join(_MARKERS.values())
    return re.compile(
        rf"(?<!\w)(?:{anywhere})(?!\w)|^\W*(?:{_ENDS})\s*[:：–—-]|[:：–—-]\s*(?:{_ENDS})\W*$|[√✓✔✅☑]|{_UNSPACED_MARKERS}"
    )


@cache
def _find_dropped() -> re.Pattern[str]:
    anywhere = "|".join(_DROPPED.values())
    return re.compile(rf"(?<!\w)(?:{anywhere})(?!\w)|{_UNSPACED_DROPPED}")


@lru_cache(maxsize=4_096)
def _is_marker(word: str) -> bool:
    """Return whether a word says that something is done, and is no part of what it is."""
    return re.fullmatch("|".join((*_MARKERS.values(), _ENDS)), word) is not None


@cache
def _find_unspaced_denial() -> re.Pattern[str]:
    return re.compile(_UNSPACED_NOT_DONE)


@cache
def _not_done() -> frozenset[str]:
    return word_set(" ".join(_NOT_DONE.values()))
