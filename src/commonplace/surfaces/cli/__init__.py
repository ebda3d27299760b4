"""The command line. Each command's module is imported only when that command runs, so that every call starts fast."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from ... import __version__
from ...errors import CommonplaceError, StorageError

# name: (module, one line of help); the order is the order of the help page
COMMANDS = {
    "init": ("setup", "Make a memory here, in ./.commonplace."),
    "remember": ("everyday", "Add an entry to today's page."),
    "recall": ("everyday", "Show what is known: world, curated memory, latest days."),
    "search": ("read", "Find the lines that answer a question."),
    "show": ("read", "Show a page, or some lines of it."),
    "write": ("everyday", "Keep a note under a new key."),
    "read": ("everyday", "Show the note of a key."),
    "list": ("read", "List the pages of memory, or the notes."),
    "reflect": ("everyday", "Rewrite the curated memory."),
    "world": ("everyday", "List, show or rewrite the topics all agents share."),
    "handoff": ("everyday", "Show, leave or clear the note for the next session."),
    "scratch": ("everyday", "Show, write or clear the scratchpad."),
    "skills": ("read", "List the skills, or show one."),
    "context": ("read", "Show what a model should read first."),
    "index": ("index", "Bring the search index up to date, or show how far it is."),
    "watch": ("watch", "Keep the search index up to date, and show which pages change."),
    "log": ("history", "Show who changed what, and when."),
    "diff": ("history", "Show what a change did."),
    "undo": ("history", "Take back a change, or all that an agent did."),
    "restore": ("history", "Let a page be what it was at a time."),
    "forget": ("forget", "Remove something everywhere, for good."),
    "gc": ("history", "Let go of old history."),
    "status": ("read", "Show where memory is and how it is doing."),
    "doctor": ("doctor", "Look for what is wrong with memory, and mend what can be mended."),
    "export": ("archive", "Write all of memory into one file, also while it is in use."),
    "import": ("import_", "Bring in a file that export made, or what another system kept."),
    "copy": ("copy", "Copy a memory between a folder and a database, with its history."),
    "db": ("db", "Make the tables of a database, bring them up to date, or show how they are."),
    "eval": ("evaluate", "Measure how well search finds, on questions of your own."),
    "mcp": ("server", "Serve memory to an MCP client, over standard input and output."),
    "serve": ("server", "Serve memory over HTTP."),
    "web": ("server", "Look at memory in your browser."),
    "token": ("token", "Make, list and revoke tokens for those who come over HTTP, and show who called."),
    "install": ("install", "Make this memory known to Claude Code, Codex, Cursor and others."),
    "hook": ("hook", "For clients: what a session starts with, and what was said in it."),
    "tools": ("tools", "Describe the tools, for people or for a model API."),
    "call": ("tools", "Call any tool with JSON arguments."),
    "completion": ("setup", "Print the script that completes commands in your shell."),
}


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"{__name__}.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {close[0]}?" if close else " Run commonplace --help for the list."
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--home", metavar="FOLDER|URL", help="The memory to use (default: found like git, or COMMONPLACE_HOME).")
@click.option("--agent", metavar="NAME", help="Whose memory (default: main, or COMMONPLACE_AGENT).")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
@click.version_option(__version__, "--version", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, home: str | None, agent: str | None, as_json: bool) -> None:
    """Memory for AI agents, kept in Markdown files that people can read and edit."""
    ctx.obj = {"home": home, "agent": agent, "json": as_json}


def main() -> None:
    """The whole program: errors become one sentence on standard error and an exit status from the error tree."""
    gc.set_threshold(50_000)  # most commands end before there is garbage worth looking for
    _open_streams()
    name = _program_name()
    if f"_{name.upper()}_COMPLETE" in os.environ:
        cli(prog_name=name)
    try:
        with cli.make_context(name, sys.argv[1:]) as context:
            cli.invoke(context)
        sys.stdout.flush()
        gc.freeze()  # what is left is not looked through on the way out
    except click.exceptions.Exit as leaving:
        _leave(leaving.exit_code)
    except click.ClickException as error:
        _tell(error.format_message(), "USAGE", error)
        _leave(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _leave(130)
    except CommonplaceError as error:
        _tell(str(error), error.code)
        _leave(error.exit_status)
    except BrokenPipeError:  # the reader (head, less) has seen enough
        _leave(0)
    except OSError as error:
        _tell(error.strerror or str(error), StorageError.code)
        _leave(StorageError.exit_status)


def _open_streams() -> None:
    """Text in and out is UTF-8 whatever the locale; a stream that the caller closed is an empty one."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
        elif mode == "w" and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")


def _tell(sentence: str, code: str, usage: click.ClickException | None = None) -> None:
    """The error for a program, where JSON was asked for, and for people. What can not be told is left at that."""
    own = sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    with suppress(OSError):
        if "--json" in own:
            import json

            print(json.dumps({"error": sentence, "code": code}, ensure_ascii=False), flush=True)
    with suppress(OSError):
        if usage:
            usage.show()
        else:
            print(f"commonplace: {sentence}", file=sys.stderr, flush=True)


def _leave(status: int) -> None:
    """End now. What could not be printed is not tried again on the way out."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(status)


def _program_name() -> str:
    name = os.path.basename(sys.argv[0])
    return "cpl" if name == "cpl" else "commonplace"
