"""Two files change places in one step, where the system can: whatever stood there is in our hands afterwards.

An ordinary rename overwrites what an editor saved a moment ago. Linux can exchange instead; elsewhere, and on file
systems that can not, the caller does with a last look and a rename.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache

_HERE = -100  # AT_FDCWD: paths are relative to where the process is
_NO_REPLACE, _EXCHANGE = 1, 2
_CAN_NOT = frozenset({errno.EINVAL, errno.ENOSYS, errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP})


class CanNot(Exception):
    """This system or file system can not do it."""


def exchange(one: str, other: str) -> None:
    """Let two files change places. FileNotFoundError when one is not there."""
    _rename(one, other, _EXCHANGE)


def put(one: str, new: str) -> None:
    """Rename a file to a name that nobody has; FileExistsError when somebody has."""
    _rename(one, new, _NO_REPLACE)


def _rename(one: str, other: str, flag: int) -> None:
    call = _system_call()
    if call is None:
        raise CanNot
    number = call(os.fsencode(one), os.fsencode(other), flag)
    if number in _CAN_NOT:
        raise CanNot
    if number:
        raise OSError(number, os.strerror(number), one, None, other)


@cache
def _system_call() -> Callable[[bytes, bytes, int], int] | None:
    if sys.platform != "linux":
        return None
    import ctypes  # takes a millisecond: only who writes loads it

    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):  # a C library without it
        return None
    renameat2.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]

    def call(one: bytes, other: bytes, flag: int) -> int:
        return ctypes.get_errno() if renameat2(_HERE, one, _HERE, other, flag) else 0

    return call
