"""What commands cost that clients run from hooks: CPU of the whole process, start of the interpreter included.

Run: ./dev hooks [--pages 10000] [--runs 15]. User and system time of children, by `getrusage`; the commands take turns,
so that a busy moment meets all of them. Bytecode is compiled, in a folder of its own, by a run that is not counted.
The last row is one call of `Memory.recall_for` in a process that has made others before.
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

from commonplace import Memory
from commonplace.index.base import ignore_progress
from commonplace.server.prompt_socket import PromptSocket


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=10_000)
    options.add_argument("--runs", type=int, default=15)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        home = place / "home"
        fill(home, given.pages)
        (place / "transcript.jsonl").write_text(transcript())
        commands = rows(home, place / "transcript.jsonl")
        python = [sys.executable, "-X", f"pycache_prefix={place / 'compiled'}"]
        others = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COMMONPLACE"))}
        took: dict[str, list[float]] = {name: [] for name in commands}
        for run in range(given.runs + 1):
            for name, (arguments, said) in commands.items():
                spent = cpu([*python, *arguments], said.replace("SESSION", f"s-{run}"), others, place)
                if run:
                    took[name].append(spent)
        command, said = commands["`commonplace hook prompt`"]
        took["`commonplace hook prompt`, through a watcher"] = run_through_socket(
            home, [*python, *command], said, others, place, given.runs
        )
        took["`Memory.recall_for`, warm"] = recall_warm(home, given.runs)
        print(f"{given.pages} pages, {given.runs} runs\n\n| CPU, ms | median | least |\n|---|---|---|")
        for name, every in took.items():
            print(f"| {name} | {statistics.median(every):.0f} | {min(every):.0f} |")


def rows(home: Path, transcript: Path) -> dict[str, tuple[list[str], str]]:
    """What is run, and what it is told on standard input."""
    ours = ["-m", "commonplace", "--home", str(home)]
    about = {"session_id": "SESSION", "transcript_path": str(transcript), "cwd": str(home)}
    event = json.dumps(about)
    prompt = json.dumps({**about, "prompt": "which harbour did parcel 4711 go to?"})
    long_prompt = json.dumps({**about, "prompt": "Why does this fail? " + "parcel 12 at the harbour\n" * 4000})
    return {
        "`python -I -c pass`": (["-I", "-c", "pass"], ""),
        "`python -I -c 'import click'`": (["-I", "-c", "import click"], ""),
        "`commonplace context`": ([*ours, "context"], ""),
        "`commonplace search --keyword`": ([*ours, "search", "--keyword", "which harbour did parcel 4711 go to?"], ""),
        "`commonplace hook session-start`": ([*ours, "hook", "session-start", "--client", "claude-code"], event),
        "`commonplace hook prompt`": ([*ours, "hook", "prompt", "--client", "claude-code"], prompt),
        "`commonplace hook prompt`, 100 KB": ([*ours, "hook", "prompt", "--client", "claude-code"], long_prompt),
        "`commonplace hook session-end`, 1 MB": ([*ours, "hook", "session-end", "--client", "claude-code"], event),
        "`commonplace search`, by meaning too": ([*ours, "search", "which harbour did parcel 4711 go to?"], ""),
    }


def run_through_socket(
    home: Path, command: list[str], said: str, environment: dict[str, str], place: Path, runs: int
) -> list[float]:
    """CPU of a command that asks this process, as it would ask a watcher; what this process spends is not counted."""
    with Memory(home) as memory:
        prompts = PromptSocket(memory.home)
        prompts.start()
        memory.recall_for("which harbour did parcel 1 go to?")
        took = [cpu(command, said.replace("SESSION", f"w-{run}"), environment, place) for run in range(runs + 1)]
        prompts.close()
    return took[1:]


def recall_warm(home: Path, runs: int) -> list[float]:
    """CPU of recalls in this process, each for another prompt, in milliseconds."""
    took = []
    with Memory(home) as memory:
        for run in range(runs + 1):
            memory.home.index.invalidate()  # as after a while: the pages are looked at again
            before = time.process_time()
            memory.recall_for(f"which harbour did parcel {4711 + run} go to?")
            if run:
                took.append(1000 * (time.process_time() - before))
    return took


def cpu(command: list[str], said: str, environment: dict[str, str], folder: Path) -> float:
    """User and system time of a command, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=said.encode(), stdout=subprocess.DEVNULL, env=environment, cwd=folder, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def fill(home: Path, pages: int) -> None:
    """A memory that is in use: pages, records, skills, notes, curated memory, a handoff; and its index, up to date."""
    for number in range(pages):
        page = home / f"memory/t{number % 100}/p{number}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"# Page {number}\n\nParcel {number} went to harbour {number % 7}.\n")
    with Memory(home) as memory:

        def keep(tool: str, arguments: dict[str, str], toolset: str) -> None:
            outcome = memory.attempt(tool, arguments, toolset)
            if outcome.error:
                raise outcome.error

        for number in range(20):
            value = {"op": "setGlobal", "key": f"habit-{number}", "value": f"Ann does {number} before breakfast."}
            keep("MemoryTool", {**value, "category": "preferences"}, "registry")
        for number in range(10):
            keep("write_memory", {"key": f"task-{number}", "content": f"Step {number} is done."}, "working")
        for number in range(5):
            skill = {"op": "createSkill", "name": f"skill-{number}", "description": "Knots", "instructions": "Tie it."}
            keep("MemoryTool", skill, "registry")
        keep("reflect", {"content": "\n".join(f"Ann knows {number}." for number in range(100))}, "journal")
        keep("write_session_handoff", {"content": "The release waits for the last test."}, "working")
        memory.home.build_index(ignore_progress)


def transcript() -> str:
    """About a megabyte, most of it what tools answered, as in a real session."""
    lines: list[object] = []
    for number in range(250):
        lines.append({"type": "user", "message": {"role": "user", "content": f"Question {number}: what now?"}})
        lines.append({"type": "user", "message": {"content": [{"type": "tool_result", "content": "x" * 3500}]}})
        answer = [{"type": "text", "text": f"Answer {number}, in a few words."}]
        lines.append({"type": "assistant", "message": {"role": "assistant", "content": answer}})
    return "".join(json.dumps(line) + "\n" for line in lines)


if __name__ == "__main__":
    main()
