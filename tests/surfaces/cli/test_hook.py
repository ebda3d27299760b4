"""The hooks that clients run: a session starts with what is known, and what was said in it is kept. Nothing breaks them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Memory
from commonplace.storage.base import MAX_PAGE_CHARACTERS
from commonplace.storage.file_locks import lock
from commonplace.surfaces.cli.hook import MAX_HOOK_SECONDS
from commonplace.surfaces.install.capture import extract_turns, merge_turns
from commonplace.surfaces.install.clients import HOOK_TIMEOUT_SECONDS

from ...waiting import LONG_SECONDS
from .conftest import ShellAfter
from .shell import Shell

# The command in a process of its own, where a busy machine may take its time.
PATIENT = f"""
from commonplace.surfaces.cli import hook, main
hook.MAX_HOOK_SECONDS = hook._CATCH_UP_SECONDS = {LONG_SECONDS}
main()
"""
COMMAND = [sys.executable, "-P", "-c", PATIENT, "hook"]
KEY = "sk-ant-api03-" + "a1B2c3D4e5F6g7H8" * 6
CLAUDE = [
    {"type": "summary", "summary": "Tea"},
    {"type": "user", "isMeta": True, "message": {"role": "user", "content": "a note of the program"}},
    {"type": "user", "message": {"role": "user", "content": "I prefer green tea"}, "timestamp": "2026-03-14T09:26:53Z"},
    {"type": "assistant", "message": {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."},
        {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]}, "timestamp": "2026-03-14T09:26:54Z"},
    {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": "secret files"}]}},
    {"type": "user", "message": {"role": "user", "content": f"my key is {KEY}"}, "timestamp": "2026-03-14T09:27:00Z"},
    {"type": "user", "isSidechain": True, "message": {"role": "user", "content": "to a helper"}},
    {"type": "user", "message": {"role": "user", "content": "<command-name>/clear</command-name>"}},
]  # fmt: skip
CODEX = [
    {"timestamp": "2026-03-14T09:26:50Z", "type": "session_meta", "payload": {"id": "x", "cwd": "/"}},
    {"timestamp": "2026-03-14T09:26:51Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "<environment_context>linux</environment_context>"}]}},
    {"timestamp": "2026-03-14T09:26:52Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "I prefer green tea"}]}},
    {"timestamp": "2026-03-14T09:26:53Z", "type": "event_msg", "payload": {"type": "user_message", "message": "I prefer green tea"}},
    {"timestamp": "2026-03-14T09:26:54Z", "type": "response_item", "payload": {"type": "function_call", "name": "shell"}},
    {"timestamp": "2026-03-14T09:26:55Z", "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": "Noted."}]}},
]  # fmt: skip
CURSOR = [
    {"role": "user", "message": {"content": [{"type": "text", "text": "I prefer green tea"}]}},
    {"role": "assistant", "message": {"content": [{"type": "text", "text": "Noted."}]}},
]
GEMINI = {
    "sessionId": "x",
    "messages": [
        {"id": "1", "timestamp": "2026-03-14T09:26:53Z", "type": "user", "content": "I prefer green tea"},
        {"id": "2", "timestamp": "2026-03-14T09:26:54Z", "type": "info", "content": "updated"},
        {"id": "3", "timestamp": "2026-03-14T09:26:55Z", "type": "gemini", "content": [{"text": "Noted."}], "thoughts": []},
    ],
}  # fmt: skip


def as_lines(events: list[Any]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


TRANSCRIPTS = {
    "claude-code": as_lines(CLAUDE), "codex": as_lines(CODEX), "cursor": as_lines(CURSOR),
    "gemini-cli": json.dumps(GEMINI, indent=2),
}  # fmt: skip


@pytest.fixture
def shell(shell_after: ShellAfter) -> Shell:
    return shell_after(("reflect", "Ann drinks green tea."))


def read_turns(shell: Shell, name: str = "s-1") -> list[dict[str, str]]:
    page = shell.folder / f".commonplace/agents/main/sessions/{name}.jsonl"
    return [json.loads(line) for line in page.read_text().splitlines()]


def end(shell: Shell, transcript: str, client: str = "claude-code", **event: Any) -> subprocess.CompletedProcess[str]:
    place = shell.folder / "transcript.jsonl"
    place.write_text(transcript)
    payload = {"session_id": "s-1", "transcript_path": str(place), "cwd": str(shell.folder), **event}
    done = shell.run("hook", "session-end", "--client", client, stdin=json.dumps(payload))
    assert done.returncode == 0
    assert done.stdout == ""
    return done


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini-cli"])
def test_a_session_starts_with_what_is_known(shell: Shell, client: str) -> None:
    event = {"session_id": "s-1", "hook_event_name": "SessionStart", "source": "startup", "cwd": str(shell.folder)}
    answer = json.loads(shell.ok("hook", "session-start", "--client", client, stdin=json.dumps(event)))
    inside = answer.pop("hookSpecificOutput")
    assert answer == {}
    assert inside["hookEventName"] == "SessionStart"
    assert "Ann drinks green tea." in inside["additionalContext"]


def test_cursor_and_all_others_get_the_answer_in_their_own_form(shell: Shell) -> None:
    assert (
        "green tea"
        in json.loads(shell.ok("hook", "session-start", "--client", "cursor", stdin="{}"))["additional_context"]
    )
    assert shell.ok("hook", "session-start") == shell.ok("context")


def test_the_start_names_the_tools_that_the_client_is_given(shell: Shell) -> None:
    assert "memory_update" in shell.ok("hook", "session-start", "--tools", "notes")
    assert shell.ok("hook", "session-start", "--tools", "notes") == shell.ok("context", "--tools", "notes")
    wrong = shell.run("hook", "session-start", "--tools", "nothing")
    assert (wrong.returncode, wrong.stdout) == (0, "")
    assert "--tools" in wrong.stderr


def test_the_start_keeps_to_its_budget(shell: Shell) -> None:
    shell.ok("reflect", "-", stdin="\n".join(f"Fact {number} is worth knowing." for number in range(5000)))
    short = shell.ok("hook", "session-start", "--budget", "700")
    assert 1000 < len(short) < 5000
    usual = shell.ok("hook", "session-start", "--client", "claude-code", stdin="{}")
    assert len(json.loads(usual)["hookSpecificOutput"]["additionalContext"]) < 10_000


@pytest.mark.parametrize("client", TRANSCRIPTS)
def test_what_was_said_is_kept_whichever_client_wrote_it_down(shell: Shell, client: str) -> None:
    end(shell, TRANSCRIPTS[client], client)
    first, second, *rest = read_turns(shell)
    assert (first["role"], first["content"]) == ("user", "I prefer green tea")
    assert (second["role"], second["content"]) == ("assistant", "Noted.")
    assert client == "cursor" or first["timestamp"].startswith("2026-03-14T09:26")
    assert len(rest) == (1 if client == "claude-code" else 0)


def test_secrets_are_taken_out_before_anything_is_written(shell: Shell) -> None:
    end(shell, TRANSCRIPTS["claude-code"])
    assert read_turns(shell)[2]["content"] == "my key is [secret: Anthropic API key]"
    home = shell.folder / ".commonplace"
    assert not any(KEY.encode() in page.read_bytes() for page in home.rglob("*") if page.is_file())


def test_a_session_that_was_kept_is_found_where_the_settings_say_so(shell: Shell) -> None:
    end(shell, TRANSCRIPTS["codex"], "codex")
    (shell.folder / ".commonplace/commonplace.yaml").write_text("memorySearch:\n  indexSessions: true\n")
    results = json.loads(shell.ok("search", "--keyword", "green tea", "--source", "session", "--json"))["results"]
    assert results[0]["citation"].startswith("agents/main/sessions/s-1.jsonl#L1")
    assert "user: I prefer green tea" in results[0]["text"]


def test_a_session_grows_and_the_same_once_more_changes_nothing(shell: Shell) -> None:
    end(shell, as_lines(CLAUDE[:3]))
    page = shell.folder / ".commonplace/agents/main/sessions/s-1.jsonl"
    end(shell, as_lines(CLAUDE))
    assert len(read_turns(shell)) == 3
    before = page.stat()
    end(shell, as_lines(CLAUDE))
    assert (page.stat().st_mtime_ns, page.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_session_that_its_client_cut_loses_nothing(shell: Shell) -> None:
    end(shell, as_lines(CLAUDE))
    whole = read_turns(shell)
    end(shell, as_lines(CLAUDE[:3]))
    assert read_turns(shell) == whole
    later = {"type": "user", "message": {"role": "user", "content": "and cake"}}
    end(shell, as_lines([CLAUDE[3], later]))
    assert read_turns(shell) == [*whole, {"role": "user", "content": "and cake"}]


@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.sampled_from("abc"), max_size=6))
def test_merging_keeps_all_that_was_kept_and_all_that_is_said(old: list[str], new: list[str]) -> None:
    both = merge_turns(old, new)
    assert both[: len(old)] == old
    for line in "abc":
        assert both.count(line) == max(old.count(line), new.count(line))
    assert merge_turns(both, new) == both


def test_half_a_line_waits_for_its_other_half() -> None:
    whole = as_lines(CLAUDE[2:4])
    assert [*extract_turns(whole[: len(whole) - 30])] == [*extract_turns(whole)][:1]


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda data: data.decode("utf-8", "replace")))
def test_a_transcript_of_anything_is_read_without_a_fault(text: str) -> None:
    for line in extract_turns(text):
        assert {"role", "content"} <= {*json.loads(line)}


def test_the_agent_and_the_home_are_those_of_the_command(shell: Shell, tmp_path: Path) -> None:
    place = shell.folder / "t.jsonl"
    place.write_text(as_lines(CURSOR))
    text = json.dumps({"conversation_id": "../../evil", "transcript_path": str(place), "workspace_roots": ["/nowhere"]})
    shell.ok(
        "hook", "session-end", "--client", "cursor", "--home", str(tmp_path / "new"), "--agent", "scout", stdin=text
    )
    (page,) = (tmp_path / "new/agents").rglob("*.jsonl")
    assert page.parent == tmp_path / "new/agents/scout/sessions"
    assert "evil" in page.name


def test_the_home_is_looked_for_where_the_client_works(shell: Shell, tmp_path: Path) -> None:
    deep = tmp_path / "a/b"
    deep.mkdir(parents=True)
    place = tmp_path / "t.jsonl"
    place.write_text(as_lines(CURSOR))
    for answer in ({"cwd": str(deep)}, {"workspace_roots": [str(deep)]}):
        given_ = json.dumps({"session_id": "w", "transcript_path": str(place), **answer})
        done = subprocess.run(
            [*COMMAND, "session-end"], cwd="/", env=shell.environment, input=given_,
            text=True, capture_output=True, check=True,
        )  # fmt: skip
        assert done.stderr == ""
        (tmp_path / ".commonplace/agents/main/sessions/w.jsonl").unlink()


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (["session-end"], ""),
        (["session-end"], "{}"),
        (["session-end"], "not json"),
        (["session-end"], "[1, 2]"),
        (["session-end"], '{"session_id": "x", "transcript_path": "/nowhere/t.jsonl"}'),
        (["session-end"], '{"session_id": "x", "transcript_path": "/dev/null"}'),
        (["session-end"], '{"session_id": 7, "transcript_path": null}'),
        (["session-end"], '{"session_id": "x", "transcript_path": "/"}'),
        (["session-start", "--home", "/nowhere/at/all"], "{}"),
        (["session-start"], "\x00\x01 nonsense"),
        (["session-begin"], "{}"),
    ],
)
def test_whatever_the_client_says_the_hook_ends_well_and_says_what_is_wrong(
    shell: Shell, arguments: list[str], stdin: str
) -> None:
    done = shell.run("hook", *arguments, stdin=stdin)
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("warning: ")
    assert done.stdout == ""


@pytest.mark.parametrize("stdin", ["not json", "[1, 2]", "[" * 100_000, '{"prompt": "' + "x" * 1_100_000 + '"}'])
def test_input_that_is_no_event_is_reported(shell: Shell, stdin: str) -> None:
    done = shell.run("hook", "session-start", stdin=stdin)
    assert done.stderr == (
        "warning: commonplace hook session-start: standard input is not a JSON object of 1 MB at most: nothing was "
        "done\n"
    )


def test_a_hook_in_a_folder_that_is_gone_says_what_to_name(shell: Shell) -> None:
    command = f"mkdir gone && cd gone && rmdir ../gone && exec {shlex.join(COMMAND)} session-start"
    done = subprocess.run(
        ["bash", "-c", command], cwd=shell.folder, env=shell.environment, input="{}", capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert "the folder you are in was removed: go to another one, or name the memory with --home" in done.stderr


def test_options_of_another_version_do_not_break_a_client(shell: Shell) -> None:
    done = shell.run("hook", "session-start", "--budget", "many", "--unheard-of", "x", "--client", "emacs", stdin="{}")
    assert done.returncode == 0
    assert "green tea" in done.stdout


def test_settings_that_are_wrong_do_not_break_a_client(shell: Shell) -> None:
    (shell.folder / ".commonplace/commonplace.yaml").write_text("colour: blue\n")
    done = shell.run("hook", "session-start", stdin="{}")
    assert (done.returncode, done.stdout) == (0, "")
    assert "unknown key 'colour'" in done.stderr


def test_a_client_that_never_stops_talking_is_not_waited_for(shell: Shell) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"{}")
    done = subprocess.run(
        [*COMMAND, "session-start"], cwd=shell.folder, env=shell.environment,
        stdin=reading, capture_output=True, text=True, check=True, timeout=LONG_SECONDS,
    )  # fmt: skip
    assert "green tea" in done.stdout
    os.close(writing)
    os.close(reading)


def test_what_was_kept_can_be_forgotten(shell: Shell) -> None:
    end(shell, as_lines(CLAUDE))
    shell.ok("forget", "--session", "s-1", "--yes")
    home = shell.folder / ".commonplace"
    assert not any(b"prefer green" in page.read_bytes() for page in home.rglob("*") if page.is_file())


def test_a_session_in_which_nothing_was_said_leaves_no_page(shell: Shell) -> None:
    assert end(shell, as_lines(CLAUDE[:2])).stderr == ""
    assert not (shell.folder / ".commonplace/agents/main/sessions").exists()


def test_a_hook_loads_nothing_heavy(home: Path) -> None:
    from tests.house.test_house import HEAVY, loaded_after, run_command

    Memory(home).call("reflect", {"content": "tea"})
    loaded = loaded_after(run_command(home, "hook", "session-start"))
    assert [name for name in [*HEAVY, "yaml", "commonplace.tools", "commonplace.memory"] if name in loaded] == []


def test_streams_that_nobody_opened_do_not_break_a_hook(shell: Shell) -> None:
    done = subprocess.run(
        ["bash", "-c", f"exec {shlex.join(COMMAND)} session-start <&- 2>&-"],
        cwd=shell.folder, env=shell.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "green tea" in done.stdout


def test_a_search_by_words_loads_no_model(home: Path) -> None:
    from tests.house.test_house import HEAVY, loaded_after, run_command

    Memory(home).call("reflect", {"content": "Ann drinks green tea."})
    Memory(home).search("tea")
    loaded = loaded_after(run_command(home, "search", "--keyword", "tea"))
    assert [
        name for name in [*HEAVY, "yaml", "commonplace.embedding.static", "commonplace.memory"] if name in loaded
    ] == []


IMPATIENT = """
from commonplace.surfaces.cli import hook, main
hook.MAX_HOOK_SECONDS = 0.5
main()
"""


def test_a_hook_that_is_stuck_ends_before_its_client_gives_up(shell: Shell) -> None:
    assert MAX_HOOK_SECONDS < HOOK_TIMEOUT_SECONDS
    event = {"session_id": "s-1", "transcript_path": str(shell.folder / "transcript.jsonl")}
    (shell.folder / "transcript.jsonl").write_text(as_lines(CLAUDE))
    path = "agents/main/sessions/s-1.jsonl"
    with lock(str(shell.folder / ".commonplace/.locks"), "page", path):
        done = subprocess.run(
            [sys.executable, "-c", IMPATIENT, "hook", "session-end"], cwd=shell.folder, env=shell.environment,
            input=json.dumps(event), capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert (done.stdout, done.stderr) == ("", "commonplace hook: it took too long and was left\n")
    end(shell, as_lines(CLAUDE))
    assert len(read_turns(shell)) == 3


@pytest.mark.parametrize(
    ("paragraph", "megabytes"),
    [
        ("x" * 200, 5),  # costs a fifth of what sentences do
        pytest.param("The harbour has seventeen berths for boats, and a crane.", 20, marks=pytest.mark.thorough),
    ],
)
def test_a_day_of_many_megabytes_leaves_the_rest_of_the_context_standing(
    shell: Shell, paragraph: str, megabytes: int
) -> None:
    """More than is searched of a page."""
    day = f"{paragraph}\n\n" * (megabytes * 1_000_000 // len(paragraph))
    assert len(day) > MAX_PAGE_CHARACTERS
    shell.ok("call", "MemoryTool", '{"op": "setGlobal", "key": "name", "value": "Ann Berg", "category": "user_info"}')
    (shell.folder / ".commonplace/directives/tone.md").write_text("Answer in one sentence.\n")
    shell.ok("remember", "-", stdin=day)
    done = shell.run("hook", "session-start", stdin="{}")
    assert all(text in done.stdout for text in ("Ann Berg", "Answer in one sentence.", "Ann drinks green tea."))
    assert "green tea" in shell.ok("hook", "prompt", stdin=json.dumps({"prompt": "What does Ann drink?"}))
