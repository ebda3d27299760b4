"""Forgetting: said first, then gone from every file of the home."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.errors import InvalidArgument
from commonplace.formats import blocks
from commonplace.instructions import approve
from commonplace.maintenance.forget import Selection, find_traces, forget
from commonplace.storage.history import coming_from, parse_lines, replay
from commonplace.testing import FrozenClock

from .places import put

SECRET = "xylophone-quartz-7731"


def everything(home: Path) -> dict[str, bytes]:
    """Every file of a home as bytes; history also as what it stands for, name by name."""
    result = {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    for path in (home / ".history").glob("*.jsonl"):
        by_page: dict[str, list[object]] = {}
        lines = list(parse_lines(path.read_bytes()))
        for line in lines:
            by_page.setdefault(line.change.path, []).append(line)
        for name in by_page:
            versions = [data for _, data in replay(line for line in lines if line.change.path == name)]
            result[f".history of {name}"] = b"\n".join(data for data in versions if data)
    return result


def holding(home: Path, *needles: str) -> list[str]:
    every = everything(home)
    return [path for path, data in every.items() for needle in needles if needle.encode() in data or needle in path]


@pytest.fixture
def full(memory: Memory, home: Path) -> Memory:
    """A secret that went through every toolset, was changed, moved and searched for."""
    call = memory.call
    call("memory_write", {"key": "gate", "content": f"The gate opens with {SECRET}.", "tags": ["private"]})
    call("memory_write", {"key": "tea", "content": "Ann drinks green tea in the morning."})
    call("memory_update", {"key": "gate", "content": f"The gate still opens with {SECRET}.", "tags": ["private"]})
    call("write_memory", {"key": "gate", "content": f"Working on {SECRET} today."})
    call("write_memory", {"key": "gate", "content": f"and {SECRET} tomorrow", "mode": "append"})
    call("MemoryTool", {"op": "setGlobal", "key": "gate", "value": SECRET, "category": "codes"})
    call("MemoryTool", {"op": "setGlobal", "key": "gate", "value": SECRET, "category": "doors", "tags": ["private"]})
    call("MemoryTool", {"op": "setChannel", "channelName": "dev", "key": "gate", "value": {"code": SECRET}})
    call("MemoryTool", {"op": "createSkill", "name": "gate", "description": f"Says {SECRET}"})
    call("MemoryTool", {"op": "updateSkill", "name": "gate", "newData": {"code": SECRET}})
    sessions = home / "agents/main/sessions"
    sessions.mkdir(parents=True)
    (sessions / "s-1.jsonl").write_text(json.dumps({"role": "user", "content": f"it is {SECRET}"}) + "\n")
    memory.search(SECRET)
    return memory


def test_a_key_is_gone_from_every_file(full: Memory, home: Path) -> None:
    os.remove(home / "agents/main/sessions/s-1.jsonl")
    forget(full.home, Selection(key="gate"))
    full.close()
    assert holding(home, SECRET, "xylophone", "quartz") == []
    assert [path for path in holding(home, "gate") if "directives" not in path] == []
    after = Memory(home)
    assert after.call("memory_read", {"key": "tea"})["success"]
    assert after.search("green tea")[0].key == "tea"
    assert after.search(SECRET, min_score=0.5) == []
    assert after.call("memory_read", {"key": "gate"})["error"]["code"] == "MEMORY_KEY_NOT_FOUND"


def test_a_skill_goes_with_its_data_and_its_lines_go_alone(memory: Memory, home: Path) -> None:
    skill = {"name": "gate", "description": "opens it", "instructions": "Turn the key.\n\nWalk in."}
    memory.call("MemoryTool", {"op": "createSkill", **skill, "initialStructure": {"code": SECRET}})
    memory.call("MemoryTool", {"op": "createSkill", "name": "tea", "description": "d", "initialStructure": {"x": 1}})
    page = "skills/gate/SKILL.md"
    line = (home / page).read_text().split("\n").index("Walk in.") + 1
    forget(memory.home, Selection(page=f"{page}#L{line}"))
    assert memory.call("MemoryTool", {"op": "getSkill", "name": "gate"})["skill_data"] == {"code": SECRET}
    report = forget(memory.home, Selection(page=page))
    assert {trace.path for trace in report.traces if trace.kind == "page"} == {page, "skills/gate/data.json"}
    memory.close()
    assert holding(home, SECRET) == []
    assert (home / "skills" / "tea" / "data.json").exists()


def test_the_name_of_a_channel_is_gone_from_every_file(memory: Memory, home: Path) -> None:
    channel = "xylophone-quartz"
    memory.call("MemoryTool", {"op": "setChannel", "channelName": channel, "key": "tea", "value": "green"})
    memory.search("green tea")
    forget(memory.home, Selection(scope=f"channel:{channel}"))
    assert memory.search("green tea") == []
    memory.call("MemoryTool", {"op": "setChannel", "channelName": "other", "key": "tea", "value": "green"})
    assert [hit.scope.name for hit in memory.search("green tea", channel="other")] == ["other"]
    memory.close()
    assert holding(home, "xylophone", "quartz") == []


def test_nothing_goes_before_it_was_shown(full: Memory, home: Path) -> None:
    before = everything(home)
    report = find_traces(full.home, Selection(key="gate"))
    kinds = {trace.kind for trace in report.traces}
    assert kinds == {"page", "history", "index"}
    assert {trace.path for trace in report.traces if trace.kind == "page"} == {
        "agents/main/memory/activity/2026-03-14.md",
        "agents/main/memory/daily/2026-03-14.md",
        "agents/main/memory/working/gate.md",
        "memory/channels/dev/gate.md",
        "memory/global/doors/gate.md",
        "skills/gate/SKILL.md",
        "skills/gate/data.json",
    }
    assert "memory/global/codes/gate.md" in {trace.path for trace in report.traces if trace.kind == "history"}
    after = everything(home)
    assert {path: after[path] for path in after if not path.startswith(".index")} == {
        path: before[path] for path in before if not path.startswith(".index")
    }


def test_a_tag_takes_the_notes_and_records_that_have_it_or_had_it(full: Memory, home: Path) -> None:
    full.call("memory_update", {"key": "gate", "content": "Opened."})  # without the tag: the earlier ones had it
    forget(full.home, Selection(tag="private"))
    assert full.call("memory_read", {"key": "gate"})["data"]["content"] == "Opened."
    assert full.call("MemoryTool", {"op": "getGlobal", "key": "gate"})["success"] is False
    assert full.call("MemoryTool", {"op": "getChannel", "channelName": "dev", "key": "gate"})["success"]
    assert SECRET not in everything(home)[".history of agents/main/memory/daily/2026-03-14.md"].decode()
    assert not (home / "memory/global/doors").exists()


@pytest.mark.parametrize(
    ("selection", "gone", "remaining"),
    [
        (Selection(page="memory/channels"), "memory/channels/dev/gate.md", "memory/global/doors/gate.md"),
        (Selection(page="memory/**/gate.md"), "memory/global/doors/gate.md", "skills/gate/SKILL.md"),
        (Selection(scope="channel:dev"), "memory/channels/dev/gate.md", "memory/global/doors/gate.md"),
        (Selection(scope="global"), "memory/global/doors/gate.md", "memory/channels/dev/gate.md"),
        (Selection(scope="agent:main", key="gate"), "agents/main/memory/working/gate.md", "skills/gate/SKILL.md"),
        (Selection(session="s-1"), "agents/main/sessions/s-1.jsonl", "skills/gate/SKILL.md"),
        (Selection(source="session"), "agents/main/sessions/s-1.jsonl", "skills/gate/SKILL.md"),
    ],
)
def test_only_what_is_meant_goes(full: Memory, home: Path, selection: Selection, gone: str, remaining: str) -> None:
    forget(full.home, selection)
    assert not (home / gone).exists()
    assert (home / remaining).exists()
    assert gone not in full.home.storage.history.paths()
    assert remaining in full.home.storage.history.paths()


def test_what_says_the_same_elsewhere_is_named_and_stays(full: Memory, home: Path) -> None:
    full.call("update_world", {"topic": "doors", "content": f"The gate still opens with {SECRET}.\n"})
    report = forget(full.home, Selection(key="gate"))
    assert [trace.path for trace in report.mentions] == ["memory/world/doors.md"]
    assert SECRET in (home / "memory/world/doors.md").read_text()


def test_another_agents_own_pages_are_only_reached_for_everyone(full: Memory, home: Path, clock: FrozenClock) -> None:
    Memory(home, "other", clock=clock).call("write_memory", {"key": "gate", "content": "of another"})
    page = home / "agents/other/memory/working/gate.md"
    forget(full.home, Selection(key="gate"))
    assert page.exists()
    forget(full.home, Selection(key="gate"), everyone=True)
    assert not page.exists()


def test_a_file_that_a_killed_process_left_is_found(full: Memory, home: Path) -> None:
    left = home / "agents/main/memory/working" / ".gate.md.0123456789ab.tmp"
    left.write_text(f"half of {SECRET}")
    forget(full.home, Selection(key="gate"))
    assert not left.exists()
    versions = [data for _, some in full.home.storage.history.iterate_pages() for _, data in some]
    assert not any(SECRET.encode() in (data or b"") for data in versions)


def test_the_mark_of_a_session_goes_from_history(home: Path, clock: FrozenClock) -> None:
    memory = Memory(home, clock=clock, session="s-7")
    memory.call("remember", {"content": "kept"})
    forget(memory.home, Selection(session="s-7"))
    assert {change.session for change in memory.home.storage.history.changes()} == {""}
    assert "kept" in memory.call("recall")["content"]


def test_a_handle_in_another_process_does_not_bring_it_back(full: Memory, home: Path) -> None:
    program = f"""
