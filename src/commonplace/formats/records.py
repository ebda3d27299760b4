"""A keyed record as a page: a little front matter, an empty line, the value.

Text stands as itself. Any other JSON value stands as JSON, and the front matter says `type: json`. Fields that the
file name or the folder already tell (the key, the category, the channel) are written only when the name had to be
encoded, so that renaming a page by hand renames the record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import BrokenFrontMatter, NotAMapping
from ..model import Json, Record
from . import frontmatter
from . import json_text as jsontext

_NULL = ("~", "null", "Null", "NULL")  # how people write that there is nothing


def read(text: str, named: Record) -> Record:
    """What a record page says; `named` carries what its place on disk tells, for fields the page leaves out."""
    fields, body, warning = _parts(text, named.path)
    value, problem = _value(body, fields.get("type"))
    return Record(
        key=_text(fields, "key", named.key),
        value=value,
        category=_text(fields, "category", named.category),
        tags=tags_of(fields),
        created_at=_time(fields, "created_at", named.created_at),
        updated_at=_time(fields, "updated_at", named.updated_at),
        path=named.path,
        scope=named.scope,
        warning=warning or (f"{named.path}: {problem}" if problem else ""),
    )


def _parts(text: str, path: str) -> tuple[frontmatter.Fields, str, str]:
    """The fields, the value as text, and what is wrong. Two rules with text between them are no front matter."""
    head, body = frontmatter.split(text)
    try:
        fields = frontmatter.parse(head)
    except NotAMapping:
        head, body, fields = "", text, {}
    except BrokenFrontMatter as error:
        return {}, body_of(head, body), f"{path}: {error}"
    return fields, body_of(head, body), ""


def write(old: str, value: Json, fields: Mapping[str, Any], *, start_over: bool = False) -> str:
    """The page with this value and these fields; what else a person put into the front matter stays.

    Front matter that can not be understood is not touched but refused, unless the page may `start_over`.
    """
    is_text = isinstance(value, str)
    body = value if is_text else json.dumps(value, ensure_ascii=False, indent=2)
    changes = {**fields, "type": None if is_text else "json"}
    head = frontmatter.split(old)[0]
    try:
        head = frontmatter.edit(head, changes)
    except BrokenFrontMatter as error:
        if not (start_over or isinstance(error, NotAMapping)):
            raise
        head = frontmatter.render(changes)
    return framed(head, body)


def fields_of(text: str) -> frontmatter.Fields:
    return frontmatter.parse(frontmatter.split(text)[0])


def tags_of(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Tags as people write them: a list, or words between commas."""
    tags = fields.get("tags") or []
    if tags in _NULL:
        return ()
    listed = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else []
    return tuple(tag.strip() for tag in listed if isinstance(tag, str) and tag.strip())


def value_line(text: str) -> int:
    """The line on which the value of a record page starts."""
    head, body = frontmatter.split(text)
    return head.count("\n") + 1 + (1 if head and body.startswith(("\n", "\r\n")) else 0)


def _text(fields: Mapping[str, Any], name: str, default: str) -> str:
    value = fields.get(name)
    return default if value is None or isinstance(value, (list, dict)) else str(value)


def _time(fields: Mapping[str, Any], name: str, default: str) -> str:
    text = _text(fields, name, default)
    return default if text in _NULL else text


def framed(head: str, body: str) -> str:
    """A page of front matter and a text, with the line ends of the front matter."""
    newline = "\r\n" if "\r\n" in head else "\n"
    return f"{head.rstrip(newline)}{newline}{newline}{body}{newline}"


def body_of(head: str, text: str) -> str:
    """The value between the empty line after the front matter and the newline that ends the page.

    Line ends are those of the front matter; a page without one is a person's, and may end either way.
    """
    if not head:
        return _without_end(text.removeprefix("\ufeff"))
    if "\r\n" not in head:
        return text.removeprefix("\n").removesuffix("\n")
    return _without_end(text.removeprefix("\r\n"))


def _without_end(text: str) -> str:
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def _value(body: str, kind: Any) -> tuple[Json, str]:
    if kind != "json":
        return body, ""
    try:
        return jsontext.loads(body), ""
    except ValueError as error:
        return body, f"the value is marked `type: json` but is not JSON ({error})"
