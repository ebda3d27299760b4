"""Changes without a shared frame: notes that say that something changed, about the same thing as an older note.

Each rule needs words of change in the newer note. `find_change` compares what both are about, not how alike they are:
the same thing gets another value of the same kind; another has the same role; all that a note takes back is in the
older one; what was broken or under way is settled. `find_change_by_share` asks how many topics of the older note the
newer one shares, and `find_moved` whether it gives the same thing another date or number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from itertools import pairwise, product

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
from .cues import CHANGE_CUES, Cue, find_cue, has_cue, has_english_cue, have_one_language, is_english
from .frames import Frame, align, differs_in_subject
from .links import Link
from .relations import FIRST_PERSON, FREE_LABELS, GENERIC, ROLES, STATES, YOU, find_relation, is_topic
from .retractions import find_replaced_numbers, read_replaced_topics
from .statements import Statement
from .vetoes import have_other_subjects
from .words import (
    ARTICLES,
    NEGATIONS,
    OURS,
    VAGUE_STARTS,
    content_stems,
    fold,
    has_capitals,
    is_amount,
    is_number,
    is_unspaced,
    list_capitalised,
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

_BACK = phrase_pattern("changes", "BACK")
# The share of the older statement's topics that the newer one has to name.
_MIN_SHARES = {"strong": 0.4, "weak": 0.6, "answer": 0.4, "label": 0.2}
_MIN_SHARE_OF_ONE = 0.75  # of what the older is about, if both have one word in common
_MIN_SHARE_OF_NEWER_STEMS = 0.27  # of its words, since a long sentence shares some with any
_MIN_SHARE_OF_SUBJECT = 0.5  # of the shared topics, if the newer statement changes a date or a number
_MAX_SUBJECT_TOPICS = 3
_MAX_DECISION_STEMS = 6
_NAME_WEIGHT = 2.0
_GENERIC_WEIGHT = 0.3
_ARROWS = ("→", "->", "=>")
_ARROW = lazy_pattern(rf"(\S+)\s*(?:{'|'.join(_ARROWS)})\s*\S+")
_AFTER_NOT = ARTICLES | word_set("changes", "AFTER_NOT")
_NOT = frozenset(("not", "nicht", "no", "pas", "não", "не", "नहीं", "لا", "ليس"))


def find_change(older: Statement, newer: Statement) -> Link | None:
    """Return a link if the newer note says that what the older one says has changed."""
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
    return not older.is_event


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
    return replaced.isdisjoint(older.stems) or not find_replaced_numbers(newer.text) <= set(older.words)


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


def find_moved(older: Statement, newer: Statement) -> Link | None:
    """Return a link if the newer note changes a date or a number of the same thing."""
    moved = _read_moved(newer)
    if not moved or "open" in older.cues or older.is_event:
        return None
    subject = _read_subject(older, "")
    if max(len(subject), len(moved)) > _MAX_SUBJECT_TOPICS or moved[0] not in subject:
        return None
    shared = set(subject).intersection(moved)
    if len(shared) < _MIN_SHARE_OF_SUBJECT * max(len(subject), len(moved)):
        return None
    if not count_alike(older, newer) or have_other_subjects(older, newer):
        return None
    return Link("correction", "says that it changed", " ".join(sorted(shared)))


@cache_within(2_000_000)
def _read_moved(newer: Statement) -> list[str]:
    """Return the topics of a statement that says that something changed; cached, as it is compared with many."""
    return _read_subject(newer, find_cue(newer.folded, "change"))


def _read_subject(statement: Statement, cue: str) -> list[str]:
    """Return the topics before the first number of a statement, without those of a cue; empty if it has no number."""
    skipped = set(content_stems(split_words(cue)))
    at = next((at for at, each in enumerate(statement.stems) if is_number(each)), 0)
    return [each for each in _topics(statement.stems[:at]) if each not in skipped]


def find_change_by_share(older: Statement, newer: Statement) -> Link | None:
    """Return a link if the newer note says that something changed and is about the same thing."""
    if "open" not in older.cues and not may_say_change(newer):
        return None
    if not YOU.isdisjoint(newer.words):
        return None
    shared, share = _weigh_shared(older, newer)
    about = " ".join(sorted(shared))
    if "open" in older.cues:
        if not older.is_question and have_other_subjects(older, newer):
            return None
        is_answer = _is_answer(shared, share, newer) or _is_decision(older, newer, shared)
        return Link("answer", "answers what was open", about) if is_answer else None
    if _is_renamed(older, newer):
        return Link("correction", "gives it another name", about)
    topics = _topics(shared)
    is_enough = len(topics) >= 2 or share >= _MIN_SHARE_OF_ONE
    if not is_enough or len(shared) < _MIN_SHARE_OF_NEWER_STEMS * len(set(newer.stems)) or older.is_event:
        return None
    if have_other_subjects(older, newer) or replaces_other(older, newer):
        return None
    if _says_change_anew(older, newer, "retraction") and share >= _MIN_SHARES["strong"]:
        return Link("retraction", "takes it back", about)
    is_strong = _says_change_anew(older, newer, "change") or denies(older, newer)
    is_weak = _says_change_anew(older, newer, "weak change") and _gives_new_value(older, newer)
    if (is_strong and share >= _MIN_SHARES["strong"]) or (is_weak and share >= _MIN_SHARES["weak"]):
        return Link("correction", "says that it changed", about)
    return None


def _gives_new_value(older: Statement, newer: Statement) -> bool:
    """Return whether the newer note has a number or a name that the older one lacks, and does not repeat all of the
    older."""
    if set(older.stems) <= set(newer.stems):
        return False
    is_cased = any(letter.islower() for letter in newer.text)
    return not is_cased or any(
        is_number(word) or word in list_capitalised(newer.text) for word in set(newer.words) - set(older.words)
    )


def _is_answer(shared: set[str], share: float, newer: Statement) -> bool:
    """Return whether a note may answer a question: it has a good part of what the question is about."""
    if newer.label and len(shared) == 1:
        is_label = shared == newer.label_stems and shared.isdisjoint(FREE_LABELS) and bool(_topics(shared))
        return is_label and share >= _MIN_SHARES["label"]  # a long sentence is not about every name in it
    topics = _topics(shared)
    has_date = any(is_number(each) and each.isalpha() for each in shared)
    return len(topics) + has_date >= 2 and bool(topics) and share >= _MIN_SHARES["answer"]


def _is_decision(older: Statement, newer: Statement, shared: set[str]) -> bool:
    """Return whether a note says what was decided about something that an older one calls open; one common word is
    enough."""
    is_open = has_cue(older.folded, "open")
    about = shared & read_topics(newer.text) & read_topics(older.text)
    return is_open and "decision" in newer.cues and bool(_topics(about)) and len(newer.stems) <= _MAX_DECISION_STEMS


def _says_change_anew(older: Statement, newer: Statement, cue: Cue) -> bool:
    """Return whether the newer statement says that something changed, in words that the older one does not have."""
    return cue in newer.cues and find_cue(newer.folded, cue) not in older.folded


def _is_renamed(older: Statement, newer: Statement) -> bool:
    match = _ARROW.search(newer.folded) if any(arrow in newer.text for arrow in _ARROWS) else None
    return match is not None and match[1] in older.words and bool(_topics([stem(match[1])]))


def _weigh_shared(older: Statement, newer: Statement) -> tuple[set[str], float]:
    """Return the topics that both statements share, and their share of the older one's topics. Names weigh more."""
    weights = _weigh_stems(older.text, older.stems)
    shared = weights.keys() & newer.stems
    total = sum(weights.values())
    return shared, sum(weights[each] for each in shared) / total if total else 0.0


