"""Claude's memory tool, kept in a home: what it writes under /memories has locks, history, undo and search.

Hand either class to the SDK's tool runner as it is. The work is done in `files`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import CommonplaceError, NotInstalled
from ...home import Home, utc_now
from ...model import Clock
from ...storage.layout import MAIN
from .files import MemoryFiles

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
    """Raise errors in the SDK's form, which answers the model."""
    try:
        yield
    except CommonplaceError as error:
        raise ToolError(str(error)) from error


def _require_object(given: object) -> object:
    if not isinstance(given, dict):
        commands = "view, create, str_replace, insert, delete or rename"
        raise ToolError(f"The input must be an object with a command ({commands}), not {given!a:.50}")
    return given
