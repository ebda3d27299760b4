"""Truth over time among hits: the newer version of a fact ranks above the older one, which says what replaced it.

Versions are found by rules (`facts/versions.py`), among what the viewer may see. A hit with several statements is
marked for the one that the query is about. A question about the past keeps the order, and one about what was
before something has that first (`replacements.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product, starmap

from ..caching import ByteCache
from ..facts.completions import is_task
from ..facts.links import NO_ANSWERS, Link, LinkKind
from ..facts.page_subjects import are_of_other_objects, judge_below_headings
from ..facts.prefilter import hash_stems, may_be_versions
from ..facts.statements import (
    LookupKeys,
    Statement,
    choose_from_text,
    find_lines,
    hash_key,
    lookup_keys,
    query_stems,
    read_statements,
    shorten_statement,
)
from ..facts.tasks import find_task_question
from ..facts.versions import is_later_report, judge
from ..facts.words import fold, is_amount, split_words, strip_accents
from ..formats.blocks import ANSWER_START
from ..formats.passages import embedding_text, show_passage
from ..formats.timestamps import parse_day
from ..index.base import Candidate, SearchIndex
from ..index.statements import StoredStatement, StoredStatements, choose_stored
from ..model import WEAK_SCORE, Hit, Predecessor, Query
from .dates import NO_DATES, QueryDates, asks_about_past, asks_for_series, asks_what_was_before
from .moments import (
    NO_ORIGIN,
    FindOrigins,
    Moment,
    Origins,
    find_moment,
    find_origins_of,
    holds_by,
    is_newer,
    list_moments,
    locate,
    may_be_edited,
)
from .replacements import (
    LATER_REPORT,
    REPETITION,
    SUPERSEDED_SHARE,
    ByKey,
    FoundStatement,
    RankedHit,
    Replacement,
    StatementId,
    VersionLookup,
    choose_likely,
    date_of,
    describe_successor,
    either,
    find_others,
    find_replaced_part,
    identify,
    inherit,
    is_same_place,
    order_by_date,
    put_earlier_first,
    subject_of,
)
from .scoring import Factors, ScoredHit

MAX_MARKED_HITS = 12  # the number of first hits whose newer versions are looked for
_MAX_CANDIDATES = 60
_MAX_TASK_HITS = 200  # among which the open ones are looked for
_MAX_COMPARISONS = 3_000  # of statements with others, for one answer
_MIN_COMPARISONS = 4  # of each statement
_MAX_DATES = 20_000  # of pairs of statements that are compared before the pairs are judged
_MIN_REPORT_SHARE = 0.5  # of the best score, for a report whose last one is raised
_MAX_WHOLE_CHARACTERS = 300  # shown of a passage that replaces another as a whole


def mark_versions(
    index: SearchIndex,
    query: Query,
    ranked: Sequence[RankedHit],
    find_origins: FindOrigins,
    dates: QueryDates = NO_DATES,
) -> list[RankedHit]:
    """Return the hits, best first, with outdated ones marked and ranked below their newer versions.

    A question about certain days asks what was said then, so versions of other days do not count.
    """
    if _asks_for_tasks(query):
        ranked = drop_done_tasks(index, query, ranked, find_origins)
    if asks_what_was_before(query.text) or asks_about_past(query.text):
        query = query._replace(min_replaced_score=0.0)  # what was replaced is the answer
    replacements = _find_replacements_of_likely(index, query, ranked[:MAX_MARKED_HITS], find_origins)
    reports = {number: each for number, each in replacements.items() if each.link == LATER_REPORT}
    replacements = {number: each for number, each in replacements.items() if number not in reports}
    if reports and not dates.spans and not asks_about_past(query.text):
        ranked = _put_last_reports_first(ranked, reports, may_insert=not query.filters.author)
    if not replacements:
        return list(ranked)
    marked = [(row, _mark(hit, replacements.get(row.number))) for row, hit in ranked]
    if asks_what_was_before(query.text):
        marked = put_earlier_first(marked, replacements.values(), query_stems(query.text))
    elif not asks_about_past(query.text):
        if dates.spans and dates.selects_first and not dates.is_coming:
            replacements = {number: each for number, each in replacements.items() if _is_of_days(each.newer.hit, dates)}
        marked = _put_newer_first(marked, replacements, may_insert=not query.filters.author)
    return _name_predecessors(marked, replacements)


def _find_replacements_of_likely(
    index: SearchIndex, query: Query, ranked: Sequence[RankedHit], find_origins: FindOrigins
) -> dict[int, Replacement]:
    """Return the replacements of the hits that are likely enough, and of their newer versions in turn."""
    replacements: dict[int, Replacement] = {}
    likely = [row for row, hit in ranked if hit.score >= query.min_replaced_score]
    others = [row for row, hit in ranked if hit.score < query.min_replaced_score]
    while likely:
        replacements |= find_replacements(index, query, likely, find_origins)
        newer = {replacement.newer.number for replacement in replacements.values()}
        likely = [row for row in others if row.number in newer]
        others = [row for row in others if row.number not in newer]
    return replacements


def widen_query(query: Query) -> Query:
    """Return a query for open tasks with a higher limit, as those of its hits that are done will be left out."""
    return query._replace(limit=max(query.limit, _MAX_TASK_HITS)) if _asks_for_tasks(query) else query


def _asks_for_tasks(query: Query) -> bool:
    return bool(find_task_question(strip_accents(fold(query.text))))


def drop_done_tasks(
    index: SearchIndex, query: Query, ranked: Sequence[RankedHit], find_origins: FindOrigins
) -> list[RankedHit]:
    """Return the first hits for a question about open tasks, without those whose tasks are all done."""
    kept: list[RankedHit] = []
    for start in range(0, len(ranked), MAX_MARKED_HITS):
        some = ranked[start : start + MAX_MARKED_HITS]
        places = [place for row, _ in some for place in _list_tasks(row)]
        done = _find_done(index, query, places, find_origins) if places else frozenset()
        open_numbers = {place.number for place in places if identify(place) not in done}
        closed = {place.number for place in places} - open_numbers
        kept += [(row, hit) for row, hit in some if row.number not in closed]
        if len(kept) >= query.limit:
            break
    return kept[: query.limit]


def _list_tasks(row: ScoredHit) -> Iterator[FoundStatement]:
    for statement in read_statements(row.hit.text, is_turn=row.hit.source == "session"):
        if is_task(statement.text, statement.box):
            yield FoundStatement(row.number, row.hit, statement, lookup_keys(statement))


def _find_done(
    index: SearchIndex, query: Query, places: Sequence[FoundStatement], find_origins: FindOrigins
) -> frozenset[StatementId]:
    """Return the tasks that are done or given up, according to the newest statement about each."""
    lookup = VersionLookup(index, places)
    candidates = lookup.find(query.viewer, _MAX_CANDIDATES, query.filters)
    pairs = [*judge_places(places, lookup.group(candidates))]
    if query.only_approved_versions:
        pairs = keep_approved(pairs, find_origins)
    latest = _choose_latest(pairs, find_origins, query.today)
    kinds: tuple[LinkKind, ...] = ("done", "retraction")
    return frozenset(each for each, replacement in latest.items() if replacement.link.kind in kinds)


def _is_of_days(hit: Hit, dates: QueryDates) -> bool:
    day = parse_day(date_of(hit))
    return day is not None and dates.includes(day)


def find_replacements(
    index: SearchIndex, query: Query, rows: Sequence[ScoredHit], find_origins: FindOrigins
) -> dict[int, Replacement]:
    """Return, for each passage, what replaced the statement that the query is about."""
    asked = query_stems(query.text)
    numbers = frozenset(hash_stems(asked))
    stored = index.load_statements([row.number for row in rows])
    places = [place for row in rows for place in _choose_statements(row, asked, numbers, stored.get(row.number))]
    lookup = VersionLookup(index, places)
    own_keys = [hash_key(row.hit.key) for row in rows if _has_key(row.hit)]
    candidates = lookup.find(query.viewer, _MAX_CANDIDATES, query.filters, own_keys)
    if not candidates:
        return {}
    pairs = [pair for row in rows if _has_key(row.hit) for pair in _find_same_key(row, candidates)]
    by_key = lookup.group(candidates)
    for place, newer in _find_newer(places, by_key, find_origins):
        pairs += [*_judge_all(place, newer)] or _find_later_reports(place, newer, query.text)
    if not pairs:
        return {}
    if query.only_approved_versions:
        pairs = keep_approved(pairs, find_origins)
    today = query.today if query.filters.as_of is None else query.filters.as_of
    return _join_statements(_choose_latest(pairs, find_origins, today), places, asked)


def _join_statements(
    chosen: dict[StatementId, Replacement], places: Sequence[FoundStatement], asked: frozenset[str]
) -> dict[int, Replacement]:
    """Return one replacement for each passage, the first of its statements."""
    replaced = {number for number, _, _ in chosen}
    held = {place.number for place in places if place.number in replaced and identify(place) not in chosen}
    joined: dict[int, Replacement] = {}
    for replacement in chosen.values():
        number = replacement.older.number
        is_whole = not replacement.older.statement.words  # a passage under a key, which is replaced as one
        if number not in joined and number in held and not is_whole:
            joined[number] = replacement._replace(is_partial=True, keeps_place=True)
        elif number not in joined:
            joined[number] = find_replaced_part(replacement, asked)
    return joined


def _has_key(hit: Hit) -> bool:
    return bool(hit.key) and hit.scope.kind != "skill"


def _find_same_key(row: ScoredHit, candidates: Iterable[Candidate]) -> Iterator[Replacement]:
    """Yield what is stored elsewhere under the key of a block or a record, for the same owner: on another page, or in
    another block of the same one."""
    hit = row.hit
    for candidate in candidates:
        other = candidate.hit
        is_elsewhere = other.text != hit.text and (other.path != hit.path or (_is_start(hit) and _is_start(other)))
        if other.key == hit.key and other.scope == hit.scope and is_elsewhere:
            link = Link("same-key", f"has the same key: {hit.key}", hit.key)
            yield Replacement(_whole(row.number, hit), _whole(candidate.number, other), link)


def _is_start(hit: Hit) -> bool:
    """Return whether a passage begins its block: a long block has several."""
    return hit.text.startswith("### ")


def _whole(number: int, hit: Hit) -> FoundStatement:
    """Return a passage as one statement."""
    short = shorten_statement(embedding_text("", hit.text), _MAX_WHOLE_CHARACTERS)
    return FoundStatement(number, hit, Statement(short, 0, hit.end - hit.start))


def _choose_statements(
    row: ScoredHit, asked: frozenset[str], asked_numbers: frozenset[int], stored: StoredStatements | None
) -> Iterator[FoundStatement]:
    """Yield the statements of a passage that have most words of the query; these are given also as numbers."""
    hit = row.hit
    if stored:
        for place in choose_stored(stored, asked_numbers):
            keys: LookupKeys = dict.fromkeys(stored.list_lookup_keys(place), ())
            yield FoundStatement(row.number, hit, StoredStatement(stored, place), keys)
        return
    for statement in choose_from_text(hit.text, asked, is_turn=hit.source == "session"):
        yield FoundStatement(row.number, hit, statement, lookup_keys(statement))


def judge_places(places: Sequence[FoundStatement], by_key: ByKey) -> Iterator[Replacement]:
    """Yield what may replace each statement, whichever of the two is newer."""
    limit = _share_out(_MAX_COMPARISONS, places)
    for place in places:
        yield from _judge_all(place, choose_likely(find_others(place, by_key), limit))


def _share_out(comparisons: int, places: Sequence[FoundStatement]) -> int:
    """Return how many others each statement is compared with, so that a long repetitive text cannot use up all
    comparisons."""
    return max(_MIN_COMPARISONS, comparisons // max(1, len(places)))


def _find_newer(
    places: Sequence[FoundStatement], by_key: ByKey, find_origins: FindOrigins
) -> Iterator[tuple[FoundStatement, list[FoundStatement]]]:
    """Yield the statements for which there may be newer ones, or some that name what they replace, with these.
    Comparing dates takes much less time than judging, and less still where history need not be read for them."""
    lasting = _Moments({})
    limit = _share_out(_MAX_DATES, places)
    pairs = [
        (place, [other for other in find_others(place, by_key)[:limit] if lasting.may_be_newer(place, other.statement)])
        for place in places
    ]
    hits = (each.hit for place, some in pairs for each in (place, *(other.statement for other in some)) if some)
    moments = _Moments(find_origins_of(hits, find_origins))
    limit = _share_out(_MAX_COMPARISONS, places)
    for place, some in pairs:
        newer = (other for other in some if moments.is_newer(place, other.statement))
        if likely := choose_likely(newer, limit):
            yield place, likely


class _Moments:
    """When passages were written, as far as history knows."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins
        self._by_passage: dict[int, list[Moment]] = {}
        self._known: dict[tuple[int, int], bool] = {}  # of pairs of passages, which may have many statements

    def may_be_newer(self, older: FoundStatement, newer: FoundStatement) -> bool:
        """Return whether one statement is newer than another, or may be by what history says."""
        return may_be_edited(older.hit) or may_be_edited(newer.hit) or self.is_newer(older, newer)

    def is_newer(self, older: FoundStatement, newer: FoundStatement) -> bool:
        """Return whether one statement may be newer than another, or names what it replaces."""
        passages = older.number, newer.number
        known = self._known.get(passages)
        if known is None:
            pairs = product(self._list(older), self._list(newer))
            known = any(starmap(is_newer, pairs)) or ANSWER_START in newer.hit.text
            self._known[passages] = known
        return known

    def _list(self, place: FoundStatement) -> list[Moment]:
        moments = self._by_passage.get(place.number)
        if moments is None:
            moments = self._by_passage[place.number] = list_moments(place.hit, self._origins)
        return moments


