"""Vetoes: why two statements that look alike are not versions of one fact: another subject or case, an exception, a
plan.

Hiding a true fact does more harm than showing an old one, so these rules come before all rules that link.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from ..patterns import lazy_pattern
from .attributes import is_attribute
from .claims import PLANS, read_first_claim, read_plain_words, read_topics, split_clauses
from .cues import Cue, find_cue, has_cue, mark_cues
from .relations import FIRST_PERSON, GENERIC, STATES
from .statements import Statement
from .states import compare_states, is_about, read_states, strip_articles
from .words import (
    ARTICLES,
    DETERMINERS,
    FOR,
    NEGATIONS,
    OF,
    PREPOSITIONS,
    TITLES,
    content_stems,
    fold,
    is_number,
    is_past_verb,
    is_unspaced,
    join_phrases,
    list_capitalised,
    phrase_pattern,
    read_list,
    read_table,
    split_words,
    stem,
    word_set,
    word_sets,
)

_APPOINTMENTS = word_set("values", "APPOINTMENTS")
_CONTRASTS = word_sets("values", "CONTRASTS")
_OWNER_MARKS = word_set("values", "OWNER_MARKS")
_RELATIVES = word_set("values", "RELATIVES")
_REPORTING = word_set("values", "REPORTING")
_GENERIC = word_set("vetoes", "GENERIC")
_UNSPACED_CASE = lazy_pattern("测试|生产|开发|预发|本番|テスト|開発|[0-9一二三四]階|[0-9一二三四]楼")
_UNSPACED_VERB = lazy_pattern("[はが是为在改]")
_LETTER = lazy_pattern(r"(?<=[^\W\d_] )[A-HJ-Z](?![\w'.])")
_VERSION = lazy_pattern(r"v?\d+(?:\.\d+)+")
# Not `since today`, which goes on.
_NOT_SINCE = "".join(f"(?<!{word} )" for word in read_list("days", "SINCE").split())
_EXCEPTION = lazy_pattern(_NOT_SINCE + join_phrases("vetoes", "EXCEPTION"))
_NOT_DONE = phrase_pattern("vetoes", "NOT_DONE")
_LATER = phrase_pattern("vetoes", "LATER")
_PASSIVE_AUXILIARIES = frozenset(("is", "are", "be", "being"))  # `events are kept 7 days` is in the present
_PART_OF_DAY = phrase_pattern("days", "PART_OF_DAY")
_OTHER_DAY = lazy_pattern(
    rf"{_NOT_SINCE}(?<!as of )(?<!until )(?<!till )(?<!до )" + join_phrases("vetoes", "OTHER_DAY")
)
_CLOCK = lazy_pattern(
    r"\b\d{1,2}[:h.]\d\d\b|\b\d{1,2} ?(?:am|pm|h|uhr|बजे)(?!\w)|\d{1,2} ?[点點時时]"
    r"|\b(?:at|um|à|a las?|às|alle|в|to|until|till|bis|до) \d{1,2}\b"
)
_AGAIN = lazy_pattern(r"\b(?:again|wieder|de nuevo|otra vez|à nouveau|de novo|di nuovo|снова)\b|又|再び")
_STAYS = phrase_pattern("vetoes", "STAYS")
_COMPOUND = lazy_pattern(r"\b([^\W_]+-[^\W_]+) ([^\W_]+)")
_NARROWING = word_set("vetoes", "NARROWING")
_CASES = word_set("vetoes", "CASES")
_NUMBER = lazy_pattern(r"\d+")
_DENIAL = phrase_pattern("vetoes", "DENIAL")
_EMBEDDED_QUESTION = word_set("vetoes", "EMBEDDED_QUESTION")
_HAPPENING = frozenset(map(stem, word_set("vetoes", "HAPPENING")))
_BUT = lazy_pattern(r"\b(?:but|sondern|sino|mais|mas|ma|а)\b|而是")
_REASON = lazy_pattern(
    r"[,(]| (?:since|because|as|due to|after|so|in|weil|da|wegen|seit|porque|desde|por|parce que|car|depuis|perché"
    r"|потому что)\b"
)
# In English, where a name is the same in every case.
_WEEKDAYS = frozenset(
    day for name in ("WEEKDAYS", "WEEKLY_DAYS") for day in read_table("words", name)["english"].split()
)
_PERSON_CLAUSE = lazy_pattern(
    r"(?:and |but |so |und |aber |y |pero |et |mais |e |mas )?(?:he|she|er|sie|él|ella|il|elle|ele|ela|он|она) "
)
_CHARGE = "lead"  # the relation whose value is who is in charge
_CLAUSE_MARK = lazy_pattern(r"[,;:–—]\s")
# Somebody moves something, or moves themselves to something that is no place.
_MOVE = lazy_pattern(
    r"^(?:\w+ ){1,3}?(?:(?:has|have|just|recently) )*(?:moved|relocated|transferred|switched|shifted|handed|passed)"
    r"(?: (?:the|a|an|his|her|their|our|my|its) (?P<thing>\w+))?(?: .*?)?\bto (?P<target>.+)$"
)
_NO_PLACES = word_set("vetoes", "NO_PLACES")
_BEFORE_VALUES = word_set("vetoes", "BEFORE_VALUES")
_CHANGES: tuple[Cue, ...] = ("change", "weak change")
_FOR = FOR | word_set("vetoes", "BETWEEN")
_PROMOTION = phrase_pattern("vetoes", "PROMOTION")
_NO_ROLES = ("home", "prefer", "use", "play", "speak", "go")
_PASSIVE = lazy_pattern(
    r"\b(?:is|are|was|were|been)(?: \w+ly| now| still)* (?P<verb>\w+(?:ed|en|wn|lt)) (?P<by>in|by|for|at|with|on)\b"
)


def _are_of_other_cases(older: Statement, newer: Statement) -> bool:
    """Return whether each is true of a different case: `on staging`, `in production`; `the front tyres`."""
    letters = [_LETTER.findall(each.text) for each in (older, newer)]
    if all(letters) and letters[0] != letters[1]:  # `room A`, `room B`
        return True
    for contrast in _CONTRASTS:
        old = contrast.intersection(older.words)
        new = contrast.intersection(newer.words)
        if old and new and old.isdisjoint(new) and not (_ends_with(older, old) or _ends_with(newer, new)):
            return True
    if older.text.isascii() and newer.text.isascii():
        return False
    cases = [set(_UNSPACED_CASE.findall(_UNSPACED_VERB.split(each.text)[0])) for each in (older, newer)]
    return all(cases) and cases[0].isdisjoint(cases[1])


def _have_other_titles(older: Statement, newer: Statement) -> bool:
    """Return whether a name has another title in each: `Herr Weber`, `Frau Weber`."""
    titles = [{name: title for title, name in pairwise(each.words) if title in TITLES} for each in (older, newer)]
    return any(titles[1].get(name, title) != title for name, title in titles[0].items())


def _only_asks(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement repeats the older one as a question: `ask Tom who leads billing`; not `the one
    who leads billing is Tom`."""
    at = next((at for at, word in enumerate(newer.words) if at and word in _EMBEDDED_QUESTION), 0)
    asked = set(content_stems(newer.words[at:]))
    return at > 0 and bool(asked) and asked <= set(older.stems)


