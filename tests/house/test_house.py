"""The house rules: layers, import directions, light imports, public names."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import commonplace

SOURCE = Path(commonplace.__file__).parent
# A layer imports only layers above it in this list. A backend may implement protocols of the index.
LAYERS = [
    "caching",
    "patterns",
    "word_lists",
    "wording",
    "model",
    "errors",
    "tracing",
    "git_branches",
    "secrets",
    "formats",
    "facts",
    "schema",
    "settings",
    "foreign",
    "storage",
    "embedding",
    "index",
    "search",
    "framing",
    "user_config",
    "trust",
    "writing",
    "toolsets",
    "directive",
    "visibility",
    "home",
    "new_home",
    "instructions",
    "maintenance",
    "context",
    "tools",
    "memory",
    "server",
    "importers",
    "adapters",
    "surfaces",
    "testing",
]
BACKENDS = ("base.py", "folder", "postgres")  # of storage
HEAVY = ["mcp", "pydantic", "starlette", "numpy", "rich", "asyncio", "httpx"]


@functools.cache
def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


@functools.cache
def parse(module: Path) -> ast.Module:
    return ast.parse(module.read_text())


def layer_of(module: Path) -> str:
    return module.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_layers(module: Path) -> Iterator[str]:
    """The layers a module imports anywhere in it, type checking included."""
    for node in ast.walk(parse(module)):
        if isinstance(node, ast.ImportFrom) and node.level:
            up = node.level - 1
            inside = module.relative_to(SOURCE).parts[:-1]
            base = inside[: len(inside) - up]
            full = [*base, *(node.module.split(".") if node.module else [])]
            if full:
                yield full[0]
            else:
                yield from (alias.name for alias in node.names)


def lowest_layer(module: Path) -> int:
    """The last of the layers that a module may import."""
    path = module.relative_to(SOURCE).parts
    is_backend = path[0] == "storage" and path[1] in BACKENDS
    return LAYERS.index("index" if is_backend else layer_of(module))


def test_a_layer_imports_only_layers_above_it() -> None:
    below = [
        f"{module} imports {layer}, which is below it"
        for module in modules()
        if layer_of(module) in LAYERS
        for layer in imported_layers(module)
        if layer in LAYERS and LAYERS.index(layer) > lowest_layer(module)
    ]
    assert below == []


def imported_surfaces(module: Path) -> Iterator[str]:
    """The names in `surfaces/` that a module imports anywhere in it."""
    for node in ast.walk(parse(module)):
        if isinstance(node, ast.ImportFrom) and node.level:
            inside = module.relative_to(SOURCE).parts[:-1]
            base = inside[: len(inside) - node.level + 1]
            path = [*base, *(node.module.split(".") if node.module else [])]
            if path[:1] == ["surfaces"]:
                yield from path[1:2] or (alias.name for alias in node.names)


def test_no_surface_imports_another_but_the_command_line_starts_them() -> None:
    """They share what is in `server/`. `surfaces/application.py`, which the command line starts too, joins those
    that one HTTP server serves."""
    for module in sorted(SOURCE.glob("surfaces/*/**/*.py")):
        surface = module.relative_to(SOURCE / "surfaces").parts[0]
        others = {name for name in imported_surfaces(module) if name != surface}
        assert not others or surface == "cli", f"{module} imports {others}"


def test_every_layer_is_known() -> None:
    assert {layer_of(module) for module in modules()} <= {*LAYERS, "__init__", "__main__"}


def loaded_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(' '.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split("\n")[-2].split())


def run_command(home: Path, *arguments: str) -> str:
    argv = ["commonplace", "--home", str(home), *arguments]
    return f"import sys; sys.argv = {argv!r}\nfrom commonplace.surfaces.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass"


def test_importing_the_library_loads_nothing_heavy() -> None:
    loaded = loaded_after("import commonplace; commonplace.Memory")
    assert [name for name in [*HEAVY, "yaml", "sqlite3", "click", "zoneinfo"] if name in loaded] == []


@pytest.mark.parametrize(
    "command", [["remember", "x"], ["search", "x"], ["recall"], ["status"], ["context"], ["call", "recall", "{}"]]
)
def test_everyday_commands_load_nothing_heavy(home: Path, command: list[str]) -> None:
    assert loaded_after(run_command(home, *command)).isdisjoint(HEAVY)


def test_reading_a_key_loads_neither_yaml_nor_the_index(home: Path) -> None:
    commonplace.Memory(home).call("memory_write", {"key": "k", "content": "v"})
    loaded = loaded_after(run_command(home, "call", "memory_read", '{"key": "k"}'))
    assert [
        name
        for name in [
            *HEAVY,
            "yaml",
            "sqlite3",
            "commonplace.context",
            "commonplace.index.base",
            "commonplace.tools.registry",
        ]
        if name in loaded
    ] == []


def test_recalling_for_a_prompt_loads_nothing_that_only_a_whole_context_needs(home: Path) -> None:
    commonplace.Memory(home).call("remember", {"content": "Ann prefers green tea, never coffee."})
    recall = f"import commonplace; print(commonplace.Memory({str(home)!r}).recall_for('does Ann drink coffee?'))"
    loaded = loaded_after(recall)
    assert "commonplace.context.prompt_recall" in loaded
    assert [
        name for name in loaded if name.startswith(("commonplace.context.sections", "commonplace.context.memory_map"))
    ] == []


def test_importing_writes_nothing(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-B", "-c", "import commonplace; commonplace.Memory"],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PYTHONPATH": str(SOURCE.parent)},
        check=True,
    )
    assert list(tmp_path.iterdir()) == []


def test_the_public_names_are_these() -> None:
    assert sorted(commonplace.__all__) == [
        "Block",
        "CommonplaceError",
        "Conflict",
        "Context",
        "Hit",
        "InvalidArgument",
        "Memory",
        "NotFound",
        "Page",
        "Passage",
        "Query",
        "Record",
        "Refused",
        "SCRATCHPAD_KEY",
        "SESSION_HANDOFF_KEY",
        "Scope",
        "SettingsError",
        "Skill",
        "StorageError",
    ]
    for name in commonplace.__all__:
        assert getattr(commonplace, name) is not None
    with pytest.raises(AttributeError):
        _ = commonplace.nothing  # type: ignore[attr-defined]


def test_only_surfaces_read_the_environment_and_arguments() -> None:
    """All but the key of a provider, the folder of fetched weights, and the user's own configuration."""
    excepted = {SOURCE / path for path in ("embedding/remote.py", "embedding/model_files.py", "user_config.py")}
    for module in modules():
        if layer_of(module) != "surfaces":
            text = module.read_text()
            assert "os.environ" not in text, module
            assert "getenv" not in text or module in excepted, module
            assert "sys.argv" not in text, module


