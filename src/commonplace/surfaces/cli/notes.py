"""The commands that write and read notes (remember, recall, write, read, reflect, world, handoff, scratch, pin), and
those for programs: tools, which describes the tools, and call, which calls one."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from ...errors import CommonplaceError, InvalidKey, KeyExists, KeyNotFound, NotFound, shorten, suggest
from ...formats.timestamps import sort_key
from ...home import Home
from ...storage.readings import read_lines
from ...tools.catalog import call, offers, only_reads
from ...tools.working import clear_handoff, read_handoff
from ...toolsets import TOOLSETS
from .common import (
    TextCommand,
    call_tool,
    get_options,
    global_options,
    home_exists,
    home_path,
    note,
    open_home,
    open_memory,
    parse_toolsets,
    print_json,
    print_reply,
    print_table,
    read_stdin,
    read_text,
    require_text,
)

_ADVICE: dict[type[CommonplaceError], str] = {
    KeyExists: "add --update to replace it; `commonplace read KEY` shows it",
    KeyNotFound: "`commonplace list --notes` lists the keys, `commonplace write KEY TEXT` stores a new one",
}


@click.command("remember", cls=TextCommand)
@click.argument("text", nargs=-1)
@global_options
def remember_command(text: tuple[str, ...]) -> None:
    """Add TEXT to today's page with the time. Without TEXT, standard input is read."""
    what = "what to remember"
    content = require_text(read_text(text, what), what)
    reply = call_tool(open_memory(to_write=True), "remember", {"content": content}, "journal")
    print_reply(reply, reply["content"])


@click.command("recall")
@click.option("--days", default=3, show_default=True, help="How many days to read, today included; 0 for none.")
@global_options
def recall_command(days: int) -> None:
    """Show the world facts, the curated memory and the last days."""
    reply = call_tool(open_memory(), "recall", {"days": days}, "journal")
    print_reply(reply, reply["content"].rstrip("\n"))


@click.command("write", cls=TextCommand)
@click.argument("key")
@click.argument("text", nargs=-1)
@click.option("--summary", is_flag=True, help="Write it to the curated page instead of today's.")
@click.option("--tag", "tags", multiple=True, help="A tag; repeatable.")
@click.option("--update", is_flag=True, help="Replace the note that has this key.")
@global_options
def write_command(key: str, text: tuple[str, ...], summary: bool, tags: tuple[str, ...], update: bool) -> None:
    """Store TEXT as a note under a new KEY. Without TEXT, standard input is read."""
    arguments = {"key": key, "content": read_text(text, "what to keep"), "tags": list(tags)}
    if update and summary:
        raise click.UsageError("--update changes a note where it is: leave out --summary")
    memory = open_memory(to_write=True)
    if update:
        reply = call_tool(memory, "memory_update", arguments, "notes", _ADVICE)
    else:
        target = "summary" if summary else "daily"
        reply = call_tool(memory, "memory_write", {**arguments, "target": target}, "notes", _ADVICE)
    path = memory.home.layout.notes_page(memory.home.agent, reply["data"]["path"])
    print_reply(reply, f"Stored {reply['data']['key']!r} in {path}.")


@click.command("read")
@click.argument("key")
@global_options
def read_command(key: str) -> None:
    """Show the note with this KEY."""
    memory = open_memory()
    reply = call_tool(memory, "memory_read", {"key": key}, "notes", _ADVICE)
    _note_newer_values(memory.home, key, reply["data"])
    print_reply(reply, reply["data"]["content"])


def _note_newer_values(home: Home, key: str, data: dict[str, str]) -> None:
    """Point out newer values that other toolsets have under the same key."""
    for store, record in (("working memory", home.working.get(key)), ("global memory", home.globals.get(key))):
        is_newer = record and sort_key(record.updated_at) > sort_key(data["updated_at"])
        if record and is_newer and record.text.strip() != data["content"].strip():
            value = " ".join(record.text.split())
            note(f"{store} has a newer value under {key}: {shorten(value)} ({record.path})")


@click.command("reflect", cls=TextCommand)
@click.argument("text", nargs=-1)
@global_options
def reflect_command(text: tuple[str, ...]) -> None:
    """Replace the whole curated memory with TEXT, or with standard input."""
    what = "the new curated memory"
    content = require_text(read_text(text, what), what)
    reply = call_tool(open_memory(to_write=True), "reflect", {"content": content}, "journal")
    print_reply(reply, reply["content"])


