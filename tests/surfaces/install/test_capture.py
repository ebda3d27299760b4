"""After an installation with hooks, search finds the transcripts; the settings of a memory are edited with care."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.home import Home
from commonplace.surfaces.install.capture import index_sessions

from .test_plan import Desk, desk  # noqa: F401  a fixture

ON = "memorySearch:\n  indexSessions: true\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, ON),
        ("", ON),
        ("timezone: Europe/Berlin\n", f"timezone: Europe/Berlin\n{ON}"),
        ("timezone: UTC  # as ever", f"timezone: UTC  # as ever\n{ON}"),
        ("memorySearch:\n    # mine\n    maxResults: 5\n", "memorySearch:\n    # mine\n    maxResults: 5\n    indexSessions: true\n"),
        ("memorySearch: {}\n", ON),
        ("memorySearch: {maxResults: 5} # mine\n", "memorySearch: {maxResults: 5, indexSessions: true} # mine\n"),
    ],
)  # fmt: skip
def test_the_setting_is_added_and_every_other_byte_stays(home: Path, before: str | None, after: str) -> None:
    home.mkdir(exist_ok=True)
    settings = home / "commonplace.yaml"
    if before is not None:
        settings.write_text(before)
    assert index_sessions(Home(str(home))) == ""
    assert settings.read_text() == after
    assert index_sessions(Home(str(home))) == ""
    assert settings.read_text() == after
    assert Home(str(home)).search_settings.index_sessions


@pytest.mark.parametrize("text", ["memorySearch:\n  indexSessions: false\n", "memorySearch: {indexSessions: false}\n"])
def test_what_a_person_decided_stays(home: Path, text: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "commonplace.yaml").write_text(text)
    assert index_sessions(Home(str(home))) == ""
    assert (home / "commonplace.yaml").read_text() == text


def test_settings_that_cannot_be_edited_are_left_alone_with_advice(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "commonplace.yaml").write_text("timezone: UTC\n...\n")
    assert "set memorySearch.indexSessions to true" in index_sessions(Home(str(home)))
    assert (home / "commonplace.yaml").read_text() == "timezone: UTC\n...\n"


def test_an_installation_with_hooks_turns_it_on(desk: Desk) -> None:  # noqa: F811
    memory = desk.user / ".commonplace"
    memory.mkdir()
    desk.run("claude-desktop")
    desk.run("claude-code", "--no-hooks")
    desk.run("claude-code", "--print")
    assert not (memory / "commonplace.yaml").exists()
    desk.run("claude-code")
    assert (memory / "commonplace.yaml").read_text() == ON
    desk.run("claude-code", "--remove")
    assert (memory / "commonplace.yaml").read_text() == ON
