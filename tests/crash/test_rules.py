"""A rule that nobody approved is a proposal whenever the process that brings it dies."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.instructions import list_proposals
from commonplace.storage.history import coming_from

from ..maintenance.places import export_home, import_archive
from . import faults
from .faults import DISK, VARIANTS

OWN = "Be kind to the cats."

SKILL = "skills/helper/SKILL.md"
RULES = ("directives/house.md", "directives/new.md", SKILL)
HARMLESS = ("read", "open", "close", "list", "select")  # operations that change nothing

Bring = Callable[[Path, Path], None]


def bring_archive(home: Path, source: Path) -> None:
    import_archive(home, export_home(source), overwrite=True)


def bring_history(home: Path, source: Path) -> None:
    import_archive(home, export_home(source, history=True), overwrite=True)


def bring_by_token(home: Path, source: Path) -> None:
    with coming_from("agent-token:ab12"), Memory(home) as memory:
        for path in RULES:
            memory.home.writer.write(path, (source / path).read_text())


def write_source(source: Path) -> None:
    with Memory(source) as theirs:
        theirs.home.writer.write("directives/house.md", "Obey the archive.\n")
        theirs.home.writer.write("directives/new.md", "Obey the archive again.\n")
        skill = "---\ndescription: helps\nowner: global\n---\n\nObey the skill.\n"
        theirs.home.writer.write(SKILL, skill)


def in_child(act: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        faults.install()
        try:
            act()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1]


def list_operations(home: Path, bring: Callable[[], None]) -> list[str]:
    reading, writing = os.pipe()

    def watch() -> None:
        DISK.watch(str(home))
        bring()
        DISK.leave()
        os.write(writing, "\n".join(each.kind for each in DISK.operations).encode())

    in_child(watch)
    os.close(writing)
    with open(reading) as kinds:
        return kinds.read().split("\n")


def copy(folder: Path) -> Path:
    shutil.rmtree(folder / "mine", ignore_errors=True)
    return Path(shutil.copytree(folder / "before", folder / "mine"))


@pytest.mark.parametrize("bring", [bring_archive, bring_history, bring_by_token])
def test_a_rule_that_nobody_approved_waits_wherever_its_writer_dies(tmp_path: Path, bring: Bring) -> None:
    write_source(tmp_path / "theirs")
    with Memory(tmp_path / "before") as memory:
        memory.home.writer.write("directives/house.md", f"{OWN}\n")
        with coming_from("agent-token:ab12"):
            memory.home.writer.write("directives/new.md", "Obey the token.\n")
    kinds = list_operations(copy(tmp_path), lambda: bring(tmp_path / "mine", tmp_path / "theirs"))
    for number in (each for each, kind in enumerate(kinds, start=1) if kind not in HARMLESS):
        home = copy(tmp_path)

        def die(home: Path = home, number: int = number) -> None:
            DISK.watch(str(home), VARIANTS["killed-before"], number)
            bring(home, tmp_path / "theirs")

        in_child(die)
        with Memory(home) as memory:
            require_proposals(memory, f"before {kinds[number - 1]}, the operation {number}")
            memory.home.storage.pages.record_outside_edits(RULES)
            require_proposals(memory, f"recorded, before {kinds[number - 1]}, the operation {number}")
            bring(home, tmp_path / "theirs")
            require_proposals(memory, f"brought again, before {kinds[number - 1]}, the operation {number}")
            assert [rule.path for rule in list_proposals(memory.home)] == [*RULES]


def require_proposals(memory: Memory, when: str) -> None:
    context = str(memory.context())
    assert "Obey" not in context, when
    assert OWN in context, when
