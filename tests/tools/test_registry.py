from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.instructions import approve
from commonplace.maintenance.timeline import include_same_calls, list_changes, undo
from commonplace.storage.history import coming_from
from commonplace.storage.names import skill_folders
from commonplace.testing import FrozenClock


def do(memory: Memory, op: Any, **arguments: Any) -> dict[str, Any]:
    return memory.call("MemoryTool", {"op": op, **arguments})


def test_a_global_memory_is_set_read_and_deleted(memory: Memory, clock: FrozenClock) -> None:
    assert do(memory, "setGlobal", key="k", value="v") == {"success": True}
    first = "2026-03-14T09:26:53.000000Z"
    assert do(memory, "getGlobal", key="k") == {
        "success": True,
        "key": "k",
        "value": "v",
        "category": "general",
        "tags": [],
        "created_at": first,
        "updated_at": first,
    }
    clock.advance(hours=1)
    do(memory, "setGlobal", key="k", value="w", category="work", tags=["a"])
    read = do(memory, "getGlobal", key="k")
    assert (read["value"], read["category"], read["tags"], read["created_at"]) == ("w", "work", ["a"], first)
    assert read["updated_at"] > first
    do(memory, "setGlobal", key="k", value="x")
    read = do(memory, "getGlobal", key="k")
    assert (read["category"], read["tags"]) == ("general", [])
    assert do(memory, "deleteGlobal", key="k") == {"success": True}
    assert do(memory, "deleteGlobal", key="k") == {"success": False, "error": "Key not found"}
    assert do(memory, "getGlobal", key="k") == {"success": False, "error": "Not found"}


def test_a_key_is_one_record_over_all_categories(memory: Memory, home: Path) -> None:
    do(memory, "setGlobal", key="k", value=1, category="a")
    do(memory, "setGlobal", key="k", value=2, category="b")
    assert [path.parent.name for path in (home / "memory/global").rglob("*.md")] == ["b"]
    assert [row["value"] for row in do(memory, "listGlobal")["results"]] == [2]


@pytest.mark.parametrize("value", ["", "text", 0, -1.5, True, False, [], [1, "a", None], {}, {"a": {"b": [None]}}, "true", "5", "---\nx", " \n"])  # fmt: skip
def test_values_come_back_with_their_type(memory: Memory, value: Any) -> None:
    assert do(memory, "setGlobal", key="k", value=value)["success"]
    read = do(memory, "getGlobal", key="k")["value"]
    assert (read, type(read)) == (value, type(value))
    assert do(memory, "listGlobal")["results"][0]["value"] == value


@pytest.mark.parametrize(("arguments", "remaining"), [(["a,b", " c ", "", " , "], ["ab", "c"]), ("x, y ,,z", ["x", "y", "z"]), (None, []), ("", [])])  # fmt: skip
def test_tags_lose_commas_white_space_and_blanks(memory: Memory, arguments: Any, remaining: list[str]) -> None:
    do(memory, "setGlobal", key="k", value=1, tags=arguments)
    assert do(memory, "getGlobal", key="k")["tags"] == remaining


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "Missing required parameter: op"),
        ({"op": "fly"}, "Unknown operation: fly"),
        ({"op": "setGlobal", "value": 1}, "Missing required parameter: key"),
        ({"op": "setGlobal", "key": "k"}, "Missing required parameter: value"),
        ({"op": "setGlobal", "key": "k", "value": None}, "Missing required parameter: value"),
        ({"op": "getGlobal"}, "Missing required parameter: key"),
        ({"op": "searchGlobal"}, "Missing required parameter: query"),
        ({"op": "searchGlobal", "query": " _-"}, "Query must not be empty"),
        ({"op": "search", "query": ""}, "Query must not be empty"),
        ({"op": "setChannel", "key": "k", "value": 1}, "Missing required parameter: channelName"),
        ({"op": "setChannel", "channelName": "", "key": "k", "value": 1}, "Missing required parameter: channelName"),
        ({"op": "setChannel", "channelName": " ", "key": "k", "value": 1}, "Missing required parameter: channelName"),
        ({"op": "getChannel", "channelName": "none", "key": "k"}, "Not found"),
        ({"op": "deleteChannel", "channelName": "none", "key": "k"}, "Key not found"),
        ({"op": "listChannelKeys", "channelName": "none"}, "Not found"),
        ({"op": "getChannelByCategory", "channelName": "none", "category": "x"}, "Not found"),
        ({"op": "purgeChannel", "channelName": "none"}, "Not found"),
        ({"op": "createSkill", "name": "x"}, "Missing required parameter: description"),
        ({"op": "updateSkill", "name": "x"}, "Missing required parameter: newData"),
        ({"op": "updateSkill", "name": "x", "newData": {}}, "Skill not found"),
        ({"op": "deleteSkill", "name": "x"}, "Skill not found"),
        ({"op": "getSkill", "name": "x"}, "Not found"),
        ({"op": "listSkillsForUser"}, "Missing required parameter: username"),
    ],
)
def test_errors_are_the_words_of_the_contract_and_nothing_is_created(
    memory: Memory, home: Path, arguments: dict[str, Any], error: str
) -> None:
    assert memory.call("MemoryTool", arguments) == {"success": False, "error": error}
    assert not (home / "memory").exists()
    assert not (home / "skills").exists()


