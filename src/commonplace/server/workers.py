"""Several worker processes behind one listening socket: started, restarted when one dies, and ended together.

The parent serves nothing itself. A worker is a fork of it, so the parent opens neither memories nor threads. When the
parent is killed, the workers notice and end by themselves.

Workers share what they counted, requests and rate limits, in small files of a private folder. One may be killed at any
time: what it had counted up to the last second stays, and it leaves no lock behind.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import shutil
import signal
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from ..errors import InvalidArgument, StorageError
from .metrics import Counts, Metrics
from .rate_limits import Bucket, ServerBuckets

try:
    import fcntl
except ImportError:  # Windows, which cannot fork either
    fcntl = None  # type: ignore[assignment]

MAX_WORKERS = 64
CAN_FORK = hasattr(os, "fork")
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_MIN_LIFE_SECONDS = 5.0  # a worker that ends sooner counts as a failed start
_MAX_FAILED_STARTS = 5  # consecutive ones, before the server gives up
_RETRY_SECONDS = 0.5

Work = Callable[[int], None]  # runs in a worker until a signal ends it; takes the worker's number, from 0
Report = Callable[[str], None]


def run_workers(count: int, work: Work, report: Report) -> int:
    """Run `count` workers until a signal ends all of them, and return the signal.

    Raises StorageError if they end as soon as they start.
    """
    if not CAN_FORK:
        raise InvalidArgument("this system cannot fork, which --workers needs: leave it out")
    return _Supervisor(work, report).run(count)


class _Supervisor:
    def __init__(self, work: Work, report: Report) -> None:
        self._work = work
        self._report = report
        self._workers: dict[int, int] = {}  # the number of a worker by its process
        self._started_at: dict[int, float] = {}  # keyed by the worker's number
        self._failed_starts = 0
        self._signal = 0  # the one that ends all of them
        self._is_parent_gone, self._parent_lives = os.pipe()  # never written to: it closes when the parent exits

    def run(self, count: int) -> int:
        handlers = {number: signal.signal(number, self._end) for number in _SIGNALS}
        try:
            for number in range(count):
                self._start(number)
            while self._workers:
                self._replace(*os.wait())
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        if self._failed_starts >= _MAX_FAILED_STARTS:
            raise StorageError("the workers of this server end as soon as they start: its standard error says why")
        return self._signal

    def _end(self, number: int, _frame: FrameType | None) -> None:
        """Pass the signal on to all workers: each finishes what it has begun."""
        self._signal = number
        for process in self._workers:
            os.kill(process, signal.SIGTERM)

    def _start(self, number: int) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # until parent and child know which of them a signal is for
        try:
            process = os.fork()
            if process == 0:
                self._run_worker(number)
            self._workers[process] = number
            self._started_at[number] = time.monotonic()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def _run_worker(self, number: int) -> None:
        """Do the work of a worker in a new process, which ends with it."""
        status = 1
        try:
            os.close(self._parent_lives)
            os.setpgid(0, 0)  # Ctrl-C reaches the parent, which passes it on
            for each in _SIGNALS:
                signal.signal(each, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            threading.Thread(target=self._end_with_parent, name="parent", daemon=True).start()
            self._work(number)
            status = 0
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else 1
        except BaseException as error:  # noqa: BLE001  whatever it is, only this process ends
            sys.excepthook(type(error), error, error.__traceback__)
        finally:
            sys.stderr.flush()
            os._exit(status)

    def _end_with_parent(self) -> None:
        os.read(self._is_parent_gone, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _replace(self, process: int, status: int) -> None:
        """Start another worker in place of one that ended, unless all are to end."""
        number = self._workers.pop(process, None)
        if number is None or self._signal:
            return
        lived = time.monotonic() - self._started_at[number]
        self._failed_starts = self._failed_starts + 1 if lived < _MIN_LIFE_SECONDS else 0
        code = os.waitstatus_to_exitcode(status)
        cause = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        if self._failed_starts >= _MAX_FAILED_STARTS:
            self._report(f"worker {number} {cause}")
            self._end(signal.SIGTERM, None)
            return
        self._report(f"worker {number} {cause}: another one takes its place")
        if self._failed_starts:
            time.sleep(_RETRY_SECONDS)
        if not self._signal:
            self._start(number)


WRITE_SECONDS = 1.0  # how often a worker writes what it counted
_FOLDER_PREFIX = "commonplace-workers-"
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_COUNTS_PREFIX = "counts-"
TOKENS_FILE = "tokens"  # the rate limits of tokens
WRITES_FILE = "writes"  # the quotas of tokens
BYTES_FILE = "bytes"
SIGN_INS_FILE = "sign-ins"  # failed sign-ins by address: they cannot displace the buckets of tokens
_SLOT = struct.Struct("=8sdd")  # a hash of the key, what is left, and at which time
_SLOTS = 4096
_PROBES = 16  # slots that a key may be in


@contextmanager
def open_worker_state() -> Iterator[str]:
    """Yield a new folder that only this user can read, and remove it at the end. Those of servers that were killed are
    removed first."""
    _remove_abandoned()
    folder, lock = _make_folder()
    process = os.getpid()
    try:
        for name in (TOKENS_FILE, WRITES_FILE, BYTES_FILE, SIGN_INS_FILE):
            with open(os.path.join(folder, name), "wb") as file:
                file.truncate(_SLOTS * _SLOT.size)
        yield folder
    finally:
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def _make_folder() -> tuple[str, int]:
    """Return a new folder with a lock that the server and its workers hold until they end."""
    while True:
        folder = tempfile.mkdtemp(prefix=_FOLDER_PREFIX)  # created with mode 0700
        with suppress(FileNotFoundError):  # another server found it before it was locked
            lock = os.open(folder, _OPEN_FOLDER)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.isdir(folder):
                return folder, lock
            os.close(lock)


def _remove_abandoned() -> None:
    """Remove the folders of this user that no server holds."""
    for name in os.listdir(tempfile.gettempdir()):
        if name.startswith(_FOLDER_PREFIX):
            with suppress(OSError):  # belongs to another user, or is in use
                _remove_unless_locked(os.path.join(tempfile.gettempdir(), name))


def _remove_unless_locked(folder: str) -> None:
    handle = os.open(folder, _OPEN_FOLDER)
    try:
        if os.fstat(handle).st_uid == os.getuid():
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
    finally:
        os.close(handle)


class SharedMetrics:
    """The metrics of all workers: this one's as they are, the others' as they were a second ago at most.

    The file of a worker that died stays, so that no count ever falls.
    """

    def __init__(self, metrics: Metrics, folder: str) -> None:
        self._metrics = metrics
        self._folder = folder
        self._name = f"{_COUNTS_PREFIX}{os.getpid()}.json"
        self._is_closed = threading.Event()
        self._written: object = None
        threading.Thread(target=self._keep_writing, name="counts", daemon=True).start()

    def render(self) -> str:
        """Return the sum over all workers in Prometheus' text format."""
        counts = self._metrics.read()
        for other in self._read_others():
            counts.add_all(other)
        return counts.render()

    def _read_others(self) -> Iterator[Counts]:
        for name in os.listdir(self._folder):
            if name.startswith(_COUNTS_PREFIX) and name.endswith(".json") and name != self._name:
                with suppress(OSError, ValueError), open(os.path.join(self._folder, name), encoding="utf-8") as file:
                    yield Counts.from_json(json.load(file))

    def _keep_writing(self) -> None:
        while not self._is_closed.wait(WRITE_SECONDS):
            self.write()

    def write(self) -> None:
        """Publish this worker's counts for the others, unless nothing is new."""
        data = self._metrics.read().to_json()
        if data == self._written:
            return
        path = os.path.join(self._folder, self._name)
        with suppress(OSError):  # the server ends
            with open(f"{path}.new", "w", encoding="utf-8") as file:
                json.dump(data, file)
            os.replace(f"{path}.new", path)
            self._written = data

    def close(self) -> None:
        self._is_closed.set()
        self.write()


