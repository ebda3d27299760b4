"""All of memory as a file, from the page: for who may, whole or not at all."""

from __future__ import annotations

import json
import shutil
import tarfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commonplace.storage.base import open_tokens
from commonplace.storage.tokens import Role, create_token

from .looking import Look
from .serving import serve
from .test_looking import choose, expect

pytestmark = pytest.mark.slow


def signed_in(look: Look, home: Path, *agents: str, role: Role = "admin") -> Any:
    secret = create_token(open_tokens(str(home)), datetime.now(UTC), agents=agents or None, role=role)[1]
    look.page.goto(f"{look.site}/#/health")
    look.page.get_by_label("Token", exact=True).fill(secret)
    look.page.get_by_role("button", name="Sign in").click()
    expect(look.page.get_by_role("heading", name="Health", level=1)).to_be_visible()
    return look.page


def test_an_export_is_saved_as_a_file_with_everything_in_it(demo: Path, tmp_path: Path, chromium: Any) -> None:
    home = Path(shutil.copytree(demo, tmp_path / "home"))
    with serve(home) as address, Look.at(chromium, address) as look:
        page = signed_in(look, home)
        page.get_by_role("button", name="Export").click()
        dialog = page.get_by_role("dialog", name="Export all of memory")
        expect(dialog).to_contain_text("all agents")
        with page.expect_download() as saved:
            dialog.get_by_role("button", name="Save memory-").click()
        saved.value.save_as(tmp_path / "saved.tar")
        assert saved.value.suggested_filename.endswith(".tar")
        with tarfile.open(tmp_path / "saved.tar") as archive:
            names = archive.getnames()
        assert {"memory/world/storage.md", "commonplace.yaml"} <= {*names}
        assert any(name.startswith("agents/research/") for name in names)
        assert not [name for name in names if name.startswith((".access", ".index", ".history"))]
        expect(page.get_by_text("is in your downloads")).to_be_visible()
        page.keyboard.press("Control+k")
        choose(page, "export", "Export all of memory")
        dialog.get_by_label("JSON lines").check()
        with page.expect_download() as saved:
            dialog.get_by_role("button", name="Save memory-").click()
        saved.value.save_as(tmp_path / "saved.jsonl")
        first, *files = (tmp_path / "saved.jsonl").read_text().splitlines()
        assert json.loads(first)["files"] == len(files)
        assert look.elsewhere == []
        assert look.errors == []


@pytest.mark.parametrize(("agents", "role"), [((), "write"), (("main",), "admin")])
def test_whoever_may_not_export_is_offered_none(
    demo: Path, tmp_path: Path, chromium: Any, agents: Any, role: Role
) -> None:
    home = Path(shutil.copytree(demo, tmp_path / "home"))
    with serve(home) as address, Look.at(chromium, address) as look:
        page = signed_in(look, home, *agents, role=role)
        expect(page.get_by_role("button", name="Check again")).to_be_visible()
        expect(page.get_by_role("button", name="Export")).to_have_count(0)
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Pages, views").fill("export all")
        expect(page.locator("#palette-list [role=option]").first).to_contain_text("Search for")


def test_an_export_that_is_refused_or_breaks_off_saves_nothing_and_says_so(look: Look) -> None:
    page = look.go("#/health")
    page.get_by_role("button", name="Export").click()
    output = {"title": "Not now", "status": 503, "detail": "2 exports are under way already: try again later"}
    refused = {"status": 503, "content_type": "application/problem+json", "body": json.dumps(output)}
    page.route("**/v1/export**", lambda route: route.fulfill(**refused))
    page.get_by_role("button", name="Save memory-").click()
    problem = page.get_by_role("dialog").get_by_role("alert")
    expect(problem).to_contain_text("2 exports are under way already")
    page.evaluate(
        """() => { window.fetch = async () => new Response(new ReadableStream({
          start(out) { out.enqueue(new Uint8Array(10)); },
          pull(out) { out.error(new TypeError("network error")); } })); }"""
    )
    page.get_by_role("button", name="Save memory-").click()
    expect(problem).to_contain_text("The export was interrupted")
    expect(page.get_by_role("button", name="Save memory-")).to_be_enabled()
