"""The kind of value that a question asks for (a day, a price, a phone number), and texts that certainly have none.

`The school trip costs 38 euros` is about what `when is the school trip?` asks about, and cannot answer it. A text is
said to lack a kind only if nothing in it may be such a value; in a language whose words are unknown, none is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from ..caching import cache_within
from ..facts.words import read_list
from ..formats.timestamps import MONTHS
from ..index.languages import ENGLISH, LATIN
from ..index.tokenizer import detect_language, function_words
from ..patterns import lazy_pattern
from ..word_lists import split_phrases
from .date_phrases import LISTS, WORD_CHARACTERS, WORD_END, WORD_START, fold_phrase, vocabularies
from .date_spans import number_words
from .dates import asks_about_past
from .weekdays import read_tense

Kind = str  # what a question asks for: a key of `_VALUES`, or `email`, `person` or `place`
_Value = str  # what a text has: `date`, `clock`, `money`, `duration`, `number` …
_NO_KIND = "other"
_ANY_NUMBER: frozenset[_Value] = frozenset(("number", "measure", "duration", "money", "label", "code"))
# For each kind, the values that answer it: a text needs one of them.
_VALUES: dict[str, frozenset[_Value]] = {
    "clock": frozenset(("clock", "hour", "number", "duration")),
    "date": frozenset(("date", "time", "number")),
    "day": frozenset(("date", "clock", "hour", "time", "duration", "number")),
    "age": frozenset(("number", "duration", "date")),
    "duration": frozenset(("duration", "span", "date", "clock", "hour", "time", "number", "measure")),
    "money": frozenset(("money", "number")),
    "count": frozenset(("number", "quantity", "measure", "duration")),
    "amount": _ANY_NUMBER | {"quantity", "size"},
    "phone": frozenset(("digits", "code", "label")),
    "code": frozenset(("digits", "code", "label", "number", "measure")),
    "colour": frozenset(("colour",)),
    "size": _ANY_NUMBER | {"size"},
}
# The values among these that are certainly an answer.
_SURE_VALUES: dict[str, frozenset[_Value]] = {
    "clock": frozenset(("clock",)),
    "date": frozenset(("date",)),
    "day": frozenset(("date", "clock")),
    "age": frozenset(("number", "duration")),
    "duration": frozenset(("duration",)),
    "money": frozenset(("money",)),
    "count": frozenset(("number",)),
    "amount": frozenset(("number", "measure", "duration")),
    "phone": frozenset(("digits", "code")),
    "code": frozenset(("digits", "code")),
    "colour": frozenset(("colour",)),
    "size": frozenset(("size", "number", "label")),
}
# The word lists in `lists/answers.txt` for such values, or for words that announce one; and days and months.
_WORDS: dict[_Value, str] = {
    "time": "TIME_WORDS",
    "hour": "HOUR_WORDS",
    "span": "SPAN_WORDS",
    "money": "MONEY_WORDS",
    "quantity": "QUANTITY_WORDS",
    "colour": "COLOUR_WORDS",
    "size": "SIZE_WORDS",
    "label": "NUMBER_NOUNS",
}
_QUESTIONS = {  # by script
    "": "QUESTIONS_LATIN",
    "\u0400-\u04ff": "QUESTIONS_CYRILLIC",
    "\u0600-\u06ff": "QUESTIONS_ARABIC",
    "\u0900-\u097f": "QUESTIONS_DEVANAGARI",
    "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af": "QUESTIONS_UNSPACED",
}
_NUMERAL = "[0-9零〇一二三四五六七八九十百千万两半]"
# Values in Chinese, Japanese and Korean. Each is taken out of a text before the next is looked for.
_UNSPACED_VALUES: tuple[tuple[_Value, str], ...] = (
    (
        "duration",
        rf"{_NUMERAL}+(?:个|個|ヶ|か|カ)?(?:年間?|月間|月(?=$|[^0-9一二三四五六七八九十末初底])|周|週間|天|日間|小时|小時|時間|分钟|分鐘|分間"
        rf"|개월|주일?|시간|분|년)(?![一二三四五六日])|半年|半日|一晩|ずっと|終身|终身|永久",
    ),
    (
        "clock",
        rf"{_NUMERAL}+\s?[点點時时시](?:{_NUMERAL}+分?|半|钟)?|[한두세네섯곱덟홉열]\s?시"
        r"|[上下中正]午|午前|午後|早上|晚上|凌晨|朝|夕方|夜|오전|오후|아침|저녁|밤",
    ),
    (
        "date",
        rf"{_NUMERAL}+\s?[月日号號월일]|(?:周|週|星期|礼拜|禮拜)[一二三四五六日天末]|曜|요일"
        r"|[今明昨][天日年晚早]|[后後前]天|[每毎][天日周週月年]"
        r"|[来今先]週|[来今先]月|下周|上周|下个?月|上个?月|月[末初底]|年[末初底]"
        r"|国庆|中秋|端午|[寒暑]假|清明|元旦|除夕|放假|[饭飯][后後]"
        r"|睡前|正月|連休|食[前後]|寝る前|放課後|休み|春[天节]|夏[天季]?|秋天|冬[天季]|之[前后後]|以[前后後]"
        r"|期间|期間|直到|まで|から|とき|오늘|내일|어제|다음|지난|매[일주월년]|까지|부터",
    ),
    (
        "money",
        rf"[일이삼사오육칠팔구십백천만0-9]+\s?원|{_NUMERAL}+\s?(?:元|块|塊|円|美元|欧元|ドル|ユーロ)|[钱錢]|免费|免費|無料|무료",
    ),
    ("label", rf"电话|電話|号码|番号|전화|第?{_NUMERAL}+\s?[楼樓层層階室番号번층路]"),
    ("measure", rf"{_NUMERAL}+\s?(?:公斤|千克|克|公里|米|厘米|センチ|キロ|グラム|メートル|킬로|미터)"),
    ("size", r"[大小中]|サイズ|尺|码|号|사이즈"),
    (
        "colour",
        r"[红紅黄黃蓝藍绿緑綠黑白灰紫橙粉棕褐金银銀青赤紺桃茶]|色|ピンク|オレンジ|グレー|ベージュ|ブルー|レッド|グリーン"
        r"|[빨파초노검흰]",
    ),
    ("number", r"[二三四五六七八九十百千万两]|[0-9]|一[个個只台本位名条张辆]|하나|둘|셋|넷|다섯"),
    ("quantity", r"一|几|些|多|全|[和とや、]"),
)
_UNSPACED = lazy_pattern("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_UNKNOWN_SCRIPT = lazy_pattern("[\u0370-\u03ff\u0530-\u05ff\u0980-\u0dff\u0e00-\u10ff\u1200-\u137f\u1780-\u17ff]")
_UNKNOWN_LANGUAGES = ("polish", "turkish")
_LETTER_SIZE = lazy_pattern(r"\b(?:X{0,3}[SL]|M)\b")
_LETTER = rf"(?:(?!\d)[{WORD_CHARACTERS}])"
_TOKEN = lazy_pattern(rf"[€$£¥₽₹₩%/]|\d+(?:[.,:/-]\d+)*[a-z]{{0,4}}\d*|{_LETTER}+\d*")
_WRITTEN = lazy_pattern(r"[^\W_]+(?:['’-][^\W_]+)*|[.!?:\n]")
_SENTENCE_ENDS = ".!?:\n"
_LABEL_END = lazy_pattern(": | [–—=-] ")
_QUESTION_END = lazy_pattern("[?？؟]")
_CURRENCIES = frozenset("€$£¥₽₹₩")
_DATE = lazy_pattern(
    r"\d{4}-\d\d?(?:-\d\d?)?|\d{1,2}[./]\d{1,2}(?:[./](?:\d{2,4})?)?|(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th|-?го)"
    r"|q[1-4]"
)
_CLOCK = lazy_pattern(r"\d{1,2}(?::\d\d|h\d{0,2}|(?::\d\d)?[ap]m|uhr)")
_ADDRESS = lazy_pattern(r"@|://|\w/\w|www\.")
_DECIMAL = lazy_pattern(r"\d{1,2}\.\d{1,2}")
_AFTER_CLOCK = frozenset(fold_phrase("am pm uhr h heures hrs oclock o'clock часов часа час ч बजे horas ore uur").split())
_GLUED_UNIT = lazy_pattern(r"\d+(?:[.,]\d+)?(?:kg|g|km|m|cm|mm|l|ml|kb|mb|gb|tb|ms|px|x)")
_THOUSANDS = lazy_pattern(r"\d+(?:[.,]\d+)?k")
_AMOUNT = lazy_pattern(r"\d{1,3}(?:[., ]\d{3})*(?:[.,]\d+)?|\d+(?:[.,]\d+)?")
_ORDINAL_LINKS = frozenset(("de", "of", "do", "del", "di"))
_PHONE_DIGITS = 3
_HOURS = 24
_PREFIX_MARK = "*"
_MIN_PREFIX = 2
_NEXT_WORDS = 3
_GERMAN = "german"
_ARTICLE_WORDS = (
    "der die das den dem des ein eine einen einem einer eines mein meine unser unsere unserem kein keine im am zum zur "
    "beim vom ins ans jede jeden jeder neue neuen neues alte alten"
)
_ARTICLES = frozenset(fold_phrase(_ARTICLE_WORDS).split())
_AGENT_PREPOSITIONS = frozenset(
    ("by", "from", "with", "von", "durch", "par", "por", "от", "da", "door", "bei", "mit", "to")
)
_CASED = lazy_pattern("[A-Za-z\u00c0-\u024f\u0400-\u04ff]")


class AskedKinds(NamedTuple):
    """A question and the kinds of value that it asks for. `is_coming`: it is about the present or the future."""

    question: str
    kinds: tuple[Kind, ...]
    is_coming: bool

    def is_in(self, text: str, *, is_dated: bool) -> bool | None:
        """Return whether a text certainly has a value of one of these kinds, or certainly none; None if uncertain.
        `is_dated`: it has a day of its own, which tells when it was."""
        if lacks_kinds(self.kinds, self.question, text, is_dated=is_dated and not self.is_coming):
            return False
        values = read_values(text).kinds
        return True if any(not values.isdisjoint(_SURE_VALUES.get(kind, ())) for kind in self.kinds) else None


def read_question(question: str) -> AskedKinds | None:
    """Return the kinds of value that a question asks for; None if it asks for something else, or for what was before
    something: what replaced that is a hit as well."""
    kinds = find_asked_kinds(question)
    if not kinds or asks_about_past(question):
        return None
    is_coming = not _WHEN.isdisjoint(kinds) and read_tense(question, [_language_of(question)]) == "coming"
    return AskedKinds(question, kinds, is_coming)


def _language_of(question: str) -> str:
    """Return the language of a question, if the words of its days are known."""
    folded = fold_phrase(question)
    language = _find_language(folded, tuple(_TOKEN.findall(folded)))
    return language if language in ("english", *vocabularies()) else "unspaced"


_WHEN: frozenset[Kind] = frozenset(("day", "date"))
_REACHABLE: frozenset[Kind] = frozenset(("person", "place"))  # a number or an address answers, too: `mail x@…`


def find_asked_kinds(question: str) -> tuple[Kind, ...]:
    """Return the kinds of value that a question asks for; none if it asks for something else, or only says so
    elsewhere (`what happened when …`)."""
    folded = fold_phrase(question)
    kinds: list[Kind] = []
    for match in _question_pattern(_script_of(folded)).finditer(folded):
        kind = match.lastgroup
        if kinds and not _AND_BEFORE.search(folded, max(0, match.start() - _MAX_AND_CHARACTERS), match.start()):
            break
        if kind == _NO_KIND:
            return ()
        kinds.append(str(kind))
    return tuple(kinds)


def asks_question(text: str) -> bool:
    """Return whether a text asks a question: it has a question mark, or a word that asks."""
    folded = fold_phrase(text)
    return _QUESTION_END.search(text) is not None or _question_pattern(_script_of(folded)).search(folded) is not None


_AND_BEFORE = lazy_pattern(r"(?:\b(?:and|or|und|oder|y|o|et|e|ed|и|или|en)|[,、和跟及と]) ?\Z")
_MAX_AND_CHARACTERS = 5  # with the space after it


def _script_of(folded: str) -> str:
    """Return the script of a question, as a range of characters; empty for Latin."""
    if folded.isascii():
        return ""
    return next((script for script in _QUESTIONS if script and re.search(f"[{script}]", folded)), "")


@cache
def _question_pattern(script: str) -> re.Pattern[str]:
    is_spaced = "\u3040" not in script
    start, end = (WORD_START, WORD_END) if is_spaced else ("", "")
    parts = []
    for kind, phrases in LISTS.read_table("answers", _QUESTIONS[script]).items():
        parts.append(f"(?P<{kind}>{start}(?:{'|'.join(split_phrases(phrases))}){end})")
    return re.compile("|".join(parts))


def lacks_kinds(kinds: Iterable[Kind], question: str, text: str, *, is_dated: bool = False) -> bool:
    """Return whether a text certainly has no value of any of these kinds. `is_dated`: the text has a day of its own,
    which tells when it was."""
    return all(_lacks(kind, question, text, is_dated=is_dated) for kind in kinds)


def _lacks(kind: Kind, question: str, text: str, *, is_dated: bool) -> bool:
    if is_dated and kind in _WHEN:
        return False
    if kind == "email":
        return "@" not in text
    values = read_values(text)
    if values.is_unknown:
        return False
    if kind in _REACHABLE and not values.kinds.isdisjoint(("address", "digits", "code")):
        return False
    question_words = frozenset(_TOKEN.findall(_QUESTION_END.split(fold_phrase(question), 1)[0]))
    if kind == "person":
        return _lacks_person(values, question_words, text)
    if kind == "place":
        return _lacks_place(values, question_words, text)
    is_uncertain = (kind in ("count", "amount") and values.language == _ARABIC) or (
        kind == "colour" and not values.language and values.kinds.isdisjoint(_OTHER_VALUES)
    )  # a dual is a number; and there is a word for every colour
    return not is_uncertain and values.kinds.isdisjoint(_VALUES[kind])


class Values(NamedTuple):
    """The possible values in a text. `is_unknown`: it is in a language whose words are not known."""

    kinds: frozenset[_Value]
    tokens: tuple[str, ...]
    language: str
    is_unknown: bool


@cache_within(1_000_000)
def read_values(text: str) -> Values:
    """Return the kinds of values that a text may have; cached, as notes are found again and again."""
    folded = fold_phrase(text)
    tokens = tuple(_TOKEN.findall(folded))
    language = _find_language(folded, tokens)
    kinds = {*_find_values(tokens)}
    if _UNSPACED.search(folded):
        kinds |= {*_find_unspaced(folded)}
    if _LETTER_SIZE.search(text):
        kinds.add("size")
    if text.count(", ") > 1:
        kinds.add("quantity")
    if _ADDRESS.search(text):
        kinds.add("address")
    is_unknown = bool(_UNKNOWN_SCRIPT.search(folded)) or language in _UNKNOWN_LANGUAGES
    return Values(frozenset(kinds), tokens, language, is_unknown)


def _find_language(folded: str, tokens: tuple[str, ...]) -> str:
    if not folded.isascii():
        for script, language in (("\u0400-\u04ff", "russian"), ("\u0600-\u06ff", "arabic"), ("\u0900-\u097f", "hindi")):
            if re.search(f"[{script}]", folded):
                return language
        if _UNSPACED.search(folded):
            return ""
    return detect_language(tokens)


def _find_unspaced(folded: str) -> Iterator[_Value]:
    rest = folded
    for kind, pattern in _unspaced_patterns():
        rest, count = pattern.subn(" ", rest)
        if count:
            yield kind


@cache
def _unspaced_patterns() -> tuple[tuple[_Value, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(pattern)) for kind, pattern in _UNSPACED_VALUES)


def _find_values(tokens: tuple[str, ...]) -> Iterator[_Value]:
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else ""
        after = tokens[at + 1] if at + 1 < len(tokens) else ""
        is_number = any(map(str.isdigit, token))
        if is_number or _is_in(token, "NUMBER_WORDS"):
            further = tokens[at + 2] if after in _ORDINAL_LINKS and at + 2 < len(tokens) else after
            yield from _classify_number(token, before, after, further, is_number=is_number)
        elif token in _CURRENCIES:
            yield "money"
        elif token == "may" and _is_in(before, "BEFORE_MAY"):
            yield "date"
        is_rate = at > 1 and _is_in(before, "PER") and _has_kind(tokens[at - 2], "money")
        is_counted = _has_kind(token, "span") and (before[:1].isdigit() or _is_in(before, "NUMBER_WORDS"))
        if not is_rate and not is_counted:
            yield from _kinds_of(token)


def _classify_number(token: str, before: str, after: str, further: str, *, is_number: bool) -> Iterator[_Value]:
    """Yield the kinds of a number, judging by how it is written and by what is next to it."""
    if _CLOCK.fullmatch(token) or after in _AFTER_CLOCK:
        yield "clock"
    elif _has_kind(before, "money") or _has_kind(after, "money") or before in _CURRENCIES or after in _CURRENCIES:
        yield "money"
    elif _THOUSANDS.fullmatch(token):
        yield from ("money", "number")
    elif _has_kind(after, "span"):
        yield "duration"
    elif _is_in(after, "UNITS") or _GLUED_UNIT.fullmatch(token):
        yield "measure"
    elif (is_number and _DATE.fullmatch(token)) or _is_month(further) or (is_number and _is_month(before)):
        yield "date"
        if _DECIMAL.fullmatch(token):
            yield "number"
    elif _is_in(before, "LABELS") or _is_in(after, "AFTER_LABELS"):
        yield "label"
    elif is_number and not _AMOUNT.fullmatch(token):
        yield "code"
    elif _is_in(before, "CLOCK_PREPOSITIONS") and _may_be_hour(token) and not _is_counted_noun(after):
        yield "clock"
    else:
        yield "number"
        if is_number and (len(token) >= _PHONE_DIGITS or before[-1:].isdigit()):
            yield "digits"


def _may_be_hour(token: str) -> bool:
    return not token.isdigit() or int(token) <= _HOURS


def _is_counted_noun(word: str) -> bool:
    """Return whether what follows a number is neither a function word nor a time."""
    return bool(word) and not any(word in function_words(language) for language in LATIN) and not _is_time(word)


def _is_month(word: str) -> bool:
    return word in _months()


@cache
def _months() -> frozenset[str]:
    months_by_language = (number_words(vocabulary.months) for vocabulary in vocabularies().values())
    return frozenset((*MONTHS, *(month for months in months_by_language for month in months)))


@cache
def _index_words() -> dict[str, tuple[_Value, ...]]:
    """Return, by word, the kinds of value that it is or that it announces."""
    index: dict[str, tuple[_Value, ...]] = {}
    lists = [("date", read_list("words", "MONTHS_AND_DAYS"))]
    lists += [(kind, LISTS.read_text("answers", name)) for kind, name in _WORDS.items()]
    for kind, words in lists:
        for word in fold_phrase(words).split():
            index[word] = (*index.get(word, ()), kind)
    for vocabulary in vocabularies().values():
        for word in (*number_words(vocabulary.months), *number_words(vocabulary.weekdays)):
            index[word] = (*index.get(word, ()), "date")
    return index


@cache
def _list(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of a list, and the beginnings of words."""
    words = fold_phrase(LISTS.read_text("answers", name)).split()
    whole = frozenset(word for word in words if not word.endswith(_PREFIX_MARK))
    return whole, frozenset(word[:-1] for word in words if word.endswith(_PREFIX_MARK))


