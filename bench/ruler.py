"""How well search finds over many sets of questions at once, beside plain BM25 (SQLite's FTS5) in the same run.

Run: ./dev ruler [NAME...] [--sets FOLDER] [--provider static] [--rerank] [--sample 200] [--jobs 1] [--save FILE]
[--against FILE].
A set is a folder, or a `.tar.xz` of one, with `home/` (a memory) and `questions.jsonl`, whose lines have a `question`,
`evidence` (`path` or `path#L3-L5`; none where the memory cannot answer), and perhaps `agent`, `today`, and `files`
(only so many of the agent's sessions are there yet). `./dev homes FOLDER` makes two sets; the others are not part of
the project. Exit status 1: a set is below FTS5, or below the saved table, by more than chance explains.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from commonplace import Memory
from commonplace.maintenance.evaluate import RESAMPLES, discounted_gain
from commonplace.model import parse_citation

LIMIT = 30
RANKS = 10
MAX_LOSS = 0.005  # of nDCG against FTS5 that is no loss
MAX_HIT_TURNS = 5  # a hit over more turns does not say which one it means
UNANSWERABLE_SHARE = 4  # one question of another set for so many of its own
UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff々"
WAYS = ("search", "words", "fts5")
Unit = tuple[str, int]  # a page, or a turn of a session
Ranking = list[tuple[str, int, int, float]]  # path, first line, last line, score


class Outcome(NamedTuple):
    """What one way of searching found for one question."""

    recall: float
    ndcg: float
    score: float  # of the first hit
    is_right: bool  # the first hit
    seconds: float


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", help="which sets; all in the folder by default")
    options.add_argument("--sets", type=Path, default=Path("../shared/data/sets"))
    options.add_argument("--provider", default="static")
    options.add_argument("--rerank", action="store_true")
    options.add_argument("--sample", type=int, default=200, help="questions of each set; 0 for all")
    options.add_argument("--jobs", type=int, default=1, help="sets to measure at a time")
    options.add_argument("--save", type=Path, help="write the table to this file")
    options.add_argument("--against", type=Path, help="compare with a table that was saved")
    given = options.parse_args()
    names = given.names or sorted({path.name.removesuffix(".tar.xz") for path in given.sets.iterdir() if is_set(path)})
    before = json.loads(given.against.read_text()) if given.against else {}
    print(f"R@10, nDCG@10 and CPU time of a query as {' / '.join(WAYS)}\n")
    heads = f"{'nDCG - fts5':>20}{'ECE':>6}{'>=.5':>6}{'none':>8}{'CPU ms':>22}"
    print(f"{'set':18}{'n':>5}  {'R@10':^21}  {'nDCG@10':^21}{heads}")
    table: dict[str, Any] = {}
    failed: list[str] = []
    for name, figures in zip(names, measure_all(names, given), strict=True):
        table[name] = figures
        low, high = table[name]["against fts5"]
        print(render(name, table[name]), flush=True)
        if high < 0 and table[name]["nDCG@10"]["search"] < table[name]["nDCG@10"]["fts5"] - MAX_LOSS:
            failed.append(f"{name} is below FTS5 ({low:+.3f} to {high:+.3f})")
        if name in before and (loss := lost(table[name], before[name])):
            failed.append(f"{name} is below the saved table: {loss}")
    if given.save:
        given.save.write_text(json.dumps(table, indent=1) + "\n")
    print("\n".join(failed) or "no set is below FTS5" + (" or the saved table" if before else ""))
    sys.exit(bool(failed))


def measure_all(names: list[str], given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the figures of each set, several sets at a time where that is asked for."""
    measure_one = partial(measure_set, names=names, given=given)
    if given.jobs == 1:
        yield from map(measure_one, names)
        return
    with ProcessPoolExecutor(given.jobs) as pool:
        yield from pool.map(measure_one, names)


def measure_set(name: str, names: list[str], given: argparse.Namespace) -> dict[str, Any]:
    strangers = [other for other in names if family_of(other) != family_of(name)]
    others = [question for other in strangers for question in read_questions(given.sets, other)]
    asked = draw(read_questions(given.sets, name), given.sample)
    with tempfile.TemporaryDirectory() as folder:
        source = unpack(given.sets, name, Path(folder))
        rows, unanswerable = measure(source, Path(folder) / "memory", asked, others, given)
    return summarise(rows, unanswerable)


def family_of(name: str) -> str:
    """Return what names the sets of one kind: `xquad-de` has the questions of `xquad-en` in another language."""
    return name.split("-")[0]


def is_set(path: Path) -> bool:
    return path.name.endswith(".tar.xz") or (path / "questions.jsonl").exists()


