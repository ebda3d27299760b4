"""A folder of a home that becomes a link while pages are read and written: nothing outside is read or changed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError
from commonplace.storage import bulk
from commonplace.storage.base import Root
from commonplace.storage.folder.backend import FolderStorage
from commonplace.storage.history import version_of
from commonplace.testing import FrozenClock

SECRET = '{"text": "not yours"}\n'
ROUNDS = 300


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home/memory/a").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    for name in ("x.md", "x.jsonl", "rm.md"):
        (tmp_path / "home/memory/a" / name).write_text('{"text": "mine"}\n')
        (tmp_path / "outside" / name).write_text(SECRET)
    return tmp_path / "home"


@contextmanager
def swap_for_link(folder: Path, outside: Path) -> Iterator[None]:
    """Let a folder and a link to another change places, over and over, until the block ends."""
    link = folder.with_name("link")
    aside = folder.with_name("aside")
    link.symlink_to(outside)
    is_over = threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            with suppress(OSError):
                os.rename(folder, aside)
                os.rename(link, folder)
            with suppress(OSError):
                os.rename(folder, link)
                os.rename(aside, folder)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def open_storage(home: Path) -> FolderStorage:
    return FolderStorage(str(home), FrozenClock(), lambda path, size: None)


def texts_of(storage: FolderStorage) -> Iterator[Callable[[], str]]:
    """Yield every way to read a page that lies in the folder."""
    yield lambda: storage.pages.read("memory/a/x.md").text
    yield lambda: (storage.read_bytes("memory/a/x.md") or b"").decode()
    yield lambda: str(storage.pages.find_text("memory", "yours"))
    yield lambda: str(storage.open_transcript("memory/a/x.jsonl").items())
    yield lambda: str(storage.bulk.read("memory/a/x.md"))
    yield lambda: str(storage.tree.folder_lister()("memory/a"))


def test_no_read_leaves_the_home_through_a_folder_that_becomes_a_link(home: Path, tmp_path: Path) -> None:
    (tmp_path / "outside/outside.md").write_text(SECRET)
    storage = open_storage(home)
    results: list[str] = []
    with swap_for_link(home / "memory/a", tmp_path / "outside"):
        for _ in range(ROUNDS):
            for read in texts_of(storage):
                with suppress(CommonplaceError):
                    results.append(read())
    assert any("mine" in result for result in results)
    assert not [result for result in results if "not yours" in result or "outside.md" in result]


def test_a_snapshot_holds_nothing_from_outside_of_a_home(home: Path, tmp_path: Path) -> None:
    storage = open_storage(home)
    with swap_for_link(home / "memory/a", tmp_path / "outside"):
        for _ in range(5):
            with suppress(CommonplaceError), storage.bulk.snapshot([Root("memory", "")], "", history=False) as snapshot:
                assert SECRET.encode() not in [snapshot.spool.read(file) for file in snapshot.files.values()]


def test_a_link_that_becomes_a_folder_while_it_is_followed_is_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home / "memory/a"
    folder.rename(home / "memory/aside")
    folder.symlink_to(home.parent / "outside")
    read_link = os.readlink

    def swap_and_read(path: str) -> str:
        folder.unlink()
        (home / "memory/aside").rename(folder)
        return read_link(path)

    monkeypatch.setattr(os, "readlink", swap_and_read)
    assert open_storage(home).tree.resolve("memory/a/x.md") == "memory/a/x.md"


def changes_of(storage: FolderStorage) -> Iterator[Callable[[], object]]:
    """Yield every way to change something that lies in the folder."""
    yield lambda: storage.pages.write("memory/a/x.md", "new")
    yield lambda: storage.pages.append("memory/a/y.md", "new")
    yield lambda: storage.pages.remove("memory/a/y.md")
    yield lambda: storage.open_transcript("memory/a/x.jsonl").add([{"text": "new"}])
    yield lambda: storage.open_transcript("memory/a/z.jsonl").add([{"text": "new"}])
    yield lambda: storage.tree.make_folder("memory/a/folder")
    yield lambda: storage.tree.move("memory/a/x.md", "memory/a/moved.md")
    yield lambda: storage.tree.move("memory/a/moved.md", "memory/a/x.md")
    yield lambda: storage.tree.restrict_to_owner(["memory/a/x.md"])
    yield lambda: storage.tree.remove_derived_files(["memory/a/rm.md"])


def test_no_write_leaves_the_home_through_a_folder_that_becomes_a_link(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    for file in outside.iterdir():
        file.chmod(0o644)
    before = {file.name: (file.read_text(), file.stat().st_mode) for file in outside.iterdir()}
    storage = open_storage(home)
    with swap_for_link(home / "memory/a", outside):
        for _ in range(ROUNDS // 10):
            for change in changes_of(storage):
                with suppress(CommonplaceError, OSError):
                    change()
    assert {file.name: (file.read_text(), file.stat().st_mode) for file in outside.iterdir()} == before


class SwappingSpool(bulk.Spool):
    """Runs something when the bytes of a file are read."""

    def __init__(self, act: Callable[[], None]) -> None:
        super().__init__()
        self._act = act

    def read_chunks(self, file: bulk.SpooledFile) -> Iterator[bytes]:
        self._act()
        yield from super().read_chunks(file)


def test_a_batch_stays_in_the_folder_that_it_began_in(home: Path) -> None:
    folder = home / "memory/a"

    def swap() -> None:
        folder.rename(home / "memory/aside")
        folder.symlink_to(home.parent / "outside")

    data = b"new\n"
    with SwappingSpool(swap) as spool:
        page = bulk.IncomingPage("memory/a/new.md", version_of(data), file=spool.add(0o600, 10**18, [data]))
        open_storage(home).bulk.put(bulk.PageBatch([page], spool))
    assert (home / "memory/aside/new.md").read_bytes() == data
    assert sorted(path.name for path in (home.parent / "outside").iterdir()) == ["rm.md", "x.jsonl", "x.md"]


def test_no_batch_is_raced_out_of_the_home(home: Path) -> None:
    storage = open_storage(home)
    outside = home.parent / "outside"
    with swap_for_link(home / "memory/a", outside), bulk.Spool() as spool:
        for number in range(ROUNDS // 3):
            data = b"%d\n" % number
            file = spool.add(0o600, 10**18, [data])
            page = bulk.IncomingPage(f"memory/a/n{number}.md", version_of(data), file=file)
            with suppress(CommonplaceError):
                storage.bulk.put(bulk.PageBatch([page], spool))
    assert sorted(path.name for path in outside.iterdir()) == ["rm.md", "x.jsonl", "x.md"]
    assert (outside / "x.md").read_text() == SECRET