def _is_in(word: str, name: str) -> bool:
    whole, starts = _list(name)
    return any(
        form in whole or any(form[:size] in starts for size in range(_MIN_PREFIX, len(form) + 1))
        for form in _forms_of(word)
    )


@cache
def _prefixes() -> dict[str, tuple[_Value, ...]]:
    return {word[:-1]: kinds for word, kinds in _index_words().items() if word.endswith(_PREFIX_MARK)}


def _kinds_of(token: str) -> Iterator[_Value]:
    """Yield the kinds of a word: by itself, by its beginning, or as a recurring weekday."""
    words = _index_words()
    prefixes = _prefixes()
    for word in _forms_of(token):
        yield from words.get(word, ())
        for size in range(_MIN_PREFIX, len(word) + 1):
            yield from prefixes.get(word[:size], ())
        if word.endswith("s"):
            yield from (kind for kind in words.get(word[:-1], ()) if kind == "date")


def _forms_of(word: str) -> Iterator[str]:
    """Yield a word, and an Arabic word also without its prefixes and suffixes."""
    yield word
    if "\u0600" <= word[:1] <= "\u06ff":
        plain = _ARABIC_START.sub("", word)
        if plain != word:
            yield plain
            yield f"ال{plain}"


_ARABIC_START = lazy_pattern("^[وفبكل]?ال(?=..)|^لل(?=..)|^[وفبكل](?=...)")


