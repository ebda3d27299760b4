"""Facts that may not hold are listed for a person, and one answer settles each."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from commonplace import Memory
from commonplace.errors import InvalidArgument, NotFound
from commonplace.maintenance.doubts import answer_doubt, list_doubts, pin_page, summarize_doubts
from commonplace.surfaces.cli import cli
from commonplace.surfaces.http.auth import AccessRules
from commonplace.testing import FrozenClock

from ..surfaces.http.api import api
from ..surfaces.http.test_attacks import token

OLD = "The launch is on 12 November."
NEW = "The launch is on 26 November."


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(datetime(2026, 3, 2, 9, tzinfo=UTC))


@pytest.fixture
def memory(tmp_path: Path, clock: FrozenClock) -> Memory:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "auth.py").write_text("a = 1")
    memory = Memory(tmp_path / "home", clock=clock)
    memory.call("remember", {"content": OLD})
    clock.now += timedelta(days=3)
    memory.call("remember", {"content": NEW})
    return memory


def successors(memory: Memory) -> dict[str, str]:
    hits = memory.search("when is the launch?")
    return {hit.superseded_by.was: hit.superseded_by.text for hit in hits if hit.superseded_by}


def test_nobody_is_asked_about_lines_of_the_activity_log(tmp_path: Path, clock: FrozenClock) -> None:
    memory = Memory(tmp_path / "other", clock=clock)
    for key in ("is it raining?", "umbrella"):
        memory.call("write_memory", {"key": key, "content": "blue"})
        clock.advance(minutes=1)
    assert list_doubts(memory.home) == []


def test_both_sides_are_listed_with_their_days_and_authors(memory: Memory) -> None:
    (doubt,) = list_doubts(memory.home)
    assert doubt.newer
    assert (doubt.kind, doubt.older.text, doubt.newer.text) == ("replaced", OLD, NEW)
    assert (doubt.older.at[:10], doubt.newer.at[:10]) == ("2026-03-02", "2026-03-05")
    assert doubt.older.citation == "agents/main/memory/daily/2026-03-02.md#L5-L5"
    assert doubt.newer.author == "main (remember)"
    assert summarize_doubts([doubt]) == "1 fact to decide on: 1 has a newer version."


@pytest.mark.parametrize(("answer", "left"), [("new", {OLD: NEW}), ("old", {NEW: OLD}), ("both", {})])
def test_an_answer_settles_it(memory: Memory, answer: str, left: dict[str, str]) -> None:
    (doubt,) = list_doubts(memory.home)
    answer_doubt(memory.home, doubt.id, answer)
    assert list_doubts(memory.home) == []
    assert successors(memory) == left


def test_what_is_asked_later_comes_back_after_a_week(memory: Memory, clock: FrozenClock) -> None:
    (doubt,) = list_doubts(memory.home)
    answer_doubt(memory.home, doubt.id, "later")
    assert list_doubts(memory.home) == []
    clock.now += timedelta(days=6)
    assert list_doubts(memory.home) == []
    clock.now += timedelta(days=2)
    assert [each.id for each in list_doubts(memory.home)] == [doubt.id]


def test_losing_what_is_asked_later_loses_nothing(memory: Memory) -> None:
    (doubt,) = list_doubts(memory.home)
    answer_doubt(memory.home, doubt.id, "later")
    (file,) = (Path(memory.home.root) / ".index").glob("review-*.json")
    file.write_text("not JSON")
    assert [each.id for each in list_doubts(memory.home)] == [doubt.id]


def test_what_is_over_is_listed(memory: Memory, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "The office is closed until Saturday."})
    assert [each.kind for each in list_doubts(memory.home)] == ["replaced"]
    clock.now += timedelta(days=9)
    doubt = list_doubts(memory.home)[-1]
    assert (doubt.kind, doubt.reason) == ("over", "until 7 March 2026: over")
    with pytest.raises(InvalidArgument, match="can be answered with later"):
        answer_doubt(memory.home, doubt.id, "both")


def test_a_note_that_is_still_true_of_its_file_is_pinned_again(memory: Memory, tmp_path: Path) -> None:
    memory.call("update_world", {"topic": "auth", "content": "# Auth\n\nLogin takes one user.\n"})
    pin_page(memory.home, "memory/world/auth.md#L3", "auth.py")
    (tmp_path / "auth.py").write_text("a = 2")
    doubt = list_doubts(memory.home)[-1]
    assert (doubt.kind, doubt.reason, doubt.older.text) == ("stale", "auth.py changed since", "Login takes one user.")
    answer_doubt(memory.home, doubt.id, "old")
    assert [each.kind for each in list_doubts(memory.home)] == ["replaced"]


def test_an_unknown_question_is_not_found(memory: Memory) -> None:
    with pytest.raises(NotFound):
        answer_doubt(memory.home, "0" * 16, "new")


def test_the_command_lists_and_answers_and_doctor_tells(memory: Memory) -> None:
    memory.close()
    home = str(memory.home.root)

    def run(*words: str) -> str:
        return CliRunner().invoke(cli, ["--home", home, *words]).output

    output = run("review")
    assert f"  new:  {NEW}" in output
    assert f"  old:  {OLD}" in output
    (doubt,) = json.loads(run("review", "--json"))["open"]
    assert "1 fact to decide on: 1 has a newer version. Decide with: commonplace review" in run("doctor")
    assert run("review", "--answer", f"{doubt['id']}=new") == "1 answered.\n"
    assert run("review") == "Nothing to decide: no fact is in doubt.\n"
    assert "to decide on" not in run("doctor")
    assert "is not an answer" in run("review", "--answer", "x=maybe")


def test_one_key_answers_in_a_terminal(memory: Memory) -> None:
    memory.close()
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "commonplace", "--home", str(memory.home.root), "review"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        text = ""
        with suppress(OSError):  # when the other side is closed
            while "Nothing more to decide" not in text:
                if select.select([ours], [], [], 1)[0]:
                    text += os.read(ours, 4096).decode()
                elif "[q]uit: " in text:  # a key that comes before the terminal is asked for keys is lost
                    os.write(ours, b"b")
    os.close(ours)
    assert process.returncode == 0
    with Memory(memory.home.root) as again:
        assert list_doubts(again.home) == []


def test_the_page_lists_and_answers_and_a_reader_only_lists(memory: Memory) -> None:
    home = Path(memory.home.root)
    writes, reads = token(home, role="write"), token(home, role="read")
    with api(home, AccessRules(is_open=False)) as client:
        caller = client.as_(writes)
        (doubt,) = client.as_(reads).get("review")["open"]
        assert doubt["newer"]["text"] == NEW
        refused = client.as_(reads).send("POST", "review", json={"id": doubt["id"], "answer": "new"})
        assert refused.status_code == 403
        assert caller.post("review", id=doubt["id"], answer="both") == {"id": doubt["id"], "answer": "both"}
        assert caller.get("review") == {"open": [], "count": 0}
        assert caller.send("POST", "review", json={"id": doubt["id"], "answer": "new"}).status_code == 404


def test_nobody_is_asked_about_what_belongs_to_another(memory: Memory, clock: FrozenClock) -> None:
    with Memory(memory.home.address, "bob", clock=clock) as bob:
        assert list_doubts(bob.home) == []
