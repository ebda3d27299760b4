"""What in a memory needs the user's trust: settings and files of agents that open connections or shape prompts, rules,
and access tokens.

`commonplace trust` shows and approves it; until then it is not in force in a memory that was only found.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from .. import settings, user_config
from ..directive import DEFAULT_VERSIONS
from ..errors import CommonplaceError, Conflict
from ..framing import quote_line
from ..home import Home
from ..instructions import list_instructions
from ..settings import SearchSettings
from ..storage.files import write_file
from ..storage.history import version_of
from ..storage.tokens import Token, describe_token
from ..trust import HomeRecord, has_record, hash_file, update_record
from ..wording import count_words

_PLAIN_VALUE = re.compile(r"[\w/][\w./:@%+~-]*")


class Review(NamedTuple):
    """The parts of a memory that count only once they are trusted, and are not yet."""

    settings_file: bytes  # empty when there is none, or when it asks for nothing
    rules: dict[str, bytes]
    tokens: tuple[Token, ...]


def review_home(home: Home) -> Review:
    """Return what waits for the user's trust: nothing in the user's own memory."""
    if home.trust.is_own:
        return Review(b"", {}, ())
    data = home.storage.read_bytes(settings.FILE) or b""
    asks = _asks_for_connection(home) or bool(home.storage.settings.list_left_out())
    waits = asks and not home.trust.allows_file(settings.FILE, data)
    rules = {path: text for path in list_instructions(home) if (text := _waiting_rule(home, path)) is not None}
    rules |= {path: text for path in _list_agent_files(home) if (text := _waiting_agent_file(home, path)) is not None}
    tokens: tuple[Token, ...] = ()
    with suppress(CommonplaceError):
        every = home.storage.tokens.list_tokens()
        tokens = tuple(token for token in every if not home.trust.allows_token(token))
    return Review(data if waits else b"", rules, tokens)


def _asks_for_connection(home: Home) -> bool:
    return any(map(user_config.opens_connection, home.settings.searches))


def _list_agent_files(home: Home) -> list[str]:
    agents = home.layout.agents
    return [f"{agents}/{name}/agent.yaml" for name in home.storage.pages.list_folders(agents)]


def _waiting_agent_file(home: Home, path: str) -> bytes | None:
    """Return the file of an agent if it asks for anything, and is not trusted; one that is invalid asks for nothing."""
    data = home.storage.read_bytes(path) or b""
    if home.trust.allows_file(path, data):
        return None
    with suppress(CommonplaceError):
        if settings.read_agent_memory(path, lambda _: home.storage.read_settings_text(path)) != settings.AgentMemory():
            return data
    return None


def _waiting_rule(home: Home, path: str) -> bytes | None:
    data = home.storage.read_bytes(path) or b""
    is_ours = version_of(data) in DEFAULT_VERSIONS
    return data if data.strip() and not is_ours and not home.trust.allows_file(path, data) else None


class Part(NamedTuple):
    """Something that waits for the user's trust, as it is shown: a file with its text, or a token without one.
    Nothing in it can hide or pass for anything else."""

    name: str
    text: str = ""


def list_parts(review: Review) -> list[Part]:
    """Return everything that `trust_home` would approve, in full."""
    files = {settings.FILE: review.settings_file} if review.settings_file else {}
    parts = [Part(quote_line(path), _show_text(data)) for path, data in {**files, **review.rules}.items()]
    return parts + [
        Part(quote_line(f"token {token.id}: {describe_token(token)}, {token.note or 'no note'}"))
        for token in review.tokens
    ]


def _show_text(data: bytes) -> str:
    lines = data.decode("utf-8", "replace").strip("\n").split("\n")
    return "\n".join("\t".join(map(quote_line, line.split("\t"))) for line in lines)


def hash_review(review: Review) -> str:
    """Return a hash of everything reviewed, to notice later changes."""
    rules = {path: hash_file(data) for path, data in review.rules.items()}
    everything = json.dumps([hash_file(review.settings_file), rules, review.tokens], sort_keys=True)
    return hash_file(everything.encode())


def describe_untrusted(home: Home) -> str:
    """Return what is left out of an untrusted memory, such as `2 directives and 1 token are`; empty if nothing is."""
    review = review_home(home)
    skills = sum(path.endswith("/SKILL.md") for path in review.rules)
    agents = sum(path.endswith("/agent.yaml") for path in review.rules)
    directives = len(review.rules) - skills - agents
    counts = [(directives, "directive"), (skills, "skill"), (agents, "agent file"), (len(review.tokens), "token")]
    names = [name for name, _ in home.storage.settings.list_left_out()] if review.settings_file else []
    parts = [f"its setting {name}" for name in names]
    parts += [count_words(count, what) for count, what in counts if count]
    if review.settings_file and _asks_for_connection(home):
        parts.insert(0, f"its provider {home.settings.search_for(home.agent).provider}")
    if not parts:
        return ""
    words = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    is_one = len(parts) == 1 and parts[0].startswith(("1 ", "its "))
    return f"{words} {'is' if is_one else 'are'}"


def trust_home(home: Home, review: Review | None = None) -> Review:
    """Approve what was reviewed, unless it has changed since, or else all that waits now; return it."""
    review = review or review_home(home)
    files = dict(review.rules)
    if review.settings_file:
        files[settings.FILE] = review.settings_file
    home.trust.approve(files, [token.fingerprint for token in review.tokens], is_review=True)
    return review


def untrust(folder: str) -> bool:
    """Forget what the user approved in a folder; False if there was nothing."""
    had_record = has_record(folder)
    update_record(folder, _remove)
    return had_record


def _remove(_record: HomeRecord) -> None:
    return None


def migrate_endpoints(home: Home, confirm: Callable[[str], None]) -> tuple[str, list[str]]:
    """Move the servers and model folders that a memory's settings name to the user's own configuration.

    Return the path of that file, and what was moved. Conflict if it already has other entries. `confirm` is called
    with the lines before they are added; nothing happens if it raises an error.
    """
    path = user_config.config_path()
    text = settings.read_file(path) or ""
    config = user_config.load()
    added = [*_missing_endpoints(home, config)]
    folders = [*_missing_folders(home, config)]
    block = _format_config(added, folders)
    if not block:
        return path, []
    lines = "\n".join(line for part in block.values() for line in part)
    if any(f"{key}:" in text for key in block):
        raise Conflict(f"{path} already has entries", advice=f"add these lines to it by hand:\n{lines}")
    confirm(lines)
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    before = f"{text}\n" if text and not text.endswith("\n") else text
    write_file(path, f"{before}{lines}\n".encode())
    _remove_endpoint_lines(home)
    return path, [*(name for name, _ in added), *folders]


def _missing_endpoints(home: Home, config: user_config.UserConfig) -> Iterator[tuple[str, SearchSettings]]:
    """Yield the providers whose server only the memory's settings name, each once."""
    names: set[str] = set()
    for search in home.settings.searches:
        has_server = bool(search.base_url or search.api_key_env)
        if has_server and search.provider not in names and config.endpoint(search.provider) is None:
            names.add(search.provider)
            yield search.provider, search


