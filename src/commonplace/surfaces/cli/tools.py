"""The commands for programs: tools, which describes the tools, and call, which calls one."""

from __future__ import annotations

import sys
from typing import Any

import click

from ...tools.catalog import TOOLSETS, call, offers, only_reads
from .common import (
    get_options,
    global_options,
    home_exists,
    home_path,
    open_home,
    open_memory,
    parse_toolsets,
    print_json,
    print_table,
    read_stdin,
)


@click.command("tools")
@click.option(
    "--format",
    "shape",
    type=click.Choice(["openai", "openai-responses", "anthropic", "gemini", "mcp"]),
    help="In the form of a model API.",
)
@click.option("--strict", is_flag=True, help="Bind the model to the schema: openai, openai-responses, anthropic.")
@click.option("--tools", "chosen", metavar="A,B", help=f"Toolsets, in order: {', '.join(TOOLSETS)}.")
@global_options
def tools_command(shape: str | None, strict: bool, chosen: str | None) -> None:
    """Describe the tools, for people or, with --format, for a model API."""
    names = parse_toolsets(chosen) if chosen else None
    home = open_home() if home_exists(home_path()) else None
    if shape or strict or get_options().get("json"):
        from ...tools.schemas import describe

        print_json(describe(shape or "mcp", names, home, strict=strict))
        return
    rows = [
        [offer.name, offer.toolset.name, offer.note or offer.tool.description.split("\n")[0]]
        for offer in offers(names, home)
    ]
    print_table(["tool", "toolset", "what it does"], rows)


@click.command("call")
@click.argument("tool")
@click.argument("arguments", required=False)
@click.option("--toolset", help="Which toolset is meant, if two have a tool of that name.")
@global_options
def call_command(tool: str, arguments: str | None, toolset: str | None) -> None:
    """Call TOOL with ARGUMENTS, a JSON object; without them, or with `-`, JSON is read from standard input."""
    home = open_home() if only_reads(tool, toolset) else open_memory(to_write=True).home
    outcome = call(home, tool, _read_arguments(arguments), toolset)
    print_json(outcome.reply)
    if outcome.error:
        sys.exit(outcome.error.exit_status)


def _read_arguments(arguments: str | None) -> Any:
    if arguments is None and sys.stdin.isatty():
        return {}
    text = read_stdin() if arguments in (None, "-") else arguments
    return text if text and text.strip() else {}
