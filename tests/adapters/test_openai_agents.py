"""An agent of the OpenAI Agents SDK with memory's tools and a session in the home. No network: a scripted model."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Runner, SessionSettings, set_tracing_disabled
from agents.memory import Session
from agents.testing import ScriptedModel, assistant_message, function_call
from agents.tool_context import ToolContext
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from commonplace import InvalidArgument, Memory, StorageError
from commonplace.adapters.openai_agents import CommonplaceSession, function_tools
from commonplace.errors import HoldsSecret, NotText, OutsideHome
from commonplace.surfaces.cli import cli
from commonplace.toolsets import TOOLSETS

from ..programs import Program


@pytest.fixture(autouse=True)
def disable_tracing() -> Iterator[None]:
    set_tracing_disabled(True)
    yield
    set_tracing_disabled(False)


def make_messages(*texts: str) -> list[Any]:
    return [{"role": "user", "content": text} for text in texts]


def items_of(session: CommonplaceSession, limit: int | None = None) -> list[Any]:
    return asyncio.run(session.get_items(limit))


def add(session: CommonplaceSession, *items: Any) -> None:
    asyncio.run(session.add_items([*items]))


def file_of(session: CommonplaceSession, home: Path) -> Path:
    return home / session.path


def test_an_agent_remembers_with_tools_and_goes_on_from_its_session(memory: Memory, home: Path) -> None:
    tools = function_tools(memory)
    model = ScriptedModel(
        [
            [function_call("remember", {"content": "The deploy day is Thursday."}, call_id="1")],
            [assistant_message("Noted.")],
        ]
    )
    agent = Agent(name="helper", model=model, tools=[*tools])
    session = CommonplaceSession("chat-1", memory)
    first = asyncio.run(Runner.run(agent, "We deploy on Thursdays.", session=session))
    assert first.final_output == "Noted."
    assert "The deploy day is Thursday." in memory.call("recall")["content"]

    model.enqueue([function_call("memory_search", {"query": "deploy day", "maxResults": 3}, call_id="2")])
    model.enqueue([assistant_message("Thursday.")])
    again = CommonplaceSession("chat-1", Memory(home))  # as after a restart
    asyncio.run(Runner.run(agent, "When do we deploy?", session=again))
    request = model.calls[-2].input
    assert next(item.get("content") for item in request if "role" in item) == "We deploy on Thursdays."  # type: ignore[union-attr]
    items = [item for item in asyncio.run(again.get_items()) if item.get("type") == "function_call_output"]
    assert "The deploy day is Thursday." in str(items[-1])
    model.assert_complete()


def test_all_tools_are_strict_and_named_as_memory_names_them(memory: Memory) -> None:
    tools = function_tools(memory, TOOLSETS)
    assert [tool.name for tool in tools] == [tool["function"]["name"] for tool in memory.tools("openai")]
    assert all(tool.strict_json_schema for tool in tools)
    strict = [tool["function"]["parameters"] for tool in memory.tools("openai", strict=True)]
    assert [tool.params_json_schema for tool in tools] == strict


@pytest.mark.parametrize("arguments", ["", "not json", "[]", '{"content": 5}', "{}"])
def test_what_a_model_does_wrong_is_answered_and_not_raised(memory: Memory, arguments: str) -> None:
    (tool,) = [tool for tool in function_tools(memory) if tool.name == "remember"]
    context = ToolContext(context=None, tool_name="remember", tool_call_id="1", tool_arguments=arguments)
    answer = json.loads(asyncio.run(tool.on_invoke_tool(context, arguments)))
    assert answer["success"] is False
    assert answer["error"]


def test_a_session_is_what_the_sdk_calls_one(memory: Memory) -> None:
    assert isinstance(CommonplaceSession("s", memory), Session)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3),
    max_leaves=5,
)


@given(items=st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=5))
def test_items_come_back_exactly_as_they_went_in(tmp_path_factory: pytest.TempPathFactory, items: list[Any]) -> None:
    session = CommonplaceSession("s", Memory(tmp_path_factory.mktemp("home")))
    add(session, *items[:2])
    add(session, *items[2:])
    assert items_of(session) == items
    assert items_of(session, 2) == items[-2:]
    for item in reversed(items):
        assert asyncio.run(session.pop_item()) == item
    assert asyncio.run(session.pop_item()) is None


def test_half_a_character_comes_back_as_it_was(memory: Memory, home: Path) -> None:
    session = CommonplaceSession("s", memory)
    add(session, *make_messages("cut \ud83d", "naïve 🐙"))
    assert items_of(session) == make_messages("cut \ud83d", "naïve 🐙")
    assert "naïve 🐙" in file_of(session, home).read_text()  # as people read it


@pytest.mark.parametrize(
    ("limit", "setting", "expected"),
    [(None, None, 5), (3, None, 3), (0, None, 0), (9, None, 5), (-1, None, 5), (None, 2, 2), (4, 2, 4), (None, 0, 0)],
)
def test_the_last_items_are_given_and_the_settings_say_how_many(
    memory: Memory, limit: int | None, setting: int | None, expected: int
) -> None:
    session = CommonplaceSession("s", memory, session_settings=SessionSettings(limit=setting))
    add(session, *make_messages("1", "2", "3", "4", "5"))
    assert items_of(session, limit) == make_messages("1", "2", "3", "4", "5")[5 - expected :]


def test_lines_longer_than_a_block_are_read_whole(memory: Memory) -> None:
    session = CommonplaceSession("s", memory)
    long = make_messages("x" * 300_000, "short", "y" * 70_000)
    add(session, *long)
    assert items_of(session) == long
    assert items_of(session, 2) == long[1:]
    assert asyncio.run(session.pop_item()) == long[2]
    assert items_of(session, 1) == long[1:2]


def test_cleared_is_empty_and_can_be_undone(memory: Memory) -> None:
    session = CommonplaceSession("s", memory)
    asyncio.run(session.clear_session())  # nothing yet: no error
    add(session, *make_messages("hello"))
    asyncio.run(session.clear_session())
    assert items_of(session) == []
    assert CliRunner().invoke(cli, ["--home", memory.home.root, "undo"]).exit_code == 0
    assert items_of(session) == make_messages("hello")


def test_what_was_said_is_found_by_search_where_the_settings_index_sessions(home: Path) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text("memorySearch:\n  indexSessions: true\n")
    memory = Memory(home)
    session = CommonplaceSession("chat", memory)
    call = {"type": "function_call", "name": "zebra", "arguments": "{}", "call_id": "1"}
    add(session, *make_messages("My bicycle is a blue Gazelle."), call)
    (hit,) = memory.search("which bicycle?", source="session")
    assert (hit.path, hit.start) == (session.path, 1)
    parts = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "The lock is green."}]}
    add(session, parts)
    assert "The lock is green." in memory.search("colour of the lock", source="session")[0].text  # seen at once
    assert not any("zebra" in hit.text for hit in memory.search("zebra"))  # calls are stored, but not searched


def test_nobody_else_sees_an_agents_sessions(home: Path) -> None:
    home.mkdir()
    (home / "commonplace.yaml").write_text("memorySearch:\n  indexSessions: true\n")
    add(CommonplaceSession("s", Memory(home, agent="a")), *make_messages("the blue Gazelle"))
    assert Memory(home, agent="a").search("Gazelle")
    assert not Memory(home, agent="b").search("Gazelle")
    assert items_of(CommonplaceSession("s", Memory(home, agent="b"))) == []


@pytest.mark.parametrize("name", ["chat/../../x", "Chat", "chat", "a\0b", "con", "日本", "🐙", " ", "x" * 400, ".."])
def test_every_session_id_has_a_separate_page(memory: Memory, home: Path, name: str) -> None:
    session, other = CommonplaceSession(name, memory), CommonplaceSession(name + "'", memory)
    add(session, *make_messages(name))
    add(other, *make_messages("other"))
    assert items_of(CommonplaceSession(name, memory)) == make_messages(name)
    assert {path.parent for path in home.rglob("*.jsonl") if ".history" not in str(path)} == {
        home / "agents/main/sessions"
    }


@pytest.mark.parametrize("name", ["", "half \ud83d", 5])
def test_what_names_no_session_is_refused(memory: Memory, name: Any) -> None:
    with pytest.raises(InvalidArgument, match="a session is named by text"):
        CommonplaceSession(name, memory)


@pytest.mark.parametrize("left", [b'{"role": "user", "cont', b"{", b'{"a": "\xc3'])
def test_half_a_line_of_a_killed_process_is_no_item_and_goes(memory: Memory, home: Path, left: bytes) -> None:
    session = CommonplaceSession("s", memory)
    add(session, *make_messages("one"))
    whole = file_of(session, home).read_bytes()
    file_of(session, home).write_bytes(whole + left)
    assert items_of(session) == make_messages("one")
    add(session, *make_messages("two"))
    assert items_of(session) == make_messages("one", "two")
    assert all(json.loads(line) for line in file_of(session, home).read_bytes().splitlines())


def test_a_last_line_that_only_lacks_its_end_is_kept(memory: Memory, home: Path) -> None:
    session = CommonplaceSession("s", memory)
    add(session, *make_messages("one"))
    file = file_of(session, home)
    file.write_bytes(file.read_bytes().rstrip(b"\n"))  # as an editor may save it
    assert items_of(session) == make_messages("one")
    add(session, *make_messages("two"))
    assert items_of(session) == make_messages("one", "two")


def test_a_line_that_is_not_json_is_passed_over(memory: Memory, home: Path) -> None:
    session = CommonplaceSession("s", memory)
    add(session, *make_messages("one", "two"))
    file_of(session, home).write_bytes(file_of(session, home).read_bytes() + b"a note by hand\n\n")
    assert items_of(session, 1) == make_messages("two")
    assert asyncio.run(session.pop_item()) == make_messages("two")[0]
    assert items_of(session) == make_messages("one")


def test_an_item_that_is_not_json_adds_nothing(memory: Memory) -> None:
    session = CommonplaceSession("s", memory)
    with pytest.raises(TypeError):
        add(session, *make_messages("one"), {"role": "user", "content": object()})
    assert items_of(session) == []


def test_a_cancelled_writer_waits_for_its_write(memory: Memory) -> None:
    session = CommonplaceSession("s", memory)

    async def cancel() -> None:
        task = asyncio.create_task(session.add_items(make_messages("one")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await session.get_items() in ([], make_messages("one"))

    asyncio.run(cancel())
    add(session, *make_messages("two"))
    assert items_of(session)[-1:] == make_messages("two")


def test_many_tasks_lose_nothing(memory: Memory) -> None:
    session = CommonplaceSession("s", memory)

    async def together() -> None:
        await asyncio.gather(*(session.add_items(make_messages(f"{i}a", f"{i}b")) for i in range(40)))

    asyncio.run(together())
    texts = [item["content"] for item in items_of(session)]
    assert sorted(texts) == sorted(f"{i}{part}" for i in range(40) for part in "ab")
    assert all(texts[texts.index(f"{i}a") + 1] == f"{i}b" for i in range(40))  # a call's items stand together


# A line of names and a number: a process for each name, forked off this one, since to import the SDK takes long.
WRITERS = """
import asyncio, os, sys
from commonplace import Memory
from commonplace.adapters.openai_agents import CommonplaceSession
async def write(name, count):
    session = CommonplaceSession("s", Memory(sys.argv[1]))
    for number in range(count):
        await session.add_items([{"role": "user", "content": f"{name} {number} " + "x" * 2000}])
        print(number, flush=True)
