"""Claude's memory tool, kept in a home: what it writes under /memories has locks, history, undo and search.

Hand `MemoryTool` or `AsyncMemoryTool` to the SDK's tool runner as it is. `MemoryFiles` does the work: its answers and
errors are word for word those of the SDK's own tool, which Claude knows. `/memories` is one folder of the home; no path
leads out of it.
"""

from __future__ import annotations

import os
import posixpath
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..errors import (
    CommonplaceError,
    Conflict,
    HoldsSecret,
    InvalidArgument,
    MissingArgument,
    NotFound,
    NotInstalled,
    NotText,
    OutsideHome,
    PageNotFound,
    StaleVersion,
    WrongType,
)
from ..formats.json_text import is_unicode
from ..framing import escape_hidden, quote_line, unescape_hidden
from ..home import Home, utc_now
from ..model import Clock
from ..storage.base import ABSENT
from ..storage.files import storage_errors
from ..storage.layout import MAIN
from ..storage.names import MAX_NAME_BYTES
from ..storage.tree import DEFAULT_FOLDER_BYTES, ListFolder

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
    from anyio import Path as AsyncPath
    from anyio.to_thread import run_sync
except ImportError as error:
    raise NotInstalled("Claude's memory tool", "anthropic") from error

ROOT = "/memories"
_MAX_LINES = 999_999
_SNIPPET_LINES = 2  # shown before and after a change
_LISTING_LEVELS = 2
_LINE_NUMBER_WIDTH = 6
_MAX_DECODINGS = 5  # no honest name is percent-encoded more often
_EDITED = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"


def _shared_folder(home: Home) -> str:
    """Return the folder that all agents share: ours, or the one that the SDK's own tool made here."""
    ours = home.layout.shared_memories
    theirs = home.layout.earlier_memories
    tree = home.storage.tree
    return theirs if tree.entry(theirs) and not tree.entry(ours) else ours


