"""The MCP server before clients that send what is wrong, ask for what is not theirs, or never let go."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import MCPError

from commonplace import Memory
from commonplace.storage.file_locks import lock
from commonplace.surfaces.mcp import resources
from commonplace.toolsets import TOOLSETS

from ...waiting import LONG_SECONDS
from .test_process import COMMAND, _port, ask, read_message, request, run, serving, start_session
from .test_server import ERAS, serve, text_of

WRONG = (None, "", 0, "x", [], {}, True, "\0", "é\u202e", 1.5, ["a|b"])


@pytest.mark.asyncio
async def test_an_answer_keeps_its_schema_and_a_refusal_is_a_sentence_alone(tmp_path: Path) -> None:
    """Clients in TypeScript check whatever is structured against the schema, in refusals too."""
    async with serve(tmp_path, toolsets=TOOLSETS) as client:
        for tool in (await client.list_tools()).tools:
            names = tool.input_schema["properties"]
            cases: list[dict[str, Any]] = [{}, *(dict.fromkeys(names, value) for value in WRONG)]
            for arguments in [*cases, *({name: value} for name in names for value in ("x", 0))]:
                result = await client.call_tool(tool.name, arguments)
                if result.is_error:
                    assert result.structured_content is None
                    assert text_of(result)
                else:
                    jsonschema.validate(result.structured_content, tool.output_schema)


@pytest.mark.asyncio
@pytest.mark.parametrize("era", ERAS)
async def test_addresses_and_numbers_that_are_none_are_the_clients_to_mend(tmp_path: Path, era: str) -> None:
    async with serve(tmp_path, era) as client:
        for uri in ("commonplace://[", "commonplace://[::1", f"commonplace://context?budget={'9' * 5000}", "", "//"):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert refused.value.code == -32602
            assert len(refused.value.message) < 200
        with pytest.raises(MCPError, match="budget is not understood: use a whole number of tokens"):
            await client.get_prompt("recall", {"budget": "9" * 5000})


@pytest.mark.asyncio
async def test_a_user_and_a_channel_given_as_flags_hold_for_every_context(tmp_path: Path) -> None:
    Memory(tmp_path).call("MemoryTool", {"op": "createSkill", "name": "s", "description": "bobs own", "owner": "bob"})
    async with serve(tmp_path, flags={"user": "ann", "channel": "tea"}) as client:
        for uri in ("commonplace://context?user=bob", "commonplace://receipt?channel=coffee"):
            with pytest.raises(MCPError, match=r"this server serves the (user ann|channel tea) alone"):
                await client.read_resource(uri)
        with pytest.raises(MCPError, match="this server serves the channel tea alone"):
            await client.get_prompt("recall", {"channel": "coffee"})
        same = await client.read_resource("commonplace://context?user=ann&channel=tea")
        assert "bobs own" not in same.contents[0].text
    async with serve(tmp_path, defaults={"user": "ann"}) as client:
        assert "bobs own" in (await client.read_resource("commonplace://context?user=bob")).contents[0].text


@pytest.mark.asyncio
async def test_a_home_is_watched_only_while_somebody_listens(tmp_path: Path) -> None:
    def watchers() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == f"watch {tmp_path}"]

    async with serve(tmp_path) as client:
        for _ in range(2):
            async with client.listen(resources_list_changed=True):
                (watcher,) = watchers()
            await client.list_tools()  # the server has heard by now that the stream is closed
            watcher.join(LONG_SECONDS)
            assert not watcher.is_alive()


@pytest.mark.asyncio
@pytest.mark.filterwarnings("ignore:resources/")
async def test_a_client_subscribes_to_so_much_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "MAX_SUBSCRIPTIONS", 2)
    async with serve(tmp_path, "legacy") as client:
        for number in range(2):
            await client.subscribe_resource(f"commonplace://page/memory/{number}.md")
        with pytest.raises(MCPError, match="2 subscriptions are the limit: end some first"):
            await client.subscribe_resource("commonplace://context")
        await client.unsubscribe_resource("commonplace://page/memory/1.md")
        await client.subscribe_resource("commonplace://context")


@pytest.mark.asyncio
async def test_whoever_opens_a_memory_that_somebody_holds_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    homes = tmp_path / "homes"
    (homes / "held").mkdir(parents=True)
    async with serve(tmp_path / "own", homes=str(homes)) as client:
        await client.call_tool("recall", {})
        with lock(str(homes / "held/.locks"), "page", "directives/memory.md"):
            task = asyncio.create_task(client.call_tool("recall", {}, meta={"commonplace/home": "held"}))
            for _ in range(3):  # far fewer than there is time for until the lock is given up
                await client.call_tool("recall", {})
            assert not task.done()
        assert not (await task).is_error


def test_half_a_character_is_no_reason_not_to_answer(tmp_path: Path) -> None:
    with start_session(tmp_path) as server:
        ask(server, 2, "tools/call", name="remember", arguments={"content": "a cut \ud83d, a \\ud83d, a \U0001f600"})
        assert read_message(server)["id"] == 2
        for number, method in ((3, "resources/read"), (4, "tools/call")):
            ask(server, number, method, uri="\ud800", name="\udfff")
            assert read_message(server)["id"] == number
    assert "a cut ?, a \\ud83d, a \U0001f600" in Memory(tmp_path).call("recall")["content"].replace("\ufffd", "?")


def test_a_server_in_a_terminal_ends_on_an_interrupt(tmp_path: Path) -> None:
    with start_session(tmp_path) as server:
        assert server.stdin
        server.stdin.flush()
        server.send_signal(signal.SIGINT)
        assert server.wait(LONG_SECONDS) == -signal.SIGINT


def test_an_origin_that_cannot_be_read_is_another_site(tmp_path: Path) -> None:
    with serving(tmp_path) as port:
        assert request(port, Origin="http://[").status == 403
        with socket.create_connection(("127.0.0.1", port), LONG_SECONDS) as web:
            both = b"Origin: https://evil.example\r\nOrigin: http://localhost\r\n"
            web.sendall(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n" + both + b"\r\n")
            assert b" 403 " in web.recv(100)


def test_one_who_listens_does_not_keep_the_server_from_ending(tmp_path: Path) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    question = {"notifications": {"resourcesListChanged": True}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": question})
    head = (
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Method: subscriptions/listen\r\n"
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    command = [*COMMAND, "--home", str(tmp_path), "serve", "--open", "--port", "0"]
    with (
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server,
        socket.create_connection(("127.0.0.1", _port(server.stderr)), LONG_SECONDS) as web,
    ):
        web.sendall((head + body).encode())
        data = b""
        while b"acknowledged" not in data:
            data += web.recv(1000)
        server.send_signal(signal.SIGTERM)
        _, complaints = server.communicate(timeout=LONG_SECONDS)
    assert "Traceback" not in complaints


@pytest.mark.parametrize("token", [" ", "schlüssel", "two\nlines"])
def test_a_token_that_no_header_carries_is_refused_at_once(tmp_path: Path, token: str) -> None:
    done = run("--home", str(tmp_path), "serve", "--port", "0", COMMONPLACE_TOKEN=token)
    assert done.returncode == 2
    assert "a token can contain only ASCII letters" in done.stderr
