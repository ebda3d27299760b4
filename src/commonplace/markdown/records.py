"""A keyed record as a page: a little front matter, an empty line, the value.

Text stands as itself. Any other JSON value stands as JSON, and the front matter says `type: json`. Fields that the
file name or the folder already tell (the key, the category, the channel) are written only when the name had to be
encoded, so that renaming a page by hand renames the record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import BrokenFrontMatter
from ..model import Json, Record
from . import frontmatter


def read(text: str, named: Record) -> Record:
    """What a record page says; `named` carries what its place on disk tells, for fields the page leaves out."""
    head, body = frontmatter.split(text)
    try:
        fields, warning = frontmatter.parse(head), ""
    except BrokenFrontMatter as error:
        fields, warning = {}, f"{named.path}: {error}"
    value, problem = _value(_body(body) if head else body.removesuffix("\n"), fields.get("type"))
    return Record(
        key=_text(fields, "key", named.key),
        value=value,
        category=_text(fields, "category", named.category),
        tags=tags_of(fields),
        created_at=_text(fields, "created_at", named.created_at),
        updated_at=_text(fields, "updated_at", named.updated_at),
        path=named.path,
        scope=named.scope,
        warning=warning or (f"{named.path}: {problem}" if problem else ""),
    )


def write(old: str, value: Json, fields: Mapping[str, Any]) -> str:
    """The page with this value and these fields; what else a person put into the front matter stays."""
    is_text = isinstance(value, str)
    body = value if is_text else json.dumps(value, ensure_ascii=False, indent=2)
    head = frontmatter.edit(frontmatter.split(old)[0], {**fields, "type": None if is_text else "json"})
    return f"{head}\n{body}\n"


def fields_of(text: str) -> frontmatter.Fields:
    return frontmatter.parse(frontmatter.split(text)[0])


def tags_of(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Tags as people write them: a list, or words between commas."""
    tags = fields.get("tags") or []
    listed = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else []
    return tuple(str(tag).strip() for tag in listed if str(tag).strip())


def value_line(text: str) -> int:
    """The line on which the value of a record page starts."""
    head, body = frontmatter.split(text)
    return head.count("\n") + 1 + (1 if head and body.startswith(("\n", "\r\n")) else 0)


def _text(fields: Mapping[str, Any], name: str, default: str) -> str:
    value = fields.get(name)
    return default if value is None or isinstance(value, (list, dict)) else str(value)


def _body(text: str) -> str:
    """The value between the empty line after the front matter and the newline that ends the page."""
    for newline in ("\r\n", "\n"):
        if text.startswith(newline):
            text = text[len(newline) :]
            break
    return text.removesuffix("\n")


def _value(body: str, kind: Any) -> tuple[Json, str]:
    if kind != "json":
        return body, ""
    try:
        return json.loads(body), ""
    except (ValueError, RecursionError) as error:
        return body, f"the value is marked `type: json` but is not JSON ({error})"
