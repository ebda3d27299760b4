"""Where a page points to: `[[wikilinks]]` and `[text](other-page.md)`, not those inside of code."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

_CODE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?(?:^\1[`~]*[ \t]*$|\Z)|(`+)(?:(?!\2).)+?\2", re.DOTALL | re.MULTILINE)
_WIKI = re.compile(r"\[\[([^\[\]\n|#]{1,300})(?:#[^\[\]\n|]*)?(?:\|([^\[\]\n]{1,300}))?\]\]")
_INLINE = re.compile(r"(?<!!)\[([^\[\]\n]{0,300})\]\(<?([^()\s<>]{1,1000})>?(?:\s+\"[^\"\n]*\")?\)")
_LONGEST = 100_000  # characters that are looked through: what is more is no page to follow links on
_ELSEWHERE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|#")


class Link(NamedTuple):
    """`target` is a name where the link is a wikilink, else a path from the home."""

    target: str
    text: str
    is_wiki: bool


def links(text: str, path: str = "") -> list[Link]:
    """The links of a page to other pages, in order, each once."""
    return list(dict.fromkeys(_links(_CODE.sub("", text[:_LONGEST]), path)))


def _links(text: str, path: str) -> Iterator[Link]:
    if "[" not in text:
        return
    for found in _WIKI.finditer(text):
        yield Link(found[1].strip(), (found[2] or found[1]).strip(), is_wiki=True)
    for found in _INLINE.finditer(text):
        if target := page_of(found[2], path):
            yield Link(target, found[1], is_wiki=False)


def page_of(address: str, path: str) -> str:
    """The page that an address on a page means; empty when that is none of the home."""
    if _ELSEWHERE.match(address):
        return ""
    place = unquote(address.partition("#")[0].partition("?")[0])
    if not place.endswith((".md", ".jsonl")):
        return ""
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), place))
    return "" if joined.startswith(("../", "/")) else joined
