from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.errors import InvalidArgument
from commonplace.storage.names import (
    compile_glob,
    encode_name,
    file_name,
    is_plain,
    skill_folders,
    topic_name,
    translate_glob,
)

from ..texts import names


def as_any_file_system_sees_it(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


@given(st.lists(names, min_size=2, max_size=8, unique=True))
def test_different_names_are_different_files_on_every_file_system(some: list[str]) -> None:
    files = [as_any_file_system_sees_it(file_name(name)) for name in some]
    assert len(set(files)) == len(some)
    folders = [skill_folders(name)[1] for name in some]
    assert len(set(folders)) == len(some)
    assert not {*folders} & {skill_folders(name)[0] for name in some if len({*skill_folders(name)}) == 2}


@given(names)
def test_every_file_name_is_safe_and_short(name: str) -> None:
    result = file_name(name)
    assert len(result.encode()) <= 120
    assert result not in ("", ".", "..")
    assert not re.search(r'[\x00-\x1f<>:"/\\|?*\x7f]', result)
    assert result[0] not in ".-"
    assert result[-1] not in ". "
    assert unicodedata.normalize("NFC", result) == result


@given(names)
def test_every_skill_folder_is_what_agent_skills_allow(name: str) -> None:
    for folder in skill_folders(name):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", folder)
        assert len(folder) <= 64


@pytest.mark.parametrize(
    ("name", "folder"),
    [("tea", "tea"), ("tree_removal", "tree-removal"), ("Tree Removal", "tree-removal"), ("café", "cafe")],
)
def test_ordinary_skills_have_folders_without_a_suffix(name: str, folder: str) -> None:
    assert skill_folders(name)[0] == folder


@pytest.mark.parametrize("name", ["editor", "user_name", "v1.2", "日本", "straße".casefold(), "été", "हिन्दी"])
def test_ordinary_names_are_their_own_file_names(name: str) -> None:
    assert file_name(name) == name


@pytest.mark.parametrize("name", ["..", ".", "", "CON", "con", "nul.txt", "a/b", "Editor", "a~b", ".hidden", "x" * 400])
def test_unsafe_names_are_encoded_and_stay_readable(name: str) -> None:
    result = file_name(name)
    assert not is_plain(name)
    assert "~" in result
    assert result.startswith(re.sub(r"[^a-z]+", "-", name.lower()).strip("-")[:30])


def test_a_name_that_means_something_else_in_its_folder_is_encoded() -> None:
    assert file_name("handoff", frozenset({"handoff"})) != "handoff"


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("People", "people"),
        ("  Systems & Services!! ", "systems-services"),
        ("../../etc/passwd", "etc-passwd"),
        ("日本 語", "日本-語"),
        ("Änderung", "änderung"),
        ("a__b--c", "a-b-c"),
    ],
)
def test_topics_become_letters_digits_and_single_dashes(topic: str, name: str) -> None:
    assert topic_name(topic) == name


def test_a_topic_of_no_letters_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="letter"):
        topic_name("!!!")


def test_the_code_of_a_name_opens_nothing_of_that_name(tmp_path: Path) -> None:
    code = encode_name("Ann")
    Memory(tmp_path, "Ann").call("reflect", {"content": "Ann drinks rooibos."})
    assert Memory(tmp_path, code).call("recall")["content"] == "No memories found"
    assert Memory(tmp_path, code).search("rooibos") == []
    ours, other = Memory(tmp_path), {"op": "setGlobal", "key": code, "value": "another"}
    ours.call("MemoryTool", {"op": "setGlobal", "key": "Ann", "value": "hers"})
    ours.call("MemoryTool", {"op": "setChannel", "channelName": "Ann", "key": "Ann", "value": "hers"})
    ours.call("MemoryTool", other)
    ours.call("MemoryTool", {**other, "op": "setChannel", "channelName": code})
    ours.call("MemoryTool", {**other, "op": "setChannel", "channelName": "Ann"})
    for op, channel, key, value in [
        ("getGlobal", "", "Ann", "hers"), ("getGlobal", "", code, "another"), ("getChannel", "Ann", "Ann", "hers"),
        ("getChannel", "Ann", code, "another"), ("getChannel", code, code, "another"),
    ]:  # fmt: skip
        assert ours.call("MemoryTool", {"op": op, "key": key, "channelName": channel})["value"] == value


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("notes/**/*.md", ("notes/a.md", "notes/b/c/a.md"), ("a.md", "notes/a.txt", "notesb/a.md")),
        ("**/a.md", ("a.md", "b/a.md", "b/c/a.md"), ("ba.md", "b/ba.md")),
        ("a*b?", ("abc", "axxbc"), ("a/bc", "ab", "ab/")),
        ("**a*b", ("a/ab", "ab", "b/axb"), ("a/b", "ba")),
        ("a**/b", ("a/b", "axx/y/b"), ("ab",)),
    ],
)
def test_patterns_of_pages_mean_what_they_say(pattern: str, matching: tuple[str, ...], others: tuple[str, ...]) -> None:
    assert [path for path in (*matching, *others) if compile_glob(pattern).fullmatch(path)] == [*matching]


@given(
    st.lists(st.sampled_from(["a", "b", "/", "*", "**", "**/", "?", "/**/"]), max_size=8).map("".join),
    st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join),
)
def test_a_pattern_matches_the_same_pages_in_files_and_in_a_database(pattern: str, path: str) -> None:
    in_a_database = re.compile(translate_glob(pattern)).fullmatch(path)
    assert (compile_glob(pattern).fullmatch(path) is None) == (in_a_database is None)
