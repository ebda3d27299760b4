from __future__ import annotations

import json
import os
import stat
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.testing import FrozenClock


def search(memory: Memory, query: Any, **more: Any) -> dict[str, Any]:
    return memory.call("memory_search", {"query": query, **more})


def paths(memory: Memory, query: str, **more: Any) -> list[str]:
    return [hit["path"] for hit in search(memory, query, **more)["results"]]


def put(home: Path, path: str, text: str) -> Path:
    page = home / path
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text)
    return page


def test_everything_the_other_toolsets_write_is_found(memory: Memory) -> None:
    memory.call("memory_write", {"key": "a", "content": "apricot"})
    memory.call("write_memory", {"key": "b", "content": "blueberry"})
    memory.call("write_session_handoff", {"content": "cherry"})
    memory.call("scratch_note", {"mode": "replace", "content": "date palm"})
    memory.call("remember", {"content": "elderberry"})
    memory.call("reflect", {"content": "fig"})
    memory.call("update_world", {"topic": "g", "content": "grape"})
    memory.call("MemoryTool", {"op": "setGlobal", "key": "h", "value": {"fruit": ["honeydew"]}})
    memory.call("MemoryTool", {"op": "setChannel", "channelName": "c", "key": "i", "value": "imbe"})
    memory.call("MemoryTool", {"op": "createSkill", "name": "j", "description": "jam", "instructions": "jackfruit"})
    for word in [
        "apricot",
        "blueberry",
        "cherry",
        "date",
        "elderberry",
        "fig",
        "grape",
        "honeydew",
        "imbe",
        "jackfruit",
    ]:
        best = search(memory, word)["results"][0]
        assert word in best["text"]
        assert 0 < best["score"] <= 1


def test_a_reply_says_how_it_was_found(memory: Memory) -> None:
    memory.call("memory_write", {"key": "editor", "content": "vim", "tags": ["tools"]})
    reply = search(memory, "vim")
    assert (reply["mode"], reply["fallback"], reply["provider"]) == ("hybrid", False, "static")
    assert "stale" not in reply
    (hit,) = reply["results"]
    assert (hit["key"], hit["tags"], hit["scope"], hit["source"]) == ("editor", ["tools"], "agent:main", "memory")
    assert hit["at"] == "2026-03-14T09:26:53.000000Z"
    assert hit["citation"] == f"{hit['path']}#L{hit['from']}-L{hit['to']}"


def test_reading_the_lines_of_a_hit_gives_the_hit(memory: Memory, home: Path) -> None:
    put(
        home,
        "memory/garden.md",
        "---\ntitle: x\n---\n# Garden\n\nIntro.\n\n## Roses\n\nPrune them in March.\n\n## Beans\n\nSow in May.\n",
    )
    memory.call("memory_write", {"key": "k", "content": "### tricky\n```\nprune\n"})
    for hit in search(memory, "prune sow intro")["results"]:
        got = memory.call(
            "memory_get", {"path": hit["path"], "from": hit["from"], "lines": hit["to"] - hit["from"] + 1}
        )
        assert hit["text"] in got["text"]
        assert (got["from"], got["to"]) == (hit["from"], hit["to"])


def test_a_citation_is_read_like_its_lines(memory: Memory, home: Path) -> None:
    put(home, "memory/trees.md", "# Trees\n\nThe oak is old.\nThe elm is gone.\n")
    cited = memory.call("memory_get", {"path": "memory/trees.md#L3-L4"})
    assert cited == memory.call("memory_get", {"path": "memory/trees.md", "from": 3, "lines": 2})
    assert memory.call("memory_get", {"path": "memory/trees.md#L3"})["text"] == "The oak is old."
    assert memory.call("memory_get", {"path": "memory/elms.md#L3"})["error"] == "not found"
    (hit,) = search(memory, "how old is the oak?")["results"]
    assert memory.call("memory_get", {"path": hit["citation"]})["text"] == hit["text"]


