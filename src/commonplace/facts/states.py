"""States that verbs express and verbs change: `lives in`, `moved to`; `works at`, `left`; `leads`, `took over from`.

`Ute moved to Lübeck` shares one word with `Ute lives in Kiel`, and still says where Ute lives now. The
file `lists/states.txt` has the forms for a state, its change, and its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Literal, NamedTuple, get_args

from ..caching import cache_within
from ..patterns import lazy_pattern
from .claims import split_clauses
from .forms import FormIndex, index_forms, match_forms
from .relations import FIRST_PERSON, list_verbs
from .words import (
    ARTICLES,
    OF,
    OURS,
    PREPOSITIONS,
    compile_pattern,
    content_stems,
    fold,
    function_words,
    has_kana_or_kanji,
    is_number,
    is_unspaced,
    read_table,
    split_words,
    stem,
    word_set,
)

_KIND_STEMS = frozenset(map(stem, word_set("values", "KINDS")))
Phase = Literal["state", "change", "end"]
Verdict = Literal["changed", "ended", "other"]
WRITER = ("i",)  # the subject of what writers say about themselves
_LABEL = lazy_pattern(r"([^:.!?,;\n]{2,40}): +(\S[^,;]*)")
RELATIONS = ("place", "spot", "work", "name", "tool", "lead", "diet")
_CHANGED_BY = {"spot": ("place", "tool"), "place": ("spot",)}  # other relations whose changes change a state, too
# How something is said to be gone. `E`: the subject itself is gone; `O`: what somebody had or planned.
_ENDED = r"""(?:
    (?:has|have|had|is|are|was|were)\ (?:now\ |finally\ )?(?:been\ )?(?:permanently\ |officially\ )?
        (?:closed(?:\ down)?|shut\ down|died|dissolved|discontinued|disbanded|cancell?ed|gone|defunct|ended|retired)
    |(?:died|passed\ away|closed\ down|shut\ down|went\ (?:bankrupt|out\ of\ business)|disbanded|no\ longer\ exists)
    |(?:hat|haben)\ (?:\w+\ )?(?:zugemacht|geschlossen|dichtgemacht|aufgehört)
    |(?:ist|sind|wurde|wurden)\ (?:\w+\ )?
        (?:gestorben|verstorben|geschlossen|eingestellt|aufgelöst|abgesagt|insolvent|pleite)
    |(?:a|ont|est|sont)\ (?:définitivement\ )?(?:fermés?|morte?|décédée?|annulée?|dissous)
    |(?:ha\ |han\ )?(?:cerró|cerrado|cerraron|murió|muerto|falleció|quebró)
    |(?:fechou|fecharam|morreu|faleceu|faliu|encerrou|foi\ cancelad[oa])
    |(?:закрыл(?:ся|ась|ось|ись|и)|умер|умерла|скончал(?:ся|ась)|отменили|обанкротил\w+)
    |(?:हमेशा\ के\ लिए\ )?(?:बंद\ हो\ (?:गया|गई|गए)|गुज़र\ (?:गया|गई|गए)|रद्द\ हो\ (?:गया|गई))
    |(?:أغلق|أغلقت|توفي|توفيت|مات|ماتت|أفلس|أفلست)
)"""
_AFTER_END = r"""(?=$|\ (?:for|permanently|on|in|last|this|yesterday|today|after|because|since
    |für|endgültig|am|im|gestern|letzte\w*|définitivement|hier|le|definitivamente|para|el|ayer|ontem
    |навсегда|вчера|है|हैं|في|أمس|اليوم|نهائيا)\b)"""
_END = lazy_pattern(rf"^(?P<s>\S+(?:\ \S+){{0,4}}?)\ {_ENDED}{_AFTER_END}", re.VERBOSE)
_UNSPACED_END = lazy_pattern(
    r"^(?P<s>[^、，。,]{2,14}?)(?:は|が|已经|已|就)*(?:关门|倒闭|停业|关张|去世|閉店|閉業|廃業|倒産|亡くな|他界)"
)
_UNSPACED_CONJUNCTIONS = word_set("states", "UNSPACED_CONJUNCTIONS")
_END_HINT = lazy_pattern(
    "clos|shut down|died|passed away|dissol|discontinued|disbanded|cancel|gone|defunct|ended|retired|bankrupt|of bus"
    "|no longer exists|zugemacht|dichtgemacht|aufgehört|gestorben|eingestellt|aufgelöst|abgesagt|insolvent|pleite|fermé"
    "|mort|décédé|annulé|dissous|cerr|muri|muerto|falleci|quebró|fech|morreu|faleceu|faliu|encerrou|закры|умер|скончал"
    "|отменили|обанкрот|बंद|गुज़र|रद्द|أغلق|توفي|مات|أفلس|关门|倒闭|停业|关张|去世|閉店|閉業|廃業|倒産|亡くな|他界|geschlossen|verstorben"
)
_WHO = "(?P<s>.{0,8}?)"  # before the verb of Chinese
_TOPIC = "(?:(?P<s>.{1,8}?)は)?(?P<v>[^は]{2,10}?)"  # and the place before the verb of Japanese
_UNSPACED: dict[str, dict[Phase, tuple[str, ...]]] = {
    "place": {
        "state": (
            f"{_WHO}(?:(?:现在|目前)?住在|(?:现在|目前)在|(?<=[^现])在)(?P<v>(?!.*(?:工作|上班))[^了]{{2,8}}?)$",
            f"{_TOPIC}に(?:住んで|あり|置いて|保管)",
        ),
        "change": (
            f"{_WHO}(?:已经|刚|都)*(?:搬到|搬去|搬至|迁到)(?P<v>.{{2,8}}?)(?:了|$)",
            f"{_TOPIC}[にへ](?:引っ越|移転|転居|移し|移り)",
        ),
    },
    "work": {
        "state": (f"{_WHO}在(?P<v>.{{2,10}}?)(?:工作|上班)", f"{_TOPIC}[でに](?:働いて|勤めて|勤務)"),
        "change": (
            f"{_WHO}(?:跳槽到|跳槽去|去了|入职|加入了?)(?P<v>.{{2,10}}?)(?:工作|上班|了|$)",
            f"{_TOPIC}に(?:転職|入社)",
        ),
        "end": (f"{_WHO}(?:离开了|从)(?P<v>.{{2,10}}?)(?:离职了?|辞职了?|$)", f"{_TOPIC}を(?:辞め|退職|退社)"),
    },
}
_UNSPACED["lead"] = {
    "state": (
        "(?P<s>.{1,10}?)(?:现在|改)?由(?P<v>.{1,6}?)负责",
        "(?P<v>.{1,6}?)负责(?P<s>.{2,10}?)$",
        "(?P<s>.{1,10}?)の担当者?は(?P<v>.{1,8}?)(?:です|だ|に|$)",
        "(?:今は|現在は)?(?P<v>.{1,8}?)が(?P<s>.{1,10}?)の?担当",
        "(?P<v>[^は]{1,8}?)は(?P<s>[^は]{1,10}?)を担当",
    ),
    "change": (
        "(?P<v>.{1,6}?)接手了?(?P<s>.{2,10}?)了?$",
        ".{1,6}?把(?P<s>.{2,10}?)(?:交给|转给|移交给)了?(?P<v>.{1,6}?)了?$",
        "(?P<v>[^が]{1,8}?)が(?:.{1,8}?から)?(?P<s>.{1,10}?)を引き継",
        "(?P<s>[^は]{1,10}?)は.{1,8}?から(?P<v>.{1,8}?)[にへ](?:引き継|移管|交代)",
        "(?P<s>[^把]{2,10}?)(?:从.{1,6}?)?(?:移交|转交|转|交)给了?(?P<v>.{1,6}?)了?$",
    ),
}
_UNSPACED_TIMES = lazy_pattern(
    "上个?月|上周|去年|今年|昨天|今天|最近|现在|已经|先月|先週|昨日|去年|今は?|刚刚?|さん|さま|先生$"
)
_LEAD = word_set("states", "LEAD")
_VALUE_ENDS = word_set("states", "VALUE_ENDS")
_GLUE = OF | word_set("states", "GLUE")
_FILLERS = word_set("states", "FILLERS")
_WRITERS = FIRST_PERSON | {"j", "on", "私", "僕", "俺", "我", "我们"}
_PLACEHOLDERS = {
    "S": r"(?P<s>\S+(?: \S+){0,5}?)",
    "V": r"(?P<v>\S+(?: \S+){0,3}?)",
    "V1": r"(?P<v>\S+)",
    "S1": r"(?P<s>\S+(?: \S+)?)",
    "V0": r"\S+",
    "X0": r"\S+",
    "D": r"(?P<v>vegetarian|vegan|vegetarier(?:in)?|veganer(?:in)?|végétarien(?:ne)?|végane?|vegetarian[oa]|vegan[oa]"
    r"|вегетарианец|вегетарианка|веган|शाकाहारी)",
    "M": "(?P<v>meat|fish|fleisch|fisch|viande|poisson|carne|pescado|peixe|мясо|рыбу)",
    "X": r"\S+(?: \S+){0,2}?",
}
_LAST_PLACEHOLDERS = {"S": r"(?P<s>\S+(?: \S+){0,5})", "V": r"(?P<v>\S+(?: \S+){0,4})"}  # up to where the clause ends


class State(NamedTuple):
    """What a clause says about a subject: that it has a value, got one, or no longer has one."""

    relation: str
    phase: Phase
    subject: tuple[str, ...]
    value: frozenset[str]
    is_own: bool = False  # the subject is named as that of the writer: `my sister Nadia`


@cache_within(500_000)
def read_states(text: str) -> tuple[State, ...]:
    """Return the states that the clauses of a note express; cached, as a note is compared with many."""
    clauses = split_clauses(text)
    label = _LABEL.match(text)
    if label:  # `Owner of the wiki: Tom` is read as `Owner of the wiki is Tom`, too
        clauses = (f"{label[1]} is {label[2]}", *clauses)
    return tuple(dict.fromkeys(state for clause in clauses for state in _read_clause(clause)))


def compare_states(older: str, newer: str, *, says_change: bool) -> tuple[Verdict, State] | None:
    """Return how a newer note changes a state that an older one gives; None if they have nothing in common. With
    `says_change`, the newer note may just name the new state: `CI runs on GitHub Actions now`."""
    other: tuple[Verdict, State] | None = None
    changes = [state for state in read_states(newer) if state.phase != "state" or says_change]
    for change, state in product(changes, read_states(older) if changes else ()):
        is_given_up = change.phase == "end" and change.subject == WRITER and change.relation == state.relation
        is_comparable = change.relation in (state.relation, *_CHANGED_BY.get(state.relation, ()))
        is_left = (state.relation, change.relation, change.phase) == ("tool", "place", "end")  # `is in Lisbon`
        if _gives_new_name(state, change):
            return "changed", state
        if state.phase == "end" or not (is_given_up or _are_of_one(state, change)):
            continue
        verdict = _compare(state, change) if is_comparable or is_left else "other"
        if verdict != "other":
            return verdict, state
        if change.phase != "state":
            other = verdict, state
    return other


def _gives_new_name(state: State, change: State) -> bool:
    """Return whether a note is about the name that an older one gives to something, and says what that is called now:
    `our cat is called Mimi`, `Mimi goes by Felix now`."""
    if (state.relation, change.relation) != ("name", "name") or change.value <= state.value:
        return False
    name = change.subject[-len(state.value) :]
    return frozenset(name) == state.value and set(change.subject[: -len(name)]) <= set(state.subject)


def _compare(state: State, change: State) -> Verdict:
    """Return whether a state ended or has another value now; `other` if it is the same again, or is about another
    value."""
    if change.phase == "end":
        return "ended" if _is_inflected(state.value, change.value) else "other"
    is_again = change.value <= state.value or state.value <= change.value
    return "other" if is_again else "changed"


def _is_inflected(first: frozenset[str], second: frozenset[str]) -> bool:
    """Return whether two values are the same but for their endings: `в Озоне`, `из Озона`."""
    one, other = ("".join(sorted(each)) for each in (first, second))
    return one == other or (not one.isascii() and len(one) == len(other) and one[:-1] == other[:-1])


def _are_of_one(first: State, second: State) -> bool:
    """Return whether two states belong to the same thing: `my sister Nadia` is `Nadia`, and `Nadia's brother` is
    not."""
    short, long = sorted((first, second), key=_count_words)
    more = set(long.subject).difference(short.subject)
    if more <= _KIND_STEMS and set(short.subject) <= set(long.subject):  # `the wiki backup`, `backup of the wiki`
        return True
    return long.is_own and long.subject[-len(short.subject) :] == short.subject


def _count_words(state: State) -> int:
    return len(state.subject)


@cache_within(500_000)
def find_ended(text: str) -> tuple[str, ...]:
    """Return the words for what a note says no longer exists; empty if it says nothing like that."""
    if not _END_HINT.search(fold(text)):
        return ()
    for clause in split_clauses(text):
        folded = fold(clause)
        joined = " ".join(split_words(folded))
        match = _END.match(joined) or _UNSPACED_END.match(folded)
        if match:
            ended = strip_articles(split_words(match["s"]))
            return ended if _names_something(ended) else ()
    return ()


def _names_something(words: Sequence[str]) -> bool:
    """Return whether words name something: `it` and `until` do not."""
    return not all(map(function_words().__contains__, words)) and "".join(words) not in _UNSPACED_CONJUNCTIONS


def is_about(words: Sequence[str], subject: tuple[str, ...]) -> bool:
    """Return whether a statement is about something, and not about a part of it, as `the museum café` is."""
    if not subject:
        return False
    stated = strip_articles(words)
    rest = stated[len(subject) :]
    if stated[: len(subject)] != subject or not rest or rest[0] in _GLUE:
        return False
    if rest[0].isascii() and rest[0].endswith("ed"):  # `the beta slipped by a week`
        return True
    return is_unspaced(rest[0]) or rest[0] in function_words() or rest[0] in PREPOSITIONS or rest[0] in list_verbs()


def strip_articles(words: Sequence[str]) -> tuple[str, ...]:
    """Return words from the first one that names something."""
    start = next((at for at, word in enumerate(words) if word not in ARTICLES and word not in _LEAD), len(words))
    return tuple(words[start:])


_Tag = tuple[str, Phase]  # a relation, and the phase of its state


def _read_clause(clause: str) -> Iterator[State]:
    folded = fold(clause)
    words = strip_articles(split_words(folded))
    for tag, match in match_forms(_index_forms(), words):
        if state := _make_state(*tag, match.groupdict()):
            yield state
    if has_kana_or_kanji(folded):
        yield from _read_unspaced(folded)


def _make_state(relation: str, phase: Phase, parts: Mapping[str, str]) -> State | None:
    named = parts["s"].split(" ") if "s" in parts else ["i"]
    subject = _read_subject(named)
    value = frozenset(content_stems(_cut(parts["v"].split(" "))))
    numbers = [each for each in value if is_number(each) and (relation != "tool" or each.isalpha())]
    is_of_many = relation == "tool" and subject == WRITER and phase != "end"  # `I use vim`
    if not subject or not value or numbers or is_of_many:  # `moved to Tuesday` is no place
        return None
    return State(relation, phase, subject, value, named[0] in OURS)


def _read_unspaced(folded: str) -> Iterator[State]:
    for relation, phases in _UNSPACED.items():
        for phase, pattern in ((phase, pattern) for phase, patterns in phases.items() for pattern in patterns):
            match = compile_pattern(pattern).match(folded)
            if not match:
                continue
            subject, value = (_UNSPACED_TIMES.sub("", match[name] or "") for name in "sv")
            if value and not any(map(is_number, split_words(value))):
                writer = not subject or subject in _WRITERS
                yield State(relation, phase, WRITER if writer else (subject,), frozenset((value,)))


def _read_subject(words: list[str]) -> tuple[str, ...]:
    """Return the stems of what a clause is about; empty if that is only a pronoun."""
    if all(word in _WRITERS or word in _FILLERS for word in words):
        return WRITER if not _WRITERS.isdisjoint(words) else ()
    if words[0] in PREPOSITIONS and words[0] != "a":  # `runs on …`; not `assumiu a loja`
        return ()
    stems = (stem for stem in content_stems(_cut(words)) if stem not in _FILLERS)
    return tuple(stem for stem in stems if stem.isdigit() or not is_number(stem))  # parcel 7 is not parcel 8


def _cut(words: list[str]) -> list[str]:
    """Return the words up to the end of what they name."""
    return words[: next((at for at, word in enumerate(words) if at and word in _VALUE_ENDS), len(words))]


@cache
def _index_forms() -> FormIndex[_Tag]:
    table = [
        ((relation, phase), forms[phase])
        for relation in RELATIONS
        for forms in (read_table("states", f"FORMS_{relation.upper()}"),)
        for phase in get_args(Phase)
        if phase in forms
    ]
    return index_forms(table, _PLACEHOLDERS, _LAST_PLACEHOLDERS)
