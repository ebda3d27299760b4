"""Records and skills as pages: front matter, an empty line, then the value or the instructions.

A text value is stored as it is; any other JSON value as JSON, with `type: json` in the front matter. Fields that the
file name or the folder already tell (the key, the category, the channel) are written only if the name had to be
encoded, so that renaming a page by hand renames the record. A skill's page opens as an Agent Skill: `name` is that
of its folder, and our own fields are under `metadata`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import BrokenFrontMatter, NotAMapping
from ..model import Json, Record, Skill
from . import frontmatter
from .json_text import parse_json

_NULL = ("~", "null", "Null", "NULL")
_SKILL_NAME = "commonplace-name"  # the field with a skill's name, if it cannot be the name of a folder


def parse_record(text: str, defaults: Record) -> Record:
    """Return the record on a page. Fields that the page leaves out come from `defaults`, derived from its path."""
    fields, body, broken = _split_record(text)
    value, problem = _parse_value(body, fields.get("type"))
    return Record(
        key=_text(fields, "key", defaults.key),
        value=value,
        category=_text(fields, "category", defaults.category),
        tags=parse_tags(fields),
        created_at=_time(fields, "created_at", defaults.created_at),
        updated_at=_time(fields, "updated_at", defaults.updated_at),
        path=defaults.path,
        scope=defaults.scope,
        problem=broken or problem,
    )


def _split_record(text: str) -> tuple[frontmatter.Fields, str, str]:
    """Return the fields, the value as text, and what is wrong. Text between two `---` lines may not be front matter."""
    head, body = frontmatter.split(text)
    try:
        fields = frontmatter.parse(head)
    except NotAMapping:
        return {}, extract_body("", text), ""
    except BrokenFrontMatter as error:
        return {}, extract_body(head, body), error.problem
    return fields, extract_body(head, body), ""


def render_record(old: str, value: Json, fields: Mapping[str, Any], *, start_over: bool = False) -> str:
    """Return the page with this value and these fields; all else in the front matter stays.

    BrokenFrontMatter if the front matter cannot be parsed, unless `start_over` lets it be replaced.
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
    return join_page(head, body)


def parse_fields(text: str) -> frontmatter.Fields:
    """Return the front matter of a page."""
    return frontmatter.parse(frontmatter.split(text)[0])


def parse_tags(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tags in a front matter: a list, or text with commas."""
    tags = fields.get("tags") or []
    if tags in _NULL:
        return ()
    if isinstance(tags, str):
        tags = tags.split(",")
    if not isinstance(tags, list):
        return ()
    return tuple(tag.strip() for tag in tags if isinstance(tag, str) and tag.strip())


def find_value_line(text: str) -> int:
    """Return the number of the line on which the value of a record page starts."""
    head, body = frontmatter.split(text)
    return head.count("\n") + 1 + (1 if head and body.startswith(("\n", "\r\n")) else 0)


def _text(fields: Mapping[str, Any], name: str, default: str) -> str:
    value = fields.get(name)
    return default if value is None or isinstance(value, (list, dict)) else str(value)


def _time(fields: Mapping[str, Any], name: str, default: str) -> str:
    text = _text(fields, name, default)
    return default if text in _NULL else text


def join_page(head: str, body: str) -> str:
    """Return a page of front matter and a body, with the line ends of the front matter."""
    newline = "\r\n" if "\r\n" in head else "\n"
    return f"{head.rstrip(newline)}{newline}{newline}{body}{newline}"


def extract_body(head: str, text: str) -> str:
    """Return the body between the empty line after the front matter and the newline that ends the page.

    Line ends are those of the front matter; a page without front matter was written by hand and may have either.
    """
    if not head:
        return _strip_newline(text.removeprefix("\ufeff"))
    if "\r\n" not in head:
        return text.removeprefix("\n").removesuffix("\n")
    return _strip_newline(text.removeprefix("\r\n"))


def _strip_newline(text: str) -> str:
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def _parse_value(body: str, kind: Any) -> tuple[Json, str]:
    if kind != "json":
        return body, ""
    try:
        return parse_json(body), ""
    except ValueError as error:
        return body, f"the value is marked `type: json` but is not JSON ({error})"


def parse_skill(text: str, defaults: Skill) -> Skill:
    """Return the skill on a SKILL.md, without its data. Fields that the page leaves out come from `defaults`."""
    head, body = frontmatter.split(text)
    try:
        fields = frontmatter.parse(head)
        warning = ""
    except BrokenFrontMatter as error:
        fields = {}
        warning = f"{defaults.path}: {error}"
    meta = fields.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    return Skill(
        name=str(meta.get(_SKILL_NAME, defaults.name)),
        description=str(fields.get("description", "")),
        instructions=extract_body(head, body),
        owner=str(meta.get("owner", "global")),
        training_progress=_parse_count(meta.get("training_progress")),
        created_at=str(meta.get("created_at", defaults.created_at)),
        updated_at=str(meta.get("updated_at", defaults.updated_at)),
        path=defaults.path,
        warning=warning,
    )


def render_skill(old: str, skill: Skill, folder: str) -> str:
    """Return the page of a skill. Other fields, and instructions that did not change, keep their bytes."""
    head, body = frontmatter.split(old)
    meta = {
        "owner": skill.owner,
        "training_progress": str(skill.training_progress),
        "created_at": skill.created_at,
        "updated_at": skill.updated_at,
    }
    if skill.name != folder:
        meta[_SKILL_NAME] = skill.name
    changes: dict[str, Any] = {} if old else {"name": folder}
    head = frontmatter.edit(head, {**changes, "description": skill.description, "metadata": meta})
    if old and extract_body(head, body) == skill.instructions:
        return head + body
    return join_page(head, skill.instructions)


def _parse_count(value: Any) -> int:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else 0