def test_every_error_has_its_own_code_and_a_status() -> None:
    from commonplace import errors

    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.CommonplaceError)
    ]
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert all(1 <= kind.exit_status <= 9 for kind in kinds)


# Errors of other libraries that have no fields: what they say is all there is.
FOREIGN_ERRORS = {"storage/postgres/connection.py", "surfaces/install/toml_edit.py"}
MATCHING = {"search", "match", "fullmatch", "findall"}
TEXT_SURGERY = {"replace", "partition", "rpartition", "split", "startswith", "endswith", "removeprefix", "removesuffix"}


def find_sentence_surgery(module: Path) -> Iterator[str]:
    """The places where a module takes the sentence of an error apart, or looks into it."""
    tree = parse(module)
    caught = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    sentences = {f"str({name})" for name in caught}
    for node in ast.walk(tree) if caught else ():
        line = f"{module}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Attribute) and node.attr in TEXT_SURGERY and ast.unparse(node.value) in sentences:
            yield f"{line} takes the sentence apart: read a field of the error"
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in {f"{name}.args" for name in caught}:
            yield f"{line} reads args: use a field"
        if isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) in sentences:
            yield f"{line} looks into the sentence"
        is_match = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MATCHING
        if is_match and sentences & {ast.unparse(each) for each in node.args}:  # type: ignore[attr-defined]
            yield f"{line} matches the sentence"


def test_no_code_parses_the_sentence_of_an_error() -> None:
    own = [module for module in modules() if str(module.relative_to(SOURCE)) not in FOREIGN_ERRORS]
    assert [line for module in own for line in find_sentence_surgery(module)] == []


