"""Chroma: vectors alone, as its quick start has it."""

from __future__ import annotations

import chromadb
from chromadb.config import Settings
from minilm import MiniLM
from worker import DEPTH, Search, Task

BATCH = 1000


def index(task: Task) -> Search:
    model = MiniLM(task.model)
    client = chromadb.PersistentClient(str(task.folder), Settings(anonymized_telemetry=False))
    texts = client.create_collection("texts", metadata={"hnsw:space": "cosine"}, embedding_function=None)
    for first in range(0, len(task.texts), BATCH):
        batch = task.texts[first : first + BATCH]
        numbers = [str(number) for number in range(first, first + len(batch))]
        texts.add(ids=numbers, documents=batch, embeddings=model(batch))

    def search(question: str) -> list[int]:
        found = texts.query(query_embeddings=model([question]), n_results=DEPTH)
        return [int(number) for number in found["ids"][0]]

    return search
