"""A server under load: 200 clients that read, search, and do both and write, each for a while, on 10,000 passages.

    ./dev load                    reads, searches and a mix, 20 s each, two workers
    ./dev load --seconds 600      memory over ten minutes
    ./dev load --cores 0,1        the server on two cores, the clients on the others
    ./dev load --workers 1 --clients 50 --passages 1000

Every write that was acknowledged is looked for afterwards, in the pages themselves. A bare Starlette application that
answers as many bytes is asked by the same clients in the same run: on a machine that does other work, ratios to it say
more than rates. CPU is that of the server alone; the clients need about as much again for a read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from speed import SEED, Language

from commonplace import Memory
from commonplace.facts.words import read_table
from commonplace.index.base import ignore_progress

TOKEN = "load"
SHARED = "memory/world/shared.md"
AGENTS = 20  # that the clients act for
PER_PAGE = 10
BARE_BYTES = 1_000
BARS = {"reads": 1500, "searches": 200, "mixed": 400}
# The commonest words of a language are function words: half of what people write, and nothing to search for.
COMMON_WORDS = [word for word in read_table("words", "FUNCTION_WORDS")["english"].split() if word.isalpha()][:120]
SERVERS = {
    "commonplace": ["-m", "commonplace", "--home", "{home}", "serve", "--port", "0", "--workers", "{workers}"],
    "bare": [__file__, "--bare", "--workers", "{workers}"],
}


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """A connection that is kept, as a browser or a program keeps one."""

    def __init__(self, port: int, agent: str = "main") -> None:
        self._port = port
        self._agent = agent
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        given = {"Host": "127.0.0.1", "Authorization": f"Bearer {TOKEN}", "Commonplace-Agent": self._agent}
        given |= {"Content-Length": str(len(body)), **headers}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name.replace('_', '-')}: {value}" for name, value in given.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        found = await reader.readexactly(int(fields.get("content-length", "0")))
        if fields.get("connection") == "close":
            self.close()
        return Answer(int(head[0].split()[1]), fields, found)

    def close(self) -> None:
        if self._streams:
            self._streams[1].close()
            self._streams = None


class Home:
    """A memory of made-up sentences, and what may be asked of it."""

    def __init__(self, folder: Path, passages: int) -> None:
        self.folder = folder
        self._language = Language(SEED)
        self._language.words[: len(COMMON_WORDS)] = COMMON_WORDS
        self.pages = max(1, passages // PER_PAGE)
        for number in range(self.pages):
            path = folder / f"memory/world/topic-{number}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = self._language.text
            path.write_text("".join(f"## {text(3)}\n\n{text(35)}\n\n" for _ in range(PER_PAGE)))
        (folder / SHARED).write_text("# Shared\n")
        self.questions = [quote(self._language.text(4)) for _ in range(1000)]
        with Memory(folder) as memory:
            memory.home.build_index(ignore_progress)
            self.passages = memory.status()["passages"]


class Load:
    """What all clients together did."""

    def __init__(self, port: int, home: Home, kinds: dict[str, int], seconds: float) -> None:
        self.port = port
        self.home = home
        self.kinds = kinds  # how often a client does what
        self.until = time.monotonic() + seconds
        self.times: dict[str, list[float]] = {kind: [] for kind in kinds}
        self.wrong: Counter[str] = Counter()
        self.written: list[tuple[str, str]] = []  # a page, and what it has to hold
        self.slower = 0

    async def run(self, number: int) -> None:
        chance = random.Random(number)
        client = Client(self.port, f"agent-{number % AGENTS}")
        step = 0
        while time.monotonic() < self.until:
            step += 1
            kind = chance.choices([*self.kinds], [*self.kinds.values()])[0]
            started = time.perf_counter()
            try:
                await self._do(kind)(client, chance, f"client {number} step {step}")
            except (OSError, asyncio.IncompleteReadError) as error:
                self.wrong[f"{kind}: {type(error).__name__} {error}"] += 1
                client.close()
            self.times[kind].append(time.perf_counter() - started)
        client.close()

    def _do(self, kind: str) -> Callable[[Client, random.Random, str], Awaitable[None]]:
        known = {"read": self._read, "search": self._search, "write": self._write, "shared": self._share}
        return known.get(kind, self._ask_bare)

    async def _ask_bare(self, client: Client, _chance: random.Random, _said: str) -> None:
        self._check("bare", await client.ask("GET", "/"))

    async def _read(self, client: Client, chance: random.Random, _: str) -> None:
        path = f"/v1/pages/memory/world/topic-{chance.randrange(self.home.pages)}.md"
        self._check("read", await client.ask("GET", path))

    async def _search(self, client: Client, chance: random.Random, _: str) -> None:
        self._check("search", await client.ask("GET", f"/v1/search?q={chance.choice(self.home.questions)}&limit=10"))

    async def _write(self, client: Client, _: random.Random, said: str) -> None:
        body = json.dumps({"content": f"({said})"}).encode()
        answer = await client.ask("POST", "/v1/tools/remember", body, Content_Type="application/json")
        if self._check("write", answer):
            self.written.append(("", f"({said})"))

    async def _share(self, client: Client, _: random.Random, said: str) -> None:
        """One page that all change, each under the condition that it is as they read it."""
        while True:
            page = await client.ask("GET", f"/v1/pages/{SHARED}")
            if not self._check("shared read", page):
                return
            text = page.body + f"({said})\n".encode()
            conditions = {"If_Match": page.headers["etag"], "Content_Type": "text/markdown"}
            answer = await client.ask("PUT", f"/v1/pages/{SHARED}", text, **conditions)
            if answer.status == 412:
                self.slower += 1
                if time.monotonic() > self.until:
                    return
                continue
            if self._check("shared write", answer):
                self.written.append((SHARED, f"({said})"))
            return

    def _check(self, what: str, answer: Answer) -> bool:
        if answer.status not in (200, 201):
            self.wrong[f"{what}: {answer.status} {answer.body[:200].decode()}"] += 1
        return answer.status in (200, 201)


class Figures(NamedTuple):
    rate: float
    p50_ms: float
    p95_ms: float
    cpu_ms: float  # of the server, for one request


class Server:
    """A server in processes of its own."""

    def __init__(self, kind: str, home: Path, workers: int, cores: str) -> None:
        command = [
            *(["taskset", "-c", cores] if cores else []),
            sys.executable,
            *(each.format(home=home, workers=workers) for each in SERVERS[kind]),
        ]
        environment = {**os.environ, "COMMONPLACE_TOKEN": TOKEN}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        assert self.process.stderr
        self.port = int(self.process.stderr.readline().rsplit(":", 1)[1].partition("/")[0])

    def list_processes(self) -> list[int]:
        pid = self.process.pid
        return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]

    def cpu_seconds(self) -> float:
        return sum(map(cpu_of, self.list_processes()))

    def memory_bytes(self) -> int:
        return sum(map(memory_of, self.list_processes()))

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


@contextmanager
def start(kind: str, home: Path, workers: int, cores: str = "") -> Iterator[Server]:
    server = Server(kind, home, workers, cores)
    try:
        yield server
    finally:
        server.stop()


def memory_of(process: int) -> int:
    """Return resident bytes that no other process has: workers share what was loaded before they were forked."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    return sum(int(each) for each in re.findall(r"Private_(?:Clean|Dirty):\s+(\d+) kB", text)) * 1024


