"""Writes docs/tools.md and docs/commands.md from the definitions themselves. A test keeps them true."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from commonplace.errors import range_words
from commonplace.surfaces.cli import COMMANDS, cli
from commonplace.tools.catalog import load
from commonplace.tools.registry import OPERATIONS

HERE = Path(__file__).parent
FORMS = {
    "notes": '`{"success": true, "data": {…}}` or `{"success": false, "error": {"code": "…", "message": "…"}}`',
    "working": '`{"status": "ok", …}` or `{"status": "error", "error": "…"}`',
    "journal": '`{"success": true, "content": "…"}` or `{"success": false, "error": "…"}`',
    "retrieval": '`{"results": […], …}`; a failure has `error`, and no results',
    "registry": '`{"success": true, …}` or `{"success": false, "error": "…"}`',
}


def tools() -> str:
    """Every tool, read off its definition."""
    out = io.StringIO()
    out.write("# Tools\n\nMade by `./dev docs` from the definitions in `src/commonplace/tools`; do not edit.\n\n")
    out.write(
        "Any tool: `Memory(home).call(tool, arguments)`, or `commonplace call TOOL 'JSON'`. An argument that is\n"
    )
    out.write(
        "`null` counts as not given. One that a tool does not take is ignored, and a `warning` says so; `warning`\n"
    )
    out.write("also names pages that could not be read.\n")
    for name, form in FORMS.items():
        out.write(f"\n## {name}\n\nAnswers {form}.\n")
        for tool_name, tool in load(name).tools.items():
            out.write(f"\n### {tool_name}\n\n{tool.description}\n\n")
            out.writelines(_table(tool.schema()))
    out.write("\n### Operations of MemoryTool\n\n| op | required | optional | |\n|---|---|---|---|\n")
    for name, operation in OPERATIONS.items():
        required = " ".join(f"`{p.name}`" for p in operation.parameters if p.required)
        optional = " ".join(f"`{p.name}`" for p in operation.parameters if not p.required)
        out.write(f"| `{name}` | {required} | {optional} | {operation.description} |\n")
    return out.getvalue()


def _table(schema: dict[str, Any]) -> Iterator[str]:
    if not schema["properties"]:
        yield "Takes nothing.\n"
        return
    yield "| parameter | type | default | |\n|---|---|---|---|\n"
    for name, field in schema["properties"].items():
        kinds = field["type"]
        kind = kinds if isinstance(kinds, str) else "any JSON" if "object" in kinds else " or ".join(kinds)
        if "enum" in field and len(field["enum"]) < 6:
            kind = ", ".join(f"`{choice}`" for choice in field["enum"])
        limits = _limits(field)
        default = "required" if name in schema["required"] else f"`{field['default']!r}`" if "default" in field else ""
        yield f"| `{name}` | {kind} | {default} | {field['description']}{limits} |\n"


def _limits(field: dict[str, Any]) -> str:
    if "minimum" not in field:
        return ""
    words = range_words(field["minimum"], field.get("maximum"))
    return f" {words[0].upper()}{words[1:]}."


def commands() -> str:
    """Every command, as its own help says it."""
    out = io.StringIO()
    out.write("# Commands\n\nMade by `./dev docs` from the commands themselves; do not edit.\n\n")
    out.write("`commonplace` and `cpl` are the same program; so is `python -m commonplace`.\n\n")
    out.write(
        "| exit status | meaning |\n|---|---|\n| 0 | done |\n| 1 | something nobody foresaw; of `doctor`: something was found |\n| 2 | the call's words or arguments are off |\n"
    )
    out.write("| 3 | not found |\n| 4 | exists already, or changed meanwhile |\n| 5 | refused |\n")
    out.write(
        "| 6 | the disk or the files stand in the way |\n| 7 | the settings are wrong |\n| 8 | a model can not serve now |\n| 9 | an extra is not installed |\n| 130 | interrupted |\n"
    )
    with click.Context(cli, info_name="commonplace", **cli.context_settings) as top:
        out.write(_help(cli, top))
        for name in COMMANDS:
            command = cli.get_command(top, name)
            if command:
                with click.Context(command, info_name=name, parent=top) as context:
                    out.write(f"\n## {name}\n{_help(command, context)}")
                    out.writelines(_parts(command, context))
    return out.getvalue()


def _parts(command: click.Command, above: click.Context) -> Iterator[str]:
    """The commands of a group."""
    for name, part in command.commands.items() if isinstance(command, click.Group) else ():
        with click.Context(part, info_name=name, parent=above) as context:
            yield _help(part, context)


def _help(command: click.Command, context: click.Context) -> str:
    context.terminal_width = 100
    return f"\n```text\n{command.get_help(context)}\n```\n"


PAGES = {"tools.md": tools, "commands.md": commands}

if __name__ == "__main__":
    for name, make in PAGES.items():
        (HERE / name).write_text(make(), encoding="utf-8")
