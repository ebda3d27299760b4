"""commonplace.yaml and agent.yaml: one table of settings, and how the files are read.

An unknown key, or a value of the wrong type, is an error that names the file and the line. It is never ignored.
In agent.yaml only `spec.memory` is ours, and a top-level `context` with one of our values; the rest belongs to the
program that runs the agent.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import reduce
from typing import Any, NamedTuple

from .errors import InvalidArgument, SettingsError, range_words
from .formats import ParseProblem
from .formats.frontmatter import Node, compose, scalar_value
from .schema import BOOLEAN, TEXT, WORDS, Schema, array, check, integer, one_of

FILE = "commonplace.yaml"
MEMORY_FOLDER = ".commonplace"  # the name by which a memory in a project is found
LAYOUT_NAMES = ("native", "agentool", "duragent", "openclaw")
INTERNAL_FOLDERS = (".index", ".locks", ".history", ".access")  # folders of a home that hold no pages
MEMORY_DIR_LAYOUT = "agentool"  # the only one whose memory root can be named
SECRET_POLICIES = ("warn", "redact", "refuse")
DIRECTIVE_BLOCKS = ("categories", "storage", "actions")
CONTEXTS = ("full", "directives")  # what the prompt context is made of


class Provider(NamedTuple):
    """An embedding provider. `module` of `embedding/` opens it; the hint says what to install for it."""

    module: str
    hint: str = ""
    is_remote: bool = False  # passages are sent to a server
    is_self_contained: bool = False  # needs neither a server nor a model folder by default


PROVIDERS = {
    "static": Provider("static", is_self_contained=True),
    "local": Provider("local", "pip install 'commonplace[local]'", is_self_contained=True),
    "openai": Provider("openai", is_remote=True),
    "ollama": Provider("ollama", is_remote=True),
    "sentence-transformers": Provider("sentence_transformers", "pip install 'commonplace[sentence-transformers]'"),
    "none": Provider("", is_self_contained=True),
}


class SearchSettings(NamedTuple):
    """`memorySearch`: what is searched and how."""

    enabled: bool = True
    provider: str = "static"
    model: str = ""
    extra_paths: tuple[str, ...] = ()
    index_sessions: bool = False
    max_results: int = 10
    min_score: float | None = None
    rerank: bool = False
    base_url: str = ""
    api_key_env: str = ""
    session_key: str = ""
    foreign_provider: str = ""  # named by another system's configuration, and unknown to us


class HistorySettings(NamedTuple):
    """`history`: how long earlier versions are kept, and how much of them."""

    days: int = 365
    megabytes: int = 1000


class Settings(NamedTuple):
    """The settings of a home. Folders are relative to it; empty means the layout's own."""

    layout: str = "native"
    workspace: str = ""
    world_path: str = ""
    timezone: str = "UTC"
    history: HistorySettings = HistorySettings()
    recall_characters: int = 24_000  # of memory that one reply shows
    directive_blocks: tuple[str, ...] = ()  # that the default directive has beside what it always says
    search: SearchSettings = SearchSettings()
    agents: tuple[tuple[str, SearchSettings], ...] = ()
    secrets: str = "warn"
    memory_dir: str = ""
    agent_roots: tuple[tuple[str, str], ...] = ()  # folders of agents whose memory is elsewhere
    agents_folder: str = ""  # where another system keeps its data about each agent
    config: str = ""  # the configuration file of another system that was read
    warnings: tuple[str, ...] = ()
    context: str = "full"
    agent_contexts: tuple[tuple[str, str], ...] = ()

    @property
    def of_stranger(self) -> Settings:
        """Return the settings that count in a memory that the user does not trust: where its pages are, when its
        days begin, what is searched, and how. Prompts, limits, history and conversations are as without settings."""
        return Settings(
            self.layout,
            self.workspace,
            self.world_path,
            self.timezone,
            search=self.search._replace(session_key=""),
            agents=tuple((agent, search._replace(session_key="")) for agent, search in self.agents),
            secrets=self.secrets,
            memory_dir=self.memory_dir,
            agent_roots=self.agent_roots,
            agents_folder=self.agents_folder,
            config=self.config,
            warnings=self.warnings,
        )

    def list_left_out(self) -> list[tuple[str, Any]]:
        """Return the names and values of the settings that do not count where the user does not trust the memory."""
        rest = self.of_stranger
        left_out = [(each.name, each.read(self)) for each in SETTINGS if each.read(self) != each.read(rest)]
        return left_out + ([("agents", "")] if (self.agents, self.agent_contexts) != (rest.agents, ()) else [])

    def context_for(self, agent: str) -> str:
        """Return the kind of prompt context that an agent gets: one of `CONTEXTS`."""
        return dict(self.agent_contexts).get(agent, self.context)

    @property
    def searches(self) -> tuple[SearchSettings, ...]:
        """The search settings of the home, and of each agent that has its own."""
        return self.search, *(search for _, search in self.agents)

    def search_for(self, agent: str) -> SearchSettings:
        return dict(self.agents).get(agent, self.search)


