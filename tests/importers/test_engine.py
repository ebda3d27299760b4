"""The engine: nothing twice, nothing over anything else, all of it or the rest of it, and back."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.errors import StorageError
from commonplace.home import Home
from commonplace.importers import ImportReport
from commonplace.maintenance import timeline
from commonplace.testing import FrozenClock

from ..costs import count_calls
from ..programs import Program
from .sources import chatgpt_talk, chatgpt_zip, mem0_file, pages, put, registry_database, run_import, whys


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for name in ("a", "b", "c"):
        put(tmp_path / "notes", f"{name}.md", f"Note {name}")
    return tmp_path / "notes"


def test_a_second_import_adds_nothing(home: Path, tmp_path: Path, notes: Path) -> None:
    sources = [notes, registry_database(tmp_path / "r.db"), mem0_file(tmp_path / "m.json", 3)]
    sources.append(chatgpt_zip(tmp_path / "c.zip", [chatgpt_talk("a"), chatgpt_talk("b")]))
    kinds = ["markdown", "", "", ""]
    first = [run_import(home, source, kind) for source, kind in zip(sources, kinds, strict=True)]
    before = pages(home)
    for source, kind, done in zip(sources, kinds, first, strict=True):
        again = run_import(home, source, kind)
        assert (again.added, again.updated, again.renamed, again.left_unchanged) == ((), (), (), ())
        assert sorted(again.same) == sorted(done.added)
    assert pages(home) == before
    signed = [change for change in Home(str(home)).storage.history.changes() if change.tool == "import"]
    assert len(signed) == sum(len(done.added) for done in first)


def test_a_dry_run_writes_nothing_and_says_what_would_come(home: Path, notes: Path) -> None:
    would = run_import(home, notes, "markdown", dry_run=True)
    assert not home.exists()
    assert run_import(home, notes, "markdown").added == would.added


def test_what_was_changed_here_stays_and_is_reported(home: Path, notes: Path) -> None:
    run_import(home, notes, "markdown")
    put(home, "memory/notes/a.md", "Mine now")
    put(home, "memory/notes/b.md", "Mine, too")
    put(notes, "b.md", "Note b, second edition")
    put(notes, "c.md", "Note c, second edition")
    done = run_import(home, notes, "markdown")
    assert pages(home) == {
        "memory/notes/a.md": "Mine now",
        "memory/notes/b.md": "Mine, too",
        "memory/notes/c.md": "Note c, second edition",
    }
    assert {item.what: item.why for item in done.left_unchanged} == {
        "memory/notes/a.md": "was changed here since it came: stays as it is here",
        "memory/notes/b.md": "was changed here since it came, and at its source, too: stays as it is here",
    }
    assert done.updated == ("memory/notes/c.md",)


def test_what_was_removed_here_stays_away_unless_it_is_asked_for(home: Path, notes: Path) -> None:
    run_import(home, notes, "markdown")
    (home / "memory/notes/a.md").unlink()
    done = run_import(home, notes, "markdown")
    assert [item.what for item in done.left_unchanged] == ["memory/notes/a.md"]
    assert "memory/notes/a.md" not in pages(home)
    assert run_import(home, notes, "markdown", again=True).added == ("memory/notes/a.md",)


def test_undo_takes_a_whole_import_back_and_it_can_come_again(home: Path, notes: Path) -> None:
    Memory(home, clock=FrozenClock()).call("update_world", {"topic": "tea", "content": "Green"})
    before = pages(home)
    run_import(home, notes, "markdown")
    opened = Home(str(home), clock=FrozenClock())
    last = timeline.list_changes(opened)[-1:]
    assert last[0].by == "import (markdown)"
    assert last[0].why == "from markdown"
    done = timeline.undo(opened, timeline.include_same_calls(opened, last))
    assert [each.problem for each in done] == ["", "", ""]
    assert pages(home) == before
    assert len(run_import(home, notes, "markdown").added) == 3


def test_without_the_import_log_nothing_is_lost_and_nothing_overwritten(home: Path, notes: Path) -> None:
    run_import(home, notes, "markdown")
    put(home, "memory/notes/a.md", "Mine now")
    (home / ".imports/receipts").unlink()
    done = run_import(home, notes, "markdown")
    assert [other for _, other in done.renamed] == ["memory/notes/a.md"]
    assert pages(home)["memory/notes/a.md"] == "Mine now"
    assert len(done.same) == 2


def test_the_import_log_says_nothing_of_what_was_imported(home: Path, notes: Path) -> None:
    run_import(home, notes, "markdown")
    text = (home / ".imports/receipts").read_text()
    assert "note" not in text.lower()
    assert len(text.split()) == 6
    assert (home / ".imports/receipts").stat().st_mode & 0o077 == 0
    assert [place.name for place in (home / ".imports").iterdir()] == ["receipts"]


def test_a_torn_line_of_the_import_log_spoils_no_other(home: Path, notes: Path) -> None:
    run_import(home, notes, "markdown")
    log = home / ".imports/receipts"
    log.write_bytes(log.read_bytes() + b"\n0123 45")
    put(notes, "d.md", "Note d")
    assert run_import(home, notes, "markdown").added == ("memory/notes/d.md",)
    again = run_import(home, notes, "markdown")
    assert (again.added, len(again.same)) == ((), 4)


def test_agents_each_get_their_own(home: Path, tmp_path: Path) -> None:
    source = chatgpt_zip(tmp_path / "c.zip", [chatgpt_talk()])
    assert run_import(home, source).added[0].startswith("agents/main/")
    assert run_import(home, source, agent="scout").added[0].startswith("agents/scout/")


KEY = "ghp_" + "aZ3kQ9xT7mB2vN5cR8wY1pL4sD6fG0hJ2kXq"
SECRET = f"The token is {KEY}"


def test_secrets_are_reported_redacted_or_refused_as_the_settings_say(tmp_path: Path) -> None:
    talk = chatgpt_talk(said=(SECRET, "Noted."))
    source = chatgpt_zip(tmp_path / "c.zip", [talk, chatgpt_talk("c-2")])
    warned = run_import(tmp_path / "warn", source)
    assert "looks like a secret" in warned.warnings[0]
    assert warned.warnings[0].startswith("agents/main/sessions/chatgpt-2023-11-14-c-1.jsonl: ")
    assert KEY not in warned.warnings[0]
    assert run_import(tmp_path / "warn", source).warnings == ()
    put(tmp_path / "redact", "commonplace.yaml", "secrets: redact\n")
    redacted = run_import(tmp_path / "redact", source)
    assert len(redacted.added) == 2
    assert KEY not in "".join(pages(tmp_path / "redact").values())
    put(tmp_path / "refuse", "commonplace.yaml", "secrets: refuse\n")
    refused = run_import(tmp_path / "refuse", source)
    assert len(refused.added) == 1
    assert KEY not in "".join(pages(tmp_path / "refuse").values())
    assert "looks like a secret" in whys(refused)["conversation c-1"]


def test_a_key_of_a_page_and_a_record_is_guarded_as_well(tmp_path: Path) -> None:
    put(tmp_path / "notes", "a.md", SECRET)
    put(tmp_path / "home", "commonplace.yaml", "secrets: refuse\n")
    done = run_import(tmp_path / "home", tmp_path / "notes", "markdown")
    assert (done.added, len(done.skipped)) == ((), 1)


RUN = """
import sys
from commonplace.home import Home
from commonplace.importers import import_source