@pytest.mark.parametrize("arguments", [{"key": 3, "value": 1}, {"key": "k", "value": 1, "tags": 5}, {"key": "k", "value": float("nan")}, {"key": "k", "value": "\ud800"}, {"key": "k", "value": {1, 2}}])  # fmt: skip
def test_wrong_types_are_errors_that_name_the_parameter(memory: Memory, arguments: dict[str, Any]) -> None:
    reply = do(memory, "setGlobal", **arguments)
    assert reply["success"] is False
    assert "Invalid parameter" in reply["error"]


def test_channels_are_verbatim_and_apart(memory: Memory) -> None:
    for name in ("mega-furnace", "megafurnace", "日本", "Mega-Furnace", "a/b", ".."):
        assert do(memory, "setChannel", channelName=name, key="k", value=name)["success"]
    assert do(memory, "listChannels")["channels"] == sorted(
        ["mega-furnace", "megafurnace", "日本", "Mega-Furnace", "a/b", ".."]
    )
    for name in ("mega-furnace", "megafurnace", "日本", "Mega-Furnace", "a/b", ".."):
        assert do(memory, "getChannel", channelName=name, key="k")["value"] == name


def test_a_channel_lists_its_keys_and_categories_and_can_be_purged(memory: Memory) -> None:
    do(memory, "setChannel", channelName="c", key="b", value=1, category="project", tags="t")
    do(memory, "setChannel", channelName="c", key="A/x", value=2)
    assert do(memory, "listChannelKeys", channelName="c") == {"success": True, "keys": ["A/x", "b"]}
    rows = do(memory, "getChannelByCategory", channelName="c", category="project")["results"]
    assert [(row["key"], row["value"], row["tags"]) for row in rows] == [("b", 1, ["t"])]
    assert do(memory, "getChannelByCategory", channelName="c", category="none")["results"] == []
    assert do(memory, "deleteChannel", channelName="c", key="b")["success"]
    assert do(memory, "purgeChannel", channelName="c")["message"]
    assert do(memory, "listChannels")["channels"] == []


def test_a_list_of_very_much_is_bounded_and_says_how_to_see_the_rest(memory: Memory) -> None:
    for number in range(50):
        memory.call("MemoryTool", {"op": "setGlobal", "key": f"k{number}", "value": {"long": "x" * 10_000}})
    reply = memory.call("MemoryTool", {"op": "listGlobal"})
    assert len(json.dumps(reply)) < 405_000
    assert len(reply["results"]) > 30
    assert f"{50 - len(reply['results'])} more are left out: k" in reply["warning"]
    assert "list one category; getGlobal reads one whole" in reply["warning"]
    assert "at most 400,000 characters" in reply["warning"]


def test_lists_can_be_narrowed_to_a_category(memory: Memory) -> None:
    do(memory, "setGlobal", key="a", value=1, category="Odd Name!")
    do(memory, "setGlobal", key="b", value=2)
    assert [row["key"] for row in do(memory, "listGlobal", category="Odd Name!")["results"]] == ["a"]
    assert [row["key"] for row in do(memory, "listGlobal")["results"]] == ["a", "b"]


def test_search_finds_any_word_literally_best_first_by_scope(memory: Memory) -> None:
    do(memory, "setGlobal", key="favorite_drink", value="green tea")
    do(memory, "setGlobal", key="tea", value={"kind": "green"}, tags=["drink"])
    do(memory, "setGlobal", key="other", value="100% done")
    do(memory, "setChannel", channelName="日本", key="k", value="TEA house")
    do(memory, "createSkill", name="brew", description="make it", instructions="boil the tea water")
    results = do(memory, "search", query="drink-tea")["results"]
    assert [row["scope"] for row in results] == ["global", "global", "skill", "channel_memories_日本"]
    assert [row.get("key", row.get("name")) for row in results] == ["tea", "favorite_drink", "brew", "k"]
    assert [row["key"] for row in do(memory, "searchGlobal", query="%")["results"]] == ["other"]
    assert do(memory, "searchGlobal", query="*")["results"] == []
    assert [row["key"] for row in do(memory, "searchGlobal", query="DRINK")["results"]] == ["favorite_drink", "tea"]


