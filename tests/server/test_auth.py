"""Tokens over HTTP: who comes in, as whom, and what they may call; and the log of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from commonplace import Memory
from commonplace.errors import InvalidArgument, Refused
from commonplace.formats.timestamps import format_timestamp
from commonplace.server.auth import ServerOptions
from commonplace.storage.base import TokenStore, open_tokens
from commonplace.storage.folder.backend import LOG_FILE, TOKENS_FILE
from commonplace.storage.tokens import Grant, Token, create_token
from commonplace.surfaces.http.auth import AccessRules
from commonplace.testing import FrozenClock
from commonplace.tools import catalog
from commonplace.toolsets import TOOLSETS

from ..surfaces.mcp.test_process import run
from ..surfaces.web import Web, web

NOW = datetime.now(UTC)


@pytest.fixture
def access(home: Path) -> TokenStore:
    home.mkdir()
    return open_tokens(str(home))


@pytest.fixture
def server(home: Path, access: TokenStore) -> Iterator[Web]:
    with web(home, toolsets=TOOLSETS) as client:
        yield client


def make_token(access: TokenStore, *agents: str, role: Any = "write", ago: int = 0, days: int = 0) -> tuple[Token, str]:
    return create_token(access, NOW - timedelta(days=ago), agents=agents or None, role=role, days=days)


def sentence(answer: dict[str, Any]) -> str:
    return str(answer["error"]["message"])


def test_without_tokens_everybody_on_this_machine_comes_in(server: Web) -> None:
    assert server.post("tools/list").status_code == 200
    assert server.as_("any").post("tools/list").status_code == 200


def test_from_the_first_token_on_nobody_comes_in_without_one(server: Web, access: TokenStore) -> None:
    token, secret = make_token(access)
    assert server.post("tools/list").status_code == 401
    assert server.as_(secret).post("tools/list").status_code == 200
    access.revoke(token.id, format_timestamp(NOW))
    assert server.post("tools/list").status_code == 401, "though none is left that holds"


def test_expired_revoked_and_unknown_tokens_get_the_same_answer(server: Web, access: TokenStore) -> None:
    (_, expired), (revoked, outcome) = make_token(access, ago=10, days=5), make_token(access)
    access.revoke(revoked.id, format_timestamp(NOW))
    answers = [
        server.as_(each).post("tools/list") for each in (expired, outcome, "cpl_unknown", "", "ä".encode().hex())
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.text for answer in answers}) == 1
    assert {answer.headers["www-authenticate"] for answer in answers} == {"Bearer"}


def test_the_clock_of_the_server_says_when_a_token_expires_and_when_it_was_used(home: Path, access: TokenStore) -> None:
    clock = FrozenClock(NOW + timedelta(days=400))
    _, secret = create_token(access, clock(), agents=None, role="write", days=5)
    with web(home, clock=clock) as server:
        assert "error" not in server.as_(secret).call("recall")
        assert access.recent_calls(1)[0].at == format_timestamp(clock())
        clock.advance(days=6)
        assert server.as_(secret).post("tools/list").status_code == 401


def test_a_token_that_is_revoked_ends_with_the_next_request(server: Web, access: TokenStore) -> None:
    token, secret = make_token(access)
    client = server.as_(secret)
    assert "error" not in client.call("recall")
    access.revoke(token.id, format_timestamp(NOW))
    assert client.post("tools/list").status_code == 401


def test_a_token_speaks_for_its_agents_alone(server: Web, access: TokenStore, home: Path) -> None:
    _, secret = make_token(access, "ann", "Jörg")
    client = server.as_(secret)
    client.as_(agent="ann").call("remember", content="by ann")
    client.as_(agent="Jörg").call("remember", content="by Jörg")
    assert sentence(client.as_(agent="bob").call("recall")) == (
        "this token is not for the agent bob: it is for ann, Jörg"
    )
    assert "not for the agent main" in sentence(client.call("recall"))
    bob = {"commonplace/agent": "bob"}
    assert "not for the agent bob" in sentence(client.ask("tools/call", name="recall", arguments={}, _meta=bob))
    for method, params in [
        ("tools/list", {}), ("resources/list", {}), ("resources/read", {"uri": "commonplace://context"}),
        ("prompts/get", {"name": "recall"}), ("resources/read", {"uri": "commonplace://page/MEMORY.md"}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "recall"},
                                 "argument": {"name": "channel", "value": ""}}),
        ("subscriptions/listen", {"notifications": {"resourcesListChanged": True}}),
    ]:  # fmt: skip
        assert "not for the agent bob" in json.dumps(client.as_(agent="bob").ask(method, **params)), method
    assert Memory(home, "Jörg").search("Jörg")
    assert not (home / "agents/bob").exists()


def test_whoever_may_speak_for_one_agent_need_not_name_it(home: Path, access: TokenStore) -> None:
    _, secret = make_token(access, "ann")
    with web(home, defaults={"agent": "main"}) as client:
        client.as_(secret).call("remember", content="by ann")
    assert Memory(home, "ann").search("ann")


def test_a_server_for_one_agent_refuses_the_tokens_of_others(home: Path, access: TokenStore) -> None:
    _, secret = make_token(access, "ann")
    with web(home, flags={"agent": "bob"}) as client:
        assert "not for the agent bob" in sentence(client.as_(secret).call("recall"))
        assert "serves the agent bob alone" in sentence(client.as_(secret, agent="ann").call("recall"))


def test_a_reader_is_offered_and_calls_only_what_reads(server: Web, access: TokenStore, home: Path) -> None:
    Memory(home).call("remember", {"content": "Ann prefers rooibos."})
    client = server.as_(make_token(access, role="read")[1])
    offered = {tool["name"] for tool in client.ask("tools/list")["tools"]}
    every = {offer.name for offer in catalog.offers()}
    assert offered == {name for name in every if catalog.only_reads(name)}
    assert "recall" in offered
    before = sorted((each, each.read_bytes()) for each in home.rglob("*.md"))
    for name in sorted(every - offered):
        refused = sentence(client.call(name, content="x", key="x", op="setGlobal", value="x"))
        assert refused == f"this token only reads, and {name} may write: ask for one that writes"
    unknown = sentence(client.call("nothing"))
    assert set(unknown.removeprefix("Unknown tool: nothing. There are ").split(", ")) == offered
    assert sorted((each, each.read_bytes()) for each in home.rglob("*.md")) == before
    assert "rooibos" in json.dumps(client.call("recall"))
    assert "contents" in client.ask("resources/read", uri="commonplace://context")
    assert "messages" in client.ask("prompts/get", name="recall")


@pytest.mark.parametrize("role", ["write", "admin"])
def test_a_writer_is_offered_everything(server: Web, access: TokenStore, role: str) -> None:
    client = server.as_(make_token(access, role=role)[1])
    assert {tool["name"] for tool in client.ask("tools/list")["tools"]} == {offer.name for offer in catalog.offers()}
    assert not client.call("remember", content="kept")["isError"]


def test_the_token_of_the_command_line_holds_beside_the_others(home: Path, access: TokenStore) -> None:
    _, secret = make_token(access, role="read")
    with web(home, AccessRules(token="s3cret")) as client:
        assert client.post("tools/list").status_code == client.as_("s3cre").post("tools/list").status_code == 401
        assert not client.as_("s3cret", agent="bob").call("remember", content="x")["isError"]
        assert "only reads" in sentence(client.as_(secret).call("remember", content="x"))


def test_an_address_that_others_reach_is_open_to_nobody_without_a_token(home: Path, access: TokenStore) -> None:
    with web(home, AccessRules(is_open=False)) as client:
        assert client.post("tools/list").status_code == 401
        assert client.as_(make_token(access)[1]).post("tools/list").status_code == 200
        (home / TOKENS_FILE).unlink()
        assert client.post("tools/list").status_code == 401


def test_tokens_that_cannot_be_read_let_nobody_in_and_say_nothing_of_why(
    server: Web, access: TokenStore, home: Path
) -> None:
    _, secret = make_token(access)
    (home / TOKENS_FILE).write_text("{")
    answer = server.as_(secret).post("tools/list")
    assert answer.status_code == 503
    assert str(home) not in answer.text


def test_the_token_of_one_memory_opens_no_other(tmp_path: Path) -> None:
    for name in ("one", "two", "open"):
        Memory(tmp_path / name).call("remember", {"content": f"the secret of {name}"})
    keys = {name: make_token(open_tokens(str(tmp_path / name)))[1] for name in ("one", "two")}
    with web(tmp_path / "open", homes=str(tmp_path)) as client:
        assert "of one" in json.dumps(client.as_(keys["one"], home="one").call("recall"))
        assert client.as_(keys["one"], home="two").post("tools/list").status_code == 401
        assert client.as_(home="two").post("tools/list").status_code == 401
        assert "of open" in json.dumps(client.call("recall"))
        for caller in (client, client.as_(keys["one"])):
            means = {"commonplace/home": "two"}
            refused = caller.ask("tools/call", name="recall", arguments={}, _meta=means)
            assert "this memory has its own tokens" in sentence(refused)
        assert "error" in client.as_(keys["one"], home="one").ask(
            "tools/call", name="recall", arguments={}, _meta={"commonplace/home": "open"}
        )


def shake(client: TestClient, secret: str) -> str:
    """A session of the handshake era."""
    request = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    answer = client.post(
        "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": request}, headers=legacy(secret)
    )
    assert answer.status_code == 200
    return str(answer.headers["mcp-session-id"])


def legacy(secret: str, session: str = "") -> dict[str, str]:
    headers = {"Authorization": f"Bearer {secret}", "Accept": "application/json, text/event-stream"}
    return headers | ({"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"} if session else {})


def test_a_session_is_of_use_only_with_the_token_that_began_it(server: Web, access: TokenStore) -> None:
    (mine, secret), (_, other) = make_token(access, "ann"), make_token(access, "bob")
    session = shake(server.client, secret)
    body = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
    assert server.client.post("/mcp", json=body, headers=legacy(secret, session)).status_code == 200
    assert server.client.post("/mcp", json=body, headers=legacy(other, session)).status_code == 404
    assert server.client.delete("/mcp", headers=legacy(other, session)).status_code == 404
    access.revoke(mine.id, format_timestamp(NOW))
    assert server.client.post("/mcp", json=body, headers=legacy(secret, session)).status_code == 401


def test_the_log_says_who_called_what_and_never_what_was_said(server: Web, access: TokenStore, home: Path) -> None:
    writer, secret = make_token(access, "ann")
    client = server.as_(secret, session="s-1")
    client.call("remember", content="quokka")
    client.call("memory_get", path="quokka.md")
    client.as_(agent="bob").call("recall")
    client.call("quokka")
    client.ask("resources/read", uri="commonplace://context?query=quokka")
    client.ask("prompts/get", name="recall", arguments={"topic": "quokka"})
    assert [(call.agent, call.tool, call.outcome) for call in access.recent_calls(100)] == [
        ("ann", "remember", "ok"),
        ("ann", "memory_get", "error"),
        ("", "recall", "refused"),
        ("ann", "tools/call", "refused"),
        ("ann", "resources/read", "ok"),
        ("ann", "prompts/get", "ok"),
    ]
    assert {(call.token, call.remote) for call in access.recent_calls(100)} == {(writer.id, "testclient")}
    assert access.recent_calls(100)[0].session == "s-1"
    written = (home / LOG_FILE).read_text()
    assert "quokka" not in written
    assert secret not in written


def test_a_log_that_cannot_be_written_fails_no_call(server: Web, access: TokenStore, home: Path) -> None:
    client = server.as_(make_token(access)[1])
    (home / LOG_FILE).mkdir()
    assert not client.call("remember", content="kept")["isError"]
    assert Memory(home).search("kept")


def test_calls_that_need_no_token_are_not_logged(server: Web, access: TokenStore, home: Path) -> None:
    server.call("remember", content="kept")
    assert not (home / ".access").exists()


def test_tokens_are_made_listed_and_revoked_from_the_command_line(home: Path) -> None:
    at = ("--home", str(home))
    run(*at, "init", str(home))
    done = run(*at, "token", "create", "--for", "ann", "--for", "bob", "--role", "write", "--note", "laptop", "--json")
    made_ = json.loads(done.stdout)
    assert made_["token"].startswith("cpl_")
    assert (made_["agents"], made_["role"], made_["state"]) == (["ann", "bob"], "write", "valid")
    plain = run(*at, "token", "create", "--all-agents", "--days", "0")
    assert plain.stdout.startswith("cpl_")
    assert plain.stdout.count("\n") == 1
    assert "read, for all agents, until it is revoked. It is shown this once" in plain.stderr
    assert run(*at, "token", "revoke", made_["id"]).stdout == f"Revoked {made_['id']}.\n"
    listed = run(*at, "token", "list").stdout
    assert f"{made_['id']}\trevoked\twrite, for ann, bob, until 20" in listed
    assert "laptop" in listed
    assert made_["token"] not in listed
    assert "digest" not in run(*at, "token", "list", "--json").stdout
    assert run(*at, "token", "audit").stdout == "No calls.\n"


@pytest.mark.parametrize(
    ("arguments", "status", "answer"),
    [
        (("create",), 2, "name its agents: --for NAME"),
        (("create", "--for", "ann", "--all-agents"), 2, "name its agents"),
        (("create", "--for", " "), 2, "not blank"),
        (("create", "--all-agents", "--days", "-1"), 2, "days must be from 0 to"),
        (("create", "--all-agents", "--role", "owner"), 2, "'owner' is not one of"),
        (("revoke", "ffff"), 3, "there is no token ffff"),
        (("revoke",), 2, "Missing argument"),
    ],
)
def test_a_wrong_argument_is_reported(home: Path, arguments: tuple[str, ...], status: int, answer: str) -> None:
    home.mkdir()
    done = run("--home", str(home), "token", *arguments)
    assert done.returncode == status
    assert answer in done.stderr
    assert not (home / TOKENS_FILE).exists()


def test_a_memory_that_is_not_there_gets_no_token(tmp_path: Path) -> None:
    done = run("--home", str(tmp_path / "none"), "token", "create", "--all-agents")
    assert done.returncode == 3
    assert "run `commonplace init`" in done.stderr


# Who a request comes from, and which memory it means.


@pytest.mark.parametrize("name", ["agent", "user", "channel", "session", "home"])
def test_a_name_with_half_a_character_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArgument, match=f"the {name} of a request is a name"):
        ServerOptions(str(tmp_path)).identify({f"commonplace/{name}": "cut \ud83d"}, None)


def test_a_name_in_a_header_holds_against_the_request(tmp_path: Path) -> None:
    serves = ServerOptions(str(tmp_path))
    headers = {"commonplace-agent": "J%C3%B6rg"}
    assert serves.identify({"commonplace/agent": "Jörg"}, headers).agent == "Jörg"
    assert serves.identify({"commonplace/agent": ""}, headers).agent == "Jörg"
    with pytest.raises(Refused, match="comes from the agent Jörg, as its header says"):
        serves.identify({"commonplace/agent": "bob"}, headers)


@pytest.mark.parametrize(
    ("name", "problem"), [("a%0Ab", "more than one line: give a name of one line"), ("%20", "is blank: name one")]
)
def test_a_blank_agent_or_one_of_several_lines_is_refused(tmp_path: Path, name: str, problem: str) -> None:
    with pytest.raises(InvalidArgument, match=f"the name of the agent .*{problem}"):
        ServerOptions(str(tmp_path)).identify({}, {"commonplace-agent": name})
    assert not list(tmp_path.iterdir())


def test_flags_hold_and_defaults_give_way() -> None:
    options = ServerOptions("home", flags={"user": "ann"}, defaults={"channel": "tea", "agent": "cat"})
    caller = options.identify({"commonplace/channel": "coffee"}, None)
    assert (caller.agent, caller.user, caller.channel) == ("cat", "ann", "coffee")
    with pytest.raises(Refused, match="this server serves the user ann alone"):
        options.identify({"commonplace/user": "bob"}, None)
    with pytest.raises(Refused, match="this server serves the user ann alone"):
        caller.choose("user", "bob")
    assert caller.choose("channel", None) == "coffee"


def test_a_token_for_one_agent_alone_needs_no_name() -> None:
    options = ServerOptions("home")
    grant = Grant("t", "home", ("bob",), "write")
    assert options.identify({}, {}, grant).agent == "bob"
    with pytest.raises(Refused, match="this token is not for the agent ann: it is for bob"):
        options.identify({"commonplace/agent": "ann"}, {}, grant)


def test_a_request_chooses_a_memory_only_in_the_folder_of_memories(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="this server serves one memory"):
        ServerOptions("home").identify({"commonplace/home": "work"}, None)
    options = ServerOptions("home", homes=str(tmp_path))
    assert options.identify({"commonplace/home": "work"}, None).home == str(tmp_path / "work")
    with pytest.raises(InvalidArgument, match="must be a plain name"):
        options.identify({"commonplace/home": "../work"}, None)
