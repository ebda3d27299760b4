"""Keep an index up to date while pages change, and report what changed.

File system events (through `watchfiles`) only say that a sweep is worth it; the sweep finds what changed. So a burst of
any size costs a few sweeps, and nothing is missed that a sweep would find. Whether events arrive at all is tested with
an `EventProbe`: a file we create has to be reported. Where they do not, the pages are swept every second.
"""

from __future__ import annotations

import os
import re
import stat
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import NamedTuple

from ..errors import NotFound, Unavailable
from ..storage.files import make_folders
from .embedding_service import EmbeddingService
from .handle import FreshnessLease, IndexHandle, IndexView, SqliteIndexHandle
from .sync import IndexScope

_CHECK_SECONDS = 0.25  # between checks of what no event reports: watched folders, single pages, the index file
_POLL_SECONDS = 1.0  # between sweeps if there are no events
_REST_FACTOR = 10  # pause this many times as long as a sweep took: see `SqliteIndexHandle`
_MAX_REST_SECONDS = 0.5
_SAFETY_SWEEP_SECONDS = 60.0  # between sweeps without an event, which test whether events are missed
_BURST_PATHS = 100  # this many changes at once announce more …
_BURST_PAUSE_SECONDS = 1.0  # … so wait for them
_LATE_EVENT_SECONDS = 1.0  # the event for a change that a sweep found must come by then, or events are broken
_MANY_PAGES = 1_000  # after this many changes events may have been dropped, and another sweep follows
_RETRY_SECONDS = 30.0  # until events are tried again if there were none
_PROBE_TIMEOUT_SECONDS = 2.0  # the event of a probe arrives within this, even on a busy machine
_MIN_PROBE_CHECKS = 20  # before a probe is overdue: a process that was suspended has not looked for its event
_QUIET_MILLISECONDS = 50  # events are delivered after a pause this long …
_MAX_DELAY_MILLISECONDS = 300  # … or after this wait at the latest
# Other machines can write to these file systems, and no event reports it.
_REMOTE_FILE_SYSTEMS = (
    "nfs",
    "cifs",
    "smb",
    "9p",
    "afs",
    "ceph",
    "fuse",
    "gluster",
    "lustre",
    "virtiofs",
    "vboxsf",
    "prl_fs",
    "drvfs",
)


class PageChanges(NamedTuple):
    """The paths of pages that changed, new ones among them, and of those that are gone."""

    changed: tuple[str, ...]
    removed: tuple[str, ...]


class WatchMode(NamedTuple):
    """How pages are watched: by events, or by polling, and why."""

    events: bool
    reason: str = ""


OnChange = Callable[[PageChanges], None]
OnStart = Callable[[WatchMode], None]
FileIds = Mapping[str, tuple[int, ...]]


def _ignore_mode(_: WatchMode) -> None:
    """Report the mode to nobody."""


def watch(
    handle: SqliteIndexHandle,
    stop: threading.Event,
    on_change: OnChange,
    embedding: EmbeddingService | None = None,
    on_start: OnStart = _ignore_mode,
) -> None:
    """Watch the pages until `stop` is set, and report each change once search finds it: by words and, with `embedding`,
    by vectors. `on_start` is called when watching begins, and when it continues in another mode.

    Meanwhile, searches in this process on the same index need not sweep.
    """
    home = os.path.dirname(handle.folder)
    if not os.path.isdir(home):
        raise NotFound(f"there is no memory at {home} yet: nothing can be watched")
    with closing(_Watcher(handle.clone(), stop, on_change, embedding, on_start)) as watcher:
        watcher.run()


@contextmanager
def watch_in_background(
    handle: IndexHandle, on_change: OnChange, embedding: EmbeddingService | None = None
) -> Iterator[WatchMode]:
    """Watch in a thread for the duration of a block, which begins once the pages are watched."""
    stop = threading.Event()
    started = threading.Event()
    modes: list[WatchMode] = []
    failures: list[BaseException] = []

    def on_start(mode: WatchMode) -> None:
        modes.append(mode)
        started.set()

    def run() -> None:
        try:
            handle.watch(stop, on_change, embedding, on_start)
        except BaseException as error:  # noqa: BLE001  raised again in the thread that started this one
            failures.append(error)
        finally:
            started.set()

    thread = threading.Thread(target=run, name="watch", daemon=True)
    thread.start()
    started.wait()
    try:
        if modes:
            yield modes[0]
    finally:
        stop.set()
        thread.join()
    if failures:
        raise failures[0]


