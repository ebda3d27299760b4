"""Homes of other systems: recognising one, finding its pages, and reading its configuration.

Another system's configuration is parsed, and keys that we do not know are ignored. It says where
memory is and how it is searched; it chooses neither servers nor keys.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from . import settings
from .errors import InvalidArgument, SettingsError
from .formats import ParseProblem
from .formats.frontmatter import as_values, compose
from .formats.json5 import parse_json5
from .settings import FILE, MEMORY_FOLDER, PROVIDERS, SearchSettings, Settings
from .wording import format_command

DURAGENT_FILE = "duragent.yaml"
OPENCLAW_FILES = ("openclaw.json", "clawdbot.json", "moltbot.json", "moltbot.yaml")
OPENCLAW_FOLDERS = (".openclaw", ".clawdbot", ".moltbot")
OPENCLAW_PAGES = frozenset({"AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md"})
WORKSPACE_PREFIX = "workspace-"  # followed by the agent's name, where an OpenClaw home has several
DURAGENT_WORKSPACE = ".duragent"
OPENCLAW_WORKSPACE = "workspace"
MAIN_AGENT = "main"
_OPENCLAW_SIGNS = OPENCLAW_PAGES - {"AGENTS.md", "TOOLS.md"}  # many code repositories have these two
_OPENCLAW_MEMORY = frozenset({"MEMORY.md", "memory.md", "memory/"})
_SEARCH_KEYS = ("enabled", "provider", "model", "extraPaths", "indexSessions", "maxResults", "minScore", "sessionKey")
_NUMBER_KEYS = ("maxResults", "minScore")
_MARKS = frozenset({FILE, ".agent", DURAGENT_FILE, DURAGENT_WORKSPACE, *OPENCLAW_FILES})
_MAX_CONFIG_BYTES = 4 << 20


class Tree(Protocol):
    """A folder to examine: on disk, or in a zip."""

    def list_names(self, folder: str = "") -> list[str]:
        """Return the names in a folder that do not begin with a dot; those of folders end in a slash."""
        ...

    def has_folder(self, folder: str) -> bool: ...

    def read_config(self, path: str) -> str | None:
        """Return the text of a configuration file; None if there is none."""
        ...


class DiskTree:
    """A folder of this machine."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def list_names(self, folder: str = "") -> list[str]:
        try:
            with os.scandir(os.path.join(self.folder, folder)) as entries:
                return [f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries if entry.name[0] != "."]
        except OSError:
            return []

    def has_folder(self, folder: str) -> bool:
        return os.path.isdir(os.path.join(self.folder, folder))

    def read_config(self, path: str) -> str | None:
        full_path = os.path.join(self.folder, path)
        if os.path.isfile(full_path) and os.path.getsize(full_path) > _MAX_CONFIG_BYTES:
            raise SettingsError("too large for a configuration", path=full_path)
        return settings.read_file(full_path)


class Config(NamedTuple):
    """What the configuration of another system says. Paths are as they stand there; empty means its default."""

    file: str = ""
    workspace: str = ""
    world: str = ""
    agent_workspaces: tuple[tuple[str, str], ...] = ()
    search: tuple[tuple[str, Any], ...] = ()
    agent_searches: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = ()


def recognise(tree: Tree, name: str) -> str:
    """Return the layout of the home of another system in a folder of this name; empty if there is none."""
    if tree.has_folder(".agent/memory"):
        return "agentool"
    names = frozenset(tree.list_names())
    if DURAGENT_FILE in names or tree.has_folder(DURAGENT_WORKSPACE):
        return "duragent"
    if name in OPENCLAW_FOLDERS or not names.isdisjoint(OPENCLAW_FILES):
        return "openclaw"
    return "openclaw" if _looks_like_openclaw(tree, names) else ""


def is_home(folder: str) -> bool:
    """Return whether a folder is certainly the home of another system, by its name or by what it holds."""
    if os.path.basename(folder) in OPENCLAW_FOLDERS or any(
        os.path.isfile(os.path.join(folder, file)) for file in (DURAGENT_FILE, *OPENCLAW_FILES)
    ):
        return True
    return any(os.path.isdir(os.path.join(folder, name)) for name in (DURAGENT_WORKSPACE, ".agent/memory"))


