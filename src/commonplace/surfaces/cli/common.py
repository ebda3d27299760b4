"""What every command needs: which home and agent to use, where long text comes from, and how replies are printed."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from ... import foreign
from ...errors import InvalidArgument, NotFound, Refused, StorageError
from ...home import Home
from ...schema import array, check, one_of
from ...storage.backends import backend_of
from ...storage.layout import MAIN
from ...toolsets import EVERYDAY, EVERYDAY_NAME, TOOLSETS

if TYPE_CHECKING:
    from ...memory import Memory

Command = TypeVar("Command", bound=Callable[..., Any])
FOLDER = ".commonplace"


def find_home(start: str, environment: Mapping[str, str]) -> str:
    """Return COMMONPLACE_HOME, or the nearest memory at or above `start`, or the one in the user's folder.

    A memory is a .commonplace, or else the home of another system. One that lies in the user's own folder beside
    everything else must be named.
    """
    if named := environment.get("COMMONPLACE_HOME"):
        return named
    folder = os.path.abspath(start)
    while True:
        candidate = os.path.join(folder, FOLDER)
        if os.path.isdir(candidate):
            return candidate
        if folder != os.path.expanduser("~") and foreign.is_home(folder):
            return _require_inside(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return os.path.join(os.path.expanduser("~"), FOLDER)
        folder = parent


def _require_inside(folder: str) -> str:
    """Return the home of another system that was found; Refused if its configuration leads elsewhere."""
    place = os.path.realpath(foreign.locate(folder).folder)
    if os.path.commonpath([place, os.path.realpath(folder)]) != os.path.realpath(folder):
        problem = f"the home of another system in {folder} keeps its memory in {place}, outside of this folder"
        raise Refused(problem, advice=f"if that is yours, name it: `commonplace --home {shlex.quote(folder)} …`")
    return folder


def global_options(command: Command) -> Command:
    """Accept the global options after the command's name as well."""
    for option in (
        click.option("--json", "as_json", is_flag=True, expose_value=False, callback=_store, help="Answer in JSON."),
        click.option("--agent", metavar="NAME", expose_value=False, callback=_store, hidden=True),
        click.option("--home", metavar="FOLDER|URL", expose_value=False, callback=_store, hidden=True),
    ):
        command = option(command)
    return command