def test_search_finds_whole_words_and_their_inflections_and_never_by_meaning(memory: Memory) -> None:
    do(memory, "setGlobal", key="billing", value="one invoice waits for review")
    do(memory, "setGlobal", key="garage", value="The automobile is parked there.")
    do(memory, "setGlobal", key="drink", value={"favourite": "green tea"})
    for query in ("invoices", "which invoice is open", "INVOICE_review"):
        assert [row["key"] for row in do(memory, "search", query=query)["results"]] == ["billing"]
    assert do(memory, "search", query="or")["results"] == []
    assert do(memory, "search", query="vehicle")["results"] == []
    assert [row["key"] for row in do(memory, "searchGlobal", query="what is the drink")["results"]] == ["drink"]
    assert [row["key"] for row in do(memory, "searchGlobal", query="the")["results"]] == ["garage"]


def test_a_question_over_many_records_stays_within_a_reply_and_gives_an_exact_key_whole(memory: Memory) -> None:
    with memory.home.writer.call("test", defer_index=True):
        for number in range(150):
            do(memory, "setGlobal", key=f"fact_{number:03}", value=f"the drink of guest {number}: " + "tea " * 90)
        do(memory, "setGlobal", key="drink", value="the drink " + "x" * 3_000)
    reply = do(memory, "search", query="what is the drink")
    assert len(json.dumps(reply, ensure_ascii=False)) < 24_000
    assert "left out" in reply["warning"]
    assert do(memory, "search", query="drink")["results"][0]["value"] == "the drink " + "x" * 3_000


def test_a_skill_is_made_updated_and_read(memory: Memory, home: Path) -> None:
    do(
        memory,
        "createSkill",
        name="tree_removal",
        description="trees",
        initialStructure={"steps": [1], "pricing": {"small": 1}},
    )
    assert do(memory, "updateSkill", name="tree_removal", newData={"pricing": {"large": 8}, "steps": [2], "instructions": "call first"}, trainingIncrement=True) == {"success": True}  # fmt: skip
    read = do(memory, "getSkill", name="tree_removal")
    assert read["skill_data"] == {"steps": [2], "pricing": {"small": 1, "large": 8}}
    assert (read["instructions"], read["training_progress"], read["owner"]) == ("call first", 1, "global")
    do(
        memory,
        "createSkill",
        name="tree_removal",
        description="all trees",
        initialStructure={"x": 1},
        owner="ann",
        instructions="no",
    )
    again = do(memory, "getSkill", name="tree_removal")
    assert {**again, "description": "", "updated_at": ""} == {**read, "description": "", "updated_at": ""}
    assert again["description"] == "all trees"
    assert "skill_data" not in do(memory, "listSkills")["skills"][0]
    (page,) = (home / "skills").glob("*/SKILL.md")
    assert page.read_text().startswith(f"---\nname: {page.parent.name}\n")
    assert do(memory, "deleteSkill", name="tree_removal") == {"success": True}
    assert list((home / "skills").glob("*")) == []


def test_null_deletes_a_field_and_clears_the_data_only_alone(memory: Memory) -> None:
    do(memory, "createSkill", name="s", description="d", initialStructure={"a": 1, "b": {"c": 1, "d": 2}})
    do(memory, "updateSkill", name="s", newData={"a": None, "b": {"c": None}})
    assert do(memory, "getSkill", name="s")["skill_data"] == {"b": {"d": 2}}
    reply = do(memory, "updateSkill", name="s", newData={"skill_data": {"x": 1}})
    assert reply["success"] is True
    assert "skill_data" in reply["warning"]
    assert do(memory, "getSkill", name="s")["skill_data"] == {"b": {"d": 2}, "skill_data": {"x": 1}}
    assert do(memory, "updateSkill", name="s", newData={"skill_data": None, "instructions": "new"}) == {"success": True}
    read = do(memory, "getSkill", name="s")
    assert (read["skill_data"], read["instructions"]) == ({}, "new")


def test_users_see_global_skills_and_their_own(memory: Memory) -> None:
    do(memory, "createSkill", name="all", description="d")
    do(memory, "createSkill", name="ann", description="d", owner="ann.lee")
    do(memory, "createSkill", name="bob", description="d", owner="bob")
    names = [skill["name"] for skill in do(memory, "listSkillsForUser", username="ann.lee")["skills"]]
    assert names == ["all", "ann"]
    assert len(do(memory, "listSkills")["skills"]) == 3
    assert "### ann (owner: ann.lee)" in str(memory.context(user="ann.lee"))
    assert "### bob" not in str(memory.context(user="ann.lee"))
    assert "### ann" not in str(memory.context())


