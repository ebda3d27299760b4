"""What an installation changes: which files of a client, and what each says before and after."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from . import change, files
from .clients import NAME, Client, Where, config_file, hooks_file
from .edits import Edit, Put


class Wanted(NamedTuple):
    """What somebody asked for. `program` is how this program is started, as absolute as it gets."""

    program: Sequence[str]
    home: str = ""  # absolute; empty where the client starts in the project and finds it there
    agent: str = ""
    tools: str = ""
    budget: int | None = None
    hooks: bool = True

    @property
    def options(self) -> list[str]:
        named = {"--home": self.home, "--agent": self.agent}
        return [word for name, value in named.items() if value for word in (name, value)]


class Change(NamedTuple):
    """One file. `after` is None where it goes; `with_it` are copies that go as well, where only ours was in it."""

    path: str
    before: bytes | None
    after: bytes | None
    with_it: Sequence[str] | None = None

    @property
    def is_one(self) -> bool:
        return self.before != self.after


Edits = dict[str, tuple[str, list[Edit]]]  # by file: its form, and what is changed in it


def edits_for(client: Client, scope: str, where: Where, wanted: Wanted, file: str = "") -> Edits:
    """What should stand in which file."""
    command, *rest = wanted.program
    tools = ["--tools", wanted.tools] if wanted.tools else []
    answers = [] if client.structured else ["--answers", "text"]
    entry = client.shape(command, [*rest, "mcp", *wanted.options, *tools, *answers])
    path = file or _or_with_comments(config_file(client, scope, where))
    found: Edits = {path: (client.form, [Put((*client.servers, NAME), entry)])}
    if client.hooks and wanted.hooks:
        beside = hooks_file(client.hooks, scope, where)
        _, edits = found.setdefault(beside, ("json", []))
        edits += client.hooks.edits(lambda hook: hook_command(wanted, hook, client.name, where.platform))
    return found


def _or_with_comments(path: str) -> str:
    """The file, or the one of the other ending that some clients read as well, if that is the one that is there."""
    beside = f"{path}c"
    return beside if path.endswith(".json") and not os.path.exists(path) and os.path.exists(beside) else path


def hook_command(wanted: Wanted, hook: str, client: str, platform: str) -> str:
    """The command line of a hook, as a shell of the platform reads it."""
    budget = ["--budget", str(wanted.budget)] if wanted.budget is not None and hook == "session-start" else []
    words = [*wanted.program, "hook", hook, "--client", client, *wanted.options, *budget]
    if platform == "win32":  # read by cmd.exe, PowerShell or the bash that comes with git: only this suits all of them
        return " ".join(f'"{word}"'.replace("\\", "/") if {*word} & {*" \\/:"} else word for word in words)
    return shlex.join(words)


def installing(edits: Edits, *, alone: bool = False) -> list[Change]:
    """The files with our entries in them; or these alone, whatever the files say."""
    out = []
    for path, (form, some) in edits.items():
        before = None if alone else files.read(path)
        put = partial(change.put_in, form, edits=some)
        out.append(Change(path, before, files.changed(path, before, put, "add the entry by hand (--print shows it)")))
    return out


def removing(edits: Edits) -> list[Change]:
    """The files without them."""
    return [_removing(path, form, some) for path, (form, some) in edits.items()]


def _removing(path: str, form: str, edits: list[Edit]) -> Change:
    before = files.read(path)
    if before is None:
        return Change(path, None, None)
    copies = files.backups(path)
    take = partial(change.take_out, form, edits=edits, earlier=[*copies.values()])
    after = files.changed(path, before, take, "remove the entry by hand")
    if after is not None or not change.only_ours(form, before.decode(), edits):
        return Change(path, before, after)
    return Change(path, before, None, [*takewhile(lambda name: change.only_ours(form, copies[name], edits), copies)])


def program(executable: str, argv0: str) -> list[str]:
    """How this very program is started from anywhere: the command beside the interpreter, or the interpreter itself."""
    folder = os.path.dirname(executable)
    for name in ("commonplace", "commonplace.exe"):
        beside = os.path.join(folder, name)
        if os.access(beside, os.X_OK) and os.path.isfile(beside):
            return [beside]
    ran = os.path.abspath(argv0)
    if os.path.basename(ran) in ("commonplace", "cpl") and os.access(ran, os.X_OK):
        return [ran]
    return [executable, "-m", "commonplace"]