def _judge_all(place: FoundStatement, latest: Sequence[FoundStatement]) -> Iterator[Replacement]:
    """Yield what may replace a statement, and if there is anything, also what repeats it."""
    is_replaced = False
    day = _find_lasting_day(place.hit)
    for other in latest:
        if day and (earlier := _find_lasting_day(other.hit)) is not None and earlier < day:
            continue
        if link := _judge_with_any_answers(place, other):
            is_replaced = True
            yield Replacement(place, other, link)
    repeated = [other for other in latest if is_replaced and other.statement.words == place.statement.words]
    yield from (Replacement(place, other, REPETITION) for other in repeated)


def _find_later_reports(place: FoundStatement, latest: Sequence[FoundStatement], question: str) -> list[Replacement]:
    """Return later reports of the same kind, unless the question asks for the first one, for all, or names a number of
    this one. All are true, but a question about the present means the last: `which build is on staging?`."""
    numbers = {word for word in place.statement.words if is_amount(word)}
    if not numbers or not numbers.isdisjoint(split_words(fold(question))) or asks_for_series(question):
        return []
    reports = (other for other in latest if is_later_report(place.statement, other.statement))
    return [Replacement(place, other, LATER_REPORT) for other in reports]


_links: ByteCache[tuple[int, int, bool], Link | None] = ByteCache("links between statements", 8_000_000)
_NOT_JUDGED = Link("frame", "not judged yet")  # known by its identity


