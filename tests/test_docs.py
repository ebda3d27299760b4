"""The docs are part of the feature: what they show is run, what is generated is current."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import commonplace
from commonplace import Memory
from commonplace.settings import load
from commonplace.storage.names import file_name

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["docs/tools.md", "docs/commands.md", "ARCHITECTURE.md"])
def test_generated_pages_are_current(name: str) -> None:
    made = generator().PAGES[name]()
    assert (ROOT / name).read_text() == made, "run ./dev docs"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for code in blocks(page, "python"):
        exec(compile(code, page.name, "exec"), {})


def test_the_readmes_first_example_works_as_shown(tmp_path: Path) -> None:
    """Each command is run; the day and the time are today's, everything else is as printed."""
    (example,) = blocks(ROOT / "README.md", "console")
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "commonplace").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m commonplace "$@"\n')
    (bin_ / "commonplace").chmod(0o755)
    environment = {**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    environment.pop("COMMONPLACE_HOME", None)
    day = ""
    for step in re.split(r"^\$ ", example, flags=re.MULTILINE)[1:]:
        command, _, shown = step.partition("\n")
        if command.startswith("pip"):
            continue
        command = command.replace("2026-03-14", day)
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        if shown:
            day = re.search(r"\d{4}-\d\d-\d\d", done.stdout)[0]  # type: ignore[index]
            time = re.search(r"## (\d\d:\d\d)", done.stdout)[1]  # type: ignore[index]
            assert done.stdout.strip() == shown.replace("2026-03-14", day).replace("09:26", time).strip()


def test_it_works_by_line_fourteen_of_the_readme() -> None:
    assert "commonplace search" in "\n".join((ROOT / "README.md").read_text().split("\n")[:14])


def test_the_settings_shown_are_valid(tmp_path: Path) -> None:
    home, agent = blocks(ROOT / "docs/settings.md", "yaml")
    (tmp_path / "commonplace.yaml").write_text(home)
    (tmp_path / "agents/scout").mkdir(parents=True)
    (tmp_path / "agents/scout/agent.yaml").write_text(agent)
    assert load(str(tmp_path)).search_for("scout").max_results == 5
    assert Memory(tmp_path, agent="scout").call("recall")["success"]


def test_the_pages_shown_read_as_described(tmp_path: Path) -> None:
    record, day = blocks(ROOT / "docs/format.md", "markdown")
    for path, text in (
        ("memory/global/preferences/editor.md", record),
        ("agents/main/memory/daily/2026-03-14.md", day),
    ):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)
    memory = Memory(tmp_path)
    read = memory.call("MemoryTool", {"op": "getGlobal", "key": "editor"})
    assert (read["value"], read["tags"]) == ("vim, with no plugins", ["tools", "daily"])
    assert memory.call("memory_read", {"key": "editor"})["data"]["content"] == "vim"


def test_the_file_names_shown_are_the_real_ones() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+?)(?:\.md|/)` \|$", (ROOT / "docs/format.md").read_text(), re.MULTILINE)
    assert len(rows) == 4
    for name, file in rows:
        assert file_name(name) == file


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name
)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        assert target.startswith("http") or (page.parent / target).exists(), target


def test_the_changelog_knows_the_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    assert "## Unreleased" in text or f"## {commonplace.__version__}" in text


def test_the_threat_model_names_tests_that_exist() -> None:
    text = (ROOT / "docs" / "threat-model.md").read_text()
    promises = text.partition("## What is promised")[2].partition("\n## ")[0]
    named = [name for line in promises.splitlines() for name in re.findall(r"`([\w/]+(?:\.py|/))`", line)]
    assert len(named) > 12
    missing = [name for name in named if not (ROOT / "tests" / name).exists()]
    assert missing == []
