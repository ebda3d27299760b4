"""commonplace.yaml, agent.yaml and the defaults, as one value.

A key that is not known, or a value of the wrong type, is an error with the file and the line: never ignored.
In agent.yaml only `spec.memory` is ours; the rest belongs to whoever runs the agent.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from .errors import SettingsError
from .formats.yaml_nodes import YamlProblem, compose

FILE = "commonplace.yaml"
LAYOUT_NAMES = ("native", "agentool", "duragent", "openclaw")
OURS = (".index", ".locks", ".history", ".access")  # folders of a home that hold no pages
SECRETS = ("warn", "redact", "refuse")
PROVIDERS = ("static", "local", "openai", "ollama", "sentence-transformers", "none")


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


class HistorySettings(NamedTuple):
    """`history`: how long earlier versions are kept, and how much of them."""

    days: int = 365
    megabytes: int = 1000


class Settings(NamedTuple):
    """What a home is set to. `workspace` and `world_path` are relative to the home; empty means the layout's own."""

    layout: str = "native"
    workspace: str = ""
    world_path: str = ""
    timezone: str = "UTC"
    history: HistorySettings = HistorySettings()
    search: SearchSettings = SearchSettings()
    agents: tuple[tuple[str, SearchSettings], ...] = ()
    secrets: str = "warn"  # what is done with text that holds a key or a password, when it is written

    def search_for(self, agent: str) -> SearchSettings:
        return dict(self.agents).get(agent, self.search)


Read = Callable[[str], str | None]  # the text of a file, or None when there is none


def of_file(path: str) -> str | None:
    """The text of a file of this machine."""
    try:
        if not os.path.isfile(path) and os.path.lexists(path):
            raise SettingsError(f"{path}: not a regular file: move it away")
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: not UTF-8 text (byte {error.start}): save it as UTF-8") from error
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from error


def load(home: str, read: Read = of_file) -> Settings:
    """The settings of a home; the defaults when it has no file."""
    path = os.path.join(home, FILE)
    node = _compose(path, read)
    if node is None:
        return Settings()
    reader = _Reader(path)
    found: dict[str, Any] = {}
    sections: dict[str, Callable[[Any], None]] = {
        "layout": lambda n: found.update(layout=reader.choice(n, "layout", LAYOUT_NAMES)),
        "workspace": lambda n: found.update(workspace=_inside(reader, n, "workspace", home)),
        "world_memory": lambda n: reader.mapping(
            n, "world_memory", {"path": lambda p: found.update(world_path=_world(reader, p, home))}
        ),
        "timezone": lambda n: found.update(timezone=_timezone(reader, n)),
        "history": lambda n: found.update(history=_history(reader, n)),
        "secrets": lambda n: found.update(secrets=reader.choice(n, "secrets", SECRETS)),
        "memorySearch": lambda n: found.update(search=_search(reader, n, SearchSettings())),
        "agents": lambda n: found.update(agents_node=n),
    }
    reader.mapping(node, FILE, sections)
    agents_node = found.pop("agents_node", None)
    settings = Settings(**found)
    agents = _agents(reader, agents_node, settings.search) if agents_node else {}
    return settings._replace(agents=tuple(agents.items()))


def has_memory(path: str, read: Read = of_file) -> bool:
    """Whether an agent's own file gives it memory; an agent without a file has it."""
    node = _compose(path, read)
    if node is None:
        return True
    memory = _child(_child(node, "spec"), "memory")
    if memory is None:
        return False
    reader = _Reader(path)
    if not reader.is_empty(memory):
        backend = {"backend": lambda n: _ignore(reader.choice(n, "backend", ("filesystem",)))}
        reader.mapping(memory, "spec.memory", backend)
    return True


def _ignore(_: object) -> None:
    """For a value that only has to be right: there is one backend."""


