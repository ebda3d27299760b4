"""commonplace: memory for AI agents, kept in Markdown files that people can read and edit.

Names are imported on first use, so that a command does not pay for modules it does not need.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .context import Context
    from .errors import (
        CommonplaceError,
        Conflict,
        InvalidArgument,
        NotFound,
        Refused,
        SettingsError,
        StorageError,
    )
    from .memory import Memory
    from .model import Block, Hit, Page, Passage, Query, Record, Scope, Skill
    from .tools.working import SCRATCHPAD_KEY, SESSION_HANDOFF_KEY

__version__ = "0.1.0"
__all__ = [
    "SCRATCHPAD_KEY",
    "SESSION_HANDOFF_KEY",
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
    "Scope",
    "SettingsError",
    "Skill",
    "StorageError",
]
_MODULES = {
    "memory": ("Memory",),
    "context": ("Context",),
    "model": ("Block", "Hit", "Page", "Passage", "Query", "Record", "Scope", "Skill"),
    "tools.working": ("SCRATCHPAD_KEY", "SESSION_HANDOFF_KEY"),
    "errors": (
        "CommonplaceError",
        "Conflict",
        "InvalidArgument",
        "NotFound",
        "Refused",
        "SettingsError",
        "StorageError",
    ),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