def is_memory(folder: str) -> bool:
    """Return whether a folder is a whole memory: the home of another system, even if only its pages show it, or
    one of ours that is not called .commonplace."""
    if is_home(folder):
        return True
    above = os.path.dirname(folder)
    if os.path.basename(above) == "agents" or _outer_folder(folder) != folder:  # a part of a memory
        return False
    tree = DiskTree(folder)
    is_opened = tree.has_folder(".history") and tree.has_folder(".locks")
    has_files = any(os.path.isfile(os.path.join(folder, file)) for file in (FILE, "directives/memory.md"))
    if is_opened or has_files or _has_pages_of_ours(tree) or recognise(tree, os.path.basename(folder)):
        return True
    # Directly in the user's home directory, it is that of all their agents, and has to be named.
    return folder != os.path.expanduser("~") and not _is_opened(folder) and find_state_folder(folder) != ""


def _looks_like_openclaw(tree: Tree, names: frozenset[str]) -> bool:
    """Return whether a folder without a configuration has pages or sessions of OpenClaw, but none of commonplace."""
    if "directives/" in names or tree.has_folder(".history"):
        return False
    has_memory = not names.isdisjoint(_OPENCLAW_MEMORY)
    if has_memory and not names.isdisjoint(_OPENCLAW_SIGNS):
        return True
    agents = [f"agents/{name}" for name in (tree.list_names("agents") if "agents/" in names else ())]
    inside = [frozenset(tree.list_names(agent.rstrip("/"))) for agent in agents if agent.endswith("/")]
    if any("memory/" in each or "agent.yaml" in each for each in inside):
        return False
    if any("MEMORY.md" in each or (has_memory and "sessions/" in each) for each in inside):
        return True
    return any(_has_transcripts(tree, f"{agent}sessions") for agent in agents if agent.endswith("/"))


def _has_transcripts(tree: Tree, folder: str) -> bool:
    return any(name.endswith(".jsonl") for name in tree.list_names(folder))


def has_native_pages(tree: Tree) -> bool:
    """Return whether the folder has an agent's memory in the native layout."""
    return tree.has_folder(".history") and _has_pages_of_ours(tree)


def _has_pages_of_ours(tree: Tree) -> bool:
    for agent in tree.list_names("agents"):
        if not {"daily/", "MEMORY.md"}.isdisjoint(tree.list_names(f"agents/{agent}memory")):
            return True
    return False


def read_config(tree: Tree, layout: str, folder: str = "") -> Config:
    """Return what the configuration of a home says; `folder` is how errors name the place."""
    files = {"duragent": (DURAGENT_FILE,), "openclaw": OPENCLAW_FILES}.get(layout, ())
    for file in files:
        text = tree.read_config(file)
        if text is not None:
            return _read_values(file, _parse(os.path.join(folder, file), text))
    return Config()


def _parse(path: str, text: str) -> dict[str, Any]:
    try:
        if path.endswith(".json"):
            values = parse_json5(text)
        else:
            node = compose(text)
            values = None if node is None else as_values(node)
    except ParseProblem as error:
        language = "JSON5" if path.endswith(".json") else "YAML"
        problem = f"not valid {language}: {error.problem}"
        raise SettingsError(problem, path=path, line=error.line, advice="fix it there") from error
    return _mapping(values)


def _read_values(file: str, values: dict[str, Any]) -> Config:
    agents = _mapping(values.get("agents"))
    defaults = _mapping(agents.get("defaults"))
    listed = [each for each in _list(agents.get("list")) if isinstance(each, dict) and _text(each.get("id"))]
    by_name = {name: _mapping(each) for name, each in agents.items() if name not in ("defaults", "list")}
    own = {**by_name, **{_text(each["id"]): each for each in listed}}
    # Later ones take precedence.
    workspaces = [_mapping(values.get("agent")), defaults, own.get(MAIN_AGENT, {}), values]
    search = {**_search(defaults), **_search(values)}
    return Config(
        file,
        next(filter(None, (_text(each.get("workspace")) for each in reversed(workspaces))), ""),
        _text(_mapping(values.get("world_memory")).get("path")),
        tuple((name, _text(each.get("workspace"))) for name, each in own.items() if _text(each.get("workspace"))),
        tuple(search.items()),
        tuple((name, tuple(_search(each).items())) for name, each in own.items() if _search(each)),
    )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) and "\0" not in value else ""


