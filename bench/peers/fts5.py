"""SQLite FTS5 with its own BM25, the words of the question joined by OR: the baseline everything has to beat.

The setting is the tokenizer: `porter unicode61`, or `trigram`, which also cuts Chinese.
"""

from __future__ import annotations

import re
import sqlite3

from worker import DEPTH, Search, Task


def index(task: Task) -> Search:
    store = sqlite3.connect(task.folder / "words.db")
    store.execute(f"CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = '{task.setting}')")
    store.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(task.texts))
    store.commit()

    def search(question: str) -> list[int]:
        words = re.findall(r"\w+", question)
        if task.setting == "trigram":
            words = [word[at : at + 3] for word in words for at in range(max(1, len(word) - 2))]
        match = " OR ".join(f'"{word}"' for word in words)
        rows = store.execute("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (match, DEPTH))
        return [row[0] for row in rows]

    return search
