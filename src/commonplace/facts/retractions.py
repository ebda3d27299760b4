"""What a note says no longer holds: replaced by something else, given up, or taken back by its speaker.

`We replaced black with ruff`; `Thornbury Hall fell through`; `I used to like it, but not any more`. What is gone may be
the value that the older note gives, and not what that note is about: a venue that fell through is no longer the venue.
In the forms (`forms.py`), `T` is what is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from ..caching import cache_within
from ..patterns import lazy_pattern
from .claims import PRONOUNS, find_topics, list_all_verbs, read_first_claim, split_clauses
from .forms import FormIndex, index_forms, match_forms
from .links import Link
from .relations import FIRST_PERSON, GENERIC
from .statements import DONE, NEEDS, SENTIMENT_STEMS, Statement
from .words import (
    NEGATIONS,
    compile_pattern,
    content_stems,
    fold,
    function_words,
    has_capitals,
    has_kana_or_kanji,
    is_month_or_day,
    list_capitalised,
    read_list,
    split_words,
    stem,
    word_set,
)

_KINDS_OF_THINGS = frozenset(map(stem, word_set("values", "KINDS_OF_THINGS")))
_NO_FEELING = word_set("values", "NO_FEELING")
_PLACEHOLDERS = {"T": r"(?P<t>\S+(?: \S+){0,3}?)"}
_AFTER = "for|and|in|on|last|this|yesterday|today|because|since|after|und|y|et|e|и"
_LAST_PLACEHOLDERS = {"T": rf"(?P<t>\S+(?: \S+){{0,2}}?)(?= (?:{_AFTER})\b|$)"}
_UNSPACED = (
    r"(?P<t>[^，。,、]{1,10}?)(?:已经|已)?(?:卖了|卖掉了?|倒闭了?|关门了?|黄了|泡汤了|没了)",
    r"(?:我们?)?(?:把)?(?:卖了|卖掉了?|退了|弃用了?|不用)(?P<t>[^，。,、了]{1,10})了?",
    r"(?P<t>[ァ-ヶー一-鿿]{1,12})[はがを](?:もう)?(?:売っ|売却|手放|解約|廃止|閉店|閉業|なくな|やめ|止め)",
)
_LEAD = word_set("retractions", "LEAD")
_MIN_SHARE_OF_CLAUSE = 0.5  # of what a speaker takes back
_MAX_OBJECT_DISTANCE = 4  # words from `like` to what is liked
_MAX_NAME_DISTANCE = 9
_USED_TO = "used to"
_CLAUSE_END = lazy_pattern(r"[;,.] | but | though | until ")
_NOT_ANY_MORE = lazy_pattern("any ?more|no longer")
_NEGATIVE = lazy_pattern(
    r"dislik|\bhat(?:e|ed|ing)\b|avoid|can't stand|couldn't stand|never (?:like|enjoy|care)"
    r"|(?:\bnot|n't) (?:\w+ ){0,3}(?:fan|into|keen|care|like|enjoy|love|appreciate|feeling)\b"
)

_OLD = r"(?P<old>\S+(?: \S+){0,2}?)"
_ARTICLE = (
    r"(?:(?:the|our|my|using|a|an|der|die|das|den|dem|le|la|les|l'|el|los|las|o|os|as|do|da|de|d'|del|du|des|من|عن) )?"
)
_CHANGED = r"(?:switch|mov|migrat|chang|transition|convert|port|upgrad|went|go)"
# Each with literal texts: every note that matches has one of them.
_REPLACED = (
    (("replac",), rf"\breplac(?:ed|ing|es|e) {_ARTICLE}{_OLD} (?:with|by)\b"),
    (("from ",), rf"\b{_CHANGED}\w* (?:\S+ ){{0,4}}?from {_ARTICLE}{_OLD} (?:over )?(?:to|into)\b"),
    (
        ("instead of", "rather than", "in place of"),
        rf"\b(?:instead of|rather than|in place of) {_ARTICLE}{_OLD}(?=[.,;!]|$)",
    ),
    (("swap",), rf"\bswap(?:ped|s)? (?:out )?{_ARTICLE}{_OLD} (?:for|with)\b"),
    (
        ("is now", "becam", "become", "is called", "renamed"),
        rf"^(?:the |our )?(?:\w+ ){{0,2}}?{_OLD} (?:is now|is called|(?:was|got|has been) renamed"
        r"|(?:became|becomes)(?= \S+(?: \S+)?$)(?! (?:the|a|an|more|less|very|one)\b))\b",
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
_REPLACED_UNSPACED = (
    r"(?:把|将)?(?P<old>[^，。,把将]{1,12}?)(?:换成|改成|替换为|替换成|换为)",
    r"从(?P<old>[^，。,]{1,12}?)(?:换|改|迁|搬|转|切)[^，。,]{0,3}到",
    r"不是(?P<old>[^，。,]{1,12}?)[，,]?\s*而?是",
    r"(?:代替|取代|而不是)(?P<old>[^，。,]{1,12})",
    r"(?P<old>[^、。はがを]{1,14})から.{1,14}(?:に|へ)(?:変更|移行|切り替え|乗り換え|移し|変え)",
    r"(?P<old>[^、。はがを]{1,14})(?:の代わり|ではなく|じゃなく)",
)


def find_given_up(older: Statement, newer: Statement) -> Link | None:
    """Return a link if a clause of the newer note says that the value of the older one is gone."""
    given_up = read_given_up(newer.text)
    if not given_up or older.is_question or older.reports_event:
        return None
    if "tentative" in older.cues or not NEGATIONS.isdisjoint(older.words):
        return None
    for gone, is_of_writer in given_up:
        if _is_value(older, gone) and not (is_of_writer and _is_of_another(older, newer)):
            return Link("retraction", "says that it is no more", " ".join(sorted(gone)), has_one_subject=True)
    return None


def _is_of_another(older: Statement, newer: Statement) -> bool:
    """Return whether a note begins with the name of somebody whom the newer one does not mention: `Tom drives a Fiat`
    says nothing of what its writer has sold."""
    name, *rest = older.words
    is_name = older.text[:1].isupper() and name.isalpha() and name not in function_words() and not older.label
    is_subject = bool(rest) and (rest[0] in list_all_verbs() or rest[0].endswith("s"))
    return is_name and is_subject and stem(name) not in newer.stems


def _is_value(older: Statement, gone: frozenset[str]) -> bool:
    """Return whether something is the value of a note, rather than its subject."""
    if not gone <= set(older.stems) or all(map(is_month_or_day, gone)):
        return False
    claims = read_first_claim(older.text)
    is_own = not FIRST_PERSON.isdisjoint(older.words) or _leaves_out_subject(older.text)
    if not is_own and any(claim.is_closed and not gone.isdisjoint(claim.heads[0]) for claim in claims):
        return False
    is_named = any(has_capitals(each, older.text) or not each.isalpha() for each in gone)
    is_whole = any(claim.is_closed and claim.value <= gone for claim in claims)
    return is_named or is_whole or (is_own and older.stems[-1] in gone)


def _leaves_out_subject(text: str) -> bool:
    """Return whether a note in Japanese has no topic: it is about its writer."""
    return has_kana_or_kanji(text) and "を" in text and "は" not in text


@cache_within(500_000)
def read_given_up(text: str) -> tuple[tuple[frozenset[str], bool], ...]:
    """Return the topics of what a note says is gone, by clause, and whether its writer gave it up; cached, as a note is
    compared with many."""
    return tuple(gone for clause in split_clauses(text) for gone in _read_clause(clause))


def _read_clause(clause: str) -> Iterator[tuple[frozenset[str], bool]]:
    folded = fold(clause).rstrip(".!。")
    words = split_words(folded)
    while words and words[0] in _LEAD:
        words = words[1:]
    matches = [match for _, match in match_forms(_index_forms(), words)]
    if has_kana_or_kanji(folded):
        matches += [match for pattern in _UNSPACED if (match := compile_pattern(pattern).search(folded))]
    for match in matches:
        thing = split_words(match["t"])
        topics = find_topics(thing)
        if topics and PRONOUNS.isdisjoint(thing) and not topics <= GENERIC:
            yield topics, match.start("t") > 0
            return


@cache
def _index_forms() -> FormIndex[str]:
    return index_forms([("gone", read_list("retractions", "GONE"))], _PLACEHOLDERS, _LAST_PLACEHOLDERS)


def judge_taking_back(older: Statement, newer: Statement) -> Link | None:
    """Return a link if a speaker takes back what they said: `I used to like it, but not any more`."""
    about = _find_taken_back(older, newer)
    return Link("retraction", "takes it back", " ".join(sorted(about))) if about else None


def _find_taken_back(older: Statement, newer: Statement) -> set[str]:
    """Return what a speaker said before and takes back; empty if it is something else, or was not said."""
    if not newer.taken_back or older.speaker != newer.speaker or FIRST_PERSON.isdisjoint(older.words):
        return set()
    clause = set(newer.taken_back)
    shared = clause.intersection(older.stems)
    if not shared or not _is_same_feeling(older.text, newer.text, frozenset(shared - _KINDS_OF_THINGS or shared)):
        return set()
    is_done = not NEEDS.isdisjoint(older.words) and not DONE.isdisjoint(newer.words)
    if not is_done and "retraction" not in newer.cues:  # `I finished the book`
        return set()
    names = {stem(word) for word in list_capitalised(older.text)} & shared
    if names & _liked_stems(older.words, _MAX_NAME_DISTANCE):
        return shared
    if len(shared) < _MIN_SHARE_OF_CLAUSE * len(clause) or (shared <= _KINDS_OF_THINGS and shared != clause):
        return set()
    is_whole = len(shared) >= 2 and shared == clause and not SENTIMENT_STEMS.isdisjoint(map(stem, older.words))
    is_clear = is_whole or (len(shared) >= 2 and (is_done or len(names) >= 2)) or (is_done and shared == clause)
    return shared if is_clear or _liked_stems(older.words, _MAX_OBJECT_DISTANCE) & shared else set()


def _is_same_feeling(older: str, newer: str, about: frozenset[str]) -> bool:
    """Return whether the feeling that is taken back, liking or disliking, is the earlier one."""
    taken_back = _read_past_feeling(fold(newer))
    return taken_back is None or taken_back == _is_liked(fold(older), about)


@cache_within(500_000)
def _read_past_feeling(folded: str) -> bool | None:
    """Return whether somebody says that they used to like something (True) or to dislike it (False); None if they do
    not say."""
    _, is_past, rest = folded.partition(_USED_TO)
    if is_past:
        return _NEGATIVE.search(_CLAUSE_END.split(rest)[0]) is None
    return True if _NOT_ANY_MORE.search(folded) and _NEGATIVE.search(folded) else None


@cache_within(500_000)
def _is_liked(folded: str, about: frozenset[str]) -> bool:
    """Return whether somebody says that they like something; `used to like` does not count."""
    before, is_past, rest = folded.partition(_USED_TO)
    if not is_past:
        return _NEGATIVE.search(folded) is None
    clause = _CLAUSE_END.split(rest)[0]
    if about.intersection(content_stems(split_words(clause))):
        return _NEGATIVE.search(clause) is not None
    return _NEGATIVE.search(before + rest.removeprefix(clause)) is None


def _liked_stems(words: Sequence[str], distance: int) -> set[str]:
    """Return the stems shortly after a word that says what somebody likes or dislikes."""
    pairs = enumerate(zip(("", *words), words, strict=False))
    places = [at for at, (before, word) in pairs if stem(word) in SENTIMENT_STEMS and before not in _NO_FEELING]
    return {stem(word) for at in places for word in words[at + 1 : at + 1 + distance]}


@cache_within(500_000)
def read_replaced_topics(text: str) -> frozenset[str]:
    """Return the topics of what a note names as replaced; empty if it names nothing."""
    folded = fold(text)
    for pattern in _choose_replaced(folded):
        if (match := pattern.search(folded)) and (topics := find_topics(split_words(match["old"]))):
            return topics
    return frozenset()


def find_replaced_numbers(text: str) -> set[str]:
    """Return the numbers of things that a note names as replaced: `from room 5 to room 4` is not about room 3."""
    folded = fold(text)
    for pattern in _choose_replaced(folded):
        if match := pattern.search(folded):
            words = split_words(match["old"])
            return {word for word in words if word.isdecimal()} if len(words) > 1 else set()
    return set()


def _choose_replaced(folded: str) -> Iterator[re.Pattern[str]]:
    """Yield the patterns that may match: most notes have none of the words that they ask for."""
    for parts, pattern in _REPLACED:
        if any(part in folded for part in parts):
            yield compile_pattern(pattern)
    if not folded.isascii():
        yield from map(compile_pattern, _REPLACED_UNSPACED)
