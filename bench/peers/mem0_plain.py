"""mem0 without a language model: what is added is kept as it is (`infer=False`), in its default vector store."""

from __future__ import annotations

import os

from minilm import WIDTH, MiniLM
from worker import DEPTH, Search, Task

os.environ["MEM0_TELEMETRY"] = "False"


def index(task: Task) -> Search:
    os.environ["MEM0_DIR"] = str(task.folder)
    os.environ["OPENAI_API_KEY"] = "none is called"
    from mem0 import Memory

    model = MiniLM(task.model)
    store = {"collection_name": "texts", "embedding_model_dims": WIDTH, "path": str(task.folder / "store")}
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": {**store, "on_disk": True}},
            "history_db_path": str(task.folder / "history.db"),
        }
    )

    class Embedder:
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return [float(part) for part in model([text])[0]]

        def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
            return [self.embed(text) for text in texts]

    memory.embedding_model = Embedder()
    for number, text in enumerate(task.texts):
        memory.add(text, user_id="bench", infer=False, metadata={"number": number})

    def search(question: str) -> list[int]:
        found = memory.search(question, filters={"user_id": "bench"}, top_k=DEPTH)
        return [row["metadata"]["number"] for row in found["results"]]

    return search