def _agents(reader: _Reader, node: Any, base: SearchSettings) -> dict[str, SearchSettings]:
    found: dict[str, SearchSettings] = {}

    def one(name: str) -> Callable[[Any], None]:
        def read(value: Any) -> None:
            sections = {"memorySearch": lambda n: found.update({name: _search(reader, n, base)})}
            reader.mapping(value, f"agents.{name}", sections)

        return read

    if not reader.is_empty(node):
        reader.require(node, "mapping", "agents", "a mapping of agent names")
        reader.mapping(node, "agents", {key.value: one(key.value) for key, _ in node.value if key.id == "scalar"})
    return found


def _history(reader: _Reader, node: Any) -> HistorySettings:
    found: dict[str, int] = {}
    sections: dict[str, Callable[[Any], None]] = {
        name: lambda n, name=name: found.update({name: int(reader.number(n, name, 0, 1_000_000, whole=True))})  # type: ignore[misc]
        for name in HistorySettings._fields
    }
    if not reader.is_empty(node):
        reader.mapping(node, "history", sections)
    return HistorySettings(**found)


def _search(reader: _Reader, node: Any, base: SearchSettings) -> SearchSettings:
    found: dict[str, Any] = {}
    sections: dict[str, Callable[[Any], None]] = {
        "enabled": lambda n: found.update(enabled=reader.boolean(n, "enabled")),
        "provider": lambda n: found.update(provider=reader.choice(n, "provider", PROVIDERS)),
        "model": lambda n: found.update(model=reader.text(n, "model")),
        "extraPaths": lambda n: found.update(extra_paths=_globs(reader, n)),
        "indexSessions": lambda n: found.update(index_sessions=reader.boolean(n, "indexSessions")),
        "maxResults": lambda n: found.update(max_results=int(reader.number(n, "maxResults", 1, 100, whole=True))),
        "minScore": lambda n: found.update(min_score=reader.number(n, "minScore", 0, 1)),
        "rerank": lambda n: found.update(rerank=reader.boolean(n, "rerank")),
        "baseUrl": lambda n: found.update(base_url=_url(reader, n)),
        "apiKeyEnv": lambda n: found.update(api_key_env=reader.text(n, "apiKeyEnv")),
    }
    if not reader.is_empty(node):
        reader.mapping(node, "memorySearch", sections)
    return base._replace(**found)


def _url(reader: _Reader, node: Any) -> str:
    text = reader.text(node, "baseUrl").rstrip("/")
    if not text.startswith(("http://", "https://")):
        raise reader.error(node, f"baseUrl: {text!r} is not a web address: use one like http://localhost:11434/v1")
    return text


def _globs(reader: _Reader, node: Any) -> tuple[str, ...]:
    reader.require(node, "sequence", "extraPaths", "a list of patterns like notes/*.md")
    out = []
    for item in node.value:
        pattern = reader.text(item, "extraPaths").removeprefix("./")
        parts = pattern.replace("\\", "/").split("/")
        if os.path.isabs(pattern) or pattern.startswith("~") or ".." in parts:
            raise reader.error(item, f"extraPaths: {pattern!r} leads out of the home: use a pattern inside it")
        is_folder = not pattern.endswith(".md") and not set(parts[-1]) & set("*?")
        folder = pattern.strip("/").removesuffix(".")
        out.append((f"{folder}/**/*.md" if folder else "**/*.md") if is_folder else pattern)
    return tuple(out)


def _inside(reader: _Reader, node: Any, name: str, home: str) -> str:
    """A folder named in the settings, relative to the file, as a path relative to the home."""
    text = reader.text(node, name)
    if "\0" in text or text.replace("\\", "/").removeprefix("./").split("/")[0] in OURS:
        raise reader.error(node, f"{name}: {text!r} can not hold memory: name another folder")
    root = os.path.realpath(home)
    place = os.path.realpath(os.path.join(root, os.path.expanduser(text)))
    if place == root:
        return "."
    if not place.startswith(root + os.sep):
        raise reader.error(node, f"{name}: {text!r} lies outside the home: name a folder inside it")
    return os.path.relpath(place, root).replace(os.sep, "/")


