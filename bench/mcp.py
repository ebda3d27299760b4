"""How soon the MCP server answers its first request, against an empty server on the same SDK in the same run.

python bench/mcp.py [--runs 15] [--pages 1000]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from commonplace import Memory

EMPTY = """
import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

async def listed(context, params):
    return types.ListToolsResult(tools=[])

async def main():
    server = Server("empty", version="1", on_list_tools=listed)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main)
"""
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
FIRST: dict[str, tuple[str, dict[str, Any]]] = {
    "handshake": (
        "initialize",
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
    ),
    "2026-07-28": ("tools/list", {"_meta": META}),
}


def first_answer(command: list[str], method: str, params: dict[str, Any]) -> tuple[float, float]:
    """Seconds by the clock until the first answer, and of CPU until the end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin
        assert server.stdout
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        took = time.perf_counter() - started
        server.stdin.close()
    assert "result" in answer, answer
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--runs", type=int, default=15)
    asked.add_argument("--pages", type=int, default=1000)
    options = asked.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a program that is installed has its bytecode
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        memory = Memory(home)
        for number in range(options.pages):
            page = home / f"memory/p{number}.md"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(f"# Page {number}\n\nTea number {number}.\n", encoding="utf-8")
        memory.search("tea")
        memory.close()
        commands = {
            "empty": [sys.executable, "-c", EMPTY],
            "commonplace": [sys.executable, "-m", "commonplace", "--home", str(home), "mcp"],
        }
        for era, (method, params) in FIRST.items():
            compare(era, commands, method, params, options.runs)


def compare(era: str, commands: dict[str, list[str]], method: str, params: dict[str, Any], runs: int) -> None:
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            figures = first_answer(command, method, params)
            if turn:  # the first fills caches
                seen[name].append(figures)
    clock, cpu = ({name: statistics.median(run[i] for run in took) for name, took in seen.items()} for i in (0, 1))
    for label, figures in (("clock", clock), ("cpu", cpu)):
        said = "   ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in figures.items())
        print(f"{era:<11} {label:<6} {said}   ratio {figures['commonplace'] / figures['empty']:.2f}")


if __name__ == "__main__":
    main()