def _store(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    name = {"as_json": "json"}.get(str(parameter.name), str(parameter.name))
    if value:
        ctx.ensure_object(dict)[name] = value


def get_options() -> dict[str, Any]:
    """Return the global options of the running command: home, agent, json."""
    options: dict[str, Any] = click.get_current_context().ensure_object(dict)
    return options


def home_path() -> str:
    named = get_options().get("home") or os.environ.get("COMMONPLACE_HOME")
    return os.path.expanduser(named or find_home(current_folder(), os.environ))


def is_found_home() -> bool:
    """Return whether the home was found on the way up, and neither named nor the user's own."""
    if get_options().get("home") or os.environ.get("COMMONPLACE_HOME"):
        return False
    return is_found(home_path())


def is_found(home: str) -> bool:
    """Return whether a home that nobody named is another than the one in the user's folder."""
    return os.path.abspath(home) != os.path.join(os.path.expanduser("~"), FOLDER)


def current_folder() -> str:
    """Return the working directory, or raise StorageError if it was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise StorageError(
            "the folder you are in was removed: go to another one, or name the memory with --home"
        ) from error


def absolute_home(home: str) -> str:
    """Return a home that means the same in any working directory: an absolute path, or a URL as it is."""
    return backend_of(home).absolute_address(home)


def home_exists(home: str) -> bool:
    """Return False for a folder that does not exist. A database is not asked."""
    return backend_of(home).may_exist(home)


def require_usable_home(home: str) -> None:
    """Raise an error for a file, a URL with an unknown scheme, or a database without current tables."""
    backend = backend_of(home)
    backend.check_address(home)
    backend.require_ready(home)


def agent_name() -> str:
    return get_options().get("agent") or os.environ.get("COMMONPLACE_AGENT") or MAIN


def open_memory(*, to_write: bool = False) -> Memory:
    """Open the memory with its tools. Only a command that writes may create a new one."""
    from ...memory import Memory  # imports every tool, which not every command needs

    home = _usable_home(to_write=to_write)
    session = os.environ.get("COMMONPLACE_SESSION", "")
    memory = Memory(home, agent_name(), session=session, is_found=is_found_home())
    keep_readings(memory.home)
    warn_untrusted(memory.home)
    return memory


def open_existing_home(toolsets: Sequence[str] = EVERYDAY) -> Home:
    """Open the memory without its tools, which takes half the time. It must exist."""
    session = os.environ.get("COMMONPLACE_SESSION", "")
    root = _usable_home(to_write=False)
    home = Home(root, agent_name(), session=session, is_found=is_found_home(), toolsets=toolsets)
    home.write_default_directive()
    keep_readings(home)
    warn_untrusted(home)
    return home


def open_home() -> Home:
    """Open the home without creating anything. One that does not exist reads as empty."""
    home = home_path()
    require_usable_home(home)
    opened = Home(home, agent_name(), is_found=is_found_home())
    if home_exists(home):
        keep_readings(opened)
    return opened


def keep_readings(home: Home, session: str = "") -> None:
    """Let the agent's next commands know what this one shows. Those of one conversation have the same parent."""
    home.keep_readings(session or os.environ.get("COMMONPLACE_SESSION") or f"process {os.getppid()}")


def warn_untrusted(home: Home) -> None:
    """Say in one sentence what of a memory that was only found does not count until the user trusts it."""
    if home.trust.is_own:
        return
    from ...maintenance.review import describe_untrusted

    if left_out := describe_untrusted(home):
        warn(f"{home.root} is not trusted, and {left_out} left out: `commonplace trust` shows and approves it")


def _usable_home(*, to_write: bool) -> str:
    home = home_path()
    require_usable_home(home)
    if not to_write and not home_exists(home):
        raise NotFound(f"there is no memory at {home} yet: run `commonplace init`, or remember something")
    return home


def call_tool(memory: Memory, tool: str, arguments: dict[str, Any], toolset: str) -> dict[str, Any]:
    """Call a tool and return its reply. A failure is reported and ends the program with the error's exit status."""
    outcome = memory.attempt(tool, arguments, toolset)
    if outcome.error:
        if get_options().get("json"):
            print_json(outcome.reply)
            sys.exit(outcome.error.exit_status)
        raise outcome.error
    if sentence := outcome.reply.get("warning"):
        warn(sentence)
    if lost := outcome.reply.get("conflict"):
        warn(f"conflict:\n{lost}" if "\n" in lost else f"conflict: {lost}")
    return outcome.reply


def print_reply(reply: Any, for_people: str | Callable[[], None]) -> None:
    """Print the reply as JSON if --json was given, else the text for people, or whatever that function prints."""
    if get_options().get("json"):
        print_json(reply)
    elif isinstance(for_people, str):
        print_text(for_people)
    else:
        for_people()


def print_text(text: str, **style: Any) -> None:
    """Print text on standard output; `style` applies on a terminal only."""
    text = escape_for(sys.stdout, text)
    sys.stdout.write((click.style(text, **style) if style and sys.stdout.isatty() else text) + "\n")


def warn(text: str) -> None:
    """Print a warning on standard error. Failing to print it is not an error."""
    with suppress(OSError):
        click.secho(f"warning: {escape_for(sys.stderr, text)}", fg="yellow", err=True)


def escape_for(stream: TextIO, text: str) -> str:
    """Escape control characters if the stream is a terminal, so that stored text cannot control it."""
    if not stream.isatty():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)


def print_json(value: Any) -> None:
    import json

    print_text(json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def print_table(headers: list[str], rows: list[list[str]]) -> None:
    """Print columns on a terminal, and tab-separated fields elsewhere."""
    if not sys.stdout.isatty():
        for row in rows:
            print_text("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(headers))
    for header in headers:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*(Text(escape_for(sys.stdout, cell)) for cell in row))
    Console().print(table)


class ProgressBar:
    """Shows progress on standard error if that is a terminal."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> ProgressBar:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True))
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress:
            self._progress.stop()

    def update(self, what: str, done: int, total: int) -> None:
        if self._progress:
            if what not in self._tasks:
                self._tasks[what] = self._progress.add_task(what, total=total)
            self._progress.update(self._tasks[what], completed=done, total=total)


def parse_toolsets(given: str) -> list[str]:
    """Return the toolsets that --tools names, with commas between them; InvalidArgument for an unknown one, or none."""
    names = [name.strip() for name in given.split(",") if name.strip()]
    schema = {**array(one_of(*TOOLSETS, EVERYDAY_NAME)), "minItems": 1}
    checked: list[str] = check(schema, names, "--tools")
    return checked


def read_text(words: tuple[str, ...], what: str) -> str:
    """Return the words of the command line as one text, or standard input for `-` or for no words on a pipe."""
    if words and words != ("-",):
        return " ".join(words)
    text = "" if not words and sys.stdin.isatty() else read_stdin()
    if not text.strip():
        raise InvalidArgument(f"give {what} after the command, or on standard input")
    return text


def read_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode() if hasattr(sys.stdin, "buffer") else sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InvalidArgument("standard input is not UTF-8 text") from error
