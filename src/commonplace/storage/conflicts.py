"""What every backend does with a page around a write: text to bytes and back, and conflict detection.

Conflict detection compares what a handle has read of a page with what history knows, so that no change by somebody
else is lost silently.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from ..caching import ByteCache
from ..errors import CommonplaceError, NotFound, NotText, PageNotFound, StaleVersion, StorageError
from ..model import Page
from ..wording import format_command
from .base import HistoryStore, PageElsewhere, Pages, Paths
from .history import as_text, current_write, needs_approval, version_of
from .merge import loses_changes

_READ_VERSION_BYTES = 1_000_000  # cache of the versions that one handle has read

ByteChange = Callable[[bytes | None], bytes | None]  # None: the page is absent, or nothing is to be written


def decode_text(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 text (byte {error.start})"
        raise NotText(problem, path=path, advice="save it as UTF-8, or try `commonplace doctor --fix`") from error


def change_text(path: str, change: Callable[[str], str]) -> ByteChange:
    """Return a change of text as one of bytes."""

    def change_bytes(old: bytes | None) -> bytes | None:
        new = change("" if old is None else decode_text(old, path)).encode()
        return new if new or old is not None else None  # an absent page that would be empty is not created

    return change_bytes


def split_unique_path(path: str) -> tuple[str, str, str]:
    """Return the folder of the folders that may hold a page of this name, the page's own folder in it, and the name."""
    siblings, folder, name = path.rsplit("/", 2)
    return siblings, folder, name


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
                    sentence = f"{path}: a manual save {change.why}: `commonplace diff {change.id}` shows it"
                    current_write().conflicts.append(sentence)

    def record_change(self, path: str, old: bytes | None, new: bytes | None) -> None:
        """Record the new version of a page in history."""
        if self.history:
            with _history_failure_as_warning():
                self.history.record_change(path, old, new, current_write().author)

    def record_unapproved(self, path: str, old: bytes | None, new: bytes) -> bool:
        """Record a change before it is written if the author's rules need approval: without that record in history, the
        rule would be in force. Return whether it was recorded; if recording fails, the page is not written.
        """
        author = current_write().author
        if not self.history or not needs_approval(author.origin):
            return False
        self.history.record_change(path, old, new, author)
        return True

    def report_lost_changes(self, path: str, old: bytes | None, new: bytes) -> None:
        """Report a conflict if the new text drops something that others wrote since this handle read the page."""
        base = self._base(path, old)
        if base is not None and old is not None and loses_changes(base, as_text(old), as_text(new)):
            _report_conflict(path, "had changed since you read it, and some of those changes are no longer in it")

    def _base(self, path: str, old: bytes | None) -> str | None:
        """Return the text this handle last read, or None when the page has not changed since."""
        version = self._read_versions.get(path)
        if version is None or self.history is None or version == version_of(old):
            return None
        with suppress(NotFound, StorageError):
            return as_text(self.history.read_version(path, version))
        return None


class TextPages(Pages):
    """Pages of a backend that can change the bytes of a page: the verbs that write text."""

    def __init__(self, conflicts: ConflictDetector) -> None:
        self._conflicts = conflicts

    @abstractmethod
    def change_bytes(self, path: str, change: ByteChange) -> str:
        """Read, change and write a page and return its version.

        Nothing is written when `change` returns the same bytes, or None.
        """

    def page_reader(self, paths: Sequence[str]) -> Callable[[str], Page]:
        return self.read

    def list_folders_with(self, folder: str, names: Sequence[str]) -> Paths:
        return [
            each for each in self.list_folders(folder) if any(self._has(f"{folder}/{each}/{name}") for name in names)
        ]

    def _has(self, path: str) -> bool:
        try:
            self.modified_at(path)
        except PageNotFound:
            return False
        except CommonplaceError:  # whoever reads it will say what is wrong
            return True
        return True

    def _normalize(self, path: str) -> str:
        """Return the canonical form of a path, under which the backend stores the page."""
        return path

    def write(self, path: str, text: str, if_version: str | None = None) -> str:
        def replace_bytes(old: bytes | None) -> bytes:
            if if_version is not None and version_of(old) != if_version:
                raise StaleVersion(path)
            current_write().replaced = as_text(old)  # so that nobody has to read it again
            return text.encode()

        return self.change_bytes(path, replace_bytes)

    def edit(self, path: str, change: Callable[[str], str]) -> str:
        return self.change_bytes(path, change_text(path, change))

    def edit_unique(self, path: str, change: Callable[[str], str], lock: str) -> str:
        with self.lock(lock):
            siblings, folder, name = split_unique_path(path)
            if {*self.list_folders_with(siblings, [name])} - {folder}:
                raise PageElsewhere(path)
            return self.edit(path, change)

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
    sentence = f"{path} {what}: `{format_command('diff', path)}` shows both, `commonplace undo` takes yours back"
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
