"""The MCP server before programs nobody here wrote: the inspector, and the protocol's conformance suite.

They are fetched by npm into `.venv/programs`, or found where COMMONPLACE_PROGRAMS says.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commonplace import Memory
from commonplace.toolsets import EVERYDAY, TOOLSETS

from .test_process import serving

pytestmark = pytest.mark.thorough
ROOT = Path(__file__).parents[3]
PACKAGES = [
    "node@24.21.0",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
]
ERAS = ["legacy", "auto", "modern"]
SCENARIOS = [
    "server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "completion-complete",
    "dns-rebinding-protection", "server-session-lifecycle", "caching", "http-header-validation",
    "sep-2164-resource-not-found", "server-stateless",
]  # fmt: skip


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of the programs, fetched once for all who test at the same time."""
    folder = Path(os.environ.get("COMMONPLACE_PROGRAMS") or ROOT / ".venv/programs")
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "node_modules/.bin/inspector").exists():
            _fetch(folder)
    return folder / "node_modules/.bin"


def _fetch(folder: Path) -> None:
    npm = shutil.which("npm")
    if not npm:
        pytest.skip("there is no npm to fetch the inspector and the conformance suite with")
    (folder / "package.json").write_text("{}")
    command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", *PACKAGES]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        pytest.skip(f"npm could not fetch the inspector: {done.stderr[-300:]}")


def run(programs: Path, *command: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home)}
    environment |= {"MCP_INSPECTOR_SECRET_STORE": "memory"}
    whole = [str(programs / command[0]), *command[1:]]
    return subprocess.run(whole, capture_output=True, text=True, check=False, env=environment, timeout=300)


def inspect(programs: Path, tmp_path: Path, era: str, toolsets: tuple[str, ...], *arguments: str) -> Any:
    """What the inspector's command line says of a server that it starts."""
    server = {"command": sys.executable, "args": ["-m", "commonplace", "--home", str(tmp_path / "home"), "mcp"]}
    server["args"] += ["--tools", ",".join(toolsets)]
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"mcpServers": {"memory": server}}))
    selection = ["--config", str(config), "--server", "memory", "--protocol-era", era]
    done = run(programs, "inspector", "--cli", *selection, *arguments, home=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_finds_nothing_wrong_with_any_tool(programs: Path, tmp_path: Path, era: str) -> None:
    everyday, answer = inspect(programs, tmp_path, era, EVERYDAY, "--method", "tools/list", "--strict")
    assert len(everyday["tools"]) == 10
    assert "Warning" not in answer
    assert "Error" not in answer
    every, answer = inspect(programs, tmp_path, era, TOOLSETS, "--method", "tools/list", "--strict")
    assert len(every["tools"]) == 15
    assert "Error: tool" not in answer


@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_reads_pages_and_prompts(programs: Path, tmp_path: Path, era: str) -> None:
    Memory(tmp_path / "home").call("update_world", {"topic": "tea", "content": "Ann drinks rooibos."})
    listed, _ = inspect(programs, tmp_path, era, EVERYDAY, "--method", "resources/list")
    (page,) = [each["uri"] for each in listed["resources"] if each["uri"].endswith("tea.md")]
    read, _ = inspect(programs, tmp_path, era, EVERYDAY, "--method", "resources/read", "--uri", page)
    assert read["contents"][0]["text"] == "Ann drinks rooibos."
    request = ("--method", "prompts/get", "--prompt-name", "recall", "--prompt-args", "topic=rooibos")
    prompt, _ = inspect(programs, tmp_path, era, EVERYDAY, *request)
    assert "rooibos" in prompt["messages"][0]["content"]["text"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_five_hundred_calls_at_once_and_none_fails(programs: Path, tmp_path: Path, era: str) -> None:
    request = (
        "--method",
        "tools/call",
        "--tool-name",
        "write_memory",
        "--tool-arg",
        "key=load",
        "content=x",
        "mode=append",
    )
    figures, _ = inspect(programs, tmp_path, era, EVERYDAY, *request, "--load", "--load-requests", "500")
    assert (figures["ok"], figures["errors"], figures["toolErrors"]) == (500, 0, 0)
    reply = Memory(tmp_path / "home").call("search_memory", {"query": "load"})
    assert reply["matches"][0]["content"].count("x") == 500


def test_the_generic_scenarios_of_the_conformance_suite_pass(programs: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "home") as port:
        for scenario in SCENARIOS:
            url = f"http://127.0.0.1:{port}/mcp"
            done = run(
                programs, "conformance", "server", "--url", url, "--scenario", scenario, "--verbose", home=tmp_path
            )
            checks = json.loads(re.search(r"^\[.*^\]", done.stdout, re.DOTALL | re.MULTILINE)[0])
            assert checks, scenario
            assert [each["id"] for each in checks if _is_failure(each)] == [], scenario


def _is_failure(check: dict[str, Any]) -> bool:
    """Some checks can be made only with tools that exist for them alone: the suite itself says so."""
    return check["status"] == "FAILURE" and not check.get("details", {}).get("untestable")
