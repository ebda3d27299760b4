"""Pages and the prompt context as resources: what a person attaches to a conversation, and a client reads by itself.

commonplace://page/{+path}                           one page, as it is
commonplace://context{?user,channel,budget,query}    what a model should read first
commonplace://receipt{?user,channel,budget,query}    what went into that, and what was cut
"""

from __future__ import annotations

import base64
import json
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import mcp_types as types

from ...context import Context
from ...errors import InvalidArgument, PageNotFound
from ...memory import Memory
from ...server.sessions import Asker
from ...tools.retrieval import whole_page

SCHEME = "commonplace"
PAGE, CONTEXT, RECEIPT = (f"{SCHEME}://{name}" for name in ("page", "context", "receipt"))
_MARKDOWN, _JSON, _LINES = "text/markdown", "application/json", "application/x-ndjson"
_ASKED = ("user", "channel", "budget", "query")
_PER_PAGE = 500
_MOST_COMPLETED = 100  # as the protocol has it
_LONGEST_BUDGET = 12  # digits: more tokens than there are
TEMPLATES = [
    types.ResourceTemplate(
        name="page",
        title="A page of memory",
        uri_template=f"{PAGE}/{{+path}}",
        description="A page by its path, as search results name it.",
    ),
    types.ResourceTemplate(
        name="context",
        title="Memory for a prompt",
        uri_template=f"{CONTEXT}{{?user,channel,budget,query}}",
        description="What a model should read first: for a user, in a channel, within some tokens, on a question.",
        mime_type=_MARKDOWN,
    ),
    types.ResourceTemplate(
        name="receipt",
        title="Receipt of the prompt memory",
        uri_template=f"{RECEIPT}{{?user,channel,budget,query}}",
        description="What went into the context for the same request, what was cut, and why.",
        mime_type=_JSON,
    ),
]


class Listed(NamedTuple):
    resources: list[types.Resource]
    next_cursor: str | None


def uri_of(path: str) -> str:
    return f"{PAGE}/{quote(path, safe='/')}"


def path_of(uri: str) -> str | None:
    """The path of a page's address; None when it is no such address."""
    return unquote(uri.removeprefix(f"{PAGE}/")) if uri.startswith(f"{PAGE}/") else None


def listed(memory: Memory, cursor: str | None) -> Listed:
    """The context first, then every page this agent may see, the newest first."""
    after = _cursor(cursor)
    pages = [page for page in memory.home.visible_pages() if after is None or (page[1], page[0]) < after]
    some = pages[:_PER_PAGE]
    resources = [_context()] if after is None else []
    resources += [_page(path, at) for path, at in some]
    return Listed(resources, _as_cursor(*some[-1]) if len(pages) > len(some) else None)


def _context() -> types.Resource:
    return types.Resource(
        name="context", title="Memory for a prompt", uri=CONTEXT, mime_type=_MARKDOWN,
        description="What a model should read first.", annotations=types.Annotations(priority=1.0),
    )  # fmt: skip


def _page(path: str, at: str) -> types.Resource:
    return types.Resource(
        name=path, uri=uri_of(path), mime_type=_kind(path), annotations=types.Annotations(last_modified=at)
    )


def _kind(path: str) -> str:
    return _MARKDOWN if path.endswith(".md") else _LINES if path.endswith(".jsonl") else "text/plain"


def _as_cursor(path: str, at: str) -> str:
    return base64.urlsafe_b64encode(f"{at} {path}".encode()).decode()


def _cursor(given: str | None) -> tuple[str, str] | None:
    if not given:
        return None
    try:
        at, _, path = base64.b64decode(given, altchars=b"-_", validate=True).decode().partition(" ")
    except ValueError as error:
        raise InvalidArgument("the cursor is not one that a listing gave: list from the start") from error
    return at, path


def read(memory: Memory, asker: Asker, uri: str) -> types.TextResourceContents:
    path = path_of(uri)
    if path is not None:
        return types.TextResourceContents(uri=uri, mime_type=_kind(path), text=whole_page(memory.home, path))
    try:
        address = urlsplit(uri)
    except ValueError as error:
        raise PageNotFound(uri) from error
    if f"{address.scheme}://{address.netloc}" not in (CONTEXT, RECEIPT) or address.path not in ("", "/"):
        raise PageNotFound(uri)
    context = asked_context(memory, asker, dict(parse_qsl(address.query)))
    if address.netloc == "context":
        return types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=context.text)
    text = json.dumps(context.receipt, ensure_ascii=False, indent=2)
    return types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)


def asked_context(memory: Memory, asker: Asker, asked: dict[str, Any]) -> Context:
    """The context for what was asked; who asks is who the request comes from, where it does not say."""
    strange = [name for name in asked if name not in _ASKED]
    if strange:
        raise InvalidArgument(f"{strange[0]} is not known: a context takes {', '.join(_ASKED)}")
    budget = asked.get("budget") or None
    if budget is not None and not (budget.isdecimal() and len(budget) <= _LONGEST_BUDGET):
        raise InvalidArgument(f"budget must be a whole number of tokens, not {budget:.50}")
    return memory.context(
        user=asker.chosen("user", asked.get("user")),
        channel=asker.chosen("channel", asked.get("channel")),
        budget=None if budget is None else int(budget),
        query=asked.get("query") or None,
    )


def completed(memory: Memory, argument: str, begun: str) -> types.Completion:
    """What an argument may be, where that can be listed: first those that begin with what was typed."""
    known = {"path": _paths, "channel": _channels}.get(argument, lambda _: [])(memory)
    wanted = begun.casefold()
    first = [value for value in known if value.casefold().startswith(wanted)]
    found = first + [value for value in known if wanted in value.casefold() and not value.casefold().startswith(wanted)]
    return types.Completion(values=found[:_MOST_COMPLETED], total=len(found), has_more=len(found) > _MOST_COMPLETED)


def _paths(memory: Memory) -> list[str]:
    return [path for path, _ in memory.home.visible_pages()]


def _channels(memory: Memory) -> list[str]:
    return memory.home.channels.names()[0]
