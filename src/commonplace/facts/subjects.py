"""Who or what a statement names as its subject, and where: two that name others are apart, whatever changed.

`Herr Weber` is not `Frau Weber`, the limit `in Dublin` not the one `in Frankfurt`, 支付服务 not 订单服务. Who says of
somebody else just what was said of another (`Ben picks up the kids now`) may hand it over: that tells nothing apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..caching import cache_within
from ..patterns import lazy_pattern
from .claims import read_plain_words
from .cues import is_english
from .relations import FIRST_PERSON
from .statements import Statement
from .value_words import ARTICLES, DETERMINERS, GOALS, KIN, NEGATIONS, PREPOSITIONS, REPORTING, VAGUE_STARTS
from .words import (
    content_stems,
    fold,
    function_words,
    has_kana_or_kanji,
    is_amount,
    is_capitalised_within,
    is_number,
    split_words,
    stem,
    word_set,
)

_TITLE = lazy_pattern(
    r"(?<![\w-])(?P<title>(?i:mr|mister|sir|mrs|ms|miss|lady|dr|prof|professor|frau|herrn?|monsieur|madame|mademoiselle"
    r"|mme|mlle|señora?|señorita|sra?|srta|don|doña|senhora?|dona|seu|signora?|sig|dott|meneer|mevrouw"
    r"|господин|госпожа|г-н|г-жа|श्री|श्रीमती|सुश्री|السيدة?|الأستاذة?|الدكتورة?)|M(?=\.))\.? (?P<name>[^\W\d_][\w'’-]*)"
)
# What one names several of: `project Falcon`, `Сервис «Оплата»`.
_KINDS = (
    "project|service|team|squad|client|customer|user|tenant|repo|repository|app|cluster|region|branch|store"
    "|projekt|dienst|kunde|kundin|nutzer|nutzerin|mandant|filiale|projet|équipe|utilisateur|proyecto|servicio|equipo"
    "|cliente|usuario|usuaria|tienda|projeto|serviço|equipe|usuário|loja|progetto|servizio|squadra|utente|negozio"
    "|проект|сервис|служба|команда|клиент|пользователь|магазин|кластер|مشروع|خدمة|فريق|عميل"
)
_KIND = lazy_pattern(
    rf"(?<![\w-])(?P<kind>(?i:{_KINDS})(?= )|[^\W\d_]{{3,}}(?= [«„“])) (?:[«„“\"'`] ?)?(?P<name>[^\W_][\w'’-]*)"
)
_ASIDE = lazy_pattern(r"\([^()]*\)")
_CLAUSE_MARK = lazy_pattern(r"[,;]\s")
_TOKEN = lazy_pattern(r"[^\W_](?:[\w./:'-]*\w)?")
_PLACES = word_set("subjects", "PLACES")
_NO_PLACES = word_set("subjects", "NO_PLACES")
_NO_PREPOSITIONS = ARTICLES | NEGATIONS  # `a` and `no` are, too, but not in every language
_MAX_LEAD_WORDS = 2
_MIN_SHARED = 2  # words besides the subject
# What a sentence without spaces begins with, up to a particle or, in Chinese, up to what may be a verb.
_JAPANESE_SUBJECT = lazy_pattern(r"[^、。,:：\sはがをの]{2,14}?(?=[はがをの])")
_CHINESE_SUBJECT = lazy_pattern(
    r"[小老阿][\u4e00-\u9fff]|[^、，。,:：\s]{1,4}?(?:先生|女士|小姐|太太|老师|医生)|"
    r"[^、，。,:：\s]{2}?[^、，。,:：\s的是为在用喜爱住负不没已改升搬换迁调每按要想现都从把将被需也叫有周坐]{0,10}"
    r"(?=[的是为在用喜爱住负不没已改升搬换迁调每按要想现都从把将被需也叫有周坐\s])"
)
_KANA = lazy_pattern("[\u3040-\u30ff]")
_UNSPACED_TITLE = lazy_pattern("先生|女士|小姐|太太|老师|医生|さん|様|くん|君|ちゃん|氏")
_UNSPACED_NUMBER = lazy_pattern(
    "[0-9][0-9.]*|[一二三四五六七八九十两]+(?=[号点楼层班時时分秒階])|(?<=周)[一二三四五六日]|[月火水木金土日](?=曜)"
)
_UNSPACED_SELF = ("我", "私", "僕", "俺", "他", "她", "彼", "这", "那", "今", "本", "当", "现", "新")
_CHINESE_KINDS = ("小", "老", "阿", "用户", "客户", "租户", "项目", "团队", "服务")  # before a name
_UNSPACED_NO = lazy_pattern("[不没]|ない|なく|ません|やめ|嫌")


class _Name(NamedTuple):
    """A name with the word before it that says what it names."""

    kind: str
    name: str


def name_other_subjects(older: Statement, newer: Statement) -> bool:
    """Return whether both statements name who or what they are about, or where, and these are not the same."""
    if has_kana_or_kanji(older.text) and has_kana_or_kanji(newer.text):
        return _name_others_without_spaces(older.text, newer.text)
    if _are_in_other_places(older, newer):
        return True
    return not _hands_over(older, newer) and (_have_other_names(older, newer) or _begin_with_others(older, newer))


def _hands_over(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement may say of somebody else just what the older one says: it denies nothing, and
    has no other number."""
    if NEGATIONS.isdisjoint(older.words) != NEGATIONS.isdisjoint(newer.words) or "retraction" in newer.cues:
        return False
    return set(filter(is_number, older.words)) <= set(newer.words)


