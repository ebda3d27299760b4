"""The command that makes this memory known to other programs: install."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import Any

import click

from ...errors import InvalidArgument, SettingsError
from ...storage.backends import display_name, in_database
from ...storage.layout import MAIN
from ..install import files, plan
from ..install.clients import CLIENTS, Client, Where, config_file
from ..install.edits import CanNotEdit
from .common import FOLDER, agent_name, answer, home_path, options, placed, say, shared, table, warn


@click.command("install")
@click.argument("client", required=False)
@click.option("--scope", type=click.Choice(["user", "project"]), help="For you everywhere, or for one project.")
@click.option("--tools", "tools", metavar="A,B", help="Only these toolsets, in this order.")
@click.option("--hooks/--no-hooks", default=True, help="Sessions start with what is known, and are kept (default).")
@click.option("--budget", type=click.IntRange(0), help="Tokens that a session starts with, at the most.")
@click.option("--file", metavar="FILE", help="The client's configuration file, where it is not in its usual place.")
@click.option("--print", "only_print", is_flag=True, help="Show what would be written, and where; change nothing.")
@click.option("--remove", is_flag=True, help="Take our entries out again, and nothing else.")
@shared
def install_command(client: str | None, scope: str | None, file: str | None, **chosen: Any) -> None:
    """Add this memory to CLIENT's configuration, as an MCP server; without CLIENT, list the clients that are known.

    A copy of each file that changes is kept beside it. Hooks are added where the client has them.
    """
    if not client:
        _list_clients()
        return
    known = _known(client)
    home = placed(home_path())
    where = _where(home)
    scope = _scope(known, scope, home, where)
    wanted = _wanted(known, scope, home, where, chosen)
    file = os.path.abspath(os.path.expanduser(file)) if file else ""
    edits = plan.edits_for(known, scope, where, wanted, file)
    changes = plan.removing(edits) if chosen["remove"] else _installing(edits, only_print=chosen["only_print"])
    kept = {} if chosen["only_print"] else {each.path: _write(each) for each in changes if each.is_one}
    for gone in (each for each in changes if each.path in kept and each.after is None and each.path != file):
        files.clear_folders(gone.path, (where.home, where.project, os.getcwd()))
    reply = {
        "client": known.name, "scope": scope, "home": display_name(home), "removed": chosen["remove"],
        "files": [_told(each, kept.get(each.path, ""), home, whole=chosen["only_print"]) for each in changes],
    }  # fmt: skip
    answer(reply, lambda: _show(known, reply, only_print=chosen["only_print"]))
    if not chosen["remove"]:
        _advise(home)


def _installing(edits: plan.Edits, *, only_print: bool) -> list[plan.Change]:
    """What is changed. Who only looks sees our entries even where a file can not be understood."""
    try:
        return plan.installing(edits)
    except (SettingsError, CanNotEdit) as error:
        if not only_print:
            raise
        warn(str(error))
        return plan.installing(edits, alone=True)


def _list_clients() -> None:
    where = _where(placed(home_path()))
    rows = [[each.name, config_file(each, "user", where), ", ".join(each.scopes), "yes" if each.hooks else ""]
            for each in CLIENTS.values()]  # fmt: skip
    found = [dict(zip(("client", "file", "scopes", "hooks"), row, strict=True)) for row in rows]
    answer({"clients": found}, lambda: table(["client", "configuration", "scopes", "hooks"], rows))


def _known(name: str) -> Client:
    import difflib

    if name in CLIENTS:
        return CLIENTS[name]
    close = difflib.get_close_matches(name, CLIENTS, n=1)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(CLIENTS)}."
    raise InvalidArgument(
        f"{name!r} is not a client that is known: {hint} Any other that speaks MCP is told to run `commonplace mcp`"
    )


def _where(home: str) -> Where:
    """This machine; a memory that was found in a project says which project is meant."""
    project = os.path.dirname(home) if os.path.basename(home) == FOLDER else os.getcwd()
    user = os.path.expanduser("~")
    return Where(sys.platform, user, os.environ, os.getcwd() if project == user else project)


def _scope(client: Client, scope: str | None, home: str, where: Where) -> str:
    """The scope that was asked for; else that of the memory: a project's own is for that project."""
    if scope == "project" and not client.project:
        raise InvalidArgument(f"{client.title} has no configuration for one project: leave out --scope project")
    inside = os.path.dirname(home) == where.project != where.home and os.path.isdir(home)
    return scope or ("project" if client.project and inside else "user")


def _wanted(client: Client, scope: str, home: str, where: Where, chosen: dict[str, Any]) -> plan.Wanted:
    """In a project's file the home is left out where the client finds it there: others have the project elsewhere."""
    found_there = scope == "project" and client.starts_in_project and home == os.path.join(where.project, FOLDER)
    agent = agent_name()
    return plan.Wanted(
        plan.program(sys.executable, sys.argv[0]),
        "" if found_there and not options().get("home") else home,
        "" if agent == MAIN else agent,
        _toolsets(chosen["tools"]),
        chosen["budget"],
        chosen["hooks"],
    )


def _toolsets(given: str | None) -> str:
    from ...tools.catalog import TOOLSETS

    names = [name.strip() for name in given.split(",")] if given else []
    for name in names:
        if name not in TOOLSETS:
            raise InvalidArgument(f"--tools {name!r} is not a toolset: use {', '.join(TOOLSETS)}")
    return ",".join(names)


def _write(change: plan.Change) -> str:
    return files.write(change.path, change.before, change.after, change.with_it)


def _told(change: plan.Change, backup: str, home: str, *, whole: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"path": change.path, "changed": change.is_one}
    if backup:
        told["backup"] = backup
    if whole:
        told["text"] = None if change.after is None else change.after.decode().replace(home, display_name(home))
    return told


def _show(client: Client, reply: dict[str, Any], *, only_print: bool) -> None:
    for file in reply["files"]:
        if only_print:
            say(f"# {file['path']}", fg="cyan")
            say("(no such file)" if file["text"] is None else file["text"].removesuffix("\n"))
            continue
        done = "removed from" if reply["removed"] else "written to"
        backup = f" (as it was: {file['backup']})" if "backup" in file else ""
        say(f"{done} {file['path']}{backup}" if file["changed"] else f"nothing to change in {file['path']}")
    if not only_print and not reply["removed"]:
        say(f"{client.title} uses the memory in {reply['home']}. Next: {client.after}.")


def _advise(home: str) -> None:
    if display_name(home) != home:
        warn("the password of the URL goes into the client's file (it is not shown here): better leave it out of the "
             "URL, and put it into ~/.pgpass, or into PGPASSWORD of the client")  # fmt: skip
    if not in_database(home) and not os.path.isdir(home):
        warn(f"there is no memory at {home} yet: run `commonplace init`, or let the first tool call make it")
    if find_spec("mcp") is None:
        warn("the server needs more than is installed: run pip install 'commonplace[mcp]'")