@click.command("world", cls=TextCommand)
@click.argument("topic", required=False)
@click.argument("text", nargs=-1)
@global_options
def world_command(topic: str | None, text: tuple[str, ...]) -> None:
    """List the topics that all agents share, show TOPIC, or rewrite it with TEXT (`-` for standard input)."""
    if topic is not None and not topic.strip():
        raise InvalidKey("the topic is empty: give a name of one line")
    if text and topic:
        what = "what is known"
        arguments = {"topic": topic, "content": require_text(read_text(text, what), what)}
        reply = call_tool(open_memory(to_write=True), "update_world", arguments, "journal")
        print_reply(reply, reply["content"])
        return
    home = open_memory().home
    pages = {home.layout.topic_of(path): path for path in home.storage.pages.list(home.layout.world)}
    if topic:
        path = pages.get(topic) or home.find_topic_page(topic)
        if path not in pages.values() and not home.storage.exists(path):
            advice = f"{suggest(topic, pages)}`commonplace world` lists all topics"
            raise NotFound(f"there is no topic {topic}", advice=advice)
        page = home.storage.pages.read(path)
        home.readings.note(page.path, read_lines(page.text, page.version))
        print_reply({"path": page.path, "text": page.text}, page.text.rstrip("\n"))
    else:
        print_reply({"topics": [*pages]}, "\n".join(pages) or "No topics yet.")


@click.command("handoff", cls=TextCommand)
@click.argument("text", nargs=-1)
@click.option("--clear", is_flag=True, help="Remove the note.")
@global_options
def handoff_command(text: tuple[str, ...], clear: bool) -> None:
    """Show the note for the next session, or replace it with TEXT (`-` for standard input)."""
    if clear and text:
        raise click.UsageError("give either TEXT or --clear")
    memory = open_memory(to_write=bool(text))
    if clear:
        with memory.home.writer.call("handoff"):
            clear_handoff(memory.home)
        print_reply({"status": "ok", "message": "Handoff cleared."}, "Handoff cleared.")
    elif text:
        reply = call_tool(memory, "write_session_handoff", {"content": read_text(text, "the note")}, "working")
        print_reply(reply, reply["message"])
    else:
        text_of_note = read_handoff(memory.home)
        print_reply({"status": "ok", "content": text_of_note}, text_of_note or "No handoff.")


@click.command("scratch", cls=TextCommand)
@click.argument("text", nargs=-1)
@click.option("--append", is_flag=True, help="Add TEXT to the end instead of replacing.")
@click.option("--clear", is_flag=True, help="Empty the scratchpad.")
@global_options
def scratch_command(text: tuple[str, ...], append: bool, clear: bool) -> None:
    """Show the scratchpad, or write TEXT to it (`-` for standard input)."""
    if clear and (text or append):
        raise click.UsageError("give either TEXT or --clear")
    mode = "clear" if clear else "append" if append else "replace" if text else "read"
    arguments = {"mode": mode}
    if mode in ("append", "replace"):
        arguments["content"] = read_text(text, "what to note")
    reply = call_tool(open_memory(to_write="content" in arguments), "scratch_note", arguments, "working")
    content = reply["content"] if mode == "read" else reply["message"]
    print_reply(reply, content or "The scratchpad is empty.")


@click.command("pin")
@click.argument("place", metavar="PAGE[#L3]")
@click.argument("file", metavar="FILE[::SYMBOL]")
@click.option("--remove", is_flag=True, help="Remove the pin instead.")
@global_options
def pin_command(place: str, file: str, remove: bool) -> None:
    """Pin a page, or the lines of a citation, to the current state of FILE in the memory's git repository. When the
    file changes, or the definition of SYMBOL in it, searches, the context and doctor say so."""
    from ...maintenance.doubts import pin_page, unpin_page

    home = open_memory(to_write=True).home
    target = _from_root(file, home.repository.root) if home.repository else file
    pinned = (unpin_page if remove else pin_page)(home, place, target)
    where = f"{pinned.path}#L{pinned.line}" if pinned.line else pinned.path
    sentence = f"{where} is no longer pinned to {target}." if remove else f"Pinned {where} to {target}."
    print_reply({"path": pinned.path, "line": pinned.line, "target": pinned.pin.target}, sentence)


def _from_root(file: str, root: str) -> str:
    """Return a file's path from the repository root, if it exists relative to the working directory."""
    path, separator, symbol = file.partition("::")
    whole = os.path.abspath(path)
    if not os.path.lexists(whole):
        return file
    return f"{os.path.relpath(whole, os.path.realpath(root)).replace(os.sep, '/')}{separator}{symbol}"


@click.command("tools")
@click.option(
    "--format",
    "shape",
    type=click.Choice(["openai", "openai-responses", "anthropic", "gemini", "mcp"]),
    help="In the form of a model API.",
)
@click.option("--strict", is_flag=True, help="Bind the model to the schema: openai, openai-responses, anthropic.")
@click.option("--tools", "toolsets", metavar="A,B", help=f"Toolsets, in order: {', '.join(TOOLSETS)}.")
@global_options
def tools_command(shape: str | None, strict: bool, toolsets: str | None) -> None:
    """Describe the tools, for people or, with --format, for a model API."""
    names = parse_toolsets(toolsets) if toolsets else None
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
