"""commonplace: `Memory.search` over session files or pages. The setting is the provider of meaning."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from worker import DEPTH, Search, Task, number, write_notes

from commonplace import Memory

sys.path.append(str(Path(__file__).resolve().parents[1]))
from quality import ready, turns_of


def index(task: Task) -> Search:
    memory = home(task)
    reply = memory.call("memory_search", {"query": task.questions[0]})
    if reply.get("fallback"):
        raise RuntimeError(f"the provider {task.setting} is not there, words answered alone")
    numbers = {place: at for at, place in enumerate(task.places)}

    def by_turn(question: str) -> list[int]:
        return [numbers[turn] for turn in turns_of(memory.search(question, limit=DEPTH))]

    def by_page(question: str) -> Iterator[int]:
        return (number(path) for path in dict.fromkeys(hit.path for hit in memory.search(question, limit=DEPTH)))

    return by_turn if task.level == "turns" else by_page


def home(task: Task) -> Memory:
    if task.level == "turns":
        shutil.copytree(task.home, task.folder, dirs_exist_ok=True)
    else:
        write_notes(task, task.folder / "memory")
    settings = f"memorySearch:\n  provider: {task.setting}\n  indexSessions: true\n"
    (task.folder / "commonplace.yaml").write_text(settings)
    return ready(task.folder)
