"""Open tasks: texts that say that something is still to be done, and questions that ask for them.

`what is left to do?` shares no word with `TODO: rotate the key` or `- [ ] book the train`. So a passage with an open
task is also indexed under `OPEN_TASK`, and a question about open tasks is looked up under it.

All patterns are for folded text (lower case, no accents). To add a language, add it to the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from ..caching import cache_within
from .words import fold, list_phrases, strip_accents, word_set

OPEN_TASK = "☐"  # some people write it themselves

_LABELS = list_phrases("tasks", "LABELS")
_PHRASES = list_phrases("tasks", "PHRASES")
# How notes begin that say what their writer has to do. Many of them are not tasks to ask for, so they are not
# indexed as open, but a later note may close them.
_OBLIGATIONS = {
    "english": r"(?:(?:i|we|i've|we've) )?(?:still |also |really )?(?:need|have|got) to |(?:(?:i|we) )?(?:still )?must "
    r"|(?:(?:i|we) )?gotta ",
    "german": r"(?:ich |wir )?(?:muss|mussen) (?:ich |wir )?(?:noch )?",
    "spanish": r"hay que |(?:tengo|tenemos) que |(?:debo|debemos|necesito|necesitamos) ",
    "french": r"il (?:me |nous )?faut |(?:je dois|on doit|nous devons) ",
    "portuguese": r"(?:preciso|precisamos|devo|devemos) (?:de )?|(?:tenho|temos) (?:que|de) ",
    "italian": r"bisogna |(?:devo|dobbiamo) ",
    "dutch": r"(?:ik |we )?(?:moet|moeten) (?:ik |we )?(?:nog )?",
    "russian": r"(?:мне |нам )?(?:надо|нужно|необходимо) |(?:я |мы )?(?:должен|должна|должны) ",
    "arabic": r"يجب (?:ان |علي |علينا )?|لازم |علينا ان |علي ان ",
    "chinese": "(?:我|我们)?(?:还)?(?:得|要|需要|必须)",
}
_DONE = r"\[x\]|[✓✔✅]|\b(?:done|erledigt|hecho|fait|feito|fatto|gedaan|сделано|готово)\W*$|已完成|完了し|완료"
_UNSPACED_HINT = (
    "待[办辦处]|未完成|还要做|还需要|别忘了|やること|要対応|残タスク|未完了|なければ|忘れずに|할|해야|미완료|잊지"
)
_FREQUENT = word_set("tasks", "FREQUENT")
_MAX_QUESTION_CHARACTERS = 300
_CHECKBOX = r"^\s*(?:[-*+]|\d+[.)])\s+\[ \]\s"


def has_open_task(folded: str) -> bool:
    """Return whether a folded text says that something is still to be done."""
    return any(_find_task().search(line) and not says_done(line) for line in folded.splitlines())


def names_tasks(line: str) -> bool:
    """Return whether a line names the list below it as tasks: a heading, or a label."""
    is_heading = line.startswith("#")
    name = line.strip("#*_: ：\t\r")
    has_label = is_heading or line.rstrip("*_ \t\r").endswith((":", "："))
    return has_label and bool(name) and has_open_task(strip_accents(f"{fold(name)}:"))


def says_done(folded: str) -> bool:
    """Return whether a folded line says itself that it is done."""
    return _find_done().search(folded) is not None


def has_obligation(folded: str) -> bool:
    """Return whether a folded text begins like something its writer has to do."""
    return _find_obligation().match(folded) is not None


def find_task_text(text: str) -> str:
    """Return what is to be done: a text, folded, without the words that say that it is to be done."""
    folded = fold(text)
    plain = strip_accents(folded)
    if len(plain) != len(folded):
        folded = plain
    for match in [*_find_task().finditer(plain)][::-1]:
        folded = f"{folded[: match.start()]} {folded[match.end() :]}"
    obligation = _find_obligation().match(folded)
    return folded[obligation.end() :] if obligation else folded


def may_have_open_task(text: str, words: Iterable[str]) -> bool:
    """Return whether a text may have an open task, judging by its folded words: most texts have no word of a task."""
    if "[ ]" in text:
        return True
    known = _list_words_of_tasks()
    return any(word in known or (not word.isascii() and _find_unspaced().search(word)) for word in words)


@cache_within(100_000)
def find_task_question(folded: str) -> str:
    """Return the words by which a folded query asks for open tasks; empty for any other query. Cached, as a search asks
    several times."""
    if len(folded) > _MAX_QUESTION_CHARACTERS:
        return ""
    match = _find_question().search(folded)
    return match[0] if match else ""


@cache
def _find_task() -> re.Pattern[str]:
    label = "|".join(_LABELS)
    return re.compile("|".join([rf"^\W*(?:{label})\W{{0,3}}[:：]", _CHECKBOX, *_PHRASES]))


@cache
def _find_obligation() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(_OBLIGATIONS.values())})(?=\w)")


@cache
def _find_done() -> re.Pattern[str]:
    return re.compile(_DONE)


@cache
def _find_question() -> re.Pattern[str]:
    return re.compile("|".join(list_phrases("tasks", "QUESTIONS")))


@cache
def _list_words_of_tasks() -> frozenset[str]:
    """Return every word of the patterns for texts, with its optional last letter and without it."""
    patterns = " ".join([*_LABELS, *_PHRASES])
    plain = re.sub(r"(\w+)(\w)\?", r"\1 \1\2", re.sub(r"\\.", " ", patterns))
    return frozenset(re.findall(r"\w{3,}", plain)) - _FREQUENT


@cache
def _find_unspaced() -> re.Pattern[str]:
    return re.compile(_UNSPACED_HINT)
