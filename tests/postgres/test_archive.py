"""Archives between folders and databases: byte for byte, as of one moment, all or nothing."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.errors import StaleVersion, StorageError
from commonplace.home import Home
from commonplace.maintenance.backup import export_to, import_from
from commonplace.storage.history import Change, Line, format_line
from commonplace.storage.postgres.bulk import PostgresBulk
from commonplace.testing import FrozenClock

from ..maintenance.test_round_trip import furnish

pytestmark = pytest.mark.slow
Open = Callable[[str], Home]


@pytest.fixture
def open_any_home(url: str, clock: FrozenClock) -> Iterator[Open]:
    """Opens a home: a tenant of the database by its name, or a folder by its path."""
    result: list[Home] = []

    def open_home(where: str) -> Home:
        tenant = f"{url}{'&' if '?' in url else '?'}tenant={where}"
        result.append(Home(where if "/" in where else tenant, clock=clock))
        return result[-1]

    yield open_home
    for home in result:
        home.close()


def export_bytes(home: Home, *, history: bool = True) -> bytes:
    out = io.BytesIO()
    export_to(home, out, "jsonl", history=history)
    return out.getvalue()


def says(archive: bytes) -> dict[str, str]:
    """What an archive holds: without rights, which a database does not keep."""
    lines = [json.loads(line) for line in archive.decode().split("\n")[1:-1]]
    return {line["path"]: line.get("text") or line.get("base64", "") for line in lines}


def without_origins(archive: bytes) -> dict[str, str]:
    """What an archive says, but for the mark of what an import brought."""
    return {path: text.replace(',"origin":"import:archive"', "") for path, text in says(archive).items()}


def read_all(history: Any, path: str) -> list[bytes | None]:
    return [data for _, data in history.versions(path)]


def test_an_archive_goes_into_a_database_and_back_with_its_history(
    tmp_path: Path, open_any_home: Open, clock: FrozenClock
) -> None:
    furnish(tmp_path / "home", clock).close()
    source = open_any_home(str(tmp_path / "home"))
    source.storage.pages.record_outside_edits(says(export_bytes(source, history=False)))  # what was put there by hand
    first = export_bytes(source)
    import_from(open_any_home("acme"), io.BytesIO(first))
    second = export_bytes(open_any_home("acme"))
    assert without_origins(second) == says(first)
    import_from(open_any_home(str(tmp_path / "back")), io.BytesIO(second))
    assert without_origins(export_bytes(open_any_home(str(tmp_path / "back")))) == says(first)
    assert export_bytes(open_any_home("acme")) == second
    again = import_from(open_any_home("acme"), io.BytesIO(second))
    assert (again.added, again.replaced) == ((), ())
    there, here = open_any_home("acme").storage.history, open_any_home(str(tmp_path / "home")).storage.history
    assert [change._replace(origin="") for change in there.changes()] == here.changes()
    assert [read_all(there, path) for path in there.paths()] == [read_all(here, path) for path in here.paths()]


def test_an_export_sees_one_state_while_others_write(open_any_home: Open) -> None:
    """Each round writes two pages: no archive has the second of a round without the first."""
    home, stop, seen = open_any_home("acme"), threading.Event(), []

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            home.storage.pages.write("memory/z.md", str(number))  # read last
            home.storage.pages.write("memory/a.md", str(number))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(20):
            pages = says(export_bytes(open_any_home("acme"), history=False))
            seen.append((int(pages.get("memory/a.md", 0)), int(pages.get("memory/z.md", 0))))
    finally:
        stop.set()
        thread.join()
    assert all(second <= first <= second + 1 for second, first in seen), seen
    assert seen[-1][0] > 1


def test_an_import_that_somebody_gets_in_the_way_of_leaves_nothing(
    open_any_home: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target, other = open_any_home("acme"), open_any_home("them"), open_any_home("them")
    for name in ("a", "b"):
        source.storage.pages.write(f"memory/{name}.md", name)
    archive = export_bytes(source)
    put = PostgresBulk.put

    def put_late(*arguments: Any, **names: Any) -> object:
        other.storage.pages.write("memory/b.md", "mine")
        return put(*arguments, **names)

    monkeypatch.setattr(PostgresBulk, "put", put_late)
    with pytest.raises(StaleVersion):
        import_from(target, io.BytesIO(archive))
    assert says(export_bytes(target, history=False)) == {"memory/b.md": "mine"}
    assert [change.path for change in target.storage.history.changes()] == ["memory/b.md"]


def test_an_import_makes_no_page_where_a_folder_was_made_meanwhile(
    open_any_home: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target, other = open_any_home("acme"), open_any_home("them"), open_any_home("them")
    source.storage.pages.write("memory/a.md", "a")
    archive = export_bytes(source)
    put = PostgresBulk.put

    def put_late(*arguments: Any, **names: Any) -> object:
        other.storage.pages.write("memory/a.md/b.md", "mine")
        return put(*arguments, **names)

    monkeypatch.setattr(PostgresBulk, "put", put_late)
    with pytest.raises(StorageError, match=r"memory/a.md cannot be a page beside the page memory/a.md/b.md: use an"):
        import_from(target, io.BytesIO(archive))
    assert target.storage.pages.list("memory", deep=True) == ["memory/a.md/b.md"]


def test_history_that_cannot_be_real_is_left_out_and_reported(open_any_home: Open) -> None:
    good = Line(Change("5b00000001", "2026-03-14T09:26:53.000000Z", "memory/a.md", "v", ""), 0, None, "")
    bad = [
        good._replace(change=good.change._replace(path="memory/\0.md")),
        good._replace(change=good.change._replace(path="../x.md")),
        good._replace(change=good.change._replace(path="memory/" + "x" * 2000)),
        good._replace(data="no base64!"),
        good._replace(depth=1 << 40),
        good._replace(span=(-1, 2)),
    ]
    lines = b"".join(map(format_line, [good, *bad])).decode() + '\n{"id": 7, "at": [], "path": {}, "depth": 0}\n'
    archive = "\n".join(
        json.dumps(each)
        for each in (
            {"format": "commonplace", "version": 1},
            {"path": ".history/5b.jsonl", "text": lines, "modified": "0"},
            {"path": "memory/a.md", "text": "tea", "modified": "0"},
        )
    )
    home = open_any_home("acme")
    done = import_from(home, io.BytesIO(f"{archive}\n".encode()))
    assert "6 lines of the archive's history can be no history" in done.warnings[0]
    assert [change.path for change in home.storage.history.changes()] == ["memory/a.md", "memory/a.md"]
    assert home.storage.history.changes("memory/a.md")[-1].tool == "import"


def test_what_was_imported_is_found_and_taken_note_of_by_who_follows(
    open_any_home: Open, url: str, clock: FrozenClock
) -> None:
    source = open_any_home("acme")
    source.storage.pages.write("memory/fruit.md", "the papaya was ripe")
    with Memory(f"{url}{'&' if '?' in url else '?'}tenant=them", clock=clock) as memory:
        assert memory.search("papaya") == []
        import_from(open_any_home("them"), io.BytesIO(export_bytes(source)))
        assert [hit.path for hit in memory.search("papaya")] == ["memory/fruit.md"]