def _judge_once(older: Statement, newer: Statement, *, is_same_place: bool, may_be_linked: bool) -> Link | None:
    """Return what `judge` does; cached, as one write changes few of all the pairs that a context compares. The keys are
    hashes: there are many more pairs than statements, and each would otherwise keep two of these."""
    key = (hash(older), hash(newer), is_same_place)
    link: Link | None = _links.get(key, _NOT_JUDGED)
    if link is _NOT_JUDGED:
        link = judge(older, newer, is_same_place=is_same_place, may_be_linked=may_be_linked)
        (_links.put if link else _links.add_new)(key, link)  # those without a link are all of one size
    return link


def _judge_with_any_answers(older: FoundStatement, newer: FoundStatement) -> Link | None:
    """Return how one statement may replace another, with the answers on the page or without them; `_check_answers` then
    then checks which answers a person really gave."""
    link = _judge(older, newer, older.statement, newer.statement)
    if link or older.statement.answers == newer.statement.answers == NO_ANSWERS:
        return link
    statements = (each.statement._replace(answers=NO_ANSWERS) for each in (older, newer))
    return _judge(older, newer, *statements)


def _judge(
    older: FoundStatement, newer: FoundStatement, statement: Statement, newer_statement: Statement
) -> Link | None:
    if are_of_other_objects(older.text_around, newer.text_around):
        return None
    subjects = (subject_of(older.hit), subject_of(newer.hit))
    is_same = is_same_place(older.hit, newer.hit.path, newer_statement, newer.hit.key)
    judge_alone = partial(_judge_alone, is_same_place=is_same)
    one_page = newer.hit.path == older.hit.path
    return judge_below_headings(statement, newer_statement, subjects, judge_alone, one_page=one_page)


