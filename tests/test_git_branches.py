"""Memory in a git repository follows the branch that it is used on: what was learned on another one may not hold."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.git_branches import find_branches
from commonplace.storage.history import coming_from
from commonplace.testing import FrozenClock

from .costs import costs_little_more
from .waiting import LONG_SECONDS

OLD = "a" * 40
NEW = "b" * 40
FEATURE = "feature/login"
MARK = f"learned on the branch {FEATURE}"
PORT = "The port of the API is 8080."
OTHER_PORT = "The port of the API is 9090."


class Checkout:
    """A working tree with the files by which git says what is checked out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git = folder / ".git"
        self.write("logs/refs/heads/main", "")
        self.add_branch("main", OLD)
        self.switch("main")

    def write(self, name: str, text: str) -> None:
        path = self.git / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def add_branch(self, name: str, commit: str) -> None:
        self.write(f"refs/heads/{name}", f"{commit}\n")

    def switch(self, branch: str) -> None:
        self.write("HEAD", f"ref: refs/heads/{branch}\n")

    def log(self, branch: str, commit: str, message: str) -> None:
        self.write(f"logs/refs/heads/{branch}", f"{OLD} {commit} Ann <ann@example.org> 1 +0000\t{message}\n")

    def add_worktree(self, folder: Path, branch: str) -> None:
        self.write(f"worktrees/{folder.name}/HEAD", f"ref: refs/heads/{branch}\n")
        self.write(f"worktrees/{folder.name}/commondir", "../..\n")
        folder.mkdir()
        (folder / ".git").write_text(f"gitdir: {self.git}/worktrees/{folder.name}\n")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    checkout = Checkout(tmp_path / "project")
    checkout.add_branch(FEATURE, NEW)
    monkeypatch.chdir(checkout.folder)
    return checkout


@pytest.fixture
def memory(checkout: Checkout, clock: FrozenClock) -> Memory:
    return Memory(checkout.folder / ".commonplace", clock=clock)


def remember_on_feature(memory: Memory, checkout: Checkout, text: str) -> None:
    checkout.switch(FEATURE)
    memory.call("remember", {"content": text})
    checkout.switch("main")


def find_mark(memory: Memory, query: str = "which port has the API?") -> str:
    return memory.search(query)[0].stale


def test_what_was_learned_on_another_branch_is_marked_until_that_one_is_merged_or_deleted(
    memory: Memory, checkout: Checkout
) -> None:
    remember_on_feature(memory, checkout, PORT)
    assert find_mark(memory) == MARK
    checkout.switch(FEATURE)
    assert find_mark(memory) == ""
    checkout.switch("main")
    checkout.log("main", OLD, f"merge {FEATURE}: Merge made by the 'ort' strategy.")
    assert find_mark(memory) == ""
    checkout.log("main", OLD, "commit: something else")
    assert find_mark(memory) == MARK
    (checkout.git / "refs/heads" / FEATURE).unlink()
    assert find_mark(memory) == ""
    checkout.write("packed-refs", f"# pack-refs with: peeled\n{NEW} refs/heads/{FEATURE}\n")
    assert find_mark(memory) == MARK


def test_a_branch_made_from_another_has_what_was_learned_there(memory: Memory, checkout: Checkout) -> None:
    remember_on_feature(memory, checkout, PORT)
    checkout.log("next", NEW, "branch: Created from HEAD")
    checkout.switch("next")
    assert find_mark(memory) == ""


def test_a_newer_fact_replaces_an_older_one_only_where_its_branch_is_checked_out(
    memory: Memory, checkout: Checkout, clock: FrozenClock
) -> None:
    memory.call("remember", {"content": PORT})
    clock.advance(days=1)
    remember_on_feature(memory, checkout, OTHER_PORT)
    older, newer = memory.search("which port has the API?")
    assert (PORT in older.text, older.superseded_by) == (True, None)
    assert newer.stale == MARK
    assert newer.score < older.score
    checkout.switch(FEATURE)
    newer, older = memory.search("which port has the API?")
    assert OTHER_PORT in newer.text
    assert older.superseded_by is not None


def test_what_was_learned_on_the_branch_at_hand_is_preferred(memory: Memory, checkout: Checkout) -> None:
    memory.call("update_world", {"topic": "tea", "content": "Tests of the tea room run with make check.\n"})
    checkout.switch(FEATURE)
    memory.call("update_world", {"topic": "tests", "content": "Tests of the tea room run with tox too.\n"})
    query = "how do tests of the tea room run?"
    here = {hit.path: hit.score for hit in memory.search(query)}
    checkout.switch("main")
    there = {hit.path: hit.score for hit in memory.search(query)}
    assert here["memory/world/tea.md"] == there["memory/world/tea.md"]
    assert here["memory/world/tests.md"] > there["memory/world/tests.md"]