def _world(reader: _Reader, node: Any, home: str) -> str:
    folder = _inside(reader, node, "path", home)
    if folder == ".":
        raise reader.error(node, "path: the whole home can not be the world: name a folder inside it")
    return folder


def _timezone(reader: _Reader, node: Any) -> str:
    from zoneinfo import ZoneInfo

    name = reader.text(node, "timezone")
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise reader.error(node, f"timezone: {name!r} is not a time zone: use one like Europe/Berlin or UTC") from error
    return name


def _child(node: Any, name: str) -> Any:
    if node is None or node.id != "mapping":
        return None
    return next((value for key, value in node.value if key.value == name), None)


def _compose(path: str, read: Read) -> Any:
    """The YAML of a file as nodes that know their line; None when there is no file or it is empty."""
    text = read(path)
    if text is None:
        return None
    try:
        return compose(text)
    except YamlProblem as error:
        where = f":{error.line}" if error.line else ""
        raise SettingsError(f"{path}{where}: not valid YAML: {error.problem}") from error


class _Reader:
    """Reads nodes of one file, and knows where each stands when it has to complain."""

    def __init__(self, path: str) -> None:
        self.path = path

    def error(self, node: Any, sentence: str) -> SettingsError:
        return SettingsError(f"{self.path}:{node.start_mark.line + 1}: {sentence}")

    def is_empty(self, node: Any) -> bool:
        return bool(node.tag == "tag:yaml.org,2002:null")

    def require(self, node: Any, kind: str, name: str, what: str) -> None:
        if node.id != kind:
            raise self.error(node, f"{name} must be {what}")

    def mapping(self, node: Any, name: str, readers: dict[str, Callable[[Any], None]]) -> None:
        self.require(node, "mapping", name, "a mapping of names to values")
        seen: set[str] = set()
        for key, value in node.value:
            if key.id != "scalar":
                raise self.error(key, f"a key of {name} must be text")
            if key.value not in readers:
                raise self.error(key, f"unknown key {key.value!r} in {name}.{self._hint(key.value, readers)}")
            if key.value in seen:
                raise self.error(key, f"{key.value!r} stands twice in {name}")
            seen.add(key.value)
            readers[key.value](value)

    def _hint(self, wrong: Any, known: dict[str, Any]) -> str:
        import difflib

        close = difflib.get_close_matches(str(wrong), known, n=1, cutoff=0.5)
        return f" Did you mean {close[0]!r}?" if close else f" Known keys: {', '.join(known)}."

    def text(self, node: Any, name: str) -> str:
        self.require(node, "scalar", name, "text")
        if node.tag != "tag:yaml.org,2002:str" or not node.value.strip():
            raise self.error(node, f"{name} must be text, not {node.value!r}")
        return str(node.value)

    def choice(self, node: Any, name: str, choices: tuple[str, ...]) -> str:
        self.require(node, "scalar", name, f"one of {', '.join(choices)}")
        if node.value not in choices:
            raise self.error(node, f"{name} must be one of {', '.join(choices)}, not {node.value!r}")
        return str(node.value)

    def boolean(self, node: Any, name: str) -> bool:
        value = node.value.lower() if node.id == "scalar" and node.tag.endswith((":bool", ":str")) else ""
        if value not in ("true", "false") or node.tag.endswith(":str"):
            raise self.error(node, f"{name} must be true or false")
        return bool(value == "true")

    def number(self, node: Any, name: str, low: float, high: float, *, whole: bool = False) -> float:
        what = f"a {'whole ' if whole else ''}number from {low:g} to {high:g}"
        self.require(node, "scalar", name, what)
        if not node.tag.endswith((":int",) if whole else (":int", ":float")):
            raise self.error(node, f"{name} must be {what}, not {node.value!r}")
        try:
            value = float(node.value)
        except ValueError as error:
            raise self.error(node, f"{name} must be {what}, not {node.value!r}") from error
        if not low <= value <= high:
            raise self.error(node, f"{name} must be {what}, not {node.value}")
        return value
