"""A page as HTML that is safe to show: no scripts, no styles, nothing loaded from anywhere, nothing of ours forged.

markdown-it renders with HTML off, then nh3 lets through what is on a list. An image is shown as its words and its
address; headings have ids that begin with `note-`, so that a note can not pass for a part of the page around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from ..errors import NotInstalled
from . import frontmatter
from .links import page_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

LONGEST = 1_000_000  # characters that are rendered; what comes after them is left out
_KEPT = 64_000  # characters of a page whose HTML is kept for the next who reads it
_PREFIX = "note-"
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre",
    "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_CLASSES = {"a": {"wikilink"}, "span": {"image"}}
_HEADINGS = {f"h{level}": {"id"} for level in range(1, 7)}
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "td": {"align"}, "th": {"align"}, **_HEADINGS}
_FOOTER = re.compile(r"^<!-- agentool-memory:[^\n]*-->[ \t]*\n?", re.MULTILINE)  # when a note was written, for tools
Find = Callable[[str], str]
_WIKI = re.compile(r"\[\[([^\[\]\n|]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]")


def html(text: str, path: str = "", find: Find = lambda name: "") -> str:
    """The page as HTML. `path` is where it stands: links to pages beside it become links within the application.

    `find` gives the path of the page that a wikilink means; one that means none leads to a search.
    """
    alone = "[[" not in text and len(text) <= _KEPT  # what depends on no other page is as it was
    return _made_before(text, path) if alone else _made(text, path, find)


@lru_cache(maxsize=256)
def _made_before(text: str, path: str) -> str:
    return _made(text, path, str)


def _made(text: str, path: str, find: Find) -> str:
    try:
        import nh3
    except ImportError as error:
        raise NotInstalled("showing pages as HTML", "web") from error
    _, body = frontmatter.split(text[:LONGEST])
    body = _FOOTER.sub("", body)
    made = _reader().render(body, {"path": path, "find": find, "ids": {}})
    return nh3.clean(
        made, tags=_TAGS, attributes=_ATTRIBUTES, allowed_classes=_CLASSES, url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow", strip_comments=True,
    )  # fmt: skip


@cache
def _reader() -> MarkdownIt:
    try:
        from markdown_it import MarkdownIt
    except ImportError as error:
        raise NotInstalled("showing pages as HTML", "web") from error
    reader = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False, "maxNesting": 40})
    reader.enable(["table", "strikethrough"])
    reader.inline.ruler.before("link", "wikilink", _wikilink)
    reader.add_render_rule("image", _image)
    reader.add_render_rule("link_open", _link)
    reader.add_render_rule("heading_open", _heading)
    return reader


def _wikilink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  markdown-it calls it like this
    found = _WIKI.match(state.src, state.pos) if state.src.startswith("[[", state.pos) else None
    if found is None or found.end() > state.posMax:
        return False
    if not silent:
        name, _, part = found[1].partition("#")
        opened = state.push("link_open", "a", 1)
        page = state.env.get("find", str)(name.strip())
        opened.attrs = {
            "href": internal(page) if page else f"#/search?q={quote(name.strip(), safe='')}",
            "class": "wikilink",
        }
        opened.meta = {"wiki": True}
        state.push("text", "", 0).content = (found[2] or f"{name}{' § ' if part else ''}{part}").strip()
        state.push("link_close", "a", -1)
    state.pos = found.end()
    return True


def _link(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    token = tokens[at]
    if not token.meta.get("wiki"):
        address = str(token.attrs.get("href", ""))
        page = page_of(address, env.get("path", ""))
        if page:
            token.attrs["href"] = internal(page)
        elif not re.match(r"(?:https?|mailto):", address, re.IGNORECASE):
            token.attrs.pop("href", None)  # neither a page nor an address that leads anywhere
    made: str = renderer.renderToken(tokens, at, options, env)
    return made


def internal(path: str) -> str:
    """The address of a page within the application."""
    return f"#/page/{quote(path, safe='/')}"


def _image(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """What an image says of itself. It is never loaded: whoever keeps it would hear that the page is read."""
    token = tokens[at]
    told = renderer.renderInlineAsText(token.children or [], options, env)
    address = unquote(str(token.attrs.get("src", "")))
    return f'<span class="image">{escape(told)} ({escape(address)})</span>'


def _heading(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    token, ids = tokens[at], env.setdefault("ids", {})
    words = "".join(child.content for child in tokens[at + 1].children or [] if child.type in ("text", "code_inline"))
    name = re.sub(r"[^\w]+", "-", words.lower()).strip("-")[:80] or "part"
    ids[name] = ids.get(name, 0) + 1
    token.attrs["id"] = f"{_PREFIX}{name}" + (f"-{ids[name]}" if ids[name] > 1 else "")
    made: str = renderer.renderToken(tokens, at, options, env)
    return made
