"""The plots of docs/benchmarks.md, from the figures of `bench/speed.py --json`. Needs matplotlib.

Run: python bench/plot.py SPEED.json docs/speed.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt

LINES = ("hybrid query, ms", "words-only query, ms", "adding a page, ms", "first query of a new process, ms")


def main() -> None:
    rows = json.loads(Path(sys.argv[1]).read_text())
    sizes = [row["passages"] for row in rows]
    figure, axes = plt.subplots(figsize=(7, 4))
    for name in LINES:
        axes.plot(sizes, [row[name] for row in rows], marker="o", label=name.removesuffix(", ms"))
    axes.set(
        xscale="log", yscale="log", xlabel="passages", ylabel="CPU ms", title="What a search costs as memory grows"
    )
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(sys.argv[2], metadata={"Date": None})


if __name__ == "__main__":
    main()