def test_hits_come_best_first_and_can_be_cut(memory: Memory, home: Path) -> None:
    put(home, "memory/a.md", "green tea from japan\n")
    put(home, "memory/b.md", "black tea\n")
    put(home, "memory/c.md", "coffee\n")
    hits = search(memory, "green tea japan")["results"]
    assert [hit["path"] for hit in hits][:2] == ["memory/a.md", "memory/b.md"]
    assert hits[0]["score"] > 0.8 > 0.65 > hits[1]["score"]
    assert paths(memory, "green tea japan", minScore=0.8) == ["memory/a.md"]
    assert paths(memory, "green tea japan", maxResults=1) == ["memory/a.md"]
    assert paths(memory, "green tea japan", maxResults=1000) == [hit["path"] for hit in hits]


@pytest.mark.parametrize("weekday", ["Monday", "monday", "Montag", "lundi", "lunes", "понедельник", "周一", "星期一", "月曜日", "월요일"])  # fmt: skip
def test_a_weekday_alone_is_the_last_one(memory: Memory, weekday: str) -> None:
    filters = memory.home.parse_filters(since=weekday, until=weekday, as_of=weekday)
    monday = date(2026, 3, 9).toordinal()  # today is Saturday, 2026-03-14
    assert (filters.since, filters.until, filters.as_of) == (monday, monday, monday)


def test_on_a_weekday_its_name_is_that_of_a_week_ago(memory: Memory) -> None:
    assert memory.home.parse_filters(since="Saturday").since == date(2026, 3, 7).toordinal()


def test_a_search_since_a_weekday_finds_what_is_newer(memory: Memory, home: Path) -> None:
    put(home, "agents/main/memory/daily/2026-03-08.md", "# 2026-03-08\n\n## 09:00\n\ngreen tea\n")
    put(home, "agents/main/memory/daily/2026-03-10.md", "# 2026-03-10\n\n## 09:00\n\nblack tea\n")
    assert paths(memory, "tea", since="Monday") == ["agents/main/memory/daily/2026-03-10.md"]
    assert "'Mondayish' is not a date" in memory.call("memory_search", {"query": "tea", "since": "Mondayish"})["error"]


@pytest.mark.parametrize("count", [0, -1])
def test_a_search_for_less_than_one_result_is_refused(memory: Memory, count: int) -> None:
    memory.call("remember", {"content": "green tea"})
    reply = memory.call("memory_search", {"query": "tea", "maxResults": count})
    assert reply == {"results": [], "error": f"Invalid parameter: maxResults must be 1 or more, not {count}"}


@pytest.mark.parametrize(("text", "query"), [("我最喜欢的编程语言是Python", "编程语言"), ("東京タワーに行きました", "東京"), ("서울에서 커피를 마셨다", "커피"), ("กาแฟร้อนหนึ่งแก้ว", "กาแฟ"), ("Ich mag Bücher", "bucher"), ("Rockets 🚀 fly", "🚀"), ("茶", "茶"), ("हिन्दी भाषा", "हिन्दी")])  # fmt: skip
def test_every_script_is_found_by_its_words(memory: Memory, text: str, query: str) -> None:
    memory.call("update_world", {"topic": "x", "content": text})
    memory.call("update_world", {"topic": "y", "content": "something else entirely 别的东西"})
    assert paths(memory, query)[:1] == ["memory/world/x.md"]


def test_hand_edits_renames_and_deletions_are_seen_at_once(memory: Memory, home: Path) -> None:
    page = put(home, "memory/a.md", "the quick fox\n")
    assert paths(memory, "fox") == ["memory/a.md"]
    page.write_text("the quick cat\n")
    assert (paths(memory, "fox"), paths(memory, "cat")) == ([], ["memory/a.md"])
    page.rename(home / "memory/b.md")
    assert paths(memory, "cat") == ["memory/b.md"]
    (home / "memory/b.md").unlink()
    assert paths(memory, "cat") == []