def test_what_is_learned_on_a_default_branch_holds_everywhere(memory: Memory, checkout: Checkout) -> None:
    memory.call("remember", {"content": PORT})
    checkout.write("refs/remotes/origin/HEAD", "ref: refs/remotes/origin/develop\n")
    checkout.add_branch("develop", NEW)
    checkout.switch("develop")
    memory.call("update_world", {"topic": "tea", "content": "Tea is in the kitchen.\n"})
    checkout.switch(FEATURE)
    assert find_mark(memory) == find_mark(memory, "where is the tea?") == ""


def test_a_worktree_follows_its_own_branch(
    memory: Memory, checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.add_worktree(tmp_path / "other", FEATURE)
    monkeypatch.chdir(tmp_path / "other")
    memory.call("remember", {"content": PORT})
    assert find_mark(memory) == ""
    monkeypatch.chdir(checkout.folder)
    assert find_mark(memory) == MARK
    monkeypatch.chdir(tmp_path)  # no repository: the one that the memory lies in counts
    assert find_mark(memory) == MARK


def test_a_context_says_on_which_branch_a_line_was_learned(memory: Memory, checkout: Checkout) -> None:
    memory.call("remember", {"content": "Tea is in the kitchen."})
    remember_on_feature(memory, checkout, PORT)
    text = str(memory.context())
    assert f"[{MARK}] {PORT}" in text
    assert f"{MARK}] Tea" not in text
    checkout.switch(FEATURE)
    assert MARK not in str(memory.context())


def test_callers_with_a_token_learn_nothing_of_branches(memory: Memory, checkout: Checkout) -> None:
    remember_on_feature(memory, checkout, PORT)
    with coming_from("agent-token:t1"):
        assert find_mark(memory) == ""


def test_history_names_the_author_as_ever(memory: Memory, checkout: Checkout) -> None:
    remember_on_feature(memory, checkout, PORT)
    (hit,) = memory.search("which port has the API?")
    assert hit.author == "main (remember)"
    assert memory.search("which port has the API?", author="main") == [hit]


def test_a_memory_outside_of_a_repository_follows_none(checkout: Checkout, tmp_path: Path, clock: FrozenClock) -> None:
    memory = Memory(tmp_path / "home", clock=clock)
    remember_on_feature(memory, checkout, PORT)
    assert find_mark(memory) == ""


@pytest.mark.parametrize("name", ["commondir", "packed-refs", f"refs/heads/{FEATURE}", "logs/refs/heads/main"])
def test_a_pipe_in_place_of_a_file_of_git_does_not_hold_up_a_search(
    memory: Memory, checkout: Checkout, name: str
) -> None:
    remember_on_feature(memory, checkout, PORT)
    path = checkout.git / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    program = (
        f"from commonplace import Memory; print(Memory({str(memory.home.root)!r}).search('which port has the API?'))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program], cwd=checkout.folder, capture_output=True, timeout=LONG_SECONDS
    )
    assert PORT in finished.stdout.decode()


def test_a_path_with_a_null_character_is_no_folder_of_git(memory: Memory, checkout: Checkout) -> None:
    remember_on_feature(memory, checkout, PORT)
    checkout.write("commondir", "..\0/elsewhere\n")
    with Memory(memory.home.root) as opened:
        assert PORT in opened.search("which port has the API?")[0].text


def test_large_files_of_git_are_read_once_for_all_branches(memory: Memory, checkout: Checkout) -> None:
    """A context of notes from 150 branches, in a repository of many more, once took five seconds."""
    lines = [f"{number:040x} refs/heads/branch{number}\n" for number in range(40_000)]
    checkout.write("packed-refs", "".join(lines))

    def locate(names: list[str]) -> None:
        branches = find_branches(memory.home.root)
        assert branches
        assert {branches.locate(name) for name in names} == {"elsewhere"}

    names = [f"branch{number}" for number in range(0, 40_000, 1000)]
    assert any(costs_little_more(locate, names, names[:1], 0.001, at_most=20) for _ in range(9))


def test_a_branch_that_is_packed_later_is_found(memory: Memory, checkout: Checkout) -> None:
    branches = find_branches(memory.home.root)
    assert branches
    assert branches.locate("later") == ""
    checkout.write("packed-refs", f"# pack-refs with: peeled\n{NEW} refs/heads/later\n")
    assert branches.locate("later") == "elsewhere"