WRITE_VERBS = {
    "pages": ("write", "edit", "append", "rewrite", "remove", "change_bytes"),
    "tree": ("remove", "remove_folder", "move"),
}
TRANSCRIPT_VERBS = ("add", "pop")
RAW_VERBS = {"write_as", *TRANSCRIPT_VERBS, *(verb for verbs in WRITE_VERBS.values() for verb in verbs)}


def names_bound_to(tree: ast.AST, part: str) -> set[str]:
    """The expressions that stand for a part of a storage in a module: `home.storage.pages`, and what it is assigned to."""
    names = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == part}
    for node in ast.walk(tree):
        is_named = isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute | ast.Name)
        if is_named and ast.unparse(node.value) in names:
            names.update(ast.unparse(target) for target in node.targets)
        if isinstance(node, ast.arg) and node.annotation and ast.unparse(node.annotation) in ("Pages", "FileTree"):
            names.add(node.arg)
    return names


def find_raw_writes(tree: ast.AST) -> list[int]:
    """The lines where a write verb of a storage or a transcript is called, or an author is set."""
    names = {part: names_bound_to(tree, part) for part in WRITE_VERBS}
    lines: list[int] = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        verb = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if verb not in RAW_VERBS:
            continue
        whose = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        is_part = any(verb in verbs and whose in names[part] for part, verbs in WRITE_VERBS.items())
        is_transcript = verb in TRANSCRIPT_VERBS and "transcript" in whose
        if is_part or is_transcript or (verb == "write_as" and not whose):
            lines.append(call.lineno)
    return lines


@pytest.mark.parametrize(
    "line",
    [
        "home.storage.pages.write('a.md', '')",
        "pages = home.storage.pages\npages.edit('a.md', str.upper)",
        "self._pages = home.storage.pages\nself._pages.remove('a.md')",
        "def tidy(pages: Pages) -> None:\n    pages.append('a.md', '')",
        "tree = storage.tree\ntree.move('a.md', 'b.md')",
        "home.storage.open_transcript(path).add(items)",
        "with write_as(author):\n    pass",
    ],
)
def test_every_way_past_the_writer_is_noticed(line: str) -> None:
    assert find_raw_writes(ast.parse(line))
    assert not find_raw_writes(ast.parse("pages = []\npages.append('a.md')\nhome.writer.write('a.md', '')"))


def test_only_writing_writes_pages_and_names_an_author() -> None:
    """All others write through `home.writer`."""
    others = [module for module in modules() if layer_of(module) not in ("storage", "writing", "testing")]
    assert {str(module): lines for module in others if (lines := find_raw_writes(parse(module)))} == {}


CACHED_NAMES = {  # parameters with few values, which the program has itself
    "language", "languages", "script", "pattern", "cue", "words", "is_japanese", "month", "name", "folder"
}  # fmt: skip


CACHED_WORDS = {"word", "char", "language", "_process"}  # short: these are bounded by their number


def test_whatever_is_cached_of_texts_is_bounded_by_bytes() -> None:
    unbounded: list[str] = []
    for module in modules():
        for node in ast.walk(parse(module)):
            if not isinstance(node, ast.FunctionDef):
                continue
            decorators = [ast.unparse(each) for each in node.decorator_list]
            names = {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
            is_free = "cache" in decorators and not names <= CACHED_NAMES
            is_text = any(each.startswith("lru_cache") for each in decorators) and not names <= CACHED_WORDS
            if is_free or is_text:
                unbounded.append(f"{module.name}: {node.name}: use `cache_within`")
    assert unbounded == []


_PRINTS = (
    "click.echo",
    "click.secho",
    "click.confirm",
    "click.prompt",
    "print",
    "sys.stdout.write",
    "sys.stderr.write",
)
_PRINTED = ("print_text", "print_aside", "_read_key", "completion_command")  # they print what is escaped, or our own


def test_every_command_escapes_what_it_prints() -> None:
    """What is not a constant goes through `escape_for`, or through a function that does so."""
    for path in sorted((SOURCE / "surfaces/cli").rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef) or function.name in _PRINTED:
                continue
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and ast.unparse(call.func) in _PRINTS:
                    is_constant = all(isinstance(argument, ast.Constant) for argument in call.args)
                    assert is_constant or "escape_for" in ast.unparse(call), f"{path.name}:{call.lineno}"
