"""What every command needs: which home and agent to use, where long text comes from, and how replies are printed."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from ... import foreign
from ...errors import (
    CommonplaceError,
    InvalidArgument,
    NotFound,
    Refused,
    SettingsError,
    StorageError,
    find_similar,
)
from ...home import Home
from ...new_home import write_default_directive
from ...schema import array, check, one_of
from ...settings import MEMORY_FOLDER
from ...storage.base import backend_of, display_name
from ...storage.layout import MAIN
from ...storage.names import require_agent
from ...toolsets import EVERYDAY, EVERYDAY_NAME, TOOLSETS
from ...trust import default_memory, is_made_or_reviewed, record_made, require_owner
from ...wording import format_command

if TYPE_CHECKING:
    from ...memory import Memory

Item = TypeVar("Item")
Command = TypeVar("Command", bound=Callable[..., Any])
_TEXT_MARK = "\0"  # cannot occur in a command-line argument
_LIST_ITEM = re.compile(r"-\s")
_BREAKS = re.compile(r"[\t\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # a name with one would forge another row
_MIN_COLUMN_WIDTH = 8  # characters per table column

everyone_option = click.option("--everyone", is_flag=True, help="Include other agents' own pages.")


class TextCommand(click.Command):
    """A command that takes text. An argument that begins with a dash and white space is text, such as an item of a
    list, and no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        marked = [f"{_TEXT_MARK}{arg}" if _LIST_ITEM.match(arg) else arg for arg in args]
        try:
            rest = super().parse_args(ctx, marked)
        except click.NoSuchOption as error:
            problem = error.format_message()
            raise click.UsageError(
                f"{problem} Text that begins with a dash goes after --, or to standard input.", ctx
            ) from error
        ctx.params = {name: _remove_text_mark(value) for name, value in ctx.params.items()}
        return rest


def _remove_text_mark(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_remove_text_mark(each) for each in value)
    return value.removeprefix(_TEXT_MARK) if isinstance(value, str) else value


