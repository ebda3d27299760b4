"""The hooks before each prompt and around a compaction: nothing twice, nothing lost, and never in a client's way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import ShellAfter
from .shell import Shell

TEA = "Ann prefers green tea, never coffee."
ASK = "does Ann drink coffee?"
EVENTS = {"claude-code": "UserPromptSubmit", "codex": "UserPromptSubmit", "gemini-cli": "BeforeAgent"}
SESSION = [
    {"role": "user", "content": "What port does the staging database listen on?", "timestamp": "2026-03-14T09:26:53Z"},
    {"role": "assistant", "content": "It listens on 6543, behind PgBouncer.", "timestamp": "2026-03-14T09:26:54Z"},
]
ASK_PORT = "which port has the staging database?"


@pytest.fixture
def shell(shell_after: ShellAfter) -> Shell:
    return shell_after(("remember", TEA))


def hook(shell: Shell, moment: str, *options: str, **event: Any) -> str:
    payload = {"session_id": "s-1", "cwd": str(shell.folder), **event}
    done = shell.run("hook", moment, *options, stdin=json.dumps(payload))
    assert done.returncode == 0
    assert done.stderr == ""
    return done.stdout


def ask(shell: Shell, prompt: str = ASK, session: str = "s-1", client: str = "") -> str:
    return hook(shell, "prompt", "--client", client, prompt=prompt, session_id=session)


def end(shell: Shell, moment: str = "session-end", session: str = "s-0") -> None:
    transcript = shell.folder / "t.jsonl"
    transcript.write_text("".join(json.dumps(turn) + "\n" for turn in SESSION))
    assert hook(shell, moment, session_id=session, transcript_path=str(transcript)) == ""


@pytest.mark.parametrize("client", EVENTS)
def test_a_client_gets_the_answer_in_its_own_form(shell: Shell, client: str) -> None:
    answer = json.loads(ask(shell, client=client))
    inside = answer.pop("hookSpecificOutput")
    assert answer == {}
    assert inside["hookEventName"] == EVENTS[client]
    assert TEA in inside["additionalContext"]


def test_a_day_says_how_many_more_entries_it_has(shell: Shell) -> None:
    for number in range(12):
        shell.ok("remember", f"Parcel {number} went to the harbour.")
    answer = ask(shell, "what happened today").rstrip().split("\n")
    assert "Parcel 11 " in next(line for line in answer if line.startswith("- "))
    assert answer[-1].endswith('more: memory_search "today" with maxResults 13, or commonplace search -n 13 "today")')
    searched = shell.run("search", "did Ann drink tea in May 1999?")
    assert "nothing is dated in May 1999 (1–31 May 1999): the hits are from other days" in searched.stderr


def test_cursor_may_go_on_and_others_read_plain_text(shell: Shell) -> None:
    answer = json.loads(ask(shell, client="cursor"))
    assert answer.pop("continue") is True
    assert TEA in answer.pop("additional_context")
    assert answer == {}
    assert ask(shell, session="s-2").startswith("## Recalled Memory\n")


@pytest.mark.parametrize("client", ["", *EVENTS, "cursor"])
def test_nothing_is_said_when_nothing_is_likely_enough(shell: Shell, client: str) -> None:
    assert ask(shell, "write a haiku about the sea", client=client) == ""


def test_nothing_is_repeated_within_a_session(shell: Shell) -> None:
    assert TEA in ask(shell)
    assert ask(shell) == ""
    assert ask(shell, "is it tea or coffee that Ann prefers?") == ""
    assert TEA in ask(shell, session="s-2")


def test_what_the_session_started_with_is_not_repeated(shell: Shell) -> None:
    shell.ok("reflect", TEA)
    assert TEA in hook(shell, "session-start", source="startup")
    assert ask(shell) == ""
    assert TEA in ask(shell, session="s-2")


def test_a_budget_is_kept_to(shell: Shell) -> None:
    assert hook(shell, "prompt", "--budget", "10", prompt=ASK) == ""


def test_after_a_compaction_the_session_starts_with_the_context_again(shell: Shell) -> None:
    shell.ok("reflect", TEA)
    first = hook(shell, "session-start", source="startup")
    end(shell, "pre-compact", "s-1")
    assert hook(shell, "session-start", source="compact") == first
    assert ask(shell) == ""
    assert "6543" in (shell.folder / ".commonplace/agents/main/sessions/s-1.jsonl").read_text()


def test_where_no_session_starts_after_a_compaction_the_next_prompt_restores_the_context(shell: Shell) -> None:
    shell.ok("reflect", "The spare key hangs behind the oven.")
    assert TEA in hook(shell, "session-start", source="startup")
    assert ask(shell) == ""
    end(shell, "pre-compact", "s-1")
    restored = ask(shell)
    assert "behind the oven" in restored
    assert TEA in restored
    assert ask(shell) == ""


def test_an_older_installation_still_tells_of_a_compaction(shell: Shell) -> None:
    transcript = shell.folder / "t.jsonl"
    transcript.write_text(json.dumps(SESSION[0]) + "\n")
    assert TEA in ask(shell)
    hook(shell, "session-end", hook_event_name="PreCompact", transcript_path=str(transcript))
    assert TEA in ask(shell)


def test_a_session_that_was_kept_is_found_and_recalled(shell: Shell) -> None:
    end(shell)
    (first, *_) = json.loads(shell.ok("search", ASK_PORT, "--source", "session", "--json"))["results"]
    assert first["at"].startswith("2026-03-14")
    answered = ask(shell, ASK_PORT)
    assert "- 2026-03-14, main (session), agents/main/sessions/s-0.jsonl#L2-L2: user: What port" in answered
    assert "assistant: It listens on 6543" in answered


def test_a_session_is_not_told_what_was_said_in_it_but_after_a_compaction(shell: Shell) -> None:
    end(shell, "session-end", "s-1")
    assert ask(shell, ASK_PORT) == ""
    end(shell, "pre-compact", "s-1")
    assert "6543" in ask(shell, ASK_PORT)


def test_a_setting_that_is_there_decides_whether_sessions_are_searched(shell: Shell) -> None:
    settings = shell.folder / ".commonplace/commonplace.yaml"
    settings.write_text("memorySearch:\n  indexSessions: false\n")
    end(shell)
    assert settings.read_text() == "memorySearch:\n  indexSessions: false\n"
    assert ask(shell, ASK_PORT) == ""


@pytest.mark.parametrize(
    "event", ["{}", '{"prompt": 7}', '{"prompt": ""}', '{"session_id": 7, "prompt": "x"}', '{"prompt": "\\ud800 tea"}']
)
def test_whatever_the_client_says_a_prompt_goes_on(shell: Shell, event: str) -> None:
    done = shell.run("hook", "prompt", "--client", "claude-code", stdin=event)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_memory_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    done = shell.run("hook", "prompt", "--home", str(tmp_path / "none"), stdin=json.dumps({"prompt": ASK}))
    assert (done.returncode, done.stdout) == (0, "")
    assert not (tmp_path / "none").exists()


def test_what_is_kept_of_a_session_says_nothing_of_the_memory(shell: Shell) -> None:
    ask(shell)
    (file,) = (shell.folder / ".commonplace/.index").glob("conversation-*")
    assert not {b"Ann", b"tea", b"coffee"} & {*file.read_bytes().split()}
    assert shell.ok("doctor")
