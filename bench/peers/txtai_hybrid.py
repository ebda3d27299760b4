"""txtai: its hybrid index, words and vectors in equal parts."""

from __future__ import annotations

from minilm import MiniLM
from txtai import Embeddings
from worker import DEPTH, Search, Task


def index(task: Task) -> Search:
    model = MiniLM(task.model)
    store = Embeddings(method="external", transform=lambda texts: model(list(texts)), hybrid=True)
    store.index(enumerate(task.texts))
    return lambda question: [int(number) for number, _ in store.search(question, DEPTH)]
