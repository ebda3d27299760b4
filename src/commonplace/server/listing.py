"""What a server lists: the tools that a grant allows, and pages in batches, each with a cursor for the next."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from ..errors import InvalidArgument
from ..home import Home
from ..storage.tokens import Grant
from ..tools import catalog, schemas


def may_call(grant: Grant, tool: str, toolsets: Sequence[str], home: Home) -> bool:
    """Return whether a tool may be called: one that may write only by those who may."""
    return grant.may_write or catalog.only_reads(tool, tuple(toolsets), home)


def list_tools(grant: Grant, toolsets: Sequence[str], home: Home) -> list[dict[str, Any]]:
    """Return the tools of some toolsets that a grant allows, described as for MCP."""
    tools = schemas.describe("mcp", toolsets, home)
    return [tool for tool in tools if may_call(grant, tool["name"], toolsets, home)]


def format_cursor(at: str, path: str) -> str:
    """Return a cursor that continues a listing, newest first, after a page."""
    return base64.urlsafe_b64encode(f"{at} {path}".encode()).decode().rstrip("=")


def parse_cursor(cursor: str | None) -> tuple[str, str] | None:
    """Return the time and path of the last page listed; None at the start, InvalidArgument if it is no cursor."""
    if not cursor:
        return None
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        at, _, path = base64.b64decode(padded, altchars=b"-_", validate=True).decode().partition(" ")
    except ValueError as error:
        raise InvalidArgument("the cursor is not from a listing", advice="list from the start") from error
    return at, path
