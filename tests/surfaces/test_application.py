"""A server as people start it: its first token, its page, its stream of changes, and what stands in no log."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
import pytest
from starlette.testclient import TestClient

from commonplace import Memory
from commonplace.formats.timestamps import format_timestamp
from commonplace.server import prompt_socket
from commonplace.server.auth import ServerOptions
from commonplace.server.prompt_socket import ask_running
from commonplace.server.service import MAX_WORK_THREADS, MemoryService
from commonplace.storage.base import open_tokens
from commonplace.storage.folder.backend import LOG_FILE
from commonplace.storage.tokens import create_token
from commonplace.surfaces import application
from commonplace.surfaces.http.auth import AccessRules, SignInKeys

from ..waiting import LONG_SECONDS, wait_until
from .cli.forked import RunningCommand
from .mcp.test_process import run

TOKEN = "s3cret"


class Server:
    def __init__(self, process: RunningCommand, lines: list[str]) -> None:
        self.process, self.lines = process, lines
        self.connections: list[http.client.HTTPConnection] = []
        self.port = int(lines[0].rsplit(":", 1)[1].partition("/")[0])

    def ask(self, path: str, token: str = TOKEN, method: str = "GET", body: str | None = None, **headers: str) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONG_SECONDS)
        self.connections.append(connection)
        arguments = {"Authorization": f"Bearer {token}"} if token else {}
        arguments |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, arguments)
        return connection.getresponse()


@contextmanager
def server(home: Path, *options: str, command: str = "serve", lines: int = 1, **environment: str) -> Iterator[Server]:
    arguments = ["--home", str(home), command, "--port", "0", *options]
    variables = {**os.environ, "XDG_STATE_HOME": str(home.parent / "state"), **environment}
    with RunningCommand(arguments, variables) as process:
        started = Server(process, [process.stderr.readline() for _ in range(lines)])
        try:
            yield started
        finally:
            for connection in started.connections:
                connection.close()
            process.send_signal(signal.SIGTERM)
            process.wait(LONG_SECONDS)


def test_the_first_start_makes_a_token_that_only_its_user_can_read(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with server(home, lines=2) as one:
        place = Path(re.search(r"the token for it is in (\S+),", one.lines[1])[1])  # type: ignore[index]
        secret = place.read_text().strip()
        assert place.is_relative_to(tmp_path / "state")
        assert place.stat().st_mode & 0o777 == 0o600
        assert place.parent.stat().st_mode & 0o777 == 0o700
        assert one.ask("/v1/status", token="").status == 401
        assert one.ask("/v1/status", token=secret).status == 200
        assert secret not in "".join(one.lines)
    with server(home, lines=2) as again:
        assert again.lines[1].split(" in ")[1] == f"{place}, which only you can read\n"
        assert again.ask("/v1/status", token=secret).status == 200
    (only,) = open_tokens(str(home)).list_tokens()
    assert (only.role, only.agents, only.note) == ("admin", None, "first start")


def test_a_memory_with_tokens_of_its_own_gets_no_other(tmp_path: Path) -> None:
    Memory(tmp_path / "home")
    create_token(open_tokens(str(tmp_path / "home")), datetime.now(UTC), agents=None, role="read")
    with server(tmp_path / "home"):
        assert len(open_tokens(str(tmp_path / "home")).list_tokens()) == 1
        assert not (tmp_path / "state").exists()


def test_an_open_server_asks_for_none_and_makes_none(tmp_path: Path) -> None:
    with server(tmp_path / "home", "--open") as one:
        assert one.ask("/v1/status", token="").status == 200
        paths = (tmp_path / "state").glob("commonplace/*")
        assert {path.name for path in paths} <= {"prompts"}  # the folder of the socket for hooks
    refused = run("--home", str(tmp_path / "home"), "serve", "--open", "--host", "0.0.0.0")
    assert refused.returncode == 2
    assert "others can reach 0.0.0.0" in refused.stderr


@pytest.mark.parametrize(
    ("options", "name"), [((), "127.0.0.1"), (("--allow-host", "memory.example"), "memory.example")]
)
def test_a_server_that_others_reach_says_that_it_is_not_encrypted_and_where_to_open_it(
    tmp_path: Path, options: tuple[str, ...], name: str
) -> None:
    with server(tmp_path / "home", "--host", "0.0.0.0", "--token", TOKEN, *options, lines=2) as one:
        assert f" at http://{name}:{one.port}/ (web page)" in one.lines[0]
        assert one.lines[1].startswith("warning: connections are not encrypted: add --tls-cert and --tls-key")
        assert one.ask("/v1/status").status == 200


def test_a_token_that_cannot_be_stored_is_reported(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    done = run("--home", str(tmp_path / "home"), "serve", "--port", "0", XDG_STATE_HOME=str(tmp_path / "state"))
    assert done.returncode == 6
    assert "set XDG_STATE_HOME to another folder" in done.stderr


def wait_for(file: Path, process: RunningCommand) -> str:
    """What another process writes into a file."""
    while not (file.exists() and file.read_text()):
        with suppress(subprocess.TimeoutExpired):
            pytest.fail(f"it ended with status {process.wait(0.02)}")
    return file.read_text()


def test_the_page_is_opened_with_a_code_that_becomes_a_key(tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\ntr "\\0" "\\n" < /proc/$$/cmdline > {opened}.tmp && mv {opened}.tmp {opened}\n')
    browser.chmod(0o700)
    with server(tmp_path / "home", command="web", lines=2, BROWSER=f"{browser} %s") as one:
        arguments = wait_for(opened, one.process)
        page = Path(unquote(urlsplit(arguments.split()[-1]).path))
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
        address = re.search(r'url=(\S+)"', page.read_text())[1]  # type: ignore[index]
        code = address.partition("#code=")[2]
        assert address.startswith(f"http://127.0.0.1:{one.port}/#code=")
        assert len(code) > 20
        assert code not in arguments, "everybody on the machine can read it"
        sent = {"Content_Type": "application/json"}
        answer = one.ask("/v1/session", "", "POST", json.dumps({"code": code}), **sent)
        key = json.loads(answer.read())["key"]
        assert one.ask("/v1/status", key).status == 200
        assert not page.parent.exists(), "the code was used"
        assert one.ask("/v1/session", "", "POST", json.dumps({"code": code}), **sent).status == 403
        one.process.send_signal(signal.SIGTERM)
        assert one.process.stderr
        message = "".join(one.lines) + one.process.stderr.read()
    assert code not in message
    assert key not in message
    log = (tmp_path / "home" / LOG_FILE).read_text()
    assert code not in log
    assert key not in log


def test_a_server_answers_the_hooks_before_prompts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(prompt_socket, "_ANSWER_TIMEOUT_SECONDS", LONG_SECONDS)  # what is late was given, and not again
    memory = Memory(tmp_path / "home")
    memory.call("remember", {"content": "Ann prefers green tea, never coffee."})
    memory.search("tea")
    folder = memory.home.storage.cache_folder
    question = {"agent": "main", "session": "s-1", "prompt": "does Ann drink coffee?", "budget": 300}
    with server(tmp_path / "home", COMMONPLACE_TOKEN=TOKEN) as one:
        while (answer := ask_running(folder, question)) is None:
            with suppress(subprocess.TimeoutExpired):
                pytest.fail(f"it ended with status {one.process.wait(0.02)}")
        assert "green tea" in answer["text"]
    assert ask_running(folder, question) is None


def test_read_only_holds_for_every_surface(tmp_path: Path) -> None:
    with server(tmp_path / "home", "--read-only", COMMONPLACE_TOKEN=TOKEN) as one:
        body = {"Content_Type": "application/json"}
        assert one.ask("/v1/tools/remember", method="POST", body='{"content": "x"}', **body).status == 403
        assert json.loads(one.ask("/v1/status").read())["read_only"] is True


def lines_of(answer: Any) -> Iterator[str]:
    """The lines of a stream without its comments, which only show that it is alive."""
    while line := answer.readline():
        if not line.startswith(b":"):
            yield line.decode().rstrip("\n")


def event(lines: Iterator[str], kind: str) -> dict[str, str]:
    """The next event of a kind: its fields."""
    result: dict[str, str] = {}
    for line in lines:
        if not line and result.get("event") == kind:
            return result
        name, _, value = line.partition(": ")
        result = {**result, name: value} if line else {}
    raise AssertionError(f"the stream ended before {kind}")


def test_changes_are_notified_whoever_makes_them(tmp_path: Path) -> None:
    with server(tmp_path / "home", COMMONPLACE_TOKEN=TOKEN) as one:
        answer = one.ask("/v1/changes")
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = lines_of(answer)
        event(lines, "ready")
        done = run("--home", str(tmp_path / "home"), "remember", "by another process")
        assert done.returncode == 0
        message = event(lines, "change")
        assert json.loads(message["data"])["path"].startswith("agents/main/memory/daily/")
        (tmp_path / "home/memory").mkdir(exist_ok=True)
        (tmp_path / "home/memory/by-hand.md").write_text("by hand\n")
        message = event(lines, "change")
        assert json.loads(message["data"]) == {"path": "memory/by-hand.md", "kind": "changed"}


def test_whoever_was_cut_off_hears_what_it_missed(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "home")
    with server(tmp_path / "home", COMMONPLACE_TOKEN=TOKEN) as one:
        here, other = one.ask("/v1/changes"), lines_of(one.ask("/v1/changes"))
        last = event(lines_of(here), "ready")["id"]
        event(other, "ready")
        here.close()
        memory.call("update_world", {"topic": "missed", "content": "while away"})
        event(other, "change")
        lines = lines_of(one.ask("/v1/changes", Last_Event_ID=last))
        assert json.loads(event(lines, "change")["data"])["path"] == "memory/world/missed.md"
        event(lines_of(one.ask("/v1/changes", Last_Event_ID="0000-7")), "reset")


def test_nobody_hears_of_the_pages_of_another_agent(tmp_path: Path) -> None:
    with server(tmp_path / "home", COMMONPLACE_TOKEN=TOKEN) as one:
        lines = lines_of(one.ask("/v1/changes"))
        event(lines, "ready")
        Memory(tmp_path / "home", "bob").call("remember", {"content": "private"})
        Memory(tmp_path / "home").call("remember", {"content": "mine"})
        assert "agents/main/" in event(lines, "change")["data"]


def test_a_stream_ends_with_its_token_and_with_the_server(tmp_path: Path) -> None:
    home = tmp_path / "home"
    Memory(home)
    access = open_tokens(str(home))
    token, secret = create_token(access, datetime.now(UTC), agents=None, role="read")
    _, lasting = create_token(access, datetime.now(UTC), agents=None, role="read")
    with server(home) as one:
        lines, lasts = lines_of(one.ask("/v1/changes", secret)), lines_of(one.ask("/v1/changes", lasting))
        event(lines, "ready")
        event(lasts, "ready")
        access.revoke(token.id, format_timestamp(datetime.now(UTC)))
        assert [line for line in lines if line] == []
        one.process.send_signal(signal.SIGTERM)
        assert [line for line in lasts if line] == []


@pytest.mark.thorough
@pytest.mark.slow
def test_half_a_request_is_not_waited_for(tmp_path: Path) -> None:
    """A connection that begins and does not go on is let go, and keeps nobody else out."""
    with (
        server(tmp_path / "home", COMMONPLACE_TOKEN=TOKEN) as one,
        closing(socket.create_connection(("127.0.0.1", one.port), 40)) as slow,
    ):
        slow.sendall(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        assert one.ask("/v1/status").status == 200
        assert slow.recv(1000) == b""


def test_a_page_and_a_probe_do_not_wait_while_searches_wait_for_the_index(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.call("update_world", {"topic": "sea", "content": "The sea is blue."})
        memory.search("sea")
        service = MemoryService(ServerOptions(str(tmp_path)))
        indexes = service.memories.open(service.options.identify({}, {})).home
        with TestClient(
            application._build(service, AccessRules(), SignInKeys()), base_url="http://localhost"
        ) as client:
            assert client.portal
            searches: list[Any] = []

            def ask_meanwhile(_: object) -> list[int]:
                for number in range(3 * MAX_WORK_THREADS):
                    searches.append(client.portal.start_task_soon(search, number))  # type: ignore[union-attr]
                wait_until(
                    lambda: service._work_threads.borrowed_tokens == MAX_WORK_THREADS, "all threads wait for the index"
                )
                return [client.get(path).status_code for path in ("/v1/pages/memory/world/sea.md", "/readyz")]

            async def search(number: int) -> int:
                transport = httpx.ASGITransport(client.app)
                async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as caller:
                    return (await caller.get(f"/v1/search?q=sea+{number}")).status_code

            assert indexes.index.query(ask_meanwhile) == [200, 200]
            assert {search.result() for search in searches} == {200}


def test_a_request_that_the_end_cuts_short_leaves_one_line_in_the_log(tmp_path: Path) -> None:
    head = f"Host: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 9"
    head += "\r\nAccept: application/json, text/event-stream\r\nExpect: 100-continue"
    with server(tmp_path / "home", COMMONPLACE_TOKEN=TOKEN) as one:
        with closing(socket.create_connection(("127.0.0.1", one.port), 40)) as slow:
            slow.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n\r\n".encode())
            assert slow.recv(1000).startswith(b"HTTP/1.1 100")  # it waits for the body
            one.process.send_signal(signal.SIGTERM)
            one.process.wait(LONG_SECONDS)
        assert one.process.stderr
        log = one.process.stderr.read()
    assert "Cancel 1 running task" in log
    assert "Traceback" not in log


def test_no_token_is_in_any_log(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with server(home, lines=2) as one:
        secret = next((tmp_path / "state/commonplace").iterdir()).read_text().strip()
        for path in ("/v1/status", "/v1/nothing", "/v1/search?q=x", f"/v1/pages/{secret}.md", "/"):
            one.ask(path, secret)
        one.process.send_signal(signal.SIGTERM)
        assert one.process.stderr
        answer = "".join(one.lines) + one.process.stderr.read()
    assert secret not in answer
    assert secret not in (home / LOG_FILE).read_text()
    assert not [path for path in home.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_page_has_a_strict_policy(tmp_path: Path, method: str) -> None:
    with server(tmp_path / "home", COMMONPLACE_TOKEN=TOKEN) as one:
        answer = one.ask("/", "", method)
        assert answer.status == 200
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"


def test_the_file_that_opens_the_page_goes_with_the_server(tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = f"{sys.executable} -c \"import sys; open(r'{opened}', 'w').write(sys.argv[1])\" %s"
    with server(tmp_path / "home", command="web", lines=2, BROWSER=browser) as one:
        page = Path(unquote(urlsplit(wait_for(opened, one.process)).path))
        assert page.exists()
        one.process.send_signal(signal.SIGTERM)
        one.process.wait(LONG_SECONDS)
        assert not page.parent.exists()


@pytest.mark.parametrize(
    ("flags", "remote"),
    [((), "127.0.0.1"), (("--trust-proxy", "10.0.0.0/8"), "127.0.0.1"), (("--trust-proxy", "127.0.0.1"), "6.6.6.6")],
)
def test_only_a_trusted_proxy_says_who_asks(tmp_path: Path, flags: tuple[str, ...], remote: str) -> None:
    home = tmp_path / "home"
    with server(home, *flags, COMMONPLACE_TOKEN=TOKEN) as one:
        assert one.ask("/v1/status", X_Forwarded_For="6.6.6.6", X_Real_IP="6.6.6.6").status == 200
    assert [json.loads(line)["remote"] for line in (home / LOG_FILE).read_text().splitlines()] == [remote]


def test_a_proxy_is_an_address(tmp_path: Path) -> None:
    for name in ("*", "proxy.example"):
        done = run("--home", str(tmp_path / "home"), "serve", "--trust-proxy", name)
        assert (done.returncode, "--trust-proxy takes an address" in done.stderr) == (2, True)


def test_the_id_of_a_change_does_not_count_what_others_write(tmp_path: Path) -> None:
    home = tmp_path / "home"
    Memory(home)
    _, secret = create_token(open_tokens(str(home)), datetime.now(UTC), agents=["ann"], role="read")
    with server(home) as one:
        lines = lines_of(one.ask("/v1/changes", secret))
        began = event(lines, "ready")["id"]
        bob = Memory(home, "bob")
        for number in range(3):
            bob.call("write_memory", {"key": f"k{number}", "content": "private"})
        Memory(home, "ann").call("write_memory", {"key": "own", "content": "mine"})
        first = event(lines, "change")["id"]
        assert (began.partition("-")[2], first.partition("-")[2]) == ("0", "1")
        again = event(lines_of(one.ask("/v1/changes", secret, Last_Event_ID=began)), "change")
        assert again["id"] == first