ReadText = Callable[[str], str | None]  # the text of a file, or None when there is none
Convert = Callable[[str, str], str]  # converts a text, given the home's folder; may raise InvalidArgument


def keep(text: str, _home: str) -> str:
    """Return the text as it is."""
    return text


def relative_folder(text: str, home: str) -> str:
    """Return a folder as a path inside the home; InvalidArgument for one outside of it."""
    if "\0" in text or text.replace("\\", "/").removeprefix("./").split("/")[0] in INTERNAL_FOLDERS:
        raise InvalidArgument(f"{text!r} cannot hold memory", advice="name another folder")
    root = os.path.realpath(home)
    place = os.path.realpath(os.path.join(root, os.path.expanduser(text)))
    if place == root:
        return "."
    if not place.startswith(root + os.sep):
        raise InvalidArgument(f"{text!r} lies outside the home", advice="name a folder inside it")
    return os.path.relpath(place, root).replace(os.sep, "/")


def world_folder(text: str, home: str) -> str:
    """Return the folder of shared topics; InvalidArgument for the whole home."""
    folder = relative_folder(text, home)
    if folder == ".":
        raise InvalidArgument("the whole home cannot be the folder of shared topics", advice="name a folder inside it")
    return folder


def inner_folder(text: str, _home: str) -> str:
    """Return a folder as a path inside another one; InvalidArgument for one that leads out of it."""
    parts = [part for part in text.replace("\\", "/").split("/") if part not in ("", ".")]
    if "\0" in text or os.path.isabs(text) or text.startswith("~") or ".." in parts or not parts:
        raise InvalidArgument(f"{text!r} is not a folder inside the workspace", advice="name one like notes/memory")
    if parts[0] in INTERNAL_FOLDERS:
        raise InvalidArgument(f"{text!r} cannot hold memory", advice="name another folder")
    return "/".join(parts)


def timezone_name(text: str, _home: str) -> str:
    """Return the name of a time zone; InvalidArgument if it is not known here."""
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError) as error:
        raise InvalidArgument(f"{text!r} is not a time zone", advice="use one like Europe/Berlin or UTC") from error
    return text


def page_pattern(text: str, _home: str) -> str:
    """Return a pattern of pages inside the home; a folder becomes a pattern of all pages below it."""
    pattern = text.removeprefix("./")
    parts = pattern.replace("\\", "/").split("/")
    if os.path.isabs(pattern) or pattern.startswith("~") or ".." in parts:
        raise InvalidArgument(f"{pattern!r} leads out of the home", advice="use a pattern inside it")
    if pattern.endswith(".md") or set(parts[-1]) & set("*?"):
        return pattern
    folder = pattern.strip("/").removesuffix(".")
    return f"{folder}/**/*.md" if folder else "**/*.md"


def web_address(text: str, _home: str) -> str:
    """Return the address of a server, without a slash at its end."""
    address = text.rstrip("/")
    if not address.startswith(("http://", "https://")):
        raise InvalidArgument(f"{address!r} is not a web address", advice="use one like http://localhost:11434/v1")
    return address


class Setting(NamedTuple):
    """One setting: its name in the file, with a dot after a section, and its field of `Settings` in the same form."""

    name: str
    field: str
    schema: Schema
    help: str
    convert: Convert = keep

    @property
    def default(self) -> Any:
        return self.read(Settings())

    def read(self, settings: Settings) -> Any:
        return reduce(getattr, self.field.split("."), settings)

    @property
    def key(self) -> str:
        """Return the name without its section."""
        return self.name.rpartition(".")[2]


