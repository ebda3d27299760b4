"""What the LangGraph store costs as it grows: each operation at a tenth of the items and at all of them.

Run: python bench/langgraph_store.py [--items 10000]. Items stand in 100 namespaces; figures are medians.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np
from langgraph.store.base import PutOp

from commonplace.adapters.langgraph import CommonplaceStore

WORDS = [f"word{number}" for number in range(2_000)]
ONE = ("users", "User5")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--items", type=int, default=10_000)
    items = options.parse_args().items
    small, large = (dict(measured(count)) for count in (items // 10, items))
    print(f"{'':42}{items // 10:>12,}{items:>12,} items")
    for name in small:
        print(f"{name:42}{small[name]:>12.1f}{large[name]:>12.1f}")


def measured(items: int) -> Iterator[tuple[str, float]]:
    words = random.Random(1)
    with tempfile.TemporaryDirectory() as home:
        with CommonplaceStore(home) as store:
            puts = [_put(number, words) for number in range(items)]
            started = time.perf_counter()
            for start in range(0, items, 500):
                store.batch(puts[start : start + 500])
            yield "puts in batches of 500, a second", items / (time.perf_counter() - started)
            yield "put, ms", median(lambda: store.put(ONE, "again", {"text": str(random.random())}))
            yield "get, ms", median(lambda: store.get(ONE, "m5"))
            yield "newest of one namespace, ms", median(lambda: store.search(ONE))
            yield "newest of all, ms", median(lambda: store.search(()))
            yield "filter over all, ms", median(lambda: store.search((), filter={"n": {"$gt": items - 5}}))
            yield "question in one namespace, ms", median(lambda: store.search(ONE, query="word5 word17"))
            yield "question to all, ms", median(lambda: store.search((), query="word5 word17"))
            yield "namespaces, ms", median(lambda: store.list_namespaces())
            yield "sweep with nothing to do, ms", median(lambda: store.sweep_ttl())
        with CommonplaceStore(home, index={"dims": 256, "embed": embed, "fields": ["text"]}) as store:
            yield "own embedder: first question, ms", median(lambda: store.search((), query="q"), 1)
            yield "own embedder: question to all, ms", median(lambda: store.search((), query="q"))
            yield "own embedder: in one namespace, ms", median(lambda: store.search(ONE, query="q"))


def _put(number: int, words: random.Random) -> PutOp:
    value = {"text": " ".join(words.choices(WORDS, k=12)), "n": number}
    return PutOp(("users", f"User{number % 100}"), f"m{number}", value)


def embed(texts: list[str]) -> list[list[float]]:
    seeds = [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big") for text in texts]
    return [np.random.default_rng(seed).normal(size=256).tolist() for seed in seeds]


def median(act: Callable[[], object], times: int = 7) -> float:
    took = []
    for _ in range(times):
        started = time.perf_counter()
        act()
        took.append(time.perf_counter() - started)
    return 1000 * statistics.median(took)


if __name__ == "__main__":
    main()
