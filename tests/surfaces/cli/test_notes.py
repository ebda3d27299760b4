"""Commands that rewrite a page know what the commands before them showed, each of which was a process of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .shell import Shell

ANN = {"COMMONPLACE_AGENT": "ann"}
BOB = {"COMMONPLACE_AGENT": "bob"}


@pytest.fixture
def page(used_shell: Shell) -> Path:
    return used_shell.folder / ".commonplace/memory/world/people.md"


def test_two_agents_that_add_a_line_from_one_reading_keep_both(used_shell: Shell, page: Path) -> None:
    used_shell.ok("recall", **ANN)
    used_shell.ok("show", "memory/world/people.md", **BOB)
    used_shell.ok("world", "people", "Ann lives in Oslo\nCleo in Rome", **ANN)
    used_shell.ok("world", "people", "Ann lives in Oslo\nBob in Bern", **BOB)
    assert page.read_text().splitlines() == ["Ann lives in Oslo", "Cleo in Rome", "Bob in Bern"]


@pytest.mark.parametrize("reading", [["call", "recall", "{}"], ["world", "people"], ["recall", "--json"]])
def test_lines_that_yours_replaced_are_reported(used_shell: Shell, page: Path, reading: list[str]) -> None:
    used_shell.ok(*reading, **BOB)
    used_shell.ok("world", "people", "Ann lives in Paris", **ANN)
    done = used_shell.run("world", "people", "Ann lives in Bergen", **BOB)
    assert page.read_text() == "Ann lives in Bergen"
    assert "warning: conflict: Ann lives in Paris\n" in done.stderr
    assert "conflict has lines of others that yours replaced" in done.stderr


def test_programs_of_one_agent_are_conversations_of_their_own(used_shell: Shell, page: Path) -> None:
    one = {"COMMONPLACE_SESSION": "one"}
    two = {"COMMONPLACE_SESSION": "two"}
    used_shell.ok("recall", **one)
    used_shell.ok("recall", **two)
    used_shell.ok("world", "people", "Ann lives in Oslo\nCleo in Rome", **one)
    used_shell.ok("world", "people", "Ann lives in Oslo\nBob in Bern", **two)
    assert page.read_text().splitlines() == ["Ann lives in Oslo", "Cleo in Rome", "Bob in Bern"]
    used_shell.ok(
        "world", "people", "Bob in Bern", COMMONPLACE_SESSION="three"
    )  # continues with what the agent read last
    assert page.read_text().splitlines() == ["Cleo in Rome", "Bob in Bern"]


def test_what_reflect_leaves_out_of_the_notes_is_named(used_shell: Shell) -> None:
    used_shell.ok("write", "city", "Oslo", "--summary")
    assert "Notes that it leaves out are still there: city." in used_shell.ok("reflect", "All new.")
    assert used_shell.ok("read", "city") == "Oslo\n"


def test_the_context_is_a_reading_of_the_curated_page(used_shell: Shell) -> None:
    used_shell.ok("reflect", "Likes tea.\nLikes jazz.")
    used_shell.ok("context", COMMONPLACE_SESSION="one")
    used_shell.ok("reflect", "Likes tea.\nLikes jazz.\nLikes chess.", COMMONPLACE_SESSION="two")
    used_shell.ok("reflect", "Likes jazz.\nLikes go.", COMMONPLACE_SESSION="one")
    page = used_shell.folder / ".commonplace/agents/main/memory/MEMORY.md"
    assert page.read_text().splitlines() == ["Likes jazz.", "Likes chess.", "Likes go."]


def test_what_a_hook_showed_at_the_start_of_a_session_is_a_reading(used_shell: Shell) -> None:
    used_shell.ok("reflect", "Likes tea.")
    assert "Likes tea." in used_shell.ok("hook", "session-start", stdin=json.dumps({"session_id": "abc"}))
    used_shell.ok("reflect", "Likes tea.\nLikes chess.", COMMONPLACE_SESSION="two")
    used_shell.ok("reflect", "Likes tea.\nLikes go.", COMMONPLACE_SESSION="abc")
    page = used_shell.folder / ".commonplace/agents/main/memory/MEMORY.md"
    assert page.read_text().splitlines() == ["Likes tea.", "Likes chess.", "Likes go."]


def test_what_is_forgotten_is_not_kept_as_a_reading(used_shell: Shell) -> None:
    used_shell.ok("world", "secrets", "The quokka sleeps.")
    used_shell.ok("recall")
    index = used_shell.folder / ".commonplace/.index"
    assert any("quokka" in file.read_text() for file in index.glob("given-*"))
    used_shell.ok("forget", "--page", "memory/world/secrets.md", "--yes")
    assert not [*index.glob("given-*")]


def test_a_log_that_cannot_be_written_or_read_is_no_reason_to_fail(used_shell: Shell, page: Path) -> None:
    index = used_shell.folder / ".commonplace/.index"
    used_shell.ok("recall")
    for file in index.glob("given-*"):
        file.write_bytes(b'\xff{"path": 1}\n[]\nnull\n{"path": "", "lines": 7}\n')
    used_shell.ok("recall")
    assert json.loads(used_shell.ok("world", "people", "New", "--json"))["success"]
    assert page.read_text() == "New"