def _have_other_names(older: Statement, newer: Statement) -> bool:
    """Return whether both begin with a name after a title, or after a word for what it names: `Mme Dupont`, `M. Leroy`;
    `Проект «Сокол»`, `Проект «Беркут»`."""
    for pattern, may_differ in ((_TITLE, True), (_KIND, False)):
        old = _read_name(older.text, pattern)
        new = _read_name(newer.text, pattern)
        if not old or not new or old == new or (old.kind != new.kind and not may_differ):
            continue
        if old.name == new.name:
            return f"{old.kind} {old.name}" not in newer.folded.replace(".", "")
        return old.name not in newer.words and new.name not in older.words
    return False


def _read_name(text: str, pattern: re.Pattern[str]) -> _Name | None:
    """Return the name that a text begins with, but for articles and words of change."""
    match = pattern.search(text)
    if not match or match["name"][0].islower() or content_stems(read_plain_words(text[: match.start()])):
        return None
    return _Name(fold(match[1]), fold(match["name"]))


def _begin_with_others(older: Statement, newer: Statement) -> bool:
    """Return whether two statements say something of others (`Grandma takes her tablets`, `Grandpa takes his`), and the
    newer one has all that the first clause of the older says, but for numbers."""
    old = _read_lead(older, newer)
    if not old or not _read_lead(newer, older):
        return False
    first = read_plain_words(_CLAUSE_MARK.split(older.text)[0])
    said = {each for each in content_stems(first) if not is_number(each)}.difference(map(stem, old))
    return len(said) >= _MIN_SHARED and said <= set(newer.stems)


def _read_lead(statement: Statement, other: Statement) -> list[str]:
    """Return the words before the first one that both statements have; none if they are no short subject."""
    text = _ASIDE.sub(" ", statement.text)
    lead: list[str] = []
    is_over = False
    for word in read_plain_words(text):
        is_function_word = word in function_words() or word in ARTICLES
        if not is_function_word and _is_in(word, other):
            return lead if lead and _may_be_subject(lead[0], text) else []
        if word in FIRST_PERSON or (word in VAGUE_STARTS and word != "it") or is_number(word):
            return []
        if is_function_word:
            is_over = bool(lead)
            if is_over and word in PREPOSITIONS and word not in _NO_PREPOSITIONS:
                return []
            continue
        if is_over or word.endswith("ed") or word in REPORTING or len(lead) == _MAX_LEAD_WORDS:
            return []
        lead.append(word)
    return []


