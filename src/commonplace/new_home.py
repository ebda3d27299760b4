"""A memory that is used for the first time: the default directive, and the record that the user made it."""

from __future__ import annotations

import os
from contextlib import suppress

from . import directive
from .errors import CommonplaceError
from .home import Home
from .settings import INTERNAL_FOLDERS, MEMORY_FOLDER
from .storage.base import ABSENT
from .trust import is_default_memory, record_made
from .writing import limit_writes


def is_begun(home: Home) -> bool:
    """Return whether there is a memory already: pages, or other files of a memory, such as tokens; in a folder
    that is called as one, any file. A folder that came with a repository must not become the user's own, with its
    tokens and with what is added to it later, just because it has no pages.
    """
    folder = home.storage.local_folder
    if os.path.basename(folder) == MEMORY_FOLDER and os.path.isdir(folder) and os.listdir(folder):
        return True
    has_internals = folder and any(os.path.lexists(os.path.join(folder, name)) for name in INTERNAL_FOLDERS)
    return bool(has_internals or home.storage.pages.list("", "", deep=True))


def begin(home: Home) -> None:
    """Write the default directive, and record a new memory that the user named as made by them.

    Only a memory that can be found later needs the record, which is in the user's configuration.
    """
    folder = home.storage.local_folder
    may_be_found = os.path.basename(folder) == MEMORY_FOLDER and not is_default_memory(folder)
    is_new = may_be_found and home.trust.is_own and not home.trust.is_shared and not is_begun(home)
    write_default_directive(home)
    if is_new and os.path.isdir(folder):
        with suppress(CommonplaceError):  # if not, the user is asked later
            record_made(folder)


def write_default_directive(home: Home) -> None:
    """Write the default directive into a new home if it can be written and any agent has memory.

    It is written once: a person who deletes it does not get it again.
    """
    path = f"{home.layout.directives}/memory.md"
    if home.storage.exists(path):
        return
    with suppress(CommonplaceError), limit_writes(None), home.writer.call("init", defer_index=True):
        home.storage.check()
        if _has_any_memory(home) and home.storage.history.head(path) is None:
            home.writer.write(path, directive.TEXT, if_version=ABSENT)


def _has_any_memory(home: Home) -> bool:
    """Return whether this agent has memory, or any other whose own file says so."""
    if home.has_memory:
        return True
    agents = home.layout.agents
    files = [f"{agents}/{name}/agent.yaml" for name in home.storage.pages.list_folders(agents)]
    return any(
        home.read_agent_memory(file).exists for file in files if home.storage.read_settings_text(file) is not None
    )