import sys
from commonplace import Memory
memory = Memory({str(home)!r})
memory.search("gate")
print("ready", flush=True)
sys.stdin.readline()
memory.search("gate")
memory.call("remember", {{"content": "something else"}})
"""
    other = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout
    assert other.stdout.readline() == "ready\n"
    os.remove(home / "agents/main/sessions/s-1.jsonl")
    forget(full.home, Selection(key="gate"))
    other.communicate("go\n")
    assert other.returncode == 0
    full.close()
    assert holding(home, SECRET) == []


def test_a_killed_forget_is_finished_by_the_next(full: Memory, home: Path) -> None:
    os.remove(home / "agents/main/sessions/s-1.jsonl")
    pid = os.fork()
    if not pid:
        full.home.storage.history.rewrite = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign,assignment]
        forget(full.home, Selection(key="gate"))
    os.waitpid(pid, 0)
    assert holding(home, SECRET) != []
    memory = Memory(home)
    forget(memory.home, Selection(key="gate"))
    memory.close()
    assert holding(home, SECRET) == []


def test_nothing_named_and_wrong_names_are_reported(memory: Memory) -> None:
    with pytest.raises(InvalidArgument, match="say what to forget"):
        find_traces(memory.home, Selection())
    with pytest.raises(InvalidArgument, match="source is one of"):
        find_traces(memory.home, Selection(source="elsewhere"))
    assert find_traces(memory.home, Selection(key="nothing")).traces == ()


def test_a_session_is_forgotten_by_its_id(home: Path, clock: FrozenClock) -> None:
    from commonplace.storage.names import file_name

    page = home / f"agents/main/sessions/{file_name('Chat 1')}.jsonl"
    page.parent.mkdir(parents=True)
    page.write_text(json.dumps({"role": "user", "content": "tea"}) + "\n")
    forget(Memory(home, clock=clock).home, Selection(session="Chat 1"))
    assert not page.exists()


def test_of_a_long_day_one_note_goes_from_every_version_and_all_others_stay(memory: Memory, home: Path) -> None:
    names = [f"note-{number}" for number in range(60)]
    for name in names:
        memory.call("memory_write", {"key": name, "content": f"What {name} says.\n\n### not a key\n\nand more"})
    [day] = (home / "agents/main/memory/daily").iterdir()
    path = day.relative_to(home).as_posix()
    before = day.read_text()
    report = forget(memory.home, Selection(key="note-7"))
    assert ("history", path, "53 earlier versions") in report.traces
    [block] = blocks.find(before, "note-7")
    assert day.read_text() == blocks.remove(before, block)
    versions = [data.decode() for _, data in memory.home.storage.history.versions(path) if data]
    remaining = [name for name in names if name != "note-7"]
    assert [[block.key for block in blocks.parse(text)] for text in versions] == [
        remaining[: count + 1] for count in range(59)
    ]
    assert holding(home, "What note-7 says") == []


def test_a_line_that_stays_on_its_own_page_is_not_looked_for_elsewhere(memory: Memory, home: Path) -> None:
    memory.call("memory_write", {"key": "stays", "content": "  The same line stands in both.\nand so on"})
    memory.call("memory_write", {"key": "goes", "content": "The same line stands in both.\nOnly this one goes away."})
    (home / "memory").mkdir()
    (home / "memory/other.md").write_text("The same line stands in both.\n\nOnly this one goes away.\n")
    report = find_traces(memory.home, Selection(key="goes"))
    assert [mention.what for mention in report.mentions if mention.path == "memory/other.md"] == [
        "says 1 of the same lines"
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("{}~", ".{}.swp", "#{}#", "{}.bak", "{}.orig", ".{}.un~", ".#{}", ".{}.kate-swp", "{}.old", "{}.rej"),
        *("{}.tmp", "{}.1", "{}.swp", "{}___jb_tmp___", "{}___jb_old___"),
    ],
)
def test_what_an_editor_left_beside_a_page_is_forgotten_with_it(home: Path, name: str) -> None:
    memory = Memory(home)
    memory.call("update_world", {"topic": "secret-plan", "content": "The launch is on the ninth of May."})
    page = home / "memory/world/secret-plan.md"
    copy = page.parent / name.format(page.name)
    copy.write_bytes(b"b0VIM\0\0The launch is on the ninth of May.\0")
    other = page.parent / name.format("other.md")
    other.write_bytes(b"Something else.")
    selection = Selection(page="memory/world/secret-plan.md")
    traces = find_traces(memory.home, selection).traces
    assert [trace.path for trace in traces if trace.kind == "copy"] == [f"memory/world/{copy.name}"]
    forget(memory.home, selection)
    assert not copy.exists()
    assert other.exists()


def test_a_swap_file_goes_with_a_note_that_it_holds_and_stays_otherwise(home: Path) -> None:
    memory = Memory(home)
    for key, content in {"plan": "The launch is on the ninth of May.", "tea": "Ann drinks green tea."}.items():
        memory.call("memory_write", {"key": key, "content": content})
    (page,) = (home / "agents/main/memory/daily").glob("*.md")
    swap = page.parent / f".{page.name}.swp"
    swap.write_bytes(b"b0VIM\0Ann drinks green tea.\0")
    forget(memory.home, Selection(key="plan"))
    assert swap.exists()
    forget(memory.home, Selection(key="tea"))
    assert not swap.exists()


def test_what_files_and_names_still_say_is_listed_and_stays(home: Path) -> None:
    text = "The gate code is quokka 4711."
    with Memory(home, "ann") as memory:
        memory.call("update_world", {"topic": "gate", "content": f"{text}\nThe gate is green.\n"})
        memory.call("update_world", {"topic": "the gate code is quokka 4711", "content": "Since Monday.\n"})
        for path in ("memory/gate.bak7", "notes.txt", ".trash/gate.md", "agents/bob/notes.txt"):
            put(home, path, b"\0\1" + text.encode() + b"\0")
        put(home, "memory/other.txt", "Nothing of it.")
        report = forget(memory.home, Selection(text=text))
        whats = {trace.path: trace.what for trace in report.mentions}
        is_file = "is not a page, and contains some of it: remove it yourself"
        assert {path: what for path, what in whats.items() if what == is_file} == {
            "memory/gate.bak7": is_file,
            "notes.txt": is_file,
            ".trash/gate.md": is_file,
        }
        assert [path for path, what in whats.items() if what == "has it in its name"] == [
            "memory/world/the-gate-code-is-quokka-4711.md"
        ]
        everyone = find_traces(memory.home, Selection(text="quokka 4711."), everyone=True)
        assert "agents/bob/notes.txt" in {trace.path for trace in everyone.mentions}
        assert (home / "memory" / "gate.bak7").exists()


@pytest.mark.parametrize("page", ["directives/gate.md", "agents/main/directives/gate.md"])
@pytest.mark.parametrize("by", ["words", "page", "lines"])
def test_what_a_directive_says_or_said_is_gone_too(memory: Memory, home: Path, page: str, by: str) -> None:
    memory.home.writer.write(page, f"Be kind.\nThe gate opens with {SECRET}.\n")
    memory.home.writer.write(page, f"Be very kind.\nThe gate opens with {SECRET}.\n")
    if by == "words":
        memory.home.writer.write(page, "Be very kind.\n")
    selections = {"words": Selection(text=f"The gate opens with {SECRET}."), "lines": Selection(page=f"{page}#L2")}
    report = forget(memory.home, selections.get(by, Selection(page=page)))
    assert {trace.kind for trace in report.traces} == ({"history"} if by == "words" else {"history", "page"})
    assert report.mentions == ()
    assert ("Be very kind." in str(memory.context())) == (by != "page")
    memory.close()
    assert holding(home, SECRET) == []


def test_a_selection_by_scope_or_source_leaves_directives(memory: Memory, home: Path) -> None:
    memory.home.writer.write("directives/house.md", "Be kind.\n")
    for selection in (
        Selection(scope="shared"),
        Selection(source="memory"),
        Selection(tag="x"),
        Selection(key="house"),
    ):
        forget(memory.home, selection)
    assert (home / "directives/house.md").read_text() == "Be kind.\n"


def test_an_approved_rule_stays_in_force_when_a_line_of_it_is_forgotten(memory: Memory) -> None:
    page = "skills/helper/SKILL.md"
    text = "---\ndescription: helps\nowner: global\n---\n\nBe kind.\n\nThe gate opens with {}.\n"
    with coming_from("agent-token:ab12"):
        memory.home.writer.write(page, text.format(SECRET))
    approve(memory.home, page)
    forget(memory.home, Selection(text=f"The gate opens with {SECRET}."))
    assert "Be kind." in str(memory.context())
    assert SECRET not in str(memory.context())
