"""The user's own configuration in tests: which servers and model folders memories may use."""

from __future__ import annotations

import os
from pathlib import Path


def offer_server(provider: str, url: str, key_variable: str = "") -> None:
    """Write the user's configuration so that memories may use a provider's server."""
    lines = ["providers:", f"  {provider}:", f"    baseUrl: {url}"]
    write_config("\n".join([*lines, f"    apiKeyEnv: {key_variable}"] if key_variable else lines))


def offer_folder(folder: Path) -> None:
    """Write the user's configuration so that memories may use the models in a folder."""
    write_config(f"modelFolders:\n  - {folder}")


def write_config(text: str) -> Path:
    file = Path(os.environ["XDG_CONFIG_HOME"]) / "commonplace" / "config.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")
    return file
