"""Imported by the process that commands are forked off: what each of them would load anew is there already."""

from __future__ import annotations

from commonplace.embedding.static import StaticEmbedder
from commonplace.server import prompt_socket
from commonplace.surfaces.cli import hook

from ...waiting import LONG_SECONDS

StaticEmbedder().embed_query("tea")
# A busy machine may take longer than a client waits. Tests of these limits start a process that knows nothing of this.
for name in ("MAX_HOOK_SECONDS", "_PROMPT_TIMEOUT_SECONDS", "_CATCH_UP_SECONDS", "_PROMPT_CATCH_UP_SECONDS"):
    assert hasattr(hook, name)
    setattr(hook, name, LONG_SECONDS)
hook._INPUT_TIMEOUT_SECONDS = LONG_SECONDS
prompt_socket._ANSWER_TIMEOUT_SECONDS = LONG_SECONDS