class MemoryTool(BetaAbstractMemoryTool):
    """Safe to share between threads; any number of processes may use one home."""

    def __init__(
        self,
        base_path: str | os.PathLike[str] = "./memory",
        *,
        agent: str | None = None,
        overwrite: bool = False,
        session: str = "",
        clock: Clock = utc_now,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """`base_path` is a home: a folder, or the URL of a database. All agents share the files, unless `agent` names
        one.

        With `overwrite`, `create` replaces a file. `session` names the conversation that writes, for history.
        """
        super().__init__(cache_control=cache_control)
        self.home = Home(os.fspath(base_path), MAIN if agent is None else agent, clock, session)
        closing = weakref.finalize(self, self.home.close_index)  # a tool that is dropped leaves no file open
        closing.atexit = False
        folder = _shared_folder(self.home) if agent is None else self.home.layout.memories_folder(agent)
        self.memory_root = Path(self.home.storage.display_path(folder))
        self.base_path = self.memory_root.parent
        self._files = MemoryFiles(self.home, folder, overwrite=overwrite)
        self._ensure_memory_root()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the last call that its answer has no place for: a secret in a text, an edit by hand."""
        return self._files.warnings

    def call(self, input: object) -> Any:  # noqa: A002  the SDK's own name
        return super().call(_require_object(input))

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        with _tool_errors():
            return self._files.view(command.path, command.view_range)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        with _tool_errors():
            return self._files.create(command.path, command.file_text)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        with _tool_errors():
            return self._files.str_replace(command.path, command.old_str, command.new_str)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        with _tool_errors():
            return self._files.insert(command.path, command.insert_line, command.insert_text)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        with _tool_errors():
            return self._files.delete(command.path)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        with _tool_errors():
            return self._files.rename(command.old_path, command.new_path)

    def clear_all_memory(self) -> str:
        """Remove every file, as one change: `commonplace undo` brings them back."""
        with _tool_errors():
            return self._files.clear()

    def close(self) -> None:
        """Close the index and the storage. Nothing is lost without it."""
        self.home.close()

    def _ensure_memory_root(self) -> None:
        self._files.ensure()

    def _validate_path(self, path: str) -> Path:
        """Return the file that a path leads to; the SDK's own tool has this method, too."""
        with _tool_errors():
            resolved = self._files.parse_path("path", path).resolved
        return self.memory_root / resolved.removeprefix(self._files.folder).lstrip("/")


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for asynchronous clients: `tool` does the work, in a thread."""

    def __init__(
        self,
        base_path: str | os.PathLike[str] = "./memory",
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
        **options: Any,
    ) -> None:
        """Takes what `MemoryTool` takes."""
        super().__init__(cache_control=cache_control)
        self.tool = MemoryTool(base_path, **options)
        self.base_path = AsyncPath(self.tool.base_path)
        self.memory_root = AsyncPath(self.tool.memory_root)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.tool.warnings

    async def call(self, input: object) -> Any:  # noqa: A002
        return await super().call(_require_object(input))

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await run_sync(self.tool.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await run_sync(self.tool.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await run_sync(self.tool.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await run_sync(self.tool.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await run_sync(self.tool.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await run_sync(self.tool.rename, command)

    async def clear_all_memory(self) -> str:
        return await run_sync(self.tool.clear_all_memory)

    def close(self) -> None:
        self.tool.close()

    async def _ensure_memory_root(self) -> None:
        await run_sync(self.tool._ensure_memory_root)

    async def _validate_path(self, path: str) -> AsyncPath:
        return AsyncPath(await run_sync(self.tool._validate_path, path))


@contextmanager
def _tool_errors() -> Iterator[None]:
    """Raise errors as the SDK's own, which it passes on to the model as the answer."""
    try:
        yield
    except CommonplaceError as error:
        raise ToolError(str(error)) from error


def _require_object(arguments: object) -> object:
    if not isinstance(arguments, dict):
        commands = "view, create, str_replace, insert, delete or rename"
        raise ToolError(f"The input must be an object with a command ({commands}), not {arguments!a:.50}")
    return arguments


class FilePath(NamedTuple):
    """A path as the model gave it, as a path of the home, and the latter with links followed."""

    requested: str
    unresolved: str
    resolved: str


class MemoryFiles:
    """Arguments come from a model and may be anything: they are checked here."""

    def __init__(self, home: Home, folder: str, *, overwrite: bool = False) -> None:
        self.home = home
        self.folder = folder
        self.overwrite = overwrite
        self._pages = home.storage.pages
        self._tree = home.storage.tree
        self.warnings: tuple[str, ...] = ()  # about the last call, which its answer has no place for

    def ensure(self) -> None:
        """Make the folder: Claude expects it to be there from the start."""
        self.home.storage.check()
        self._tree.make_folder(self.folder)

    def view(self, path: object, view_range: object = None) -> str:
        with self._call("view"):
            file = self.parse_path("path", path)
            kind = self._require_kind(file)
            if kind == "folder":
                entry = self._tree.entry(file.resolved)
                size = entry.size if entry else DEFAULT_FOLDER_BYTES
                list_folder = self._tree.folder_lister(file.resolved)
                return render_listing(file.requested, size, _list_levels(list_folder, file.resolved, _LISTING_LEVELS))
            if kind != "file":
                raise NotText(f"Unsupported file type for {file.requested}")
            with _sdk_errors_for_edits(file):
                page = self._pages.read(file.resolved)
            self._pages.mark_read(page)
            lines = page.text.split("\n")
            if len(lines) > _MAX_LINES:
                raise InvalidArgument(f"File {file.requested} exceeds maximum line limit of {_MAX_LINES:,} lines.")
            first, last = parse_view_range(view_range, len(lines))
            return f"Here's the content of {file.requested} with line numbers:\n{number_lines(lines, first, last)}"

    def create(self, path: object, file_text: object) -> str:
        with self._write_call("create"):
            file = self.parse_path("path", path)
            text = self._apply_secret_policy("file_text", file_text)
            self._check_new_name(file)
            exists = f"File {file.requested} already exists"
            if self._kind(file.resolved) == "folder":
                raise Conflict(exists)
            try:
                self.home.writer.write(file.resolved, text, None if self.overwrite else ABSENT)
            except StaleVersion as error:
                raise Conflict(exists) from error
            return f"File created successfully at: {file.requested}"

    def str_replace(self, path: object, old_str: object, new_str: object) -> str:
        with self._write_call("str_replace"):
            file = self._require_file(path)
            old = require_text("old_str", old_str)
            new = self._apply_secret_policy("new_str", new_str)
            if not old:
                raise InvalidArgument("No replacement was performed, old_str is empty. Please say what to replace.")
            before, after = self._edit(
                file, lambda text: replace_once(text, *as_stored(text, old, new), file.requested)
            )
            line = before.count("\n", 0, before.find(as_stored(before, old, new)[0])) + 1
            lines = after.split("\n")
            return _EDITED + number_lines(lines, max(1, line - _SNIPPET_LINES), line + _SNIPPET_LINES)

    def insert(self, path: object, insert_line: object, insert_text: object) -> str:
        with self._write_call("insert"):
            file = self._require_file(path)
            new = self._apply_secret_policy("insert_text", insert_text)
            self._edit(file, lambda text: insert_after(text, insert_line, new))
            return f"The file {file.requested} has been edited."

    def delete(self, path: object) -> str:
        with self._write_call("delete"):
            file = self.parse_path("path", path)
            if file.resolved == self.folder:
                raise InvalidArgument("Cannot delete the /memories directory itself")
            target = self._tree.resolve(file.unresolved, follow_last=False)  # a link is removed itself, not its target
            with _sdk_error_if_missing(file):
                kind = self._kind(target)
                if not kind:
                    raise PageNotFound(target)
                if kind == "folder":
                    self.home.writer.remove_folder(target)
                else:
                    self.home.writer.remove_file(target)
            return f"Successfully deleted {file.requested}"

    def rename(self, old_path: object, new_path: object) -> str:
        with self._write_call("rename"):
            old = self.parse_path("old_path", old_path)
            new = self.parse_path("new_path", new_path)
            if old.resolved == self.folder:
                raise InvalidArgument("Cannot rename the /memories directory itself")
            exists = f"The destination {new.requested} already exists"
            with _sdk_error_if_missing(old):
                if self._kind(new.resolved):
                    raise Conflict(exists)
                if new.resolved.startswith(f"{old.resolved}/") and self._kind(old.resolved) == "folder":
                    raise InvalidArgument(f"Cannot rename {old.requested} to {new.requested}, which is inside of it")
                self._check_new_name(new)
                try:
                    self.home.writer.move(self._tree.resolve(old.unresolved, follow_last=False), new.resolved)
                except StaleVersion as error:
                    raise Conflict(exists) from error
            return f"Successfully renamed {old.requested} to {new.requested}"

    def clear(self) -> str:
        with self._write_call("clear"):
            self.home.writer.remove_folder(self.parse_path("path", ROOT).resolved)
            self.ensure()
        return "All memory cleared"

    def parse_path(self, field: str, path: object) -> FilePath:
        """Return where a path leads; OutsideHome when that is not below the folder."""
        text = require_text(field, path)
        if text != ROOT and not text.startswith(f"{ROOT}/"):
            raise OutsideHome(f"Path must start with /memories, got: {text}")
        escape = f"Path {text} would escape /memories directory"
        if climbs_up(text):
            raise OutsideHome(escape)
        if "\0" in text or "\\" in text:
            raise InvalidArgument(f"Path {text!a} has a null character or a backslash in it: use one like {ROOT}/a.md")
        self._refuse_linked_folder()
        unresolved = posixpath.join(self.folder, text.removeprefix(ROOT).strip("/")).rstrip("/")
        try:
            resolved = self._tree.resolve(unresolved)
        except OutsideHome as error:
            raise OutsideHome(escape) from error
        if resolved != self.folder and not resolved.startswith(f"{self.folder}/"):
            raise OutsideHome(escape)
        return FilePath(text, unresolved, resolved)

    def _refuse_linked_folder(self) -> None:
        try:
            is_link = self._tree.resolve(self.folder) != self.folder
        except OutsideHome:
            is_link = True
        if is_link:
            raise OutsideHome("Path would escape /memories directory via symlink")

    @contextmanager
    def _call(self, command: str) -> Iterator[None]:
        """Run one call: history sees its changes as one, and the index follows."""
        self.ensure()
        with storage_errors(ROOT), self.home.writer.call(f"memory:{command}") as write:
            yield
        self.warnings = (*write.warnings, *write.conflicts)

    @contextmanager
    def _write_call(self, command: str) -> Iterator[None]:
        """Run a call that writes, one at a time, so that nobody finds a file half renamed."""
        with self._call(command), self._pages.lock(self.folder):
            yield

    def _kind(self, path: str) -> str:
        """Return what is at a path of the home; empty for nothing."""
        entry = self._tree.entry(path)
        return entry.kind if entry else ""

    def _require_kind(self, file: FilePath) -> str:
        kind = self._kind(file.resolved)
        if not kind:
            raise NotFound(f"The path {file.requested} does not exist. Please provide a valid path.")
        return kind

    def _require_file(self, path: object) -> FilePath:
        file = self.parse_path("path", path)
        if self._require_kind(file) != "file":
            raise NotText(f"The path {file.requested} is not a file.")
        return file

    def _edit(self, file: FilePath, change: Callable[[str], str]) -> tuple[str, str]:
        """Change an existing file under its lock; return its text before and after."""
        before = after = ""

        def apply(text: str) -> str:
            nonlocal before, after
            if not text and not self._kind(file.resolved):
                raise PageNotFound(file.resolved)
            before = text
            after = change(text)
            return after

        with _sdk_errors_for_edits(file):
            self.home.writer.edit(file.resolved, apply)
        return before, after

    def _apply_secret_policy(self, field: str, value: object) -> str:
        """Return a text with the secret policy applied; HoldsSecret if the policy is to refuse."""
        return str(self.home.writer.screen({field: require_text(field, value)})[field])

    def _check_new_name(self, file: FilePath) -> None:
        """Accept only names that search, backup and forget cover."""
        if obstacle := self._file_above(file.resolved):
            raise Conflict(f"The path {file.requested} leads through {obstacle}, which is not a directory.")
        if any(part.startswith(".") for part in file.resolved.removeprefix(self.folder).split("/")):
            raise InvalidArgument(f"Path {file.requested} is hidden: use names that do not begin with a dot")
        if any(len(part.encode()) > MAX_NAME_BYTES for part in file.resolved.split("/")):
            limit = f"{MAX_NAME_BYTES} bytes at most"
            raise InvalidArgument(f"Path {file.requested[:60]}… has a name that is too long: {limit}")
        if self._apply_secret_policy("path", file.requested) != file.requested:  # a redacted name would be another file
            raise HoldsSecret("the path contains what looks like a secret", advice="Use another name")

    def _file_above(self, path: str) -> str:
        """Return the name of a file on the way to a path, where a folder would have to be; empty if there is none."""
        above = posixpath.dirname(path)
        while above.startswith(self.folder):
            kind = self._kind(above)
            if kind:
                return "" if kind == "folder" else posixpath.basename(above)
            above = posixpath.dirname(above)
        return ""


@contextmanager
def _sdk_errors_for_edits(file: FilePath) -> Iterator[None]:
    """Report a file that vanished, or is not text, in the SDK's words."""
    try:
        yield
    except PageNotFound as error:
        sentence = f"The file {file.requested} no longer exists (may have been deleted or renamed concurrently)."
        raise NotFound(sentence) from error
    except NotText as error:
        raise NotText(f"The file {file.requested} is not a valid UTF-8 text file.") from error


@contextmanager
def _sdk_error_if_missing(file: FilePath) -> Iterator[None]:
    try:
        yield
    except PageNotFound as error:
        raise NotFound(f"The path {file.requested} does not exist") from error


def _list_levels(list_folder: ListFolder, folder: str, levels: int) -> Iterator[tuple[str, bool, int]]:
    """Yield name, whether it is a folder, and size; each folder before what is in it, without hidden items."""
    listing = list_folder(folder)
    for entry in listing.entries if listing else ():
        if entry.name[0] == "." or not is_unicode(entry.name) or entry.kind not in ("file", "folder"):
            continue
        yield entry.name, entry.kind == "folder", entry.size
        if entry.kind == "folder" and levels > 1:
            for name, is_folder, size in _list_levels(list_folder, entry.path, levels - 1):
                yield f"{entry.name}/{name}", is_folder, size


def require_text(field: str, value: object) -> str:
    """Return an argument that must be text; models leave some out, and send others as another type."""
    if value is None:
        raise MissingArgument(field)
    if not isinstance(value, str):
        raise WrongType(field, "text", type(value).__name__)
    if not is_unicode(value):
        raise InvalidArgument(f"Invalid parameter: {field} has characters that are not Unicode text")
    return value


def climbs_up(path: str) -> bool:
    """Return whether a path would lead upwards if it were decoded, or a backslash read as a slash."""
    decoded = path
    for _ in range(_MAX_DECODINGS):
        decoded = unquote(decoded)
    return (decoded != path or "\\" in path) and ".." in re.split(r"[/\\]", decoded)


def number_lines(lines: Sequence[str], first: int, last: int) -> str:
    numbered = enumerate(lines[first - 1 : last], start=first)
    return "\n".join(f"{number:>{_LINE_NUMBER_WIDTH}}\t{escape_hidden(line)}" for number, line in numbered)


def parse_view_range(view_range: Any, count: int) -> tuple[int, int]:
    """Return the first and last line to show; InvalidArgument for an empty range."""
    if not view_range:
        return 1, count
    if not isinstance(view_range, list) or len(view_range) != 2 or not all(_is_integer(each) for each in view_range):
        raise InvalidArgument(f"Invalid `view_range` parameter: {view_range!a:.50}. It should be two line numbers.")
    first = max(1, view_range[0])
    last = count if view_range[1] == -1 else min(view_range[1], count)
    if first > last:
        sentence = f"It should be within the range of lines of the file: [1, {count}], and not end before it starts."
        raise InvalidArgument(f"Invalid `view_range` parameter: {view_range}. {sentence}")
    return first, last


def as_stored(text: str, old: str, new: str) -> tuple[str, str]:
    """Return old and new text with the escapes that `view` showed turned back into hidden characters."""
    unescaped = unescape_hidden(old)
    return (unescaped, unescape_hidden(new)) if old not in text and unescaped in text else (old, new)


def replace_once(text: str, old: str, new: str, path: str) -> str:
    """Replace the only occurrence of `old`."""
    count = text.count(old)
    if not count:
        raise NotFound(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if count > 1:
        starts = (match.start() for match in re.finditer(f"(?={re.escape(old)})", text))
        lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in starts)
        sentence = f"Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
        raise InvalidArgument(f"No replacement was performed. {sentence}")
    return text.replace(old, new)


def insert_after(text: str, line: Any, new: str) -> str:
    """Insert a text after a line, and end the file with a line break."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if not _is_integer(line) or not 0 <= line <= len(lines):
        sentence = f"It should be within the range [0, {len(lines)}]."
        raise InvalidArgument(f"Invalid `insert_line` parameter: {line}. {sentence}")
    lines.insert(line, new.rstrip("\n"))
    edited = "\n".join(lines)
    return edited if edited.endswith("\n") else f"{edited}\n"


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def render_listing(path: str, size: int, entries: Iterable[tuple[str, bool, int]]) -> str:
    """Render a folder as the SDK does: two levels, by name, with sizes."""
    root = posixpath.normpath(path)
    head = f"Here're the files and directories up to {_LISTING_LEVELS} levels deep in {root}, excluding hidden items:"
    lines = (f"{format_size(count)}\t{root}/{_show_name(name)}{'/' * is_folder}" for name, is_folder, count in entries)
    return "\n".join([head, f"{format_size(size)}\t{root}", *lines])


def _show_name(name: str) -> str:
    """Return a file name on one line, without anything hidden."""
    return name if name.isprintable() else quote_line(name)


def format_size(count: int) -> str:
    """Format bytes as 0B, 12B, 5.5K or 3M."""
    power = min((max(count, 1).bit_length() - 1) // 10, 3)
    value = count / 1024**power
    return f"{value:.0f}{'BKMG'[power]}" if value == int(value) else f"{value:.1f}{'BKMG'[power]}"
