"""The only write path: secret policy, author, page and history, then the index of that page.

    with home.writer.call("remember") as outcome:
        arguments = home.writer.screen(arguments)
        home.writer.edit(path, change)
    outcome.warnings, outcome.conflicts

Pages are the truth and are written first. If the index cannot be updated, the next search catches up.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .errors import HoldsSecret, NotText, Refused
from .secrets import Secret, find, redact, warning
from .storage.base import MAX_PAGE_CHARACTERS, PageWriter
from .storage.history import (
    ABSENT,
    RETURNING,
    Author,
    PageEdit,
    WriteContext,
    current_origin,
    current_write,
    kind_of_origin,
    needs_approval,
    write_as,
)
from .tracing import span

if TYPE_CHECKING:
    from .index.handle import IndexHandle
    from .settings import Settings
    from .storage.base import Storage
    from .storage.layout import Layout
    from .trust import Trust

Values = Mapping[str, Any]


class Quota(NamedTuple):
    """What counts the writes of a caller, and the bytes that they add; QuotaExceeded if either is used up."""

    count_write: Callable[[], None]
    count_bytes: Callable[[int], None]


_quota: ContextVar[Quota | None] = ContextVar("write_quota", default=None)
MAX_INDEXED_BYTES = 64_000  # a larger page is indexed by the next search, not by the write


@contextmanager
def limit_writes(quota: Quota | None) -> Iterator[None]:
    """Count every write inside the block against a quota; None for no quota."""
    token = _quota.set(quota)
    try:
        yield
    finally:
        _quota.reset(token)


def _count_write(size: int = 0) -> None:
    """Count a write of the call in progress, once however many pages it writes, and the bytes that it adds."""
    quota = _quota.get()
    if quota is None:
        return
    context = current_write()
    if not context.is_counted:
        quota.count_write()
        context.is_counted = True
    if size:
        quota.count_bytes(size)


def _count_growth(before: str, after: str, counted: int) -> int:
    """Count the bytes that a page grows by, beyond those already counted, and return the new total."""
    quota = _quota.get()
    added = len(after.encode("utf-8", "replace")) - len(before.encode("utf-8", "replace")) if quota else 0
    if quota is None or added <= counted:
        return counted
    quota.count_bytes(added - counted)
    return added


class _Home(Protocol):
    """What a writer needs of an opened home."""

    agent: str
    session: str
    settings: Settings
    storage: Storage
    layout: Layout
    trust: Trust

    @property
    def index(self) -> IndexHandle: ...

    @property
    def index_if_open(self) -> IndexHandle | None: ...

    def branch_origin(self) -> str: ...


class Writer(PageWriter):
    """Writes the pages of one home, with more verbs than pages have. A write outside of a call is a call of its own."""

    def __init__(self, home: _Home) -> None:
        self._home = home
        self._unindexed: deque[str] = deque()

    @contextmanager
    def call(
        self,
        tool: str,
        *,
        session: str = "",
        why: str = "",
        call_id: str = "",
        origin: str = "",
        defer_index: bool = False,
    ) -> Iterator[WriteContext]:
        """Make every write inside the block one call of `tool`, then update the index of the pages written.

        The block's value collects warnings and conflicts. `session` names the conversation, if not the home's own;
        `why` goes into history. `call_id` continues a call that was interrupted. `origin` says how the call came, if
        not as set by `coming_from`. `defer_index` leaves the index to the next call or
        search, for writes in bulk.
        """
        session = session or self._home.session
        origin = origin or current_origin() or self._home.branch_origin()
        author = Author(tool, self._home.agent, session, why, call_id, origin)
        try:
            with span("write"), write_as(author) as context:
                yield context
        finally:
            if not defer_index:
                self.update_index()

    def screen(self, values: Values) -> Values:
        """Return values with the secret policy applied, and add its warning to the call's.

        HoldsSecret if the policy is to refuse secrets.
        """
        screened, sentence = screen_secrets(values, self._home.settings.secrets)
        if sentence:
            current_write().warnings.append(sentence)
        return screened

    def write(self, path: str, text: str, if_version: str | None = None) -> str:
        with self._ensure_call():
            _count_write(len(text.encode("utf-8", "replace")))
            version = self._home.storage.pages.write(path, text, if_version)
            current_write().edits.append(PageEdit(path, current_write().replaced, text))
            return version

    def edit(self, path: str, change: Callable[[str], str]) -> str:
        with self._ensure_call():
            _count_write()
            return self._home.storage.pages.edit(path, _note_edit(path, change))

    def edit_unique(self, path: str, change: Callable[[str], str], lock: str) -> str:
        with self._ensure_call():
            _count_write()
            return self._home.storage.pages.edit_unique(path, _note_edit(path, change), lock)

    def edit_day(self, day: date, change: Callable[[str], str]) -> str:
        """Change an agent's page of a day, and return its path. A page that is not text stays as it is: the page beside
        it is changed, with a warning."""
        for number in count(1):
            path = self._home.layout.day_page(self._home.agent, day, number)
            try:
                self.edit(path, change)
            except NotText as error:
                current_write().warnings.append(f"{error}; until then, the page beside it is used")
            else:
                break
        return path

    def append(self, path: str, text: str) -> str:
        with self._ensure_call():
            _count_write(len(text.encode("utf-8", "replace")))
            version = self._home.storage.pages.append(path, text)
            current_write().edits.append(PageEdit(path, "", text))
            return version

    def rewrite(self, path: str, merge: Callable[[str], str]) -> str:
        """Replace a whole page, under its lock, by what `merge` makes of its text and what others wrote there."""
        with self._ensure_call():
            _count_write()
            return self._home.storage.pages.rewrite(path, _note_edit(path, merge))

    def remove(self, path: str, if_version: str | None = None) -> None:
        with self._ensure_call():
            self.require_may_remove(path)
            self._home.storage.pages.remove(path, if_version)

    def append_transcript(self, path: str, items: Iterable[Any]) -> None:
        """Append items to a transcript, with the secret policy applied. The next search indexes them.

        History does not record single items: a long conversation would be copied with every turn.
        """
        with self._ensure_call():
            screened = self.screen({"items": [*items]})["items"]
            _count_write(len(json.dumps(screened, default=str)))
            self._home.storage.open_transcript(path).add(screened)
        self._invalidate_index()

    def pop_transcript(self, path: str) -> Any:
        """Remove the last item of a transcript and return it; None when there is none."""
        with self._ensure_call():
            item = self._home.storage.open_transcript(path).pop()
        self._invalidate_index()
        return item

    def remove_file(self, path: str) -> None:
        """Remove a file, text or not, or a link; PageNotFound when it is gone. Its folder stays."""
        with self._ensure_call():
            self._home.storage.tree.remove(path)

    def remove_folder(self, path: str) -> None:
        """Remove a folder with everything in it."""
        with self._ensure_call():
            self._home.storage.tree.remove_folder(path)

    def move(self, old: str, new: str) -> None:
        """Move a file or a folder; PageNotFound when it is gone, StaleVersion when something is at the new path."""
        with self._ensure_call():
            _count_write()
            self._home.storage.tree.move(old, new)

    def require_may_remove(self, path: str) -> None:
        """Raise Refused when a caller for single agents would remove rules that bind everybody."""
        if kind_of_origin(current_write().author.origin) != "agent-token" or not self._home.layout.is_instruction(path):
            return
        changes = self._home.storage.history.changes(path)
        if not all(needs_approval(change.origin) for change in changes) or not changes:
            problem = f"{path} holds rules for every agent, and a token for single agents cannot remove them"
            raise Refused(problem, advice="propose another text, or ask the owner")

    def note_write(self, path: str, size: int) -> None:
        """Remember that the index of a page must be updated. The storage calls this after every write."""
        if size <= MAX_INDEXED_BYTES:
            self._unindexed.append(path)
        else:
            self._invalidate_index()
        if not self._home.trust.is_own and size and self._home.layout.is_instruction(path):
            self._trust_own_rule(path)
        if size > MAX_PAGE_CHARACTERS:
            current_write().warnings.append(
                f"{path} is {size / 1e6:.0f} MB: search covers {MAX_PAGE_CHARACTERS // 1_000_000} million characters "
                "of a page; its longest parts can be found only by how they begin"
            )

    def _invalidate_index(self) -> None:
        """Leave the update to the next search. An index that is not open sweeps all pages anyway."""
        if index := self._home.index_if_open:
            index.invalidate()

    def _trust_own_rule(self, path: str) -> None:
        """Approve a rule that the user's own process wrote in an untrusted memory.

        Not if it builds on what somebody else wrote there, or comes from a history that may be somebody else's: nobody
        has reviewed that.
        """
        history = self._home.storage.history
        changes = history.changes(path)
        if not changes or kind_of_origin(changes[-1].origin) or changes[-1].tool in RETURNING:
            return
        before = changes[-1].before
        old = None if before == ABSENT else history.read_version(path, before)
        if old is None or self._home.trust.allows_file(path, old):
            self._home.trust.approve({path: self._home.storage.read_bytes(path) or b""})

    def update_index(self) -> None:
        """Update the index of the pages written since the last update."""
        paths: dict[str, None] = {}
        while self._unindexed:
            paths[self._unindexed.popleft()] = None
        if paths:
            self._home.index.update(paths)

    @contextmanager
    def _ensure_call(self) -> Iterator[None]:
        """Run the block in the call in progress, or in a new one."""
        if current_write().author.call:
            yield
            return
        with self.call("library"):
            yield


def _note_edit(path: str, change: Callable[[str], str]) -> Callable[[str], str]:
    """Wrap a change so that its edit is noted. One that is retried after a conflict counts once."""
    context = current_write()
    place = len(context.edits)
    size = 0  # bytes counted so far

    def change_and_note(text: str) -> str:
        nonlocal size
        changed = change(text)
        size = _count_growth(text, changed, size)
        context.note_edit(place, PageEdit(path, text, changed))
        return changed

    return change_and_note


def screen_secrets(values: Values, policy: str) -> tuple[Values, str]:
    """Return values with the secret policy (warn, redact or refuse) applied, and a warning or "".

    A value is also judged by its name: anything under the key `password` is a secret.
    """
    key = values.get("key")
    names = dict.fromkeys(("content", "value"), key) if isinstance(key, str) else {}
    try:
        secrets = tuple(secret for field, value in values.items() for secret in _find(value, names.get(field, "")))
    except RecursionError:  # nested too deeply to be written, which is refused later
        return values, ""
    if not secrets:
        return values, ""
    rules = ", ".join(dict.fromkeys(secret.rule for secret in secrets))
    if policy == "refuse":
        raise HoldsSecret(f"the text contains what looks like a secret ({rules})", advice="Leave it out")
    if policy == "redact":
        clean = {field: _redact(value, names.get(field, "")) for field, value in values.items()}
        return clean, f"what looks like a secret was left out ({rules})"
    return values, warning(secrets)


def _find(value: Any, name: str = "") -> Iterator[Secret]:
    """Yield the secrets in a value. `name` is the name of its field."""
    if isinstance(value, str):
        yield from find(value) or (find(f"{name}: {value}") if name else ())
    elif isinstance(value, Mapping):
        for field, each in value.items():
            yield from find(str(field))
            yield from _find(each, str(field))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _find(each, name)


def _redact(value: Any, name: str) -> Any:
    """Return a value without its secrets. `name` is the name of its field."""
    if isinstance(value, str):
        clean = redact(value)
        secrets = find(f"{name}: {value}") if name and clean == value else ()
        return f"[secret: {secrets[0].rule}]" if secrets else clean
    if isinstance(value, Mapping):
        return {redact(str(field)): _redact(each, str(field)) for field, each in value.items()}
    return [_redact(each, name) for each in value] if isinstance(value, (list, tuple)) else value
