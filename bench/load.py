"""The server under load: how soon a search answers, and 200 clients that read, search and write for a minute.

    ./dev load                    both, with 10,000 passages
    ./dev load --seconds 10 --clients 50 --passages 1000
    ./dev load --clients 0        only the search

Every write that was acknowledged is looked for afterwards, in the pages themselves.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from commonplace import Memory
from commonplace.index.base import ignore_progress

TOKEN = "load"
SHARED = "memory/world/shared.md"
WORDS = [
    "garden",
    "river",
    "copper",
    "winter",
    "letter",
    "museum",
    "violin",
    "harbour",
    "pepper",
    "orchard",
    "signal",
    "lantern",
    "meadow",
    "engine",
    "velvet",
    "anchor",
    "basket",
    "candle",
    "desert",
    "forest",
    "glacier",
    "hammer",
    "island",
    "jacket",
    "kettle",
    "ladder",
    "marble",
    "needle",
    "oyster",
    "pencil",
]


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """A connection that is kept, as a browser or a program keeps one."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        given = {"Host": "127.0.0.1", "Authorization": f"Bearer {TOKEN}", "Content-Length": str(len(body)), **headers}
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


class Load:
    """What all clients together did."""

    def __init__(self, port: int, seconds: float) -> None:
        self.port = port
        self.until = time.monotonic() + seconds
        self.times: dict[str, list[float]] = {"read": [], "search": [], "write": [], "shared": []}
        self.wrong: Counter[str] = Counter()
        self.written: list[tuple[str, str]] = []  # a page, and what it has to hold
        self.slower = 0

    async def client(self, number: int) -> None:
        chance = random.Random(number)
        client = Client(self.port)
        step = 0
        while time.monotonic() < self.until:
            step += 1
            kind = chance.choices(["read", "search", "write", "shared"], [50, 25, 20, 5])[0]
            started = time.perf_counter()
            try:
                await getattr(self, f"_{kind}")(client, chance, f"client {number} step {step}")
            except (OSError, asyncio.IncompleteReadError) as error:
                self.wrong[f"{kind}: {type(error).__name__} {error}"] += 1
                client.close()
            self.times[kind].append(time.perf_counter() - started)
        client.close()

    async def _read(self, client: Client, chance: random.Random, _: str) -> None:
        path = f"/v1/pages/memory/world/topic-{chance.randrange(TOPICS)}.md"
        self._right("read", await client.ask("GET", path, Accept="application/json"))

    async def _search(self, client: Client, chance: random.Random, _: str) -> None:
        question = quote(" ".join(chance.sample(WORDS, 3)))
        self._right("search", await client.ask("GET", f"/v1/search?q={question}&limit=10"))

    async def _write(self, client: Client, _: random.Random, said: str) -> None:
        body = json.dumps({"content": f"({said})"}).encode()
        answer = await client.ask("POST", "/v1/tools/remember", body, Content_Type="application/json")
        if self._right("write", answer):
            self.written.append(("", f"({said})"))

    async def _shared(self, client: Client, _: random.Random, said: str) -> None:
        """One page that all change, each under the condition that it is as they read it."""
        while True:
            page = await client.ask("GET", f"/v1/pages/{SHARED}")
            if not self._right("shared read", page):
                return
            text = page.body + f"({said})\n".encode()
            conditions = {"If_Match": page.headers["etag"], "Content_Type": "text/markdown"}
            answer = await client.ask("PUT", f"/v1/pages/{SHARED}", text, **conditions)
            if answer.status == 412:
                self.slower += 1
                if time.monotonic() > self.until:
                    return
                continue
            if self._right("shared write", answer):
                self.written.append((SHARED, f"({said})"))
            return

    def _right(self, what: str, answer: Answer) -> bool:
        if answer.status not in (200, 201):
            self.wrong[f"{what}: {answer.status} {answer.body[:200].decode()}"] += 1
        return answer.status in (200, 201)


TOPICS = 200