while line := sys.stdin.readline():
    *names, count = line.split()
    writers = []
    for name in names:
        writers.append(os.fork())
        if not writers[-1]:
            print(os.getpid(), flush=True)
            asyncio.run(write(name, int(count)))
            os._exit(0)
    print("ended", [os.waitpid(writer, 0)[1] for writer in writers], flush=True)
"""


def start_writers(program: Program, names: str, count: int) -> None:
    program.stdin.write(f"{names} {count}\n")
    program.stdin.flush()


@pytest.mark.slow
def test_two_processes_never_lose_an_item(memory: Memory, home: Path) -> None:
    with Program(WRITERS, str(home)) as program:
        start_writers(program, "a b", 200)
        program.stdin.close()
        assert program.stdout.readlines()[-1] == "ended [0, 0]\n"
    remaining = [item["content"].split(" ")[:2] for item in items_of(CommonplaceSession("s", memory))]
    for name in "ab":
        assert [number for who, number in remaining if who == name] == [str(number) for number in range(200)]


@pytest.mark.slow
def test_a_killed_process_leaves_whole_items_and_all_that_were_acknowledged(memory: Memory, home: Path) -> None:
    session = CommonplaceSession("s", memory)
    program = Program(WRITERS, str(home))
    for turn in range(5):
        start_writers(program, str(turn), 10_000)
        writer = int(program.stdout.readline())
        lines = [program.stdout.readline() for _ in range(20 + turn)]
        os.kill(writer, signal.SIGKILL)
        lines += iter(program.stdout.readline, f"ended [{signal.SIGKILL:d}]\n")
        numbers = [i["content"].split(" ")[1] for i in items_of(session) if i["content"].startswith(f"{turn} ")]
        assert numbers[: len(lines)] == [line.strip() for line in lines]
        assert len(numbers) <= len(lines) + 1
        add(session, *make_messages("healed"))
        assert all(json.loads(line) for line in file_of(session, home).read_bytes().splitlines())
    program.communicate()


def test_adding_writes_no_more_than_the_item_and_no_history(memory: Memory, home: Path) -> None:
    session = CommonplaceSession("s", memory)
    add(session, *make_messages("one"))
    inode = file_of(session, home).stat().st_ino
    add(session, *make_messages("two"))
    assert file_of(session, home).stat().st_ino == inode  # the same file, grown
    assert session.path not in memory.home.storage.history.paths()
    assert file_of(session, home).stat().st_mode & 0o777 == 0o600


def test_a_link_or_something_else_in_its_place_is_refused(memory: Memory, home: Path, tmp_path: Path) -> None:
    session = CommonplaceSession("s", memory)
    file = file_of(session, home)
    file.parent.mkdir(parents=True)
    (tmp_path / "outside").write_text("")
    file.symlink_to(tmp_path / "outside")
    for work in (session.add_items(make_messages("x")), session.get_items(), session.pop_item()):
        with pytest.raises(OutsideHome, match="through a link"):
            asyncio.run(work)  # type: ignore[arg-type]
    assert (tmp_path / "outside").read_text() == ""
    file.unlink()
    file.mkdir()
    with pytest.raises(StorageError):
        add(session, *make_messages("x"))
    with pytest.raises(NotText, match="not a regular file"):
        items_of(session)


TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_secret_in_a_conversation_is_stored_and_warned_of(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    session = CommonplaceSession("chat", memory)
    add(session, *make_messages(f"use {TOKEN}"))
    assert items_of(session) == make_messages(f"use {TOKEN}")
    assert "GitHub token" in caplog.text
    assert TOKEN not in caplog.text


@pytest.mark.parametrize(
    ("policy", "stored"), [("redact", make_messages("use [secret: GitHub token]")), ("refuse", [])]
)
def test_a_secret_in_a_conversation_is_redacted_or_refused_where_the_settings_say_so(
    home: Path, policy: str, stored: list[Any]
) -> None:
    home.mkdir(exist_ok=True)
    (home / "commonplace.yaml").write_text(f"secrets: {policy}\n")
    session = CommonplaceSession("chat", Memory(home))
    with pytest.raises(HoldsSecret) if policy == "refuse" else nullcontext():
        add(session, *make_messages(f"use {TOKEN}"))
    assert items_of(session) == stored
