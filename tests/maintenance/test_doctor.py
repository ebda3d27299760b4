"""Doctor: everything that can be wrong is reported with what to do; what needs no guessing is repaired, and can be undone."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory, NotFound, Page
from commonplace.maintenance.doctor import CHECKS, Finding, Report, examine
from commonplace.maintenance.doctor.file_checks import find_index_problems, survey_home
from commonplace.maintenance.timeline import undo
from commonplace.storage.base import MAX_PAGE_CHARACTERS
from commonplace.testing import FrozenClock

from ..costs import count_calls
from ..test_bad_input import fill
from ..test_odd_homes import put

FOOTER = "<!-- agentool-memory: at={} -->\n"
DAYS = "agents/main/memory/daily"


@pytest.fixture
def sick(home: Path, memory: Memory) -> Path:
    """A home that is well, to make ill."""
    fill(memory)
    memory.close()
    return home


def look(home: Path, clock: FrozenClock, *, fix: bool = False, later: float = 120.0) -> Report:
    """What doctor says, a while later: what was made just now has settled."""
    return examine(str(home), clock=clock, fix=fix, now=lambda: time.time() + later)


def find_problems(home: Path, clock: FrozenClock, check: str) -> list[Finding]:
    """What doctor says about one thing. (The pages that tests put beside the index make it fall behind.)"""
    report = look(home, clock)
    assert {each.check for each in report.findings} <= {check, "index"}, report.findings
    return [each for each in report.findings if each.check == check]


def only(home: Path, clock: FrozenClock, check: str) -> Finding:
    (finding,) = find_problems(home, clock, check)
    return finding


def mend(home: Path, clock: FrozenClock, check: str) -> Finding:
    (finding,) = [each for each in look(home, clock, fix=True).findings if each.check == check]
    return finding


def contents(home: Path) -> dict[str, bytes]:
    """Everything in a home but the index, which is not memory."""
    files = (path for path in home.rglob("*") if path.is_file() and ".index" not in path.parts)
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


def note(key: str, content: str, at: str = "2026-03-14T09:27:00.000000Z") -> str:
    return f"### {key}\n\n{content}\n\n{FOOTER.format(at)}\n"


@pytest.mark.parametrize("layout", ["native", "agentool", "duragent", "openclaw"])
def test_a_home_made_by_all_toolsets_is_well(home: Path, clock: FrozenClock, layout: str) -> None:
    put(home, "commonplace.yaml", f"layout: {layout}\nmemorySearch:\n  indexSessions: true\n")
    home.chmod(0o700)
    with Memory(home, clock=clock) as memory, Memory(home, agent="My Scout!", clock=clock) as scout:
        fill(memory)
        if layout == "agentool":  # whose agents share their keys
            scout.call("write_memory", {"key": "k", "content": "v"})
        else:
            fill(scout)
    assert look(home, clock).findings == ()
    with Memory(home, clock=clock) as memory:
        memory.home.build_index(lambda *_: None)
    report = look(home, clock)
    assert report.findings == ()
    assert report.is_well
    assert report.checked["agents"] == 2
    assert report.checked["pages"] > 10


def test_an_empty_home_and_a_page_without_front_matter_are_well(home: Path, clock: FrozenClock) -> None:
    home.mkdir(mode=0o700)
    assert look(home, clock).findings == ()
    put(home, "agents/x/memory/working/plan.md", "just text\n")
    with Memory(home, clock=clock) as memory:
        memory.search("text")
    assert look(home, clock).findings == ()


def test_a_home_that_is_not_there_is_reported_and_not_made(home: Path, clock: FrozenClock) -> None:
    with pytest.raises(NotFound, match="commonplace init"):
        look(home, clock, fix=True)
    assert not home.exists()


def make_ill(home: Path) -> None:
    """Something for every check."""
    put(home.parent, ".git/HEAD", "ref: refs/heads/main\n")
    Memory(home).close()  # in a repository, it keeps what is derived out of it
    put(home, "memory/global/work/k.md", "another value")
    put(home, f"{DAYS}/2026-03-13.md", note("k", "another", "2026-03-13T00:00:00Z"))
    put(home, f"{DAYS}/2026-03-12.md", note("k", "v", "2026-03-12T00:00:00Z"))
    put(home, "memory/global/work/broken.md", "---\ntags: [\n---\n\nv\n")
    put(home, "memory/global/work/json.md", "---\ntype: json\n---\n\n{\n")
    put(home, "memory/latin.md", b"caf\xe9")
    put(home, "memory/.a.md.0123456789ab.tmp", "never written")
    put(home, "memory/large.md", "tea\n" * 20_000)
    put(home, "memory/secret.md", "token ghp_" + "a1B2c3D4e5" * 4)
    put(home, f"{DAYS}/2027-01-01.md", "# 2027-01-01\n")
    put(home, "README.md", "hello")
    put(home, "memory/merged.md", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> bob\n")
    put(home, "memory/Case.md", "one")
    put(home, "memory/case.md", "two")
    (home / "memory/link.md").symlink_to("case.md")
    put(home, "agents/other/agent.yaml", "spec:\n  memory:\n    backend: tape\n")
    put(home, "memory/pinned.md", "Login takes one user.\n<!-- pinned: src/nowhere.py 0123456789abcdef -->\n")
    put(home, ".index/words-1-00000000.sqlite", "old")
    os.utime(home / ".index/words-1-00000000.sqlite", (0, 0))
    home.chmod(0o755)


def test_every_check_finds_something_and_changes_nothing_unless_it_is_asked_to(sick: Path, clock: FrozenClock) -> None:
    make_ill(sick)
    before = contents(sick)
    report = look(sick, clock)
    assert {each.check for each in report.findings} == {*CHECKS} - {"tables"}  # those of a database
    assert not any(each.fixed for each in report.findings)
    assert all(each.what and each.advice for each in report.findings)
    assert contents(sick) == before
    assert stat_mode(sick) == 0o755


def test_what_is_mended_stays_so_and_the_rest_needs_a_person(sick: Path, clock: FrozenClock) -> None:
    make_ill(sick)
    first = look(sick, clock, fix=True)
    assert {each.check for each in first.findings if each.fixed} == {
        "unreadable", "duplicate-notes", "permissions", "leftovers", "index", "old-indexes"
    }  # fmt: skip
    second = look(sick, clock, fix=True)
    assert [each for each in second.findings if each.fixable] == []
    left = [each for each in first.findings if not each.fixed]
    assert [(each.check, each.path) for each in second.findings] == [(each.check, each.path) for each in left]


def stat_mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_of_two_notes_with_one_key_the_one_that_is_read_is_named(sick: Path, clock: FrozenClock) -> None:
    put(sick, f"{DAYS}/2026-03-10.md", note("k", "older", "2026-03-10T00:00:00Z"))
    finding = only(sick, clock, "duplicate-notes")
    assert (finding.path, finding.line, finding.fixable) == (f"{DAYS}/2026-03-10.md", 1, False)
    counts = finding.what.split(": ")[1].split("#")[0]
    assert counts == f"{DAYS}/2026-03-14.md"
    with Memory(sick, clock=clock) as memory:
        assert f"agents/main/memory/{memory.call('memory_read', {'key': 'k'})['data']['file']}" == counts
    put(sick, "agents/main/memory/MEMORY.md", note("k", "in the summary", "2025-01-01T00:00:00Z"))
    assert {each.path for each in find_problems(sick, clock, "duplicate-notes")} == {
        f"{DAYS}/2026-03-10.md",
        f"{DAYS}/2026-03-14.md",
    }


def test_of_two_notes_that_say_the_same_one_is_removed_and_comes_back(sick: Path, clock: FrozenClock) -> None:
    page = put(sick, f"{DAYS}/2026-03-10.md", "# 2026-03-10\n\n" + note("k", "v", "2026-03-10T00:00:00Z"))
    twice = put(sick, f"{DAYS}/2026-03-11.md", note("tea", "green") + "between\n\n" + note("tea", "green"))
    before = page.read_bytes(), twice.read_bytes()
    report = look(sick, clock, fix=True)
    assert [each.fixed for each in report.findings if each.check == "duplicate-notes"] == [True, True]
    assert page.read_text() == "# 2026-03-10\n\n"
    assert twice.read_text() == "between\n\n" + note("tea", "green")
    with Memory(sick, clock=clock) as memory:
        assert memory.call("memory_read", {"key": "k"})["data"]["content"] == "v"
        history = memory.home.storage.history
        for path in (page, twice):
            name = str(path.relative_to(sick))
            last = history.changes(name)[-1]
            assert (last.tool, last.agent) == ("doctor", "main")
            assert "twice" in last.why
            assert undo(memory.home, [last])[0].problem == ""
    assert (page.read_bytes(), twice.read_bytes()) == before


def test_headings_that_a_person_repeats_on_one_page_are_no_keys(sick: Path, clock: FrozenClock) -> None:
    put(sick, f"{DAYS}/2026-03-10.md", "## Ann\n\n### Likes\n\ntea\n\n## Bob\n\n### Likes\n\nmilk\n")
    assert find_problems(sick, clock, "duplicate-notes") == []
    put(sick, f"{DAYS}/2026-03-11.md", "### Likes\n\nwater\n")
    assert len(find_problems(sick, clock, "duplicate-notes")) == 2


def test_notes_of_two_agents_do_not_meet(sick: Path, clock: FrozenClock) -> None:
    put(sick, "agents/other/memory/daily/2026-03-10.md", note("k", "mine"))
    assert find_problems(sick, clock, "duplicate-notes") == []
    put(sick, "agents/other/memory/daily/2026-03-11.md", note("k", "mine too"))
    assert only(sick, clock, "duplicate-notes").path == "agents/other/memory/daily/2026-03-10.md"


def test_a_record_in_two_categories_is_reported_with_the_one_that_is_read(sick: Path, clock: FrozenClock) -> None:
    put(sick, "memory/global/work/k.md", "---\nupdated_at: 2026-03-15T00:00:00Z\n---\n\nnewer\n")
    clock.advance(days=2)
    finding = only(sick, clock, "duplicate-records")
    assert finding.path == "memory/global/general/k.md"
    assert "memory/global/work/k.md counts" in finding.what
    assert not finding.fixable
    with Memory(sick, clock=clock) as memory:
        assert memory.call("MemoryTool", {"op": "getGlobal", "key": "k"})["value"] == "newer"


def test_a_record_that_says_the_same_twice_is_removed_once_and_comes_back(sick: Path, clock: FrozenClock) -> None:
    copy = put(sick, "memory/global/work/k.md", "---\nupdated_at: 2026-03-01T00:00:00Z\n---\n\nv\n")
    before = copy.read_bytes()
    finding = mend(sick, clock, "duplicate-records")
    assert finding.fixed
    assert not copy.exists()
    with Memory(sick, clock=clock) as memory:
        assert memory.call("MemoryTool", {"op": "getGlobal", "key": "k"})["value"] == "v"
        change = memory.home.storage.history.changes("memory/global/work/k.md")[-1]
        assert f"commonplace undo {change.id}" in finding.advice
        undo(memory.home, [change])
    assert copy.read_bytes() == before


@pytest.mark.parametrize("copy", ["---\ntype: json\n---\n\n1\n", "---\nmine: too\n---\n\n1\n", "---\na: [\n---\n\n1\n"])
def test_a_record_that_only_looks_the_same_is_left_to_a_person(sick: Path, clock: FrozenClock, copy: str) -> None:
    put(sick, "memory/global/a/one.md", "---\nupdated_at: 2026-03-01T00:00:00Z\n---\n\n1\n")
    page = put(sick, "memory/global/b/one.md", copy)
    done = mend(sick, clock, "duplicate-records")
    assert not done.fixable
    assert page.exists()


def test_what_was_mended_of_another_agent_can_be_taken_back_by_name(sick: Path, clock: FrozenClock) -> None:
    put(sick, "agents/other/memory/daily/2026-03-10.md", note("tea", "green") * 2)
    assert "--everyone" in mend(sick, clock, "duplicate-notes").advice


def test_a_page_that_a_person_named_like_a_key_of_ours_is_reported(sick: Path, clock: FrozenClock) -> None:
    with Memory(sick, clock=clock) as memory:
        memory.call("MemoryTool", {"op": "setChannel", "channelName": "c", "key": "My Key", "value": "ours"})
        ours = memory.home.channels.folder("c").path("My Key")
        put(sick, "memory/channels/c/My Key.md", "theirs")
        assert memory.call("MemoryTool", {"op": "getChannel", "channelName": "c", "key": "My Key"})["value"] == "ours"
    finding = only(sick, clock, "duplicate-records")
    assert finding.path == "memory/channels/c/My Key.md"
    assert f"{ours} counts" in finding.what


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("memory/global/general/x.md", "---\na: b\ntags: [\n---\n\nv\n", 3),
        ("agents/main/memory/working/x.md", "---\na: b: c\n---\n\nv\n", 2),
        ("skills/x/SKILL.md", "---\nname: x\ndescription: a: b\n---\n\ndo\n", 3),
        ("skills/x/SKILL.md", "---\njust text\n---\n\ndo\n", 2),
        ("memory/channels/c/x.md", "---\ntags: [a]\n\nnever closed\n", 1),
    ],
)
def test_broken_front_matter_is_reported_with_its_line(
    sick: Path, clock: FrozenClock, path: str, text: str, line: int
) -> None:
    put(sick, path, text)
    finding = only(sick, clock, "front-matter")
    assert (finding.path, finding.line, finding.fixable) == (path, line, False)


def test_rules_and_broken_yaml_on_pages_of_prose_are_nobodys_business(sick: Path, clock: FrozenClock) -> None:
    put(sick, "memory/world/x.md", "---\ntags: [\n---\n\nprose\n")
    put(sick, "memory/global/general/x.md", "---\nA rule, text, another rule.\n---\n")
    assert find_problems(sick, clock, "front-matter") == []


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("memory/global/general/x.md", "---\ntype: json\n---\n\n{\n", 0),
        ("skills/s/data.json", "{", 0),
        ("skills/s/data.json", "[1]", 0),
        ("agents/main/sessions/s.jsonl", '{"role": "user", "content": "x"}\nno\n{}\nno\n', 2),
    ],
)
def test_what_should_be_json_and_is_not_is_reported(
    sick: Path, clock: FrozenClock, path: str, text: str, line: int
) -> None:
    put(sick, "commonplace.yaml", "memorySearch:\n  indexSessions: true\n")
    put(sick, path, text)
    finding = only(sick, clock, "json")
    assert (finding.path, finding.line) == (path, line)


def test_a_page_that_is_not_utf_8_or_no_file_is_reported(sick: Path, clock: FrozenClock) -> None:
    put(sick, "memory/latin.md", b"caf\xe9")
    os.mkfifo(sick / "memory/pipe.md")
    latin, pipe = find_problems(sick, clock, "unreadable")
    assert (latin.path, latin.what) == ("memory/latin.md", "is not UTF-8 text (byte 3)")
    assert "save it as UTF-8" in latin.advice
    assert (pipe.path, "regular file" in pipe.what) == ("memory/pipe.md", True)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"The caf\xe9 opens at 9.\n", "The café opens at 9.\n"),
        ("Grüße von Jörg.\n".encode() + b"Gr\xfc\xdfe von Jos\xe9.\r\n", "Grüße von Jörg.\nGrüße von José.\r\n"),
    ],
)
def test_bytes_of_an_older_editor_are_read_as_what_they_mean(
    sick: Path, clock: FrozenClock, data: bytes, text: str
) -> None:
    page = put(sick, "memory/world/latin.md", data)
    finding = only(sick, clock, "unreadable")
    assert "let --fix do it" in finding.advice
    done = mend(sick, clock, "unreadable")
    assert (done.fixed, page.read_bytes().decode()) == (True, text)
    assert look(sick, clock).findings == ()
    with Memory(sick, clock=clock) as memory:
        history = memory.home.storage.history
        first = history.changes("memory/world/latin.md")[0]
        assert history.read_version("memory/world/latin.md", first.version) == data


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("memory/world/a.md", "Привет, как дела?".encode("cp1251")),
        ("memory/world/a.md", "会議は三時".encode("shift-jis")),
        ("memory/world/a.md", "café".encode("utf-16")),
        ("memory/world/a.md", b"a\x81b"),
        ("directives/a.md", b"Never open the caf\xe9.\n"),
    ],
    ids=["Cyrillic", "Japanese", "UTF-16", "undefined", "rules"],
)
def test_bytes_of_another_alphabet_and_rules_are_left_to_a_person(
    sick: Path, clock: FrozenClock, path: str, data: bytes
) -> None:
    page = put(sick, path, data)
    done = mend(sick, clock, "unreadable")
    assert (done.fixable, done.fixed, page.read_bytes()) == (False, False, data)


def test_a_page_that_the_disk_refuses_is_reported(
    sick: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(sick, "memory/a.md", "x")
    real = os.open

    def refuse(path: Any, *rest: Any, **more: Any) -> int:
        if os.path.basename(str(path)) == "a.md":
            raise PermissionError(13, "Permission denied", path)
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    finding = only(sick, clock, "unreadable")
    assert (finding.path, finding.what) == ("memory/a.md", "permission denied")


def leave(home: Path, text: str, name: str = ".t.md.0123456789ab.tmp", folder: str = "memory/world") -> Path:
    return put(home, f"{folder}/{name}", text)


def test_a_temporary_file_that_holds_what_is_kept_elsewhere_is_removed(sick: Path, clock: FrozenClock) -> None:
    with Memory(sick, clock=clock) as memory:
        memory.call("update_world", {"topic": "t", "content": "newer"})
    left = [leave(sick, text, f".t.md.00000000000{n}.tmp") for n, text in enumerate(("", "v", "newer"))]
    answer = [each.what.split("it holds ")[1] for each in find_problems(sick, clock, "leftovers")]
    assert answer == ["nothing", "a version of that page that history has", "the same as that page"]
    assert all(each.fixed for each in look(sick, clock, fix=True).findings)
    assert not any(path.exists() for path in left)
    assert (sick / "memory/world/t.md").read_text() == "newer"


@pytest.mark.parametrize("page", ["t", "gone"])
def test_what_only_a_temporary_file_holds_is_put_into_history_before_it_goes(
    sick: Path, clock: FrozenClock, page: str
) -> None:
    left = leave(sick, "an editor saved this", f".{page}.md.0123456789ab.tmp")
    path = f"memory/world/{page}.md"
    before = contents(sick)
    finding = only(sick, clock, "leftovers")
    assert "20 bytes that are in no version" in finding.what
    assert left.exists()
    done = mend(sick, clock, "leftovers")
    assert done.fixed
    assert not left.exists()
    assert contents(sick).get(path) == before.get(path)
    with Memory(sick, clock=clock) as memory:
        versions = memory.home.storage.history.versions(path)
        assert b"an editor saved this" in [data for _, data in versions]
        assert versions[-1][1] == before.get(path)
        holder = next(change for change, data in versions if data == b"an editor saved this")
    assert f"commonplace restore {path} --as-of {holder.id}" in done.advice
    assert find_problems(sick, clock, "leftovers") == []


def test_a_temporary_file_of_something_else_is_left_to_a_person(sick: Path, clock: FrozenClock) -> None:
    left = leave(sick, "a whole archive", ".backup.zip.0123456789ab.tmp")
    assert not mend(sick, clock, "leftovers").fixed
    assert left.exists()


def test_a_temporary_file_of_a_write_that_may_be_under_way_is_left_alone(sick: Path, clock: FrozenClock) -> None:
    left = leave(sick, "in a moment")
    os.utime(left, (0, 0))  # a page that changed places with its successor keeps its old time
    assert look(sick, clock, later=30.0, fix=True).findings == ()
    assert left.exists()


def test_a_temporary_file_stays_when_history_cannot_take_it(sick: Path, clock: FrozenClock) -> None:
    left = leave(sick, "precious")
    shutil.rmtree(sick / ".history")
    (sick / ".history").write_text("in the way")
    done = mend(sick, clock, "leftovers")
    assert not done.fixed
    assert "history" in done.what
    assert left.read_text() == "precious"


def test_a_file_where_history_should_be_is_reported(sick: Path, clock: FrozenClock) -> None:
    shutil.rmtree(sick / ".history")
    (sick / ".history").write_text("in the way")
    assert only(sick, clock, "unreadable").path == ".history"


def test_what_a_rewriting_of_history_left_is_removed_if_history_is_whole(sick: Path, clock: FrozenClock) -> None:
    slot = next((sick / ".history").iterdir()).name
    left = leave(sick, "half", f".{slot}.0123456789ab.tmp", ".history")
    stray = leave(sick, "all there is", ".zz.jsonl.0123456789ab.tmp", ".history")
    before = (sick / ".history" / slot).read_bytes()
    fixed = {each.path: each.fixed for each in look(sick, clock, fix=True).findings}
    assert fixed == {f".history/{left.name}": True, f".history/{stray.name}": False}
    assert not left.exists()
    assert stray.exists()
    assert (sick / ".history" / slot).read_bytes() == before


def test_files_open_to_others_are_reported_once_a_folder_and_closed(sick: Path, clock: FrozenClock) -> None:
    pages = [put(sick, f"memory/{name}.md", "x") for name in "ab"]
    for path in (sick, sick / "memory", *pages):
        path.chmod(path.stat().st_mode | 0o055)
    home, folder = find_problems(sick, clock, "permissions")
    assert (home.path, folder.path) == (".", "memory")
    assert "0755" in folder.what
    assert "2 pages in it" in folder.what
    assert [each.fixed for each in look(sick, clock, fix=True).findings] == [True, True, True]
    assert [stat_mode(path) for path in (sick, sick / "memory")] == [0o700, 0o700]
    assert {stat_mode(path) & 0o077 for path in pages} == {0}
    assert look(sick, clock).is_well


def test_below_a_closed_folder_nothing_is_open(sick: Path, clock: FrozenClock) -> None:
    page = put(sick, "memory/a.md", "x")
    page.chmod(0o644)
    assert find_problems(sick, clock, "permissions") == []
    sick.chmod(0o711)
    (sick / "memory").chmod(0o711)
    finding = only(sick, clock, "permissions")
    assert (finding.path, "0644" in finding.what) == ("memory/a.md", True)


def test_links_are_reported_wherever_they_lead(sick: Path, clock: FrozenClock, tmp_path: Path) -> None:
    outside = put(tmp_path, "outside/x.md", "classified")
    for name, target in (("in.md", "world/t.md"), ("nowhere.md", "none.md"), ("out", str(outside.parent))):
        (sick / "memory" / name).symlink_to(target)
    inside, nowhere, out = find_problems(sick, clock, "links")
    assert inside.what == "is a link, to world/t.md"
    assert nowhere.what == "is a link, to none.md, which is not there"
    assert out.what.startswith("is a link out of the home")


def test_an_index_that_is_missing_or_behind_is_reported_and_caught_up(sick: Path, clock: FrozenClock) -> None:
    shutil.rmtree(sick / ".index")
    assert only(sick, clock, "index").what == "there is no index"
    assert mend(sick, clock, "index").fixed
    assert look(sick, clock).findings == ()
    put(sick, "memory/a.md", "papaya")
    (sick / "memory/world/t.md").unlink()
    finding = only(sick, clock, "index")
    assert "2 pages (memory/a.md, memory/world/t.md)" in finding.what
    assert mend(sick, clock, "index").fixed
    assert look(sick, clock).findings == ()
    assert Memory(sick, clock=clock).search("papaya")


def index_of(home: Path) -> Path:
    (path,) = (home / ".index").glob("words-*.sqlite")
    return path


def test_an_index_that_says_something_else_and_does_not_know_it_is_rebuilt(
    sick: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(sick, "memory/a.md", "papaya")
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 10**9)  # long enough ago for its stamp to be believed
    with Memory(sick, clock=clock) as memory:
        memory.search("papaya")
    with closing(sqlite3.connect(index_of(sick), isolation_level=None)) as db:
        db.execute("UPDATE pages SET version = 'of another text' WHERE path = 'memory/a.md'")
    finding = only(sick, clock, "index")
    assert "differs from 1 page (memory/a.md)" in finding.what
    assert mend(sick, clock, "index").fixed
    assert look(sick, clock).findings == ()


def test_a_damaged_index_is_reported_and_rebuilt(sick: Path, clock: FrozenClock) -> None:
    damaged = bytearray(index_of(sick).read_bytes())
    damaged[8192:40960] = b"\xa5" * 32768
    index_of(sick).write_bytes(damaged)
    assert "the index is damaged" in only(sick, clock, "index").what
    assert mend(sick, clock, "index").fixed
    assert look(sick, clock).findings == ()
    index_of(sick).write_bytes(b"no database at all" * 1000)
    assert mend(sick, clock, "index").fixed
    assert Memory(sick, clock=clock).call("memory_search", {"query": "v"})["results"]


def test_an_index_of_another_version_is_removed_when_nobody_uses_it(sick: Path, clock: FrozenClock) -> None:
    old = [put(sick, f".index/words-1-0123abcd{end}", "old") for end in (".sqlite", "-static-1.vectors")]
    put(sick, ".index/words-2-0123abcd.sqlite", "in use")
    for path in old:
        os.utime(path, (0, 0))
    assert only(sick, clock, "old-indexes").path == ".index/words-1-0123abcd"
    assert mend(sick, clock, "old-indexes").fixed
    assert not any(path.exists() for path in old)
    assert (sick / ".index/words-2-0123abcd.sqlite").exists()
    assert look(sick, clock).findings == ()


def test_large_pages_are_reported(sick: Path, clock: FrozenClock) -> None:
    put(sick, "memory/huge.md", "x" * (MAX_PAGE_CHARACTERS + 1))
    put(sick, "memory/large.md", "tea\n" * 20_000)
    put(sick, "memory/small.md", "tea\n" * 10_000)
    huge, large = find_problems(sick, clock, "oversize")
    assert f"only {MAX_PAGE_CHARACTERS} are searched, of its longest parts the beginning" in huge.what
    assert "80 KB" in large.what


def test_dates_in_the_future_are_reported(sick: Path, clock: FrozenClock) -> None:
    late = "2027-01-01T00:00:00Z"
    put(sick, "memory/global/general/x.md", f"---\ntags: [a]\nupdated_at: {late}\n---\n\nv\n")
    put(sick, "skills/x/SKILL.md", f"---\nname: x\ndescription: d\nmetadata:\n  created_at: {late}\n---\n\ndo\n")
    put(sick, f"{DAYS}/2026-03-10.md", "# 2026-03-10\n\n" + note("late", "v", late))
    put(sick, f"{DAYS}/2026-03-15.md", "# tomorrow\n")
    put(sick, "agents/main/memory/activity/2026-03-16.md", "Daily activity log\n")
    ahead = put(sick, "memory/ahead.md", "x")
    os.utime(ahead, (time.time() + 200_000,) * 2)
    assert {(each.path, each.line) for each in find_problems(sick, clock, "future")} == {
        ("memory/global/general/x.md", 3),
        ("skills/x/SKILL.md", 5),
        (f"{DAYS}/2026-03-10.md", 3),
        (f"{DAYS}/2026-03-15.md", 0),
        ("agents/main/memory/activity/2026-03-16.md", 0),
        ("memory/ahead.md", 0),
    }


def test_a_file_time_that_no_calendar_knows_stops_nothing(sick: Path, clock: FrozenClock) -> None:
    put(sick, "memory/global/general/x.md", "v")
    os.utime(sick / "memory/global/general/x.md", (2**35, 2**35))
    assert only(sick, clock, "future").path == "memory/global/general/x.md"
    look(sick, clock, fix=True)
    assert [each.check for each in look(sick, clock).findings] == ["future"]


def test_a_plan_for_a_coming_day_and_a_clock_that_differs_are_fine(sick: Path, clock: FrozenClock) -> None:
    put(sick, "memory/2027-01-01.md", "new year\n")
    put(sick, f"{DAYS}/2026-03-10.md", note("soon", "v", "2026-03-14T09:30:00Z"))
    assert find_problems(sick, clock, "future") == []


def test_names_that_other_systems_take_for_one_are_reported(sick: Path, clock: FrozenClock) -> None:
    for name in ("Tea.md", "tea.md", "caf\u00e9.md", "cafe\u0301.md", "Folder/a.md", "folder/b.md"):
        put(sick, f"memory/{name}", "x")
    folder, accent, case = sorted(find_problems(sick, clock, "names"), key=lambda each: each.what)
    assert folder.what == "differs from memory/Folder only by case"
    assert case.what == "differs from memory/cafe\u0301.md only by the way accents are written"
    assert accent.what == "differs from memory/Tea.md only by case"


def test_a_name_that_is_no_text_is_reported(sick: Path, clock: FrozenClock) -> None:
    with open(os.path.join(os.fsencode(sick), b"memory/\xff.md"), "wb") as file:
        file.write(b"x")
    os.mkdir(os.path.join(os.fsencode(sick), b"memory/d\xff"))
    assert [each.what for each in find_problems(sick, clock, "names")] == ["has a name that is not UTF-8"] * 2


def test_secrets_are_reported_by_their_kind_and_never_shown(sick: Path, clock: FrozenClock) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    put(sick, "memory/a.md", f"one\n\nthe token is {secret}\n")
    put(sick, "directives/b.md", f"use {secret}\n")
    report = look(sick, clock, fix=True)
    answer = [each for each in report.findings if each.check == "secrets"]
    assert [(each.path, each.line, each.fixed) for each in answer] == [
        ("directives/b.md", 1, False),
        ("memory/a.md", 3, False),
    ]
    assert "GitHub token" in answer[0].what
    assert secret not in str(report)


def test_settings_that_cannot_be_read_are_reported_with_their_line(sick: Path, clock: FrozenClock) -> None:
    put(sick, "agents/other/agent.yaml", "spec:\n  memory:\n    backend: tape\n")
    put(sick, "agents/main/agent.yaml", "spec: [\n")
    main, other = find_problems(sick, clock, "settings")
    assert (main.path, other.path, other.line) == ("agents/main/agent.yaml", "agents/other/agent.yaml", 3)
    put(sick, "commonplace.yaml", "layout: native\nlayuot: native\n")
    (finding,) = look(sick, clock, fix=True).findings
    assert (finding.path, finding.line) == ("commonplace.yaml", 2)
    assert "unknown key 'layuot'" in finding.what
    put(sick, "commonplace.yaml", b"\xff")
    (finding,) = look(sick, clock).findings
    assert "UTF-8" in finding.what


def test_pages_that_nobody_reads_are_reported(sick: Path, clock: FrozenClock) -> None:
    nobodys = ["README.md", "agents/main/plan.md", "directives/deep/x.md", "memory/Upper.MD", "skills/loose.md"]
    nobodys.append("skills/wrong/skill.md")
    for path in nobodys:
        put(sick, path, "x")
    for path in ("skills/s/references/r.md", "memory/deep/er/x.md", "memory/.hidden/x.md", ".git/x.md"):
        put(sick, path, "x")
    assert [each.path for each in find_problems(sick, clock, "unread")] == sorted(nobodys)
    put(sick, "commonplace.yaml", "memorySearch:\n  extraPaths: [README.md]\n")
    assert "README.md" not in [each.path for each in find_problems(sick, clock, "unread")]


def test_in_a_folder_of_code_only_the_memory_is_looked_at(home: Path, clock: FrozenClock) -> None:
    put(home, "commonplace.yaml", "layout: agentool\n")
    put(home, "src/deep/README.md", "code")
    put(home, "README.md", "code")
    put(home, "readme.md", "code")
    home.chmod(0o755)
    with Memory(home, clock=clock) as memory:
        fill(memory)
    put(home, ".agent/lost.md", "x")
    (finding,) = look(home, clock).findings
    assert (finding.check, finding.path) == ("unread", ".agent/lost.md")


def test_nothing_is_mended_that_history_could_not_give_back(sick: Path, clock: FrozenClock) -> None:
    copy = put(sick, "memory/global/work/k.md", "---\nupdated_at: 2026-03-01T00:00:00Z\n---\n\nv\n")
    shutil.rmtree(sick / ".history")
    (sick / ".history").write_text("in the way")
    done = mend(sick, clock, "duplicate-records")
    assert not done.fixed
    assert "history" in done.advice
    assert copy.exists()


def test_in_folders_that_extra_paths_name_only_what_they_name_is_looked_at(home: Path, clock: FrozenClock) -> None:
    put(home, "commonplace.yaml", "layout: openclaw\nmemorySearch:\n  extraPaths: ['docs/*.md', 'notes/**/*.md']\n")
    home.chmod(0o755)
    for path in ("docs/a.md", "docs/deep/b.md", "docs/A.md", "SOUL.md", "notes/x.md"):
        put(home, path, "x")
    (home / "docs/link.md").symlink_to("a.md")
    put(home, "docs/latin.md", b"caf\xe9")
    put(home, ".MEMORY.md.0123456789ab.tmp", "")
    with Memory(home, clock=clock) as memory:
        fill(memory)
        memory.search("x")
    (home / "memory").chmod(0o700)
    assert [(each.check, each.path) for each in look(home, clock).findings] == [
        ("unreadable", "docs/latin.md"),
        ("leftovers", ".MEMORY.md.0123456789ab.tmp"),
    ]


@pytest.mark.slow
def test_looking_while_others_write_finds_nothing_that_is_not_so(sick: Path, clock: FrozenClock) -> None:
    writer = threading.Thread(target=write_much, args=(sick,))
    writer.start()
    while writer.is_alive():
        findings = examine(str(sick), clock=clock).findings
        assert [each for each in findings if "has not seen" not in each.what] == []
    writer.join()


def test_a_page_that_comes_and_goes_between_two_looks_is_not_held_against_the_index(
    sick: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody writes a page again just before doctor reads it, and removes it right after."""
    page = sick / "memory/fleeting.md"
    page.write_text("here")
    with Memory(sick, clock=clock) as memory:
        pages = memory.home.storage.pages
        read = pages.read
        survey = survey_home(memory.home, time.time())
        assert "memory/fleeting.md" in {entry.path for entry in survey.entries()}
        survey.versions["memory/fleeting.md"] = read("memory/fleeting.md").version
        page.unlink()
        memory.search("here")  # the index notices

        def read_between_two_writes(path: str) -> Page:
            page.write_text(f"here again {next(numbers)}")
            try:
                return read(path)
            finally:
                page.unlink()

        numbers = itertools.count()
        monkeypatch.setattr(pages, "read", read_between_two_writes)
        assert [each for each in find_index_problems(survey) if "says something else" in each.what] == []