def _judge_alone(older: Statement, newer: Statement, *, is_same_place: bool) -> Link | None:
    is_confirmed = bool(newer.answers.confirmed)
    if not is_confirmed and not may_be_versions(older, newer):
        return None
    return _judge_once(older, newer, is_same_place=is_same_place, may_be_linked=not is_confirmed)


def _find_lasting_day(hit: Hit) -> int | None:
    """Return the day of a turn of a session, which is never edited; None for anything that may be edited."""
    return None if may_be_edited(hit) else parse_day(hit.at) or 0


def keep_approved(pairs: Sequence[Replacement], find_origins: FindOrigins) -> list[Replacement]:
    """Return the pairs whose newer statement a person wrote or approved."""
    origins = find_origins([locate(pair.newer) for pair in pairs])
    return [pair for pair, origin in zip(pairs, origins, strict=True) if origin.is_approved]


def choose_newest(
    pairs: Sequence[Replacement], find_origins: FindOrigins, today: int
) -> dict[StatementId, Replacement]:
    """Return the newest version of each statement, if it is newer and does not say the same again."""
    latest = _choose_latest(pairs, find_origins, today)
    return {each: find_replaced_part(newest) for each, newest in latest.items() if newest.link != REPETITION}


def _choose_latest(
    pairs: Sequence[Replacement], find_origins: FindOrigins, today: int
) -> dict[StatementId, Replacement]:
    places = [place for pair in pairs for place in (pair.older, pair.newer)]
    origins = find_origins_of((hit for place in places for hit in (place.hit, locate(place))), find_origins)
    checked = [checked for pair in pairs if (checked := _check_answers(pair, origins))]
    chosen: dict[StatementId, Replacement] = {}
    for pair in checked:
        is_confirmed = pair.link.kind == "confirmed"  # regardless of the dates
        if origins.get(locate(pair.newer).citation, NO_ORIGIN).where == "elsewhere":  # perhaps not true here
            continue
        newer = find_moment(pair.newer, origins)
        if not is_confirmed and not is_newer(find_moment(pair.older, origins), newer):
            continue
        if not _holds_by(pair, newer, today):
            continue
        known = chosen.get(identify(pair.older))
        if not known or is_newer(find_moment(known.newer, origins), newer):
            chosen[identify(pair.older)] = pair
    return chosen


