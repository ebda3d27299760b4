"""The exports of ChatGPT and of Claude: sessions, and what was remembered beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.formats.transcripts import parse_turns
from commonplace.home import Home
from commonplace.surfaces.install.capture import store_session

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


# Claude Code: its notes of a project, and its transcripts.


SLUG = "-home-ann-tea"


def event(role: str, content: Any, **more: Any) -> str:
    output = {
        "type": role,
        "sessionId": "s-1",
        "timestamp": "2026-01-20T11:57:17.716Z",
        "isSidechain": False,
        "message": {"role": role, "content": content},
    }
    return json.dumps(output | more)


TRANSCRIPT = "\n".join(
    [
        '{"type":"summary","summary":"All about tea","leafUuid":"x"}',
        '{"type":"queue-operation","operation":"dequeue","timestamp":"2026-01-20T11:57:17.716Z","sessionId":"s-1"}',
        event("user", "Which tea do I like?", uuid="u1"),
        event("user", "Which tea do I like?", uuid="u1"),
        event("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Green tea."}], uuid="u2"),
        event("assistant", [{"type": "tool_use", "name": "Bash", "input": {}}], uuid="u3"),
        event("user", [{"type": "tool_result", "content": "listing"}], uuid="u4"),
        event("user", "Caveat: The messages below were generated by the user", uuid="u5", isMeta=True),
        event("user", "<command-name>/clear</command-name>", uuid="u6"),
        event("assistant", [{"type": "text", "text": "a helper said this"}], uuid="u7", isSidechain=True),
        "{broken",
        event("user", "Thanks", uuid="u8"),
    ]
)


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    folder = tmp_path / ".claude/projects"
    put(folder, f"{SLUG}/memory/MEMORY.md", "# Index\n\n- [Pots](pots.md)\n")
    put(folder, f"{SLUG}/memory/pots.md", "Two pots.")
    put(folder, f"{SLUG}/s-1.jsonl", TRANSCRIPT)
    put(folder, f"{SLUG}/agent-12.jsonl", event("user", "helper", uuid="a"))
    put(folder, f"{SLUG}/s-1/subagents/agent-13.jsonl", event("user", "helper", uuid="b"))
    return folder


def test_notes_become_the_curated_page_and_its_topics(home: Path, projects: Path) -> None:
    run_import(home, projects / SLUG)
    files = pages(home)
    assert files["agents/main/memory/MEMORY.md"] == "# Index\n\n- [Pots](pots.md)\n"
    assert files["agents/main/memory/pots.md"] == "Two pots."
    assert "Two pots." in {hit.text for hit in Memory(home).search("pots")}


def test_a_transcript_becomes_what_was_said(home: Path, projects: Path) -> None:
    done = run_import(home, projects / SLUG)
    (path,) = [path for path in done.added if path.endswith(".jsonl")]
    assert path == "agents/main/sessions/claude-code-2026-01-20-s-1.jsonl"
    result, broken = parse_turns(pages(home)[path])
    assert [turn.text for turn in result] == ["user: Which tea do I like?", "assistant: Green tea.", "user: Thanks"]
    assert {turn.at for turn in result} == {"2026-01-20T11:57:17.716000Z"}
    assert broken == []
    assert json.loads(pages(home)[path].split("\n")[0])["title"] == "All about tea"
    assert [*whys(done)] == ["s-1.jsonl, line 11"]


@pytest.mark.parametrize("start", ["..", ".", SLUG, f"{SLUG}/memory", f"{SLUG}/s-1.jsonl"])
def test_any_folder_on_the_way_is_recognised(home: Path, projects: Path, start: str) -> None:
    done = run_import(home, projects / start)
    assert len(done.added) == {f"{SLUG}/memory": 2, f"{SLUG}/s-1.jsonl": 1}.get(start, 3)


def test_several_projects_have_a_folder_each(home: Path, projects: Path) -> None:
    put(projects, "-home-ann-pots/memory/MEMORY.md", "Other")
    run_import(home, projects)
    assert [path for path in pages(home) if path.endswith("MEMORY.md")] == [
        "agents/main/memory/claude-code-home-ann-pots/MEMORY.md",
        "agents/main/memory/claude-code-home-ann-tea/MEMORY.md",
    ]


def test_a_curated_page_that_exists_stays_and_the_imported_one_goes_beside_it(home: Path, projects: Path) -> None:
    Memory(home).call("reflect", {"content": "Mine."})
    done = run_import(home, projects / SLUG)
    assert pages(home)["agents/main/memory/MEMORY.md"].startswith("Mine.")
    beside = "agents/main/memory/claude-code-home-ann-tea/MEMORY.md"
    assert done.renamed == ((beside, "agents/main/memory/MEMORY.md"),)
    assert pages(home)[beside].startswith("# Index")
    again = run_import(home, projects / SLUG)
    assert (again.added, again.renamed, again.left_unchanged) == ((), (), ())


def test_a_session_that_went_on_is_brought_up_to_date(home: Path, projects: Path) -> None:
    run_import(home, projects / SLUG)
    put(projects, f"{SLUG}/s-1.jsonl", TRANSCRIPT + "\n" + event("assistant", "You are welcome", uuid="u9"))
    done = run_import(home, projects / SLUG)
    assert done.updated == ("agents/main/sessions/claude-code-2026-01-20-s-1.jsonl",)
    assert "You are welcome" in pages(home)[done.updated[0]]


def test_a_session_that_a_hook_kept_does_not_come_twice(home: Path, projects: Path) -> None:
    place = projects / SLUG / "s-1.jsonl"
    payload = {"session_id": place.stem, "transcript_path": str(place)}
    outcome = store_session(Home(str(home)), payload, "claude-code")
    done = run_import(home, place)
    assert done.added == ()
    assert [why for _, why in done.left_unchanged] == [f"{outcome} has this session already, and stays"]
    assert [*(home / "agents/main/sessions").iterdir()] == [home / outcome]


def test_a_copy_with_another_name_of_a_session_that_a_hook_kept_does_not_come_either(
    home: Path, projects: Path
) -> None:
    place = projects / SLUG / "s-1.jsonl"
    outcome = store_session(Home(str(home)), {"session_id": "s-1", "transcript_path": str(place)}, "claude-code")
    done = run_import(home, put(projects, "backup/copy.jsonl", TRANSCRIPT))
    assert done.added == ()
    assert [why for _, why in done.left_unchanged] == [f"{outcome} has this session already, and stays"]


@pytest.mark.parametrize("name", ["s-1", "copy"])
def test_an_imported_session_continues_in_its_page_when_a_hook_stores_more_of_it(
    home: Path, projects: Path, name: str
) -> None:
    source = put(projects, f"{SLUG}/{name}.jsonl", TRANSCRIPT)
    (path,) = run_import(home, source).added
    place = put(projects, f"{SLUG}/s-1.jsonl", TRANSCRIPT + "\n" + event("assistant", "You are welcome", uuid="u9"))
    payload = {"session_id": "s-1", "transcript_path": str(place)}
    for _ in range(2):
        assert store_session(Home(str(home)), payload, "claude-code") == path
    assert [*(home / "agents/main/sessions").iterdir()] == [home / path]
    texts = [turn.text for turn in parse_turns(pages(home)[path])[0]]
    assert texts == [
        "user: Which tea do I like?",
        "assistant: Green tea.",
        "user: Thanks",
        "assistant: You are welcome",
    ]


def test_a_session_with_a_key_in_it_is_known_by_what_is_left_of_it(home: Path, projects: Path) -> None:
    secret = event("user", "use AKIAIOSFODNN7EXAMPLQ for it", uuid="u1")
    place = put(projects, f"{SLUG}/s-1.jsonl", secret + "\n" + event("assistant", "Done", uuid="u2"))
    (path,) = run_import(home, place).added
    assert store_session(Home(str(home)), {"session_id": "s-1", "transcript_path": str(place)}, "claude-code") == path
    assert len(parse_turns(pages(home)[path])[0]) == 2


def test_another_session_that_begins_alike_has_a_page_of_its_own(home: Path, projects: Path) -> None:
    one, other = (f"0a1b2c3d-0000-4000-8000-00000000000{number}" for number in (1, 2))
    run_import(home, put(projects, f"{SLUG}/{one}.jsonl", TRANSCRIPT))
    place = put(projects, f"{SLUG}/{other}.jsonl", TRANSCRIPT + "\n" + event("user", "But black?", uuid="u9"))
    outcome = store_session(Home(str(home)), {"session_id": other, "transcript_path": str(place)}, "claude-code")
    assert outcome == f"agents/main/sessions/{other}.jsonl"


def test_a_transcript_that_begins_with_a_long_line_is_recognised(home: Path, tmp_path: Path) -> None:
    put(tmp_path, "a.jsonl", event("user", "long " * 40_000) + "\n" + event("assistant", "Indeed.") + "\n")
    assert run_import(home, tmp_path / "a.jsonl").added == ("agents/main/sessions/claude-code-2026-01-20-a.jsonl",)
