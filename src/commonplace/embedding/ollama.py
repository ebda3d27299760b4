"""Models that Ollama serves, on this computer or another."""

from __future__ import annotations

from typing import Any

from ..settings import SearchSettings
from .base import Embedder
from .remote import Failure, RemoteEmbedder

# By the start of a model's name: what it was trained to see before a passage and before a query.
_PREFIXES = {"nomic-embed": ("search_document: ", "search_query: ")}


class OllamaEmbedder(RemoteEmbedder):
    provider = "ollama"
    path = "/api/embed"
    default_url = "http://localhost:11434"
    default_model = "nomic-embed-text"

    def prefixes(self) -> tuple[str, str]:
        name = self.model.rpartition("/")[2]
        return next((prefixes for start, prefixes in _PREFIXES.items() if name.startswith(start)), ("", ""))

    def parse_rows(self, response: Any, count: int) -> list[Any]:
        return list(response["embeddings"])

    def describe_failure(self, failure: Failure) -> str:
        if failure.refused:
            todo = "start it with `ollama serve`, or set baseUrl in your config.yaml to where it runs"
            return f"Ollama is not running at {self.url}: {todo}"
        if failure.status == 404 and self.model in failure.reason:
            return f"Ollama at {self.url} does not have {self.model}: run `ollama pull {self.model}`"
        if failure.status == 404:
            todo = "update Ollama, or set baseUrl in your config.yaml to its address alone, without /v1"
            return f"{self.url} has no {self.path}: {todo}"
        return super().describe_failure(failure)


def open_embedders(settings: SearchSettings) -> tuple[Embedder, ...]:
    return (OllamaEmbedder(settings),)
