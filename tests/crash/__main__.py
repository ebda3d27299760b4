"""Let every operation on the files of a home go wrong once, in every way, and say what was lost.

Run: ./dev crash [--variant NAME] [--scene NAME] [--stride N] [--jobs N]. Exit status 1 if anything was.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from .faults import VARIANTS, install

install()  # before anything of ours is imported, and holds on to what it wraps

from .cases import Case, copy, operations, run  # noqa: E402
from .order import unsafe  # noqa: E402
from .scenes import SCENES, Scene  # noqa: E402
from .verdict import Judge  # noqa: E402

_AHEAD = 24  # homes copied before they are used: by then their files are older than a tick of the clock
_SHOWN = 20


class Task(NamedTuple):
    """Cases of one scene, each a variant and the number of an operation."""

    scene: int
    cases: tuple[tuple[str, int], ...]


class Figures(NamedTuple):
    cases_by_variant: Counter[str]
    acknowledged: int
    problems: tuple[tuple[str, str], ...]


def main() -> None:
    options = _options()
    scenes = [number for number, scene in enumerate(SCENES) if options.scene in ("", scene.name)]
    variants = [options.variant] if options.variant else [*VARIANTS]
    started = time.monotonic()
    counted = [_count_operations(SCENES[number]) for number in scenes]
    result = {number: kinds for number, (kinds, _) in zip(scenes, counted, strict=True)}
    tasks = [*_tasks(result, variants, options)]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("fork")) as workers:
        figures: list[Figures] = []
        for each in workers.map(_work, tasks):
            figures.append(each)
            if sys.stderr.isatty():
                print(f"\r{len(figures)} of {len(tasks)} portions tried", end="", file=sys.stderr)
    unsafe_ones = [sentence for _, sentences in counted for sentence in sentences]
    _report(sum(map(len, result.values())), figures, unsafe_ones, time.monotonic() - started)
    sys.exit(bool(unsafe_ones) or any(each.problems for each in figures))


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--variant", choices=[*VARIANTS], default="", help="only this one")
    options.add_argument("--scene", choices=[scene.name for scene in SCENES], default="", help="only this one")
    options.add_argument("--operation", type=int, default=0, help="only this one")
    options.add_argument("--stride", type=int, default=1, help="only every so many operations")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes that try cases")
    return options.parse_args()


def _count_operations(scene: Scene) -> tuple[list[str], list[str]]:
    """The kinds of the operations of a scene, in order, and what is wrong with the order."""
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(scene, Path(folder))
        home = copy(judge.home, Path(folder) / "counted")
        steps = operations(scene, home)
        kinds = [operation.kind for step in steps for operation in step]
        return kinds, [
            f"{scene.name}: {sentence}" for step in steps for sentence in unsafe(step, os.path.realpath(home))
        ]


def _tasks(result: dict[int, list[str]], variants: Sequence[str], options: argparse.Namespace) -> Iterator[Task]:
    """The cases in portions. With a stride each variant begins elsewhere, so that together they meet more."""
    for scene, kinds in result.items():
        cases: list[tuple[str, int]] = []
        for offset, name in enumerate(variants):
            numbers = [number for number, kind in enumerate(kinds, start=1) if VARIANTS[name].applies(kind)]
            first = offset * options.stride // len(variants)
            selection = [options.operation] if options.operation else numbers[first :: options.stride]
            cases += [(name, number) for number in selection]
        for start in range(0, len(cases), 200):
            yield Task(scene, tuple(cases[start : start + 200]))


def _work(task: Task) -> Figures:
    scene = SCENES[task.scene]
    tried: Counter[str] = Counter()
    acknowledged = 0
    problems: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(scene, Path(folder))
        cases = [Case(scene, VARIANTS[variant], number) for variant, number in task.cases]
        for case, home in _with_homes(cases, judge, Path(folder)):
            outcome = run(case, home)
            if outcome.struck:
                verdict = judge.judge(case, outcome, home)
                tried[case.variant.name] += 1
                acknowledged += verdict.checked
                problems += (
                    (problem.kind, f"{case} ({outcome.struck}): {problem.sentence}") for problem in verdict.problems
                )
            shutil.rmtree(home, ignore_errors=True)
    return Figures(tried, acknowledged, tuple(problems))


def _with_homes(cases: Sequence[Case], judge: Judge, folder: Path) -> Iterator[tuple[Case, Path]]:
    for start in range(0, len(cases), _AHEAD):
        some = cases[start : start + _AHEAD]
        homes = [copy(judge.home, folder / f"home-{case.variant.name}-{case.number}") for case in some]
        yield from zip(some, homes, strict=True)


def _report(count: int, figures: Sequence[Figures], unsafe_ones: Sequence[str], seconds: float) -> None:
    by_variant: Counter[str] = Counter()
    for each in figures:
        by_variant += each.cases_by_variant
    kinds = Counter(kind for each in figures for kind, _ in each.problems)
    sentences = [*unsafe_ones, *(sentence for every in figures for _, sentence in every.problems)]
    for sentence in sentences[:_SHOWN]:
        print(sentence[:2000], file=sys.stderr)
    for variant, cases in by_variant.items():
        print(f"{variant:24}{cases:9,}")
    rows = {
        "operations": count,
        "cases tried": sum(by_variant.values()),
        "acknowledged calls checked": sum(each.acknowledged for each in figures),
        "missing": kinds["missing"],
        "torn": kinds["torn"],
        "answered too early": len(unsafe_ones),
        "other problems": kinds["other"],
        "seconds": round(seconds),
    }
    print("\n".join(f"{name:24}{number:12,}" for name, number in rows.items()))


if __name__ == "__main__":
    main()