class _Watcher:
    """Alternates between `_watch_by_events` and `_watch_by_polling`; `_sweep` is the step both share."""

    def __init__(
        self,
        handle: SqliteIndexHandle,
        stop: threading.Event,
        on_change: OnChange,
        embedding: EmbeddingService | None,
        on_start: OnStart,
    ) -> None:
        self._handle = handle
        self._stop = stop
        self._on_change = on_change
        self._embedding = embedding
        self._on_start = on_start
        home, index_folder = os.path.split(handle.folder)
        home = os.path.realpath(home)  # events have real paths
        self._tree = _WatchedTree(home, handle.scope)
        self._probe = EventProbe(os.path.join(home, index_folder, "watching"))
        self._mode: WatchMode | None = None
        self._lease: FreshnessLease | None = None
        self._versions: dict[str, str] | None = None  # all pages as of the last sweep
        self._folders: FileIds = {}
        self._single_pages: FileIds = {}
        self._events_work = False  # a probe was reported
        self._restart = False  # the watched folders have changed
        self._sweep_again = False  # the last sweep may have missed something
        self._is_safety_sweep = False
        self._swept_at = 0.0
        self._sweep_seconds = 0.0
        self._rest_until = 0.0
        self._checked_at = 0.0
        self._event_due_at = float("inf")  # deadline for the event of a change that a sweep found
        self._broken = ""  # why events cannot be trusted

    def run(self) -> None:
        self._sweep()  # the state that later changes are compared with
        while not self._stop.is_set():
            try:
                self._watch_by_events()
            except Unavailable as error:
                self._watch_by_polling(str(error))

    def close(self) -> None:
        if self._lease:
            self._lease.end()
        self._probe.close()
        self._handle.close()

    def _watch_by_events(self) -> None:
        """Return when the watched folders change; raise Unavailable when there are no events, or no more."""
        self._require_events()
        self._tree.require_local()
        self._probe.open()
        self._folders = self._tree.folders()
        self._events_work = False
        self._restart = False
        if other := _on_other_device(list(self._folders), self._probe.folder):
            raise Unavailable(f"{other} lies on another file system than the index")
        with closing(_read_events(list(self._folders), self._probe, self._is_over, self._is_sweep_due)) as events:
            for paths, is_probe in events:
                # A folder that was removed and made again looks the same, but its events no longer reach us.
                self._restart = self._restart or not paths.isdisjoint((*self._folders, self._probe.folder))
                self._events_work = self._events_work or is_probe
                may_be_pages = (path for path in paths if self._tree.may_be_page(path, self._folders))
                touched = list(islice(may_be_pages, _BURST_PATHS))
                if touched or is_probe:
                    self._handle_events(touched)
                if is_probe:
                    self._set_mode(WatchMode(events=True))
        self._require_events()

    def _require_events(self) -> None:
        if self._broken:
            raise Unavailable(self._broken)

    def _handle_events(self, touched: Sequence[str]) -> None:
        """Sweep, after a pause in proportion to the last sweep: constant writing must not cause constant sweeping."""
        if self._lease:
            self._lease.end()
        is_burst = len(touched) == _BURST_PATHS
        self._stop.wait(_BURST_PAUSE_SECONDS if is_burst else max(0.0, self._rest_until - time.monotonic()))
        has_changes = self._sweep(touched)
        if touched:
            self._event_due_at = float("inf")
        elif has_changes and self._is_safety_sweep:  # its event will follow, or events are broken
            self._event_due_at = time.monotonic() + _LATE_EVENT_SECONDS
        self._is_safety_sweep = False

    def _is_sweep_due(self) -> bool:
        """Return whether to sweep although no event came. Called many times a second."""
        now = time.monotonic()
        if now < self._checked_at + _CHECK_SECONDS:
            return False
        self._checked_at = now
        self._restart = self._restart or not self._probe.exists() or self._tree.folders() != self._folders
        if now > self._event_due_at:
            self._restart = True
            self._broken = "pages changed that the file system did not report"
        revoked = self._lease is not None and self._lease.revoked
        repeat = self._sweep_again and now > self._swept_at + _POLL_SECONDS
        needed = repeat or revoked or not self._handle.is_current_file()
        needed = needed or self._tree.single_pages() != self._single_pages
        self._is_safety_sweep = not needed and now > self._swept_at + _SAFETY_SWEEP_SECONDS
        if not needed:
            self._renew_lease()
        return not self._restart and (needed or self._is_safety_sweep)

    def _is_over(self) -> bool:
        return self._restart or self._stop.is_set()

    def _watch_by_polling(self, reason: str) -> None:
        """Return when it is worth trying events again."""
        self._events_work = False
        self._set_mode(WatchMode(events=False, reason=reason))
        retry_at = time.monotonic() + _RETRY_SECONDS
        folders = self._tree.folders()
        while not self._stop.wait(max(_POLL_SECONDS, min(_REST_FACTOR * self._sweep_seconds, _RETRY_SECONDS))):
            self._sweep()
            if time.monotonic() > retry_at or self._tree.folders() != folders:
                return

    def _set_mode(self, mode: WatchMode) -> None:
        if mode != self._mode:
            self._mode = mode
            self._on_start(mode)

    def _sweep(self, touched: Sequence[str] = ()) -> bool:
        """Bring the index up to date and report what changed in it, even if another process indexed it. Of the paths
        that events named, those of pages that came and went since the last sweep are reported as well: somebody may
        have read them."""
        self._single_pages = self._tree.single_pages()
        self._handle.invalidate()
        if self._lease:
            self._lease.end()
            self._lease.revoked = False  # a later revocation is about changes after this sweep
        started = time.monotonic()
        versions, is_stale = self._handle.query(self._read_versions)
        self._lease = self._handle.freshness_lease()
        is_first = self._versions is None
        changes = _compare(versions if self._versions is None else self._versions, versions)
        changes = changes._replace(removed=tuple(sorted({*changes.removed, *self._tree.find_gone(touched)})))
        self._versions = versions
        count = len(changes.changed) + len(changes.removed)
        self._swept_at = time.monotonic()
        if not is_first and not count:
            self._sweep_seconds = self._swept_at - started
        self._sweep_again = is_stale or count > _MANY_PAGES
        self._rest_until = self._swept_at + min(_MAX_REST_SECONDS, _REST_FACTOR * self._sweep_seconds)
        self._renew_lease()
        if count:
            self._on_change(changes)
        return count > 0

    def _renew_lease(self) -> None:
        """Renew the lease while events arrive and nothing is left to do, so that searches rely on this watcher."""
        if self._lease and self._events_work and not self._sweep_again and not self._restart:
            self._lease.renew()

    def _read_versions(self, view: IndexView) -> tuple[dict[str, str], bool]:
        if self._embedding:
            self._embedding.acquire(view.index)
        return view.index.versions(), view.stale


