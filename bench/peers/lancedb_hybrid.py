"""LanceDB: its hybrid search, words and vectors joined by its own reciprocal rank fusion.

It fuses only as many hits of each kind as are asked for, and asked for thirty its first ten are worse than asked for
ten (its default): so it is asked for ten.
"""

from __future__ import annotations

import re

import lancedb
from lancedb.rerankers import RRFReranker
from minilm import MiniLM
from worker import Search, Task


def index(task: Task) -> Search:
    model = MiniLM(task.model)
    vectors = model(task.texts)
    rows = [
        {"number": number, "text": text, "vector": vector}
        for number, (text, vector) in enumerate(zip(task.texts, vectors, strict=True))
    ]
    table = lancedb.connect(str(task.folder)).create_table("texts", rows)
    if task.is_chinese:
        table.create_fts_index("text", base_tokenizer="ngram", ngram_min_length=2, ngram_max_length=2, stem=False)
    else:
        table.create_fts_index("text")
    reranker = RRFReranker()

    def search(question: str) -> list[int]:
        words = " ".join(re.findall(r"\w+", question))
        found = table.search(query_type="hybrid").vector(model([question])[0]).text(words).rerank(reranker)
        return [row["number"] for row in found.limit(10).to_list()]

    return search
