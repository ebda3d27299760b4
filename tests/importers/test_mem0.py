"""mem0: memories with their times, each where its owner is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from commonplace import Memory
from commonplace.testing import FrozenClock

from .sources import mem0_file, pages, put, run_import, whys


def test_a_memory_of_a_user_is_a_record_of_their_channel_with_its_times(home: Path, tmp_path: Path) -> None:
    run_import(home, mem0_file(tmp_path / "mem0.json", 1))
    reply = Memory(home, clock=FrozenClock()).call(
        "MemoryTool", {"op": "getChannel", "channelName": "ann", "key": "m-0"}
    )
    assert (reply["value"], reply["tags"]) == ("Ann likes tea number 0", ["food"])
    assert (reply["created_at"], reply["updated_at"]) == ("2025-01-02T11:04:05.000000Z", "2025-02-03T12:05:06.000000Z")


def memory(name: str, text: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "memory": text, "hash": "h", "created_at": "2025-01-02T03:04:05Z", "updated_at": None, **more}


def test_an_agents_memory_is_its_own_and_nobodys_is_for_all(home: Path, tmp_path: Path) -> None:
    listed = [
        memory(
            "a", "Scout knows", agent_id="scout", user_id="ann", metadata={"kind": "fact", "count": 3, "empty": None}
        ),
        memory("b", "In this run", run_id="run 7"),
        memory("c", "Everybody knows", categories={"odd": 1}),
        memory("d", ""),
    ]
    done = run_import(home, put(tmp_path, "mem0.json", json.dumps(listed)))
    assert sorted(path.rpartition("/")[2] for path in done.added) == ["a.md", "b.md", "c.md"]
    text = pages(home)["agents/scout/memory/working/a.md"]
    assert "user_id: ann" in text
    assert "kind: fact" in text
    assert 'count: "3"' in text
    assert text.endswith("\n\nScout knows\n")
    assert "Everybody knows" in pages(home)["memory/global/mem0/c.md"]
    listed_channels = Memory(home, clock=FrozenClock()).call("MemoryTool", {"op": "listChannels"})["channels"]
    assert listed_channels == ["run 7"]
    assert whys(done) == {"mem0.json, part 4": "has no memory in it"}


def test_a_memory_that_changed_there_changes_here(home: Path, tmp_path: Path) -> None:
    source = put(tmp_path, "mem0.json", json.dumps({"results": [memory("a", "Green", user_id="ann")]}))
    run_import(home, source)
    put(tmp_path, "mem0.json", json.dumps({"results": [memory("a", "Black", user_id="ann")], "relations": []}))
    assert run_import(home, source).updated == ("memory/channels/ann/a.md",)
    assert "Black" in pages(home)["memory/channels/ann/a.md"]


def test_a_file_in_utf_16_says_how_to_save_it(home: Path, tmp_path: Path) -> None:
    place = put(tmp_path, "m.json", json.dumps([memory("m", "tea", user_id="ann")]).encode("utf-16"))
    assert whys(run_import(home, place, "mem0")) == {"m.json": "is UTF-16 text: save it as UTF-8"}
