"""A server with several workers: each of them is as good as another, and one that dies takes nothing with it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import psutil
import pytest

from commonplace import Memory
from commonplace.errors import StorageError
from commonplace.formats.timestamps import format_timestamp
from commonplace.server.workers import open_worker_state, run_workers
from commonplace.storage.base import open_tokens
from commonplace.storage.tokens import create_token

from ..surfaces.test_application import TOKEN, Server, event, lines_of, server, wait_for
from ..waiting import LONG_SECONDS, wait_until

BODY = {"Content_Type": "application/json"}
TRIES = 12  # requests over new connections, after which no worker was left out (one in 2 ** 11)


def list_workers(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def wait_for_workers(parent: int, count: int, without: int = 0) -> list[int]:
    def are_there() -> bool:
        workers = list_workers(parent)
        return len(workers) == count and without not in workers

    wait_until(are_there, f"{count} workers")
    return list_workers(parent)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory that exists, whichever test comes first."""
    home = tmp_path_factory.mktemp("workers") / "home"
    Memory(home).close()
    return home


@pytest.fixture(scope="module")
def pair(home: Path) -> Iterator[Server]:
    """A server with two workers, for tests that end neither."""
    with server(home, "--workers", "2", COMMONPLACE_TOKEN=TOKEN, COMMONPLACE_METRICS_TOKEN="figures") as one:
        yield one


def remember(one: Server, text: str) -> Any:
    return one.ask("/v1/tools/remember", method="POST", body=json.dumps({"content": text}), **BODY)


def read_figure(one: Server, name: str) -> int:
    text = one.ask("/metrics", "figures").read().decode()
    match = re.search(rf"^{re.escape(name)} (\d+)$", text, re.MULTILINE)
    return int(match[1]) if match else 0


def test_the_figures_are_those_of_all_workers(pair: Server) -> None:
    assert {pair.ask("/v1/outline").status for _ in range(TRIES)} == {200}  # which no other test asks this server for
    name = 'commonplace_requests_total{operation="GET /v1/outline",outcome="ok"}'
    while (count := read_figure(pair, name)) < TRIES:
        assert pair.process.poll() is None
    assert count == TRIES


def test_a_revoked_token_is_refused_by_every_worker_at_once(home: Path, pair: Server) -> None:
    tokens = open_tokens(str(home))
    token, secret = create_token(tokens, datetime.now(UTC), agents=None, role="read")
    os.utime(home / ".access/tokens.json", (1e9, 1e9))
    assert {pair.ask("/v1/context", secret).status for _ in range(TRIES)} == {200}
    tokens.revoke(token.id, format_timestamp(datetime.now(UTC)))
    assert {pair.ask("/v1/context", secret).status for _ in range(TRIES)} == {401}


def test_streams_of_all_workers_tell_of_a_change_through_any(pair: Server) -> None:
    streams = [lines_of(pair.ask("/v1/changes")) for _ in range(6)]
    for lines in streams:
        event(lines, "ready")
    assert remember(pair, "told to everybody").status == 200
    for lines in streams:
        assert "agents/main/memory/daily/" in event(lines, "change")["data"]