def filled(home: Path, passages: int) -> None:
    """Days, topics and records of made-up sentences, about so many passages."""
    chance = random.Random(1)
    for number in range(TOPICS):
        path = home / f"memory/world/topic-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        count = max(1, passages // TOPICS)
        parts = [f"## {chance.choice(WORDS)} {part}\n\n{_sentence(chance)}\n" for part in range(count)]
        path.write_text(f"# Topic {number}\n\n" + "\n".join(parts))
    (home / SHARED).write_text("# Shared\n")
    Memory(home).home.build_index(ignore_progress)


def _sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=30)).capitalize() + "."


def memory_of(process: int) -> int:
    """Resident bytes."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) * 1024 if found else 0


async def first_results(port: int, times: int) -> list[float]:
    """How long a search takes that a person types, one after another: with highlights and reasons."""
    chance = random.Random(2)
    client = Client(port)
    took = []
    for number in range(times + 5):
        question = quote(" ".join(chance.sample(WORDS, 2)))
        started = time.perf_counter()
        answer = await client.ask("GET", f"/v1/search?q={question}&limit=20")
        assert answer.status == 200, answer
        if number >= 5:
            took.append((time.perf_counter() - started) * 1000)
    client.close()
    return took


async def loaded(port: int, process: int, clients: int, seconds: float) -> tuple[Load, list[int]]:
    load = Load(port, seconds)
    memory: list[int] = []

    async def watch() -> None:
        while time.monotonic() < load.until:
            await asyncio.sleep(seconds / 12)
            memory.append(memory_of(process))

    await asyncio.gather(watch(), *(load.client(number) for number in range(clients)))
    return load, memory


def missing(home: Path, load: Load) -> int:
    """How much of what was acknowledged is nowhere to be found."""
    days = "".join(path.read_text() for path in (home / "agents/main/memory/daily").glob("*.md"))
    shared = (home / SHARED).read_text()
    return sum(said not in (shared if page else days) for page, said in load.written)


def started(home: Path) -> tuple[subprocess.Popen[str], int]:
    command = [sys.executable, "-m", "commonplace", "--home", str(home), "serve", "--port", "0"]
    server = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "COMMONPLACE_TOKEN": TOKEN}
    )
    assert server.stderr
    return server, int(server.stderr.readline().rsplit(":", 1)[1].partition("/")[0])


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def report(load: Load, memory: list[int], seconds: float, lost: int) -> None:
    total = sum(map(len, load.times.values()))
    print(f"requests            {total:,} in {seconds:g} s ({total / seconds:,.0f} a second)")
    for kind, times in load.times.items():
        half, most = (quantile(times, share) * 1000 for share in (0.5, 0.95))
        print(f"  {kind:<8} {len(times):>7,}   p50 {half:6,.0f} ms   p95 {most:6,.0f} ms")
    print(f"errors              {sum(load.wrong.values())}")
    for what, count in load.wrong.most_common(5):
        print(f"  {count} x {what}")
    print(f"writes acknowledged {len(load.written):,}, lost {lost}; {load.slower:,} came second and tried again")
    print(f"memory              {' '.join(f'{each / 1e6:.0f}' for each in memory)} MB")


def cpu_of(process: int) -> float:
    """Seconds of CPU that a process has used: what the work costs, whoever else keeps the machine busy."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--passages", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        filled(home, options.passages)
        print(f"passages            {Memory(home).status()['passages']:,}")
        server, port = started(home)
        try:
            before = cpu_of(server.pid)
            took = asyncio.run(first_results(port, 100))
            cost = (cpu_of(server.pid) - before) / 105 * 1000
            half = statistics.median(took)
            most = quantile(took, 0.95)
            print(f"search, one person  p50 {half:.1f} ms   p95 {most:.1f} ms   CPU {cost:.1f} ms")
            if not options.clients:
                return
            load, memory = asyncio.run(loaded(port, server.pid, options.clients, options.seconds))
            report(load, memory, options.seconds, missing(home, load))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(20)
    sys.exit(bool(load.wrong))


if __name__ == "__main__":
    main()
