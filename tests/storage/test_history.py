"""History: every version is there, whole, with who made it, and stays within its bounds."""

from __future__ import annotations

import os
import stat
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import NotFound
from commonplace.storage.base import Retention
from commonplace.storage.folder.history import FolderHistory, slot_bytes
from commonplace.storage.folder.pages import FolderPages
from commonplace.storage.history import Author, write_as
from commonplace.storage.merge import loses_changes, merge
from commonplace.testing import FrozenClock

from ..examples import examples

CLOCK = datetime(2026, 3, 14, 9, tzinfo=UTC)


def open_pages(
    root: Path, clock: FrozenClock | None = None, bounds: Retention | None = None
) -> tuple[FolderPages, FolderHistory]:
    history = FolderHistory(str(root / ".history"), str(root / ".locks"), clock or FrozenClock(CLOCK), bounds)
    return FolderPages(str(root), history=history), history


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(CLOCK)


def texts(history: FolderHistory, path: str) -> list[str | None]:
    return [None if data is None else data.decode() for _, data in history.versions(path)]


def test_a_change_by_hand_is_kept_when_it_is_found(tmp_path: Path, clock: FrozenClock) -> None:
    pages, history = open_pages(tmp_path, clock)
    pages.write("a.md", "by tool\n")
    (tmp_path / "a.md").write_text("by hand\n")
    pages.append("a.md", "by tool again\n")
    (tmp_path / "a.md").unlink()
    pages.record_outside_edits(["a.md", "a.md"])
    assert texts(history, "a.md") == ["by tool\n", "by hand\n", "by hand\nby tool again\n", None]
    assert [change.by for change in history.changes("a.md")] == ["library", "outside", "library", "outside"]


def test_a_page_made_by_hand_is_kept_before_it_is_first_changed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"caf\xe9 and more\n")
    pages, history = open_pages(tmp_path)
    pages.write("a.md", "text now\n")
    assert history.versions("a.md")[0][1] == b"caf\xe9 and more\n"


@pytest.mark.parametrize("saved", [-1e12, 0.0, 1e12, 1e20])
def test_a_file_time_that_no_calendar_knows_stops_nothing(tmp_path: Path, clock: FrozenClock, saved: float) -> None:
    _, history = open_pages(tmp_path, clock)
    change = history.record_outside_edit("a.md", b"text", saved)
    assert change is not None
    assert change.at.startswith("2026-03-14T09:00")


def test_what_did_not_change_leaves_no_trace(tmp_path: Path) -> None:
    pages, history = open_pages(tmp_path)
    pages.write("a.md", "same\n")
    pages.write("a.md", "same\n")
    pages.edit("a.md", lambda text: text)
    pages.record_outside_edits(["a.md", "b.md"])
    assert len(history.changes()) == 1


def test_appending_to_a_long_page_costs_history_only_what_was_added(tmp_path: Path) -> None:
    pages, history = open_pages(tmp_path)
    pages.write("a.md", os.urandom(100_000).hex())
    before = history.size()
    for number in range(40):
        pages.append("a.md", f"line {number}\n")
    assert history.size() - before < 40 * 600
    assert [len(data or b"") for _, data in history.versions("a.md")][-1] == len(pages.read("a.md").text)


@examples(40)
@given(
    st.lists(st.one_of(st.none(), st.binary(max_size=40), st.text("ab\n", max_size=200).map(str.encode)), max_size=80)
)
def test_any_sequence_of_versions_comes_back(
    tmp_path_factory: pytest.TempPathFactory, versions: list[bytes | None]
) -> None:
    root = tmp_path_factory.mktemp("h")
    _, history = open_pages(root)
    expected: list[bytes | None] = []
    last: bytes | None = None
    for data in versions:
        if data != last:
            history.record_change('é "x".md', last, data, Author())
            expected.append(data)
            last = data
    assert [data for _, data in history.versions('é "x".md')] == expected


