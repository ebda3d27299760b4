"""Plans an installation: which files of a client change, and the text of each before and after.

Adding our entries leaves everything else as it is. Removing them restores the file to the byte if a backup shows what
it was.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

from ...errors import Refused
from ...formats import ParseProblem
from . import files, jsonc
from .clients import (
    NAME,
    PROMPT,
    SESSION_START,
    AddHook,
    Client,
    Edit,
    KeyPath,
    SetKeys,
    Where,
    config_file,
    hooks_file,
)
from .files import CannotEdit, value_at

Position = tuple[str | int, ...]  # where a hook is in a list: its index, and perhaps its place in a group
EditsByFile = dict[str, tuple[str, list[Edit]]]  # path to the format of the file and its edits


class InstallRequest(NamedTuple):
    """What to install. `program` is the command that starts this program, with an absolute path if possible.

    `shared_program` is for files that people share: by its name alone, where every machine finds it so.
    """

    program: Sequence[str]
    home: str = ""  # absolute; empty if the client starts in the project and finds it there
    agent: str = ""
    tools: str = ""
    budget: int | None = None
    hooks: bool = True
    shared_program: Sequence[str] = ()
    project: str = ""  # absolute; in place of `home`, where a memory is found that the user did not name

    @property
    def options(self) -> list[str]:
        options = {"--home": self.home, "--project": self.project, "--agent": self.agent}
        return [word for name, value in options.items() if value for word in (name, value)]


class FileChange(NamedTuple):
    """One file. `after` is None if it is removed; then `stale_backups` are backups with nothing but our entries."""

    path: str
    before: bytes | None
    after: bytes | None
    stale_backups: Sequence[str] | None = None

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def plan_edits(client: Client, scope: str, where: Where, request: InstallRequest, file: str = "") -> EditsByFile:
    """Return the edits for each file."""
    command, *rest = (request.shared_program if scope == "project" else ()) or request.program
    tools = ["--tools", request.tools] if request.tools else []
    answers = [] if client.structured else ["--answers", "text"]
    entry = client.shape(command, [*rest, "mcp", *request.options, *tools, *answers])
    path = file or _existing_variant(config_file(client, scope, where))
    by_file: EditsByFile = {path: (client.form, [SetKeys((*client.servers, NAME), entry)])}
    if client.hooks and request.hooks:
        _, edits = by_file.setdefault(hooks_file(client.hooks, scope, where), ("json", []))
        command_for = partial(hook_command, request, client=client.name, platform=where.platform)
        edits += client.hooks.edits(command_for)
    for each in by_file if scope == "project" else ():
        if each != file:
            _require_inside(each, where.project)
    return by_file


def _require_inside(path: str, project: str) -> None:
    """Refuse a link that leads out of a project: somebody else may have made it, so that a file of the user's own is
    changed, and a copy of it is kept in the project."""
    place = os.path.realpath(path)
    root = os.path.realpath(project)
    if not place.startswith(root.rstrip(os.sep) + os.sep):
        problem = f"{path} leads to {place}, outside of this project"
        raise Refused(problem, advice="put a file of the project in its place, or name the other one with --file")


def _existing_variant(path: str) -> str:
    """Return the file, or its .jsonc variant, which some clients read too, if only that exists."""
    variant = f"{path}c"
    return variant if path.endswith(".json") and not os.path.exists(path) and os.path.exists(variant) else path


def hook_command(request: InstallRequest, hook: str, client: str, platform: str) -> str:
    """Return the command line of a hook, quoted for the platform's shell."""
    budget = ["--budget", str(request.budget)] if request.budget is not None and hook == "session-start" else []
    tools = ["--tools", request.tools] if request.tools and hook in (SESSION_START, PROMPT) else []
    words = [*request.program, "hook", hook, "--client", client, *request.options, *budget, *tools]
    if platform == "win32":  # cmd.exe, PowerShell and git's bash all read this form, and only this one
        return " ".join(f'"{word}"'.replace("\\", "/") if {*word} & {*" \\/:,"} else word for word in words)
    return shlex.join(words)


