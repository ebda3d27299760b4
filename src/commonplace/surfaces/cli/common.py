"""What every command shares: which home and agent are meant, where long text comes from, how an answer is given."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from ...errors import InvalidArgument, NotFound, StorageError
from ...home import Home
from ...storage.backends import in_database
from ...storage.layout import MAIN

if TYPE_CHECKING:
    from ...memory import Memory

Command = TypeVar("Command", bound=Callable[..., Any])
FOLDER = ".commonplace"


def find_home(start: str, environment: Mapping[str, str]) -> str:
    """The home that is meant: COMMONPLACE_HOME, else the nearest .commonplace upwards, else the one of the user."""
    if named := environment.get("COMMONPLACE_HOME"):
        return named
    folder = os.path.abspath(start)
    while True:
        candidate = os.path.join(folder, FOLDER)
        if os.path.isdir(candidate):
            return candidate
        parent = os.path.dirname(folder)
        if parent == folder:
            return os.path.join(os.path.expanduser("~"), FOLDER)
        folder = parent


def shared(command: Command) -> Command:
    """The global options, accepted after the command's name as well."""
    for option in (
        click.option("--json", "as_json", is_flag=True, expose_value=False, callback=_keep, help="Answer in JSON."),
        click.option("--agent", metavar="NAME", expose_value=False, callback=_keep, hidden=True),
        click.option("--home", metavar="FOLDER|URL", expose_value=False, callback=_keep, hidden=True),
    ):
        command = option(command)
    return command


def _keep(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    name = {"as_json": "json"}.get(str(parameter.name), str(parameter.name))
    if value:
        ctx.ensure_object(dict)[name] = value


def options() -> dict[str, Any]:
    found: dict[str, Any] = click.get_current_context().ensure_object(dict)
    return found


def home_path() -> str:
    named = options().get("home") or os.environ.get("COMMONPLACE_HOME")
    return os.path.expanduser(named or find_home(here(), os.environ))


def here() -> str:
    """The folder one is in; StorageError when it is not there any more."""
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise StorageError(
            "the folder you are in was removed: go to another one, or say which memory with --home"
        ) from error


def placed(home: str) -> str:
    """A home that means the same wherever it is read: an absolute path, or the URL of a database."""
    return home if in_database(home) else os.path.abspath(os.path.expanduser(home))


def agent_name() -> str:
    return options().get("agent") or os.environ.get("COMMONPLACE_AGENT") or MAIN


def open_memory(*, to_write: bool = False) -> Memory:
    """The memory that is meant. Only a command that writes makes a new one."""
    from ...memory import Memory  # with all tools, which not every command needs

    return Memory(_meant(to_write=to_write), agent_name(), session=os.environ.get("COMMONPLACE_SESSION", ""))


def _meant(*, to_write: bool) -> str:
    home = home_path()
    refuse_file(home)
    if not to_write and not in_database(home) and not os.path.isdir(home):
        raise NotFound(f"there is no memory at {home} yet: run `commonplace init`, or remember something")
    return home


def refuse_file(home: str) -> None:
    """An error for what can be no home: a file, a URL of another kind, a database that is not ready."""
    if in_database(home):
        from .db import require_tables

        require_tables(home)
        return
    scheme, is_url, _ = home.partition("://")
    if is_url and scheme.isalnum():
        raise InvalidArgument(f"{scheme}:// is no memory: name a folder, or a database as postgresql://user@host/name")
    if os.path.lexists(home) and not os.path.isdir(home):
        raise StorageError(f"{home} is a file, not a folder: choose another --home")


def open_existing() -> Home:
    """The memory that is meant, without its tools: what starts in half the time."""
    home = Home(_meant(to_write=False), agent_name(), session=os.environ.get("COMMONPLACE_SESSION", ""))
    home.welcome()
    return home


def open_home() -> Home:
    """The home that is meant, as it is: one that is not there reads as empty and is not made."""
    home = home_path()
    refuse_file(home)
    return Home(home, agent_name())


def call(memory: Memory, tool: str, arguments: dict[str, Any], toolset: str) -> dict[str, Any]:
    """A tool's answer. A failure is told, in JSON when that was asked for, and ends the program with its status."""
    outcome = memory.attempt(tool, arguments, toolset)
    if outcome.error:
        if options().get("json"):
            print_json(outcome.reply)
            sys.exit(outcome.error.exit_status)
        raise outcome.error
    for told in ("warning", "conflict"):
        if sentence := outcome.reply.get(told):
            warn(sentence)
    return outcome.reply


def answer(reply: Any, human: Callable[[], None]) -> None:
    """The reply as JSON, or as people read it."""
    if options().get("json"):
        print_json(reply)
    else:
        human()


def say(text: str, **style: Any) -> None:
    """What memory holds, as it is; on a terminal, in a style."""
    text = harmless(text, sys.stdout)
    sys.stdout.write((click.style(text, **style) if style and sys.stdout.isatty() else text) + "\n")


def warn(text: str) -> None:
    """A warning, for people; one that nobody can be told is no reason to fail."""
    with suppress(OSError):
        click.secho(f"warning: {harmless(text, sys.stderr)}", fg="yellow", err=True)


def harmless(text: str, stream: TextIO) -> str:
    """Text for a stream. On a terminal the control characters of what was remembered are shown, not obeyed."""
    if not stream.isatty():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)


def print_json(value: Any) -> None:
    import json

    say(json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def text_from(words: tuple[str, ...], what: str) -> str:
    """The words of the command line as one text; `-`, or nothing on a pipe, means standard input."""
    if words and words != ("-",):
        return " ".join(words)
    given = "" if not words and sys.stdin.isatty() else read_stdin()
    if not given.strip():
        raise InvalidArgument(f"give {what} after the command, or on standard input")
    return given


def read_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode() if hasattr(sys.stdin, "buffer") else sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InvalidArgument("standard input is not UTF-8 text") from error


def table(headers: list[str], rows: list[list[str]]) -> None:
    """Columns on a terminal, tabs between the fields elsewhere."""
    if not sys.stdout.isatty():
        for row in rows:
            say("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold", show_header=any(headers))
    for header in headers:
        grid.add_column(header, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(harmless(cell, sys.stdout)) for cell in row))
    Console().print(grid)