def _has_kind(word: str, kind: _Value) -> bool:
    return kind in _kinds_of(word)


def is_time_word(word: str) -> bool:
    """Return whether a word as it is written is a day, a month, or another word of time."""
    return _is_time(fold_phrase(word))


def _is_time(word: str) -> bool:
    return any(_has_kind(word, kind) for kind in ("date", "time", "hour", "span", "clock"))


def _lacks_place(values: Values, question_words: frozenset[str], text: str) -> bool:
    """Return whether nothing in a text may be a place: after a preposition is a time, or a word of the question."""
    if not values.language:
        return bool(values.kinds & _OTHER_VALUES) and not _UNSPACED_PLACE.search(text)
    if values.language not in _prepositions() or values.language == _ARABIC:
        return False
    if _has_no_capitals(text) or any(
        not _is_asked(token, question_words) and _is_in(token, "PLACE_WORDS") for token in values.tokens
    ):
        return False
    return not (
        _has_label(values, question_words, text)
        or any(_may_be_place(values, at, question_words) for at in _find_prepositions(values))
        or any(_find_names(values, question_words, text))
    )


def _has_label(values: Values, question_words: frozenset[str], text: str) -> bool:
    """Return whether a text is a label and what it says, which may be anything: `Scissors: top drawer`."""
    rest = _LABEL_END.split(text, maxsplit=1)[1:]
    words = _TOKEN.findall(fold_phrase(rest[0])) if rest else ()
    return any(word.isalpha() and not _is_asked(word, question_words) and not _is_time(word) for word in words)