def find_program(executable: str, argv0: str) -> list[str]:
    """Return a command that starts this program from any folder: a script beside the interpreter, or `python -m`, which
    takes no module from that folder (`-P`)."""
    folder = os.path.dirname(executable)
    for name in ("commonplace", "commonplace.exe"):
        script = os.path.join(folder, name)
        if os.access(script, os.X_OK) and os.path.isfile(script):
            return [script]
    script = os.path.abspath(argv0)
    if os.path.basename(script) in ("commonplace", "cpl") and os.access(script, os.X_OK):
        return [script]
    return [executable, "-P", "-m", "commonplace"]


def find_command(program: Sequence[str], search_path: str | None = None) -> list[str]:
    """Return the name of the command, if the shell finds this program by it; else nothing."""
    name = os.path.basename(program[0]).removesuffix(".exe")
    path = shutil.which(name, path=search_path) if len(program) == 1 else None
    return [name] if path and os.path.realpath(path) == os.path.realpath(program[0]) else []


def plan_installation(by_file: EditsByFile, *, ignore_existing: bool = False) -> list[FileChange]:
    """Return the files with our entries in them; with `ignore_existing`, nothing but our entries."""
    changes = []
    for path, (form, edits) in by_file.items():
        before = None if ignore_existing else files.read(path)
        apply = partial(apply_edits, form, edits=edits)
        after = files.transform(path, before, apply, "add the entry by hand (--print shows it)")
        changes.append(FileChange(path, before, after))
    return changes


def plan_removal(by_file: EditsByFile) -> list[FileChange]:
    """Return the files without our entries."""
    return [_plan_removal(path, form, edits) for path, (form, edits) in by_file.items()]


def _plan_removal(path: str, form: str, edits: list[Edit]) -> FileChange:
    before = files.read(path)
    if before is None:
        return FileChange(path, None, None)
    backups = files.backups(path)
    revert = partial(revert_edits, form, edits=edits, backups=[*backups.values()])
    after = files.transform(path, before, revert, "remove the entry by hand")
    if after is not None or not _has_only_ours(form, before.decode(), edits):
        return FileChange(path, before, after)

    def is_stale(name: str) -> bool:
        return _has_only_ours(form, backups[name], edits)

    return FileChange(path, before, None, [*takewhile(is_stale, backups)])


