"""Imported by the process from which commands are forked, so that none of them has to load these modules again."""

from __future__ import annotations

import gc
import os
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

from commonplace import Memory
from commonplace.server import prompt_socket
from commonplace.surfaces.cli import hook

from ...waiting import LONG_SECONDS

# The first sentence and the first question load the model, compile patterns and read lists of words.
with TemporaryDirectory() as folder:
    for name in [name for name in os.environ if name.startswith("COMMONPLACE_")]:
        del os.environ[name]
    os.environ["XDG_CONFIG_HOME"] = folder
    with Memory(Path(folder, "home")) as memory:
        memory.call("remember", {"content": "Ann drinks green tea since Monday."})
        memory.search("What does Ann drink?")
        memory.context(query="What did Ann drink before?")
assert threading.active_count() == 1, "no thread is there after a fork"
gc.freeze()
# A busy machine may take longer than a client waits. Tests of these limits start a process that knows nothing of this.
for name in ("MAX_HOOK_SECONDS", "_PROMPT_TIMEOUT_SECONDS", "_CATCH_UP_SECONDS", "_PROMPT_CATCH_UP_SECONDS"):
    assert hasattr(hook, name)
    setattr(hook, name, LONG_SECONDS)
hook._INPUT_TIMEOUT_SECONDS = LONG_SECONDS
prompt_socket._ANSWER_TIMEOUT_SECONDS = LONG_SECONDS
