"""Several worker processes behind one listening socket: started, restarted when one dies, and ended together.

The parent serves nothing itself. A worker is a fork of it, so the parent opens neither memories nor threads. When the
parent is killed, the workers notice and end by themselves.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

from ..errors import InvalidArgument, StorageError

MAX_WORKERS = 64
CAN_FORK = hasattr(os, "fork")
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_MIN_LIFE_SECONDS = 5.0  # a worker that ends sooner did not get to work
_MAX_FAILED_STARTS = 5  # in a row
_RETRY_SECONDS = 0.5

Work = Callable[[int], None]  # what a worker does until a signal ends it, given its number from 0 on
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
        self._started_at: dict[int, float] = {}  # by the number of a worker
        self._failed_starts = 0
        self._signal = 0  # the one that ends all of them
        self._is_parent_gone, self._parent_lives = os.pipe()  # nobody ever writes: the end of the parent closes it

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
        """Pass the end on to all workers: each finishes what it has begun."""
        self._signal = number
        for process in self._workers:
            os.kill(process, signal.SIGTERM)

    def _start(self, number: int) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # until it is clear whom a signal is for
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
            os.setpgid(0, 0)  # an interrupt from the keyboard reaches the parent, which passes it on
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