def test_an_edit_of_the_same_size_and_time_is_seen(memory: Memory, home: Path) -> None:
    page = put(home, "memory/a.md", "the fox\n")
    info = page.stat()
    assert paths(memory, "fox") == ["memory/a.md"]
    page.write_text("the cat\n")
    os.utime(page, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert paths(memory, "cat") == ["memory/a.md"]


def test_a_deleted_or_damaged_index_is_rebuilt_from_the_pages(memory: Memory, home: Path, clock: FrozenClock) -> None:
    memory.call("remember", {"content": "persimmon"})
    assert len(paths(memory, "persimmon")) == 1
    memory.close()
    (index,) = [path for path in (home / ".index").iterdir() if path.suffix == ".sqlite"]
    for damage in (b"this is no database at all, not even close to one" * 100, index.read_bytes()[:3000]):
        index.write_bytes(damage)
        for beside in (home / ".index").glob("*-wal"):
            beside.unlink()
        with Memory(home, clock=clock) as again:
            reply = search(again, "persimmon")
            assert len(reply["results"]) == 1
            assert "damaged" in reply["warning"]
        with Memory(home, clock=clock) as healed:
            assert "warning" not in search(healed, "persimmon")
        assert stat.S_IMODE(index.stat().st_mode) == 0o600


def test_an_index_that_cannot_be_kept_on_disk_is_kept_in_memory(home: Path, clock: FrozenClock) -> None:
    home.mkdir()
    (home / ".index").write_text("a file in the way")
    memory = Memory(home, clock=clock)
    memory.call("remember", {"content": "persimmon"})
    reply = search(memory, "persimmon")
    assert len(reply["results"]) == 1
    assert ".index" in reply["warning"]


def test_another_agents_private_pages_cannot_be_found_or_read(memory: Memory, home: Path, clock: FrozenClock) -> None:
    other = Memory(home, agent="other", clock=clock)
    other.call("remember", {"content": "my secret pomegranate"})
    other.call("write_memory", {"key": "k", "content": "pomegranate"})
    assert paths(memory, "pomegranate") == []
    assert len(paths(other, "pomegranate")) >= 2
    path = "agents/other/memory/daily/2026-03-14.md"
    assert "another agent" in memory.call("memory_get", {"path": path})["error"]
    assert other.call("memory_get", {"path": path})["text"]


@pytest.mark.parametrize("path", [object(), ["\ud800"], {"a": {1}}, 5])
def test_a_path_that_is_no_text_is_refused_with_a_reply_that_is_json(memory: Memory, path: Any) -> None:
    reply = memory.call("memory_get", {"path": path})
    assert "path" in reply["error"]
    assert json.dumps(reply, ensure_ascii=False).encode()


def test_sessions_are_searched_only_where_that_is_on(home: Path, clock: FrozenClock) -> None:
    lines = [
        json.dumps({"role": "user", "content": 'She said "quince"\nand left', "name": "Ann"}),
        "this is not json",
        json.dumps({"role": "assistant", "content": [{"type": "text", "text": "A quince, noted."}]}),
    ]
    put(home, "agents/main/sessions/one.jsonl", "\n".join(lines) + "\n")
    assert paths(Memory(home, clock=clock), "quince") == []
    put(
        home,
        "commonplace.yaml",
        "memorySearch:\n  indexSessions: true\nagents:\n  quiet:\n    memorySearch:\n      indexSessions: false\n",
    )
    memory = Memory(home, clock=clock)
    reply = search(memory, "quince")
    assert [(hit["from"], hit["source"]) for hit in reply["results"]] in (
        [(1, "session"), (3, "session")],
        [(3, "session"), (1, "session")],
    )
    assert "one.jsonl: line 2 is not JSON" in reply["warning"]
    for hit in reply["results"]:
        got = memory.call("memory_get", {"path": hit["path"], "from": hit["from"], "lines": 1})
        assert hit["text"].endswith(got["text"])
    answer = next(hit for hit in reply["results"] if hit["from"] == 3)
    assert answer["text"] == 'user (Ann): She said "quince"\nand left\nassistant: A quince, noted.'
    assert (answer["to"], answer["citation"]) == (3, "agents/main/sessions/one.jsonl#L3-L3")
    put(home, "agents/quiet/sessions/two.jsonl", lines[0])
    quiet = Memory(home, agent="quiet", clock=clock)
    assert paths(quiet, "quince") == []
    assert "indexSessions" in quiet.call("memory_get", {"path": "agents/quiet/sessions/two.jsonl"})["error"]


def test_extra_paths_are_searched_by_those_who_have_them(home: Path, clock: FrozenClock) -> None:
    put(home, "notes/deep/a.md", "mangosteen\n")
    put(home, "docs/b.md", "mangosteen\n")
    put(home, "docs/c.txt", "mangosteen\n")
    put(
        home,
        "commonplace.yaml",
        "memorySearch:\n  extraPaths: ['docs/*.md', 'docs/*.txt']\nagents:\n  deep:\n    memorySearch:\n      extraPaths: ['notes/**/*.md']\n",
    )
    memory, deep = Memory(home, clock=clock), Memory(home, agent="deep", clock=clock)
    assert paths(memory, "mangosteen") == ["docs/b.md"]
    assert search(memory, "mangosteen")["results"][0]["source"] == "extra"
    assert sorted(paths(deep, "mangosteen")) == ["docs/b.md", "notes/deep/a.md"]
    assert memory.call("memory_get", {"path": "docs/b.md"})["text"] == "mangosteen"
    assert "error" in memory.call("memory_get", {"path": "notes/deep/a.md"})


def test_search_can_be_switched_off_and_set_per_agent(home: Path, clock: FrozenClock) -> None:
    put(
        home,
        "commonplace.yaml",
        "memorySearch:\n  enabled: false\n  maxResults: 1\nagents:\n  on:\n    memorySearch:\n      enabled: true\n      minScore: 0.9\n",
    )
    off, on = Memory(home, clock=clock), Memory(home, agent="on", clock=clock)
    reply = search(off, "x")
    assert reply["results"] == []
    assert "memorySearch.enabled" in reply["error"]
    assert "memory_get" not in [tool["name"] for tool in off.tools("mcp")]
    put(home, "memory/a.md", "tea tea tea\n")
    put(home, "memory/b.md", "tea\n")
    assert len(search(on, "tea", minScore=0)["results"]) == 1
    assert search(on, "tea and also something else")["results"] == []


@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"query": " \n"}, {"query": 3}, {"query": "x", "maxResults": "ten"}, {"query": "x", "minScore": "high"}])  # fmt: skip
def test_a_bad_search_is_an_error_with_no_results(memory: Memory, arguments: dict[str, Any]) -> None:
    reply = memory.call("memory_search", arguments)
    assert reply["results"] == []
    assert reply["error"]