def unpack(sets: Path, name: str, into: Path) -> Path:
    if not (sets / name).is_dir():
        subprocess.run(["tar", "xf", sets / f"{name}.tar.xz", "-C", into], check=True)
        return into / name
    return sets / name


def read_questions(sets: Path, name: str) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        lines = (unpack(sets, name, Path(folder)) / "questions.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines if line]


def draw(questions: list[dict[str, Any]], sample: int) -> list[dict[str, Any]]:
    chosen = random.Random(7).sample(questions, sample) if 0 < sample < len(questions) else questions
    return sorted(chosen, key=lambda question: (question.get("agent", "main"), question.get("files", 0)))


def measure(
    source: Path, home: Path, questions: list[dict[str, Any]], others: list[dict[str, Any]], given: argparse.Namespace
) -> tuple[list[dict[str, Outcome]], list[float]]:
    """Ask every question in each way; also questions of other sets, and the score of the first hit for each."""
    make_home(source, home, given)
    dice = random.Random(3)
    rows: list[dict[str, Outcome]] = []
    unanswerable: list[float] = []
    for question, memory, plain in open_memories(source / "home", home, questions):
        ways = {"search": ranking_of(memory), "words": ranking_of(memory, mode="keyword"), "fts5": plain.find}
        if not question["evidence"]:
            unanswerable.append(first_score(ways["search"](question["question"])))
            continue
        rows.append({way: ask(find, question) for way, find in ways.items()})
        if others and len(rows) % UNANSWERABLE_SHARE == 0:
            unanswerable.append(first_score(ways["search"](dice.choice(others)["question"])))
    return rows, unanswerable


def first_score(ranking: Ranking) -> float:
    return ranking[0][3] if ranking else 0.0


def make_home(source: Path, home: Path, given: argparse.Namespace) -> None:
    home.mkdir()
    settings = {"provider": given.provider, "rerank": given.rerank, "indexSessions": True}
    (home / "commonplace.yaml").write_text(json.dumps({"memorySearch": settings}))
    if (source / "home/memory").exists():
        shutil.copytree(source / "home/memory", home / "memory")


def open_memories(
    source: Path, home: Path, questions: list[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], Memory, PlainBm25]]:
    """Yield every question with a memory that has what it may know, and the same in FTS5."""
    now = [datetime.now(UTC)]
    agent = ""
    for question in questions:
        if question.get("agent", "main") != agent:
            agent = question.get("agent", "main")
            pages = Path("agents") / agent / "memory"
            if (source / pages).exists():
                shutil.copytree(source / pages, home / pages)
            memory = Memory(home, agent, clock=lambda: now[0])
            plain = PlainBm25(home, ("memory", pages))
            waiting = sorted((source / "agents" / agent / "sessions").glob("*.jsonl"))
            brought = -1
        count = question.get("files", len(waiting))
        if count > brought:
            for file in waiting[max(brought, 0) : count]:
                target = home / file.relative_to(source)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target)
                plain.add(target)
            brought = count
            memory.build_index()
            memory.search("warm up", limit=1)
        now[0] = datetime.fromisoformat(f"{question['today']}T12:00:00+00:00") if "today" in question else now[0]
        yield question, memory, plain


def ranking_of(memory: Memory, **options: Any) -> Callable[[str], Ranking]:
    def find(text: str) -> Ranking:
        return [(hit.path, hit.start, hit.end, hit.score) for hit in memory.search(text, limit=LIMIT, **options)]

    return find


class PlainBm25:
    """SQLite's FTS5 with its own BM25 over the same units: pages, and turns of sessions."""

    def __init__(self, home: Path, folders: Sequence[str | Path]) -> None:
        self._home = home
        self._db = sqlite3.connect(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE units USING fts5(path UNINDEXED, line UNINDEXED, body, tokenize='porter')"
        )
        for page in sorted(page for folder in folders for page in (home / folder).rglob("*.md")):
            self.add(page)

    def add(self, file: Path) -> None:
        path = file.relative_to(self._home).as_posix()
        if file.suffix == ".md":
            units = [(0, file.read_text())]
        else:
            turns = (json.loads(line) for line in file.read_text().split("\n") if line)
            units = [(number, f"{turn.get('name', '')} {turn['content']}") for number, turn in enumerate(turns, 1)]
        rows = [(path, number, " ".join(split_words(text))) for number, text in units]
        self._db.executemany("INSERT INTO units VALUES (?, ?, ?)", rows)

    def find(self, text: str) -> Ranking:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(split_words(text.replace('"', " "))))
        if not words:
            return []
        sql = "SELECT path, line, line, -bm25(units) FROM units WHERE units MATCH ? ORDER BY bm25(units) LIMIT ?"
        return list(self._db.execute(sql, (words, LIMIT)))