class EventProbe:
    """A folder of ours beside the pages, in which we create files to see whether their events arrive."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._file = ""  # the probe file whose event is awaited
        self._sent_at = 0.0
        self._checks = 0  # since it was sent
        self._count = 0
        self._folder_id = (0, 0)

    def open(self) -> None:
        """Create the folder; raise Unavailable if that is impossible."""
        self._remove_file()
        try:
            if os.path.islink(os.path.dirname(self.folder)) or os.path.islink(self.folder):
                raise Unavailable(f"{self.folder} is a link and was not used")
            make_folders(self.folder)
            self._folder_id = _file_id(self.folder)
        except OSError as error:
            raise Unavailable(f"{self.folder} cannot be made ({error.strerror})") from error

    def exists(self) -> bool:
        """Return whether the folder is still the one that was opened."""
        with suppress(OSError):
            return _file_id(self.folder) == self._folder_id
        return False

    def send(self) -> None:
        """Create a file whose event should arrive, unless one is awaited."""
        if self._file:
            return
        self._count += 1
        self._file = f"{self.folder}/{os.getpid()}-{id(self):x}-{self._count}"
        self._sent_at = time.monotonic()
        self._checks = 0
        os.close(os.open(self._file, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))

    def receive(self, paths: set[str]) -> bool:
        """Return whether the awaited event is among these."""
        if not self._file or self._file not in paths:
            return False
        self._remove_file()
        return True

    def is_overdue(self) -> bool:
        """Return whether the awaited event should have come. Called many times a second."""
        self._checks += 1
        is_late = self._checks > _MIN_PROBE_CHECKS and time.monotonic() > self._sent_at + _PROBE_TIMEOUT_SECONDS
        return bool(self._file) and is_late

    def close(self) -> None:
        self._remove_file()
        with suppress(OSError):  # other watchers may use it
            os.rmdir(self.folder)

    def _remove_file(self) -> None:
        if self._file:
            with suppress(OSError):
                os.unlink(self._file)
        self._file = ""


class _PeriodicCheck:
    """The stop event that `watchfiles` polls twenty times a second, used as our timer: it also sends the probes."""

    def __init__(self, probe: EventProbe, is_over: Callable[[], bool], is_sweep_due: Callable[[], bool]) -> None:
        self._probe = probe
        self._is_over = is_over
        self._is_sweep_due = is_sweep_due
        self._is_first = True

    def is_set(self) -> bool:
        if self._is_first or self._is_sweep_due():
            self._is_first = False
            self._probe.send()
        return self._probe.is_overdue() or self._is_over()


def _read_events(
    folders: Sequence[str], probe: EventProbe, is_over: Callable[[], bool], is_sweep_due: Callable[[], bool]
) -> Generator[tuple[set[str], bool], None, None]:
    """Yield the paths of each batch of events, and whether a probe was among them: one is sent at the start, and
    whenever a sweep is due. Ends when `is_over`; raises Unavailable if there are no events, or no more.
    """
    try:
        import watchfiles
    except ImportError as error:
        raise Unavailable("watchfiles is not installed: pip install 'commonplace[watch]'") from error
    batches = watchfiles.watch(
        *folders,
        probe.folder,
        watch_filter=None,
        debounce=_MAX_DELAY_MILLISECONDS,
        step=_QUIET_MILLISECONDS,
        stop_event=_PeriodicCheck(probe, is_over, is_sweep_due),
        rust_timeout=0,
        force_polling=False,
        ignore_permission_denied=True,
    )
    try:
        for batch in batches:
            paths = {path for _, path in batch}
            yield paths, probe.receive(paths)
    except (OSError, RuntimeError) as error:  # too many folders, one just removed, a name that is not text
        raise Unavailable(f"the file system does not report changes ({error})") from error
    if probe.is_overdue():
        raise Unavailable("the file system does not report changes")


class _WatchedTree:
    """The folders and pages of a home that are watched."""

    def __init__(self, home: str, scope: IndexScope) -> None:
        self._home = home
        self._scope = scope
        roots = scope.roots()
        folders = {os.path.join(home, root.path) if root.path else home for root in roots if not root.is_page}
        self._roots = [path for path in sorted(folders) if not any(path.startswith(f"{other}/") for other in folders)]
        self._pages = [os.path.join(home, root.path) for root in roots if root.is_page]

    def folders(self) -> FileIds:
        """Return the folders that exist, with device and inode: one may be replaced by another of the same name."""
        infos = ((path, _stat(path)) for path in self._roots)
        return {path: (info.st_dev, info.st_ino) for path, info in infos if info and stat.S_ISDIR(info.st_mode)}

    def single_pages(self) -> FileIds:
        """Return the state of the pages that are in none of these folders, for which no event comes."""
        infos = ((path, _stat(path)) for path in self._pages)
        return {path: (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns) for path, info in infos if info}

    def may_be_page(self, path: str, folders: Iterable[str]) -> bool:
        """Return whether a change of this path may be one of a page; hidden files and other files are ignored."""
        path = path.replace(os.sep, "/")
        within = next((folder for folder in folders if f"{path}/".startswith(f"{folder}/")), None)
        if within is None or "/." in path[len(within) :]:
            return False
        return self._scope.place(self._inside(path)) is not None or not os.path.isfile(
            path
        )  # a folder, or something gone

    def find_gone(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield those paths of pages at which nothing exists, as the index names them."""
        for path in paths:
            inside = self._inside(path)
            if self._scope.place(inside) is not None and not os.path.lexists(path):
                yield inside

    def _inside(self, path: str) -> str:
        return path.replace(os.sep, "/")[len(self._home) + 1 :]

    def require_local(self) -> None:
        """Raise Unavailable if changes may come without events."""
        if not os.path.isdir(self._home):
            raise Unavailable(f"{self._home} no longer exists")
        if kind := remote_file_system(self._home, read_mounts()):
            raise Unavailable(f"{self._home} is on {kind}, which does not report what other machines change")