def progress(what, done, total):
    if what == "writing":
        print(done, flush=True)
        sys.stdin.readline()

import_source(Home(sys.argv[1]), sys.argv[2], progress=progress)
"""


def test_an_import_that_was_killed_goes_on_where_it_was_and_is_undone_as_one(home: Path, tmp_path: Path) -> None:
    source = mem0_file(tmp_path / "m.json", 500)
    with Program(RUN, str(home), str(source)) as running:
        assert running.stdout.readline().strip() == "200"
        running.send_signal(signal.SIGKILL)
    assert len(pages(home)) == 200
    done = run_import(home, source)
    assert (len(done.added), len(done.same)) == (300, 200)
    files = pages(home)
    assert len(files) == 500
    assert all("likes tea number" in text for text in files.values())
    opened = Home(str(home), clock=FrozenClock())
    changes = [change for change in opened.storage.history.changes() if change.tool == "import"]
    assert (len(changes), len({change.call for change in changes})) == (500, 1)
    assert len(timeline.include_same_calls(opened, changes[-1:])) == 500
    assert not list((home / ".imports").glob("unfinished*"))


@pytest.mark.slow
def test_an_import_killed_at_any_moment_is_completed_by_the_next(home: Path, tmp_path: Path) -> None:
    source = mem0_file(tmp_path / "m.json", 600)
    run = RUN.replace('if what == "writing":', "if True:").replace("sys.stdin.readline()", "pass")
    for count in (1, 300, 599, 600, 601, 602, 603):
        with Program(run, str(home), str(source)) as running:
            for _ in zip(range(count), running.stdout, strict=False):
                pass
            running.send_signal(signal.SIGKILL)
        places = [place for place in home.rglob("m-*.md") if not place.name.startswith(".")]
        assert all("likes tea" in place.read_text() for place in places)
    done = run_import(home, source)
    assert len(done.added) + len(done.same) == 600
    assert done.left_unchanged == ()


def test_two_imports_at_once_bring_everything_once(home: Path, tmp_path: Path) -> None:
    source = mem0_file(tmp_path / "m.json", 300)
    done = []
    threads = [threading.Thread(target=lambda: done.append(run_import(home, source))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 2
    assert [each.left_unchanged for each in done] == [(), ()]
    assert len(pages(home)) == 300


def test_one_page_that_cannot_be_written_stops_no_other(home: Path, notes: Path) -> None:
    put(home, "memory/notes/sub", "a file where a folder should be")
    put(notes, "sub/deep.md", "deep")
    (home / "memory/link").symlink_to(home)
    done = run_import(home, notes, "markdown")
    assert len(done.added) == 3
    why = whys(done)["sub/deep.md"]
    assert "a file is where a folder should be" in why or "beside the page memory/notes/sub: use another" in why


def test_a_folder_that_is_a_link_is_not_written_through(home: Path, notes: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (home / "memory").mkdir(parents=True)
    (home / "memory/notes").symlink_to(tmp_path / "outside")
    done = run_import(home, notes, "markdown")
    assert list((tmp_path / "outside").iterdir()) == []
    assert done.added == ()
    assert all("through a link" in why for why in whys(done).values())


def test_what_comes_is_found_and_signed(home: Path, notes: Path) -> None:
    memory = Memory(home, clock=FrozenClock())
    memory.search("anything")
    run_import(home, notes, "markdown")
    assert memory.search("Note b")[0].path == "memory/notes/b.md"


def test_an_empty_source_is_an_error_not_a_success(home: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(StorageError, match="nothing was found"):
        run_import(home, tmp_path / "empty", "markdown")
    assert not home.exists()


@pytest.mark.thorough
@pytest.mark.slow
def test_ten_thousand_memories_cost_what_each_of_them_costs(home: Path, tmp_path: Path) -> None:
    def count_import(count: int) -> int:
        source = mem0_file(tmp_path / f"{count}.json", count)
        target = home / str(count)
        calls = count_calls(lambda: imports.append(run_import(target, source)))
        assert len(imports[-1].added) == count
        assert len(run_import(target, source).same) == count
        return calls

    imports: list[ImportReport] = []
    assert count_import(10_000) < 5 * count_import(2_500)
