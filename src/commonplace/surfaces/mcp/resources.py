"""Resources and prompts: what a person attaches to a conversation, or a client reads by itself.

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
from ...framing import introduce
from ...memory import Memory
from ...schema import TEXT, Schema, check, closed_object
from ...server.sessions import Caller
from ...tools.retrieval import whole_page

SCHEME = "commonplace"
PAGE = f"{SCHEME}://page"
CONTEXT = f"{SCHEME}://context"
RECEIPT = f"{SCHEME}://receipt"
RESOURCES_PER_PAGE = 500
MAX_COMPLETIONS = 100  # set by the protocol
_MARKDOWN = "text/markdown"
_JSON = "application/json"
_JSON_LINES = "application/x-ndjson"
_BUDGET: Schema = {"type": "string", "pattern": "^[0-9]{0,12}$", "description": "use a whole number of tokens"}
_CONTEXT_SCHEMA = closed_object(user=TEXT, channel=TEXT, budget=_BUDGET, query=TEXT)
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


RECALL = types.Prompt(
    name="recall",
    title="Recall from memory",
    description="What memory knows, on a topic or in general, for the conversation to go on with.",
    arguments=[
        types.PromptArgument(name="topic", description="What to recall; left out: what matters always."),
        types.PromptArgument(name="channel", description="The channel the conversation is in."),
        types.PromptArgument(name="budget", description="How many tokens it may take."),
    ],
)
PROMPTS = [RECALL]


class ResourceList(NamedTuple):
    resources: list[types.Resource]
    next_cursor: str | None


def page_uri(path: str) -> str:
    return f"{PAGE}/{quote(path, safe='/')}"


def parse_page_uri(uri: str) -> str | None:
    """Return the path in the address of a page, or None if it is not one."""
    return unquote(uri.removeprefix(f"{PAGE}/")) if uri.startswith(f"{PAGE}/") else None


def list_resources(memory: Memory, cursor: str | None) -> ResourceList:
    """Return the context first, then the pages this agent may see, newest first."""
    after = _parse_cursor(cursor)
    pages = [page for page in memory.home.visibility.list_pages() if after is None or (page[1], page[0]) < after]
    batch = pages[:RESOURCES_PER_PAGE]
    resources = [_describe_context()] if after is None else []
    resources += [_describe_page(path, at) for path, at in batch]
    return ResourceList(resources, _format_cursor(*batch[-1]) if len(pages) > len(batch) else None)


def _describe_context() -> types.Resource:
    return types.Resource(
        name="context",
        title="Memory for a prompt",
        uri=CONTEXT,
        mime_type=_MARKDOWN,
        description="What a model should read first.",
        annotations=types.Annotations(priority=1.0),
    )


def _describe_page(path: str, at: str) -> types.Resource:
    return types.Resource(
        name=path, uri=page_uri(path), mime_type=_media_type(path), annotations=types.Annotations(last_modified=at)
    )


def _media_type(path: str) -> str:
    if path.endswith(".md"):
        return _MARKDOWN
    return _JSON_LINES if path.endswith(".jsonl") else "text/plain"


def _format_cursor(path: str, at: str) -> str:
    return base64.urlsafe_b64encode(f"{at} {path}".encode()).decode()


def _parse_cursor(cursor: str | None) -> tuple[str, str] | None:
    if not cursor:
        return None
    try:
        at, _, path = base64.b64decode(cursor, altchars=b"-_", validate=True).decode().partition(" ")
    except ValueError as error:
        raise InvalidArgument("the cursor is not one that a listing gave: list from the start") from error
    return at, path


def read_resource(memory: Memory, caller: Caller, uri: str) -> types.TextResourceContents:
    path = parse_page_uri(uri)
    if path is not None:
        return types.TextResourceContents(uri=uri, mime_type=_media_type(path), text=whole_page(memory.home, path))
    try:
        address = urlsplit(uri)
    except ValueError as error:
        raise PageNotFound(uri) from error
    if f"{address.scheme}://{address.netloc}" not in (CONTEXT, RECEIPT) or address.path not in ("", "/"):
        raise PageNotFound(uri)
    context = build_context(memory, caller, dict(parse_qsl(address.query)))
    if address.netloc == "context":
        return types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=context.text)
    text = json.dumps(context.receipt, ensure_ascii=False, indent=2)
    return types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)


def build_context(memory: Memory, caller: Caller, arguments: dict[str, Any]) -> Context:
    """Return the context for some arguments; user and channel are the caller's own unless they are given."""
    check(_CONTEXT_SCHEMA, arguments, "the context")
    budget = arguments.get("budget")
    return memory.context(
        user=caller.choose("user", arguments.get("user")),
        channel=caller.choose("channel", arguments.get("channel")),
        budget=int(budget) if budget else None,
        query=arguments.get("query") or None,
    )


def get_prompt(memory: Memory, caller: Caller, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
    if name != RECALL.name:
        raise InvalidArgument(f"there is no prompt {name!r}: there is {RECALL.name}")
    topic = arguments.get("topic", "").strip()
    context_arguments = {"query": topic, **{key: value for key, value in arguments.items() if key != "topic"}}
    context = build_context(memory, caller, context_arguments).text
    about = f"about {topic}" if topic else "so far"
    text = introduce(f"This is what your memory holds {about}.", context)
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=f"What memory holds {about}", messages=[message])


def complete_argument(memory: Memory, argument: str, prefix: str) -> types.Completion:
    """Return what an argument may be, where that can be listed: values with the prefix first, then others with it
    inside."""
    if argument == "path":
        values = [path for path, _ in memory.home.visibility.list_pages()]
    elif argument == "channel":
        values = memory.home.channels.names()[0]
    else:
        values = []
    wanted = prefix.casefold()
    starting = [value for value in values if value.casefold().startswith(wanted)]
    containing = [value for value in values if wanted in value.casefold() and not value.casefold().startswith(wanted)]
    matches = starting + containing
    return types.Completion(
        values=matches[:MAX_COMPLETIONS], total=len(matches), has_more=len(matches) > MAX_COMPLETIONS
    )