def _find_prepositions(values: Values) -> list[int]:
    """Return where a text has a preposition, also of another language if that is no function word of its own."""
    own = _prepositions()[values.language]
    others = _all_prepositions() - function_words(values.language) if values.language in LATIN else frozenset()
    return [at for at, token in enumerate(values.tokens) if token in own or token in others]


@cache
def _prepositions() -> dict[str, frozenset[str]]:
    """Return what may stand before a place, by language."""
    table = LISTS.read_table("answers", "PLACE_PREPOSITIONS")
    return {language: frozenset(fold_phrase(words).split()) for language, words in table.items()}


@cache
def _all_prepositions() -> frozenset[str]:
    return frozenset[str]().union(*(words for language, words in _prepositions().items() if language in LATIN))


_ARABIC = "arabic"
_OTHER_VALUES: frozenset[_Value] = frozenset(
    ("clock", "date", "money", "duration", "number", "measure", "colour", "label")
)
_UNSPACED_PLACE = lazy_pattern(
    "[在于到去往住回里裡内旁边楼层室路街店市区县省镇村馆院校园场站厅处口]|[にでへ]|[都道府県市区町村駅店室階館棚所]|에서?|으?로"
)


def _may_be_place(values: Values, at: int, question_words: frozenset[str]) -> bool:
    """Return whether what is next to a preposition may be a place."""
    skipped = function_words(values.language)
    around = (
        values.tokens[at + 1 : at + 1 + _NEXT_WORDS]
        if values.language != "hindi"
        else values.tokens[max(0, at - 1) : at]
    )
    for word in around:
        if word in skipped:
            continue
        is_amount = any(map(str.isdigit, word)) or _is_in(word, "NUMBER_WORDS")
        return not (is_amount or _is_time(word) or _is_asked(word, question_words))
    return False


