"""The calls that are interrupted: every tool that writes, and those that read what was written. A scene for each toolset.

A step has a proof: what a tool answers once the step was done. Each step writes a word of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

Arguments = dict[str, Any]


class Proof(NamedTuple):
    """A call whose answer holds a text, or does not hold it, once the step is done."""

    tool: str
    arguments: Arguments
    text: str
    holds: bool = True


class Step(NamedTuple):
    tool: str
    arguments: Arguments
    proof: Proof | None = None  # None: it only reads


class Scene(NamedTuple):
    name: str
    before: tuple[Step, ...]  # what the home holds when the scene begins
    steps: tuple[Step, ...]
    pages: tuple[tuple[str, str], ...] = ()  # written by hand before that
    settings: str = "memorySearch:\n  provider: none\n"

    def write_pages(self, home: Path) -> None:
        settings = (("commonplace.yaml", self.settings),) if self.settings else ()
        for path, text in (*settings, *self.pages):
            page = home / path
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text)


def reads(tool: str, **arguments: Any) -> Step:
    return Step(tool, arguments)


def op(name: str, /, **arguments: Any) -> Arguments:
    return {"op": name, **arguments}


def registry(name: str, shows: tuple[Arguments, str] | None = None, gone: bool = False, /, **arguments: Any) -> Step:
    proof = Proof("MemoryTool", shows[0], shows[1], not gone) if shows else None
    return Step("MemoryTool", op(name, **arguments), proof)


def note(tool: str, key: str, content: str, **more: Any) -> Step:
    return Step(tool, {"key": key, "content": content, **more}, Proof("memory_read", {"key": key}, content))


def working(key: str, content: str, mode: str = "replace") -> Step:
    proof = Proof("search_memory", {"query": key}, content)
    return Step("write_memory", {"key": key, "content": content, "mode": mode}, proof)


def scratch(mode: str, content: str = "") -> Step:
    proof = Proof("scratch_note", {"mode": "read"}, content or '"empty": true')
    return Step("scratch_note", {"mode": mode, "content": content}, proof)


def make_remember_step(content: str) -> Step:
    return Step("remember", {"content": content}, Proof("recall", {}, content))


SKILL = op("getSkill", name="brewing")
SCENES = (
    Scene(
        "empty home",
        (),
        (make_remember_step("abalone at first"), reads("memory_search", query="abalone")),
        settings="",
    ),
    Scene(
        "notes",
        (note("memory_write", "tea", "quagga"), note("memory_write", "rules", "dodo", target="summary")),
        (
            note("memory_write", "coffee", "axolotl in the morning", tags=["drink"]),
            note("memory_write", "style", "bandicoot sentences", target="summary"),
            note("memory_update", "tea", "capybara in the evening", tags=["drink", "late"]),
            note("memory_update", "rules", "dugong before breakfast"),
            reads("memory_read", key="rules"),
            reads("notes_memory_search", query="o", limit=50),
            reads("memory_search", query="capybara evening"),
        ),
    ),
    Scene(
        "working",
        (working("plan", "quagga"), working("My List!", "dodo"), scratch("replace", "moa")),
        (
            working("fresh", "axolotl line"),
            working("plan", "bandicoot line", "append"),
            working("My List!", "capybara line"),
            Step(
                "write_session_handoff",
                {"content": "dugong is open"},
                Proof("memory_get", {"path": "agents/main/memory/working/HANDOFF.md"}, "dugong is open"),
            ),
            scratch("append", "echidna half"),
            reads("search_memory", query="line"),
            scratch("clear"),
            reads("memory_search", query="bandicoot"),
        ),
    ),
    Scene(
        "journal",
        (make_remember_step("quagga"), Step("update_world", {"topic": "people", "content": "dodo"})),
        (
            make_remember_step("axolotl seen\n\n```\n## 09:00\n```"),
            Step("reflect", {"content": "# Mine\n\nbandicoot matters\n"}, Proof("recall", {}, "bandicoot matters")),
            Step("update_world", {"topic": "people", "content": "capybara Ann"}, Proof("recall", {}, "capybara Ann")),
            Step("update_world", {"topic": "Tools!", "content": "dugong v2"}, Proof("recall", {}, "dugong v2")),
            make_remember_step("echidna seen"),
            reads("recall", days=2),
            reads("memory_search", query="echidna bandicoot"),
        ),
    ),
    Scene(
        "globals",
        (
            registry("setGlobal", key="city", value="quagga"),
            registry("setGlobal", key="team", value="dodo", tags=["x"]),
            registry("setGlobal", key="gone", value="moa"),
        ),
        (
            registry("setGlobal", (op("getGlobal", key="pet"), "axolotl"), key="pet", value="axolotl pond"),
            registry("setGlobal", (op("getGlobal", key="city"), "bandicoot"), key="city", value="bandicoot bay"),
            registry(
                "setGlobal",
                (op("getGlobal", key="team"), '"category": "Work Life"'),
                key="team",
                value="capybara crew",
                category="Work Life",
            ),
            registry("setGlobal", (op("getGlobal", key="A b"), "dugong"), key="A b", value={"deep": ["dugong", 1]}),
            registry("deleteGlobal", (op("listGlobal"), "moa"), True, key="gone"),
            reads("MemoryTool", **op("listGlobal")),
            reads("MemoryTool", **op("searchGlobal", query="crew")),
            reads("memory_search", query="capybara crew"),
        ),
    ),
    Scene(
        "channels",
        tuple(
            registry("setChannel", channelName=channel, key=key, value=f"quagga {key}")
            for channel, key in (("dev", "a"), ("dev", "b"), ("old", "a"), ("old", "b"), ("old", "c"))
        ),
        (
            registry(
                "setChannel",
                (op("getChannel", channelName="New One", key="k"), "axolotl"),
                channelName="New One",
                key="k",
                value="axolotl",
                category="plans",
            ),
            registry(
                "setChannel",
                (op("getChannel", channelName="dev", key="a"), "bandicoot"),
                channelName="dev",
                key="a",
                value="bandicoot",
                tags="x, y",
            ),
            registry(
                "deleteChannel", (op("listChannelKeys", channelName="dev"), '"b"'), True, channelName="dev", key="b"
            ),
            registry("purgeChannel", (op("listChannels"), '"old"'), True, channelName="old"),
            reads("MemoryTool", **op("listChannels")),
            reads("MemoryTool", **op("getChannelByCategory", channelName="New One", category="plans")),
            reads("MemoryTool", **op("search", query="quagga axolotl")),
        ),
    ),
    Scene(
        "skills",
        (
            registry("createSkill", name="brewing", description="quagga", initialStructure={"pots": {"one": 1}}),
            registry("createSkill", name="gone", description="dodo", initialStructure={"a": "moa"}),
        ),
        (
            registry(
                "createSkill",
                (op("getSkill", name="My Skill"), "axolotl"),
                name="My Skill",
                description="axolotl care",
                initialStructure={"ponds": ["axolotl"]},
                instructions="feed it",
            ),
            registry(
                "updateSkill",
                (SKILL, "bandicoot"),
                name="brewing",
                newData={"pots": {"two": "bandicoot"}},
                trainingIncrement=True,
            ),
            registry("updateSkill", (SKILL, "capybara"), name="brewing", newData={"instructions": "capybara first"}),
            registry("createSkill", (SKILL, "dugong"), name="brewing", description="dugong brewing"),
            registry("deleteSkill", (op("listSkills"), "dodo"), True, name="gone"),
            reads("MemoryTool", **op("listSkills")),
            reads("MemoryTool", **op("search", query="bandicoot")),
            reads("memory_search", query="axolotl care"),
        ),
    ),
    Scene(
        "search",
        (),
        (
            reads("memory_search", query="where is the quagga kept?"),
            make_remember_step("axolotl moved in"),
            reads("memory_search", query="axolotl moved"),
            reads("memory_get", path="memory/zoo.md", **{"from": 1, "lines": 3}),
            Step(
                "update_world", {"topic": "zoo", "content": "bandicoot arrived"}, Proof("recall", {}, "bandicoot arr")
            ),
            reads("memory_search", query="bandicoot"),
        ),
        pages=(
            ("memory/zoo.md", "# Zoo\n\nThe quagga is kept in the north house.\n\n## Food\n\nHay and apples.\n"),
            ("MEMORY.md", "The dodo is gone.\n"),
            ("agents/main/memory/daily/2026-03-14.md", "# 2026-03-14\n\n## 08:00\n\nThe moa was counted.\n\n"),
        ),
        settings="",
    ),
)
READS = (
    reads("recall", days=5),
    reads("notes_memory_search", query="", limit=100),
    reads("search_memory", query="a", limit=50),
    reads("scratch_note", mode="read"),
    reads("MemoryTool", **op("listGlobal")),
    reads("MemoryTool", **op("listChannels")),
    reads("MemoryTool", **op("listChannelKeys", channelName="dev")),
    reads("MemoryTool", **op("listSkills")),
    reads("MemoryTool", **op("search", query="quagga axolotl bandicoot capybara dugong")),
    reads("memory_search", query="quagga axolotl bandicoot capybara dugong echidna", maxResults=100),
)
