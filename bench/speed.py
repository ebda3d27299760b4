"""What a search costs as a memory grows: 1,000, 10,000 and 100,000 passages (or more), in CPU time.

Run: ./dev speed [--sizes 1000,10000,100000] [--plot FILE]. The texts are made up: words drawn as rarely as in natural
language, in pages of ten passages. Every figure is CPU time of the process; beside it is what the same machine
needs for something known, in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

from commonplace import Memory
from commonplace.embedding.static import StaticEmbedder

SEED = 7
PER_PAGE = 10
FIRST = """
import json, sys, time
from commonplace import Memory
hits = Memory(sys.argv[1]).search(sys.argv[2])
print(json.dumps([time.process_time(), len(hits)]))
"""


class Language:
    """Made-up words, the n-th of them n times rarer than the first."""

    def __init__(self, seed: int, words: int = 60_000) -> None:
        self.chance = random.Random(seed)
        syllables = [a + b for a in "bcdfghjklmnprstvw" for b in ("a", "e", "i", "o", "u", "ar", "en", "is")]
        self.words = ["".join(self.chance.choices(syllables, k=1 + n % 3 + (n > 500))) for n in range(words)]
        self._weights = list(accumulate(1 / (rank + 2) for rank in range(words)))

    def text(self, length: int) -> str:
        return " ".join(self.chance.choices(self.words, cum_weights=self._weights, k=length))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", default="1000,10000,100000")
    options.add_argument("--json", type=Path, help="write the figures to a file as well")
    given = options.parse_args()
    rows = []
    for size in map(int, given.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measured(Path(folder), size))
        show(rows)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")


def show(rows: list[dict[str, float]]) -> None:
    print(f"\n{'':44}" + "".join(f"{int(row['passages']):>12,}" for row in rows))
    for name in rows[0]:
        if name != "passages":
            print(f"{name:44}" + "".join(f"{row[name]:12,.2f}" for row in rows), flush=True)


def measured(home: Path, size: int) -> dict[str, float]:
    language = Language(SEED)
    write(home, language, size)
    questions = [language.text(8) for _ in range(60)]
    figures: dict[str, float] = {"passages": size}
    memory = Memory(home)
    started = time.process_time()
    memory.home.index.query(lambda view: view)
    words = time.process_time() - started
    started = time.process_time()
    memory.search(questions[0])
    figures |= {
        "words, passages a second": size / words,
        "meaning, passages a second": size / (time.process_time() - started),
    }
    figures["the embedder alone, passages a second"] = embedder_alone(home)
    figures["hybrid query, ms"] = median_ms(lambda q: memory.search(q), questions)
    keyword = Memory(home)
    keyword.home.embedding.settings = keyword.home.search_settings._replace(provider="none")
    figures["words-only query, ms"] = median_ms(lambda q: keyword.search(q), questions)
    figures["of which the look at the pages, ms"] = median_ms(
        lambda _: memory.home.index.query(lambda view: view), questions
    )
    figures["adding a page, ms"] = median_ms(adding(memory, language), questions[:20])
    figures["editing a page, then a query, ms"] = median_ms(editing(memory, language), questions[:20])
    figures["first query of a new process, ms"] = first_query(home, questions[1])
    figures["bare interpreter with numpy, ms"] = bare()
    figures["resident memory at most, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures["index on disk, MB"] = sum(f.stat().st_size for f in (home / ".index").iterdir()) / 1e6
    return figures


def write(home: Path, language: Language, size: int) -> None:
    (home / "memory").mkdir()
    for number in range(-(-size // PER_PAGE)):
        folder = home / "memory" / f"{number // 500:03}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.md").write_text(page(language))


def page(language: Language) -> str:
    return "".join(f"## {language.text(3)}\n\n{language.text(35)}\n\n" for _ in range(PER_PAGE))


def median_ms(act: Callable[[str], object], questions: list[str]) -> float:
    return statistics.median(1000 * cost for cost in costs(act, questions))


def costs(act: Callable[[str], object], questions: list[str]) -> Iterator[float]:
    for question in questions:
        started = time.process_time()
        act(question)
        yield time.process_time() - started


def adding(memory: Memory, language: Language) -> Callable[[str], object]:
    def add(question: str) -> object:
        return memory.call("update_world", {"topic": question, "content": language.text(40)})

    return add


def editing(memory: Memory, language: Language) -> Callable[[str], object]:
    def edit(question: str) -> object:
        path = Path(memory.home.root) / "memory/000/3.md"
        path.write_text(path.read_text() + f"\n## {question}\n\n{language.text(30)}\n")
        return memory.search(question)

    return edit


def embedder_alone(home: Path) -> float:
    """The same passages through the same model, which has seen none of their words before; nothing is kept."""
    from commonplace.embedding.static import StaticModel

    pages = [path.read_text() for path in sorted((home / "memory").rglob("*.md"))]
    texts = [f"## {part.strip()}" for text in pages for part in text.split("## ") if part.strip()]
    model = StaticModel.load()
    started = time.process_time()
    for start in range(0, len(texts), StaticEmbedder.batch_size):
        model.encode(texts[start : start + StaticEmbedder.batch_size])
    return len(texts) / (time.process_time() - started)


def first_query(home: Path, question: str) -> float:
    run = [sys.executable, "-c", FIRST, str(home), question]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(run, check=True, capture_output=True, env=environment)  # compiles what is not compiled
    found = [json.loads(subprocess.run(run, check=True, capture_output=True, env=environment).stdout) for _ in range(3)]
    return statistics.median(seconds * 1000 for seconds, _ in found)


def bare() -> float:
    run = [sys.executable, "-c", "import numpy, time; print(time.process_time())"]
    return 1000 * float(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