def _holds_by(pair: Replacement, newer: Moment, today: int) -> bool:
    """Return whether the newer statement of a pair is true as of today: it may name a later day, or one occasion, and
    its page may be dated later."""
    if not pair.older.statement.words or pair.link == REPETITION or newer.day is None or not today:
        return True
    return newer.day <= today and holds_by(pair.older.statement, pair.newer.statement, pair.link, newer.day, today)


def _check_answers(pair: Replacement, origins: Origins) -> Replacement | None:
    """Return a pair judged only by answers that a person really gave; None if, by these, the newer statement does not
    replace the older one. A comment on a page may be part of a text that was stored there."""
    places = (pair.older, pair.newer)
    if pair.link == REPETITION or all(place.statement.answers == NO_ANSWERS for place in places):
        return pair
    link = _judge(*places, *(_keep_given_answers(place, origins) for place in places))
    return pair._replace(link=link) if link else None


def _keep_given_answers(place: FoundStatement, origins: Origins) -> Statement:
    origin = origins.get(place.hit.citation, NO_ORIGIN)
    return place.statement._replace(answers=place.statement.answers.keep(origin.answers))


def _mark(hit: Hit, replacement: Replacement | None) -> Hit:
    is_replaced = replacement is not None and replacement.link != REPETITION
    return hit._replace(superseded_by=describe_successor(replacement)) if replacement and is_replaced else hit


def _lower(hit: Hit) -> Hit:
    newer = hit.superseded_by
    lowered = round(hit.score * SUPERSEDED_SHARE, 4)
    return hit._replace(score=lowered) if newer else hit


