"""Where a full stop ends no sentence: after `Dr.`, `Hauptstr.`, `z. B.`, `Avda.`, `ул.` and other abbreviations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..patterns import lazy_pattern
from .words import fold, word_set

# Titles of people and places, which have a capital letter: not `300 ms.`
_TITLES = word_set(
    """
    mr mrs ms dr prof st rev hon gen gov messrs hr fr frl dipl ing sra srta srs dña excma avda mme mlle mgr exmo exma av
    sig dott avv dhr mevr inc ltd
    """
)
# A sentence hardly ever ends with one of these.
_ABBREVIATIONS = word_set(
    """
    vs etc e.g i.e approx dept cf viz bzw z.b d.h u.a u.u vgl inkl exkl ggf evtl zzgl abzgl bspw geb z.t ud uds dpto
    p.ej p.ex apto sigra ecc p.es bijv o.a m.b.t ул просп пер тел т.е напр
    """
)
# It belongs to the number after it.
_BEFORE_NUMBER = word_set(
    """
    no nr num núm nro fig vol ch sec art abs kap bd s p pp pag pág tel ext str ul c д г кв оф jr sr
    jan feb mar mär apr jun jul aug sep sept oct okt nov dec dez ca approx ene abr ago dic janv févr avr juil déc
    fev mai out set gen mag giu lug ott пер стр п янв февр апр авг сент окт нояб дек
    """
)
_STREET = "str"  # at the end of a word: `Hauptstr. 5`
_LAST_WORD = lazy_pattern(r"([^\s(\"]+)\.$")
_ORDINAL = lazy_pattern(
    r"(?:^|\s)(?:die|der|das|dem|den|im|zum|zur|vom|ins|beim|ab|bis|seit) \d{1,2}\.$", re.IGNORECASE
)
_SPACED_LETTERS = lazy_pattern(r"(?:^|\s)(?:z|d|u|i|s|p|o|т)\.$")  # `z. B.`, `d. h.`, `p. ej.`


def split_at_ends(text: str, ends: re.Pattern[str]) -> Iterator[str]:
    """Yield the parts of a text between the ends of sentences, but for those after an abbreviation."""
    start = 0
    for end in ends.finditer(text):
        if not _is_abbreviation(text[start : end.start()], text[end.end() : end.end() + 1]):
            yield text[start : end.start()]
            start = end.end()
    yield text[start:]


def _is_abbreviation(before: str, after: str) -> bool:
    """Return whether the full stop at the end of a text belongs to its last word, by that and by what comes after."""
    match = _LAST_WORD.search(before)
    if not match:
        return False
    word = fold(match[1])
    if (word in _TITLES and match[1][0].isupper()) or word in _ABBREVIATIONS or _SPACED_LETTERS.search(before):
        return True
    if after.isdigit():
        return word in _BEFORE_NUMBER or word.endswith(_STREET)
    return after.isupper() and _ORDINAL.search(before) is not None
