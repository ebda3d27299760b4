"""Tags of handwritten pages: `tags` in the front matter, which are tags of the whole page, and `#tag` in the text."""

from __future__ import annotations

import re

from ..errors import CommonplaceError
from . import frontmatter

_FIELDS = ("tags", "tag")
_SEPARATORS = re.compile(r"[,\s]+")
_MAX_TAGS = 50
# As in other Markdown tools: after white space or a bracket, with at least one character that is no digit.
_INLINE = re.compile(r"(?<![^\s(])#(?=[\w/-]*[^\W\d])([\w/-]+)")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_FENCE = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)")


def read_page_tags(head: str) -> tuple[str, ...]:
    """Return the tags of a front matter: a list, or words with commas or spaces between them; with or without `#`.

    A front matter that cannot be parsed has none.
    """
    if not any(f"{name}:" in head for name in _FIELDS):
        return ()
    try:
        fields = frontmatter.parse(head)
    except CommonplaceError:
        return ()
    found: list[str] = []
    for name in _FIELDS:
        value = fields.get(name)
        found += _SEPARATORS.split(value) if isinstance(value, str) else value if isinstance(value, list) else []
    tags = (tag.strip().removeprefix("#") for tag in found if isinstance(tag, str))
    return tuple(dict.fromkeys(tag for tag in tags if tag))[:_MAX_TAGS]


def find_inline_tags(text: str) -> tuple[str, ...]:
    """Return the tags in a text, `#like-this`, outside of code."""
    if "#" not in text:
        return ()
    prose = _CODE.sub(" ", _FENCE.sub("", text))
    return tuple(dict.fromkeys(match[1].rstrip("/-") for match in _INLINE.finditer(prose)))[:_MAX_TAGS]
