"""Transcripts over HTTP: what was said is read without its secrets, by whichever way, and is not written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from commonplace import Memory
from commonplace.surfaces.cli import cli

from ..web import web
from .api import Api
from .conftest import KEY

SESSION = "agents/main/sessions/s-1.jsonl"
LATER = "2999-01-01"


@pytest.fixture(autouse=True)
def capture(full: Path) -> None:
    """The session as a client's hook stores it, with its history, and searched."""
    (full / "commonplace.yaml").write_text("memorySearch:\n  indexSessions: true\n")
    with Memory(full) as memory, memory.home.writer.call("capture"):
        memory.home.writer.append(SESSION, json.dumps({"role": "user", "content": f"once more: {KEY}"}) + "\n")


@pytest.fixture
def change(api_client: Api) -> str:
    """The last change of the session."""
    return str(api_client.get("history", what=SESSION)["changes"][0]["id"])


def test_a_change_of_a_session_is_shown_without_its_secrets(api_client: Api, change: str) -> None:
    response = api_client.get(f"history/{change}")
    assert "hello, my key is" in response["after"]
    assert any("hello, my key is" in hunk["text"] for hunk in response["hunks"])
    assert KEY not in json.dumps(response)


def test_there_is_nothing_to_merge_into_a_session(api_client: Api) -> None:
    for base in ("", api_client.tag(SESSION).strip('"')):
        answer = api_client.send("POST", "merge", json={"path": SESSION, "base": base, "text": "x"})
        assert answer.status_code == 403
        assert "transcripts are read-only" in answer.json()["detail"]
        assert KEY not in answer.text


def test_a_session_is_neither_undone_nor_restored(api_client: Api, change: str, full: Path) -> None:
    before = (full / SESSION).read_bytes()
    undone = api_client.send("POST", "undo", json={"changes": [change]})
    assert (undone.status_code, "transcripts are read-only" in undone.text) == (403, True)
    restored = api_client.send("POST", "restore", json={"path": SESSION, "when": change})
    assert (restored.status_code, "transcripts are read-only" in restored.text) == (403, True)
    assert (full / SESSION).read_bytes() == before


def test_an_undo_of_more_leaves_the_session_as_it_is(api_client: Api, full: Path) -> None:
    memory = Memory(full)
    with memory.home.writer.call("import"):
        memory.home.writer.write("memory/imported.md", "imported\n")
        memory.home.writer.write("agents/main/sessions/imported.jsonl", '{"role": "user", "content": "hi"}\n')
    (page,) = api_client.get("history", what="memory/imported.md")["changes"]
    undone = {row["path"]: row for row in api_client.post("undo", changes=[page["id"]])["undone"]}
    assert undone["memory/imported.md"]["done"]
    assert not undone["agents/main/sessions/imported.jsonl"]["done"]
    assert (full / "agents/main/sessions/imported.jsonl").exists()
    assert not (full / "memory/imported.md").exists()


@pytest.mark.parametrize(
    "path",
    [
        f"pages/{SESSION}", f"pages/{SESSION}?at={LATER}", f"sessions/{SESSION}", "outline", "history", "search?q=key",
        "context?query=key", "health", "status", "map", "pages",
    ],
)  # fmt: skip
@pytest.mark.parametrize("accept", ["application/json", "text/markdown"])
def test_no_page_of_the_interface_shows_a_secret_that_was_said(api_client: Api, path: str, accept: str) -> None:
    answer = api_client.send("GET", path, headers={"Accept": accept})
    assert answer.status_code == 200
    assert KEY not in answer.text


def test_mcp_shows_no_secret_that_was_said(full: Path) -> None:
    with web(full) as client:
        read = client.ask("resources/read", uri=f"commonplace://page/{SESSION}")
        assert "hello, my key is" in json.dumps(read)
        got = client.call("memory_get", path=SESSION)
        assert KEY not in json.dumps([read, got])


def test_commands_show_no_secret_that_was_said(full: Path) -> None:
    def run(*arguments: str) -> str:
        return CliRunner().invoke(cli, ["--home", str(full), *arguments]).output

    change = json.loads(run("log", SESSION, "--json"))["changes"][0]["id"]
    text = [
        run("diff", change), run("diff", SESSION), run("diff", SESSION, "--since", LATER),
        run("show", SESSION), run("show", SESSION, "--as-of", LATER), run("diff", change, "--json"),
        run("blame", SESSION), run("blame", SESSION, "--json"),
    ]  # fmt: skip
    assert all("once more:" in each or "No difference" in each for each in text), text
    assert KEY not in "\n".join(text)
