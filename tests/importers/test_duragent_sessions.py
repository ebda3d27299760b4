"""Sessions of duragent: the log of events as it is, or what the snapshot and the rest of the log say together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .sources import put, run_import, whys

START = {"type": "session_start", "session_id": "s-1", "agent": "scout"}
ASKED = {"type": "user_message", "content": "Which tea?"}
ANSWERED = {"type": "assistant_message", "agent": "scout", "content": "Green."}
THANKED = {"type": "user_message", "content": "Thanks."}
CALLED = {"type": "tool_call", "call_id": "c", "tool_name": "bash", "arguments": {}}
SNAPSHOT = """\
schema_version: "2"
session_id: s-1
agent: scout
created_at: 2026-01-02T03:04:00Z
last_event_seq: 5
checkpoint_seq: 3
conversation:
  - role: user
    content: Which tea?
  - role: assistant
    content: Green.
  - role: tool
    content: rain
"""


def log(*events: dict[str, Any], first: int = 1) -> str:
    numbered = (
        {"seq": seq, "timestamp": f"2026-01-02T03:04:{seq:02}Z", **event} for seq, event in enumerate(events, first)
    )
    return "".join(f"{json.dumps(event)}\n" for event in numbered)


@pytest.fixture
def dura(tmp_path: Path) -> Path:
    put(tmp_path / "d", "duragent.yaml", "workspace: .duragent\n")
    return tmp_path / "d"


def read_turns(home: Path, path: str) -> list[str]:
    events = [json.loads(line) for line in (home / path).read_text().splitlines()]
    return [f"{event['role']}: {event['content']}" for event in events if "role" in event]


ALL = ["user: Which tea?", "assistant: Green.", "user: Thanks."]
PAGE = "agents/scout/sessions/duragent-2026-01-02-s-1.jsonl"


def test_sessions_go_to_the_agent_whose_they_are(home: Path, dura: Path, tmp_path: Path) -> None:
    put(dura, ".duragent/sessions/s-1/events.jsonl", log(START, ASKED, CALLED, ANSWERED, THANKED))
    put(dura, ".duragent/sessions/s-2/events.jsonl", log({**START, "agent": "cook"}, ASKED))
    put(dura, ".duragent/agents/scout/agent.yaml", "x: 1")
    done = run_import(home, dura)
    assert sorted(done.added) == ["agents/cook/sessions/duragent-2026-01-02-s-2.jsonl", PAGE]
    assert read_turns(home, PAGE) == ALL
    mine = run_import(tmp_path / "other", dura, agent="ann", agent_was_named=True)
    assert {path.partition("/sessions")[0] for path in mine.added} == {"agents/ann"}


def test_a_log_that_was_cut_begins_with_its_snapshot(home: Path, dura: Path) -> None:
    put(dura, ".duragent/sessions/s-1/state.yaml", SNAPSHOT)
    put(dura, ".duragent/sessions/s-1/events.jsonl", log(ANSWERED, CALLED, THANKED, first=3))
    assert run_import(home, dura).added == (PAGE,)
    assert read_turns(home, PAGE) == ALL


def test_a_log_that_was_put_aside_comes_before_the_rest(home: Path, dura: Path) -> None:
    put(dura, ".duragent/sessions/s-1/state.yaml", SNAPSHOT)
    put(dura, ".duragent/sessions/s-1/events.archive.jsonl", log(START, ASKED, ANSWERED))
    put(dura, ".duragent/sessions/s-1/events.jsonl", log(THANKED, first=4))
    run_import(home, dura)
    assert read_turns(home, PAGE) == ALL


@pytest.mark.parametrize("broken", ["a: [", "", "- 1", "conversation: 7"])
def test_a_snapshot_that_is_broken_costs_itself(home: Path, dura: Path, broken: str) -> None:
    put(dura, ".duragent/sessions/s-1/state.yaml", broken)
    put(dura, ".duragent/sessions/s-1/events.jsonl", log(ANSWERED, THANKED, first=3))
    put(dura, ".duragent/sessions/s-2/events.jsonl", log(START))
    done = run_import(home, dura)
    assert read_turns(home, PAGE) == ALL[1:]
    assert whys(done)[".duragent/sessions/s-2"] == "is a session in which nothing was said"
    assert (".duragent/sessions/s-1/state.yaml" in whys(done)) == (broken == "a: [")


def test_logs_of_one_name_in_two_folders_are_two_sessions(home: Path, dura: Path) -> None:
    for name in ("a", "b"):
        put(dura, f".duragent/agents/scout/sessions/{name}/events.jsonl", log(START, {**ASKED, "content": name}))
    done = run_import(home, dura)
    assert [path.rpartition("-")[2] for path in done.added] == ["a.jsonl", "b.jsonl"]