def apply_edits(form: str, text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all edits made. Making them again changes nothing."""
    for edit in edits:
        text = _set_keys(form, text, edit) if isinstance(edit, SetKeys) else _add_hook(text, edit)
    return text


def revert_edits(form: str, text: str, edits: Sequence[Edit], backups: Sequence[str] = ()) -> str | None:
    """Return the text without our entries, or None if nothing else was ever in it.

    `backups` are earlier versions of the file, the newest first. If one of them with our entries added equals the file,
    that backup is returned.
    """
    present = _present_edits(form, text, edits)
    if not present:
        return text
    originals = [backup for backup in backups if not _present_edits(form, backup, edits)]
    for original in (*originals, None):
        with suppress(CannotEdit):  # what people added to our entry may be more than we can write
            if apply_edits(form, original or "", present) == text:
                return original
    known = parse(form, originals[0]) if originals else {}
    for edit in present:
        text = _remove(form, text, edit, known)
    return text


def _has_only_ours(form: str, text: str, edits: Sequence[Edit]) -> bool:
    """Return whether a file has only what we wrote, without anything that people added to our entry."""
    with suppress(CannotEdit, ParseProblem):
        ours = {edit.path: {*_field_names(edit)} for edit in edits}
        present = _present_edits(form, text, edits)
        return revert_edits(form, text, edits) is None and all({*_field_names(e)} <= ours[e.path] for e in present)
    return False


def _field_names(edit: Edit) -> Iterator[str]:
    pending: list[Any] = [edit.element if isinstance(edit, AddHook) else edit.value]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield from value
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def parse(form: str, text: str) -> Any:
    return _editor(form).parse(text)


def _editor(form: str) -> Any:
    if form == "json":
        return jsonc
    from . import toml_edit, yaml_edit

    return {"toml": toml_edit, "yaml": yaml_edit}[form]


def _present_edits(form: str, text: str, edits: Iterable[Edit]) -> list[Edit]:
    """Return our edits as they are in a file now, whatever options they were made with; none if no entry is ours."""
    document = parse(form, text)
    present: list[Edit] = []
    for edit in edits:
        value = value_at(document, edit.path)
        if isinstance(edit, AddHook):
            present += [edit._replace(element=value[position[0]]) for position in _find_ours(value, edit.pattern)]
        elif isinstance(value, dict) and edit.path:
            present.append(edit._replace(value=value))
        elif edit.if_missing and edit.value.items() <= value.items():
            present.append(edit)
    return present if any(edit.path for edit in present) else []


def _set_keys(form: str, text: str, edit: SetKeys) -> str:
    if form != "json":
        edited: str = _editor(form).put(text, edit.path, edit.value)
        return edited
    present = value_at(jsonc.parse(text), edit.path)
    if present is None:
        return jsonc.put(text, edit.path, edit.value)
    for key, value in edit.value.items():
        if not (edit.if_missing and isinstance(present, dict) and key in present):
            text = jsonc.put(text, (*edit.path, key), value)
    return text


def _add_hook(text: str, edit: AddHook) -> str:
    """Change our hook where it is, or add it. Further copies of it are removed."""
    ours = _find_ours(value_at(jsonc.parse(text), edit.path), edit.pattern)
    if not ours:
        return jsonc.add(text, edit.path, edit.element)
    first, *others = ours
    for position in reversed(others):
        text = jsonc.remove(text, (*edit.path, *position))
    hook = edit.element["hooks"][0] if len(first) > 1 else edit.element
    for key, value in hook.items():
        text = jsonc.put(text, (*edit.path, *first, key), value)
    return text


def _remove(form: str, text: str, edit: Edit, known: Any) -> str:
    """Remove one entry of ours, and the empty containers that were made for it; `known` is the original document."""
    if form != "json":
        edited: str = _editor(form).remove(text, edit.path)
        return edited
    if isinstance(edit, SetKeys):
        while edit.path and value_at(jsonc.parse(text), edit.path) is not None:  # a key may be there twice
            text = jsonc.remove(text, edit.path)
        return _remove_empty(text, edit.path[:-1], known)
    for position in reversed(_find_ours(value_at(jsonc.parse(text), edit.path), edit.pattern)):
        is_alone = len(value_at(jsonc.parse(text), edit.path)[position[0]].get("hooks", [0])) == 1
        text = jsonc.remove(text, (*edit.path, *(position[:1] if is_alone else position)))
    return _remove_empty(text, edit.path, known)


def _remove_empty(text: str, path: KeyPath, known: Any) -> str:
    """Remove containers that are empty now and were not there before."""
    while path and value_at(jsonc.parse(text), path) in ({}, []) and value_at(known, path) is None:
        text = jsonc.remove(text, path)
        path = path[:-1]
    return text


def _find_ours(elements: Any, pattern: str) -> list[Position]:
    """Return where our hooks are in a list: alone, or in a group with others."""
    return [position for position, hook in _iterate_hooks(elements) if re.search(pattern, str(hook.get("command", "")))]


def _iterate_hooks(elements: Any) -> Iterator[tuple[Position, dict[str, Any]]]:
    for number, element in enumerate(elements if isinstance(elements, list) else ()):
        group = element.get("hooks") if isinstance(element, dict) else None
        if isinstance(group, list):
            yield from (((number, "hooks", each), hook) for each, hook in enumerate(group) if isinstance(hook, dict))
        elif isinstance(element, dict):
            yield (number,), element
