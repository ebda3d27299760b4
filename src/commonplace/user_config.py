"""The user's own configuration, outside every memory: the servers and model folders that memories may use.

A memory names a provider and a model. Where the provider's server is, which key it gets and which folders hold models
is decided here and in the environment alone, so that no memory chooses where passages and secrets go.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from typing import Any, NamedTuple

from .errors import InvalidArgument, SettingsError
from .formats import ParseProblem
from .formats.frontmatter import Node, as_text, compose
from .settings import PROVIDERS, SearchSettings, read_file, web_address

FILE = "config.yaml"
_KEYS = ("providers", "modelFolders")
_SEARCH_SECTION = "memorySearch"
_PROVIDER_KEYS = ("baseUrl", "apiKeyEnv", "models")


class Endpoint(NamedTuple):
    """Where a provider's server is. An empty field means the provider's own default; no `models` means any."""

    base_url: str = ""
    api_key_env: str = ""
    models: tuple[str, ...] = ()


class UserConfig(NamedTuple):
    """What this user allows memories to use. `path` is the file it was read from."""

    path: str = ""
    endpoints: tuple[tuple[str, Endpoint], ...] = ()
    model_folders: tuple[str, ...] = ()

    def endpoint(self, provider: str) -> Endpoint | None:
        return dict(self.endpoints).get(provider)


def config_folder() -> str:
    """Return the folder of the user's configuration and of the trust record."""
    base = os.getenv("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "commonplace")


def state_folder() -> str:
    """Return the folder for expendable state of memories that are not on this machine."""
    base = os.getenv("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "commonplace")


def socket_folder() -> str:
    """Return the folder of this user's sockets, which nobody else may use."""
    runtime = os.getenv("XDG_RUNTIME_DIR")
    return os.path.join(runtime, "commonplace") if runtime else os.path.join(state_folder(), "prompts")


def config_path() -> str:
    return os.getenv("COMMONPLACE_CONFIG") or os.path.join(config_folder(), FILE)


def load() -> UserConfig:
    """Return the configuration of this user, with additions from the environment; SettingsError if it is not valid."""
    path = config_path()
    text = read_file(path)
    values = _parse(path, text) if text is not None else {}
    endpoints = {name: _read_endpoint(path, name, each) for name, each in values.get("providers", {}).items()}
    for name in (name for name, provider in PROVIDERS.items() if provider.is_remote):
        if endpoint := _endpoint_of_environment(name, endpoints.get(name)):
            endpoints[name] = endpoint
    folders = [*_texts(path, "modelFolders", values.get("modelFolders", [])), *_folders_of_environment()]
    return UserConfig(path, tuple(endpoints.items()), tuple(os.path.realpath(os.path.expanduser(f)) for f in folders))


def _parse(path: str, text: str) -> dict[str, Any]:
    try:
        node = compose(text)
        values = {} if node is None else as_text(node)
    except ParseProblem as error:
        raise SettingsError(f"not valid YAML: {error.problem}", path=path, line=error.line) from error
    _require_keys(path, FILE, values, _KEYS)
    _require_keys(path, "providers", values.get("providers", {}), tuple(PROVIDERS))
    return dict(values)


def _require_keys(path: str, name: str, values: Any, known: tuple[str, ...]) -> None:
    if not isinstance(values, dict):
        raise SettingsError(f"{name} must be a mapping of names to values", path=path)
    for key in values:
        if key not in known:
            raise SettingsError(f"unknown key {key!r} in {name}", path=path, advice=f"use {', '.join(known)}")


def _read_endpoint(path: str, provider: str, values: Any) -> Endpoint:
    if values in ("", None):
        return Endpoint()
    name = f"providers.{provider}"
    _require_keys(path, name, values, _PROVIDER_KEYS)
    try:
        address = web_address(values["baseUrl"], "") if "baseUrl" in values else ""
    except InvalidArgument as error:
        raise SettingsError(f"{name}.baseUrl: {error}", path=path) from error
    return Endpoint(address, str(values.get("apiKeyEnv", "")), _texts(path, f"{name}.models", values.get("models", [])))


def _texts(path: str, name: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(each, str) and each.strip() for each in values):
        raise SettingsError(f"{name} must be a list of texts", path=path)
    return tuple(values)


def _endpoint_of_environment(provider: str, configured: Endpoint | None) -> Endpoint | None:
    """Return the endpoint with overrides from the environment, such as COMMONPLACE_OPENAI_BASE_URL."""
    prefix = f"COMMONPLACE_{provider.upper().replace('-', '_')}"
    address = os.getenv(f"{prefix}_BASE_URL", "")
    key_variable = os.getenv(f"{prefix}_API_KEY_ENV", "")
    if not address and not key_variable:
        return configured
    base = configured or Endpoint()
    return base._replace(
        base_url=web_address(address, "") if address else base.base_url, api_key_env=key_variable or base.api_key_env
    )


def _folders_of_environment() -> list[str]:
    return [each for each in os.getenv("COMMONPLACE_MODEL_FOLDERS", "").split(os.pathsep) if each]


class ProviderChoice(NamedTuple):
    """The search settings of a memory with an endpoint of the user's; `refusal` says why its provider is not used, and
    the settings then name the model in the package (`refuse_provider`)."""

    search: SearchSettings
    refusal: str = ""


def refuse_provider(search: SearchSettings, refusal: str) -> ProviderChoice:
    """Return the settings with the model in the package: nothing of a provider that is refused is left in them."""
    packaged = SearchSettings().provider
    return ProviderChoice(search._replace(provider=packaged, model="", base_url="", api_key_env=""), refusal)


def is_self_contained(search: SearchSettings) -> bool:
    """Return whether the settings need neither a server nor a folder of this machine."""
    return PROVIDERS[search.provider].is_self_contained and not _names_folder(search)


def opens_connection(search: SearchSettings) -> bool:
    """Return whether the settings send passages to a server, or open a model of a folder."""
    return not is_self_contained(search) or bool(search.base_url)


def find_connection_lines(text: str, keys: Container[str]) -> set[int]:
    """Return the lines of a settings file, from 0, that have nothing but one of these keys of `memorySearch`."""
    return {*_connection_lines(compose(text), keys, is_inside=False)}


def _connection_lines(node: Node, keys: Container[str], *, is_inside: bool) -> Iterator[int]:
    if getattr(node, "id", "") != "mapping":
        return
    for key, value in node.value:
        line = key.start_mark.line
        if is_inside and key.value in keys:
            if value.id == "scalar" and value.end_mark.line == line and not node.flow_style:
                yield line
        else:
            yield from _connection_lines(value, keys, is_inside=key.value == _SEARCH_SECTION)


def choose_provider(search: SearchSettings, config: UserConfig, *, is_trusted: bool, is_shared: bool) -> ProviderChoice:
    """Return the servers and folders of this user that a memory's settings may use.

    `is_trusted`: the settings are the owner's. `is_shared`: the memory is one of many on a server, and may use only
    what the server's configuration names.
    """
    own = search._replace(base_url="", api_key_env="")
    if not is_trusted:
        return refuse_provider(search, f"this memory is not trusted, so {_describe(search)} is not used")
    if _names_folder(search):
        return _choose_folder(search, own, config)
    return _choose_server(search, own, config, is_shared=is_shared)


def _describe(search: SearchSettings) -> str:
    where = f" at {search.base_url}" if search.base_url else ""
    return f"its provider {search.provider}{where}"


def _names_folder(search: SearchSettings) -> bool:
    """Return whether the model is a folder of this machine: a package that loads it may run code found there."""
    model = search.model
    if PROVIDERS[search.provider].is_remote or not model:
        return False
    return os.path.isabs(model) or model.startswith((".", "~")) or "\\" in model or os.path.exists(model)


def _choose_folder(search: SearchSettings, own: SearchSettings, config: UserConfig) -> ProviderChoice:
    folder = os.path.realpath(os.path.expanduser(search.model))
    if folder in config.model_folders:
        return ProviderChoice(own._replace(model=folder))
    todo = f"add it to modelFolders in {config.path}"
    return refuse_provider(search, f"a memory cannot choose a model folder, so {search.model} is not used: {todo}")


def _choose_server(
    search: SearchSettings, own: SearchSettings, config: UserConfig, *, is_shared: bool
) -> ProviderChoice:
    endpoint = config.endpoint(search.provider)
    if endpoint is None:
        if is_shared:
            return refuse_provider(search, f"this server does not offer the provider {search.provider}")
        if search.base_url or search.api_key_env:
            todo = f"`commonplace trust --migrate` moves it to {config.path}"
            where = search.base_url or search.api_key_env
            return refuse_provider(search, f"a memory cannot choose a server, so {where} is not used: {todo}")
        return ProviderChoice(own)
    if endpoint.models and search.model not in ("", *endpoint.models):
        return refuse_provider(search, f"{config.path} does not allow the model {search.model} of {search.provider}")
    model = search.model or (endpoint.models[0] if endpoint.models else "")
    return ProviderChoice(own._replace(model=model, base_url=endpoint.base_url, api_key_env=endpoint.api_key_env))
