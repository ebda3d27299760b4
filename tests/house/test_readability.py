"""What keeps the code readable: names, sizes, and an ARCHITECTURE.md that names every module."""

from __future__ import annotations

import ast
import functools
import re
import statistics
from pathlib import Path
from typing import NamedTuple

import pytest

from .test_house import SOURCE, modules, parse

ARCHITECTURE = Path(__file__).parents[2] / "ARCHITECTURE.md"
MODULES = {str(path.relative_to(SOURCE)): path.read_text() for path in modules()}
TESTS = Path(__file__).parents[1]
MAX_LINES = 600
LONG_FUNCTION_LINES = 40
# A function is named by a verb: these are participles, or end like one.
PARTICIPLES = re.compile(
    r"_*(?:told|kept|found|held|said|seen|known|given|taken|gone|made|left|met|shown|lost|sent|brought|caught|built|"
    r"written|chosen|drawn|begun|done|heard|meant|spoken|stood|understood)(?:_|$)|_*[a-z]+ed$"
)
# A value is named by a noun: these say that something happened to it, and not what it is.
BARE_PARTICIPLES = frozenset(
    {"told", "kept", "found", "held", "said", "given", "chosen", "shown", "named", "made", "asked", "wanted", "waiting"}
)
VERBS_IN_ED = re.compile(r"_*(?:need|feed|seed|embed|speed|proceed|exceed|shed)$")


class Function(NamedTuple):
    module: str
    name: str
    lines: int


class Names(NamedTuple):
    """What a folder names, by module. Trees of so many modules are not held: the garbage collector would look at them."""

    functions: list[Function]  # without tests, whose names are sentences
    values: list[tuple[str, str]]
    packed: list[str]  # the places of packed assignments


@functools.cache
def find_names(folder: Path) -> Names:
    names = Names([], [], [])
    for path in sorted(folder.rglob("*.py")):
        module = str(path.relative_to(folder))
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("test_"):
                names.functions.append(Function(module, node.name, (node.end_lineno or 0) - node.lineno + 1))
            elif isinstance(node, ast.arg):
                names.values.append((module, node.arg))
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.values.append((module, node.id))
            elif isinstance(node, ast.Assign) and is_packed(node):
                names.packed.append(f"{module}:{node.lineno}")
    return names


def is_packed(node: ast.Assign) -> bool:
    """Whether this assigns several unrelated values at once; swapping two names is fine."""
    if not isinstance(node.value, ast.Tuple):
        return False
    targets = {ast.unparse(each) for target in node.targets if isinstance(target, ast.Tuple) for each in target.elts}
    return bool(targets) and targets.isdisjoint(ast.unparse(each) for each in node.value.elts)


@pytest.mark.parametrize("folder", [SOURCE, TESTS], ids=["src", "tests"])
def test_functions_are_named_by_verbs(folder: Path) -> None:
    every = find_names(folder).functions
    participles = [each for each in every if PARTICIPLES.match(each.name) and not VERBS_IN_ED.match(each.name)]
    assert len(participles) / len(every) < 0.02, participles


@pytest.mark.parametrize("folder", [SOURCE, TESTS], ids=["src", "tests"])
def test_values_are_named_by_nouns(folder: Path) -> None:
    every = find_names(folder).values
    bare = [each for each in every if each[1] in BARE_PARTICIPLES]
    assert len(bare) / len(every) < 0.005, bare


def test_every_assignment_is_on_a_line_of_its_own() -> None:
    assert find_names(SOURCE).packed == []


def test_functions_are_short() -> None:
    sizes = {f"{each.module}:{each.name}": each.lines for each in find_names(SOURCE).functions}
    assert statistics.median(sizes.values()) < 10
    assert len([name for name, size in sizes.items() if size > LONG_FUNCTION_LINES]) <= len(sizes) // 200
    assert [name for name, size in sizes.items() if size > 2 * LONG_FUNCTION_LINES] == []


def test_a_module_says_what_it_is_for_and_can_be_held_in_a_head() -> None:
    assert [name for name, text in MODULES.items() if text.count("\n") > MAX_LINES] == []
    assert [name for name, text in MODULES.items() if "fmt: skip" in text] == []
    silent = [name for name in MODULES if not ast.get_docstring(parse(SOURCE / name))]
    assert [name for name in silent if not name.endswith("__main__.py")] == []


def test_the_architecture_names_every_module_and_the_files_to_touch_for_a_change() -> None:
    text = ARCHITECTURE.read_text()
    for name in MODULES:
        folder, _, file = f"commonplace/{name}".rpartition("/")
        section = text.partition(f"\n### {folder}/\n")[2].partition("\n### ")[0]
        assert section, f"{folder} has no heading: run ./dev docs"
        assert file.startswith("__") or f"| `{file}` |" in section, f"{name} is not named: run ./dev docs"
    changes = text.partition("\n## Common changes")[2].partition("\n## ")[0]
    touched = re.findall(r"`((?:src|tests|docs)/[^`*]+|[a-z_]+/[\w/]+\.py|[a-z_]+\.py)`", changes)
    assert len(touched) >= 24
    for path in touched:
        assert (SOURCE / path).exists() or (ARCHITECTURE.parent / path).exists(), path
    for table, path in re.findall(r"`([A-Z_]{3,})` (?:in|of) `([\w/]+\.py)`", changes):
        assert re.search(rf"^{table}\b.*= ", (SOURCE / path).read_text(), re.MULTILINE), f"{path} defines no {table}"


def test_the_walks_of_the_architecture_pass_functions_that_exist() -> None:
    walks = ARCHITECTURE.read_text().partition("\n## Two walks")[2].partition("\n## ")[0]
    steps = re.findall(r"`([\w/]+\.py):(\w+)`", walks)
    assert len(steps) >= 20
    for path, function in steps:
        assert function in {each.name for each in find_names(SOURCE).functions if each.module == path}, (
            f"{path} has no {function}"
        )


def test_the_reading_order_of_facts_names_every_module() -> None:
    order = ast.get_docstring(parse(SOURCE / "facts" / "__init__.py")) or ""
    modules_of_facts = {path.stem for path in (SOURCE / "facts").glob("[!_]*.py")}
    assert modules_of_facts - set(re.findall(r"`(\w+)", order)) == set()
