"""What the processes of a soak say they wrote, and whether it is there: by a new process's tools, and in the files."""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from commonplace import Memory

MAIN = "agents/main/memory"
ADDED = frozenset({"remember", "append", "skill", "line"})  # what is added to a page; the others replace what they said
SAMPLE = 60  # writes that are searched for at the end


class Write(NamedTuple):
    """What a process is about to write. `word` is in it and nowhere else; empty: what was there shall be gone."""

    kind: str
    place: str
    word: str


class Ledger:
    """What was begun and what was acknowledged, in the order of each process."""

    def __init__(self) -> None:
        self.begun: list[Write] = []
        self.acknowledged: list[Write] = []
        self.said: dict[tuple[str, str], list[tuple[str, bool]]] = {}  # of places that are replaced: what, and whether
        self.refused: Counter[str] = Counter()
        self.unfound: list[str] = []
        self.ended: list[str] = []  # processes that ended without being killed

    def hear(self, line: bytes) -> None:
        what, *rest = json.loads(line)
        if what == "refused":
            self.refused[rest[0]] += 1
        elif what == "unfound":
            self.unfound += rest
        else:
            self._note(what == "done", Write(*rest))

    def _note(self, done: bool, write: Write) -> None:  # noqa: FBT001
        (self.acknowledged if done else self.begun).append(write)
        if write.kind not in ADDED:
            said = self.said.setdefault((write.kind, write.place), [])
            if done:
                said.pop()
            said.append((write.word, done))

    def allowed(self, kind: str, place: str) -> set[str]:
        """What may stand in a place: what was acknowledged last, or what was begun since; anything, if nothing was."""
        said = self.said[kind, place]
        last = max((number for number, (_, done) in enumerate(said) if done), default=-1)
        return {word for word, _ in said[max(last, 0) :]} | ({""} if last < 0 else set())


def page(word: str) -> str:
    """A page of many lines that all say whose it is: a mixture of two would show."""
    return "".join(f"{word} line {number}\n" for number in range(12))


def category(word: str) -> str:
    return f"category-{word[-1]}"


class Found(NamedTuple):
    missing: list[str]
    torn: list[str]
    displaced: list[str]  # by a meeting with the editor: its lines only in history or left aside, or a tool's twice
    overwritten: list[str]  # tools' lines that the editor saved over: history has them


def check(home: str, ledger: Ledger) -> Found:
    """Ask the tools of a new process, and look into the files."""
    texts = {str(file.relative_to(home)): file.read_bytes().decode("utf-8", "replace") for file in _pages(Path(home))}
    words = {word for text in texts.values() for word in re.findall(r"\w+", text)}
    found = Found([], [], [], [])
    with Memory(home) as memory:
        _check_added(memory, ledger, texts, found)
        for kind, place in ledger.said:
            allowed = ledger.allowed(kind, place)
            standing = _standing(memory, texts, kind, place)
            if place != "shared" and standing not in allowed:
                found.missing.append(f"{kind} {place} says {standing!r}, not {sorted(allowed)[:3]}")
            elif standing and standing not in words:
                found.missing.append(f"{kind} {place}: {standing} is in no page")
        found.missing.extend(_unfound(memory, ledger))
    found.missing.extend(f"{word} was not found right after it was written" for word in ledger.unfound)
    found.missing.extend(f"{name} ended by itself" for name in ledger.ended)
    found.torn.extend(_torn(texts, ledger))
    return found


def _pages(home: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(home):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(folder, name) for name in files if not name.startswith("."))