def _is_in(word: str, other: Statement) -> bool:
    """Return whether a statement has a word in some form; `abuela` is no form of `abuelo`."""
    return word in other.words or (stem(word) in other.stems and word not in KIN)


def _may_be_subject(word: str, text: str) -> bool:
    """Return whether a word is the first of a text, but for an article, or has a capital letter within it: a verb
    without a subject follows words of change (`ya no bebo café`)."""
    first = next((each for each in split_words(fold(text)) if each not in ARTICLES and each not in DETERMINERS), "")
    return word == first or is_capitalised_within(word, text)


def _are_in_other_places(older: Statement, newer: Statement) -> bool:
    """Return whether each names another place of one thing: `the limit in Frankfurt is 3`, `raised the limit in Dublin
    to 6`; not `the office is in …`, where the place is what changed."""
    old = _read_place(older, newer)
    new = _read_place(newer, older)
    return bool(old) and bool(new) and stem(old) != stem(new)


@cache_within(1_000_000)
def _read_tokens(text: str) -> tuple[str, ...]:
    """Return the words of a text; `eu-west-1` is one."""
    return tuple(_TOKEN.findall(fold(_ASIDE.sub(" ", text))))


def _read_place(statement: Statement, other: Statement) -> str:
    """Return what follows a preposition at the start of a statement, or after a thing that the other one names, too, if
    its verb or a number comes later."""
    tokens = _read_tokens(statement.text)
    for at, token in enumerate(tokens[:-2]):
        if not at and token == "on" and not is_english(statement.text):  # `on utilise`
            continue
        if token not in _PLACES or (at and not _is_shared(tokens[at - 1], other.stems)):
            continue
        start = next((place for place in range(at + 1, len(tokens)) if tokens[place] not in ARTICLES), len(tokens))
        end = start + 2 if any(map(is_amount, tokens[start + 2 :])) and is_amount(tokens[start + 1]) else start + 1
        place = " ".join(tokens[start:end])  # `terminal 2` if another number follows
        if end >= len(tokens) or is_amount(place) or place in _NO_PLACES or place in function_words():
            continue
        if f" {place} " in f" {' '.join(_read_tokens(other.text))} ":
            continue
        has_value = any(map(is_amount, tokens[end:])) or _has_verb_after(statement, tokens[start])
        if has_value and (not at or tokens[end] in GOALS or tokens[end] not in PREPOSITIONS):
            return place
    return ""


def _has_verb_after(statement: Statement, word: str) -> bool:
    relation = statement.relation
    return relation is not None and word in statement.words[: relation.at]


def _is_shared(token: str, shared: Sequence[str]) -> bool:
    return any(each in shared and not is_number(each) for each in content_stems(split_words(token)))


def _name_others_without_spaces(older: str, newer: str) -> bool:
    """Return whether two sentences of Chinese or Japanese begin with the names of things of one kind: 订单服务 and
    支付服务, 山田さん and 山本さん."""
    is_japanese = _KANA.search(older) is not None
    pattern = _JAPANESE_SUBJECT if is_japanese else _CHINESE_SUBJECT
    old = pattern.match(fold(older))
    new = pattern.match(fold(newer))
    if not old or not new or is_japanese != (_KANA.search(newer) is not None):
        return False
    if old[0] in fold(newer) or new[0] in fold(older):
        return False
    if old[0].startswith(_UNSPACED_SELF) or new[0].startswith(_UNSPACED_SELF):
        return False
    rest = [fold(text)[match.end() :] for text, match in ((older, old), (newer, new))]
    is_denied = [bool(_UNSPACED_NO.search(each)) for each in rest]
    numbers = [set(_UNSPACED_NUMBER.findall(each)) for each in rest]
    if is_denied[0] == is_denied[1] and numbers[0] <= numbers[1]:
        return False
    if all(_UNSPACED_TITLE.search(match[0]) for match in (old, new)) or old[0][-1] == new[0][-1]:
        return True
    return old[0][0] == new[0][0] and (is_japanese or old[0].startswith(_CHINESE_KINDS))
