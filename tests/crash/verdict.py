"""What must hold after a case: every page old or new, nothing acknowledged missing, refusals in form, and all healed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from commonplace import Memory
from commonplace.storage.history import version_of

from .cases import OPENING, Case, Contents, Outcome, Reply, contents, copy, is_success, open_memory, play, prepare
from .scenes import READS, Proof, Scene, Step

_DIRECTIVE = "directives/memory.md"  # written on opening, and not reported


class State(NamedTuple):
    """A home that nothing went wrong in: its pages, what its steps answered, and what their proofs show."""

    pages: Contents
    replies: dict[int, Reply]
    proofs: dict[int, bool]


class Problem(NamedTuple):
    kind: str  # missing, torn or other
    sentence: str


class Verdict(NamedTuple):
    checked: int  # acknowledged calls
    problems: tuple[Problem, ...]


class Judge:
    """Knows how a scene should have ended, whichever of its steps were done."""

    def __init__(self, scene: Scene, folder: Path) -> None:
        self.scene, self.folder, self.home = scene, folder, folder / "prepared"
        prepare(scene, self.home)
        self._states: dict[tuple[int, ...], State] = {}
        self._read: dict[str, list[Reply]] = {}

    def run_steps(self, steps: Iterable[int]) -> State:
        """The scene with only some of its steps, without a fault."""
        selection = tuple(sorted(steps))
        if selection not in self._states:
            with self._scratch() as home:
                with open_memory(copy(self.home, home), OPENING) as memory:
                    replies = {number: play(memory, number, self.scene.steps[number]) for number in selection}
                pages = contents(home)
                with open_memory(home, len(self.scene.steps)) as memory:
                    self._states[selection] = State(pages, replies, self._proofs(memory, range(len(self.scene.steps))))
        return self._states[selection]

    def judge(self, case: Case, outcome: Outcome, home: Path) -> Verdict:
        """Look at a home that a fault has left behind, then let a new process use it."""
        problems: list[Problem] = []
        if outcome.ended in ("raised", "hung"):
            problems.append(Problem("other", f"the process {outcome.ended}: {outcome.problem}"))
        problems += self._refusals(outcome)
        possible = self._possible(outcome)
        pages = contents(home)
        problems += self._torn(pages, possible, outcome)
        problems += self._dishonest(pages, possible, outcome)
        acknowledged = [number for number, reply in sorted(outcome.replies.items()) if is_success(reply)]
        with open_memory(home, len(self.scene.steps)) as memory:
            problems += self._missing(memory, acknowledged, possible)
            problems += self._forgotten(memory, pages, outcome, acknowledged)
            problems += self._find_unhealed(memory, pages)
        return Verdict(sum(self.scene.steps[n].proof is not None for n in acknowledged), tuple(problems))

    def _possible(self, outcome: Outcome) -> list[State]:
        """How the scene may have ended: without the steps that were not acknowledged, or with one of them."""
        done = {number for number, reply in outcome.replies.items() if is_success(reply)}
        doubtful = {*range(outcome.step + 1)} - done
        return [self.run_steps(done), *(self.run_steps(done | {number}) for number in sorted(doubtful))]

    def _refusals(self, outcome: Outcome) -> Iterator[Problem]:
        for number, reply in outcome.replies.items():
            step = self.scene.steps[number]
            if not is_success(reply) and not in_form(step, reply):
                yield Problem("other", f"{step.tool} answered in no form of its toolset: {reply}")

    def _torn(self, pages: Contents, possible: list[State], outcome: Outcome) -> Iterator[Problem]:
        warned = " ".join(str(reply.get("warning", "")) for reply in outcome.replies.values())
        paths = {path for state in possible for path in state.pages} | {*pages}
        for path in sorted(paths):
            allowed = {state.pages.get(path) for state in possible}
            if path == _DIRECTIVE:
                allowed.add(None)
            if path in warned:  # the reply warns of a log that could not be written
                allowed |= self._without_one(path, outcome)
            if pages.get(path) not in allowed:
                yield Problem("torn", f"{path} is neither old nor new: {pages.get(path)!r}")

    def _without_one(self, path: str, outcome: Outcome) -> set[bytes | None]:
        done = {number for number, reply in outcome.replies.items() if is_success(reply)}
        warned = {number for number in done if path in str(outcome.replies[number].get("warning", ""))}
        return {self.run_steps(done - {number}).pages.get(path) for number in warned}

    def _dishonest(self, pages: Contents, possible: list[State], outcome: Outcome) -> Iterator[Problem]:
        """What a reading step answered is what stood there, or the answer says that something may be missing."""
        same = [state for state in possible if state.pages == pages and {*outcome.replies} <= {*state.replies}]
        for number, reply in outcome.replies.items():
            step = self.scene.steps[number]
            if step.proof or not same or not is_success(reply) or {"warning", "conflict", "stale"} & {*reply}:
                continue
            if all(_comparable(reply) != _comparable(state.replies[number]) for state in same):
                yield Problem("other", f"{step.tool} did not say that it missed something: {reply}")

    def _missing(self, memory: Memory, acknowledged: list[int], possible: list[State]) -> Iterator[Problem]:
        proofs = self._proofs(memory, acknowledged)
        for number, holds in proofs.items():
            if holds not in {state.proofs[number] for state in possible}:
                yield Problem("missing", f"step {number} was acknowledged: {self.scene.steps[number]}")

    def _forgotten(self, memory: Memory, pages: Contents, outcome: Outcome, done: list[int]) -> Iterator[Problem]:
        """Every version that was acknowledged is in history, unless an answer said that it was not kept."""
        if ".history" in str(outcome.replies) or self.run_steps(done).pages != pages:
            return
        known = {path: {change.version for change, _ in memory.home.storage.history.versions(path)} for path in pages}
        standing = self.run_steps(()).pages
        for upto in range(1, len(done) + 1):
            for path, data in self.run_steps(done[:upto]).pages.items():
                if path in known and data != standing.get(path) and version_of(data) not in known[path]:
                    yield Problem("missing", f"history does not hold {path} as it was after step {done[upto - 1]}")

    def _find_unhealed(self, memory: Memory, pages: Contents) -> Iterator[Problem]:
        """A new process answers as if nothing had happened, nothing twice, and writes at once."""
        for step, clean in zip(READS, self._clean(pages), strict=True):
            answer = _comparable(memory.call(step.tool, step.arguments))
            if answer != clean:
                yield Problem("other", f"{step.tool} answers {answer}, and in a home without leftovers {clean}")
        yield from _twice(memory)
        reply = memory.call("memory_write", {"key": "after", "content": "platypus"})
        result = memory.call("memory_search", {"query": "platypus"})
        hits = [hit for hit in result.get("results", []) if "platypus" in hit["text"]]
        if not reply.get("success") or "warning" in reply or len(hits) != 1 or {"stale", "warning"} & {*result}:
            yield Problem("other", f"a new process could not go on at once: {reply}, {result}")

    def _clean(self, pages: Contents) -> list[Reply]:
        """What the same pages say in a home where nobody died."""
        digest = hashlib.sha256(repr(sorted(pages.items())).encode()).hexdigest()
        if digest not in self._read:
            with self._scratch() as home:
                for path, data in pages.items():
                    (home / path).parent.mkdir(parents=True, exist_ok=True)
                    (home / path).write_bytes(data)
                with open_memory(home, len(self.scene.steps)) as memory:
                    self._read[digest] = [_comparable(memory.call(step.tool, step.arguments)) for step in READS]
        return self._read[digest]

    def _proofs(self, memory: Memory, numbers: Iterable[int]) -> dict[int, bool]:
        proofs = {number: proof for number in numbers if (proof := self.scene.steps[number].proof)}
        return {number: _holds(memory, proof) for number, proof in proofs.items()}

    def _scratch(self) -> _Scratch:
        return _Scratch(self.folder / "scratch")


class _Scratch(NamedTuple):
    """A home for a moment."""

    home: Path

    def __enter__(self) -> Path:
        shutil.rmtree(self.home, ignore_errors=True)
        return self.home

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.home, ignore_errors=True)


def in_form(step: Step, reply: Reply) -> bool:
    """Whether a refusal reads as the contract of its toolset says."""
    error = reply.get("error")
    if step.tool in ("write_memory", "write_session_handoff", "scratch_note", "search_memory"):
        return reply.get("status") == "error" and _sentence(error)
    if step.tool in ("memory_write", "memory_update", "memory_read", "notes_memory_search"):
        answer = error if isinstance(error, dict) else {}
        return reply.get("success") is False and bool(answer.get("code")) and _sentence(answer.get("message"))
    if step.tool == "memory_search":
        return reply.get("results") == [] and _sentence(error)
    if step.tool == "memory_get":
        return reply.get("text") == "" and "path" in reply and _sentence(error)
    return reply.get("success") is False and _sentence(error)


def _sentence(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip()) and "Traceback" not in text


def _holds(memory: Memory, proof: Proof) -> bool:
    reply = memory.call(proof.tool, proof.arguments)
    return (proof.text in json.dumps(reply, ensure_ascii=False)) is proof.holds


def _twice(memory: Memory) -> Iterator[Problem]:
    """What is listed more than once, or should not be listed at all."""
    listed = {
        "globals": [row["key"] for row in memory.call("MemoryTool", {"op": "listGlobal"})["results"]],
        "channels": memory.call("MemoryTool", {"op": "listChannels"})["channels"],
        "skills": [row["name"] for row in memory.call("MemoryTool", {"op": "listSkills"})["skills"]],
        "pages": [path for path, _ in memory.home.visibility.list_pages()],
    }
    for name, result in listed.items():
        if len({*result}) != len(result) or any(".tmp" in each for each in result):
            yield Problem("other", f"{name} are listed twice, or are no {name}: {result}")


def _comparable(reply: Reply) -> Reply:
    """A reply without what may differ between two homes that say the same: scores, authors, and the order among equals.

    History may have missed a write, and then does not know its author.
    """
    if "citation" not in json.dumps(reply):
        return reply
    rows = ({name: value for name, value in row.items() if name not in ("score", "author")} for row in reply["results"])
    return {**reply, "results": sorted(rows, key=lambda row: row["citation"])}