def test_words_that_say_nothing_find_nothing(memory: Memory) -> None:
    memory.call("remember", {"content": "tea"})
    for query in ("!!!", "unknownword", '" OR 1=1 --', "NEAR(", "*"):
        assert search(memory, query)["results"] == []


@pytest.mark.parametrize("path", ["../x.md", "/etc/passwd", "memory/../../x.md", "commonplace.yaml", ".index/words-1.sqlite", "directives/memory.md", "memory/a.txt", "agents/main/agent.yaml", "~/x.md", "skills/x/data.json", "memory/link.md", ""])  # fmt: skip
def test_only_what_search_may_return_can_be_read(memory: Memory, home: Path, path: str) -> None:
    put(home, "memory/a.txt", "x")
    (home / "memory/link.md").symlink_to("/etc/hostname")
    reply = memory.call("memory_get", {"path": path})
    assert reply["path"] == path
    assert reply["text"] == ""
    assert reply["error"] not in ("", "not found")


def test_a_missing_page_is_not_found(memory: Memory) -> None:
    assert memory.call("memory_get", {"path": "memory/none.md"}) == {
        "path": "memory/none.md",
        "text": "",
        "error": "not found",
    }


def test_a_read_without_lines_is_capped_and_says_where_to_go_on(memory: Memory, home: Path) -> None:
    put(home, "memory/long.md", "".join(f"line {n}\n" for n in range(1, 301)))
    first = memory.call("memory_get", {"path": "memory/long.md"})
    assert (first["from"], first["to"], first["next"]) == (1, 120, 121)
    rest = memory.call("memory_get", {"path": "memory/long.md", "from": 241})
    assert (rest["from"], rest["to"]) == (241, 300)
    assert "next" not in rest
    whole = memory.call("memory_get", {"path": "memory/long.md", "lines": 300})
    assert whole["text"].endswith("line 300")
    put(home, "memory/wide.md", ("x" * 5000 + "\n") * 10)
    wide = memory.call("memory_get", {"path": "memory/wide.md"})
    assert len(wide["text"]) <= 12_000
    assert wide["next"] == wide["to"] + 1 == 3
    put(home, "memory/one.md", "y" * 20_000)
    one = memory.call("memory_get", {"path": "memory/one.md"})
    assert len(one["text"]) == 12_000
    assert "lines=1" in one["warning"]
    assert len(memory.call("memory_get", {"path": "memory/one.md", "from": 1, "lines": 1})["text"]) == 20_000