_SCORE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_PATTERNS: Schema = array(TEXT)
SETTINGS = (
    Setting("layout", "layout", one_of(*LAYOUT_NAMES), "the layout of the home"),
    Setting("workspace", "workspace", TEXT, "the folder of the home with the pages", relative_folder),
    Setting("memory_dir", "memory_dir", TEXT, "the memory root in the workspace, in the layout agentool", inner_folder),
    Setting("timezone", "timezone", TEXT, "whose midnight begins a new daily page", timezone_name),
    Setting("world_memory.path", "world_path", TEXT, "where shared topics are", world_folder),
    Setting("history.days", "history.days", integer(0, 1_000_000), "how long earlier versions of pages are kept"),
    Setting("history.megabytes", "history.megabytes", integer(0, 1_000_000), "how much of them is kept at most"),
    Setting("recall.maxCharacters", "recall_characters", integer(1_000, 10_000_000), "how long recall may be"),
    Setting("directive.blocks", "directive_blocks", array(one_of(*DIRECTIVE_BLOCKS)), "more of the default directive"),
    Setting("context", "context", one_of(*CONTEXTS), "what the prompt context is made of"),
    Setting("secrets", "secrets", one_of(*SECRET_POLICIES), "what is done with text that contains a key or a password"),
    Setting("memorySearch.enabled", "search.enabled", BOOLEAN, "whether search is on"),
    Setting("memorySearch.provider", "search.provider", one_of(*PROVIDERS), "where embeddings come from"),
    Setting("memorySearch.model", "search.model", TEXT, "the model of the provider"),
    Setting("memorySearch.rerank", "search.rerank", BOOLEAN, "whether a cross-encoder reranks the best hits"),
    Setting(
        "memorySearch.baseUrl",
        "search.base_url",
        TEXT,
        "not used: a server belongs in the user's configuration",
        web_address,
    ),
    Setting("memorySearch.apiKeyEnv", "search.api_key_env", TEXT, "not used, like baseUrl"),
    Setting("memorySearch.extraPaths", "search.extra_paths", _PATTERNS, "more pages to search", page_pattern),
    Setting("memorySearch.indexSessions", "search.index_sessions", BOOLEAN, "whether sessions are searched, too"),
    Setting("memorySearch.sessionKey", "search.session_key", TEXT, "the conversation that history records by default"),
    Setting("memorySearch.maxResults", "search.max_results", integer(1, 100), "how many hits at most"),
    Setting("memorySearch.minScore", "search.min_score", _SCORE, "the least score of a hit"),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}
_BACKEND = Setting("spec.memory.backend", "", one_of("filesystem"), "where an agent's memory is kept")
_CONTEXT = Setting("spec.memory.context", "", one_of(*CONTEXTS), "what the agent's prompt context is made of")


def read_file(path: str) -> str | None:
    """Return the text of a file of this machine, or None if there is none."""
    try:
        if not os.path.isfile(path) and os.path.lexists(path):
            raise SettingsError("not a regular file", path=path, advice="move it away")
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 text (byte {error.start})"
        raise SettingsError(problem, path=path, advice="save it as UTF-8") from error
    except OSError as error:
        raise SettingsError(error.strerror or "cannot be read", path=path) from error


def load(home: str, read: ReadText = read_file, base: Settings | None = None) -> Settings:
    """Return the settings of a home; without a file those in `base`, or the defaults."""
    base = base or Settings()
    path = os.path.join(home, FILE)
    root = _compose(path, read)
    if root is None:
        return base
    reader = _Reader(path, home)
    sections = dict(reader.entries(root, FILE, [*_keys_in(""), "agents"]))
    agents = sections.pop("agents", None)
    values: dict[str, Any] = {}
    for name, node in sections.items():
        values |= reader.read_values(node, name)
    settings = _replace_fields(base, values)
    if settings.memory_dir and settings.layout != MEMORY_DIR_LAYOUT:
        settings = _settle_memory_dir(settings, is_layout_given="layout" in values)
    if agents is None or _is_empty(agents):
        return settings
    return _add_agents(reader, agents, settings)


def _settle_memory_dir(settings: Settings, *, is_layout_given: bool) -> Settings:
    """Return settings with the layout that a memory root implies; with any other layout it is ignored."""
    if not is_layout_given:
        return settings._replace(layout=MEMORY_DIR_LAYOUT)
    warning = f"{FILE}: memory_dir counts only with layout: {MEMORY_DIR_LAYOUT}, not with {settings.layout}"
    return settings._replace(memory_dir="", warnings=(*settings.warnings, warning))


