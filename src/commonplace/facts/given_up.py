"""Notes that say that something is gone which an older note gives as its value: `Thornbury Hall fell through`.

They need not be about the same thing as the older note: a venue that fell through is no venue, and who sold the Kindle
does not read on it. In the forms (`forms.py`), `T` is what is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..caching import cache_within
from .claims import PRONOUNS, find_topics, list_all_verbs, read_first_claim, split_clauses
from .forms import compile_forms
from .links import Link
from .relations import FIRST_PERSON
from .statements import Statement
from .value_words import EVENT_WORDS, GENERIC, NEGATIONS
from .words import (
    compile_pattern,
    fold,
    function_words,
    has_capitals,
    has_kana_or_kanji,
    is_month_or_day,
    split_words,
    stem,
    word_set,
)

_WE = "we/i? have/just/finally/recently?"
_MY = "the/my/our/his/her/all?"
_MEIN = "der/die/das/den/mein/meine/meinen/unser/unsere/unseren?"
_FORMS = f"""
    T is/are/was now? out/gone/history/dead/finished/over/retired/read-only/broken_beyond_repair
    T has/have? fell/fallen through
    T has/have/is/are? shut/folded/shut_down/closed_down/gone_bust/burnt_down
    T did/does/would not work_out/happen
    T has/have/is/are? expired/lapsed
    T ist/sind abgelaufen
    T a/ont expiré
    T caducó/ha_caducado/venció/expirou/venceu
    {_WE} sold/ditched/dropped/scrapped/returned/uninstalled/unplugged/deleted/retired/unpinned {_MY} T
    {_WE} gave/given up on? {_MY} T
    {_WE} got/gotten rid of {_MY} T
    {_WE} cancelled/canceled {_MY} T
    no more T
    T is/are off the table
    T account/subscription/contract is/was/has_been? closed/cancelled/canceled/terminated
    so? long/goodbye {_MY} T
    T ist/sind raus/weg/vorbei/passé/geplatzt/durchgefallen/vom_tisch/stillgelegt/kaputtgegangen
    wir/ich? haben/habe {_MEIN} T verkauft/abgeschafft/zurückgegeben/rausgeworfen
    {_MEIN} T verkauft/abgeschafft/gekündigt
    doch kein/keine/keinen T
    kein/keine/keinen T mehr
    T est/sont fini/finie/finis/finies/terminé/terminée/fermé/fermée/tombé_à_l_eau/tombée_à_l_eau
    j/on/nous? ai/a/avons vendu/abandonné/résilié/rendu le/la/l/les/mon/ma/mes/notre? T
    fini/terminé le/la/l/les T
    plus de/d T
    T se_acabó/se_cayó/cerró/se_acabaron/quedó_fuera
    vendí/vendimos/tiré/tiramos/devolvimos/devolví el/la/los/las/mi/nuestro/nuestra? T
    nada de T
    T acabou/fechou/caiu/foi_descartado/foi_descartada/já_era
    vendi/vendemos/larguei/largamos/devolvi/devolvemos o/a/os/as/meu/minha? T
    chega de T
    T закрылся/закрылась/закрылось/закрыли/отпал/отпала/убрали/отменили
    продал/продала/продали/убрали/выбросили/вернули T
    T बेच/हटा दिया/दी/दिए
    بعنا/بعت/ألغينا/تركنا/تركت T
"""
_SLOTS = {"T": r"(?P<t>\S+(?: \S+){0,3}?)"}
_AFTER = "for|and|in|on|last|this|yesterday|today|because|since|after|und|y|et|e|и"
_LAST_SLOTS = {"T": rf"(?P<t>\S+(?: \S+){{0,2}}?)(?= (?:{_AFTER})\b|$)"}
_UNSPACED = (
    r"(?P<t>[^，。,、]{1,10}?)(?:已经|已)?(?:卖了|卖掉了?|倒闭了?|关门了?|黄了|泡汤了|没了)",
    r"(?:我们?)?(?:把)?(?:卖了|卖掉了?|退了|弃用了?|不用)(?P<t>[^，。,、了]{1,10})了?",
    r"(?P<t>[ァ-ヶー一-鿿]{1,12})[はがを](?:もう)?(?:売っ|売却|手放|解約|廃止|閉店|閉業|なくな|やめ|止め)",
)
_LEAD = word_set(
    "the a an my our and but so since because der die das den und aber le la les el los las y pero o os a e"
)


def find_given_up(older: Statement, newer: Statement) -> Link | None:
    """Return a link where a clause of the newer note says that the value of the older one is gone."""
    given_up = read_given_up(newer.text)
    if not given_up or not EVENT_WORDS.isdisjoint(older.words) or older.is_question or older.words[0].endswith("ed"):
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
    """Return whether something is the value of a note, and not what it is about."""
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
    joined = " ".join(words)
    patterns = {pattern: None for word in words for pattern in _index_patterns().get(word, ())}
    matches = [match for pattern in patterns if (match := compile_pattern(pattern).match(joined))]
    if has_kana_or_kanji(folded):
        matches += [match for pattern in _UNSPACED if (match := compile_pattern(pattern).search(folded))]
    for match in matches:
        thing = split_words(match["t"])
        topics = find_topics(thing)
        if topics and PRONOUNS.isdisjoint(thing) and not topics <= GENERIC:
            yield topics, match.start("t") > 0
            return


@cache
def _index_patterns() -> dict[str, list[str]]:
    """Return the patterns by words, one of which every text has that they match."""
    index: dict[str, list[str]] = {}
    for form in compile_forms([("", _FORMS)], _SLOTS, _LAST_SLOTS, longest_first=True, is_whole=False):
        for word in form.triggers:
            index.setdefault(word, []).append(form.pattern)
    return index