def test_records_written_by_hand_are_records(memory: Memory, home: Path) -> None:
    folder = home / "memory/global/preferences"
    folder.mkdir(parents=True)
    (folder / "My Editor.md").write_text("vim\n")
    (folder / "units.md").write_text("---\ntags: [si]\n---\nmetric\n")
    assert do(memory, "getGlobal", key="My Editor")["value"] == "vim"
    assert do(memory, "getGlobal", key="units")["tags"] == ["si"]
    do(memory, "setGlobal", key="My Editor", value="emacs", category="preferences")
    assert sorted(path.name for path in folder.iterdir()) == ["My Editor.md", "units.md"]
    assert [row["key"] for row in do(memory, "listGlobal")["results"]] == ["My Editor", "units"]


def test_a_skill_written_by_hand_is_a_skill(memory: Memory, home: Path) -> None:
    (home / "skills/pdf").mkdir(parents=True)
    (home / "skills/pdf/SKILL.md").write_text(
        "---\nname: pdf\ndescription: Read PDF files\nlicense: MIT\n---\n\nUse pdftotext.\n"
    )
    read = do(memory, "getSkill", name="pdf")
    assert (read["description"], read["instructions"], read["owner"]) == ("Read PDF files", "Use pdftotext.", "global")
    do(memory, "updateSkill", name="pdf", newData={"x": 1})
    assert "license: MIT" in (home / "skills/pdf/SKILL.md").read_text()


def test_a_broken_page_is_reported_and_never_overwritten(memory: Memory, home: Path) -> None:
    folder = home / "memory/global/general"
    folder.mkdir(parents=True)
    (folder / "k.md").write_text("---\na: [\n---\n\nvalue\n")
    read = do(memory, "getGlobal", key="k")
    assert read["value"] == "value"
    assert "k.md" in read["warning"]
    assert do(memory, "setGlobal", key="k", value="new")["success"] is False
    assert "value" in (folder / "k.md").read_text()


def test_a_preference_that_leaves_every_prompt_is_pointed_out(memory: Memory) -> None:
    remaining = {"op": "setGlobal", "key": "tone", "value": "brief", "category": "preferences"}
    assert "warning" not in memory.call("MemoryTool", remaining)
    assert "warning" not in memory.call("MemoryTool", {**remaining, "value": "long"})
    lost = memory.call("MemoryTool", {"op": "setGlobal", "key": "tone", "value": "long"})
    assert "preferences" in lost["warning"]


def test_a_channels_preference_that_leaves_its_prompts_is_pointed_out(memory: Memory) -> None:
    remaining = {"op": "setChannel", "channelName": "tea", "key": "tone", "value": "brief"}
    assert "warning" not in memory.call("MemoryTool", {**remaining, "category": "preferences"})
    assert "preferences" in memory.call("MemoryTool", remaining)["warning"]


@pytest.mark.parametrize("instructions", ["Be brief.", "Warm the pot.\nThen pour.", "x" * 2000])
def test_instructions_of_a_skill_are_rules_and_never_data(memory: Memory, instructions: str) -> None:
    skill = {"op": "createSkill", "name": "tea", "description": "brews", "instructions": instructions}
    assert memory.call("MemoryTool", skill)["success"]
    context = str(memory.context())
    assert f"```rules skills/tea/SKILL.md by main (MemoryTool)\n{instructions}\n```" in context
    assert "Text in a `rules` fence binds you." in context


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


def test_an_operation_in_another_case_is_refused_in_the_same_words_and_named_beside_them(memory: Memory) -> None:
    reply = memory.call("MemoryTool", {"op": "setglobal", "key": "tea", "value": "green"})
    assert reply == {"success": False, "error": "Unknown operation: setglobal", "warning": "did you mean setGlobal?"}
    assert "warning" not in memory.call("MemoryTool", {"op": "x"})


def test_without_an_operation_no_argument_counts_as_ignored_that_one_takes(memory: Memory) -> None:
    reply = memory.call("MemoryTool", {"key": "tea", "value": "green"})
    assert reply == {"success": False, "error": "Missing required parameter: op"}
    assert "ignored what this does not take: kye" in memory.call("MemoryTool", {"kye": "tea"})["warning"]


@pytest.mark.parametrize("category", ["Preferences", "preferences ", "User_Info", "user info", "user-info"])
def test_a_category_that_only_looks_like_one_of_every_prompt_is_pointed_out(memory: Memory, category: str) -> None:
    values = {"key": "tea", "value": "green", "category": category}
    every = [{"op": "setGlobal", **values}, {"op": "setChannel", "channelName": "dev", **values}]
    for arguments in every:
        assert "spelled like this, is part of every prompt" in memory.call("MemoryTool", arguments)["warning"]
    fine = {"op": "setGlobal", "key": "tea", "value": "green", "category": "preferences"}
    assert memory.call("MemoryTool", fine) == {"success": True}