def cpu_of(process: int) -> float:
    """Return seconds of CPU that a process has used: what the work costs, whoever else keeps the machine busy."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(server: Server, load: Load, clients: int) -> tuple[Figures, list[int]]:
    """Let all clients do their work, and return how it went and how much memory the server had over that time."""
    seconds = load.until - time.monotonic()
    memory: list[int] = []

    async def watch() -> None:
        while time.monotonic() < load.until:
            await asyncio.sleep(seconds / 12)
            memory.append(server.memory_bytes())

    async def run_all() -> None:
        await asyncio.gather(watch(), *(load.run(number) for number in range(clients)))

    cpu_before = server.cpu_seconds()
    started = time.monotonic()
    asyncio.run(run_all())
    took = time.monotonic() - started
    times = [each for one in load.times.values() for each in one]
    cpu_ms = (server.cpu_seconds() - cpu_before) * 1000 / max(1, len(times))
    p50, p95 = (quantile(times, share) * 1000 for share in (0.5, 0.95))
    return Figures(len(times) / took, p50, p95, cpu_ms), memory


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def count_missing(home: Path, load: Load) -> int:
    """Return how much of what was acknowledged is nowhere to be found."""
    days = "".join(path.read_text() for path in home.glob("agents/*/memory/daily/*.md"))
    shared = (home / SHARED).read_text()
    return sum(said not in (shared if page else days) for page, said in load.written)


def show(name: str, figures: Figures, bare: Figures) -> None:
    bar = f"bar {BARS[name]:,}" if name in BARS else ""
    print(
        f"{name:<9} {figures.rate:>7,.0f}/s {bar:<10} p50 {figures.p50_ms:>6,.0f} ms  p95 {figures.p95_ms:>6,.0f} ms"
        f"  CPU {figures.cpu_ms:6.2f} ms  1/{bare.rate / figures.rate:.1f} of bare  "
        f"two free cores: {2000 / figures.cpu_ms:,.0f}/s",
        flush=True,
    )


def measure_library(home: Home) -> float:
    """Return the CPU time of one search without a server, in ms."""
    from urllib.parse import unquote

    with Memory(home.folder, "agent-0") as memory:
        questions = [unquote(each) for each in home.questions[:120]]
        for question in questions[:20]:
            memory.search(question)
        started = time.process_time()
        for question in questions[20:]:
            memory.search(question)
        return (time.process_time() - started) * 1000 / 100


def serve_bare(workers: int) -> None:
    """Answer every request with some bytes, as little else as Starlette and uvicorn can."""
    import socket

    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    from commonplace.server.workers import run_workers

    class Bare(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            listener.listen(2048)  # as `commonplace serve` does

    async def answer(_: object) -> Response:
        return Response(b"x" * BARE_BYTES)

    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(f"serving at http://127.0.0.1:{listener.getsockname()[1]}/", file=sys.stderr, flush=True)

    def serve(_: int) -> None:
        app = Starlette(routes=[Route("/", answer)])
        config = uvicorn.Config(app, http="h11", loop="asyncio", log_level="warning", backlog=1)
        Bare(config).run(sockets=[listener])

    run_workers(workers, serve, print)


def run(options: argparse.Namespace, folder: Path) -> bool:
    """Measure everything and print it; return whether every answer was right and nothing is lost."""
    home = Home(folder, options.passages)
    print(
        f"{home.passages:,} passages, {options.clients} clients, {options.workers} workers, {options.seconds:g} s each"
    )
    where = f"the server on {options.cores}, " if options.cores else ""
    print(f"machine: {os.cpu_count()} cores, {where}load average {os.getloadavg()[0]:.1f} at the start")
    print(f"a search in the library: {measure_library(home):.1f} ms of CPU")
    with start("bare", folder, options.workers, options.cores) as server:
        bare, _ = measure(server, Load(server.port, home, {"bare": 1}, options.seconds / 2), options.clients)
    show("bare", bare, bare)
    mixes = {"reads": {"read": 1}, "searches": {"search": 1}}
    mixes["mixed"] = {"read": 50, "search": 25, "write": 20, "shared": 5}
    if options.only:
        mixes = {options.only: mixes[options.only]}
    wrong: Counter[str] = Counter()
    lost = 0
    with start("commonplace", folder, options.workers, options.cores) as server:
        for name, kinds in mixes.items():
            load = Load(server.port, home, kinds, options.seconds)
            figures, memory = measure(server, load, options.clients)
            show(name, figures, bare)
            wrong += load.wrong
            lost += count_missing(folder, load)
        for kind, times in load.times.items():
            p50, p95 = (quantile(times, share) * 1000 for share in (0.5, 0.95))
            print(f"  {kind:<8} {len(times):>7,}   p50 {p50:6,.0f} ms   p95 {p95:6,.0f} ms")
    print(f"memory over the mix {' '.join(f'{each / 1e6:.0f}' for each in memory)} MB, all workers")
    print(f"errors              {sum(wrong.values())}")
    for what, count in wrong.most_common(5):
        print(f"  {count} x {what}")
    print(f"writes acknowledged {len(load.written):,}, lost {lost}; {load.slower:,} came second and tried again")
    print(f"load average        {os.getloadavg()[0]:.1f} at the end")
    return not wrong and not lost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cores", default="", help="the cores that the server may use, such as 0,1; default: all")
    parser.add_argument("--only", choices=[*BARS], help="measure one of them, such as mixed over ten minutes")
    parser.add_argument("--bare", action="store_true", help="be the bare application")
    options = parser.parse_args()
    if options.bare:
        serve_bare(options.workers)
        return
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(not run(options, Path(folder)))


if __name__ == "__main__":
    main()