def _check_added(memory: Memory, ledger: Ledger, texts: dict[str, str], found: Found) -> None:
    days = "".join(text for path, text in texts.items() if path.startswith(f"{MAIN}/daily/"))
    whole = Counter(re.findall(r"^entry (\w+) start\nmiddle\nend \1\n", days, re.MULTILINE))
    notes = {path: Counter(text.split("\n")) for path, text in texts.items() if "/working/together" in path}
    skill = memory.call("MemoryTool", {"op": "getSkill", "name": "s"})
    for write in ledger.acknowledged:
        if write.kind == "remember" and whole[write.word] != 1:
            found.missing.append(f"remember {write.word} is there {whole[write.word]} times")
        if write.kind == "skill" and write.word not in skill["skill_data"]:
            found.missing.append(f"the skill lacks {write.word}")
        path = f"{MAIN}/working/{write.place}.md"
        if write.kind == "append" and notes.get(path, Counter())[f"line {write.word}"] > 1:
            found.displaced.append(f"{path}: line {write.word} is there twice")
        if write.kind == "append" and f"line {write.word}" not in notes.get(path, Counter()):
            by_hand = _left_out_by_hand(memory, path, f"line {write.word}")
            (found.overwritten if by_hand else found.missing).append(f"{path}: line {write.word}")
        if write.kind == "line" and f"hand {write.word}" not in notes.get(path, Counter()):
            kept = _is_kept(memory, path, f"hand {write.word}")
            (found.displaced if kept else found.missing).append(f"{path}: hand {write.word}")
    trained = sum(write.kind == "skill" for write in ledger.acknowledged)
    if skill["training_progress"] < trained:
        found.missing.append(f"the skill was trained {trained} times and says {skill['training_progress']}")


def _left_out_by_hand(memory: Memory, path: str, line: str) -> bool:
    """Whether a tool's line is gone because the editor saved over it: history has it, and says who left it out."""
    versions = memory.home.storage.history.versions(path)
    held = [line.encode() in (data or b"").split(b"\n") for _, data in versions]
    after = [change for (change, _), had, has in zip(versions[1:], held, held[1:], strict=False) if had and not has]
    return bool(after) and all(not change.tool for change in after)


def _is_kept(memory: Memory, path: str, line: str) -> bool:
    """Whether a line of the editor is in history, or in a file that a killed process had put aside."""
    aside = (file.read_bytes() for file in Path(memory.home.root, path).parent.glob(".*.tmp"))
    versions = (data or b"" for _, data in memory.home.storage.history.versions(path))
    return any(line.encode() in data.split(b"\n") for data in (*aside, *versions))


def _standing(memory: Memory, texts: dict[str, str], kind: str, place: str) -> str | None:
    """The word that is in a place now; empty when nothing does; None for a page that is no whole one."""
    if kind == "note":
        return str(memory.call("memory_read", {"key": place}).get("data", {}).get("content", ""))
    if kind in ("global", "channel"):
        asked = {"op": "getGlobal"} if kind == "global" else {"op": "getChannel", "channelName": f"c{place[-1]}"}
        reply = memory.call("MemoryTool", {**asked, "key": place})
        right = kind == "channel" or "value" not in reply or reply["category"] == category(reply["value"])
        return reply.get("value", "") if right else None
    paths = {"reflect": f"agents/{place}/memory/MEMORY.md", "world": f"memory/world/{place}.md"}
    text = texts.get(paths.get(kind, f"memory/hand/{place}"), "")
    word = text.partition(" ")[0]
    return word if text == (page(word) if word else "") else None


def _unfound(memory: Memory, ledger: Ledger) -> Iterator[str]:
    """Some of what was written, by search: there, once, and without a doubt about the index."""
    remembered = [write.word for write in ledger.acknowledged if write.kind == "remember"]
    for word in random.Random(0).sample(remembered, min(SAMPLE, len(remembered))):
        reply = memory.call("memory_search", {"query": word})
        hits = [hit for hit in reply.get("results", []) if f"entry {word} start" in hit["text"]]
        if len(hits) != 1 or {"stale", "warning", "error"} & {*reply}:
            yield f"search for {word} answers {reply}"[:300]


def _torn(texts: dict[str, str], ledger: Ledger) -> Iterator[str]:
    begun = {write.word for write in ledger.begun}
    for path, text in texts.items():
        if "\0" in text or "\ufffd" in text or not text.strip():
            yield f"{path} holds what nobody wrote"
        if ".tmp" in path:
            yield f"{path} is no page"
        if path.startswith(f"{MAIN}/daily/"):
            started = len(re.findall(r"^entry \w+ start$", text, re.MULTILINE))
            if started != len(re.findall(r"^entry (\w+) start\nmiddle\nend \1$", text, re.MULTILINE)):
                yield f"{path} holds a part of an entry"
        if path == "memory/world/shared.md" and (text.split(" ")[0] not in begun or text != page(text.split(" ")[0])):
            yield f"{path} mixes what two wrote"
        if path.endswith("data.json") and not _is_json(text):
            yield f"{path} is not JSON"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