@pytest.mark.parametrize("arguments", [{"from": "x"}, {"lines": 0}, {"lines": -1}, {"lines": 1.5}])
def test_bad_line_numbers_are_errors(memory: Memory, home: Path, arguments: dict[str, Any]) -> None:
    put(home, "memory/a.md", "x\n")
    reply = memory.call("memory_get", {"path": "memory/a.md", **arguments})
    assert reply["error"]
    assert memory.call("memory_get", {"path": "memory/a.md", "from": 9})["text"] == ""


def test_the_library_search_gives_hits(memory: Memory, home: Path) -> None:
    put(home, "memory/a.md", "green tea\n")
    (hit,) = memory.search("tea", limit=3)
    assert (hit.path, hit.start, hit.end, hit.text, str(hit.scope)) == ("memory/a.md", 1, 1, "green tea", "shared")


@pytest.mark.parametrize(
    ("query", "verdict"),
    [
        ("which port has the staging database?", "found"),
        ("who is the chief executive?", "nothing"),
        ("xqzv", "nothing"),
    ],
)
def test_a_reply_says_whether_anything_fits(memory: Memory, query: str, verdict: str) -> None:
    for text in ("The staging database is on port 5433.", "Bob lives in Lisbon.", "The deploy day is Friday."):
        memory.call("remember", {"content": text})
    assert search(memory, query)["verdict"] == verdict


def test_a_search_may_keep_to_one_author(memory: Memory, home: Path) -> None:
    memory.call("remember", {"content": "The samovar is brass."})
    (home / "memory").mkdir(exist_ok=True)
    (home / "memory/samovar.md").write_text("The samovar leaks.\n")
    results = memory.call("memory_search", {"query": "samovar", "author": "outside"})["results"]
    assert [row["path"] for row in results] == ["memory/samovar.md"]
    results = memory.call("memory_search", {"query": "samovar", "author": "main"})["results"]
    assert ["brass" in row["text"] for row in results] == [True]


def test_the_model_in_the_package_answers_where_the_configured_one_cannot(home: Path, user_config: Path) -> None:
    home.mkdir()
    user_config.mkdir(parents=True)
    (user_config / "config.yaml").write_text("providers:\n  ollama:\n    baseUrl: http://127.0.0.1:9\n")
    (home / "commonplace.yaml").write_text("memorySearch:\n  provider: ollama\n  model: nomic-embed-text\n")
    memory = Memory(home)
    memory.call("remember", {"content": "用户喜欢用 Python 写程序。"})
    reply = memory.call("memory_search", {"query": "用户的编程语言偏好"})
    assert (reply["fallback"], reply["provider"], reply["mode"]) == (True, "static", "hybrid")
    assert "Python" in reply["results"][0]["text"]
    assert reply["warning"]
