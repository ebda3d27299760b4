"""The folder that the workers of a server share is its own, and goes when the server does, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from commonplace.server.workers import open_worker_state

KILLED = """
import os, signal
from commonplace.server.workers import open_worker_state
with open_worker_state() as folder:
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files of everybody."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_server_that_was_killed_goes_with_the_next_start(temporary_folder: Path) -> None:
    left = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=False).stdout.strip()
    assert os.listdir(temporary_folder) == [os.path.basename(left)]
    with open_worker_state() as folder:
        assert os.listdir(temporary_folder) == [os.path.basename(folder)]
        assert folder != left
        assert os.stat(folder).st_mode & 0o777 == 0o700
    assert os.listdir(temporary_folder) == []


def test_the_folder_of_a_server_that_runs_stays(temporary_folder: Path) -> None:
    with open_worker_state() as one, open_worker_state() as other:
        assert {os.path.basename(one), os.path.basename(other)} == {*os.listdir(temporary_folder)}


def test_what_somebody_else_put_there_is_neither_followed_nor_removed(temporary_folder: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "note").write_text("mine")
    (temporary_folder / "commonplace-workers-link").symlink_to(precious)
    (temporary_folder / "commonplace-workers-file").write_text("mine")
    with open_worker_state():
        pass
    assert (precious / "note").read_text() == "mine"
    assert (temporary_folder / "commonplace-workers-link").is_symlink()
    assert (temporary_folder / "commonplace-workers-file").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_the_folder_of_another_user_stays(temporary_folder: Path) -> None:
    theirs = temporary_folder / "commonplace-workers-theirs"
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    with open_worker_state():
        pass
    assert theirs.exists()