def _put_newer_first(
    ranked: Sequence[RankedHit], replacements: dict[int, Replacement], *, may_insert: bool
) -> list[RankedHit]:
    """Return the hits by score. What was replaced loses a share of its score to its newer version; a newer version that
    was not found joins the hits."""
    hits = {row.number: hit for row, hit in ranked}
    replaced = {number: each for number, each in replacements.items() if not each.keeps_place and number in hits}
    newer = [_insert(row, replaced[row.number]) for row, _ in ranked if may_insert and row.number in replaced]
    every = {row.number: (row, hit) for row, hit in (*newer, *ranked)}
    chances = _join_chances(hits, replaced)

    def weigh(number: int, row: ScoredHit, hit: Hit) -> RankedHit:
        heir = inherit(hit, chances.get(number, 0.0))
        return row, _lower(heir) if number in replaced else heir

    copies = {number for number, each in replaced.items() if _is_repeated(hits[number], each, every)}
    rows = [weigh(number, *every[number]) for number in every if number not in copies]
    return sorted(rows, key=lambda each: (each[1].score, each[0].number not in replaced), reverse=True)


def _put_last_reports_first(
    ranked: Sequence[RankedHit], reports: Mapping[int, Replacement], *, may_insert: bool
) -> list[RankedHit]:
    """Return the hits by score. If anything fits, the last of several reports has the chances of all that are nearly as
    likely as the best hit."""
    best = max(hit.score for _, hit in ranked)
    if best < WEAK_SCORE:
        return list(ranked)
    every = {row.number: (row, hit) for row, hit in ranked}
    chances: dict[int, float] = {}
    for row, hit in ranked:
        report = reports.get(row.number)
        newest = report.newer.number if report else 0
        if report and hit.score >= best * _MIN_REPORT_SHARE and (may_insert or newest in every):
            every.setdefault(newest, _insert(row, report))
            chances[newest] = either(chances.get(newest, 0.0), hit.score)
    rows = [(row, inherit(hit, chances.get(number, 0.0))) for number, (row, hit) in every.items()]
    return sorted(rows, key=lambda each: (each[1].score, each[0].number in chances), reverse=True)


def _is_repeated(hit: Hit, replacement: Replacement, every: Mapping[int, RankedHit]) -> bool:
    newer = every.get(replacement.newer.number)
    return replacement.link == REPETITION and newer is not None and newer[1].text == hit.text


def _join_chances(shown: Mapping[int, Hit], replaced: Mapping[int, Replacement]) -> dict[int, float]:
    """Return, by newer version, the probability that any of the hits before it is right: it answers what any of them
    would. In a chain, each is thus above the one that it replaced."""
    chances: dict[int, float] = {}
    for number in replaced:
        for newer in _list_newer(number, replaced):
            chances[newer] = either(chances.get(newer, 0.0), shown[number].score)
    return chances


def _list_newer(number: int, replaced: Mapping[int, Replacement]) -> list[int]:
    """Return the chain of passages that replaced each other, starting with what replaced the first."""
    newer: list[int] = []
    first = number
    while (replacement := replaced.get(number)) and replacement.newer.number not in (first, *newer):
        number = replacement.newer.number
        newer.append(number)
    return newer


def _name_predecessors(ranked: Sequence[RankedHit], replacements: Mapping[int, Replacement]) -> list[RankedHit]:
    """Return the hits with the older versions that each replaced."""
    older: dict[int, list[FoundStatement]] = {}
    for replacement in replacements.values():
        if replacement.link != REPETITION:
            older.setdefault(replacement.newer.number, []).append(replacement.older)
    return [
        (row, hit._replace(supersedes=tuple(map(_describe_predecessor, _sort_newest_first(older[row.number])))))
        if row.number in older
        else (row, hit)
        for row, hit in ranked
    ]


def _sort_newest_first(places: Iterable[FoundStatement]) -> list[FoundStatement]:
    return sorted(places, key=order_by_date, reverse=True)


def _describe_predecessor(place: FoundStatement) -> Predecessor:
    start, end = find_lines(place.hit, place.statement)
    return Predecessor(place.statement.text, place.hit.path, start, end, place.hit.at)


def _insert(row: ScoredHit, replacement: Replacement) -> RankedHit:
    """Return a newer version that was not among the hits, with the odds of the hit that it replaces."""
    newer = replacement.newer
    shown = newer.hit._replace(text=show_passage(newer.hit.text))
    return ScoredHit(newer.number, newer.hit, row.odds, Factors(), background=row.background), shown