@cache_within(2_000_000)
def _weigh_stems(text: str, stems: tuple[str, ...]) -> dict[str, float]:
    """Return how much each stem of a statement says about its topic; cached, as it is compared with many."""
    names = {stem(word) for word in list_capitalised(text)}
    return {each: _weigh(each, names) for each in stems if not each[0].isdigit()}


def _weigh(each: str, names: set[str]) -> float:
    if each in GENERIC or is_number(each):
        return _GENERIC_WEIGHT
    return _NAME_WEIGHT if each in names else 1.0


def _topics(stems: Iterable[str]) -> list[str]:
    return [*filter(is_topic, stems)]


def may_say_change(newer: Statement) -> bool:
    """Return whether a closer look may find that something changed: most statements have no such word."""
    if not newer.cues.isdisjoint(CHANGE_CUES) or not _NOT.isdisjoint(newer.words):
        return True
    return any(arrow in newer.text for arrow in _ARROWS)


def denies(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement has `not` before a word of the older one, which does not have it there."""
    return not (_denied_stems(newer) - _denied_stems(older)).isdisjoint(older.stems)


def _denied_stems(statement: Statement) -> set[str]:
    words = [word for word in statement.words if word not in _AFTER_NOT]
    return {stem(after) for word, after in pairwise(words) if word in _NOT}