def convert_value(name: str, value: Any, home: str) -> dict[str, Any]:
    """Return a value of another system's file, by its field of `Settings`; InvalidArgument if it is wrong."""
    setting = _BY_NAME[name]
    checked = check(setting.schema, value, setting.key)
    if isinstance(checked, list):
        return {setting.field: tuple(setting.convert(each, home) for each in checked)}
    return {setting.field: setting.convert(checked, home) if isinstance(checked, str) else checked}


class AgentMemory(NamedTuple):
    """`spec.memory` of an agent's own file, and its `context`. An empty `context` means that of the home's settings."""

    exists: bool = True
    context: str = ""


def read_agent_memory(path: str, read: ReadText) -> AgentMemory:
    """Return what an agent's own file says about its memory; an agent without a file has it."""
    root = _compose(path, read)
    if root is None:
        return AgentMemory()
    context = _read_own_context(root)
    memory = _child(_child(root, "spec"), "memory")
    if memory is None:
        return AgentMemory(exists=False, context=context)
    reader = _Reader(path, "")
    values: dict[str, str] = {}
    if not _is_empty(memory):
        reader.require_mapping(memory, "spec.memory")
        for key, node in memory.value:  # most keys there belong to the program that runs the agent
            if key.value == _BACKEND.key:
                reader.read_value(node, _BACKEND)
            elif key.value == _CONTEXT.key:
                values[key.value] = reader.read_value(node, _CONTEXT)
            elif _is_misspelt(str(key.value), _BACKEND.key):
                raise reader.error(key, f"unknown key {key.value!r} in spec.memory.{_hint(key.value, [_BACKEND.key])}")
    return AgentMemory(context=values.get(_CONTEXT.key, context))


def _read_own_context(root: Node) -> str:
    """Return the top-level `context` of an agent's own file, if it is one of ours: the key may be another program's."""
    node = _child(root, _CONTEXT.key)
    return str(node.value) if node is not None and node.value in CONTEXTS else ""


def _keys_in(section: str) -> list[str]:
    """Return the keys of a section, or of the whole file, each once."""
    prefix = f"{section}." if section else ""
    names = (setting.name for setting in SETTINGS if setting.name.startswith(prefix))
    return [*dict.fromkeys(name.removeprefix(prefix).partition(".")[0] for name in names)]


def _replace_fields(settings: Settings, values: dict[str, Any]) -> Settings:
    """Return settings, changed in these fields."""
    plain = {field: value for field, value in values.items() if "." not in field}
    return settings._replace(
        search=settings.search._replace(**_fields_below("search", values)),
        history=settings.history._replace(**_fields_below("history", values)),
        **plain,
    )


def _fields_below(section: str, values: dict[str, Any]) -> dict[str, Any]:
    prefix = f"{section}."
    return {field.removeprefix(prefix): value for field, value in values.items() if field.startswith(prefix)}


def _add_agents(reader: _Reader, node: Node, settings: Settings) -> Settings:
    """Return the settings with the overrides of single agents."""
    reader.require_mapping(node, "agents")
    searches = dict(settings.agents)
    roots = dict(settings.agent_roots)
    contexts = dict(settings.agent_contexts)
    known = ["memorySearch", "context"] + ["memory_dir"] * (settings.layout == MEMORY_DIR_LAYOUT)
    names = [key.value for key, _ in node.value if key.id == "scalar"]
    for name, own in reader.entries(node, "agents", names):
        for section, values in reader.entries(own, f"agents.{name}", known):
            fields = reader.read_values(values, section)
            if section == "memory_dir":
                roots[name] = fields["memory_dir"]
            elif section == "context":
                contexts[name] = fields["context"]
            else:
                searches[name] = override_search(settings.search, _fields_below("search", fields))
    return settings._replace(
        agents=tuple(searches.items()), agent_roots=tuple(roots.items()), agent_contexts=tuple(contexts.items())
    )


def override_search(base: SearchSettings, fields: dict[str, Any]) -> SearchSettings:
    """Return the search settings of an agent. Its extra paths add to those of the home, but an empty list means none;
    the rest replaces."""
    own = fields.get("extra_paths", base.extra_paths)
    extra = (*base.extra_paths, *own) if own else ()
    return base._replace(**{**fields, "extra_paths": tuple(dict.fromkeys(extra))})


