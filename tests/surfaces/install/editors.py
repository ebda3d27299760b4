"""What the editors of TOML and YAML have in common: an entry goes in and out, and everything else stays."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hypothesis import strategies as st

from commonplace.formats import ParseProblem
from commonplace.surfaces.install.files import CannotEdit

ENTRY = {"command": '/opt/it\'s "here"/commonplace', "args": ["mcp", "--home", "C:\\home\\ann"]}


def files(parts: list[str]) -> st.SearchStrategy[str]:
    ends = st.sampled_from(["\n", "\r\n"])
    selection = st.lists(st.sampled_from(parts), max_size=7, unique=True)
    return st.builds(
        lambda some, end, last: end.join("\n".join(some).split("\n")) + last,
        selection,
        ends,
        st.sampled_from(["", "\n"]),
    )


def at(document: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def others(document: dict[str, Any], path: tuple[str, str]) -> dict[str, Any]:
    """Return everything but one entry, without fields that are empty."""
    holder = document.get(path[0])
    rest = {key: value for key, value in holder.items() if key != path[1]} if isinstance(holder, dict) else holder
    return {key: value for key, value in {**document, path[0]: rest}.items() if value}


def check(editor: ModuleType, read: Any, text: str, path: tuple[str, str]) -> None:
    try:
        before = editor.parse(text)
        response = editor.put(text, path, ENTRY)
    except (ParseProblem, CannotEdit) as error:
        assert str(error)  # noqa: PT017
        return
    entry = at(before, path)
    after = read(response)
    assert at(after, path) == {**(entry if isinstance(entry, dict) else {}), **ENTRY}
    assert others(after, path) == others(before, path)
    assert editor.put(response, path, ENTRY) == response
    if entry is None:
        lines = iter(response.splitlines())
        kept = (line for line in text.splitlines() if not line.startswith(f"{path[0]}: {{"))
        assert all(line in lines for line in kept)  # in this order
    try:
        without = editor.remove(response, path)
    except CannotEdit as error:
        assert "by hand" in str(error)  # noqa: PT017
        return
    assert at(read(without), path) is None
    assert others(read(without) or {}, path) == others(before, path)