def open_buckets(folder: str) -> ServerBuckets:
    """Open the buckets that all workers share."""
    return ServerBuckets(
        requests=SharedBuckets(folder, TOKENS_FILE),
        writes=SharedBuckets(folder, WRITES_FILE),
        added=SharedBuckets(folder, BYTES_FILE),
        sign_ins=SharedBuckets(folder, SIGN_INS_FILE),
    )


class SharedBuckets:
    """Rate limits in a file that all workers map, so that a request counts once, whichever worker gets it."""

    def __init__(self, folder: str, name: str) -> None:
        self._file = os.open(os.path.join(folder, name), os.O_RDWR | os.O_CLOEXEC)
        self._map = mmap.mmap(self._file, _SLOTS * _SLOT.size)

    @contextmanager
    def lock(self) -> Iterator[None]:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def get(self, key: str) -> Bucket | None:
        digest = _hash(key)
        name, left, at = _SLOT.unpack_from(self._map, self._find(digest))
        return Bucket(left, at) if name == digest else None

    def put(self, key: str, bucket: Bucket) -> None:
        digest = _hash(key)
        _SLOT.pack_into(self._map, self._find(digest), digest, bucket.left, bucket.at)

    def _find(self, digest: bytes) -> int:
        """Return the slot of a key: its own, or else a free one, or the least recently used one."""
        start = int.from_bytes(digest[:4], "little")
        places = [(start + step) % _SLOTS * _SLOT.size for step in range(_PROBES)]
        slots = [_SLOT.unpack_from(self._map, place) for place in places]
        for place, (name, _, _) in zip(places, slots, strict=True):
            if name == digest:
                return place
        _, oldest = min((at, place) for place, (_, _, at) in zip(places, slots, strict=True))
        return oldest


def _hash(key: str) -> bytes:
    return hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=8).digest()


def claim(folder: str, name: str) -> bool:
    """Return whether this is the first worker to claim a name."""
    try:
        os.close(os.open(os.path.join(folder, f"claim-{name}"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    return True
