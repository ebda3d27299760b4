"""The plots of docs/benchmarks.md: speed by size (needs matplotlib), and how often a score comes true.

Run: python bench/plot.py SPEED.json docs/speed.svg, with the figures of `bench/speed.py --json`.
`./dev calibrate --plot docs/calibration.svg` makes the other.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

LINES = ("hybrid query, ms", "words-only query, ms", "adding a page, ms", "first query of a new process, ms")
COLUMNS = 4
SIDE = 130  # of a panel, in pixels
GAP = 40
MIN_HITS = 5  # of a point that is drawn
Point = tuple[float, float, int]  # what was said, how many were right, of how many


def main() -> None:
    import matplotlib.pyplot as plt

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


def plot_calibration(file: Path, curves: Mapping[str, Sequence[Point]]) -> None:
    """Draw one panel for each curve: the score that was said to the right, how many were right upwards."""
    rows = -(-len(curves) // COLUMNS)
    width = COLUMNS * (SIDE + GAP) + GAP
    height = rows * (SIDE + GAP) + GAP
    panels = "\n".join(draw_panel(number, name, points) for number, (name, points) in enumerate(curves.items()))
    file.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        f'font-size="11"><rect width="100%" height="100%" fill="white"/>\n{panels}\n</svg>\n'
    )


def draw_panel(number: int, name: str, points: Sequence[Point]) -> str:
    left = GAP + number % COLUMNS * (SIDE + GAP)
    top = GAP + number // COLUMNS * (SIDE + GAP)
    return f'<g transform="translate({left},{top})">{"".join(draw_points(name, points))}</g>'


def draw_points(name: str, points: Sequence[Point]) -> Iterator[str]:
    yield f'<text x="0" y="-6">{name}</text>'
    yield f'<rect width="{SIDE}" height="{SIDE}" fill="none" stroke="#999"/>'
    yield f'<line x1="0" y1="{SIDE}" x2="{SIDE}" y2="0" stroke="#ccc"/>'
    shown = [(said * SIDE, (1 - right) * SIDE, count) for said, right, count in points if count >= MIN_HITS]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in shown)
    yield f'<polyline points="{line}" fill="none" stroke="#3366aa"/>'
    for x, y, count in shown:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2 + min(4.0, count**0.5 / 4):.1f}" fill="#3366aa"/>'
    yield f'<text x="0" y="{SIDE + 12}">0</text><text x="{SIDE - 6}" y="{SIDE + 12}">1</text>'


if __name__ == "__main__":
    main()
