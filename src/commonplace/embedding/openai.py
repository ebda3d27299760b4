"""Any server that speaks OpenAI's embeddings protocol: OpenAI, and most that serve models at an address of your own."""

from __future__ import annotations

from typing import Any

from ..errors import Unavailable
from ..settings import SearchSettings
from .base import Embedder
from .remote import Failure, RemoteEmbedder, Unusable


class OpenAIEmbedder(RemoteEmbedder):
    provider = "openai"
    path = "/embeddings"
    default_url = "https://api.openai.com/v1"
    default_model = "text-embedding-3-small"
    default_key_variable = "OPENAI_API_KEY"

    def build_request(self, texts: list[str]) -> dict[str, object]:
        return {"model": self.model, "input": texts, "encoding_format": "float"}

    def parse_rows(self, response: Any, count: int) -> list[Any]:
        rows = response["data"]
        order = {row.get("index", position): row["embedding"] for position, row in enumerate(rows)}
        if len(rows) != count or order.keys() != set(range(count)):
            raise Unusable(f"{len(rows)} rows for {count} texts, or not one for each")
        return [order[position] for position in range(count)]

    def describe_failure(self, failure: Failure) -> str:
        match failure.status:
            case 401 if not self.has_key:
                return f"{self.url} asks for a key: set the environment variable {self.key_variable} to it"
            case 401:
                return (
                    f"{self.url} does not know the key: set the environment variable {self.key_variable} to a valid one"
                )
            case 403:
                todo = f"use another in {self.key_variable}, or another memorySearch.model"
                return f"the key may not use {self.model} at {self.url} ({failure.reason}): {todo}"
            case 404:
                todo = "check memorySearch.model, and baseUrl in your config.yaml, which often ends in /v1"
                return f"{self.url} has no model {self.model}, or no embeddings ({failure.reason}): {todo}"
            case 429 if not failure.transient:
                return f"{self.url} serves no more on this account ({failure.reason}): check its plan and billing"
        return super().describe_failure(failure)


def open_embedders(settings: SearchSettings) -> tuple[Embedder, ...]:
    embedder = OpenAIEmbedder(settings)
    if not settings.base_url and not embedder.has_key:
        todo = (
            f"set the environment variable {embedder.key_variable}, or baseUrl in your config.yaml for your own server"
        )
        raise Unavailable(f"openai needs a key: {todo}")
    return (embedder,)
