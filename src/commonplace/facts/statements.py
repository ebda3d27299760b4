"""Text cut into statements, and the keys by which a statement finds its other versions.

A statement is a sentence, an item of a list, or a line like `label: value`. What the assistant says in a conversation
makes none: it repeats and suggests. Two statements that may be versions of one fact share a key; whether they are,
`versions.judge` decides. Keys are short hashes, so that a collision only costs a comparison.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from .cues import Cue, find_cue
from .links import NO_ANSWERS, Answers, find_answers, hash_words
from .relations import Relation, find_relation, label_of
from .words import content_stems, fold, is_number, split_words

MAX_STATEMENTS = 60  # of one passage
_MAX_CHARACTERS = 400  # of a statement that says one thing
_MIN_WORDS = 2
_MAX_PAIR_STEMS = 8
_MAX_FRAME_STEMS = 10
_WRAPPED_CHARACTERS = 60  # a line of at least so many goes on in the next one, unless it ends a sentence
_SPEAKER = re.compile(r"(?:user|human)(?: \(([^)\n]*)\))?: ")
_BULLET = re.compile(r"\s*(?:[-*+•>]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_SKIPPED_LINE = re.compile(r"\s*(?:#{1,6}\s|<!--|```|~~~|\||[-*_]{3,}\s*$|$)")
_EMPHASIS = re.compile(r"\*\*|__|`|~~")
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\b[A-Z]\.)(?<!\b(?:Mr|Dr|Jr|Sr|St|vs|No|Ms)\.)(?<!\b(?:Mrs|Inc|Ltd|etc|e\.g|i\.e)\.)\s+(?=[^a-z\s])"
    r"|(?<=[。！？；।؟])|;\s+"
)
_CUES: tuple[Cue, ...] = ("change", "weak change", "retraction", "open", "decision")
CHANGES = frozenset(("change", "weak change", "retraction", "decision"))  # cues of a statement that may replace one


class Statement(NamedTuple):
    """A statement of a text. Lines are counted from the first line of the text, which is 0."""

    text: str
    first_line: int
    last_line: int
    words: tuple[str, ...]
    stems: tuple[str, ...]  # of its content
    cues: frozenset[str]
    relation: Relation | None = None
    label: str = ""  # of `label: value`
    speaker: str = ""  # of a turn of a conversation
    answers: Answers = NO_ANSWERS  # what a person said about links of it


def split_statements(text: str, *, is_turn: bool = False) -> list[Statement]:
    """Return the statements of a passage, which may be a turn of a conversation; none of what the assistant said."""
    speaker = ""
    if is_turn:
        match = _SPEAKER.match(text)
        if not match:  # the assistant, or a later part of a very long turn
            return []
        speaker = match[1] or match[0]
        text = text[match.end() :]
    statements: list[Statement] = []
    for sentence, first, last in _split_sentences(text):
        statement = _parse(sentence, first, last, speaker)
        if statement:
            statements.append(statement)
            if len(statements) == MAX_STATEMENTS:
                break
    for line, answers in find_answers(text).items():
        _attach(statements, line, answers)
    return statements


def _attach(statements: list[Statement], line: int, answers: Answers) -> None:
    """Give the last statement above a line the answers that are on it."""
    above = [place for place, statement in enumerate(statements) if statement.last_line < line]
    if above:
        known = statements[above[-1]].answers
        both = Answers(known.confirmed | answers.confirmed, known.rejected | answers.rejected)
        statements[above[-1]] = statements[above[-1]]._replace(answers=both)


def _split_sentences(text: str) -> Iterator[tuple[str, int, int]]:
    for part, first, last in _join_wrapped(text):
        if len(part) <= _MAX_CHARACTERS and not _SENTENCE_END.search(part):
            yield part, first, last
            continue
        for sentence in _SENTENCE_END.split(part):
            if sentence and len(sentence) <= _MAX_CHARACTERS:
                yield sentence, first, last


def _join_wrapped(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the lines of a text without marks of lists; those of one wrapped sentence are joined."""
    pending = ""
    first = 0
    number = -1
    is_fenced = False
    for number, line in enumerate(text.split("\n")):
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
        is_skipped = is_fenced or _SKIPPED_LINE.match(line) is not None
        bullet = None if is_skipped else _BULLET.match(line)
        goes_on = len(pending) >= _WRAPPED_CHARACTERS and pending[-1] not in ".!?:;。！？"
        if pending and not is_skipped and not bullet and goes_on:
            pending = f"{pending} {line.strip()}"
            continue
        if pending:
            yield pending, first, number - 1
        pending = "" if is_skipped else line[bullet.end() if bullet else 0 :].strip()
        first = number
    if pending:
        yield pending, first, number


def _parse(sentence: str, first: int, last: int, speaker: str) -> Statement | None:
    plain = _EMPHASIS.sub("", sentence).strip() if "*" in sentence or "`" in sentence or "_" in sentence else sentence
    if plain.endswith(("?", "？", "؟")):
        return None
    folded = fold(plain)
    words = tuple(split_words(folded))
    if len(words) < _MIN_WORDS:
        return None
    cues = frozenset(cue for cue in _CUES if find_cue(folded, cue))
    label = label_of(plain)
    relation = find_relation(words)
    return Statement(plain, first, last, words, tuple(content_stems(words)), cues, relation, label, speaker)


def fact_keys(text: str, *, is_turn: bool = False) -> list[int]:
    """Return the keys under which a passage is stored, each once."""
    statements = split_statements(text, is_turn=is_turn)
    return list(dict.fromkeys(key for statement in statements for key in stored_keys(statement)))


def stored_keys(statement: Statement) -> Iterator[int]:
    """Yield the keys of a statement: those of its frame and, if it changes something, those of what it is about."""
    yield from _frame_keys(statement)
    for name in statement.answers.confirmed:
        yield _hash("c", name)
    if not CHANGES.isdisjoint(statement.cues):
        yield from _topic_keys(statement.stems)


def lookup_keys(statement: Statement) -> Iterator[int]:
    """Yield the keys under which newer versions of a statement are stored."""
    yield _hash("c", hash_words(statement.words))
    yield from _frame_keys(statement)
    yield from _topic_keys(statement.stems)


def _frame_keys(statement: Statement) -> Iterator[int]:
    if statement.label:
        yield _hash("l", statement.label)
    relation = statement.relation
    if relation:
        yield _hash("r", relation.kind, *relation.subject)
    stems = [stem for stem in statement.stems if not is_number(stem)]
    if len(stems) < len(statement.stems) and len(stems) >= 2:
        yield _hash("n", *stems)
    is_free = not relation and not statement.label and 3 <= len(stems) <= _MAX_FRAME_STEMS
    if is_free:
        yield _hash("f", *stems[:2])
    if is_free or (relation and relation.kind in ("be", "own") and 2 < len(stems) <= _MAX_FRAME_STEMS):
        yield _hash("e", *stems[-2:])


def _topic_keys(stems: Iterable[str]) -> Iterator[int]:
    """Yield a key for each pair of different stems of a statement, of the longest ones where there are many."""
    distinct = sorted(sorted(set(stems)), key=len, reverse=True)[:_MAX_PAIR_STEMS]
    for pair in combinations(sorted(distinct), 2):
        yield _hash("t", *pair)


def hash_key(key: str) -> int:
    """Return the key of everything that is stored under a key: blocks and records."""
    return _hash("k", key)


def _hash(*parts: str) -> int:
    return zlib.crc32("\0".join(parts).encode(errors="surrogatepass"))
