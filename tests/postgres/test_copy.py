"""A memory copied between a folder and a database: byte for byte, with its history, and again without doing it twice."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from commonplace import Memory
from commonplace.errors import InvalidArgument, NotFound
from commonplace.home import Home
from commonplace.maintenance import timeline
from commonplace.maintenance.backup import copy
from commonplace.maintenance.backup.archive import backup_scope
from commonplace.testing import FrozenClock

from ..surfaces.cli.shell import Shell

pytestmark = pytest.mark.slow
Open = Callable[[str], Home]


def of_tenant(url: str, tenant: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}tenant={tenant}"


@pytest.fixture
def open_any_home(url: str, clock: FrozenClock) -> Iterator[Open]:
    """Opens a home: a tenant of the database by its name, or a folder by its path."""
    result: list[Home] = []

    def open_home(name: str) -> Home:
        result.append(Home(name if name.startswith("/") else of_tenant(url, name), clock=clock))
        return result[-1]

    yield open_home
    for home in result:
        home.close()


@pytest.fixture
def folder(tmp_path: Path, clock: FrozenClock) -> Path:
    """Make a memory of two agents with pages that were changed, removed, edited by hand, or are no text."""
    place = tmp_path / "source"
    memory = Memory(place, clock=clock)
    for number in range(4):
        clock.advance(seconds=60)
        memory.call("memory_write", {"key": f"note-{number}", "content": f"What was said, part {number}."})
    memory.call("memory_update", {"key": "note-1", "content": "Said otherwise."})
    memory.call("MemoryTool", {"op": "setGlobal", "key": "gate", "value": "green", "category": "codes"})
    memory.call("MemoryTool", {"op": "deleteGlobal", "key": "gate"})
    memory.call("MemoryTool", {"op": "createSkill", "name": "tea", "description": "Makes tea"})
    Memory(place, "ann", clock=clock).call("remember", {"content": "Ann's own."})
    (place / "memory/world").mkdir(parents=True, exist_ok=True)
    (place / "memory/world/odd.md").write_bytes(b"caf\xe9 \x00 \xff, no UTF-8\r\n")
    (place / "memory/world/by hand.md").write_text("# By hand\n\nNobody told history.\n")
    (place / "memory/world/empty.md").write_bytes(b"")
    os.utime(place / "memory/world/by hand.md", ns=(1_700_000_000_123_456_000,) * 2)
    (place / "commonplace.yaml").write_text("timezone: Europe/Oslo\n")
    memory.close()
    return place


def pages(home: Home) -> dict[str, tuple[bytes | None, int]]:
    bulk = home.storage.bulk
    paths, _ = bulk.list_versions(backup_scope(home.layout, home.settings))
    return {path: (bulk.read(path)[0], bulk.read(path)[1] // 1000) for path in paths}


def past(home: Home) -> dict[str, list[tuple[object, ...]]]:
    """All versions with who made them and when; a change by hand that nobody noticed yet is none."""
    history = home.storage.history
    return {
        path: [(*change[1:2], *change[3:], data) for change, data in history.versions(path)] for path in history.paths()
    }


def test_a_folder_goes_into_a_database_and_back_byte_for_byte_with_its_history(
    folder: Path, tmp_path: Path, open_any_home: Open
) -> None:
    source, middle, back = open_any_home(str(folder)), open_any_home("acme"), open_any_home(str(tmp_path / "back"))
    answer = past(source)
    first, second = copy(source, middle), copy(middle, back)
    assert (first.different, first.failed, second.different, second.failed) == ((), (), (), ())
    assert pages(source) == pages(middle) == pages(back)
    assert b"\xff" in (pages(back)["memory/world/odd.md"][0] or b"")
    assert past(middle) == past(back)
    assert {path: past(middle)[path] for path in answer} == answer
    files = {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*.md")}
    assert files == {str(each.relative_to(back.root)): each.read_bytes() for each in Path(back.root).rglob("*.md")}


def test_what_was_removed_keeps_its_history_and_ids_stay_what_they_were(folder: Path, open_any_home: Open) -> None:
    source, target = open_any_home(str(folder)), open_any_home("acme")
    copy(source, target)
    [gone] = [path for path in source.storage.history.paths() if "gate" in path]
    assert [change.version for change in target.storage.history.changes(gone)][-1] == ""
    assert [change.id for change in target.storage.history.changes(gone)] == [
        c.id for c in source.storage.history.changes(gone)
    ]
    assert timeline.restore(target, gone, source.storage.history.changes(gone)[0].id)
    assert target.storage.pages.read(gone).text


def test_a_second_run_copies_nothing_and_changes_no_row(folder: Path, url: str, open_any_home: Open) -> None:
    source, target = open_any_home(str(folder)), open_any_home("acme")
    first = copy(source, target)
    before = _rows(url)
    second = copy(source, target)
    assert (second.added, second.history_completed, second.different) == ((), (), ())
    assert len(second.same) == len(first.added) + len(first.history_completed) + len(first.same)
    assert _rows(url) == before


def _rows(url: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        pages = connection.execute("SELECT * FROM commonplace.pages ORDER BY path").fetchall()
        return pages + connection.execute("SELECT * FROM commonplace.history ORDER BY id").fetchall()


def test_a_copy_that_was_interrupted_goes_on(
    folder: Path, open_any_home: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.maintenance.backup._MAX_BATCH_PAGES", 1)
    source, target = open_any_home(str(folder)), open_any_home("acme")

    def stop(what: str, done: int, total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy(source, target, progress=stop)
    assert len(pages(target)) in (4, 5)
    rest = copy(source, target)
    assert len(rest.added) < len(pages(source))
    assert pages(source) == pages(target)


def test_what_was_written_since_comes_with_the_next_run_where_nothing_was_written_there(
    folder: Path, clock: FrozenClock, open_any_home: Open
) -> None:
    source, target = open_any_home(str(folder)), open_any_home("acme")
    copy(source, target)
    clock.advance(seconds=3600)
    source.storage.pages.write("memory/world/new.md", "New.\n")
    source.storage.pages.write("memory/world/empty.md", "Not empty any more.\n")
    remaining = copy(source, target)
    assert (remaining.added, remaining.different) == (("memory/world/new.md",), ("memory/world/empty.md",))
    assert target.storage.pages.read("memory/world/empty.md").text == ""
    assert copy(source, target, overwrite=True).different == ("memory/world/empty.md",)
    assert pages(source) == pages(target)
    assert past(source)["memory/world/empty.md"][-1] == past(target)["memory/world/empty.md"][-1]


def test_a_page_that_says_something_else_there_is_named_and_stays_and_history_keeps_what_is_replaced(
    folder: Path, open_any_home: Open
) -> None:
    source, target = open_any_home(str(folder)), open_any_home("acme")
    target.storage.pages.write("memory/world/by hand.md", "Written there.\n")
    done = copy(source, target)
    assert done.different == ("memory/world/by hand.md",)
    assert target.storage.pages.read("memory/world/by hand.md").text == "Written there.\n"
    copy(source, target, overwrite=True)
    assert target.storage.pages.read("memory/world/by hand.md").text.startswith("# By hand")
    output = [data for _, data in target.storage.history.versions("memory/world/by hand.md")]
    assert output[0] == b"Written there.\n"
    assert target.storage.history.changes("memory/world/by hand.md")[-1].tool == "copy"
    assert copy(source, target).different == ()


def test_a_page_removed_at_its_source_stays_until_it_is_to_be_overwritten(folder: Path, open_any_home: Open) -> None:
    source, target = open_any_home(str(folder)), open_any_home("acme")
    copy(source, target)
    source.storage.pages.remove("memory/world/empty.md")
    assert copy(source, target).different == ("memory/world/empty.md",)
    copy(source, target, overwrite=True)
    assert "memory/world/empty.md" not in pages(target)
    assert target.storage.history.head("memory/world/empty.md") == source.storage.history.head("memory/world/empty.md")


def test_a_dry_run_says_the_same_and_writes_nothing(folder: Path, url: str, open_any_home: Open) -> None:
    source, target = open_any_home(str(folder)), open_any_home("acme")
    would = copy(source, target, dry_run=True)
    assert _rows(url) == []
    assert copy(source, target) == would


def test_one_tenant_goes_to_another_with_ids_and_nothing_of_a_third(folder: Path, open_any_home: Open) -> None:
    one, two, third = open_any_home("one"), open_any_home("two"), open_any_home("third")
    third.storage.pages.write("memory/world/third.md", "Of nobody else.\n")
    copy(open_any_home(str(folder)), one)
    copy(one, two)
    assert pages(one) == pages(two)
    assert [*one.storage.history.changes()] == [*two.storage.history.changes()]
    assert [*pages(third)] == ["memory/world/third.md"]


def test_a_copy_is_searched_and_taken_back_like_what_was_written_there(
    folder: Path, url: str, clock: FrozenClock
) -> None:
    with_tenant = of_tenant(url, "acme")
    source, target = Home(str(folder), clock=clock), Home(with_tenant, clock=clock)
    copy(source, target)
    memory = Memory(with_tenant, clock=clock)
    assert "Said otherwise." in memory.call("memory_read", {"key": "note-1"})["data"]["content"]
    assert memory.search("said otherwise")
    [change] = [each for each in timeline.list_changes(memory.home) if each.tool == "memory_update"]
    assert not any(
        each.problem for each in timeline.undo(memory.home, timeline.include_same_calls(memory.home, [change]))
    )
    assert "part 1" in memory.call("memory_read", {"key": "note-1"})["data"]["content"]
    memory.close()


def test_ids_that_another_change_has_there_are_replaced(
    folder: Path, url: str, tmp_path: Path, open_any_home: Open
) -> None:
    source, target, back = open_any_home(str(folder)), open_any_home("acme"), open_any_home(str(tmp_path / "back"))
    change = source.storage.history.changes()[-1]
    copy(source, target)
    with psycopg.connect(url) as connection:
        moved = "UPDATE commonplace.history SET path = 'memory/world/other.md', seq = 9999 WHERE id = %s"
        connection.execute(moved, (change.id,))
    assert copy(source, target).failed == ()
    assert copy(target, back).failed == ()
    for path in {change.path for change in back.storage.history.changes()}:
        assert all(back.storage.history.change(each.id).path == path for each in back.storage.history.changes(path))


def test_writes_beside_a_copy_are_not_lost(folder: Path, open_any_home: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.maintenance.backup._MAX_BATCH_PAGES", 1)
    source, target, writer = open_any_home(str(folder)), open_any_home("acme"), open_any_home("acme")

    def write(what: str, done: int, total: int) -> None:
        if done == 1:
            writer.storage.pages.write("memory/world/odd.md", "Just now.\n")

    done = copy(source, target, progress=write)
    assert [path for path, _ in done.failed] == ["memory/world/odd.md"]
    assert target.storage.pages.read("memory/world/odd.md").text == "Just now.\n"


def test_a_page_that_can_be_none_there_keeps_no_other_away(folder: Path, open_any_home: Open) -> None:
    deep = folder / "memory/world" / "/".join(["d" * 200] * 8)
    deep.mkdir(parents=True)
    (deep / "page.md").write_text("Too deep for a row.")
    done = copy(open_any_home(str(folder)), open_any_home("acme"))
    [(path, why)] = done.failed
    assert path.endswith("/page.md")
    assert "longer than a path may be" in why
    assert len(done.added) > 5


def test_the_same_memory_twice_and_an_empty_one_are_refused(folder: Path, open_any_home: Open) -> None:
    with pytest.raises(InvalidArgument, match="both the source and the target"):
        copy(open_any_home(str(folder)), open_any_home(str(folder)))
    with pytest.raises(NotFound, match="nothing to copy"):
        copy(open_any_home("nobody"), open_any_home("acme"))


def test_the_command_copies_both_ways_and_says_what_differs(folder: Path, url: str, tmp_path: Path) -> None:
    shell, home = Shell(tmp_path), of_tenant(url, "acme")
    assert "Would be: " in shell.ok("copy", str(folder), home, "--dry-run")
    data = json.loads(shell.ok("copy", str(folder), home, "--json"))
    assert (data["failed"], data["differ"]) == ([], [])
    assert "0 copied" in shell.ok("copy", str(folder), home)
    assert f"{len(data['added'])} copied" in shell.ok("copy", home, "back")
    (tmp_path / "back/memory/world/empty.md").write_text("Mine.")
    done = shell.run("copy", home, "back")
    assert done.returncode == 4
    assert "differs: memory/world/empty.md" in done.stdout
    assert shell.run("copy", "nowhere", home).returncode == 3


def test_times_are_those_of_the_source(folder: Path, clock: FrozenClock, open_any_home: Open) -> None:
    source, target = open_any_home(str(folder)), open_any_home("acme")
    clock.advance(seconds=86_400)
    copy(source, target)
    assert target.storage.pages.modified_at("memory/world/by hand.md") == pytest.approx(1_700_000_000.123456, abs=1e-5)
    latest = max(change.at for change in target.storage.history.changes() if change.tool)
    assert latest < f"{clock() - timedelta(hours=20):%Y-%m-%dT%H:%M:%S}"


def test_nothing_comes_to_be_a_page_and_a_folder_at_once(tmp_path: Path, open_any_home: Open) -> None:
    source, target = open_any_home(str(tmp_path / "source")), open_any_home("acme")
    for path in ("memory/a.md/b.md", "memory/c.md", "memory/x.md"):
        source.storage.pages.write(path, "copied")
    for path in ("memory/a.md", "memory/c.md/d.md"):
        target.storage.pages.write(path, "theirs")
    done = copy(source, target)
    beside = "{} cannot be a page beside the page {}: use another name"
    assert dict(done.failed) == {
        "memory/a.md/b.md": beside.format("memory/a.md/b.md", "memory/a.md"),
        "memory/c.md": beside.format("memory/c.md", "memory/c.md/d.md"),
    }
    assert done.added == ("memory/x.md",)
    assert sorted(target.storage.pages.list("memory", deep=True)) == ["memory/a.md", "memory/c.md/d.md", "memory/x.md"]
    assert target.storage.history.paths() == ["memory/a.md", "memory/c.md/d.md", "memory/x.md"]
    target.storage.pages.remove("memory/a.md")
    assert copy(source, target).added == ("memory/a.md/b.md",)