def remote_file_system(folder: str, mounts: str) -> str:
    """Return the type of the remote file system that a folder is on, by the table of mounts; empty if it is local."""
    best = ""
    kind = ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) > 2:
            mounted = re.sub(r"\\([0-7]{3})", _decode_octal, fields[1]).rstrip("/")
            if f"{folder}/".startswith(f"{mounted}/") and len(mounted) >= len(best):
                best = mounted
                kind = fields[2]
    return kind if kind.startswith(_REMOTE_FILE_SYSTEMS) else ""


def _decode_octal(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 8))


def read_mounts() -> str:
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as table:
            return table.read()
    except OSError:
        return ""


def _on_other_device(folders: Sequence[str], probe_folder: str) -> str:
    """Return the first folder that is on another file system than the probe: the probe does not test its events."""
    with suppress(OSError):
        device = os.stat(probe_folder).st_dev
        return next((folder for folder in folders if os.stat(folder).st_dev != device), "")
    return probe_folder


def _file_id(path: str) -> tuple[int, int]:
    info = os.lstat(path)
    return info.st_dev, info.st_ino


def _stat(path: str) -> os.stat_result | None:
    with suppress(OSError):
        return os.lstat(path)
    return None


def _compare(old: dict[str, str], new: dict[str, str]) -> PageChanges:
    changed = (path for path, version in new.items() if old.get(path) != version)
    return PageChanges(tuple(sorted(changed)), tuple(sorted(old.keys() - new.keys())))
