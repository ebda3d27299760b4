"""The prompts people choose by name in their client."""

from __future__ import annotations

import mcp_types as types

from ...errors import InvalidArgument
from ...memory import Memory
from ...server.sessions import Asker
from .resources import asked_context

RECALL = types.Prompt(
    name="recall",
    title="Recall from memory",
    description="What memory knows, on a topic or in general, for the conversation to go on with.",
    arguments=[
        types.PromptArgument(name="topic", description="What to recall; left out: what matters always."),
        types.PromptArgument(name="channel", description="The channel the conversation is in."),
        types.PromptArgument(name="budget", description="How many tokens it may take."),
    ],
)
PROMPTS = [RECALL]


def got(memory: Memory, asker: Asker, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
    if name != RECALL.name:
        raise InvalidArgument(f"there is no prompt {name!r}: there is {RECALL.name}")
    topic = arguments.get("topic", "").strip()
    asked = {"query": topic, **{key: value for key, value in arguments.items() if key != "topic"}}
    known = asked_context(memory, asker, asked).text.strip()
    about = f"about {topic}" if topic else "so far"
    text = f"This is what your memory holds {about}.\n\n{known or 'Nothing yet.'}"
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=f"What memory holds {about}", messages=[message])
