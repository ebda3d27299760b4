"""Lets search find the transcripts that hooks store: turns `indexSessions` on, unless the settings decide already."""

from __future__ import annotations

from ... import settings
from ...home import Home
from . import yaml_edit
from .clients import KeyPath
from .files import CannotEdit, Unreadable, value_at

_KEY: KeyPath = ("memorySearch", "indexSessions")
_BY_HAND = "set memorySearch.indexSessions to true in commonplace.yaml, and search finds the transcripts too"


def index_sessions(home: Home, *, only_if_new: bool = False) -> str:
    """Write the setting where none decides it, and return a sentence on what a person has to do; empty for nothing.

    With `only_if_new`, a memory that has settings stays as it is.
    """
    text = home.storage.read_settings_text(settings.FILE)
    if text is not None and only_if_new:
        return ""
    try:
        if value_at(yaml_edit.parse(text or ""), _KEY) is not None:
            return ""
        if text is not None and not home.trust.is_own:  # a change would take back what the user approved of it
            return _BY_HAND
        with home.writer.call("install", defer_index=True):
            home.writer.edit(settings.FILE, _turn_on)
    except (CannotEdit, Unreadable):
        return _BY_HAND
    return ""


def _turn_on(text: str) -> str:
    return yaml_edit.put(text, _KEY, True)
