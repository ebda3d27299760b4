"""Labels that collect things: `Books to read`, `Allergy`, `Prod incident`. A further line adds one, and replaces none.

`Deadline: 26 November` replaces `Deadline: 12 November`, as there is one deadline; `Allergy: latex` does not replace
`Allergy: penicillin`. A label collects if it is a plural, says what is to be done with things (`to read`, `zu lesen`),
or is a noun of which one has several.
"""

from __future__ import annotations

from ..patterns import lazy_pattern
from .statements import Statement
from .value_words import MANY_VALUED_NOUNS, OWNED_MARKS
from .words import content_stems, fold, is_amount, is_month_or_day, is_number, split_words, stem, word_set

# What is to be done with the things that a label collects.
_TO_DO = lazy_pattern(
    r"\bto (?:read|watch|try|buy|visit|see|call|do|learn|check|fix|pack|bring|cook|make|eat|drink|play|write|book|order"
    r"|get|review|test|ask|discuss|listen|explore|follow|avoid|remember|invite|meet|study|sell|return|hear|look)\b"
    r"|\b(?:zu|zum) (?:lesen|sehen|schauen|anschauen|kaufen|besuchen|probieren|ausprobieren|erledigen|lernen|kochen"
    r"|hören|klären|prüfen|mitnehmen)\b"
    r"|\bà (?:lire|voir|regarder|acheter|faire|visiter|essayer|tester|appeler|apprendre|écouter)\b"
    r"|\b(?:por|para|que|a) (?:leer|ver|comprar|visitar|probar|hacer|llamar|aprender|estudiar|cocinar|ler|assistir"
    r"|fazer|ligar|experimentar)\b|\bda (?:leggere|vedere|guardare|comprare|visitare|provare|fare)\b"
    r"|\bк (?:прочтению|просмотру|покупке|изучению)\b"
    r"|\b(?:прочитать|почитать|посмотреть|купить|сделать|посетить|попробовать|выучить)\b|للقراءة|للمشاهدة|للشراء"
    "|待[读看买办做]|要[读看买]的|想[读看去买]|[読観見]みたい|[観見]たい|行きたい|買うもの|読む本"
)
_SEVERAL = MANY_VALUED_NOUNS | word_set(
    """
    intolerance symptom diagnosis condition medication medicine contraindication vaccination ingredient quote wish
    requirement request prerequisite gotcha caveat assumption constraint exception achievement expense purchase
    allergie unverträglichkeit symptom diagnose medikament zutat abhängigkeit zitat wunsch anforderung risiko ausgabe
    alergia intolerancia síntoma medicamento ingrediente dependencia cita deseo requisito riesgo gasto
    intolérance symptôme médicament ingrédient dépendance citation souhait exigence risque dépense
    intolerância sintoma dependência citação desejo risco
    аллергия симптом лекарство ингредиент зависимость цитата желание требование риск एलर्जी حساسية दवा دواء
    """
)
_UNSPACED_SEVERAL = lazy_pattern("过敏|症状|用药|依赖|食材|アレルギー|症状|服用|依存|材料")
# What happens now and then: each line tells of another time.
_EVENTS = word_set(
    """
    incident outage downtime bug crash error failure accident alert fix bugfix hotfix workout
    vorfall störung ausfall fehler unfall incidente fallo caída avería accidente
    panne accident erreur falha queda acidente инцидент сбой ошибка авария
    """
)
_UNSPACED_EVENT = lazy_pattern("故障|事故|事件|障害|不具合")
# They end as plurals do, and are none.
_SINGULAR = word_set(
    """
    hours headquarters news series lens canvas alias atlas gas os ios macos kubernetes postgres jenkins sales maths
    physics logistics christmas dns tls css https aws gps sms cms sas nas preis kurs mes lunes martes miércoles jueves
    viernes temps cours pays prix corps accès succès repas jours days minutes seconds weeks months years
    atrás más demais tres trois seis gros pass address access process
    """
)
# Other plurals than those with an `s`.
_PLURAL = lazy_pattern(
    r"\w*(?:ideen|fragen|(?:ung|heit|keit|schaft|ion|tät)en|[gmt]ien|bücher|filme|fehler|wünsche|aufgaben|medikamente|zutaten"
    r"|книги|фильмы|идеи|вопросы|задачи|аллергии|лекарства|симптомы|ошибки|риски)"
)
_NO_PLURALS = ("ss", "us", "is", "'s", "ics", "preis", "kurs", "haus")
_MIN_PLURAL_CHARACTERS = 4
_OWNERS = OWNED_MARKS | word_set("for für para pour per для with in at on to from by")
_ITEM = lazy_pattern(r"[,;、，/]| (?:and|und|et|y|e|и) ")


def collect_things(older: Statement, newer: Statement) -> bool:
    """Return whether two lines with one label may both hold: each gives another of the things that it collects."""
    values = [_read_value(each) for each in (older, newer)]
    is_change = not newer.cues.isdisjoint(("change", "retraction"))
    if is_change and not set(content_stems(values[0])).isdisjoint(content_stems(values[1])):
        return False
    if _are_on_other_days(*values):
        return True
    words = split_words(newer.label)
    noun = _find_noun(words)
    if noun in _EVENTS or _UNSPACED_EVENT.search(newer.label):
        return True
    is_several = noun in _SEVERAL or bool(_UNSPACED_SEVERAL.search(newer.label))
    if not is_several and not _TO_DO.search(newer.label) and not _is_plural(noun):
        return False
    if all(is_amount(value[0]) for value in values if value):  # `Tests: 412`
        return False
    names = [{word for word in value if not is_number(word)} for value in values]
    items = [{item.strip() for item in _ITEM.split(_cut_label(each))} for each in (older, newer)]
    is_same_list = min(map(len, items)) > 1 and not items[0].isdisjoint(items[1])
    return not is_same_list and names[0] != names[1]


def _cut_label(statement: Statement) -> str:
    """Return what follows the label of a line, folded."""
    return fold(statement.text)[len(statement.label) :].strip("*_:=：–—→- .。")


def _read_value(statement: Statement) -> list[str]:
    return split_words(_cut_label(statement))


def _are_on_other_days(older: list[str], newer: list[str]) -> bool:
    """Return whether each value gives another day and something else on it: `legs on Tuesday`, `back on Friday`."""
    days = [{stem(word) for word in value if is_month_or_day(word)} for value in (older, newer)]
    rest = [{word for word in value if len(word) > 2 and not is_number(word)} for value in (older, newer)]
    return all(days) and all(rest) and days[0].isdisjoint(days[1]) and rest[0].isdisjoint(rest[1])


def _find_noun(words: list[str]) -> str:
    """Return the noun that says what a label is: the last word before an owner (`gift ideas for dad`)."""
    at = next((at for at, word in enumerate(words) if at and word in _OWNERS), len(words))
    return words[at - 1] if words else ""


def _is_plural(noun: str) -> bool:
    """Return whether a noun is a plural, as far as its ending tells."""
    if not noun.isalpha() or len(noun) < _MIN_PLURAL_CHARACTERS or noun in _SINGULAR:
        return False
    return (noun.endswith("s") and not noun.endswith(_NO_PLURALS)) or _PLURAL.fullmatch(noun) is not None
