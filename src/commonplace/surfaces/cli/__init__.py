"""The command line. A command's module is imported only when that command runs, so that every call starts fast."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from io import StringIO
from typing import Any

import click

from ... import __version__
from ...errors import CommonplaceError, StorageError, find_similar

# The commands by group, in the order of the help page: name, then module and one line of help.
COMMAND_GROUPS = {
    "Start": {
        "init": ("setup", "Create a memory here, in ./.commonplace."),
        "install": ("setup", "Connect this memory to Claude Code, Codex, Cursor and others."),
        "import": ("transfer", "Import a file that export made, or the data of another system."),
        "web": ("server", "View memory in your browser."),
        "status": ("view", "Show where memory is and how it is doing."),
        "help": ("setup", "Show how to use commonplace, or one of its commands."),
    },
    "Write and find": {
        "remember": ("notes", "Add an entry to today's page."),
        "recall": ("notes", "Show world facts, curated memory and the latest days."),
        "search": ("view", "Find the lines that answer a question."),
        "show": ("view", "Show a page, or some lines of it."),
        "write": ("notes", "Store a note under a new key."),
        "read": ("notes", "Show the note with a key."),
        "list": ("view", "List the pages of memory, or the notes."),
        "reflect": ("notes", "Rewrite the curated memory."),
        "world": ("notes", "List, show or rewrite the topics all agents share."),
        "handoff": ("notes", "Show, leave or clear the note for the next session."),
        "scratch": ("notes", "Show, write or clear the scratchpad."),
        "skills": ("view", "List the skills, or show one."),
        "context": ("view", "Show what a model should read first."),
        "pin": ("notes", "Pin a note to a file: it is marked when the file changes."),
    },
    "History": {
        "log": ("history", "Show who changed what, and when."),
        "blame": ("history", "Show who wrote each line of a page."),
        "diff": ("history", "Show what a change did."),
        "undo": ("history", "Undo a change, or everything an agent did."),
        "restore": ("history", "Restore a page as it was at a time."),
        "supersede": ("history", "Say that one statement replaces another, or does not."),
        "forget": ("history", "Remove something everywhere, for good."),
        "gc": ("history", "Delete old history."),
    },
    "Maintenance": {
        "doctor": ("checks", "Check memory for problems, and repair what can be repaired."),
        "review": ("review", "Decide on facts that may be outdated."),
        "index": ("checks", "Bring the search index up to date, or show its state."),
        "watch": ("checks", "Keep the search index up to date, and show which pages change."),
        "eval": ("checks", "Measure how well search finds, on questions of your own."),
        "export": ("transfer", "Write all of memory into one file, even while it is in use."),
        "copy": ("transfer", "Copy a memory between a folder and a database, with its history."),
        "db": ("db", "Create the tables of a database, bring them up to date, or show their state."),
        "completion": ("setup", "Print the completion script for your shell."),
    },
    "Agents and servers": {
        "mcp": ("server", "Serve memory to an MCP client, over standard input and output."),
        "serve": ("server", "Serve memory over HTTP."),
        "token": ("server", "Create, list and revoke access tokens for HTTP, and show who called."),
        "hook": ("hook", "For clients: give a session its context, and store its transcript."),
        "tools": ("notes", "Describe the tools, for people or for a model API."),
        "call": ("notes", "Call any tool with JSON arguments."),
    },
    "Approval": {
        "trust": ("review", "Review a memory that you did not make, and trust it."),
        "proposals": ("review", "List the rules that wait for your approval; approve or reject them."),
    },
}
COMMANDS = {name: command for group in COMMAND_GROUPS.values() for name, command in group.items()}
_NAME_WIDTH = max(map(len, COMMANDS))


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
        """Write the list of commands without importing any of them."""
        for title, group in COMMAND_GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(_NAME_WIDTH), text) for name, (_, text) in group.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            similar = find_similar(args[0], COMMANDS)
            hint = f" Did you mean {similar}?" if similar else " Run commonplace --help for the list."
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--home", metavar="FOLDER|URL", help="The memory to use (default: found like git, or COMMONPLACE_HOME).")
@click.option("--project", metavar="FOLDER", help="Find the memory in this folder, as if you were in it.")
@click.option("--agent", metavar="NAME", help="Whose memory (default: main, or COMMONPLACE_AGENT).")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
@click.version_option(__version__, "--version", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, home: str | None, project: str | None, agent: str | None, as_json: bool) -> None:
    """Memory for AI agents, kept in Markdown files that people can read and edit."""
    if agent is not None:
        from ...storage.names import require_agent

        require_agent(agent)
    ctx.obj = {"home": home, "project": project, "agent": agent, "json": as_json}


def main() -> None:
    """Run the program. An error becomes one sentence on standard error and the exit status of its class."""
    gc.set_threshold(100_000)  # most commands end before there is garbage worth collecting
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads that nothing here uses
    _open_streams()
    name = _program_name()
    if f"_{name.upper()}_COMPLETE" in os.environ:
        cli(prog_name=name)
    try:
        with cli.make_context(name, sys.argv[1:]) as context:
            cli.invoke(context)
        sys.stdout.flush()
        gc.freeze()  # skip the garbage collection at exit
    except click.exceptions.Exit as done:
        _exit(done.exit_code)
    except click.ClickException as error:
        _report(error.format_message(), "USAGE", error)
        _exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _exit(130)
    except CommonplaceError as error:
        _report(str(error), error.code)
        _exit(error.exit_status)
    except BrokenPipeError:  # the reader (head, less) stopped
        _exit(0)
    except OSError as error:
        _report(error.strerror or str(error), StorageError.code)
        _exit(StorageError.exit_status)


def _open_streams() -> None:
    """Use UTF-8 whatever the locale, and replace a stream that the caller closed with an empty one."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
        elif mode == "w" and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")


def _report(sentence: str, code: str, usage: click.ClickException | None = None) -> None:
    """Print an error, as JSON too with --json. If it cannot be printed, nothing more is tried."""
    from .common import escape_for

    options = sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    with suppress(OSError):
        if "--json" in options:
            import json

            text = json.dumps({"error": sentence, "code": code}, ensure_ascii=False)
            print(escape_for(sys.stdout, text), flush=True)
    with suppress(OSError):
        if usage:
            buffer = StringIO()
            usage.show(buffer)
            sys.stderr.write(escape_for(sys.stderr, buffer.getvalue()))
            sys.stderr.flush()
        else:
            print(f"commonplace: {escape_for(sys.stderr, sentence)}", file=sys.stderr, flush=True)


def _exit(status: int) -> None:
    """Exit, without trying again to print what could not be printed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(status)


def _program_name() -> str:
    name = os.path.basename(sys.argv[0])
    return "cpl" if name == "cpl" else "commonplace"