def _search(values: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a `memorySearch` section that we know, wherever the versions of OpenClaw put them."""
    section = _mapping(values.get("memorySearch"))
    values_by_key = {**_mapping(section.get("query")), **section}
    if "sessions" in _list(section.get("sources")):
        values_by_key.setdefault("indexSessions", True)
    return {name: value for name, value in values_by_key.items() if name in _SEARCH_KEYS and value is not None}


class Located(NamedTuple):
    """Where a memory is, and its settings.

    `is_guess`: its layout was guessed from pages, so it must be recorded before our own pages confuse the guess.
    """

    folder: str
    settings: Settings
    is_guess: bool = False


def locate(folder: str) -> Located:
    """Return where the memory is that a folder means, with its settings."""
    if _is_plainly_ours(folder):
        return Located(folder, Settings())
    folder = _inner_folder(_outer_folder(folder))
    tree = DiskTree(folder)
    own = settings.load(folder, base=Settings(layout=""))
    guess = "" if own.layout else recognise(tree, os.path.basename(folder))
    if guess == "openclaw" and _is_named_as_ours(folder):  # OpenClaw's settings also say how ours is searched
        guess = ""
    if guess and has_native_pages(tree) and not _has_pages_where_ours_are(folder, guess):
        return _place_ours(folder, (_second_home_warning(folder, guess),))
    layout = own.layout or guess
    if layout in ("", "native"):
        return _place_ours(folder)
    config = read_config(tree, layout, folder)
    place = _find_place(folder, layout, config, is_named=bool(own.layout))
    base = _add_search(place.settings, place.folder, config)
    if place.folder != folder and os.path.lexists(os.path.join(folder, FILE)):
        problem = f"{config.file} keeps the memory in {place.folder}, so settings belong there"
        raise SettingsError(problem, path=os.path.join(folder, FILE), advice="move this file there")
    is_certain = own.layout or config.file or layout != "openclaw" or os.path.basename(folder) in OPENCLAW_FOLDERS
    return Located(place.folder, settings.load(place.folder, base=base), is_guess=not is_certain)


def _is_plainly_ours(folder: str) -> bool:
    """Return whether a folder is a memory of ours without settings, as most are: a quick test."""
    try:
        names = frozenset(os.listdir(folder))
    except OSError:
        return False
    is_ours = ".history" in names and names.isdisjoint(_MARKS)
    return is_ours and os.path.basename(folder) not in OPENCLAW_FOLDERS and not _find_config_above(folder)


def _is_named_as_ours(folder: str) -> bool:
    return os.path.basename(folder) == MEMORY_FOLDER


def _has_pages_where_ours_are(folder: str, layout: str) -> bool:
    """Return whether a home of this layout has its agents' pages where a memory of ours has them, so that such pages
    are no sign of a second memory."""
    if layout != "duragent":
        return False
    try:
        config = read_config(DiskTree(folder), layout)
    except SettingsError:
        return False
    return _find_workspace(folder, config) == os.path.realpath(folder)


def _place_ours(folder: str, warnings: tuple[str, ...] = ()) -> Located:
    """Return the place of a memory of ours. A configuration of OpenClaw in it or beside it says how it is searched."""
    above = _find_config_above(folder)
    try:
        config = read_config(DiskTree(above or folder), "openclaw", above or folder)
    except SettingsError as error:
        config = Config()
        warnings = (*warnings, f"{error} (until then it is not used)")
    if not (config.search or config.agent_searches):
        return Located(folder, settings.load(folder, base=Settings(warnings=warnings)))
    if above:
        config = config._replace(file=os.path.join("..", config.file))
    base = Settings(workspace=".." if above else "", config=config.file, warnings=warnings)
    return Located(folder, settings.load(folder, base=_add_search(base, folder, config)._replace(workspace="")))


def _find_config_above(folder: str) -> str:
    """Return the folder around a memory of a project, if only that has a configuration of OpenClaw."""
    above = os.path.dirname(folder)
    is_there = _is_named_as_ours(folder) and _has_openclaw_config(above) and not _has_openclaw_config(folder)
    return above if is_there else ""


def _has_openclaw_config(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, file)) for file in OPENCLAW_FILES)


def _second_home_warning(folder: str, layout: str) -> str:
    todo = f"`layout: {layout}` in {FILE} opens it instead, `commonplace import` brings a copy"
    return f"{folder} also holds a home of {layout}, which is not read: {todo}"


def _outer_folder(folder: str) -> str:
    """Return the folder of the whole home, if the given folder is only a part of it."""
    above, name = os.path.split(folder)
    if not os.path.isdir(folder) or _is_opened(folder):
        return folder
    if name == "memory" and os.path.basename(above) == ".agent":
        return os.path.dirname(above)
    if name == ".agent" and os.path.isdir(os.path.join(folder, "memory")):
        return above
    return above if _is_workspace_of(folder, above) else folder


def _inner_folder(folder: str) -> str:
    """Return the state folder of OpenClaw in a folder that is no memory itself."""
    if _is_opened(folder) or recognise(DiskTree(folder), os.path.basename(folder)):
        return folder
    return find_state_folder(folder) or folder


def find_state_folder(folder: str) -> str:
    """Return the state folder of OpenClaw in a folder; empty if there is none."""
    inside = (os.path.join(folder, name) for name in OPENCLAW_FOLDERS)
    return next(filter(os.path.isdir, inside), "")


def _is_opened(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, FILE)) or os.path.isdir(os.path.join(folder, ".history"))


def _is_workspace_of(folder: str, above: str) -> bool:
    """Return whether a folder is the workspace of a home in the folder above it."""
    name = os.path.basename(folder)
    if name == DURAGENT_WORKSPACE or os.path.isfile(os.path.join(above, DURAGENT_FILE)):
        try:
            config = read_config(DiskTree(above), "duragent")
        except SettingsError:  # reported to whoever opens that folder
            return False
        return _resolve(above, config.workspace or DURAGENT_WORKSPACE) == os.path.realpath(folder)
    is_openclaw = os.path.basename(above) in OPENCLAW_FOLDERS or _has_openclaw_config(above)
    return is_openclaw and name == OPENCLAW_WORKSPACE


def _resolve(folder: str, text: str) -> str:
    """Return the folder that a configuration in `folder` means."""
    return os.path.realpath(os.path.join(folder, os.path.expanduser(text)))


def _relative(path: str, folder: str) -> str | None:
    """Return a path from a folder that it is in, `.` for the folder itself; None if it is elsewhere."""
    root = os.path.realpath(folder)
    if path == root:
        return "."
    is_inside = path.startswith(root.rstrip(os.sep) + os.sep)
    return os.path.relpath(path, root).replace(os.sep, "/") if is_inside else None


def _find_place(folder: str, layout: str, config: Config, *, is_named: bool) -> Located:
    """Return the folder that holds everything, and settings that say where things are in it."""
    if layout == "duragent":
        return _find_duragent(folder, config)
    if layout == "openclaw" and not is_named:
        return _find_openclaw(folder, config)
    return Located(folder, Settings(layout=layout, config=config.file))


def _find_duragent(folder: str, config: Config) -> Located:
    workspace = _find_workspace(folder, config)
    if workspace != os.path.realpath(folder) and os.path.lexists(os.path.join(workspace, FILE)):
        return Located(workspace, Settings(layout="native", config=config.file))
    inside = _relative(workspace, folder)
    root = folder if inside else workspace
    world = ""
    if config.world:
        path = _resolve(folder, config.world)
        world = _relative(path, root) or ""
        if world in ("", "."):
            problem = f"world_memory.path leads to {path}, which is not a folder inside of {root}"
            advice = f"move it there, or bring a copy of everything with `{format_command('import', folder)}`"
            raise SettingsError(problem, path=os.path.join(folder, config.file), advice=advice)
    warnings: tuple[str, ...] = ()
    if config.workspace and not os.path.isdir(workspace):
        warnings = (f"{config.file} names the workspace {workspace}, which does not exist: it is created now",)
    return Located(
        root,
        Settings(layout="duragent", workspace=inside or ".", world_path=world, config=config.file, warnings=warnings),
    )


def _find_workspace(folder: str, config: Config) -> str:
    """Return the workspace of duragent; the home itself, if only that has agents."""
    workspace = _resolve(folder, config.workspace or DURAGENT_WORKSPACE)
    if config.file and not os.path.isdir(workspace) and os.path.isdir(os.path.join(folder, "agents")):
        return os.path.realpath(folder)
    return workspace


def _find_openclaw(folder: str, config: Config) -> Located:
    workspace = _find_openclaw_workspace(folder, config)
    if workspace != os.path.realpath(folder) and os.path.lexists(os.path.join(workspace, FILE)):
        return Located(workspace, Settings(layout="openclaw", config=config.file))
    base = Settings(layout="openclaw", config=config.file)
    inside = _relative(workspace, folder)
    if inside is None:
        left_out = f"{folder} keeps its pages in {workspace}: what it has of single agents is not part of this memory"
        return Located(workspace, base._replace(warnings=(left_out,)))
    roots = tuple(_list_agent_roots(folder, config))
    if inside == ".":
        return Located(folder, base._replace(agent_roots=roots))
    return Located(folder, base._replace(workspace=inside, agents_folder="agents", agent_roots=roots))


def _find_openclaw_workspace(folder: str, config: Config) -> str:
    """Return the folder with the pages. One inside is preferred: the folder may be a copy of the home it describes."""
    configured = _resolve(folder, config.workspace) if config.workspace else ""
    usual = _resolve(folder, OPENCLAW_WORKSPACE)
    if configured and os.path.isdir(configured) and _relative(configured, folder):
        return configured
    if _has_openclaw_pages(usual):
        return usual
    is_elsewhere = configured and os.path.isdir(configured) and not _has_openclaw_pages(folder)
    return configured if is_elsewhere else os.path.realpath(folder)


def _has_openclaw_pages(folder: str) -> bool:
    return not (_OPENCLAW_MEMORY | OPENCLAW_PAGES).isdisjoint(DiskTree(folder).list_names())


def _list_agent_roots(folder: str, config: Config) -> Iterator[tuple[str, str]]:
    """Yield the agents that have a workspace of their own inside the home."""
    for name in DiskTree(folder).list_names():
        agent = name.removeprefix(WORKSPACE_PREFIX).rstrip("/")
        if name.startswith(WORKSPACE_PREFIX) and name.endswith("/") and agent not in ("", MAIN_AGENT):
            yield agent, name.rstrip("/")
    for agent, text in config.agent_workspaces:
        inside = _relative(_resolve(folder, text), folder)
        if agent != MAIN_AGENT and inside not in (None, ".") and inside:
            yield agent, inside


def _add_search(base: Settings, folder: str, config: Config) -> Settings:
    """Return settings with what a configuration says about search. What we cannot use is left out with a warning."""
    warnings = [*base.warnings]
    workspace = "" if base.workspace == "." else base.workspace
    fields = _read_search(dict(config.search), folder, workspace, config.file, warnings)
    search = settings.override_search(SearchSettings(), fields)
    agents = []
    for name, section in config.agent_searches:
        own = _read_search(dict(section), folder, workspace, config.file, warnings)
        agents.append((name, settings.override_search(search, own)))
    return base._replace(search=search, agents=tuple(agents), warnings=tuple(warnings))


def _read_search(
    section: dict[str, Any], folder: str, workspace: str, file: str, warnings: list[str]
) -> dict[str, Any]:
    """Return the fields of `SearchSettings` that a section gives."""
    fields: dict[str, Any] = {}
    paths = section.pop("extraPaths", None)
    provider = _text(section.pop("provider", ""))
    for name, setting in section.items():
        value = _read_number(setting) if name in _NUMBER_KEYS else setting
        if value is not setting:
            warnings.append(f"{file}: memorySearch.{name} is in quotes, and is read as the number {value}")
        try:
            fields |= settings.convert_value(f"memorySearch.{name}", value, folder)
        except InvalidArgument as error:
            warnings.append(f"{file}: memorySearch.{name} is not used: {error}")
    if paths is not None:
        fields["search.extra_paths"] = tuple(_read_extra_paths(paths, folder, workspace, file, warnings))
    if provider in PROVIDERS:
        fields |= {"search.provider": provider, "search.foreign_provider": ""}
    else:
        fields.pop("search.model", None)  # a model of a provider we do not know
        if provider not in ("", "auto"):
            fields["search.foreign_provider"] = provider
    return {field.removeprefix("search."): value for field, value in fields.items()}


def _read_number(value: Any) -> Any:
    """Return the number that a text holds, or the value as it is."""
    if not isinstance(value, str):
        return value
    for convert in (int, float):
        try:
            return convert(value)
        except ValueError:
            continue
    return value


def _read_extra_paths(paths: Any, folder: str, workspace: str, file: str, warnings: list[str]) -> Iterator[str]:
    """Yield patterns inside the home. Those of another system are relative to its workspace, or absolute."""
    root = os.path.realpath(folder)
    for text in paths if isinstance(paths, list) else [paths]:
        path = os.path.normpath(os.path.join(root, workspace, os.path.expanduser(str(text))))
        inside = _relative(path, root)
        if inside is None or not _text(text):
            warnings.append(f"{file}: the extra path {text!r} leads out of the home, and is not searched")
        else:
            yield settings.page_pattern(inside, folder)