def find_home(start: str) -> str:
    """Return the nearest memory at or above `start`, or the one in the user's folder.

    A memory is a .commonplace, or else a folder that is one itself, such as the home of another system. One directly in
    the user's home directory must be named.
    """
    folder = os.path.abspath(start)
    while True:
        candidate = os.path.join(folder, MEMORY_FOLDER)
        if os.path.isdir(candidate):
            return require_no_way_out(candidate)
        if folder != os.path.expanduser("~") and foreign.is_memory(folder):
            return _require_inside(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return default_memory()
        folder = parent


def require_no_way_out(home: str) -> str:
    """Return a memory that was found; Refused if it is a link to a folder elsewhere, or its configuration names one:
    whoever made that could let agents read and write any folder of this user as a memory.
    """
    if not is_found(home):
        return home
    if not os.path.islink(home):
        return _require_inside(home)
    place = os.path.realpath(home)
    folder = os.path.realpath(os.path.dirname(home))
    if is_made_or_reviewed(place):
        return home
    if os.path.commonpath([place, folder]) != folder:
        advice = f"if that is a memory of yours, run `{format_command('trust', place)}`, or name it with --home"
        raise Refused(f"{home} is a link to {place}, outside this folder", advice=advice)
    return _require_inside(home)


def _require_inside(folder: str) -> str:
    """Return a folder that was found to be a memory itself; Refused if its configuration leads elsewhere. One that
    cannot be read leads nowhere: whoever opens the memory reports it."""
    try:
        place = os.path.realpath(foreign.locate(folder).folder)
    except SettingsError:
        return folder
    if os.path.commonpath([place, os.path.realpath(folder)]) != os.path.realpath(folder):
        problem = f"the configuration in {folder} keeps its memory in {place}, outside this folder"
        raise Refused(problem, advice=f"if that is yours, name it: `{format_command('--home', folder)} …`")
    return folder


def global_options(command: Command) -> Command:
    """Accept the global options after the command's name as well."""
    for option in (
        click.option("--json", "as_json", is_flag=True, expose_value=False, callback=_store, help="Answer in JSON."),
        click.option("--agent", metavar="NAME", expose_value=False, callback=_store, hidden=True),
        click.option("--home", metavar="FOLDER|URL", expose_value=False, callback=_store, hidden=True),
        click.option("--project", metavar="FOLDER", expose_value=False, callback=_store, hidden=True),
    ):
        command = option(command)
    return command


def _store(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    name = {"as_json": "json"}.get(str(parameter.name), str(parameter.name))
    if name == "agent" and value is not None:
        require_agent(value)
    if value:
        ctx.ensure_object(dict)[name] = value


def get_options() -> dict[str, Any]:
    """Return the global options of the running command: home, agent, json."""
    options: dict[str, Any] = click.get_current_context().ensure_object(dict)
    return options


def named_home() -> str:
    """Return the memory that the user names; empty if it is to be found, in the folder of `--project` or here."""
    options = get_options()
    return str(options.get("home") or ("" if options.get("project") else os.environ.get("COMMONPLACE_HOME", "")))


def home_path() -> str:
    """Return the memory that a command is about, or raise Refused for a folder that belongs to another user."""
    path = locate_home()
    require_owner(path)
    return path


def locate_home() -> str:
    """Return where the memory that a command is about is, whoever it belongs to."""
    return os.path.expanduser(named_home() or find_home(starting_folder()))


def is_found_home() -> bool:
    """Return whether the home was found in a parent folder, and neither named nor the user's own."""
    return not named_home() and is_found(home_path())


def is_found(home: str) -> bool:
    """Return whether a home that was not named is not the one in the user's home directory."""
    return os.path.abspath(home) != default_memory()


def record_as_made(folder: str) -> None:
    """Record that the user made this memory. If that cannot be written, the user is asked later."""
    try:
        record_made(folder)
    except StorageError as error:
        warn(f"{error}: run `commonplace trust` in this folder, or name the memory with --home")


def starting_folder() -> str:
    """Return the folder from which a memory is looked for."""
    project = get_options().get("project")
    if project and not os.path.isdir(project):
        raise NotFound(f"there is no folder {project}: --project names one with a memory")
    return str(project) if project else current_folder()


def current_folder() -> str:
    """Return the working directory, or raise StorageError if it was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise StorageError(
            "the folder you are in was removed: go to another one, or name the memory with --home"
        ) from error


def absolute_home(home: str) -> str:
    """Return a home as an absolute path, or a URL as it is."""
    return backend_of(home).absolute_address(home)


def home_exists(home: str) -> bool:
    """Return False for a folder that does not exist. Databases are not checked."""
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

    home = _require_home(to_write=to_write)
    session = os.environ.get("COMMONPLACE_SESSION", "")
    is_new = not home_exists(home)
    memory = Memory(home, agent_name(), session=session, is_found=is_found_home())
    if is_new:
        note(f"made a memory in {display_name(absolute_home(home))}")
    _prepare(memory.home)
    return memory


def open_existing_home(toolsets: Sequence[str] = EVERYDAY) -> Home:
    """Open the memory without its tools, which takes half the time. It must exist."""
    session = os.environ.get("COMMONPLACE_SESSION", "")
    root = _require_home(to_write=False)
    home = Home(root, agent_name(), session=session, is_found=is_found_home(), toolsets=toolsets)
    _prepare(home)
    write_default_directive(home)
    return home


def _prepare(home: Home) -> None:
    """Print the warnings of an opened memory, and close its index when the command ends."""
    click.get_current_context().call_on_close(home.close_index)
    note_new_agent(home)
    keep_readings(home)
    warn_untrusted(home)
    warn_about_settings(home)


def open_home() -> Home:
    """Open the home without creating anything. One that does not exist reads as empty."""
    home = home_path()
    require_usable_home(home)
    opened = Home(home, agent_name(), is_found=is_found_home())
    if home_exists(home):
        keep_readings(opened)
    return opened


def warn_about_settings(home: Home) -> None:
    """Print the warnings of the settings, or of another system's configuration."""
    for warning in home.settings.warnings:
        warn(warning)


def keep_readings(home: Home, session: str = "") -> None:
    """Store what this command shows for the agent's next ones. Those of one conversation have the same parent."""
    conversation = session or os.environ.get("COMMONPLACE_SESSION") or f"process {os.getppid()}"
    home.readings.keep(conversation, is_of_commands=True)


def note_new_agent(home: Home) -> None:
    """Point out a named agent that nobody has used before: the name may be mistyped."""
    if home.agent == MAIN or not _is_new_agent(home):
        return
    others = [name for name in home.list_agents() if name != home.agent]
    similar = find_similar(home.agent, [MAIN, *others])
    hint = f"did you mean {similar}?" if similar else f"agents so far: {', '.join(others) or 'none'}"
    note(f"{home.agent} is a new agent; {hint}")


def _is_new_agent(home: Home) -> bool:
    """Return whether the agent's name is new: it has no folder, no setting and no change."""
    folders = home.storage.pages.list_folders(home.layout.agents)
    if home.layout.agent_name(home.agent) in folders or home.agent in dict(home.settings.agents):
        return False
    return all(change.agent != home.agent for change in home.storage.history.changes())


def warn_untrusted(home: Home) -> None:
    """Say in one sentence which parts of a found memory do not count until the user trusts it."""
    if home.trust.is_own:
        return
    from ...maintenance.trust_review import describe_untrusted

    if left_out := describe_untrusted(home):
        warn(f"{home.root} is not trusted, and {left_out} left out: `commonplace trust` shows and approves it")


def _require_home(*, to_write: bool) -> str:
    home = home_path()
    require_usable_home(home)
    if not to_write and not home_exists(home):
        raise NotFound(f"there is no memory at {home} yet: run `commonplace init`, or remember something")
    return home


def call_tool(
    memory: Memory,
    tool: str,
    arguments: dict[str, Any],
    toolset: str,
    advice: Mapping[type[CommonplaceError], str] | None = None,
) -> dict[str, Any]:
    """Call a tool, print the warnings of its reply and return it. A failure is reported and ends the program with the
    error's exit status.

    `advice` says what to do about an error in terms of commands, since the tool's own advice names tools.
    """
    reply = request_reply(memory, tool, arguments, toolset, advice)
    print_warnings(reply)
    return reply


def request_reply(
    memory: Memory,
    tool: str,
    arguments: dict[str, Any],
    toolset: str,
    advice: Mapping[type[CommonplaceError], str] | None,
) -> dict[str, Any]:
    """Call a tool as `call_tool` does, and print nothing of its reply."""
    outcome = memory.attempt(tool, arguments, toolset)
    if outcome.error:
        if get_options().get("json"):
            print_json(outcome.reply)
            sys.exit(outcome.error.exit_status)
        if instead := (advice or {}).get(type(outcome.error)):
            raise outcome.error.with_advice(instead)
        raise outcome.error
    return outcome.reply


def print_warnings(reply: Mapping[str, Any]) -> None:
    """Print what a reply has beside its answer: its warning, its conflict and its notices."""
    if sentence := reply.get("warning"):
        warn(sentence)
    if lost := reply.get("conflict"):
        warn(f"conflict:\n{lost}" if "\n" in lost else f"conflict: {lost}")
    for notice in reply.get("supersedes", ()):
        note(f'replaces "{notice["text"]}" ({notice["citation"]})')
    for notice in reply.get("contradicts", ()):
        warn(f'contradicts "{notice["text"]}" ({notice["citation"]}): {notice["reason"]}')


def print_reply(reply: Any, for_people: str | Callable[[], None]) -> None:
    """Print the reply as JSON if --json was given, else what is `for_people`: a text, or a function that prints it."""
    if get_options().get("json"):
        print_json(reply)
    elif isinstance(for_people, str):
        print_text(for_people)
    else:
        for_people()


def print_rows(reply: Any, headers: list[str], rows: list[list[str]], if_none: str) -> None:
    """Print the reply as JSON if --json was given, else rows as a table, or a sentence if there are none."""

    def print_all() -> None:
        print_table(headers, rows)

    print_reply(reply, print_all if rows else if_none)


def print_some(items: Sequence[Item], limit: int, print_one: Callable[[Item], None]) -> None:
    """Print the first of some items, and how many more there are."""
    for item in items[:limit]:
        print_one(item)
    if len(items) > limit:
        print_text(f"  … and {len(items) - limit} more: --json lists all")


def print_text(text: str, **style: Any) -> None:
    """Print text on standard output; `style` applies on a terminal only."""
    text = escape_for(sys.stdout, text)
    sys.stdout.write((click.style(text, **style) if style and has_colour(sys.stdout) else text) + "\n")


def has_colour(stream: TextIO) -> bool:
    """Return whether a stream is a terminal whose user wants colours (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def warn(text: str) -> None:
    """Print a warning on standard error. Failing to print it is not an error."""
    print_aside(f"warning: {text}", fg="yellow")


def note(text: str) -> None:
    """Print information, not a problem, on standard error."""
    print_aside(f"note: {text}", dim=True)


def print_aside(text: str, **style: Any) -> None:
    """Print text on standard error; `style` applies on a terminal only. Failing to print it is not an error."""
    text = escape_for(sys.stderr, text)
    with suppress(OSError):
        click.echo(click.style(text, **style) if has_colour(sys.stderr) else text, err=True)


def escape_for(stream: TextIO, text: str) -> str:
    """Show hidden characters, since a model may read what is printed; and escape control characters if the stream is a
    terminal, so that stored text cannot control it."""
    if not text.isascii():
        from ...framing import show_hidden

        text = show_hidden(text)
    if not stream.isatty():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)


def print_json(value: Any) -> None:
    from ...framing import to_json

    print_text(to_json(value, indent=2 if sys.stdout.isatty() else None))


def print_table(headers: list[str], rows: list[list[str]]) -> None:
    """Print columns on a terminal, and tab-separated fields elsewhere."""
    rows = [[_BREAKS.sub(" ", cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in rows:
            print_text("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    used = [at for at in range(len(headers)) if any(row[at] for row in rows)]
    cells = [[escape_for(sys.stdout, row[at]) for at in used] for row in rows]
    widths = _fit_columns([[headers[at] for at in used], *cells], console.width)
    table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(headers))
    for at, width in zip(used, widths, strict=True):
        table.add_column(headers[at], overflow="fold", width=width)
    for row in cells:
        table.add_row(*(Text(_break_paths(cell, width)) for cell, width in zip(row, widths, strict=True)))
    console.print(table)


def format_count(count: int, what: str) -> str:
    """Return a number with what it counts on a terminal, and as it is elsewhere."""
    return f"{count} {what}" if sys.stdout.isatty() else str(count)


def _fit_columns(rows: list[list[str]], width: int) -> list[int]:
    """Return the widths of columns that fit a terminal: the widest are made narrower."""
    from rich.cells import cell_len

    widths = [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in zip(*rows, strict=True)]
    gaps = 2 * (len(widths) - 1)
    while sum(widths) + gaps > max(width, _MIN_COLUMN_WIDTH * len(widths) + gaps):
        widths[widths.index(max(widths))] -= 1
    return widths


def _break_paths(cell: str, width: int) -> str:
    """Break the words of a cell that are wider than its column after a slash, if they have one."""
    return " ".join(_break_path(word, width) for word in cell.split(" "))


def _break_path(word: str, width: int) -> str:
    if len(word) <= width or "/" not in word:
        return word
    lines = [""]
    for part in word.replace("/", "/\0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


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
                from rich.markup import escape

                name = escape(escape_for(sys.stderr, what))
                self._tasks[what] = self._progress.add_task(name, total=total)
            self._progress.update(self._tasks[what], completed=done, total=total)


def parse_toolsets(text: str) -> list[str]:
    """Return the toolsets that --tools names, with commas between them; InvalidArgument for an unknown one, or none."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    schema = {**array(one_of(*TOOLSETS, EVERYDAY_NAME)), "minItems": 1}
    checked: list[str] = check(schema, names, "--tools")
    return checked


def read_text(words: tuple[str, ...], what: str) -> str:
    """Return the words of the command line as one text, or standard input for `-` or for no words on a pipe."""
    if words and words != ("-",):
        return " ".join(words)
    text = "" if not words and sys.stdin.isatty() else read_stdin()
    return require_text(text, what)


def require_text(text: str, what: str) -> str:
    """Return a text; InvalidArgument if it is blank."""
    if not text.strip():
        raise InvalidArgument(f"give {what} after the command, or on standard input")
    return text


def read_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode() if hasattr(sys.stdin, "buffer") else sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InvalidArgument("standard input is not UTF-8 text") from error
