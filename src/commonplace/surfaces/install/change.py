"""A configuration file changed: our entry put in or taken out, and everything else left as it is.

Pure text to text. Taking out gives the file back to the byte where an earlier copy of it shows what it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any

from . import jsonc
from .edits import Add, CanNotEdit, Edit, Path, Put, Unreadable, at

Spot = tuple[str | int, ...]


def put_in(form: str, text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made. Made once more, they change nothing."""
    for edit in edits:
        text = _put(form, text, edit) if isinstance(edit, Put) else _add(text, edit)
    return text


def take_out(form: str, text: str, edits: Sequence[Edit], earlier: Sequence[str] = ()) -> str | None:
    """The text without what is ours, or None where nothing else was ever in it.

    `earlier` are copies of the file, the newest first: where one of them with our entry in it is the file as it is now,
    that copy is what it was.
    """
    found = _as_they_are(form, text, edits)
    if not found:
        return text
    without = [copy for copy in earlier if not _as_they_are(form, copy, edits)]
    for copy in (*without, None):
        with suppress(CanNotEdit):  # what people added to our entry may be more than can be written
            if put_in(form, copy or "", found) == text:
                return copy
    known = parse(form, without[0]) if without else {}
    for edit in found:
        text = _taken(form, text, edit, known)
    return text


def only_ours(form: str, text: str, edits: Sequence[Edit]) -> bool:
    """Whether a file holds nothing but what we wrote: not even what people added to our entry."""
    with suppress(CanNotEdit, Unreadable):
        ours = {edit.path: {*_fields(edit)} for edit in edits}
        found = _as_they_are(form, text, edits)
        return take_out(form, text, edits) is None and all({*_fields(each)} <= ours[each.path] for each in found)
    return False


def _fields(edit: Edit) -> Iterator[str]:
    waiting: list[Any] = [edit.element if isinstance(edit, Add) else edit.value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield from value
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def parse(form: str, text: str) -> Any:
    return jsonc.parse(text) if form == "json" else _module(form).parse(text)


def _as_they_are(form: str, text: str, edits: Iterable[Edit]) -> list[Edit]:
    """The edits as they stand in a file now, whoever made them and with whatever options; none, where none is ours."""
    document = parse(form, text)
    found: list[Edit] = []
    for edit in edits:
        here = at(document, edit.path)
        if isinstance(edit, Add):
            found += [edit._replace(element=here[spot[0]]) for spot in _ours(here, edit.mark)]
        elif isinstance(here, dict) and edit.path:
            found.append(edit._replace(value=here))
        elif edit.gently and edit.value.items() <= here.items():
            found.append(edit)
    return found if any(edit.path for edit in found) else []


def _module(form: str) -> ModuleType:
    from . import toml_text as tomltext
    from . import yaml_text as yamltext

    return {"toml": tomltext, "yaml": yamltext}[form]


def _put(form: str, text: str, edit: Put) -> str:
    if form != "json":
        made: str = _module(form).put(text, edit.path, edit.value)
        return made
    here = at(jsonc.parse(text), edit.path)
    if here is None:
        return jsonc.put(text, edit.path, edit.value)
    for key, value in edit.value.items():
        if not (edit.gently and isinstance(here, dict) and key in here):
            text = jsonc.put(text, (*edit.path, key), value)
    return text


def _add(text: str, edit: Add) -> str:
    """One hook of ours in a list: changed where it stands, added where there is none."""
    here = at(jsonc.parse(text), edit.path)
    ours = _ours(here, edit.mark)
    if not ours:
        return jsonc.add(text, edit.path, edit.element)
    first, *others = ours
    for spot in reversed(others):
        text = jsonc.take(text, (*edit.path, *spot))
    wanted = edit.element["hooks"][0] if len(first) > 1 else edit.element
    for key, value in wanted.items():
        text = jsonc.put(text, (*edit.path, *first, key), value)
    return text


def _taken(form: str, text: str, edit: Edit, known: Any) -> str:
    """The text without one entry of ours, and without what was made to hold it."""
    if form != "json":
        made: str = _module(form).take(text, edit.path)
        return made
    if isinstance(edit, Put):
        while edit.path and at(jsonc.parse(text), edit.path) is not None:  # a key may stand twice
            text = jsonc.take(text, edit.path)
        return _hollow(text, edit.path[:-1], known)
    for spot in reversed(_ours(at(jsonc.parse(text), edit.path), edit.mark)):
        alone = len(at(jsonc.parse(text), edit.path)[spot[0]].get("hooks", [0])) == 1
        text = jsonc.take(text, (*edit.path, *(spot[:1] if alone else spot)))
    return _hollow(text, edit.path, known)


def _hollow(text: str, path: Path, known: Any) -> str:
    """Without what is empty now and was not there before."""
    while path and at(jsonc.parse(text), path) in ({}, []) and at(known, path) is None:
        text = jsonc.take(text, path)
        path = path[:-1]
    return text


def _ours(elements: Any, mark: str) -> list[Spot]:
    """Where hooks of ours stand in a list: alone, or in a group with others."""
    return [spot for spot, hook in _hooks(elements) if re.search(mark, str(hook.get("command", "")))]


def _hooks(elements: Any) -> Iterator[tuple[Spot, dict[str, Any]]]:
    for number, element in enumerate(elements if isinstance(elements, list) else ()):
        group = element.get("hooks") if isinstance(element, dict) else None
        if isinstance(group, list):
            yield from (((number, "hooks", each), hook) for each, hook in enumerate(group) if isinstance(hook, dict))
        elif isinstance(element, dict):
            yield (number,), element