def _child(node: Node, name: str) -> Node:
    if node is None or node.id != "mapping":
        return None
    return next((value for key, value in node.value if key.value == name), None)


def _is_empty(node: Node) -> bool:
    return bool(node.tag == "tag:yaml.org,2002:null")


def _compose(path: str, read: ReadText) -> Node:
    """Return the YAML of a file as nodes that know their line; None if there is no file or it is empty."""
    text = read(path)
    if text is None:
        return None
    try:
        return compose(text)
    except ParseProblem as error:
        raise SettingsError(f"not valid YAML: {error.problem}", path=path, line=error.line) from error


class _Reader:
    """Reads the nodes of one file, and knows the line of each for error messages."""

    def __init__(self, path: str, home: str) -> None:
        self.path = path
        self.home = home

    def error(self, node: Node, problem: str) -> SettingsError:
        return SettingsError(problem, path=self.path, line=node.start_mark.line + 1)

    def require_mapping(self, node: Node, name: str) -> None:
        if node.id != "mapping":
            raise self.error(node, f"{name} must be a mapping of names to values")

    def entries(self, node: Node, name: str, known: Collection[str]) -> Iterator[tuple[str, Node]]:
        """Yield the keys of a mapping with their values; SettingsError for an unknown or repeated key."""
        self.require_mapping(node, name)
        seen: set[str] = set()
        for key, value in node.value:
            if key.id != "scalar":
                raise self.error(key, f"a key of {name} must be text")
            if key.value not in known:
                raise self.error(key, f"unknown key {key.value!r} in {name}.{_hint(key.value, known)}")
            if key.value in seen:
                raise self.error(key, f"{key.value!r} is given twice in {name}")
            seen.add(key.value)
            yield key.value, value

    def read_values(self, node: Node, name: str) -> dict[str, Any]:
        """Return the values of a setting or a section, by their fields of `Settings`."""
        if name in _BY_NAME:
            setting = _BY_NAME[name]
            return {setting.field: self.read_value(node, setting)}
        values: dict[str, Any] = {}
        if not _is_empty(node):
            for key, value in self.entries(node, name, _keys_in(name)):
                values |= self.read_values(value, f"{name}.{key}")
        return values

    def read_value(self, node: Node, setting: Setting) -> Any:
        if "items" not in setting.schema:
            return self._read_scalar(node, setting, setting.schema)
        if node.id != "sequence":
            raise self.error(node, f"{setting.key} must be a list {_list_words(setting.schema['items'])}")
        return tuple(self._read_scalar(item, setting, setting.schema["items"]) for item in node.value)

    def _read_scalar(self, node: Node, setting: Setting, schema: Schema) -> Any:
        value = _scalar(node)
        try:
            value = check(schema, value, setting.key)
        except InvalidArgument as error:
            raise self._wrong_value(node, setting, schema) from error
        if not isinstance(value, str):
            return value
        if not value.strip():
            raise self._wrong_value(node, setting, schema)
        try:
            return setting.convert(value, self.home)
        except InvalidArgument as error:
            raise self.error(node, f"{setting.key}: {error}") from error

    def _wrong_value(self, node: Node, setting: Setting, schema: Schema) -> SettingsError:
        got = repr(node.value) if node.id == "scalar" else "a list" if node.id == "sequence" else "a mapping"
        return self.error(node, f"{setting.key} must be {_expected_words(schema)}, not {got}")


def _scalar(node: Node) -> Any:
    """Return a scalar's value, or the nodes of anything else."""
    return scalar_value(node) if node.id == "scalar" else list(node.value)


def _expected_words(schema: Schema) -> str:
    """Describe the values that a setting takes."""
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    words = "text" if schema["type"] == "string" else WORDS[schema["type"]]
    return f"{words} {range_words(schema['minimum'], schema['maximum'])}" if "minimum" in schema else words


def _list_words(items: Schema) -> str:
    """Describe the items of a list in the settings."""
    return f"of {', '.join(items['enum'])}" if "enum" in items else "of patterns like notes/*.md"


def _is_misspelt(word: str, meant: str) -> bool:
    import difflib

    return bool(difflib.get_close_matches(word, [meant], cutoff=0.8))


def _hint(wrong: str, known: Iterable[str]) -> str:
    import difflib

    close = difflib.get_close_matches(wrong, known, n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else f" Known keys: {', '.join(known)}."
