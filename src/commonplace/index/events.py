"""What the file system tells of itself, through `watchfiles`: that something changed, and roughly where.

Whether it tells at all is tried, not believed: a knock (a file made in a folder of ours) has to be heard.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress

from ..errors import Unavailable
from ..storage.files import make_folders

_STEP, _BURST = 50, 300  # milliseconds without news after which what there is is told, and the longest wait for that
_HEARD = 2.0  # seconds within which a knock is heard where there are events, on a busy machine, too
# Other machines write to these, too, and that is told to nobody here.
_REMOTE = (
    "nfs", "cifs", "smb", "9p", "afs", "ceph", "fuse", "gluster", "lustre", "virtiofs", "vboxsf", "prl_fs", "drvfs"
)  # fmt: skip


class Porch:
    """A folder of ours beside the pages, to knock at."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._knock, self._at, self._count, self._place = "", 0.0, 0, (0, 0)

    def open(self) -> None:
        """Unavailable where nobody can knock."""
        self._forget()
        try:
            if os.path.islink(os.path.dirname(self.folder)) or os.path.islink(self.folder):
                raise Unavailable(f"{self.folder} is a link and was not used")
            make_folders(self.folder)
            self._place = place_of(self.folder)
        except OSError as error:
            raise Unavailable(f"{self.folder} can not be made ({error.strerror})") from error

    def stands(self) -> bool:
        """Whether it is the folder that was opened."""
        with suppress(OSError):
            return place_of(self.folder) == self._place
        return False

    def knock(self) -> None:
        if self._knock:
            return
        self._count += 1
        self._knock, self._at = f"{self.folder}/{os.getpid()}-{id(self):x}-{self._count}", time.monotonic()
        os.close(os.open(self._knock, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))

    def hear(self, paths: set[str]) -> bool:
        """Whether a knock is among what was told."""
        if not self._knock or self._knock not in paths:
            return False
        self._forget()
        return True

    def unheard(self) -> bool:
        return bool(self._knock) and time.monotonic() > self._at + _HEARD

    def close(self) -> None:
        self._forget()
        with suppress(OSError):  # others may stand there
            os.rmdir(self.folder)

    def _forget(self) -> None:
        if self._knock:
            with suppress(OSError):
                os.unlink(self._knock)
        self._knock = ""


class _Asked:
    """What `watchfiles` asks twenty times a second, whether to stop: the only time it gives us."""

    def __init__(self, porch: Porch, ended: Callable[[], bool], due: Callable[[], bool]) -> None:
        self._porch, self._ended, self._due = porch, ended, due
        self._first = True

    def is_set(self) -> bool:
        if self._first or self._due():
            self._first = False
            self._porch.knock()
        return self._porch.unheard() or self._ended()


def rings(
    folders: Sequence[str], porch: Porch, ended: Callable[[], bool], due: Callable[[], bool]
) -> Generator[tuple[set[str], bool], None, None]:
    """What changed, as often as something did, and whether a knock was heard: first of all, and when one is `due`.

    Until `ended`. Unavailable where there are no events, or no more.
    """
    try:
        import watchfiles
    except ImportError as error:
        raise Unavailable("watchfiles is not installed: pip install 'commonplace[watch]'") from error
    asked = _Asked(porch, ended, due)
    told = watchfiles.watch(
        *folders, porch.folder, watch_filter=None, debounce=_BURST, step=_STEP, stop_event=asked, rust_timeout=0,
        force_polling=False, ignore_permission_denied=True,
    )  # fmt: skip
    try:
        for changes in told:
            paths = {path for _, path in changes}
            yield paths, porch.hear(paths)
    except (OSError, RuntimeError) as error:  # too much to watch, a folder that has just gone, a name that is no text
        raise Unavailable(f"the file system does not tell of changes ({error})") from error
    if porch.unheard():
        raise Unavailable("the file system does not tell of changes")


def place_of(folder: str) -> tuple[int, int]:
    """Which folder it is: one of the same name may take the place of another."""
    info = os.lstat(folder)
    return info.st_dev, info.st_ino


def elsewhere(folders: Sequence[str], beside: str) -> str:
    """The first folder that lies on another file system than the one beside it, or none."""
    with suppress(OSError):
        device = os.stat(beside).st_dev
        return next((folder for folder in folders if os.stat(folder).st_dev != device), "")
    return beside


def remote(folder: str, mounts: str) -> str:
    """The kind of a file system that others write to unheard, by the system's table of mounts; empty for all others."""
    best, kind = "", ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) > 2:
            at = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), fields[1]).rstrip("/")
            if f"{folder}/".startswith(f"{at}/") and len(at) >= len(best):
                best, kind = at, fields[2]
    return kind if kind.startswith(_REMOTE) else ""


def mounts() -> str:
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as table:
            return table.read()
    except OSError:
        return ""
