"""The commands that set things up: init makes a memory, install connects a client, completion helps in the shell."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from typing import Any

import click

from ... import foreign
from ...errors import CommonplaceError, InvalidArgument, Refused, SettingsError, find_similar
from ...home import Home
from ...new_home import is_begun, write_default_directive
from ...settings import MEMORY_FOLDER
from ...storage.base import backend_of, display_name
from ...storage.layout import MAIN
from ...wording import format_command
from ..install import files, plan
from ..install.clients import CLIENTS, Client, Where, config_file
from ..install.files import CannotEdit
from .common import (
    ProgressBar,
    absolute_home,
    agent_name,
    get_options,
    global_options,
    home_exists,
    home_path,
    is_found_home,
    named_home,
    parse_toolsets,
    print_reply,
    print_table,
    print_text,
    record_as_made,
    require_no_way_out,
    require_usable_home,
    starting_folder,
    warn,
)

_NEXT_STEP = """Next:
  commonplace remember "…"           adds a first entry
  commonplace install claude-code    lets your agent use it (or codex, cursor, …)"""


@click.command("init")
@click.argument("folder", required=False, metavar="[FOLDER|URL]")
@global_options
def init_command(folder: str | None) -> None:
    """Create a memory in FOLDER (default: ./.commonplace), or for a tenant of a database (`commonplace db init` makes
    its tables first). An existing memory stays as it is."""
    home = os.path.expanduser(folder or named_home() or _default_folder())
    require_usable_home(home)
    address = absolute_home(home)
    memory = Home(address, agent_name())
    existed = is_begun(memory)
    backend_of(home).create(address)
    write_default_directive(memory)
    memory.close()
    if memory.settings.layout != "native" and (existed or foreign.is_home(memory.root)):
        _print_other_home(memory)
        return
    if not existed and memory.storage.local_folder:
        record_as_made(memory.storage.local_folder)
    outcome = "There is already a memory" if existed else "Made a memory"
    text = f"{outcome} in {display_name(address)}."
    print_reply({"home": display_name(address), "created": not existed}, text if existed else f"{text}\n{_NEXT_STEP}")


def _default_folder() -> str:
    """Return where to make a memory by default; a folder that is itself a memory is used as it is. Refused if it is a
    link to another folder.
    """
    folder = os.path.abspath(starting_folder())
    own = os.path.join(folder, MEMORY_FOLDER)
    return folder if foreign.is_memory(folder) and not os.path.isdir(own) else require_no_way_out(own)


def _print_other_home(memory: Home) -> None:
    layout = memory.settings.layout
    text = f"There is already a memory in {memory.root}, a home of {layout}, which is used in place."
    hint = f"For another one beside it, run `commonplace init {MEMORY_FOLDER}`."
    print_reply({"home": memory.root, "created": False, "layout": layout}, f"{text} {hint}")


@click.command("help")
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help_command(context: click.Context, names: tuple[str, ...]) -> None:
    """Show the list of commands, or how to use COMMAND."""
    target = context.find_root()
    for name in names:
        if not isinstance(target.command, click.Group):
            break
        resolved_name, command, _ = target.command.resolve_command(target, [name])
        if command:
            target = click.Context(command, info_name=resolved_name, parent=target)
    print_text(target.get_help())


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the completion script for SHELL: eval "$(commonplace completion bash)"."""
    from click.shell_completion import get_completion_class

    from . import cli

    for name in ("commonplace", "cpl"):
        completion = get_completion_class(shell)
        if completion:
            click.echo(completion(cli, {}, name, f"_{name.upper()}_COMPLETE").source())


