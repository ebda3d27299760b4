"""Several memories behind one server: who asks is told of those it may use, and of no other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace import Memory
from commonplace.storage.base import open_tokens
from commonplace.storage.folder.backend import TOKENS_FILE
from commonplace.surfaces.http.auth import AccessRules, SignInKeys

from .api import Api, api
from .test_attacks import token


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder of memories, of which `garden` has no token. Beside it: `own`, the server's."""
    for name in ("shelf/work", "shelf/private", "shelf/garden", "own"):
        Memory(tmp_path / name).call("remember", {"content": f"the secret of {name}"})
    (tmp_path / "shelf" / ".git").mkdir()
    (tmp_path / "shelf" / "Not Plain").mkdir()
    (tmp_path / "shelf" / "notes.md").write_text("no folder")
    return tmp_path / "shelf"


def list_names(client: Api) -> list[str]:
    return [home["name"] for home in client.get("homes")["homes"]]


def test_a_token_sees_its_own_memory_and_no_other(shelf: Path) -> None:
    secrets = {name: token(shelf / name, role="read") for name in ("work", "private")}
    with api(shelf.parent / "own", AccessRules(is_open=False), homes=str(shelf)) as client:
        for name, secret in secrets.items():
            other = "work" if name == "private" else "private"
            for home in ({}, {"home": name}, {"home": other}, {"home": "never"}, {"home": "../own"}):
                answer = client.as_(secret, **home).send("GET", "homes")
                assert answer.json() == {"homes": [{"name": name, "default": False}]}
            assert client.as_(secret, home=name).get("status")["home"] == str(shelf / name)
        for arguments in ("", "cpl_wrong"):
            refused = client.as_(arguments).send("GET", "homes")
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
            assert not [name for name in ("work", "private", "garden") if name in refused.text]


def test_an_expired_token_sees_no_memory(shelf: Path) -> None:
    secret = token(shelf / "work")
    access = open_tokens(str(shelf / "work"))
    access.revoke(access.list_tokens()[0].id, "2026-03-14T00:00:00Z")
    with api(shelf.parent / "own", AccessRules(is_open=False), homes=str(shelf)) as client:
        assert client.as_(secret).send("GET", "homes").status_code == 401


def test_where_memories_are_open_all_without_tokens_are_named_and_one_with_tokens_to_who_has_one(shelf: Path) -> None:
    secret = token(shelf / "private")
    with api(shelf.parent / "own", homes=str(shelf)) as client:
        assert list_names(client) == ["", "garden", "work"]
        assert list_names(client.as_(secret)) == ["", "garden", "private", "work"]


def test_an_unrestricted_caller_sees_all_homes_and_which_is_the_default(shelf: Path) -> None:
    token(shelf / "work")
    with api(shelf / "work", AccessRules(token="s3cret", is_open=False), homes=str(shelf)) as client:
        assert client.as_("s3cret").get("homes")["homes"] == [
            {"name": "work", "default": True},
            {"name": "garden", "default": False},
            {"name": "private", "default": False},
        ]
    keys = SignInKeys()
    with api(shelf.parent / "own", AccessRules(is_open=False), keys, homes=str(shelf)) as client:
        key = client.post("session", code=keys.create_code())["key"]
        assert list_names(client.as_(key)) == ["", "garden", "private", "work"]


def test_a_server_of_one_memory_names_that_one(api_client: Api) -> None:
    assert api_client.get("homes") == {"homes": [{"name": "", "default": True}]}
    assert api_client.send("GET", "homes", params={"all": "1"}).status_code == 400


def test_asking_makes_no_memory_and_is_noted_where_the_token_is_of(shelf: Path, tmp_path: Path) -> None:
    secret = token(shelf / "work")
    with api(tmp_path / "never", AccessRules(is_open=False), homes=str(shelf)) as client:
        assert list_names(client.as_(secret, home="new")) == ["work"]
    assert not (tmp_path / "never").exists()
    assert not (shelf / "new").exists()
    calls = open_tokens(str(shelf / "work")).recent_calls(10)
    assert [(call.tool, call.outcome) for call in calls] == [("GET /v1/homes", "ok")]
    assert open_tokens(str(shelf / "private")).recent_calls(10) == []


def test_tokens_that_cannot_be_read_let_nobody_in_and_hide_no_other_memory(shelf: Path) -> None:
    secret = token(shelf / "work")
    token(shelf / "private")
    (shelf / "private" / TOKENS_FILE).write_text("{")
    with api(shelf.parent / "own", AccessRules(is_open=False), homes=str(shelf)) as client:
        assert list_names(client.as_(secret)) == ["work"]
        broken = client.send("GET", "homes")
        assert broken.status_code == 503
        assert "private" not in json.dumps(broken.json())


@pytest.mark.parametrize(("agents", "role", "may"), [((), "admin", True), ((), "write", False), (("main",), "admin", False)])  # fmt: skip
def test_status_says_who_may_export(full: Path, agents: tuple[str, ...], role: str, may: bool) -> None:
    with api(full, AccessRules(is_open=False)) as client:
        one = client.as_(token(full, *agents, role=role))  # type: ignore[arg-type]
        assert one.get("status")["may_export"] is may
        assert (one.send("GET", "export").status_code == 200) is may
