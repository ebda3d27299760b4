"""Settings of an archive that open connections: they are left out of force, unless the user says otherwise.

An archive is data. A provider that its `commonplace.yaml` names would have passages of the memory it comes to sent to a
server, or a model opened from a folder, so these lines come as comments.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import settings, user_config
from ...errors import NotText, Refused, SettingsError, StorageError
from ...formats.yaml_nodes import Node, compose
from ...home import Home
from ...settings import FILE, SearchSettings, Settings
from ...storage.bulk import Spool, SpooledFile
from ...storage.conflicts import decode_text

_SECTION = "memorySearch"
_KEYS = ("provider", "model", "baseUrl", "apiKeyEnv")
_MARK = "# not taken over by the import: "


def load_archived(data: bytes) -> Settings:
    """Return the settings that an archive has."""
    try:
        return settings.load("", lambda _: decode_text(data, FILE))
    except (SettingsError, NotText) as error:
        raise StorageError(f"the archive's {error}: nothing was imported") from error


def leave_out_connections(home: Home, file: SpooledFile, spool: Spool) -> tuple[SpooledFile, str]:
    """Return the settings file of an archive without what opens connections that this memory does not open itself, and
    a warning that says so; the file as it is, and none, where there is nothing of the kind."""
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
        problem = f"the archive's {FILE} names a provider in a way that cannot be left out: nothing was imported"
        raise Refused(problem, advice="look at it, then give --settings to take it over")
    names = " and ".join(sorted({search.provider for search in new}))
    warning = f"the provider {names} of the archive's {FILE} is not taken over: --settings does so, if you want it used"
    return spool.add(file.mode, file.modified, [text.encode()]), warning


def _find_connections(loaded: Settings) -> set[SearchSettings]:
    """Return what has passages sent to a server or opens a model folder, whatever else it says."""
    return {
        SearchSettings(provider=each.provider, model=each.model, base_url=each.base_url, api_key_env=each.api_key_env)
        for each in (loaded.search, *dict(loaded.agents).values())
        if not user_config.is_self_contained(each) or each.base_url
    }


def _comment_out(text: str) -> str:
    lines = text.split("\n")
    for number in {*_connection_lines(compose(text), is_inside=False)}:
        lines[number] = f"{_MARK}{lines[number].strip()}"
    return "\n".join(lines)


def _connection_lines(node: Node, *, is_inside: bool) -> Iterator[int]:
    """Yield the numbers of the lines, from 0, that hold nothing but a provider, or what belongs to one."""
    if getattr(node, "id", "") != "mapping":
        return
    for key, value in node.value:
        line = key.start_mark.line
        if is_inside and key.value in _KEYS:
            if value.id == "scalar" and value.end_mark.line == line and not node.flow_style:
                yield line
        else:
            yield from _connection_lines(value, is_inside=key.value == _SECTION)
