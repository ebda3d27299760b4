"""Question files: a person's own, or conversations in LoCoMo's form. What cannot be used is said, with what to do."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...errors import InvalidArgument, NotFound, StorageError
from ...formats.json_text import parse_json
from ...model import Json
from .metrics import Lines

_CITATION = re.compile(r"(?P<path>.+?)#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?")
_ID = re.compile(r"D(\d{1,9}):(\d{1,9})")
_Id = tuple[int, int]  # a session of a conversation, and a turn of it
_SHAPE = 'write each question as {"question": "...", "evidence": ["memory/page.md#L3-L5"]}, in a list or one a line'
_LOCOMO = "a turn has a speaker, a text and a dia_id, a question of qa has a question and evidence"
_TEXTS = ("question", "query")
_EVIDENCE = ("evidence", "answers", "relevant")
_CONVERSATION = ("conversation", "qa")


class Question(NamedTuple):
    text: str
    evidence: tuple[Lines, ...]
    group: str = ""


def items_of(file: str) -> list[dict[str, Json]]:
    """The objects of a question file: a JSON list of them, or one a line."""
    text = _text(file)
    try:
        whole = parse_json(text) if text.strip() else []
    except ValueError as error:
        if text.lstrip().startswith("["):
            raise InvalidArgument(f"{file} is not JSON ({error}): {_SHAPE}") from error
        whole = [_line(file, number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    items = whole if isinstance(whole, list) else [whole]
    if not items:
        raise InvalidArgument(f"{file} holds no questions: {_SHAPE}")
    if not all(isinstance(item, dict) and any(name in item for name in (*_TEXTS, *_EVIDENCE)) for item in items) and (
        not are_conversations(items)
    ):
        raise InvalidArgument(f"{file} holds neither questions nor conversations in LoCoMo's form: {_SHAPE}")
    return items


def are_conversations(items: list[Json]) -> bool:
    return all(isinstance(item, dict) and all(name in item for name in _CONVERSATION) for item in items)


def _text(file: str) -> str:
    try:
        with open(file, encoding="utf-8-sig") as opened:
            return opened.read()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"{file} does not exist: name a file of questions, and {_SHAPE}") from error
    except IsADirectoryError as error:
        raise InvalidArgument(f"{file} is a folder: name the file of questions in it") from error
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"{file} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error
    except OSError as error:
        raise StorageError(f"{file} cannot be read: {error.strerror}") from error


def _line(file: str, number: int, line: str) -> Json:
    try:
        return parse_json(line)
    except ValueError as error:
        raise InvalidArgument(f"line {number} of {file} is not JSON ({error}): {_SHAPE}") from error


def own_questions(items: list[dict[str, Json]]) -> list[Question]:
    return [_question(item, number) for number, item in enumerate(items, start=1)]


def _question(item: dict[str, Json], number: int) -> Question:
    text = _first(item, _TEXTS)
    if not isinstance(text, str) or not text.strip():
        raise InvalidArgument(f"question {number} has no text: {_SHAPE}")
    given = _first(item, _EVIDENCE)
    named = [given] if isinstance(given, str) else given
    if not isinstance(named, list) or not named or not all(isinstance(each, str) and each.strip() for each in named):
        raise InvalidArgument(f"question {number} ({text}) has no evidence: name the pages or the lines that answer it")
    return Question(text, tuple(dict.fromkeys(_lines(each.strip(), number) for each in named)))


def _first(item: dict[str, Json], names: tuple[str, ...]) -> Json:
    return next((item[name] for name in names if name in item), None)


def _lines(named: str, number: int) -> Lines:
    """Evidence as people write it: a page, or lines of one as search cites them."""
    cited = _CITATION.fullmatch(named)
    if not cited:
        return Lines(named.removeprefix("./"))
    first = int(cited["first"])
    last = int(cited["last"] or first)
    if not 1 <= first <= last:
        raise InvalidArgument(f"question {number}: {named} names no lines: count from 1, the first before the last")
    return Lines(cited["path"].removeprefix("./"), first, last)


def sessions(conversation: Any, number: int, home: str | os.PathLike[str]) -> list[Question]:
    """Write a conversation in LoCoMo's form as session files; its questions, with the lines of their evidence.

    Evidence that points nowhere is left out, and so is a question that has no other.
    """
    os.makedirs(os.path.join(home, "agents/main/sessions"), exist_ok=True)
    try:
        places = dict(_written(conversation["conversation"], number, home))
        asked = [(each["question"], _ids(each.get("evidence") or "")) for each in conversation["qa"]]
    except (KeyError, TypeError, AttributeError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise InvalidArgument(f"conversation {number + 1} is not in LoCoMo's form ({what}): {_LOCOMO}") from error
    for place, (text, _) in enumerate(asked, start=1):
        if not isinstance(text, str) or not text.strip():
            raise InvalidArgument(f"question {place} of conversation {number + 1} has no text: write one, or remove it")
    name = f"conversation {number + 1}"
    found = ((text, tuple(places[turn] for turn in named if turn in places)) for text, named in asked)
    return [Question(text, evidence, name) for text, evidence in found if evidence]


def _written(talk: Mapping[str, Any], number: int, home: str | os.PathLike[str]) -> Iterator[tuple[_Id, Lines]]:
    """Where each turn stands, after its session was written."""
    for name in (key for key in talk if re.fullmatch(r"session_\d+", key)):
        path = f"agents/main/sessions/{number}-{name}.jsonl"
        at = talk.get(f"{name}_date_time", "")
        turns = talk[name]
        said = [{"role": "user", "name": turn["speaker"], "content": turn["text"], "timestamp": at} for turn in turns]
        with open(os.path.join(home, path), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(event) + "\n" for event in said)
        yield from (
            (each, Lines(path, line, line)) for line, turn in enumerate(turns, 1) for each in _ids(turn["dia_id"])
        )


def _ids(named: str | list[str]) -> list[_Id]:
    """The turns that are named, `D4:7`; one string may hold several. They are numbers: 07 is 7."""
    text = named if isinstance(named, str) else " ".join(named)
    return list(dict.fromkeys((int(session), int(turn)) for session, turn in _ID.findall(text)))
