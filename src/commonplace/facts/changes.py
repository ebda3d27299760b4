"""Changes without a shared frame: notes that say that something changed, about the same thing as an older note.

Each rule needs words of change in the newer note, and compares what both are about, not how alike they are:
the same thing gets another value of the same kind; another has the same role; all that a note takes back is in the
older one; what was broken or under way is settled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import product

from ..caching import cache_within
from ..patterns import lazy_pattern
from .claims import (
    Claim,
    find_topics,
    name_subjects,
    read_claims,
    read_first_claim,
    read_plain_words,
    read_topics,
    split_clauses,
)
from .cues import CHANGE_CUES, Cue, has_cue, has_english_cue, have_one_language, is_english
from .distinctions import have_other_subjects
from .frames import Frame, align, differs_in_subject
from .links import Link
from .relations import EVENT_WORDS, FIRST_PERSON, ROLES, STATES, YOU, find_relation
from .statements import Statement
from .words import (
    NEGATIONS,
    OURS,
    VAGUE_STARTS,
    compile_pattern,
    fold,
    has_capitals,
    is_amount,
    is_number,
    is_unspaced,
    may_have_number,
    phrase_pattern,
    split_words,
    stem,
    word_set,
)

_CHARGES = word_set("values", "CHARGES")
_MIN_SHARE_OF_NEWER = 0.2
_MIN_SHARE_OF_UNSPACED = 0.1  # of the pairs of characters
_MIN_SHARE_OF_HEAD = 0.5
_MIN_SHARE_OF_UNSPACED_HEAD = 0.3
_MAX_VALUE_WORDS = 4
_MAX_UNSPACED_VALUE = 10
_MIN_FRAME_WORDS = 2
_MIN_DENIED_TOPICS = 2
_TODAY = phrase_pattern("changes", "TODAY")
_MAX_TOPICS_OF_PLAN = 4  # of what a single word takes back
_CHANGES = frozenset(("change", "weak change", "retraction", "resolution"))
_INDEFINITE = word_set("changes", "INDEFINITE")
_RENAMED = lazy_pattern(r"\brenamed (?:the |our )?(?:\w+ )??(?P<old>[\w.-]+) (?:to|into) (?P<new>[\w.-]+)")
_OLD = r"(?P<old>\S+(?: \S+){0,2}?)"
_ARTICLE = (
    r"(?:(?:the|our|my|using|a|an|der|die|das|den|dem|le|la|les|l'|el|los|las|o|os|as|do|da|de|d'|del|du|des|من|عن) )?"
)
_CHANGED = r"(?:switch|mov|migrat|chang|transition|convert|port|upgrad|went|go)"
# Each with literal texts: every note that matches has one of them.
_SPACED = (
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
_UNSPACED = (
    r"(?:把|将)?(?P<old>[^，。,把将]{1,12}?)(?:换成|改成|替换为|替换成|换为)",
    r"从(?P<old>[^，。,]{1,12}?)(?:换|改|迁|搬|转|切)[^，。,]{0,3}到",
    r"不是(?P<old>[^，。,]{1,12}?)[，,]?\s*而?是",
    r"(?:代替|取代|而不是)(?P<old>[^，。,]{1,12})",
    r"(?P<old>[^、。はがを]{1,14})から.{1,14}(?:に|へ)(?:変更|移行|切り替え|乗り換え|移し|変え)",
    r"(?P<old>[^、。はがを]{1,14})(?:の代わり|ではなく|じゃなく)",
)

_BACK = phrase_pattern("changes", "BACK")


def find_change(older: Statement, newer: Statement) -> Link | None:
    """Return how a newer note says that what the older one says has changed; None if it does not."""
    if not says_change(newer) or not _may_be_replaced(older) or not YOU.isdisjoint(newer.words):
        return None
    if "tentative" in newer.cues or not have_one_language(older.text, newer.text):
        return None
    cues = newer.cues
    if not cues.isdisjoint(CHANGE_CUES) and (about := _find_same_role(older, newer)):
        return Link("correction", "says that it changed", _show(about))
    if have_other_subjects(older, newer):
        return None
    replaced = read_replaced_topics(newer.text)
    if replaced and _has_as_value(older, replaced):
        return Link("correction", "names what it replaces", _show(replaced))
    if replaced and replaced.isdisjoint(older.stems):
        return None
    if "retraction" in cues and (about := _find_in_clauses(_find_taken_back, older, newer.text, "retraction")):
        return Link("retraction", "takes it back", _show(about))
    if "resolution" in cues and (about := _find_in_clauses(_find_settled, older, newer.text, "resolution")):
        return Link("correction", "says that it is settled", _show(about))
    if about := _find_denied(older, newer):
        return Link("retraction" if "retraction" in cues else "correction", "says that it changed", _show(about))
    if about := _find_renamed(older, newer):
        return Link("correction", "says that it changed", _show(about))
    is_weak = cues.isdisjoint(("change", "retraction"))
    if is_weak and set(older.stems) <= set(newer.stems):
        return None
    if "retraction" in cues and len(split_clauses(newer.text)) == 1:
        return None  # it takes back something else
    if is_weak and not _may_hint(newer):
        about = _find_same_frame(older, newer, name_subjects(newer.text)[1:])
    else:
        about = _find_same_thing(older, newer) or _find_same_frame(
            older, newer, (newer.text, *name_subjects(newer.text))
        )
    return Link("correction", "says that it changed", _show(about)) if about else None


@cache_within(2_000_000)
def says_change(newer: Statement) -> bool:
    """Return whether `find_change` could find anything in a note: words of change, or a form that implies one.
    Cached, as a note is compared with many."""
    if not newer.cues.isdisjoint(_CHANGES) or not NEGATIONS.isdisjoint(newer.words):
        return True
    return _may_hint(newer) or bool(read_replaced_topics(newer.text))


def _may_hint(newer: Statement) -> bool:
    """Return whether a note may imply a change: by a word that means one beside the same subject, or by a new
    value."""
    if "weak change" in newer.cues or has_cue(newer.folded, "hint"):
        return True
    # Most notes have no number, and checking that is much cheaper than reading them.
    has_number = may_have_number(newer.text)
    return has_number and any(claim.goal and claim.numbers for claim in read_claims(newer.text))


def _find_denied(older: Statement, newer: Statement) -> frozenset[str]:
    """Return what both notes are about, if a clause of the newer one has the words of the older and just one of them
    denies it."""
    topics = read_topics(older.text)
    is_denied = _is_denied(older.words)
    clauses = split_clauses(newer.text) if len(topics) >= _MIN_DENIED_TOPICS or is_denied else ()
    for clause in clauses:
        if is_denied == _is_denied(split_words(fold(clause))):
            continue
        others = read_topics(clause)
        if len(topics) >= _MIN_DENIED_TOPICS and topics == others:
            return topics
    return frozenset()


def _is_denied(words: Iterable[str]) -> bool:
    return any(word in NEGATIONS or (word.startswith("un") and word[2:] in STATES) for word in words)


def _find_renamed(older: Statement, newer: Statement) -> frozenset[str]:
    """Return the old name of something, if the newer note is about that name, and says what it is called now."""
    match = _RENAMED.search(newer.folded) if "rename" in newer.text.lower() else None
    if match and older.words[-1] == match["old"] and match["new"] not in older.words:
        return frozenset((match["old"],))
    return frozenset()


def _has_as_value(older: Statement, replaced: frozenset[str]) -> bool:
    """Return whether what was replaced is the value of a note: a name, or something that is used."""
    claims = read_first_claim(older.text)
    if not replaced <= set(older.stems) or any(claim.is_closed and replaced & claim.heads[0] for claim in claims):
        return False
    if all(map(is_amount, replaced)):
        return False
    is_whole = any(claim.is_closed and claim.value == replaced for claim in claims)
    return is_whole or _has_name(older.text, replaced)


def _show(topics: frozenset[str]) -> str:
    return " ".join(sorted(topics))


def _may_be_replaced(older: Statement) -> bool:
    """Return whether a note says how things are, rather than what happened once, and does not address anybody."""
    if older.words[0] in VAGUE_STARTS or not YOU.isdisjoint(older.words) or older.is_question:
        return False
    return EVENT_WORDS.isdisjoint(older.words)


def _find_same_thing(older: Statement, newer: Statement) -> frozenset[str]:
    """Return what both notes are about, if the newer one gives it another value of the same kind."""
    if "tentative" in older.cues or older.reports_event:
        return frozenset()
    for claim in read_first_claim(older.text):
        for change in read_claims(newer.text) if claim.is_closed else ():
            head = _match_heads(claim, change, older)
            min_share = _MIN_SHARE_OF_UNSPACED if _is_unspaced(head) else _MIN_SHARE_OF_NEWER
            if head and len(head) >= min_share * len(set(newer.stems)):
                return head
    return frozenset()


def _find_same_frame(older: Statement, newer: Statement, clauses: Iterable[str]) -> frozenset[str]:
    """Return what both notes have in common, if apart from the words of change they differ in one short span."""
    if "tentative" in older.cues or "addition" in newer.cues:
        return frozenset()
    plain = read_plain_words(older.text)
    for text in clauses:
        frame = align(plain, read_plain_words(text))
        shared = [*frame.prefix, *frame.suffix]
        if not frame.prefix or len(shared) < max(_MIN_FRAME_WORDS, len(frame.older)):
            continue
        if not frame.older or not frame.newer or differs_in_subject(frame):
            continue
        if _tells_kinds(frame, older, newer):
            continue
        topics = find_topics(shared)
        is_one_span = set(frame.older).isdisjoint(frame.newer)
        is_short = max(len(frame.older), len(frame.newer)) <= _max_value(topics)
        if topics and is_one_span and is_short:
            return topics
    return frozenset()


def _tells_kinds(frame: Frame, older: Statement, newer: Statement) -> bool:
    """Return whether two values are things that somebody may be or have side by side: `is a doctor`, `is a mother now`;
    `has two children`, `has a dog now`."""
    relation = find_relation(tuple(frame.prefix))
    if relation is None or relation.kind not in ("be", "have"):
        return False
    if relation.kind == "have":
        return not all(any(map(is_number, value)) for value in (frame.older, frame.newer))
    return all(
        _has_article(frame.prefix, value, each.words) for value, each in ((frame.older, older), (frame.newer, newer))
    )


def _has_article(prefix: list[str], value: list[str], words: Sequence[str]) -> bool:
    """Return whether an indefinite article is before a value."""
    at = words.index(value[0]) if value[0] in words else 0
    return prefix[-1] in _INDEFINITE or (at > 0 and words[at - 1] in _INDEFINITE)


def _max_value(topics: frozenset[str]) -> int:
    return _MAX_UNSPACED_VALUE if _is_unspaced(topics) else _MAX_VALUE_WORDS


def _match_heads(older: Claim, newer: Claim, statement: Statement) -> frozenset[str]:
    if not older.is_closed or not _have_values_of_one_kind(older, newer):
        return frozenset()
    head = older.heads[0]
    for named in newer.heads:
        is_longer = named > head and named <= set(statement.stems) and not older.value <= named
        if named == head or is_longer or _adds_verb(head, named, newer):
            return head
        is_part = named < head and len(named) >= _min_share(head) * len(head)
        if is_part and older.units == newer.units and "" not in older.units and older.units:
            return named
    return frozenset()


def _adds_verb(head: frozenset[str], named: frozenset[str], newer: Claim) -> bool:
    """Return whether the newer claim has one more word, before what something changed to: `water bill jumped to 55`."""
    added = named - head
    if newer.numbers and len(added) == len(head - named) == 1 and len(head & named) > 1:  # `holds 30`, `fits 45`
        return True
    return named > head and len(added) == 1 and bool(newer.goal or newer.numbers)


def replaces_other(older: Statement, newer: Statement) -> bool:
    """Return whether the newer note names something as replaced that the older one does not have."""
    replaced = read_replaced_topics(newer.text)
    if not replaced:
        return False
    return replaced.isdisjoint(older.stems) or not _find_replaced_numbers(newer.text) <= set(older.words)


def _min_share(head: frozenset[str]) -> float:
    return _MIN_SHARE_OF_UNSPACED_HEAD if _is_unspaced(head) else _MIN_SHARE_OF_HEAD


def _is_unspaced(head: frozenset[str]) -> bool:
    return any(is_unspaced(each[0]) for each in head)


def _have_values_of_one_kind(older: Claim, newer: Claim) -> bool:
    """Return whether both give a number, or both a place or a name, and the newer one does not just repeat the
    older."""
    if older.numbers and newer.numbers:
        return _have_one_unit(older, newer) and not newer.numbers <= older.numbers
    if older.numbers or newer.numbers or newer.value <= older.value:
        return False
    return (older.has_place and newer.has_place) or len(older.heads[0]) > 1


def _have_one_unit(older: Claim, newer: Claim) -> bool:
    return not older.units.isdisjoint(newer.units) or "" in older.units | newer.units


def count_alike(older: Statement, newer: Statement) -> bool:
    """Return whether the numbers of two notes may be of one kind: `at 2 am` and `for 90 days` are not."""
    pairs = product(read_claims(older.text), read_claims(newer.text))
    numbered = [pair for pair in pairs if pair[0].numbers and pair[1].numbers]
    return not numbered or any(_have_one_unit(*pair) for pair in numbered)


def _find_same_role(older: Statement, newer: Statement) -> frozenset[str]:
    """Return the role that passes to somebody else: `Victor is our landlord`, `our landlord is Mrs. Chen now`."""
    for claim in read_first_claim(older.text):
        is_ours = not (OURS.isdisjoint(older.words) or OURS.isdisjoint(newer.words))  # `our vet`
        is_charge = not (_CHARGES.isdisjoint(older.words) or _CHARGES.isdisjoint(newer.words))
        if not is_charge and have_other_subjects(older, newer):
            continue
        sides = [
            side
            for side in (claim.heads[0], claim.value)
            if len(side) > 1 or (side and (is_ours or is_charge)) or side & ROLES
        ]
        known = set(newer.stems)
        for change in read_claims(newer.text) if sides else ():
            for role in (change.heads[0], change.value):
                holder = {*change.heads[0], *change.value} - role
                is_role = role in sides or (role & ROLES and any(role < side <= known for side in sides))
                if is_role and holder and holder.isdisjoint(older.stems) and _has_name(newer.text, holder):
                    return role
    return frozenset()


def _has_name(text: str, stems: Set[str]) -> bool:
    """Return whether one of the stems is a name: with a capital letter, a digit, or in a script that has neither."""
    return any(has_capitals(each, text) or not each.isalpha() or not each.isascii() for each in stems)


def _find_in_clauses(
    find: Callable[[Statement, str], frozenset[str]], older: Statement, text: str, cue: Cue
) -> frozenset[str]:
    """Return what a note or the clause of it with a cue says of what the older one is about: `the Lofoten trip is off,
    flights got cancelled`."""
    clauses = split_clauses(text)
    if about := find(older, text):
        return about
    is_denied = cue == "retraction" and _is_denied(older.words)  # `no delays`, `no more delays`
    marked = [clause for clause in clauses if has_cue(fold(clause), cue)] if len(clauses) > 1 and not is_denied else []
    if not marked or _TODAY.search(fold(marked[0])) or split_words(fold(marked[0]))[0] in VAGUE_STARTS:
        return frozenset()
    return find(older, marked[0])


def repeats_retraction(older: Statement, newer: Statement) -> bool:
    """Return whether the older note has the word that would take it back: after `the job deletes old events`, `deleted`
    says that the job ran."""
    return any(has_cue(word, "retraction") and stem(word) in older.stems for word in newer.words)


def _find_taken_back(older: Statement, text: str) -> frozenset[str]:
    """Return what a text takes back, if the older note has all of it, or all but the verb."""
    topics = read_topics(text)
    about = topics.intersection(older.stems)
    is_in_english = is_english(text) or has_english_cue(fold(text), "retraction")
    max_verbs = 0 if is_in_english else 1  # stems bring the forms of English verbs together, but not others
    if not about or len(topics - about) > min(max_verbs, len(topics) - 1):
        return frozenset()
    if about != topics and any(claim.is_closed and about <= claim.heads[0] for claim in read_first_claim(older.text)):
        return frozenset()  # the same person, but something else of theirs
    things = [each for each in about if not is_number(each)]
    if len(things) >= 2 and about == topics:
        return about
    is_short = len(read_topics(older.text)) <= _MAX_TOPICS_OF_PLAN
    is_clear = _is_own(older, about) or _have_same_head(older.text, text)
    return about if things and is_short and is_clear else frozenset()


def _have_same_head(older: str, newer: str) -> bool:
    """Return whether both notes name the same subject in the same words."""
    return any(
        first.is_closed and second.is_closed and first.heads[0] == second.heads[0]
        for first in read_first_claim(older)
        for second in read_first_claim(newer)
    )


def _is_own(older: Statement, about: frozenset[str]) -> bool:
    """Return whether a note is about just that, or about what its writer does: it names no other subject."""
    claims = read_claims(older.text)
    is_subject = any(claim.is_closed and about == claim.heads[0] for claim in claims)
    if is_subject or not FIRST_PERSON.isdisjoint(older.words) or older.words[0].endswith("ing"):  # `going to Japan`
        return True
    return not is_english(older.text) and not any(claim.is_closed for claim in claims)


def _find_settled(older: Statement, text: str) -> frozenset[str]:
    """Return what was broken, under way or missing, if a text says that this is settled."""
    if not has_cue(older.folded, "trouble"):
        return frozenset()
    topics = read_topics(text)
    trouble = read_topics(older.text)
    shared = topics & trouble
    is_back = bool(shared) and _BACK.search(fold(text)) is not None and _have_same_head(older.text, text)
    return shared if shared and (is_back or shared in (trouble, topics)) else frozenset()


def _choose_patterns(folded: str) -> Iterator[re.Pattern[str]]:
    """Yield the patterns that may match: most notes have none of the words that they ask for."""
    for parts, pattern in _SPACED:
        if any(part in folded for part in parts):
            yield compile_pattern(pattern)
    if not folded.isascii():
        yield from map(compile_pattern, _UNSPACED)


def _find_replaced_numbers(text: str) -> set[str]:
    """Return the numbers of things that a note names as replaced: `from room 5 to room 4` is not about room 3."""
    folded = fold(text)
    for pattern in _choose_patterns(folded):
        if match := pattern.search(folded):
            words = split_words(match["old"])
            return {word for word in words if word.isdecimal()} if len(words) > 1 else set()
    return set()


@cache_within(500_000)
def read_replaced_topics(text: str) -> frozenset[str]:
    """Return the topics of what a note names as replaced; empty if it names nothing."""
    folded = fold(text)
    for pattern in _choose_patterns(folded):
        if (match := pattern.search(folded)) and (topics := find_topics(split_words(match["old"]))):
            return topics
    return frozenset()