def _missing_folders(home: Home, config: user_config.UserConfig) -> Iterator[str]:
    for search in home.settings.searches:
        folder = os.path.realpath(os.path.expanduser(search.model)) if search.model else ""
        if not user_config.is_self_contained(search) and os.path.isdir(folder) and folder not in config.model_folders:
            yield folder


def _format_config(endpoints: list[tuple[str, SearchSettings]], folders: list[str]) -> dict[str, list[str]]:
    """Return the lines to add to the user's configuration, by their key."""
    block: dict[str, list[str]] = {}
    if endpoints:
        block["providers"] = ["providers:"]
    for name, search in endpoints:
        block["providers"] += [f"  {name}:"]
        block["providers"] += [f"    baseUrl: {_quote(search.base_url)}"] if search.base_url else []
        block["providers"] += [f"    apiKeyEnv: {_quote(search.api_key_env)}"] if search.api_key_env else []
    if folders:
        block["modelFolders"] = ["modelFolders:", *(f"  - {_quote(folder)}" for folder in dict.fromkeys(folders))]
    return block


def _quote(value: str) -> str:
    """Return a value for YAML, in quotes if it is not plainly one: a line break in it would add other settings."""
    return value if _PLAIN_VALUE.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def _remove_endpoint_lines(home: Home) -> None:
    """Remove `baseUrl` and `apiKeyEnv` from the settings of a folder, where each has a line of its own."""
    if not home.storage.local_folder:
        return
    path = os.path.join(home.storage.local_folder, settings.FILE)
    text = settings.read_file(path) or ""
    numbers = user_config.find_connection_lines(text, ("baseUrl", "apiKeyEnv"))
    lines = text.split("\n")
    rest = [line for number, line in enumerate(lines) if number not in numbers]
    write_file(path, "\n".join(rest).encode())
