"""The exports of ChatGPT and of Claude: sessions, and what was remembered beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from commonplace import Memory
from commonplace.formats.transcripts import parse_turns

from .sources import chatgpt_talk, chatgpt_zip, make_zip, pages, put, run_import, whys


def read_turns(home: Path, path: str) -> list[str]:
    return [turn.text for turn in parse_turns(pages(home)[path])[0]]


def test_a_conversation_of_chatgpt_is_a_session(home: Path, tmp_path: Path) -> None:
    done = run_import(home, chatgpt_zip(tmp_path / "export.zip", [chatgpt_talk()]))
    (path,) = done.added
    assert path == "agents/main/sessions/chatgpt-2023-11-14-c-1.jsonl"
    lines = [json.loads(line) for line in pages(home)[path].splitlines()]
    assert lines[0] == {
        "type": "session",
        "source": "chatgpt",
        "id": "c-1",
        "title": "Tea",
        "created_at": "2023-11-14T22:13:20.500000Z",
    }
    assert lines[1] == {"role": "user", "timestamp": "2023-11-14T22:13:20.500000Z", "content": "Which tea?"}
    assert read_turns(home, path) == ["user: Which tea?", "assistant: Green."]
    assert (home / path).stat().st_mtime == 1_700_000_001.5


def test_only_the_branch_that_was_seen_last_is_taken(home: Path, tmp_path: Path) -> None:
    talk = chatgpt_talk(said=("Which tea?", "Green."))
    other = json.loads(json.dumps(talk["mapping"]["n1"]))
    other["message"]["content"]["parts"] = ["Black."]
    talk["mapping"]["n9"] = other
    done = run_import(home, chatgpt_zip(tmp_path / "export.zip", [talk]))
    assert read_turns(home, done.added[0]) == ["user: Which tea?", "assistant: Green."]


def message(role: str, content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"author": {"role": role}, "content": content, "create_time": 1_700_000_010.0, **more}


def test_tools_thoughts_and_hidden_messages_are_left_out(home: Path, tmp_path: Path) -> None:
    talk = chatgpt_talk(said=("Look at this",))
    spoken = {"content_type": "audio_transcription", "text": "spoken"}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file://x"}
    more = [
        message("assistant", {"content_type": "code", "text": "print()"}, recipient="python"),
        message("tool", {"content_type": "execution_output", "text": "out"}),
        message("assistant", {"content_type": "thoughts", "thoughts": []}),
        message("system", {"content_type": "text", "parts": ["be kind"]}),
        message(
            "user",
            {"content_type": "text", "parts": ["hidden"]},
            metadata={"is_visually_hidden_from_conversation": True},
        ),
        message("assistant", {"content_type": "model_editable_context", "model_set_context": "1. Likes tea"}),
        message("user", {"content_type": "multimodal_text", "parts": [picture, "a pot", spoken]}),
    ]
    above = talk["current_node"]
    for number, each in enumerate(more):
        talk["mapping"][f"m{number}"] = {"id": f"m{number}", "parent": above, "children": [], "message": each}
        above = f"m{number}"
    talk["current_node"] = above
    done = run_import(home, chatgpt_zip(tmp_path / "export.zip", [talk]))
    assert read_turns(home, "agents/main/sessions/chatgpt-2023-11-14-c-1.jsonl") == [
        "user: Look at this",
        "user: a pot\nspoken",
    ]
    assert "1. Likes tea" in pages(home)["agents/main/memory/chatgpt/memories.md"]
    assert len(done.added) == 2


def test_memories_that_come_as_a_file_are_a_page(home: Path, tmp_path: Path) -> None:
    memories = [{"content": "Likes tea", "created_at": "2025-01-01"}, {"content": "Has a pot"}]
    run_import(home, chatgpt_zip(tmp_path / "export.zip", [chatgpt_talk()], memories=memories))
    assert pages(home)["agents/main/memory/chatgpt/memories.md"].endswith("- Likes tea\n- Has a pot\n")


def test_a_tree_that_bites_its_tail_ends(home: Path, tmp_path: Path) -> None:
    talk = chatgpt_talk()
    talk["mapping"]["n0"]["parent"] = talk["current_node"]
    talk["current_node"] = "nowhere"
    done = run_import(home, chatgpt_zip(tmp_path / "export.zip", [talk]))
    assert read_turns(home, done.added[0]) == ["user: Which tea?", "assistant: Green."]


def test_a_folder_and_split_files_are_read_as_well(home: Path, tmp_path: Path) -> None:
    put(tmp_path / "export", "conversations-000.json", json.dumps([chatgpt_talk("a")]))
    put(tmp_path / "export", "conversations-001.json", json.dumps([chatgpt_talk("b")]))
    assert len(run_import(home, tmp_path / "export").added) == 2
    renamed = put(tmp_path, "old.json", json.dumps([chatgpt_talk("a")]))
    assert len(run_import(home, renamed).same) == 1


def claude_export(place: Path, **more: Any) -> Path:
    talk = {
        "uuid": "4f1e",
        "name": "Tea",
        "created_at": "2025-01-02T03:04:05.678901Z",
        "updated_at": "2025-01-02T04:00:00Z",
        "account": {"uuid": "acct"},
        "chat_messages": [
            {"uuid": "1", "sender": "human", "text": "Which tea?", "content": [], "created_at": "2025-01-02T03:04:05Z"},
            {
                "uuid": "2",
                "sender": "assistant",
                "text": "older shape",
                "content": [{"type": "tool_use", "text": "no"}, {"type": "text", "text": "Green."}],
                "created_at": "2025-01-02T03:04:06Z",
                "attachments": [{"file_name": "a.txt", "extracted_content": "x"}],
            },
        ],
    }
    empty = {"uuid": "5a", "name": "", "created_at": "2025-01-02T03:04:05Z", "chat_messages": []}
    members = {"conversations": [talk, empty], "users": [{"uuid": "acct", "full_name": "Ann"}], **more}
    return make_zip(place, {f"{name}.json": json.dumps(value) for name, value in members.items()})


def test_a_conversation_of_claude_is_a_session(home: Path, tmp_path: Path) -> None:
    done = run_import(home, claude_export(tmp_path / "data.zip"))
    assert done.added == ("agents/main/sessions/claude-2025-01-02-4f1e.jsonl",)
    assert read_turns(home, done.added[0]) == ["user: Which tea?", "assistant: Green."]
    assert whys(done) == {"5a": "is a conversation in which nothing was said"}


def test_projects_and_memories_of_claude_are_pages_of_the_agent(home: Path, tmp_path: Path) -> None:
    project = {
        "uuid": "p1",
        "name": "garden",
        "description": "All about it",
        "prompt_template": "Be brief.",
        "docs": [
            {"uuid": "d1", "filename": "plan.md", "content": "# Plan\n"},
            {"uuid": "d2", "filename": "x", "content": ""},
        ],
    }
    memories = [
        {"conversations_memory": "Likes tea.", "project_memories": {"p1": "Plants roses."}, "account_uuid": "acct"}
    ]
    done = run_import(home, claude_export(tmp_path / "data.zip", projects=[project], memories=memories))
    texts = {
        path.removeprefix("agents/main/memory/claude/"): text for path, text in pages(home).items() if "claude/" in path
    }
    assert texts == {
        "memory.md": "Likes tea.\n",
        "projects/garden/about.md": "# garden\n\nAll about it\n\n## Instructions\n\nBe brief.\n",
        "projects/garden/memory.md": "Plants roses.\n",
        "projects/garden/plan.md": "# Plan\n",
    }
    assert whys(done)["garden, document 2"] == "has no text"
    assert Memory(home).search("roses")[0].path.endswith("projects/garden/memory.md")


def test_newer_exports_have_folders_of_projects_and_memories(home: Path, tmp_path: Path) -> None:
    place = claude_export(tmp_path / "data.zip")
    whole = {"conversations.json": json.dumps([])}
    whole["projects/p1.json"] = json.dumps({"uuid": "p1", "name": "garden", "description": "Roses", "docs": []})
    memories = json.dumps({"conversations_memory": "Likes tea.", "project_memories": {}})
    whole["memories/acct.json"] = f"\ufeff{memories}"  # as programs on Windows save it
    make_zip(place, whole)  # type: ignore[arg-type]
    done = run_import(home, place, "claude")
    assert sorted(path.rpartition("/")[2] for path in done.added) == ["about.md", "memory.md"]
