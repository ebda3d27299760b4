"""The commands that set up: init and completion."""

from __future__ import annotations

import os

import click

from ...errors import StorageError
from ...home import Home
from ...memory import Memory
from ...storage.backends import display_name, in_database
from .common import FOLDER, agent_name, answer, options, placed, refuse_file, shared

_IGNORED = "# made by commonplace; can be rebuilt\n.index/\n.locks/\n.access/\n"


@click.command("init")
@click.argument("folder", required=False, metavar="[FOLDER|URL]")
@shared
def init_command(folder: str | None) -> None:
    """Make a memory in FOLDER (default: ./.commonplace), or for a tenant of a database, which has its tables by
    `commonplace db init`. One that is there already stays as it is."""
    home = folder or options().get("home") or os.environ.get("COMMONPLACE_HOME") or os.path.join(os.getcwd(), FOLDER)
    home = os.path.expanduser(home)
    refuse_file(home)
    known = _made_in_database(home) if in_database(home) else _made_in_folder(placed(home))
    where = display_name(placed(home))
    said = f"{'There is a memory' if known else 'Made a memory'} in {where}."
    answer({"home": where, "created": not known}, lambda: click.echo(said))


def _made_in_folder(home: str) -> bool:
    """Make it; whether it was there."""
    known = os.path.isdir(home) and bool(os.listdir(home))
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{home}: {error.strerror}") from error
    Memory(home, agent_name())
    _keep_out_of_git(os.path.join(home, ".gitignore"))
    return known


def _made_in_database(url: str) -> bool:
    home = Home(url, agent_name())
    known = bool(home.storage.pages.list("", "", deep=True))
    home.welcome()
    home.close()
    return known


def _keep_out_of_git(path: str) -> None:
    """A home may live in a repository: its pages belong there, what is derived from them does not."""
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(_IGNORED)
    except FileExistsError:
        return
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the script that completes commands in SHELL: eval "$(commonplace completion bash)"."""
    from click.shell_completion import get_completion_class

    from . import cli

    for name in ("commonplace", "cpl"):
        made = get_completion_class(shell)
        if made:
            click.echo(made(cli, {}, name, f"_{name.upper()}_COMPLETE").source())