def split_words(text: str) -> list[str]:
    """Return words; pairs of characters where a script has no spaces."""
    words: list[str] = []
    for run in re.findall(rf"[{UNSPACED}]+|[^\s{UNSPACED}]+", text):
        pairs = [run[at : at + 2] for at in range(max(1, len(run) - 1))] if re.match(f"[{UNSPACED}]", run) else [run]
        words += [pair for pair in pairs if any(map(str.isalnum, pair))]
    return words


def ask(find: Callable[[str], Ranking], question: dict[str, Any]) -> Outcome:
    started = time.process_time()
    ranking = find(question["question"])
    seconds = time.process_time() - started
    evidence = {unit for name in question["evidence"] for unit in units_of(name)}
    units = list(dict.fromkeys(distinct_units(ranking, by_page=all(line == 0 for _, line in evidence))))[:RANKS]
    gain = discounted_gain(place for place, unit in enumerate(units) if unit in evidence)
    best = discounted_gain(range(len(evidence)))
    found = len(evidence.intersection(units)) / len(evidence)
    return Outcome(found, gain / best, first_score(ranking), bool(units) and units[0] in evidence, seconds)


def units_of(name: str) -> Iterator[Unit]:
    lines = parse_citation(name)
    if lines is None:
        yield name, 0
    elif lines.path.endswith(".md"):
        yield lines.path, 0
    else:
        yield from ((lines.path, line) for line in range(lines.first, lines.last + 1))


def distinct_units(ranking: Ranking, *, by_page: bool) -> Iterator[Unit]:
    for path, first, last, _ in ranking:
        if by_page or path.endswith(".md"):
            yield path, 0
        elif last - first < MAX_HIT_TURNS:
            yield from ((path, line) for line in range(first, last + 1))


def summarise(rows: list[dict[str, Outcome]], unanswerable: list[float]) -> dict[str, Any]:
    right = [row["search"].score for row in rows if row["search"].is_right]
    differences = [row["search"].ndcg - row["fts5"].ndcg for row in rows]
    return {
        "questions": len(rows),
        "R@10": {way: mean([row[way].recall for row in rows]) for way in WAYS},
        "nDCG@10": {way: mean([row[way].ndcg for row in rows]) for way in WAYS},
        "against fts5": interval(differences),
        "ECE": calibration_error([row["search"] for row in rows]),
        "right >= .5": mean([score >= 0.5 for score in right]),
        "unanswerable < .3": mean([score < 0.3 for score in unanswerable]),
        "ms": {way: 1000 * mean([row[way].seconds for row in rows]) for way in WAYS},
        "each nDCG": [round(row["search"].ndcg, 4) for row in rows],
    }


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a mean."""
    generator = random.Random(1)  # the same differences give the same interval
    means = sorted(mean(generator.choices(differences, k=len(differences))) for _ in range(RESAMPLES))
    outside = RESAMPLES // 40
    return means[outside], means[-1 - outside]


def calibration_error(outcomes: Sequence[Outcome]) -> float:
    """Return how far scores of first hits are from how often they are right, over ten bins."""
    bins: dict[int, list[Outcome]] = {}
    for outcome in outcomes:
        bins.setdefault(min(9, int(outcome.score * 10)), []).append(outcome)
    gaps = [abs(sum(each.score - each.is_right for each in some)) for some in bins.values()]
    return sum(gaps) / len(outcomes)


def lost(now: dict[str, Any], before: dict[str, Any]) -> str:
    """Return by how much nDCG fell since a table of the same questions, if chance does not explain it."""
    if len(now["each nDCG"]) != len(before["each nDCG"]):
        return ""
    low, high = interval([new - old for new, old in zip(now["each nDCG"], before["each nDCG"], strict=True)])
    return f"{low:+.3f} to {high:+.3f}" if high < 0 else ""


def render(name: str, row: dict[str, Any]) -> str:
    figures = "  ".join(" / ".join(f"{row[metric][way]:.3f}" for way in WAYS) for metric in ("R@10", "nDCG@10"))
    low, high = row["against fts5"]
    rest = f"{row['ECE']:6.2f}{row['right >= .5']:6.2f}{row['unanswerable < .3']:8.2f}"
    milliseconds = " / ".join(f"{row['ms'][way]:.1f}" for way in WAYS)
    return f"{name:18}{row['questions']:5}  {figures}{f'{low:+.3f} to {high:+.3f}':>20}{rest}{milliseconds:>22}"


if __name__ == "__main__":
    main()