@click.command("install")
@click.argument("client", required=False)
@click.option("--scope", type=click.Choice(["user", "project"]), help="For all your projects, or for one.")
@click.option("--tools", "tools", metavar="A,B", help="Only these toolsets, in this order.")
@click.option(
    "--hooks/--no-hooks", default=True, help="Start sessions with the context, and store transcripts (default)."
)
@click.option("--budget", type=click.IntRange(0), help="How many tokens a session starts with, at most.")
@click.option("--file", metavar="FILE", help="The client's configuration file, if it is not in its usual place.")
@click.option("--print", "only_print", is_flag=True, help="Show what would be written, and where; change nothing.")
@click.option("--remove", is_flag=True, help="Remove our entries again, and nothing else.")
@global_options
def install_command(client: str | None, scope: str | None, file: str | None, **options: Any) -> None:
    """Add this memory to CLIENT's configuration as an MCP server; without CLIENT, list the known clients.

    A copy of each changed file is kept beside it. Hooks are added if the client has them.
    """
    if not client:
        _list_clients()
        return
    spec = _find_client(client)
    home = absolute_home(home_path())
    where = _this_machine(home)
    scope = _choose_scope(spec, scope, home, where)
    file = os.path.abspath(os.path.expanduser(file)) if file else ""
    request = _request(spec, scope, home, where, options)
    if request.home and not options["remove"] and is_found_home():
        request = _keep_found(request)
    edits = plan.plan_edits(spec, scope, where, request, file)
    only_print = options["only_print"]
    changes = plan.plan_removal(edits) if options["remove"] else _plan_installation(edits, only_print=only_print)
    backups = {} if only_print else _write_changes(changes, file, where)
    reply = {
        "client": spec.name,
        "scope": scope,
        "home": display_name(home),
        "removed": options["remove"],
        "files": [_as_json(change, backups.get(change.path, ""), home, whole=only_print) for change in changes],
    }
    print_reply(reply, partial(_print_installation, spec, reply, only_print=only_print))
    if options["remove"]:
        return
    if spec.hooks and options["hooks"] and not only_print:
        _index_sessions(home)
    _warn_about(home)
    if find_spec("mcp") is None:
        warn("the client cannot start the server yet: run pip install 'commonplace[mcp]'")
        if not only_print:
            click.get_current_context().exit(1)


def _index_sessions(home: str) -> None:
    """Let search find the transcripts that the hooks store, in an existing memory."""
    from ..install.capture import index_sessions

    if not home_exists(home):
        return
    try:
        if advice := index_sessions(Home(home, agent_name(), is_found=is_found_home())):
            warn(advice)
        _update_index(Home(home, agent_name(), is_found=is_found_home()))
    except CommonplaceError as error:
        warn(str(error))


def _update_index(home: Home) -> None:
    """Bring the index up to date with the settings now, so that no prompt has to wait for it."""
    from ...index.base import report_progress_to

    if home.search_settings.enabled:
        with ProgressBar() as bar, report_progress_to(bar.update):
            home.index.query(lambda _: None)  # only catches up
    home.close()


def _plan_installation(edits: plan.EditsByFile, *, only_print: bool) -> list[plan.FileChange]:
    """Plan the changes. With --print, our entries are shown even if a file cannot be parsed."""
    try:
        return plan.plan_installation(edits)
    except (SettingsError, CannotEdit) as error:
        if not only_print:
            raise
        warn(str(error))
        return plan.plan_installation(edits, ignore_existing=True)


def _write_changes(changes: list[plan.FileChange], file: str, where: Where) -> dict[str, str]:
    """Write the changed files, and return the backup of each ("" for none)."""
    backups = {
        change.path: files.write(change.path, change.before, change.after, change.stale_backups)
        for change in changes
        if change.is_needed
    }
    for change in changes:
        if change.path in backups and change.after is None and change.path != file:
            files.remove_empty_folders(change.path, (where.home, where.project, os.getcwd()))
    return backups


def _list_clients() -> None:
    where = _this_machine(absolute_home(home_path()))
    rows = [
        [client.name, config_file(client, "user", where), ", ".join(client.scopes), "yes" if client.hooks else ""]
        for client in CLIENTS.values()
    ]
    clients = [dict(zip(("client", "file", "scopes", "hooks"), row, strict=True)) for row in rows]
    print_reply({"clients": clients}, partial(print_table, ["client", "configuration", "scopes", "hooks"], rows))


