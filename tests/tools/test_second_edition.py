"""What the second edition of the contract says of names, the scratchpad, preferences and skills."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.framing import to_json
from commonplace.framing.limits import MAX_REPLY_CHARACTERS
from commonplace.instructions import approve
from commonplace.maintenance.timeline import include_same_calls, list_changes, undo
from commonplace.storage.history import coming_from
from commonplace.storage.names import skill_folders

BREAKS = ["\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("key", ["", "  ", *(f"a{each}b" for each in BREAKS)])
def test_a_name_that_is_blank_or_has_a_line_break_is_refused_everywhere(memory: Memory, key: str) -> None:
    registry = [
        {"op": "setGlobal", "key": key, "value": 1},
        {"op": "setChannel", "channelName": "c", "key": key, "value": 1},
        {"op": "createSkill", "name": key, "description": "d"},
    ]
    assert not any(memory.call("MemoryTool", arguments)["success"] for arguments in registry)
    assert memory.call("memory_write", {"key": key, "content": "x"})["error"]["code"] == "MEMORY_INVALID_KEY"
    assert memory.call("write_memory", {"key": key, "content": "x"})["status"] == "error"
    assert not memory.call("update_world", {"topic": key, "content": "x"})["success"]


def test_a_scratch_note_without_a_mode_is_appended_and_says_so(memory: Memory) -> None:
    memory.call("scratch_note", {"content": "one"})
    assert memory.call("scratch_note", {"content": "two"})["mode"] == "append"
    assert memory.call("scratch_note", {}) == {"status": "ok", "content": "one\ntwo", "empty": False}


@pytest.mark.parametrize("mode", ["read", "clear"])
def test_content_that_a_mode_of_the_scratchpad_does_not_take_is_pointed_out(memory: Memory, mode: str) -> None:
    reply = memory.call("scratch_note", {"mode": mode, "content": "an idea"})
    assert reply["status"] == "ok"
    assert "not saved" in reply["warning"]
    assert "warning" not in memory.call("scratch_note", {"mode": mode})


def test_a_preference_that_leaves_every_prompt_is_pointed_out(memory: Memory) -> None:
    kept = {"op": "setGlobal", "key": "tone", "value": "brief", "category": "preferences"}
    assert "warning" not in memory.call("MemoryTool", kept)
    assert "warning" not in memory.call("MemoryTool", {**kept, "value": "long"})
    lost = memory.call("MemoryTool", {"op": "setGlobal", "key": "tone", "value": "long"})
    assert "preferences" in lost["warning"]


@pytest.mark.parametrize("instructions", ["Be brief.", "Warm the pot.\nThen pour.", "x" * 2000])
def test_instructions_of_a_skill_are_rules_and_never_data(memory: Memory, instructions: str) -> None:
    skill = {"op": "createSkill", "name": "tea", "description": "brews", "instructions": instructions}
    assert memory.call("MemoryTool", skill)["success"]
    context = str(memory.context())
    assert f"```rules skills/tea/SKILL.md by main (MemoryTool)\n{instructions}\n```" in context
    assert "Text in a `rules` fence binds you." in context


def test_the_journal_says_when_to_use_its_tools(memory: Memory) -> None:
    told = {tool["name"]: tool["description"] for tool in memory.tools("mcp", toolsets=["journal"])}
    assert "start of a conversation" in told["recall"]
    assert "during a conversation" in told["remember"]
    assert "end of a conversation" in told["reflect"]


def test_a_purge_says_that_it_can_be_undone_and_it_can(memory: Memory) -> None:
    for key in ("a", "b"):
        memory.call("MemoryTool", {"op": "setChannel", "channelName": "tea", "key": key, "value": key})
    purged = memory.call("MemoryTool", {"op": "purgeChannel", "channelName": "tea"})
    assert "undo" in purged["message"]
    last = list_changes(memory.home)[-1]
    undo(memory.home, include_same_calls(memory.home, [last]))
    assert memory.call("MemoryTool", {"op": "listChannelKeys", "channelName": "tea"})["keys"] == ["a", "b"]


def create_skill(memory: Memory, name: str) -> None:
    assert memory.call("MemoryTool", {"op": "createSkill", "name": name, "description": f"is {name}"})["success"]


def skill_called(memory: Memory, name: str) -> str | None:
    reply = memory.call("MemoryTool", {"op": "getSkill", "name": name})
    return reply["description"] if reply["success"] else None


def test_names_in_the_style_of_the_sources_are_plain_file_names(memory: Memory, home: Path) -> None:
    create_skill(memory, "tree_removal")
    memory.call("MemoryTool", {"op": "setGlobal", "key": "user_name", "value": "Ann"})
    memory.call("MemoryTool", {"op": "setChannel", "channelName": "mega_furnace", "key": "user_name", "value": "Bo"})
    memory.call("write_memory", {"key": "next_step", "content": "x"})
    assert memory.home.storage.pages.list("skills", deep=True) == ["skills/tree-removal/SKILL.md"]
    assert memory.home.storage.pages.list("memory", deep=True) == [
        "memory/channels/mega_furnace/user_name.md",
        "memory/global/general/user_name.md",
    ]
    assert memory.home.storage.exists("agents/main/memory/working/next_step.md")


@pytest.mark.parametrize("names", list(itertools.permutations(["tree_removal", "tree-removal", "Tree Removal"])))
def test_skills_whose_names_want_one_folder_are_never_one_skill(memory: Memory, names: tuple[str, ...]) -> None:
    for name in names:
        create_skill(memory, name)
    assert [skill_called(memory, name) for name in names] == [f"is {name}" for name in names]
    folders = memory.home.storage.pages.list_folders("skills")
    assert "tree-removal" in folders
    assert len(folders) == 3
    assert memory.call("MemoryTool", {"op": "deleteSkill", "name": names[0]})["success"]
    assert [skill_called(memory, name) for name in names] == [None, *(f"is {name}" for name in names[1:])]
    create_skill(memory, names[0])
    assert [skill_called(memory, name) for name in names] == [f"is {name}" for name in names]
    listed = memory.call("MemoryTool", {"op": "listSkills"})["skills"]
    assert sorted(skill["name"] for skill in listed) == sorted(names)


def test_a_skill_in_a_folder_with_a_suffix_is_found_and_stays_there(memory: Memory) -> None:
    """Earlier versions gave every name with an underscore a suffix."""
    folder = skill_folders("tree_removal")[1]
    create_skill(memory, "tree_removal")
    home = memory.home
    text = home.storage.pages.read("skills/tree-removal/SKILL.md").text
    home.writer.remove("skills/tree-removal/SKILL.md")
    home.writer.write(f"skills/{folder}/SKILL.md", text.replace("name: tree-removal", f"name: {folder}"))
    assert skill_called(memory, "tree_removal") == "is tree_removal"
    new = {"op": "updateSkill", "name": "tree_removal", "newData": {"saw": 1}}
    assert memory.call("MemoryTool", new)["success"]
    assert home.storage.pages.list_folders("skills") == [folder]


def test_two_threads_that_create_skills_of_one_folder_make_two(memory: Memory) -> None:
    names = ["tree_removal", "tree-removal", "tree removal", "Tree-Removal"]
    with ThreadPoolExecutor(4) as pool:
        assert len([*pool.map(partial(create_skill, memory), names)]) == 4
    assert [skill_called(memory, name) for name in names] == [f"is {name}" for name in names]


def test_a_skill_that_a_person_made_is_another_than_one_spelled_with_other_capitals(memory: Memory) -> None:
    memory.home.writer.write("skills/Tea/SKILL.md", "---\ndescription: is Tea\n---\n\nPour.\n")
    create_skill(memory, "tea")
    assert [skill_called(memory, name) for name in ("Tea", "tea")] == ["is Tea", "is tea"]
    folders = memory.home.storage.pages.list_folders("skills")
    assert len({folder.casefold() for folder in folders}) == 2  # also where a file system ignores case


def test_a_channels_preference_that_leaves_its_prompts_is_pointed_out(memory: Memory) -> None:
    kept = {"op": "setChannel", "channelName": "tea", "key": "tone", "value": "brief"}
    assert "warning" not in memory.call("MemoryTool", {**kept, "category": "preferences"})
    assert "preferences" in memory.call("MemoryTool", kept)["warning"]


def test_found_notes_stay_within_a_reply_and_the_one_that_is_named_comes_whole(memory: Memory) -> None:
    for number in range(40):
        memory.call("write_memory", {"key": f"tea-{number}", "content": f"tea {'leaf ' * 1000}"})
    found = memory.call("search_memory", {"query": "tea leaf", "limit": 50})
    assert len(to_json(found)) <= MAX_REPLY_CHARACTERS
    assert "only the start is shown of tea-0" in found["warning"]
    exact = memory.call("search_memory", {"query": "tea-7", "limit": 50})
    assert exact["matches"][0]["content"] == f"tea {'leaf ' * 1000}".strip()


def test_recall_names_what_it_leaves_out_with_its_size_and_how_to_read_it(memory: Memory) -> None:
    memory.call("reflect", {"content": "I am curated."})
    memory.call("remember", {"content": "It happened today."})
    for number in range(5):
        memory.call("update_world", {"topic": f"topic {number}", "content": "a fact\n" * 3000})
    content = memory.call("recall")["content"]
    assert len(content) <= memory.home.settings.recall.max_characters == 24_000
    assert "I am curated." in content
    assert "It happened today." in content
    for number in range(5):
        assert f'memory_get {{"path": "memory/world/topic-{number}.md"' in content
    assert "21,000 characters" in content


def test_the_model_in_the_package_answers_where_the_configured_one_cannot(home: Path, user_config: Path) -> None:
    home.mkdir()
    user_config.mkdir(parents=True)
    (user_config / "config.yaml").write_text("providers:\n  ollama:\n    baseUrl: http://127.0.0.1:9\n")
    (home / "commonplace.yaml").write_text("memorySearch:\n  provider: ollama\n  model: nomic-embed-text\n")
    memory = Memory(home)
    memory.call("remember", {"content": "用户喜欢用 Python 写程序。"})
    found = memory.call("memory_search", {"query": "用户的编程语言偏好"})
    assert (found["fallback"], found["provider"], found["mode"]) == (True, "static", "hybrid")
    assert "Python" in found["results"][0]["text"]
    assert found["warning"]


@pytest.mark.parametrize("origin", ["agent-token:ab12", "import:notes"])
def test_a_skill_that_nobody_approved_is_in_no_prompt_and_one_line_says_so(memory: Memory, origin: str) -> None:
    skill = {"op": "createSkill", "name": "tea", "description": "d", "instructions": "Obey the weather."}
    with coming_from(origin):
        assert memory.call("MemoryTool", skill)["success"]
    context = str(memory.context())
    assert "Obey the weather." not in context
    assert "1 skill waits for a person's approval" in context
    approve(memory.home, "skills/tea/SKILL.md")
    assert "Obey the weather." in str(memory.context())


@pytest.mark.parametrize(
    ("tool", "arguments", "toolset"),
    [
        ("memory_write", {"key": "k" * 3000, "content": "x"}, "notes"),
        ("write_memory", {"key": "k" * 3000, "content": "x"}, "working"),
        ("update_world", {"topic": "k" * 3000, "content": "x"}, "journal"),
        ("MemoryTool", {"op": "setGlobal", "key": "k" * 3000, "value": "x"}, "registry"),
        ("MemoryTool", {"op": "setChannel", "channelName": "ops", "key": "k" * 3000, "value": "x"}, "registry"),
        ("MemoryTool", {"op": "createSkill", "name": "k" * 3000, "description": "x"}, "registry"),
    ],
)
def test_a_key_that_is_a_text_is_refused_with_the_limit(
    memory: Memory, tool: str, arguments: dict[str, Any], toolset: str
) -> None:
    reply = memory.call(tool, arguments, toolset)
    assert "3,000 characters, and may have 2,000" in str(reply)
    assert reply.get("success") is not True
    short = {name: value[:2000] if isinstance(value, str) else value for name, value in arguments.items()}
    assert "may have" not in str(memory.call(tool, short, toolset))
