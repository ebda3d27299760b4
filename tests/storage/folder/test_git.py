"""A home in a git repository: nothing derived shows up, and two people merge."""

from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.git_branches import find_repository_root
from commonplace.home import Home
from commonplace.maintenance.backup import export_to, import_from
from commonplace.maintenance.doctor import examine
from commonplace.storage.base import backend_of

from ...importers.sources import put

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q", "-b", "main")
    return project


def list_untracked(project: Path) -> list[str]:
    return sorted(line[3:] for line in git(project, "status", "--porcelain", "-uall").splitlines())


def use(home: Path) -> None:
    memory = Memory(home)
    memory.call("remember", {"content": "Tea."})
    memory.search("tea")
    memory.close()


def test_derived_folders_never_show_up_in_git(project: Path) -> None:
    use(project / ".commonplace")
    assert list_untracked(project)
    assert not [path for path in list_untracked(project) if "/." in path]


def test_a_home_from_before_the_repository_is_ignored_once_it_is_opened(tmp_path: Path) -> None:
    use(tmp_path / "home")
    git(tmp_path, "init", "-q")
    assert [path for path in list_untracked(tmp_path) if "/." in path]
    Memory(tmp_path / "home")
    assert not [path for path in list_untracked(tmp_path) if "/." in path]


def test_a_home_outside_of_a_repository_gets_no_files_of_git(home: Path) -> None:
    home.parent.joinpath(".git").mkdir()  # which alone makes no repository
    use(home)
    assert [*home.rglob(".gitignore")] == []


def test_the_root_of_a_repository_is_found_from_below_also_where_it_was_added_to_another(project: Path) -> None:
    below = project / "a/b"
    below.mkdir(parents=True)
    assert find_repository_root(str(below)) == find_repository_root(str(project)) == str(project)
    (project / "a/.git").write_text("gitdir: ../.git/modules/a\n")
    assert find_repository_root(str(below)) == str(project / "a")


@pytest.mark.parametrize("page", [".agent/memory/MEMORY.md", ".duragent/memory/world/tea.md", ".openclaw/MEMORY.md"])
def test_derived_folders_in_the_home_of_another_system_stay_out_of_a_later_repository(
    tmp_path: Path, page: str
) -> None:
    put(tmp_path, page, "Miso.\n")
    home = tmp_path / ".openclaw" if page.startswith(".openclaw") else tmp_path
    use(home)
    git(home, "init", "-q")
    derived = (".history/", ".index/", ".locks/")
    assert page.removeprefix(".openclaw/") in list_untracked(home)
    assert not [path for path in list_untracked(home) if path.startswith(derived)]


def test_nothing_minds_the_files_that_keep_derived_folders_out_of_git(tmp_path: Path) -> None:
    put(tmp_path / "old", ".agent/memory/MEMORY.md", "### tea\n\nMiso.\n")
    use(tmp_path / "old")
    assert (tmp_path / "old/.history/.gitignore").exists()
    home = Home(str(tmp_path / "old"))
    assert not [finding for finding in examine(str(tmp_path / "old")).findings if ".gitignore" in finding.path]
    archive = io.BytesIO()
    export_to(home, archive)
    archive.seek(0)
    import_from(Home(str(tmp_path / "new")), archive)
    assert Memory(tmp_path / "new").call("memory_read", {"key": "tea"})["data"]["content"] == "Miso."
    assert home.storage.history.head(".history/.gitignore") is None


def test_two_people_who_write_on_one_day_merge_without_a_conflict(project: Path) -> None:
    backend_of(str(project)).create(str(project))
    Memory(project).call("remember", {"content": "The first."})
    git(project, "add", "-A")
    git(project, "commit", "-qm", "one")
    git(project, "checkout", "-qb", "bob")
    Memory(project).call("remember", {"content": "Bob's."})
    git(project, "commit", "-qam", "two")
    git(project, "checkout", "-q", "main")
    Memory(project).call("remember", {"content": "Ann's."})
    git(project, "commit", "-qam", "three")
    assert "CONFLICT" not in git(project, "merge", "bob")
    (day,) = (project / "agents/main/memory/daily").iterdir()
    assert all(text in day.read_text() for text in ("The first.", "Bob's.", "Ann's."))
    assert "<<<<" not in day.read_text()


def test_files_of_the_user_stay_and_those_of_an_earlier_version_are_renewed(home: Path) -> None:
    home.mkdir()
    (home / ".gitignore").write_text("# made by commonplace; can be rebuilt\n.index/\n.locks/\n.access/\n")
    (home / ".gitattributes").write_text("mine\n")
    backend_of(str(home)).create(str(home))
    assert ".history/" in (home / ".gitignore").read_text()
    assert (home / ".gitattributes").read_text() == "mine\n"
    (home / ".gitignore").write_text("mine\n")
    backend_of(str(home)).create(str(home))
    assert (home / ".gitignore").read_text() == "mine\n"
