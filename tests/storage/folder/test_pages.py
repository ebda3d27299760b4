from __future__ import annotations

import errno
import os
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.errors import LockTimeout, NotText, OutsideHome, StorageError
from commonplace.storage import files
from commonplace.storage.file_locks import lock
from commonplace.storage.folder.pages import FolderPages
from commonplace.storage.history import ABSENT


@pytest.fixture
def pages(tmp_path: Path) -> FolderPages:
    return FolderPages(str(tmp_path / "home"))


@pytest.fixture
def without_swap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run as on a system that cannot swap two files in one step."""
    monkeypatch.setattr(sys, "platform", "elsewhere")
    files._load_renameat2.cache_clear()
    yield
    monkeypatch.undo()
    files._load_renameat2.cache_clear()


def test_files_and_folders_that_hold_memory_are_private(pages: FolderPages) -> None:
    pages.write("memory/deep/a.md", "x")
    place = Path(pages.root)
    assert stat.S_IMODE((place / "memory/deep/a.md").stat().st_mode) == 0o600
    for folder in (place, place / "memory", place / "memory/deep"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_page_that_a_person_opened_to_others_stays_open(pages: FolderPages) -> None:
    pages.write("a.md", "x")
    os.chmod(Path(pages.root) / "a.md", 0o644)
    pages.write("a.md", "y")
    assert stat.S_IMODE((Path(pages.root) / "a.md").stat().st_mode) == 0o644


def test_no_link_leads_out_of_the_home(pages: FolderPages, tmp_path: Path) -> None:
    pages.write("memory/a.md", "mine")
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "s.md").write_text("not yours")
    root = Path(pages.root)
    (root / "memory/file.md").symlink_to(secret / "s.md")
    (root / "linked").symlink_to(secret)
    (root / "memory/loop").symlink_to(root / "memory")
    for path in ("memory/file.md", "linked/s.md", "linked/new.md"):
        with pytest.raises(OutsideHome):
            pages.read(path)
        with pytest.raises(OutsideHome):
            pages.write(path, "x")
    assert pages.list("memory", deep=True) == ["memory/a.md"]
    assert pages.list("linked") == []
    assert (secret / "s.md").read_text() == "not yours"
    assert not (secret / "new.md").exists()


def test_a_link_inside_the_home_is_not_followed_either(pages: FolderPages) -> None:
    pages.write("real.md", "one")
    (Path(pages.root) / "alias.md").symlink_to("real.md")
    for act in (
        lambda: pages.write("alias.md", "two"),
        lambda: pages.read("alias.md"),
        lambda: pages.remove("alias.md"),
    ):
        with pytest.raises(OutsideHome, match="through a link"):
            act()
    assert pages.read("real.md").text == "one"
    assert pages.list("") == ["real.md"]


def test_an_edit_made_by_hand_meanwhile_is_read_again_not_overwritten(pages: FolderPages) -> None:
    pages.write("a.md", "one\n")
    tries = []

    def change(old: str) -> str:
        tries.append(old)
        if len(tries) == 1:  # an editor saves in place between our read and our rename
            (Path(pages.root) / "a.md").write_text("one\nby hand\n")
        return old + "by tool\n"

    pages.edit("a.md", change)
    assert pages.read("a.md").text == "one\nby hand\nby tool\n"
    assert tries == ["one\n", "one\nby hand\n"]


def test_an_edit_that_empties_a_page_which_is_removed_meanwhile_leaves_no_page(pages: FolderPages) -> None:
    pages.write("a.md", "one\n")

    def change(_: str) -> str:
        (Path(pages.root) / "a.md").unlink(missing_ok=True)  # by hand, between our read and our rename
        return ""

    assert pages.edit("a.md", change) == ABSENT
    assert pages.list("") == []


@pytest.mark.parametrize(("number", "word"), [(errno.ENOSPC, "full"), (errno.EROFS, "read-only"), (errno.EIO, "a.md")])
@pytest.mark.parametrize("operation", ["write", "fsync", "replace"])
@pytest.mark.usefixtures("without_swap")
def test_a_failed_write_leaves_the_old_page_and_no_litter(
    pages: FolderPages, monkeypatch: pytest.MonkeyPatch, number: int, word: str, operation: str
) -> None:
    pages.write("a.md", "old")

    def fail(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, operation, fail)
    with pytest.raises(StorageError, match=word):
        pages.write("a.md", "new")
    monkeypatch.undo()
    assert pages.read("a.md").text == "old"
    assert [name for name in os.listdir(pages.root) if name.endswith(".tmp")] == []


def test_a_page_with_the_longest_name_there_is_can_be_changed(pages: FolderPages) -> None:
    for name in (f"{'n' * 252}.md", f"{'名' * 84}.md"):
        pages.write(name, "one")
        pages.append(name, " two")
        assert pages.read(name).text == "one two"
        pages.remove(name)


def test_a_short_write_is_carried_on(pages: FolderPages, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, bytes(data)[:3]))
    pages.write("a.md", "a longer text than three bytes")
    assert pages.read("a.md").text == "a longer text than three bytes"


def test_what_is_not_utf8_or_not_a_file_is_not_text(pages: FolderPages) -> None:
    pages.write("a.md", "x")
    root = Path(pages.root)
    (root / "latin.md").write_bytes(b"caf\xe9")
    os.mkfifo(root / "pipe.md")
    (root / "folder.md").mkdir()
    for path in ("latin.md", "pipe.md"):
        with pytest.raises(NotText, match=path):
            pages.read(path)
    with pytest.raises(StorageError, match=r"folder\.md"):
        pages.read("folder.md")
    assert pages.list("") == ["a.md", "latin.md"]


def test_a_file_where_the_home_should_be_is_reported(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("I am a file")
    pages = FolderPages(str(tmp_path / "home"))
    with pytest.raises(StorageError, match="file is where"):
        pages.write("a.md", "x")


def test_a_lock_that_does_not_come_free_names_its_holder(tmp_path: Path) -> None:
    folder = str(tmp_path)
    with (
        lock(folder, "page", "a.md"),
        pytest.raises(LockTimeout, match=f"process {os.getpid()}"),
        lock(folder, "page", "a.md", timeout=0.05),
    ):
        pass
    with lock(folder, "page", "a.md", timeout=0.05):
        pass


def test_a_thread_waits_for_the_area_another_thread_holds(pages: FolderPages) -> None:
    order: list[str] = []
    signal = threading.Event()

    def second() -> None:
        signal.wait()
        with pages.lock("area"):
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with pages.lock("area"):
        signal.set()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_the_last_page_of_a_folder_takes_the_folder_with_it(pages: FolderPages) -> None:
    pages.write("memory/channels/x/k.md", "v")
    pages.remove("memory/channels/x/k.md")
    assert pages.list_folders("memory/channels") == []
