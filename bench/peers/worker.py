"""One peer, one task, one process: index the texts, ask every question, write rankings and CPU seconds as JSON.

Run by bench/peers.py in the peer's own environment: worker.py MODULE TASK.json RESULT.json. A peer is a module here
with `index(task)`, which returns a function from a question to the numbers of the texts that answer it, best first.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

DEPTH = 30  # hits asked for: what is among the first ten, and which sessions come first
Search = Callable[[str], Iterable[int]]


class Task(NamedTuple):
    """What a peer is given. `places`: the session file and the line of each text, for tools that read files."""

    level: str  # turns, notes or passages
    texts: list[str]
    places: list[tuple[str, int]]
    questions: list[str]
    folder: Path  # empty, for whatever the peer keeps
    home: Path  # the session files
    model: Path  # the embedding model: model.onnx and tokenizer.json
    setting: str = ""  # what tells two rows of one peer apart

    @property
    def is_chinese(self) -> bool:
        return self.level == "passages"


def main() -> None:
    module, given, result = sys.argv[1:]
    task = read(json.loads(Path(given).read_text()))
    peer: Any = importlib.import_module(module)
    began = cpu()
    search: Search = peer.index(task)
    indexed = cpu()
    list(search(task.questions[0]))
    warm = cpu()
    rankings = [list(search(question)) for question in task.questions]
    figures = {"index_s": indexed - began, "query_s": (cpu() - warm) / len(rankings), "rankings": rankings}
    Path(result).write_text(json.dumps(figures))


def read(given: dict[str, Any]) -> Task:
    paths = {name: Path(given[name]) for name in ("folder", "home", "model")}
    return Task(**{**given, **paths, "places": [(path, line) for path, line in given["places"]]})


def cpu() -> float:
    """CPU seconds of this process, its threads and the children it has waited for."""
    return sum(os.times()[:4])


def write_notes(task: Task, folder: Path) -> None:
    """The texts as Markdown pages, for tools that index a folder; `number` finds a text again by its page's name."""
    folder.mkdir(parents=True, exist_ok=True)
    for at, text in enumerate(task.texts):
        (folder / f"note-{at:05}.md").write_text(text)


def number(path: str) -> int:
    return int(Path(path).stem.removeprefix("note-"))


if __name__ == "__main__":
    main()
