"""The server as a process: started by a client, left by it, reached over HTTP, and attacked there."""

from __future__ import annotations

import http.client
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import httpx
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from commonplace import Memory

from ...waiting import LONG_SECONDS
from ..cli.forked import RunningCommand

COMMAND = [sys.executable, "-m", "commonplace"]
SHAKE = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def ask(server: subprocess.Popen[str], number: int, method: str, **params: Any) -> None:
    assert server.stdin
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
    server.stdin.flush()


def read_message(server: subprocess.Popen[str]) -> Any:
    assert server.stdout
    return json.loads(server.stdout.readline())


def start_server(home: Path, *options: str) -> subprocess.Popen[str]:
    command = [*COMMAND, "--home", str(home), "mcp", *options]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def start_session(home: Path, *options: str) -> subprocess.Popen[str]:
    server = start_server(home, *options)
    ask(server, 1, "initialize", **SHAKE)
    assert read_message(server)["result"]["protocolVersion"] == "2024-11-05"
    assert server.stdin
    server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    return server


def test_a_line_that_is_no_message_is_answered_with_an_error(tmp_path: Path) -> None:
    with start_session(tmp_path) as server:
        assert server.stdin
        server.stdin.write("{not json\n\n[]\n")
        server.stdin.flush()
        answers = [read_message(server), read_message(server)]
        ask(server, 2, "ping")
        assert read_message(server)["id"] == 2
        server.stdin.close()
        server.wait(LONG_SECONDS)
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [(None, -32700), (None, -32600)]
    assert answers[0]["error"]["message"].startswith("this line is not JSON: ")


@pytest.mark.asyncio
@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_the_official_client_starts_it_and_leaves_it(tmp_path: Path, era: str) -> None:
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "--home", str(tmp_path), "mcp"])
    async with Client(stdio_client(server), mode=era) as client:
        await client.call_tool("remember", {"content": "Ann prefers rooibos."})
        reply = await client.call_tool("memory_search", {"query": "rooibos"})
    assert reply.structured_content["results"]


def test_a_client_from_before_structured_answers_gets_text(tmp_path: Path) -> None:
    with start_session(tmp_path) as server:
        ask(server, 2, "tools/list")
        assert all("outputSchema" not in tool for tool in read_message(server)["result"]["tools"])
        ask(server, 3, "tools/call", name="remember", arguments={"content": "tea"})
        result = read_message(server)["result"]
        assert json.loads(result["content"][0]["text"])["success"] is True
        assert "structuredContent" not in result


def test_it_ends_when_its_client_does(tmp_path: Path) -> None:
    with start_session(tmp_path) as server:
        assert server.stdin
        server.stdin.close()
        assert server.wait(LONG_SECONDS) == 0


def test_what_a_client_wrote_before_it_vanished_is_there_and_the_server_is_not(tmp_path: Path) -> None:
    with start_session(tmp_path) as server:
        ask(server, 2, "tools/call", name="remember", arguments={"content": "last words"})
        read_message(server)
        ask(server, 3, "tools/call", name="memory_search", arguments={"query": "words"})
        assert server.stdout
        server.stdout.close()  # nobody reads the answer, and nobody asks again
        assert server.stdin
        server.stdin.close()
        server.wait(LONG_SECONDS)
    assert Memory(tmp_path).search("last words")


