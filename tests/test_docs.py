"""The docs are part of the feature: what they show is run, what is generated is current."""

from __future__ import annotations

import importlib.util
import re
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import pytest

import commonplace
from commonplace import Memory
from commonplace.home import utc_now
from commonplace.settings import load
from commonplace.storage.names import file_name

from .consoles import compare, is_same

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONSOLES = [
    "README.md",
    "docs/tutorial.md",
    "docs/troubleshooting.md",
    "docs/recipes/coding-agent.md",
    "docs/recipes/research-notes.md",
    "docs/schemas.md",
]
# They install packages, watch until they are stopped, or begin with files of the reader.
CONSOLES_TO_READ = [
    "docs/anthropic.md",
    "docs/clients.md",
    "docs/evaluate.md",
    "docs/langchain.md",
    "docs/langgraph.md",
    "docs/openai-agents.md",
    "docs/pydantic-ai.md",
    "docs/trust.md",
    "docs/watch.md",
]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def script(name: str) -> ModuleType:
    """Return a script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["docs/tools.md", "docs/commands.md", "docs/python.md", "ARCHITECTURE.md"])
def test_generated_pages_are_current(name: str) -> None:
    result = script("generate").PAGES[name]()
    assert (ROOT / name).read_text() == result, "run ./dev docs"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for code in blocks(page, "python"):
        exec(compile(code, page.name, "exec"), {})


@pytest.mark.parametrize("name", CONSOLES)
def test_console_examples_print_what_the_page_shows(name: str, tmp_path: Path) -> None:
    """Run each command in turn. To write new output into a page: `python -m tests.consoles PAGE`."""
    for command, text, printed in compare(ROOT / name, tmp_path):
        assert printed == text, command


def test_examples_that_run_past_midnight_are_run_again_on_the_next_day(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ commonplace init\n$ commonplace context | head -1\nToday is 2026-03-14, Saturday. You are the agent main.\n```\n"
    )
    days = [utc_now() - timedelta(days=1)]
    assert compare(page, tmp_path, lambda: days.pop() if days else utc_now()) == []
    assert days == []


def test_every_page_with_console_examples_is_run_or_listed_as_one_to_read() -> None:
    text = [
        str(page.relative_to(ROOT)) for page in PAGES if re.search(r"^`{3,}console$", page.read_text(), re.MULTILINE)
    ]
    assert sorted(text) == sorted([*CONSOLES, *CONSOLES_TO_READ])


def test_it_works_by_line_eleven_of_the_readme() -> None:
    assert "commonplace search" in "\n".join((ROOT / "README.md").read_text().split("\n")[:11])


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
    names = [name for line in promises.splitlines() for name in re.findall(r"`([\w/]+(?:\.py|/))`", line)]
    assert len(names) > 12
    missing = [name for name in names if not (ROOT / "tests" / name).exists()]
    assert missing == []


def test_the_diagrams_are_what_their_script_draws() -> None:
    for name, draw in script("diagrams").PICTURES.items():
        assert (ROOT / f"docs/diagrams/{name}.svg").read_text() == draw(), "run ./dev docs"


def test_the_comparison_names_its_sources() -> None:
    """Each cell about another system has a link, a figure that we measured, or says that nothing is published."""
    table = (ROOT / "README.md").read_text().partition("## Compared with others")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    others = [row for row in rows if row[0] != "**commonplace**"]
    assert len(others) == 7
    sources = set(re.findall(r"^\[([\w-]+)\]: https://", table, re.MULTILINE))
    matches = set(re.findall(r"\]\[([\w-]+)\]", table))
    assert matches == sources
    for name, *cells in others:
        for cell in cells:
            assert re.search(r"\]\[[\w-]+\]|not published|^\.\d{3}", cell), (name, cell)


def test_examples_are_compared_without_ids_and_with_scores_that_are_nearly_equal() -> None:
    assert is_same("a.md#L1  0.96  main\n1234567890", "a.md#L1  0.91  main\nabcdef0123")
    assert not is_same("a.md#L1  0.96  main", "a.md#L1  0.71  main")
    assert not is_same("a.md#L1  0.96  main", "b.md#L1  0.96  main")


# Words of a translation: a reader has to read the sentence twice.
STIFF = re.compile(
    r"\bcan not\b|\b(?:is|are) told\b|where you do not say|unless told|\bthat holds true\b|\bof (?:its|their) own\b"
    r"|\b(?:is|are) gone\b|\bwho asks (?:for|wants)\b|\bwhat is of\b|\bbut for (?:a|the|what|those)\b|\banew\b|\blikewise\b"
    r"|\bnothing but what\b|\bthe same of\b|\bwithout that which\b|\bis no more[.,;]|\b(?:one|each) a (?:line|page|topic|file)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    "page", [*PAGES, *(ROOT / name for name in ("ARCHITECTURE.md", "CHANGELOG.md"))], ids=lambda page: page.name
)
def test_pages_are_in_plain_english(page: Path) -> None:
    assert STIFF.findall(" ".join(page.read_text().split())) == []
