"""A skill as a page that opens as an Agent Skill: `name` is the folder's, the rest of ours lives under `metadata`."""

from __future__ import annotations

from typing import Any

from ..errors import BrokenFrontMatter
from ..model import Skill
from . import frontmatter
from .records import body_of, framed

_NAME = "commonplace-name"  # the real name, where the folder could not carry it


def read(text: str, named: Skill) -> Skill:
    """What a SKILL.md says; `named` carries what its place on disk tells. The data is kept beside it, not here."""
    head, body = frontmatter.split(text)
    try:
        fields, warning = frontmatter.parse(head), ""
    except BrokenFrontMatter as error:
        fields, warning = {}, f"{named.path}: {error}"
    meta = fields.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    return Skill(
        name=str(meta.get(_NAME, named.name)),
        description=str(fields.get("description", "")),
        instructions=body_of(head, body),
        owner=str(meta.get("owner", "global")),
        training_progress=_count(meta.get("training_progress")),
        created_at=str(meta.get("created_at", named.created_at)),
        updated_at=str(meta.get("updated_at", named.updated_at)),
        path=named.path,
        warning=warning,
    )


def write(old: str, skill: Skill, folder: str) -> str:
    """The page of this skill. Every other field, and a body that says the same already, keep their bytes."""
    head, body = frontmatter.split(old)
    meta = {
        "owner": skill.owner,
        "training_progress": str(skill.training_progress),
        "created_at": skill.created_at,
        "updated_at": skill.updated_at,
    }
    if skill.name != folder:
        meta[_NAME] = skill.name
    changes: dict[str, Any] = {} if old else {"name": folder}
    head = frontmatter.edit(head, {**changes, "description": skill.description, "metadata": meta})
    return head + body if old and body_of(head, body) == skill.instructions else framed(head, skill.instructions)


def _count(value: Any) -> int:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else 0
