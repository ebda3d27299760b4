"""The public handle: `Memory` opens a home and offers what people and agents do with it."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from .home import Home, utc_now
from .model import Clock, Hits
from .new_home import begin
from .storage.layout import MAIN
from .storage.names import require_agent
from .tools import catalog
from .toolsets import EVERYDAY, TOOLSETS

if TYPE_CHECKING:
    from .context import Context
    from .index.recalls import Conversation
    from .index.watcher import PageChanges, WatchMode


class Memory:
    """One memory, as one agent sees it. Cheap to open, and safe to share between threads and between processes."""

    def __init__(
        self,
        home: str | os.PathLike[str],
        agent: str = MAIN,
        *,
        clock: Clock = utc_now,
        session: str = "",
        is_found: bool = False,
        is_shared: bool = False,
        toolsets: Sequence[str] | None = None,
    ) -> None:
        """Open the memory at `home`, a folder or a database URL. History records `session` as the conversation, which
        continues in every handle that names it.

        `toolsets` are the tools that this agent may use, in this order: the default directive names them, `tools`
        describes them, and `call` looks among them first. Without it, the directive names the everyday tools
        (docs/tools.md), and all tools can be called.

        A memory that you name is yours. With `is_found`, the user did not name it, so its rules, providers and tokens
        count only as far as the user trusts it (`commonplace trust`). With `is_shared`, it is one of many on a server,
        and uses only the providers that the server's configuration names.
        """
        checked = None if toolsets is None else catalog.check_toolsets(toolsets)
        self.toolsets = checked
        require_agent(agent)
        self.home = Home(
            os.fspath(home),
            agent,
            clock,
            session,
            is_found=is_found,
            is_shared=is_shared,
            toolsets=EVERYDAY if checked is None else checked,
        )
        self._closing = weakref.finalize(self, self.home.close_index)  # a handle that is dropped leaves no file open
        self._closing.atexit = False
        begin(self.home)
        if session:
            self.home.readings.keep(session)
        self._given: Conversation | None = None

    def call(self, tool: str, arguments: Any = None, toolset: str | Sequence[str] | None = None) -> dict[str, Any]:
        """Run a tool by name. It never raises for bad arguments: the reply is then an error in the toolset's form.

        `toolset` decides between tools of the same name: pass the list that you gave to `tools`, and each name means
        the tool that was offered.
        """
        return self.attempt(tool, arguments, toolset).reply

    def attempt(
        self, tool: str, arguments: Any = None, toolset: str | Sequence[str] | None = None, *, session: str = ""
    ) -> catalog.Outcome:
        """Run a tool like `call`, and return the reply with the error behind it, for exit codes and HTTP statuses.

        `session` names the caller's conversation, if many share this handle.
        """
        return catalog.call(
            self.home, tool, arguments, self._all_toolsets() if toolset is None else toolset, session=session
        )

    def _all_toolsets(self) -> Sequence[str] | None:
        """Return all toolsets, those that the handle was opened with first; None if it was opened without any."""
        return None if self.toolsets is None else (*self.toolsets, *TOOLSETS)

    def search(
        self,
        query: str,
        limit: int | None = None,
        min_score: float | None = None,
        mode: str | None = None,
        **filters: Any,
    ) -> Hits:
        """Find the passages that answer a query, best first. Defaults come from the settings.

        The `mode` is `keyword` (words alone; no model is loaded) or `hybrid` (words and embeddings).

        The filters are `scope` (`world`, `channel:dev`), `channel`, `agent`, `tags` (all of them), `since` and `until`
        (a date or text like `2026-03` or `last week`), `source` (`memory`, `session`, `extra`), `path` (a folder or a
        pattern) and `author` (an agent, or `outside`, `import`, `person`, `token`). `as_of` (a day, like `until`)
        searches memory as it was at the end of that day.

        The list has a `verdict` on its best hit (`found`, `weak`, `nothing`), and `warnings`, for example that nothing
        is from the days that the query names, that the index is behind, or that the embedder did not answer.
        """
        result = self.home.search(query, limit, min_score, filters=self.home.parse_filters(**filters), mode=mode)
        return Hits(result.hits, result.verdict, result.warnings)

    def supersede(self, old: str, new: str, *, reject: bool = False) -> None:
        """Record that the statement cited as `new` replaces the one cited as `old`, such as
        `memory/world/people.md#L3`.

        Search then puts the newer one first and marks the older. With `reject` they are never linked again. The answer
        is kept as a comment on the page.
        """
        from .maintenance.doubts import supersede

        supersede(self.home, old, new, reject=reject)

    def build_index(self, *, rebuild: bool = False) -> dict[str, Any]:
        """Bring the index and its embeddings up to date and wait until that is done; return the state of the index.

        Search does this by itself. Call it to run a slow embedder in advance, or with `rebuild` to read and embed
        every page again.
        """
        from .index.base import ignore_progress

        self.home.build_index(ignore_progress, anew=rebuild)
        return self.home.index_status()

    @contextmanager
    def watch(self, on_change: Callable[[PageChanges], None]) -> Iterator[WatchMode]:
        """Watch the pages that this agent may see, in a thread, for the duration of a `with` block.

        `on_change` is called in that thread with the paths that changed or were removed, once search finds the new
        text. The block gets a `WatchMode`: `.events` is False if pages are polled, and `.reason` says why.
        """
        from .index.watcher import PageChanges, watch_in_background

        home = self.home
        may_see = home.visibility.may_see_page

        def report(changes: PageChanges) -> None:
            visible = PageChanges(*(tuple(path for path in paths if may_see(path)) for paths in changes))
            if any(visible):
                on_change(visible)

        embedding = home.embedding if home.search_settings.enabled else None
        with watch_in_background(home.index, report, embedding) as mode:
            yield mode

    def context(
        self,
        user: str | None = None,
        channel: str | None = None,
        budget: int | None = None,
        query: str | None = None,
        *,
        only_approved: bool = False,
        reads_only: bool = False,
        session: str = "",
    ) -> Context:
        """Return what a model should read first: `str()` is the text, `.receipt` says what went in and what was cut.

        With `only_approved`, it has only what a person wrote or approved: in the web page, in a file, or with
        `commonplace proposals`. With `reads_only`, the model may call only tools that write nothing, so the default
        directive names no others. If many conversations share this handle, `session` names the one that gets the
        context, so that `recall_for` does not repeat it; what was said in that conversation is left out.
        """
        from .context.assembly import assemble, note_context
        from .index.recalls import Reader

        context = assemble(
            self.home,
            user=user,
            channel=channel,
            budget=budget,
            query=query,
            only_approved=only_approved,
            reads_only=reads_only,
            session=session,
        )
        note_context(self.home, context, session)
        self._conversation(session).give(context.text, Reader(user, channel))
        return context

    def recall_for(
        self,
        prompt: str,
        budget: int = 300,
        *,
        user: str | None = None,
        channel: str | None = None,
        session: str = "",
    ) -> Context:
        """Return what to add before one prompt, like `context`; empty when nothing is likely enough.

        It never repeats what `context` or an earlier recall gave in the same conversation. If many conversations share
        this handle, name one with `session`. `user` and `channel` default to those of the last `context`.
        """
        from .context.prompt_recall import recall_for

        conversation = self._conversation(session)
        return recall_for(self.home, prompt, budget, conversation, session=session, user=user, channel=channel)

    def _conversation(self, session: str = "") -> Conversation:
        """Return the record of what this handle's conversation, or another one, has been given by now."""
        if session and session != self.home.session:
            return self.home.open_conversation(session)
        if self._given is None:
            self._given = self.home.open_conversation()
        else:
            self._given.reload()  # another handle of it may have been given more
        return self._given

    def run(self, reply: Any) -> dict[str, Any]:
        """Run the actions in a model's reply (the registry's action protocol) in order, each with its own result."""
        return catalog.run_actions(self.home, reply, self._all_toolsets())

    def tools(
        self, shape: str = "openai", toolsets: str | Sequence[str] | None = None, *, strict: bool = False
    ) -> list[dict[str, Any]]:
        """Return the tools in the format of a model API: openai, openai-responses, anthropic, gemini or mcp.

        Without `toolsets`, these are the ones that the handle was opened with, or all.
        `strict` makes the model keep to the schema, in APIs that offer it: openai, openai-responses, anthropic.
        """
        from .tools.schemas import describe

        names = self.toolsets if toolsets is None else catalog.check_toolsets(toolsets)
        return describe(shape, names, self.home, strict=strict)

    def status(self) -> dict[str, Any]:
        """Return where the memory is, how much is in it, and whether the index is up to date."""
        return self.home.status()

    def close(self) -> None:
        """Close the index and connections. Every write is on disk already."""
        self.home.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as an address: a copy, or another process, opens the same memory again."""
        home = self.home
        reopen = partial(
            Memory,
            clock=home.clock,
            session=home.session,
            is_found=home.is_found,
            is_shared=home.trust.is_shared,
            toolsets=self.toolsets,
        )
        return reopen, (home.address, home.agent)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
