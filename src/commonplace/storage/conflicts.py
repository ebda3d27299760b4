"""What every backend does with a page around a write: text to bytes and back, and conflict detection.

Conflict detection compares what a handle has read of a page with what history knows, so that no change by somebody
else is lost without a word.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ..caching import ByteCache
from ..errors import NotFound, NotText, StaleVersion, StorageError
from ..model import Page
from .base import HistoryStore
from .history import as_text, current_write, version_of
from .merge import loses_changes

_READ_VERSION_BYTES = 1_000_000  # of one handle

ByteChange = Callable[[bytes | None], bytes | None]  # None: there is no page, or none is to be written


def decode_text(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 text (byte {error.start})"
        raise NotText(problem, path=path, advice="save it as UTF-8") from error


def replace_text(path: str, text: str, if_version: str | None) -> Callable[[bytes | None], bytes]:
    """Return a change to a new text; it raises StaleVersion when the page is not at `if_version`."""

    def change(old: bytes | None) -> bytes:
        if if_version is not None and version_of(old) != if_version:
            raise StaleVersion(path)
        return text.encode()

    return change


def edit_text(path: str, change: Callable[[str], str]) -> ByteChange:
    """Return a change of the page's text; a page that is absent and would be empty is not created."""

    def change_bytes(old: bytes | None) -> bytes | None:
        new = change("" if old is None else decode_text(old, path)).encode()
        return new if new or old is not None else None

    return change_bytes


class ConflictDetector:
    """Call all but `mark_read` while holding the page's lock. Without a history nothing is recorded."""

    def __init__(self, history: HistoryStore | None) -> None:
        self.history = history
        self._read_versions: ByteCache[str, str] = ByteCache("versions that a handle has read", _READ_VERSION_BYTES)

    def mark_read(self, path: str, version: str) -> None:
        """Note that the next writer has read this version."""
        self._read_versions.put(path, version)

    def forget(self, path: str) -> None:
        self._read_versions.pop(path)

    def record_outside_edit(self, path: str, data: bytes | None, saved: float | None) -> None:
        """Record a page about to be replaced whose content history does not know: another program saved it."""
        if self.history:
            with _history_failure_as_warning():
                change = self.history.record_outside_edit(path, data, saved)
                if change and change.why:
                    sentence = f"{path}: a save by hand {change.why}: `commonplace diff {change.id}` shows it"
                    current_write().conflicts.append(sentence)

    def record_change(self, path: str, old: bytes | None, new: bytes | None) -> None:
        """Record in history what a page became."""
        if self.history:
            with _history_failure_as_warning():
                self.history.record_change(path, old, new, current_write().author)

    def report_lost_changes(self, path: str, old: bytes | None, new: bytes) -> None:
        """Report a conflict if the new text drops something that others wrote since this handle read the page."""
        base = self._base(path, old)
        if base is not None and old is not None and loses_changes(base, as_text(old), as_text(new)):
            _report_conflict(path, "had changed since you read it, and some of that is not in it any more")

    def _base(self, path: str, old: bytes | None) -> str | None:
        """Return the text this handle last read, or None when the page has not changed since."""
        version = self._read_versions.get(path)
        if version is None or self.history is None or version == version_of(old):
            return None
        with suppress(NotFound, OSError):
            return as_text(self.history.read_version(path, version))
        return None


class TextPages(ABC):
    """The verbs of `Pages` that write text, for a backend that can change the bytes of a page."""

    def __init__(self, conflicts: ConflictDetector) -> None:
        self._conflicts = conflicts

    @abstractmethod
    def change_bytes(self, path: str, change: ByteChange) -> str:
        """Read, change and write a page and return its version.

        Nothing is written when `change` returns the same bytes, or None.
        """

    def _normalize(self, path: str) -> str:
        """Return the one form of a path under which the backend stores the page."""
        return path

    def write(self, path: str, text: str, if_version: str | None = None) -> str:
        change = replace_text(path, text, if_version)

        def replace_and_note(old: bytes | None) -> bytes:
            current_write().replaced = as_text(old)  # so that nobody has to read it again
            return change(old)

        return self.change_bytes(path, replace_and_note)

    def edit(self, path: str, change: Callable[[str], str]) -> str:
        return self.change_bytes(path, edit_text(path, change))

    def append(self, path: str, text: str) -> str:
        def add_text(old: str) -> str:
            return old + text

        return self.edit(path, add_text)

    def rewrite(self, path: str, merge: Callable[[str], str]) -> str:
        def merge_bytes(old: bytes | None) -> bytes:
            self._conflicts.mark_read(self._normalize(path), version_of(old))
            return merge(as_text(old)).encode()

        return self.change_bytes(path, merge_bytes)

    def mark_read(self, page: Page) -> None:
        self._conflicts.mark_read(self._normalize(page.path), page.version)


def _report_conflict(path: str, what: str) -> None:
    sentence = f"{path} {what}: `commonplace diff {path}` shows both, `commonplace undo` takes yours back"
    if sentence not in current_write().conflicts:
        current_write().conflicts.append(sentence)


@contextmanager
def _history_failure_as_warning() -> Iterator[None]:
    """Turn an error of history into a warning: a page is written even when its history cannot be."""
    try:
        yield
    except (OSError, StorageError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        current_write().warnings.append(f"the earlier version was not kept in .history ({reason})")
