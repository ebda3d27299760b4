"""A page as HTML that is safe to show, and the links of a page to other pages.

markdown-it renders with HTML off, then nh3 lets through only allowed tags: no scripts, no styles, nothing loaded from
anywhere. An image becomes its text and its address. Heading ids begin with `note-`, so that a note cannot pose as a
part of the application around it. What a page has beyond a limit of markup is plain text, so that none takes long.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from functools import cache
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote

from ..caching import cache_within
from ..errors import NotInstalled
from ..patterns import lazy_pattern
from . import frontmatter
from .structure import FOOTER_START

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MAX_SHOWN_CHARS = 1_000_000  # per page; the rest is left out
MAX_RENDERED_CHARS = 400_000  # rendered as Markdown; the rest is shown as plain text
_MAX_MARKUP_CHARS = 20_000  # markup characters to render; each costs up to 30 microseconds
_MARKUP = lazy_pattern(r"[\[\]!|*_`<>&#~\\\n-]")
_MAX_CACHED_CHARS = 64_000  # the HTML of longer pages is not cached
_ID_PREFIX = "note-"
_TAGS = frozenset(f"h{level}" for level in range(1, 7)) | {
    *("a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "span", "strong"),
    *("table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_CLASSES = {"a": {"wikilink"}, "span": {"image"}}
_HEADINGS = {f"h{level}": {"id"} for level in range(1, 7)}
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "td": {"align"}, "th": {"align"}, **_HEADINGS}
_FOOTER = lazy_pattern(rf"^{FOOTER_START}[^\n]*-->[ \t]*\n?", re.MULTILINE)
FindPage = Callable[[str], str]  # the path of the page a wikilink means, or ""
_WIKILINK = lazy_pattern(r"\[\[([^\[\]\n|]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]")

_WIKILINK_TARGET = lazy_pattern(r"\[\[([^\[\]\n|#]{1,300})(?:#[^\[\]\n|]*)?(?:\|([^\[\]\n]{1,300}))?\]\]")
_FENCED = lazy_pattern(r"^(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^\1[`~]*+[ \t]*+$|\Z)", re.DOTALL | re.MULTILINE)
_BACKTICKS = lazy_pattern("`+")
_INLINE_LINK = lazy_pattern(r"(?<!!)\[([^\[\]\n]{0,300})\]\(<?([^()\s<>]{1,1000})>?(?:\s+\"[^\"\n]*\")?\)")
_EXTERNAL = lazy_pattern(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|#")
_MAX_LINKED_CHARS = 100_000  # links are looked for in this much of a page


def _find_no_page(_name: str) -> str:
    return ""


def render_html(text: str, path: str = "", find: FindPage = _find_no_page) -> str:
    """Return the page as HTML. Links relative to its `path` become links within the application.

    `find` gives the path of the page that a wikilink means; a wikilink to no page leads to a search.
    """
    depends_on_others = "[[" in text
    cacheable = not depends_on_others and len(text) <= _MAX_CACHED_CHARS
    return _render_cached(text, path) if cacheable else _render(text, path, find)


@cache_within(4_000_000)
def _render_cached(text: str, path: str) -> str:
    return _render(text, path, _find_no_page)


def _render(text: str, path: str, find: FindPage) -> str:
    try:
        import nh3
    except ImportError as error:
        raise NotInstalled("showing pages as HTML", "web") from error
    _, whole = frontmatter.split(text)
    body = _FOOTER.sub("", whole[:MAX_SHOWN_CHARS])
    end = _find_rendered_end(body)
    rendered = _renderer().render(body[:end], {"path": path, "find": find, "ids": {}})
    cleaned: str = nh3.clean(
        rendered,
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )
    return cleaned + _render_rest(body[end:], is_cut=len(whole) > MAX_SHOWN_CHARS)


def _find_rendered_end(body: str) -> int:
    """Return up to where a page is rendered as Markdown: all of it, or the last line that fits within the limits."""
    beyond = next(islice(_MARKUP.finditer(body), _MAX_MARKUP_CHARS, None), None)
    limit = min(MAX_RENDERED_CHARS, beyond.start() if beyond else len(body))
    if len(body) <= limit:
        return len(body)
    line_end = body.rfind("\n", 0, limit) + 1
    return line_end or limit


def _render_rest(rest: str, *, is_cut: bool) -> str:
    """Return what is not rendered as Markdown, under a line that says so."""
    sentences = ["The rest of this page is shown as plain text."] if rest else []
    if is_cut:
        sentences.append(f"Only its first {MAX_SHOWN_CHARS:,} characters are shown.")
    note = f"<hr>\n<p><em>This page is very long. {' '.join(sentences)}</em></p>\n" if sentences else ""
    return note + (f"<pre>{escape(rest, quote=False)}</pre>\n" if rest else "")


@cache
def _renderer() -> MarkdownIt:
    try:
        from markdown_it import MarkdownIt
    except ImportError as error:
        raise NotInstalled("showing pages as HTML", "web") from error
    renderer = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False, "maxNesting": 40})
    renderer.enable(["table", "strikethrough"])
    renderer.inline.ruler.before("link", "wikilink", _parse_wikilink)
    renderer.add_render_rule("image", _render_image)
    renderer.add_render_rule("link_open", _render_link)
    renderer.add_render_rule("heading_open", _render_heading)
    return renderer


def _parse_wikilink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  markdown-it calls it like this
    match = _WIKILINK.match(state.src, state.pos) if state.src.startswith("[[", state.pos) else None
    if match is None or match.end() > state.posMax:
        return False
    if not silent:
        name, _, part = match[1].partition("#")
        opened = state.push("link_open", "a", 1)
        page = state.env.get("find", _find_no_page)(name.strip())
        opened.attrs = {
            "href": link_to_page(page) if page else f"#/search?q={quote(name.strip(), safe='')}",
            "class": "wikilink",
        }
        opened.meta = {"wiki": True}
        state.push("text", "", 0).content = (match[2] or f"{name}{' § ' if part else ''}{part}").strip()
        state.push("link_close", "a", -1)
    state.pos = match.end()
    return True


def _render_link(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    token = tokens[at]
    if not token.meta.get("wiki"):
        address = str(token.attrs.get("href", ""))
        page = resolve_link(address, env.get("path", ""))
        if page:
            token.attrs["href"] = link_to_page(page)
        elif not re.match(r"(?:https?|mailto):", address, re.IGNORECASE):
            token.attrs.pop("href", None)  # neither a page nor an external address
    rendered: str = renderer.renderToken(tokens, at, options, env)
    return rendered


def link_to_page(path: str) -> str:
    """Return the address of a page within the application."""
    return f"#/page/{quote(path, safe='/')}"


def _render_image(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """Show the text and address of an image. Loading it would tell its host that the page is read."""
    token = tokens[at]
    text = renderer.renderInlineAsText(token.children or [], options, env)
    address = unquote(str(token.attrs.get("src", "")))
    return f'<span class="image">{escape(text)} ({escape(address)})</span>'


def _render_heading(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    token = tokens[at]
    ids = env.setdefault("ids", {})
    words = "".join(child.content for child in tokens[at + 1].children or [] if child.type in ("text", "code_inline"))
    name = re.sub(r"[^\w]+", "-", words.lower()).strip("-")[:80] or "part"
    ids[name] = ids.get(name, 0) + 1
    token.attrs["id"] = f"{_ID_PREFIX}{name}" + (f"-{ids[name]}" if ids[name] > 1 else "")
    rendered: str = renderer.renderToken(tokens, at, options, env)
    return rendered


class Link(NamedTuple):
    """A link to another page. `target` is a page name for a wikilink, else a path from the home."""

    target: str
    text: str
    is_wiki: bool


def find_links(text: str, path: str = "") -> list[Link]:
    """Return the links of a page to other pages, in order, each once. Links inside code do not count."""
    return list(dict.fromkeys(_iterate_links(_remove_code(text[:_MAX_LINKED_CHARS]), path)))


def _remove_code(text: str) -> str:
    """Return the text without code blocks and code spans, in time that grows with its length alone.

    A code span ends at the next run of backticks that is as long as the one that opened it.
    """
    text = _FENCED.sub("", text)
    runs = [match.span() for match in _BACKTICKS.finditer(text)]
    closing = _closing_runs(runs)
    parts: list[str] = []
    copied = 0
    number = 0
    while number < len(runs):
        end = closing[number]
        if end is None:
            number += 1
            continue
        parts.append(text[copied : runs[number][0]])
        copied = runs[end][1]
        number = end + 1
    return "".join((*parts, text[copied:]))


def _closing_runs(runs: list[tuple[int, int]]) -> list[int | None]:
    """Return, for each run of backticks, the number of the next one of the same length, or None."""
    closing: list[int | None] = [None] * len(runs)
    latest: dict[int, int] = {}
    for number in reversed(range(len(runs))):
        length = runs[number][1] - runs[number][0]
        closing[number] = latest.get(length)
        latest[length] = number
    return closing


def _iterate_links(text: str, path: str) -> Iterator[Link]:
    if "[" not in text:
        return
    for match in _WIKILINK_TARGET.finditer(text):
        yield Link(match[1].strip(), (match[2] or match[1]).strip(), is_wiki=True)
    for match in _INLINE_LINK.finditer(text):
        if target := resolve_link(match[2], path):
            yield Link(target, match[1], is_wiki=False)


def resolve_link(address: str, path: str) -> str:
    """Return the page that an address on the page at `path` means, or "" if it is not a page of the home."""
    if _EXTERNAL.match(address):
        return ""
    place = unquote(address.partition("#")[0].partition("?")[0])
    if not place.endswith((".md", ".jsonl")):
        return ""
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), place))
    return "" if joined.startswith(("../", "/")) else joined