def write_much(home: Path) -> None:
    with Memory(home, clock=FrozenClock()) as memory:
        for number in range(100):
            memory.call("MemoryTool", {"op": "setGlobal", "key": f"k{number % 7}", "value": number})
            memory.call("remember", {"content": f"entry {number}"})
            memory.call("MemoryTool", {"op": "deleteGlobal", "key": f"k{(number + 3) % 7}"})


@pytest.mark.thorough
@pytest.mark.slow
def test_ten_thousand_pages_are_looked_at_at_the_cost_of_each(home: Path, clock: FrozenClock) -> None:
    def examine_all() -> None:
        reports.append(look(home, clock))

    home.mkdir(mode=0o700)
    reports: list[Report] = []
    calls = []
    for numbers in (range(2_500), range(2_500, 10_000)):
        for number in numbers:
            put(home, f"memory/global/c{number % 20}/k{number}.md", f"---\ntags: [a]\n---\n\nvalue {number}\n")
        calls.append(count_calls(examine_all))
    assert [report.checked["pages"] for report in reports] == [2_500, 10_000]
    assert calls[1] < 5 * calls[0]


def test_every_check_is_described() -> None:
    text = (Path(__file__).parents[2] / "docs/doctor.md").read_text()
    assert re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE) == [*CHECKS]


def test_the_markers_of_a_merge_conflict_are_found(sick: Path, clock: FrozenClock) -> None:
    page = sick / "memory/world/tea.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("Tea\n\n<<<<<<< HEAD\ngreen\n=======\nblack\n>>>>>>> bob\n")
    (sick / "memory/world/rules.md").write_text("Title\n=======\n\ntext\n")
    finding = only(sick, clock, "merge-conflicts")
    assert (finding.path, finding.line) == ("memory/world/tea.md", 3)
