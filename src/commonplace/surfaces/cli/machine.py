"""The commands for programs: tools and call."""

from __future__ import annotations

import sys
from typing import Any

import click

from ...tools.catalog import TOOLSETS, offers
from .common import open_memory, options, print_json, read_stdin, shared, table


@click.command("tools")
@click.option(
    "--format",
    "shape",
    type=click.Choice(["openai", "anthropic", "gemini", "mcp"]),
    help="As a model API wants it.",
)
@click.option("--tools", "chosen", metavar="A,B", help=f"Toolsets, in order: {', '.join(TOOLSETS)}.")
@shared
def tools_command(shape: str | None, chosen: str | None) -> None:
    """Describe the tools, for people or, with --format, for a model API."""
    names = [name.strip() for name in chosen.split(",")] if chosen else list(TOOLSETS)
    found = offers(names)
    if shape or options().get("json"):
        from ...tools.shapes import describe

        print_json(describe(shape or "mcp", names))
        return
    rows = [[each.name, each.toolset.name, each.note or each.tool.description.split("\n")[0]] for each in found]
    table(["tool", "toolset", "what it does"], rows)


@click.command("call")
@click.argument("tool")
@click.argument("arguments", required=False)
@click.option("--toolset", help="Whose tool is meant, when two toolsets have one of that name.")
@shared
def call_command(tool: str, arguments: str | None, toolset: str | None) -> None:
    """Call TOOL with ARGUMENTS, a JSON object; without them, or with `-`, JSON is read from standard input."""
    outcome = open_memory(to_write=True).attempt(tool, _given(arguments), toolset)
    print_json(outcome.reply)
    sys.exit(outcome.error.exit_status if outcome.error else 0)


def _given(arguments: str | None) -> Any:
    if arguments is None and sys.stdin.isatty():
        return {}
    text = read_stdin() if arguments in (None, "-") else arguments
    return text if text and text.strip() else {}
