"""What a handle saw of a page and what history knows of it: earlier versions are kept, and nobody's change is lost
unnoticed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..errors import NotFound, StorageError
from .author import current
from .deltas import as_text, version_of
from .history import Past
from .merge import lost, merge


class Witness:
    """All but `saw` is called by who holds the lock of the page. Without a history nothing is kept."""

    def __init__(self, history: Past | None) -> None:
        self.history = history
        self._seen: dict[str, str] = {}

    def saw(self, path: str, version: str) -> None:
        """Who will write next has read this version."""
        self._seen[path] = version

    def forget(self, path: str) -> None:
        self._seen.pop(path, None)

    def found(self, path: str, data: bytes | None, saved: float | None) -> None:
        """What stands there, before it is replaced: if history does not have it, a hand made it."""
        if self.history:
            with _without_history():
                change = self.history.noticed(path, data, saved)
                if change and change.why:
                    sentence = f"{path}: a save by hand {change.why}: `commonplace diff {change.id}` shows it"
                    current().conflicts.append(sentence)

    def kept(self, path: str, old: bytes | None, new: bytes | None) -> None:
        """What a page became."""
        if self.history:
            with _without_history():
                self.history.changed(path, old, new, current().signature)

    def rewritten(self, path: str, old: bytes | None, text: str) -> str:
        """A whole page as it shall be: with what others changed elsewhere on it since it was read."""
        self._tell_unseen(path, old)
        base = self._base(path, old)
        merged = None if base is None or old is None else merge(base, as_text(old), text)
        if merged is None or merged == text:
            return text
        current().warnings.append(f"{path} had changed since you read it: both changes are in it now")
        return merged

    def replaced(self, path: str, old: bytes | None, new: bytes) -> None:
        """Say so if what others wrote since this handle looked is not there any more."""
        base = self._base(path, old)
        if base is not None and old is not None and lost(base, as_text(old), as_text(new)):
            _conflict(path, "had changed since you read it, and some of that is not in it any more")

    def _base(self, path: str, old: bytes | None) -> str | None:
        """What this handle last saw of a page, when that is not what stands there."""
        version = self._seen.get(path)
        if version is None or self.history is None or version == version_of(old):
            return None
        with suppress(NotFound, OSError):
            return as_text(self.history.content(path, version))
        return None

    def _tell_unseen(self, path: str, old: bytes | None) -> None:
        """A whole page is replaced that this handle never read, and that somebody else wrote last."""
        if path in self._seen or not (old or b"").strip() or self.history is None:
            return
        head = None
        with _without_history():
            head = self.history.head(path)
        if head is None or head.version != version_of(old) or head.by.agent != current().signature.agent:
            _conflict(path, "was written by somebody else, and you had not read it")


def _conflict(path: str, what: str) -> None:
    sentence = f"{path} {what}: `commonplace diff {path}` shows both, `commonplace undo` takes yours back"
    if sentence not in current().conflicts:
        current().conflicts.append(sentence)


@contextmanager
def _without_history() -> Iterator[None]:
    """Memory is written whether or not history can be: it is said, and no more."""
    try:
        yield
    except (OSError, StorageError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        current().warnings.append(f"the earlier version was not kept in .history ({reason})")
