"""Recall before a prompt, answered by a process that has the memory open."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.server import prompt_socket
from commonplace.server.prompt_socket import PromptSocket, ask_running, open_address
from commonplace.user_config import socket_folder

from ..surfaces.cli.shell import Shell
from ..waiting import LONG_SECONDS

if not hasattr(socket, "AF_UNIX"):
    pytest.skip("this system has no Unix sockets", allow_module_level=True)

PROMPT = "does Ann drink coffee?"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take longer for an answer than a prompt should."""
    monkeypatch.setattr(prompt_socket, "_ANSWER_TIMEOUT_SECONDS", LONG_SECONDS)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "m")
    memory.call("remember", {"content": "Ann prefers green tea, never coffee."})
    memory.search("tea")
    return memory


def ask(memory: Memory, session: str, agent: str = "main") -> dict[str, object] | None:
    request = {"agent": agent, "session": session, "prompt": PROMPT, "budget": 300}
    return ask_running(memory.home.storage.cache_folder, request)


def test_a_running_process_answers_and_repeats_nothing_in_a_session(memory: Memory) -> None:
    assert ask(memory, "s-1") is None
    prompts = PromptSocket(memory.home)
    assert prompts.start()
    try:
        assert "green tea" in str(ask(memory, "s-1"))
        assert ask(memory, "s-1") == {"text": "", "warnings": []}
        assert "green tea" in str(ask(memory, "s-2"))
    finally:
        prompts.close()
    assert ask(memory, "s-3") is None


def test_it_answers_for_its_own_agent_alone(memory: Memory) -> None:
    prompts = PromptSocket(memory.home)
    prompts.start()
    try:
        assert ask(memory, "s-1", agent="other") is None
    finally:
        prompts.close()


def test_only_one_process_answers_and_the_socket_of_a_killed_one_is_replaced(memory: Memory) -> None:
    folder = Path(socket_folder())
    folder.mkdir(mode=0o700, parents=True)
    address_of = memory.home.storage.cache_folder
    with open_address(address_of) as address, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(address)
    first = PromptSocket(memory.home)
    assert first.start()
    assert not PromptSocket(memory.home).start()
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    first.close()
    assert not path.exists()


def test_no_link_in_a_memory_leads_to_a_socket(tmp_path: Path, memory: Memory) -> None:
    prompts = PromptSocket(memory.home)
    prompts.start()
    try:
        cloned = tmp_path / "clone" / ".commonplace"
        cloned.mkdir(parents=True)
        (cloned / ".index").symlink_to(memory.home.storage.cache_folder)
        request = {"agent": "main", "session": "s-1", "prompt": PROMPT, "budget": 300}
        assert ask_running(str(cloned / ".index"), request) is None
        assert [file.name for file in Path(memory.home.root).rglob("*.sock")] == []
    finally:
        prompts.close()


def test_a_folder_of_sockets_that_others_may_use_is_not_used(memory: Memory) -> None:
    folder = Path(socket_folder())
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert not PromptSocket(memory.home).start()
    assert ask(memory, "s-1") is None


def test_nonsense_on_the_socket_leaves_it_answering(memory: Memory) -> None:
    prompts = PromptSocket(memory.home)
    prompts.start()
    try:
        for sent in (b"", b"nonsense\n", b"[]\n", b'{"version": 1}\n'):
            send(memory.home.storage.cache_folder, sent)
        assert "green tea" in str(ask(memory, "s-1"))
    finally:
        prompts.close()


def test_the_hook_prints_what_the_running_process_answers(shell: Shell) -> None:
    shell.ok("remember", "Ann prefers green tea, never coffee.")
    shell.ok("search", "tea")
    folder = str(next(shell.folder.rglob(".index")))
    event = json.dumps({"session_id": "s-1", "cwd": str(shell.folder), "prompt": PROMPT})
    Path(socket_folder()).mkdir(mode=0o700, parents=True)
    with open_address(folder) as address, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        listener.listen(1)
        answering = threading.Thread(target=answer_once, args=(listener, {"text": "by another\n", "warnings": []}))
        answering.start()
        assert shell.ok("hook", "prompt", stdin=event) == "by another\n"
        answering.join()
    assert "green tea" in shell.ok("hook", "prompt", stdin=event)


def send(folder: str, data: bytes) -> None:
    with open_address(folder) as address, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(address)
        connection.sendall(data)


def answer_once(listener: socket.socket, answer: dict[str, object]) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(1 << 16)
        connection.sendall(json.dumps(answer).encode() + b"\n")
