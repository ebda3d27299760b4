"""LangChain: the tools of a memory for a model to call, and a retriever over everything in it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from ..errors import NotInstalled
from ..framing import show_hidden, to_json
from ..memory import Memory
from ..model import Hit
from ..toolsets import EVERYDAY
from . import Function, functions

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool, ToolException
    from pydantic import Field
except ImportError as error:
    raise NotInstalled("the adapter for LangChain", "langchain") from error


class MemoryTool(BaseTool):
    """A tool of a memory. A mistake by the model is answered as text, in a message with the status `error`."""

    function: Function = Field(exclude=True)
    handle_tool_error: Any = True

    def _run(self, /, *texts: str, **arguments: Any) -> str:  # a model may call an argument `self`
        function = self.function
        outcome = function.memory.attempt(function.name, texts[0] if texts else arguments, function.toolsets)
        answer = to_json(outcome.reply)
        if outcome.error:
            raise ToolException(answer)
        return answer

    async def _arun(self, /, *texts: str, **arguments: Any) -> str:
        return await asyncio.to_thread(self._run, *texts, **arguments)

    def _parse_input(self, tool_input: str | dict[str, Any], tool_call_id: str | None) -> str | dict[str, Any]:
        """Return the input as it comes: the memory checks arguments itself, and understands JSON text as well."""
        return tool_input


def tools(memory: Memory, toolsets: Sequence[str] = EVERYDAY) -> list[BaseTool]:
    """Return the tools of some toolsets, for `model.bind_tools(...)`, `create_agent(tools=...)` or `ToolNode(...)`."""
    return [
        MemoryTool(name=each.name, description=each.description, args_schema=each.schema, function=each)
        for each in functions(memory, toolsets)
    ]


class MemoryRetriever(BaseRetriever):
    """The passages of a memory that answer a question, as documents.

    `filters` are those of `Memory.search`: scope, channel, agent, tags, since, until, source, path, author. `invoke`
    takes `k`, `min_score` and filters for one question as well.
    """

    memory: Memory
    k: int | None = Field(default=None, ge=1, le=100)  # None: as many as the settings say
    min_score: float | None = None
    filters: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,
        k: int | None = None,
        min_score: float | None = None,
        **filters: Any,
    ) -> list[Document]:
        hits = self.memory.search(
            query,
            self.k if k is None else k,
            self.min_score if min_score is None else min_score,
            **{**self.filters, **filters},
        )
        return [_document(hit) for hit in hits]


def _document(hit: Hit) -> Document:
    about = {
        "path": hit.path,
        "lines": [hit.start, hit.end],
        "score": hit.score,
        "scope": str(hit.scope),
        "source": hit.source,
        "key": hit.key,
        "tags": [*hit.tags],
        "at": hit.at,
        "citation": hit.citation,
        "author": show_hidden(hit.author),
    }
    return Document(id=hit.citation, page_content=show_hidden(hit.text), metadata=about)
