"""The git branch that memory is used on, and the branches on which notes were learned. Only files of git are read.

A memory in a git repository follows the branch of the working tree that the process runs in, which may be another
worktree than the one that the memory lies in. What was learned on a branch holds on others once it is merged
or deleted.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Literal, NamedTuple

from .patterns import lazy_pattern

_DEFAULT_BRANCHES = ("main", "master", "trunk")  # what was learned there holds on all branches
_MAX_FILE_BYTES = 4_000_000  # of a file of git that is read
_MAX_NAME_CHARACTERS = 250
_BRANCH_START = "refs/heads/"
_PACKED_REF = lazy_pattern(rf"(?m)^([0-9a-f]+) {_BRANCH_START}(.+)$")
_MAX_SHARED_FILES = 4
Where = Literal["here", "elsewhere", ""]
Stamp = tuple[int, int, int]


class WorkingTree(NamedTuple):
    """A working tree: its own folder of git's files, and the one that all worktrees of its repository share."""

    own: str
    common: str


class Branches:
    """The branches of the repository that a memory lies in."""

    def __init__(self, tree: WorkingTree) -> None:
        """`tree`: the working tree that the memory lies in."""
        self._tree = tree
        self._shared: dict[str, tuple[Stamp, str]] = {}  # large files of git, by name, as they were when last read
        self._packed: tuple[str, dict[str, str]] = "", {}  # `packed-refs`, and the tips of its branches

    def find_special(self) -> str:
        """Return the branch that is checked out; empty for a default branch, or if there is none."""
        name = self.find_name()
        return "" if name in self._list_default() else name

    def locate(self, branch: str) -> Where:
        """Return whether a branch is the one that memory is used on, or one that was neither merged into it nor
        deleted: what was learned there may not hold here."""
        here = self.find_name()
        if not here or ".." in branch or branch in self._list_default():
            return ""
        if branch == here:
            return "here"
        tip = self._find_tip(branch)
        log = self._read_shared(f"logs/{_BRANCH_START}{here}")
        return "elsewhere" if tip and tip not in log and f"\tmerge {branch}: " not in log else ""

    def find_name(self) -> str:
        """Return the branch that is checked out: in the working tree that the process runs in, if it is one of this
        repository."""
        with suppress(OSError):  # the working directory was removed
            tree = _find_tree(os.getcwd())
            if tree and tree.common == self._tree.common:
                return _read_branch(os.path.join(tree.own, "HEAD"), f"ref: {_BRANCH_START}")
        return _read_branch(os.path.join(self._tree.own, "HEAD"), f"ref: {_BRANCH_START}")

    def _list_default(self) -> tuple[str, ...]:
        remote = os.path.join(self._tree.common, "refs", "remotes", "origin", "HEAD")
        return (*_DEFAULT_BRANCHES, _read_branch(remote, "ref: refs/remotes/origin/"))

    def _find_tip(self, branch: str) -> str:
        """Return the hash of the last commit of a branch; empty if there is no such branch."""
        tip = _read(f"{self._tree.common}/{_BRANCH_START}{branch}").strip()
        return tip or self._list_packed_tips().get(branch, "")

    def _list_packed_tips(self) -> dict[str, str]:
        """Return the tips of the branches that have no file of their own."""
        text = self._read_shared("packed-refs")
        if self._packed[0] is not text:
            self._packed = text, {name: tip for tip, name in _PACKED_REF.findall(text)}
        return self._packed[1]

    def _read_shared(self, name: str) -> str:
        """Return a file that is needed for every branch; it is read again only if it changed."""
        path = os.path.join(self._tree.common, name)
        try:
            info = os.stat(path)
        except OSError:
            return ""
        stamp = info.st_ino, info.st_size, info.st_mtime_ns
        known = self._shared.get(name)
        if known is None or known[0] != stamp:
            if len(self._shared) >= _MAX_SHARED_FILES:
                self._shared.clear()
            known = self._shared[name] = stamp, _read(path)
        return known[1]


def find_branches(home: str) -> Branches | None:
    """Return the branches of the repository that a memory lies in; None if it lies in none, or is one itself: then
    its pages are those of the branch that is checked out."""
    tree = _find_tree(os.path.dirname(os.path.realpath(home))) if home else None
    return Branches(tree) if tree else None


def _find_tree(folder: str) -> WorkingTree | None:
    """Return the working tree that contains a folder."""
    root = find_repository_root(folder)
    return _open_tree(root) if root else None


def find_repository_root(folder: str) -> str | None:
    """Return the root of the git working tree that contains a folder; None if there is none."""
    while not is_repository(folder):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def is_repository(folder: str) -> bool:
    """Return whether a folder is the root of a working tree; submodules and worktrees have a `.git` file."""
    entry = os.path.join(folder, ".git")
    return os.path.isfile(entry) or os.path.isfile(os.path.join(entry, "HEAD"))


def _open_tree(root: str) -> WorkingTree:
    """Open a working tree. In a further worktree, and in a submodule, `.git` is a file that names a folder."""
    own = os.path.join(root, ".git")
    if os.path.isfile(own):
        own = os.path.join(root, _read(own).removeprefix("gitdir:").strip())
    common = _read(os.path.join(own, "commondir")).strip()
    return WorkingTree(os.path.realpath(own), os.path.realpath(os.path.join(own, common)))


def _read_branch(path: str, start: str) -> str:
    """Return the branch that a symbolic ref names; empty if it names none."""
    text = _read(path).strip()
    name = text.removeprefix(start)
    is_plain = len(name) <= _MAX_NAME_CHARACTERS and name.isprintable() and ".." not in name
    return name if name != text and is_plain else ""


def _read(path: str) -> str:
    """Return the end of a file of git; empty if there is none, or if it is a pipe or a device, which might not end.
    Null characters, which no path may have, are left out."""
    if not os.path.isfile(path):
        return ""
    with suppress(OSError), open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _MAX_FILE_BYTES))
        return file.read(_MAX_FILE_BYTES).decode("utf-8", "replace").replace("\0", "")
    return ""
