"""The files of the page, without a browser: how they are served, and what may stand in them."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from commonplace.surfaces import web
from commonplace.surfaces.cli import cli
from commonplace.tools.registry import OPERATIONS

ASSETS = Path(web.__file__).parent / "assets"
SCRIPTS = sorted((ASSETS / "js").glob("*.js"))


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=web.routes()))


def test_every_file_comes_under_the_policy_and_is_kept_by_its_tag(client: TestClient) -> None:
    for name in ("/", "/assets/app.css", "/assets/js/app.js", "/assets/vendor/preact.js", "/assets/icon.svg"):
        answer = client.get(name)
        assert answer.status_code == 200, name
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        again = client.get(name, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", ["/assets/", "/assets/js", "/assets/js/", "/assets/nothing.js", "/assets/../__init__.py", "/assets/%2e%2e/__init__.py", "/assets//etc/passwd"])  # fmt: skip
def test_nothing_but_the_files_is_there(client: TestClient, name: str) -> None:
    assert client.get(name).status_code == 404


def test_what_is_loaded_first_names_only_files_that_are_there() -> None:
    text = (ASSETS / "index.html").read_text()
    matches = re.findall(r'(?:src|href)="/assets/([^"]+)"', text)
    assert len(matches) >= 4
    assert all((ASSETS / name).is_file() for name in matches)
    assert "<style" not in text
    assert not re.search(r"<script(?![^>]* src=)|\son\w+=|\sstyle=", text)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_short_says_what_it_is_for_and_asks_nobody_else(script: Path) -> None:
    text = script.read_text()
    assert text.startswith("// ")
    assert text.count("\n") <= 400
    assert not re.search(r"https?://|\beval\(|new Function|document\.write|insertAdjacentHTML|outerHTML", text)
    assert all((script.parent / name).resolve().is_file() for name in re.findall(r'from "([^"]+)"', text))


def test_html_goes_in_as_html_in_one_place_alone() -> None:
    names = [
        script.name for script in SCRIPTS for _ in re.findall("dangerouslySetInnerHTML|innerHTML", script.read_text())
    ]
    assert names == ["ui.js"]


def test_the_commands_that_the_page_teaches_are_ours() -> None:
    text = "".join(script.read_text() for script in SCRIPTS)
    matches = set(re.findall(r"[\"'`]commonplace ([a-z]+)\b", text))
    assert {"remember", "web", "context", "doctor"} <= matches
    assert matches <= set(cli.list_commands(click.Context(cli)))
    assert set(re.findall(r'"op": "(\w+)"', text)) <= set(OPERATIONS)


def test_styles_ask_nobody_else() -> None:
    for sheet in ASSETS.glob("*.css"):
        assert not re.search(r"url\(|@import|https?:", sheet.read_text())


def test_all_of_it_is_small_and_what_others_wrote_has_its_licence() -> None:
    assert sum(path.stat().st_size for path in ASSETS.rglob("*.*") if path.suffix != ".txt") < 300_000
    licences = (ASSETS / "vendor" / "LICENSES.txt").read_text()
    assert all(words in licences for words in ("preact.js", "MIT License", "Apache License"))
    assert [path.name for path in (ASSETS / "vendor").glob("*.js")] == ["preact.js"]
