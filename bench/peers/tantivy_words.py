"""tantivy: BM25 with its English stemmer, its two-character tokenizer for Chinese."""

from __future__ import annotations

import re

import tantivy
from worker import DEPTH, Search, Task


def index(task: Task) -> Search:
    schema = tantivy.SchemaBuilder()
    schema.add_integer_field("number", stored=True)
    schema.add_text_field("text", tokenizer_name="pairs" if task.is_chinese else "en_stem")
    store = tantivy.Index(schema.build(), path=str(task.folder))
    store.register_tokenizer("pairs", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(2, 2)).build())
    writer = store.writer(num_threads=1)
    for number, text in enumerate(task.texts):
        writer.add_document(tantivy.Document(number=number, text=text))
    writer.commit()
    writer.wait_merging_threads()
    store.reload()
    searcher = store.searcher()

    def search(question: str) -> list[int]:
        words = re.findall(r"\w+", question)
        if task.is_chinese:
            words = [word[at : at + 2] for word in words for at in range(len(word) - 1)]
        query = store.parse_query(" ".join(f'"{word}"' for word in words), ["text"])
        return [searcher.doc(place)["number"][0] for _, place in searcher.search(query, DEPTH).hits]

    return search