def test_a_line_that_was_cut_off_spoils_no_other(tmp_path: Path) -> None:
    pages, history = open_pages(tmp_path)
    pages.write("a.md", "one\n")
    (file,) = (tmp_path / ".history").iterdir()
    with file.open("ab") as stream:
        stream.write(file.read_bytes()[: file.stat().st_size // 2])
    pages.write("a.md", "one\ntwo\n")
    pages, history = open_pages(tmp_path)
    assert texts(history, "a.md") == ["one\n", "one\ntwo\n"]


def test_a_version_whose_bytes_were_spoilt_is_not_believed(tmp_path: Path) -> None:
    pages, history = open_pages(tmp_path)
    pages.write("a.md", "the first version of this page\n")
    version = history.changes("a.md")[0].version
    (file,) = (tmp_path / ".history").iterdir()
    file.write_bytes(file.read_bytes().replace(version.encode(), version[::-1].encode()))
    _, history = open_pages(tmp_path)
    with pytest.raises(NotFound, match="no longer has this version"):
        history.read_version("a.md", version[::-1])


def test_history_is_private_and_no_page(tmp_path: Path) -> None:
    pages, _ = open_pages(tmp_path)
    pages.write("a.md", "one\n")
    folder = tmp_path / ".history"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert pages.list("", deep=True) == ["a.md"]


def test_memory_is_written_though_history_cannot_be_and_a_warning_says_so(tmp_path: Path) -> None:
    (tmp_path / ".history").write_text("a file stands here")
    pages, _ = open_pages(tmp_path)
    with write_as(Author("remember")) as answer:
        pages.write("a.md", "one\n")
    assert pages.read("a.md").text == "one\n"
    assert "not kept in .history" in answer.warnings[0]


def test_many_threads_and_two_handles_keep_every_version(tmp_path: Path) -> None:
    handles = [open_pages(tmp_path)[0] for _ in range(2)]
    lines = [f"{number}\n" for number in range(40)]
    threads = [
        threading.Thread(target=handles[number % 2].append, args=("a.md", line)) for number, line in enumerate(lines)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    versions = texts(open_pages(tmp_path)[1], "a.md")
    assert sorted((versions[-1] or "").splitlines(keepends=True)) == sorted(lines)
    assert [len((text or "").split()) for text in versions] == list(range(1, 41))


def test_a_clock_that_was_set_back_mixes_nothing_up(tmp_path: Path, clock: FrozenClock) -> None:
    pages, history = open_pages(tmp_path, clock)
    text = os.urandom(300).hex() + "\n"
    for number in range(10):
        clock.advance(hours=1 if number % 3 else -5)
        text += f"line {number}\n"
        pages.write("a.md", text)
    pages.write("b.md", "one\n")
    before = texts(history, "a.md")
    assert history.prune(Retention(days=3650)) == 0
    assert history.rewrite(lambda path, versions: versions if path == "a.md" else []) == 1
    assert texts(history, "a.md") == before
    assert len(before) == 10


def test_history_stays_within_its_size_by_itself(tmp_path: Path, clock: FrozenClock) -> None:
    bounds = Retention(size=1)  # the least there is: a quarter of a megabyte a file
    pages, history = open_pages(tmp_path, clock, bounds)
    for _ in range(60):
        clock.advance(seconds=1)
        pages.write("a.md", os.urandom(6_000).hex())
    assert history.size() <= slot_bytes(bounds)
    assert texts(history, "a.md")[-1] == pages.read("a.md").text


def test_below_its_limit_one_huge_version_drops_no_other(tmp_path: Path, clock: FrozenClock) -> None:
    pages, history = open_pages(tmp_path, clock)
    for text in ("one\n", "two\n", os.urandom(3_000_000).hex(), "four\n"):
        clock.advance(seconds=1)
        pages.write("a.md", text)
    assert history.size() > slot_bytes(Retention())
    assert [text[:4] for text in texts(history, "a.md")[:2]] == ["one\n", "two\n"]
    assert len(texts(history, "a.md")) == 4


def test_the_change_that_fills_history_can_be_undone(tmp_path: Path, clock: FrozenClock) -> None:
    pages, history = open_pages(tmp_path, clock, Retention(size=1))
    pages.write("a.md", "one\n")
    clock.advance(seconds=1)
    pages.write("a.md", os.urandom(300_000).hex())
    assert texts(history, "a.md") == ["one\n", pages.read("a.md").text]


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "e\n"]), max_size=8).map("".join)


@given(LINES, LINES)
def test_one_side_alone_is_that_side(base: str, side: str) -> None:
    assert merge(base, base, side) == side
    assert merge(base, side, base) == side
    assert merge(base, side, side) == side


@given(LINES, LINES, LINES)
def test_what_is_merged_holds_what_both_added(base: str, theirs: str, ours: str) -> None:
    merged = merge(base, theirs, ours)
    if merged is not None and theirs != ours:
        assert merge(base, ours, theirs) == merged
        assert not loses_changes(base, theirs, merged)
        assert not loses_changes(base, ours, merged)


def test_changes_that_touch_are_not_merged() -> None:
    assert merge("a\nb\n", "A\nb\n", "a\nB\n") is None
    assert merge("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n") == "A\nb\nC\n"
    assert merge("x\ny\nz", "x2\ny\nz", "x\ny\nz\nw\n") == "x2\ny\nz\nw\n"


def test_every_page_comes_with_its_versions(tmp_path: Path) -> None:
    pages, history = open_pages(tmp_path)
    for number in range(300):  # more than there are files of history
        pages.write(f"{number % 290}.md", f"{number}")
    assert dict(history.iterate_pages()) == {path: history.versions(path) for path in history.paths()}
    assert sum(len(versions) for _, versions in history.iterate_pages()) == 300
