"""The settings of an archive, or of a memory that is copied: what of them counts in the user's own memory."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from ... import settings, user_config
from ...errors import CommonplaceError, NotText, Refused, SettingsError, StorageError
from ...home import Home
from ...settings import FILE, AgentMemory, SearchSettings, Settings
from ...storage.base import Sentences
from ...storage.bulk import Spool, SpooledFile
from ...storage.conflicts import decode_text
from ...wording import format_command, list_some
from ..trust_review import review_home

_KEYS = ("provider", "model", "baseUrl", "apiKeyEnv")
_MARK = "# not taken over by the import: "
_MAX_NAMES = 5
Files = Mapping[str, SpooledFile]


def load_archived(data: bytes) -> Settings:
    """Return the settings that an archive has."""
    try:
        return settings.load("", lambda _: decode_text(data, FILE))
    except (SettingsError, NotText) as error:
        raise StorageError(f"the archive's {error}: nothing was imported") from error


def leave_out_connections(home: Home, file: SpooledFile, spool: Spool) -> tuple[SpooledFile, str]:
    """Return the settings file of an archive without the connections that this memory does not have itself, and a
    warning that says so; the file unchanged and no warning if there are none."""
    data = spool.read(file)
    if data == home.storage.read_bytes(FILE):
        return file, ""
    new = _find_connections(load_archived(data)) - _find_connections(home.settings)
    if not new:
        return file, ""
    text = _comment_out(data.decode())
    try:
        is_without = not _find_connections(load_archived(text.encode()))
    except StorageError:
        is_without = False
    if not is_without:
        problem = f"the archive's {FILE} names a provider in a form that cannot be left out: nothing was imported"
        raise Refused(problem, advice="look at it, then give --settings to take it over")
    names = " and ".join(sorted({search.provider for search in new}))
    warning = f"the provider {names} of the archive's {FILE} is not taken over: --settings does so, if you want it used"
    return spool.add(file.mode, file.modified, [text.encode()]), warning


def _find_connections(loaded: Settings) -> set[SearchSettings]:
    """Return the settings that send passages to a server or open a model folder."""
    return {
        SearchSettings(provider=each.provider, model=each.model, base_url=each.base_url, api_key_env=each.api_key_env)
        for each in loaded.searches
        if user_config.opens_connection(each)
    }


def _comment_out(text: str) -> str:
    lines = text.split("\n")
    for number in user_config.find_connection_lines(text, _KEYS):
        lines[number] = f"{_MARK}{lines[number].strip()}"
    return "\n".join(lines)


def leave_out_settings(home: Home, files: Files, spool: Spool) -> tuple[Files, Sentences]:
    """Return the files of an archive without what its maker may not decide here, and warnings that say so.

    Nowhere does it choose a provider. In a memory that exists already, its settings and files of agents change neither
    prompts nor limits nor history.
    """
    warnings: Sentences = []
    if _has_pages(home):
        files, warnings = _leave_out_prompts(home, files, spool)
    if FILE in files:
        file, warning = leave_out_connections(home, files[FILE], spool)
        files = {**files, FILE: file}
        warnings += [warning] if warning else []
    return files, warnings


def _has_pages(home: Home) -> bool:
    """Return whether a memory has more than the directive of a new one."""
    return any(path != f"{home.layout.directives}/memory.md" for path in home.storage.pages.list("", "", deep=True))


def _leave_out_prompts(home: Home, files: Files, spool: Spool) -> tuple[Files, Sentences]:
    warnings: Sentences = []
    agents = [path for path, file in files.items() if _shapes_prompts(home, path, spool.read(file))]
    if agents:
        warnings.append(
            f"{list_some(agents, _MAX_NAMES)} would change prompts: not taken over, unless you give --settings"
        )
    data = spool.read(files[FILE]) if FILE in files else b""
    names = _find_limits(load_archived(data), home.settings) if data != (home.storage.read_bytes(FILE) or b"") else []
    if names:
        if _places(load_archived(data)) != _places(home.settings):
            problem = f"the archive's {FILE} sets {list_some(names, _MAX_NAMES)}: nothing was imported"
            raise Refused(problem, advice="look at it, then give --settings to take it over, or import into a new home")
        sets = list_some(names, _MAX_NAMES)
        warnings.append(f"the archive's {FILE} sets {sets}: the file is not taken over, unless you give --settings")
    left_out = {*agents, *([FILE] if names else [])}
    return {path: file for path, file in files.items() if path not in left_out}, warnings


def _shapes_prompts(home: Home, path: str, data: bytes) -> bool:
    """Return whether a file of an archive is that of an agent and asks for something, unless it is here already."""
    if not (path.startswith(f"{home.layout.agents}/") and path.endswith("/agent.yaml")):
        return False
    with suppress(CommonplaceError):
        memory = settings.read_agent_memory(path, lambda _: decode_text(data, path))
        return memory != AgentMemory() and data != home.storage.read_bytes(path)
    return False


def _find_limits(archived: Settings, own: Settings) -> list[str]:
    """Return the names of settings that change prompts, limits, history or conversations, and not as one's own do."""
    here = own.list_left_out()
    has_contexts = archived.agent_contexts != own.agent_contexts
    return [each[0] for each in archived.list_left_out() if each not in here or (each[0] == "agents" and has_contexts)]


def _places(loaded: Settings) -> tuple[object, ...]:
    """Return where the settings say that pages are."""
    workspace = "" if loaded.workspace == "." else loaded.workspace
    return loaded.layout, workspace, loaded.world_path, loaded.memory_dir, loaded.agent_roots


def refuse_untrusted_settings(source: Home) -> None:
    """Refuse an untrusted memory if its settings or files of agents wait for trust: in the copy they would count."""
    review = review_home(source)
    agents = [path for path in review.rules if path.endswith("/agent.yaml")]
    if not review.settings_file and not agents:
        return
    connections = _find_connections(source.settings) if review.settings_file else set()
    names = [name for name, _ in source.storage.settings.list_left_out()] if review.settings_file else []
    providers = " and ".join(sorted({each.provider for each in connections}))
    asks = [f"its {FILE} names the provider {providers}"] if providers else []
    asks += [f"its {FILE} sets {list_some(names, _MAX_NAMES)}"] if names else []
    asks += [f"it has {list_some(agents, _MAX_NAMES)}"] if agents else []
    problem = f"{source.root} is not trusted, and {', and '.join(asks)}: nothing was copied"
    raise Refused(problem, advice=f"look at it, then run `{format_command('trust', source.root)}`")