def _is_asked(word: str, question_words: frozenset[str]) -> bool:
    """Return whether a word is one of a question, in any inflection."""
    return word in question_words or any(
        word[:_SAME_LETTERS] == each[:_SAME_LETTERS] for each in question_words if len(each) >= _SAME_LETTERS
    )


_SAME_LETTERS = 5


def _lacks_person(values: Values, question_words: frozenset[str], text: str) -> bool:
    """Return whether nothing in a text may be a person, a group or a company; this needs a script with capitals."""
    if values.language not in (ENGLISH, _GERMAN, "french", "spanish", "portuguese", "italian", "dutch", "russian"):
        return False
    if _has_no_capitals(text) or any(
        not _is_asked(token, question_words) and _may_be_person(token) for token in values.tokens
    ):
        return False
    if _has_label(values, question_words, text):
        return False
    for at, token in enumerate(values.tokens):
        if token in _AGENT_PREPOSITIONS and _may_be_place(values, at, question_words):
            return False
    return not any(_find_names(values, question_words, text))


def _may_be_person(token: str) -> bool:
    is_long = len(token) >= _MIN_PERSON_LETTERS
    return _is_in(token, "PERSON_WORDS") or (is_long and token.endswith(_person_endings()) and not _is_time(token))


_MIN_PERSON_LETTERS = 6


@cache
def _person_endings() -> tuple[str, ...]:
    return tuple(LISTS.read_text("answers", "PERSON_ENDINGS").split())


def _has_no_capitals(text: str) -> bool:
    """Return whether capitals do not reveal names, in a script that has capitals."""
    return _CASED.search(text) is not None and text == text.lower()


def _find_names(values: Values, question_words: frozenset[str], text: str) -> Iterator[str]:
    """Yield the words of a text that may be names: capitalised, not in the question, no days, and in German, after no
    article."""
    skipped = function_words(values.language)
    is_first = True
    before = ""
    for word in _WRITTEN.findall(text):
        if word in _SENTENCE_ENDS:
            is_first = True
            continue
        folded = fold_phrase(word)
        is_name = word[0].isupper() and not _is_asked(folded, question_words) and not _is_time(folded)
        is_name = is_name and not (is_first and folded in skipped) and not _has_kind(folded, "money")
        if is_name and not (values.language == _GERMAN and before in _ARTICLES):
            yield word
        before = folded
        is_first = False