def _tells_role_alone(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement changes somebody's role, while the older one says nothing about a role."""
    return bool(_PROMOTION.search(newer.folded)) and older.relation is not None and older.relation.kind in _NO_ROLES


def _have_other_passives(older: Statement, newer: Statement) -> bool:
    """Return whether two passive verbs are about different things: `written in Rust`, `maintained by Yuki`."""
    old = _PASSIVE.search(older.folded)
    new = _PASSIVE.search(newer.folded)
    if not old or not new or has_cue(new["verb"], "change"):
        return False
    return old["verb"] != new["verb"] and old["by"] != new["by"]


def _are_for_other_things(older: Statement, newer: Statement) -> bool:
    """Return whether each is for something else: `vim for Python`, `VS Code for Java`; not `reserved for Ann`, `… for
    Ben`, if that is the value."""
    values: list[set[str]] = []
    purposes: list[set[str]] = []
    for statement in (older, newer):
        at = max((at for at, word in enumerate(statement.words) if word in _FOR), default=0)
        values.append(set(content_stems(statement.words[:at])))
        purposes.append(set(content_stems(statement.words[at + 1 :])))
    if not all(purposes) or not all(values) or any(each[0].isdigit() for some in purposes for each in some):
        return False
    return purposes[0].isdisjoint(newer.stems) and purposes[1].isdisjoint(older.stems) and values[0] != values[1]


def _have_other_numbers(older: Statement, newer: Statement) -> bool:
    """Return whether each is about another of several numbered things: `bug 12 is fixed`, `sprint 15: exports`."""
    numbers = [_read_numbers_of_subject(each) for each in (older, newer)]
    return all(numbers) and numbers[0].isdisjoint(newer.words) and numbers[1].isdisjoint(older.words)


def _read_numbers_of_subject(statement: Statement) -> set[str]:
    """Return the numbers in the label of a statement, or before its verb; a version of a program is a value."""
    verb = next((at for at, word in enumerate(statement.words) if is_past_verb(word)), 0)
    subject = statement.label.split() or statement.words[: statement.relation.at if statement.relation else verb]
    return {word for word in subject if word[0].isdigit() and not _VERSION.fullmatch(word)}


def _ends_with(statement: Statement, words: frozenset[str]) -> bool:
    """Return whether a statement gives one of the words as its value: it ends with it, and has no number."""
    return statement.words[-1] in words and not any(map(is_number, statement.words))


def _is_of_relative(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement is about somebody or something else, and only mentions what the older one is
    about."""
    (name,) = strip_articles(older.words)[:1] or ("",)
    if any(word in _RELATIVES and after == name for word, after in pairwise(newer.words)):
        return True
    if "retraction" in newer.cues and read_topics(newer.text) <= set(older.stems):  # of Max, and of his swimming
        return False
    return is_about(older.words, (name,)) and _is_owner(newer, name, older.stems) and not _is_owner(older, name)


def _is_owner(statement: Statement, name: str, known: Sequence[str] = ()) -> bool:
    """Return whether a statement is about an unknown possession or relative of somebody: `Ben's brother left`, `die
    Eltern von Ben`; not `Ben's exam: he passed`, which goes on about Ben."""
    if any(_PERSON_CLAUSE.match(fold(clause)) for clause in split_clauses(statement.text)[1:]):
        return False
    for clause in split_clauses(statement.text):
        words = strip_articles(split_words(fold(clause)))
        if name not in words:
            continue
        at = words.index(name)
        owned = words[at + 2 :]
        nearby = [stem(word) for word in (*words[:at][-2:], *owned[:1])]
        if any(each in known or is_attribute(each) for each in nearby):  # `Ben has judo`, `Ben's judo`
            return False
        if words[at + 1 : at + 2] == ("'s",):  # not `Ben's sick` nor `the heating's fixed`
            return len(owned) > 1 and owned[0] not in STATES and not owned[0].endswith(("ed", "ing"))
        before = [word for word in words[:at] if word not in ARTICLES]
        is_owned = not OF.isdisjoint(before[1:][-1:]) and before[-2] not in PLANS  # not `the visit of the dentist`
        return is_owned or not _OWNER_MARKS.isdisjoint(words[at + 1 : at + 2])
    return False


def _moves_something_else(older: Statement, newer: Statement) -> bool:
    """Return whether somebody moved something that the older statement does not name (`Tom moved the meeting to …`); or
    whether one of the two is about moving to a team, and the other about a place."""
    match = _MOVE.match(" ".join(split_words(newer.folded)))
    if not match or _passes_on(older, newer):
        return False
    if match["thing"]:
        return stem(match["thing"]) not in older.stems
    target = match["target"].split()
    if any(map(is_number, target)) and any(map(is_number, older.words)):  # `the backup job was moved to 4 am`
        return False
    start = older.relation.at if older.relation else len(split_words(older.label))
    value = older.words[start:]
    return _NO_PLACES.isdisjoint(target) != _NO_PLACES.isdisjoint(value)


def _changes_another_thing(older: Statement, newer: Statement) -> bool:
    """Return whether what a label names does something to a thing that the older statement does not have: `Omar:
    backend`, `Omar takes over reviews`; not `Omar switched to frontend`."""
    label = set(content_stems(split_words(older.label)))
    if not label or newer.label or not label.issuperset(set(older.stems).intersection(newer.stems)):
        return False
    if any(map(is_number, older.words)) and any(map(is_number, newer.words)):
        return False
    cues = [cue for kind in ("change", "retraction") if (cue := find_cue(newer.folded, kind))]
    return any(_has_object(newer, cue, label) for cue in cues)


def _has_object(statement: Statement, cue: str, subject: set[str]) -> bool:
    """Return whether a phrase of change follows its subject, and a thing follows that."""
    before, _, after = statement.folded.partition(cue)
    verb = cue.split()[-1]
    follows = not subject.isdisjoint(content_stems(split_words(before))[-1:])
    first = next(iter(split_words(split_clauses(after)[0] if after.strip() else "")), "")
    is_value = verb in _BEFORE_VALUES | PREPOSITIONS or first in PREPOSITIONS or is_number(first)
    return follows and bool(first) and not is_value


def _passes_on(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement says who now has what somebody else had."""
    verdict = compare_states(older.text, newer.text, says_change=False)
    return verdict is not None and verdict[0] == "changed" and verdict[1].relation == _CHARGE


def _is_exception(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement is about one exception, a part of one day, or something that was rejected."""
    if any(each.search(newer.folded) and not each.search(older.folded) for each in (_NOT_DONE, _EXCEPTION)):
        return True
    return bool(_PART_OF_DAY.search(newer.folded) and _PART_OF_DAY.search(older.folded))


def _holds_only_later(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement says how things will be after something else, and nothing of today: `after the
    migration, backups go to Hetzner`, `… as soon as the disk arrives`; not `after the migration, they went to Hetzner`.
    """
    if not _LATER.search(newer.folded) or _LATER.search(older.folded):
        return False
    words = split_words(_LATER.sub(" ", newer.folded))
    has_past = any(is_past_verb(word) and before not in _PASSIVE_AUXILIARIES for before, word in pairwise(["", *words]))
    return "now" not in words and not has_past


def _is_on_another_day(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement gives the time for one day, and the older one the usual time (`at 11 today`);
    or whether it gives the date of another appointment."""
    if "change" in newer.cues:
        return False
    if not _APPOINTMENTS.isdisjoint(older.words) and not _APPOINTMENTS.isdisjoint(newer.words):
        return not _find_dates(older).issuperset(_find_dates(newer))
    is_of_one_day = _OTHER_DAY.search(newer.folded) and not _OTHER_DAY.search(older.folded)
    return bool(is_of_one_day and _CLOCK.search(older.folded) and _CLOCK.search(newer.folded))


def _is_of_another_state(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement changes another state of the same thing: where somebody lives, not where they
    work."""
    verdict = compare_states(older.text, newer.text, says_change=False)
    if verdict:
        return verdict[0] == "other"
    changes = [state for state in read_states(newer.text) if state.phase == "change"]
    holders = {each for state in read_states(older.text) if state.relation == _CHARGE for each in state.value}
    return any(change.relation != _CHARGE and holders.issuperset(change.subject) for change in changes)


def _find_dates(statement: Statement) -> set[str]:
    return {word for word in statement.words if is_number(word) and word.isalpha()}


def have_other_subjects(older: Statement, newer: Statement) -> bool:
    """Return whether two notes have different named subjects, neither of which the other mentions."""
    if older.label or newer.label:
        return False
    first = next(iter(read_first_claim(older.text)), None)
    second = next(iter(read_first_claim(newer.text)), None)
    if not first or not second or not first.is_closed or not second.is_closed:
        return False
    if first.heads[0] == second.heads[0]:
        return False
    if any(is_unspaced(each[0]) for each in first.heads[0] | second.heads[0]):
        pairs = ((first.heads[0], newer.text), (second.heads[0], older.text))
        return not any(each in text for head, text in pairs for each in head)
    added = [first.heads[0].difference(newer.stems), second.heads[0].difference(older.stems)]
    return all(added)  # `room 4`, `room 5`; `Ana's car`, `Tom's car`


def _name_other_things(older: Statement, newer: Statement) -> bool:
    """Return whether both name what they are about, and these are different things: `the office rent` and `the
    warehouse rent`, `the backup` and `the backup of the wiki`, `the launch party` and `the launch`."""
    verdict = compare_states(older.text, newer.text, says_change=False)
    if verdict and verdict[0] != "other":
        return False  # `Carmen left Telefónica and works at Indra now`
    old = _read_subject(older)
    new = _read_subject(newer)
    if not set(old) & set(new):
        return False  # `Ann owns billing`, `billing is owned by Ben`
    added = set(new) - set(old)
    missing = set(old) - set(new)
    if added and missing:
        return True
    if added:
        return not added <= set(older.stems)
    if not missing or old[-1] not in missing or missing <= set(newer.stems):
        return False
    return not (is_attribute(old[-1]) and old[-1] in newer.stems)  # `Ruth's phone number`, `Ruth has a new number`


def _read_subject(statement: Statement) -> tuple[str, ...]:
    """Return the stems of the subject of a statement's verb, without words that do not help to tell things apart."""
    relation = statement.relation
    own = FIRST_PERSON.intersection(relation.subject) if relation else ()
    if not relation or any(word.upper() not in statement.text for word in own):  # `EU` is no first person
        return ()
    words = statement.words[: relation.at]
    start = max(_find_clause(statement.text, words), _find_last(words, _REPORTING))
    nouns = (at for at in range(start, len(words)) if words[at] in DETERMINERS and words[at - 1] not in PREPOSITIONS)
    start = next(nouns, start)
    plain = set(read_plain_words(statement.text))  # without `finally`, `stopped` and other words of change
    stems = content_stems([word for word in words[start:] if word not in _GENERIC and word in plain])
    return tuple(each for each in stems if not _VERSION.fullmatch(each))


def _find_last(words: tuple[str, ...], wanted: frozenset[str]) -> int:
    """Return the index after the last of these words; 0 if there is none."""
    return max((at + 1 for at, word in enumerate(words) if word in wanted), default=0)


def _find_clause(text: str, words: tuple[str, ...]) -> int:
    """Return where the last clause begins in the words before the verb of a text: `turns out, the bug` is the bug."""
    for clause in reversed(_CLAUSE_MARK.split(text)):
        first = tuple(split_words(fold(clause)))
        for at in range(1, len(words)):
            if first[: len(words) - at] == words[at:]:
                return at
    return 0


def _says_it_stays(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement says that the older one remains true, or is true again."""
    folded = newer.folded
    before = older.folded
    is_denied = NEGATIONS.isdisjoint(older.words) != NEGATIONS.isdisjoint(newer.words)
    if _AGAIN.search(folded) and not is_denied and older.stems and set(older.stems) <= set(newer.stems):
        return True
    if not _STAYS.search(folded) or _STAYS.search(before):
        return False
    if any(map(is_unspaced, older.words)):
        return older.words[-1] in newer.words and older.words[-2:-1] == newer.words[-2:-1]
    # Of the clauses that say so: `Denmark is off, we stay at home` does not say that Denmark stays.
    clauses = [fold(clause) for clause in split_clauses(newer.text) if _STAYS.search(fold(clause))]
    stems = {each for clause in clauses or [folded] for each in content_stems(split_words(clause))}
    shared = stems.intersection(older.stems)
    return bool(shared) and (older.stems[-1] in shared or len(shared) >= min(2, len(older.stems)))


def _denies_something_else(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement denies something that the older one does not say: `is not allergic to cats`
    says nothing of nuts, nor does `Ben has no key any more` of Anna's."""
    folded = newer.folded
    if _DENIAL.search(older.folded) or _BUT.search(folded) or "resolution" in newer.cues:
        return False
    clauses = [*map(fold, split_clauses(newer.text))]
    at = next((at for at, clause in enumerate(clauses) if _DENIAL.search(clause)), len(clauses))
    clause = "".join(clauses[at : at + 1])
    denial = _DENIAL.search(clause)
    if not denial or any(map(is_unspaced, newer.words)):
        return False
    rest = (each for later in clauses[at + 1 :] for each in content_stems(split_words(later)))
    if not set(older.stems[1:]).isdisjoint(rest):  # it goes on about what the older one says
        return False
    reason = _REASON.search(clause, denial.end())
    rest_of_clause = content_stems(split_words(clause[denial.end() : reason.start() if reason else None]))
    denied = [each for each in rest_of_clause if each not in _HAPPENING]
    if denied and denied[-1] not in older.stems and not is_number(denied[-1]):
        return True
    if any(each not in older.stems and each not in GENERIC for each in denied[1:]):  # apart from the verb
        return True
    before = mark_cues(clause[: denial.start()], _CHANGES, " ")  # not `it turns out`
    subject = content_stems(split_words(before)) if denial["english"] else ()
    return any(each not in older.stems and each not in GENERIC for each in subject)


def _narrows(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement gives a number only for some cases: `90 seconds in the integration tests`,
    `the second-level cache`."""
    if not _NARROWING.isdisjoint(newer.words) and _NARROWING.isdisjoint(older.words):
        return True
    for compound in _COMPOUND.findall(newer.folded):
        modifier, noun = compound
        is_known = not content_stems([noun]) or modifier in older.folded or any(map(str.isdigit, modifier))
        if noun in older.words and not is_known:
            return True
    if _begins_with_case(older, newer):
        return True
    if not newer.cues.isdisjoint(("change", "weak change")):
        return False
    ends = [_read_end(each) for each in (older, newer)]
    return not ends[0] and bool(ends[1]) and bool(_NUMBER.search(older.text)) and not set(ends[1]) <= set(older.stems)


def _begins_with_case(older: Statement, newer: Statement) -> bool:
    """Return whether the newer statement begins with when or where it holds, and then is about what the older one is:
    `At night the heating is …`."""
    case = content_stems(newer.words[1:2])
    if newer.words[0] not in _CASES or older.words[0] in _CASES or not case or is_number(case[0]):
        return False
    if case[0] in older.stems or older.stems[0] not in newer.stems:
        return False
    return not any(cue in newer.cues and find_cue(newer.folded, cue) not in older.folded for cue in _CHANGES)


def _read_end(statement: Statement) -> list[str]:
    """Return the stems after the first preposition that follows the number of a statement; none if there is another
    number among them."""
    words = statement.words
    number = next((at for at, word in enumerate(words) if is_number(word) and word[0].isdigit()), len(words))
    start = next((at for at in range(number + 1, len(words)) if words[at] in _CASES), len(words))
    end = content_stems(words[start + 1 :])
    return [] if any(map(is_number, end)) else end


def _have_other_names(older: Statement, newer: Statement) -> bool:
    """Return whether two statements name other places or owners of one thing before their verbs: `my flight to Oslo`,
    `my flight to Rome`; or are about other people, and give another day, too."""
    if not older.relation or not newer.relation:
        first = [each.words[0] for each in (older, newer)]
        days = [_WEEKDAYS.intersection(each.words) for each in (older, newer)]
        are_people = first[0] != first[1] and first[0] not in newer.words and first[1] not in older.words
        return are_people and all(days) and days[0].isdisjoint(days[1]) and _begin_with_names(older, newer)
    if older.words[0] not in FIRST_PERSON:
        return False
    owners = {word for word, mark in pairwise(newer.words) if mark == "'s"}
    names = [_names_before_verb(each) for each in (older, newer)]
    is_elsewhere = newer.words[0] in FIRST_PERSON and all(names) and names[0].isdisjoint(names[1])
    return is_elsewhere or (bool(owners) and owners.isdisjoint(older.words))


def _begin_with_names(older: Statement, newer: Statement) -> bool:
    return all(each.text[:1].isupper() and each.words[0] not in DETERMINERS for each in (older, newer))


def _names_before_verb(statement: Statement) -> set[str]:
    if not statement.relation:
        return set()
    return set(list_capitalised(statement.text)).intersection(statement.words[: statement.relation.at])


def is_vetoed(older: Statement, newer: Statement, *, has_one_subject: bool = False) -> bool:
    """Return whether the newer of two statements is about something else, or changes nothing for good.

    `has_one_subject`: what both are about was compared already.
    """
    if older.speaker or newer.speaker:
        return False
    if any(rejects(older, newer) for rejects in _VETOES):
        return True
    if "open" in older.cues:
        return False
    if any(rejects(older, newer) for rejects in _VETOES_OF_SETTLED):
        return True
    return not older.label and not has_one_subject and _name_other_things(older, newer)


_VETOES: tuple[Callable[[Statement, Statement], bool], ...] = (
    _are_of_other_cases,
    _have_other_titles,
    _is_of_relative,
    _have_other_numbers,
    _are_for_other_things,
)
# Of a statement that leaves nothing open.
_VETOES_OF_SETTLED: tuple[Callable[[Statement, Statement], bool], ...] = (
    _is_exception,
    _holds_only_later,
    _says_it_stays,
    _denies_something_else,
    _is_on_another_day,
    _is_of_another_state,
    _only_asks,
    _narrows,
    _have_other_names,
    _moves_something_else,
    _tells_role_alone,
    _have_other_passives,
    _changes_another_thing,
)
