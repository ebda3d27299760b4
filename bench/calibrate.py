"""What scores are worth: fits the curves in `search/calibration.py` over many sets at once, and shows how they hold.

Run: ./dev calibrate [NAME...] [--sets FOLDER...] [--provider static] [--sample 100] [--plot FILE.svg]. A set is what
`./dev ruler` takes. Each set counts the same, first hits three times as much as others; for every second question, one
of another set is asked that the memory cannot answer. `said` of a set comes from a curve that was fitted without it and
its kin. The lines at the end are for `search/calibration.py`; the one for notes comes from the first halves of the
small homes alone: ./dev calibrate homes-fit homes-near-fit --sets FOLDER --sample 0.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from plot import plot_calibration
from ruler import draw, family_of, is_set, make_home, open_memories, read_questions, units_of, unpack

from commonplace import Memory
from commonplace.search.calibration import Evidence, note_parts

HITS = 4  # of each question
FIRST_HIT_WEIGHT = 3.0
UNANSWERABLE_SHARE = 2
UNANSWERABLE_WEIGHT = 1.25
QUESTIONS_OF_OTHERS = 100  # of each other set, among which those without an answer are drawn
FIELDS = ("lead", "lexical", "phrase", "unknown", "similarity", "size", "support", "length", "date", "without_maxsim")
STEPS = 40  # of Newton's method
PENALTY = 1e-4
NOTE_PENALTY = 2e-3  # there are few of them
NOTE_SETS = ("homes-fit", "homes-near-fit")
Floats = npt.NDArray[np.float64]


class Observed(NamedTuple):
    """A hit: of which set, its place, whether its question can be answered, the evidence, and whether it is right."""

    name: str
    place: int
    is_answerable: bool
    evidence: Evidence
    is_right: bool


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", help="which sets; all in the folders by default")
    options.add_argument("--sets", type=Path, nargs="+", default=[Path("../shared/data/sets")])
    options.add_argument("--provider", default="static")
    options.add_argument("--rerank", action="store_true")
    options.add_argument("--sample", type=int, default=100, help="questions of each set; 0 for all")
    options.add_argument("--plot", type=Path, help="write the curve of each set to this file")
    given = options.parse_args()
    folders = {
        path.name.removesuffix(".tar.xz"): folder for folder in given.sets for path in folder.iterdir() if is_set(path)
    }
    names = given.names or sorted(folders)
    questions = {name: read_questions(folders[name], name) for name in names}
    seen = [hit for name in names for hit in observe(name, folders[name], questions, given)]
    curve = fit(seen)
    others = {family: [hit for hit in seen if family_of(hit.name) != family] for family in families(seen)}
    held_out = {family: fit(some) if some else curve for family, some in others.items()}
    said = [chance(hit.evidence, held_out[family_of(hit.name)]) for hit in seen]
    print_table(seen, said)
    if given.plot:
        plot_calibration(given.plot, curve_points(seen, [chance(hit.evidence, curve) for hit in seen]))
    offset, *slopes = curve
    slopes_by_name = zip(("log_slope", *FIELDS), slopes, strict=True)
    print(f"\noffset={offset:.3f}", *(f"{field}={slope:.3f}" for field, slope in slopes_by_name))
    notes = [hit for hit in seen if hit.name in NOTE_SETS and hit.evidence.note and hit.evidence.coverage.is_doubtful]
    if notes:
        print(f"notes ({len(notes)} hits):", *(f"{field}={slope:.3f}" for field, slope in fit_notes(notes).items()))


def observe(
    name: str, folder: Path, questions: dict[str, list[dict[str, Any]]], given: argparse.Namespace
) -> Iterator[Observed]:
    """Yield the best hits of each question of a set, and of questions that it cannot answer."""
    dice = random.Random(5)
    others = [
        question
        for other, some in questions.items()
        if family_of(other) != family_of(name)
        for question in dice.sample(some, min(QUESTIONS_OF_OTHERS, len(some)))
    ]
    with tempfile.TemporaryDirectory() as temporary:
        source = unpack(folder, name, Path(temporary))
        home = Path(temporary) / "memory"
        make_home(source, home, given)
        opened = open_memories(source / "home", home, draw(questions[name], given.sample))
        for number, (question, memory, _) in enumerate(opened):
            yield from observe_hits(name, memory, question["question"], question["evidence"])
            if others and number % UNANSWERABLE_SHARE == 0:
                yield from observe_hits(name, memory, dice.choice(others)["question"], [])
    print(f"{name} asked", flush=True)


def observe_hits(name: str, memory: Memory, text: str, evidence: Sequence[str]) -> Iterator[Observed]:
    wanted = {unit for each in evidence for unit in units_of(each)}
    by_page = all(line == 0 for _, line in wanted)
    result = memory.home.search(text, limit=10)
    for place, (hit, row) in enumerate(zip(result.hits[:HITS], result.ranked[:HITS], strict=True)):
        lines = [0] if by_page or hit.path.endswith(".md") else range(hit.start, hit.end + 1)
        is_right = any((hit.path, line) in wanted for line in lines)
        if row.evidence:
            yield Observed(name, place, bool(wanted), row.evidence, is_right)


def families(seen: Sequence[Observed]) -> list[str]:
    return sorted({family_of(hit.name) for hit in seen})


def parts(evidence: Evidence) -> list[float]:
    """Return what the curve weighs."""
    return [1.0, math.log1p(max(0.0, evidence.odds)), *(getattr(evidence, field) for field in FIELDS)]


def fit(seen: Sequence[Observed]) -> list[float]:
    """Return the offset and slopes of the logistic curve that explains best which hits are right."""
    return fit_curve(np.array([parts(hit.evidence) for hit in seen]), seen, PENALTY)


def fit_notes(seen: Sequence[Observed]) -> dict[str, float]:
    """Return the curve for notes that lack a word of the query, or have another in its place."""
    values = np.array([list(note_parts(hit.evidence).values()) for hit in seen])
    return dict(zip(note_parts(seen[0].evidence), fit_curve(values, seen, NOTE_PENALTY), strict=True))


def fit_curve(values: Floats, seen: Sequence[Observed], penalty: float) -> list[float]:
    is_right = np.array([hit.is_right for hit in seen], float)
    weights = weigh(seen)
    curve: Floats = np.zeros(values.shape[1])
    for _ in range(STEPS):
        said = 1 / (1 + np.exp(-values @ curve))
        gradient = values.T @ (weights * (is_right - said)) - penalty * curve
        curvature = (values * (weights * said * (1 - said))[:, None]).T @ values
        curve = curve + np.linalg.solve(curvature + penalty * np.eye(len(curve)), gradient)
    return [float(each) for each in curve]


def weigh(seen: Sequence[Observed]) -> Floats:
    """Return how much each hit counts: every set the same."""
    weights = np.array(
        [
            (FIRST_HIT_WEIGHT if hit.place == 0 else 1.0) * (1.0 if hit.is_answerable else UNANSWERABLE_WEIGHT)
            for hit in seen
        ]
    )
    names = np.array([hit.name for hit in seen])
    for name in set(names):
        weights[names == name] /= weights[names == name].sum()
    weighed: Floats = weights / weights.sum()
    return weighed


def chance(evidence: Evidence, curve: Sequence[float]) -> float:
    logit = sum(slope * part for slope, part in zip(curve, parts(evidence), strict=True))
    return 1 / (1 + math.exp(-logit))


def print_table(seen: Sequence[Observed], said: Sequence[float]) -> None:
    print(f"\n{'set':20}{'first hits':>11}{'right':>7}{'said':>7}{'ECE':>6}{'right >= .5':>13}{'none < .3':>11}")
    for name in [*dict.fromkeys(hit.name for hit in seen), "all"]:
        first = [
            (score, hit) for hit, score in zip(seen, said, strict=True) if hit.place == 0 and name in (hit.name, "all")
        ]
        known = [(score, hit.is_right) for score, hit in first if hit.is_answerable]
        right = [score >= 0.5 for score, is_right in known if is_right]
        none = [score < 0.3 for score, hit in first if not hit.is_answerable]
        print(
            f"{name:20}{len(known):11}{average([is_right for _, is_right in known]):7.2f}"
            f"{average([score for score, _ in known]):7.2f}{calibration_error(known):6.2f}"
            f"{average(right):13.2f}{average(none):11.2f}"
        )


def average(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def bins(known: Sequence[tuple[float, bool]]) -> dict[int, list[tuple[float, bool]]]:
    by_score: dict[int, list[tuple[float, bool]]] = {}
    for score, is_right in known:
        by_score.setdefault(min(9, int(score * 10)), []).append((score, is_right))
    return by_score


def calibration_error(known: Sequence[tuple[float, bool]]) -> float:
    gaps = (abs(sum(score - is_right for score, is_right in some)) for some in bins(known).values())
    return sum(gaps) / len(known) if known else math.nan


def curve_points(seen: Sequence[Observed], said: Sequence[float]) -> dict[str, list[tuple[float, float, int]]]:
    """Return for each family of sets what was said of first hits, how many of them were right, and of how many."""
    points: dict[str, list[tuple[float, float, int]]] = {}
    for family in families(seen):
        known = [
            (score, hit.is_right)
            for hit, score in zip(seen, said, strict=True)
            if family_of(hit.name) == family and hit.place == 0
        ]
        points[family] = [
            (average([score for score, _ in some]), average([right for _, right in some]), len(some))
            for _, some in sorted(bins(known).items())
        ]
    return points


if __name__ == "__main__":
    main()
