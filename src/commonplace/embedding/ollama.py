"""Models that Ollama serves, on this computer or another."""

from __future__ import annotations

from typing import Any

from ..settings import SearchSettings
from .base import Embedder
from .http import Failure
from .remote import RemoteEmbedder

# How a model's name begins, and what it was trained to see before a passage and before a question.
_PREFIXES = {"nomic-embed": ("search_document: ", "search_query: ")}


class OllamaEmbedder(RemoteEmbedder):
    provider = "ollama"
    path = "/api/embed"
    default_url = "http://localhost:11434"
    default_model = "nomic-embed-text"

    def prefixes(self) -> tuple[str, str]:
        name = self.model.rpartition("/")[2]
        return next((found for start, found in _PREFIXES.items() if name.startswith(start)), ("", ""))

    def rows(self, answer: Any, count: int) -> list[Any]:
        return list(answer["embeddings"])

    def explain(self, failure: Failure) -> str:
        if failure.refused:
            todo = "start it with `ollama serve`, or set memorySearch.baseUrl to where it runs"
            return f"Ollama is not running at {self.url}: {todo}"
        if failure.status == 404 and self.model in failure.reason:
            return f"Ollama at {self.url} does not have {self.model}: run `ollama pull {self.model}`"
        if failure.status == 404:
            todo = "update Ollama, or set memorySearch.baseUrl to its address alone, without /v1"
            return f"{self.url} has no {self.path}: {todo}"
        return super().explain(failure)


def open_embedders(settings: SearchSettings) -> tuple[Embedder, ...]:
    return (OllamaEmbedder(settings),)
