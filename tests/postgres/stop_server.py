"""Waits until a worker ends its input, by death too, and stops its server if no other worker is left that uses it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path


def lives(process: int) -> bool:
    """Where that cannot be seen, it may."""
    if not Path("/proc/self").exists():
        return True
    with suppress(OSError):
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z"  # dead, and nobody has asked how it died
    return False


def main(folder: Path) -> None:
    sys.stdin.read()
    with suppress(FileNotFoundError, ValueError):  # as after every ordinary end
        if not any(map(lives, json.loads((folder / ".handle_pids.json").read_text()))):
            os.kill(int((folder / "postmaster.pid").read_text().split("\n")[0]), signal.SIGQUIT)
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