def _find_client(name: str) -> Client:
    if name in CLIENTS:
        return CLIENTS[name]
    similar = find_similar(name, CLIENTS)
    hint = f"did you mean {similar}?" if similar else f"known are {', '.join(CLIENTS)}."
    raise InvalidArgument(
        f"{name!r} is not a known client: {hint} In any other client that speaks MCP, add the server `commonplace mcp`"
    )


def _this_machine(home: str) -> Where:
    """Describe this machine. The project is the folder of a .commonplace, or else the working directory."""
    project = os.path.dirname(home) if os.path.basename(home) == MEMORY_FOLDER else os.getcwd()
    user = os.path.expanduser("~")
    return Where(sys.platform, user, os.environ, os.getcwd() if project == user else project)


def _choose_scope(client: Client, scope: str | None, home: str, where: Where) -> str:
    """Return the scope that was asked for; by default, a project's own memory is installed for that project."""
    if scope == "project" and not client.project:
        raise InvalidArgument(f"{client.title} has no configuration for one project: leave out --scope project")
    inside = os.path.dirname(home) == where.project != where.home and os.path.isdir(home)
    return scope or ("project" if client.project and inside else "user")


def _request(client: Client, scope: str, home: str, where: Where, options: dict[str, Any]) -> plan.InstallRequest:
    """Collect what to install. A project's file names no home if the client finds it: checkouts differ in paths."""
    finds_home = scope == "project" and client.starts_in_project and home == os.path.join(where.project, MEMORY_FOLDER)
    agent = agent_name()
    program = plan.find_program(sys.executable, sys.argv[0])
    return plan.InstallRequest(
        program,
        "" if finds_home and not get_options().get("home") else home,
        "" if agent == MAIN else agent,
        ",".join(parse_toolsets(options["tools"])) if options["tools"] else "",
        options["budget"],
        options["hooks"],
        plan.find_command(program),
    )


def _keep_found(request: plan.InstallRequest) -> plan.InstallRequest:
    """Return a request for a client that does not find a memory by itself, in which one that this user did not make
    stays one that was found: to name it would be to trust all of it. Refused if it waits for the user's trust."""
    from ...maintenance.trust_review import describe_untrusted

    folder = request.home
    if not backend_of(folder).may_exist(folder):
        return request
    with closing(Home(folder, agent_name(), is_found=True)) as home:
        if home.trust.is_own:
            return request
        if not home.trust.is_reviewed or describe_untrusted(home):
            problem = f"{folder} was only found and is not trusted, so no client is connected to it"
            advice = f"run `{format_command('trust', folder)}` first, or name it with --home if you trust all of it"
            raise Refused(problem, advice=advice)
    is_project = os.path.basename(folder) == MEMORY_FOLDER
    return request._replace(home="", project=os.path.dirname(folder) if is_project else folder)


def _as_json(change: plan.FileChange, backup: str, home: str, *, whole: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"path": change.path, "changed": change.is_needed}
    if backup:
        row["backup"] = backup
    if whole:
        row["text"] = None if change.after is None else change.after.decode().replace(home, display_name(home))
    return row


def _print_installation(client: Client, reply: dict[str, Any], *, only_print: bool) -> None:
    for file in reply["files"]:
        if only_print:
            print_text(f"# {file['path']}", fg="cyan")
            print_text("(no such file)" if file["text"] is None else file["text"].removesuffix("\n"))
            continue
        outcome = "removed from" if reply["removed"] else "written to"
        backup = f" (as it was: {file['backup']})" if "backup" in file else ""
        print_text(f"{outcome} {file['path']}{backup}" if file["changed"] else f"nothing to change in {file['path']}")
    if not only_print and not reply["removed"]:
        print_text(f"{client.title} uses the memory in {reply['home']}. Next: {client.after}.")


def _warn_about(home: str) -> None:
    if display_name(home) != home:
        warn(
            "the password of the URL goes into the client's file (it is not shown here): better leave it out of the "
            "URL, and put it into ~/.pgpass, or into PGPASSWORD of the client"
        )
    if not home_exists(home):
        warn(f"there is no memory at {home} yet: run `commonplace init`, or let the first tool call create it")