def call_mcp(one: Server, method: str, **params: Any) -> dict[str, Any]:
    """Ask over a new connection, without a session."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {**BODY, "Accept": "application/json, text/event-stream", "MCP_Protocol_Version": "2025-11-25"}
    answer = one.ask("/mcp", method="POST", body=json.dumps(message), **headers)
    text = answer.read().decode()
    data = re.search(r"^data: (.*)$", text, re.MULTILINE)
    result: dict[str, Any] = json.loads(data[1] if data else text)
    assert "mcp-session-id" not in answer.headers
    return result


def test_mcp_needs_no_session_and_offers_no_subscription_that_would_stay_silent(pair: Server) -> None:
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    capabilities = call_mcp(pair, "initialize", **client)["result"]["capabilities"]
    assert not capabilities["resources"].get("subscribe")
    for _ in range(TRIES):
        assert call_mcp(pair, "tools/call", name="remember", arguments={"content": "over MCP"})["result"]
    refused = call_mcp(pair, "resources/subscribe", uri="commonplace://context")["error"]
    assert "start it without --workers" in refused["message"]


def test_a_rate_limit_holds_for_all_workers_together(tmp_path: Path) -> None:
    with server(tmp_path / "home", "--workers", "2", "--rate-limit", "2", COMMONPLACE_TOKEN=TOKEN) as one:
        statuses = [one.ask("/v1/context").status for _ in range(TRIES)]
    assert statuses[:2] == [200, 200]
    assert statuses.count(429) >= TRIES - 3  # one more may be refilled meanwhile


def test_a_quota_of_writes_holds_for_all_workers_together(tmp_path: Path) -> None:
    note = json.dumps({"content": "The sea is blue."})
    with server(tmp_path / "home", "--workers", "2", "--write-quota", "3", COMMONPLACE_TOKEN=TOKEN) as one:
        answers = [one.ask("/v1/tools/remember", TOKEN, "POST", note, **BODY) for _ in range(TRIES)]
    assert [answer.status for answer in answers] == [200] * 3 + [429] * (TRIES - 3)


def test_a_code_signs_in_once_and_its_key_is_good_for_every_worker(tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.tmp && mv {opened}.tmp {opened}\n')
    browser.chmod(0o700)
    with server(tmp_path / "home", "--workers", "2", command="web", lines=2, BROWSER=f"{browser} %s") as one:
        page = Path(unquote(urlsplit(wait_for(opened, one.process)).path))
        code = page.read_text().partition("#code=")[2].partition('"')[0]
        answers = [one.ask("/v1/session", "", "POST", json.dumps({"code": code}), **BODY) for _ in range(TRIES)]
        assert [answer.status for answer in answers] == [200] + [403] * (TRIES - 1)
        key = json.loads(answers[0].read())["key"]
        assert {one.ask("/v1/status", key).status for _ in range(TRIES)} == {200}
        assert one.ask("/v1/status", key[:-1] + ("0" if key[-1] != "0" else "1")).status == 401


def write_until_told(one: Server, number: int, enough: threading.Event, said: list[str]) -> None:
    """Write one note after another, over one connection as long as it lasts; note those that were acknowledged."""
    step = 0
    while not enough.is_set():
        connection = http.client.HTTPConnection("127.0.0.1", one.port, timeout=LONG_SECONDS)
        try:
            while not enough.is_set():
                step += 1
                text = f"(writer {number} note {step})"
                headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
                connection.request("POST", "/v1/tools/remember", json.dumps({"content": text}), headers)
                answer = connection.getresponse()
                answer.read()
                if answer.status == 200:
                    said.append(text)
        except (OSError, http.client.HTTPException):
            pass  # the worker was killed
        finally:
            connection.close()


def wait_for_more(one: Server, said: list[list[str]]) -> None:
    """Wait until each of the writers has written three more notes."""
    counts = [len(each) for each in said]

    def have_written() -> bool:
        assert one.process.poll() is None
        return all(len(each) >= count + 3 for each, count in zip(said, counts, strict=True))

    wait_until(have_written, "three more notes of each writer")


def test_a_worker_that_is_killed_under_load_loses_nothing_and_another_takes_its_place(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with server(home, "--workers", "2", COMMONPLACE_TOKEN=TOKEN) as one:
        before = wait_for_workers(one.process.pid, 2)
        enough = threading.Event()
        output: list[list[str]] = [[] for _ in range(4)]
        writers = [threading.Thread(target=write_until_told, args=(one, n, enough, output[n])) for n in range(4)]
        for writer in writers:
            writer.start()
        for victim in before:  # both, one after the other
            wait_for_more(one, output)
            os.kill(victim, signal.SIGKILL)
            assert "was killed by signal 9: another one takes its place" in one.process.stderr.readline()
            wait_for_workers(one.process.pid, 2, victim)
        wait_for_more(one, output)
        enough.set()
        for writer in writers:
            writer.join()
    pages = "".join(path.read_text() for path in (home / "agents/main/memory/daily").glob("*.md"))
    assert [text for each in output for text in each if pages.count(text) != 1] == []


def is_running(pid: int) -> bool:
    """Return whether a process has not ended; one that has may wait for a parent to ask how."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_workers_after_what_they_began(tmp_path: Path, number: int) -> None:
    with server(tmp_path / "home", "--workers", "2", COMMONPLACE_TOKEN=TOKEN) as one:
        workers = wait_for_workers(one.process.pid, 2)
        assert remember(one, "the last").status == 200
        one.process.send_signal(number)
        assert one.process.wait(LONG_SECONDS) != 0
        assert [worker for worker in workers if is_running(worker)] == []
    assert Memory(tmp_path / "home").search("the last")


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    with server(tmp_path / "home", "--workers", "2", COMMONPLACE_TOKEN=TOKEN) as one:
        workers = wait_for_workers(one.process.pid, 2)
        one.process.send_signal(signal.SIGKILL)
        wait_until(lambda: not any(map(is_running, workers)), "the end of the workers")


def test_workers_that_end_at_once_end_the_server() -> None:
    sentences: list[str] = []

    def end(_: int) -> None:
        """Do nothing."""

    with pytest.raises(StorageError, match="end as soon as they start"):
        run_workers(2, end, sentences.append)
    assert len(sentences) == 5


# The folder that the workers of a server share is its own, and goes when the server does, however it ends.


KILLED = """
import os, signal
from commonplace.server.workers import open_worker_state
with open_worker_state() as folder:
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files of everybody."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_server_that_was_killed_goes_with_the_next_start(temporary_folder: Path) -> None:
    left = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=False).stdout.strip()
    assert os.listdir(temporary_folder) == [os.path.basename(left)]
    with open_worker_state() as folder:
        assert os.listdir(temporary_folder) == [os.path.basename(folder)]
        assert folder != left
        assert os.stat(folder).st_mode & 0o777 == 0o700
    assert os.listdir(temporary_folder) == []


def test_the_folder_of_a_server_that_runs_stays(temporary_folder: Path) -> None:
    with open_worker_state() as one, open_worker_state() as other:
        assert {os.path.basename(one), os.path.basename(other)} == {*os.listdir(temporary_folder)}


def test_what_somebody_else_put_there_is_neither_followed_nor_removed(temporary_folder: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "note").write_text("mine")
    (temporary_folder / "commonplace-workers-link").symlink_to(precious)
    (temporary_folder / "commonplace-workers-file").write_text("mine")
    with open_worker_state():
        pass
    assert (precious / "note").read_text() == "mine"
    assert (temporary_folder / "commonplace-workers-link").is_symlink()
    assert (temporary_folder / "commonplace-workers-file").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_the_folder_of_another_user_stays(temporary_folder: Path) -> None:
    theirs = temporary_folder / "commonplace-workers-theirs"
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    with open_worker_state():
        pass
    assert theirs.exists()