def test_a_killed_client_leaves_no_server_behind(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys, time\n"
        f"server = subprocess.Popen({[*COMMAND, '--home', str(tmp_path), 'mcp']!r}, stdin=-1, stdout=-1)\n"
        f"server.stdin.write({json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': 'initialize', 'params': SHAKE})!r}"
        ".encode() + b'\\n'); server.stdin.flush(); server.stdout.readline()\n"
        "print(server.pid, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as client:
        assert client.stdout
        pid = int(client.stdout.readline())
        os.kill(pid, 0)
        client.kill()
    _wait_until_gone(pid)


def _wait_until_gone(pid: int) -> None:
    """Until the process has ended, without asking again and again: its end is an event."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    poll = select.poll()  # `select` takes no number above 1023
    poll.register(handle, select.POLLIN)
    try:
        assert poll.poll(LONG_SECONDS * 1000), "the server is still there"
    finally:
        os.close(handle)


def test_lines_that_are_no_requests_stop_nothing(tmp_path: Path) -> None:
    with start_session(tmp_path) as server:
        assert server.stdin
        server.stdin.write('not json\n{"jsonrpc": "2.0"}\n[]\n"\\ud800"\n\n')
        ask(server, 2, "tools/call", name="recall", arguments=[])
        ask(server, 3, "no/such/method")
        ask(server, 4, "tools/call", name="recall", arguments={})
        answer = read_message(server)
        while answer.get("id") != 4:
            assert "error" in answer or "method" in answer, answer
            answer = read_message(server)
        assert "result" in answer


@contextmanager
def serving(home: Path, *options: str, **environment: str) -> Iterator[int]:
    """A server over HTTP on a free port."""
    arguments = ["--home", str(home), "serve", "--open", "--port", "0", *options]
    with RunningCommand(arguments, {**os.environ, **environment}) as server:
        try:
            yield _port(server.stderr)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(LONG_SECONDS)


def _port(stream: IO[str] | None) -> int:
    assert stream
    line = stream.readline()
    assert "/mcp" in line, line
    return int(line.rsplit(":", 1)[1].partition("/")[0])


@pytest.mark.asyncio
@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_many_clients_share_one_memory_over_http(tmp_path: Path, era: str) -> None:
    with serving(tmp_path) as port:
        url = f"http://127.0.0.1:{port}/mcp"
        async with Client(url, mode=era) as one, Client(url, mode=era) as other:
            await one.call_tool("remember", {"content": "Ann prefers rooibos."})
            reply = await other.call_tool("memory_search", {"query": "rooibos"})
    assert reply.structured_content["results"]


@pytest.mark.asyncio
async def test_headers_say_who_asks(tmp_path: Path) -> None:
    with serving(tmp_path) as port:
        headers = {"Commonplace-Agent": "J%C3%B6rg", "Commonplace-Session": "s-1"}
        async with (
            httpx.AsyncClient(headers=headers, timeout=LONG_SECONDS) as web,
            Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=web)) as client,
        ):
            await client.call_tool("remember", {"content": "by Jörg"})
    assert Memory(tmp_path, "Jörg").search("Jörg")
    assert not Memory(tmp_path).search("Jörg")


class Response(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: str


def request(port: int, method: str = "POST", path: str = "/mcp", **headers: str) -> Response:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONG_SECONDS)
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}})
    header_fields = {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "Mcp-Method": "tools/list", "MCP-Protocol-Version": "2026-07-28",
    }  # fmt: skip
    header_fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection.putrequest(method, path, skip_host="Host" in header_fields)
    for name, value in {**header_fields, "Content-Length": str(len(body))}.items():
        connection.putheader(name, value)
    with closing(connection):
        connection.endheaders(body.encode())
        answer = connection.getresponse()
        return Response(answer.status, answer.headers, answer.read().decode())


def test_pages_of_other_sites_get_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as port:
        assert request(port).status == 200
        assert request(port, Origin=f"http://127.0.0.1:{port}").status == 200
        for origin in ("https://evil.example", "http://localhost.evil.example", "null", "http://127.0.0.1.nip.io"):
            assert request(port, Origin=origin).status == 403, origin
        for host in ("evil.example", f"evil.example:{port}", "", "127.0.0.1.evil.example", "[::1", "a b"):
            assert request(port, Host=host).status in (400, 421), host
        refusal = request(port, Host="evil.example")
        assert json.loads(refusal.body)["status"] == 421
        assert refusal.headers["content-type"] == "application/problem+json"
        assert "access-control-allow-origin" not in request(port).headers


def test_with_a_token_nobody_comes_in_without_it(tmp_path: Path) -> None:
    with serving(tmp_path, COMMONPLACE_TOKEN="s3cret") as port:
        refused = request(port)
        assert refused.status == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        for wrong in ("Bearer", "Bearer other", "Basic s3cret", "s3cret", "Bearer s3cret2"):
            assert request(port, Authorization=wrong).status == 401, wrong
        assert request(port, path="/anything").status == 401
        assert request(port, Authorization="Bearer s3cret").status == 200


def test_another_name_is_let_in_when_it_is_allowed(tmp_path: Path) -> None:
    with serving(tmp_path, "--allow-host", "memory.example") as port:
        assert request(port, Host="memory.example").status == 200


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=LONG_SECONDS, check=False
    )


def test_an_open_address_without_a_token_is_refused(tmp_path: Path) -> None:
    done = run("--home", str(tmp_path), "serve", "--host", "0.0.0.0")
    assert done.returncode == 2
    assert "others can reach 0.0.0.0: give a --token" in done.stderr


def test_a_port_that_is_taken_is_reported(tmp_path: Path) -> None:
    with serving(tmp_path) as port:
        done = run("--home", str(tmp_path), "serve", "--port", str(port))
    assert done.returncode == 6
    assert "is in use: choose another with --port" in done.stderr


@pytest.mark.parametrize("command", ["mcp", "serve"])
def test_wrong_arguments_are_reported_before_anything_starts(tmp_path: Path, command: str) -> None:
    tools = run("--home", str(tmp_path), command, "--tools", "journal,nothing")
    assert tools.returncode == 2
    assert "--tools[1] must be one of retrieval, notes, working, journal, registry" in tools.stderr
    homes = run("--home", str(tmp_path), command, "--homes", str(tmp_path / "none"))
    assert homes.returncode == 2
    assert "--homes names a folder of memories" in homes.stderr
    (tmp_path / "file").write_text("x")
    assert run("--home", str(tmp_path / "file"), command).returncode == 6


def test_without_the_extra_a_sentence_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ImportError('not here')\n")
    for command, extra in (("mcp", "mcp"), ("serve", "web")):
        done = run("--home", str(tmp_path / "home"), command, PYTHONPATH=str(tmp_path))
        assert done.returncode == 9
        assert f"pip install 'commonplace[{extra}]'" in done.stderr
        assert "Traceback" not in done.stderr
