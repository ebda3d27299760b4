"""Keep an index up to date while pages change, and tell which did: at once where the file system tells of changes, by
looking every second where it does not.

What the file system tells is only a bell: it says that a look is worth it. So a burst of any size costs a few looks,
and nothing is missed that a look would find.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import NamedTuple

from ..errors import NotFound, Unavailable
from .embedding_service import EmbeddingService
from .events import Porch, elsewhere, mounts, remote, rings
from .freshness import Promise
from .handle import IndexView, SqliteIndexHandle
from .sync import IndexScope

_PULSE = 0.25  # seconds between looks at the few things that no bell rings for
_SWEEP = 1.0  # seconds between looks where there are no events
_RESTING = 10  # so many times as long as a look took, nothing is looked at: see `SqliteIndexHandle`
_LONGEST_REST = 0.5  # seconds
_SAFETY = 60.0  # seconds after which a look is taken though no bell rang
_BURST = 100  # paths in one go: more are coming
_BREATH = 1.0  # seconds to let them come
_OWED = 1.0  # seconds within which the bell rings for what such a look found; else there is none
_MANY = 1_000  # pages: after so much, bells may have been missed, and another look is taken
_RETRY = 30.0  # seconds after which events are tried again where there were none


class PageChanges(NamedTuple):
    """The paths of pages that changed, new ones among them, and of those that are gone."""

    changed: tuple[str, ...]
    removed: tuple[str, ...]


class WatchMode(NamedTuple):
    """How pages are watched: by events, or by looking every second, and why."""

    events: bool
    reason: str = ""


OnChange = Callable[[PageChanges], None]
Marks = Mapping[str, tuple[int, ...]]


def watch(
    follower: SqliteIndexHandle,
    stop: threading.Event,
    on_change: OnChange,
    embedding: EmbeddingService | None = None,
    on_start: Callable[[WatchMode], None] = lambda how: None,
) -> None:
    """Follow the pages until `stop` is set. `told` gets what changed, once it can be found; words and, with
    `meaning`, vectors. `starts` is called when watching begins, and when it goes on in another way.

    Every follower of the same index in this process relies on it meanwhile, and need not look itself.
    """
    home = os.path.dirname(follower.folder)
    if not os.path.isdir(home):
        raise NotFound(f"there is no memory at {home} yet: nothing can be watched")
    with closing(_Watcher(follower.another(), stop, on_change, embedding, on_start)) as watcher:
        watcher.run()


@contextmanager
def watch_in_background(
    follower: SqliteIndexHandle, on_change: OnChange, embedding: EmbeddingService | None = None
) -> Iterator[WatchMode]:
    """The same, in a thread of its own, for the time of a block; it begins once the pages are watched."""
    stop, started = threading.Event(), threading.Event()
    how: list[WatchMode] = []
    failed: list[BaseException] = []

    def begun(now: WatchMode) -> None:
        how.append(now)
        started.set()

    def run() -> None:
        try:
            watch(follower, stop, on_change, embedding, begun)
        except BaseException as error:  # noqa: BLE001  a thread has nobody to raise to: who started it does
            failed.append(error)
        finally:
            started.set()

    thread = threading.Thread(target=run, name="watch", daemon=True)
    thread.start()
    started.wait()
    try:
        if how:
            yield how[0]
    finally:
        stop.set()
        thread.join()
    if failed:
        raise failed[0]


class _Watcher:
    def __init__(
        self,
        own: SqliteIndexHandle,
        stop: threading.Event,
        on_change: OnChange,
        embedding: EmbeddingService | None,
        on_start: Callable[[WatchMode], None],
    ) -> None:
        self._own = own
        self._stop = stop
        self._on_change = on_change
        self._embedding = embedding
        self._on_start = on_start
        home, index = os.path.split(own.folder)
        home = os.path.realpath(home)  # as the system calls it that tells of changes
        self._ground = _Ground(home, own.scope)
        self._porch = Porch(os.path.join(home, index, "watching"))
        self._how: WatchMode | None = None
        self._known: dict[str, str] | None = None
        self._folders: Marks = {}
        self._pages: Marks = {}
        self._promise: Promise | None = None
        self._hears = self._again = self._over = self._testing = False
        self._looked = self._took = self._rested = self._pulsed = 0.0
        self._owed, self._deaf = float("inf"), ""

    def run(self) -> None:
        self._look()  # whatever changes from now on has something to be compared with
        while not self._stop.is_set():
            try:
                self._by_events()
            except Unavailable as error:
                self._by_looking(str(error))

    def close(self) -> None:
        if self._promise:
            self._promise.withdraw()
        self._porch.close()
        self._own.close()

    def _by_events(self) -> None:
        """Until the folders are others than before, or nobody tells of changes any more."""
        if self._deaf:
            raise Unavailable(self._deaf)
        self._ground.refuse_silence()
        self._porch.open()
        self._folders, self._hears, self._over = self._ground.folders(), False, False
        if other := elsewhere(list(self._folders), self._porch.folder):
            raise Unavailable(f"{other} lies on another file system than the index")
        with closing(rings(list(self._folders), self._porch, self._ended, self._due)) as bells:
            for paths, knocked in bells:
                # A folder that is made anew may be the same to all appearances, but nobody listens to it.
                self._over = self._over or not paths.isdisjoint((*self._folders, self._porch.folder))
                self._hears = self._hears or knocked
                pages = (path for path in paths if self._ground.matters(path, self._folders))
                rang = len(list(islice(pages, _BURST)))
                if rang or knocked:
                    self._answer(rang)
                if knocked:
                    self._begin(WatchMode(events=True))
        if self._deaf:
            raise Unavailable(self._deaf)

    def _answer(self, rang: int) -> None:
        """Look, after a rest in proportion: whoever writes without end does not keep us looking without end."""
        if self._promise:
            self._promise.withdraw()
        self._stop.wait(_BREATH if rang == _BURST else max(0.0, self._rested - time.monotonic()))
        found = self._look()
        if rang:
            self._owed = float("inf")
        elif found and self._testing:  # the bell for this is on its way, or there is none
            self._owed = time.monotonic() + _OWED
        self._testing = False

    def _due(self) -> bool:
        """Whether to look though no bell rang. Asked often, and mostly for nothing."""
        now = time.monotonic()
        if now < self._pulsed + _PULSE:
            return False
        self._pulsed = now
        self._over = self._over or not self._porch.stands() or self._ground.folders() != self._folders
        if now > self._owed:
            self._over, self._deaf = True, "pages changed that the file system did not tell of"
        asked = self._promise is not None and self._promise.asked
        known = (self._again and now > self._looked + _SWEEP) or asked or not self._own.in_place()
        known = known or self._ground.pages() != self._pages
        self._testing = not known and now > self._looked + _SAFETY
        if not known:
            self._renew()
        return not self._over and (known or self._testing)

    def _ended(self) -> bool:
        return self._over or self._stop.is_set()

    def _by_looking(self, reason: str) -> None:
        """Until it is worth trying events again."""
        self._hears = False
        self._begin(WatchMode(events=False, reason=reason))
        until, folders = time.monotonic() + _RETRY, self._ground.folders()
        while not self._stop.wait(max(_SWEEP, min(_RESTING * self._took, _RETRY))):
            self._look()
            if time.monotonic() > until or self._ground.folders() != folders:
                return

    def _begin(self, how: WatchMode) -> None:
        if how != self._how:
            self._how = how
            self._on_start(how)

    def _look(self) -> bool:
        """Bring the index up to date, and tell what changed in it, whoever wrote that there."""
        self._pages = self._ground.pages()
        self._own.invalidate()
        if self._promise:
            self._promise.withdraw()
            self._promise.asked = False  # by others, from now on
        started = time.monotonic()
        versions, stale = self._own.query(self._read)
        self._promise = self._own.promise()
        known, self._known = self._known, versions
        seen = _difference(versions if known is None else known, versions)
        count = len(seen.changed) + len(seen.removed)
        self._looked = time.monotonic()
        if known is not None and not count:
            self._took = self._looked - started
        self._again = stale or count > _MANY
        self._rested = self._looked + min(_LONGEST_REST, _RESTING * self._took)
        self._renew()
        if count:
            self._on_change(seen)
        return count > 0

    def _renew(self) -> None:
        """Let others rely on us, while bells ring and there is nothing left to do."""
        if self._promise and self._hears and not self._again and not self._over:
            self._promise.renew()

    def _read(self, view: IndexView) -> tuple[dict[str, str], bool]:
        if self._embedding:
            self._embedding.acquire(view.index)
        return view.index.versions(), view.stale


class _Ground:
    """Where the pages of a home are, on the disk."""

    def __init__(self, home: str, scope: IndexScope) -> None:
        self._home, self._scope = home, scope
        roots = scope.roots()
        every = {os.path.join(home, root.path) if root.path else home for root in roots if not root.is_page}
        self._every = [path for path in sorted(every) if not any(path.startswith(f"{other}/") for other in every)]
        self._single = [os.path.join(home, root.path) for root in roots if root.is_page]

    def folders(self) -> Marks:
        """The folders that are there, and which they are: one of the same name may take the place of another."""
        found = ((path, _info(path)) for path in self._every)
        return {path: (info.st_dev, info.st_ino) for path, info in found if info and stat.S_ISDIR(info.st_mode)}

    def pages(self) -> Marks:
        """The pages that stand in no such folder."""
        found = ((path, _info(path)) for path in self._single)
        return {path: (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns) for path, info in found if info}

    def matters(self, path: str, folders: Iterable[str]) -> bool:
        """Whether a change there may be one of a page: hidden files and what is no page are nobody's business."""
        path = path.replace(os.sep, "/")
        within = next((folder for folder in folders if f"{path}/".startswith(f"{folder}/")), None)
        if within is None or "/." in path[len(within) :]:
            return False
        inside = path[len(self._home) + 1 :]
        return self._scope.place(inside) is not None or not os.path.isfile(path)  # a folder, or something gone

    def refuse_silence(self) -> None:
        """Unavailable where changes are known to be told to nobody."""
        if not os.path.isdir(self._home):
            raise Unavailable(f"{self._home} is gone")
        if kind := remote(self._home, mounts()):
            raise Unavailable(f"{self._home} is on {kind}, which does not tell what other machines change")


def _info(path: str) -> os.stat_result | None:
    with suppress(OSError):
        return os.lstat(path)
    return None


def _difference(old: dict[str, str], new: dict[str, str]) -> PageChanges:
    changed = (path for path, version in new.items() if old.get(path) != version)
    return PageChanges(tuple(sorted(changed)), tuple(sorted(old.keys() - new.keys())))
